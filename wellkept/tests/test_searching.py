"""The search at every door: what may be found, one page of it, and how it was found."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import pytest
from numpy.typing import NDArray

from wellkept.capture import Capture, read
from wellkept.errors import InvalidInput, ModelUnavailable
from wellkept.memory import Memory
from wellkept.model import AGENT, OUTSIDE, Message, Results, Told, Trust, Writer
from wellkept.providers import EmbedderId
from wellkept.recall import DEGRADED, found_by, fusion
from wellkept.recall.lanes import Lane
from wellkept.settings import load_settings, open_memory
from wellkept.storage.sqlite import SqliteStore
from wellkept.storage.view import View
from wellkept.verbs import VERBS, Caller, call

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
OWNER = Caller("default", Writer("owner_tty"))


class WordVectors:
    """An embedder for which texts are alike as far as they share words, an automobile being a car."""

    id = EmbedderId("words", 64)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), 64), np.float32)
        for row, text in enumerate(texts):
            for word in text.lower().replace("automobile", "car").split():
                rows[row, crc32(word.strip(".").encode()) % 64] += 1
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)


@pytest.fixture
def memory() -> Iterator[Memory]:
    opened = Memory(SqliteStore(":memory:"))
    yield opened
    opened.close()


def ids(found: Results) -> list[str]:
    return [one.id for one in found]


def page(memory: Memory, slug: str, text: str, kind: str = "note", day: int = 1, **more: Any) -> None:
    at = datetime(2026, 2, day, tzinfo=UTC)
    memory.put_page("default", slug, f"---\ntitle: {slug}\ntype: {kind}\n---\n\n{text}\n", now=at, **more)


# -- what may be found


@pytest.fixture
def filled(memory: Memory) -> Memory:
    """Pages, turns and facts about a kiln: of several types, writers and times."""
    page(memory, "n/mine", "The kiln is hot.", day=1)
    page(memory, "d/kiln", "We buy a kiln.", "decision", day=5)
    page(memory, "n/theirs", "A kiln for sale.", day=9, writer=OUTSIDE)
    page(memory, "n/dated", "The kiln of old.", day=9, told=Told(valid_at=datetime(2020, 5, 1, tzinfo=UTC)))
    said = [Message("user", "The kiln broke", datetime(2026, 2, 3, tzinfo=UTC)), Message("assistant", "Oh", None)]
    memory.bank("default", "monday", said, now=datetime(2026, 2, 20, tzinfo=UTC))
    memory.remember("default", "The kiln is blue", kind="belief", now=datetime(2026, 2, 2, tzinfo=UTC))
    memory.remember("default", "The kiln is red", writer=AGENT, now=datetime(2026, 2, 8, tzinfo=UTC))
    memory.remember("default", "The kiln was won", valid_from=datetime(2019, 1, 1, tzinfo=UTC), now=NOW)
    return memory


ALL = {"n/mine", "d/kiln", "n/theirs", "n/dated", "conversations/monday", "fact:1", "fact:2", "fact:3"}


@pytest.mark.req("E-421", "E-601")
@pytest.mark.parametrize(
    ("filters", "left"),
    [
        ({}, ALL),
        ({"types": ["decision"]}, {"d/kiln"}),
        ({"types": ["decision", "belief"]}, {"d/kiln", "fact:1"}),
        ({"types": ["Decision"]}, set()),
        ({"labels": ["external_untrusted"]}, {"n/theirs"}),
        ({"labels": ["agent_written"]}, {"conversations/monday", "fact:2"}),
        ({"labels": ["user_written", "agent_written"]}, ALL - {"n/theirs"}),
        ({"labels": ["user_confirmed"]}, set()),
        ({"occurred_after": "2026-02-03"}, {"d/kiln", "n/theirs", "conversations/monday", "fact:2"}),
        ({"occurred_before": "2026-02-03"}, {"n/mine", "n/dated", "fact:1", "fact:3"}),
        ({"occurred_after": "2026-02-02", "occurred_before": "2026-02-04"}, {"conversations/monday", "fact:1"}),
        ({"occurred_after": "2026-02-03T01:00:00+01:00", "occurred_before": "2026-02-04"}, {"conversations/monday"}),
        ({"occurred_after": "2027-01-01"}, set()),
        ({"as_of": "2026-02-02"}, {"n/mine", "n/dated", "fact:1", "fact:3"}),
        ({"as_of": "2020-01-01"}, {"fact:3"}),
        ({"include_memory": False}, {one for one in ALL if not one.startswith("fact:")}),
        ({"include_documents": False}, {one for one in ALL if one.startswith("fact:")}),
        ({"include_documents": False, "include_memory": False}, set()),
        ({"scopes": ["private"]}, ALL),
        ({"types": ["note"], "labels": ["user_written"], "occurred_after": "2026-02-01"}, {"n/mine"}),
    ],
)
def test_only_what_the_filters_let_is_found(filled: Memory, filters: dict[str, object], left: set[str]) -> None:
    found = call(filled, "search", {"query": "kiln", "limit": 50, **filters}, OWNER)
    assert {one["id"] for one in found["results"]} == left
    assert (found["total"], found["has_more"]) == (len(left), False)


def test_as_of_tells_facts_as_they_held_then(memory: Memory) -> None:
    memory.remember("default", "The kiln is blue", now=NOW)
    memory.remember("default", "The kiln is red", replaces="fact:1", now=NOW + 5 * DAY)
    assert ids(memory.search("default", "kiln")) == ["fact:2"]
    assert ids(memory.search("default", "kiln", as_of=NOW + DAY)) == ["fact:1"]
    memory.correct("default", "fact:2", "mark_wrong", preview=False, now=NOW + 6 * DAY)
    assert ids(memory.search("default", "kiln", as_of=NOW + 6 * DAY)) == []


@pytest.mark.req("E-601")
@pytest.mark.slow
@pytest.mark.parametrize("mode", ["hybrid", "lexical", "vector", "naive"])
@pytest.mark.parametrize(
    "filters",
    [
        {"types": ["decision", "fact"]},
        {"labels": ["user_written"]},
        {"occurred_before": "2026-02-02"},
        {"as_of": "2026-02-01"},
    ],
    ids=lambda filters: next(iter(filters)),
)
def test_ten_thousand_better_matches_that_may_not_be_found_take_nobodys_place(
    crowded: Memory, mode: str, filters: dict[str, Any]
) -> None:
    found = call(crowded, "search", {"query": "kiln", "retrieval_mode": mode, "limit": 5, **filters}, OWNER)
    wanted = {"d/wanted", "fact:1"}
    assert {one["id"] for one in found["results"]} == wanted
    assert found["total"] == len(wanted)


@pytest.fixture(scope="module")
def crowded() -> Iterator[Memory]:
    """Ten thousand pages and facts about nothing but a kiln, which a filter leaves out, and one of each that stays."""
    opened = Memory(SqliteStore(":memory:"), embedder=WordVectors)
    at = datetime(2026, 2, 1, tzinfo=UTC)
    opened.remember("default", "A kiln among other words about cellars", kind="fact", now=at)
    page(opened, "d/wanted", "A kiln among many other words about cellars, stairs and soup.", "decision")
    later = datetime(2026, 2, 9, tzinfo=UTC)
    with opened.store.transaction():
        for number in range(5_000):
            opened.remember("default", f"kiln kiln {number}", kind="belief", writer=AGENT, now=later)
            text = f"---\ntype: note\n---\nkiln kiln {number}\n"
            opened.put_page("default", f"n/{number}", text, writer=AGENT, now=later)
    opened.embed_waiting()
    yield opened
    opened.close()


# -- one page of it


@pytest.mark.req("E-421")
def test_the_pages_of_an_answer_follow_one_another_and_make_the_whole(filled: Memory) -> None:
    whole = filled.search("default", "kiln", 50)
    assert set(ids(whole)) == ALL
    parts = [filled.search("default", "kiln", 3, offset=offset) for offset in range(0, 12, 3)]
    assert [one.id for part in parts for one in part] == ids(whole)
    assert [one.rank for part in parts for one in part] == list(range(1, 9))
    assert [part.has_more for part in parts] == [True, True, False, False]
    # Of three facts each page reads one more than it shows.
    assert [part.total for part in parts] == [8, 8, 8, 8]
    assert filled.search("default", "kiln", 1).total == 7
    assert all(one.score >= other.score > 0 for one, other in pairwise(whole))


@pytest.mark.req("E-421")
def test_content_is_cut_or_left_out_as_asked(filled: Memory) -> None:
    assert {one.content for one in filled.search("default", "kiln", include_content=False)} == {None}
    assert all(one.content == (one.content or "")[:4] for one in filled.search("default", "kiln", content_max_chars=4))
    whole = {one.id: one.content for one in filled.search("default", "kiln", content_max_chars=50_000)}
    assert whole["fact:1"] == "The kiln is blue"
    assert "The kiln is hot." in (whole["n/mine"] or "")


@pytest.mark.req("E-421", "E-424")
@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": "\u3000 \n"}, "query"),
        ({"query": "x" * 20_001}, "query"),
        ({"query": "half \ud83d"}, "query"),
        ({"query": "a\0b"}, "query"),
        ({"limit": 0}, "limit"),
        ({"limit": 51}, "limit"),
        ({"offset": -1}, "offset"),
        ({"types": "note"}, "types"),
        ({"types": ["note", ""]}, "types[1]"),
        ({"types": [" note"]}, "types[0]"),
        ({"labels": ["mine"]}, "labels[0]"),
        ({"scopes": ["project"]}, "scopes[0]"),
        ({"occurred_after": "soon"}, "occurred_after"),
        ({"occurred_after": "2026-02-02", "occurred_before": "2026-02-02"}, "occurred_before"),
        ({"as_of": 2026}, "as_of"),
        ({"reference_time": "0000-00-00"}, "reference_time"),
        ({"content_max_chars": 50_001}, "content_max_chars"),
        ({"retrieval_mode": "best"}, "retrieval_mode"),
        ({"rerank": "yes"}, "rerank"),
        ({"include_diary": True}, "include_diary"),
        ({"project": "x"}, "project"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_field(filled: Memory, asked: dict[str, Any], field: str) -> None:
    given = asked if "query" in asked or not asked else {"query": "kiln", **asked}
    with pytest.raises(InvalidInput) as caught:
        call(filled, "search", given, OWNER)
    assert caught.value.field == field


@pytest.mark.parametrize("query", ["x" * 2000, "🍵" * 2000, "会议室", "a\u0301", "\u202e", '()*"AND', "?!"])
def test_any_other_query_is_answered(filled: Memory, query: str) -> None:
    found = call(filled, "search", {"query": query}, OWNER)
    assert json.loads(json.dumps(found, allow_nan=False)) == found


# -- how it was found


@pytest.mark.req("E-421")
def test_an_answer_says_which_lanes_ran_and_why_others_did_not(memory: Memory) -> None:
    page(memory, "n/car", "The car is red.")
    embedder = WordVectors()
    with_vectors = Memory(memory.store, embedder=lambda: embedder)

    def told(of: Memory, **more: Any) -> tuple[str, int]:
        found = call(of, "search", {"query": "car", **more}, OWNER)
        assert found["found_by"] == found_by(found["lanes"], found["degraded"])
        return found["found_by"], found["usage"]["embedding_calls"]

    assert told(memory) == (
        "by words only: there is no model for meaning; it is off in the settings, or not installed",
        0,
    )
    assert told(with_vectors) == ("by words only: no vectors yet; run wellkept embed", 0)
    with_vectors.embed_waiting()
    assert told(with_vectors) == ("by words and meaning", 1)
    assert told(with_vectors, retrieval_mode="vector") == ("by meaning only", 1)
    assert told(with_vectors, retrieval_mode="lexical") == ("by words only", 0)
    page(with_vectors, "n/new", "Another car.")
    assert told(with_vectors)[0] == "by words and meaning: some of it has no vector yet; run wellkept embed"
    assert told(memory, query="?!")[0] == "nothing was looked for: the query holds no word to look for"
    assert told(memory, rerank=True, retrieval_mode="lexical")[0].startswith("by words only: not ranked anew")
    assert told(memory, include_memory=False, include_documents=False)[0] == "nothing was looked for"


def test_a_model_that_cannot_be_opened_takes_no_words_away(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text('embedder = "/nowhere/model"\n')
    memory = open_memory(load_settings({"HOME": str(tmp_path)}, {"data_dir": tmp_path}))
    page(memory, "n/car", "The car is red.")
    memory.embed_in_background()
    for found in (memory.search("default", "car"), memory.recall("default", "car")):
        assert (len(found), found.degraded) == (1, ("embedder_failed",))
    assert "The car is red" in memory.context_pack("default", "car").markdown
    with pytest.raises(ModelUnavailable, match="nowhere"):
        memory.embed_waiting()
    memory.close()


def test_facts_alone_are_found_at_once_and_wait_for_their_vectors(memory: Memory) -> None:
    memory.remember("default", "The car is red")
    embedder = WordVectors()
    embedded = Memory(memory.store, embedder=lambda: embedder)
    found = embedded.search("default", "car")
    assert (ids(found), found.degraded) == (["fact:1"], ("vectors_pending",))
    assert embedded.embed_waiting() == 1
    found = embedded.search("default", "car")
    assert (ids(found), found.degraded) == (["fact:1"], ())
    embedded.remember("default", "The boat is blue")
    assert embedded.search("default", "car").degraded == ("vectors_pending",)


def test_every_code_has_its_words() -> None:
    for code in DEGRADED:
        for lanes in (("lexical",), ("lexical", "vector"), ()):
            assert found_by(lanes, (code,)).count(": ") == 1


@pytest.mark.req("E-602")
def test_ranks_one_and_three_make_what_two_lanes_agree_on() -> None:
    lanes = [Lane("lexical", np.array([2, 0, 1]), np.ones(3)), Lane("vector", np.array([0, 1, 2]), np.ones(3))]
    view = View()
    view.size = 3
    assert fusion.reciprocal_ranks(view, lanes)[2] == pytest.approx(0.032266458, abs=5e-10)


@pytest.mark.req("E-602", "E-606")
def test_each_result_says_why_it_ranks_where_it_does(memory: Memory) -> None:
    memory.remember("default", "The automobile is red")
    page(memory, "r/near", "car", "rare")
    page(memory, "r/said", "automobile and nothing like it", "rare")
    for number in range(60):
        page(memory, f"n/{number}", "Soup is hot.")
    embedded = Memory(memory.store, embedder=WordVectors)
    embedded.embed_waiting()
    asked = {"query": "automobile", "diagnostics": True, "types": ["rare", "fact"]}
    found = {one["id"]: one for one in call(embedded, "search", asked, OWNER)["results"]}
    assert found["fact:1"]["diagnostics"] == [
        {"lane": "facts", "rank": 1, "score": 1, "weight": 1.0},
        {"lane": "near facts", "rank": 1, "score": pytest.approx(0.5), "weight": 1.0},
    ]
    assert found["r/near"]["factors"] == {"selectivity": pytest.approx(2 / 62 / 0.1)}
    assert found["r/said"]["factors"] == {}
    assert {said["lane"] for said in found["r/said"]["diagnostics"]} >= {"lexical", "vector"}
    plain = call(embedded, "search", {"query": "automobile"}, OWNER)["results"]
    assert not any({"diagnostics", "factors"} & set(one) for one in plain)


@pytest.mark.req("E-604")
def test_a_time_that_the_query_names_is_told_as_a_factor(filled: Memory) -> None:
    asked = {"query": "the kiln on 5 February", "reference_time": "2026-02-20", "diagnostics": True, "limit": 50}
    factors = {one["id"]: one["factors"] for one in call(filled, "search", asked, OWNER)["results"]}
    assert factors["d/kiln"] == {"time": pytest.approx(1.4)}
    assert factors["n/dated"] == {}


@pytest.mark.req("E-605")
def test_the_reranker_sees_twenty_however_few_are_asked_for(memory: Memory) -> None:
    class LikesSoup:
        def rank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
            self.seen = len(texts)
            return [float("soup" in text) for text in texts]

    for number in range(25):
        page(memory, f"n/{number:02}", "kiln " * (number + 1) + ("soup" if number == 7 else ""))
    likes_soup = LikesSoup()
    again = Memory(memory.store, reranker=likes_soup)
    assert ids(again.search("default", "kiln", 1)) != ["n/07"]
    found = again.search("default", "kiln", 1, rerank=True)
    assert (ids(found), likes_soup.seen, found.total) == (["n/07"], 20, 25)


def test_a_capture_keeps_a_search_unless_told_not_to(tmp_path: Path) -> None:
    capture = Capture(tmp_path / "queries.ndjson")
    memory = Memory(SqliteStore(":memory:"), capture)
    memory.remember("default", "The kiln is blue", entity="things/kiln")
    memory.search("default", "blue kiln", record_exposure=False)
    memory.search("default", "which kiln")
    memory.close()
    assert [row["query"] for row in read(tmp_path / "queries.ndjson").rows] == ["which kiln"]


# -- one table


def test_the_choices_of_the_table_are_those_of_the_engine() -> None:
    from wellkept.model import SEARCH_MODES, TRUSTS

    choices = {argument.name: argument.choices for argument in VERBS["search"].arguments}
    assert choices["labels"] == TRUSTS == tuple(tier.name.lower() for tier in Trust)
    assert choices["retrieval_mode"] == SEARCH_MODES
