"""Did a decision of one session reach the next?"""

from __future__ import annotations

from brainbench.metrics.judged import Judged
from brainbench.metrics.values import Ratio, ratio


def continuity_rate(judged: Judged) -> Ratio | None:
    """Share of probes that a later session could answer."""
    return ratio(sum(p.answered for p in judged.probes), len(judged.probes))


def stored_continuity_rate(judged: Judged) -> Ratio | None:
    """The same over probes whose answer only a written-back fact holds."""
    stored = [p for p in judged.probes if p.stored_only]
    return ratio(sum(p.answered for p in stored), len(stored))
