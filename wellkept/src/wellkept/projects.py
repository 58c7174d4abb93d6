"""The project that a directory belongs to: a git repository. What sessions say in one is kept apart from all others.

A place on the disk names the project, and nothing that a file in it says: what was cloned from elsewhere cannot ask
for another project's memory.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

BY_PROJECT = "@project"
"""Stands for the source of whatever project one is in, where a source is named."""
OWN = "default"
"""The source of what is the person's own, in whatever project."""
_TITLE_CHARS = 40
_LARGEST_MARK = 8192


def project_source(directory: str | Path, home: Path) -> str | None:
    """The source of the project that the directory is in; None outside of one.

    The same for every directory of a repository and for all its worktrees.
    """
    root = project_root(directory, home)
    if root is None:
        return None
    from wellkept.names import slugify

    digest = hashlib.sha256(os.fsencode(root)).hexdigest()[:10]
    return f"{slugify(root.name)[:_TITLE_CHARS] or 'project'}-{digest}"


def project_root(directory: str | Path, home: Path) -> Path | None:
    """The repository that the directory is in, of a worktree the main one.

    A repository at the home directory or above it is none: it would hold all others.
    """
    if "\0" in str(directory) or not os.path.isabs(directory):
        return None
    real, own = Path(os.path.realpath(directory)), Path(os.path.realpath(home))
    for place in (real, *real.parents):
        if place == own or place in own.parents:
            return None
        mark = place / ".git"
        if mark.is_dir():
            return place
        if mark.is_file():
            return _main(place, mark)
    return None


def _main(place: Path, mark: Path) -> Path:
    """The repository of a worktree, where it knows the worktree too; a file alone can claim anything."""
    with suppress(OSError, ValueError):
        said = _first_line(mark)
        kept = Path(os.path.realpath(place / said.removeprefix("gitdir:").strip()))
        if said.startswith("gitdir:") and kept.parent.name == "worktrees":
            back = os.path.realpath(kept / _first_line(kept / "gitdir"))
            if back == os.path.realpath(mark):
                repository = kept.parent.parent
                return repository.parent if repository.name == ".git" else repository
    return place


def _first_line(path: Path) -> str:
    with path.open("rb") as file:
        return os.fsdecode(file.read(_LARGEST_MARK)).partition("\n")[0].strip()
