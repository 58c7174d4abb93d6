"""Conversations as pages: one page per session that people can read, and that reads back to the same turns."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from itertools import pairwise

from wellkept.ingest import claude_code, codex
from wellkept.ingest.markdown import pieces
from wellkept.ingest.transcript import json_objects, read_time, utc
from wellkept.model import Chunk, Message, Role, Statement, Trust
from wellkept.providers.quotes import plain
from wellkept.sentences import statements

FOLDER = "conversations/"
PAGE_TYPE = "conversation"
SHORT_ANSWER_CHARS = 600
"""Up to this length what an assistant says has vectors."""

_SPEAKERS: dict[Role, str] = {"user": "You", "assistant": "Assistant"}
_HEADING = re.compile(
    r"^\*\*(You|Assistant)\*\*(?: \(([0-9]{4}-[0-9]{2}-[0-9]{2}) ([0-9]{1,2}):([0-9]{2}) (AM|PM)\))?: ", re.M
)
_LOOK_ALIKE = re.compile(r"^(\\*)(?=\*\*(?:You|Assistant)\*\*)", re.M)
_FRONT_MATTER = re.compile(r"\A---\n(.*?)^---\n\n?", re.M | re.S)

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)

_PLAIN_SESSION = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_MARKED_SESSION = re.compile(r"-[0-9a-f]{20}\Z")
_SESSION_CHARS = 80
MOST_PARTS = 200


# Pages


def page_slug(session: str) -> str:
    """The page of a session. Different sessions never share one, whatever characters their names hold.

    >>> page_slug("d703a1a9-1b7b")
    'conversations/d703a1a9-1b7b'
    """
    plainly = _PLAIN_SESSION.match(session) and len(session) <= _SESSION_CHARS and not _MARKED_SESSION.search(session)
    if plainly:
        return FOLDER + session
    readable = re.sub(r"[^a-z0-9]+", "-", session.lower())[: _SESSION_CHARS - 21].strip("-") or "session"
    return f"{FOLDER}{readable}-{sha256(session.encode('utf-8', 'surrogatepass')).hexdigest()[:20]}"


def part_name(session: str, number: int) -> str:
    """The session under which a part of a conversation is kept: the first under its own name."""
    return session if number == 1 else f"{session} part {number}"


def is_of(session: str, slug: str) -> bool:
    """Whether the page is of this session, all of it or one of its first MOST_PARTS parts.

    >>> is_of("s1", page_slug("s1 part 2")), is_of("s1", "conversations/s15")
    (True, False)
    """
    begins = page_slug(part_name(session, 2))[: len(FOLDER) + _SESSION_CHARS // 2].partition("-part-")[0]
    if not slug.startswith(begins):
        return False
    return any(slug == page_slug(part_name(session, number)) for number in range(1, MOST_PARTS + 1))


def minute(ts: datetime | None) -> datetime | None:
    """The moment in UTC without its seconds, as precise as a conversation page keeps it."""
    return utc(ts).replace(second=0, microsecond=0) if ts else None


def title(messages: Sequence[Message]) -> str:
    """What the page of these turns is called."""
    ts = next((minute(message.ts) for message in messages if message.ts), None)
    return f"Conversation of {ts.date()}" if ts else "Conversation"


def render(messages: Sequence[Message]) -> str:
    """The page of a conversation, front matter first. `parse_page` gives the same roles, texts and minutes back.

    Line ends become line feeds. A line of a message that looks like the start of a turn gets a backslash.
    """
    turns = "\n\n".join(render_turn(message) for message in messages)
    return f"---\ntitle: {title(messages)}\ntype: {PAGE_TYPE}\n---\n\n{turns}\n"


def render_turn(message: Message) -> str:
    """One turn as it stands on the page."""
    ts = minute(message.ts)
    when = f" ({ts.year:04}-{ts:%m-%d} {ts.hour % 12 or 12}:{ts:%M} {'PM' if ts.hour >= 12 else 'AM'})" if ts else ""
    first, line_end, rest = plain(message.text).partition("\n")
    escaped = _LOOK_ALIKE.sub(r"\\\1", rest)
    return f"**{_SPEAKERS[message.role]}**{when}: {first}{line_end}{escaped}"


def turn_chunks(messages: Sequence[Message]) -> tuple[Chunk, ...]:
    """What searches find of a conversation: each turn by itself, a long one in pieces, led by its date in words.

    A long answer has no vectors: it is found by its words and by its question.
    """
    chunks: list[Chunk] = []
    for turn, message in enumerate(messages):
        at = minute(message.ts)
        lead = f"{at.day} {_MONTHS[at.month - 1]} {at.year}" if at else ""
        text, answer = plain(message.text).strip(), message.role == "assistant"
        meant = not answer or len(text) <= SHORT_ANSWER_CHARS
        for piece in pieces(text):
            chunks.append(Chunk(len(chunks), piece, lead, turn, at, answer, meant))
    return tuple(chunks)


def stated(source: str, slug: str, messages: Sequence[Message]) -> tuple[Statement, ...]:
    """What the user of a conversation states, sentence by sentence; nothing of what the assistant says."""
    return tuple(
        Statement(source, slug, turn, text, minute(message.ts), Trust.AGENT_WRITTEN)
        for turn, message in enumerate(messages)
        if message.role == "user"
        for text in statements(plain(message.text).strip())
    )


def parse_page(content: str) -> tuple[Message, ...]:
    """The turns of a rendered page, without ids; () when there are none."""
    body = _FRONT_MATTER.sub("", content, count=1)
    headings = list(_HEADING.finditer(body))
    if not headings:
        return ()
    texts = [body[one.end() : following.start()].removesuffix("\n\n") for one, following in pairwise(headings)]
    texts.append(body[headings[-1].end() :].removesuffix("\n"))
    return tuple(_turn(heading, text) for heading, text in zip(headings, texts, strict=True))


def _turn(heading: re.Match[str], text: str) -> Message:
    first, line_end, rest = text.partition("\n")
    unescaped = _LOOK_ALIKE.sub(lambda found: found[1][1:], rest)
    role: Role = "user" if heading[1] == "You" else "assistant"
    return Message(role, first + line_end + unescaped, _page_time(heading))


def _page_time(heading: re.Match[str]) -> datetime | None:
    _, day, hour, minutes, half = heading.groups()
    if day is None:
        return None
    try:
        at = datetime.fromisoformat(day).replace(tzinfo=UTC)
        return at.replace(hour=int(hour) % 12 + 12 * (half == "PM"), minute=int(minutes))
    except ValueError:
        return None


# Conversations in other people's forms


@dataclass(frozen=True, slots=True)
class Recogniser:
    """One form of conversation: `start` matches a line that begins a turn and names its `speaker`, `text`, `time`."""

    name: str
    start: re.Pattern[str]


RECOGNISERS: tuple[Recogniser, ...] = (
    Recogniser("page", re.compile(r"\*\*(?P<speaker>You|Assistant)\*\*(?: \((?P<time>[^)\n]*)\))?: (?P<text>.*)")),
    Recogniser(
        "[ISO] Speaker: text",
        re.compile(
            r"\[(?P<time>[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][^\]\n]{4,30})\] (?P<speaker>[^:\n]{1,60}): ?(?P<text>.*)"
        ),
    ),
    Recogniser(
        "Speaker: text",
        re.compile(r"(?P<bold>\*\*)?(?P<speaker>[^\W\d_][^:*\n]{0,39})(?(bold)(?::\*\*|\*\*:)|:)(?: (?P<text>.*)|\Z)"),
    ),
)

_ROLES: dict[str, Role] = {
    **dict.fromkeys(("you", "user", "human", "me"), "user"),
    **dict.fromkeys(("assistant", "ai", "model", "bot", "claude", "codex", "chatgpt"), "assistant"),
}
_SAMPLE_LINES, _SURE, _ENOUGH = 10, 0.3, 0.05
_LISTS = ("messages", "chat_messages", "loglines", "turns", "conversation")


def parse(text: str) -> tuple[Message, ...]:
    """The turns of a conversation in any form that is known; () when the text is no conversation.

    Turns of people other than the user and the assistant are the user's, and their text says who spoke.
    """
    text = plain(text).removeprefix("\ufeff")
    front = _FRONT_MATTER.match(text)
    if front and f"\ntype: {PAGE_TYPE}\n" in f"\n{front[1]}" and _HEADING.match(text, front.end()):
        return parse_page(text)
    return _from_json(text) or _from_lines(text[front.end() :] if front else text)


def _from_lines(text: str) -> tuple[Message, ...]:
    lines = text.split("\n")
    sample = [line for line in lines if line.strip()]
    if not sample:
        return ()
    best = max(RECOGNISERS, key=lambda form: _share(form, sample[:_SAMPLE_LINES], sample))
    share = _share(best, sample[:_SAMPLE_LINES], sample)
    if share < _SURE:
        best = max(RECOGNISERS, key=lambda form: _share(form, sample, sample))
        share = _share(best, sample, sample)
    return tuple(_turns(best, lines)) if share >= _ENOUGH or _opens(best, sample) else ()


def _share(form: Recogniser, of: Sequence[str], sample: Sequence[str]) -> float:
    known = _speakers(form, sample)
    return sum(_start(form, line, known) is not None for line in of) / len(of)


def _opens(form: Recogniser, sample: Sequence[str]) -> bool:
    """Whether a turn of the user or the assistant comes first: long answers may leave few starts among many lines."""
    found = form.start.match(sample[0])
    return found is not None and found["speaker"].strip().lower() in _ROLES


def _speakers(form: Recogniser, lines: Iterable[str]) -> frozenset[str]:
    """Who speaks: the user, the assistant, and others that speak more than once. A single "Note: ..." is no turn."""
    counted = Counter(found["speaker"].strip() for line in lines if (found := form.start.match(line)))
    return frozenset(name for name, times in counted.items() if times > 1 or name.lower() in _ROLES)


def _start(form: Recogniser, line: str, speakers: frozenset[str]) -> re.Match[str] | None:
    found = form.start.match(line)
    return found if found and found["speaker"].strip() in speakers else None


def _turns(form: Recogniser, lines: Sequence[str]) -> Iterable[Message]:
    speakers = _speakers(form, lines)
    turn: Message | None = None
    said: list[str] = []
    for line in lines:
        found = _start(form, line, speakers)
        if found is None:
            said.append(line)
            continue
        yield from _finished(turn, said)
        speaker = found["speaker"].strip()
        role = _ROLES.get(speaker.lower())
        ts = read_time(found.groupdict().get("time"))
        turn = Message(role or "user", "", ts)
        said = [(found["text"] or "") if role else f"{speaker}: {found['text'] or ''}"]
    yield from _finished(turn, said)


def _finished(turn: Message | None, said: Sequence[str]) -> Iterable[Message]:
    text = "\n".join(said).strip()
    if turn is not None and text:
        yield Message(turn.role, text, turn.ts)


def _from_json(text: str) -> tuple[Message, ...]:
    """The turns of a JSON list, of an object that holds one, or of JSON lines of a known harness."""
    if not text.lstrip().startswith(("[", "{")):
        return ()
    try:
        items = _listed(json.loads(text))
    except (ValueError, RecursionError):
        items = [line for line in json_objects(text.encode()) if line is not None]
    return _read_lines(items) or tuple(message for item in items if (message := _item(item)))


def _listed(value: object) -> list[dict[str, object]]:
    if isinstance(value, dict):
        lists = [value[key] for key in _LISTS if isinstance(value.get(key), list)]
        value = lists[0] if lists else [value]
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _read_lines(items: Sequence[dict[str, object]]) -> tuple[Message, ...]:
    """The items read as lines of the harness that writes such lines, if one does."""
    readers: tuple[tuple[str, Callable[[bytes], claude_code.Transcript]], ...] = (
        ("payload", codex.read),
        ("message", claude_code.read),
    )
    for key, read in readers:
        if any(isinstance(item.get(key), dict) and isinstance(item.get("type"), str) for item in items):
            return read("\n".join(json.dumps(item) for item in items).encode()).messages
    return ()


def _item(item: dict[str, object]) -> Message | None:
    role = _ROLES.get(str(_first(item, ("role", "sender", "speaker", "from", "author"))).lower())
    text = _text(_first(item, ("content", "text", "message", "value")))
    stamp = _first(item, ("timestamp", "ts", "created_at", "create_time", "date", "time"))
    name = _first(item, ("id", "uuid"))
    if role is None or not text:
        return None
    return Message(role, text, read_time(stamp), plain(name) if isinstance(name, str) and name else None)


def _first(item: dict[str, object], keys: Iterable[str]) -> object:
    value = next((item[key] for key in keys if item.get(key) is not None), None)
    return value.get("role") if isinstance(value, dict) and "role" in value else value


def _text(content: object) -> str:
    if isinstance(content, str):
        return plain(content).strip()
    blocks = content if isinstance(content, list) else []
    texts = [block.get("text") if isinstance(block, dict) else block for block in blocks]
    return plain("\n".join(text for text in texts if isinstance(text, str))).strip()
