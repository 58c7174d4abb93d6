"""Seals of the SQLite file: who changes a row from outside is refused, or noticed.

`SEALED` names the tables whose rows have seals, and their columns; a new one is a line. Triggers ask `wk_permit`, which
only the store's own connection knows, and only while it writes; it notes what is touched, so that nothing that writes
need know of seals. They are made when the outermost transaction ends, within it. A row that fails its check stays
failed, whoever writes to it, until the owner has it sealed anew, which gives it the lowest tier.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from hmac import compare_digest
from typing import Any

import apsw

from wellkept.errors import StoreUnavailable
from wellkept.model import Integrity, Item, Trust
from wellkept.storage import ROLLED_BACK, UNVERIFIED, SealKeeper, Sign, Tampered, Walked

_Row = tuple[Any, ...]
_MODULUS = 1 << 256
_AT_ONCE = 500
_MOST_KNOWN = 50_000
_FAILED = b""
"""What stands in the place of a seal where a row failed its check and was then written to."""


@dataclass(frozen=True, slots=True)
class Sealed:
    """A table whose rows have seals: the column that names a row within its source, and those that the seal covers.

    `source` None: its rows are of no source. `tier` is the column that falls where a row that failed is sealed anew;
    None: it has none.
    """

    key: str
    columns: tuple[str, ...]
    source: str | None = "source"
    tier: str | None = "trust"

    @property
    def where(self) -> str:
        """The source of a row, as SQL."""
        return self.source or "''"

    def source_in(self, row: str) -> str:
        """The same in a trigger, of its old row or the new one."""
        return "''" if self.source is None else f"{row}.{self.source}"


SEALED: Mapping[str, Sealed] = {
    "pages": Sealed("id", tuple(
        "id source slug title type status trust superseded_by updated_at chunk_count chunk_chars aliases summary "
        "created_at valid_at content_origin source_id url metadata flags".split())),
    "facts": Sealed("id", tuple(
        "id source session_page text_hash entity mention kind confidence trust status valid_from valid_until "
        "recorded_at expired_at superseded_by told_by told_in told_slug event_id quote_start quote_end text "
        "content_origin ended_because flags attribute replaces told_until".split())),
    "tombstones": Sealed("claim", tuple("source claim first words purge at".split()), tier=None),
    "holds": Sealed("id", tuple("id source at channel principal kind request bytes flags".split()), tier=None),
    "folders": Sealed("name", tuple("name source path signers head at".split()), tier=None),
    "modes": Sealed("name", tuple("name value".split()), source=None, tier=None),
}  # fmt: skip
"""Every table whose rows have seals."""

_SOURCELESS = frozenset(table for table, sealed in SEALED.items() if sealed.source is None)

NOT_SEALED: Mapping[str, frozenset[str]] = {
    "pages": frozenset({"tick"}),
    "facts": frozenset({"embedded"}),
}
"""The columns of those tables that no seal covers: what searches keep for themselves."""

PARTS: Mapping[str, str] = {
    "page_texts": "SELECT page_id, body_start, body, content FROM page_texts WHERE page_id IN {} ORDER BY page_id",
    "chunks": "SELECT page_id, ordinal, text, searched, turn, at, answer FROM chunks WHERE page_id IN {} "
    "ORDER BY page_id, ordinal",
    "names": "SELECT page_id, kind, key FROM names WHERE page_id IN {} ORDER BY page_id, kind, key",
    "timeline": "SELECT page_id, ordinal, date, text FROM timeline WHERE page_id IN {} ORDER BY page_id, ordinal",
    "statements": "SELECT page_id, turn, at, text FROM statements WHERE page_id IN {} ORDER BY page_id, id",
}
"""What belongs to a page and is covered by its seal: the tables, and how their rows are read."""

_REFUSED = "only wellkept writes this table"
_GUARDS = ("trust_key", "seals", "heads")
"""Tables that are no row's, and that others may not write either."""


# -- the triggers


def guards() -> Mapping[str, str]:
    """The triggers by name, as SQL."""
    found: dict[str, str] = {}
    for table, sealed in SEALED.items():
        new, old = (f", {sealed.source_in(row)}, {row}.{sealed.key}" for row in ("new", "old"))
        before = old + "".join(f", old.{column}" for column in sealed.columns)
        found |= _guards_of(table, new, before, f" OF {', '.join(sealed.columns)}")
    for table in PARTS:
        touched = ", new.page_id", ", old.page_id"
        found |= _guards_of(table, *(touched if table == "page_texts" else ("", "")))
    for table in _GUARDS:
        found |= _guards_of(table, "", "")
    return found


