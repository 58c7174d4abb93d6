"""Play many fixtures in worker processes that never see gold.

Each system has workers of its own in each seam, so that none can spoil another's, and none remembers in one seam what
it saw of the same script in another. A worker that hangs or dies costs only the
fixture it was playing, and a cell whose worker fails too often stops early instead of waiting for every one of its
fixtures. What comes back is only taken for the task that was given.
"""

from __future__ import annotations

import logging
import multiprocessing
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing import resource_tracker
from typing import TypeVar

import msgspec
from pebble import ProcessExpired, ProcessFuture, ProcessPool

from brainbench.errors import SystemFailure, UsageError
from brainbench.model import Replayed, SessionBreak
from brainbench.replay import missing_capabilities
from brainbench.replay.processes import remove, without_survivors
from brainbench.replay.worker import Played, Task, Traits, blind, describe, enter, play, unplayed
from brainbench.seams import seam_named
from brainbench.systems import SYSTEMS, load_system

T = TypeVar("T")

FIXTURE_SECONDS = 30.0
"""How long one fixture may take before its worker is ended and the fixture counts as errors."""
SPARE_SECONDS = 30.0
"""How long after that a pool may be silent before its pipes are given up, and workers may take to close."""
WORKER_FAILURES = 3
"""How many fixtures of a system may hang or kill their worker. After that, a seam in which one did is given up."""


@dataclass(slots=True)
class Sweep:
    """All replays of a run in the order of the tasks, and what they cost."""

    replays: list[Replayed] = field(default_factory=list)
    peak_mb: float = 0.0


def traits_of(name: str, hidden: Sequence[str] = ()) -> Traits:
    """What a system says of itself; UsageError where it cannot be loaded. Foreign code runs in a worker only.

    It cannot read what is `hidden` where the kernel can see to that.
    """
    if name in SYSTEMS:
        system = load_system(name)
        system.close()
        return Traits(system.can, system.production)
    with _workers(1, hidden) as pool:
        future = pool.schedule(describe, args=(name,), timeout=FIXTURE_SECONDS)
        wait([future], timeout=FIXTURE_SECONDS + SPARE_SECONDS)
        try:
            traits, why = _told(future, FIXTURE_SECONDS, tuple[Traits | None, str | None])
        except SystemFailure as error:
            raise UsageError(f"--system: {name} cannot be loaded: {error}") from None
    if traits is None:
        raise UsageError(why or f"--system: {name} cannot be loaded")
    return traits


def sweep(
    tasks: Sequence[Task],
    jobs: int,
    *,
    fixture_seconds: float = FIXTURE_SECONDS,
    done: Callable[[int], None] = lambda count: None,
    order: Callable[[Task], str] = lambda task: task.run_id,
    hidden: Sequence[str] = (),
) -> Sweep:
    """The replays of all tasks, in their order, whatever the number of jobs. `done` is told of every finished one.

    They are played in another `order`, by their run ids unless told otherwise: that is a shuffle by the seed, so that
    neighbours in the corpus tell nothing of one another. Where the kernel can see to that, systems read nothing that is
    `hidden`.
    """
    finished: dict[int, Replayed] = {}
    result = Sweep()
    by_place: dict[tuple[str, str], dict[int, Task]] = {}
    failures: dict[str, Counter[str]] = {}
    for number, task in enumerate(tasks):
        by_place.setdefault((task.system, task.seam.name), {})[number] = task
    for (system, _), own in by_place.items():
        failed = failures.setdefault(system, Counter())
        shuffled = dict(sorted(own.items(), key=lambda item: order(item[1])))
        with _workers(jobs, hidden) as pool:
            for number, replayed, peak in _results(pool, shuffled, jobs, fixture_seconds, failed):
                finished[number] = replayed
                result.peak_mb = max(result.peak_mb, peak)
                done(len(finished))
    result.replays = [finished[number] for number in range(len(tasks))]
    return result


