"""The protocol by which a memory in any language is asked: its methods, their values, and a System that speaks it.

The methods are those of System. What is sent and what is answered are the values of `brainbench.model` as JSON.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from brainbench.errors import SystemFailure, SystemLost, Unsupported, UsageError
from brainbench.model import (
    Ask,
    Capability,
    Conversation,
    Extraction,
    FactIn,
    FactRow,
    ForgetIn,
    Injection,
    ItemIn,
    ItemRow,
    Message,
    PageIn,
    Reply,
    ResyncIn,
    RowQuery,
    RunContext,
    SearchHit,
    VouchIn,
    WriteIn,
)
from brainbench.systems import System

PROTOCOL = 3
"""2 added items and `reopen`, 3 who writes and what is forgotten. Nothing is asked that was not claimed, so that who
speaks an earlier one is asked nothing of that."""
_SPARE_SECONDS = 0.5
"""So much before the time of all that is asked is up a call is given up, so that it can be told which one it was."""
MOST_ANSWER_BYTES = 8 << 20
"""Size of one answer above which it is an error and no longer read."""


@dataclass(frozen=True, slots=True)
class Greeting:
    """What `hello` is told: the version of this protocol."""

    protocol: int = PROTOCOL


@dataclass(frozen=True, slots=True)
class Hello:
    """What a memory says of itself. `can` holds capabilities, `also` names the methods without one that it wants.

    `alone` says that there is one memory for all who call, so it is asked by one worker. `tells_turns` says that its
    hits name the messages of a conversation. `production` is read of a hosted Python class only: see System.
    """

    name: str
    version: str = ""
    can: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    alone: bool = False
    tells_turns: bool = False
    production: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Nothing:
    """No parameters."""


@dataclass(frozen=True, slots=True)
class Time:
    """The bench's clock."""

    now: str


@dataclass(frozen=True, slots=True)
class PageName:
    """A page of a source."""

    source: str
    slug: str


@dataclass(frozen=True, slots=True)
class PageNames:
    """Some pages of a source."""

    source: str
    slugs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FactQuery:
    """Facts of a source: all in the order they were stored, or with a query the best `limit`."""

    source: str
    query: str | None = None
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class Query:
    """Pages of a source for a query, best first."""

    source: str
    query: str
    limit: int


@dataclass(frozen=True, slots=True)
class SessionStart:
    """A session of a harness that is about to start."""

    harness: str
    source: str


