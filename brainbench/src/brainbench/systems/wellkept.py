"""wellkept as a system under test: the one place where the bench touches it.

Everything goes through the product's own doors: pages and conversations through `Memory`, OpenClaw through its shipped
`assemble`, Claude Code through the installed hook command against a real daemon.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import IO, Any, cast

import apsw

import wellkept
from brainbench.errors import SystemFailure, Unsupported, UsageError
from brainbench.model import (
    Ask,
    By,
    Capability,
    Challenge,
    Conversation,
    Door,
    Extraction,
    FactIn,
    FactRow,
    ForgetIn,
    Injection,
    ItemIn,
    ItemRow,
    Message,
    ModelDoor,
    PageIn,
    Receipt,
    Reply,
    ResyncIn,
    RowQuery,
    RunContext,
    ScriptedFact,
    SearchHit,
    VouchIn,
    WriteIn,
)
from brainbench.systems import System
from brainbench.systems.terminal import END_OF_INPUT, Ran, at_a_terminal, by_a_pipe
from wellkept import hooks, wire
from wellkept.errors import InvalidInput, NotFound, Refused, ScopeDenied, WellkeptError
from wellkept.forgetting import Files
from wellkept.hooks import claude_code, codex, openclaw
from wellkept.ingest import codex as rollouts
from wellkept.memory import Memory
from wellkept.model import (
    FACT_KINDS,
    Budget,
    CandidateFact,
    Channel,
    Fact,
    FactKind,
    HeldWrite,
    Hit,
    Item,
    Page,
    SearchMode,
    SearchOptions,
    Told,
    Trust,
    Writer,
    WriteReceipt,
)
from wellkept.model import Message as Said
from wellkept.providers import Embedder, Segment
from wellkept.providers.chat import ChatExtractor, ChatModel, Heard
from wellkept.providers.scripted import ScriptedExtractor
from wellkept.recall import DEGRADED, OFF
from wellkept.settings import load_settings
from wellkept.storage import Store, open_store
from wellkept.trust.admission import Modes
from wellkept.trust.passphrase import Passphrase

DEADLINE_MS = 10_000
"""What the bench grants hook, socket and daemon, so that a busy machine changes no observation."""
DOOR_SECONDS = 900.0
"""How long the extractor waits for the bench's relay, which itself waits for the model and tries again."""
UNKNOWN_SOURCE = "unknown_source"
"""What a search that found nothing says of a source in which nothing was ever kept."""
LONGEST_STATEMENT = 1000
"""What has more characters is kept as a page, as its users would keep it."""
_WRITERS: Mapping[str, Writer] = {
    "owner": Writer("owner_git"),
    "agent": Writer("agent_mcp", "agent:bench"),
    "external": Writer("connector", "connector:web"),
}
"""By which of its doors what an actor of a script writes enters."""
_MOST_WAITING = 2_000
_PENDING = "semantic:vectors_pending"
"""What a turn says for which vectors were wanted that are not there."""
_HARMLESS = frozenset({"", "empty_window", "empty_block", "trimmed"})
"""What a hook may log without being in error."""
_CLI = "from wellkept.cli import main; main()"
_UNTIL_PARENT_ENDS = (
    "import ctypes, os, signal, sys; "
    "libc = ctypes.CDLL(None); "
    "hasattr(libc, 'prctl') and libc.prctl(1, signal.SIGTERM); "
    "os.execv(sys.argv[1], sys.argv[1:])"
)
"""Starts a program that ends when the process that started it does, however that ends (Linux)."""


