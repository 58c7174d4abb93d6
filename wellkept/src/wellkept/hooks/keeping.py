"""What a harness's user and assistant said to each other, kept: masked, once, and without what memory itself said."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from wellkept.errors import NotFound
from wellkept.hooks.prompt import STDIN_BYTES, clean
from wellkept.ingest.conversation import minute, page_slug, parse_page, part_name
from wellkept.ingest.transcript import MAX_BYTES, Transcript, TranscriptRefused
from wellkept.memory import Memory
from wellkept.model import Message, Page
from wellkept.providers.quotes import plain
from wellkept.scrub import MARK, scrub

PART_CHARS = 24_000
WRITTEN_SECONDS = 0.8
"""How long an answer that a harness names may take to stand in its transcript."""
HEARD_BYTES = 1024 * 1024
"""So much of a transcript's end is read; all of it only where that does not reach back to what is kept."""

MARK_BEGINS = MARK[: MARK.index("{")]
_OWN_MARK = "<!-- wellkept:"
_OWN_BLOCK = re.compile(r"^[^\n]*<!-- wellkept:[^\n]*(?:\n(?=[ \t]*(?:#|- |\n|\Z))[^\n]*)*\n?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class SessionEvent:
    """What a harness says of a session at its start, at a stop, before a compaction and at its end."""

    session_id: str | None = None
    transcript_path: str | None = None
    source: str | None = None
    last_assistant_message: object = None


@dataclass(frozen=True, slots=True)
class Heard:
    """A session and what was said in it, as far as the harness still has it."""

    session: str
    messages: tuple[Message, ...]
    more: Callable[[], Heard] | None = None
    """Reads further back; None where these are all."""


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
    stdin: bytes,
    roots: Sequence[Path],
    read: Callable[[str, Sequence[Path], int], Transcript],
    tail: int = HEARD_BYTES,
) -> Heard:
    """What the transcript of an event's session holds, in its last `tail` bytes to begin with.

    NothingHeard when there is none that may be read.
    """
    event = session_event(stdin)
    if event is None:
        raise NothingHeard("no_stdin")
    path = event.transcript_path or ""
    try:
        transcript = _once_written(event, lambda: read(path, roots, tail))
        is_all = os.path.getsize(path) <= tail
    except (TranscriptRefused, OSError) as error:
        code = error.code if isinstance(error, TranscriptRefused) else "unreadable"
        raise NothingHeard(f"transcript_{code}") from None
    session = clean(plain(event.session_id or transcript.session or "")).strip()
    if not session or (is_all and not transcript.messages):
        raise NothingHeard("empty_window")
    more = None if is_all else partial(heard_in_transcript, stdin, roots, read, MAX_BYTES)
    return Heard(session, transcript.messages, more)


def _once_written(event: SessionEvent, read: Callable[[], Transcript]) -> Transcript:
    """The transcript, once the answer that the event names stands there, or as it is when the time for that is over.

    TranscriptRefused as `read` raises it; a file that is not there yet may still come.
    """
    until = time.monotonic() + WRITTEN_SECONDS
    while True:
        is_over = time.monotonic() >= until
        try:
            transcript = read()
        except TranscriptRefused as refused:
            if is_over or refused.code != "unreadable" or not event.last_assistant_message:
                raise
        else:
            if is_over or _is_written(event, transcript):
                return transcript
        time.sleep(0.02)


def _is_written(event: SessionEvent, transcript: Transcript) -> bool:
    """Whether the transcript has the answer that the event names: a harness may say so before it has written it."""
    said = event.last_assistant_message
    last = plain(said).strip() if isinstance(said, str) else ""
    return not last or any(last in one.text for one in transcript.messages[-1:] if one.role == "assistant")


class NotYet(Exception):
    """The time is over, and some of the conversation is still to be kept; what was kept stays."""


