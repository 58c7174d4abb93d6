"""Cases held against gold: every metric, all questions and the headline row side by side, each kind by itself."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

from brainbench.evidence.outcome import EXIT_CODES, Reason, Verdict
from brainbench.metrics import Mean, Ratio, wilson
from brainbench.metrics.ranking import RANKING, ceilings, scores
from brainbench.metrics.resampling import POWER_80, clustered_interval
from brainbench.retrieval.results import CaseResult, digest_of

MOST_ERRORS = Fraction(2, 100)
LEAST_FOR_P95 = 20
ALL = "all"


@dataclass(frozen=True, slots=True)
class Row:
    """Every metric over some cases, by its name with the cut-off, and what a perfect ranking would score."""

    name: str
    cases: int
    measured: Mapping[str, Ratio | Mean]
    ceilings: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Interval:
    """95 % of a metric, by which method, and the least difference of two runs on other questions that would show."""

    low: float
    high: float
    method: str
    mde: float | None = None


@dataclass(frozen=True, slots=True)
class Latency:
    """How long searches took that gave an answer; `p95_ms` is None for fewer than LEAST_FOR_P95."""

    n: int
    mean_ms: float
    p50_ms: float
    p95_ms: float | None
    max_ms: float


@dataclass(frozen=True, slots=True)
class Summary:
    """All that follows from the cases: rows over all of them, the headline, what is left out of it and each kind."""

    overall: tuple[Row, ...]
    kinds: tuple[Row, ...]
    """Each kind of question, over the cases of the headline; a kind that is wholly left out, over all it has."""
    kinds_left_out: tuple[str, ...]
    kinds_of_all: tuple[Row, ...]
    left_out: Mapping[str, int]
    intervals: Mapping[str, Interval]
    errors: Ratio
    latency: Latency | None


def summary(cases: Sequence[CaseResult], ks: Sequence[int], headline: str, clusters: bool = False) -> Summary:
    """What the cases say. With `clusters` the questions of one conversation hang together in intervals.

    ValueError for no case.
    """
    if not cases:
        raise ValueError("no case: there is nothing to judge")
    official = [case for case in cases if case.left_out is None]
    reasons = [case.left_out for case in cases if case.left_out is not None]
    kinds = list(dict.fromkeys(case.slice["question_type"] for case in cases))
    of_kind = {kind: [case for case in cases if case.slice["question_type"] == kind] for kind in kinds}
    in_headline = {kind: [c for c in own if c.left_out is None] or own for kind, own in of_kind.items()}
    overall = [row(headline, official, ks)] if official else []
    return Summary(
        overall=(*overall, row(ALL, cases, ks)),
        kinds=tuple(row(kind, own, ks) for kind, own in sorted(in_headline.items())),
        kinds_left_out=tuple(kind for kind, own in sorted(of_kind.items()) if all(case.left_out for case in own)),
        kinds_of_all=tuple(row(kind, own, ks) for kind, own in sorted(of_kind.items())),
        left_out={reason: reasons.count(reason) for reason in dict.fromkeys(reasons)},
        intervals=_intervals(official or cases, ks, clusters),
        errors=Ratio(sum(case.error is not None for case in cases), len(cases)),
        latency=latency([case.latency_ms for case in cases if case.latency_ms is not None]),
    )


def row(name: str, cases: Sequence[CaseResult], ks: Sequence[int]) -> Row:
    """Means over the asked cases; where nothing came back every metric is 0. ValueError for no case."""
    each = [case_scores(case, ks) for case in cases]
    best = [ceilings(case.relevance_grades, ks) for case in cases]
    measured: dict[str, Ratio | Mean] = {}
    for metric in RANKING.values():
        for k in ks:
            total = math.fsum(one[metric.at(k)] for one in each)
            measured[metric.at(k)] = Ratio(int(total), len(each)) if metric.share else Mean(total, len(each))
    return Row(name, len(cases), measured, {at: math.fsum(one[at] for one in best) / len(best) for at in best[0]})


def case_scores(case: CaseResult, ks: Sequence[int]) -> dict[str, float]:
    """Every metric of one case. An error found nothing, whatever stands beside it."""
    return scores(() if case.error is not None else case.ranked_ids, case.relevance_grades, ks)


def latency(times: Iterable[float]) -> Latency | None:
    """Nearest-rank percentiles; None for no time."""
    told = sorted(times)
    if not told:
        return None
    return Latency(
        n=len(told),
        mean_ms=math.fsum(told) / len(told),
        p50_ms=percentile(told, 50),
        p95_ms=percentile(told, 95) if len(told) >= LEAST_FOR_P95 else None,
        max_ms=told[-1],
    )


def percentile(ordered: Sequence[float], p: int) -> float:
    """The nearest-rank percentile of ordered values.

    >>> percentile([1, 2, 3, 4], 50), percentile([1, 2, 3, 4], 95)
    (2, 4)
    """
    return ordered[-(-p * len(ordered) // 100) - 1]


def verdict(found: Summary) -> tuple[Verdict, tuple[tuple[Reason, str], ...]]:
    """Whether the numbers may be trusted; nothing here is held against a threshold."""
    errors = found.errors
    told = f"{errors.n}/{errors.of} questions were not answered"
    if errors.n == errors.of:
        return "inconclusive", ((Reason.NO_CASES, told),)
    if errors.value > MOST_ERRORS:
        return "inconclusive", ((Reason.ERROR_SHARE, f"{told}, more than {float(MOST_ERRORS):.0%}"),)
    return "pass", ()


def exit_code(judged: Verdict) -> int:
    return EXIT_CODES[judged]


def _intervals(cases: Sequence[CaseResult], ks: Sequence[int], clusters: bool) -> dict[str, Interval]:
    """Intervals of what is counted by cases."""
    found: dict[str, Interval] = {}
    seed = int(digest_of(cases)[-8:], 16)
    for metric in RANKING.values():
        for k in ks if metric.share else ():
            name = metric.at(k)
            values = [(case.case_id.rpartition("/")[0], int(case_scores(case, ks)[name])) for case in cases]
            interval = _clustered(values, seed) if clusters else _wilson(sum(value for _, value in values), len(values))
            if interval is not None:
                found[name] = interval
    return found


def _wilson(n: int, of: int) -> Interval:
    low, high = wilson(n, of)
    centre = (low + high) / 2
    return Interval(low, high, "Wilson", POWER_80 * sqrt(2 * centre * (1 - centre) / of))


def _clustered(values: Sequence[tuple[str, int]], seed: int) -> Interval | None:
    names = list(dict.fromkeys(name for name, _ in values))
    counted = [[value for name, value in values if name == own] for own in names]
    bounds = clustered_interval([(sum(own), len(own)) for own in counted], seed)
    return Interval(*bounds, f"bootstrap over {len(names)} conversations") if bounds else None
