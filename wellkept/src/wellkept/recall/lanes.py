"""The lanes of a search: each scores the rows of a view that it finds, and none of the rows that may not be found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wellkept.storage import SearchIndex
from wellkept.storage.view import STATED, Ints, Mask, View, dots

Floats = NDArray[np.float64]

CANDIDATES = 200
"""Rows that one lane hands on; and, so that no long page hides others, the best row of as many pages."""
RESCORED = 600
"""Rows whose vectors are compared exactly."""

FOLLOWED = 0.5
"""What the words of the next piece count, where those of a piece and the one before it count 1."""
_SATURATION, _LENGTH_WEIGHT = 0.9, 0.4


@dataclass(frozen=True, slots=True)
class Lane:
    """What one lane found: rows and their raw scores, best first; equal scores by row.

    `floor` is what counts as nothing: the last of the candidates' scores, 0 where fewer were found.
    """

    name: str
    rows: Ints
    scores: Floats
    floor: float = 0.0


@dataclass(frozen=True, slots=True)
class Postings:
    """The words of a query in the permitted rows: for each word the rows that hold it, and how often."""

    words: tuple[tuple[Ints, Floats], ...]


def read_postings(index: SearchIndex, view: View, permitted: Mask, words: Sequence[Sequence[str]]) -> Postings:
    """Where the words stand among the permitted rows; the forms of one word count as one."""
    found = []
    for forms in words:
        places = index.postings(forms)
        rows = view.rows_of(places[0] if len(places) == 1 else np.sort(np.concatenate(places)))
        rows = rows[permitted[rows]]
        # All places of a chunk stand one after the other.
        first = starts(rows)
        found.append((rows[first], np.diff(np.append(first, len(rows))).astype(np.float64)))
    return Postings(tuple(found))


def lexical(view: View, permitted: Mask, postings: Postings, trusted: Floats) -> Lane:
    """BM25 over chunks, of each row as much as it is `trusted`."""
    scores = _bm25(postings.words, view.chars, permitted) * trusted
    return best("lexical", view, scores, np.flatnonzero(scores > 0))


def context(view: View, permitted: Mask, postings: Postings, trusted: Floats) -> Lane:
    """BM25 over each chunk with those before and after it on its page, of each row as much as it is `trusted`.

    What an answer answers is in the question, and what a remark was about is often in the reply.
    """
    goes_on, follows, chars = view.joined(FOLLOWED)
    words = []
    for held, counts in postings.words:
        on, back = goes_on[held], follows[held]
        total = np.zeros(view.size)
        # One after the other: within each, no row comes twice.
        total[held] = counts
        total[held[on] + 1] += counts[on]
        total[held[back] - 1] += FOLLOWED * counts[back]
        rows = np.flatnonzero(total > 0)
        words.append((rows, total[rows]))
    scores = _bm25(words, chars, permitted) * trusted
    return best("context", view, scores, np.flatnonzero(permitted & (scores > 0)))


def whole(view: View, permitted: Mask, postings: Postings) -> Lane:
    """BM25 over whole pages, by the number of the page in the view."""
    count = len(view.pages)
    chars = np.bincount(view.page, view.chars * permitted, count).astype(np.float64)
    words = []
    for held, counts in postings.words:
        total = np.bincount(view.page[held], counts, count).astype(np.float64)
        reached = np.flatnonzero(total > 0)
        words.append((reached, total[reached]))
    scores = _bm25(words, chars, chars > 0)
    return ordered("whole", np.flatnonzero(scores > 0), scores)


def vector(index: SearchIndex, view: View, permitted: Mask, query: NDArray[np.float32]) -> Lane:
    """Cosine of the query's vector and the nearest of each chunk's: exact for the rows whose signs are nearest."""
    rows = view.nearest(query, permitted, RESCORED)
    chunks, vectors = index.vectors(view.chunk[rows].tolist())
    if not len(chunks):
        return Lane("vector", np.array([], np.int64), np.array([]))
    scores = np.zeros(view.size)
    found = view.rows_of(chunks)
    # The first vector of a chunk is that of all of it.
    is_first = np.diff(found, prepend=-1) != 0
    np.maximum.at(scores, found, dots(vectors, query) * np.where(is_first, 1.0, STATED))
    rows = np.unique(found)
    return best("vector", view, scores, rows[scores[rows] > 0])


def exact(view: View, permitted: Mask, named: Mapping[str, float], words: Lane) -> Lane:
    """Pages that the query calls by a name, each by the row that the words liked best, else by its first.

    The score is the share of the query that the name covers, from 0 to 1.
    """
    liked = dict(zip(words.rows.tolist(), words.scores.tolist(), strict=True))
    found = []
    for slug, share in named.items():
        page = view.page_named(slug)
        rows = [] if page is None else [row for row in range(page.start, page.stop) if permitted[row]]
        if rows:
            found.append((-share, max(rows, key=lambda row: (liked.get(row, 0.0), -row))))
    found.sort()
    rows, shares = [row for _, row in found], [-share for share, _ in found]
    return Lane("exact", np.array(rows, np.int64), np.array(shares, np.float64))


def best(name: str, view: View, scores: Floats, rows: Ints) -> Lane:
    """Of the rows, all with a score above 0, the CANDIDATES best, and the best row of the CANDIDATES best pages.

    The rows are in order, so that those of one page stand together.
    """
    if len(rows) <= CANDIDATES:
        return ordered(name, rows, scores)
    found = scores[rows]
    # Of each page one row that no other of the page beats; then the pages whose best is best.
    first = starts(view.page[rows])
    tops = np.maximum.reduceat(found, first)
    edge = float(np.partition(tops, -CANDIDATES)[-CANDIDATES]) if len(tops) > CANDIDATES else 0.0
    near = np.flatnonzero(found >= edge)
    # So many pages have a row that is as good, so that the best rows are among these.
    floor = float(np.partition(found[near], -CANDIDATES)[-CANDIDATES])
    is_top = found[near] == tops[np.searchsorted(first, near, "right") - 1]
    return ordered(name, rows[near[is_top | (found[near] >= floor)]], scores, floor)


def starts(values: NDArray[np.integer]) -> Ints:
    """Where each stretch of equal values begins.

    >>> starts(np.array([3, 3, 5, 3])).tolist()
    [0, 2, 3]
    """
    # Of truth values the ones that hold are found seven times as fast as of numbers.
    return np.flatnonzero(np.append(len(values) > 0, values[1:] != values[:-1]))


def ordered(name: str, rows: Ints, scores: Floats, floor: float = 0.0) -> Lane:
    """The rows with their scores, best first; equal ones by row."""
    rows = rows[np.lexsort((rows, -scores[rows]))]
    return Lane(name, rows, scores[rows], floor)


def _bm25(words: Sequence[tuple[Ints, Floats]], chars: Floats, among: Mask) -> Floats:
    """The score of every document, 0 for those that hold none of the words."""
    documents = int(np.count_nonzero(among))
    usual = max(float(np.sum(chars, where=among)) / max(documents, 1), 1.0)
    damping = _SATURATION * (1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * chars / usual)
    scores = np.zeros(len(chars))
    for held, counts in words:
        rarity = np.log1p((documents - len(held) + 0.5) / (len(held) + 0.5))
        scores[held] += rarity * counts * (_SATURATION + 1) / (counts + damping[held])
    return scores
