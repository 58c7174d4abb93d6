"""A script of acts is played through the doors that a memory has, and everything that it added is told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from brainbench.corpus import read
from brainbench.corpus.canaries import planted
from brainbench.model import Capability, Fixture, ItemIn, ItemRow, PageIn, Replayed, RunContext, SourceDecl
from brainbench.replay import observations_hash, replay
from brainbench.replay.acting import END, claimed, lacking
from brainbench.replay.images import unpacked
from brainbench.replay.worker import Task, blind
from brainbench.seams import SEAMS
from brainbench.systems import System

ACTS = Path(__file__).parents[1] / "data" / "acts"
FIXTURES = {f.fixture_id: planted(f, 42) for f in read(ACTS / "fixtures", include_holdout=True).fixtures}


def played(system: System, name: str, place: Path, *, protected: bool = False) -> Replayed:
    place.mkdir(exist_ok=True)
    run = RunContext("0" * 32, (SourceDecl("default"),), "default", str(place), protected=protected)
    return replay(system, SEAMS["openclaw"], FIXTURES[name], run)


class Shelf(System):
    """Keeps texts under ids, and knows no doors, tiers or receipts."""

    can = frozenset({Capability.ADD, Capability.DELETE, Capability.LIST, Capability.REOPEN})

    def open(self, run: RunContext) -> None:
        self.file = Path(run.directory) / "kept.txt"
        self.kept: dict[str, str] = {}

    def reopen(self, run: RunContext) -> None:
        self.file = Path(run.directory) / "kept.txt"
        lines = self.file.read_text().splitlines() if self.file.exists() else []
        self.kept = dict(line.split("\t", 1) for line in lines if not line.startswith("#"))

    def _save(self) -> None:
        self.file.write_text("".join(f"{name}\t{text}\n" for name, text in self.kept.items()))

    def add_item(self, item: ItemIn) -> str:
        self.kept[item.name] = item.text
        self._save()
        return item.name

    def find_items(self, source: str, query: str, limit: int, as_of: str | None = None) -> Sequence[ItemRow]:
        return [ItemRow(name, text) for name, text in self.kept.items()]

    def delete_item(self, source: str, item_id: str) -> bool:
        text = self.kept.pop(item_id, None)
        self._save()
        with self.file.open("a") as file:
            file.write(f"# removed: {text}\n")
        return text is not None

    def list_items(self, source: str) -> Sequence[ItemRow]:
        return self.find_items(source, "", 0)


@pytest.mark.req("T-802", "T-803")
def test_every_act_has_a_reply_and_what_was_added_after_it(registry: System, tmp_path: Path) -> None:
    seen = played(registry, "purge-and-lift", tmp_path / "m")
    replies = {s.event_id: s.reply.outcome for s in seen.sights if s.reply is not None}
    assert replies == {1: "kept", 2: "kept", 3: "done", 4: "refused", 5: "kept", 6: "done", 7: "kept"}
    assert [s.error for s in seen.sights] == [None] * 8
    stored = {s.event_id: [r.id for x in s.shown if x.surface == "stored" for r in x.rows] for s in seen.sights}
    assert stored[2] == ["thing-item-1", "thing-item-2"]
    assert set(stored[3]) == {"thing-item-2"}
    assert stored[END] == ["thing-item-2", "thing-item-7"]


@pytest.mark.req("T-1102")
def test_the_files_are_kept_before_something_is_forgotten_and_after_it(registry: System, tmp_path: Path) -> None:
    sight = next(s for s in played(registry, "purge-and-lift", tmp_path / "m").sights if s.event_id == 3)
    before, after = unpacked(sight.before), unpacked(sight.after)
    assert b"4471-heron" in before["memory.db"]
    assert b"4471-heron" not in after["memory.db"]


@pytest.mark.req("T-1101")
def test_a_memory_without_doors_is_asked_by_its_plain_calls_and_that_is_told(tmp_path: Path) -> None:
    seen = played(Shelf(), "purge-a-text", tmp_path / "m")
    assert seen.seed_failure is None
    assert (seen.missing, [s.error for s in seen.sights]) == ((), [None] * 4)
    told = {s.event_id: s.deviation for s in seen.sights}
    assert told[1] == "written by the plain write, which knows no door"
    assert told[2] == "forgotten by the plain delete, which gives no receipt"
    assert Capability.STORAGE_DIR in seen.can


@pytest.mark.req("T-901")
def test_what_an_act_needs_and_a_memory_does_not_claim_is_not_applicable(tmp_path: Path) -> None:
    fixture = FIXTURES["purge-and-lift"]
    assert lacking(fixture, Shelf.can) == ("purge", "resync")
    assert played(Shelf(), "purge-and-lift", tmp_path / "m").missing == ("purge", "resync")
    assert Capability.STORAGE_DIR not in claimed(Shelf.can - {Capability.REOPEN})


@pytest.mark.req("T-901", "T-802")
def test_sql_that_does_not_fit_the_file_has_not_landed(registry: System, tmp_path: Path) -> None:
    seen = played(registry, "a-strangers-sql", tmp_path / "m")
    error = next(s.error for s in seen.sights if s.event_id == 2)
    assert error is not None
    assert "did not land: " in error
    assert "no such table: facts" in error


@pytest.mark.req("T-806")
def test_each_user_turn_is_played_as_a_session_of_its_own_and_as_a_goal(registry: System, tmp_path: Path) -> None:
    seen = played(registry, "a-mail-with-an-order", tmp_path / "m")
    assert [(h.event_id, h.kind, h.error) for h in seen.later] == [(7, "turn", None), (7, "pack", None)]
    assert all("11-200" in heard.text for heard in seen.later)
    assert played(registry, "who-wrote-it", tmp_path / "n").later == ()


def test_what_differs_in_every_run_is_not_hashed(registry: System, tmp_path: Path) -> None:
    one = played(registry, "purge-and-lift", tmp_path / "m")
    sights = tuple(replace(s, before=b"x", after=b"y", error="other words" if s.error else None) for s in one.sights)
    assert observations_hash([one]) == observations_hash([replace(one, sights=sights)])
    fewer = tuple(replace(s, shown=s.shown[:1]) for s in one.sights)
    assert observations_hash([one]) != observations_hash([replace(one, sights=fewer)])


@pytest.mark.req("T-804", "C-205")
def test_names_of_things_do_not_reach_who_plays() -> None:
    def names(fixture: Fixture) -> list[object]:
        return [getattr(e, "name", None) for e in fixture.events]

    fixture = FIXTURES["moved-twice"]
    hidden = blind(Task("registry", SEAMS["direct"], fixture, "0" * 32, 42, frozenset())).fixture
    assert names(hidden) == ["thing 0", "thing 1", "thing 2", None]
    assert [getattr(e, "replaces", None) for e in hidden.events] == [None, "thing 0", "thing 1", None]
    assert hidden.events[3].target.name == "thing 1"  # type: ignore[union-attr]


def test_a_memory_that_loses_its_pages_is_seen_to(tmp_path: Path) -> None:
    class Sieve(Shelf):
        def list_items(self, source: str) -> Sequence[ItemRow]:
            raise RuntimeError("no list today")

    seen = played(Sieve(), "purge-a-text", tmp_path / "m")
    assert seen.seed_failure == "RuntimeError: no list today"


def test_pages_of_a_memory_without_labels_are_read_back(tmp_path: Path) -> None:
    class Pages(System):
        can = frozenset({Capability.PAGE_WRITE, Capability.DELETE})

        def open(self, run: RunContext) -> None:
            self.pages: dict[str, str] = {}

        def write_page(self, page: PageIn) -> None:
            self.pages[page.slug] = page.content

        def read_page(self, source: str, slug: str) -> str | None:
            return self.pages.get(slug)

        def delete_item(self, source: str, item_id: str) -> bool:
            return self.pages.pop(item_id, None) is not None

    seen = played(Pages(), "purge-a-text", tmp_path / "m")
    stored = [[r.text for x in s.shown if x.surface == "stored" for r in x.rows] for s in seen.sights]
    assert stored[0] == ["The safe of the ferry office opens with 4471-heron."]
    assert stored[1] == []
