"""The words of a query that searches look for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept.recall.asked import _latest, _pieces, _telling, all_content_words, content_words, forms, telling_words


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


@given(st.lists(st.text(alphabet="ab' ’.漢字のきक가에서는éA-1", max_size=20), min_size=1, max_size=4))
def test_the_words_of_a_text_are_the_same_when_it_is_read_again(texts: list[str]) -> None:
    _latest.cache_clear()
    for text in (*texts, *texts):
        assert all_content_words(text) == frozenset(_telling(text))


def test_a_word_keeps_what_belongs_to_it_whatever_its_letters() -> None:
    assert content_words("Ida's kiln, l'atelier d’Ida") == ("ida", "kiln", "atelier")
    assert content_words("don't 부산에서") == ("부산",)
    assert content_words("山田花子") == tuple(_pieces("山田花子"))
