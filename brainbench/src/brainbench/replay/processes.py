"""Nothing that a system starts outlives its part of the run, or grows past its bounds."""

from __future__ import annotations

import ctypes
import os
import resource
import shutil
import signal
import stat
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from brainbench.systems.command import descendants

_SUBREAPER = 36
_ROUNDS = 100
"""How often a process that keeps forking is hunted."""
_LOOK_SECONDS = 0.05
MOST_FILE_BYTES = 1 << 30
"""How big one file of a system may grow."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """How many processes each worker of a system may run, and how much all of them with theirs may hold at once."""

    processes: int = 64
    memory_mb: float = field(default_factory=lambda: os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**21)
    """Resident; by default half of what the machine has. Address space is not bounded: runtimes reserve it freely."""


@dataclass(slots=True)
class Watch:
    """Ends what outgrows its bounds, and knows why it did."""

    bounds: Bounds
    breach: str | None = None
    done: threading.Event = field(default_factory=threading.Event)

    def look(self, spared: frozenset[int]) -> None:
        """Count what was started since, again and again until it is done (Linux)."""
        while not self.done.wait(_LOOK_SECONDS):
            found = _resident_mb(_below(spared))
            used = sum(found.values())
            if len(found) > self.bounds.processes:
                self.breach = f"ran {len(found)} processes at once and was ended; at most {self.bounds.processes} may"
            elif used > self.bounds.memory_mb:
                self.breach = f"held {used:,.0f} MB and was ended; at most {self.bounds.memory_mb:,.0f} may be held"
            else:
                continue
            _end_all(spared)


@contextmanager
def bounded(bounds: Bounds) -> Iterator[Watch]:
    """Watch over every process that is started within."""
    watch = Watch(bounds)
    thread = threading.Thread(target=watch.look, args=(children(),), daemon=True)
    thread.start()
    try:
        yield watch
    finally:
        watch.done.set()
        thread.join()


def limit_files() -> None:
    """Bound the size of a file that this process and what it starts may write, and let it leave no core files."""
    for kind, most in ((resource.RLIMIT_FSIZE, MOST_FILE_BYTES), (resource.RLIMIT_CORE, 0)):
        hard = resource.getrlimit(kind)[1]
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (least, least))


def _below(spared: frozenset[int]) -> list[int]:
    """The processes that this one started besides those spared, and theirs."""
    return [pid for child in children() - spared for pid in (child, *descendants(child))]


def _resident_mb(pids: Iterable[int]) -> dict[int, float]:
    """How much each process holds; those that have ended and wait to be buried hold nothing and are left out."""
    found: dict[int, float] = {}
    for pid in pids:
        with suppress(OSError, IndexError, ValueError):
            if pages := int(Path(f"/proc/{pid}/statm").read_text().split()[1]):
                found[pid] = pages * os.sysconf("SC_PAGE_SIZE") / 2**20
    return found


@dataclass(frozen=True, slots=True)
class Spent:
    """What processes have spent so far, theirs that ended and were waited for included."""

    cpu_s: float
    written: int
    """Bytes given to calls that write."""


def spent(pids: Iterable[int]) -> Spent | None:
    """What these processes and those below them have spent; None where there are none or the system does not tell."""
    found: list[Spent] = []
    for pid in pids:
        with suppress(OSError, IndexError, ValueError):
            ticks = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]
            written = Path(f"/proc/{pid}/io").read_text().partition("wchar:")[2].split()[0]
            found.append(Spent(sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"), int(written)))
    return Spent(sum(one.cpu_s for one in found), sum(one.written for one in found)) if found else None


def spent_below(spared: frozenset[int]) -> Spent | None:
    """What has been spent by the processes that this one started besides those spared."""
    return spent(_below(spared))


def peak_mb(pid: int) -> float:
    """The largest size so far of a process; of another one 0 where the system does not tell.

    Its peak among its used resources is no answer on Linux: that one begins at the size of the process it came from.
    """
    with suppress(OSError, ValueError, IndexError):
        return int(Path(f"/proc/{pid}/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024 if pid == os.getpid() else 0.0


def _end_all(spared: frozenset[int]) -> None:
    """Stop everything first, so that nothing forks while it is ended."""
    stopped: set[int] = set()
    for _ in range(_ROUNDS):
        new = set(_below(spared)) - stopped
        for pid in new:
            with suppress(OSError):
                os.kill(pid, signal.SIGSTOP)
        stopped |= new
        if not new:
            break
    for pid in stopped:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def adopt_orphans(on: bool = True) -> None:
    """Become (or cease to be) the parent of processes whose own parent ends (Linux)."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(_SUBREAPER, int(on), 0, 0, 0)


@contextmanager
def without_survivors() -> Iterator[None]:
    """End every process that was started within and is still there at the end, by whomever (Linux)."""
    spared = children()
    adopt_orphans()
    try:
        yield
    finally:
        end_children(spared)
        adopt_orphans(False)


def end_children(spared: frozenset[int]) -> None:
    """End the children of this process but those spared, and with `adopt_orphans` what was below them (Linux)."""
    for _ in range(_ROUNDS):
        left = children() - spared
        for pid in left:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
        if not left:
            break


def children() -> frozenset[int]:
    """The processes whose parent this one is; none where the system does not tell."""
    found: set[int] = set()
    for file in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            found |= {int(pid) for pid in file.read_text().split()}
    return frozenset(found)


def remove(directory: str) -> None:
    """Remove a directory with all in it, also what was made unreadable; what cannot be removed is left."""
    shutil.rmtree(directory, onerror=_opened)


def _opened(act: Callable[[str], object], path: str, _: object) -> None:
    for place in (os.path.dirname(path), path):
        with suppress(OSError):
            if stat.S_ISDIR(os.lstat(place).st_mode):
                os.chmod(place, stat.S_IRWXU)
    if act in (os.open, os.scandir, os.listdir, os.lstat):
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            act(path)
