"""Several lanes, each with its own scale, become one order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from wellkept.model import LaneScore
from wellkept.recall.lanes import Floats, Lane, starts
from wellkept.storage.view import Ints, View

WEIGHTS: Mapping[str, float] = {"lexical": 0.35, "context": 0.25, "vector": 0.40}
"""What each lane counts in the sum. A lane that found nothing does not count, and the others share its weight."""
PAGE_WEIGHTS: Mapping[str, float] = {"lexical": 0.30, "context": 0.20, "vector": 0.50}
"""The same where pages are looked for, of which the lane "whole" says a third thing by their words."""
NAMED = 1.25
"""What the lane "exact" adds to the sum: so much of the share of the query that the page's name covers."""
WHOLE = 0.15
"""What the words of a whole page count beside the lanes, where pages are looked for."""
PAGE_PRIOR = 0.5
"""What a chunk gains from its page: so much of the mean of the page's PRIOR_CHUNKS best chunks."""
PRIOR_CHUNKS = 3
OF_PAGES: Mapping[str, float] = {"whole": WHOLE, "page": PAGE_PRIOR}
"""The weights of what is said of a page, not of a piece of it."""
RANK_OFFSET = 60


PAGE_SUM = 0.5
"""What a lane adds to a page's best piece: so much of the sum of its PRIOR_CHUNKS best."""


def weights_of(lanes: Sequence[Lane], weights: Mapping[str, float] = WEIGHTS) -> Mapping[str, float]:
    """The weights of the lanes that found something; those of `weights` sum to 1."""
    present = {lane.name: weights[lane.name] for lane in lanes if len(lane.rows) and lane.name in weights}
    total = sum(present.values())
    return {"exact": NAMED, **{name: weight / total for name, weight in present.items()}}


def weighted_sum(view: View, lanes: Sequence[Lane]) -> Floats:
    """Per row the weighted sum of the lanes' scores, each lane's spread over 0 to 1 unless that is its scale."""
    total = np.zeros(view.size)
    weights = weights_of(lanes)
    for lane in lanes:
        if len(lane.rows):
            scores = lane.scores if lane.name == "exact" else spread(lane)
            total[lane.rows] += weights[lane.name] * scores
    return total


def found_rows(lanes: Sequence[Lane]) -> Ints:
    """The rows that any lane found, in order."""
    return np.unique(np.concatenate([np.array([], np.int64), *(lane.rows for lane in lanes)]))


def spread(lane: Lane) -> Floats:
    """The lane's scores moved and stretched so that its floor is 0 and its best is 1."""
    best = lane.scores.max()
    return np.clip((lane.scores - lane.floor) / (best - lane.floor), 0, 1) if best > lane.floor else lane.scores * 0 + 1


def reciprocal_ranks(view: View, lanes: Sequence[Lane]) -> Floats:
    """Per row the sum over lanes of 1 / (60 + rank), ranks from 1."""
    total = np.zeros(view.size)
    for lane in lanes:
        total[lane.rows] += 1.0 / (RANK_OFFSET + 1 + np.arange(len(lane.rows)))
    return total


def explain(row: int, lanes: Sequence[Lane], weights: Mapping[str, float]) -> tuple[LaneScore, ...]:
    """What each lane said of the row."""
    said = []
    for lane in lanes:
        places = np.flatnonzero(lane.rows == row)
        if len(places):
            place = int(places[0])
            said.append(LaneScore(lane.name, place + 1, float(lane.scores[place]), weights.get(lane.name, 1.0)))
    return tuple(said)


def page_means(view: View, scores: Floats, found: Ints) -> Floats:
    """By page number, the mean of the page's PRIOR_CHUNKS best rows; missing ones count 0."""
    rows = found[np.lexsort((found, -scores[found], view.page[found]))]
    pages = view.page[rows]
    first = starts(pages)
    within = np.arange(len(rows)) - np.repeat(first, np.diff(np.append(first, len(rows))))
    kept = within < PRIOR_CHUNKS
    return np.bincount(pages[kept], scores[rows[kept]], len(view.pages)) / PRIOR_CHUNKS


def page_scores(view: View, lanes: Sequence[Lane], whole: Lane | None) -> Floats:
    """By page number the weighted sum of what the lanes say of the page.

    Of a page a lane counts the best row and half of the sum of the PRIOR_CHUNKS best, so that one good piece is enough
    and several are better, in whichever pieces the other lanes found theirs.
    """
    total = np.zeros(len(view.pages))
    weights = weights_of(lanes, PAGE_WEIGHTS)
    for lane in lanes:
        if not len(lane.rows):
            continue
        if lane.name == "exact":
            total[view.page[lane.rows]] += weights[lane.name] * lane.scores
            continue
        scores = np.zeros(view.size)
        scores[lane.rows] = spread(lane)
        best = np.zeros(len(view.pages))
        np.maximum.at(best, view.page[lane.rows], scores[lane.rows])
        said = best + PAGE_SUM * PRIOR_CHUNKS * page_means(view, scores, lane.rows)
        total += weights[lane.name] * said / said.max()
    if whole is not None and len(whole.rows):
        total[whole.rows] += WHOLE * spread(whole)
    return total


def one_row_each(view: View, scores: Floats, found: Ints) -> Ints:
    """Of every page the row with the highest score, the first of equal ones."""
    rows = found[np.lexsort((found, -scores[found]))]
    _, first = np.unique(view.page[rows], return_index=True)
    return rows[first]


def best_rows(view: View, scores: Floats, found: Ints, limit: int) -> Ints:
    """The rows found with the highest scores, best first; equal ones by slug and ordinal."""
    rows = found
    if len(rows) > limit > 0:
        edge = np.partition(scores[rows], -limit)[-limit]
        rows = rows[scores[rows] >= edge]
    ordered = sorted(
        rows.tolist(), key=lambda row: (-scores[row], view.pages[view.page[row]].slug, int(view.ordinal[row]))
    )
    return np.array(ordered[:limit], np.int64)
