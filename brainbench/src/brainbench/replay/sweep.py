"""Play many fixtures in worker processes that never see gold.

Each system has workers of its own in each seam, so that none can spoil another's, and none remembers in one seam what
it saw of the same script in another. A worker that hangs or dies costs only the
fixture it was playing, and a cell whose worker fails too often stops early instead of waiting for every one of its
fixtures. A worker holds no foreign code: what does not come with the bench has a process of its own below it.
"""

from __future__ import annotations

import logging
import multiprocessing
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TypeVar

import msgspec
from pebble import ProcessExpired, ProcessFuture, ProcessPool

from brainbench.errors import NOT_ADMITTED, NotLoaded, SystemFailure, UsageError
from brainbench.model import Replayed
from brainbench.replay import missing_capabilities
from brainbench.replay.brains import Brain, sealed
from brainbench.replay.processes import Bounds, Watch, bounded, remove, without_survivors
from brainbench.replay.worker import Played, Task, Traits, admit, blind, describe, enter, fill, play, said_by, unplayed
from brainbench.systems import BREAKS, SYSTEMS, check_name, comes_with_the_bench, load_system
from brainbench.systems.access import Access
from brainbench.systems.fence import RUNS

T = TypeVar("T")

FIXTURE_SECONDS = 30.0
"""How long one fixture may take before its worker is ended and the fixture counts as errors."""
SPARE_SECONDS = 30.0
"""How long after that a pool may be silent before its pipes are given up, and workers may take to close."""
_PROBLEMS_TOLD = 3
WORKER_FAILURES = 3
"""How many fixtures of a system may hang or kill their worker. After that, a seam in which one did is given up."""


@dataclass(slots=True)
class Sweep:
    """All replays of a run in the order of the tasks, and what they cost."""

    replays: list[Replayed] = field(default_factory=list)
    peak_mb: float = 0.0


def traits_of(name: str, access: Access | None = None) -> Traits:
    """What a system says of itself. Foreign code never runs here.

    NotLoaded where it cannot be loaded, UsageError where nothing is called so.
    """
    check_name(name)
    try:
        if name in SYSTEMS:
            system = load_system(name)
            system.close()
            return said_by(system)
        traits, why = _once(describe, name, access, _start_seconds(access), tuple[Traits | None, str | None])
    except UsageError as error:
        raise NotLoaded(str(error)) from None
    except SystemFailure as error:
        raise NotLoaded(f"--system: {name} cannot be loaded: {error}; see that it starts by itself") from None
    if traits is None:
        raise NotLoaded(why or f"--system: {name} cannot be loaded")
    return traits


def _start_seconds(access: Access | None) -> float:
    """How long a system may take to start and say what it is: some wait for a model to load."""
    return max(FIXTURE_SECONDS, 2 * access.call_seconds if access else 0.0)


def refusal(name: str, access: Access | None = None, seconds: float = FIXTURE_SECONDS) -> str | None:
    """Why a system may not be played, or None. Those that come with the bench are held to the same by its tests.

    Of one with a break around it, what is within is admitted.
    """
    kind, _, inner = name.partition(":")
    if kind in BREAKS:
        return refusal(inner, access, seconds)
    if name in SYSTEMS:
        return None
    try:
        found = _once(partial(admit, seconds=seconds), name, access, seconds, tuple[str, ...])
    except SystemFailure as error:
        found = (str(error),)
    return f"{NOT_ADMITTED}{'; '.join(found[:_PROBLEMS_TOLD])}" if found else None


def _once(
    act: Callable[[str], bytes],
    name: str,
    access: Access | None,
    seconds: float,
    kind: type[T],
) -> T:
    """What a fresh worker says of a system. SystemFailure says why it says nothing."""
    with workers(1, access) as (pool, watch):
        future = pool.schedule(act, args=(name,), timeout=seconds)
        wait([future], timeout=seconds + SPARE_SECONDS)
        return told(future, seconds, kind, watch)


def by_run_id(task: Task) -> str:
    """An order that is a shuffle by the seed."""
    return task.run_id


