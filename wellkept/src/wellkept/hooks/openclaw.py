"""What memory says to OpenClaw: the context of a turn, and the answers to the plugin that we bring it.

The plugin sends what OpenClaw tells it, `{"prompt", "session_id", "messages": [{"role", "text", "ts"}]}`, and hands
back what we answer.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec

from wellkept.hooks.keeping import Heard, NothingHeard, own_words, without_own_words
from wellkept.hooks.prompt import STDIN_BYTES, HookAnswer, clean, prompt_window, trim
from wellkept.hooks.session import session_pack
from wellkept.ingest.claude_code import INJECTION_MARK
from wellkept.ingest.transcript import read_time
from wellkept.memory import Memory
from wellkept.model import Budget, Message, Role, TurnContext
from wellkept.providers.quotes import plain
from wellkept.recall import render

SILENCE = b"{}"


@dataclass(frozen=True, slots=True)
class _Said:
    role: str = ""
    text: str = ""
    ts: float | str | None = None


@dataclass(frozen=True, slots=True)
class _Event:
    prompt: str = ""
    session_id: str = ""
    messages: tuple[_Said, ...] = ()

    def spoken(self) -> tuple[Message, ...]:
        """What the two sides said, without what memory added."""
        turns = [
            Message("user" if one.role == "user" else "assistant", _own(one.text), read_time(one.ts))
            for one in self.messages
            if one.role in ("user", "assistant")
        ]
        return tuple(turn for turn in turns if turn.text)

    def prior(self) -> str:
        """What prompts were given before. What the session began with is no part of it."""
        blocks = [block for one in self.messages for block in own_words(plain(one.text)) if INJECTION_MARK in block]
        return "\n\n".join(dict.fromkeys(blocks))


def answer(
    memory: Memory,
    source: str,
    stdin: bytes,
    *,
    roots: Sequence[Path],
    budget: Budget,
    now: datetime,
    hooks_on: bool = True,
) -> HookAnswer:
    """What the plugin puts before a prompt: the pages that the turn calls for."""
    event = _read(stdin)
    if not hooks_on:
        return HookAnswer(SILENCE, "disabled", "")
    if event is None:
        return HookAnswer(SILENCE, "failed", "no_stdin")
    window = prompt_window(event.spoken(), _own(event.prompt))
    if not window:
        return HookAnswer(SILENCE, "silent", "empty_window")
    session = clean(plain(event.session_id)).strip() or None
    found = assemble(memory, source, window, prior=event.prior(), pages=budget.pages, session=session)
    return _put_first(found.text, len(window))


def begin(memory: Memory, source: str, stdin: bytes, *, now: datetime) -> HookAnswer:
    """What the plugin puts before the first prompt of a session."""
    if _read(stdin) is None:
        return HookAnswer(SILENCE, "failed", "no_stdin")
    return _put_first(session_pack(memory, source, now))


def heard(stdin: bytes, roots: Sequence[Path]) -> Heard:
    """What was said in the session so far. NothingHeard when the plugin sent nothing that can be kept."""
    event = _read(stdin)
    if event is None:
        raise NothingHeard("no_stdin")
    session, messages = clean(plain(event.session_id)).strip(), event.spoken()
    if not session or not messages:
        raise NothingHeard("empty_window")
    return Heard(session, messages)


def _read(stdin: bytes) -> _Event | None:
    try:
        return msgspec.convert(json.loads(stdin), _Event) if len(stdin) <= STDIN_BYTES else None
    except (ValueError, RecursionError):
        return None


def _own(text: str) -> str:
    return without_own_words(clean(plain(text))).strip()


def _put_first(context: str, turns: int = 0) -> HookAnswer:
    text = trim(clean(context))
    if not text:
        return HookAnswer(SILENCE, "silent", "empty_block", turns)
    return HookAnswer(msgspec.json.encode({"prependContext": text}) + b"\n", "injected", "", turns)


def assemble(
    memory: Memory,
    source: str,
    messages: Sequence[Message],
    *,
    prior: str = "",
    pages: int = 3,
    window: int = 4,
    roles: Collection[Role] = ("user", "assistant"),
    session: str | None = None,
) -> TurnContext:
    """The pages that the newest user message names, pages that the last turns call for, and what was said before that
    it asks for; no facts.

    At most `pages` are pointed at. The last `window` turns said by `roles` are searched for what else may matter.
    `prior` is what the session was shown before, which is not shown again.
    """
    newest = next((message.text for message in reversed(messages) if message.role == "user"), "")
    pointers, lost = memory.pointers(source, newest, prior=prior, pages=pages, suppression="slug-and-title")
    recent = tuple(message for message in messages if message.role in roles)
    recent = recent[-window:] if window > 0 else ()
    shown = tuple(pointer.slug for pointer in pointers)
    volunteered, also_lost = memory.volunteers(source, recent, prior=prior, exclude=shown)
    said, unheard = memory.said(source, newest, prior=prior, session=session)
    return TurnContext(
        text=render(pointers, volunteered, (), said),
        pointers=pointers,
        volunteered=volunteered,
        degraded=tuple(dict.fromkeys((*lost, *also_lost, *unheard))),
        said=said,
    )
