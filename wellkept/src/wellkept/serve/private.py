"""Whether a directory is its owner's alone. Needs the standard library alone, as the relay asks it at once."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from wellkept.errors import DaemonError


def check_private(directory: Path) -> None:
    """DaemonError unless the directory, and a link that leads to it, is this user's and closed to all others."""
    try:
        status, entry = directory.stat(), directory.lstat()
    except OSError as error:
        raise DaemonError(f"{directory}: {error.strerror or error}") from None
    if not stat.S_ISDIR(status.st_mode):
        raise DaemonError(f"{directory}: not a directory")
    if {status.st_uid, entry.st_uid} != {os.geteuid()}:
        raise DaemonError(f"{directory}: belongs to another user; use a data directory of your own")
    if status.st_mode & 0o077:
        raise DaemonError(f"{directory}: open to other users; close it: chmod 700 {directory}")
