"""What was asked of memory and which pages answered, kept beside it for whoever wants to ask the same again later.

Off unless the settings switch it on. One JSON line a question in a file of its owner's only, scrubbed before it is
written; no text of a page is in it. Writers of several processes take turns by a lock on the file.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from wellkept.errors import StoreUnavailable
from wellkept.scrub import scrub

SCHEMA_VERSION = 1
QUERY_BYTES = 50 * 1024
"""A longer question is cut to this many bytes of UTF-8, and its `detail` says "cut"."""
KEPT_DAYS = 90
KEPT_BYTES = 16 * 1024 * 1024
"""The file is cut to its newest half when it is larger."""
WAIT_MS = 20
"""How long an answer may wait for another process to finish its line."""
PRUNE_EVERY_S = 3600.0
_LAST_WORD = 1024
_FIRST_LINE = 128 * 1024


@dataclass(frozen=True, slots=True)
class Captured:
    """One question. `detail` is what besides the question shaped the answer; `slugs` are its pages, best first."""

    tool: str
    source: str
    query: str
    slugs: Sequence[str]
    detail: str
    latency_ms: float
    filters: Mapping[str, object] = field(default_factory=dict, hash=False)
    """What narrowed the answer besides the query; `detail` says "filtered" then."""


@dataclass(frozen=True, slots=True)
class Kept:
    """The rows of a file, newest first; `lost` counts captures that failed, `torn` lines that cannot be read."""

    rows: tuple[dict[str, Any], ...]
    lost: int = 0
    torn: int = 0


class Capture:
    """Adds questions to the file `path`; what goes wrong is counted and never raised.

    `remote` says that the questions come in over a network.
    """

    def __init__(self, path: Path, *, remote: bool = False) -> None:
        self.path, self.remote = path, remote
        self.failed = 0
        """Captures that failed in this process."""
        self._pruned_at: float | None = None

    def keep(self, captured: Captured) -> None:
        """Add one question, or count that it could not be added."""
        try:
            line = _line(_row(captured, self.remote))
            with _locked(self.path, WAIT_MS / 1000) as file:
                self._prune_now_and_then(file)
                _append(file, line)
        except Exception as error:
            # Whatever it is, the one who asked must get the answer.
            self.failed += 1
            _count_lost(self.path, error)

    def _prune_now_and_then(self, file: int) -> None:
        now = time.monotonic()
        if self._pruned_at is None or now - self._pruned_at > PRUNE_EVERY_S or os.fstat(file).st_size > KEPT_BYTES:
            self._pruned_at = now
            _prune(file)


def read(path: Path, *, since: datetime | None = None, tool: str | None = None, limit: int | None = None) -> Kept:
    """The newest `limit` rows at or after `since` of one tool. StoreUnavailable when the file cannot be read.

    Rows older than KEPT_DAYS are deleted first. A key that this version does not know stays in its row.
    """
    with _reported(path):
        if not path.exists():
            return Kept((), _lost(path))
        with _locked(path, 2.0) as file:
            _prune(file)
            lines = os.pread(file, os.fstat(file).st_size, 0).split(b"\n")
        read_rows = [row for row in map(_read_line, lines) if row is not None]
        torn = sum(1 for line in lines if line) - len(read_rows)
        rows = [row for row in reversed(read_rows) if _wanted(row, since, tool)]
        rows.sort(key=lambda row: _moment(row["created_at"]), reverse=True)
        return Kept(tuple(rows[:limit]), _lost(path), torn)


def clear(path: Path) -> int:
    """Delete every row, and the count of lost ones; gives how many rows there were."""
    with _reported(path):
        count = 0
        if path.exists():
            with _locked(path, 2.0) as file:
                count = os.pread(file, os.fstat(file).st_size, 0).count(b"\n")
                _rewrite(file, b"")
        _lost_file(path).unlink(missing_ok=True)
        return count


def strike(path: Path, goes: Callable[[dict[str, Any]], bool]) -> int:
    """Delete the rows of which `goes` is true, and every line that is no row; gives how many rows went."""
    with _reported(path), _locked(path, 2.0) as file:
        rows = [(line, _read_line(line)) for line in os.pread(file, os.fstat(file).st_size, 0).split(b"\n") if line]
        kept = [line for line, row in rows if row is not None and not goes(row)]
        if len(kept) < len(rows):
            _rewrite(file, b"".join(line + b"\n" for line in kept))
        return len(rows) - len(kept)


def _row(captured: Captured, remote: bool) -> dict[str, object]:
    query, cut = _shortened(captured.query)
    return {
        "schema_version": SCHEMA_VERSION,
        "id": uuid.uuid4().hex,
        "tool_name": captured.tool,
        "query": query,
        "retrieved_slugs": [scrub(slug) for slug in dict.fromkeys(captured.slugs)],
        "retrieved_chunk_ids": [],
        "source_ids": [scrub(captured.source)],
        "detail": "cut" if cut else scrub(captured.detail),
        **({"filters": json.loads(scrub(json.dumps(captured.filters)))} if captured.filters else {}),
        "vector_enabled": False,
        "expansion_applied": False,
        "latency_ms": round(captured.latency_ms, 3),
        "remote": remote,
        "created_at": datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"),
    }


def _shortened(query: str) -> tuple[str, bool]:
    """The scrubbed question within QUERY_BYTES, and whether something was cut off.

    Cut before it is scrubbed, because that takes time; and at a space, so that no half of a key is left.
    """
    raw = query.encode("utf-8", "replace")
    cut = len(raw) > QUERY_BYTES
    if cut:
        head = raw[:QUERY_BYTES].decode("utf-8", "ignore")
        before, space, _ = head[-_LAST_WORD:].rpartition(" ")
        query = head[:-_LAST_WORD] + (before if space else "")
    scrubbed = scrub(query).encode("utf-8", "replace")
    return scrubbed[:QUERY_BYTES].decode("utf-8", "ignore"), cut or len(scrubbed) > QUERY_BYTES


def _line(row: dict[str, object]) -> bytes:
    return json.dumps(row, ensure_ascii=False, allow_nan=False).encode("utf-8") + b"\n"


def _append(file: int, line: bytes) -> None:
    size = os.fstat(file).st_size
    if size and os.pread(file, 1, size - 1) != b"\n":  # a writer was killed within its line
        line = b"\n" + line
    written = os.pwrite(file, line, size)
    if written != len(line):
        os.ftruncate(file, size)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _prune(file: int) -> None:
    """Take out what is too old, and the older half of a file that is too large."""
    size = os.fstat(file).st_size
    oldest = datetime.now(UTC) - timedelta(days=KEPT_DAYS)
    first, newline, _ = os.pread(file, _FIRST_LINE, 0).partition(b"\n")
    if size <= KEPT_BYTES and newline and _is_kept(first, oldest):
        return
    content = os.pread(file, size, 0)
    start = content.find(b"\n", size - KEPT_BYTES // 2) + 1 if size > KEPT_BYTES else 0
    while start < size:
        end = content.find(b"\n", start) + 1 or size
        if _is_kept(content[start:end], oldest):
            break
        start = end
    if start:
        _rewrite(file, content[start:])


def _is_kept(line: bytes, oldest: datetime) -> bool:
    row = _read_line(line)
    return row is not None and _moment(row["created_at"]) >= oldest


def _rewrite(file: int, content: bytes) -> None:
    """In place, so that a writer who waits for the lock waits for this file and no other."""
    os.pwrite(file, content, 0)
    os.ftruncate(file, len(content))


@contextmanager
def _locked(path: Path, wait_s: float) -> Iterator[int]:
    """The file, made if it is not there, and nobody else's until this ends. BlockingIOError after `wait_s` seconds."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    file = os.open(path, flags, 0o600)
    try:
        until = time.monotonic() + wait_s
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= until:
                    raise
                time.sleep(0.001)
        yield file
    finally:
        os.close(file)


