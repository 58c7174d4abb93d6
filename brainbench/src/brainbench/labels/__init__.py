"""Is gold right? People label a sample blind, from the text alone; what they say is held against gold and each other.

`sheet` draws the sample and hides what gives gold away; `agreement` compares the labels that come back.
"""
