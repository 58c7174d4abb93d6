"""What a search needs to know of every live chunk of one source, as columns in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

NO_TIME = np.iinfo(np.int64).min
_SMALLEST = 1024


@dataclass(slots=True)
class PageEntry:
    """A page of the view. Its chunks are the rows from `start` to `stop`, in reading order."""

    id: int
    slug: str
    type: str
    at: int
    start: int = 0
    stop: int = 0


class View:
    """Rows are chunks, some of them no longer live; a row keeps its number until the view is emptied.

    `chunk`, `page` (an index of `pages`), `ordinal`, `chars`, `turn` (-1: no conversation), `at` (microseconds since
    1970, NO_TIME when not known), `answer` (an assistant said it), `live` and `signed` (it has a vector) are columns
    of `size` rows.
    """

    def __init__(self) -> None:
        self.empty()

    def empty(self) -> None:
        """Forget everything."""
        self.tick = self.removed = -1
        self.size = self.dead = 0
        self.pages: list[PageEntry] = []
        self._known: dict[int, PageEntry] = {}
        self._slugs: dict[str, PageEntry] = {}
        self._row_of: Ints = np.full(_SMALLEST, -1, np.int64)
        self._columns: dict[str, NDArray[Any]] = {
            "chunk": np.zeros(_SMALLEST, np.int64),
            "page": np.zeros(_SMALLEST, np.int32),
            "ordinal": np.zeros(_SMALLEST, np.int32),
            "chars": np.zeros(_SMALLEST, np.float64),
            "turn": np.zeros(_SMALLEST, np.int32),
            "at": np.zeros(_SMALLEST, np.int64),
            "answer": np.zeros(_SMALLEST, np.bool_),
            "live": np.zeros(_SMALLEST, np.bool_),
            "signed": np.zeros(_SMALLEST, np.bool_),
        }
        # Word by word, as they are compared.
        self._signs: NDArray[np.uint64] = np.zeros((0, _SMALLEST), np.uint64)
        self._follows: Mask | None = None

    def __getattr__(self, name: str) -> NDArray[Any]:
        try:
            column = self._columns[name]
        except KeyError:
            raise AttributeError(name) from None
        return column[: self.size]

    def rows_of(self, chunks: Ints) -> Ints:
        """The rows of chunk ids; those of chunks that are not in the view are left out."""
        rows = self._row_of[chunks[chunks < len(self._row_of)]]
        return rows[rows >= 0]

    def page_named(self, slug: str) -> PageEntry | None:
        """The live page of that slug."""
        return self._slugs.get(slug)

    def apart(self, signs: NDArray[np.uint64]) -> NDArray[np.int32]:
        """For each row in how many signs its vector differs from these."""
        total = np.zeros(self.size, np.int32)
        for mine, other in zip(self._signs, signs, strict=True):
            total += np.bitwise_count(mine[: self.size] ^ other)
        return total

    def follows(self) -> Mask:
        """For each row whether the one before it is of the same page."""
        if self._follows is None or len(self._follows) != self.size:
            self._follows = np.diff(self.page, prepend=-1) == 0
        return self._follows

    def drop(self, page_id: int) -> None:
        """Take the page out."""
        entry = self._known.pop(page_id, None)
        if entry is not None:
            self._slugs.pop(entry.slug, None)
            rows = slice(entry.start, entry.stop)
            self.live[rows] = False
            self._row_of[self.chunk[rows]] = -1
            self.dead += entry.stop - entry.start

    def put(self, pages: Sequence[PageEntry], chunks: Sequence[tuple[Any, ...]]) -> None:
        """Put pages in with all their chunks: (page id, chunk id, ordinal, chars, turn, at, signs,
        answer), in page order."""
        by_page: dict[int, list[tuple[Any, ...]]] = {page.id: [] for page in pages}
        for row in chunks:
            by_page[row[0]].append(row)
        added: list[tuple[Any, ...]] = []
        for page in pages:
            rows = by_page[page.id]
            old = self._known.get(page.id)
            if old is not None and [row[1] for row in rows] == self.chunk[old.start : old.stop].tolist():
                old.type, old.at = page.type, page.at
                self._fill(old.start, old.stop, self.page[old.start : old.stop], rows, [old])
                continue
            self.drop(page.id)
            page.start = self.size + len(added)
            page.stop = page.start + len(rows)
            self.pages.append(page)
            self._known[page.id] = self._slugs[page.slug] = page
            added += rows
        if added:
            self._append(added)

    def _append(self, rows: Sequence[tuple[Any, ...]]) -> None:
        start, stop = self.size, self.size + len(rows)
        place = {page.id: number for number, page in enumerate(self.pages) if page.stop > start}
        numbers = np.fromiter((place[row[0]] for row in rows), np.int32, len(rows))
        self._reserve(stop, max(row[1] for row in rows))
        self.size = stop
        self._fill(start, stop, numbers, rows, self.pages)

    def _fill(
        self, start: int, stop: int, numbers: NDArray[Any], rows: Sequence[tuple[Any, ...]], pages: Sequence[PageEntry]
    ) -> None:
        ids = np.fromiter((row[1] for row in rows), np.int64, len(rows))
        self._row_of[ids] = np.arange(start, stop)
        times = {page.id: page.at for page in pages}
        for name, values in (
            ("chunk", ids),
            ("page", numbers),
            ("ordinal", [row[2] for row in rows]),
            ("chars", [row[3] for row in rows]),
            ("turn", [-1 if row[4] is None else row[4] for row in rows]),
            ("at", [times[row[0]] if row[5] is None else row[5] for row in rows]),
            ("answer", [row[7] for row in rows]),
            ("live", True),
            ("signed", [row[6] is not None for row in rows]),
        ):
            self._columns[name][start:stop] = values
        self._sign(start, [row[6] for row in rows])

    def _sign(self, start: int, signs: Iterable[bytes | None]) -> None:
        for row, packed in enumerate(signs, start):
            if packed is None:
                continue
            words = np.frombuffer(packed, np.uint64)
            if len(self._signs) != len(words):
                self._signs = np.zeros((len(words), len(self._columns["live"])), np.uint64)
            self._signs[:, row] = words

    def _reserve(self, size: int, largest_id: int) -> None:
        capacity = len(self._columns["live"])
        if size > capacity:
            more = max(size, 2 * capacity) - capacity
            for name, column in self._columns.items():
                self._columns[name] = np.concatenate([column, np.zeros(more, column.dtype)])
            self._signs = np.concatenate([self._signs, np.zeros((len(self._signs), more), np.uint64)], axis=1)
        if largest_id >= len(self._row_of):
            more = max(largest_id + 1, 2 * len(self._row_of)) - len(self._row_of)
            self._row_of = np.concatenate([self._row_of, np.full(more, -1, np.int64)])


def packed_signs(vectors: NDArray[np.float32]) -> list[bytes]:
    """The signs of each vector as bits, in whole 64-bit words."""
    bits = np.packbits(vectors > 0, axis=1)
    return [row.tobytes() for row in np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8)))]
