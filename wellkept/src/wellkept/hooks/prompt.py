"""What the prompt hooks of all harnesses share: the event that comes in, and the context that goes out."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec

from wellkept.ingest.transcript import Transcript, TranscriptRefused
from wellkept.memory import Memory
from wellkept.model import Budget, Message
from wellkept.providers.quotes import plain

WINDOW_TURNS = 4
CONTEXT_CHARS = 10_000
STDIN_BYTES = 4 * 1024 * 1024

_CONTROL = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_SURROGATES = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class PromptEvent:
    """What a harness says when its user has sent a prompt."""

    prompt: str
    session_id: str | None = None
    cwd: str | None = None
    transcript_path: str | None = None


@dataclass(frozen=True, slots=True)
class HookAnswer:
    """What a hook prints (b"" for nothing) and what its log line says.

    `outcome` is injected, kept, silent, disabled or failed; `turns` counts the turns of the window, or of the
    conversation that is kept.
    """

    stdout: bytes
    outcome: str
    reason: str
    turns: int = 0


@dataclass(frozen=True, slots=True)
class Harness:
    """How one harness keeps its conversation and wants nothing to be said."""

    transcript: Callable[[str, Sequence[Path]], Transcript]
    """What the file holds; TranscriptRefused if it must not be read."""
    silence: bytes = b""
    needs_transcript: bool = True

    def answer(
        self,
        memory: Memory,
        source: str,
        stdin: bytes,
        *,
        roots: Sequence[Path],
        budget: Budget,
        now: datetime,
        hooks_on: bool = True,
    ) -> HookAnswer:
        """What the hook prints for a prompt: one JSON line, or its silence when there is nothing to say.

        `stdin` is what the harness sent. A transcript is read only below one of the `roots`.
        """
        if not hooks_on:
            return HookAnswer(self.silence, "disabled", "")
        return _answer(self, Asked(memory, source, roots, budget, now), stdin)


@dataclass(frozen=True, slots=True)
class Asked:
    """Which memory is asked, within what, and when."""

    memory: Memory
    source: str
    roots: Sequence[Path]
    budget: Budget
    now: datetime


def _answer(harness: Harness, asked: Asked, stdin: bytes) -> HookAnswer:
    event = read_event(stdin)
    if event is None:
        return HookAnswer(harness.silence, "failed", "no_stdin")
    try:
        transcript = _transcript(harness, event, asked.roots)
    except TranscriptRefused as refused:
        return HookAnswer(harness.silence, "failed", f"transcript_{refused.code}")
    window = prompt_window(transcript.messages, event.prompt)
    if not window:
        return HookAnswer(harness.silence, "silent", "empty_window")
    context = asked.memory.context(
        asked.source,
        window,
        prior=transcript.prior,
        session=plain(event.session_id or "").strip() or None,
        budget=asked.budget,
        now=asked.now,
    )
    whole = clean(context.text)
    text = trim(whole)
    if not whole and any(code.startswith("arm_failed") for code in context.degraded):
        # Nothing found because nothing could be looked up is not the same as nothing to say.
        return HookAnswer(harness.silence, "failed", "exception:ArmFailed", len(window))
    if not text:
        return HookAnswer(harness.silence, "silent", "over_cap" if whole else "empty_block", len(window))
    cut = text != whole or "budget_trimmed" in context.degraded
    return HookAnswer(additional_context(text), "injected", "trimmed" if cut else "", len(window))


def read_event(stdin: bytes) -> PromptEvent | None:
    """The event, or None when it is too long, no JSON object, or without a prompt."""
    if len(stdin) > STDIN_BYTES:
        return None
    try:
        # json, not msgspec: a harness may cut a prompt between two halves of an emoji, and msgspec refuses halves.
        said = json.loads(stdin)
        return msgspec.convert(said, PromptEvent) if isinstance(said, dict) else None
    except (ValueError, RecursionError):
        return None


def prompt_window(messages: Sequence[Message], prompt: str) -> tuple[Message, ...]:
    """The last turns of a conversation and the prompt that follows them, once, if there is one."""
    said = plain(prompt).strip()
    before = list(messages)
    if said and before and before[-1].role == "user" and before[-1].text.strip() == said:
        del before[-1]
    return (*before[-WINDOW_TURNS:], *((Message("user", said),) if said else ()))


def _transcript(harness: Harness, event: PromptEvent, roots: Sequence[Path]) -> Transcript:
    path = event.transcript_path
    if not path and not harness.needs_transcript:
        return Transcript(())
    try:
        return harness.transcript(path or "", roots)
    except TranscriptRefused as refused:
        if refused.code == "unreadable" and path and _not_begun(path, roots):
            return Transcript(())
        raise


def _not_begun(path: str, roots: Sequence[Path]) -> bool:
    """Whether nothing is there yet, in a place where it may come: so it is at a session's first prompt."""
    try:
        real = os.path.realpath(path)
        return not os.path.lexists(path) and any(
            real.startswith(os.path.join(os.path.realpath(root), "")) for root in roots
        )
    except (OSError, ValueError):
        return False


def clean(text: str) -> str:
    """The text without terminal sequences, control characters (but newline and tab) and lone surrogates."""
    return _SURROGATES.sub("", _CONTROL.sub("", text))


def utf16_units(text: str) -> int:
    """The length of the text as JavaScript counts it."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def trim(text: str, limit: int = CONTEXT_CHARS, measure: Callable[[str], int] = utf16_units) -> str:
    """The text cut between two bullets until it measures at most `limit`; "" when no bullet fits."""
    if measure(text) <= limit:
        return text
    lines = text.split("\n")
    bullets = [place for place, line in enumerate(lines) if line.startswith("- ")]
    for place in reversed(bullets):
        kept = lines[:place]
        while kept and (not kept[-1].strip() or kept[-1].startswith("#")):
            kept.pop()
        if not any(line.startswith("- ") for line in kept):
            return ""
        short = "\n".join(kept)
        if measure(short) <= limit:
            return short
    return ""


def additional_context(text: str, event: str = "UserPromptSubmit") -> bytes:
    """The line by which a hook adds context at an event; Claude Code and Codex read the same."""
    said = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
    return msgspec.json.encode(said) + b"\n"
