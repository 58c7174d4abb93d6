"""A fence of the kernel around whatever a system does: files it must not read, and the one place it may write.

Landlock (Linux 5.13 and later) needs no rights and holds for every process that is started within. It also keeps the
memory, environment, directory and open files of processes outside it from being looked at through /proc.
"""

from __future__ import annotations

import ctypes
import os
import signal
import stat
import struct
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

RUNS = "brainbench-run-"
"""How the name of a directory begins that holds what one run needs for as long as it lasts."""
_CREATE, _ADD, _RESTRICT = 444, 445, 446
"""The numbers of its system calls, the same on every architecture."""
_VERSION, _BENEATH, _NO_NEW_PRIVILEGES = 1, 1, 38
_WRITE_FILE, _READ_FILE, _REFER, _TRUNCATE = 1 << 1, 1 << 2, 1 << 13, 1 << 14
_REMOVE = 1 << 4 | 1 << 5
_MAKE = sum(1 << bit for bit in range(6, 13))
_SIGNALS, _ABSTRACT_SOCKETS = 1 << 1, 1 << 0
_PARENT_DEATH, _DUMPABLE = 1, 4
_SCOPES_SINCE = 6


@cache
def can_fence() -> bool:
    """Whether the kernel has such fences, with all that is asked of them."""
    return _version() >= 3


def fence(hidden: Iterable[str], own: str) -> None:
    """From now on, this process and all that it starts read no file below `hidden` and write only below `own`.

    Does nothing where `can_fence` says no. What appears later beside a hidden place cannot be read either.
    """
    if not can_fence():
        return
    written = _WRITE_FILE | _REFER | _TRUNCATE | _REMOVE | _MAKE
    scoped = _SIGNALS | _ABSTRACT_SOCKETS if _version() >= _SCOPES_SINCE else 0
    ruleset = _call(_CREATE, struct.pack("=QQQ", _READ_FILE | written, 0, scoped), 24 if scoped else 8, 0)
    try:
        for place in _beside(frozenset(map(os.path.realpath, hidden))):
            _allow(ruleset, place, _READ_FILE)
        _allow(ruleset, own, _READ_FILE | written)
        _allow(ruleset, "/dev", _READ_FILE | _WRITE_FILE)
        _prctl(_NO_NEW_PRIVILEGES, 1)
        _call(_RESTRICT, ruleset, 0)
    finally:
        os.close(ruleset)


def walled_off(own: str) -> None:
    """A fence within the fence, for a process that the one it came from asks: it cannot look at that one either.

    Nor can it read what other runs keep, or other workers of this one. It ends with that one (Linux).
    """
    _prctl(_PARENT_DEATH, signal.SIGKILL)
    fence(_runs_around(own), own)


def _runs_around(own: str) -> list[str]:
    """The directory of the run that `own` lies in, and those of all others beside it."""
    run = next((place for place in Path(own).parents if place.name.startswith(RUNS)), None)
    return [str(place) for place in run.parent.glob(f"{RUNS}*")] if run is not None else []


def look_away() -> None:
    """From now on no process of the same user can look at the memory and open files of this one (Linux)."""
    _prctl(_DUMPABLE, 0)


def _prctl(option: int, value: int) -> None:
    if hasattr(_libc(), "prctl"):
        _libc().prctl(option, value, 0, 0, 0)


def _beside(hidden: frozenset[str]) -> Iterator[str]:
    """Every file and directory that neither is, holds nor lies in a hidden one; together with those, all there is."""
    above = {str(parent) for place in hidden for parent in Path(place).parents} or {"/"}
    if not hidden:
        yield "/"
        return
    for directory in above - hidden:
        try:
            entries = list(os.scandir(directory))
        except OSError:
            continue
        for entry in entries:
            if entry.path not in above | hidden and not entry.is_symlink():
                yield entry.path


def _allow(ruleset: int, place: str, access: int) -> None:
    try:
        opened = os.open(place, os.O_PATH | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(opened).st_mode):
            access &= _READ_FILE | _WRITE_FILE | _TRUNCATE
        _call(_ADD, ruleset, _BENEATH, struct.pack("=Qi", access, opened), 0)
    finally:
        os.close(opened)


def _version() -> int:
    libc = _libc()
    return int(libc.syscall(_CREATE, None, 0, _VERSION)) if hasattr(libc, "syscall") and os.path.isdir("/proc") else 0


def _call(number: int, *given: object) -> int:
    done = int(_libc().syscall(number, *given))
    if done < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"the fence around the system could not be set up: {os.strerror(code)}")
    return done


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
