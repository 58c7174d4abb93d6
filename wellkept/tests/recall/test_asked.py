"""The words of a query that searches look for."""

from __future__ import annotations

import pytest

from wellkept.recall.asked import forms, telling_words


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("What lamp did I buy 10 days ago?", ("lamp", "buy")),
        ("which book did I finish a week ago", ("book", "finish")),
        ("how much soup in the past two months", ("soup",)),
        ("soup yesterday", ("soup",)),
        ("What is the total number of lamps I have?", ("lamps",)),
        ("what kind of lamp", ("lamp",)),
        ("how many?", ("many",)),
        ("the concert last weekend", ("concert",)),
        ("the concert in May 2023", ("concert", "may", "2023")),
        ("yesterday", ("yesterday",)),
        ("last week?", ("last", "week")),
    ],
)
def test_words_that_only_say_when_are_not_looked_for_unless_there_are_no_others(
    query: str, words: tuple[str, ...]
) -> None:
    assert telling_words(query) == words


def test_forms_that_no_ending_tells_are_found_too() -> None:
    assert forms("bought") == ("buy", "bought")
    assert forms("children") == ("child", "children")
    assert forms("kiln") == ("kiln",)
