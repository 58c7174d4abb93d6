"""What git knows: the commit at work, and files as they stand on another reference."""

from __future__ import annotations

import subprocess
from pathlib import Path

from brainbench.errors import IncompatibleError


def head(directory: Path) -> str:
    """The full commit id of the checkout that holds the directory, or "unknown"."""
    done = _git(directory, "rev-parse", "HEAD")
    return done.stdout.decode().strip() if done.returncode == 0 else "unknown"


def is_dirty(directory: Path) -> bool:
    """Whether tracked files differ from HEAD. Outside a checkout: False."""
    done = _git(directory, "status", "--porcelain", "--untracked-files=no")
    return done.returncode == 0 and bool(done.stdout.strip())


def resolve(directory: Path, ref: str) -> str:
    """The commit id of a reference. Raises IncompatibleError that says what to fetch or name instead."""
    done = _git(directory, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    if done.returncode != 0:
        raise IncompatibleError(
            f"--ref: {ref!r} is no commit of the repository at {directory}. Fetch it (git fetch origin main), or name"
            " another with --ref or BRAINBENCH_BASE_REF"
        )
    return done.stdout.decode().strip()


def show(directory: Path, commit: str, path: str) -> bytes | None:
    """The bytes of a file (its path from the top of the checkout) at a commit, or None if it was not there."""
    done = _git(directory, "show", f"{commit}:{path}")
    return done.stdout if done.returncode == 0 else None


def _git(directory: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["git", "-C", str(directory), *arguments], capture_output=True, check=False)
    except FileNotFoundError:
        return subprocess.CompletedProcess(arguments, 127, b"", b"git is not installed")
