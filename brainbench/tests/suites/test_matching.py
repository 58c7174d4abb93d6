"""When a text says what gold asks for."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainbench.suites.matching import is_pointer, passages, plain, says, states


@pytest.mark.req("C-508")
@pytest.mark.parametrize(
    ("text", "compared"),
    [
        ("  Two\u00a0\n WORDS\t", "two words"),
        ("ﬁnance", "finance"),
        ("Ｆｕｌｌ", "full"),
        ("Straße", "strasse"),
        ("İstanbul", "istanbul"),
        ("zero\u200bwid\u2060th", "zerowidth"),
        ("a\ufe0fb\u3164c", "abc"),
        ("می\u200cخواهم", "میخواهم"),
    ],
)
def test_texts_are_compared_without_case_width_spacing_or_invisible_characters(text: str, compared: str) -> None:
    assert plain(text) == compared


@settings(max_examples=100)
@given(st.text(max_size=30))
def test_comparing_is_stable(text: str) -> None:
    assert plain(plain(text)) == plain(text)


@pytest.mark.req("C-508")
def test_blank_keywords_state_nothing_and_forbid_nothing() -> None:
    assert not says("anything", ())
    assert not says("anything", (" ", "\u200b"))
    assert says("anything", ("thing",), ("", " "))
    assert not says("anything", ("thing",), ("ANY",))


@pytest.mark.req("C-509")
def test_a_list_is_its_lines_and_prose_is_its_paragraphs_too() -> None:
    assert passages("# A\n- b\n- c\n\n") == ("# A", "- b", "- c")
    assert passages("one\ntwo\n\nthree") == ("one", "two", "three", "one two")
    assert passages(" \n") == ()
    assert is_pointer("- **A** → `people/a` — a")
    assert not is_pointer("- a [people/a] (0.72, x)")


@pytest.mark.req("C-509")
@settings(max_examples=60)
@given(st.lists(st.sampled_from("ship the boat on friday with ada".split()), min_size=2, max_size=8))
def test_an_echo_of_the_question_states_nothing_whatever_it_says(words: list[str]) -> None:
    question = " ".join(words)
    for echo in (question, question.upper() + "?", f"> {question}", f"You said: {question}."):
        assert not states(echo, (words[0], words[-1]), (), (question,))
