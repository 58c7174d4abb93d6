"""The default store: one SQLite file that several threads and processes may use at once."""

from __future__ import annotations

import json
import math
import os
import stat
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast
from urllib.parse import quote

import apsw
import regex  # type: ignore[import-untyped]

from wellkept.errors import InvalidInput, StoreUnavailable
from wellkept.model import (
    CONTENT_ORIGINS,
    FACT_KINDS,
    Change,
    ChangeKind,
    Chunk,
    ContentOrigin,
    Fact,
    FactKind,
    Hit,
    Integrity,
    Item,
    ItemKind,
    Mark,
    Name,
    NameKind,
    NameMatch,
    Openings,
    Page,
    PageRef,
    Provenance,
    Source,
    Stated,
    Statement,
    Status,
    TimelineEntry,
    Told,
    Trust,
    Usage,
    Use,
)
from wellkept.names import fold, norm, opening
from wellkept.sentences import statements
from wellkept.storage import WANTS_NO_VECTOR, Folders, Forgetting, Holding, SearchIndex
from wellkept.storage import sealing as seals
from wellkept.storage.schema import SchemaMismatch, is_current, migrate

_BUSY_MS = 5000
_BODY_START_CHARS = 2000
_LARGEST_LIMIT = 2**31
_INDEXED_AT_ONCE = 256
_KNOWN_NAMES = 200_000
_KNOWN_SOURCES = 16
_REPLY_MICROSECONDS = 2 * 86_400 * 1_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

_OF_WRITERS = frozenset({"journal_mode", "synchronous", "secure_delete"})
_OLD_AND_CLOSED = (
    "it was written by an older wellkept, and may not be written. Allow writing to the file and its folder once"
)

# What each pragma must read back as; WAL does not exist for a database in memory.
_PRAGMAS: tuple[tuple[str, object], ...] = (
    ("busy_timeout", _BUSY_MS),
    ("journal_mode", "wal"),
    ("synchronous", 2),
    ("secure_delete", 1),
    ("foreign_keys", 1),
    ("temp_store", 2),
    ("cache_size", -32_000),
    ("trusted_schema", 0),
)


class _IndexDamaged(Exception):
    """The words of the pages can be found no longer, though the pages are there."""


_REMEDIES: tuple[tuple[type[Exception] | tuple[type[Exception], ...], str], ...] = (
    (
        _IndexDamaged,
        "its word index was damaged, and has been made anew from the pages, which are all there. Ask again",
    ),
    (apsw.NotADBError, "it is not a wellkept database. Choose another path, or move the file away to start empty"),
    (
        (apsw.CorruptError, UnicodeDecodeError),
        "the database is damaged. Restore a copy, or move the file away to start empty",
    ),
    (apsw.ReadOnlyError, "it may not be written. Allow writing to the file and its folder, or choose another path"),
    (apsw.BusyError, f"another process kept it locked for {_BUSY_MS // 1000} s. Try again, or stop that process"),
    (apsw.FullError, "the disk is full. Free some space and try again"),
    (apsw.CantOpenError, "the file cannot be opened. Check that its folder exists and may be written"),
    (apsw.ConnectionClosedError, "it was closed. Open it again"),
)

# Scripts written without spaces: the index sees each of their letters as a word, and a word of them as a phrase.
_UNSPACED = regex.compile(
    r"(?=[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}])\X",
)
_SATURATION, _LENGTH_WEIGHT = 1.2, 0.75
# As the schema says of each index.
_TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2", "categories", "L* M* N* Co"])

_PAGES = """source, slug, title, content, body, type, summary, aliases, status, superseded_by, trust, updated_at,
  created_at, valid_at, content_origin, source_id, url, metadata, flags,
  (SELECT json_group_array(json_array(date, text) ORDER BY ordinal) FROM timeline WHERE page_id = pages.id)
  FROM pages JOIN page_texts ON page_id = pages.id"""

_FACT_COLUMNS = """id, source, text, entity, kind, told_by, told_in, told_slug, event_id, quote_start, quote_end,
  mention, confidence, trust, status, valid_from, valid_until, recorded_at, superseded_by, content_origin,
  expired_at, ended_because, flags, attribute, replaces, told_until"""

_ADD_PAGE = """
INSERT INTO pages (source, slug, title, type, status, trust, superseded_by, updated_at, chunk_count, chunk_chars,
  aliases, summary, created_at, valid_at, content_origin, source_id, url, metadata, flags)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (source, slug) DO NOTHING
RETURNING id
"""

_REPLACE_PAGE = """
UPDATE pages SET title = ?, type = ?, status = ?, trust = ?, superseded_by = ?, updated_at = ?, chunk_count = ?,
  chunk_chars = ?, aliases = ?, summary = ?, created_at = ?, valid_at = ?, content_origin = ?, source_id = ?, url = ?,
  metadata = ?, flags = ?
WHERE source = ? AND slug = ?
"""

_FIND_NAMES = """
SELECT DISTINCT n.key, p.source, p.slug, p.title, p.type, p.summary, t.body_start, p.trust,
  p.content_origin, p.flags, iif(instr(lower(substr(t.content, 1, 8000)), 'status:'), substr(t.content, 1, 8000), '')
FROM json_each(?) AS wanted
CROSS JOIN names AS n ON n.source = ? AND n.kind = ? AND n.key = wanted.value
CROSS JOIN pages AS named ON named.id = n.page_id
CROSS JOIN pages AS p ON p.source = named.source
  AND p.slug = iif(named.status = 'superseded', coalesce(named.superseded_by, named.slug), named.slug)
CROSS JOIN page_texts AS t ON t.page_id = p.id
WHERE p.status = 'active' AND p.type <> 'conversation'
ORDER BY n.key, p.slug
"""

_PAGE_REFS = """
SELECT p.source, p.slug, p.title, p.type, p.summary, t.body_start, p.trust,
  p.content_origin, p.flags, iif(instr(lower(substr(t.content, 1, 8000)), 'status:'), substr(t.content, 1, 8000), '')
FROM json_each(?) AS wanted
CROSS JOIN pages AS p ON p.source = ? AND p.slug = wanted.value
CROSS JOIN page_texts AS t ON t.page_id = p.id
WHERE p.status = 'active' AND p.type <> 'conversation'
ORDER BY p.slug
"""

_PAGES_HOLDING = """
SELECT DISTINCT p.slug
FROM written_fts
CROSS JOIN chunks AS c ON c.id = written_fts.rowid
CROSS JOIN pages AS p ON p.id = c.page_id
WHERE written_fts MATCH ? AND p.source = ? AND p.trust >= ? AND p.status = 'active' AND p.type <> 'conversation'
LIMIT ?
"""

_INDEX_CHUNKS = """
INSERT INTO chunks_fts (rowid, text) SELECT s.id, s.text FROM json_each(?) AS wanted
CROSS JOIN chunks AS c ON c.page_id = wanted.value CROSS JOIN chunks_searched AS s ON s.id = c.id
"""

_INDEX_WRITTEN = """
INSERT INTO written_fts (rowid, text) SELECT s.id, s.text FROM json_each(?) AS wanted
CROSS JOIN pages AS p ON p.id = wanted.value AND p.type <> 'conversation'
CROSS JOIN chunks AS c ON c.page_id = p.id CROSS JOIN chunks_searched AS s ON s.id = c.id
"""

# An index keeps no text of its own: it forgets a chunk only while the chunk can still be read.
_UNINDEX_CHUNKS = """
INSERT INTO chunks_fts (chunks_fts, rowid, text) SELECT 'delete', s.id, s.text
FROM chunks AS c JOIN chunks_searched AS s ON s.id = c.id WHERE c.page_id = ?
"""

_UNINDEX_WRITTEN = """
INSERT INTO written_fts (written_fts, rowid, text) SELECT 'delete', s.id, s.text
FROM pages AS p JOIN chunks AS c ON c.page_id = p.id JOIN chunks_searched AS s ON s.id = c.id
WHERE p.id = ? AND p.type <> 'conversation'
"""

_INDEX_STATEMENTS = """
INSERT INTO statements_fts (rowid, said) SELECT id, said(text, NULL, NULL) FROM statements WHERE page_id = ?
"""

_UNINDEX_STATEMENTS = "DELETE FROM statements_fts WHERE rowid IN (SELECT id FROM statements WHERE page_id = ?)"

_PAGES_TOLD = """
SELECT DISTINCT p.slug
FROM facts_fts
CROSS JOIN facts AS f ON f.id = facts_fts.rowid
CROSS JOIN pages AS p ON p.source = f.source AND p.slug = f.entity
WHERE facts_fts MATCH ?1 AND f.source = ?2 AND f.status = 'active' AND f.trust >= ?3
  AND f.valid_until IS NULL
  AND p.trust >= ?3 AND p.status = 'active' AND p.type <> 'conversation'
LIMIT ?4
"""

# Newest first is highest first: a page is put anew when more is said in its conversation.
_STATING = """
SELECT s.id
FROM statements_fts
CROSS JOIN statements AS s INDEXED BY statements_placed ON s.id = statements_fts.rowid
CROSS JOIN pages AS p INDEXED BY pages_in_reach ON p.id = s.page_id
WHERE statements_fts MATCH ? AND s.source = ? AND p.status = 'active' AND p.trust >= ?
ORDER BY statements_fts.rowid DESC LIMIT ?
"""