@dataclass(frozen=True, slots=True)
class Pages:
    """Some pages at once."""

    pages: tuple[PageIn, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The name of what is stored at some time."""

    name: str


@dataclass(frozen=True, slots=True)
class ItemQuery:
    """What is kept in a source and fits a query, best first; with `as_of` what held then."""

    source: str
    query: str
    limit: int
    as_of: str | None = None


@dataclass(frozen=True, slots=True)
class ItemName:
    """An item of a source, by the id that the memory gave it."""

    source: str
    item_id: str


@dataclass(frozen=True, slots=True)
class ItemText:
    """Another text for an item."""

    source: str
    item_id: str
    text: str


@dataclass(frozen=True, slots=True)
class SourceName:
    """All that a source holds."""

    source: str


@dataclass(frozen=True, slots=True)
class Goal:
    """A session of a source that starts with a goal."""

    source: str
    goal: str


@dataclass(frozen=True, slots=True)
class HarnessName:
    """A harness."""

    harness: str


@dataclass(frozen=True, slots=True)
class HookCall:
    """What a harness gives a prompt hook; in JSON in base64."""

    harness: str
    stdin: bytes


@dataclass(frozen=True, slots=True)
class Transcript:
    """The transcript of a harness; in JSON in base64."""

    harness: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Method:
    """What a method is given and what it answers; asked only with the capability, or where `also` names it.

    One that is `hosted` is asked of a Python class in a process of its own only: a harness starts a hook by itself, on
    the machine it runs on.
    """

    params: type
    result: Any
    capability: Capability | None = None
    optional: bool = False
    hosted: bool = False

    @property
    def by_field(self) -> bool:
        """Whether System takes the fields of the params one by one: those that stand here, not in the model."""
        return self.params.__module__ == __name__


METHODS: Mapping[str, Method] = {
    "hello": Method(Greeting, Hello),
    "open": Method(RunContext, None),
    "tell_time": Method(Time, None, optional=True),
    "write_page": Method(PageIn, None, Capability.PAGE_WRITE),
    "write_pages": Method(Pages, None, Capability.PAGE_WRITE, optional=True),
    "read_page": Method(PageName, str | None, Capability.PAGE_WRITE),
    "read_pages": Method(PageNames, tuple[str | None, ...], Capability.PAGE_WRITE, optional=True),
    "edit_page": Method(PageIn, None, Capability.EDIT),
    "keep": Method(Snapshot, None, optional=True),
    "restore": Method(Snapshot, bool, optional=True),
    "write_fact": Method(FactIn, None, Capability.FACT_WRITE),
    "write_conversation": Method(Conversation, str | None, Capability.CONVERSATION_WRITE),
    "heard": Method(Nothing, Extraction | None, optional=True),
    "recall_facts": Method(FactQuery, tuple[FactRow, ...], Capability.RECALL_FACTS),
    "search": Method(Query, tuple[SearchHit, ...], Capability.SEARCH),
    "context": Method(Ask, Injection, Capability.CONTEXT),
    "preamble": Method(SessionStart, str, optional=True),
    "reopen": Method(RunContext, None, Capability.REOPEN),
    "add_item": Method(ItemIn, str, Capability.ADD),
    "find_items": Method(ItemQuery, tuple[ItemRow, ...], Capability.ADD),
    "get_item": Method(ItemName, ItemRow | None, Capability.GET),
    "update_item": Method(ItemText, str | None, Capability.UPDATE),
    "delete_item": Method(ItemName, bool, Capability.DELETE),
    "delete_items": Method(SourceName, None, Capability.DELETE_ALL),
    "list_items": Method(SourceName, tuple[ItemRow, ...], Capability.LIST),
    "write_by": Method(WriteIn, Reply, Capability.PRINCIPALS),
    "rows": Method(RowQuery, tuple[ItemRow, ...], Capability.TRUST_LABELS),
    "forget": Method(ForgetIn, Reply, Capability.FORGET),
    "vouch": Method(VouchIn, Reply, Capability.CONFIRM),
    "resync": Method(ResyncIn, Reply, Capability.RESYNC),
    "opening": Method(Goal, str, optional=True),
    "jobs": Method(Nothing, None, optional=True),
    "parse_transcript": Method(Transcript, tuple[Message, ...] | None, optional=True, hosted=True),
    "hook_command": Method(HarnessName, tuple[str, ...], Capability.HOOK_PROCESS, hosted=True),
    "hook_environment": Method(Nothing, dict[str, str], Capability.HOOK_PROCESS, hosted=True),
    "hook_inproc": Method(HookCall, bytes, Capability.HOOK_PROCESS, hosted=True),
    "hook_problem": Method(HarnessName, str | None, Capability.HOOK_PROCESS, hosted=True),
    "transcript_root": Method(HarnessName, str, Capability.HOOK_PROCESS, hosted=True),
    "close": Method(Nothing, None),
}
OPENING = ("open", "reopen")
"""What starts a memory again that was lost."""
OPTIONAL = frozenset(name for name, method in METHODS.items() if method.optional)
REACHED = frozenset(name for name, method in METHODS.items() if not method.hosted)
"""What can be asked through every door."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a memory is asked, one at a time."""

    id: int
    method: str
    params: Any


class Answer(msgspec.Struct):
    """What a memory answers: a result, or an error in one sentence. Whatever else it says is not read."""

    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: Any = None


class Line(Answer, kw_only=True):
    """An answer among others, with the id of its request."""

    id: int


def schema() -> dict[str, Any]:
    """The JSON Schema of all that is sent and answered: a request and its result by method, and the values of both."""
    kinds = [kind for method in METHODS.values() for kind in (method.params, method.result)]
    shapes, values = msgspec.json.schema_components(kinds, ref_template="#/$defs/{name}")
    pairs = dict(zip(METHODS, zip(shapes[::2], shapes[1::2], strict=True), strict=True))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"brainbench protocol {PROTOCOL}",
        "methods": {name: {"params": params, "result": result} for name, (params, result) in pairs.items()},
        "$defs": values,
    }


