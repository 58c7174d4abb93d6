"""The view that searches read: as the store is, whoever changed it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

import apsw
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from wellkept.errors import EmbedderMismatch
from wellkept.memory import Memory
from wellkept.model import Chunk, Fact, Message, Page, Provenance, Status
from wellkept.providers import EmbedderId
from wellkept.recall.search import find
from wellkept.storage import searching
from wellkept.storage.schema import APPLICATION_ID, migrations
from wellkept.storage.sqlite import SqliteStore
from wellkept.storage.view import NO_TIME, PageEntry, View, dots, packed_signs

TakeBack = Callable[[Path, int], None]
WHO = EmbedderId("small", 70)
NOW = datetime(2026, 3, 1, tzinfo=UTC)


def put(store: SqliteStore, slug: str, *texts: str, source: str = "default", status: Status = "active") -> None:
    chunks = [Chunk(place, text) for place, text in enumerate(texts)]
    store.put_page(Page(source, slug, slug, "", status=status), chunks, ())


def slugs(store: SqliteStore, query: str) -> list[str]:
    return sorted(hit.slug for hit in find(store, "default", query, 99).hits)


def rows(store: SqliteStore) -> list[tuple[str, int, int]]:
    with store.index.reading("default") as view:
        live = np.flatnonzero(view.live)
        return sorted((view.pages[view.page[row]].slug, int(view.ordinal[row]), int(view.chars[row])) for row in live)


def test_what_another_process_writes_is_found_by_the_next_search(tmp_path: Path) -> None:
    mine, other = SqliteStore(tmp_path / "m.db"), SqliteStore(tmp_path / "m.db")
    put(mine, "a", "kiln")
    assert slugs(mine, "kiln") == ["a"]
    put(other, "b", "kiln")
    assert slugs(mine, "kiln") == ["a", "b"]
    put(other, "a", "soup")
    assert slugs(mine, "kiln") == ["b"]
    assert slugs(mine, "soup") == ["a"]
    put(other, "b", "kiln", status="superseded")
    assert slugs(mine, "kiln") == []
    other.reset()
    put(other, "c", "soup")
    assert slugs(mine, "soup") == ["c"]


def test_a_search_in_a_transaction_sees_what_it_wrote_and_later_ones_only_what_was_kept(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "m.db")
    put(store, "a", "kiln")
    with suppress(KeyError), store.transaction():
        put(store, "b", "kiln")
        assert slugs(store, "kiln") == ["a", "b"]
        raise KeyError
    assert slugs(store, "kiln") == ["a"]
    put(store, "c", "kiln")
    assert slugs(store, "kiln") == ["a", "c"]


SLUGS = st.sampled_from(["a", "b", "c", "d"])
CHANGES = st.lists(
    st.tuples(
        SLUGS, st.lists(st.sampled_from(["kiln", "kiln soup", "soup"]), max_size=4), st.booleans(), st.booleans()
    ),
    max_size=12,
)


@given(CHANGES)
@settings(max_examples=60, deadline=None)
def test_a_view_that_was_kept_up_to_date_is_what_one_read_anew_is(
    changes: list[tuple[str, list[str], bool, bool]],
) -> None:
    store = SqliteStore(":memory:")
    for slug, texts, live, look in changes:
        put(store, slug, *texts, status="active" if live else "expired")
        if look:
            rows(store)
        waiting = store.index.waiting(0, 2)
        store.index.put_vectors(WHO, [one.id for one in waiting], np.ones((len(waiting), 70), np.float32))
    kept = rows(store)
    store._search = None
    assert kept == rows(store)
    store.close()


@given(CHANGES)
@settings(max_examples=60, deadline=None)
def test_where_a_common_word_stands_is_known_after_every_change_as_if_it_was_read_anew(
    changes: list[tuple[str, list[str], bool, bool]],
) -> None:
    with patch.object(searching, "_COMMON", 1):
        store = SqliteStore(":memory:")
        for slug, texts, live, look in changes:
            put(store, slug, *texts, status="active" if live else "expired")
            if look:
                store.index.postings(["kiln", "soup"])
        kept = [ids.tolist() for ids in store.index.postings(["kiln", "soup"])]
        store._search = None
        assert kept == [ids.tolist() for ids in store.index.postings(["kiln", "soup"])]
        store.close()


def test_of_a_common_word_only_what_is_new_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "_COMMON", 2)
    store = SqliteStore(":memory:")
    put(store, "a", "kilns", "kiln", "soup")
    index = cast(searching.SqliteIndex, store.index)
    index.postings(["kilns", "soup"])
    asked: list[str] = []
    select = index._store.select

    def noted(sql: str, *values: Sequence[Any]) -> list[tuple[Any, ...]]:
        asked.append(sql)
        return select(sql, *values)

    monkeypatch.setattr(index, "_store", replace(index._store, select=noted))
    assert [ids.tolist() for ids in index.postings(["kilns"])] == [[1, 2]]
    assert {searching._PLACES, searching._PLACES_SINCE}.isdisjoint(asked)
    put(store, "b", "kilns and kilns")
    assert [ids.tolist() for ids in index.postings(["kilns", "soup"])] == [[1, 2, 4, 4], [3]]
    assert [sql for sql in asked if sql in (searching._PLACES, searching._PLACES_SINCE)] == [
        searching._PLACES_SINCE,
        searching._PLACES,
    ]


def test_no_more_places_of_common_words_are_held_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "_COMMON", 1)
    monkeypatch.setattr(searching, "_COMMON_PLACES", 2)
    store = SqliteStore(":memory:")
    put(store, "a", "kiln", "kiln", "soup")
    index = cast(searching.SqliteIndex, store.index)
    index.postings(["kiln", "soup"])
    assert list(index._common) == ["soup"]
    assert [ids.tolist() for ids in index.postings(["kiln", "soup"])] == [[1, 2], [3]]


def test_vectors_are_kept_to_the_bit_and_fall_with_their_page() -> None:
    store = SqliteStore(":memory:")
    put(store, "a", "kiln", "soup")
    vectors = np.random.default_rng(1).normal(size=(2, 70)).astype(np.float32)
    ids = [one.id for one in store.index.waiting(0, 9)]
    assert store.index.vector_counts() == (0, 2)
    assert store.index.put_vectors(WHO, ids, vectors) == 2
    found, kept = store.index.vectors(ids)
    assert (found.tolist(), kept.tolist()) == (ids, vectors.tolist())
    assert (store.index.waiting(0, 9), store.index.vector_counts(), store.index.embedder()) == ((), (2, 0), WHO)
    put(store, "a", "kiln")
    assert store.index.vectors(ids)[0].tolist() == []
    assert store.index.vector_counts() == (0, 1)


def test_a_chunk_that_is_gone_when_its_vector_comes_gets_none() -> None:
    store = SqliteStore(":memory:")
    put(store, "a", "kiln")
    put(store, "b", "kiln")
    ids = [one.id for one in store.index.waiting(0, 9)]
    put(store, "a")
    assert store.index.put_vectors(WHO, ids, np.ones((2, 70), np.float32)) == 1
    assert store.index.vectors(ids)[0].tolist() == ids[1:]


@pytest.mark.req("TC-14")
def test_a_vector_of_what_a_chunk_said_before_is_not_kept_for_what_it_says_now() -> None:
    store = SqliteStore(":memory:")
    put(store, "a", "the vault code is plum")
    (read,) = store.index.waiting(0, 9)
    put(store, "a", "[forgotten]")
    (now,) = store.index.waiting(0, 9)
    assert (now.id, now.text) == (read.id, "[forgotten]"), "the id of a chunk is used again"
    ones = np.ones((1, 70), np.float32)
    assert store.index.put_vectors(WHO, [read.id], ones, texts={read.id: read.text}) == 0
    assert store.index.vectors([now.id])[0].tolist() == []
    assert store.index.waiting(0, 9) == (now,)
    assert store.index.put_vectors(WHO, [now.id], ones, texts={now.id: now.text}) == 1


@pytest.mark.field("LIM-05")
def test_vectors_of_another_model_are_refused_with_the_command_that_replaces_them() -> None:
    store = SqliteStore(":memory:")
    put(store, "a", "kiln")
    (waiting,) = store.index.waiting(0, 9)
    store.index.put_vectors(WHO, [waiting.id], np.ones((1, 70), np.float32))
    with pytest.raises(EmbedderMismatch, match=r"vectors of small .*wellkept embed --again"):
        store.index.put_vectors(EmbedderId("other", 70), [waiting.id], np.ones((1, 70), np.float32))
    store.index.drop_vectors()
    assert [one.id for one in store.index.waiting(0, 9)] == [waiting.id]
    assert store.index.put_vectors(EmbedderId("other", 9), [waiting.id], np.ones((1, 9), np.float32)) == 1


def test_a_word_counts_as_often_as_it_stands_in_a_chunk_and_a_phrase_once() -> None:
    store = SqliteStore(":memory:")
    put(store, "a", "kilns and kiln", "follow-up 予算案")
    found = [ids.tolist() for ids in store.index.postings(["kiln", "follow-up", "予算", "none", "?"])]
    assert found == [[1, 1], [2], [2], [], []]


def test_the_words_of_a_query_are_cut_as_the_index_cuts_them() -> None:
    store = SqliteStore(":memory:")
    ((sql,),) = store._select("SELECT sql FROM sqlite_schema WHERE name = 'chunks_fts'")
    assert "porter unicode61 remove_diacritics 2 categories 'L* M* N* Co'" in sql
    assert store._tokens("Running café's") == ["run", "cafe", "s"]


def test_a_store_of_before_vectors_is_opened_and_searched_and_its_chunks_wait(tmp_path: Path) -> None:
    first = migrations()[0]
    path = tmp_path / "old.db"
    connection = apsw.Connection(str(path))
    for statement in (
        first.sql,
        f"PRAGMA application_id = {APPLICATION_ID}",
        "CREATE TABLE schema_version (version INTEGER PRIMARY KEY, name TEXT, checksum TEXT)",
        "INSERT INTO sources VALUES ('default', 'user')",
        "INSERT INTO pages VALUES (7, 'default', 'a', 'A', 'note', 'active', 2, NULL, 5, 1, 4, '[]', '')",
        "INSERT INTO page_texts VALUES (7, 'kiln', 'kiln', 'kiln')",
        "INSERT INTO chunks VALUES (9, 7, 0, 4, 'kiln', NULL)",
        "INSERT INTO chunks_fts (rowid, text) VALUES (9, 'kiln')",
    ):
        list(connection.execute(statement))
    connection.execute("INSERT INTO schema_version VALUES (?, ?, ?)", (first.number, first.name, first.checksum))
    connection.close()
    store = SqliteStore(path)
    assert slugs(store, "kiln") == ["a"]
    assert [one.id for one in store.index.waiting(0, 9)] == [9]
    put(store, "a", "soup")
    assert (slugs(store, "kiln"), slugs(store, "soup")) == ([], ["a"])


def test_a_store_with_vectors_is_emptied_like_any_other() -> None:
    store = SqliteStore(":memory:")
    for _ in range(2):
        put(store, "a", "kiln")
        store.index.put_vectors(WHO, [store.index.waiting(0, 9)[0].id], np.ones((1, 70), np.float32))
        assert (store.index.vector_counts(), slugs(store, "kiln")) == ((1, 0), ["a"])
        store.reset()
        assert (store.index.vector_counts(), store.index.embedder(), slugs(store, "kiln")) == ((0, 0), None, [])


def test_views_that_were_forgotten_are_read_anew(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "m.db")
    put(store, "a", "kiln")
    assert slugs(store, "kiln") == ["a"]
    store.index.forget_views()
    assert slugs(store, "kiln") == ["a"]


def openings(store: SqliteStore, *beginnings: str) -> dict[str, list[str]]:
    found = store.find_beginnings("default", beginnings, 9).holding
    return {beginning: sorted(found[beginning]) for beginning in beginnings}


def put_as(store: SqliteStore, slug: str, kind: str, *texts: str) -> None:
    store.put_page(Page("default", slug, slug, "", type=kind), [Chunk(at, text) for at, text in enumerate(texts)], ())


def sound(store: SqliteStore) -> None:
    for index in ("chunks_fts", "written_fts", "statements_fts"):
        list(store._writer.execute(f"INSERT INTO {index} ({index}, rank) VALUES ('integrity-check', 1)"))


def test_a_page_that_becomes_a_conversation_is_no_longer_what_a_turn_speaks_of_and_the_other_way_round() -> None:
    store = SqliteStore(":memory:")
    for together in (False, True):
        with store.transaction() if together else nullcontext():
            put_as(store, "a", "note", "kiln", "glaze")
            put_as(store, "b", "conversation", "kiln")
            assert openings(store, "kil", "glaz") == {"kil": ["a"], "glaz": ["a"]}
            put_as(store, "a", "conversation", "kiln")
            put_as(store, "b", "note", "kiln", "soup")
            assert openings(store, "kil", "glaz", "sou") == {"kil": ["b"], "glaz": [], "sou": ["b"]}
        sound(store)
        store.reset()
        sound(store)
        assert openings(store, "kil") == {"kil": []}


def test_looking_for_what_a_turn_speaks_of_takes_no_longer_with_many_conversations() -> None:
    store, steps = SqliteStore(":memory:"), []
    for conversations in (0, 3000):
        for number in range(conversations):
            put_as(store, f"said-{number}", "conversation", "kiln " * 3)
        put_as(store, "a", "note", "kiln")
        openings(store, "kil")
        counted = [0]
        store._reader.set_progress_handler(lambda counted=counted: bool(counted.append(1)), 10)  # type: ignore[misc]
        assert openings(store, "kil") == {"kil": ["a"]}
        store._reader.set_progress_handler(None)
        steps.append(len(counted))
    # Of 3,000 more rows a look into an index takes a few steps more.
    assert steps[1] <= steps[0] + 8


def test_a_store_of_before_the_indexes_is_opened_with_all_that_it_says(tmp_path: Path, take_back: TakeBack) -> None:
    path = tmp_path / "old.db"
    store = SqliteStore(path)
    put_as(store, "a", "note", "kiln")
    put_as(store, "b", "conversation", "kiln")
    told = Provenance("note", None, "conversations/x")
    store.put_facts("default", None, [Fact(None, "default", "Der Töpferofen", "a", "fact", told)], NOW)
    store.close()
    take_back(path, 4)
    store = SqliteStore(path)
    assert openings(store, "kil") == {"kil": ["a"]}
    assert [held for held, _ in store.facts_saying("default", ["topferofen", "soup"], 9)] == [1]
    assert len(store.facts("default", told_in="conversations/x")) == 1
    assert store.facts("default", told_in="conversations/y") == ()
    assert [one.text for one in store.index.waiting(0, 9, "fact")] == ["Der Töpferofen"]
    sound(store)


def test_what_was_said_before_there_were_statements_is_found_where_it_is_known_who_said_it(
    tmp_path: Path, take_back: TakeBack
) -> None:
    path = tmp_path / "old.db"
    memory = Memory(SqliteStore(path))
    memory.bank(
        "default", "known", [Message("user", "Staging is on 5433. Is it up?"), Message("assistant", "It is up.")]
    )
    memory.bank("default", "unknown", [Message("user", "Staging is on 1."), Message("assistant", "Staging is on 2.")])
    memory.close()
    take_back(path, 7)
    connection = apsw.Connection(str(path))
    unknown = "UPDATE chunks SET answer = 0 WHERE page_id IN (SELECT id FROM pages WHERE slug = ?)"
    list(connection.execute(unknown, ("conversations/unknown",)))
    connection.close()
    store = SqliteStore(path)
    found = store.find_statements("default", ["stag", "up"], 9)
    assert [one.text for one in store.statements("default", found.holding["stag"])] == ["Staging is on 5433."]
    assert found.statements == 1
    assert found.holding["up"] == frozenset()
    sound(store)


def test_a_conversation_that_is_kept_again_states_only_what_it_says_now(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "m.db")
    memory = Memory(store)
    for text in ("The gate code is 2290.", "The gate code is 4471."):
        memory.bank("default", "s", [Message("user", text, NOW)])
    found = store.find_statements("default", ["gate", "2290"], 9)
    assert (found.statements, found.holding["2290"]) == (1, frozenset())
    assert [one.text for one in store.newest_statements("default", NOW, 9)] == ["The gate code is 4471."]
    assert store.newest_statements("default", NOW + timedelta(minutes=1), 9) == ()
    assert store.newest_statements("team", NOW, 9) == ()
    assert store.statements("team", found.holding["gate"]) == ()
    sound(store)


def crowded(rows: int, draw: np.random.Generator) -> NDArray[np.float32]:
    """Vectors as those of texts: a few of the directions tell most, and some texts are close to each other."""
    axes = np.random.default_rng(2).normal(size=(64, 384))
    mixed = draw.laplace(size=(rows, 64)) / np.sqrt(1 + np.arange(64)) @ axes
    return (mixed / np.linalg.norm(mixed, axis=1, keepdims=True)).astype(np.float32)


def view_of(vectors: NDArray[np.float32]) -> View:
    view = View()
    signs = packed_signs(vectors)
    rows = [(1 + at // 20, 1 + at, at % 20, 9, None, None, signs[at], 0) for at in range(len(vectors))]
    view.put([PageEntry(1 + at, f"p{at}", "note", NO_TIME) for at in range(len(vectors) // 20)], rows)
    return view


def test_what_is_nearest_by_signs_holds_what_is_nearest() -> None:
    draw = np.random.default_rng(5)
    vectors = crowded(20_000, draw)
    view, among = view_of(vectors), np.ones(20_000, np.bool_)
    queries = crowded(40, draw)
    among[::7] = False
    held = {10: 0, 200: 0}
    for query in queries:
        rows = view.nearest(query, among, 600)
        assert len(rows) == 600
        assert among[rows].all()
        order = np.argsort(np.where(among, -(vectors @ query), 9))
        for depth in held:
            held[depth] += int(np.isin(order[:depth], rows).sum())
    assert held[10] / 400 >= 0.995
    assert held[200] / 8000 >= 0.985
    assert len(view.nearest(queries[0], np.arange(20_000) < 500, 600)) == 500


def test_rows_are_multiplied_as_they_should_be_and_by_this_thread_alone() -> None:
    vectors = crowded(3_000, np.random.default_rng(5))
    began, used = time.perf_counter(), time.process_time()
    for _ in range(50):
        found = dots(vectors, vectors[0])
    assert time.process_time() - used <= 1.2 * (time.perf_counter() - began) + 0.02
    assert np.allclose(found, vectors @ vectors[0], atol=1e-6)
