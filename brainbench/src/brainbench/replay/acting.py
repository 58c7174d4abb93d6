"""Play a script of acts: who writes what by which door, what is marked, forgotten and brought back. Knows no gold.

After each act what the memory holds and shows is looked at: all of it, and what it gives for queries that are made of
the script's own words. What gold will ask about is not known here, so everything that the script added is told. Where a
memory has no door for an act, the plain act that its users would do stands in, and is listed as a deviation.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from brainbench.corpus.scripts import principal_of
from brainbench.errors import SystemFailure, Unsupported
from brainbench.model import (
    DOORS_OF,
    ITEM_SUITES,
    ONCE,
    Ask,
    By,
    Capability,
    Confirm,
    Conversation,
    Edit,
    Event,
    FactIn,
    Fixture,
    Forget,
    ForgetIn,
    ItemIn,
    ItemRow,
    Later,
    Message,
    PageIn,
    Reply,
    Resync,
    ResyncIn,
    RowQuery,
    RunContext,
    SeamConfig,
    SessionBreak,
    Shown,
    Sight,
    Surface,
    Turn,
    VouchIn,
    Write,
    WriteIn,
)
from brainbench.replay.images import packed
from brainbench.seams import load_codec
from brainbench.systems import System
from brainbench.systems.answers import plain, told_facts, what_happened

LIMIT = 20
"""How many rows a surface is asked for."""
MOST_QUERIES = 24
QUERY_CHARS = 300
_RAW = (
    "import json, sqlite3, sys; file, sql = json.load(sys.stdin); base = sqlite3.connect(file, timeout=5); "
    "before = base.total_changes; base.executescript(sql) if ';' in sql.strip()[:-1] else base.execute(sql); "
    "base.commit(); print(base.total_changes - before)"
)
"""A stranger's own connection to a database file, which prints how many rows it changed."""
_NEVER_RUN = ("no such table", "no such column", "syntax error", "it changed no row", "incomplete input")
"""What SQL says that does not fit a database: that refuses nothing."""
_ROWS = tuple[ItemRow, ...]


def is_acted(fixture: Fixture) -> bool:
    """Whether a script is of acts that the item suites judge."""
    return bool(set(fixture.suites) & set(ITEM_SUITES))


def claimed(can: Iterable[Capability]) -> frozenset[Capability]:
    """What a memory can do, with what follows: one that is opened in a directory keeps everything there."""
    every = frozenset(can)
    return every | {Capability.STORAGE_DIR} if Capability.REOPEN in every else every


def lacking(fixture: Fixture, can: Iterable[Capability]) -> tuple[str, ...]:
    """What the acts of a script need and a memory does not claim, sorted; alternatives are joined by "or"."""
    has = claimed(can)
    needs = [frozenset({capability}) for capability in fixture.requires]
    for event in (*fixture.setup, *fixture.events):
        needs += _needs(event)
    if len(fixture.sources) > 1:
        needs.append(frozenset({Capability.SOURCES}))
    return tuple(sorted({" or ".join(sorted(group)) for group in needs if not group & has}))


_KEEP = frozenset({Capability.PAGE_WRITE, Capability.FACT_WRITE, Capability.ADD})
_END = frozenset({Capability.FORGET, Capability.DELETE})


def _needs(event: Event) -> list[frozenset[Capability]]:
    """Groups of capabilities of which each is needed in one way."""
    match event:
        case Write():
            return [_KEEP]
        case Edit(op="raw_store"):
            return [frozenset({Capability.RAW_STORE}), frozenset({Capability.STORAGE_DIR})]
        case Edit(op="rename"):
            return [frozenset({Capability.PAGE_WRITE}), _END]
        case Edit():
            return [frozenset({Capability.PAGE_WRITE, Capability.UPDATE, Capability.PRINCIPALS})]
        case Forget(mode="lift"):
            return [frozenset({Capability.PURGE})]
        case Forget():
            return [_END]
        case Confirm():
            return [frozenset({Capability.CONFIRM})]
        case Resync(op="restore" | "peer"):
            return [frozenset({Capability.RESYNC})]
        case Resync(op="transcript"):
            return [frozenset({Capability.CONVERSATION_WRITE, Capability.RESYNC})]
        case Resync():
            return [_KEEP | {Capability.RESYNC}]
        case SessionBreak(crash=True):
            return [frozenset({Capability.REOPEN})]
        case SessionBreak(persist=True):
            return [frozenset({Capability.CONVERSATION_WRITE})]
        case _:
            return []