def _guards_of(table: str, new: str, old: str, columns: str = "") -> Mapping[str, str]:
    events = (
        ("insert", "AFTER INSERT", new),
        ("update", f"BEFORE UPDATE{columns}", old),
        ("delete", "BEFORE DELETE", old),
    )
    return {
        f"guard_{table}_{name}": f"CREATE TRIGGER guard_{table}_{name} {when} ON {table} BEGIN "
        f"SELECT RAISE(ABORT, '{_REFUSED}') WHERE wk_permit('{table}'{touched}) IS NOT 1; END"
        for name, when, touched in events
    }


def guarded(connection: apsw.Connection) -> bool:
    """Whether the triggers are there as they should be."""
    return _there(connection) == guards()


def guard(connection: apsw.Connection) -> None:
    """Make the triggers what they should be. The caller holds the write transaction."""
    wanted, there = guards(), _there(connection)
    for name in there.keys() - wanted.keys() | {one for one in there if there[one] != wanted.get(one)}:
        connection.execute(f'DROP TRIGGER "{name}"')
    for name in wanted:
        if there.get(name) != wanted[name]:
            connection.execute(wanted[name])


def _there(connection: apsw.Connection) -> Mapping[str, str]:
    rows = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND name GLOB 'guard_*'")
    return {str(name): str(sql) for name, sql in rows}


# -- making seals


@dataclass(frozen=True, slots=True)
class Access:
    """How a store lets this module at the file: everything goes through its connections, locks and errors."""

    select: Callable[..., list[_Row]]
    change: Callable[..., list[_Row]]
    change_many: Callable[..., None]
    transaction: Callable[[], AbstractContextManager[None]]
    reading: Callable[[], AbstractContextManager[None]]
    state: Callable[[], object]
    """Differs whenever something may have been written since, by whomever."""
    is_writing: Callable[[], bool]
    refused: Callable[[str], StoreUnavailable]


@dataclass(slots=True)
class Touched:
    """What one transaction touched: rows by table, source and key, as they were before; and pages by their parts."""

    rows: dict[tuple[str, str, Any], _Row | None] = field(default_factory=dict)
    pages: set[int] = field(default_factory=set)

    def forget(self) -> None:
        """Nothing was."""
        self.rows.clear()
        self.pages.clear()

    def note(self, table: str, what: _Row) -> None:
        """Take in what a trigger tells: of a page's part the page; of a row source, key, and what it was before."""
        if table in SEALED:
            self.rows.setdefault((table, what[0], what[1]), what[2:] or None)
        elif what:
            self.pages.add(what[0])


@dataclass(frozen=True, slots=True)
class _Seal:
    """What is kept of a row."""

    rev: int
    parts: bytes | None
    seal: bytes


@dataclass(frozen=True, slots=True)
class _Head:
    """What is kept of all rows of a table and source; `sound` says that it was changed by nobody else."""

    count: int = 0
    rev: int = 0
    total: int = 0
    seal: bytes | None = None
    sound: bool = True

    def but(self, count: int, total: int, rev: int) -> _Head:
        """With so many more, of which the seals hash to that."""
        return replace(self, count=self.count + count, total=(self.total + total) % _MODULUS, rev=rev)


@dataclass(slots=True)
class _Change:
    """What a transaction changes in the head of a table and source."""

    count: int = 0
    total: int = 0


_Changes = dict[tuple[str, str], _Change]


