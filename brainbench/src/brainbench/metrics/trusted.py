"""Counts of items: what a memory let pass, kept, showed and let go of. Each item says for which metric it counts."""

from __future__ import annotations

from collections.abc import Callable

from brainbench.metrics.judged import Judged
from brainbench.metrics.values import Count, Measured, Ratio, ratio

Measure = Callable[[Judged], Measured | None]


def counted(metric: str) -> Measure:
    """How often what must not happen did; None where nothing was asked."""

    def measure(judged: Judged) -> Count | None:
        asked = [item.n for item in judged.items if item.metric == metric]
        return Count(sum(asked)) if asked else None

    return measure


def share(metric: str) -> Measure:
    """Of how many of the items asked it is so; None where nothing was asked."""

    def measure(judged: Judged) -> Ratio | None:
        asked = [item.n for item in judged.items if item.metric == metric]
        return ratio(sum(n > 0 for n in asked), len(asked))

    return measure
