"""Nothing that a system starts outlives its part of the run."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_SUBREAPER = 36
_ROUNDS = 100
"""How often a process that keeps forking is hunted."""


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
        for _ in range(_ROUNDS):
            left = children() - spared
            for pid in left:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
                    os.waitpid(pid, 0)
            if not left:
                break
        adopt_orphans(False)


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
