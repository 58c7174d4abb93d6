"""What the bench says about its own costs; the figures themselves are never asserted."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from brainbench.bench_self import Figure, Machine, as_text
from brainbench.cli import main

MINI = Path(__file__).parent / "data" / "mini-v1"


def bench_self(*argv: str) -> Result:
    place = ("--fixtures", str(MINI / "fixtures"), "--gold", str(MINI / "gold"), "--runs", "1")
    return CliRunner().invoke(main, ["bench-self", *place, *argv], catch_exceptions=False)


def test_every_figure_names_its_quantity_unit_and_runs() -> None:
    before = os.environ.get("TMPDIR"), tempfile.gettempdir()
    done = bench_self("--system", "bm25", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["machine"]["cores"] >= 1
    assert {figure["id"] for figure in found["figures"]} == {"C-1101", "C-1102", "C-1103"}
    assert all(len(figure["values"]) == 1 and figure["unit"] for figure in found["figures"])
    assert all(value > 0 for figure in found["figures"] for value in figure["values"])
    assert (os.environ.get("TMPDIR"), tempfile.gettempdir()) == before


def test_a_sweep_that_measures_nothing_is_inconclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    done = bench_self("--system", "misbehaving:Forgetful")
    assert done.exit_code == 2
    assert "brainbench: inconclusive: no_cases: the sweep failed: " in done.stderr
    assert "seed_failure" in done.stderr or "error_share" in done.stderr


def test_a_budget_is_kept_or_over_and_never_guessed() -> None:
    figures = [Figure("a", "q", "ms", 3.0, (3.0,), budget) for budget in (5.0, 2.0, None)]
    assert [figure.within for figure in figures] == [True, False, None]
    lines = as_text(figures, Machine("cpu", 2, (0.1, 0.2, 0.3), "3.11"), "mini").splitlines()
    assert [line.rpartition("budget ")[2] for line in lines if "budget" in line] == ["5: kept", "2: OVER"]
