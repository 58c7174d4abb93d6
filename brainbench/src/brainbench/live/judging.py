"""Turns with a model in the loop held against gold: counts first, fixtures as clusters. No model grades anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from brainbench.gold import Gold, Retrieve
from brainbench.live.playing import ARMS, LiveTurn
from brainbench.metrics import Ratio
from brainbench.metrics.resampling import Difference, clustered_difference, clustered_interval
from brainbench.model import CellStatus

MOST_ERRORS = 2
"""Past this percentage of errored turns an arm says nothing."""


@dataclass(frozen=True, slots=True)
class JudgedTurn:
    """A turn on which gold says something, beside what memory and model brought to it."""

    turn: LiveTurn
    retrieve: Retrieve
    wanted: frozenset[str]

    @property
    def silent(self) -> bool:
        """Whether memory pushed nothing."""
        return not self.turn.injected

    @property
    def called(self) -> bool:
        """Whether the model called a tool."""
        return bool(self.turn.asked.calls)

    @property
    def recovered(self) -> bool:
        """Whether what the model called for held a page that was wanted or acceptable."""
        return not self.errored and any(self.wanted & set(call.ids) for call in self.turn.asked.calls)

    @property
    def reached(self) -> bool:
        """Whether push or call brought such a page."""
        return not self.errored and (bool(self.wanted & set(self.turn.injected)) or self.recovered)

    @property
    def errored(self) -> bool:
        """Whether memory or endpoint failed on it."""
        return self.turn.asked.error is not None


@dataclass(frozen=True, slots=True)
class LiveMetric:
    """A metric of one arm. `hit` is None for turns that it does not count."""

    name: str
    formula: str
    better: Literal["lower", "higher"]
    needs_tools: bool
    hit: Callable[[JudgedTurn], bool | None]


def _asked(turn: JudgedTurn) -> bool | None:
    return turn.called and not turn.errored if turn.retrieve == "must" and turn.silent else None


def _recovered(turn: JudgedTurn) -> bool | None:
    return turn.recovered if turn.retrieve == "must" and turn.silent and turn.called else None


def _overasked(turn: JudgedTurn) -> bool | None:
    return turn.called or turn.errored if turn.retrieve == "must_not" else None


def _missed(turn: JudgedTurn) -> bool | None:
    return not turn.reached if turn.retrieve == "must" else None


LIVE_METRICS: Mapping[str, LiveMetric] = {
    metric.name: metric
    for metric in (
        LiveMetric(
            "model_asked_rate",
            "must-turns without a push on which the model called a tool / must-turns without a push",
            "higher",
            True,
            _asked,
        ),
        LiveMetric(
            "model_recovered_rate",
            "such turns where what it called for held a wanted or acceptable page / such turns",
            "higher",
            True,
            _recovered,
        ),
        LiveMetric(
            "model_overask_rate",
            "must-not turns on which the model called a tool / must-not turns",
            "lower",
            True,
            _overasked,
        ),
        LiveMetric(
            "end_to_end_miss_rate",
            "must-turns to which neither push nor call brought a wanted or acceptable page / must-turns",
            "lower",
            False,
            _missed,
        ),
    )
}
"""What is counted with a model in the loop."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Counts with a 95 % interval over fixtures, which is None where there are fewer than two."""

    ratio: Ratio
    interval: tuple[float, float] | None
    clusters: int


@dataclass(frozen=True, slots=True)
class Usage:
    """What an arm took, over all its turns."""

    turns: int
    questions: int
    calls: int
    unusable_calls: int
    input_tokens: int
    output_tokens: int
    usd: float
    p50_ms: float | None
    p95_ms: float | None


@dataclass(frozen=True, slots=True)
class ArmCell:
    """One system in one arm."""

    system: str
    arm: str
    status: CellStatus
    metrics: Mapping[str, Estimate | None]
    usage: Usage
    errors: int
    judged: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Lift:
    """How much less is missed in the second arm than in the first, paired by turn and repeat."""

    system: str
    of: str
    over: str
    difference: Difference


@dataclass(frozen=True, slots=True)
class Verdicts:
    """All arms of a run and what one brings over another."""

    cells: tuple[ArmCell, ...]
    lifts: tuple[Lift, ...]
    turns: tuple[JudgedTurn, ...] = field(default=(), repr=False)


LIFTS = (("off", "tools"), ("off", "push"), ("push", "both"), ("tools", "both"))
"""(over, of): which arms are held against each other, where both were played."""


def judge(
    turns: Sequence[LiveTurn], gold: Mapping[str, Gold], items: frozenset[tuple[str, int]], seed: int
) -> Verdicts:
    """The cells and lifts of a run; `items` are the (fixture, event) pairs on which the suite may look."""
    judged = tuple(_judged(turns, gold, items))
    cells = tuple(
        _cell(system, arm, [t for t in turns if (t.system, t.arm) == (system, arm)], of_arm(judged, system, arm), seed)
        for system in dict.fromkeys(t.system for t in turns)
        for arm in ARMS
        if any((t.system, t.arm) == (system, arm) for t in turns)
    )
    return Verdicts(cells, tuple(_lifts(judged, cells, seed)), judged)