def encoded(value: Any) -> bytes:
    """A value as JSON. Half a character in a text goes as its escape, as in "\\ud83d"."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(value)).encode()


def decoded(told: bytes, kind: Any, what: str) -> Any:
    """A value of `kind` from JSON; SystemFailure says what is wrong with it, however deep or odd it is."""
    try:
        return msgspec.json.decode(told, type=kind)
    except RecursionError:
        raise SystemFailure(f"{what}: nested too deeply") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise SystemFailure(f"{what}: {error}") from None


def result_of(answer: Answer) -> bytes:
    """The JSON of the result; SystemFailure with the memory's own words where it answered with an error."""
    if answer.error is not None:
        told = answer.error.get("message", answer.error) if isinstance(answer.error, dict) else answer.error
        raise SystemFailure(str(told) or "an error without words")
    if isinstance(answer.result, msgspec.UnsetType):
        raise SystemFailure("answered with neither `result` nor `error`")
    return bytes(answer.result)


def too_big(most: int = MOST_ANSWER_BYTES) -> SystemLost:
    """An answer that is no longer read."""
    return SystemLost(f"answered more than {most:,} bytes; the rest was not read")


class Remote(System):
    """A memory behind a door. A subclass says how one method is asked; all else is here.

    Once what runs the memory is lost, nothing is asked of it until the next `open`, which starts it again.
    """

    reached: frozenset[str] = REACHED
    """The methods that can be asked."""
    also: frozenset[str] = frozenset()
    lost: str | None = None
    call_seconds: float = math.inf
    until: float = math.inf
    """The moment at which all that is asked has to be answered, and `in_all` the seconds that there were for it."""
    in_all: float = math.inf

    def ask(self, method: str, params: Any) -> bytes:
        """The JSON of the result of a method. SystemFailure says why there is none; SystemLost that none will come."""
        raise NotImplementedError

    def drop(self) -> None:
        """End what is left of a memory that was lost."""

    def finish_within(self, seconds: float, since: float) -> None:
        self.until, self.in_all = since + seconds - min(_SPARE_SECONDS, seconds / 10), seconds

    def deadline(self) -> float:
        """When a call that begins now has to be answered."""
        return min(time.monotonic() + self.call_seconds, self.until)

    def too_slow(self, missing: str = "no answer") -> str:
        """Why a call that was not answered by its deadline is given up."""
        if time.monotonic() >= self.until:
            return f"{missing} within {self.in_all:g} s for the whole fixture"
        return f"{missing} in {self.call_seconds:g} s"

    def failure(self, method: str, error: SystemFailure) -> SystemFailure:
        """The error of a method as the bench tells it."""
        return SystemFailure(f"{method}: {error}")

    def greet(self) -> Hello:
        """Learn what the memory can do. UsageError when it claims what no door can ask."""
        hello: Hello = self._call("hello", Greeting())
        unreached = {method.capability for name, method in METHODS.items() if name not in self.reached}
        known = set(Capability) - unreached
        if odd := sorted(set(hello.can) - set(known)):
            raise UsageError(
                f"--system: {self.name}: hello: `can` holds {', '.join(odd)}; known here: {', '.join(sorted(known))}"
            )
        optional = OPTIONAL & self.reached
        if odd := sorted(set(hello.also) - optional):
            raise UsageError(
                f"--system: {self.name}: hello: `also` holds {', '.join(odd)}; known: {', '.join(sorted(optional))}"
            )
        self.version = hello.version
        self.can = frozenset(Capability(name) for name in hello.can)
        self.also = frozenset(hello.also)
        self.alone = hello.alone
        self.tells_turns = hello.tells_turns
        return hello

    def open(self, run: RunContext) -> None:
        self._call("open", run)

    def close(self) -> None:
        self.until = math.inf
        try:
            if self.lost is None:
                self._call("close", Nothing())
        finally:
            self.drop()

    def tell_time(self, now: str) -> None:
        if "tell_time" in self.also:
            self._call("tell_time", Time(now))

    def write_page(self, page: PageIn) -> None:
        self._call("write_page", page)

    def write_pages(self, pages: Sequence[PageIn]) -> None:
        if "write_pages" in self.also:
            self._call("write_pages", Pages(tuple(pages)))
        else:
            super().write_pages(pages)

    def keep(self, name: str) -> None:
        if "keep" in self.also:
            self._call("keep", Snapshot(name))

    def restore(self, name: str) -> bool:
        return "restore" in self.also and self._call("restore", Snapshot(name)) is True

    def heard(self) -> Extraction | None:
        if "heard" not in self.also:
            return None
        extraction: Extraction | None = self._call("heard", Nothing())
        return extraction

    def read_page(self, source: str, slug: str) -> str | None:
        page: str | None = self._call("read_page", PageName(source, slug))
        return page

    def read_pages(self, source: str, slugs: Sequence[str]) -> Sequence[str | None]:
        if "read_pages" not in self.also:
            return super().read_pages(source, slugs)
        pages: tuple[str | None, ...] = self._call("read_pages", PageNames(source, tuple(slugs)))
        return pages

    def edit_page(self, page: PageIn) -> None:
        self._call("edit_page", page)

    def write_fact(self, fact: FactIn) -> None:
        self._call("write_fact", fact)

    def write_conversation(self, conversation: Conversation) -> str | None:
        page: str | None = self._call("write_conversation", conversation)
        return page

    def recall_facts(self, source: str, query: str | None = None, limit: int | None = None) -> Sequence[FactRow]:
        rows: tuple[FactRow, ...] = self._call("recall_facts", FactQuery(source, query, limit))
        return rows

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        hits: tuple[SearchHit, ...] = self._call("search", Query(source, query, limit))
        return hits

    def context(self, ask: Ask) -> Injection:
        injection: Injection = self._call("context", ask)
        return injection

    def preamble(self, harness: str, source: str) -> str:
        if "preamble" not in self.also:
            return ""
        text: str = self._call("preamble", SessionStart(harness, source))
        return text

    def reopen(self, run: RunContext) -> None:
        self._call("reopen", run)

    def add_item(self, item: ItemIn) -> str:
        made: str = self._call("add_item", item)
        return made

    def find_items(self, source: str, query: str, limit: int, as_of: str | None = None) -> Sequence[ItemRow]:
        rows: tuple[ItemRow, ...] = self._call("find_items", ItemQuery(source, query, limit, as_of))
        return rows

    def get_item(self, source: str, item_id: str) -> ItemRow | None:
        row: ItemRow | None = self._call("get_item", ItemName(source, item_id))
        return row

    def update_item(self, source: str, item_id: str, text: str) -> str | None:
        now: str | None = self._call("update_item", ItemText(source, item_id, text))
        return now

    def delete_item(self, source: str, item_id: str) -> bool:
        there: bool = self._call("delete_item", ItemName(source, item_id))
        return there

    def delete_items(self, source: str) -> None:
        self._call("delete_items", SourceName(source))

    def list_items(self, source: str) -> Sequence[ItemRow]:
        rows: tuple[ItemRow, ...] = self._call("list_items", SourceName(source))
        return rows

    def write_by(self, given: WriteIn) -> Reply:
        reply: Reply = self._call("write_by", given)
        return reply

    def rows(self, query: RowQuery) -> Sequence[ItemRow]:
        rows: tuple[ItemRow, ...] = self._call("rows", query)
        return rows

    def forget(self, asked: ForgetIn) -> Reply:
        reply: Reply = self._call("forget", asked)
        return reply

    def vouch(self, given: VouchIn) -> Reply:
        reply: Reply = self._call("vouch", given)
        return reply

    def resync(self, given: ResyncIn) -> Reply:
        reply: Reply = self._call("resync", given)
        return reply

    def opening(self, source: str, goal: str) -> str:
        if "opening" not in self.also:
            return ""
        text: str = self._call("opening", Goal(source, goal))
        return text

    def jobs(self) -> None:
        if "jobs" in self.also:
            self._call("jobs", Nothing())

    def _call(self, name: str, params: Any) -> Any:
        method = METHODS[name]
        if method.capability is not None and method.capability not in self.can:
            raise Unsupported(f"{name}: the memory does not claim {method.capability}")
        if self.lost is not None and name not in ("hello", *OPENING):
            raise SystemFailure(f"not asked: {self.lost}")
        try:
            self.lost = None
            told = self.ask(name, params)
        except SystemLost as error:
            self.lost = f"{name}: {error}"
            self.losses += 1
            self.drop()
            raise SystemLost(self.lost) from None
        except SystemFailure as error:
            raise self.failure(name, error) from None
        return decoded(told, method.result, f"{name}: answered something else than it should")
