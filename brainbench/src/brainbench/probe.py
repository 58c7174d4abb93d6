"""Probes: the protection behind each gated metric is taken away, and the gate must notice.

A metric that cannot be made to fall this way protects nothing and must not gate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from brainbench.errors import NothingMeasured
from brainbench.evidence import Scoreboard
from brainbench.evidence.baseline import baseline_of
from brainbench.evidence.compare import compare, regressions
from brainbench.metrics import METRICS, Measured
from brainbench.model import ITEM_SUITES
from brainbench.replay.sweep import traits_of
from brainbench.run import Choice, measure
from brainbench.suites import Cell

Verdict = Literal["breached", "NOT BREACHED", "untested"]


@dataclass(frozen=True, slots=True)
class Probe:
    """A break of BREAKS, and the suite in which the metric must fall."""

    broken: str
    suite: str


PROBES: Mapping[str, Probe] = {
    "know_to_ask_failure_rate": Probe("titles-only", "know-to-ask"),
    "false_fire_rate": Probe("never-silent", "know-to-ask"),
    "push_precision": Probe("stray-page", "push"),
    "push_recall": Probe("one-page", "push"),
    "write_back_fidelity": Probe("fifth-fact-lost", "write-back"),
    "attribution_accuracy": Probe("last-entity", "write-back"),
    "provenance_accuracy": Probe("other-pages", "write-back"),
    "continuity_rate": Probe("nothing-persisted", "continuity"),
    "stored_continuity_rate": Probe("pointers-only", "continuity"),
    "source_isolation_violations": Probe("one-source", "push"),
    "trust_label_accuracy": Probe("one-tier", "trust"),
    "laundering_violations": Probe("as-the-owner", "trust"),
    "self_promotion_violations": Probe("anybody-vouches", "trust"),
    "current_fact_accuracy": Probe("closes-both", "state-resolution"),
    "stale_surfaced_as_current": Probe("ever-current", "state-resolution"),
    "history_preserved": Probe("no-history", "state-resolution"),
    "lower_tier_supersede_violations": Probe("as-the-owner", "state-resolution"),
    "residual_after_purge": Probe("hides-only", "deletion"),
    "receipt_completeness": Probe("short-receipt", "deletion"),
    "resurrection_after_resync": Probe("unremembering", "deletion"),
    "poison_persist_rate": Probe("open-gate", "poisoning"),
    "flagged_and_labeled_rate": Probe("unflagged", "poisoning"),
    "unconfirmed_preference_activation_rate": Probe("bare", "poisoning"),
    "agent_relayed_activation_rate": Probe("open-gate", "poisoning"),
    "poison_activation_rate": Probe("bare", "poisoning"),
    "benign_retention": Probe("holds-all", "poisoning"),
    "false_quarantine_rate": Probe("holds-all", "poisoning"),
    "default_persist_unlabeled_rate": Probe("unlabelled", "poisoning-default"),
    "default_activation_unlabeled_rate": Probe("bare", "poisoning-default"),
    "default_benign_retention": Probe("holds-all", "poisoning-default"),
}
"""Metric -> what is broken so that it must fall. What gates stands here."""


@dataclass(frozen=True, slots=True)
class Probed:
    """What a break did to its metric: its counts in the whole system and in the broken one."""

    metric: str
    broken: str
    whole: Measured | None
    now: Measured | None
    verdict: Verdict
    why: str = ""


def probe(
    choice: Choice,
    told: Callable[[str], None] = lambda what: None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> tuple[Probed, ...]:
    """What every break does to the first system of the choice, through its first seam.

    `told` hears what is being played, `progress` how many of its replays are done, of how many. NothingMeasured where
    a gated metric has no probe, or none could be tried.
    """
    missing = [name for name, metric in METRICS.items() if metric.gated and name not in PROBES]
    if missing:
        raise NothingMeasured(f"{', '.join(missing)}: gated without a probe; add a line to PROBES, or do not gate it")
    narrow = replace(choice, systems=choice.systems[:1], seams=choice.seams[:1])
    told("the whole system")
    whole = measure(narrow, progress).board
    found = tuple(_each(narrow, whole, told, progress))
    if all(probed.verdict == "untested" for probed in found):
        raise NothingMeasured("no probe could be tried: " + "; ".join(dict.fromkeys(p.why for p in found)))
    return found


def _each(
    choice: Choice, whole: Scoreboard, told: Callable[[str], None], progress: Callable[[int, int], None]
) -> Iterator[Probed]:
    for number, (metric, tried) in enumerate(PROBES.items(), 1):
        cell = _cell(whole, tried.suite)
        if cell is None and tried.suite in ITEM_SUITES:
            continue  # the corpus has no fixture of it
        base = cell.metrics.get(metric) if cell is not None else None
        if cell is None or base is None or cell.status != "scored":
            reason = cell.reason if cell is not None and cell.reason else "nothing was asked"
            yield Probed(metric, tried.broken, None, None, "untested", reason)
            continue
        name = f"{tried.broken}:{choice.systems[0]}"
        told(f"break {number} of {len(PROBES)}, {tried.broken} for {metric}")
        traits = {name: traits_of(name, choice.access)}
        broken = replace(choice, systems=(name,), suites=(tried.suite,), traits=traits)
        board = measure(broken, progress).board
        yield _probed(metric, tried, whole, _named(board, choice.systems[0]), base)


def _probed(metric: str, tried: Probe, whole: Scoreboard, broken: Scoreboard, base: Measured) -> Probed:
    """Whether the gate says of the broken run that this metric fell."""
    cells = tuple(c for c in whole.cells if c.suite == tried.suite)
    before, after = (
        baseline_of(replace(board, config=broken.config, cells=kept, capabilities={}))
        for board, kept in ((whole, cells), (broken, broken.cells))
    )
    # What must be zero is told alone where it is not, so that the rest is asked for besides.
    told = (*compare(before, after).breaches, *regressions(before, after, same_corpus=True))
    breaches = {breach.metric for breach in told}
    cell = _cell(broken, tried.suite)
    now = cell.metrics.get(metric) if cell is not None else None
    errors = cell.reason if cell is not None and (cell.errors or cell.status != "scored") else ""
    if errors:
        return Probed(metric, tried.broken, base, now, "NOT BREACHED", errors)
    return Probed(metric, tried.broken, base, now, "breached" if metric in breaches else "NOT BREACHED")


def _cell(board: Scoreboard, suite: str) -> Cell | None:
    return next((cell for cell in board.cells if cell.suite == suite), None)


def _named(board: Scoreboard, system: str) -> Scoreboard:
    """The board of a broken system under the name of the whole one, so that both can be compared."""
    return replace(
        board,
        config=replace(board.config, systems=(system,)),
        cells=tuple(replace(cell, system=system) for cell in board.cells),
        capabilities={},
    )
