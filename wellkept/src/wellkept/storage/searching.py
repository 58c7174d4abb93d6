"""What searches and embedding need of the SQLite file: postings, a view of the chunks, vectors, what waits for one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from wellkept.errors import EmbedderMismatch
from wellkept.model import Integrity, Trust
from wellkept.providers import EmbedderId
from wellkept.storage import WANTS_NO_VECTOR, ChunkText, Embedded, Waiting
from wellkept.storage.view import NO_TIME, STATED, Ints, PageEntry, Signs, View, dots, packed_signs

if TYPE_CHECKING:
    from numpy.typing import NDArray

_VIEWS = 8
_PAGES_AT_ONCE = 500
_HANGUL = re.compile("[가-힣]{2}$")

_CHANGED_PAGES = (
    "SELECT id, slug, type, status, ifnull(valid_at, updated_at), trust, flags FROM pages WHERE source = ? AND tick > ?"
)

_CHUNKS_OF_PAGES = """
SELECT c.page_id, c.id, c.ordinal, c.chars, c.turn, c.at, s.signs, c.answer
FROM json_each(?) AS wanted
CROSS JOIN chunks AS c ON c.page_id = wanted.value
LEFT JOIN vector_signs AS s ON s.chunk_id = c.id
ORDER BY c.page_id, c.ordinal
"""

_TEXTS = """
SELECT c.id, p.id, p.title, c.text, p.trust, p.content_origin, p.flags
FROM json_each(?) AS wanted CROSS JOIN chunks AS c ON c.id = wanted.value CROSS JOIN pages AS p ON p.id = c.page_id
"""

_FACT_VECTORS = """
SELECT v.fact_id, v.vector FROM json_each(?) AS wanted
CROSS JOIN fact_vectors AS v ON v.fact_id = wanted.value CROSS JOIN facts AS f ON f.id = v.fact_id
WHERE f.source = ?
"""

_NEW_FACT_SIGNS = """
SELECT s.seq, s.fact_id, s.signs FROM fact_signs AS s CROSS JOIN facts AS f ON f.id = s.fact_id
WHERE s.seq > ? AND f.source = ? ORDER BY s.seq
"""

_COUNTS = """
SELECT sum(have), sum(there) FROM (
  SELECT ifnull(sum(c.embedded), 0) AS have, count(*) AS there
  FROM chunks AS c JOIN pages AS p ON p.id = c.page_id WHERE p.status = 'active' AND c.embedded < ?
  UNION ALL
  SELECT ifnull(sum(embedded), 0), count(*) FROM facts WHERE status = 'active'
)
"""


@dataclass(frozen=True, slots=True)
class _Statements:
    """How vectors of one kind are kept: what waits, what some ids say now, both inserts, what is done after."""

    waiting: str
    there: str
    vectors: str
    signs: str
    after: tuple[str, ...]


# A fact that does not name whom it is about is read with the name.
_FACT_READ = "iif(mention IS NULL OR instr(text, mention), text, mention || ': ' || text)"
_EMBEDDED: Mapping[Embedded, _Statements] = {
    "chunk": _Statements(
        "SELECT c.id, c.text FROM chunks AS c INDEXED BY chunks_to_embed CROSS JOIN pages AS p ON p.id = c.page_id "
        "WHERE c.embedded = 0 AND p.status = 'active' AND c.id > ? ORDER BY c.id LIMIT ?",
        "SELECT c.id, c.text FROM json_each(?) AS wanted JOIN chunks AS c ON c.id = wanted.value",
        "INSERT OR REPLACE INTO vectors SELECT ?, id, ? FROM embedders",
        "INSERT OR REPLACE INTO vector_signs VALUES (?, ?)",
        (
            "UPDATE chunks SET embedded = 1 WHERE id IN (SELECT value FROM json_each(?))",
            # Written as it is, so that its tick rises and searches read it again.
            "UPDATE pages SET title = title WHERE id IN "
            "(SELECT page_id FROM chunks WHERE id IN (SELECT value FROM json_each(?)))",
        ),
    ),
    "fact": _Statements(
        f"SELECT id, {_FACT_READ} FROM facts INDEXED BY facts_to_embed "  # noqa: S608
        "WHERE embedded = 0 AND status = 'active' AND id > ? ORDER BY id LIMIT ?",
        f"SELECT facts.id, {_FACT_READ} FROM json_each(?) AS wanted JOIN facts ON facts.id = wanted.value",  # noqa: S608
        "INSERT OR REPLACE INTO fact_vectors SELECT ?, id, ? FROM embedders",
        "INSERT OR REPLACE INTO fact_signs (fact_id, signs) VALUES (?, ?)",
        ("UPDATE facts SET embedded = 1 WHERE id IN (SELECT value FROM json_each(?))",),
    ),
}

_HOLDING = "SELECT group_concat(rowid) FROM chunks_fts WHERE chunks_fts MATCH ?"
_PLACES = "SELECT group_concat(doc) FROM temp.chunk_words WHERE term = ?"
_PLACES_SINCE = """
SELECT rowid, times_found(chunks_fts) FROM chunks_fts WHERE chunks_fts MATCH ? AND rowid > ? ORDER BY rowid
"""
_COMMON, _COMMON_PLACES = 512, 2_000_000
"""From how many places on a word is common, and how many of all common words are held: 8 bytes each."""


@dataclass(frozen=True, slots=True)
class _Common:
    """Where a common word stood, and the `_word_state` of then."""

    places: Ints
    state: tuple[int, int]


@dataclass(frozen=True, slots=True)
class Access:
    """How a store lets its index at the file: everything goes through its connections, locks and errors."""

    select: Callable[..., list[tuple[Any, ...]]]
    change: Callable[..., list[tuple[Any, ...]]]
    change_many: Callable[..., None]
    transaction: Callable[[], AbstractContextManager[None]]
    reading: Callable[[], AbstractContextManager[None]]
    read_soundly: Callable[[], AbstractContextManager[None]]
    is_writing: Callable[[], bool]
    index_words: Callable[[], None]
    tokens: Callable[[str], list[str]]
    searched: Callable[[str], str]
    verified: Callable[[Iterable[int]], Mapping[int, Integrity]]
    """Which pages are as they were written."""


class SqliteIndex:
    """The SearchIndex of one SqliteStore."""

    def __init__(self, store: Access) -> None:
        self._store = store
        self._views: dict[str, View] = {}
        self._common: dict[str, _Common] = {}
        self._common_places = 0
        self._facts: dict[str, Signs] = {}

    @contextmanager
    def reading(self, source: str) -> Iterator[View]:
        """The live chunks of the source; everything read inside is of one and the same state."""
        with self._store.reading(), self._store.read_soundly():
            if self._store.is_writing():
                self._store.index_words()
                yield self._refreshed(View(), source)
                return
            if source not in self._views and len(self._views) >= _VIEWS:
                self._views.clear()
            yield self._refreshed(self._views.setdefault(source, View()), source)

    def postings(self, words: Sequence[str]) -> list[Ints]:
        """For each word the ids of chunks that hold it, of any source, an id as often as the word stands there."""
        found = []
        for asked in words:
            word = self._store.searched(asked)
            tokens = self._store.tokens(word)
            if len(tokens) == 1 and not _HANGUL.search(word):
                found.append(self._places(tokens[0], word))
            elif tokens:
                # Korean words end in particles, so that a word is found at the start of a longer one.
                phrase = _phrase(word) + ("*" if _HANGUL.search(word) else "")
                found.append(_listed(self._store.select(_HOLDING, (phrase,))))
            else:
                found.append(np.array([], np.int64))
        return found

    def _places(self, token: str, word: str) -> Ints:
        """Where one word stands; of a common one only what was written since it was last asked for is read."""
        if self._store.is_writing():
            return _listed(self._store.select(_PLACES, (token,)))
        state = self._word_state()
        known = self._common.pop(token, None)
        self._common_places -= 0 if known is None else len(known.places)
        if known is None or known.state[0] != state[0]:
            places = _listed(self._store.select(_PLACES, (token,)))
        else:
            places = known.places
            newest = known.state[1]
            newer = self._store.select(_PLACES_SINCE, (_phrase(word), newest)) if newest < state[1] else ()
            if newer:
                ids, counts = np.array(newer, np.int64).T
                places = np.concatenate((places, np.repeat(ids, counts)))
        if len(places) >= _COMMON and state == self._word_state():
            self._keep(token, _Common(places, state))
        return places

    def _word_state(self) -> tuple[int, int]:
        """How often chunks were taken out, and the newest that there is."""
        ((cleared, newest),) = self._store.select("SELECT cleared, (SELECT max(id) FROM chunks) FROM clock")
        return cleared, newest or 0

    def _keep(self, token: str, common: _Common) -> None:
        self._common[token] = common
        self._common_places += len(common.places)
        while self._common_places > _COMMON_PLACES:
            # The one that was not asked for the longest.
            self._common_places -= len(self._common.pop(next(iter(self._common))).places)

    def texts(self, chunks: Sequence[int]) -> Mapping[int, ChunkText]:
        """Title, text and tier of chunks, by id."""
        rows = self._store.select(_TEXTS, (json.dumps(list(chunks)),))
        found = self._store.verified({row[1] for row in rows})
        return {row[0]: _chunk_text(row[2:], found.get(row[1])) for row in rows}

    def forget_views(self) -> None:
        """Read everything anew the next time: for whoever put another file in the place of this one."""
        self._views.clear()
        self._common.clear()
        self._common_places = 0
        self._facts.clear()

    # -- vectors

    def embedder(self) -> EmbedderId | None:
        """Whose vectors the store holds."""
        rows = self._store.select("SELECT model, dimension FROM embedders")
        return EmbedderId(*rows[0]) if rows else None

    def vectors(self, chunks: Sequence[int]) -> tuple[Ints, NDArray[np.float32]]:
        """The ids that have vectors, each as often as it has some, and the vectors."""
        rows = self._store.select(
            "SELECT chunk_id, vector FROM json_each(?) AS wanted CROSS JOIN vectors ON chunk_id = wanted.value",
            (json.dumps(list(chunks)),),
        )
        if not rows:
            return np.array([], np.int64), np.zeros((0, 0), np.float32)
        flat = np.frombuffer(b"".join([row[1] for row in rows]), np.float32).reshape(-1, self._dimension())
        width = flat.itemsize * flat.shape[1]
        counts = [len(row[1]) // width for row in rows]
        return np.repeat(np.array([row[0] for row in rows], np.int64), counts), flat

    def _dimension(self) -> int:
        ((dimension,),) = self._store.select("SELECT dimension FROM embedders")
        return int(dimension)

    def put_vectors(
        self,
        who: EmbedderId,
        ids: Sequence[int],
        vectors: NDArray[np.float32],
        what: Embedded = "chunk",
        texts: Mapping[int, str] | None = None,
    ) -> int:
        """Keep the vectors of what is still there; of how many chunks or facts. EmbedderMismatch for another model's.

        With `texts`, what was read of each, one that says something else now is left out: an id may have come to mean
        another chunk. A chunk or fact stands in a row as often as it has vectors, the first of which is that of all of
        it. Its signs alone say, where there are many, whether it is looked at more closely.
        """
        sql = _EMBEDDED[what]
        with self._store.transaction():
            have = self.embedder()
            if have is None:
                self._store.change("INSERT INTO embedders (model, dimension) VALUES (?, ?)", (who.model, who.dimension))
            elif have != who:
                raise EmbedderMismatch(have.model, have.dimension, who.model, who.dimension)
            now = dict(self._store.change(sql.there, (json.dumps(list(ids)),)))
            there = {one for one, text in now.items() if texts is None or texts.get(one) == text}
            rows = np.ascontiguousarray(vectors, np.float32)
            starts = [place for place, one in enumerate(ids) if place == 0 or ids[place - 1] != one]
            kept = [(start, stop) for start, stop in pairwise([*starts, len(ids)]) if ids[start] in there]
            firsts = packed_signs(rows[[start for start, _ in kept]])
            self._store.change_many(sql.vectors, [(ids[start], rows[start:stop].tobytes()) for start, stop in kept])
            self._store.change_many(
                sql.signs, [(ids[start], signs) for (start, _), signs in zip(kept, firsts, strict=True)]
            )
            given = json.dumps(sorted(there))
            for statement in sql.after:
                self._store.change(statement, (given,))
        return len(kept)

    def waiting(self, after: int, limit: int, what: Embedded = "chunk") -> tuple[Waiting, ...]:
        """The first chunks or facts with an id above `after` that wait for their vector, by id."""
        return tuple(Waiting(*row) for row in self._store.select(_EMBEDDED[what].waiting, (after, limit)))

    def vector_counts(self) -> tuple[int, int]:
        """How many chunks of live pages and active facts have a vector, and how many wait for one."""
        ((have, all_),) = self._store.select(_COUNTS, (WANTS_NO_VECTOR,))
        return have, all_ - have

    def nearest_facts(self, source: str, query: NDArray[np.float32], depth: int) -> list[tuple[float, int]]:
        """The cosines and ids of about `depth` facts of the source that are nearest, active or ended, nearest first."""
        signs = self._fact_signs(source)
        ids = signs.nearest(query, depth)
        rows = self._store.select(_FACT_VECTORS, (json.dumps(ids), source))
        found = []
        for fact, packed in rows:
            cosines = dots(np.frombuffer(packed, np.float32).reshape(-1, len(query)), query)
            cosines[1:] *= STATED
            found.append((float(cosines.max()), int(fact)))
        return sorted(found, key=lambda one: (-one[0], one[1]))

    def _fact_signs(self, source: str) -> Signs:
        """The signs of the facts' vectors, with those that were added since the last look."""
        ((removed,),) = self._store.select("SELECT removed FROM clock")
        known = self._facts.get(source)
        if known is None or known.removed != removed or self._store.is_writing():
            known = Signs(removed)
        rows = self._store.select(_NEW_FACT_SIGNS, (known.last, source))
        if rows:
            known.add([row[1] for row in rows], b"".join(row[2] for row in rows), rows[-1][0])
        if not self._store.is_writing():
            if source not in self._facts and len(self._facts) >= _VIEWS:
                self._facts.clear()
            self._facts[source] = known
        return known

    def drop_vectors(self) -> None:
        """Forget all vectors and whose they were; every chunk and fact waits again."""
        with self._store.transaction():
            for statement in (
                "DELETE FROM vector_signs",
                "DELETE FROM vectors",
                "DELETE FROM fact_signs",
                "DELETE FROM fact_vectors",
                "DELETE FROM embedders",
                "UPDATE chunks SET embedded = 0 WHERE embedded = 1",
                "UPDATE facts SET embedded = 0 WHERE embedded = 1",
                "UPDATE clock SET removed = removed + 1",
            ):
                self._store.change(statement)

    # -- the view

    def _refreshed(self, view: View, source: str) -> View:
        ((tick, removed),) = self._store.select("SELECT tick, removed FROM clock")
        if (tick, removed) == (view.tick, view.removed):
            return view
        if removed != view.removed or tick < view.tick or view.dead > max(view.size // 2, 1000):
            view.empty()
        rows = self._store.select(_CHANGED_PAGES, (source, view.tick))
        live = [
            PageEntry(page, slug, type_, NO_TIME if at is None else at, trust, flags=tuple(flags.split()))
            for page, slug, type_, status, at, trust, flags in rows
            if status == "active"
        ]
        for page_id, _, _, status, *_ in rows:
            if status != "active":
                view.drop(page_id)
        live.sort(key=lambda page: page.id)
        for first in range(0, len(live), _PAGES_AT_ONCE):
            pages = live[first : first + _PAGES_AT_ONCE]
            view.put(pages, self._store.select(_CHUNKS_OF_PAGES, (json.dumps([page.id for page in pages]),)))
        view.tick, view.removed = tick, removed
        return view


def _chunk_text(row: tuple[Any, ...], integrity: Integrity | None) -> ChunkText:
    title, text, trust, origin, flags = row
    tier = int(Trust.EXTERNAL_UNTRUSTED) if integrity == "failed" else trust
    return ChunkText(title, text, tier, origin, flags, integrity)


def _phrase(word: str) -> str:
    return '"' + word.replace('"', '""') + '"'


def _listed(rows: Sequence[tuple[Any, ...]]) -> Ints:
    """The numbers that one row lists."""
    listed = rows[0][0] if rows else None
    return np.fromstring(str(listed), np.int64, sep=",") if listed else np.array([], np.int64)
