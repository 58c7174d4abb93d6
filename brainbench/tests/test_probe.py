"""Each gated metric falls when the protection behind it is taken away, and a break that changes nothing is told."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from brainbench import probe as probes
from brainbench.cli import main
from brainbench.errors import NothingMeasured
from brainbench.metrics import METRICS, Ratio
from brainbench.model import V1_SUITES, CellStatus
from brainbench.probe import PROBES, Probe, probe
from brainbench.run import choose
from brainbench.systems import BREAKS

MINI = Path(__file__).parent / "data" / "mini-v1"
ACTS = Path(__file__).parent / "data" / "acts"
ONCE = "trust,state-resolution,deletion"
PUSHED = [name for name, tried in PROBES.items() if tried.suite in V1_SUITES]
V1 = {"fixtures": MINI / "fixtures", "gold": MINI / "gold"}
pytestmark = [pytest.mark.req("C-651"), pytest.mark.timeout(300)]


def test_every_gated_metric_has_a_probe_and_no_other_has() -> None:
    assert set(PROBES) == {name for name, metric in METRICS.items() if metric.gated}
    for metric, tried in PROBES.items():
        assert tried.broken in BREAKS
        assert METRICS[metric].suite in (tried.suite, "every")


@pytest.mark.slow
def test_every_break_of_the_reference_memory_breaches_its_metric() -> None:
    found = {p.metric: p for p in probe(choose(corpus="pocket", systems=("wellkept",), harness="openclaw"))}
    assert {name: p.verdict for name, p in found.items()} == dict.fromkeys(PUSHED, "breached")


@pytest.mark.slow
@pytest.mark.req("T-1001")
def test_every_break_of_who_wrote_what_breaches_its_metric() -> None:
    choice = choose(fixtures=ACTS / "fixtures", gold=ACTS / "gold", systems=("wellkept",), harness="direct", suite=ONCE)
    found = {p.metric: p.verdict for p in probe(choice)}
    assert {found[name] for name, tried in PROBES.items() if tried.suite in ONCE.split(",")} == {"breached"}


@pytest.mark.slow
def test_breaks_go_around_a_system_that_can_only_be_searched() -> None:
    found = {p.metric: p for p in probe(choose(corpus="pocket", systems=("bm25",), harness="openclaw"))}
    tried = {name for name, p in found.items() if p.verdict != "untested"}
    assert tried == {name for name, p in PROBES.items() if p.suite in ("know-to-ask", "push")}
    assert {found[name].verdict for name in tried} == {"breached"}
    assert found["continuity_rate"].why == "the system lacks conversation_write"


def test_a_break_that_changes_nothing_is_not_breached_and_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    idle = Probe("other-pages", "know-to-ask")
    monkeypatch.setattr(probes, "PROBES", {**dict(PROBES), "false_fire_rate": idle})
    done = brainbench("--json")
    assert done[0] == 1
    told = {row["metric"]: row for row in json.loads(done[1])["probes"]}
    assert told["false_fire_rate"]["verdict"] == "NOT BREACHED"
    assert told["false_fire_rate"]["whole"] == told["false_fire_rate"]["broken"]
    assert "fail: threshold: false_fire_rate: other-pages changes nothing that the gate sees" in done[2]


def test_a_gated_metric_without_a_probe_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probes, "PROBES", {n: p for n, p in PROBES.items() if n != "push_recall"})
    code, _, err = brainbench()
    assert code == 2
    assert "push_recall: gated without a probe; add a line to PROBES" in err


def test_probing_what_nothing_can_be_asked_of_is_no_pass() -> None:
    with pytest.raises(NothingMeasured):
        probe(choose(systems=("bm25",), harness="direct", suite="continuity", **V1))  # type: ignore[arg-type]


def test_the_table_shows_both_counts() -> None:
    code, out, err = brainbench()
    rows = {line.split()[1]: line for line in out.splitlines()[1:]}
    assert list(rows) == list(PUSHED)
    assert rows["false_fire_rate"].split()[:2] == ["never-silent", "false_fire_rate"]
    assert rows["continuity_rate"].rstrip().endswith("untested: the system lacks conversation_write")
    assert "never-silent for false_fire_rate ..." in err
    assert (code, "NOT BREACHED" in out) == (1, True), err


@pytest.mark.parametrize("status", ["invalid", "failed"])
def test_a_whole_system_that_cannot_be_trusted_leaves_its_probes_untested(
    status: CellStatus, monkeypatch: pytest.MonkeyPatch
) -> None:
    choice = choose(systems=("bm25",), harness="openclaw", suite="know-to-ask", **V1)  # type: ignore[arg-type]
    whole = probes.measure(choice).board
    cells = tuple(replace(cell, status=status, reason="3 of 9 fixtures could not be seeded") for cell in whole.cells)
    monkeypatch.setattr(probes, "PROBES", {"false_fire_rate": PROBES["false_fire_rate"]})
    (told,) = probes._each(choice, replace(whole, cells=cells), lambda what: None, lambda done, of: None)
    assert (told.verdict, told.why) == ("untested", "3 of 9 fixtures could not be seeded")


def brainbench(*more: str) -> tuple[int, str, str]:
    flags = ["--fixtures", str(V1["fixtures"]), "--gold", str(V1["gold"]), "--harness", "openclaw"]
    done = CliRunner().invoke(main, ["probe", *flags, "--system", "bm25", *more], catch_exceptions=False)
    return done.exit_code, done.stdout, done.stderr


def test_a_broken_cell_that_cannot_be_trusted_has_breached_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = probes.measure(choose(systems=("bm25",), harness="openclaw", suite="know-to-ask", **V1)).board  # type: ignore[arg-type]
    (cell,) = whole.cells
    failed = replace(whole, cells=(replace(cell, status="invalid", reason="all went wrong"),))
    base = cell.metrics["false_fire_rate"]
    assert isinstance(base, Ratio)
    told = probes._probed("false_fire_rate", PROBES["false_fire_rate"], whole, failed, base)
    assert (told.verdict, told.why) == ("NOT BREACHED", "all went wrong")