def keep(
    memory: Memory,
    source: str,
    heard: Heard,
    now: datetime,
    *,
    run: Callable[[Callable[[], Any]], Any] = lambda job: job(),
    until: float | None = None,
) -> int:
    """Keep durably what of the conversation is not kept yet, and give how many messages that were.

    It is kept in parts, pages of some PART_CHARS, so that a turn costs the same however long the session is. `run`
    does a job where the memory may be used; `until` is a time.monotonic() after which no further part is begun:
    NotYet then.
    """
    number, before, open_part = run(lambda: _kept_so_far(memory, source, heard.session))

    def said(whom: Heard) -> tuple[Message, ...]:
        messages = _bare_messages(whom)
        found: tuple[Message, ...] = run(lambda: memory.without_forgotten(source, messages))
        return found

    fresh = said(heard)
    if heard.more is not None and follows(before, fresh) is None:
        fresh = said(heard.more())
    rest = list(unkept(before, fresh))
    kept = 0
    while kept < len(rest):
        if kept and until is not None and time.monotonic() > until:
            raise NotYet
        if _size(open_part) >= PART_CHARS:
            number, open_part = number + 1, ()
        part, taken = list(open_part), kept
        while kept < len(rest) and (kept == taken or _size(part) < PART_CHARS):
            part.append(replace(rest[kept], text=scrub(rest[kept].text).strip()))
            kept += 1
        open_part = tuple(part)
        run(partial(memory.bank, source, part_name(heard.session, number), open_part, now=now))
    return kept


def _kept_so_far(memory: Memory, source: str, session: str) -> tuple[int, tuple[Message, ...], tuple[Message, ...]]:
    """The number of the part to go on with, the last messages that are kept, and what that part holds of them."""

    def page(number: int) -> Page | None:
        try:
            return memory.get_page(source, page_slug(part_name(session, number)))
        except NotFound:
            return None

    there, absent = 0, 1
    while page(absent) is not None:
        there, absent = absent, absent * 2
    while absent - there > 1:
        middle = (there + absent) // 2
        there, absent = (middle, absent) if page(middle) is not None else (there, middle)
    last, second = page(there) if there else None, page(there - 1) if there > 1 else None
    if last is None:
        return 1, (), ()
    said = parse_page(last.content)
    before = (*(parse_page(second.content) if second is not None else ()), *said)
    # A part that its owner has forgotten is not brought back: what is said from now on begins another.
    return (there, before, said) if last.status == "active" else (there + 1, before, ())


def _size(messages: Sequence[Message]) -> int:
    return sum(len(message.text) for message in messages)


def _bare_messages(heard: Heard) -> tuple[Message, ...]:
    return tuple(message for message in map(_bare, heard.messages) if message.text)


def _bare(message: Message) -> Message:
    """The message without what memory added to it, as a page gives it back."""
    return replace(message, text=without_own_words(clean(plain(message.text))).strip())


def without_own_words(text: str) -> str:
    """The text without blocks that memory put into a conversation, whoever repeats them."""
    return _OWN_BLOCK.sub("", text) if _OWN_MARK in text else text


def own_words(text: str) -> list[str]:
    """Those blocks, as they stand in the text."""
    return [block.strip() for block in _OWN_BLOCK.findall(text)] if _OWN_MARK in text else []


def unkept(before: Sequence[Message], fresh: Sequence[Message]) -> Sequence[Message]:
    """Those of the messages that a harness has now, unmasked, which follow the last ones that are kept, `before`.

    The harness may lack the beginning, or all that was kept; where the two do not meet, times decide.
    """
    place = follows(before, fresh)
    if place is not None:
        return fresh[place:]
    last = minute(before[-1].ts) if before else None
    if last is None:
        return fresh
    return [
        message
        for message in fresh
        if (when := minute(message.ts)) is None
        or when > last
        or (when == last and not any(_same(old, message) for old in before))
    ]


def follows(before: Sequence[Message], fresh: Sequence[Message]) -> int | None:
    """The place in `fresh` that `before` ends at; None when they have nothing in common."""
    if not before or not fresh:
        return None
    for start in range(len(fresh) - len(before) + 1):
        if all(_same(old, new) for old, new in zip(before, fresh[start:], strict=False)):
            return start + len(before)
    for start in range(len(before)):
        if all(_same(old, new) for old, new in zip(before[start:], fresh, strict=False)):
            return len(before) - start
    return None


def _same(old: Message, new: Message) -> bool:
    """Whether a kept message is this one. Masking takes time, so it is left until nothing else can tell."""
    if old.role != new.role or (old.ts is not None and new.ts is not None and old.ts != minute(new.ts)):
        return False
    head, mark, _ = old.text.partition(MARK_BEGINS)
    if not mark:
        return old.text.strip() == new.text
    return new.text.startswith(head.lstrip()) and scrub(new.text).strip() == old.text.strip()
