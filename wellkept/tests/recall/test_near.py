"""Facts that share no word with the question, and what is said where nothing stands out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import cast

import pytest

from wellkept.memory import Memory
from wellkept.model import Fact, SearchOptions
from wellkept.providers.embedders import OnnxEmbedder, packaged
from wellkept.recall import near
from wellkept.recall.near import near_facts
from wellkept.storage import open_store
from wellkept.storage.sqlite import SqliteStore

NOW = datetime(2026, 3, 1, tzinfo=UTC)
WRITTEN = json.loads((Path(__file__).parent.parent / "data" / "need" / "floor.json").read_text(encoding="utf-8"))


@cache
def model() -> OnnxEmbedder:
    """The packaged model."""
    found = packaged()
    assert found is not None
    return found


@pytest.fixture
def memory() -> Iterator[Memory]:
    opened = Memory(SqliteStore(":memory:"), embedder=model)
    yield opened
    opened.close()


def told(memory: Memory, *texts: str, source: str = "default") -> None:
    for text in texts:
        memory.remember(source, text, now=NOW)
    memory.embed_waiting()


def texts(memory: Memory, query: str) -> list[str]:
    return [cast(Fact, one.item).text for one in memory.recall("default", query)]


PUPPY, BOILER = "Ana adopted a puppy from the shelter", "The landlord agreed to replace the boiler before winter."


def test_a_fact_is_recalled_by_a_question_that_shares_no_word_with_it(memory: Memory) -> None:
    told(memory, PUPPY, BOILER)
    assert texts(memory, "do I know anyone with a dog?") == [PUPPY]
    assert texts(Memory(memory.store), "do I know anyone with a dog?") == []
    found = memory.search("default", "do I know anyone with a dog?", diagnostics=True)
    assert [(one.id, [said.lane for said in one.lanes or ()], one.faint) for one in found] == [
        ("fact:1", ["near facts"], False)
    ]
    assert found.lanes[:2] == ("facts", "near facts")


def test_a_fact_that_was_ended_or_is_anothers_is_not_recalled_by_meaning(memory: Memory) -> None:
    told(memory, PUPPY)
    told(memory, "Somebody else has a dog", source="other")
    memory.correct("default", "fact:1", "mark_wrong", preview=False, now=NOW)
    assert texts(memory, "do I know anyone with a dog?") == []
    assert [one.id for one in memory.recall("default", "who has a hound?", include_history=True)] == ["fact:1"]


def test_facts_that_may_not_be_found_take_nobodys_place(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near, "_AT_FIRST", 1)
    told(memory, *(f"My dog number {number} barks" for number in range(12)), PUPPY)
    query = model().embed(["do I know anyone with a dog?"])[0]
    found = near_facts(memory.store, "default", query, 1, 0.29, lambda fact: fact.text == PUPPY)
    assert [fact.text for _, fact in found] == [PUPPY]


def test_facts_told_and_vectors_made_by_another_process_are_found(tmp_path: Path) -> None:
    mine, other = (Memory(open_store("sqlite", tmp_path / "m.db"), embedder=model) for _ in range(2))
    told(mine, BOILER)
    assert texts(mine, "do I know anyone with a dog?") == []
    told(other, PUPPY)
    assert texts(mine, "do I know anyone with a dog?") == [PUPPY]
    other.store.index.drop_vectors()
    assert texts(mine, "do I know anyone with a dog?") == []
    other.embed_waiting()
    assert texts(mine, "do I know anyone with a dog?") == [PUPPY]
    other.store.reset()
    told(other, BOILER)
    assert texts(mine, "what did we settle about heating the flat?") == [BOILER]
    mine.close()
    other.close()


def test_a_fact_is_read_with_the_name_that_it_does_not_say() -> None:
    store = SqliteStore(":memory:")
    told_by = Memory(store).remember("default", "She adopted a puppy", now=NOW)
    with store.transaction():
        store._change("UPDATE facts SET mention = 'Ana' WHERE id = ?", (told_by.facts[0],))
    assert [one.text for one in store.index.waiting(0, 9, "fact")] == ["Ana: She adopted a puppy"]


def test_questions_of_the_written_set_find_their_fact_and_those_about_nothing_find_none(memory: Memory) -> None:
    told(memory, *(said for said, _ in WRITTEN["pairs"]))
    found = [said in texts(memory, asked)[:3] for said, asked in WRITTEN["pairs"]]
    assert sum(found) >= 0.95 * len(found)
    clear = [[one for one in memory.recall("default", asked) if not one.faint] for asked in WRITTEN["nothing"]]
    assert sum(map(bool, clear)) <= 0.15 * len(clear)


def test_a_page_that_is_merely_nearest_is_no_hit_and_one_that_is_near_is(memory: Memory) -> None:
    for number, (said, _) in enumerate(WRITTEN["pairs"]):
        memory.put_page("default", f"n/{number}", said)
    memory.embed_waiting()
    assert memory.find("default", "what is the boiling point of ethanol?").hits == ()
    assert memory.find("default", "do I know anyone with a dog?").hits[0].slug == "n/0"
    nearest = memory.find("default", "what is the boiling point of ethanol?", 3, SearchOptions(mode="vector"))
    assert [hit.faint for hit in nearest.hits] == [True] * 3
    assert nearest.degraded == ("faint",)


def test_an_answer_of_which_nothing_stands_out_says_so(memory: Memory) -> None:
    told(memory, BOILER)
    found = memory.search("default", "which winter olympics had the most curling medals?")
    assert [(one.id, one.faint) for one in found] == [("fact:1", True)]
    assert found.degraded == ("faint",)
    assert memory.search("default", "the boiler in winter").degraded == ()
