"""A large brain is written once, restored afterwards, and costs a slow system its own fixtures only."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from brainbench.errors import SystemFailure
from brainbench.model import Capability, PageIn, RunContext
from brainbench.replay import TooSlow, replay, worker
from brainbench.replay.brains import Brain, Filling, encoded, sealed
from brainbench.replay.sweep import filled_once, sweep
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


class Handing(Counting):
    """Keeps its snapshot in a file, together with all that it was told."""

    hands_over = True

    def __init__(self, home: Path) -> None:
        super().__init__()
        self.home = home
        self.told: list[str] = []

    def open(self, run: RunContext) -> None:
        self.told.append(repr((run.run_id, run.sources, run.active_source)))
        super().open(run)

    def tell_time(self, now: str) -> None:
        self.told.append(now)

    def write_pages(self, pages: Sequence[PageIn]) -> None:
        self.told += [page.slug for page in pages]
        super().write_pages(pages)

    def keep(self, name: str) -> None:
        super().keep(name)
        (self.home / name).write_text(json.dumps({"pages": PAGES, "told": self.told}))

    def hand_over(self, name: str) -> Path:
        return self.home / name

    def take_over(self, name: str, file: Path) -> bool:
        self.open(RunContext("twin", (), "default", str(self.home)))
        for slug, content in json.loads(file.read_text())["pages"]:
            Bm25.write_page(self, PageIn("default", slug, content))
        Bm25.keep(self, name)
        return True


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


def handed_over(tmp_path: Path, run: RunContext) -> Brain:
    """A brain that a twin filled."""
    brain = Brain("large-0", str(tmp_path / "pages"), 60.0)
    twin, pages = Handing(tmp_path), filling(tmp_path)
    twin.open(run)
    pages.pour(twin, "default")
    return replace(brain, filled={"default": sealed(tmp_path / "large-0-default")})


@pytest.mark.req("C-802")
def test_a_brain_that_a_twin_filled_is_not_written_again(tmp_path: Path, run: RunContext) -> None:
    system = Handing(tmp_path)
    poured(system, Filling(handed_over(tmp_path, run)), run, 3)
    assert system.written == 6


@pytest.mark.req("C-802")
def test_a_brain_that_was_changed_after_it_was_handed_over_is_not_played(tmp_path: Path, run: RunContext) -> None:
    brain = handed_over(tmp_path, run)
    with (tmp_path / "large-0-default").open("a") as file:
        file.write(" ")
    with pytest.raises(SystemFailure, match="no longer what was handed over"):
        Filling(brain).pour(Handing(tmp_path), "default")


def test_who_fills_a_brain_for_all_seams_is_told_its_pages_and_nothing_of_what_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filling(tmp_path)
    monkeypatch.setitem(worker._open_systems, "handing", Handing(tmp_path))
    monkeypatch.setattr(worker, "_worker_directory", str(tmp_path))
    brain = Brain("large-0", str(tmp_path / "pages"), 60.0)
    handed = msgspec.msgpack.decode(worker.fill("handing", brain, ["default"]), type=dict[str, str])
    told = json.loads(Path(handed["default"]).read_text())["told"]
    opened = "('large-0', (SourceDecl(id='default', owner='user'),), 'default')"
    assert told == [opened, "2026-01-01T00:00:00Z", *(slug for slug, _ in PAGES)]


PLAYED_IN = ("openclaw", "codex")


def large_tasks(tmp_path: Path, system: str) -> list[Task]:
    filling(tmp_path)
    brain = Brain("large-0", str(tmp_path / "pages"), 60.0)
    fixture = script("Did Tassel7by call?")
    return [Task(system, SEAMS[seam], fixture, f"run-{seam}", 42, Bm25.can, brain=brain) for seam in PLAYED_IN]


@pytest.mark.req("C-802")
def test_foreign_code_fills_its_brains_in_each_seam_whatever_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it handed over could hold more than pages: a note for the process that plays the same script next."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    tasks = large_tasks(tmp_path, "misbehaving:Passing")
    with filled_once(tasks, (), None, None) as ready:
        assert list(ready) == tasks
    assert [o.ids for r in sweep(tasks, 1).replays for o in r.observations] == [("people/p-7",), ("people/p-7",)]


@pytest.mark.slow
@pytest.mark.req("C-802")
def test_the_reference_is_filled_once_and_answers_in_each_seam_as_if_it_were_not(tmp_path: Path) -> None:
    pytest.importorskip("wellkept")
    tasks = large_tasks(tmp_path, "wellkept")
    with filled_once(tasks, (), None, None) as ready:
        assert [set(task.brain.filled) for task in ready if task.brain] == [{"default"}] * 2
    shared = sweep(tasks, 1).replays
    apart = [sweep([task], 1).replays[0] for task in tasks]
    assert [[o.ids or o.text for o in r.observations] for r in shared] == [
        [o.ids or o.text for o in r.observations] for r in apart
    ]
    assert all("people/p-7" in str(o) for r in shared for o in r.observations)


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