_STATEMENT = "s.source, p.slug, s.turn, s.text, coalesce(s.at, p.updated_at), p.trust, s.id, p.content_origin, p.flags"

_STATEMENTS = f"""
SELECT {_STATEMENT}
FROM json_each(?) AS wanted
CROSS JOIN statements AS s ON s.id = wanted.value
CROSS JOIN pages AS p ON p.id = s.page_id
WHERE s.source = ? AND p.status = 'active' AND p.trust > 0
ORDER BY s.id
"""  # noqa: S608

_NEWEST_STATEMENTS = f"""
SELECT {_STATEMENT}
FROM statements AS s INDEXED BY statements_by_age CROSS JOIN pages AS p ON p.id = s.page_id
WHERE s.source = ? AND s.at >= ? AND p.status = 'active' AND p.trust > 0
ORDER BY s.at DESC, s.id DESC LIMIT ?
"""  # noqa: S608

_FACTS_ABOUT = """
SELECT id, text FROM facts WHERE source = ? AND status = 'active' AND entity = ? AND trust > 0 AND valid_until IS NULL
ORDER BY id DESC LIMIT ?
"""

_MATCHING_CHUNKS = """
SELECT asked.key, c.id, p.slug, c.ordinal, c.chars, times_found(chunks_fts)
FROM json_each(?) AS asked
CROSS JOIN chunks_fts
CROSS JOIN chunks AS c ON c.id = chunks_fts.rowid
CROSS JOIN pages AS p ON p.id = c.page_id
WHERE chunks_fts MATCH asked.value AND p.source = ? AND p.status = 'active'
"""

_COUNTS: Mapping[str, str] = {
    "pages": "SELECT count(*) FROM pages WHERE source = ? AND status = 'active' AND type <> 'conversation'",
    "statements": "SELECT count(*) FROM statements WHERE source = ?",
}

_REBUILD_INDEXES = (
    "INSERT INTO chunks_fts (chunks_fts) VALUES ('rebuild')",
    "INSERT INTO written_fts (written_fts) VALUES ('rebuild')",
    "INSERT INTO facts_fts (facts_fts) VALUES ('rebuild')",
    "INSERT INTO statements_fts (statements_fts) VALUES ('rebuild')",
)
_VOCABULARY = "CREATE VIRTUAL TABLE temp.chunk_words USING fts5vocab('main', 'chunks_fts', 'instance')"

_SOURCE_SIZE = """
SELECT ifnull(sum(chunk_count), 0), ifnull(sum(chunk_chars), 0) FROM pages WHERE source = ? AND status = 'active'
"""

_CHUNK_TEXTS = """
SELECT c.id, p.title, c.text, p.trust, p.content_origin, p.flags
FROM json_each(?) AS wanted JOIN chunks AS c ON c.id = wanted.value JOIN pages AS p ON p.id = c.page_id
"""

_SAME_FACT = """
SELECT id, trust, status, ended_because, text FROM facts
WHERE source = ?1 AND ifnull(session_page, '') = ifnull(?2, '') AND text_hash = ?3
  AND ifnull(entity, '') = ifnull(?4, '') AND (status = 'active' OR ?2 IS NOT NULL)
ORDER BY status = 'active' DESC, id DESC
LIMIT 1
"""

# What is written without spaces, or takes its endings, is looked for as it is, wherever it stands.
_FACTS_SAYING = f"""
WITH saying AS (
  SELECT fact, count(*) AS held FROM (
    SELECT facts_fts.rowid AS fact FROM json_each(?) AS word CROSS JOIN facts_fts WHERE facts_fts MATCH word.value
    UNION ALL
    SELECT f.rowid FROM json_each(?) AS word CROSS JOIN facts_fts AS f WHERE instr(f.said, word.value)
  ) GROUP BY fact
)
SELECT held, {_FACT_COLUMNS} FROM saying CROSS JOIN facts ON id = fact WHERE source = ?
"""  # noqa: S608

_ADD_FACT = """
INSERT INTO facts (text, mention, kind, confidence, trust, valid_from, valid_until, told_by, told_in, told_slug,
  event_id, quote_start, quote_end, content_origin, flags, source, session_page, text_hash, entity, status, recorded_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'active', ?)
RETURNING id
"""

_ADD_FACT_AS = """
INSERT INTO facts (text, mention, kind, confidence, trust, valid_from, valid_until, told_by, told_in, told_slug,
  event_id, quote_start, quote_end, content_origin, flags, source, session_page, text_hash, entity, recorded_at,
  id, status, attribute, replaces, told_until)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
RETURNING id
"""

# One that is active now counts as the same whenever it was recorded, where there is only one of those.
_FACT_AS_TOLD = """
SELECT id FROM facts
WHERE source = ?1 AND ifnull(session_page, '') = ifnull(?2, '') AND text_hash = ?3
  AND ifnull(entity, '') = ifnull(?4, '') AND attribute IS ?6
  AND ((recorded_at IS ?5 AND (attribute IS NULL OR valid_from IS ?7))
    OR (status = 'active' AND attribute IS NULL AND valid_until IS NULL))
ORDER BY recorded_at IS ?5 DESC, id
LIMIT 1
"""

_RETELL_FACT = """
UPDATE facts SET text = ?, mention = ?, kind = ?, confidence = ?, trust = ?, valid_from = ?, valid_until = ?,
  told_by = ?, told_in = ?, told_slug = ?, event_id = ?, quote_start = ?, quote_end = ?, content_origin = ?,
  flags = ?
WHERE id = ?
"""

_EXPIRE_FACTS = """
UPDATE facts SET status = 'expired', expired_at = ?
WHERE source = ? AND session_page = ? AND status = 'active' AND trust <= ?
  AND id NOT IN (SELECT value FROM json_each(?))
RETURNING id, trust
"""

_LOG = """
INSERT INTO journal (source, kind, item, change, because, trust, at, before, actor) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""

_OLD_PAGE = """
SELECT id, trust, iif(type = 'conversation', NULL, content) FROM pages JOIN page_texts ON page_id = pages.id
WHERE source = ? AND slug = ?
"""

_MARK_PAGE = """
UPDATE pages SET status = coalesce(?, status), trust = coalesce(?, trust), superseded_by = ?
WHERE source = ? AND slug = ?
RETURNING trust
"""

# `?8` is from when on it is so no longer; what was said of that before is kept, and comes back with the fact.
_MARK_FACT = """
UPDATE facts SET status = coalesce(?1, status), trust = coalesce(?2, trust),
  superseded_by = iif(?1 IS NULL AND ?8 IS NULL, superseded_by, ?3),
  expired_at = CASE WHEN ?1 IS NULL AND ?8 IS NULL THEN expired_at WHEN ?1 = 'active' THEN NULL ELSE ?4 END,
  ended_because = CASE WHEN ?1 IS NULL AND ?8 IS NULL THEN ended_because WHEN ?1 = 'active' THEN NULL ELSE ?5 END,
  told_until = CASE WHEN ?1 = 'active' THEN NULL WHEN (?1 IS NULL AND ?8 IS NULL) OR expired_at IS NOT NULL
    THEN told_until ELSE valid_until END,
  valid_until = CASE WHEN ?1 = 'active' AND expired_at IS NOT NULL THEN told_until ELSE coalesce(?8, valid_until) END,
  recorded_at = iif(?1 = 'active' AND status = 'pending', ?4, recorded_at)
WHERE source = ?6 AND id = ?7 AND (?1 IS NOT 'active' OR NOT EXISTS (
  SELECT 1 FROM facts AS other WHERE other.source = facts.source AND other.text_hash = facts.text_hash
    AND ifnull(other.session_page, '') = ifnull(facts.session_page, '') AND other.attribute IS facts.attribute
    AND ifnull(other.entity, '') = ifnull(facts.entity, '') AND other.status = 'active' AND other.id <> facts.id
    AND other.valid_until IS NULL))
