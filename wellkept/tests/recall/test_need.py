"""What the words of a turn show of a need."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept.recall.need import _LISTS, _codes, _listed, _lists, _phrases, _Said, _shows, need

USES = ("asks", "pointed", "earlier", "ours", "mine", "at-large", "back", "chat")
PHRASES = sorted({phrase for section, listed in _lists().items() for phrase in listed if section[:7] != "we-end."})
UNSPACED = ("th", "ja", "zh", "ko")


@pytest.mark.req("C-333")
@pytest.mark.parametrize(
    "text",
    [
        "until when can we apply",
        "bis wann können wir uns melden",
        "jusqu'à quelle heure c'est permis chez nous",
        "kaçta açılıyor bizde",
        "до якого числа наш внесок",
        "เราใช้ได้ถึงกี่โมง",
        "我们几点锁门",
        "우리 언제 출고해",
        "متى ندفع الإيجار عندنا",
    ],
)
def test_a_pointed_question_is_seen_in_many_languages(text: str) -> None:
    shown = need(text)
    assert shown.asks
    assert shown.pointed


def test_a_verb_asks_only_at_the_head_of_a_clause() -> None:
    assert need("is the roof done").asks
    assert need("they come tomorrow, can i leave the key").asks
    assert not need("the roof is done").asks


def test_what_was_said_before_and_what_is_ours_are_seen() -> None:
    assert need("hadn't we agreed on that").earlier
    assert need("our rule for refunds").ours
    assert need("my rule for refunds").mine
    assert not need("a rule for refunds").ours


def test_orders_talk_at_large_and_small_talk_are_seen() -> None:
    assert need("make it shorter").orders
    assert need("ok. translate it").orders
    assert not need("who should make it").orders
    assert need("what does lamination mean").at_large
    assert need("haha thanks").chat


def test_what_leans_on_the_turns_before_is_seen() -> None:
    assert need("does that one need the text").back
    assert need("et la deuxième, quel délai").back
    assert not need("one hour of screens").back


@given(
    st.lists(st.sampled_from(PHRASES) | st.sampled_from(("roof", "x?", "don't", "")), max_size=5), st.sampled_from(USES)
)
def test_a_list_shows_what_looking_for_each_of_its_phrases_shows(said: list[str], use: str) -> None:
    words = " ".join(said).split()
    key, spaced, codes = "".join(said), f" {' '.join(words)} ", _codes(words)
    one_by_one = any(f" {phrase} " in spaced for code in codes for phrase in _phrases(f"{use}.{code}"))
    within = any(phrase in key for code in UNSPACED for phrase in _phrases(f"{use}.{code}"))
    assert _shows(use, codes, _Said(key, frozenset(words), spaced)) == (one_by_one or within)


def test_lists_that_were_made_ready_stay_what_they_were() -> None:
    first = need("until when can we apply")
    for number in range(_LISTS + 1):
        _listed("asks", ("en", str(number)))
    assert need("until when can we apply") == first
