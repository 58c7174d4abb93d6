"""What forgetting for good needs of the SQLite file: every text that it holds, taking rows out, and the bytes of them.

`COLUMNS` names every column that can hold what somebody wrote. A test walks the schema and fails on a missing one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from wellkept.errors import StoreUnavailable
from wellkept.storage import Held, Job, StoneRow

_OF_PAGE = "pages.content"
COLUMNS: Mapping[str, str] = {
    "facts.text": "facts.text",
    "facts.mention": "facts.text",
    "facts.entity": "facts.entity",
    "facts.attribute": "facts.attribute",
    "facts.session_page": "pages.slug",
    "facts.told_in": "pages.slug",
    "facts.told_slug": "pages.slug",
    "facts.event_id": "facts.event_id",
    "facts_fts": "facts.text",
    "pages.slug": "pages.slug",
    "pages.superseded_by": "pages.slug",
    "pages.title": _OF_PAGE,
    "pages.summary": _OF_PAGE,
    "pages.aliases": _OF_PAGE,
    "pages.type": _OF_PAGE,
    "pages.url": "pages.told",
    "pages.source_id": "pages.told",
    "pages.metadata": "pages.told",
    "page_texts.body_start": _OF_PAGE,
    "page_texts.body": _OF_PAGE,
    "page_texts.content": _OF_PAGE,
    "names.key": _OF_PAGE,
    "timeline.date": _OF_PAGE,
    "timeline.text": _OF_PAGE,
    "chunks.text": _OF_PAGE,
    "chunks.searched": _OF_PAGE,
    "chunks_fts": _OF_PAGE,
    "written_fts": _OF_PAGE,
    "vectors.vector": _OF_PAGE,
    "vector_signs.signs": _OF_PAGE,
    "statements.text": _OF_PAGE,
    "statements_fts": _OF_PAGE,
    "fact_vectors.vector": "facts.text",
    "fact_signs.signs": "facts.text",
    "journal.before": "journal.before",
    "journal.because": "journal.because",
    "journal.item": "pages.slug",
    "uses.item": "pages.slug",
    "replies.reply": "replies.reply",
    "holds.request": "holds.request",
    "folder_files.path": "pages.slug",
    "folder_files.slug": "pages.slug",
}
"""Every column and word index that can hold what somebody wrote -> the store in the receipt that it goes with."""

NO_CLAIM = frozenset(
    "sources.id sources.owner pages.source pages.status pages.content_origin facts.source facts.text_hash facts.kind "
    "facts.status facts.told_by facts.content_origin facts.ended_because names.source names.kind journal.source "
    "journal.kind journal.change uses.key uses.source uses.kind uses.signal replies.source replies.caller replies.key "
    "replies.digest embedders.model tombstones.source tombstones.claim tombstones.first tombstones.purge purges.id "
    "journal.actor statements.source pages.flags facts.flags "
    "seals.tbl seals.source seals.parts seals.seal heads.tbl heads.source heads.total heads.seal "
    "holds.source holds.channel holds.principal holds.kind holds.flags modes.name modes.value "
    "folders.name folders.source folders.path folders.signers folders.head folder_files.folder folder_files.digest "
    "folder_files.standing cursors.source cursors.name cursors.etag "
    "purges.source trust_key.proof schema_version.name schema_version.checksum".split()
)
"""The columns that hold words of ours, names that a caller chose for itself, and digests."""

_TEXTS: Mapping[str, str] = {
    "facts.text": "SELECT id, concat_ws(char(10), text, mention) FROM facts WHERE source = ?",
    "facts.event_id": "SELECT id, event_id FROM facts WHERE source = ? AND event_id IS NOT NULL",
    "pages.content": "SELECT slug, content FROM pages JOIN page_texts ON page_id = pages.id WHERE source = ?",
    "pages.told": "SELECT slug, json_array(url, source_id, json(metadata)) FROM pages WHERE source = ? "
    "AND (url IS NOT NULL OR source_id IS NOT NULL OR metadata IS NOT NULL)",
    "facts.entity": "SELECT id, entity FROM facts WHERE source = ? AND entity IS NOT NULL",
    "facts.attribute": "SELECT id, attribute FROM facts WHERE source = ? AND attribute IS NOT NULL",
    "pages.slug": "SELECT slug, slug FROM pages WHERE source = ?",
    "journal.before": "SELECT seq, before FROM journal WHERE source = ? AND before IS NOT NULL",
    "journal.because": "SELECT seq, because FROM journal WHERE source = ? AND because <> ''",
    "replies.reply": "SELECT json_array(caller, key), reply FROM replies WHERE source = ?",
    "holds.request": "SELECT id, request FROM holds WHERE source = ?",
}
"""The stores of the file, and how all texts of one are read."""
_JSON = frozenset({"pages.told", "holds.request"})


@dataclass(frozen=True, slots=True)
class Access:
    """How a store lets this module at the file: everything goes through its connections, locks and errors."""

    select: Callable[..., list[tuple[Any, ...]]]
    change: Callable[..., list[tuple[Any, ...]]]
    each: Callable[..., Iterator[tuple[Any, ...]]]
    clear_page: Callable[[int], None]
    outside: Callable[[str], list[tuple[Any, ...]]]
    """Runs a statement on the writing connection where no transaction is open."""
    image: Callable[[], bytes]
    microseconds: Callable[[datetime], int]


class SqliteForgetting:
    """The Forgetting of one SqliteStore. What changes the file is called within a transaction of the store."""

    def __init__(self, access: Access) -> None:
        self._file = access

    # -- what was forgotten

    def stones(self, source: str) -> tuple[StoneRow, ...]:
        """What is kept of the claims that the source forgot."""
        rows = self._file.select("SELECT claim, first, words, purge FROM tombstones WHERE source = ?", (source,))
        return tuple(StoneRow(source, *row) for row in rows)

    def add_stones(self, stones: Sequence[StoneRow], at: datetime) -> None:
        """Keep what is to be recognised; one that is there stays as it is."""
        for stone in stones:
            row = (stone.source, stone.claim, stone.first, stone.words, stone.purge, self._file.microseconds(at))
            self._file.change("INSERT INTO tombstones VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", row)

    def lift(self, source: str, purge: str) -> int:
        """Take away what one purge left to recognise; how many claims that were."""
        sql = "DELETE FROM tombstones WHERE source IN (?, '') AND purge = ? RETURNING 1"
        return len(self._file.change(sql, (source, purge)))

    def proof(self) -> bytes | None:
        """What tells the key of the digests; None where there is none yet."""
        rows = self._file.select("SELECT proof FROM trust_key")
        return rows[0][0] if rows else None

    def keep_proof(self, proof: bytes) -> None:
        """Tie the file to a key. One that is tied stays so."""
        self._file.change("INSERT INTO trust_key VALUES (1, ?) ON CONFLICT DO NOTHING", (proof,))

    # -- what is held, and taking it out

    def texts(self, source: str) -> Iterator[Held]:
        """Every text that the source holds, with where it stands."""
        for store, sql in _TEXTS.items():
            for key, text in self._file.each(sql, (source,)):
                yield Held(store, str(key), _read(text) if store in _JSON else text)

    def erase_fact(self, source: str, number: int) -> None:
        """Take a fact out, with all that was said of it and every line of its history."""
        self._file.change("DELETE FROM facts_fts WHERE rowid = (SELECT id FROM facts WHERE source = ? AND id = ?)",
                          (source, number))  # fmt: skip
        self._file.change("DELETE FROM facts WHERE source = ? AND id = ?", (source, number))
        # What would have made way for it later stays.
        self._file.change(
            "UPDATE facts SET valid_until = told_until, told_until = NULL, expired_at = NULL, ended_because = NULL "
            "WHERE source = ? AND superseded_by = ? AND status = 'active'", (source, number),
        )  # fmt: skip
        for column in ("superseded_by", "replaces"):
            self._file.change(f"UPDATE facts SET {column} = NULL WHERE source = ? AND {column} = ?",  # noqa: S608
                              (source, number))  # fmt: skip
        self._erase_item(source, "fact", str(number))

    def erase_page(self, source: str, slug: str) -> None:
        """Take a page out, with its pieces, names, vectors, history and all that was said of it."""
        for (page_id,) in self._file.change("SELECT id FROM pages WHERE source = ? AND slug = ?", (source, slug)):
            self._file.clear_page(page_id)
            self._file.change("DELETE FROM pages WHERE id = ?", (page_id,))
        self._file.change("UPDATE pages SET superseded_by = NULL WHERE source = ? AND superseded_by = ?",
                          (source, slug))  # fmt: skip
        self._erase_item(source, "page", slug)

    def _erase_item(self, source: str, kind: str, key: str) -> None:
        for table in ("journal", "uses"):
            self._file.change(f"DELETE FROM {table} WHERE source = ? AND kind = ? AND item = ?",  # noqa: S608
                              (source, kind, key))  # fmt: skip

    def rewrite(self, held: Held, source: str, text: str) -> None:
        """Put another text in the place of one of the journal, of what was answered, or of a turn's id."""
        if held.store == "journal.before":
            self._file.change("UPDATE journal SET before = ? WHERE source = ? AND seq = ?",
                              (text, source, int(held.key)))  # fmt: skip
        elif held.store == "journal.because":
            self._file.change("UPDATE journal SET because = ? WHERE source = ? AND seq = ?",
                              (text, source, int(held.key)))  # fmt: skip
        elif held.store == "facts.event_id":
            self._file.change("UPDATE facts SET event_id = NULL WHERE source = ? AND id = ?",
                              (source, int(held.key)))  # fmt: skip
        elif held.store == "facts.attribute":
            self._forget_attribute(source, int(held.key))
        elif held.store == "facts.entity":
            self._forget_entity(source, int(held.key))
        elif held.store == "replies.reply":
            caller, key = json.loads(held.key)
            self._file.change("DELETE FROM replies WHERE source = ? AND caller = ? AND key = ?", (source, caller, key))
        elif held.store == "holds.request":
            self._file.change("DELETE FROM holds WHERE source = ? AND id = ?", (source, int(held.key)))
        else:
            raise ValueError(held.store)

    def _forget_attribute(self, source: str, number: int) -> None:
        """Let nobody know what a fact says of its entity; one that says the same without is there already: it goes."""
        one = (source, number)
        sql = "UPDATE OR IGNORE facts SET attribute = NULL WHERE source = ? AND id = ? RETURNING 1"
        if not self._file.change(sql, one):
            self.erase_fact(*one)

    def _forget_entity(self, source: str, number: int) -> None:
        """Let nobody know whom a fact is about; one that says the same of nobody is there already: then it goes."""
        one = (source, number)
        if self._file.change("UPDATE OR IGNORE facts SET entity = NULL WHERE source = ? AND id = ? RETURNING 1", one):
            self._file.change(
                "UPDATE facts_fts SET said = (SELECT said(text, mention, NULL) FROM facts WHERE source = ? AND id = ?) "
                "WHERE rowid = ?", (*one, number),
            )  # fmt: skip
        else:
            self.erase_fact(*one)

    def forget_history_of(self, source: str, slug: str, last: int) -> None:
        """Let no line of a page's journal beyond `last` hold what the page said before."""
        self._file.change(
            "UPDATE journal SET before = NULL WHERE source = ? AND kind = 'page' AND item = ? AND seq > ?",
            (source, slug, last),
        )

    def last_line(self) -> int:
        """The newest line of the journal."""
        rows = self._file.change("SELECT ifnull(max(seq), 0) FROM journal")
        return int(rows[0][0])

    # -- purges that are not at their end

    def begin(self, job: Job) -> None:
        """Keep that a purge is under way."""
        row = (job.id, job.source, self._file.microseconds(job.at))
        self._file.change("INSERT OR REPLACE INTO purges VALUES (?, ?, ?)", row)

    def jobs(self) -> tuple[tuple[str, str], ...]:
        """The purges that are not at their end: id and source."""
        return tuple((row[0], row[1]) for row in self._file.select("SELECT id, source FROM purges ORDER BY at"))

    def end(self, job: str) -> None:
        """The purge is at its end."""
        self._file.change("DELETE FROM purges WHERE id = ?", (job,))

    # -- the bytes

    def image(self) -> bytes:
        """All that the store holds, as the bytes of a database: of one that has no file."""
        return self._file.image()

    def settle(self, *, anew: bool) -> bool:
        """Leave no byte of what was taken out in the file or its log; False while a reader holds the log.

        With `anew` the whole file is written again, which also clears what an earlier version of a block left in it.
        """
        try:
            if anew:
                self._file.outside("VACUUM")
            ((busy, _, _),) = self._file.outside("PRAGMA wal_checkpoint(TRUNCATE)")
        except StoreUnavailable:
            return False  # somebody else writes, or the disk is full: the purge waits
        return not busy


def _read(told: str) -> str:
    """The texts of a JSON value, as they read and not as they are escaped."""
    found: list[str] = []
    waiting: list[object] = [json.loads(told)]
    while waiting:
        value = waiting.pop(0)
        if isinstance(value, dict):
            waiting[:0] = [part for pair in value.items() for part in pair]
        elif isinstance(value, list):
            waiting[:0] = value
        elif isinstance(value, str):
            found.append(value)
    return "\n".join(found)
