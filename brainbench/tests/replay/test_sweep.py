from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from brainbench.model import Replayed
from brainbench.replay import observations_hash
from brainbench.replay.sweep import Task, sweep
from brainbench.seams import SEAMS

from ..conftest import script

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _importable_by_workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    yield
    sys.modules.pop("misbehaving", None)


def tasks(system: str, count: int) -> list[Task]:
    seam = SEAMS["openclaw"]
    return [Task(system, seam, script(f"Ada Lovelace {n}", fixture_id=f"f-{n}"), f"run-{n}", 42) for n in range(count)]


def errors(replays: list[Replayed]) -> list[str | None]:
    return [o.error for r in replays for o in r.observations]


@pytest.mark.req("C-004")
def test_the_number_of_jobs_and_the_order_change_nothing() -> None:
    work = tasks("misbehaving:Polite", 8)
    one, two = sweep(work, 1).replays, sweep(work[::-1], 2).replays
    assert [r.fixture_id for r in one] == [f"f-{n}" for n in range(8)]
    assert observations_hash(one) == observations_hash(two)


@pytest.mark.parametrize(("name", "why"), [("Hanging", "no answer within 1 s"), ("Crashing", "exit code 7")])
def test_a_system_that_hangs_or_dies_costs_its_own_cell_and_is_given_up_early(name: str, why: str) -> None:
    bad, good = tasks(f"misbehaving:{name}", 12), tasks("misbehaving:Polite", 4)
    done: list[int] = []
    replays = sweep(bad + good, 2, fixture_seconds=1.0, done=done.append).replays
    assert errors(replays[12:]) == [None] * 4
    said = errors(replays[:12])
    assert all(said)
    assert why in str(said[0])
    assert "not tried" in str(said[-1])
    assert done == list(range(1, 17))


def test_what_a_system_prints_does_not_reach_the_bench(capfd: pytest.CaptureFixture[str]) -> None:
    replays = sweep(tasks("misbehaving:Babbling", 2), 1).replays
    assert errors(replays) == [None, None]
    assert capfd.readouterr() == ("", "")


def test_workers_see_an_empty_directory_and_a_scrubbed_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "SECRET_TOKEN", "hunter2")
    monkeypatch.setitem(os.environ, "BRAINBENCH_DATA", "/somewhere")
    (seen,) = sweep(tasks("misbehaving:Nosy", 1), 1).replays
    assert seen.observations[0].text == ""