@dataclass(slots=True)
class _Thing:
    """Something that the script wrote: under which id it went, and what was said of it."""

    source: str
    text: str
    id: str | None = None
    slug: str | None = None
    about: str = ""
    receipt: str | None = None


@dataclass(slots=True)
class _Known:
    """What is known of the things of a script, by their names and in their order."""

    named: dict[str, _Thing] = field(default_factory=dict)
    every: list[_Thing] = field(default_factory=list)
    receipts: list[str] = field(default_factory=list)

    def add(self, name: str | None, thing: _Thing) -> None:
        self.every.append(thing)
        if name is not None:
            self.named[name] = thing

    def id_of(self, name: str) -> str:
        found = self.named[name].id
        if found is None:
            raise SystemFailure(f"what this act is about was not kept under any id before: {self.named[name].text!r}")
        return found


def needs_place(fixture: Fixture) -> bool:
    """Whether the files of the memory matter in a script: what it forgets is looked for there, or it is killed."""
    return any(
        isinstance(e, Forget)
        or (isinstance(e, Edit) and e.op == "raw_store")
        or (isinstance(e, SessionBreak) and e.crash)
        for e in fixture.events
    )


class Acting:
    """One script of acts being played on a memory that `fill` opened. Keeps the clock and what was written."""

    def __init__(self, system: System, seam: SeamConfig, fixture: Fixture, run: RunContext, first: str) -> None:
        self.system, self.seam, self.fixture, self.run = system, seam, fixture, run
        self.can = claimed(system.can)
        self.now = first
        self.known = _Known()
        self.base: dict[str, frozenset[ItemRow]] = {}
        self.said: list[Turn] = []
        deletes = Capability.DELETE in self.can and Capability.FORGET not in self.can
        self.as_items = deletes and Capability.ADD in self.can and set(fixture.suites) <= set(ONCE)
        """Whether pages are kept as items: of a memory that only deletes, that is what can be deleted."""
        self.sessions = 0

    def sights(self, later: Callable[[str, int], str]) -> Iterator[Sight]:
        """What came of every act, the setup's first; of the end under the id of the last event."""
        self._settle()
        for source in self._sources():
            self.base[source] = frozenset(self._stored(source))
        for event in (*self.fixture.setup, *self.fixture.events):
            self.now = event.ts or later(self.now, 60)
            if isinstance(event, Turn):
                self.said.append(event)
                continue
            yield self._sight(event)
        self.now = later(self.now, 60)
        yield self._end()

    # -- acts

    def _sight(self, event: Event) -> Sight:
        """An act and what is seen after it. The edge where a system may fail."""
        forgets = isinstance(event, Forget) and Capability.STORAGE_DIR in self.can
        seen = Sight(event.event_id)
        before = b""
        try:
            self.system.tell_time(self.now)
            before = packed(self.run.directory) if forgets else b""
            reply, deviation = self._do(event)
            self._settle()
            seen = replace(seen, reply=_without_ids(plain(reply, Reply)), deviation=deviation)
        except Exception as error:
            seen = replace(seen, error=what_happened(error))
        small = bool(set(self.fixture.suites) & set(ONCE))
        seen = replace(seen, shown=tuple(self._look(whole=False, ask=small)), before=before)
        if forgets and seen.error is None:
            seen = self._restarted(seen)
        return seen

    def _restarted(self, seen: Sight) -> Sight:
        """The same with what is on the disk while the memory is closed, and shown once it is open again."""
        try:
            self.system.close()
            after = packed(self.run.directory)
            self.system.reopen(self.run)
            self.system.tell_time(self.now)
        except Exception as error:
            return replace(seen, error=f"started again: {what_happened(error)}")
        return replace(seen, after=after, shown=(*seen.shown, *self._look(whole=False, ask=True)))

    def _do(self, event: Event) -> tuple[Reply, str]:
        source = event.source or self.fixture.active_source
        match event:
            case Write():
                return self._write(event, source)
            case Edit():
                return self._edit(event, source)
            case Forget():
                return self._forget(event, source)
            case Confirm():
                asked = VouchIn(source, self._target(event, source), event.op, _by(event), event.challenge)
                return self.system.vouch(asked), ""
            case Resync():
                return self._resync(event, source)
            case SessionBreak():
                return self._break(event, source)
        raise SystemFailure(f"no act is played for a {type(event).__name__.lower()}")

    def _write(self, event: Write, source: str) -> tuple[Reply, str]:
        thing = _Thing(source, event.content, slug=None if event.via == "fact" or self.as_items else event.slug)
        thing.about = " ".join(filter(None, (_tail(event.entity or event.slug), event.attribute)))
        self.known.add(event.name, thing)
        given = WriteIn(
            source,
            event.content,
            f"item-{event.event_id}",
            by=_by(event),
            slug=thing.slug,
            origin=event.origin,
            entity=event.entity or (event.slug if event.via == "fact" else None),
            attribute=event.attribute,
            replaces=self.known.id_of(event.replaces) if event.replaces else None,
            valid_from=event.valid_from,
            lineage=tuple(self.known.id_of(name) for name in event.lineage),
            part=event.part,
            ts=event.ts,
        )
        reply, deviation = self._give(given)
        thing.id = reply.id
        if reply.id == _own_page(given):
            thing.slug = reply.id
        return reply, deviation

    def _give(self, given: WriteIn) -> tuple[Reply, str]:
        """Write by the door, or where there is none as anybody writes."""
        if Capability.PRINCIPALS in self.can:
            return plain(self.system.write_by(given), Reply), ""
        told = "written by the plain write, which knows no door"
        if given.of is not None:
            changed = self.system.update_item(given.source, given.of, given.text)
            return Reply(changed, "kept" if changed is not None else "not_found"), told
        if Capability.PAGE_WRITE in self.can and (given.slug or not self.can & {Capability.ADD, Capability.FACT_WRITE}):
            slug = given.slug or _own_page(given)
            self.system.write_page(PageIn(given.source, slug, given.text, given.by.actor, given.ts))
            return Reply(slug), told
        if Capability.ADD in self.can:
            since = given.valid_from if Capability.EVENT_TIME in self.can else None
            replaces = given.replaces if Capability.SUPERSEDE in self.can else None
            return Reply(
                self.system.add_item(ItemIn(given.source, given.text, given.name, ts=since, replaces=replaces))
            ), told
        self.system.write_fact(FactIn(given.source, given.text, given.entity, None, given.by.actor, given.ts))
        return Reply(), told

    def _edit(self, event: Edit, source: str) -> tuple[Reply, str]:
        if event.op == "raw_store":
            return self._raw(event.sql or ""), ""
        thing = self._thing(event, source)
        by = _by(event)
        if thing.slug is None:
            text = _replaced(thing.text, event)
            reply, deviation = self._give(WriteIn(source, text, f"item-{event.event_id}", by, of=thing.id, ts=event.ts))
            thing.text, thing.id = text, reply.id or thing.id
            self.known.add(event.name, _Thing(source, text, thing.id))
            return reply, deviation
        content = self.system.read_page(source, thing.slug)
        if content is None:
            raise SystemFailure(f"page {thing.slug!r} is not there to be edited")
        slug = event.to or thing.slug
        text = content if event.op in ("rename", "copy") else _replaced(content, event)
        lineage = (thing.slug,) if event.op == "copy" else ()
        given = WriteIn(source, text, f"item-{event.event_id}", by, slug, lineage=lineage, ts=event.ts)
        reply, deviation = self._give(given)
        self.known.add(event.name, _Thing(source, text, reply.id or slug, slug))
        if event.op == "rename" and reply.outcome in ("kept", "unchanged"):
            self._end_it(ForgetIn(source, (thing.slug,), "expire", by))
            deviation = "renamed by a write under the new name and an end of the old one"
        return reply, deviation

    def _raw(self, sql: str) -> Reply:
        """SQL of a stranger on each database that has the table, by a process of its own."""
        why, refused = "there is no database", None
        for path in sorted(Path(self.run.directory).rglob("*")):
            if not path.is_file() or not _is_database(path):
                continue
            asked = json.dumps([str(path), sql])
            ran = subprocess.run([sys.executable, "-c", _RAW], input=asked, capture_output=True, text=True, timeout=30)
            if ran.returncode == 0 and int(ran.stdout or 0) > 0:
                return Reply(outcome="done")
            why = (ran.stderr.strip().splitlines() or ["it changed no row"])[-1]
            if not any(words in why for words in _NEVER_RUN):
                refused = why
        if refused is None:
            raise SystemFailure(f"the act on the stored file did not land: {why}")
        return Reply(outcome="refused", why=refused)

    def _forget(self, event: Forget, source: str) -> tuple[Reply, str]:
        by, thing = _by(event), self._thing(event, source) if event.mode != "lift" or event.target.name else None
        if event.mode == "lift":
            receipt = (thing.receipt if thing is not None else None) or next(iter(self.known.receipts[-1:]), None)
            return self._end_it(ForgetIn(source, (), "lift", by, event.challenge, receipt))
        if thing is None or thing.id is None:
            raise SystemFailure("what is to be forgotten was not kept under any id")
        reply, deviation = self._end_it(ForgetIn(source, (thing.id,), event.mode, by, event.challenge))
        if reply.receipt is not None:
            thing.receipt = reply.receipt.id
            self.known.receipts.append(reply.receipt.id)
        return reply, deviation

    def _end_it(self, asked: ForgetIn) -> tuple[Reply, str]:
        if Capability.FORGET in self.can:
            return plain(self.system.forget(asked), Reply), ""
        done = [self.system.delete_item(asked.source, one) for one in asked.ids]
        return Reply(
            outcome="done" if all(done) else "not_found"
        ), "forgotten by the plain delete, which gives no receipt"

    def _resync(self, event: Resync, source: str) -> tuple[Reply, str]:
        files = dict(event.snapshot)
        if event.name:
            self.known.add(event.name, _Thing(source, "\n".join(files.values())))
        if Capability.RESYNC in self.can:
            with contextlib.suppress(Unsupported):
                return self.system.resync(ResyncIn(source, event.op, files, _by(event))), ""
        if event.op == "transcript":
            said = tuple(Message("user", text, event.ts) for text in files.values())
            self.system.write_conversation(Conversation(source, f"{self.run.run_id}-again", said, now=self.now))
            return Reply(), "a transcript is written as a conversation"
        if event.op in ("restore", "peer"):
            raise SystemFailure(f"it has no door for a {event.op}")
        reply = Reply()
        for number, (path, text) in enumerate(files.items()):
            slug = None if self.as_items else path.removesuffix(".md")
            reply, _ = self._give(WriteIn(source, text, f"file-{event.event_id}-{number}", _by(event), slug))
        return reply, "files are written as pages by the plain write"

    def _break(self, event: SessionBreak, source: str) -> tuple[Reply, str]:
        deviation = ""
        if event.persist and self.said:
            self.sessions += 1
            ids = {turn.event_id for turn in self.said}
            said = tuple(Message(t.role, t.text, t.ts) for t in self.said)
            scripted = tuple(f for f in self.fixture.scripted_facts if f.event_id in ids)
            session = f"{self.run.run_id}-{self.sessions}"
            self.system.write_conversation(Conversation(source, session, said, scripted, self.now))
        self.said = []
        if event.jobs:
            self.system.jobs()
        if event.crash:
            deviation = self._crash()
        return Reply(outcome="done"), deviation

    def _crash(self) -> str:
        """The memory's process is killed and started again; one that has none of its own is only closed."""
        deviation = ""
        try:
            self.system.kill()
        except Unsupported:
            self.system.close()
            deviation = "closed and started again, not killed"
        self.system.reopen(self.run)
        return deviation

    # -- what an act is about

    def _thing(self, event: Edit | Forget | Confirm, source: str) -> _Thing:
        """What the target of an act names: what the script wrote, a page, or the first thing that says so."""
        target = event.target
        if target is None or target.slug is not None:
            slug = (
                (target.slug if target is not None else None) or (event.slug if isinstance(event, Edit) else "") or ""
            )
            known = next((thing for thing in reversed(self.known.every) if thing.slug == slug), None)
            return known or _Thing(source, "", slug, slug)
        if target.name is not None:
            return self.known.named[target.name]
        words = target.fact or target.text or ""
        known = next((thing for thing in self.known.every if thing.id and words in thing.text), None)
        if known is not None:
            return known
        found = [row for row in self._stored(source) if words in row.text]
        if not found:
            raise SystemFailure(f"nothing that is kept says {words!r}")
        return _Thing(source, words, found[0].id)

    def _target(self, event: Confirm, source: str) -> str:
        found = self._thing(event, source).id
        if found is None:
            raise SystemFailure("what this act is about was not kept under any id before")
        return found

    # -- what is seen

    def _settle(self) -> None:
        self.system.settle()

    def _sources(self) -> list[str]:
        return [source.id for source in self.fixture.sources]

    def _end(self) -> Sight:
        """All surfaces, once more."""
        try:
            self.system.tell_time(self.now)
            self._settle()
        except Exception as error:
            return Sight(END, error=what_happened(error))
        return Sight(END, shown=tuple(self._look(whole=True, ask=True)))

    def _look(self, *, whole: bool, ask: bool) -> Iterator[Shown]:
        for source in self._sources():
            yield self._shown(source, "stored")
            if not ask:
                continue
            for query in self._queries(source):
                yield self._shown(source, "recall", query)
                if whole:
                    yield self._shown(source, "search", query)
                    yield from self._over_time(source, query) if "state-resolution" in self.fixture.suites else ()
            if whole:
                for slug in dict.fromkeys(thing.slug for thing in self.known.every if thing.slug is not None):
                    yield self._shown(source, "page", slug)

    def _over_time(self, source: str, query: str) -> Iterator[Shown]:
        """What recall gives of the past, at every moment at which something began or was told."""
        moments = sorted({t for e in self.fixture.events for t in (e.ts, getattr(e, "valid_from", None)) if t})
        if Capability.HISTORY in self.can:
            yield self._shown(source, "history", query)
            for moment in moments:
                yield self._shown(source, "recall", query, known_at=moment)
        if Capability.AS_OF in self.can:
            for moment in moments:
                yield self._shown(source, "recall", query, as_of=moment)

    def _queries(self, source: str) -> list[str]:
        """What the script's own words ask: each thing's text, its name with what of it, and the user's turns."""
        own = [thing for thing in self.known.every if thing.source == source]
        asked = [words for thing in own for words in (thing.about, _body(thing.text)[:QUERY_CHARS])]
        asked += [e.text for e in self.fixture.events if isinstance(e, Turn) and e.role == "user"]
        return list(dict.fromkeys(filter(None, map(str.strip, asked))))[-MOST_QUERIES:]

    def _shown(
        self, source: str, surface: Surface, query: str = "", as_of: str | None = None, known_at: str | None = None
    ) -> Shown:
        told = Shown(surface, source, query, as_of, known_at)
        try:
            rows = self._rows(RowQuery(source, surface, query, LIMIT, as_of, known_at))
        except Exception as error:
            return replace(told, error=what_happened(error))
        base = self.base.get(source, frozenset())
        return replace(told, rows=tuple(row for row in rows if row not in base))

    def _stored(self, source: str) -> tuple[ItemRow, ...]:
        return self._rows(RowQuery(source, "stored"))

    def _rows(self, query: RowQuery) -> tuple[ItemRow, ...]:
        if Capability.TRUST_LABELS in self.can:
            return plain(tuple(self.system.rows(query)), _ROWS)
        return plain(tuple(_PLAINLY[query.surface](self, query)), _ROWS)

    def _plain_stored(self, query: RowQuery) -> Iterator[ItemRow]:
        """All that can be listed; of pages those that the script wrote, by reading them."""
        if Capability.LIST in self.can:
            yield from self.system.list_items(query.source)
        if Capability.RECALL_FACTS in self.can:
            for n, fact in enumerate(told_facts(self.system.recall_facts(query.source))):
                yield ItemRow(f"fact {n}", fact.text)
        if Capability.PAGE_WRITE in self.can:
            for slug in dict.fromkeys(t.id for t in self.known.every if t.id is not None and t.id == t.slug):
                yield from self._plain_page(replace(query, query=slug))
        if Capability.GET in self.can and Capability.LIST not in self.can:
            for thing in self.known.every:
                row = self.system.get_item(query.source, thing.id) if thing.id and thing.slug is None else None
                if row is not None:
                    yield row

    def _plain_page(self, query: RowQuery) -> Iterator[ItemRow]:
        content = self.system.read_page(query.source, query.query) if Capability.PAGE_WRITE in self.can else None
        if content is not None:
            yield ItemRow(query.query, content)

    def _plain_search(self, query: RowQuery) -> Iterator[ItemRow]:
        if Capability.SEARCH in self.can:
            for hit in self.system.search(query.source, query.query, query.limit):
                yield ItemRow(hit.id, "\n".join(filter(None, (hit.title, hit.text))))

    def _plain_recall(self, query: RowQuery) -> Iterator[ItemRow]:
        if query.known_at is not None:
            return
        if Capability.ADD in self.can:
            yield from self.system.find_items(query.source, query.query, query.limit, query.as_of)
        elif Capability.RECALL_FACTS in self.can and query.as_of is None:
            for n, fact in enumerate(told_facts(self.system.recall_facts(query.source, query.query, query.limit))):
                yield ItemRow(f"fact {n}", fact.text)

    def _plain_history(self, query: RowQuery) -> Iterator[ItemRow]:
        """What is kept under the ids that things once had."""
        if Capability.GET in self.can:
            for thing in self.known.every:
                row = self.system.get_item(query.source, thing.id) if thing.id and thing.slug is None else None
                if row is not None:
                    yield row

    # -- later sessions

    def later(self) -> Iterator[Later]:
        """What each user turn brings in a session of its own, and what a session with it as a goal opens with."""
        for turn in (e for e in self.fixture.events if isinstance(e, Turn) and e.role == "user"):
            for source in self._sources():
                yield self._heard(turn, source, "turn", self._asked)
                if self.can & {Capability.CONTEXT}:
                    yield self._heard(turn, source, "pack", self._opened)

    def _heard(self, turn: Turn, source: str, kind: Literal["turn", "pack"], act: Callable[[Turn, str], str]) -> Later:
        try:
            self.system.tell_time(self.now)
            return Later(turn.event_id, source, kind, plain(act(turn, source), str))
        except Exception as error:
            return Later(turn.event_id, source, kind, error=what_happened(error))

    def _opened(self, turn: Turn, source: str) -> str:
        return self.system.opening(source, turn.text)

    def _asked(self, turn: Turn, source: str) -> str:
        codec = load_codec(self.seam)(self.system, self.seam)
        self.sessions += 1
        said = Message("user", turn.text, self.now)
        session = f"{self.run.run_id}-{self.sessions}"
        ask = Ask(self.seam.name, session, source, (said,), (), self.seam.budget, self.now)
        try:
            injection = codec.ask(replace(ask, window=self.seam.window, roles=self.seam.roles))
        finally:
            codec.close()
        return "\n".join(filter(None, (injection.preamble, injection.text)))