class Wellkept(System):
    """The reference memory with the settings it ships, one store and one daemon a worker."""

    name = "wellkept"
    arms_off: Collection[str] = OFF
    version = wellkept.__version__
    tells_turns = True
    hands_over = True
    production = frozenset({"openclaw", "claude-code"})
    can = frozenset(
        {
            Capability.PAGE_WRITE,
            Capability.FACT_WRITE,
            Capability.CONVERSATION_WRITE,
            Capability.SEARCH,
            Capability.RECALL_FACTS,
            Capability.CONTEXT,
            Capability.EDIT,
            Capability.SOURCES,
            Capability.HOOK_PROCESS,
            Capability.EXTRACTOR_SEAM,
            Capability.ADD,
            Capability.GET,
            Capability.UPDATE,
            Capability.DELETE,
            Capability.DELETE_ALL,
            Capability.LIST,
            Capability.META,
            Capability.EVENT_TIME,
            Capability.SUPERSEDE,
            Capability.AS_OF,
            Capability.REOPEN,
            Capability.PRINCIPALS,
            Capability.TRUST_LABELS,
            Capability.HISTORY,
            Capability.FORGET,
            Capability.PURGE,
            Capability.RECEIPTS,
            Capability.CONFIRM,
            Capability.RESYNC,
            Capability.STORAGE_DIR,
            Capability.RAW_STORE,
            Capability.WRITE_GATE,
            Capability.CONNECTOR,
        }
    )

    mode: SearchMode = "hybrid"
    """Which lanes its searches ask."""

    def __init__(self) -> None:
        self._home = Path()
        self._shelf: Path | None = None
        self._backup: dict[str, list[Page | Fact]] = {}
        self._protected = self._strict = False
        self._lent = False
        self._store: Store | None = None
        self._daemon: _Daemon | None = None
        self._source = "default"
        self._now = ""
        self._filled = self._leftover = False
        self._door: ModelDoor | None = None
        self._heard: Extraction | None = None

    def open(self, run: RunContext) -> None:
        if self._lent:
            self.close()
        if self._store is None:
            self._home = Path(tempfile.mkdtemp(prefix="wk-"))
            self._store = open_store("sqlite", self._home / "memory.db")
            self.keep("empty")
        if self._filled:
            self._leftover = True
        else:
            self._store.reset()
        self._source, self._protected, self._strict = run.active_source, run.protected, False
        self._door, self._heard = run.door, None

    def attach(self, place: str | None) -> None:
        """A copy of the memory in a data directory: the original stays as it is, whatever its schema and ours."""
        try:
            settings = load_settings(overrides={"data_dir": place})
        except WellkeptError as error:
            raise UsageError(f"--store: {error}") from None
        if not settings.database.is_file():
            raise UsageError(f"--store: no memory at {settings.data_dir}; name the data directory of one")
        self._home = Path(tempfile.mkdtemp(prefix="wk-"))
        try:
            _copy(settings.database, self._home / "memory.db")
            self._store = open_store("sqlite", self._home / "memory.db")
        except (apsw.Error, WellkeptError) as error:
            shutil.rmtree(self._home, ignore_errors=True)
            raise UsageError(f"--store: {settings.database} cannot be read: {error}") from None

    def keep(self, name: str) -> None:
        _copy(self._home / "memory.db", self._snapshot(name))
        self._filled = True

    def _snapshot(self, name: str) -> Path:
        """Where a snapshot is kept: beside every memory, so that it is no part of one."""
        if self._shelf is None:
            self._shelf = Path(tempfile.mkdtemp(prefix="wk-kept-"))
        return self._shelf / f"{name}.kept"

    def restore(self, name: str) -> bool:
        kept = self._snapshot(name)
        if not kept.exists():
            return False
        self._become(kept)
        self._filled = True
        return True

    def hand_over(self, name: str) -> Path | None:
        return self._snapshot(name)

    def take_over(self, name: str, file: Path) -> bool:
        shutil.copyfile(file, self._snapshot(name))
        return True

    def _undo_leftover(self) -> None:
        """What a large brain left is cleared away once an empty memory is needed, not where another brain comes."""
        if self._leftover:
            self._become(self._snapshot("empty"))
            self._filled = False

    def _become(self, kept: Path) -> None:
        """Be as a kept file is. Where a daemon has the store open too, that is one more transaction to both."""
        self._leftover = self._strict = False
        if self._daemon is None:
            if self._store is not None:
                self._store.close()
            shutil.copyfile(kept, self._home / "memory.db")
            self._store = open_store("sqlite", self._home / "memory.db")
        else:
            _copy(kept, self._home / "memory.db")
            self._memory.store.index.forget_views()

    def close(self) -> None:
        self._shut()
        if self._shelf is not None and not self._lent:
            shutil.rmtree(self._shelf, ignore_errors=True)
            self._shelf = None
        self._lent = False

    def _shut(self) -> None:
        if self._daemon is not None:
            self._daemon.stop()
            self._daemon = None
        if self._store is not None:
            self._store.close()
            self._store = None
            if not self._lent:
                shutil.rmtree(self._home, ignore_errors=True)
                shutil.rmtree(self._owners, ignore_errors=True)

    def reopen(self, run: RunContext) -> None:
        self._shut()
        self._filled = self._leftover = False
        self._home, self._lent = Path(run.directory), True
        # What is opened again needs the same key, so that it stays until nobody can open it any more.
        atexit.register(shutil.rmtree, self._owners, ignore_errors=True)
        self._store = open_store("sqlite", self._home / "memory.db")
        self._source, self._door, self._heard = run.active_source, run.door, None
        self._protected, self._strict = run.protected, False

    def tell_time(self, now: str) -> None:
        self._now = now

    @property
    def _memory(self) -> Memory:
        self._undo_leftover()
        if self._store is None:
            raise SystemFailure("the store is not open")
        files = Files(self._home, self._home / "memory.db")
        memory = Memory(self._store, embedder=packaged_once, arms_off=self.arms_off, key=lambda make: _KEY, files=files)
        if not self._strict:
            self._strict = True
            self._set_gate(memory)
        return memory

    def _set_gate(self, memory: Memory) -> None:
        """Make the gate as strict as the run wants it, as its owner would: where other processes read it too."""
        wanted = _PROTECTED if self._protected else Modes()
        kept = asdict(Modes().tightened(memory.store.holding.modes()))
        for name, value in asdict(wanted).items():
            if kept[name] != value:
                memory.set_mode(name, value)

    @property
    def _owners(self) -> Path:
        """The home of the owner of this memory: never in the memory's own directory, and the same once reopened."""
        name = hashlib.sha256(str(self._home).encode()).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"wk-owner-{name}"

    def _keyring(self) -> Path:
        """The file of the owner's key, for the processes that are the product's own."""
        self._owners.mkdir(mode=0o700, exist_ok=True)
        file = self._owners / "trust.key"
        if not file.exists():
            file.touch(mode=0o600)
            file.write_bytes(_KEY)
        return file

    @property
    def _clock(self) -> datetime:
        return cast(datetime, _time(self._now))

    def write_page(self, page: PageIn) -> None:
        self._memory.put_page(page.source, page.slug, page.content, writer=_WRITERS[page.actor], now=self._clock)

    def write_pages(self, pages: Sequence[PageIn]) -> None:
        memory = self._memory
        with memory.store.transaction():
            for page in pages:
                memory.put_page(page.source, page.slug, page.content, writer=_WRITERS[page.actor], now=self._clock)

    def read_page(self, source: str, slug: str) -> str | None:
        try:
            return self._memory.get_page(source, slug).content
        except NotFound:
            return None

    def edit_page(self, page: PageIn) -> None:
        self._memory.get_page(page.source, page.slug)
        self.write_page(page)

    def write_fact(self, fact: FactIn) -> None:
        self._memory.remember(
            fact.source,
            fact.text,
            entity=fact.entity,
            session=fact.session,
            writer=_WRITERS[fact.actor],
            now=self._clock,
        )

    def add_item(self, item: ItemIn) -> str:
        """A statement as a fact; a page where it is long, has a title or what only pages keep."""
        since = _time(item.ts)
        if item.title or item.meta or len(item.text) > LONGEST_STATEMENT:
            head = f"---\ntitle: {json.dumps(item.title, ensure_ascii=False)}\n---\n\n" if item.title else ""
            slug, told = f"items/{item.name}", Told(valid_at=since, metadata=dict(item.meta))
            self._memory.put_page(item.source, slug, head + item.text, told=told, now=self._clock)
            return slug
        receipt = self._memory.remember(
            item.source, item.text, valid_from=since, replaces=item.replaces, now=self._clock
        )
        return f"fact:{receipt.facts[0]}"

    def find_items(self, source: str, query: str, limit: int, as_of: str | None = None) -> Sequence[ItemRow]:
        found = self._memory.recall(source, query, limit=limit, as_of=_time(as_of))
        if UNKNOWN_SOURCE in found.degraded:
            raise SystemFailure(f"{DEGRADED[UNKNOWN_SOURCE]}: {source!r}")
        kept = (one.item for one in found)
        return [_item(one if isinstance(one, Fact) else self._memory.get_page(source, one.slug)) for one in kept]

    def get_item(self, source: str, item_id: str) -> ItemRow | None:
        kept = self._memory.item(source, Item.named(item_id))
        return None if kept is None or kept.status not in ("active", "superseded") else _item(kept)

    def update_item(self, source: str, item_id: str, text: str) -> str | None:
        try:
            done = self._memory.correct(source, item_id, "revise", replacement=text, preview=False, now=self._clock)
        except NotFound:
            return None
        return done.created or item_id

    def delete_item(self, source: str, item_id: str) -> bool:
        try:
            return bool(self._memory.forget(source, [item_id], now=self._clock).forgotten)
        except NotFound:
            return False

    def delete_items(self, source: str) -> None:
        """One by one: the product has no verb that ends all of a source at once."""
        for row in self.list_items(source):
            self.delete_item(source, row.id)

    def list_items(self, source: str) -> Sequence[ItemRow]:
        return [_item(kept) for kept in self._memory.export(source) if kept.status == "active"]

    def write_conversation(self, conversation: Conversation) -> str | None:
        model = _Listened(self._door) if self._door is not None else None
        scripted = ScriptedExtractor([_candidate(fact) for fact in conversation.scripted])
        receipt = self._memory.bank(
            conversation.source,
            conversation.session,
            [_said(message) for message in conversation.messages],
            extractor=model or scripted,
            now=_time(conversation.now) or self._clock,
        )
        if model is not None:
            if model.problem is not None:
                raise SystemFailure(model.problem)
            self._heard = _extraction(model.heard)
        return receipt.slug

    def heard(self) -> Extraction | None:
        return self._heard

    def recall_facts(self, source: str, query: str | None = None, limit: int | None = None) -> Sequence[FactRow]:
        return [_row(fact) for fact in self._memory.recall_facts(source, query, limit=limit)]

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        return _found(self._memory.find(source, query, limit, SearchOptions(mode=self.mode)).hits)

    def search_turns(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        return _found(self._memory.find(source, query, limit, SearchOptions(unit="chunk", mode=self.mode)).hits)

    def settle(self) -> None:
        if self.mode != "lexical" and packaged_once() is not None:
            self._memory.embed_waiting()

    def context(self, ask: Ask) -> Injection:
        return self._context(ask)

    def _context(self, ask: Ask) -> Injection:
        if ask.harness == "openclaw":
            answer = openclaw.assemble(
                self._memory,
                ask.source,
                [_said(message) for message in ask.messages],
                prior=_prior(ask),
                pages=ask.budget.pages,
                window=ask.window,
                roles=ask.roles,
            )
        elif ask.harness == "codex":
            text = ask.messages[-1].text
            answer = codex.pointers(self._memory, ask.source, text, prior=_prior(ask), pages=ask.budget.pages)
        else:
            window = [_said(message) for message in ask.messages[-ask.window - 1 :]]
            budget = Budget(pages=ask.budget.pages, tokens=ask.budget.tokens)
            answer = self._memory.context(
                ask.source, window, prior=_prior(ask), session=ask.session, budget=budget, now=self._clock
            )
        return Injection(answer.text, degraded=answer.degraded)

    def preamble(self, harness: str, source: str) -> str:
        return codex.preamble(self._memory, source)

    def parse_transcript(self, harness: str, data: bytes) -> Sequence[Message] | None:
        return [Message(m.role, m.text) for m in rollouts.read(data).messages] if harness == "codex" else None

    def write_by(self, given: WriteIn) -> Reply:
        """A page, a statement, or the new text of a statement, through the door that the writer has."""
        writer, memory = _writer(given.by), self._memory
        origin = given.origin or ("import" if given.by.door == "import" else None)
        try:
            if given.slug is not None:
                told = Told(content_origin=origin, valid_at=_time(given.valid_from))
                made_of = self._tiers(given.source, given.lineage)
                done = memory.put_page(
                    *(given.source, given.slug, given.text), told=told, lineage=made_of, writer=writer, now=self._clock
                )
                return _written(done, given.slug)
            if given.of is not None:
                return self._revise(given, writer)
            done = memory.remember(
                given.source,
                given.text,
                entity=given.entity,
                attribute=given.attribute,
                replaces=given.replaces,
                valid_from=_time(given.valid_from),
                content_origin=origin,
                lineage=self._tiers(given.source, given.lineage),
                writer=writer,
                now=self._clock,
            )
            return _written(done, f"fact:{done.facts[0]}" if done.facts else None)
        except (InvalidInput, Refused, ScopeDenied) as error:
            return Reply(outcome="refused", why=str(error))

    def _tiers(self, source: str, ids: Sequence[str]) -> tuple[Trust, ...]:
        """The tiers of what something is made from, as a program that makes it would read them."""
        kept = (self._memory.item(source, Item.named(one)) for one in ids)
        return tuple(Trust.EXTERNAL_UNTRUSTED if one is None else one.trust for one in kept)

    def _revise(self, given: WriteIn, writer: Writer) -> Reply:
        done = self._memory.correct(
            *(given.source, given.of or "", "revise"),
            replacement=given.text,
            preview=False,
            writer=writer,
            now=self._clock,
        )
        return Reply(done.created or given.of, "guarded" if done.status == "guarded" else "kept")

    def rows(self, query: RowQuery) -> Sequence[ItemRow]:
        """What its doors answer, as the JSON that all of them share: each thing with the label that stands on it."""
        memory, then, known = self._memory, _time(query.as_of), _time(query.known_at)
        found: object
        match query.surface:
            case "stored":
                found = memory.export(query.source)
            case "page":
                try:
                    found = (memory.get_page(query.source, query.query),)
                except NotFound:
                    found = ()
            case "search":
                found = memory.search(query.source, query.query, query.limit, now=self._clock)
            case _:
                history = query.surface == "history"
                found = memory.recall(
                    *(query.source, query.query),
                    limit=query.limit,
                    as_of=then,
                    known_at=known,
                    include_history=history,
                    now=self._clock,
                )
        told = wire.answer(found, "items")
        rows = [_labelled(row) for row in told.get("items") or told.get("results") or told.get("memories") or ()]
        return rows if query.surface != "stored" else [*rows, *map(_held, memory.held(query.source))]

    def forget(self, asked: ForgetIn) -> Reply:
        if asked.mode != "expire":
            self._backup[asked.source] = list(self._memory.export(asked.source))
        if asked.by.door in ("tty", "cli") and asked.mode != "expire":
            return self._purge_by_command(asked)
        try:
            if asked.mode == "purge":
                self._memory.purge(asked.source, asked.ids, writer=_writer(asked.by), now=self._clock)
            elif asked.mode == "lift":
                return Reply(outcome="refused", why="a lift is a command of the owner's terminal")
            done = self._memory.forget(asked.source, asked.ids, writer=_writer(asked.by), now=self._clock)
        except (InvalidInput, Refused, ScopeDenied) as error:
            return Reply(outcome="refused", why=str(error))
        except NotFound as error:
            return Reply(outcome="not_found", why=str(error))
        return Reply(outcome="guarded" if done.guarded else "done")

    def _purge_by_command(self, asked: ForgetIn) -> Reply:
        what = ("--lift", asked.receipt or "none") if asked.mode == "lift" else asked.ids
        ran = self._commanded(("purge", *what, "--json", "--source", asked.source), asked.by, asked.challenge)
        self._memory.store.index.forget_views()
        told = _last_object(ran.text)
        if told is None:
            return Reply(outcome="refused", why=ran.text.strip()[-300:])
        if asked.mode == "lift":
            return Reply(outcome="done")
        names = [store["name"] for store in told["stores"]]
        stores = {table for name in names for table in (name.partition(".")[0], *_WITH.get(name, ()))}
        return Reply(outcome="done", receipt=Receipt(told["id"], told["status"], tuple(sorted(stores))))

    def vouch(self, given: VouchIn) -> Reply:
        if given.op == "unconfirm":
            raise Unsupported(given.op)
        name = given.id.removeprefix(_HELD)
        if given.by.door in ("tty", "cli"):
            ran = self._commanded((given.op, name, "--source", given.source), given.by, given.challenge)
            return Reply(given.id, "done") if ran.code == 0 else Reply(outcome="refused", why=ran.text.strip()[-300:])
        writer = _writer(given.by)
        try:
            if given.op == "confirm":
                self._memory.confirm(given.source, given.id, writer=writer, now=self._clock)
            elif given.op == "release":
                self._memory.release(given.source, int(name), writer=writer, now=self._clock)
            else:
                self._memory.discard(given.source, int(name), writer=writer)
        except (InvalidInput, Refused, ScopeDenied) as error:
            return Reply(outcome="refused", why=str(error))
        return Reply(given.id, "done")

    def _commanded(self, words: Sequence[str], by: By, challenge: Challenge) -> Ran:
        """The shipped command: at a terminal for who has one, with what the owner knows; by a pipe for anybody else."""
        argv = [sys.executable, "-c", _CLI, *words, "--data-dir", str(self._home)]
        env = {**_environment(self._owners), "WELLKEPT_TRUST_KEY": str(self._keyring())}
        passphrase = Passphrase(self._home / "passphrase.json")
        if not passphrase.is_set():
            passphrase.choose(_PASSPHRASE)
        if by.door != "tty":
            return by_a_pipe(argv, env, f"{_PASSPHRASE}\n")
        return at_a_terminal(argv, env, lambda _: _typed(challenge))

    def resync(self, given: ResyncIn) -> Reply:
        """Restore an export from before, bank a transcript again, or take what a peer writes. No other sync is here."""
        if given.op == "peer":
            for path, text in given.files.items():
                reply = self.write_by(WriteIn(given.source, text, path, given.by, path.removesuffix(".md")))
            return reply if given.files else Reply(outcome="not_found")
        if given.op == "restore":
            self._memory.restore(self._backup.get(given.source, ()))
        elif given.op == "transcript":
            for path, text in given.files.items():
                said = [Said("user", text, self._clock)]
                self._memory.bank(given.source, path.removesuffix(".md"), said, now=self._clock)
        else:
            raise Unsupported(given.op)
        return Reply()

    def opening(self, source: str, goal: str) -> str:
        return self._memory.context_pack(source, goal).markdown

    def hook_command(self, harness: str) -> Sequence[str]:
        self._undo_leftover()
        daemon = self._running_daemon()
        daemon.mark(self._now)
        return hooks.command(harness, daemon.socket, DEADLINE_MS)

    def hook_environment(self) -> Mapping[str, str]:
        return {"HOME": str(self._home)}

    def hook_inproc(self, harness: str, stdin: bytes) -> bytes:
        answer = claude_code.answer(
            self._memory,
            self._source,
            stdin,
            roots=[Path(self.transcript_root(harness))],
            budget=Budget(),
            now=self._clock,
        )
        if answer.reason not in _HARMLESS:
            raise SystemFailure(f"the prompt hook said nothing because of an error: {answer.reason}")
        return answer.stdout

    def hook_problem(self, harness: str) -> str | None:
        return self._daemon.problem() if self._daemon is not None else None

    def transcript_root(self, harness: str) -> str:
        return str(self._home / ".claude" / "projects")

    def _running_daemon(self) -> _Daemon:
        """The daemon of the fixture's source: it is bound to one."""
        if self._daemon is not None and self._daemon.source != self._source:
            self._daemon.stop()
            self._daemon = None
        if self._daemon is None:
            self._daemon = _Daemon(self._home, self._source, self._now, self._keyring())
        return self._daemon


class _SearchedOtherwise(Wellkept):
    """The reference memory with other lanes of search, which is all that a mode changes: it pushes nothing itself."""

    production = frozenset()
    can = Wellkept.can - {Capability.CONTEXT, Capability.HOOK_PROCESS}


class WellkeptLexical(_SearchedOtherwise):
    """The reference memory without its vectors: what words and names alone find."""

    name = "wellkept-lexical"
    mode: SearchMode = "lexical"


class WellkeptVector(_SearchedOtherwise):
    """The reference memory without its words: what the nearest vectors alone find."""

    name = "wellkept-vector"
    mode: SearchMode = "vector"


class WellkeptNaive(_SearchedOtherwise):
    """The control for its fusion: the ranks of words and of vectors merged (reciprocal ranks, 60), nothing else."""

    name = "wellkept-naive"
    mode: SearchMode = "naive"


class WellkeptByMeaning(Wellkept):
    """The reference memory with every arm on: what is kept has its vectors, and the model is loaded.

    Its hooks are asked without a process, since a daemon's background has no fixed pace. Where more than 2,000 pieces
    wait, as in the brain of 10,000 pages, they stay without vectors, which would take minutes.
    """

    name = "wellkept-by-meaning"
    arms_off = ()
    production = frozenset()
    can = Wellkept.can - {Capability.HOOK_PROCESS}

    @property
    def _memory(self) -> Memory:
        memory = super()._memory
        embedder = memory.embedder()
        if embedder is None:
            raise SystemFailure("the packaged embedder is not installed")
        if not embedder.ready:
            embedder.embed(["loaded"])
        return memory

    def settle(self) -> None:
        if self._memory.store.index.vector_counts()[1] <= _MOST_WAITING:
            super().settle()

    def keep(self, name: str) -> None:
        self.settle()
        super().keep(name)

    def context(self, ask: Ask) -> Injection:
        found = self._context(ask)
        if _PENDING in found.degraded:
            self.settle()
            found = self._context(ask)
        return found


class _Listened(ChatExtractor):
    """The shipped extractor, which remembers why it failed: write-back keeps the page and goes on without facts."""

    def __init__(self, door: ModelDoor) -> None:
        super().__init__(ChatModel(door.url, door.model, door.token, seconds=DOOR_SECONDS))
        self.problem: str | None = None

    def extract(self, segment: Segment, source: str) -> Sequence[CandidateFact]:
        try:
            return super().extract(segment, source)
        except WellkeptError as error:
            self.problem = str(error)
            raise


class _Daemon:
    """The shipped daemon as a process of its own, on the store and clock of one worker."""

    def __init__(self, home: Path, source: str, now: str, key: Path) -> None:
        self.source = source
        self._clock = home / "clock"
        self._clock.write_text(now)
        argv = [sys.executable, "-c", _CLI, "daemon", "--json", "--data-dir", str(home), "--source", source]
        argv += ["--budget-ms", str(DEADLINE_MS), "--test-clock", str(self._clock)]
        self._process = subprocess.Popen(
            [sys.executable, "-c", _UNTIL_PARENT_ENDS, *argv],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=(home / "daemon.log").open("wb"),
            # What a hook adds goes by names and words: vectors would cost each of many daemons a model for nothing.
            env={
                "WELLKEPT_EMBEDDER": "off",
                "WELLKEPT_TRUST_KEY": str(key),
                "HOME": str(home),
                "TMPDIR": str(home),
                "PYTHONPATH": str(Path(wellkept.__file__).parents[1]),
            },
        )
        said = self._first_words()
        if not said:
            why = (home / "daemon.log").read_text(errors="replace").strip()
            raise SystemFailure(f"the daemon did not start: {why[-300:]}")
        self.socket = Path(json.loads(said)["socket"])
        self._log = self.socket.with_name("heartbeat.jsonl")
        self._read = 0

    def _first_words(self) -> bytes:
        """The JSON document that it prints once it can be reached; nothing if it ended instead."""
        said = b""
        stdout = cast(IO[bytes], self._process.stdout)
        while line := stdout.readline():
            said += line
            if line.rstrip() == b"}":
                break
        return said

    def mark(self, now: str) -> None:
        """Set its clock, and read its log from here on."""
        fresh = self._clock.with_suffix(".new")
        fresh.write_text(now)
        fresh.replace(self._clock)
        self._read = self._log.stat().st_size if self._log.exists() else 0

    def problem(self) -> str | None:
        """The reason of the last event since `mark`, if that was an error."""
        with self._log.open("rb") as log:
            log.seek(self._read if self._read <= self._log.stat().st_size else 0)
            lines = log.read().splitlines()
        reason = json.loads(lines[-1])["reason"] if lines else "no line in its log"
        return None if reason in _HARMLESS else str(reason)

    def stop(self) -> None:
        """End it and wait until it has ended."""
        self._process.terminate()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()


_CHANNELS: Mapping[Door, Channel] = {
    "tty": "owner_tty",
    "local": "owner_local",
    "git": "owner_git",
    "mcp": "agent_mcp",
    "http": "agent_http",
    "cli": "agent_cli",
    "hook": "hook",
    "connector:github": "connector",
    "connector:mail": "connector",
    "connector:web": "connector",
    "import": "owner_tty",
    "restore": "restore",
    "peer": "peer",
}
"""Which door of the product stands for one of the bench's."""
_WITH: Mapping[str, tuple[str, ...]] = {
    "facts.text": ("facts_fts",),
    "pages.content": ("page_texts", "chunks", "chunks_fts", "names", "timeline", "statements", "written_fts"),
}
"""Which tables go with a store of its receipts, besides the one that it is named by."""
_PROTECTED = Modes(external_mode="quarantine", agent_activation="suppress")
_KEY = hashlib.sha256(b"the key of an owner who is played").digest()
"""One for every process of a run: a brain that one of them has filled is opened by the others."""
_HELD = "held:"
"""Begins the id of what is held back; its number follows."""
_PASSPHRASE = "seven herons at low tide"  # noqa: S105 - of a memory that is thrown away


def _writer(by: By) -> Writer:
    return Writer(_CHANNELS[by.door], by.principal)


def _written(done: WriteReceipt, kept: str | None) -> Reply:
    if done.status == "held":
        return Reply(f"{_HELD}{done.held}", "held", done.flags)
    if "guarded" in done.degraded:
        return Reply(kept, "guarded", done.flags)
    return Reply(kept, "unchanged" if done.status == "unchanged" else "kept", done.flags)


def _held(one: HeldWrite) -> ItemRow:
    """What is held back, as its owner sees it in the queue."""
    return ItemRow(f"{_HELD}{one.id}", one.request, status="held", flags=one.flags)


def _labelled(row: Mapping[str, Any]) -> ItemRow:
    """One thing of an answer, with the label that stands on it there."""
    text = row.get("content") or row.get("text") or row.get("name") or ""
    flags = tuple(row["flags"]) + ((f"integrity:{row['integrity']}",) if row.get("integrity") == "failed" else ())
    made, later = row.get("created_at") or "", row.get("superseded_by")
    return ItemRow(
        row["id"], text, made=made, superseded_by=later, trust=row["trust"], status=row["status"], flags=flags
    )


def _typed(challenge: Challenge) -> str:
    """What the person at the terminal types: the owner, somebody who does not know the passphrase, or nobody."""
    if challenge == "absent":
        return END_OF_INPUT
    return _PASSPHRASE if challenge == "pass" else "not the passphrase"


def _last_object(text: str) -> Any:
    """The JSON object with which a command ended, if there is one."""
    start = text.rfind("\n{\n") + 1
    try:
        return json.loads(text[start:] if start or text.startswith("{") else "")
    except ValueError:
        return None


def _environment(home: Path) -> dict[str, str]:
    return {
        "WELLKEPT_EMBEDDER": "off",
        "HOME": str(home),
        "TMPDIR": str(home),
        "PYTHONPATH": str(Path(wellkept.__file__).parents[1]),
        "TERM": "dumb",
    }


def _copy(source: Path, target: Path) -> None:
    """Make one database file a copy of another as it is now, safe for those who have either open.

    By the store's own SQLite library: a second one in this process would undo the first one's file locks.
    """
    taken, filled = apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READONLY), apsw.Connection(str(target))
    with closing(taken), closing(filled), filled.backup("main", taken, "main") as copying:
        copying.step()


