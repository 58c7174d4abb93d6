"""Long texts are found by any part of them, another model's vectors are never mixed in, and writing stays cheap."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest

from wellkept.errors import EmbedderMismatch
from wellkept.memory import Memory
from wellkept.model import SearchOptions
from wellkept.providers import EmbedderId
from wellkept.recall.embedding import embed_waiting
from wellkept.storage import open_store

HAY = {
    "en": (" ".join(f"word{number}" for number in range(600)), " the heliotrope blooms ", "heliotrope"),
    "zh": ("我们讨论了很多事情和计划。" * 150, "保险柜在地图后面。", "保险柜"),
    "th": ("วันนี้อากาศดีมากและเราไปเดินเล่น" * 60, " กุญแจอยู่ใต้พรม ", "กุญแจ"),
    "one run": ("x" * 4000, " heliotrope ", "heliotrope"),
}


@pytest.mark.field("LIM-02")
@pytest.mark.parametrize("language", HAY)
def test_a_needle_is_found_wherever_it_stands_in_a_long_text(memory: Memory, language: str) -> None:
    hay, needle, query = HAY[language]
    for slug, place in (("first", 0), ("middle", len(hay) // 2), ("last", len(hay))):
        memory.put_page("default", slug, hay[:place] + needle + hay[place:])
    memory.put_page("default", "without", hay)
    found = memory.find("default", query, 10).hits
    assert {hit.slug for hit in found} == {"first", "middle", "last"}
    assert all(needle.strip() in hit.text for hit in found)


class Words:
    """A model that reads the first eight words of a text, as small models do, and knows one of them."""

    id = EmbedderId("short-sighted", 8)

    def embed(self, texts: Sequence[str]) -> Any:
        return np.array([np.eye(8)[int("heliotrope" in text[:1300])] for text in texts], np.float32)


@pytest.mark.field("LIM-02")
def test_a_short_sighted_model_sees_the_whole_of_a_long_text(tmp_path: Path) -> None:
    memory = Memory(open_store("sqlite", tmp_path / "memory.db"), embedder=Words)
    hay, needle, _ = HAY["en"]
    for slug, place in (("first", 0), ("middle", len(hay) // 2), ("last", len(hay))):
        memory.put_page("default", slug, hay[:place] + needle + hay[place:])
    memory.embed_waiting()
    found = memory.find("default", "heliotrope", 3, SearchOptions(mode="vector")).hits
    assert all("heliotrope" in hit.text for hit in found)
    assert len(found) == 3
    memory.close()


@pytest.mark.field("LIM-02")
@pytest.mark.parametrize("at", [0, 400, 800])
def test_what_is_asked_may_stand_anywhere_in_a_long_question(door: Any, scope: str, at: int) -> None:
    door("put_page", scope, slug="flowers", content="The heliotrope blooms in the yard")
    for number in range(5):
        door("put_page", scope, slug=f"other{number}", content=f"Meeting {number} was about it, tell everybody")
    filler = "please tell me about it ".split() * 160
    query = " ".join([*filler[:at], "where is the heliotrope?", *filler[at:]])
    assert door.ids("search", scope, query)[0] == "flowers"


class Other(Words):
    id = EmbedderId("another", 8)


class Wider(Words):
    id = EmbedderId("short-sighted", 16)


@pytest.mark.field("LIM-05")
@pytest.mark.parametrize("model", [Other, Wider])
def test_another_models_vectors_are_refused_with_the_command_that_replaces_them(
    tmp_path: Path, model: Callable[[], Any]
) -> None:
    first = Memory(open_store("sqlite", tmp_path / "memory.db"), embedder=Words)
    first.put_page("default", "a", "heliotrope")
    first.embed_waiting()
    first.close()
    second = Memory(open_store("sqlite", tmp_path / "memory.db"), embedder=model)
    second.put_page("default", "b", "heliotrope too")
    with pytest.raises(EmbedderMismatch, match="wellkept embed --again"):
        embed_waiting(second.store, model())
    found = second.find("default", "heliotrope")
    assert {hit.slug for hit in found.hits} == {"a", "b"}
    assert "vector" not in found.lanes
    assert found.degraded
    second.close()


@pytest.mark.field("LIM-08")
def test_a_write_costs_the_same_however_much_is_kept(
    memory: Memory, record_property: Callable[[str, object], None]
) -> None:
    spent = []
    for number in range(250):
        began = time.process_time()
        memory.put_page("default", f"p{number}", f"Page {number} speaks of the harbour and of boat {number}.")
        memory.remember("default", f"Boat {number} lies in the harbour.")
        spent.append(time.process_time() - began)
    growth = median(spent[-60:]) / median(spent[20:80])
    record_property("growth", growth)
    assert growth < 2.5, f"a write costs {growth:.1f} times what it did 200 writes ago"


@pytest.mark.field("LIM-02")
def test_a_statement_is_found_by_its_last_words(memory: Memory) -> None:
    hay = " ".join(f"word{number}" for number in range(200))
    memory.remember("default", f"{hay} the heliotrope blooms")
    assert len(memory.recall("default", "heliotrope")) == 1


@pytest.mark.field("LIM-02")
@pytest.mark.parametrize("place", ["{hay} {question}", "{question} {hay}", "{hay}\n{question}"])
def test_a_question_beside_a_long_text_finds_what_it_finds_alone(memory: Memory, place: str) -> None:
    question = "Where does the heliotrope bloom?"
    hay = "Then they went on, word by word. " + " ".join(f"word{number}." for number in range(400))
    for number in range(8):
        memory.put_page("default", f"log-{number}", f"{hay} Number {number}.")
    memory.put_page("default", "garden", f"{hay} The heliotrope blooms at the wall.")
    assert memory.find("default", place.format(hay=hay, question=question), 1).hits[0].slug == "garden"