class SqliteSealing:
    """The Sealing of one SqliteStore."""

    def __init__(self, access: Access) -> None:
        self._file = access
        self._keeper: SealKeeper | None = None
        self._sign: Sign | None = None
        self._unsealed_in: object = None
        self._pages: tuple[object, dict[int, Integrity]] = (None, {})
        self._codes: tuple[str, ...] = ()
        self.touched = Touched()

    def use(self, keeper: SealKeeper) -> None:
        """From now on rows are sealed when they are written, and verified when they are read."""
        self._keeper, self._sign, self._unsealed_in = keeper, None, None

    def codes(self) -> tuple[str, ...]:
        """Why what is read may not be as it was written: codes, none where nothing speaks against it."""
        self._reader()
        return self._codes

    def forget(self) -> None:
        """Everything is gone, the key's proof too."""
        self.touched.forget()
        self._sign, self._unsealed_in, self._pages, self._codes = None, None, (None, {}), ()

    # -- writing

    def seal_touched(self) -> int | None:
        """Seal what the transaction touched, within it; how far that is to be counted, None where nothing was sealed.

        StoreUnavailable where the rows of the file are sealed and the key is not to be had.
        """
        touched, self.touched = self.touched, Touched()
        for one in [one for one in touched.rows if self._is_unchanged(one, touched)]:
            del touched.rows[one]
        if not touched.rows:
            return None
        sign = None if self._keeper is None else self._keeper.sign(make=True)
        top = self._head("heads", "", sign)
        if sign is None or self._keeper is None:
            if top is not None:
                raise self._file.refused("its rows are sealed, and it was opened without their key. Open it as before")
            return None
        seen = self._keeper.seen()
        if top is None and not seen:
            self._touch_all(touched)
        rev = seen + 1 if top is None else top.rev + 1
        self._seal(sign, touched, rev, top or _Head())
        # One that was put back stays behind what was seen.
        return seen + 1 if rev <= seen else rev

    def saw(self, rev: int) -> None:
        """A sealing write is on the disk."""
        if self._keeper is not None:
            self._keeper.saw(rev)

    def _touch_all(self, touched: Touched) -> None:
        """Take in every row there is: they are of a time before there were seals, and stand as they are."""
        for table, sealed in SEALED.items():
            for source, key in self._file.select(f"SELECT {sealed.where}, {sealed.key} FROM {table}"):  # noqa: S608
                touched.rows[table, source, key] = None
                if table == "pages":
                    touched.pages.add(key)

    def _is_unchanged(self, one: tuple[str, str, Any], touched: Touched) -> bool:
        """Whether a row that was written says what it said, so that its seal holds."""
        table, _, key = one
        return not (table == "pages" and key in touched.pages) and self._row(*one) == touched.rows[one]

    def _seal(self, sign: Sign, touched: Touched, rev: int, top: _Head) -> None:
        # A table without sources has a head from the first: that it has none tells that somebody took it.
        changes: _Changes = {} if top.seal is not None else {(table, ""): _Change() for table in _SOURCELESS}
        keys = list(touched.rows)
        for first in range(0, len(keys), _AT_ONCE):
            self._seal_rows(sign, keys[first : first + _AT_ONCE], touched, rev, changes)
        for (table, source), change in changes.items():
            old = self._head(table, source, sign) or _Head()
            new = self._put_head(sign, table, source, old.but(change.count, change.total, rev))
            known = old.seal is not None
            top = top.but(not known, _hash(new) - (_hash(old.seal) if old.seal is not None else 0), rev)
        self._put_head(sign, "heads", "", top)

    def _seal_rows(
        self, sign: Sign, keys: Sequence[tuple[str, str, Any]], touched: Touched, rev: int, changes: _Changes
    ) -> None:
        parts = self._parts([key for table, _, key in keys if table == "pages" and key in touched.pages])
        put: list[_Row] = []
        for table, source, key in keys:
            before, old = touched.rows[table, source, key], self._seal_of(table, source, key)
            row = self._row(table, source, key)
            of_page = parts.get(key) if table == "pages" else None
            change = changes.setdefault((table, source), _Change())
            sound = before is None or _is_sealed(sign, table, before, old)
            if old is not None and before is not None:
                change.count -= 1
                change.total -= _hash(old.seal)
            if row is None:
                self._file.change(_DROP_SEAL, (table, source, key))
                continue
            of_page = of_page or (None if old is None else old.parts)
            seal = sign("row", table, _fields(table, row, rev, of_page)) if sound else _FAILED
            put.append((table, source, key, rev, of_page, seal))
            change.count += 1
            change.total += _hash(seal)
        self._file.change_many(_PUT_SEAL, put)

    def _row(self, table: str, source: str, key: object) -> _Row | None:
        sealed = SEALED[table]
        found = self._file.select(
            f"SELECT {', '.join(sealed.columns)} FROM {table} WHERE {sealed.where} = ? AND {sealed.key} = ?",  # noqa: S608
            (source, key),
        )
        return found[0] if found else None

    def _seal_of(self, table: str, source: str, key: object) -> _Seal | None:
        found = self._file.select(
            "SELECT rev, parts, seal FROM seals WHERE tbl = ? AND source = ? AND key = ?", (table, source, key)
        )
        return _Seal(*found[0]) if found else None

    def _parts(self, pages: Sequence[int]) -> Mapping[int, bytes]:
        """For each page a digest of the rows of other tables that belong to it."""
        held: dict[int, list[list[_Row]]] = {page: [[] for _ in PARTS] for page in pages}
        asked = json.dumps(pages)
        for place, sql in enumerate(PARTS.values() if pages else ()):
            for row in self._file.select(sql.format("(SELECT value FROM json_each(?))"), (asked,)):
                held[row[0]][place].append(row[1:])
        return {page: sha256(json.dumps(rows, ensure_ascii=False).encode()).digest() for page, rows in held.items()}

    # -- heads

    def _head(self, table: str, source: str, sign: Sign | None) -> _Head | None:
        found = self._file.select(
            "SELECT count, rev, total, seal FROM heads WHERE tbl = ? AND source = ?", (table, source)
        )
        if not found:
            return None
        count, rev, total, seal = found[0]
        sound = sign is not None and sign("head", table, _of_head(source, count, rev, total)) == seal
        return _Head(count, rev, int.from_bytes(total, "big"), seal, sound)

    def _put_head(self, sign: Sign, table: str, source: str, head: _Head) -> bytes:
        """Keep it, and what it is sealed with. One that somebody else has changed gets no seal any more."""
        total = head.total.to_bytes(32, "big")
        seal = sign("head", table, _of_head(source, head.count, head.rev, total)) if head.sound else _FAILED
        row = (table, source, head.count, head.rev, total, seal)
        self._file.change("INSERT OR REPLACE INTO heads VALUES (?, ?, ?, ?, ?, ?)", row)
        return seal

    # -- reading

    def of_facts(self, facts: Iterable[int]) -> Mapping[int, Integrity]:
        """Which of the facts are as they were written; nothing where nothing can be verified."""
        return self._verified("facts", facts)

    def of_pages(self, pages: Iterable[int]) -> Mapping[int, Integrity]:
        """Which of the pages are as they were written, with all that belongs to them."""
        if self._keeper is None:
            return {}
        if self._file.is_writing():
            return self._verified("pages", pages)
        state = self._file.state()
        known_in, known = self._pages
        if state != known_in or len(known) > _MOST_KNOWN:
            known = {}
            self._pages = state, known
        wanted = set(pages)
        known.update(self._verified("pages", [page for page in wanted if page not in known]))
        return {page: known[page] for page in wanted if page in known}

    def of_slugs(self, source: str, slugs: Iterable[str]) -> Mapping[str, Integrity]:
        """The same of the pages of a source, by slug."""
        if self._reader() is None:
            return {}
        rows = self._file.select(
            "SELECT slug, id FROM pages WHERE source = ? AND slug IN (SELECT value FROM json_each(?))",
            (source, json.dumps(list(slugs))),
        )
        found = self.of_pages([page for _, page in rows])
        return {slug: found[page] for slug, page in rows if page in found}

    def of_table(self, table: str, source: str = "") -> Integrity | None:
        """Whether all rows of a small table, of a source if it has one, are as they were written and none is missing.

        None where nothing can be verified.
        """
        sign = self._reader()
        if sign is None:
            return None
        found = (*self._every(sign, table), *self._taken_out(table))
        wrong = any(one is not None and one.source == source for one in found)
        head, sums = self._head(table, source, sign), self._sums((table,)).get((table, source), (0, 0))
        if head is None:
            whole = sums == (0, 0) and table not in _SOURCELESS and self._are_all(self._heads(sign), sign)
        else:
            whole = head.sound and (head.count, head.total) == sums
        return "ok" if whole and not wrong else "failed"

    def _reader(self) -> Sign | None:
        """What seals are verified with; None where nothing is sealed, or the key is not to be had."""
        if self._sign is not None or self._keeper is None:
            return self._sign
        state = self._file.state()
        if self._unsealed_in is not None and self._unsealed_in == state:
            return None
        self._codes = ()
        try:
            top, seen = self._head("heads", "", None), self._keeper.seen()
            if top is None and not seen:
                self._unsealed_in = state
                return None
            self._sign = self._keeper.sign(make=False)
        except StoreUnavailable:
            self._codes = (UNVERIFIED,)
        if top is not None and top.rev < seen:
            self._codes = (*self._codes, ROLLED_BACK)
        return self._sign

    def _verified(self, table: str, keys: Iterable[int]) -> dict[int, Integrity]:
        sign = self._reader()
        wanted = list(keys)
        if sign is None or not wanted:
            return {}
        touched = self.touched.rows if self._file.is_writing() else {}
        columns = SEALED[table].columns
        with self._file.reading():  # a row and what belongs to it, of one and the same state
            parts = self._parts(wanted) if table == "pages" else {}
            rows = self._file.select(
                f"SELECT s.rev, s.parts, s.seal, {', '.join('r.' + column for column in columns)} "  # noqa: S608
                f"FROM json_each(?) AS wanted CROSS JOIN {table} AS r ON r.id = wanted.value "
                f"LEFT JOIN seals AS s ON s.tbl = '{table}' AND s.source = r.source AND s.key = r.id",
                (json.dumps(wanted),),
            )
        found: dict[int, Integrity] = {}
        for rev, of_page, seal, *row in rows:
            number, source = row[:2]
            if (table, source, number) not in touched:
                kept = None if seal is None else _Seal(rev, of_page, seal)
                whole = _is_sealed(sign, table, row, kept) and parts.get(number) == of_page
                found[number] = "ok" if whole else "failed"
        return found

    # -- all of it

    def walk(self, *, every: bool = True) -> Walked:
        """Verify every row, and that none is missing; without `every` only count them.

        Why nothing could be verified is told by the codes.
        """
        with self._file.reading():
            sign = self._reader()
            if sign is None or not every:
                ((rows,),) = self._file.select("SELECT count(*) FROM seals")
                return Walked(rows, (), self._codes)
            found = [problem for table in SEALED for problem in self._every(sign, table)]
            wrong = [problem for problem in found if problem is not None]
            wrong += [problem for table in SEALED for problem in self._taken_out(table)]
            wrong += self._wrong_heads(sign)
            return Walked(len(found), tuple(wrong), self._codes)

    def reseal(self) -> int:
        """Seal what fails anew, with the lowest tier, and what is there now as all there is; how many rows failed."""
        if self._keeper is None:
            raise self._file.refused("it was opened without the key of its seals. Open it by its settings")
        with self._file.transaction():
            sign = self._keeper.sign(make=True)
            top = self._head("heads", "", None) or _Head()
            rev = max(top.rev, self._keeper.seen()) + 1
            failed = [one for table in SEALED for one in self._every(sign, table) if one is not None]
            for one in failed:
                self._seal_as_lowest(sign, one, rev)
            for table in SEALED:
                for gone in self._taken_out(table):
                    self._file.change(_DROP_SEAL, (table, gone.source, gone.key))
            self._file.change("DELETE FROM heads")
            self._seal_all_heads(sign, rev)
            self.touched = Touched()
        self._keeper.saw(rev)
        self.forget()
        return len(failed)

    def _seal_as_lowest(self, sign: Sign, one: Tampered, rev: int) -> None:
        sealed, named = SEALED[one.table], (one.source, one.key)
        if sealed.tier is not None:
            where = f"{sealed.where} = ? AND {sealed.key} = ?"
            lowest = f"UPDATE {one.table} SET {sealed.tier} = {int(Trust.EXTERNAL_UNTRUSTED)} WHERE {where}"  # noqa: S608
            self._file.change(lowest, named)
        parts = self._parts([one.key]).get(one.key) if one.table == "pages" else None
        seal = sign("row", one.table, _fields(one.table, self._row(one.table, *named) or (), rev, parts))
        self._file.change(_PUT_SEAL, (one.table, *named, rev, parts, seal))

    def _seal_all_heads(self, sign: Sign, rev: int) -> None:
        top = _Head(rev=rev)
        for (table, source), (count, total) in self._sums().items():
            top = top.but(1, _hash(self._put_head(sign, table, source, _Head(count, rev, total))), rev)
        self._put_head(sign, "heads", "", top)

    def _every(self, sign: Sign, table: str) -> Iterator[Tampered | None]:
        """Every row of a table: what is wrong with it, None for one with which nothing is."""
        sealed = SEALED[table]
        keys = self._file.select(f"SELECT {sealed.where}, {sealed.key} FROM {table} ORDER BY 1, 2")  # noqa: S608
        for first in range(0, len(keys), _AT_ONCE):
            some = keys[first : first + _AT_ONCE]
            parts = self._parts([key for _, key in some]) if table == "pages" else {}
            for source, key in some:
                kept, row = self._seal_of(table, source, key), self._row(table, source, key)
                why = None
                if kept is None:
                    why = "it has no seal: something else wrote it"
                elif row is None or not _is_sealed(sign, table, row, kept):
                    why = "it was changed from outside"
                elif table == "pages" and parts[key] != kept.parts:
                    why = "what belongs to it was changed from outside: its text, pieces, names, timeline or statements"
                yield None if why is None else Tampered(table, source, key, self._name(table, key, row), why)

    def _taken_out(self, table: str) -> Iterator[Tampered]:
        """Rows that have a seal and are there no longer."""
        sealed = SEALED[table]
        gone = self._file.select(
            f"SELECT source, key FROM seals AS s WHERE tbl = ? AND NOT EXISTS (SELECT 1 FROM {table} "  # noqa: S608
            f"WHERE {sealed.where} = s.source AND {sealed.key} = s.key)",
            (table,),
        )
        for source, key in gone:
            yield Tampered(table, source, key, self._name(table, key, None), "it was taken out from outside")

    @staticmethod
    def _name(table: str, key: object, row: Sequence[Any] | None) -> str:
        """How a person names a row."""
        if table == "pages" and row is not None:
            return str(Item("page", row[SEALED[table].columns.index("slug")]))
        told = key.hex()[:16] if isinstance(key, bytes) else key
        return f"{table.removesuffix('s')}:{told}"

    def _sums(self, tables: Iterable[str] = SEALED) -> Mapping[tuple[str, str], tuple[int, int]]:
        """For each source of the tables how many seals there are, and the sum of what they hash to."""
        sums = {(table, ""): (0, 0) for table in _SOURCELESS.intersection(tables)}
        asked = "SELECT tbl, source, seal FROM seals WHERE tbl IN (SELECT value FROM json_each(?))"
        for table, source, seal in self._file.select(asked, (json.dumps(list(tables)),)):
            count, total = sums.get((table, source), (0, 0))
            sums[table, source] = count + 1, (total + _hash(seal)) % _MODULUS
        return sums

    def _heads(self, sign: Sign) -> Mapping[tuple[str, str], _Head]:
        """The head of each table and source that has one."""
        named = self._file.select("SELECT tbl, source FROM heads WHERE tbl <> 'heads'")
        return {(table, source): self._head(table, source, sign) or _Head(sound=False) for table, source in named}

    def _are_all(self, heads: Mapping[tuple[str, str], _Head], sign: Sign) -> bool:
        """Whether these heads are all that were written."""
        top = self._head("heads", "", sign) or _Head(sound=False)
        total = sum(_hash(head.seal or _FAILED) for head in heads.values()) % _MODULUS
        return top.sound and (top.count, top.total) == (len(heads), total)

    def _wrong_heads(self, sign: Sign) -> Iterator[Tampered]:
        """The tables and sources of which not all rows that are there were written by us, or some are missing."""
        sums, heads = self._sums(), self._heads(sign)
        if not self._are_all(heads, sign):
            yield Tampered("heads", "", None, "heads", "what is kept of all tables was changed from outside")
        for table, source in sorted(sums.keys() | heads.keys()):
            head = heads.get((table, source), _Head(sound=False))
            if not head.sound or (head.count, head.total) != sums.get((table, source), (0, 0)):
                why = "rows were added, taken out or put back from outside"
                yield Tampered(table, source, None, f"all {table} of {source or 'the memory'}", why)


_PUT_SEAL = "INSERT OR REPLACE INTO seals VALUES (?, ?, ?, ?, ?, ?)"
_DROP_SEAL = "DELETE FROM seals WHERE tbl = ? AND source = ? AND key = ?"


def _fields(table: str, row: Sequence[Any], rev: int, parts: bytes | None) -> Mapping[str, Any]:
    return {**dict(zip(SEALED[table].columns, row, strict=True)), "rev": rev, "parts": parts}


def _is_sealed(sign: Sign, table: str, row: Sequence[Any], kept: _Seal | None) -> bool:
    return kept is not None and compare_digest(sign("row", table, _fields(table, row, kept.rev, kept.parts)), kept.seal)


def _of_head(source: str, count: int, rev: int, total: bytes) -> Mapping[str, Any]:
    return {"source": source, "count": count, "rev": rev, "total": total}


def _hash(seal: bytes) -> int:
    return int.from_bytes(sha256(seal).digest(), "big")
