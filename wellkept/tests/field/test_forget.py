"""Forgetting ends what was asked, everywhere at once, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wellkept.memory import Memory
from wellkept.model import Message, SearchOptions
from wellkept.providers import EmbedderId
from wellkept.storage import open_store

SAFE = "The safe is behind the map"
READS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("recall", {"query": "where is the safe?"}),
    ("recall", {"query": "safe", "entity": "safe"}),
    ("search", {"query": "where is the safe?"}),
    ("context", {"text": "Where is the Safe?"}),
    ("context_pack", {"goal": "find the safe"}),
)
"""What a person may ask about it."""


def shows(door: Any, scope: str) -> list[str]:
    """The reads in which the map is mentioned."""
    found = [name for name, asked in READS if "the map" in str(door(name, scope, **asked)).lower()]
    for name, asked in (("entity", {"name": "safe"}), ("timeline", {"entity": "safe"})):
        try:
            found += [name] if "the map" in str(door(name, scope, **asked)).lower() else []
        except Exception as refused:
            assert getattr(refused, "code", "") == "not_found"  # noqa: PT017
    return found


def keep_the_safe(door: Any, scope: str) -> list[str]:
    door("put_page", scope, slug="safe", content=f"# Safe\n\n{SAFE}.\n\n## Timeline\n- 2024: moved behind the map\n")
    made = door("remember", scope, text=SAFE, entity="safe")
    return ["safe", f"fact:{made['facts'][0]}"]


@pytest.mark.field("DEL-02", "DEL-10")
def test_what_was_just_found_is_found_no_more_once_it_is_forgotten(door: Any, scope: str) -> None:
    ids = keep_the_safe(door, scope)
    assert shows(door, scope) == [*(name for name, _ in READS), "entity", "timeline"]
    door("forget", scope, ids=ids)
    assert shows(door, scope) == []
    reopened = Memory(open_store("sqlite", door.place.folder / "memory.db"))
    assert not reopened.recall(scope, "where is the safe?")
    reopened.close()


@pytest.mark.field("DEL-10", "DEL-02")
@pytest.mark.parametrize("through", ["python", "cli", "http", "mcp"])
def test_what_one_door_forgets_every_other_has_forgotten(doors: dict[str, Any], through: str, scope: str) -> None:
    ids = keep_the_safe(doors["mcp"], scope)
    assert all(shows(door, scope) for door in doors.values())
    doors[through]("forget", scope, ids=ids)
    assert {name: shows(door, scope) for name, door in doors.items()} == {name: [] for name in doors}


@pytest.mark.field("DEL-01")
def test_forgetting_all_of_one_user_leaves_all_of_every_other(door: Any, scope: str) -> None:
    users = [f"{scope}-{user}" for user in ("noor", "pavel", "pave")]
    for user in users:
        for number in range(3):
            door("remember", user, text=f"bees and an oboe {number}")
    before = {user: door("recall", user, query="bees oboe")["memories"] for user in users}
    door("forget", users[0], ids=[one["id"] for one in before[users[0]]])
    assert door("recall", users[0], query="bees oboe")["memories"] == []
    for user in users[1:]:
        assert door("recall", user, query="bees oboe")["memories"] == before[user]


class Clustered:
    """Vectors by subject, so that a paraphrase is near what it means."""

    id = EmbedderId("clustered", 8)

    def embed(self, texts: Sequence[str]) -> Any:
        return np.array([np.eye(8)[int("boat" in text or "vessel" in text)] for text in texts], np.float32)


@pytest.mark.field("DEL-03")
@pytest.mark.parametrize("query", ["boat", "vessel"])
@pytest.mark.parametrize("mode", ["hybrid", "lexical", "vector"])
def test_the_forgotten_take_no_place_from_what_is_live(tmp_path: Path, query: str, mode: Any) -> None:
    memory = Memory(open_store("sqlite", tmp_path / "memory.db"), embedder=Clustered)
    for number in range(12):
        memory.put_page("default", f"p{number}", f"boat {number} " + "in the harbour " * number)
    memory.embed_waiting()
    memory.find("default", query, 5, SearchOptions(mode=mode))
    gone = [f"p{number}" for number in range(7)]
    memory.forget("default", gone)
    found = [hit.slug for hit in memory.find("default", query, 5, SearchOptions(mode=mode)).hits]
    live = {f"p{number}" for number in range(7, 12)}
    assert set(found) == (set() if (query, mode) == ("vessel", "lexical") else live)
    memory.close()


UNKNOWN = ("00000000-0000-4000-8000-000000000000", "fact:999999", "fact:1x", "fact:", "saf", "safe/", "SAFE", "page:sa")


@pytest.mark.field("DEL-07")
@pytest.mark.parametrize("number", UNKNOWN)
def test_what_was_never_there_is_not_said_to_be_forgotten(
    door: Any, scope: str, number: str, refused: Callable[..., Any]
) -> None:
    ids = keep_the_safe(door, scope)
    assert refused(door, "forget", scope, ids=[number]).code == "not_found"
    assert refused(door, "forget", scope, ids=[ids[0], number]).code == "not_found"
    assert shows(door, scope)
    done = door("forget", scope, ids=ids)
    assert (sorted(done["forgotten"]), done["status"]) == (sorted(ids), "complete")
    assert refused(door, "forget", scope, ids=ids[:1]).code == "not_found"


SLUGS = (
    "people/ada",
    "会议室/计划",
    "🚀",
    "a b",
    "50% off?#now",
    "_%_",
    "fact:3",
    "page:fact:3",
    "page:x",
    "..up",
    "a//b",
    "Ünï/çode",
    "e\u0301",
)


@pytest.mark.field("DEL-08")
@pytest.mark.parametrize("slug", SLUGS)
def test_every_id_that_a_read_gives_is_one_that_all_verbs_take(door: Any, scope: str, slug: str) -> None:
    door("put_page", scope, slug=slug, content="# Heliotrope\n")
    door("remember", scope, text="heliotrope blooms")
    ids = door.ids("recall", scope, "heliotrope")
    assert sorted(door.ids("search", scope, "heliotrope")) == sorted(ids)
    (page,) = (one for one in ids if not one.startswith("fact:"))
    assert door("get_page", scope, slug=page)["id"] == page
    for number in ids:
        assert door("history", scope, id=number)["id"] == number
        assert door("cite", scope, ids=[number])["recorded"] == 1
        assert door("correct", scope, id=number, action="mark_stale")["affected"] == [number]
    assert door("forget", scope, ids=ids)["forgotten"] == ids
    assert door.ids("recall", scope, "heliotrope") == []


@pytest.mark.field("DEL-09")
def test_a_forgotten_sentence_can_be_told_again_and_its_history_is_kept(door: Any, scope: str) -> None:
    ids = []
    for _ in range(3):
        made = door("remember", scope, text="The bins go out on Tuesday")
        assert made["status"] == "created"
        ids.append(f"fact:{made['facts'][0]}")
        assert door.ids("recall", scope, "bins") == ids[-1:]
        door("forget", scope, ids=ids[-1:])
    assert len(set(ids)) == 3
    assert [one["change"] for one in door("delta", scope)["changes"]] == ["created", "expired"] * 3


@pytest.mark.field("DEL-09")
def test_a_forgotten_page_that_comes_again_says_so_and_comes_back_when_that_is_asked(door: Any, scope: str) -> None:
    door("put_page", scope, slug="bins", content="The bins go out on Tuesday")
    door("forget", scope, ids=["bins"])
    again = door("put_page", scope, slug="bins", content="The bins go out on Tuesday")
    assert (again["status"], again["degraded"]) == ("unchanged", ["expired"])
    door("correct", scope, id="bins", action="restore", preview=False)
    assert door.ids("search", scope, "bins") == ["bins"]
    assert [one["change"] for one in door("history", scope, id="bins")["changes"]] == ["created", "expired", "restored"]
    door("put_page", scope, slug="bins", content="The bins go out on Friday")
    assert door.texts("search", scope, "bins") == ["bins\nThe bins go out on Friday"]


@pytest.mark.field("DEL-11")
def test_one_false_statement_of_a_session_goes_alone(door: Any, scope: str) -> None:
    texts = ["Kofi rows", "Kofi paints", "Kofi sings"]
    made = [door("remember", scope, text=text, session="monday")["facts"][0] for text in texts]
    door("forget", scope, ids=[f"fact:{made[1]}"])
    assert sorted(door.texts("recall", scope, "Kofi")) == ["Kofi rows", "Kofi sings"]


@pytest.mark.field("DEL-11")
def test_a_statement_of_a_kept_conversation_goes_alone_and_stays_away(memory: Memory) -> None:
    said = (Message("user", "Kofi rows. Kofi paints."), Message("assistant", "Noted."))
    memory.bank("default", "monday", said)
    slug = memory.search("default", "Kofi")[0].slug
    made = [memory.remember("default", text, session="monday").facts[0] for text in ("Kofi rows", "Kofi paints")]
    memory.forget("default", [f"fact:{made[1]}"])
    memory.bank("default", "monday", said)
    assert memory.get_page("default", slug).status == "active"
    assert [fact.text for fact in memory.recall_facts("default")] == ["Kofi rows"]
