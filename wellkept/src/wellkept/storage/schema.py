"""The numbered migrations of the SQLite file, and bringing a file up to the newest of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files

import apsw

APPLICATION_ID = 0x77656C6C


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema; `checksum` is the SHA-256 of its SQL, in hex."""

    number: int
    name: str
    sql: str

    @property
    def checksum(self) -> str:
        return sha256(self.sql.encode()).hexdigest()


class SchemaMismatch(Exception):
    """The file's schema is not one that this version can use; the message says why and what to do."""


@cache
def migrations() -> tuple[Migration, ...]:
    """All steps this version knows, oldest first, numbered from 1 without a gap."""
    folder = files("wellkept.storage") / "migrations"
    found = sorted((entry for entry in folder.iterdir() if entry.name.endswith(".sql")), key=lambda entry: entry.name)
    return tuple(
        Migration(number, entry.name, entry.read_text(encoding="utf-8")) for number, entry in enumerate(found, start=1)
    )


def is_current(connection: apsw.Connection) -> bool:
    """Whether the file stands at the newest step; SchemaMismatch when it cannot be brought there."""
    return len(_applied(connection)) == len(migrations())


def migrate(connection: apsw.Connection) -> None:
    """Apply the steps that the file lacks. The caller holds the write transaction, so all of them stay or none."""
    for migration in migrations()[len(_applied(connection)) :]:
        _run(connection, migration.sql)
        if migration.number == 1:
            _run(connection, f"PRAGMA application_id = {APPLICATION_ID}")
            _run(connection, "CREATE TABLE schema_version (version INTEGER PRIMARY KEY, name TEXT, checksum TEXT)")
        row = (migration.number, migration.name, migration.checksum)
        _run(connection, "INSERT INTO schema_version VALUES (?, ?, ?)", row)


def _applied(connection: apsw.Connection) -> tuple[Migration, ...]:
    tables = {str(name) for (name,) in _rows(connection, "SELECT name FROM sqlite_schema WHERE type = 'table'")}
    ((application_id,),) = _rows(connection, "PRAGMA application_id")
    if not tables and application_id in (0, APPLICATION_ID):
        return ()
    if application_id != APPLICATION_ID or "schema_version" not in tables:
        raise SchemaMismatch("it is another program's SQLite database. Choose another path")
    known = migrations()
    rows = list(_rows(connection, "SELECT version, name, checksum FROM schema_version ORDER BY version"))
    newest = int(str(rows[-1][0])) if rows else 0
    if newest > len(known):
        raise SchemaMismatch(f"schema {newest} is newer than {len(known)}. Install a newer wellkept")
    expected = [(step.number, step.name, step.checksum) for step in known[: len(rows)]]
    for row, wanted in zip(rows, expected, strict=True):
        if row != wanted:
            raise SchemaMismatch(
                f"schema step {row[0]} ({row[1]}) is not the one this wellkept knows. "
                "Open it with the version that made it, or restore a copy"
            )
    return known[: len(rows)]


def _rows(connection: apsw.Connection, sql: str) -> Iterator[tuple[apsw.SQLiteValue, ...]]:
    yield from connection.execute(sql)


def _run(connection: apsw.Connection, sql: str, row: tuple[apsw.SQLiteValue, ...] = ()) -> None:
    for _ in connection.execute(sql, row):
        pass
