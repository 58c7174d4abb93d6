"""Large brains in a worker: read once from their file, written once to each system, then restored from its snapshot.

A system that comes with the bench may hand a snapshot over, so that its brains are written once for all seams: by a
process that is asked nothing, knows of no seam and ends before any begins.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from brainbench.errors import SystemFailure
from brainbench.model import PageIn
from brainbench.replay import TooSlow
from brainbench.systems import System

AT_ONCE = 100
"""How many pages a system is given in one call."""


@dataclass(frozen=True, slots=True)
class Brain:
    """A large brain as a worker is told of it: an opaque name, the file with its pages, and the time for filling it.

    A system may spend `seconds` on writing its pages, all fixtures together that one worker plays. `filled` holds what
    a twin of the system handed over, by source. Once it is written, a `settled` one is let finish what that left.
    """

    name: str
    file: str
    seconds: float
    filled: Mapping[str, Snapshot] = field(default_factory=dict)
    settled: bool = False

    def snapshot(self, source: str) -> str:
        """What a system calls its snapshot of this brain as the pages of `source`."""
        return f"{self.name}-{source}"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A file that a system handed over, and what it must still hold when another process takes it over."""

    file: str
    sha256: str


def sealed(file: Path) -> Snapshot:
    """The snapshot in a file as it is now."""
    return Snapshot(str(file), hashlib.sha256(file.read_bytes()).hexdigest())


def encoded(pages: list[tuple[str, str]]) -> bytes:
    """The bytes of a brain's file: (slug, content) of each page."""
    return msgspec.msgpack.encode(pages)


class Filling:
    """The pages of one brain and how long one system has spent on writing them."""

    def __init__(self, brain: Brain) -> None:
        self._brain, self._limit = brain, brain.seconds
        self._ready: set[str] = set()
        self._pages = msgspec.msgpack.decode(Path(brain.file).read_bytes(), type=list[tuple[str, str]])
        self._spent = 0.0
        self._rounds = 0

    def pour(self, system: System, source: str) -> None:
        """Make the pages those of `source`, from the system's snapshot if it has one.

        TooSlow once the system has spent its time; SystemFailure if a page cannot be read back.
        """
        snapshot = self._brain.snapshot(source)
        if source not in self._ready and not self._rounds and self._taken_over(system, source):
            self._ready.add(source)
        if not ((self._rounds or self._ready) and system.restore(snapshot) is True):
            self._write(system, source)
            system.keep(snapshot)
        for slug, _ in (self._pages[0], self._pages[len(self._pages) // 2], self._pages[-1]):
            if not isinstance(system.read_page(source, slug), str):
                raise SystemFailure(f"page {slug!r} of a large brain was written and cannot be read back")

    def _taken_over(self, system: System, source: str) -> bool:
        """Whether the system has what its twin handed over. SystemFailure if that was changed since."""
        handed = self._brain.filled.get(source)
        if handed is None:
            return False
        if sealed(Path(handed.file)) != handed:
            raise SystemFailure("a large brain is no longer what was handed over")
        return system.take_over(self._brain.snapshot(source), Path(handed.file)) is True

    def _write(self, system: System, source: str) -> None:
        started = time.monotonic()
        before, self._rounds = self._spent, self._rounds + 1
        for done in range(0, len(self._pages), AT_ONCE):
            pages = self._pages[done : done + AT_ONCE]
            system.write_pages([PageIn(source, slug, content, "owner", None) for slug, content in pages])
            self._spent = before + time.monotonic() - started
            if self._spent > self._limit:
                raise TooSlow(self._too_slow(done + len(pages)))
        if self._brain.settled:
            system.settle()

    def _too_slow(self, done: int) -> str:
        rounds = "" if self._rounds == 1 else f"; it was filled {self._rounds - 1} times before, see System.keep"
        told = f"wrote {done:,} of {len(self._pages):,} pages when its {self._limit:g} s for that were over{rounds}"
        return f"{told}; a larger --timeout gives it more"
