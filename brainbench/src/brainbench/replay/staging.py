"""The bench's side of a fixture that is played turn by turn in a worker of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from pebble import ProcessPool

from brainbench.model import Observation
from brainbench.replay import stage
from brainbench.replay.processes import Watch
from brainbench.replay.stage import HITS, PAGE_CHARS, TOOLS, Began, Found
from brainbench.replay.sweep import FIXTURE_SECONDS, SPARE_SECONDS, time_for, told, workers
from brainbench.replay.worker import Task, blind
from brainbench.systems.access import Access

T = TypeVar("T")
_MOST_CHARS = HITS * PAGE_CHARS


@dataclass(slots=True)
class Staging:
    """A memory in a worker, which never sees the model, its key or gold. SystemFailure when the worker is gone."""

    pool: ProcessPool
    watch: Watch
    seconds: float

    def begin(self, task: Task, *, push: bool) -> Began:
        """Fill the memory of a task and stand before its first event; without `push` it is asked for nothing."""
        return self._done(stage.begin, (blind(task), push), Began, time_for(task, self.seconds))

    def advance(self) -> Observation | None:
        """The next event that was observed, or None after the last."""
        return self._done(stage.advance, (), Observation | None)  # type: ignore[arg-type]

    def look(self, tool: str, source: str, argument: str) -> Found:
        """What a tool gives at this point."""
        found: Found = self._done(stage.look, (tool, source, argument), Found)
        most = 1 if TOOLS[tool].argument == "id" else HITS
        return Found(found.text[:_MOST_CHARS], found.ids[:most], found.error)

    def _done(
        self, act: Callable[..., bytes], args: tuple[object, ...], kind: type[T], seconds: float | None = None
    ) -> T:
        most = seconds or self.seconds
        future = self.pool.schedule(act, args=args, timeout=most)
        wait([future], timeout=most + SPARE_SECONDS)
        return told(future, most, kind, self.watch)


@contextmanager
def staging(access: Access, seconds: float = FIXTURE_SECONDS) -> Iterator[Staging]:
    """A worker for fixtures that are played turn by turn; nothing of it is left afterwards."""
    with workers(1, access) as (pool, watch):
        yield Staging(pool, watch, seconds)