def _judged(
    turns: Iterable[LiveTurn], gold: Mapping[str, Gold], items: frozenset[tuple[str, int]]
) -> Iterable[JudgedTurn]:
    for turn in turns:
        event = gold[turn.fixture_id].events.get(turn.event_id)
        if event is None or event.retrieve is None or (turn.fixture_id, turn.event_id) not in items:
            continue
        yield JudgedTurn(turn, event.retrieve, frozenset((*event.gold_slugs, *event.acceptable_slugs)))


def of_arm(judged: Iterable[JudgedTurn], system: str, arm: str) -> list[JudgedTurn]:
    """The judged turns of one arm of a system."""
    return [j for j in judged if (j.turn.system, j.turn.arm) == (system, arm)]


def _cell(system: str, arm: str, turns: Sequence[LiveTurn], judged: Sequence[JudgedTurn], seed: int) -> ArmCell:
    _, tools = ARMS[arm]
    scored = [j for j in judged if j.retrieve in ("must", "must_not")]
    errors = [j.turn.asked.error for j in scored if j.errored]
    invalid = len(errors) * 100 > MOST_ERRORS * len(scored)
    return ArmCell(
        system=system,
        arm=arm,
        status="invalid" if invalid else "scored",
        metrics={
            m.name: estimate(scored, m, seed) if tools or not m.needs_tools else None for m in LIVE_METRICS.values()
        },
        usage=_usage(turns),
        errors=len(errors),
        judged=len(scored),
        reason=f"{len(errors)} of {len(scored)} turns went wrong, one because: {errors[0]}" if errors else "",
    )


def estimate(judged: Iterable[JudgedTurn], metric: LiveMetric, seed: int) -> Estimate | None:
    """The counts of a metric with their interval, None where nothing was asked."""
    clusters: dict[str, tuple[int, int]] = {}
    for turn in judged:
        if (hit := metric.hit(turn)) is not None:
            n, of = clusters.get(turn.turn.fixture_id, (0, 0))
            clusters[turn.turn.fixture_id] = (n + hit, of + 1)
    counted = [clusters[name] for name in sorted(clusters)]
    of = sum(of for _, of in counted)
    if not of:
        return None
    return Estimate(Ratio(sum(n for n, _ in counted), of), clustered_interval(counted, seed), len(counted))


def _usage(turns: Sequence[LiveTurn]) -> Usage:
    taken = sorted(t.asked.latency_ms for t in turns if t.asked.error is None)
    calls = [call for t in turns for call in t.asked.calls]
    return Usage(
        turns=len(turns),
        questions=sum(t.asked.questions for t in turns),
        calls=len(calls),
        unusable_calls=sum(call.problem is not None for call in calls),
        input_tokens=sum(t.asked.input_tokens for t in turns),
        output_tokens=sum(t.asked.output_tokens for t in turns),
        usd=sum(t.asked.usd for t in turns),
        p50_ms=taken[-(-len(taken) // 2) - 1] if taken else None,
        p95_ms=taken[-(-95 * len(taken) // 100) - 1] if len(taken) >= 20 else None,
    )


def _lifts(judged: Sequence[JudgedTurn], cells: Sequence[ArmCell], seed: int) -> Iterable[Lift]:
    played = {(cell.system, cell.arm) for cell in cells}
    for system in dict.fromkeys(cell.system for cell in cells):
        for over, of in LIFTS:
            if {(system, over), (system, of)} <= played:
                first, second = of_arm(judged, system, over), of_arm(judged, system, of)
                found = paired(second, first, LIVE_METRICS["end_to_end_miss_rate"], seed)
                if found is not None:
                    yield Lift(system, of, over, found)


def paired(
    before: Iterable[JudgedTurn], after: Iterable[JudgedTurn], metric: LiveMetric, seed: int
) -> Difference | None:
    """By how much a rate is larger in `after`, over the turns and repeats that it counts on both sides."""
    first, second = _hits(before, metric), _hits(after, metric)
    clusters: dict[str, tuple[int, int, int]] = {}
    for key in first.keys() & second.keys():
        a, b, of = clusters.get(key[0], (0, 0, 0))
        clusters[key[0]] = (a + first[key], b + second[key], of + 1)
    return clustered_difference([clusters[name] for name in sorted(clusters)], seed)


def _hits(judged: Iterable[JudgedTurn], metric: LiveMetric) -> dict[tuple[str, int, int], bool]:
    found = ((j.turn, metric.hit(j)) for j in judged)
    return {(t.fixture_id, t.event_id, t.repeat): hit for t, hit in found if hit is not None}
