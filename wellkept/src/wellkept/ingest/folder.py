"""The Markdown files of a folder that are meant to be read, and what was left out."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from wellkept.errors import InvalidInput

_EMPTY_BYTES = 64 * 1024
"""A file of more blanks than these is read as one that says something."""
HIDDEN, EMPTY, OUTSIDE = "hidden", "empty", "linked from elsewhere"


@dataclass(frozen=True, slots=True)
class Found:
    """The files by path, and how many were left out by the reason.

    `outside` are the links that lead out of the folder, `closed` the folders below it that nobody could look into.
    """

    files: tuple[Path, ...]
    skipped: Counter[str]
    outside: tuple[Path, ...] = ()
    closed: tuple[Path, ...] = ()


def markdown_below(directory: Path) -> Found:
    """Every `*.md` below the directory, without what is hidden, empty or behind a link that leads out of it."""
    root = os.path.realpath(directory)
    files: list[Path] = []
    outside: list[Path] = []
    closed: list[Path] = []
    skipped: Counter[str] = Counter()
    for place, folders, names in os.walk(directory, onerror=lambda error: closed.append(Path(error.filename))):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        skipped[HIDDEN] += sum(len(_markdown(Path(place) / name)) for name in _hidden(place))
        for name in sorted(names):
            path = Path(place) / name
            if not name.lower().endswith(".md"):
                continue
            why = HIDDEN if name.startswith(".") else _unread(path, root)
            if why:
                skipped[why] += 1
                outside += [path] if why == OUTSIDE else []
            elif path.is_file():
                files.append(path)
    return Found(tuple(sorted(files)), +skipped, tuple(outside), tuple(closed))


def check_size(path: Path, most: int) -> None:
    """InvalidInput for a file of more than `most` bytes, before it is read."""
    try:
        size = path.stat().st_size
    except OSError:
        return  # reading it will say why
    if size > most:
        raise InvalidInput("content", f"has {size} bytes; {most} are allowed. Split it")


def _hidden(place: str) -> list[str]:
    try:
        return [entry.name for entry in os.scandir(place) if entry.name.startswith(".") and entry.is_dir()]
    except OSError:
        return []


def _markdown(folder: Path) -> list[str]:
    if folder.is_symlink():
        return []
    return [name for _, _, names in os.walk(folder) for name in names if name.lower().endswith(".md")]


def _unread(path: Path, root: str) -> str:
    """Why the file is not read; "" when it is. One that cannot be looked at is left for whoever opens it."""
    real = os.path.realpath(path)
    if os.path.commonpath((real, root)) != root:
        return OUTSIDE
    try:
        small = path.is_file() and path.stat().st_size <= _EMPTY_BYTES
        return EMPTY if small and not path.read_bytes().strip() else ""
    except OSError:
        return ""