def _read_line(line: bytes) -> dict[str, Any] | None:
    """The row that a line holds; None when it holds none that can be dated."""
    try:
        row = json.loads(line)
        if isinstance(row, dict) and isinstance(row.get("tool_name"), str):
            _moment(row.get("created_at"))
            return row
    except (ValueError, TypeError, RecursionError):
        pass
    return None


def _moment(stamp: object) -> datetime:
    if not isinstance(stamp, str):
        raise TypeError("no time")
    found = datetime.fromisoformat(stamp)
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found


def _wanted(row: dict[str, Any], since: datetime | None, tool: str | None) -> bool:
    return (since is None or _moment(row["created_at"]) >= since) and tool in (None, row["tool_name"])


def _lost_file(path: Path) -> Path:
    return path.with_suffix(".lost")


def _count_lost(path: Path, error: Exception) -> None:
    try:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        file = os.open(_lost_file(path), flags, 0o600)
        try:
            os.write(file, f"{type(error).__name__}\n".encode())
        finally:
            os.close(file)
    except OSError:
        # Capture.failed still counts it for this process; there is nowhere else to write it down.
        pass


def _lost(path: Path) -> int:
    try:
        return _lost_file(path).read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


@contextmanager
def _reported(path: Path) -> Iterator[None]:
    try:
        yield
    except BlockingIOError:
        raise StoreUnavailable(path, "another process is writing it. Try again") from None
    except OSError as error:
        raise StoreUnavailable(path, f"{error.strerror or error}. Mend that, or move the file away") from None
