"""Did memory speak when it should, keep silent when it should, and say the right thing?"""

from __future__ import annotations

from brainbench.metrics.judged import Judged
from brainbench.metrics.values import Ratio, ratio


def know_to_ask_failure_rate(judged: Judged) -> Ratio | None:
    """Share of turns that called for memory and got none of it. An acceptable page counts as help."""
    asked = [t for t in judged.turns if t.retrieve == "must"]
    return ratio(sum(not t.helped for t in asked), len(asked))


def false_fire_rate(judged: Judged) -> Ratio | None:
    """Share of turns that called for silence and did not get it."""
    quiet = [t for t in judged.turns if t.retrieve == "must_not"]
    return ratio(sum(t.fired for t in quiet), len(quiet))


def push_precision(judged: Judged) -> Ratio | None:
    """Share of injected pages that were wanted or acceptable, over turns that say anything about retrieval.

    An errored turn has no injections to count.
    """
    annotated = [t for t in judged.turns if t.retrieve is not None and t.error is None]
    return ratio(sum(len(t.useful) for t in annotated), sum(len(t.injected) for t in annotated))


def push_recall(judged: Judged) -> Ratio | None:
    """Share of wanted pages that came."""
    asked = [t for t in judged.turns if t.retrieve == "must"]
    return ratio(sum(len(t.gold) - len(t.missed) for t in asked), sum(len(t.gold) for t in asked))


def push_recall_ceiling(judged: Judged) -> Ratio | None:
    """The most push_recall that the seam's page budget allows."""
    wanted = [len(t.gold) for t in judged.turns if t.retrieve == "must"]
    return ratio(sum(min(n, judged.capacity) for n in wanted), sum(wanted))
