"""Shut directories to this process and to all that it starts, for good, by Linux Landlock.

A system under test has the rights of whoever started the bench; gold would be a file like any other. Landlock can only
allow, so everything is allowed beside the way to what is hidden: the neighbours of each hidden directory and of each
directory above it, as they are now. What appears later directly in one of those cannot be read. Writing is not
restricted. A sealed process can neither signal processes outside nor read their memory; their variables it can.
https://docs.kernel.org/userspace-api/landlock.html
"""

from __future__ import annotations

import ctypes
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_PATH_BENEATH = 1
_READ_FILE, _READ_DIRECTORY, _MOVE = 1 << 2, 1 << 3, 1 << 13
_RIGHTS = _READ_FILE | _READ_DIRECTORY | _MOVE
_SCOPE_SIGNALS = 1 << 1
_NO_NEW_PRIVILEGES = 38
_WITH_MOVES = 2
"""The version from which moving files between directories can be allowed; before it, every move would fail."""
_WITH_SIGNALS = 6


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def can_seal() -> bool:
    """Whether this kernel can shut a directory to a process."""
    return _version() >= _WITH_MOVES


def seal(hidden: Iterable[str]) -> bool:
    """Make all below these directories unreadable from now on; False where the kernel cannot, and nothing changed.

    Those that do not exist are passed over. OSError if the kernel refuses halfway.
    """
    ways = {Path(os.path.realpath(place)) for place in hidden if os.path.exists(place)}
    version = _version()
    if not ways or version < _WITH_MOVES:
        return False
    signals = version >= _WITH_SIGNALS
    wanted = _Ruleset(_RIGHTS, 0, _SCOPE_SIGNALS if signals else 0)
    ruleset = _call(_CREATE_RULESET, ctypes.byref(wanted), ctypes.c_size_t(24 if signals else 8), ctypes.c_uint32(0))
    try:
        for path in _beside(ways):
            _allow(ruleset, path)
        if ctypes.CDLL(None, use_errno=True).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "no_new_privs was refused")
        _call(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)
    return True


def _beside(hidden: set[Path]) -> Iterator[str]:
    """Every entry that lies beside the way from the root to a hidden directory.

    Links are no entries: what they lead to is allowed, or not, where it really is.
    """
    above = {parent for path in hidden for parent in path.parents}
    closed = {path for path in hidden if not hidden & set(path.parents)}
    for directory in sorted(above - {path for path in above if closed & {path, *path.parents}}):
        with suppress(OSError), os.scandir(directory) as entries:
            for entry in entries:
                if not entry.is_symlink() and Path(entry.path) not in above | closed:
                    yield entry.path


def _allow(ruleset: int, path: str) -> None:
    """Allow what is below a path. One that has gone, or may not be opened, needs no permission."""
    with suppress(OSError):
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            rights = _RIGHTS if stat.S_ISDIR(os.fstat(place).st_mode) else _READ_FILE
            rule = _Beneath(rights, place)
            _call(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), ctypes.byref(rule), ctypes.c_uint32(0))
        finally:
            os.close(place)


def _version() -> int:
    """The version of Landlock here; 0 for none."""
    if sys.platform != "linux":
        return 0
    with suppress(OSError):
        return _call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG))
    return 0


def _call(number: int, *arguments: object) -> int:
    done = int(ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(number), *arguments))
    if done < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return done
