"""Pages that the conversation is about although this turn does not name them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from wellkept.model import Pointer
from wellkept.recall.render import pointer_to
from wellkept.recall.window import Mention

CONSIDERED = 10
MOST = 5
LEAST_CONFIDENCE = 0.70
TOPICAL_BONUS = 0.05
CEILING = 0.99


def volunteer(mentions: Sequence[Mention], turns: int, exclude: Collection[str], limit: int) -> tuple[Pointer, ...]:
    """The first `limit` (at most 5) mentioned pages worth offering, without those in `exclude`.

    `mentions` are in order and already suppressed; `turns` is the length of the window.
    """
    offered = []
    for mention in mentions[:CONSIDERED]:
        confidence = _confidence(mention)
        if mention.page.slug not in exclude and confidence >= LEAST_CONFIDENCE:
            offered.append(replace(pointer_to(mention), confidence=confidence, rationale=_rationale(mention, turns)))
    return tuple(offered[: max(0, min(limit, MOST))])


def _confidence(mention: Mention) -> float:
    topical = len(mention.turns) >= 2 or mention.in_newest
    return round(min(CEILING, mention.arm.confidence + (TOPICAL_BONUS if topical else 0.0)), 4)


def _rationale(mention: Mention, turns: int) -> str:
    where = (
        "newest turn"
        if mention.in_newest and len(mention.turns) == 1
        else f"in {len(mention.turns)} of last {turns} turns"
    )
    parts = [mention.arm.name, where]
    if not mention.by_user:
        parts.append("assistant-introduced")
    return "; ".join(parts)
