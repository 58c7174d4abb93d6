"""The Markdown files of a bound folder without what was forgotten: found, written anew, committed where Git has them.

A file is written beside itself, committed, and then put in its place: whatever ends this in between, the next run finds
the claim in the file again, or nowhere.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from wellkept.errors import GitUnavailable
from wellkept.ingest.git_folder import Git
from wellkept.storage import Folder
from wellkept.trust.forgotten import Spans, struck_page

LARGEST = 64 * 1024 * 1024
"""In bytes. No page is that large; whoever looks afterwards says that such a file was not looked into."""
_BESIDE = ".wellkept"
_BOM = "\ufeff"
_MESSAGE = "Take out what was forgotten for good\n"


@dataclass(frozen=True, slots=True)
class StruckFile:
    """What became of a file that held a claim. `why` says why it is left, or why it is not committed."""

    folder: str
    path: str
    what: Literal["rewritten", "removed", "left"]
    commit: str | None = None
    why: str = ""


def holding(folder: Folder, spans: Spans) -> tuple[str, ...]:
    """The paths of the Markdown files below a folder in which something stands that is to go."""
    root = Path(folder.path)
    return tuple(path.relative_to(root).as_posix() for path in _markdown(root) if spans(_text(path)))


def strike(folder: Folder, spans: Spans, going: Collection[str] = ()) -> tuple[StruckFile, ...]:
    """Take out of the Markdown files of a folder what is forgotten, and the files of these paths whole."""
    root = Path(folder.path)
    if not root.is_dir():
        return (StruckFile(folder.name, ".", "left", why="the folder is not there"),)
    for path in _below(root):
        if path.name.startswith(".") and path.name.endswith(f".md{_BESIDE}"):
            path.unlink(missing_ok=True)
    named = sorted({*holding(folder, spans), *going})
    changes = [change for name in named if (change := _change(root, name, spans, name in going)) is not None]
    for change in changes:
        _write_beside(root, change)
    done = _committed(folder, [change for change in changes if not change.why])
    return tuple(
        StruckFile(folder.name, change.path, "left", why=change.why)
        if change.why
        else _landed(root, folder, change, done)
        for change in changes
    )


@dataclass(slots=True)
class _Change:
    """What a file says and what it is to say; `fresh` is None where it goes. `why` is what stands against it."""

    path: str
    before: bytes
    fresh: bytes | None
    why: str = ""


def _markdown(root: Path) -> Iterator[Path]:
    """Every Markdown file, the hidden ones too: what was thrown away in an editor still stands there."""
    return (path for path in _below(root) if path.name.lower().endswith(".md"))


def _below(root: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(names):
            path = Path(place) / name
            if path.is_file() and not path.is_symlink():
                yield path


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST:
            return ""
        return path.read_bytes().decode("utf-8", "surrogateescape")
    except OSError:
        return ""  # whoever looks afterwards says what is left


def _change(root: Path, name: str, spans: Spans, goes: bool) -> _Change | None:
    try:
        before = (root / name).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        return _Change(name, b"", None, error.strerror or str(error))
    return _Change(name, before, None if goes else struck_bytes(before, spans))


def struck_bytes(content: bytes, spans: Spans) -> bytes:
    """A file without what is forgotten; all other bytes stay as they are."""
    text = content.decode("utf-8", "surrogateescape")
    mark = _BOM if text.startswith(_BOM) else ""
    return (mark + struck_page(text.removeprefix(mark), spans)).encode("utf-8", "surrogateescape")


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}{_BESIDE}")


def _write_beside(root: Path, change: _Change) -> None:
    path = root / change.path
    if change.why:
        return
    try:
        if change.fresh is None:
            _check_may_go(path)
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with open(os.open(_beside(path), flags, path.stat().st_mode & 0o777), "wb") as file:
            os.fchmod(file.fileno(), path.stat().st_mode & 0o7777)
            file.write(change.fresh)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        change.why = error.strerror or str(error)


def _check_may_go(path: Path) -> None:
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise PermissionError(13, "Permission denied", str(path))


def _committed(folder: Folder, changes: Sequence[_Change]) -> dict[str, StruckFile]:
    """The files of which the commit that is checked out says what they say now: committed as they are to be."""
    found = {
        one.path: StruckFile(folder.name, one.path, "removed" if one.fresh is None else "rewritten") for one in changes
    }
    try:
        git = Git.at(Path(folder.path)) if changes else None
        if git is None or git.head() is None:
            return found
        begun = git.under_way()
        clean: dict[str, bytes | None] = {}
        for one in changes:
            committed = git.committed(one.path)
            if committed is None:
                continue
            form = _form(one.before, committed)
            if begun is None and form is not None and git.staged(one.path) == committed:
                clean[one.path] = None if one.fresh is None else form(one.fresh)
            else:
                why = f"{begun} is under way" if begun else "it was changed and not committed before"
                found[one.path] = replace(found[one.path], why=f"not committed: {why}")
        clean = {path: fresh for path, fresh in clean.items() if git.committed(path) != fresh}
        commit = git.commit(clean, _MESSAGE) if clean else None
        return found | {path: replace(found[path], commit=commit) for path in clean}
    except GitUnavailable as error:
        return {path: replace(one, why=f"not committed: {error.reason}") for path, one in found.items()}


def _form(before: bytes, committed: bytes) -> Callable[[bytes], bytes] | None:
    """How a file is committed that looks like this: as it is, or with its line ends made plain; None: it is changed."""
    if before == committed:
        return lambda content: content
    if _plain(before) == committed:
        return _plain
    return None


def _plain(content: bytes) -> bytes:
    return content.replace(b"\r\n", b"\n")


def _landed(root: Path, folder: Folder, change: _Change, done: dict[str, StruckFile]) -> StruckFile:
    path = root / change.path
    try:
        if path.read_bytes() != change.before:
            _beside(path).unlink(missing_ok=True)
            return StruckFile(folder.name, change.path, "left", why="it changed meanwhile; run the purge again")
        if change.fresh is None:
            path.unlink()
        else:
            os.replace(_beside(path), path)
        descriptor = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    except OSError as error:
        return StruckFile(folder.name, change.path, "left", why=error.strerror or str(error))
    return done[change.path]
