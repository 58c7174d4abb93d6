"""A closer look at the first hits, by a model that the owner chose."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import replace

from wellkept.model import Hit, LaneScore
from wellkept.providers import Reranker

LOOKED_AT = 20
WAIT_S = 2.0


def reranked(
    reranker: Reranker, query: str, hits: Sequence[Hit], wait_s: float = WAIT_S
) -> tuple[tuple[Hit, ...], tuple[str, ...]]:
    """The hits with the first 20 in the reranker's order; as they were, and a code, where it fails or takes too long.

    Equal scores keep their order. The hits' scores stay with the ranks, so that they still fall from hit to hit.
    """
    first = hits[:LOOKED_AT]
    answered: list[Sequence[float]] = []
    failed: list[str] = []

    def ask() -> None:
        try:
            answered.append(reranker.rank(query, [hit.text for hit in first]))
        except Exception:
            # Anybody's class may stand behind this: whatever it raises, the search is answered.
            failed.append("rerank_failed")

    asking = threading.Thread(target=ask, name="rerank", daemon=True)
    asking.start()
    asking.join(wait_s)
    if not answered:
        return tuple(hits), tuple(failed) or ("rerank_timeout",)
    scores = answered[0]
    if len(scores) != len(first) or any(math.isnan(score) for score in scores):
        return tuple(hits), ("rerank_failed",)
    order = sorted(range(len(first)), key=lambda place: -scores[place])
    ranked = [
        replace(
            first[place],
            rank=rank,
            score=first[rank - 1].score,
            lanes=(*first[place].lanes, LaneScore("rerank", rank, float(scores[place]), 1.0)),
        )
        for rank, place in enumerate(order, start=1)
    ]
    return (*ranked, *hits[LOOKED_AT:]), ()
