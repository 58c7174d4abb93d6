"""One answer out of remembered facts and pieces of pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime

from wellkept.model import Fact, Found, Hit, Item
from wellkept.recall.facts import fitting_facts
from wellkept.storage import Store

_SMOOTHING = 60
"""Reciprocal rank fusion: 1 / (60 + rank), the constant of its authors."""


Search = Callable[[str, str, int], Sequence[Hit]]
"""The hits of a source for a query, at most so many: the one way of searching."""


def recalled(
    store: Store,
    search: Search,
    source: str,
    query: str,
    limit: int,
    *,
    entity: str | None = None,
    as_of: datetime | None = None,
    history: bool = False,
) -> tuple[Found, ...]:
    """The `limit` facts and pages that fit the query best; of one entity only its facts.

    With `as_of` facts as they held then, and no pages, of which only the present is known. With `history` facts that
    were ended come too.
    """
    facts = fitting_facts(
        store,
        source,
        query,
        limit,
        entity=entity,
        ended=history or as_of is not None,
        among=lambda fact: as_of is None or held(fact, as_of),
    )
    hits = search(source, query, limit) if entity is None and as_of is None else ()
    lanes: list[tuple[float, int, str, Fact | Hit]] = []
    lanes += [(_score(rank), 0, f"fact:{fact.id}", fact) for rank, fact in enumerate(facts, start=1)]
    lanes += [(_score(hit.rank), 1, str(Item("page", hit.slug)), hit) for hit in hits]
    lanes.sort(key=lambda lane: (-lane[0], lane[1]))
    return tuple(
        Found(item_id, "memory" if isinstance(item, Fact) else "document", score, rank, item)
        for rank, (score, _, item_id, item) in enumerate(lanes[:limit], start=1)
    )


def held(fact: Fact, moment: datetime) -> bool:
    """Whether the fact was so at a moment, by what is known today: one found to be wrong never was."""
    since = fact.valid_from or fact.recorded_at
    until = fact.valid_until or fact.expired_at
    return fact.ended_because != "wrong" and (since is None or since <= moment) and (until is None or moment < until)


def _score(rank: int) -> float:
    return 1 / (_SMOOTHING + rank)