def sweep(
    tasks: Sequence[Task],
    jobs: int,
    *,
    fixture_seconds: float = FIXTURE_SECONDS,
    done: Callable[[int], None] = lambda count: None,
    order: Callable[[Task], str] = by_run_id,
    access: Access | None = None,
    refused: Mapping[str, str] | None = None,
    bounds: Bounds | None = None,
) -> Sweep:
    """The replays of all tasks, in their order, whatever the number of jobs. `done` is told of every finished one.

    They are played in another `order`, by their run ids unless told otherwise: that is a shuffle by the seed, so that
    neighbours in the corpus tell nothing of one another. Of `refused` systems nothing is played: each of their events
    is an error that says why.
    """
    finished: dict[int, Replayed] = {}
    result = Sweep()
    failures: dict[str, Counter[str]] = {}
    refused = refused or {}
    with filled_once(tasks, refused, access, bounds) as ready:
        for system, own, most in _shares(ready, jobs, order):
            if system in refused:
                finished |= {number: _unplayed(task, refused[system]) for number, task in own.items()}
                continue
            failed = failures.setdefault(system, Counter())
            with workers(most, access, bounds) as (pool, watch):
                for number, replayed, peak in _results(pool, own, most, fixture_seconds, failed, watch):
                    finished[number] = replayed
                    result.peak_mb = max(result.peak_mb, peak)
                    done(len(finished))
    result.replays = [finished[number] for number in range(len(tasks))]
    return result


@contextmanager
def filled_once(
    tasks: Sequence[Task], refused: Collection[str], access: Access | None, bounds: Bounds | None
) -> Iterator[Sequence[Task]]:
    """The tasks; where their system can hand over a large brain that several seams need, that is filled already.

    By a process that is asked nothing and told nothing of a seam, and that has ended before any seam begins.
    """
    wanted: dict[str, dict[str, tuple[Brain, set[str], set[str]]]] = {}
    for task in tasks:
        if task.brain is not None and task.system not in refused and comes_with_the_bench(task.system):
            _, sources, seams = wanted.setdefault(task.system, {}).setdefault(
                task.brain.name, (task.brain, set(), set())
            )
            sources.add(task.fixture.active_source)
            seams.add(task.seam.name)
    ready: dict[tuple[str, str], Brain] = {}
    with tempfile.TemporaryDirectory(prefix=RUNS) as place:
        for system, brains in wanted.items():
            shared = [(brain, sorted(sources)) for brain, sources, seams in brains.values() if len(seams) > 1]
            if shared and load_system(system).hands_over:
                with workers(1, access, bounds) as (pool, watch):
                    for brain, used in shared:
                        ready[system, brain.name] = _filled(pool, watch, system, brain, used, place)
        yield [replace(t, brain=ready.get((t.system, t.brain.name), t.brain)) if t.brain else t for t in tasks]


def _filled(pool: ProcessPool, watch: Watch, system: str, brain: Brain, sources: Sequence[str], place: str) -> Brain:
    """The brain with what the system handed over of it, taken out of the system's reach."""
    seconds = FIXTURE_SECONDS + brain.seconds * len(sources)
    future = pool.schedule(fill, args=(system, brain, sources), timeout=seconds)
    wait([future], timeout=seconds + SPARE_SECONDS)
    try:
        handed = told(future, seconds, dict[str, str], watch)
    except SystemFailure:
        return brain  # each seam fills it by itself, and tells what went wrong
    filled = {}
    for number, (source, file) in enumerate(handed.items()):
        own = Path(place) / f"{system.replace(':', '-')}-{brain.name}-{number}"
        shutil.move(file, own)
        own.chmod(0o400)
        filled[source] = sealed(own)
    return replace(brain, filled=filled)


def _shares(
    tasks: Sequence[Task], jobs: int, order: Callable[[Task], str]
) -> Iterator[tuple[str, dict[int, Task], int]]:
    """System, tasks and number of workers: `jobs` for each seam of a system, one for its large brains, brain by brain.

    Each seam has workers of its own, so that nothing seen in one can be remembered in another.
    """
    places: dict[tuple[str, str, bool], dict[int, Task]] = {}
    for number, task in enumerate(tasks):
        places.setdefault((task.system, task.seam.name, task.brain is not None), {})[number] = task
    for (system, _, large), own in places.items():
        shuffled = sorted(own.items(), key=lambda item: (item[1].brain.name if item[1].brain else "", order(item[1])))
        yield system, dict(shuffled), 1 if large or shuffled[0][1].alone else jobs


