"""Two reports on the same questions, question by question: is one better, or may chance have made the difference?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Any

from brainbench.errors import IncompatibleError
from brainbench.metrics import Ratio, counts
from brainbench.metrics.ranking import RANKING
from brainbench.metrics.resampling import ALPHA, Difference, clustered_difference
from brainbench.report.wording import clean
from brainbench.retrieval.judging import case_scores
from brainbench.retrieval.rejudging import Rejudged
from brainbench.retrieval.results import CaseResult

SEED = 42


@dataclass(frozen=True, slots=True)
class Paired:
    """What is counted by questions in both reports: `gained` only the second has, `lost` only the first.

    `p` is how likely chance alone parts them at least so much: McNemar's exact test, or where the questions of one
    conversation hang together, random signs of what the conversations gained. `better` is by how much the first has
    more, with its 95 % interval over resampled questions or conversations; None where there is but one of them.
    """

    metric: str
    before: Ratio
    after: Ratio
    gained: int
    lost: int
    p: float
    better: Difference | None


def mcnemar(gained: int, lost: int) -> float:
    """The two-sided exact binomial of discordant pairs; 1 where there is none.

    >>> round(mcnemar(8, 1), 6), mcnemar(0, 0), mcnemar(3, 3)
    (0.039062, 1.0, 1.0)
    """
    of = gained + lost
    tail = sum(comb(of, n) for n in range(min(gained, lost) + 1))
    return min(1.0, float(Fraction(2 * tail, 2**of)))


def paired(before: Rejudged, after: Rejudged) -> tuple[Paired, ...]:
    """Every metric that is counted by questions, over those of the headline, at the cut-offs of the first.

    IncompatibleError where the reports are not about the same questions asked in the same way.
    """
    if odd := _difference(before.report, after.report):
        raise IncompatibleError(f"--against: {odd}; compare reports on the same questions")
    first, second = ({case.case_id: case for case in done.cases} for done in (before, after))
    if first.keys() != second.keys():
        raise IncompatibleError("--against: the other report is about other questions; give both the same --limit")
    if odd := _other_gold(first, second):
        raise IncompatibleError(f"--against: {odd}; the same question has one gold: one of the reports was changed")
    own = [name for name, case in first.items() if case.left_out is None] or list(first)
    old = {name: case_scores(first[name], before.ks) for name in own}
    new = {name: case_scores(second[name], before.ks) for name in own}
    names = [metric.at(k) for metric in RANKING.values() if metric.share for k in before.ks]
    together = before.report["suite"] == "locomo"
    return tuple(_paired(at, {name: (old[name][at] > 0, new[name][at] > 0) for name in own}, together) for at in names)


def _paired(metric: str, pairs: Mapping[str, tuple[bool, bool]], together: bool) -> Paired:
    """One metric over (before, after) of each question; with `together` the questions of a conversation are one."""
    better = _better(pairs, together)
    gained = sum(after and not before for before, after in pairs.values())
    lost = sum(before and not after for before, after in pairs.values())
    return Paired(
        metric=metric,
        before=Ratio(sum(before for before, _ in pairs.values()), len(pairs)),
        after=Ratio(sum(after for _, after in pairs.values()), len(pairs)),
        gained=gained,
        lost=lost,
        p=(better.p if better is not None else 1.0) if together else mcnemar(gained, lost),
        better=better,
    )


def _better(pairs: Mapping[str, tuple[bool, bool]], together: bool) -> Difference | None:
    """By how much the first has more, over conversations, which a question's id begins with, or over questions."""
    clusters: dict[str, list[tuple[bool, bool]]] = {}
    for name, pair in pairs.items():
        clusters.setdefault(name.rpartition("/")[0] if together else name, []).append(pair)
    told = [(sum(b for _, b in own), sum(a for a, _ in own), len(own)) for own in clusters.values()]
    return clustered_difference(told, SEED)


def paired_document(before: Rejudged, after: Rejudged) -> dict[str, object]:
    """The comparison as a report keeps it: whom it was compared with, and what came of every metric."""
    return {
        "system": after.report["sut"].get("name"),
        "digest": after.digest,
        "metrics": {
            one.metric: {
                "here": [one.before.n, one.before.of],
                "there": [one.after.n, one.after.of],
                "gained": one.gained,
                "lost": one.lost,
                "p": one.p,
                "better": one.better and [one.better.value, one.better.low, one.better.high],
            }
            for one in paired(before, after)
        },
    }


def paired_text(before: Rejudged, after: Rejudged) -> Iterator[str]:
    """The comparison for a person."""
    yield ""
    other = clean(after.report["sut"].get("name"))
    yield f"against {other} on {clean(before.found.overall[0].name)}, question by question"
    for one in paired(before, after):
        said = "" if one.p < ALPHA else "  may be chance"
        told = f"{counts(one.before)}, there {counts(one.after)}: {one.gained} gained, {one.lost} lost"
        by = f", better by {one.better.value:.3f} ({one.better.low:.3f} to {one.better.high:.3f})" if one.better else ""
        yield f"{one.metric.ljust(14)} {told}{by}, p {one.p:.4f}{said}"


def _other_gold(first: Mapping[str, CaseResult], second: Mapping[str, CaseResult]) -> str | None:
    """The first question on which two reports hold another gold, or leave it out for another reason."""
    for name, case in first.items():
        for field in ("relevance_grades", "left_out", "slice"):
            if getattr(case, field) != getattr(second[name], field):
                return f"case {clean(name)}: {field} is not the same here and there"
    return None


def _difference(one: Mapping[str, Any], other: Mapping[str, Any]) -> str | None:
    """What keeps two reports from being compared."""
    for field in ("suite", "granularity", "headline"):
        if one[field] != other[field]:
            return f"{field} is {clean(one[field])} here and {clean(other[field])} there"
    for field in ("corpus_hash", "text_policy"):
        if one["dataset"].get(field) != other["dataset"].get(field):
            return f"{field} is {clean(one['dataset'].get(field))} here and {clean(other['dataset'].get(field))} there"
    return None
