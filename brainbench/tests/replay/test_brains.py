"""A large brain is written once, restored afterwards, and costs a slow system its own fixtures only."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from brainbench.errors import SystemFailure
from brainbench.model import Capability, PageIn, RunContext
from brainbench.replay import TooSlow, replay
from brainbench.replay.brains import Brain, Filling, encoded
from brainbench.replay.sweep import sweep
from brainbench.replay.worker import Task, blind
from brainbench.seams import SEAMS
from brainbench.systems.baselines import Bm25

from ..conftest import page, script

PAGES = [(f"people/p-{n}", page(f"Tassel{n}by", "", "Keeps a ledger.")) for n in range(250)]


class Counting(Bm25):
    """Counts what is written, and how often it is asked for a snapshot."""

    written = 0

    def write_page(self, page: PageIn) -> None:
        self.written += 1
        super().write_page(page)


class WithoutSnapshots(Counting):
    def keep(self, name: str) -> None:
        """Nothing is kept."""

    def restore(self, name: str) -> bool:
        return False


class Lying(Counting):
    def restore(self, name: str) -> bool:
        return True


class Slow(Counting):
    def write_pages(self, pages: object) -> None:
        time.sleep(0.2)


def filling(tmp_path: Path, seconds: float = 60.0) -> Filling:
    (tmp_path / "pages").write_bytes(encoded(PAGES))
    return Filling(Brain("large-0", str(tmp_path / "pages"), seconds))


def poured(system: Counting, brain: Filling, run: RunContext, times: int) -> None:
    for _ in range(times):
        system.open(run)
        brain.pour(system, "default")
        assert all(system.read_page("default", slug) == content for slug, content in PAGES)
        system.write_page(PageIn("default", "people/p-0", "changed"))
        system.write_page(PageIn("default", "people/more", "more"))


@pytest.mark.req("C-802")
def test_a_brain_is_written_once_and_then_restored(tmp_path: Path, run: RunContext) -> None:
    system = Counting()
    poured(system, filling(tmp_path), run, 3)
    assert system.written == len(PAGES) + 6


@pytest.mark.req("C-802")
def test_a_system_without_snapshots_is_filled_each_time(tmp_path: Path, run: RunContext) -> None:
    system = WithoutSnapshots()
    poured(system, filling(tmp_path), run, 3)
    assert system.written == 3 * len(PAGES) + 6


def test_a_system_that_restores_nothing_and_says_it_did_is_found_out(tmp_path: Path, run: RunContext) -> None:
    system, brain = Lying(), filling(tmp_path)
    system.open(run)
    brain.pour(system, "default")
    system.open(run)
    with pytest.raises(SystemFailure, match="cannot be read back"):
        brain.pour(system, "default")


def test_writing_that_takes_too_long_ends_with_how_far_it_came(tmp_path: Path, run: RunContext) -> None:
    with pytest.raises(TooSlow, match=r"wrote 200 of 250 pages when its 0\.3 s for that were over"):
        filling(tmp_path, 0.3).pour(Slow(), "default")


def test_the_pages_of_a_brain_are_there_when_the_fixture_is_played(tmp_path: Path, run: RunContext) -> None:
    fixture = script("Did Tassel7by call?")
    alone = replay(Counting(), SEAMS["openclaw"], fixture, run)
    among = replay(Counting(), SEAMS["openclaw"], fixture, run, filling(tmp_path))
    assert [o.ids for o in alone.observations] == [()]
    assert [o.ids for o in among.observations] == [("people/p-7",)]


def test_the_name_of_a_universe_does_not_cross() -> None:
    fixture = replace(script("Hello"), universe="brain-10k")
    task = Task("null", SEAMS["openclaw"], fixture, "run", 42, frozenset({Capability.PAGE_WRITE}))
    assert blind(task).fixture.universe is None


@pytest.mark.slow
@pytest.mark.req("C-802")
def test_a_slow_system_costs_its_fixtures_in_that_brain_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    (tmp_path / "pages").write_bytes(encoded(PAGES))
    brain = Brain("large-0", str(tmp_path / "pages"), 0.3)
    work = []
    both = frozenset({Capability.PAGE_WRITE, Capability.CONTEXT}), Bm25.can
    for system, can in zip(("misbehaving:Dawdling", "bm25"), both, strict=True):
        for n in range(6):
            large = brain if n % 2 else None
            fixture = script(f"Did Tassel{n}by call?", fixture_id=f"f-{n}")
            work.append(Task(system, SEAMS["openclaw"], fixture, f"run-{n}", 42, can, brain=large))
    started = time.monotonic()
    replays = sweep(work, 2, fixture_seconds=30.0).replays
    assert time.monotonic() - started < 60
    reasons = [[o.error for o in r.observations] for r in replays]
    for n in range(6):
        assert ("wrote" in str(reasons[n][0])) == bool(n % 2)
        assert reasons[6 + n] == [None]
