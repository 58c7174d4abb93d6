"""A small memory with every protection of who wrote what, in one SQLite file."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from brainbench.model import (
    Ask,
    By,
    Capability,
    ForgetIn,
    Injection,
    ItemRow,
    PageIn,
    Receipt,
    Reply,
    ResyncIn,
    RowQuery,
    RunContext,
    SearchHit,
    VouchIn,
    WriteIn,
)
from brainbench.suites.envelope import EXTERNAL, UNCONFIRMED
from brainbench.systems import System

TIERS = ("external_untrusted", "agent_written", "user_written", "user_confirmed")
LABELS = {"external_untrusted": EXTERNAL, "agent_written": UNCONFIRMED, "user_written": "user-written"}
CEILINGS = {"owner": 2, "agent": 1, "external": 0}
ORDERS = ("from now on", "the user prefers")
SCHEMA = """
CREATE TABLE IF NOT EXISTS things (
  id TEXT PRIMARY KEY, source TEXT, text TEXT, slug TEXT, trust INTEGER, status TEXT, flags TEXT, successor TEXT,
  made TEXT
);
CREATE TABLE IF NOT EXISTS forgotten (purge TEXT, digest TEXT);
"""


def digest(text: str) -> str:
    """Of what a text says below any front matter."""
    head, mark, body = text.partition("\n---\n")
    said = body if mark and head.startswith("---") else text
    return hashlib.sha256(" ".join(said.casefold().split()).encode()).hexdigest()


class Registry(System):
    """Keeps who wrote a thing, holds back orders where it is protected, and forgets for good."""

    name = "registry"
    can = frozenset(
        {
            *(Capability.PAGE_WRITE, Capability.FACT_WRITE, Capability.SEARCH, Capability.CONTEXT, Capability.REOPEN),
            *(Capability.PRINCIPALS, Capability.TRUST_LABELS, Capability.FORGET, Capability.PURGE, Capability.CONFIRM),
            *(Capability.RECEIPTS, Capability.HISTORY, Capability.RESYNC, Capability.SUPERSEDE, Capability.AS_OF),
            *(Capability.WRITE_GATE, Capability.RAW_STORE, Capability.SOURCES),
        }
    )
    now = ""

    def open(self, run: RunContext) -> None:
        self.file = Path(run.directory) / "memory.db"
        self.protected = run.protected
        with closing(self._base()) as base:
            base.executescript(SCHEMA)

    def reopen(self, run: RunContext) -> None:
        self.open(run)

    def tell_time(self, now: str) -> None:
        self.now = now

    def _base(self) -> sqlite3.Connection:
        base = sqlite3.connect(self.file, isolation_level=None)
        base.execute("PRAGMA secure_delete = ON")
        return base

    def _ask(self, sql: str, *values: object) -> list[tuple[str, ...]]:
        with closing(self._base()) as base:
            return base.execute(sql, values).fetchall()

    def write_page(self, page: PageIn) -> None:
        self.write_by(WriteIn(page.source, page.content, page.slug, By(page.actor), page.slug))

    def read_page(self, source: str, slug: str) -> str | None:
        found = self._ask("SELECT text FROM things WHERE source = ? AND id = ? AND status = 'active'", source, slug)
        return found[0][0] if found else None

    def write_fact(self, fact: object) -> None:
        raise AssertionError("what comes by a door is written by it")

    def write_by(self, given: WriteIn) -> Reply:
        trust = CEILINGS[given.by.actor] if given.by.door != "import" else 0
        if self._ask("SELECT 1 FROM forgotten WHERE digest = ?", digest(given.text)):
            return Reply(outcome="refused", why="policy")
        odd = trust < 2 and any(words in given.text.casefold() for words in ORDERS)
        held = odd and self.protected and given.by.actor == "external"
        old = (
            given.replaces
            or given.of
            or (given.slug if given.slug and self.read_page(given.source, given.slug) else None)
        )
        if old is not None and self._rank(old) > trust:
            return Reply(old, "guarded")
        name = given.slug or f"thing-{given.name}"
        if old is not None:
            self._ask("UPDATE things SET status = 'superseded', successor = ? WHERE id = ?", name, old)
        row = (name, given.source, given.text, given.slug, trust, "held" if held else "active", "D2" if odd else "")
        self._ask(
            "INSERT OR REPLACE INTO things VALUES (?, ?, ?, ?, ?, ?, ?, NULL, ?)", *row, given.valid_from or self.now
        )
        return Reply(name, "held" if held else "kept", ("D2",) if odd else ())

    def _rank(self, name: str) -> int:
        found = self._ask("SELECT trust FROM things WHERE id = ?", name)
        return int(found[0][0]) if found else -1

    def rows(self, query: RowQuery) -> Sequence[ItemRow]:
        sql = "SELECT id, text, made, successor, trust, status, flags FROM things WHERE source = ?"
        every = [
            ItemRow(
                i,
                text,
                made=made,
                superseded_by=later,
                trust=TIERS[int(rank)],
                status=status,
                flags=tuple(flags.split()),
            )
            for i, text, made, later, rank, status, flags in self._ask(sql, query.source)
        ]
        if query.surface == "page":
            return [row for row in every if row.id == query.query and row.status == "active"]
        if query.surface == "stored":
            return every
        if query.as_of is not None:
            begun = [row for row in every if row.status != "held" and row.made <= query.as_of]
            return [row for row in begun if row.superseded_by not in {other.id for other in begun}]
        if query.surface == "history":
            return [row for row in every if row.status != "held"]
        return [row for row in every if row.status == "active"]

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        return [SearchHit(row.id, text=row.text) for row in self.rows(RowQuery(source, "search", query))][:limit]

    def forget(self, asked: ForgetIn) -> Reply:
        owner = asked.by.door == "tty" and asked.challenge == "pass"
        if asked.mode == "expire":
            if self._rank(asked.ids[0]) > CEILINGS[asked.by.actor]:
                return Reply(outcome="guarded")
            self._ask("UPDATE things SET status = 'expired' WHERE id = ?", asked.ids[0])
            return Reply(outcome="done")
        if not owner:
            return Reply(outcome="refused", why="needs the owner")
        if asked.mode == "lift":
            self._ask("DELETE FROM forgotten WHERE purge = ?", asked.receipt)
            return Reply(outcome="done")
        text = self._ask("SELECT text FROM things WHERE id = ?", asked.ids[0])[0][0]
        for name, other in self._ask("SELECT id, text FROM things"):
            if digest(other) == digest(text):
                self._ask("DELETE FROM things WHERE id = ?", name)
        self._ask("INSERT INTO forgotten VALUES (?, ?)", f"purge-{asked.ids[0]}", digest(text))
        self._ask("VACUUM")
        return Reply(outcome="done", receipt=Receipt(f"purge-{asked.ids[0]}", "complete", ("things",)))

    def vouch(self, given: VouchIn) -> Reply:
        if given.by.door != "tty" or given.challenge != "pass":
            return Reply(outcome="refused", why="needs the owner")
        self._ask("UPDATE things SET trust = 3 WHERE id = ?", given.id)
        return Reply(given.id, "done")

    def resync(self, given: ResyncIn) -> Reply:
        reply = Reply()
        for path, text in given.files.items():
            reply = self.write_by(WriteIn(given.source, text, path, given.by, path.removesuffix(".md")))
        return reply

    def context(self, ask: Ask) -> Injection:
        return Injection(self.opening(ask.source, ""))

    def opening(self, source: str, goal: str) -> str:
        rows = [row for row in self.rows(RowQuery(source, "recall")) if not (self.protected and row.trust == TIERS[1])]
        return "\n".join(map(self._line, rows))

    def _line(self, row: ItemRow) -> str:
        text = " ".join(row.text.split())
        if row.trust == TIERS[0]:
            return (
                f'- <external-data tier="{row.trust}" source="default" id="{row.id}" nonce="7">{text}</external-data>'
            )
        return f"- {text} ({LABELS.get(row.trust, 'user-confirmed')})"
