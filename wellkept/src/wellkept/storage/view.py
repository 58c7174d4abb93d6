"""What a search needs to know of every live chunk of one source, as columns in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]

NO_TIME = np.iinfo(np.int64).min
WIDER, WIDER_SHARE = 5, 100
"""How many of the rows are looked at more closely."""
STATED = 0.9
"""What a statement counts by itself, where the whole text counts 1: its sense may hang on what stands around it."""
_SMALLEST = 1024
_BLOCK = 32768
_FAR = np.uint16(2**16 - 1)


@dataclass(slots=True)
class PageEntry:
    """A page of the view. Its chunks are the rows from `start` to `stop`, in reading order."""

    id: int
    slug: str
    type: str
    at: int
    trust: int = 0
    start: int = 0
    stop: int = 0
    flags: tuple[str, ...] = ()


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
        self._joined: tuple[Mask, Mask, NDArray[np.float64]] | None = None
        self._after = 0.0

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

    def nearest(self, query: NDArray[np.float32], among: Mask, depth: int) -> Ints:
        """The rows, about `depth` of those that have a vector, that by the signs of their vectors are nearest.

        First by how many signs differ from the query's; then, of WIDER times as many and one in WIDER_SHARE at least,
        by the query's numbers where the signs agree less those where they differ, which tells much more.
        """
        held = among & self.signed
        size = int(np.count_nonzero(held))
        if size <= depth:
            return np.flatnonzero(held)
        apart = np.where(held, self._apart(query), _FAR)
        rows = _smallest(apart, max(WIDER * depth, size // WIDER_SHARE))
        if len(rows) <= depth:
            return rows
        bits = np.unpackbits(np.ascontiguousarray(self._signs[:, rows].T).view(np.uint8), axis=1, count=len(query))
        # Twice this less a constant is the sum described.
        agreeing = dots(bits.astype(np.float32), query)
        return np.sort(rows[np.argpartition(-agreeing, depth - 1)[:depth]])

    def _apart(self, query: NDArray[np.float32]) -> NDArray[np.uint16]:
        """For each row in how many signs its vector differs from the query."""
        signs = np.frombuffer(packed_signs(query[np.newaxis])[0], np.uint64)
        total = np.zeros(self.size, np.uint16)
        for start in range(0, self.size, _BLOCK):
            part = total[start : start + _BLOCK]
            for mine, other in zip(self._signs, signs, strict=True):
                part += np.bitwise_count(mine[start : start + len(part)] ^ other)
        return total

    def joined(self, after: float) -> tuple[Mask, Mask, NDArray[np.float64]]:
        """For each row whether the next one is of its page, and whether the one before it is; and its characters.

        With those of the one before it, and of the next one so much as `after` says.
        """
        if self._joined is None or len(self._joined[0]) != self.size or self._after != after:
            follows = np.diff(self.page, prepend=-1) == 0
            goes_on = np.append(follows, False)[1:]
            before, behind = np.append(0.0, self.chars)[:-1], np.append(self.chars, 0.0)[1:]
            chars = self.chars + np.where(follows, before, 0.0) + after * np.where(goes_on, behind, 0.0)
            self._joined, self._after = (goes_on, follows, chars), after
        return self._joined

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
        """Put pages in with all their chunks, page by page.

        A chunk is (page id, chunk id, ordinal, chars, turn, at, signs, answer).
        """
        by_page: dict[int, list[tuple[Any, ...]]] = {page.id: [] for page in pages}
        for row in chunks:
            by_page[row[0]].append(row)
        added: list[tuple[Any, ...]] = []
        numbers: list[int] = []
        for page in pages:
            rows = by_page[page.id]
            old = self._known.get(page.id)
            if old is not None and [row[1] for row in rows] == self.chunk[old.start : old.stop].tolist():
                old.type, old.at, old.trust, old.flags = page.type, page.at, page.trust, page.flags
                self._fill(old.start, rows, self.page[old.start : old.stop], old.at)
                continue
            self.drop(page.id)
            page.start = self.size + len(added)
            page.stop = page.start + len(rows)
            numbers += [len(self.pages)] * len(rows)
            self.pages.append(page)
            self._known[page.id] = self._slugs[page.slug] = page
            added += rows
        if added:
            self._reserve(self.size + len(added), max(row[1] for row in added))
            start, self.size = self.size, self.size + len(added)
            of_page = np.array([self.pages[number].at for number in numbers], np.int64)
            self._fill(start, added, np.array(numbers, np.int32), of_page)

    def _fill(self, start: int, rows: Sequence[tuple[Any, ...]], numbers: NDArray[Any], of_page: Ints | int) -> None:
        """Write rows from `start` on; `of_page` are the times of their pages, for chunks without one of their own."""
        if not rows:
            return
        _, chunks, ordinals, chars, turns, times, signs, answers = zip(*rows, strict=True)
        ids, stop = np.array(chunks, np.int64), start + len(rows)
        self._row_of[ids] = np.arange(start, stop)
        at = np.array([NO_TIME if time is None else time for time in times], np.int64)
        for name, values in (
            ("chunk", ids),
            ("page", numbers),
            ("ordinal", ordinals),
            ("chars", chars),
            ("turn", [-1 if turn is None else turn for turn in turns]),
            ("at", np.where(at == NO_TIME, of_page, at)),
            ("answer", answers),
            ("live", True),
            ("signed", [packed is not None for packed in signs]),
        ):
            self._columns[name][start:stop] = values
        packed = b"".join(packed for packed in signs if packed is not None)
        if packed:
            self._sign(start + np.flatnonzero(self.signed[start:stop]), packed)

    def _sign(self, rows: Ints, packed: bytes) -> None:
        words = np.frombuffer(packed, np.uint64).reshape(len(rows), -1)
        if len(self._signs) != words.shape[1]:
            self._signs = np.zeros((words.shape[1], len(self._columns["live"])), np.uint64)
        self._signs[:, rows] = words.T

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


class Signs:
    """The signs of vectors by id, of which more are added at the end; `last` is the place of the newest."""

    def __init__(self, removed: int) -> None:
        self.removed, self.last = removed, 0
        self._ids: Ints = np.zeros(0, np.int64)
        self._words: NDArray[np.uint64] = np.zeros((0, 0), np.uint64)

    def add(self, ids: Sequence[int], packed: bytes, last: int) -> None:
        """Take in more of them."""
        words = np.frombuffer(packed, np.uint64).reshape(len(ids), -1)
        if not len(self._ids):
            self._words = np.zeros((0, words.shape[1]), np.uint64)
        self._ids, self._words = np.concatenate((self._ids, np.array(ids))), np.concatenate((self._words, words))
        self.last = last

    def nearest(self, query: NDArray[np.float32], depth: int) -> list[int]:
        """The ids, about `depth`, of the vectors of which the fewest signs differ from the query's."""
        if not len(self._ids):
            return []
        signs = np.frombuffer(packed_signs(query[np.newaxis])[0], np.uint64)
        apart = np.bitwise_count(self._words ^ signs).sum(axis=1, dtype=np.uint16)
        return sorted(set(self._ids[_smallest(apart, depth)].tolist()))


def dots(rows: NDArray[np.float32], vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """The product of each row and the vector.

    In this thread: libraries of linear algebra wake others for so little, which then wait for more, at the cost of
    whatever else runs on the machine.
    """
    found: NDArray[np.float32] = np.einsum("ij,j->i", rows, vector)
    return found


def _smallest(values: NDArray[np.uint16], count: int) -> Ints:
    """The places of the `count` smallest values, and of those that equal the largest of them; never of _FAR."""
    near = values[values < _FAR]
    if len(near) <= count:
        return np.flatnonzero(values < _FAR)
    edge = int(np.searchsorted(np.cumsum(np.bincount(near)), count))
    return np.flatnonzero(values <= edge)


def packed_signs(vectors: NDArray[np.float32]) -> list[bytes]:
    """The signs of each vector as bits, in whole 64-bit words."""
    bits = np.packbits(vectors > 0, axis=1)
    return [row.tobytes() for row in np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8)))]
