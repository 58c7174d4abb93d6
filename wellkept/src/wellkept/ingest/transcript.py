"""What the transcripts of all harnesses share: getting at the file safely, its ends, its lines, its times."""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from wellkept.errors import WellkeptError
from wellkept.model import Message

TAIL_BYTES = 2 * 1024 * 1024
MAX_BYTES = 50 * 1024 * 1024

Refusal = Literal["missing_path", "not_jsonl", "unreadable", "symlink", "not_file", "too_large", "outside_projects_dir"]

_MILLISECONDS_FROM = 1e11


class TranscriptRefused(WellkeptError):
    """A transcript file that must not be read; `code` says why."""

    def __init__(self, code: Refusal, path: str) -> None:
        self.code: Refusal = code
        super().__init__(f"transcript {path!r} is not read: {code}")


@dataclass(frozen=True, slots=True)
class Transcript:
    """What a transcript holds for memory.

    `prior` is what memory itself injected earlier, blank-line joined, oldest first. `bad_lines` counts the lines
    that could not be understood; `session` is None when the transcript does not say.
    """

    messages: tuple[Message, ...]
    prior: str = ""
    bad_lines: int = 0
    session: str | None = None


def confine(
    path: str | None, roots: Sequence[str | os.PathLike[str]], *, head: int = 0, tail: int = TAIL_BYTES
) -> bytes:
    """The bytes of a transcript below one of the roots: all, or its first `head` and last `tail` bytes in whole lines.

    Raises TranscriptRefused with the first reason that applies. The file that is checked is the file that is read:
    it is opened without following a link and looked at again through its descriptor.
    """
    if not path:
        raise TranscriptRefused("missing_path", "")
    if not path.endswith(".jsonl"):
        raise TranscriptRefused("not_jsonl", path)
    try:
        _check_file(os.lstat(path), path)
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        became_link = isinstance(error, OSError) and error.errno == errno.ELOOP
        raise TranscriptRefused("symlink" if became_link else "unreadable", path) from error
    try:
        opened = os.fstat(descriptor)
        _check_file(opened, path)
        _check_place(opened, path, roots)
        return _read_ends(descriptor, opened.st_size, head, tail)
    except (OSError, ValueError) as error:
        raise TranscriptRefused("unreadable", path) from error
    finally:
        os.close(descriptor)


def _check_file(found: os.stat_result, path: str) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise TranscriptRefused("symlink", path)
    if not stat.S_ISREG(found.st_mode):
        raise TranscriptRefused("not_file", path)
    if found.st_size > MAX_BYTES:
        raise TranscriptRefused("too_large", path)


def _check_place(opened: os.stat_result, path: str, roots: Sequence[str | os.PathLike[str]]) -> None:
    real = os.path.realpath(path)
    inside = any(real.startswith(os.path.join(os.path.realpath(root), "")) for root in roots)
    if not inside or not os.path.samestat(opened, os.stat(real)):
        raise TranscriptRefused("outside_projects_dir", path)


def _read_ends(descriptor: int, size: int, head: int, tail: int) -> bytes:
    if size <= head + tail:
        return _read_at(descriptor, 0, size)
    return _whole_lines(_read_at(descriptor, 0, head), _read_at(descriptor, size - tail - 1, tail + 1))


def _read_at(descriptor: int, offset: int, length: int) -> bytes:
    pieces = []
    while length > 0 and (piece := os.pread(descriptor, length, offset)):
        pieces.append(piece)
        offset, length = offset + len(piece), length - len(piece)
    return b"".join(pieces)


def ends(raw: bytes, *, head: int = 0, tail: int = TAIL_BYTES) -> bytes:
    """All of `raw`, or when it is longer than both together its first `head` and last `tail` bytes in whole lines."""
    if len(raw) <= head + tail:
        return raw
    return _whole_lines(raw[:head], raw[len(raw) - tail - 1 :])


def _whole_lines(start: bytes, end: bytes) -> bytes:
    """`start` up to its last line end, then `end` from behind its first: it carries one byte more to begin with."""
    _, line_end, rest = end.partition(b"\n")
    return start[: start.rfind(b"\n") + 1] + (rest if line_end else b"")


def json_objects(raw: bytes) -> Iterator[dict[str, object] | None]:
    """The object on each line that is not blank; None for a line that holds none."""
    for line in raw.split(b"\n"):
        text = line.decode("utf-8", "replace").strip().lstrip("\ufeff")
        if text:
            yield _json_object(text)


def _json_object(text: str) -> dict[str, object] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def read_time(value: object) -> datetime | None:
    """The moment that an ISO 8601 string or a number of (milli)seconds since 1970 names, in UTC, or None.

    A time without a zone is UTC.
    """
    try:
        if isinstance(value, str):
            return utc(datetime.fromisoformat(value.strip()))
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if abs(value) >= _MILLISECONDS_FROM else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None


def write_time(ts: datetime) -> str:
    """The moment as harnesses write it: UTC, ISO 8601, milliseconds, Z."""
    return utc(ts).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def utc(ts: datetime) -> datetime:
    """The same moment in UTC; without a zone it is taken to be UTC already."""
    if ts.tzinfo is None:
        return ts.replace(tzinfo=UTC)
    try:
        return ts.astimezone(UTC)
    except OverflowError:
        return ts.replace(tzinfo=UTC)
