"""Intervals for counts that hang together: percentile bootstrap over whole clusters, and paired differences.

What one fixture's turns and repeats say is not independent, so fixtures are drawn, never turns. The same counts and
seed give the same interval on every machine.

Where every cluster says the same, resampling says nothing: an interval without width would claim certainty. Wilson's
interval over the number of clusters stands in then.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt

from brainbench.metrics.values import wilson

RESAMPLES = 10_000
POWER_80 = 2.8016
"""1.96 + 0.8416: standard errors that a difference must span to be found with power .8 at alpha .05."""

ALPHA = 0.05


@dataclass(frozen=True, slots=True)
class Difference:
    """How much larger the second of two paired rates is, with its interval over `clusters`.

    `p` is that of a sign-flip test over clusters; `mde` the smallest difference that so many clusters would show,
    None where all clusters say the same.
    """

    value: float
    low: float
    high: float
    p: float
    mde: float | None
    clusters: int

    @property
    def certain(self) -> bool:
        """Whether the interval leaves out 0, and the signs of so few clusters could not have fallen so by chance."""
        return (self.low > 0 or self.high < 0) and self.p < ALPHA


def clustered_interval(clusters: Sequence[tuple[int, int]], seed: int) -> tuple[float, float] | None:
    """95 % of sum(n) / sum(of) over clusters of (n, of); None for fewer than two clusters that count anything.

    >>> [round(bound, 3) for bound in clustered_interval([(0, 4), (0, 2), (0, 7)], 42)]
    [0.0, 0.561]
    """
    counted = [(n, of) for n, of in clusters if of]
    if len(counted) < 2:
        return None
    if len({n * counted[0][1] - of * counted[0][0] for n, of in counted}) == 1:
        return _unanimous(counted[0][0] / counted[0][1], len(counted), 0.0)
    rates = sorted(
        sum(counted[i][0] for i in drawn) / sum(counted[i][1] for i in drawn) for drawn in _drawn(len(counted), seed)
    )
    return _middle(rates)


def clustered_difference(clusters: Sequence[tuple[int, int, int]], seed: int) -> Difference | None:
    """By how much b exceeds a, over clusters of (a, b, of) that count the same turns; None for fewer than two."""
    counted = [(a, b, of) for a, b, of in clusters if of]
    if len(counted) < 2:
        return None
    gains = [b - a for a, b, _ in counted]
    sizes = [of for _, _, of in counted]
    total = sum(sizes)
    if len({gain / size for gain, size in zip(gains, sizes, strict=True)}) == 1:
        low, high = _unanimous(gains[0] / sizes[0], len(counted), -1.0)
    else:
        drawn = _drawn(len(counted), seed)
        low, high = _middle(sorted(sum(gains[i] for i in d) / sum(sizes[i] for i in d) for d in drawn))
    return Difference(
        value=sum(gains) / total,
        low=low,
        high=high,
        p=_sign_flip(gains, seed),
        mde=_smallest(gains, sizes),
        clusters=len(counted),
    )


def _unanimous(rate: float, clusters: int, least: float) -> tuple[float, float]:
    """What so many clusters leave open when all of them say `rate`."""
    open_ = wilson(0, clusters)[1]
    return max(least, rate - open_), min(1.0, rate + open_)


def _drawn(count: int, seed: int) -> Iterator[list[int]]:
    source = random.Random(seed)  # noqa: S311
    places = range(count)
    for _ in range(RESAMPLES):
        yield source.choices(places, k=count)


def _middle(values: Sequence[float]) -> tuple[float, float]:
    """The 2.5 % and 97.5 % points by nearest rank."""
    cut = len(values) // 40
    return values[cut], values[-1 - cut]


def _sign_flip(gains: Sequence[int], seed: int) -> float:
    """Share of random signs of the clusters' gains that give at least this much in either direction."""
    observed = abs(sum(gains))
    source = random.Random(seed + 1)  # noqa: S311
    reached = sum(abs(sum(g if source.random() < 0.5 else -g for g in gains)) >= observed for _ in range(RESAMPLES))
    return (reached + 1) / (RESAMPLES + 1)


def _smallest(gains: Iterable[int], sizes: Sequence[int]) -> float | None:
    """The minimum detectable difference of the mean over clusters; None where there is no spread to judge by."""
    rates = [gain / size for gain, size in zip(gains, sizes, strict=True)]
    mean = sum(rates) / len(rates)
    spread = sqrt(sum((r - mean) ** 2 for r in rates) / (len(rates) - 1))
    return POWER_80 * spread / sqrt(len(rates)) or None
