"""What the daemon answers to each kind of request. No sockets here: a body in, a reply out.

The kinds are ping, turn_context and hook/<harness>/<event>.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TypeVar, cast

import msgspec

from wellkept import __version__
from wellkept.errors import InvalidInput
from wellkept.hooks import CAPTURES, HOOKS, SESSION_START, USER_PROMPT, openclaw
from wellkept.hooks.keeping import NothingHeard, NotYet, keep
from wellkept.hooks.prompt import STDIN_BYTES, HookAnswer, trim
from wellkept.hooks.where import asked_of, kept_in
from wellkept.memory import Memory
from wellkept.model import Budget, Message, Role, TurnContext
from wellkept.serve.heartbeat import Beat
from wellkept.serve.worker import BudgetSpent, Busy, Worker

T = TypeVar("T")

BODY_BYTES = 256 * 1024
BLOCK_BYTES = 8192

STATUS = {
    "bad_request": 400,
    "unauthorized": 401,
    "unsupported_kind": 404,
    "source_mismatch": 409,
    "unsupported_protocol": 400,
    "internal": 500,
    "busy": 503,
}


class Refused(Exception):
    """A request that is not served; `error` is a key of STATUS."""

    def __init__(self, error: str, status: int | None = None) -> None:
        self.error = error
        self.status = STATUS[error] if status is None else status
        super().__init__(error)


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes back, and the line that is logged once it has gone."""

    body: bytes
    status: int = 200
    beat: Beat | None = None


@dataclass(frozen=True, slots=True)
class Desk:
    """The memory that one daemon serves, and how it serves it."""

    memory: Memory
    worker: Worker
    source: str
    clock: Callable[[], datetime]
    test_clock: bool = False
    hooks_on: bool = True
    roots: tuple[Path, ...] = ()
    home: Path = Path("/")
    budget_s: float = 0.4
    begin_s: float = 0.6
    keep_s: float = 1.2
    keeping: threading.Lock = field(default_factory=threading.Lock)
    """Held while a conversation is kept."""


@dataclass(frozen=True, slots=True)
class _Turn:
    role: Role
    text: str
    ts: datetime | None = None


@dataclass(frozen=True, slots=True)
class _TurnContextRequest:
    window: list[_Turn]
    prior: str = ""
    session: str | None = None
    max_bytes: int = BLOCK_BYTES
    harness: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class _PingRequest:
    source: str | None = None


def body_limit(kind: str) -> int:
    """The most bytes that a request of this kind may have."""
    return STDIN_BYTES if kind.startswith("hook/") else BODY_BYTES


def answer(desk: Desk, kind: str, body: bytes, bound: str = "") -> Reply:
    """The reply to one request, from a hook that is bound to a source. Refused when it is not served."""
    head, *rest = kind.split("/")
    if head == "hook" and len(rest) == 2 and rest[0] in HOOKS:
        return _hook(desk, rest[0], rest[1], body, bound)
    if kind == "turn_context":
        return _turn_context(desk, _decoded(body, _TurnContextRequest))
    if kind == "ping":
        return _ping(desk, _decoded(body or b"{}", _PingRequest))
    raise Refused("unsupported_kind")


def error_reply(refused: Refused) -> Reply:
    """How a refusal is said."""
    return Reply(msgspec.json.encode({"ok": False, "error": refused.error}), refused.status)


def _ping(desk: Desk, request: _PingRequest) -> Reply:
    _check_source(desk, request.source)
    who = {"version": __version__, "pid": os.getpid(), "source": desk.source, "test_clock": desk.test_clock}
    return Reply(msgspec.json.encode({"ok": True, **who}))


def _hook(desk: Desk, harness: str, event: str, stdin: bytes, bound: str) -> Reply:
    began = time.monotonic()
    module = import_module(HOOKS[harness])
    if event in CAPTURES:
        said = keep_heard(desk, module, stdin, desk.keep_s, bound)
    elif event in (SESSION_START, USER_PROMPT):
        said = _hook_answer(desk, module, event, stdin, bound)
    else:
        said = HookAnswer(b"", "silent", "")
    ms = (time.monotonic() - began) * 1000
    beat = Beat(f"{harness}/{event}", said.outcome, said.reason, ms, said.turns, len(said.stdout))
    # A conversation that is not kept is no success: the hook process writes its place down then.
    lost = event in CAPTURES and said.outcome == "failed" and said.reason.startswith("exception:")
    return (
        Reply(error_reply(Refused("internal")).body, STATUS["internal"], beat)
        if lost
        else Reply(said.stdout, beat=beat)
    )


