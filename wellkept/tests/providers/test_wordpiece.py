"""The pieces that a text is cut into: as the reference tokenizer of the model cuts it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept.providers.wordpiece import WordPiece, bert_uncased

REFERENCE = json.loads((Path(__file__).parent / "wordpiece.json").read_text(encoding="utf-8"))
"""Texts and the numbers that the `tokenizers` library (0.23.3) gives for them."""


@pytest.mark.parametrize(("text", "numbers"), REFERENCE)
def test_the_numbers_are_those_of_the_reference(text: str, numbers: list[int]) -> None:
    assert bert_uncased().numbers(text, 128) == numbers


@given(st.text(st.characters(codec=None), max_size=300), st.integers(2, 40))
def test_any_text_has_numbers_between_the_marks_and_no_more_than_were_asked_for(text: str, most: int) -> None:
    numbers = bert_uncased().numbers(text, most)
    assert (numbers[0], numbers[-1]) == (101, 102)
    assert len(numbers) <= most
    assert all(0 <= number < 30_522 for number in numbers)


def test_the_longest_known_beginning_is_taken_first() -> None:
    pieces = WordPiece(["[UNK]", "[CLS]", "[SEP]", "un", "##do", "##doing", "undo"])
    assert pieces.numbers("Undoing undo unseen", 20) == [1, 0, 6, 0, 2]
    assert pieces.numbers("undoing", 20) == [1, 0, 2]


def test_a_long_text_costs_no_more_than_its_beginning() -> None:
    assert bert_uncased().numbers("kiln " * 1_000_000, 16) == bert_uncased().numbers("kiln " * 16, 16)