RETURNING trust
"""

_FACTS_TOLD = f"""
SELECT {_FACT_COLUMNS} FROM facts
WHERE source = ? AND text_hash IN (SELECT unhex(value) FROM json_each(?)) ORDER BY id
"""  # noqa: S608

_USAGE = """
SELECT ifnull(sum(signal = 'citation'), 0), ifnull(sum(signal = 'misled'), 0), max(iif(signal = 'citation', at, NULL))
FROM uses WHERE source = ? AND kind = ? AND item = ?
"""

_EMPTY_EVERYTHING = (
    "INSERT INTO chunks_fts (chunks_fts) VALUES ('delete-all')",
    "INSERT INTO written_fts (written_fts) VALUES ('delete-all')",
    "DELETE FROM facts_fts",
    "DELETE FROM statements_fts",
    "DELETE FROM chunks",  # and their vectors
    "DELETE FROM fact_vectors",
    "DELETE FROM embedders",
    "DELETE FROM pages",  # and their names, texts, timelines and what was stated there
    "DELETE FROM facts",
    "DELETE FROM journal",
    "DELETE FROM uses",
    "DELETE FROM replies",
    "DELETE FROM trust_key",
    "DELETE FROM tombstones",
    "DELETE FROM sources",  # and purges of theirs
    "DELETE FROM sqlite_sequence WHERE name IN ('facts', 'journal')",
)

_Verified = TypeVar("_Verified", Page, Fact, Hit, PageRef)
_Row = tuple[Any, ...]
_Value = None | int | float | str | bytes
_Values = tuple[_Value, ...]


@dataclass(slots=True)
class _Known:
    """The names of one source in one state of the database: how many keys were asked for, and all that there are."""

    state: tuple[int, int]
    asked: int = 0
    due: int = 0
    names: _Names | None = None


@dataclass(frozen=True, slots=True)
class _Names:
    """All names of a source: their keys by kind, and the openings that were asked for."""

    keys: Mapping[str, frozenset[str]]
    openings: dict[tuple[NameKind, ...], frozenset[str]]

    def openings_of(self, kinds: tuple[NameKind, ...]) -> frozenset[str]:
        """How the keys of these kinds begin that go on after their first letters."""
        found = self.openings.get(kinds)
        if found is None:
            longer = (key for kind in kinds for key in self.keys.get(kind, ()) if not key.isalnum())
            found = self.openings[kinds] = frozenset(map(opening, longer))
        return found


class SqliteStore:
    """A Store in one file, or in memory for ":memory:".

    Writes of one process take turns and are on the disk when they return; reads go on beside them and see what
    is committed, or, inside a transaction, what it wrote itself. Raises StoreUnavailable when the file cannot
    be used and InvalidInput for a value that no text column can hold. A file that may not be written is `read_only`:
    it is read as it is, and every write is refused.
    """

    def __init__(self, path: Path | str) -> None:
        self._path = str(path)
        self._writes = threading.RLock()
        self._depth = 0
        self._owner: int | None = None
        self._unindexed: tuple[int, ...] = ()
        self._index_is_damaged = False
        self._names_written = 0
        self._known: dict[str, _Known] = {}
        self._counted: dict[tuple[str, str], tuple[tuple[int, int], int]] = {}
        self._written = 0
        self._guarded_in: int | None = None
        self._sealing = seals.SqliteSealing(
            seals.Access(
                select=self._select,
                change=self._change,
                change_many=self._change_many,
                transaction=self.transaction,
                reading=self._reading,
                state=lambda: (self._state(), self._written),
                is_writing=lambda: self._owner == threading.get_ident(),
                refused=lambda why: StoreUnavailable(self._path, why),
            )
        )
        self.read_only = False
        in_memory = self._path == ":memory:"
        if not in_memory:
            _check_file(self._path)
        self._writer = self._open(in_memory)
        try:
            self._bring_up_to_date()
            self._reader = self._writer if in_memory else self._open(in_memory)
            for connection in {self._writer, self._reader}:
                self._run(connection, _VOCABULARY)
        except BaseException:
            self._writer.close()
            raise
        self._reads = self._writes if in_memory else threading.RLock()
        self._search: SearchIndex | None = None

    @property
    def index(self) -> SearchIndex:
        """What searches read."""
        if self._search is None:
            # Here, as the prompt hook's daemon need not load what only searches use.
            from wellkept.storage.searching import Access, SqliteIndex

            self._search = SqliteIndex(
                Access(
                    select=self._select,
                    change=self._change,
                    change_many=self._change_many,
                    transaction=self.transaction,
                    reading=self._reading,
                    read_soundly=self._read_soundly,
                    is_writing=lambda: self._owner == threading.get_ident(),
                    index_words=self._index,
                    tokens=self._tokens,
                    searched=lambda text: _searched(text) or text,
                    verified=self._sealing.of_pages,
                )
            )
        return self._search

    @property
    def forgetting(self) -> Forgetting:
        """What forgetting for good needs."""
        # Here, as it is seldom needed.
        from wellkept.storage.forgetting import Access, SqliteForgetting

        return SqliteForgetting(
            Access(
                select=self._select,
                change=self._change,
                each=self._each,
                clear_page=self._clear_page,
                outside=self._outside,
                image=self._image,
                microseconds=lambda at: cast(int, _moment("at", at)),
            )
        )

    @property
    def sealing(self) -> seals.SqliteSealing:
        """What tells whether rows were changed from outside."""
        return self._sealing

    @property
    def holding(self) -> Holding:
        """What is held back, and how strict the gate is."""
        from wellkept.storage.holding import Access, SqliteHolding

        return SqliteHolding(
            Access(select=self._select, change=self._change, microseconds=lambda at: cast(int, _moment("at", at)))
        )

    @property
    def folders(self) -> Folders:
        """The folders of notes that are bound to sources."""
        from wellkept.storage.folders import Access, SqliteFolders

        return SqliteFolders(
            Access(
                select=self._select,
                change=self._change,
                microseconds=lambda at: cast(int, _moment("at", at)),
                moment=lambda at: _EPOCH + at * _MICROSECOND,
                phrases=_phrases,
                index_words=lambda: self._index() if self._owner == threading.get_ident() else None,
            )
        )

    # -- transactions

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All writes inside are kept or none is. Nests; the outermost one commits, durably, on leaving."""
        if self.read_only:
            raise self._unavailable(apsw.ReadOnlyError())
        with self._writes:
            begin, commit, rollback = _steps(self._depth)
            self._run(self._writer, begin)
            self._depth, self._owner = self._depth + 1, threading.get_ident()
            unindexed = self._unindexed
            sealed = None
            try:
                self._guard_again()
                yield
                if self._depth == 1:
                    self._index()
                    sealed = self._sealing.seal_touched()
                self._run(self._writer, commit)
                if self._guarded_in is not None:
                    self._guarded_in = self._writer.data_version()
            except BaseException:
                self._undo(rollback)
                self._unindexed = unindexed
                if self._depth == 1:
                    self._sealing.touched.forget()
                raise
            finally:
                self._depth -= 1
                if not self._depth:
                    self._owner = None
                    self._written += 1
                    self._mend_index()
            if sealed is not None:
                self._sealing.saw(sealed)

    def _guard_again(self) -> None:
        """Make the triggers anew that somebody took away: what is written without them would be sealed by nobody."""
        if self._depth > 1 or self._guarded_in is None:
            return
        if self._writer.data_version() != self._guarded_in and not seals.guarded(self._writer):
            seals.guard(self._writer)

    def _permit(self, table: str, *touched: _Value) -> int:
        """Whether a row may be written: 1 while this store writes, which then knows what was touched."""
        if not self._depth:
            return 0
        self._sealing.touched.note(table, touched)
        return 1

    def _undo(self, rollback: tuple[str, ...]) -> None:
        # SQLite ends the transaction itself on a full disk or a damaged file; then there is nothing left to undo.
        try:
            if self._writer.in_transaction:
                for statement in rollback:
                    self._run(self._writer, statement)
        except StoreUnavailable:
            if self._depth == 1:
                self._writer.close()

    def _mend_index(self) -> None:
        """Make the word indexes anew where one was found damaged: all that they hold follows from chunks and facts."""
        if self._index_is_damaged:
            self._index_is_damaged = False
            with self.transaction():
                for statement in _REBUILD_INDEXES:
                    self._change(statement)

    # -- sources

    def add_source(self, source: Source) -> None:
        """Make sure the source exists. Known already: its owner stays as it was."""
        _check_text("source", source.id)
        with self.transaction() if self._owner != threading.get_ident() else nullcontext():
            self._change("INSERT INTO sources VALUES (?, ?) ON CONFLICT DO NOTHING", (source.id, source.owner))

    def sources(self) -> tuple[Source, ...]:
        """All sources, by id."""
        rows = self._select("SELECT id, owner FROM sources ORDER BY id")
        return tuple(Source(source, owner) for source, owner in rows)

    # -- pages

    def put_page(
        self,
        page: Page,
        chunks: Sequence[Chunk],
        names: Sequence[Name],
        statements: Sequence[Statement] = (),
        by: str | None = None,
    ) -> None:
        """Create or replace the page with its chunks, names, aliases, timeline and what is stated there.

        An unknown source is added.
        """
        _check_page(page, chunks, names)
        for position, statement in enumerate(statements):
            _check_text(f"statements[{position}].text", statement.text)
        values: _Values = (
            page.source,
            page.slug,
            page.title,
            page.type,
            page.status,
            int(page.trust),
            page.superseded_by,
            _moment("updated_at", page.updated_at),
            len(chunks),
            sum(len(chunk.lead) + len(chunk.text) + bool(chunk.lead) for chunk in chunks),
            json.dumps(page.aliases, ensure_ascii=False),
            page.summary,
            _moment("created_at", page.created_at),
            *_page_told(page.told),
            " ".join(page.flags),
        )
        with self.transaction():
            self._names_written += 1
            self.add_source(Source(page.source))
            before: list[_Value] = []
            new = self._change(_ADD_PAGE, values)
            if new:
                ((page_id,),) = new
            else:
                ((page_id, *before),) = self._change(_OLD_PAGE, (page.source, page.slug))
                # While the page still is of the type under which it was indexed.
                self._clear_page(page_id)
                self._change(_REPLACE_PAGE, (*values[2:], *values[:2]))
            self._fill_page(page_id, page, chunks, names)
            self._put_statements(page_id, page.source, statements)
            old = before[1] if before else None
            same = before == [int(page.trust), page.content]
            if not same:
                self._log(page, "updated" if before else "created", old, by)

    def _log(self, page: Page, change: ChangeKind, before: _Value, by: str | None) -> None:
        at = _moment("updated_at", page.updated_at)
        self._change(_LOG, (page.source, "page", page.slug, change, "", int(page.trust), at, before, by))

    def _index(self) -> None:
        """Let words be found in the pages put since; at once, as the index writes a piece of itself each time."""
        if self._unindexed:
            pages, self._unindexed = json.dumps(self._unindexed), ()
            for statement in (_INDEX_CHUNKS, _INDEX_WRITTEN):
                self._change(statement, (pages,))

    def _clear_page(self, page_id: int) -> None:
        if page_id in self._unindexed:
            self._index()
        for statement in (_UNINDEX_CHUNKS, _UNINDEX_WRITTEN):
            self._change(statement, (page_id,))
        self._change(
            "DELETE FROM statements_fts WHERE rowid IN (SELECT id FROM statements WHERE page_id = ?)", (page_id,)
        )
        for table in ("page_texts", "chunks", "names", "timeline", "statements"):
            self._change(f"DELETE FROM {table} WHERE page_id = ?", (page_id,))  # noqa: S608

    def _fill_page(self, page_id: int, page: Page, chunks: Sequence[Chunk], names: Sequence[Name]) -> None:
        texts = (page_id, page.body[:_BODY_START_CHARS], page.body, page.content)
        self._change("INSERT INTO page_texts VALUES (?, ?, ?, ?)", texts)
        self._change_many(
            "INSERT INTO chunks (page_id, ordinal, chars, text, searched, turn, at, answer, embedded) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [_chunk_row(page_id, chunk) for chunk in chunks],
        )
        self._unindexed += (page_id,)
        if len(self._unindexed) >= _INDEXED_AT_ONCE:
            self._index()
        self._change_many(
            "INSERT INTO names (source, kind, key, page_id) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            [(page.source, name.kind, name.key, page_id) for name in names],
        )
        self._change_many(
            "INSERT INTO timeline (page_id, ordinal, date, text) VALUES (?, ?, ?, ?)",
            [(page_id, ordinal, entry.date, entry.text) for ordinal, entry in enumerate(page.timeline)],
        )

    def _put_statements(self, page_id: int, source: str, statements: Sequence[Statement]) -> None:
        if statements:
            self._change_many(
                "INSERT INTO statements (source, page_id, turn, at, text) VALUES (?, ?, ?, ?, ?)",
                [(source, page_id, one.turn, _moment("statements.at", one.at), one.text) for one in statements],
            )
            self._change(_INDEX_STATEMENTS, (page_id,))

    def get_page(self, source: str, slug: str) -> Page | None:
        """The page whatever its status, or None."""
        if not (_is_storable(source) and _is_storable(slug)):
            return None
        rows = self._select(f"SELECT {_PAGES} WHERE source = ? AND slug = ?", (source, slug))
        with self._read_soundly():
            return self._verified_pages([_page(rows[0])])[0] if rows else None

    def pages(self, source: str, limit: int) -> tuple[Page, ...]:
        """The first `limit` live pages by slug (code point order); conversation pages are left out."""
        if not _is_storable(source):
            return ()
        rows = self._select(
            f"SELECT {_PAGES} WHERE source = ? AND status = 'active' AND type <> 'conversation' ORDER BY slug LIMIT ?",
            (source, _at_most(limit)),
        )
        with self._read_soundly():
            return self._verified_pages([_page(row) for row in rows])

    def every_page(self, source: str, after: str, limit: int) -> tuple[Page, ...]:
        """The first `limit` pages with a slug beyond `after`, by slug, whatever their type and status."""
        if not (_is_storable(source) and _is_storable(after)):
            return ()
        rows = self._select(
            f"SELECT {_PAGES} WHERE source = ? AND slug > ? ORDER BY slug LIMIT ?", (source, after, _at_most(limit))
        )
        with self._read_soundly():
            return self._verified_pages([_page(row) for row in rows])

    def _verified_pages(self, pages: Sequence[Page]) -> tuple[Page, ...]:
        """The pages, each with whether it is as it was written; all are of one source."""
        found = self._sealing.of_slugs(pages[0].source, [page.slug for page in pages]) if pages else {}
        return tuple(_as_verified(page, found.get(page.slug)) for page in pages)

    def _verified_statements(self, statements: Sequence[Statement]) -> tuple[Statement, ...]:
        """Those of pages that are as they were written."""
        found = self._sealing.of_slugs(statements[0].source, [one.slug for one in statements]) if statements else {}
        return tuple(one for one in statements if found.get(one.slug) != "failed")

    # -- looking up

    def find_names(self, source: str, kind: NameKind, keys: Iterable[str]) -> tuple[NameMatch, ...]:
        """Live pages known under any of the keys, ordered by (key, slug). A page is live when active.

        The names of a superseded page are those of the page that took its place.
        """
        wanted = dict.fromkeys(keys)
        if not wanted or not _is_storable(source):
            return ()
        state = self._state()
        known = self._known_keys(source, kind, state, len(wanted))
        if known is not None and known.isdisjoint(wanted):
            return ()
        rows = self._rows_of_names(source, kind, wanted if known is None else known.intersection(wanted))
        if known is not None and self._state() != state:
            rows = self._rows_of_names(source, kind, wanted)
        with self._read_soundly():
            return tuple(NameMatch(row[0], _page_ref(row[1:])) for row in rows)

    def _rows_of_names(self, source: str, kind: NameKind, keys: Iterable[str]) -> list[_Row]:
        wanted = [key for key in keys if _is_storable(key)]
        return self._select(_FIND_NAMES, (json.dumps(wanted, ensure_ascii=False), source, kind)) if wanted else []

    def _state(self) -> tuple[int, int]:
        """Differs whenever a name may have come or gone since, by whomever."""
        ((version,),) = self._select("PRAGMA data_version")
        return version, self._names_written

    def name_openings(self, source: str, kinds: Sequence[NameKind], asked: int) -> frozenset[str] | None:
        """The `opening` of each such name of the source that goes on after it, or None where they are not at hand.

        `asked` is how many names would have to be looked up without knowing: it tells whether to read them all.
        """
        if not _is_storable(source):
            return frozenset()
        known = self._all_known(source, self._state(), 0, coming=asked)
        return None if known is None else known.openings_of(tuple(kinds))

    def _known_keys(self, source: str, kind: NameKind, state: tuple[int, int], asked: int) -> frozenset[str] | None:
        """Every key of that kind in a state, or None where they have not been read: most of what is asked is none."""
        known = self._all_known(source, state, asked)
        return None if known is None else known.keys.get(kind, frozenset())

    def _all_known(self, source: str, state: tuple[int, int], asked: int, coming: int = 0) -> _Names | None:
        """All names of a source are read once as many keys were asked for, and held unless they are very many.

        Those `coming` are about to be asked for, and are counted then.
        """
        if self._owner == threading.get_ident():
            return None
        known = self._known.get(source)
        if known is None or known.state != state:
            if len(self._known) >= _KNOWN_SOURCES:
                self._known.clear()
            known = self._known[source] = _Known(state)
        # Other threads ask too: what decides whether all were read must be what the query was limited by.
        known.asked = asked = known.asked + asked
        most = asked + coming
        if known.names is None and known.due <= most <= _KNOWN_NAMES:
            known.due = 4 * most
            rows = self._select("SELECT kind, key FROM names WHERE source = ? LIMIT ?", (source, most + 1))
            if len(rows) <= most:
                known.names = _Names(_by_kind(rows), {})
        return known.names

    def find_words(self, source: str, words: Sequence[str], limit: int) -> tuple[Hit, ...]:
        """Best chunks of live pages holding any of the words (BM25, best first, ties by slug and ordinal).

        Only the source's own live pages count in the statistics, so no other source can change an order.
        A word of several parts ("follow-up", or one in a script without spaces) is looked for as a phrase.
        """
        phrases = _phrases(words)
        if not phrases or not _at_most(limit) or not _is_storable(source):
            return ()
        if self._owner == threading.get_ident():
            self._index()
        with self._reading(), self._read_soundly():
            matches = self._select(_MATCHING_CHUNKS, (json.dumps(phrases, ensure_ascii=False), source))
            ((chunks, chars),) = self._select(_SOURCE_SIZE, (source,))
            best = _ranked(matches, chunks, chars)[:limit]
            ids = json.dumps([chunk_id for _, _, _, chunk_id in best])
            texts = {row[0]: row[1:] for row in self._select(_CHUNK_TEXTS, (ids,))}
            hits = []
            for rank, (worse, slug, _, chunk_id) in enumerate(best, start=1):
                title, text, trust, origin, flags = texts[chunk_id]
                told = {"content_origin": origin, "flags": tuple(flags.split())}
                hits.append(Hit(source, slug, title, text, -worse, rank, Trust(trust), **told))
            found = self._sealing.of_slugs(source, [hit.slug for hit in hits])
        return tuple(_as_verified(hit, found.get(hit.slug)) for hit in hits)

    def find_beginnings(
        self, source: str, beginnings: Iterable[str], most: int, *, least: Trust = Trust.AGENT_WRITTEN
    ) -> Openings:
        """For each beginning of a word the live pages that hold such a word, or of which an active fact holds it.

        At most `most` of either; conversations are left out, and what is of a lower tier. What is in a script
        without spaces is looked for as it is. The index knows English words by their stems.
        """
        asked = [beginning for beginning in dict.fromkeys(beginnings) if _is_storable(beginning)]
        if not asked or not _is_storable(source):
            return Openings(0, {})
        if self._owner == threading.get_ident():
            self._index()
        with self._reading(), self._read_soundly():
            pages = self._count("pages", source)
            holding = {
                beginning: frozenset(
                    slug
                    for sql in (_PAGES_HOLDING, _PAGES_TOLD)
                    for (slug,) in self._select(sql, (phrase, source, int(least), _at_most(most)))
                )
                for beginning in asked
                for phrase in [_beginning(beginning)]
                if phrase
            }
        return Openings(pages, holding)

    def _count(self, what: str, source: str) -> int:
        """How many live pages, or statements, the source has; counted again only when something was written."""
        state = None if self._owner == threading.get_ident() else self._state()
        state_then, count = self._counted.get((what, source), (None, 0))
        if state is None or state_then != state:
            ((count,),) = self._select(_COUNTS[what], (source,))
            if len(self._counted) >= 2 * _KNOWN_SOURCES:
                self._counted.clear()
            if state is not None:
                self._counted[what, source] = state, count
        return count

    def page_refs(self, source: str, slugs: Iterable[str]) -> tuple[PageRef, ...]:
        """What a pointer needs to know of the live pages of these slugs, by slug; conversations left out."""
        wanted = [slug for slug in dict.fromkeys(slugs) if _is_storable(slug)]
        if not wanted or not _is_storable(source):
            return ()
        rows = self._select(_PAGE_REFS, (json.dumps(wanted, ensure_ascii=False), source))
        with self._read_soundly():
            refs = [_page_ref(row) for row in rows]
        found = self._sealing.of_slugs(source, [ref.slug for ref in refs])
        return tuple(_as_verified(ref, found.get(ref.slug)) for ref in refs)

    def told_of(self, source: str, slug: str, limit: int) -> tuple[str, ...]:
        """What the newest active facts about a page say, but for those from outside and those that have an end."""
        if not _is_storable(source) or not _is_storable(slug):
            return ()
        rows = self._select(_FACTS_ABOUT, (source, slug, _at_most(limit)))
        with self._read_soundly():
            found = self._sealing.of_facts([number for number, _ in rows])
            return tuple(str(text) for number, text in rows if found.get(number) != "failed")

    # -- what was stated

    def find_statements(
        self, source: str, beginnings: Iterable[str], most: int, *, least: Trust = Trust.AGENT_WRITTEN
    ) -> Stated:
        """For each beginning of a word the newest `most` statements of live pages that hold such a word."""
        asked = [beginning for beginning in dict.fromkeys(beginnings) if _is_storable(beginning)]
        if not asked or not _is_storable(source):
            return Stated(0, {})
        with self._reading(), self._read_soundly():
            if not (total := self._count("statements", source)):
                return Stated(0, {})
            holding = {
                beginning: frozenset(
                    number for (number,) in self._select(_STATING, (phrase, source, int(least), _at_most(most)))
                )
                for beginning in asked
                for phrase in [_beginning(beginning)]
                if phrase
            }
        return Stated(total, holding)

    def statements(self, source: str, numbers: Iterable[int]) -> tuple[Statement, ...]:
        """The statements of live pages with these numbers, by number."""
        wanted = json.dumps(list(dict.fromkeys(numbers)))
        if not _is_storable(source):
            return ()
        rows = self._select(_STATEMENTS, (wanted, source))
        with self._read_soundly():
            return self._verified_statements([_statement(row) for row in rows])

    def newest_statements(self, source: str, since: datetime, limit: int) -> tuple[Statement, ...]:
        """The newest `limit` statements of live pages made at or after a moment, newest first; none from outside."""
        if not _is_storable(source):
            return ()
        rows = self._select(_NEWEST_STATEMENTS, (source, _moment("since", since), _at_most(limit)))
        with self._read_soundly():
            return self._verified_statements([_statement(row) for row in rows])

    # -- facts

    def put_facts(
        self,
        source: str,
        session_page: str | None,
        facts: Sequence[Fact],
        now: datetime,
        by: str | None = None,
        *,
        cap: Trust = Trust.USER_CONFIRMED,
    ) -> tuple[int, ...]:
        """Make `facts` the active facts of `session_page`; ids in the order given.

        A fact equal to a stored one in (source, session page, normalised text, entity) keeps its id and the time
        it was first recorded; the rest is taken over unless the stored one has the higher trust. Active facts of
        that session page that are not given again become expired, but for those of a tier above `cap`. With
        `session_page` None the facts are added.
        """
        _check_text("source", source)
        _check_optional("session_page", session_page)
        recorded = _moment("now", now)
        for position, fact in enumerate(facts):
            _check_fact(f"facts[{position}]", fact, source)
        with self.transaction():
            self.add_source(Source(source))
            ids = tuple(self._put_fact(session_page, fact, recorded, by) for fact in facts)
            if session_page is not None:
                ending = (recorded, source, session_page, int(cap), json.dumps(ids))
                for gone, trust in self._change(_EXPIRE_FACTS, ending):
                    self._log_fact(source, gone, "expired", trust, recorded, None, by)
        return ids

    def _log_fact(
        self,
        source: str,
        number: int,
        change: ChangeKind,
        trust: int,
        at: int | None,
        before: _Value,
        by: str | None,
    ) -> None:
        self._change(_LOG, (source, "fact", str(number), change, "", trust, at, before, by))

    def add_fact(self, fact: Fact, by: str | None = None) -> int:
        """Add a fact as it is, under its own id where it has one, whatever is told already; its id."""
        _check_fact("fact", replace(fact, status="active"), fact.source)
        with self.transaction():
            self.add_source(Source(fact.source))
            number = self._add_fact(None, fact)
            recorded = _moment("recorded_at", fact.recorded_at)
            self._log_fact(fact.source, number, "created", int(fact.trust), recorded, None, by)
        return number

    def _add_fact(self, session_page: str | None, fact: Fact) -> int:
        recorded, until = (_moment(name, getattr(fact, name)) for name in ("recorded_at", "told_until"))
        identity: _Values = (fact.source, session_page, _text_hash(fact.text), fact.entity, recorded)
        place: _Values = (fact.id, fact.status, fact.attribute, fact.replaces, until)
        ((number,),) = self._change(_ADD_FACT_AS, (*_told(fact), *identity, *place))
        self._change("INSERT INTO facts_fts (rowid, said) VALUES (?, ?)", (number, _said_by(fact)))
        return int(number)

    def facts_told(self, source: str, texts: Iterable[str]) -> tuple[Fact, ...]:
        """The facts of the source in any of these words, whatever their status, by id."""
        hashes = sorted({_text_hash(text).hex() for text in texts if _is_storable(text)})
        if not hashes or not _is_storable(source):
            return ()
        rows = self._select(_FACTS_TOLD, (source, json.dumps(hashes)))
        with self._read_soundly():
            return tuple(_fact(row) for row in rows)

    def facts_of_slot(self, source: str, entity: str | None, attribute: str) -> tuple[Fact, ...]:
        """The facts that say this of the entity, whatever their status, by id."""
        if not all(_is_storable(text) for text in (source, entity or "", attribute)):
            return ()
        rows = self._select(
            f"SELECT {_FACT_COLUMNS} FROM facts WHERE source = ? AND attribute = ? AND entity IS ? ORDER BY id",  # noqa: S608
            (source, attribute, entity),
        )
        with self._read_soundly():
            return tuple(_fact(row) for row in rows)

    def has_ended(self, source: str) -> bool:
        """Whether the source holds a fact that is not simply current: ended, pending, or with an end."""
        sql = "SELECT 1 FROM facts WHERE source = ? AND (status <> 'active' OR valid_until IS NOT NULL) LIMIT 1"
        return _is_storable(source) and bool(self._select(sql, (source,)))

    def _put_fact(self, session_page: str | None, fact: Fact, now: int | None, by: str | None) -> int:
        text_hash = _text_hash(fact.text)
        same = self._change(_SAME_FACT, (fact.source, session_page, text_hash, fact.entity))
        if not same:
            recorded = now if fact.recorded_at is None else _moment("recorded_at", fact.recorded_at)
            identity: _Values = (fact.source, session_page, text_hash, fact.entity, recorded)
            ((fact_id,),) = self._change(_ADD_FACT, (*_told(fact), *identity))
            self._change("INSERT INTO facts_fts (rowid, said) VALUES (?, ?)", (fact_id, _said_by(fact)))
            self._log_fact(fact.source, fact_id, "created", int(fact.trust), now, None, by)
            return int(fact_id)
        ((fact_id, trust, status, ended_because, text),) = same
        if ended_because is not None:
            return int(fact_id)
        retold = fact.trust >= trust and (text, trust) != (fact.text, fact.trust)
        if fact.trust >= trust:
            self._change(_RETELL_FACT, (*_told(fact), fact_id))
            self._change("UPDATE facts_fts SET said = ? WHERE rowid = ?", (_said_by(fact), fact_id))
        if status != "active":
            self._change("UPDATE facts SET status = 'active', expired_at = NULL WHERE id = ?", (fact_id,))
        if retold or status != "active":
            change: ChangeKind = "updated" if status == "active" else "restored"
            was = text if retold else None
            self._log_fact(fact.source, fact_id, change, max(int(fact.trust), trust), now, was, by)
        return int(fact_id)

    def _verified_facts(self, facts: Sequence[Fact]) -> tuple[Fact, ...]:
        """The facts, each with whether it is as it was written."""
        found = self._sealing.of_facts([fact.id for fact in facts if fact.id is not None])
        return tuple(_as_verified(fact, None if fact.id is None else found.get(fact.id)) for fact in facts)

    def restore_fact(self, session_page: str | None, fact: Fact) -> tuple[int, bool]:
        """Add a fact as it was told, active or pending, under its own id where that is free; its id, whether it is new.

        One that is there, with the same words, about the same, recorded at the same time, is left as it stands.
        """
        _check_optional("session_page", session_page)
        _check_fact("fact", replace(fact, status="active"), fact.source)
        recorded = _moment("recorded_at", fact.recorded_at)
        with self.transaction():
            self.add_source(Source(fact.source))
            since = _moment("valid_from", fact.valid_from)
            told: _Values = (fact.source, session_page, _text_hash(fact.text), fact.entity, recorded)
            there = self._change(_FACT_AS_TOLD, (*told, fact.attribute, since))
            if there:
                return int(there[0][0]), False
            taken = fact.id is None or self._change("SELECT 1 FROM facts WHERE id = ?", (fact.id,))
            status: Status = "pending" if fact.status == "pending" else "active"
            fact_id = self._add_fact(session_page, replace(fact, id=None if taken else fact.id, status=status))
            self._log_fact(fact.source, fact_id, "created", int(fact.trust), recorded, None, None)
        return fact_id, True

    def facts(
        self,
        source: str,
        entity: str | None = None,
        since: datetime | None = None,
        *,
        told_in: str | None = None,
        ended: bool = False,
    ) -> tuple[Fact, ...]:
        """Active facts of the source by id, of one entity if named; with `ended` those that are no longer active too.

        With `since` only those recorded, or valid from a moment, at or after it; with `told_in` those that the page
        of this slug tells.
        """
        if not all(_is_storable(text) for text in (source, entity or "", told_in or "")):
            return ()
        standing = "" if ended else " AND status = 'active'"
        sql = f"SELECT {_FACT_COLUMNS} FROM facts WHERE source = ?{standing}"  # noqa: S608
        values: list[_Value] = [source]
        for column, value in (("entity", entity), ("told_slug", told_in)):
            if value is not None:
                sql += f" AND {column} = ?"
                values.append(value)
        if since is not None:
            sql += " AND (recorded_at >= ? OR valid_from >= ?)"
            values += [_moment("since", since)] * 2
        rows = self._select(sql + " ORDER BY id", tuple(values))
        with self._read_soundly():
            return self._verified_facts([_fact(row) for row in rows])

    def facts_saying(
        self, source: str, words: Sequence[str], limit: int, *, entity: str | None = None, ended: bool = False
    ) -> tuple[tuple[int, Fact], ...]:
        """The first `limit` facts that may hold any of the words, each with how many it holds at most.

        Those that hold most come first, then the newest, then by id. None that holds a word is left out.
        """
        if not (_is_storable(source) and _is_storable(entity or "")):
            return ()
        asked = [word for word in dict.fromkeys(words) if _is_storable(word) and word.strip()]
        phrases = ['"' + word.replace('"', '""') + '"' for word in asked if word.isascii()]
        pieces = [(_searched(word) or word).strip() for word in asked if not word.isascii()]
        sql = _FACTS_SAYING + ("" if ended else " AND status = 'active'")
        values: list[_Value] = [*(json.dumps(part, ensure_ascii=False) for part in (phrases, pieces)), source]
        if entity is not None:
            sql += " AND entity = ?"
            values.append(entity)
        rows = self._select(sql + " ORDER BY held DESC, recorded_at DESC, id LIMIT ?", (*values, _at_most(limit)))
        with self._read_soundly():
            facts = self._verified_facts([_fact(row[1:]) for row in rows])
        return tuple((row[0], fact) for row, fact in zip(rows, facts, strict=True))

    def fact(self, source: str, number: int) -> Fact | None:
        """The fact whatever its status, or None."""
        if not _is_storable(source) or not 0 < number < 2**63:
            return None
        rows = self._select(f"SELECT {_FACT_COLUMNS} FROM facts WHERE source = ? AND id = ?", (source, number))  # noqa: S608
        with self._read_soundly():
            return self._verified_facts([_fact(rows[0])])[0] if rows else None

    def last_fact_id(self) -> int:
        """The highest id any fact was given, whatever its source; 0 when none was. Later facts get higher ones."""
        rows = self._select("SELECT seq FROM sqlite_sequence WHERE name = 'facts'")
        return int(rows[0][0]) if rows else 0

    # -- what happened to an item

    def mark(self, source: str, item: Item, mark: Mark) -> bool:
        """Give an item a new standing and write it into the journal; False where it cannot have it.

        There is no such item, or a fact equal to one that would be active again is active already.
        """
        at, trust = _moment("at", mark.at), None if mark.trust is None else int(mark.trust)
        if not (_is_storable(source) and _is_storable(item.key) and _is_storable(mark.reason)):
            return False
        with self.transaction():
            self._names_written += 1
            if item.kind == "page":
                changed = self._change(_MARK_PAGE, (mark.status, trust, mark.superseded_by, source, item.key))
            else:
                successor = None if mark.superseded_by is None else int(mark.superseded_by)
                standing: _Values = (mark.status, trust, successor, at, mark.because or None)
                until = _moment("until", mark.until)
                changed = self._change(_MARK_FACT, (*standing, source, int(item.key), until))
            because = f"{mark.because}: {mark.reason}" if mark.reason else mark.because
            for (tier,) in changed:
                self._change(_LOG, (source, item.kind, item.key, mark.change, because, tier, at, None, mark.actor))
        return bool(changed)

    def journal(
        self, source: str, *, after: int = 0, item: Item | None = None, limit: int | None = None
    ) -> tuple[Change, ...]:
        """What changed in the source beyond a line of the journal, oldest first, of one item if named."""
        if not _is_storable(source) or (item is not None and not _is_storable(item.key)):
            return ()
        one = "" if item is None else " AND kind = ? AND item = ?"
        values: list[_Value] = [source, *(() if item is None else (item.kind, item.key)), min(after, 2**63 - 1)]
        rows = self._select(
            "SELECT seq, source, kind, item, change, because, trust, at, before, actor FROM journal "  # noqa: S608
            f"WHERE source = ?{one} AND seq > ? ORDER BY seq LIMIT ?",
            (*values, -1 if limit is None else _at_most(limit)),
        )
        with self._read_soundly():
            return tuple(_journalled(row) for row in rows)

    def use(self, source: str, uses: Sequence[Use]) -> int:
        """Keep what was said of items; how many of it was new."""
        kept = 0
        with self.transaction():
            self.add_source(Source(source))
            for use in uses:
                row = (use.key, source, use.item.kind, use.item.key, use.signal, _moment("at", use.at))
                sql = "INSERT INTO uses VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING 1"
                kept += len(self._change(sql, row))
        return kept

    def usage(self, source: str, item: Item) -> Usage:
        """What was said of an item so far."""
        if not (_is_storable(source) and _is_storable(item.key)):
            return Usage()
        ((citations, misled, last),) = self._select(_USAGE, (source, item.kind, item.key))
        return Usage(citations, misled, _datetime(last))

    def reply(self, source: str, caller: str, key: str) -> tuple[bytes, str] | None:
        """The digest of the request that a caller made under a key, and what was answered; None when none was."""
        sql = "SELECT digest, reply FROM replies WHERE source = ? AND caller = ? AND key = ?"
        rows = self._select(sql, (source, caller, key))
        return (rows[0][0], rows[0][1]) if rows else None

    def keep_reply(self, source: str, caller: str, key: str, digest: bytes, reply: str, at: datetime) -> None:
        """Remember what was answered to a request. Replies older than two days are forgotten."""
        moment = _moment("at", at)
        with self.transaction():
            self._change("DELETE FROM replies WHERE at < ?", ((moment or 0) - _REPLY_MICROSECONDS,))
            self._change(
                "INSERT OR REPLACE INTO replies VALUES (?, ?, ?, ?, ?, ?)", (source, caller, key, digest, reply, moment)
            )

    # -- the whole

    def reset(self) -> None:
        """Empty every table, keep the schema, let ids start again at 1."""
        with self.transaction():
            self._names_written += 1
            self._index()
            for statement in _EMPTY_EVERYTHING:
                self._change(statement)
            self._sealing.forget()

    def close(self) -> None:
        """Release the database. Closing twice is harmless."""
        with self._reads, self._writes:
            self._reader.close()
            self._writer.close()

    # -- the connections

    def _open(self, in_memory: bool) -> apsw.Connection:
        try:
            connection = apsw.Connection(self._path, flags=apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE)
        except (apsw.Error, ValueError) as error:
            raise self._unavailable(error) from error
        try:
            if not in_memory and connection.readonly("main"):
                self.read_only = True
                connection.close()
                connection = self._open_to_read()
            for name, wanted in _PRAGMAS:
                if self.read_only and name in _OF_WRITERS:
                    continue
                self._set(connection, name, "memory" if in_memory and name == "journal_mode" else wanted)
            # Else SQLite plans a join anew for every value, in case the value tells how many rows there will be.
            connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
            connection.register_fts5_function("times_found", _times_found)
            connection.create_scalar_function("stated_in", cast(Any, _stated_in), 1, deterministic=True)
            connection.create_scalar_function("said", cast(Any, _said), 3, deterministic=True)
            # Without this flag a trigger may not ask it, as other people's schemas may not be trusted.
            connection.create_scalar_function("wk_permit", cast(Any, self._permit), -1, flags=apsw.SQLITE_INNOCUOUS)
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_to_read(self) -> apsw.Connection:
        """The file as it is. Where nothing can be written beside it nobody writes it either, and no lock is needed."""
        path = os.path.abspath(self._path)
        beside = os.access(os.path.dirname(path), os.W_OK) or os.path.exists(f"{path}-wal")
        how = "mode=ro" if beside else "immutable=1"
        flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        return apsw.Connection(f"file:{quote(path)}?{how}", flags=flags)

    def _set(self, connection: apsw.Connection, pragma: str, wanted: object) -> None:
        # A process that has just made the file may hold it while it turns WAL on, and that lock does not wait.
        deadline = time.monotonic() + _BUSY_MS / 1000
        while True:
            try:
                list(connection.execute(f"PRAGMA {pragma} = {wanted}"))
                break
            except apsw.BusyError as error:
                if time.monotonic() > deadline:
                    raise self._unavailable(error) from error
                time.sleep(0.01)
            except apsw.Error as error:
                raise self._unavailable(error) from error
        ((found,),) = self._run(connection, f"PRAGMA {pragma}")
        if found != wanted:
            remedy = "Put the file on a local disk" if pragma == "journal_mode" else "Install a newer apsw"
            raise StoreUnavailable(self._path, f"{pragma} is {found} and cannot be made {wanted}. {remedy}")

    def _bring_up_to_date(self) -> None:
        try:
            if not is_current(self._writer):
                if self.read_only:
                    raise StoreUnavailable(self._path, _OLD_AND_CLOSED)
                with self.transaction():
                    migrate(self._writer)
                    self._sealing.touched.forget()
            if not self.read_only and not seals.guarded(self._writer):
                with self.transaction():
                    seals.guard(self._writer)
            if self._path != ":memory:":  # which nobody else has open
                self._guarded_in = self._writer.data_version()
        except SchemaMismatch as error:
            raise StoreUnavailable(self._path, str(error)) from error
        except (apsw.Error, ValueError) as error:
            raise self._unavailable(error) from error

    @contextmanager
    def _read_soundly(self) -> Iterator[None]:
        """A row that no write of ours can have made means that the file is damaged."""
        try:
            yield
        except (ValueError, TypeError, KeyError, ArithmeticError) as error:
            raise self._unavailable(apsw.CorruptError()) from error

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Selects inside see one and the same state."""
        if self._owner == threading.get_ident():
            yield
            return
        try:
            with self._reads:
                within = bool(self._reader.in_transaction)
                if within:
                    yield
                    return
                self._run(self._reader, "BEGIN")
                try:
                    yield
                finally:
                    if self._reader.in_transaction:
                        self._run(self._reader, "COMMIT")
        finally:
            # Only now: whoever writes may wait for who reads.
            self._mend_index()

    def _tokens(self, text: str) -> list[str]:
        """The words of a text as the index holds them."""
        with self._reads:
            tokenizer = self._reader.fts5_tokenizer(*_TOKENIZER)
            found = cast(list[Any], tokenizer(text.encode(), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False))
        return [str(entry[0]) for entry in found]

    def _select(self, sql: str, values: _Values = ()) -> list[_Row]:
        if self._owner == threading.get_ident():
            return self._run(self._writer, sql, values)
        with self._reads:
            return self._run(self._reader, sql, values)

    def _change(self, sql: str, values: _Values = ()) -> list[_Row]:
        return self._run(self._writer, sql, values)

    def _each(self, sql: str, values: _Values = ()) -> Iterator[_Row]:
        """The rows one by one, as this transaction sees them."""
        try:
            yield from self._writer.execute(sql, values)
        except (apsw.Error, UnicodeDecodeError) as error:
            raise self._unavailable(error) from error

    def _image(self) -> bytes:
        with self._writes:
            return bytes(self._writer.serialize("main"))

    def _outside(self, sql: str) -> list[_Row]:
        with self._writes:
            return self._run(self._writer, sql)

    def _change_many(self, sql: str, rows: Sequence[_Values]) -> None:
        try:
            self._writer.executemany(sql, rows)
        except apsw.Error as error:
            raise self._unavailable(error) from error

    def _run(self, connection: apsw.Connection, sql: str, values: _Values = ()) -> list[_Row]:
        try:
            return list(connection.execute(sql, values))
        except (apsw.Error, UnicodeDecodeError) as error:
            raise self._unavailable(error) from error

    def _unavailable(self, error: Exception) -> StoreUnavailable:
        if getattr(error, "extendedresult", None) == apsw.SQLITE_CORRUPT_VTAB:
            self._index_is_damaged = True
            error = _IndexDamaged()
        for kind, remedy in _REMEDIES:
            if isinstance(error, kind):
                return StoreUnavailable(self._path, remedy)
        return StoreUnavailable(self._path, f"{error}. Check the file and its disk, or restore a copy")


def _as_verified(item: _Verified, found: Integrity | None) -> _Verified:
    """The item as what is known of its seal says: one that fails is of the lowest tier."""
    if found is None:
        return item
    if found == "failed":
        return replace(item, trust=Trust.EXTERNAL_UNTRUSTED, integrity=found)
    return replace(item, integrity=found)


def _by_kind(rows: Iterable[_Row]) -> Mapping[str, frozenset[str]]:
    found: dict[str, list[str]] = {}
    for kind, key in rows:
        found.setdefault(kind, []).append(key)
    return {kind: frozenset(keys) for kind, keys in found.items()}


def _steps(depth: int) -> tuple[str, str, tuple[str, ...]]:
    """Statements that begin, keep and undo the transaction at a depth."""
    if depth == 0:
        return "BEGIN IMMEDIATE", "COMMIT", ("ROLLBACK",)
    name = f"inner_{depth}"
    return f"SAVEPOINT {name}", f"RELEASE {name}", (f"ROLLBACK TO {name}", f"RELEASE {name}")


def _check_file(path: str) -> None:
    """Make the file, for its owner only, unless it is there; StoreUnavailable when it cannot be a database."""
    if not path or "\0" in path or path.startswith(":"):
        raise StoreUnavailable(repr(path), 'it does not name a file. Give the path of one, or ":memory:"')
    try:
        found = os.stat(path)
    except FileNotFoundError:
        _make_file(path)
        return
    except (OSError, ValueError) as error:
        raise StoreUnavailable(path, f"{_reason(error)}. Choose another path") from error
    if stat.S_ISDIR(found.st_mode):
        raise StoreUnavailable(path, "it is a folder. Name a file inside it")
    if not stat.S_ISREG(found.st_mode):
        raise StoreUnavailable(path, "it is not a regular file. Choose another path")


def _make_file(path: str) -> None:
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder):
        raise StoreUnavailable(path, f"the folder {folder} does not exist. Make it, or choose another path")
    try:
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
    except (OSError, ValueError) as error:
        raise StoreUnavailable(path, f"{_reason(error)}. Choose another path, or allow writing there") from error


def _reason(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)


def _is_storable(text: str) -> bool:
    if "\0" in text:
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _check_text(field: str, text: str) -> None:
    if not isinstance(text, str):
        raise InvalidInput(field, f"must be text, not {type(text).__name__}")
    if "\0" in text:
        raise InvalidInput(field, "holds a NUL character; remove it")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidInput(field, f"holds half a surrogate pair at character {error.start}; remove it") from error


def _check_optional(field: str, text: str | None) -> None:
    """None and "" would be one and the same in the identity of a fact, so "" is refused."""
    if text is None:
        return
    _check_text(field, text)
    if not text:
        raise InvalidInput(field, "is empty; leave it out instead")


def _check_page(page: Page, chunks: Sequence[Chunk], names: Sequence[Name]) -> None:
    for field in ("source", "slug", "title", "type", "status", "summary", "body", "content"):
        _check_text(field, getattr(page, field))
    if page.superseded_by is not None:
        _check_text("superseded_by", page.superseded_by)
    for position, alias in enumerate(page.aliases):
        _check_text(f"aliases[{position}]", alias)
    _check_origin("told.content_origin", page.told.content_origin)
    _check_optional("told.source_id", page.told.source_id)
    _check_optional("told.url", page.told.url)
    for position, entry in enumerate(page.timeline):
        _check_text(f"timeline[{position}]", entry.date)
        _check_text(f"timeline[{position}]", entry.text)
    for position, chunk in enumerate(chunks):
        _check_text(f"chunks[{position}].text", chunk.text)
        _check_text(f"chunks[{position}].lead", chunk.lead)
    for position, name in enumerate(names):
        _check_text(f"names[{position}].key", name.key)
    if len({chunk.ordinal for chunk in chunks}) != len(chunks):
        raise InvalidInput("chunks", "two have the same ordinal")


def _check_fact(field: str, fact: Fact, source: str) -> None:
    if fact.source != source:
        raise InvalidInput(f"{field}.source", f"is {fact.source!r}, but the facts are put into {source!r}")
    _check_text(f"{field}.text", fact.text)
    if fact.kind not in FACT_KINDS:
        raise InvalidInput(f"{field}.kind", f"is {fact.kind!r}; use one of {', '.join(FACT_KINDS)}")
    if fact.status != "active":
        raise InvalidInput(f"{field}.status", f"is {fact.status!r}; only active facts can be put")
    if not 0 <= fact.confidence <= 1:
        raise InvalidInput(f"{field}.confidence", f"is {fact.confidence}; it runs from 0 to 1")
    _check_optional(f"{field}.entity", fact.entity)
    _check_optional(f"{field}.attribute", fact.attribute)
    _check_origin(f"{field}.content_origin", fact.content_origin)
    told = fact.provenance
    _check_text(f"{field}.provenance.source", told.source)
    for name in ("source_session", "source_markdown_slug", "event_id"):
        value = getattr(told, name)
        if value is not None:
            _check_text(f"{field}.provenance.{name}", value)
    if fact.mention is not None:
        _check_text(f"{field}.mention", fact.mention)
    for name in ("valid_from", "valid_until", "recorded_at"):
        _moment(f"{field}.{name}", getattr(fact, name))


def _text_hash(text: str) -> bytes:
    return sha256((norm(text) or text).encode()).digest()


def _check_origin(field: str, origin: str | None) -> None:
    if origin is not None and origin not in CONTENT_ORIGINS:
        raise InvalidInput(field, f"is {origin!r}; use one of {', '.join(CONTENT_ORIGINS)}")


def _moment(field: str, time_: datetime | None) -> int | None:
    if time_ is None:
        return None
    if time_.tzinfo is None or time_.utcoffset() is None:
        raise InvalidInput(field, "has no time zone; give an aware datetime")
    return (time_ - _EPOCH) // _MICROSECOND


def _datetime(microseconds: int | None) -> datetime | None:
    return None if microseconds is None else _EPOCH + microseconds * _MICROSECOND


def _at_most(limit: int) -> int:
    if limit < 0:
        raise InvalidInput("limit", f"is {limit}; it must not be negative")
    return min(limit, _LARGEST_LIMIT)


def _phrases(words: Sequence[str]) -> list[str]:
    """How an index is asked for each of the words, those aside that it cannot know."""
    asked = dict.fromkeys(_searched(word) or word for word in words if _is_storable(word))
    return ['"' + word.replace('"', '""') + '"' for word in asked if word.strip()]


def _searched(text: str) -> str | None:
    """The text as the index shall see it, or None when the tokenizer reads the text itself well."""
    if text.isascii():
        return None
    return str(_UNSPACED.sub(r" \g<0> ", fold(text)))


def _said(text: str, mention: str | None, entity: str | None) -> str:
    """What a fact says and of whom, accents aside, as the index shall see it."""
    said = fold(" ".join((text, mention or "", entity or "")))
    return _searched(said) or said


def _stated_in(message: str) -> str:
    """The statements of a message as JSON."""
    return json.dumps(statements(message), ensure_ascii=False)


def _said_by(fact: Fact) -> str:
    return _said(fact.text, fact.mention, fact.entity)


def _beginning(text: str) -> str:
    """The words of the index that begin with a text, as a query; "" when it holds none."""
    if not any(char.isalnum() for char in text):
        return ""
    spaced = _searched(text) or text
    quoted = '"' + spaced.replace('"', '""') + '"'
    return quoted if _UNSPACED.search(text) else quoted + "*"


def _chunk_row(page_id: int, chunk: Chunk) -> _Values:
    led = f"{chunk.lead} {chunk.text}" if chunk.lead else chunk.text
    searched = _searched(led) or (led if chunk.lead else None)
    at = _moment(f"chunks[{chunk.ordinal}].at", chunk.at)
    embedded = 0 if chunk.meant else WANTS_NO_VECTOR
    return page_id, chunk.ordinal, len(led), chunk.text, searched, chunk.turn, at, chunk.answer, embedded


def _times_found(api: apsw.FTS5ExtensionApi, *_: _Value) -> int:
    """How often the one phrase of the query stands in the row."""
    return api.inst_count


def _ranked(matches: Sequence[_Row], chunks: int, chars: int) -> list[tuple[float, str, int, int]]:
    """(minus BM25, slug, ordinal, chunk id), best first. `chunks` and `chars` are what all live pages hold."""
    held = Counter(match[0] for match in matches)
    rarity = {phrase: math.log1p((chunks - count + 0.5) / (count + 0.5)) for phrase, count in held.items()}
    usual = max(chars / max(chunks, 1), 1.0)
    scores: dict[int, float] = {}
    places: dict[int, tuple[str, int]] = {}
    for phrase, chunk_id, slug, ordinal, length, count in matches:
        damping = _SATURATION * (1 - _LENGTH_WEIGHT + _LENGTH_WEIGHT * length / usual)
        gain = rarity[phrase] * count * (_SATURATION + 1) / (count + damping)
        scores[chunk_id] = scores.get(chunk_id, 0.0) + gain
        places[chunk_id] = (slug, ordinal)
    return sorted((-score, *places[chunk_id], chunk_id) for chunk_id, score in scores.items())


def _told(fact: Fact) -> _Values:
    told = fact.provenance
    start, end = told.quote_span or (None, None)
    return (
        fact.text,
        fact.mention,
        fact.kind,
        float(fact.confidence),
        int(fact.trust),
        _moment("valid_from", fact.valid_from),
        _moment("valid_until", fact.valid_until),
        told.source,
        told.source_session,
        told.source_markdown_slug,
        told.event_id,
        start,
        end,
        fact.content_origin,
        " ".join(fact.flags),
    )


def _page_told(told: Told) -> _Values:
    metadata = json.dumps(dict(told.metadata), ensure_ascii=True, sort_keys=True) if told.metadata else None
    return (_moment("told.valid_at", told.valid_at), told.content_origin, told.source_id, told.url, metadata)


def _page(row: _Row) -> Page:
    source, slug, title, content, body, type_, summary, aliases, status, superseded_by, trust, updated_at, *rest = row
    created_at, valid_at, content_origin, source_id, url, metadata, flags, timeline = rest
    said = json.loads(metadata) if metadata else {}
    return Page(
        source=source,
        slug=slug,
        title=title,
        content=content,
        body=body,
        type=type_,
        summary=summary,
        aliases=tuple(json.loads(aliases)),
        status=cast(Status, status),
        superseded_by=superseded_by,
        trust=Trust(trust),
        timeline=tuple(TimelineEntry(date, text) for date, text in json.loads(timeline)),
        updated_at=_datetime(updated_at),
        created_at=_datetime(created_at),
        told=Told(cast("ContentOrigin | None", content_origin), source_id, url, _datetime(valid_at), said),
        flags=tuple(flags.split()),
    )


def _journalled(row: _Row) -> Change:
    seq, source, kind, item, change, because, trust, at, before, actor = row
    named = Item(cast(ItemKind, kind), item)
    return Change(seq, source, named, cast(ChangeKind, change), because, Trust(trust), _datetime(at), before, actor)


def _page_ref(row: _Row) -> PageRef:
    source, slug, title, type_, summary, body_start, trust, origin, flags, head = row
    told = (cast(ContentOrigin | None, origin), tuple(flags.split()), head)
    return PageRef(source, slug, title, type_, summary, body_start, Trust(trust), *told)


def _statement(row: _Row) -> Statement:
    source, slug, turn, text, at, trust, number, origin, flags = row
    told = (cast(ContentOrigin | None, origin), tuple(flags.split()))
    return Statement(source, slug, turn, text, _datetime(at), Trust(trust), number, *told)


def _fact(row: _Row) -> Fact:
    fact_id, source, text, entity, kind, told_by, told_in, told_slug, event_id, start, end, mention, *rest = row
    confidence, trust, status, valid_from, valid_until, recorded_at, superseded_by, origin, ended_at, why, *rest = rest
    flags, attribute, replaces, told_until = rest
    span = None if start is None else (start, end)
    return Fact(
        id=fact_id,
        source=source,
        text=text,
        entity=entity,
        kind=cast(FactKind, kind),
        provenance=Provenance(told_by, told_in, told_slug, event_id, span),
        mention=mention,
        confidence=confidence,
        trust=Trust(trust),
        status=cast(Status, status),
        valid_from=_datetime(valid_from),
        valid_until=_datetime(valid_until),
        recorded_at=_datetime(recorded_at),
        superseded_by=superseded_by,
        content_origin=cast("ContentOrigin | None", origin),
        expired_at=_datetime(ended_at),
        ended_because=why,
        flags=tuple(flags.split()),
        attribute=attribute,
        replaces=replaces,
        told_until=_datetime(told_until),
    )
