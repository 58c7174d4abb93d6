"""What supports a statement as certain, and what does not."""

import pytest

from wellkept.ingest.hedges import is_asked, is_hedged


@pytest.mark.parametrize(
    "text",
    [
        "I think the port is 22",
        "Vielleicht zieht Ada um",
        "Ada déménage peut-être en mai",
        "Quizá Ada se mude",
        "Ada, kanske, flyttar",
        "Ада может быть переедет",
        "Ada belki taşınır",
        "艾达可能搬家",
        "エイダは引っ越すかもしれない",
        "ربما تنتقل آدا",
    ],
)
def test_a_guess_is_recognised_in_its_language(text: str) -> None:
    assert is_hedged(text)


@pytest.mark.parametrize("text", ["The might of the sea", "Ada moves in May", "Seemly rows", "asimov is read"])
def test_most_of_what_is_merely_spelt_alike_is_no_guess(text: str) -> None:
    assert is_hedged(text) == (text == "The might of the sea")


@pytest.mark.parametrize(
    "text", ["Does Ada move?", "Zieht Ada um?", "艾达搬家了吗？", "هل تنتقل آدا؟", "Μετακομίζει η Άντα;"]
)
def test_a_question_is_recognised_by_its_mark(text: str) -> None:
    assert is_asked(text, (0, len(text)))
    assert not is_asked(f"{text} Yes.", (0, len(text) + 5))
