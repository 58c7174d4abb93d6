"""Did what was said survive the session: the fact, whom it is about, and where it came from?"""

from __future__ import annotations

from brainbench.metrics.judged import Judged
from brainbench.metrics.values import Ratio, ratio


def write_back_fidelity(judged: Judged) -> Ratio | None:
    """Share of gold facts that can be recalled under the right entity."""
    return ratio(sum(f.survived for f in judged.facts), len(judged.facts))


def attribution_accuracy(judged: Judged) -> Ratio | None:
    """Share of found facts with a known entity that stand under it."""
    found = [f for f in judged.facts if f.found and f.names_entity]
    return ratio(sum(f.entity_right for f in found), len(found))


def provenance_accuracy(judged: Judged) -> Ratio | None:
    """Share of survived facts that name the session they came from exactly."""
    survived = [f for f in judged.facts if f.survived]
    return ratio(sum(f.triple_right for f in survived), len(survived))