@contextmanager
def _workers(jobs: int, hidden: Sequence[str]) -> Iterator[ProcessPool]:
    """A pool of workers with a directory of their own; of both nothing is left afterwards."""
    logging.getLogger("pebble").setLevel(logging.CRITICAL)
    resource_tracker.ensure_running()
    context = multiprocessing.get_context("spawn")
    directory = tempfile.mkdtemp(prefix="brainbench-")
    pool = ProcessPool(max_workers=jobs, initializer=enter, initargs=(directory, tuple(hidden)), context=context)
    try:
        with without_survivors():
            try:
                yield pool
                pool.close()  # type: ignore[no-untyped-call]
                pool.join(SPARE_SECONDS)
            except TimeoutError:
                pool.stop()  # type: ignore[no-untyped-call]
            except BaseException:
                pool.stop()  # type: ignore[no-untyped-call]
                raise
            finally:
                pool.join()
    finally:
        remove(directory)


def _results(
    pool: ProcessPool, tasks: Mapping[int, Task], jobs: int, seconds: float, failures: Counter[str]
) -> Iterator[tuple[int, Replayed, float]]:
    """Results as they come. Only a few tasks are under way at once, so that a failing cell can be given up early."""
    waiting = list(tasks.items())[::-1]
    under_way: dict[ProcessFuture[bytes], int] = {}
    while waiting or under_way:
        while waiting and len(under_way) < 2 * jobs:
            number, task = waiting.pop()
            if failures[task.seam.name] and failures.total() >= WORKER_FAILURES:
                reason = "not tried: fixtures before it hung or ended the system's process"
                yield number, unplayed(task, reason), 0.0
                continue
            under_way[pool.schedule(play, args=(blind(task),), timeout=seconds)] = number
        if not under_way:
            continue
        if not wait(under_way, timeout=seconds + SPARE_SECONDS, return_when=FIRST_COMPLETED).done:
            reason = "not tried: the system's processes no longer answer the bench"
            yield from ((n, unplayed(tasks[n], reason), 0.0) for n in (*under_way.values(), *dict(waiting)))
            pool.stop()  # type: ignore[no-untyped-call]
            return
        for future in [future for future in under_way if future.done()]:
            number = under_way.pop(future)
            task = tasks[number]
            try:
                played = _told(future, seconds, Played)
                yield number, _as_asked(task, played.replayed), played.peak_mb
            except SystemFailure as error:
                failures[task.seam.name] += 1
                yield number, unplayed(task, str(error)), 0.0


def _told(future: ProcessFuture[bytes], seconds: float, kind: type[T]) -> T:
    """What a worker gave back. SystemFailure says why there is nothing; no exception of a worker is raised here."""
    if not future.done():
        raise SystemFailure("its process no longer answers the bench")
    error = future.exception()
    if isinstance(error, FutureTimeout):
        raise SystemFailure(f"no answer within {seconds:g} s; its process was ended")
    if isinstance(error, ProcessExpired):
        raise SystemFailure(f"the system's process ended itself (exit code {error.exitcode})")
    try:
        return msgspec.msgpack.decode(future.result() if error is None else b"", type=kind)
    except (msgspec.DecodeError, TypeError, UnicodeDecodeError) as odd:
        raise SystemFailure(f"the system's process gave back what the bench cannot read: {odd}") from None


def _as_asked(task: Task, replayed: Replayed) -> Replayed:
    """The replay under the name of its task, held to what the bench itself knows: capabilities and page budgets."""
    if replayed.missing != missing_capabilities(task.fixture, task.can):
        raise SystemFailure("it no longer claims the capabilities that it claimed at first")
    room = _capacities(task)
    observations = tuple(
        replace(seen, ids=tuple(dict.fromkeys(seen.ids))[: room.get(seen.event_id, 0)])
        for seen in replayed.observations
    )
    return replace(
        replayed,
        fixture_id=task.fixture.fixture_id,
        system=task.system,
        seam=task.seam.name,
        observations=observations,
    )


def _capacities(task: Task) -> Mapping[int, int]:
    """How many pages each event has room for, by the seam of its session."""
    seam, found = task.seam, {}
    for event in task.fixture.events:
        if isinstance(event, SessionBreak):
            seam = seam_named(event.harness) if event.harness else task.seam
        found[event.event_id] = seam.capacity
    return found
