"""Play many fixtures in worker processes that never see gold.

Every replay happens in a worker: with an empty working directory, a scrubbed environment and nothing on standard
output. A worker that hangs or dies costs only the fixture it was playing, and a cell whose worker fails too often
stops early instead of waiting for every one of its fixtures.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import resource
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, field
from pathlib import Path

from pebble import ProcessExpired, ProcessFuture, ProcessPool

from brainbench.model import Fixture, Observation, Replayed, RunContext, SeamConfig, SessionBreak, Turn
from brainbench.replay import replay
from brainbench.systems import System, load_system

FIXTURE_SECONDS = 30.0
"""How long one fixture may take before its worker is ended and the fixture counts as errors."""
WORKER_FAILURES = 3
"""How many fixtures of a system may hang or kill their worker. After that, a seam in which one did is given up."""
_KEPT_VARIABLES = ("PATH", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE")


@dataclass(frozen=True, slots=True)
class Task:
    """One fixture to be played through one seam of one system."""

    system: str
    seam: SeamConfig
    fixture: Fixture
    run_id: str
    seed: int


@dataclass(frozen=True, slots=True)
class Played:
    """What a worker gives back: the replay, and its largest size so far in MB."""

    replayed: Replayed
    peak_mb: float


@dataclass(slots=True)
class Sweep:
    """All replays of a run in the order of the tasks, and what they cost."""

    replays: list[Replayed] = field(default_factory=list)
    peak_mb: float = 0.0


def sweep(
    tasks: Sequence[Task],
    jobs: int,
    *,
    fixture_seconds: float = FIXTURE_SECONDS,
    done: Callable[[int], None] = lambda count: None,
) -> Sweep:
    """The replays of all tasks, in their order, whatever the number of jobs. `done` is told of every finished one."""
    directory = tempfile.mkdtemp(prefix="brainbench-")
    finished: dict[int, Replayed] = {}
    result = Sweep()
    pool = _pool(jobs, directory)
    try:
        for number, replayed, peak in _results(pool, tasks, jobs, fixture_seconds):
            finished[number] = replayed
            result.peak_mb = max(result.peak_mb, peak)
            done(len(finished))
        pool.close()  # type: ignore[no-untyped-call]
    except BaseException:
        pool.stop()  # type: ignore[no-untyped-call]
        raise
    finally:
        pool.join()
        shutil.rmtree(directory, ignore_errors=True)
    result.replays = [finished[number] for number in range(len(tasks))]
    return result


def _pool(jobs: int, directory: str) -> ProcessPool:
    logging.getLogger("pebble").setLevel(logging.CRITICAL)
    context = multiprocessing.get_context("spawn")
    return ProcessPool(max_workers=jobs, initializer=_enter_worker, initargs=(directory,), context=context)


def _results(
    pool: ProcessPool, tasks: Sequence[Task], jobs: int, seconds: float
) -> Iterator[tuple[int, Replayed, float]]:
    """Results as they come. Only a few tasks are under way at once, so that a failing cell can be given up early."""
    failures: Counter[tuple[str, str]] = Counter()
    waiting = list(enumerate(tasks))[::-1]
    under_way: dict[ProcessFuture[Played], int] = {}
    while waiting or under_way:
        while waiting and len(under_way) < 2 * jobs:
            number, task = waiting.pop()
            here = failures[task.system, task.seam.name]
            if here and sum(n for (system, _), n in failures.items() if system == task.system) >= WORKER_FAILURES:
                reason = "not tried: fixtures before it hung or ended the system's process"
                yield number, unplayed(task, reason), 0.0
                continue
            under_way[pool.schedule(play, args=(task,), timeout=seconds)] = number
        if not under_way:
            continue
        wait(under_way, return_when=FIRST_COMPLETED)
        for future in [future for future in under_way if future.done()]:
            number = under_way.pop(future)
            task = tasks[number]
            try:
                played = future.result()
                yield number, played.replayed, played.peak_mb
            except FutureTimeout:
                failures[task.system, task.seam.name] += 1
                yield number, unplayed(task, f"no answer within {seconds:g} s; its process was ended"), 0.0
            except ProcessExpired as error:
                failures[task.system, task.seam.name] += 1
                yield number, unplayed(task, f"the system's process ended itself (exit code {error.exitcode})"), 0.0


def unplayed(task: Task, reason: str) -> Replayed:
    """A replay in which every event is an error: it stays in each denominator and scores nothing."""
    seen: list[Observation] = []
    for event in task.fixture.events:
        if isinstance(event, Turn) and event.role == "user":
            seen.append(Observation(event.event_id, "turn", error=reason))
        elif isinstance(event, SessionBreak) and event.persist:
            seen.append(Observation(event.event_id, "persist", error=reason))
    return Replayed(task.fixture.fixture_id, task.system, task.seam.name, observations=tuple(seen))


_open_systems: dict[str, System] = {}
_worker_directory = ""


def play(task: Task) -> Played:
    """One task played in this worker, which keeps the system open for the next one."""
    system = _open_systems.get(task.system)
    if system is None:
        system = _open_systems[task.system] = load_system(task.system)
    directory = tempfile.mkdtemp(dir=_worker_directory)
    fixture = task.fixture
    run = RunContext(task.run_id, fixture.sources, fixture.active_source, directory, task.seed)
    try:
        replayed = replay(system, task.seam, fixture, run)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return Played(replayed, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def _enter_worker(directory: str) -> None:
    """Leave the bench behind: own directory, few variables, no terminal. An interrupt is the bench's to act on."""
    global _worker_directory
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _worker_directory = tempfile.mkdtemp(dir=directory)
    home = Path(_worker_directory) / "home"
    home.mkdir()
    kept = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
    os.environ.clear()
    os.environ.update(kept, HOME=str(home), TMPDIR=_worker_directory)
    tempfile.tempdir = _worker_directory
    os.chdir(home)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    multiprocessing.util.Finalize(None, _leave_worker, exitpriority=100)


def _leave_worker() -> None:
    for system in _open_systems.values():
        try:
            system.close()
        except Exception:
            logging.getLogger(__name__).exception("closing %s", system.name)
