"""The key to a paid endpoint, taken out of everybody else's reach."""

from __future__ import annotations

import ctypes
import os

_NOT_DUMPABLE = 4


def take_key(name: str) -> str | None:
    """The value of the environment variable, which this process and those it starts then no longer have.

    Its bytes are wiped too, so that `/proc` does not show them, and on Linux other processes of this user can no
    longer read this one's memory. The shell that exported the variable still has it.
    """
    key = os.environ.get(name)
    if not key:
        return None
    libc = ctypes.CDLL(None)
    libc.getenv.restype = ctypes.c_void_p
    place = libc.getenv(os.fsencode(name))
    if place:
        ctypes.memset(place, ord("x"), len(os.fsencode(key)))
    del os.environ[name]
    prctl = getattr(libc, "prctl", None)
    if prctl is not None:
        prctl(_NOT_DUMPABLE, 0, 0, 0, 0)
    return key.strip()