def time_for(task: Task, seconds: float) -> float:
    """How long a worker may take over a task: filling a large brain is not on the fixture's own time."""
    return seconds + (task.brain.seconds if task.brain is not None else 0.0)


def _unplayed(task: Task, reason: str) -> Replayed:
    """A replay of errors; of a fixture that does not apply, one that says so."""
    missing = missing_capabilities(task.fixture, task.can)
    replayed = unplayed(task, reason)
    return replace(replayed, observations=(), sights=(), later=(), missing=missing) if missing else replayed


@contextmanager
def workers(jobs: int, access: Access | None, bounds: Bounds | None = None) -> Iterator[tuple[ProcessPool, Watch]]:
    """A pool of workers with a directory of their own, and who watches over it; of all nothing is left afterwards."""
    bounds = bounds or Bounds()
    bounds = replace(bounds, processes=jobs * (1 + bounds.processes))
    logging.getLogger("pebble").setLevel(logging.CRITICAL)
    resource_tracker.ensure_running()
    context = multiprocessing.get_context("spawn")
    directory = tempfile.mkdtemp(prefix=RUNS)
    pool = ProcessPool(max_workers=jobs, initializer=enter, initargs=(directory, access or Access()), context=context)
    try:
        with without_survivors(), bounded(bounds) as watch:
            try:
                yield pool, watch
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
    pool: ProcessPool,
    tasks: Mapping[int, Task],
    jobs: int,
    seconds: float,
    failures: Counter[str],
    watch: Watch,
) -> Iterator[tuple[int, Replayed, float]]:
    """Results as they come. Only a few tasks are under way at once, so that a failing cell can be given up early."""
    waiting = list(tasks.items())[::-1]
    under_way: dict[ProcessFuture[bytes], int] = {}
    while waiting or under_way:
        while waiting and len(under_way) < 2 * jobs:
            number, task = waiting.pop()
            if failures[task.seam.name] and failures.total() >= WORKER_FAILURES:
                reason = "not tried: fixtures before it hung or ended the system's process"
                yield number, _unplayed(task, reason), 0.0
                continue
            most = time_for(task, seconds)
            under_way[pool.schedule(play, args=(blind(task), most), timeout=most)] = number
        if not under_way:
            continue
        longest = max(time_for(tasks[number], seconds) for number in under_way.values())
        if not wait(under_way, timeout=longest + SPARE_SECONDS, return_when=FIRST_COMPLETED).done:
            reason = "not tried: the system's processes no longer answer the bench"
            yield from ((n, _unplayed(tasks[n], reason), 0.0) for n in (*under_way.values(), *dict(waiting)))
            pool.stop()  # type: ignore[no-untyped-call]
            return
        for future in [future for future in under_way if future.done()]:
            number = under_way.pop(future)
            task = tasks[number]
            try:
                played = told(future, time_for(task, seconds), Played, watch)
                failures[task.seam.name] += played.lost
                yield number, _as_asked(task, played.replayed), played.peak_mb
            except SystemFailure as error:
                failures[task.seam.name] += 1
                yield number, _unplayed(task, str(error)), 0.0


def told(future: ProcessFuture[bytes], seconds: float, kind: type[T], watch: Watch) -> T:
    """What a worker gave back. SystemFailure says why there is nothing; no exception of a worker is raised here."""
    if not future.done():
        raise SystemFailure("its process no longer answers the bench")
    error = future.exception()
    if isinstance(error, FutureTimeout):
        raise SystemFailure(f"no answer within {seconds:g} s; its process was ended")
    if isinstance(error, ProcessExpired):
        if watch.breach is not None and error.exitcode == -signal.SIGKILL:
            raise SystemFailure(watch.breach)
        raise SystemFailure(f"the system's process ended itself (exit code {error.exitcode})")
    try:
        return msgspec.msgpack.decode(future.result() if error is None else b"", type=kind)
    except (msgspec.DecodeError, TypeError, UnicodeDecodeError) as odd:
        raise SystemFailure(f"the system's process gave back what the bench cannot read: {odd}") from None


def _as_asked(task: Task, replayed: Replayed) -> Replayed:
    """The replay under the name of its task, which its worker was not told."""
    return replace(replayed, fixture_id=task.fixture.fixture_id, system=task.system, seam=task.seam.name)
