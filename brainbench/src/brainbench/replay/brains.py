"""Large brains in a worker: read once from their file, written once to each system, then restored from its snapshot."""

from __future__ import annotations

import time
from dataclasses import dataclass
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

    A system may spend `seconds` on writing its pages, all fixtures together that one worker plays.
    """

    name: str
    file: str
    seconds: float


def encoded(pages: list[tuple[str, str]]) -> bytes:
    """The bytes of a brain's file: (slug, content) of each page."""
    return msgspec.msgpack.encode(pages)


class Filling:
    """The pages of one brain and how long one system has spent on writing them."""

    def __init__(self, brain: Brain) -> None:
        self._name, self._limit = brain.name, brain.seconds
        self._pages = msgspec.msgpack.decode(Path(brain.file).read_bytes(), type=list[tuple[str, str]])
        self._spent = 0.0
        self._rounds = 0

    def pour(self, system: System, source: str) -> None:
        """Make the pages those of `source`, from the system's snapshot if it has one.

        TooSlow once the system has spent its time; SystemFailure if a page cannot be read back.
        """
        snapshot = f"{self._name}-{source}"
        if not (self._rounds and system.restore(snapshot) is True):
            self._write(system, source)
            system.keep(snapshot)
        for slug, _ in (self._pages[0], self._pages[len(self._pages) // 2], self._pages[-1]):
            if not isinstance(system.read_page(source, slug), str):
                raise SystemFailure(f"page {slug!r} of a large brain was written and cannot be read back")

    def _write(self, system: System, source: str) -> None:
        started = time.monotonic()
        before, self._rounds = self._spent, self._rounds + 1
        for done in range(0, len(self._pages), AT_ONCE):
            pages = self._pages[done : done + AT_ONCE]
            system.write_pages([PageIn(source, slug, content, "owner", None) for slug, content in pages])
            self._spent = before + time.monotonic() - started
            if self._spent > self._limit:
                raise TooSlow(self._too_slow(done + len(pages)))

    def _too_slow(self, done: int) -> str:
        rounds = "" if self._rounds == 1 else f"; it was filled {self._rounds - 1} times before, see System.keep"
        return f"wrote {done:,} of {len(self._pages):,} pages when its {self._limit:g} s for that were over{rounds}"
