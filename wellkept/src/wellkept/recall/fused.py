"""One answer out of remembered facts and pieces of pages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING

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
from wellkept.recall.asked import COVERED, content_words
from wellkept.recall.current import current_first
from wellkept.recall.facts import fitting_facts, may_be_found, shared_words
from wellkept.recall.near import near_facts
from wellkept.recall.outdated import Outdated, Piece, outdated
from wellkept.state import as_it_stands, held, is_current, prevails
from wellkept.storage import Store

if TYPE_CHECKING:
    from wellkept.recall.search import Sense

FACTS, NEAR_FACTS = "facts", "near facts"
"""The lanes of remembered facts: by their words, and by what they mean."""
COMPARED = 20
"""Among so many facts the current one is told first, however few are wanted."""
_SMOOTHING = 60
"""Reciprocal rank fusion: 1 / (60 + rank), the constant of its authors."""


Search = Callable[[str, str, int], Ranking]
"""What a source holds for a query, at most so many hits: the one way of searching."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What may be recalled: of one entity only its facts; what held at `as_of`, by what was known at `known_at`.

    With `history` facts that were ended come too, and those that are pending.
    """

    now: datetime
    entity: str | None = None
    as_of: datetime | None = None
    known_at: datetime | None = None
    history: bool = False

    def permits(self, fact: Fact, store: Store) -> bool:
        """Whether the fact may be told."""
        if self.entity not in (None, fact.entity):
            return False
        if self.as_of is not None:
            known = self.known_at
            return held(fact, self.as_of, known) and prevails(store, fact, self.as_of, known)
        return self.history or is_current(fact, self.now)


def recalled(
    store: Store, search: Search, source: str, query: str, limit: int, meant: Sense | None, asked: Asked
) -> Recalled:
    """The `limit` facts and pages that fit the query best; of one entity only its facts.

    With `as_of` facts as they held then, and no pages, of which only the present is known. Without `meant`, what the
    query means, facts are found by their words.
    """
    ended = asked.history or asked.as_of is not None
    among = partial(asked.permits, store=store)
    facts = _facts(store, source, query, limit, meant, among, entity=asked.entity, ended=ended)
    told = tuple(as_it_stands(fact, asked.now) for fact in _with_what_they_contradict(store, facts.ranked, limit))
    ranking = search(source, query, limit) if asked.entity is None and asked.as_of is None else Ranking(())
    hits = _up_to_date(store, source, ranking.hits, asked)
    found = merged(told, hits, limit, facts.faint)
    degraded = _degraded(store, found, facts, ranking, meant)
    return Recalled(found, (*facts.lanes, *ranking.lanes), degraded)


def _up_to_date(store: Store, source: str, hits: Sequence[Hit], asked: Asked) -> tuple[Hit, ...]:
    """The pieces, without what they say that is so no longer; with `history` as they are, and marked."""
    marked = with_outdated(store, source, hits, asked.now)
    if asked.history:
        return tuple(hit for hit, _ in marked)
    struck = ((hit, hit.text if old is None else old.struck(hit.text), old) for hit, old in marked)
    return tuple(
        hit if old is None else replace(hit, text=text, status="active", superseded_by=None)
        for hit, text, old in struck
        if old is None or text
    )


def with_outdated(
    store: Store, source: str, hits: Sequence[Hit], now: datetime
) -> tuple[tuple[Hit, Outdated | None], ...]:
    """The pieces, each marked where it says what is so no longer, with what it says of that."""
    found = outdated(store, source, [Piece(hit.slug, hit.text, hit.trust) for hit in hits], now)
    return tuple(
        (hit if old is None else replace(hit, status="superseded", superseded_by=old.superseded_by), old)
        for hit, old in zip(hits, found, strict=True)
    )


def _with_what_they_contradict(store: Store, facts: Sequence[Fact], limit: int) -> tuple[Fact, ...]:
    """The facts, none that is pending without the one before it that it contradicts."""
    told: dict[int | None, Fact] = {}
    for fact in facts:
        other = store.fact(fact.source, fact.replaces) if fact.status == "pending" and fact.replaces else None
        pair = [one for one in (other, fact) if one is not None and one.id not in told]
        if len(told) + len(pair) > limit:
            break
        told |= {one.id: one for one in pair}
    return tuple(told.values())


@dataclass(frozen=True, slots=True)
class _Facts:
    """Facts, best first; what each lane said of each; those for which little speaks; the lanes that ran."""

    ranked: tuple[Fact, ...] = ()
    said: Mapping[int | None, tuple[LaneScore, ...]] = field(default_factory=dict)
    faint: frozenset[int | None] = frozenset()
    lanes: tuple[str, ...] = ()


def _facts(
    store: Store,
    source: str,
    query: str,
    limit: int,
    meant: Sense | None,
    among: Callable[[Fact], bool],
    *,
    entity: str | None = None,
    ended: bool = False,
    words: bool = True,
) -> _Facts:
    """The `limit` facts that fit the query best by their words and by what they mean: ranks merged, words first."""
    lanes: dict[str, list[tuple[float, Fact]]] = {}
    most = max(limit, COMPARED)
    if words:
        fitting = fitting_facts(store, source, query, most, entity=entity, ended=ended, among=among)
        lanes[FACTS] = [(float(shared_words(fact, query)), fact) for fact in fitting]
    floor = 0.0 if meant is None else meant.floor
    if meant is not None and meant.vector is not None:
        # A search by meaning alone is told what is nearest, however far it is.
        lanes[NEAR_FACTS] = list(near_facts(store, source, meant.vector, most, floor if words else 0.0, among))
    scores: dict[int | None, float] = {}
    said: dict[int | None, tuple[LaneScore, ...]] = {}
    kept: dict[int | None, Fact] = {}
    for lane, ranked in lanes.items():
        for rank, (score, fact) in enumerate(ranked, 1):
            kept[fact.id] = fact
            scores[fact.id] = scores.get(fact.id, 0.0) + _score(rank)
            said[fact.id] = (*said.get(fact.id, ()), LaneScore(lane, rank, score, 1.0))
    best = current_first(sorted(kept.values(), key=lambda fact: -scores[fact.id]), query)[:limit]
    enough = COVERED * len(content_words(query))
    clear = {
        fact.id
        for lane, ranked in lanes.items()
        for score, fact in ranked
        if score >= (enough if lane == FACTS else floor)
    }
    return _Facts(best, said, frozenset(kept.keys() - clear), tuple(lanes))


def _degraded(
    store: Store, found: Sequence[Found], facts: _Facts, ranking: Ranking, meant: Sense | None
) -> tuple[str, ...]:
    """What the search of pages said, as it is true of facts and pages together."""
    codes = dict.fromkeys(code for code in ranking.degraded if code != "faint")
    compared = meant is not None and (meant.vector is not None or "vectors_pending" in meant.degraded)
    if compared and facts.lanes and store.index.waiting(0, 1, "fact"):
        codes["vectors_pending"] = None
    if found and all(one.faint for one in found):
        codes["faint"] = None
    return tuple(codes)


def merged(
    facts: Sequence[Fact], hits: Sequence[Hit], limit: int, faint: Collection[int | None] = ()
) -> tuple[Found, ...]:
    """The first `limit` of both, each list best first: by rank, a fact before a page of the same rank.

    `faint` are the numbers of the facts for which little speaks.
    """
    lanes: list[tuple[float, int, str, Fact | Hit]] = []
    lanes += [(_score(rank), 0, f"fact:{fact.id}", fact) for rank, fact in enumerate(facts, start=1)]
    lanes += [(_score(rank), 1, str(Item("page", hit.slug)), hit) for rank, hit in enumerate(hits, start=1)]
    lanes.sort(key=lambda lane: (-lane[0], lane[1]))
    return tuple(
        Found(item_id, "memory", score, rank, item, item.id in faint)
        if isinstance(item, Fact)
        else Found(item_id, "document", score, rank, item, item.faint)
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
    meant: Sense,
    now: datetime,
) -> Results:
    """One page of the facts and pages that fit the query and that the options let be found.

    What may not be found takes nobody's place: facts, like pages, are ranked among those that may.
    """
    began = perf_counter()
    wanted = showing.offset + showing.limit
    ranking = search(source, query, wanted, options) if showing.documents else Ranking(())
    then = options.known_at if options.as_of is None else options.as_of
    facts = _Facts()
    if showing.memory:
        among = partial(may_be_found, options=options)
        ended = then is not None
        # One more than is shown tells whether there are more; the rest is not read.
        facts = _facts(
            store,
            source,
            query,
            wanted + 1,
            meant,
            lambda fact: (
                among(fact)
                and (is_current(fact, now) if then is None else prevails(store, fact, then, options.known_at))
            ),
            ended=ended,
            words=options.mode != "vector",
        )
    told = tuple(as_it_stands(fact, now) for fact in facts.ranked)
    hits = tuple(hit for hit, _ in with_outdated(store, source, ranking.hits, now)) if then is None else ranking.hits
    found = merged(told, hits, wanted, facts.faint)[showing.offset :]
    said = {f"fact:{number}": lanes for number, lanes in facts.said.items()}
    results = tuple(_result(one, item, showing, said) for one in found if (item := _whole(store, source, one)))
    calls = int(meant.vector is not None or "embedder_failed" in meant.degraded)
    cost = Cost((perf_counter() - began) * 1000, calls)
    total = len(facts.ranked) + ranking.found
    lanes = (*facts.lanes, *ranking.lanes)
    degraded = _degraded(store, found, facts, ranking, meant)
    return Results(results, total, showing.limit, showing.offset, lanes, degraded, cost)


def _whole(store: Store, source: str, one: Found) -> Page | Fact | None:
    """What was found, whole; None for a page that somebody took away meanwhile."""
    return one.item if isinstance(one.item, Fact) else store.get_page(source, one.item.slug)


def _result(one: Found, item: Page | Fact, showing: Showing, said: Mapping[str, tuple[LaneScore, ...]]) -> Result:
    hit = one.item if isinstance(one.item, Hit) else None
    name = item.title if isinstance(item, Page) else item.entity or one.id
    content = None if showing.content_chars is None else one.item.text[: showing.content_chars]
    found = Result(one.id, one.origin, name, content, one.score, one.rank, item, faint=one.faint)
    if hit is not None:
        # Which of a page's words are so no longer is known of the piece that is shown.
        over = None if hit.status == "active" else hit.superseded_by or ""
        found = replace(found, turn=hit.turn, at=hit.at, superseded_by=over)
    if showing.diagnostics:
        why = (said[one.id], ()) if hit is None else (hit.lanes, hit.factors)
        found = replace(found, lanes=why[0], factors=why[1])
    return found


def _score(rank: int) -> float:
    return 1 / (_SMOOTHING + rank)