def keep_heard(
    desk: Desk, module: ModuleType, stdin: bytes, wait_s: float | None = None, bound: str = ""
) -> HookAnswer:
    """Keep what an event's conversation holds, durably before this returns; one conversation at a time.

    Reading and masking are done in this thread, so that prompts need not wait for them. Refused "busy" when it takes
    longer than `wait_s`: what is kept by then stays.
    """
    if not desk.hooks_on:
        return HookAnswer(module.SILENCE, "disabled", "")
    until = None if wait_s is None else time.monotonic() + wait_s
    if not desk.keeping.acquire(timeout=-1 if wait_s is None else wait_s):
        raise Refused("busy")
    try:
        heard = module.heard(stdin, desk.roots)
        run = partial(_run_until, desk.worker, until)
        source = run(lambda: kept_in(desk.memory, desk.source, bound or desk.source, stdin, desk.home, heard.session))
        kept = keep(desk.memory, source, heard, desk.clock(), run=run, until=until)
    except NothingHeard as nothing:
        outcome = "silent" if nothing.reason == "empty_window" else "failed"
        return HookAnswer(module.SILENCE, outcome, nothing.reason)
    except (Busy, BudgetSpent, NotYet):
        raise Refused("busy") from None
    except Exception as error:
        return HookAnswer(module.SILENCE, "failed", f"exception:{type(error).__name__}")
    finally:
        desk.keeping.release()
    outcome, reason = ("kept", "") if kept else ("silent", "unchanged")
    return HookAnswer(module.SILENCE, outcome, reason, kept)


def _run_until(worker: Worker, until: float | None, job: Callable[[], T]) -> T:
    return worker.run(job, None if until is None else max(0.0, until - time.monotonic()))


def _hook_answer(desk: Desk, module: ModuleType, event: str, stdin: bytes, bound: str) -> HookAnswer:
    def job() -> HookAnswer:
        now = desk.clock()
        memory, source = asked_of(desk.memory, desk.source, bound or desk.source, stdin, desk.home)
        if event == USER_PROMPT:
            how = {"roots": desk.roots, "budget": Budget(), "now": now, "hooks_on": desk.hooks_on}
            return cast(HookAnswer, module.answer(memory, source, stdin, **how))
        if not desk.hooks_on:
            return HookAnswer(module.SILENCE, "disabled", "")
        return cast(HookAnswer, module.begin(memory, source, stdin, now=now))

    try:
        return desk.worker.run(job, desk.budget_s if event == USER_PROMPT else desk.begin_s)
    except BudgetSpent:
        return HookAnswer(b"", "failed", "deadline")
    except Busy:
        raise Refused("busy") from None
    except Exception as error:
        return HookAnswer(b"", "failed", f"exception:{type(error).__name__}")


def _turn_context(desk: Desk, request: _TurnContextRequest) -> Reply:
    _check_source(desk, request.source)
    if request.harness not in (None, *HOOKS) or request.max_bytes < 0:
        raise Refused("bad_request")
    began = time.monotonic()
    block: str | None
    try:
        context = desk.worker.run(lambda: _context(desk, request), desk.budget_s)
        block, degraded = context.text, context.degraded
    except BudgetSpent:
        block, degraded = None, ("server_budget",)
    except Busy:
        raise Refused("busy") from None
    except InvalidInput:
        raise Refused("bad_request") from None
    ms = (time.monotonic() - began) * 1000
    outcome = "failed" if block is None else "injected" if block else "silent"
    reason = {"failed": "deadline", "injected": "", "silent": "empty_block"}[outcome]
    size = len((block or "").encode())
    beat = Beat("turn_context", outcome, reason, ms, len(request.window), size)
    return Reply(msgspec.json.encode({"ok": True, "block": block, "degraded": degraded}), beat=beat)


def _context(desk: Desk, request: _TurnContextRequest) -> TurnContext:
    window = tuple(Message(turn.role, turn.text, turn.ts) for turn in request.window)
    limit = min(request.max_bytes, BLOCK_BYTES)
    if request.harness == "openclaw":
        context = openclaw.assemble(desk.memory, desk.source, window, prior=request.prior)
        text = trim(context.text, limit, measure=_utf8_bytes)
        trimmed = ("budget_trimmed",) if text != context.text else ()
        return replace(context, text=text, degraded=(*context.degraded, *trimmed))
    return desk.memory.context(
        desk.source,
        window,
        prior=request.prior,
        session=request.session,
        budget=Budget(bytes=limit),
        now=desk.clock(),
    )


def _utf8_bytes(text: str) -> int:
    return len(text.encode())


def _decoded(body: bytes, shape: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=shape)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Refused("bad_request") from None


def _check_source(desk: Desk, source: str | None) -> None:
    if source is not None and source != desk.source:
        raise Refused("source_mismatch")