def _time(stamp: str | None) -> datetime | None:
    return datetime.fromisoformat(stamp.replace("Z", "+00:00")) if stamp else None


def _said(message: Message) -> Said:
    return Said(message.role, message.text, _time(message.ts))


def _prior(ask: Ask) -> str:
    return "\n".join((*(message.text for message in ask.messages[:-1]), *ask.injected))


def _extraction(heard: Heard) -> Extraction:
    return Extraction(tuple(fact.fact for fact in heard.facts), heard.unquoted, heard.unreadable)


def _candidate(fact: ScriptedFact) -> CandidateFact:
    kind: FactKind = next((kind for kind in FACT_KINDS if kind == fact.kind), "fact")
    return CandidateFact(fact.fact, kind, fact.mention, fact.quote, valid_from=_time(fact.valid_from))


def _found(hits: Sequence[Hit]) -> Sequence[SearchHit]:
    return [
        SearchHit(hit.slug, hit.title, hit.text, hit.score, turns=() if hit.turn is None else (hit.turn,))
        for hit in hits
    ]


@cache
def packaged_once() -> Embedder | None:
    """The model that the product ships, loaded once a worker that searches."""
    from wellkept.providers.embedders import packaged

    return packaged()


def _item(kept: Page | Fact) -> ItemRow:
    """A page or fact as an item."""
    if isinstance(kept, Fact):
        at, made = kept.valid_from, kept.recorded_at
        later = None if kept.superseded_by is None else f"fact:{kept.superseded_by}"
        return ItemRow(f"fact:{kept.id}", kept.text, _stamp(at), _stamp(made), superseded_by=later)
    at, made = kept.told.valid_at, kept.created_at
    return ItemRow(kept.slug, kept.body, _stamp(at), _stamp(made), dict(kept.told.metadata), kept.superseded_by)


def _stamp(moment: datetime | None) -> str:
    return "" if moment is None else moment.isoformat()


def _row(fact: Fact) -> FactRow:
    told = fact.provenance
    return FactRow(fact.text, fact.entity, told.source, told.source_session, told.source_markdown_slug)
