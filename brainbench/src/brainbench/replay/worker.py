"""What runs in a worker process: one system, the fixtures it is asked about, and nothing else of the bench.

A system that does not come with the bench has a process of its own, below the worker and walled off from it.

A worker has an empty working directory, a scrubbed environment, no command line and nothing on standard output. It
is never given gold, nor what names or sorts a fixture. What it gives back are bytes of plain values.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from brainbench.errors import SystemFailure, UsageError
from brainbench.model import (
    PUSH_SUITES,
    Capability,
    Fixture,
    ModelDoor,
    Observation,
    Origin,
    Replayed,
    RunContext,
    SeamConfig,
    SessionBreak,
    SourceDecl,
    Turn,
    Write,
)
from brainbench.replay import FIRST_TIME, acting, replay
from brainbench.replay.acting import is_acted
from brainbench.replay.admission import problems
from brainbench.replay.brains import Brain, Filling
from brainbench.replay.processes import children, limit_files, peak_mb, remove
from brainbench.systems import System, load_system
from brainbench.systems.access import Access, scrubbed
from brainbench.systems.answers import printable, what_happened
from brainbench.systems.command import descendants, end_tree
from brainbench.systems.fence import fence, look_away


@dataclass(frozen=True, slots=True)
class Traits:
    """What a system says of itself: what it can do, and where its shipped artefact is what runs."""

    can: frozenset[Capability]
    production: frozenset[str] = frozenset()
    alone: bool = False
    tells_turns: bool = False
    version: str = ""


@dataclass(frozen=True, slots=True)
class Task:
    """One fixture to be played through one seam of one system, which said that it `can` do this.

    A system that is played `alone` has one worker.
    """

    system: str
    seam: SeamConfig
    fixture: Fixture
    run_id: str
    seed: int
    can: frozenset[Capability]
    alone: bool = False
    brain: Brain | None = None
    door: ModelDoor | None = None
    protected: bool = False


@dataclass(frozen=True, slots=True)
class Played:
    """What a worker gives back: the replay, the largest size so far in MB, and whether the system was lost."""

    replayed: Replayed
    peak_mb: float
    lost: bool = False


def blind(task: Task) -> Task:
    """The task without what would help to guess: names, file, category, stratum, language and which suites judge."""
    fixture = task.fixture
    names = {name: str(number) for number, (name, _) in enumerate(fixture.declares)}
    hidden = replace(
        _unnamed(fixture),
        fixture_id=task.run_id,
        file="",
        category="",
        stratum="medium",
        language="und",
        tags=(),
        holdout=False,
        universe=None,
        suites=_pushed(fixture.suites),
        declares=tuple((names[name], _pushed(suites)) for name, suites in fixture.declares),
        origins=tuple((event_id, Origin(names[origin.fixture_id], 0)) for event_id, origin in fixture.origins),
    )
    return replace(task, fixture=hidden)


def _unnamed(fixture: Fixture) -> Fixture:
    """The fixture with other names for its things: what they are called may tell what they are."""
    events = (*fixture.setup, *fixture.events)
    named = [name for e in events if (name := getattr(e, "name", None)) is not None]
    if not named:
        return fixture
    other = {name: f"thing {n}" for n, name in enumerate(named)}

    def renamed(event: Any) -> Any:
        changed: dict[str, Any] = {}
        if getattr(event, "name", None) is not None:
            changed["name"] = other[event.name]
        target = getattr(event, "target", None)
        if target is not None and target.name is not None:
            changed["target"] = replace(target, name=other[target.name])
        if isinstance(event, Write):
            changed["replaces"] = other[event.replaces] if event.replaces else None
            changed["lineage"] = tuple(other[name] for name in event.lineage)
        return replace(event, **changed) if changed else event

    return replace(fixture, setup=tuple(map(renamed, fixture.setup)), events=tuple(map(renamed, fixture.events)))


def _pushed(suites: Iterable[str]) -> tuple[str, ...]:
    """The suites, without telling whether one or both of those about pushed pages judge."""
    found = set(suites)
    return tuple(sorted(found.union(PUSH_SUITES) if found & set(PUSH_SUITES) else found))


def unplayed(task: Task, reason: str) -> Replayed:
    """A replay in which every event is an error: it stays in each denominator and scores nothing."""
    replayed = Replayed(task.fixture.fixture_id, task.system, task.seam.name)
    if is_acted(task.fixture):
        sights, later = acting.unplayed(task.fixture, reason)
        can = tuple(sorted(acting.claimed(task.can)))
        return replace(replayed, can=can, protected=task.protected, sights=sights, later=later)
    seen: list[Observation] = []
    for event in task.fixture.events:
        if isinstance(event, Turn) and event.role == "user":
            seen.append(Observation(event.event_id, "turn", error=reason))
        elif isinstance(event, SessionBreak) and event.persist:
            seen.append(Observation(event.event_id, "persist", error=reason))
    return replace(replayed, observations=tuple(seen))


_open_systems: dict[str, System] = {}
_fillings: dict[tuple[str, str], Filling] = {}
_worker_directory = ""
_access = Access()


def said_by(system: System) -> Traits:
    """What a system says of itself."""
    return Traits(
        can=frozenset(system.can),
        production=frozenset(system.production),
        alone=bool(system.alone),
        tells_turns=bool(system.tells_turns),
        version=printable(str(system.version), 80),
    )


def describe(name: str) -> bytes:
    """The Traits of a system, or why it has none, encoded."""
    try:
        system = load_system(name, _access)
        traits = said_by(system)
        told = msgspec.msgpack.encode((traits, None))
        system.close()
        return told
    except UsageError as error:
        return msgspec.msgpack.encode((None, str(error)))
    except BaseException as error:
        return msgspec.msgpack.encode((None, f"--system: {name} cannot be loaded: {what_happened(error)}"))


def admit(name: str, seconds: float) -> bytes:
    """What a system does not keep of what it claims, as sentences, encoded; none where it may be played.

    It has so many seconds; see `System.finish_within`.
    """
    started, directory = time.monotonic(), tempfile.mkdtemp(dir=_worker_directory)
    try:
        system = opened(name)
        system.finish_within(seconds, started)
        return msgspec.msgpack.encode([what_happened(SystemFailure(p)) for p in problems(system, directory)])
    except BaseException as error:
        return msgspec.msgpack.encode([what_happened(error)])
    finally:
        remove(directory)


def play(task: Task, seconds: float) -> bytes:
    """One task played in this worker, which keeps the system open for the next one; a Played, encoded.

    It has so many seconds; see `System.finish_within`.
    """
    started = time.monotonic()
    try:
        system = opened_for(task)
        system.finish_within(seconds, started)
        losses = system.losses
        replayed = _play(task, system)
        return msgspec.msgpack.encode(Played(replayed, _peak_mb(), system.losses != losses))
    except BaseException as error:
        lost = task.system not in _open_systems
        return msgspec.msgpack.encode(Played(unplayed(task, what_happened(error)), _peak_mb(), lost))


def _peak_mb() -> float:
    """The largest size so far of this worker, or of a process of its systems that runs and is larger."""
    return max(map(peak_mb, (os.getpid(), *children())))


def opened_for(task: Task) -> System:
    """The system of a task. SystemFailure if it can no longer do all that it could at first."""
    system = opened(task.system)
    if not task.can <= frozenset(system.can):
        raise SystemFailure("it no longer claims the capabilities that it claimed at first")
    return system


def opened(name: str) -> System:
    system = _open_systems.get(name)
    if system is None:
        system = _open_systems[name] = load_system(name, _access)
    return system


def _play(task: Task, system: System) -> Replayed:
    directory = tempfile.mkdtemp(dir=_worker_directory)
    fixture = task.fixture
    run = RunContext(
        task.run_id, fixture.sources, fixture.active_source, directory, task.seed, task.door, task.protected
    )
    try:
        return replay(system, task.seam, fixture, run, _filling(task))
    finally:
        remove(directory)


def fill(name: str, brain: Brain, sources: Sequence[str]) -> bytes:
    """The files that a system hands over with the pages of a brain in them, by source, encoded; those that it has.

    Nothing that the system is told here differs between seams.
    """
    handed: dict[str, str] = {}
    directory = tempfile.mkdtemp(dir=_worker_directory)
    try:
        system, filling = opened(name), Filling(brain)
        for source in sources:
            system.open(RunContext(brain.name, (SourceDecl(source),), source, directory))
            system.tell_time(FIRST_TIME)
            filling.pour(system, source)
            file = system.hand_over(brain.snapshot(source))
            if file is not None:
                handed[source] = str(file)
    except Exception:
        # Each seam then fills the brain by itself, and tells what went wrong.
        logging.getLogger(__name__).exception("filling %s", name)
    finally:
        remove(directory)
    return msgspec.msgpack.encode(handed)


def _filling(task: Task) -> Filling | None:
    """The large brain of the task, loaded once in this worker."""
    if task.brain is None:
        return None
    key = (task.system, task.brain.name)
    if key not in _fillings:
        _fillings[key] = Filling(task.brain)
    return _fillings[key]


def worker_access() -> Access:
    """What systems of this worker are let have."""
    return _access


def enter(directory: str, access: Access) -> None:
    """Leave the bench behind: own directory, few variables, no terminal. An interrupt is the bench's to act on.

    Where the kernel can, what is hidden cannot be read from here and nothing be written outside the own directory.
    """
    global _worker_directory, _access
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _end_with_all)
    sys.argv = [""]
    multiprocessing.process.ORIGINAL_DIR = None  # type: ignore[attr-defined]
    # The bench knows its workers by the names of their directories.
    _worker_directory = tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=directory)
    _access = replace(access, inside=_worker_directory)
    limit_files()
    home = Path(_worker_directory) / "home"
    home.mkdir()
    kept = scrubbed(access.variables, str(home), _worker_directory)
    os.environ.clear()
    os.environ.update(kept)
    tempfile.tempdir = _worker_directory
    os.chdir(home)
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    multiprocessing.util.Finalize(None, _leave, exitpriority=100)
    look_away()
    fence(access.hidden, _worker_directory)


def _end_with_all(number: int, _: object) -> None:
    """End at once, with all that the systems of this worker started."""
    for pid in children():
        end_tree(pid, descendants(pid))
    os._exit(128 + number)


def _leave() -> None:
    for system in _open_systems.values():
        try:
            system.close()
        except Exception:
            logging.getLogger(__name__).exception("closing %s", system.name)
