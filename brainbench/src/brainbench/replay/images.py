"""The files of a memory's directory as one value, so that they can be searched later by who knows what for."""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from brainbench.errors import SystemFailure

MOST_BYTES = 256 << 20
"""Size of a directory above which it is not kept."""
_FILES = dict[str, bytes]


def packed(directory: str) -> bytes:
    """Every plain file below a directory by its path from there. SystemFailure when they are too large to be kept."""
    files: _FILES = {}
    size = 0
    for path in _plain_files(Path(directory)):
        held = path.read_bytes()
        size += len(held)
        if size > MOST_BYTES:
            raise SystemFailure(f"it keeps more than {MOST_BYTES:,} bytes in its directory; they are not searched")
        files[str(path.relative_to(directory))] = held
    return zlib.compress(msgspec.msgpack.encode(files), 1)


def unpacked(image: bytes) -> Mapping[str, bytes]:
    """The files of an image by their path; none of an empty one."""
    return msgspec.msgpack.decode(zlib.decompress(image), type=_FILES) if image else {}


def _plain_files(directory: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(directory):
        for name in sorted(names):
            path = Path(folder, name)
            if stat.S_ISREG(path.lstat().st_mode):
                yield path
