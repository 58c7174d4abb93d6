"""What the SQLite file keeps of where texts come from: bound folders, their files, and how far services were read."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from wellkept.model import Trust
from wellkept.storage import Cursor, Folder, FolderFile

_PAGES_SAYING = """
SELECT DISTINCT p.trust, t.content
FROM chunks_fts
CROSS JOIN chunks AS c ON c.id = chunks_fts.rowid
CROSS JOIN pages AS p ON p.id = c.page_id
CROSS JOIN page_texts AS t ON t.page_id = p.id
WHERE chunks_fts MATCH ? AND p.source = ? AND p.trust IN (SELECT value FROM json_each(?))
LIMIT ?
"""
_FACTS_SAYING = """
SELECT f.trust, f.text
FROM facts_fts CROSS JOIN facts AS f ON f.id = facts_fts.rowid
WHERE facts_fts MATCH ? AND f.source = ? AND f.trust IN (SELECT value FROM json_each(?))
LIMIT ?
"""


@dataclass(frozen=True, slots=True)
class Access:
    """How a store lets this module at the file: everything goes through its connections, locks and errors."""

    select: Callable[..., list[tuple[Any, ...]]]
    change: Callable[..., list[tuple[Any, ...]]]
    microseconds: Callable[[datetime], int]
    moment: Callable[[int], datetime]
    phrases: Callable[[Sequence[str]], list[str]]
    """How the word index is asked for each of these words."""
    index_words: Callable[[], None]


class SqliteFolders:
    """The Folders of one SqliteStore. What changes the file is called within a transaction of the store."""

    def __init__(self, access: Access) -> None:
        self._file = access

    def all(self) -> tuple[Folder, ...]:
        """Every bound folder, by name."""
        rows = self._file.select("SELECT name, source, path, at, signers, head FROM folders ORDER BY name")
        return tuple(Folder(name, source, path, self._file.moment(at), *rest) for name, source, path, at, *rest in rows)

    def bind(self, folder: Folder) -> None:
        """Keep that the folder is bound; its name and path are free."""
        row = (folder.name, folder.source, folder.path, folder.signers, folder.head)
        self._file.change("INSERT INTO folders VALUES (?, ?, ?, ?, ?, ?)", (*row, self._file.microseconds(folder.at)))

    def unbind(self, name: str) -> None:
        """Forget a folder and what was made of its files. Pages stay."""
        self._file.change("DELETE FROM folders WHERE name = ?", (name,))

    def reached(self, name: str, head: str | None) -> None:
        """Keep where the history of the folder stood when it was read."""
        self._file.change("UPDATE folders SET head = ? WHERE name = ?", (head, name))

    def files(self, name: str) -> tuple[FolderFile, ...]:
        """What a sync made of the files of a folder, by path."""
        rows = self._file.select(
            "SELECT path, slug, digest, standing FROM folder_files WHERE folder = ? ORDER BY path", (name,)
        )
        return tuple(FolderFile(*row) for row in rows)

    def keep(self, name: str, file: FolderFile) -> None:
        """Keep what was made of one file, in the place of what was kept of it."""
        self._file.change(
            "INSERT OR REPLACE INTO folder_files VALUES (?, ?, ?, ?, ?)",
            (name, file.path, file.slug, file.digest, file.standing),
        )

    def drop(self, name: str, path: str) -> None:
        """Keep nothing of one file any more."""
        self._file.change("DELETE FROM folder_files WHERE folder = ? AND path = ?", (name, path))

    def holder(self, source: str, slug: str) -> tuple[str, str] | None:
        """The folder and the path of the file that a page of the source is kept from, if one is."""
        rows = self._file.select(
            "SELECT folder, f.path FROM folder_files AS f JOIN folders AS o ON o.name = f.folder "
            "WHERE slug = ? AND source = ? AND standing = 'kept'", (slug, source),
        )  # fmt: skip
        return (rows[0][0], rows[0][1]) if rows else None

    def read_anew(self, source: str) -> None:
        """Let every file of the folders of a source be looked at again by the next sync."""
        self._file.change(
            "UPDATE folder_files SET digest = NULL WHERE folder IN (SELECT name FROM folders WHERE source = ?)",
            (source,),
        )

    def let_go(self, source: str, slug: str) -> None:
        """Keep that the files of a page are to be removed."""
        self._file.change(
            "UPDATE folder_files SET standing = 'going', digest = NULL WHERE slug = ? "
            "AND folder IN (SELECT name FROM folders WHERE source = ?)", (slug, source),
        )  # fmt: skip

    def holds_below(self, source: str, tier: Trust) -> bool:
        """Whether the source holds any page or fact of a lower tier, ended or not."""
        one = (source, int(tier))
        return any(
            self._file.select(f"SELECT 1 FROM {table} WHERE source = ? AND trust < ? LIMIT 1", one)  # noqa: S608
            for table in ("pages", "facts")
        )

    def pages_saying(
        self, source: str, words: Sequence[str], tiers: Sequence[Trust], limit: int
    ) -> tuple[tuple[Trust, str], ...]:
        """Pages of these tiers that hold all the words near each other, ended or not: tier and content."""
        return self._saying(_PAGES_SAYING, " AND ".join(self._file.phrases(words)), source, tiers, limit)

    def facts_saying(
        self, source: str, words: Sequence[str], tiers: Sequence[Trust], limit: int
    ) -> tuple[tuple[Trust, str], ...]:
        """Facts of these tiers that hold any of the words, ended or not: tier and text."""
        return self._saying(_FACTS_SAYING, " OR ".join(self._file.phrases(words)), source, tiers, limit)

    def _saying(
        self, sql: str, asked: str, source: str, tiers: Sequence[Trust], limit: int
    ) -> tuple[tuple[Trust, str], ...]:
        if not asked:
            return ()
        self._file.index_words()
        rows = self._file.select(sql, (asked, source, json.dumps([int(tier) for tier in tiers]), limit))
        return tuple((Trust(trust), text) for trust, text in rows)

    def cursor(self, source: str, name: str) -> Cursor | None:
        """How far a list was read for a source; None where it never was."""
        rows = self._file.select("SELECT at, etag FROM cursors WHERE source = ? AND name = ?", (source, name))
        return Cursor(None if rows[0][0] is None else self._file.moment(rows[0][0]), rows[0][1]) if rows else None

    def reach(self, source: str, name: str, cursor: Cursor) -> None:
        """Keep how far a list was read."""
        at = None if cursor.at is None else self._file.microseconds(cursor.at)
        self._file.change("INSERT OR REPLACE INTO cursors VALUES (?, ?, ?, ?)", (source, name, at, cursor.etag))
