"""What the words of a turn show of a need."""

from __future__ import annotations

import pytest

from wellkept.recall.need import need


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
