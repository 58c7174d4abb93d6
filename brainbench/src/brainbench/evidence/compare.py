"""Is one stored run worse than another? Exact counts, cell by cell; nothing here waives anything."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import fields
from fractions import Fraction

from brainbench.evidence import Config
from brainbench.evidence.baseline import Baseline, Part, Stored, StoredCell, as_v1, shown
from brainbench.evidence.outcome import Breach, Mode, Outcome, Reason
from brainbench.metrics import METRICS, Count, Ratio

HOLLOW = Fraction(1, 20)
"""A stratum may not lose more than this share of its gold when the corpus changes."""
_NAMED = 5
_HASH = 12
"""How many newly failed items a message names."""


def compare(base: Baseline, current: Baseline, zero: frozenset[str] | None = None) -> Outcome:
    """Whether `current` is a regression against `base`, both stored; inconclusive on another corpus or config.

    Metrics in `zero` (all that must be zero, unless said otherwise) breach on `current` whatever the base holds.
    """
    base, current = aligned(base, current)
    mode: Mode = "same-hash" if base.same_corpus(current) else "corpus-bless"
    violations = tuple(zero_breaches(current.cells, zero_metrics() if zero is None else zero))
    if violations:
        return Outcome("fail", mode, violations)
    if mode == "corpus-bless":
        return Outcome("inconclusive", mode, reasons=((Reason.INCOMPATIBLE, _other_corpus(base, current)),))
    differing = config_differences(base.config, current.config)
    if differing:
        text = f"the two runs differ in {', '.join(differing)}{_other_systems(base.config, current.config)}"
        return Outcome("inconclusive", mode, reasons=((Reason.INCOMPATIBLE, text),))
    if not any(cell.gold_total for cell in base.cells.values()):
        return Outcome("inconclusive", mode, reasons=((Reason.NO_CASES, "the base holds no gold"),))
    breaches = tuple(regressions(base, current, same_corpus=True))
    return Outcome("fail" if breaches else "pass", mode, breaches, stale=improvements(base, current))


def _other_corpus(base: Baseline, current: Baseline) -> str:
    one, two = (run.fixtures_hash[:_HASH] for run in (base, current))
    hashes = f" (fixtures {one} and {two})" if one != two else ""
    return (
        f"the two runs stand on different corpora{hashes}, so no count of one can be held against the other's; "
        "play both on one: `brainbench run --corpus NAME --out FILE`"
    )


def _other_systems(base: Config, current: Config) -> str:
    """Where two runs are of different systems, which, and how those are held side by side."""
    if base.systems == current.systems:
        return ""
    flags = " ".join(f"--system {shlex.quote(name)}" for name in sorted({*base.systems, *current.systems}))
    return (
        f": {', '.join(base.systems)} and then {', '.join(current.systems)}. This tells whether the same systems got "
        f"worse, not which of two is better: for that, one run of both, `brainbench run {flags}`"
    )


def zero_metrics() -> frozenset[str]:
    """The metrics that must be zero whatever a profile says."""
    return frozenset(name for name, metric in METRICS.items() if metric.zero)


def aligned(base: Baseline, current: Baseline) -> tuple[Baseline, Baseline]:
    """Both in the older of their two forms, so that like meets like."""
    if base.schema_version == current.schema_version:
        return base, current
    return as_v1(base), as_v1(current)


def config_differences(base: Config, current: Config) -> tuple[str, ...]:
    """The bound fields in which two runs differ, by name."""
    bound = (f.name for f in fields(Config) if f.name != "narrowed")
    return tuple(f"config.{name}" for name in bound if getattr(base, name) != getattr(current, name))


def regressions(
    base: Baseline, current: Baseline, *, same_corpus: bool, gone: Mapping[str, str] | None = None
) -> Iterator[Breach]:
    """Everything in which `current` is worse than `base`; `gone` says why a cell is missing."""
    yield from _lost_capabilities(base, current)
    for key, before in base.cells.items():
        now = current.cells.get(key)
        if now is None:
            why = (gone or {}).get(key, "not in this run")
            yield Breach(key, "cell", before.gold_total, None, f"the cell is gone: {why}")
            continue
        if same_corpus:
            yield from _same_gold(key, before, now)
        else:
            yield from _hollowed(key, before, now)
        yield from _worse(key, before, now, base.schema_version)


def _lost_capabilities(base: Baseline, current: Baseline) -> Iterator[Breach]:
    for system, could in base.capabilities.items():
        lost = sorted(set(could) - set(current.capabilities.get(system, ())))
        if lost:
            yield Breach(
                system, "capability", len(could), len(could) - len(lost), f"no longer claims {', '.join(lost)}"
            )


def _same_gold(key: str, before: StoredCell, now: StoredCell) -> Iterator[Breach]:
    if now.gold_total != before.gold_total:
        detail = f"{before.gold_total} -> {now.gold_total} on the same corpus"
        yield Breach(key, "gold_total", before.gold_total, now.gold_total, detail)
    if now.gold_failed > before.gold_failed:
        detail = f"{before.gold_failed} -> {now.gold_failed}"
        yield Breach(key, "gold_failed", before.gold_failed, now.gold_failed, detail)
    if before.failed is not None and now.failed is not None:
        new = sorted(set(now.failed) - set(before.failed))
        if new:
            more = f" and {len(new) - _NAMED} more" if len(new) > _NAMED else ""
            detail = f"newly failed: {', '.join(new[:_NAMED])}{more}"
            yield Breach(key, "failed_items", len(before.failed), len(now.failed), detail)


def _hollowed(key: str, before: StoredCell, now: StoredCell) -> Iterator[Breach]:
    if now.gold_total < before.gold_total:
        detail = f"the corpus asks less: {before.gold_total} -> {now.gold_total}"
        yield Breach(key, "gold_total", before.gold_total, now.gold_total, detail)
    for stratum, part in before.strata.items():
        left = now.strata.get(stratum, Part(0, 0)).gold_total
        if part.gold_total - left > HOLLOW * part.gold_total:
            detail = f"stratum {stratum} is hollowed: {part.gold_total} -> {left}"
            yield Breach(key, "gold_total", part.gold_total, left, detail)


def _worse(key: str, before: StoredCell, now: StoredCell, version: int) -> Iterator[Breach]:
    for name, value in before.metrics.items():
        known = METRICS.get(name)
        ungated = known is None or not known.gated
        if version == 1 and ungated:
            continue
        found = now.metrics.get(name)
        if found is None:
            now_is = "this bench does not gate it any more" if ungated else "nothing was measured"
            yield Breach(key, name, value, None, f"{shown(value)} -> {now_is}")
        elif known is None:
            yield Breach(key, name, value, found, "this bench does not know which direction is better")
        elif is_better(name, value, found):
            yield Breach(key, name, value, found, f"{shown(value)} -> {shown(found)}")


def is_better(name: str, one: Stored, two: Stored) -> bool:
    """Whether the first value of a metric is better than the second, by exact fractions."""
    first, second = exact(one), exact(two)
    return first < second if METRICS[name].better == "lower" else first > second


def exact(value: Stored) -> Fraction:
    """A stored value as a fraction."""
    return value if isinstance(value, Fraction) else value.value


def improvements(base: Baseline, current: Baseline) -> tuple[str, ...]:
    """What is gated and better than the base, in words."""
    found = []
    for key, before in base.cells.items():
        now = current.cells.get(key)
        if now is None:
            continue
        if now.gold_failed < before.gold_failed and now.gold_total == before.gold_total:
            found.append(f"{key}: gold_failed {before.gold_failed} -> {now.gold_failed}")
        for name, value in before.metrics.items():
            better = now.metrics.get(name)
            if name in METRICS and METRICS[name].gated and better is not None and is_better(name, better, value):
                found.append(f"{key}: {name} {shown(value)} -> {shown(better)}")
    return tuple(found)


def zero_breaches(cells: Mapping[str, StoredCell], zero: frozenset[str]) -> Iterator[Breach]:
    """Every metric that must be zero and is not."""
    for key, cell in cells.items():
        for name in sorted(zero):
            value = cell.metrics.get(name)
            if value is not None and exact(value) != 0:
                limit = Count(0) if isinstance(value, Count) else Ratio(0, 1)
                detail = f"{shown(value)}, must be 0; nothing waives this"
                yield Breach(key, name, limit, value, detail, Reason.THRESHOLD)
