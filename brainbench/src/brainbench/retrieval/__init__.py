"""Outside sets of conversations and questions, asked of any memory: is what holds the answer among what is found?

`running` lays out haystacks under opaque ids and asks, `results` keeps what came of each question, `judging` holds it
against gold, `telling` writes the report. Nothing here needs a model, and nothing here is about the quality of answers.
"""
