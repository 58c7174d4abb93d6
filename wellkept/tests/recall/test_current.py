from __future__ import annotations

from datetime import UTC, datetime

import pytest

from wellkept.memory import Memory
from wellkept.recall.current import tells_a_change
from wellkept.storage import Store

THEN, LATER = (datetime(2026, month, 1, tzinfo=UTC) for month in (3, 6))
CHANGES = {
    "en": (
        "the SSH port of the Huren box is 22",
        "moved the Huren box: SSH listens on 49222 now",
        "what SSH port does the Huren box use",
    ),
    "de": (
        "der SSH-Port der Kiste Huren ist 22",
        "die Kiste Huren lauscht jetzt über SSH auf 49222",
        "welchen SSH-Port hat die Kiste Huren",
    ),
    "es": (
        "el puerto SSH de la caja Huren es 22",
        "la caja Huren cambió: SSH escucha en 49222",
        "qué puerto SSH usa la caja Huren",
    ),
}


@pytest.fixture
def memory(store: Store) -> Memory:
    return Memory(store)


def told(memory: Memory, query: str, limit: int = 5) -> list[str]:
    return [one.item.text for one in memory.recall("default", query, limit=limit)]  # type: ignore[union-attr]


@pytest.mark.field("UPD-06")
@pytest.mark.parametrize("language", CHANGES)
@pytest.mark.parametrize("limit", [1, 5])
def test_a_change_comes_before_what_it_changed_however_the_question_is_worded(
    memory: Memory, language: str, limit: int
) -> None:
    old, new, question = CHANGES[language]
    memory.remember("default", old, now=THEN)
    memory.remember("default", new, now=LATER)
    assert told(memory, question, limit)[0] == new
    assert memory.search("default", question, limit)[0].content == new


def test_what_changed_first_does_not_come_before_what_was_told_since(memory: Memory) -> None:
    old, new, question = CHANGES["en"]
    memory.remember("default", new, now=THEN)
    memory.remember("default", old, now=LATER)
    assert told(memory, question)[0] == old


@pytest.mark.parametrize("other", ["Huren has a new dog now", "the Huren lift was moved to the yard"])
def test_a_change_of_something_else_takes_nobodys_place(memory: Memory, other: str) -> None:
    old, _, question = CHANGES["en"]
    memory.remember("default", old, now=THEN)
    memory.remember("default", other, now=LATER)
    assert told(memory, question)[0] == old


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("Ada no longer keeps bees", True),
        ("Ada keeps bees on the roof", False),
        ("ジムは駅前に移転しました", True),
        ("ジムは駅前にあります", False),
        ("the knowledge base", False),
    ],
)
def test_a_change_is_told_by_a_word(text: str, changed: bool) -> None:
    assert tells_a_change(text) is changed
