"""What stands out of a search, and what is only nearest: something always is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from wellkept.recall.asked import COVERED
from wellkept.recall.lanes import Lane, Postings
from wellkept.storage.view import Ints, Mask, View

FLOORS: Mapping[str, float] = {"all-MiniLM-L6-v2-int8": 0.29}
"""By model the cosine from which on two texts are near for a reason. Those of other models are not on this scale."""


def by_reason(view: View, lanes: Sequence[Lane], floor: float, *, by_page: bool) -> Mask:
    """The rows, or with `by_page` all rows of the pages, that were found by a word, a name, or near enough."""
    found = np.zeros(view.size, np.bool_)
    for one in lanes:
        found[one.rows[one.scores >= floor] if one.name == "vector" else one.rows] = True
    return of_whole_pages(view, found) if by_page else found


def of_whole_pages(view: View, rows: Mask) -> Mask:
    """All rows of the pages of which one is among the rows."""
    pages = np.zeros(len(view.pages), np.bool_)
    pages[view.page[rows]] = True
    found: Mask = pages[view.page]
    return found


def faint(
    view: View, rows: Ints, lanes: Sequence[Lane], postings: Postings, documents: int, floor: float, *, by_page: bool
) -> list[bool]:
    """For each row whether nothing speaks for it: no name, no near vector, less than half of what the query asks for.

    With `by_page` its whole page is looked at, else the row with those beside it.
    """
    clear = np.zeros(view.size, np.bool_)
    for one in lanes:
        if one.name in ("vector", "exact"):
            clear[one.rows[one.scores >= floor] if one.name == "vector" else one.rows] = True
    if by_page:
        clear = of_whole_pages(view, clear)
    pages = [view.pages[number] for number in view.page[rows]]
    first = np.array([page.start for page in pages], np.int64)
    stop = np.array([page.stop for page in pages], np.int64)
    if not by_page:
        first, stop = np.maximum(first, rows - 1), np.minimum(stop, rows + 2)
    held, all_ = np.zeros(len(rows)), 0.0
    for places, _ in postings.words:
        rarity = float(np.log1p((documents - len(places) + 0.5) / (len(places) + 0.5)))
        held += rarity * (np.searchsorted(places, stop) > np.searchsorted(places, first))
        all_ += rarity
    enough = held >= COVERED * all_ if all_ else np.zeros(len(rows), np.bool_)
    return [not one for one in (clear[rows] | enough)]
