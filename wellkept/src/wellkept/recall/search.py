"""From a query to hits: lanes that each look at what may be found, one sum of what they say, and why it came so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import cast

import numpy as np
import regex  # type: ignore[import-untyped]
from numpy.typing import NDArray

from wellkept.errors import ModelUnavailable
from wellkept.model import Factor, Hit, LaneScore, NameKind, Ranking, SearchMode, SearchOptions, Trust
from wellkept.names import fold, norm
from wellkept.providers import Embedder, Reranker
from wellkept.recall import fusion
from wellkept.recall import lanes as lane
from wellkept.recall.asked import QUERY_CHARS, WORDS, asked_in, forms, telling_words
from wellkept.recall.faint import FLOORS, by_reason, faint, of_whole_pages
from wellkept.recall.lanes import Floats, Lane, Postings
from wellkept.recall.need import need
from wellkept.recall.rerank import LOOKED_AT, reranked
from wellkept.recall.when import RECENCY, Span, asked_time, nearness, temporal_boost
from wellkept.recall.words import Speech
from wellkept.storage import SearchIndex, Store
from wellkept.storage.view import NO_TIME, Ints, Mask, View

SELECTIVE = 0.1
"""Below this share of what could be found, a filter is narrow."""
LEAST_DAMPED = 0.1
ANSWERED = 0.3
"""How far the words of an assistant count where people ask about themselves: what they did stands in what they said."""
NAME_WORDS = 6
"""The longest name that is looked for in a query."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAME_WORD = regex.compile(r"[\p{L}\p{M}\p{N}][\p{L}\p{M}\p{N}'’._/&+-]*")


@dataclass(frozen=True, slots=True)
class SearchModels:
    """What a search may use besides words."""

    embedder: Embedder | None = None
    reranker: Reranker | None = None


DEFAULT = SearchOptions()
NO_MODELS = SearchModels()


def find(
    store: Store,
    source: str,
    query: str,
    limit: int,
    options: SearchOptions = DEFAULT,
    models: SearchModels = NO_MODELS,
    meant: Sense | None = None,
) -> Ranking:
    """The best hits of the source for the query; ranks start at 1. `meant` is its `sense` where that is known."""
    query = asked_in(query)
    words = telling_words(query)
    if not words or limit <= 0:
        return Ranking((), degraded=() if words else ("no_words",))
    meant = sense(store, query, options.mode, models.embedder) if meant is None else meant
    degraded = meant.degraded
    wanted = max(limit, LOOKED_AT) if options.rerank else limit
    with store.index.reading(source) as view:
        permitted = _permitted(view, options)
        looked = _lanes(_Asked(store, source, query, words, meant), view, permitted, options)
        lanes = looked.lanes
        scored = _scored(view, permitted, looked, options)
        _weigh_time(view, scored, query, options)
        if options.mode == "hybrid":
            scored = replace(scored, rows=_found_by_reason(view, lanes, scored.rows, meant.floor, options))
        rows = fusion.best_rows(view, scored.scores, scored.rows, wanted)
        faint = _faint(view, rows, permitted, looked, meant.floor, options)
        hits = _hits(store.index, source, view, rows, scored, _said(view, rows, lanes, scored, options), faint)
        if meant.vector is not None and store.index.waiting(0, 1):
            degraded = (*degraded, "vectors_pending")
        if not permitted.any():
            degraded = tuple(code for code in degraded if code != "vectors_pending")
    ran = tuple(one.name for one in lanes)
    if options.rerank:
        hits, failed = (hits, ("no_reranker",)) if models.reranker is None else reranked(models.reranker, query, hits)
        degraded = (*degraded, *failed)
        ran = ran if failed else (*ran, "rerank")
    hits = hits[:limit]
    if hits and all(hit.faint for hit in hits):
        degraded = (*degraded, "faint")
    return Ranking(hits, ran, degraded, len(scored.rows))


def search(store: Store, source: str, query: str, limit: int) -> tuple[Hit, ...]:
    """The pages of the source that fit the query, by words and names alone."""
    return find(store, source, query, limit, SearchOptions(mode="lexical")).hits


@dataclass(frozen=True, slots=True)
class _Asked:
    store: Store
    source: str
    query: str
    words: tuple[str, ...]
    meant: Sense


@dataclass(frozen=True, slots=True)
class _Looked:
    """The lanes, what the words say of whole pages, and where the words stand."""

    lanes: tuple[Lane, ...]
    of_pages: Lane | None
    postings: Postings


@dataclass(frozen=True, slots=True)
class Sense:
    """The vector of a query, or the code that says why there is none.

    `floor` is the cosine from which on it is near to a text for a reason.
    """

    vector: NDArray[np.float32] | None
    degraded: tuple[str, ...] = ()
    floor: float = 0.0


def sense(store: Store, query: str, mode: SearchMode, embedder: Embedder | None) -> Sense:
    """What a query means, to compare with what is kept; nothing where it holds no word to look for."""
    query = asked_in(query)
    if mode == "lexical" or not telling_words(query):
        return Sense(None)
    if embedder is None:
        return Sense(None, ("no_embedder",))
    stored = store.index.embedder()
    if stored is None:
        return Sense(None, ("vectors_pending",))
    try:
        if stored != embedder.id:
            return Sense(None, ("embedder_mismatch",))
        return Sense(embedder.embed([query[:QUERY_CHARS]])[0], (), FLOORS.get(stored.model, 0.0))
    except ModelUnavailable:
        return Sense(None, ("embedder_failed",))


def _permitted(view: View, options: SearchOptions) -> Mask:
    """The rows that may be found. Every lane looks at these alone, so that others cannot crowd them out."""
    permitted = view.live.copy()
    if options.types:
        wanted = np.array([page.type in options.types for page in view.pages], np.bool_)
        permitted &= wanted[view.page]
    if options.labels:
        tiers = [Trust[label.upper()] for label in options.labels]
        permitted &= np.array([page.trust in tiers for page in view.pages], np.bool_)[view.page]
    if options.without_flags:
        banned = set(options.without_flags)
        flagged = np.array([not banned.isdisjoint(page.flags) for page in view.pages], np.bool_)
        permitted &= ~flagged[view.page]
    if options.occurred_after is not None:
        permitted &= view.at >= _microseconds(options.occurred_after)
    if options.occurred_before is not None:
        permitted &= (view.at < _microseconds(options.occurred_before)) & (view.at != NO_TIME)
    for moment in (options.as_of, options.known_at):
        if moment is not None:
            permitted &= view.at <= _microseconds(moment)
    return permitted


def _lanes(asked: _Asked, view: View, permitted: Mask, options: SearchOptions) -> _Looked:
    """The lanes of the mode that can run, whether they found something or not."""
    index, mode, found, of_pages = asked.store.index, options.mode, [], None
    postings = Postings(())
    if mode != "vector":
        postings = lane.read_postings(index, view, permitted, [forms(word) for word in asked.words])
        trusted = _trusted(view, asked.query, mode)
        found.append(lane.lexical(view, permitted, postings, trusted))
        if mode != "naive":
            found.append(lane.context(view, permitted, postings, trusted))
            of_pages = lane.whole(view, permitted, postings) if options.unit == "page" else None
    if asked.meant.vector is not None:
        found.append(lane.vector(index, view, permitted, asked.meant.vector))
    if mode in ("hybrid", "lexical"):
        found.append(lane.exact(view, permitted, _named(asked), found[0]))
    return _Looked(tuple(found), of_pages, postings)


def _trusted(view: View, query: str, mode: SearchMode) -> Floats:
    """How far the words of each row count: of answers less, where people ask about themselves."""
    trusted = np.ones(view.size)
    if mode != "naive" and view.answer.any():
        shown = need(query[:QUERY_CHARS])
        if shown.mine or shown.ours:
            trusted[view.answer] = ANSWERED
    return trusted


def _named(asked: _Asked) -> Mapping[str, float]:
    """The pages that the query names, and the share of its telling words that the name covers."""
    named: dict[str, float] = {}
    speech = Speech(_NAME_WORD.findall(norm(asked.query[:QUERY_CHARS])))
    for change, kinds in ((norm, ("alias", "title", "slug", "tail")), (fold, ("alias-fold", "title-fold"))):
        words = [found[0] for found in _NAME_WORD.finditer(change(asked.query[:QUERY_CHARS]))][:WORDS]
        keys = {
            " ".join(words[start:stop])
            for start in range(len(words))
            for stop in range(start + 1, min(start + NAME_WORDS, len(words)) + 1)
            if stop - start > 1 or not speech.is_hard(words[start])
        }
        for kind in kinds:
            for match in asked.store.find_names(asked.source, cast(NameKind, kind), sorted(keys)):
                covered = sum(word in asked.words for word in match.key.split()) or 1
                share = min(covered / len(asked.words), 1.0)
                named[match.page.slug] = max(named.get(match.page.slug, 0.0), share)
    return named


@dataclass(frozen=True, slots=True)
class _Scored:
    """The rows that may become hits, their scores by row, the lane that looked at their pages, and what changed them.

    `factors` are what scores were multiplied by: a name, and by row how much.
    """

    rows: Ints
    scores: Floats
    of_pages: Lane | None = None
    factors: dict[str, Floats] = field(default_factory=dict)


def _scored(view: View, permitted: Mask, looked: _Looked, options: SearchOptions) -> _Scored:
    lanes, of_pages, whole_pages = looked.lanes, looked.of_pages, options.unit == "page"
    found = fusion.found_rows(lanes)
    if options.mode == "naive":
        scores = fusion.reciprocal_ranks(view, lanes)
        return _Scored(fusion.one_row_each(view, scores, found) if whole_pages else found, scores)
    scores = fusion.weighted_sum(view, lanes)
    lone = _found_by_chance(view, permitted, lanes, by_page=whole_pages)
    damped = np.where(lone, damping(_share(view, permitted)), 1.0)
    if whole_pages:
        rows = fusion.one_row_each(view, scores, found)
        scores[rows] = fusion.page_scores(view, lanes, of_pages)[view.page[rows]]
        return _Scored(rows, scores * damped, of_pages, {"selectivity": damped})
    scores *= damped
    means = fusion.page_means(view, scores, found)
    scores[found] += fusion.PAGE_PRIOR * means[view.page[found]]
    return _Scored(found, scores, lane.ordered("page", np.flatnonzero(means), means), {"selectivity": damped})


def _weigh_time(view: View, scored: _Scored, query: str, options: SearchOptions) -> None:
    reference = options.reference_time
    if reference is not None and options.mode != "naive":
        span = asked_time(query, reference)
        near = np.ones(view.size)
        near[scored.rows] = [_time_factor(int(at), reference, span, options.recency) for at in view.at[scored.rows]]
        scored.scores[scored.rows] *= near[scored.rows]
        scored.factors["time"] = near


def _found_by_chance(view: View, permitted: Mask, lanes: Sequence[Lane], *, by_page: bool) -> Mask:
    """Under a narrow filter something is always nearest: the rows that, or whose pages, only the vectors found."""
    if _share(view, permitted) >= SELECTIVE:
        return np.zeros(view.size, np.bool_)
    otherwise = np.zeros(view.size, np.bool_)
    for one in lanes:
        if one.name != "vector":
            otherwise[one.rows] = True
    return ~(of_whole_pages(view, otherwise) if by_page else otherwise)


def _found_by_reason(view: View, lanes: Sequence[Lane], rows: Ints, floor: float, options: SearchOptions) -> Ints:
    """The rows without those that are merely nearest. What they said of their pages was said."""
    return rows[by_reason(view, lanes, floor, by_page=options.unit == "page")[rows]]


def _faint(
    view: View, rows: Ints, permitted: Mask, looked: _Looked, floor: float, options: SearchOptions
) -> list[bool]:
    if options.mode == "naive":
        return [False] * len(rows)
    documents, by_page = int(np.count_nonzero(permitted)), options.unit == "page"
    return faint(view, rows, looked.lanes, looked.postings, documents, floor, by_page=by_page)


def _share(view: View, permitted: Mask) -> float:
    """How much of what is searchable may be found."""
    return float(permitted.sum()) / max(float(view.live.sum()), 1.0)


def damping(share: float) -> float:
    """What a candidate of the vectors alone keeps where so small a share of the memory may be found.

    >>> damping(0.2), damping(0.1), damping(0.05), damping(0.004)
    (1.0, 1.0, 0.5, 0.1)
    """
    return 1.0 if share >= SELECTIVE else max(share / SELECTIVE, LEAST_DAMPED)


def _time_factor(at: int, reference: datetime, span: Span | None, recency: bool) -> float:
    if at == NO_TIME:
        return 1.0
    when = _EPOCH + timedelta(microseconds=at)
    if span is not None:
        # Age says nothing against what was asked for by its time.
        return nearness(span, when.astimezone(reference.tzinfo).date())
    return 1 - RECENCY * (1 - temporal_boost((reference - when).total_seconds() / 86_400)) if recency else 1.0


def _hits(
    index: SearchIndex,
    source: str,
    view: View,
    rows: Ints,
    scored: _Scored,
    said: Sequence[tuple[LaneScore, ...]],
    faint: Sequence[bool],
) -> tuple[Hit, ...]:
    chunks = view.chunk[rows].tolist()
    texts = index.texts(chunks)
    hits = []
    for place, (row, chunk) in enumerate(zip(rows.tolist(), chunks, strict=True)):
        page, text = view.pages[view.page[row]], texts[chunk]
        turn, at = int(view.turn[row]), int(view.at[row])
        hits.append(
            Hit(
                source,
                page.slug,
                text.title,
                text.text,
                float(scored.scores[row]),
                place + 1,
                Trust(text.trust),
                ordinal=int(view.ordinal[row]),
                turn=None if turn < 0 else turn,
                at=None if at == NO_TIME else _EPOCH + timedelta(microseconds=at),
                lanes=said[place],
                factors=tuple(
                    Factor(name, float(by_row[row])) for name, by_row in scored.factors.items() if by_row[row] != 1
                ),
                faint=faint[place],
                content_origin=text.content_origin,
                flags=tuple(text.flags.split()),
                integrity=text.integrity,
            )
        )
    return tuple(hits)


def _said(
    view: View, rows: Ints, lanes: Sequence[Lane], scored: _Scored, options: SearchOptions
) -> tuple[tuple[LaneScore, ...], ...]:
    """For each row what every lane said of it, and what was said of its page."""
    of_unit = fusion.PAGE_WEIGHTS if options.unit == "page" else fusion.WEIGHTS
    weights = {} if options.mode == "naive" else fusion.weights_of(lanes, of_unit)
    pages = () if scored.of_pages is None else (scored.of_pages,)
    return tuple(
        (*fusion.explain(row, lanes, weights), *fusion.explain(int(view.page[row]), pages, fusion.OF_PAGES))
        for row in rows.tolist()
    )


def _microseconds(at: datetime) -> int:
    return (at - _EPOCH) // timedelta(microseconds=1)
