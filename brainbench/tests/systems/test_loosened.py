"""With one protection taken away its metric falls, on an item that is named, and with it back it holds again."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from brainbench import gold as golds
from brainbench.corpus import read
from brainbench.corpus.canaries import planted
from brainbench.metrics import METRICS, Judged, Ratio, pooled
from brainbench.model import ITEM_SUITES, By, Capability, ForgetIn, Receipt, Reply, RunContext, SourceDecl, WriteIn
from brainbench.probe import PROBES
from brainbench.replay import replay
from brainbench.seams import SEAMS
from brainbench.suites import SUITES, judge
from brainbench.systems import BREAKS, System
from brainbench.systems.baselines import Null

from ..registry import Registry

ACTS = Path(__file__).parents[1] / "data" / "acts"
CORPUS = read(ACTS / "fixtures", include_holdout=True)
FIXTURES = [planted(f, 42) for f in CORPUS.fixtures if f.fixture_id != "a-strangers-sql"]
GOLD = golds.with_canaries(golds.read(CORPUS, ACTS / "gold"), 42)
SEAM = SEAMS["openclaw"]
TRIED = {name: probe for name, probe in PROBES.items() if probe.suite in ITEM_SUITES}
FALLEN = {
    "trust_label_accuracy": "who-wrote-it/end/t4",
    "laundering_violations": "who-wrote-it/end/m2",
    "self_promotion_violations": "who-wrote-it/5/r1",
    "current_fact_accuracy": "moved-twice/end/c1",
    "stale_surfaced_as_current": "moved-twice/end/s1",
    "history_preserved": "moved-twice/end/h1",
    "lower_tier_supersede_violations": "moved-twice/end/g1",
    "residual_after_purge": "purge-a-text/2/p1",
    "receipt_completeness": "purge-a-text/2/p1",
    "resurrection_after_resync": "purge-and-lift/3/p1",
    "poison_persist_rate": "a-mail-with-an-order/end/x1",
    "flagged_and_labeled_rate": "a-mail-with-an-order/end/x2",
    "unconfirmed_preference_activation_rate": "a-mail-with-an-order/end/x2",
    "agent_relayed_activation_rate": "a-mail-with-an-order/end/x2",
    "poison_activation_rate": "a-mail-with-an-order/end/x1",
    "benign_retention": "a-mail-with-an-order/end/b1",
    "false_quarantine_rate": "a-mail-with-an-order/end/b1",
    "default_persist_unlabeled_rate": "a-mail-with-an-order/end/x1",
    "default_activation_unlabeled_rate": "a-mail-with-an-order/end/x2",
    "default_benign_retention": "a-mail-with-an-order/end/b2",
}
"""An item on which each metric must fall."""


def measured(system: System, suite: str, place: Path) -> Judged:
    """What the suite judges of every fixture that declares it."""
    found = []
    for number, fixture in enumerate(f for f in FIXTURES if suite in f.suites):
        here = place / str(number)
        here.mkdir(parents=True)
        run = RunContext("0" * 32, fixture.sources, fixture.active_source, str(here), protected=SUITES[suite].protected)
        replayed = replay(system, SEAM, fixture, run)
        assert (replayed.seed_failure, replayed.missing) == (None, ())
        assert [s.error for s in replayed.sights if s.error] == []
        found.append(SUITES[suite].judge(fixture, GOLD[fixture.fixture_id], replayed, SEAM))
    return pooled(found)


def broken(name: str) -> System:
    module, _, kind = BREAKS[name].partition(":")
    system: System = getattr(import_module(module), kind)(Registry())
    return system


class Sink(Registry):
    """Says that it kept what it is given, and that it forgot."""

    def write_by(self, given: WriteIn) -> Reply:
        reply = super().write_by(given)
        self._ask("DELETE FROM things")
        return reply

    def forget(self, asked: ForgetIn) -> Reply:
        return Reply(outcome="done", receipt=Receipt("r", "complete", ("things",)))


def failed(judged: Judged, metric: str) -> set[str]:
    return {item.item.rpartition(":")[0] for item in judged.items if item.metric == metric and item.failed}


@pytest.mark.req("T-1001", "T-905")
@pytest.mark.parametrize("metric", TRIED)
def test_a_metric_falls_with_its_protection_and_holds_with_it(metric: str, tmp_path: Path) -> None:
    tried = TRIED[metric]
    whole = measured(Registry(), tried.suite, tmp_path / "whole")
    assert METRICS[metric].measure(whole) is not None
    assert failed(whole, metric) == set()
    loose = measured(broken(tried.broken), tried.suite, tmp_path / "broken")
    assert FALLEN[metric] in failed(loose, metric)
    again = measured(Registry(), tried.suite, tmp_path / "again")
    assert METRICS[metric].measure(again) == METRICS[metric].measure(whole)


@pytest.mark.parametrize("suite", ITEM_SUITES)
def test_a_whole_memory_reaches_the_ceiling_of_every_metric(suite: str, tmp_path: Path) -> None:
    judged = measured(Registry(), suite, tmp_path)
    assert [item.item for item in judged.items if item.failed and item.metric != "physical_residue_after_purge"] == []
    assert all(control.held for control in judged.controls)


@pytest.mark.req("T-904")
@pytest.mark.parametrize("suite", ["trust", "deletion", "poisoning", "poisoning-default"])
def test_a_memory_that_keeps_nothing_is_no_safe_memory(suite: str, tmp_path: Path) -> None:
    played = []
    for number, fixture in enumerate(f for f in FIXTURES if suite in f.suites):
        here = tmp_path / str(number)
        here.mkdir()
        run = RunContext("0" * 32, fixture.sources, fixture.active_source, str(here), protected=SUITES[suite].protected)
        played.append((fixture, GOLD[fixture.fixture_id], replay(Sink(), SEAM, fixture, run)))
    cell = judge(SUITES[suite], "sink", SEAM, played, can=Sink.can)
    assert cell is not None
    assert cell.status == "invalid"
    assert "controls failed" in cell.reason


@pytest.mark.req("T-904")
@pytest.mark.parametrize("suite", ITEM_SUITES)
def test_null_passes_no_suite(suite: str, tmp_path: Path) -> None:
    played = []
    for number, fixture in enumerate(f for f in FIXTURES if suite in f.suites):
        (tmp_path / str(number)).mkdir()
        run = RunContext("0" * 32, fixture.sources, fixture.active_source, str(tmp_path / str(number)))
        played.append((fixture, GOLD[fixture.fixture_id], replay(Null(), SEAM, fixture, run)))
    cell = judge(SUITES[suite], "null", SEAM, played, can=Null.can)
    assert cell is not None
    assert cell.status == "invalid" or cell.gold_failed > 0


def test_a_break_that_changes_what_goes_in_is_seen_to_have_run(tmp_path: Path) -> None:
    system = broken("as-the-owner")
    system.open(RunContext("0" * 32, (SourceDecl("default"),), "default", str(tmp_path)))
    system.write_by(WriteIn("default", "The pump needs a seal.", "n", By("agent", "mcp", "agent:a")))
    assert system.whole._rank("thing-n") == 2  # type: ignore[attr-defined]


def test_what_the_gate_of_a_memory_without_one_would_hold_is_not_asked() -> None:
    assert SUITES["poisoning"].lacking(Registry.can - {Capability.WRITE_GATE}) == ("write_gate",)
    assert SUITES["poisoning-default"].lacking(Registry.can - {Capability.WRITE_GATE}) == ()


def test_shares_are_of_the_items_of_their_arm(tmp_path: Path) -> None:
    judged = measured(Registry(), "poisoning", tmp_path)
    assert METRICS["poison_persist_rate"].measure(judged) == Ratio(0, 1)
    assert METRICS["flagged_and_labeled_rate"].measure(judged) == Ratio(1, 1)
    assert METRICS["poison_activation_rate"].measure(judged) == Ratio(0, 2)
    assert METRICS["benign_retention"].measure(judged) == Ratio(2, 2)
