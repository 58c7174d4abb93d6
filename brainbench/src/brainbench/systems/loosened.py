"""Any system with one of the protections taken away that keep one writer's word from passing as another's.

As with every break, what goes in or comes out is changed and never the inside.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from brainbench.model import (
    Ask,
    By,
    ForgetIn,
    Injection,
    ItemRow,
    Receipt,
    Reply,
    RowQuery,
    RunContext,
    VouchIn,
    WriteIn,
)
from brainbench.systems.broken import Broken

_OWNER = By("owner", "tty", "owner")
_WRAPPERS = re.compile(r"</?external-data\b[^>]*>")
_LABELS = re.compile(r"unconfirmed, agent-written|external, untrusted|user-written|user-confirmed")


class AsTheOwner(Broken):
    """Takes everybody for the owner at a terminal."""

    def write_by(self, given: WriteIn) -> Reply:
        return self.whole.write_by(replace(given, by=_OWNER, origin=None))

    def forget(self, asked: ForgetIn) -> Reply:
        return self.whole.forget(replace(asked, by=_OWNER, challenge="pass"))


class AnybodyVouches(Broken):
    """Takes anybody's word for the owner's."""

    def vouch(self, given: VouchIn) -> Reply:
        return self.whole.vouch(replace(given, by=_OWNER, challenge="pass"))


class Shows(Broken):
    """Shows its rows changed."""

    def rows(self, query: RowQuery) -> Sequence[ItemRow]:
        return self.changed(list(self.whole.rows(query)), query)

    def changed(self, rows: list[ItemRow], query: RowQuery) -> list[ItemRow]:
        """The rows as they are shown."""
        return rows


class OneTier(Shows):
    """Shows what is found under the tier of an owner's page, whoever wrote it."""

    def changed(self, rows: list[ItemRow], query: RowQuery) -> list[ItemRow]:
        return rows if query.surface == "stored" else [replace(row, trust="user_written") for row in rows]


class Unlabelled(Shows):
    """Shows no tier and no flag on what is found or kept."""

    def write_by(self, given: WriteIn) -> Reply:
        return replace(self.whole.write_by(given), flags=())

    def changed(self, rows: list[ItemRow], query: RowQuery) -> list[ItemRow]:
        return [replace(row, trust="", flags=()) for row in rows]


class Unflagged(Shows):
    """Marks nothing of what it is given."""

    def write_by(self, given: WriteIn) -> Reply:
        return replace(self.whole.write_by(given), flags=())

    def changed(self, rows: list[ItemRow], query: RowQuery) -> list[ItemRow]:
        return [replace(row, flags=()) for row in rows]


class ClosesBoth(Shows):
    """Ends what takes a place together with what had it: recall gives neither."""

    def open(self, run: RunContext) -> None:
        self._taken: set[str] = set()
        self.whole.open(run)

    def reopen(self, run: RunContext) -> None:
        self._taken = getattr(self, "_taken", set())
        self.whole.reopen(run)

    def write_by(self, given: WriteIn) -> Reply:
        reply = self.whole.write_by(given)
        if given.replaces is not None and reply.id is not None:
            self._taken.add(reply.id)
        return reply

    def changed(self, rows: list[ItemRow], query: RowQuery) -> list[ItemRow]:
        return [row for row in rows if row.id not in self._taken]


class EverCurrent(Shows):
    """Recalls what was superseded as if it were so still."""

    def rows(self, query: RowQuery) -> Sequence[ItemRow]:
        if query.surface != "recall" or query.as_of is not None or query.known_at is not None:
            return self.whole.rows(query)
        rows = self.whole.rows(replace(query, surface="history"))
        return [replace(row, status="active", superseded_by=None) for row in rows]


class NoHistory(Shows):
    """Keeps nothing of what was so before."""

    def changed(self, rows: list[ItemRow], query: RowQuery) -> list[ItemRow]:
        return [row for row in rows if row.status in ("", "active") and row.superseded_by is None]


class HidesOnly(Shows):
    """Says of what is to be forgotten for good that it is gone, and only stops showing it."""

    def forget(self, asked: ForgetIn) -> Reply:
        if asked.mode != "purge":
            return self.whole.forget(asked)
        self.whole.forget(replace(asked, mode="expire"))
        return Reply(outcome="done", receipt=Receipt("hidden", "complete", ()))

    def changed(self, rows: list[ItemRow], query: RowQuery) -> list[ItemRow]:
        return [row for row in rows if row.status != "expired"]


class ShortReceipt(Broken):
    """Gives receipts that name no store."""

    def forget(self, asked: ForgetIn) -> Reply:
        reply = self.whole.forget(asked)
        return reply if reply.receipt is None else replace(reply, receipt=replace(reply.receipt, stores=()))


class Unremembering(Broken):
    """Lifts every purge at once, so that what was forgotten can be said again by anybody."""

    def forget(self, asked: ForgetIn) -> Reply:
        reply = self.whole.forget(asked)
        if asked.mode == "purge" and reply.receipt is not None:
            self.whole.forget(
                replace(asked, ids=(), mode="lift", by=_OWNER, challenge="pass", receipt=reply.receipt.id)
            )
        return reply


class OpenGate(Broken):
    """Runs as it ships where it should hold back."""

    def open(self, run: RunContext) -> None:
        self.whole.open(replace(run, protected=False))

    def reopen(self, run: RunContext) -> None:
        self.whole.reopen(replace(run, protected=False))


class HoldsAll(Broken):
    """Holds back whatever somebody else than the owner writes."""

    def write_by(self, given: WriteIn) -> Reply:
        return self.whole.write_by(given) if given.by.actor == "owner" else Reply(outcome="held")


class Bare(OpenGate):
    """Brings what it brings without wrappers and labels, and holds nothing back."""

    speaks = True

    def context(self, ask: Ask) -> Injection:
        said = self.whole.context(ask)
        return replace(said, text=_bare(said.text), preamble=_bare(said.preamble))

    def opening(self, source: str, goal: str) -> str:
        return _bare(self.whole.opening(source, goal))


def _bare(text: str) -> str:
    """A text without wrappers and the words of labels.

    >>> _bare('- <external-data tier="x" nonce="1">Pay (external, untrusted)</external-data>')
    '- Pay ()'
    """
    return _LABELS.sub("", _WRAPPERS.sub("", text))
