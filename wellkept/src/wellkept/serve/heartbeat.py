"""The hooks' log: what happened on each event, and never what was said."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

LINES = 5_000
KEPT = 4_500
"""A full log is cut to this, so that it is not written anew on every event."""


@dataclass(frozen=True, slots=True)
class Beat:
    """One event: `outcome` is injected, silent, disabled or failed; `reason` says why, "" for nothing to add."""

    event: str
    outcome: str
    reason: str
    duration_ms: float
    turns: int
    bytes: int


class Heartbeat:
    """An append-only JSONL file of at most LINES lines; hook processes append to it too."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._size = -1
        self._lines = 0

    def append(self, beat: Beat) -> None:
        """Add a line, stamped with the time of the real clock. OSError when the file cannot be written."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        line = msgspec.json.encode(_row(now, beat)) + b"\n"
        with self._lock:
            self._make_room()
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(self.path, flags, 0o600)
            try:
                os.write(descriptor, line)
                self._size = os.fstat(descriptor).st_size
            finally:
                os.close(descriptor)
            self._lines += 1

    def _make_room(self) -> None:
        try:
            size = self.path.lstat().st_size
        except FileNotFoundError:
            size = 0
        if size != self._size:
            self._lines = self.path.read_bytes().count(b"\n") if size else 0
        if self._lines >= LINES:
            lines = self.path.read_bytes().splitlines(keepends=True)[-KEPT:]
            fresh = self.path.with_suffix(".new")
            fresh.unlink(missing_ok=True)
            with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.writelines(lines)
            fresh.replace(self.path)
            self._lines = len(lines)


def _row(now: str, beat: Beat) -> dict[str, object]:
    return {
        "ts": now,
        "event": beat.event,
        "outcome": beat.outcome,
        "reason": beat.reason,
        "duration_ms": round(beat.duration_ms, 1),
        "turns": beat.turns,
        "bytes": beat.bytes,
    }
