"""What is hidden from a system cannot be read by it in any of the ways that the rights of the bench would open."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from brainbench.corpus import find
from brainbench.replay.sweep import sweep
from brainbench.replay.worker import Task
from brainbench.run import hidden_places
from brainbench.seams import SEAMS
from brainbench.systems.access import Access
from brainbench.systems.fence import RUNS, _runs_around, can_fence

from ..conftest import script
from ..replay.test_sweep import CAN

needs_landlock = pytest.mark.skipif(not can_fence(), reason="this kernel has no Landlock")


@pytest.fixture(autouse=True)
def _importable_by_workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    yield
    sys.modules.pop("misbehaving", None)


def told(system: str, hidden: tuple[str, ...]) -> str:
    task = Task(f"misbehaving:{system}", SEAMS["openclaw"], script("Ada?"), "r", 42, CAN)
    (observation,) = sweep([task], 1, access=Access(hidden=hidden)).replays[0].observations
    assert observation.error is None
    return observation.text


@pytest.mark.slow
@needs_landlock
@pytest.mark.req("C-640", "C-642")
def test_a_system_that_prowls_for_gold_finds_none():
    core = find("core")
    assert told("Prowling", hidden_places(core / "fixtures", core / "gold")) == ""


@pytest.mark.slow
@needs_landlock
@pytest.mark.req("C-640", "C-642")
def test_without_anything_hidden_the_same_system_finds_it():
    found = told("Prowling", ())
    assert {"read", "child", "around", "generator"} <= set(found.split())
    assert (find("core") / "gold" / "core-direct-000.gold.json").exists()


@pytest.mark.slow
@needs_landlock
def test_a_fenced_system_can_still_work_with_files_and_processes_of_its_own():
    core = find("core")
    assert told("Working", hidden_places(core / "fixtures", core / "gold")) == "ended -15"


@pytest.mark.slow
@needs_landlock
@pytest.mark.req("C-642")
def test_a_system_reads_nothing_that_another_run_keeps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    for folder, words in ((f"{RUNS}other", "of-a-run"), ("elsewhere", "of-nobody")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "note").write_text(words)
    assert told("Rummaging", ()) == "of-nobody"


def test_a_place_outside_of_any_run_has_no_runs_around_it(tmp_path: Path):
    (tmp_path / f"{RUNS}other").mkdir()
    own = tmp_path / f"{RUNS}own" / "7-worker"
    own.mkdir(parents=True)
    assert _runs_around(str(tmp_path)) == []
    assert sorted(_runs_around(str(own))) == [str(tmp_path / f"{RUNS}other"), str(tmp_path / f"{RUNS}own")]