END = -(2**53) + 1
"""The event under which the end of a script is seen: the smallest id that JSON can hold."""
_PLAINLY: Mapping[Surface, Callable[[Acting, RowQuery], Iterator[ItemRow]]] = {
    "stored": Acting._plain_stored,
    "page": Acting._plain_page,
    "search": Acting._plain_search,
    "recall": Acting._plain_recall,
    "history": Acting._plain_history,
}


def _is_database(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(16) == b"SQLite format 3\0"


def _own_page(given: WriteIn) -> str:
    """The page of a statement in a memory that keeps pages only."""
    return f"items/{given.name}"


def _by(event: Write | Edit | Forget | Confirm | Resync) -> By:
    """Who does it: as the event says, or by the actor's own door."""
    if event.by is not None:
        return event.by
    actor = "owner" if isinstance(event, Resync) else event.actor
    door = DOORS_OF[actor]
    return By(actor, door, principal_of(actor, door))


def _replaced(text: str, event: Edit) -> str:
    if event.content is not None:
        return event.content
    old, new = event.replace or ("", "")
    if old not in text:
        raise SystemFailure("what is edited does not hold the text that the edit replaces")
    return text.replace(old, new, 1)


def _without_ids(reply: Reply) -> Reply:
    """The reply without the random id of its receipt, which differs in every run."""
    return reply if reply.receipt is None else replace(reply, receipt=replace(reply.receipt, id=""))


def _tail(slug: str | None) -> str:
    return (slug or "").rsplit("/", 1)[-1].replace("-", " ").replace("_", " ")


def _body(text: str) -> str:
    """A page's text below its front matter."""
    head, mark, body = text.partition("\n---\n")
    return body.strip() if mark and head.startswith("---") else text


def unplayed(fixture: Fixture, reason: str) -> tuple[tuple[Sight, ...], tuple[Later, ...]]:
    """What is told of a script that could not be played: every act and later turn is an error."""
    acts = [Sight(e.event_id, error=reason) for e in (*fixture.setup, *fixture.events) if not isinstance(e, Turn)]
    turns = [e for e in fixture.events if isinstance(e, Turn) and e.role == "user"]
    asked = [Later(turn.event_id, source.id, "turn", error=reason) for turn in turns for source in fixture.sources]
    return (*acts, Sight(END, error=reason)), tuple(asked)
