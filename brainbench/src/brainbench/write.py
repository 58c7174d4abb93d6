"""Files that the bench writes: whole or not at all, with what to do when it cannot be done."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import stat
import tempfile
from pathlib import Path

import msgspec

from brainbench.errors import OutputError

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_REMEDIES = {
    errno.ENOSPC: "the disk is full: free some space or choose another file",
    errno.EDQUOT: "your disk quota is used up: free some space or choose another file",
    errno.EFBIG: "the file would exceed the size limit (see `ulimit -f`): raise it or choose another file",
    errno.EROFS: "the file system is read-only: choose another file",
    errno.EACCES: "permission denied: make the file and its directory writable or choose another file",
    errno.EPERM: "permission denied: make the file and its directory writable or choose another file",
    errno.ENAMETOOLONG: "the name is too long: choose a shorter --out",
    errno.ELOOP: "the path runs in a circle of symbolic links: choose another file",
    errno.EISDIR: "it is a directory: name a file in it",
}


def to_json(document: object) -> str:
    """The document as indented JSON with a final newline; ValueError on NaN or infinity."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False)
    if _LONE_SURROGATE.search(text):
        # The quick way to indent reads no half of a character.
        return _escaped(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)) + "\n"
    return msgspec.json.format(text, indent=2) + "\n"


def to_line(document: object) -> str:
    """The document as one line of JSON with its newline; ValueError on NaN or infinity."""
    return _escaped(json.dumps(document, ensure_ascii=False, allow_nan=False)) + "\n"


def _escaped(text: str) -> str:
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def check_place(path: str | Path) -> None:
    """OutputError if a file cannot be put at `path` as things stand: better said before the work than after it."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise OutputError(f"{path}: cannot be written: {_REMEDIES[errno.EISDIR]}")
    if not target.parent.is_dir():
        raise OutputError(f"{path}: cannot be written: there is no directory {target.parent}; make it first")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise OutputError(f"{path}: cannot be written: {_REMEDIES[errno.EACCES]}")


def refuse_devices(path: Path) -> None:
    """OutputError for what is there and is no file: a device would be replaced, or read without end."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise OutputError(f"{path}: cannot be written: it is a device, not a file: name a file")


def write_json(path: str | Path, document: object) -> None:
    """Write the document to `path`, whole or not at all. OutputError names the file and the remedy."""
    write_text(path, to_json(document))


def write_text(path: str | Path, text: str) -> None:
    """`write_bytes` of UTF-8 text."""
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise OutputError(f"{path}: cannot be written: {error}") from error
    write_bytes(path, content)


def write_bytes(path: str | Path, content: bytes) -> None:
    """Write to `path`, whole or not at all; a file that was there stays until the new one is complete.

    Symbolic links are followed. Devices and pipes are written to directly. OutputError names the file and the remedy.
    """
    try:
        target = Path(os.path.realpath(path))
        if not _replaceable(path, target):
            target.write_bytes(content)
        else:
            _replace(target, content)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {_remedy(error)}") from error
    except ValueError as error:
        raise OutputError(f"{path!r}: cannot be written: {error}; choose another file") from error


def append_text(path: str | Path, text: str) -> None:
    """Add UTF-8 text to the end of a file, which is made if it is not there. OutputError names the file."""
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise OutputError(f"{path}: cannot be written: {_remedy(error)}") from error


def make_directory(directory: Path) -> None:
    """Make the directory and those above it, unless it is there. OutputError says why it cannot be had."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise OutputError(f"{directory}: cannot be made: {reason}; name a directory to write in") from error


def _replaceable(path: str | Path, target: Path) -> bool:
    """Whether `target` is a plain file or free; OutputError if no file can be there."""
    if not str(path):
        raise OutputError("the file name is empty: name a file")
    if not target.parent.is_dir():
        raise OutputError(f"{path}: directory {target.parent} does not exist: create it (mkdir -p) or choose another")
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        if str(path).endswith(os.sep):
            raise OutputError(f"{path}: names a directory that does not exist: name a file") from None
        return True
    if stat.S_ISDIR(mode):
        raise OutputError(f"{path}: is a directory: name a file in it, such as {target / 'result.json'}")
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return stat.S_ISREG(mode)


def _replace(target: Path, content: bytes) -> None:
    descriptor, temporary = tempfile.mkstemp(dir=target.parent, prefix=".brainbench-", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            os.fchmod(file.fileno(), _permissions(target))
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_directory(target.parent)


def _permissions(target: Path) -> int:
    """Those of the file that is replaced, else what the umask allows."""
    with contextlib.suppress(OSError):
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_directory(directory: Path) -> None:
    """Make the new name survive a power cut, where the file system can do that."""
    with contextlib.suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _remedy(error: OSError) -> str:
    return _REMEDIES.get(error.errno or 0) or f"{error.strerror or error}: choose another file"
