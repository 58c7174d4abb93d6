"""What an extractor said, before any of it was kept, attributed or stored. Measured with a real one only."""

from __future__ import annotations

from brainbench.metrics.judged import Judged
from brainbench.metrics.values import Ratio, ratio


def extraction_recall(judged: Judged) -> Ratio | None:
    """Share of gold facts that the extractor said."""
    return ratio(sum(e.matched for e in judged.extractions), sum(e.gold for e in judged.extractions))


def extraction_precision(judged: Judged) -> Ratio | None:
    """Share of what the extractor said that was a gold fact. Saying one twice is right once."""
    return ratio(sum(e.matched for e in judged.extractions), sum(e.said for e in judged.extractions))
