"""A conversation in stretches that belong together, small enough to be read at once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from wellkept.ingest.conversation import minute
from wellkept.model import Message
from wellkept.providers import Segment
from wellkept.providers.quotes import plain

GAP = timedelta(minutes=30)
MAX_MESSAGES = 30
PART_CHARS = 6500

_NAME_CHARS = 120
_WORD_END = re.compile(r"\s+")


def segments(session: str, messages: Sequence[Message], *, minimum: int = 1) -> tuple[Segment, ...]:
    """The stretches of a conversation, cut where more than 30 minutes passed or after 30 messages.

    Times are minutes; a message without one has that of the message before it, at the start that of the first
    message with one. Stretches of fewer than `minimum` messages, and single messages of the assistant, are left out.
    """
    stretches: list[list[Message]] = []
    for message in _timed(messages):
        if not stretches or len(stretches[-1]) == MAX_MESSAGES or _apart(stretches[-1][-1].ts, message.ts):
            stretches.append([])
        stretches[-1].append(message)
    return tuple(
        Segment(session, tuple(stretch), tuple(parts(session, stretch)))
        for stretch in stretches
        if len(stretch) >= minimum and (len(stretch) > 1 or stretch[0].role == "user")
    )


def _timed(messages: Sequence[Message]) -> Iterator[Message]:
    ts = next((minute(message.ts) for message in messages if message.ts), None)
    for message in messages:
        ts = minute(message.ts) or ts
        yield replace(message, text=plain(message.text), ts=ts)


def _apart(before: datetime | None, now: datetime | None) -> bool:
    return before is not None and now is not None and now - before > GAP


def parts(session: str, messages: Sequence[Message], *, limit: int = PART_CHARS) -> Iterator[str]:
    """The stretch as text, in pieces of at most `limit` characters that lose nothing of what was said.

    Pieces end between messages; only a message that is too long for one piece is split, between words if it has any.
    """
    head = f"Conversation {_one_line(session)}\n---\n"
    piece = head
    for message in messages:
        speaker = f"{message.role} ({message.ts.isoformat() if message.ts else 'no time'}): "
        for text in split_text(message.text, limit - len(head) - len(speaker) - 1):
            line = f"{speaker}{text}\n"
            if len(piece) + len(line) > limit:
                yield piece
                piece = head
            piece += line
    yield piece


def _one_line(session: str) -> str:
    name = " ".join(session.split())
    return name if len(name) <= _NAME_CHARS else name[: _NAME_CHARS - 1] + "…"


def split_text(text: str, room: int) -> Iterator[str]:
    """Pieces of at most `room` characters which joined are the text; cut behind white space where there is any."""
    start = 0
    while len(text) - start > room:
        cut = start + room
        spaces = [found.end() for found in _WORD_END.finditer(text, start, cut)]
        if spaces:
            cut = spaces[-1]
        yield text[start:cut]
        start = cut
    yield text[start:]
