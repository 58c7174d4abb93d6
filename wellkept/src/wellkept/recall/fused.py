"""One answer out of remembered facts and pieces of pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from time import perf_counter

from wellkept.model import (
    Cost,
    Fact,
    Found,
    Hit,
    Item,
    LaneScore,
    Page,
    Ranking,
    Recalled,
    Result,
    Results,
    SearchOptions,
)
from wellkept.recall.current import current_first
from wellkept.recall.facts import fitting_facts, held, may_be_found, shared_words
from wellkept.storage import Store

COMPARED = 20
"""Among so many facts the current one is told first, however few are wanted."""
FACTS = "facts"
"""The lane of remembered facts, by their words."""
_SMOOTHING = 60
"""Reciprocal rank fusion: 1 / (60 + rank), the constant of its authors."""


Search = Callable[[str, str, int], Ranking]
"""What a source holds for a query, at most so many hits: the one way of searching."""


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
) -> Recalled:
    """The `limit` facts and pages that fit the query best; of one entity only its facts.

    With `as_of` facts as they held then, and no pages, of which only the present is known. With `history` facts that
    were ended come too.
    """
    facts = fitting_facts(
        store,
        source,
        query,
        max(limit, COMPARED),
        entity=entity,
        ended=history or as_of is not None,
        among=lambda fact: as_of is None or held(fact, as_of),
    )
    facts = current_first(facts, query)[:limit]
    ranking = search(source, query, limit) if entity is None and as_of is None else Ranking(())
    return Recalled(merged(facts, ranking.hits, limit), (FACTS, *ranking.lanes), ranking.degraded)


def merged(facts: Sequence[Fact], hits: Sequence[Hit], limit: int) -> tuple[Found, ...]:
    """The first `limit` of both, each list best first: by rank, a fact before a page of the same rank."""
    lanes: list[tuple[float, int, str, Fact | Hit]] = []
    lanes += [(_score(rank), 0, f"fact:{fact.id}", fact) for rank, fact in enumerate(facts, start=1)]
    lanes += [(_score(rank), 1, str(Item("page", hit.slug)), hit) for rank, hit in enumerate(hits, start=1)]
    lanes.sort(key=lambda lane: (-lane[0], lane[1]))
    return tuple(
        Found(item_id, "memory" if isinstance(item, Fact) else "document", score, rank, item)
        for rank, (score, _, item_id, item) in enumerate(lanes[:limit], start=1)
    )


@dataclass(frozen=True, slots=True)
class Showing:
    """Which part of what was found is told, and how much of each. `content_chars` None: no content."""

    limit: int
    offset: int = 0
    memory: bool = True
    documents: bool = True
    content_chars: int | None = 500
    diagnostics: bool = False


def searched(
    store: Store,
    search: Callable[[str, str, int, SearchOptions], Ranking],
    source: str,
    query: str,
    options: SearchOptions,
    showing: Showing,
) -> Results:
    """One page of the facts and pages that fit the query and that the options let be found.

    What may not be found takes nobody's place: facts, like pages, are ranked among those that may. A search by
    meaning alone finds no facts, which have no vectors.
    """
    began = perf_counter()
    wanted = showing.offset + showing.limit
    ranking = search(source, query, wanted, options) if showing.documents else Ranking(())
    lanes = ranking.lanes
    facts: tuple[Fact, ...] = ()
    if showing.memory and options.mode != "vector":
        among = partial(may_be_found, options=options)
        # One more than is shown tells whether there are more; the rest is not read.
        most = max(wanted + 1, COMPARED)
        facts = fitting_facts(store, source, query, most, ended=options.as_of is not None, among=among)
        facts = current_first(facts, query)[: wanted + 1]
        lanes = (FACTS, *lanes)
    found = merged(facts, ranking.hits, wanted)[showing.offset :]
    said = (
        {
            f"fact:{fact.id}": LaneScore(FACTS, rank, shared_words(fact, query), 1.0)
            for rank, fact in enumerate(facts, 1)
        }
        if showing.diagnostics
        else {}
    )
    results = tuple(_result(one, item, showing, said) for one in found if (item := _whole(store, source, one)))
    calls = int("vector" in ranking.lanes or "embedder_failed" in ranking.degraded)
    cost = Cost((perf_counter() - began) * 1000, calls)
    total = len(facts) + ranking.found
    return Results(results, total, showing.limit, showing.offset, lanes, ranking.degraded, cost)


def _whole(store: Store, source: str, one: Found) -> Page | Fact | None:
    """What was found, whole; None for a page that somebody took away meanwhile."""
    return one.item if isinstance(one.item, Fact) else store.get_page(source, one.item.slug)


def _result(one: Found, item: Page | Fact, showing: Showing, said: dict[str, LaneScore]) -> Result:
    hit = one.item if isinstance(one.item, Hit) else None
    name = item.title if isinstance(item, Page) else item.entity or one.id
    content = None if showing.content_chars is None else one.item.text[: showing.content_chars]
    found = Result(one.id, one.origin, name, content, one.score, one.rank, item)
    if hit is not None:
        found = replace(found, turn=hit.turn, at=hit.at)
    if showing.diagnostics:
        why = ((said[one.id],), ()) if hit is None else (hit.lanes, hit.factors)
        found = replace(found, lanes=why[0], factors=why[1])
    return found


def _score(rank: int) -> float:
    return 1 / (_SMOOTHING + rank)
