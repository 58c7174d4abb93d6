"""What a harness's user and assistant said to each other, kept: masked, once, and without what memory itself said."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import msgspec

from wellkept.errors import NotFound
from wellkept.hooks.prompt import STDIN_BYTES, clean
from wellkept.ingest.conversation import minute, page_slug, parse_page
from wellkept.ingest.transcript import Transcript, TranscriptRefused
from wellkept.memory import Memory
from wellkept.model import Message, WriteReceipt
from wellkept.providers.quotes import plain
from wellkept.scrub import scrub

HEARD_BYTES = 8 * 1024 * 1024
"""So much of a transcript's end is read each time; what stood before was kept at earlier events."""

_OWN_MARK = "<!-- wellkept:"
_OWN_BLOCK = re.compile(r"^[^\n]*<!-- wellkept:[^\n]*(?:\n(?=[ \t]*(?:#|- |\n|\Z))[^\n]*)*\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SessionEvent:
    """What a harness says of a session at its start, at a stop, before a compaction and at its end."""

    session_id: str | None = None
    transcript_path: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Heard:
    """A session and what was said in it, as far as the harness still has it."""

    session: str
    messages: tuple[Message, ...]


class NothingHeard(Exception):
    """There is no conversation to keep; `reason` is a word for the log."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def session_event(stdin: bytes) -> SessionEvent | None:
    """The event, or None when it is too long or no JSON object."""
    if len(stdin) > STDIN_BYTES:
        return None
    try:
        # json and not msgspec, as for a prompt: a harness may cut what it quotes between two halves of an emoji.
        said = json.loads(stdin)
        return msgspec.convert(said, SessionEvent) if isinstance(said, dict) else None
    except (ValueError, RecursionError):
        return None


def heard_in_transcript(
    stdin: bytes, roots: Sequence[Path], read: Callable[[str, Sequence[Path]], Transcript]
) -> Heard:
    """What the transcript of an event's session holds. NothingHeard when there is none that may be read."""
    event = session_event(stdin)
    if event is None:
        raise NothingHeard("no_stdin")
    try:
        transcript = read(event.transcript_path or "", roots)
    except TranscriptRefused as refused:
        raise NothingHeard(f"transcript_{refused.code}") from None
    session = clean(plain(event.session_id or transcript.session or "")).strip()
    if not session or not transcript.messages:
        raise NothingHeard("empty_window")
    return Heard(session, transcript.messages)


def keep(memory: Memory, source: str, heard: Heard, now: datetime) -> WriteReceipt:
    """Keep the conversation durably, after what is kept of it already; the same twice changes nothing."""
    fresh = tuple(message for message in map(_masked, heard.messages) if message.text)
    try:
        before = parse_page(memory.get_page(source, page_slug(heard.session)).content)
    except NotFound:
        before = ()
    return memory.bank(source, heard.session, continued(before, fresh), now=now)


def _masked(message: Message) -> Message:
    """The message without secrets, without what memory added to it, and as a page gives it back."""
    return replace(message, text=scrub(without_own_words(clean(plain(message.text)))).strip())


def without_own_words(text: str) -> str:
    """The text without blocks that memory put into a conversation, whoever repeats them."""
    return _OWN_BLOCK.sub("", text) if _OWN_MARK in text else text


def own_words(text: str) -> list[str]:
    """Those blocks, as they stand in the text."""
    return [block.strip() for block in _OWN_BLOCK.findall(text)] if _OWN_MARK in text else []


def continued(before: Sequence[Message], fresh: Sequence[Message]) -> tuple[Message, ...]:
    """One conversation from what is kept of it and what a harness has of it now, which may lack its beginning.

    Where the two do not meet, times decide: what was said before the first fresh message stays before it.
    """
    for start in range(len(before)):
        if all(_same(old, new) for old, new in zip(before[start:], fresh, strict=False)):
            return (*before[:start], *fresh) if len(fresh) >= len(before) - start else tuple(before)
    first = minute(fresh[0].ts) if fresh else None
    if first is not None and all(message.ts is not None for message in before):
        return (*(message for message in before if message.ts is not None and message.ts < first), *fresh)
    return (*before, *fresh)


def _same(old: Message, new: Message) -> bool:
    return old.role == new.role and old.text.strip() == new.text.strip()
