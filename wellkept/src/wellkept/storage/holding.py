"""What is held back in the SQLite file until its owner has looked at it, and how strict the gate is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from wellkept.model import Channel, HeldKind, HeldWrite, Writer

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_COLUMNS = "id, source, at, channel, principal, kind, request, flags"

_WRITTEN_LAST = """
SELECT CASE kind
  WHEN 'page' THEN (SELECT substr(t.body, -4000) FROM pages AS p JOIN page_texts AS t ON t.page_id = p.id
    WHERE p.source = j.source AND p.slug = j.item AND p.flags = '')
  ELSE (SELECT text FROM facts WHERE id = CAST(j.item AS INTEGER) AND flags = '') END
FROM journal AS j WHERE source = ? AND actor = ? AND change IN ('created', 'updated') ORDER BY seq DESC LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class Access:
    """How a store lets this module at the file: everything goes through its connections, locks and errors."""

    select: Callable[..., list[tuple[Any, ...]]]
    change: Callable[..., list[tuple[Any, ...]]]
    microseconds: Callable[[datetime], int]


class SqliteHolding:
    """The Holding of one SqliteStore. What changes the file is called within a transaction of the store."""

    def __init__(self, access: Access) -> None:
        self._file = access

    def hold(self, write: HeldWrite) -> int:
        """Keep it, and give its number."""
        row = (
            write.source,
            self._file.microseconds(write.at),
            write.writer.channel,
            write.writer.principal,
            write.kind,
            write.request,
            len(write.request.encode()),
            " ".join(write.flags),
        )
        sql = (
            "INSERT INTO holds (source, at, channel, principal, kind, request, bytes, flags) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING id"
        )
        ((number,),) = self._file.change(sql, row)
        return int(number)

    def same(self, write: HeldWrite) -> int | None:
        """The number of the same write by the same writer, if that is held."""
        rows = self._file.select(
            "SELECT id FROM holds WHERE source = ? AND channel = ? AND principal = ? AND kind = ? AND request = ?",
            (write.source, write.writer.channel, write.writer.principal, write.kind, write.request),
        )
        return int(rows[0][0]) if rows else None

    def size(self, source: str) -> tuple[int, int]:
        """How many writes of the source are held, and their bytes."""
        rows = self._file.select("SELECT count(*), ifnull(sum(bytes), 0) FROM holds WHERE source = ?", (source,))
        return int(rows[0][0]), int(rows[0][1])

    def held(self, source: str, after: int = 0, limit: int = 100) -> tuple[HeldWrite, ...]:
        """What is held of the source beyond a number, oldest first."""
        sql = f"SELECT {_COLUMNS} FROM holds WHERE source = ? AND id > ? ORDER BY id LIMIT ?"  # noqa: S608
        return tuple(_held(row) for row in self._file.select(sql, (source, after, limit)))

    def one(self, source: str, number: int) -> HeldWrite | None:
        """One held write."""
        sql = f"SELECT {_COLUMNS} FROM holds WHERE source = ? AND id = ?"  # noqa: S608
        rows = self._file.select(sql, (source, number))
        return _held(rows[0]) if rows else None

    def drop(self, source: str, number: int) -> bool:
        """Take one out; whether it was there."""
        return bool(self._file.change("DELETE FROM holds WHERE source = ? AND id = ? RETURNING 1", (source, number)))

    def drop_older(self, moment: datetime) -> int:
        """Take out what nobody has looked at since; how many."""
        sql = "DELETE FROM holds WHERE at < ? RETURNING 1"
        return len(self._file.change(sql, (self._file.microseconds(moment),)))

    def written_last(self, source: str, writer: str, most: int) -> tuple[str, ...]:
        """The texts that a writer, by its name in the journal, wrote last, oldest first; without what was flagged."""
        rows = self._file.select(_WRITTEN_LAST, (source, writer, most))
        return tuple(text for (text,) in reversed(rows) if text is not None)

    def modes(self) -> Mapping[str, str]:
        """How strict the gate is, where that was said."""
        return dict(self._file.select("SELECT name, value FROM modes"))

    def set_mode(self, name: str, value: str) -> None:
        """Say how strict the gate is."""
        self._file.change(
            "INSERT INTO modes VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", (name, value)
        )


def _held(row: tuple[Any, ...]) -> HeldWrite:
    number, source, at, channel, principal, kind, request, flags = row
    writer = Writer(cast(Channel, channel), principal)
    when = _EPOCH + timedelta(microseconds=at)
    return HeldWrite(number, source, when, writer, cast(HeldKind, kind), request, tuple(flags.split()))
