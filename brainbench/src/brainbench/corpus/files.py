"""JSON files of a directory, read strictly: every file is either a Document or a fault."""

from __future__ import annotations

import codecs
import json
import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from math import isfinite
from pathlib import Path
from typing import Any

from brainbench.corpus.shape import Steps, field_path, on_one_line
from brainbench.errors import CorpusError, Fault

WHOLE_FILE = "(file)"
WHOLE_DIRECTORY = "(directory)"
DEEPEST = 64
"""Levels of nesting. The formats need 8; more than this is an accident or an attack."""

_HALVES = ("\\ud", "\\uD")
"""How half of a surrogate pair is written; read from UTF-8 there is none."""


@dataclass(frozen=True, slots=True)
class Document:
    """A JSON object with the bytes it was read from; `file` is its name inside the directory."""

    file: str
    raw: bytes
    value: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Listing:
    """What a directory holds: each file's bytes by name, the ones that could be read as JSON objects, and the rest."""

    names: tuple[str, ...] = ()
    documents: tuple[Document, ...] = ()
    faults: tuple[Fault, ...] = ()
    warnings: tuple[Fault, ...] = ()


def read_directory(directory: Path, suffix: str) -> Listing:
    """The files directly inside that end in `suffix`, sorted by name; nothing is raised.

    Hidden files, other names and sub-directories are ignored.
    """
    try:
        names = file_names(directory, suffix)
    except OSError as error:
        return Listing(faults=(Fault(printable(str(directory)), WHOLE_DIRECTORY, why_unreadable(error, "directory")),))
    documents: list[Document] = []
    faults: list[Fault] = []
    warnings: list[Fault] = []
    for name in names:
        try:
            raw = read_bytes(directory / name)
            value, doubles = parse_object(raw, printable(name))
        except OSError as error:
            faults.append(Fault(printable(name), WHOLE_FILE, why_unreadable(error, "file")))
        except CorpusError as error:
            faults.extend(error.faults)
        else:
            documents.append(Document(printable(name), raw, value))
            warnings.extend(doubles)
    return Listing(tuple(printable(name) for name in names), tuple(documents), tuple(faults), tuple(warnings))


def file_names(directory: Path, suffix: str) -> list[str]:
    """The names that count, by code point. OSError if the directory cannot be listed."""
    with os.scandir(directory) as entries:
        return sorted(e.name for e in entries if e.name.endswith(suffix) and e.name[0] != "." and not e.is_dir())


def read_bytes(path: Path) -> bytes:
    """The bytes of a regular file (or of what a symbolic link leads to). OSError otherwise."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError("is not a regular file")
    return path.read_bytes()


def printable(name: str) -> str:
    """A name that can be printed: bytes of a file name that are no UTF-8, and control characters, appear as escapes."""
    return on_one_line(name.encode("utf-8", "backslashreplace").decode("utf-8"))


def why_unreadable(error: OSError, what: str) -> str:
    """Why the system refused, and what is needed instead."""
    if isinstance(error, FileNotFoundError):
        return f"does not exist; needs a readable {what}"
    if isinstance(error, NotADirectoryError):
        return "is a file, not a directory; name the directory that holds the files"
    if isinstance(error, PermissionError):
        return f"permission denied; needs a {what} that you may read"
    return f"cannot be read ({error.strerror or error}); needs a readable {what}"


def parse_object(raw: bytes, file: str) -> tuple[Mapping[str, Any], tuple[Fault, ...]]:
    """The JSON object in these bytes, and a warning for each key that occurs twice (the last one counts).

    CorpusError for everything else: another encoding, broken JSON, a number that is not finite, a string that is no
    text, nesting without end.
    """
    text = _decoded(raw, file)
    doubles: dict[int, tuple[dict[str, Any], list[str]]] = {}

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            seen: set[str] = set()
            doubles[id(made)] = (made, [key for key, _ in pairs if key in seen or seen.add(key)])  # type: ignore[func-returns-value]
        return made

    try:
        value = json.loads(text, object_pairs_hook=collect)
    except json.JSONDecodeError as error:
        raise _broken(file, f"line {error.lineno} column {error.colno}", f"not JSON: {error.msg}") from None
    except RecursionError:
        raise _broken(file, WHOLE_FILE, f"nested without end; at most {DEEPEST} levels are allowed") from None
    except ValueError as error:
        raise _broken(file, WHOLE_FILE, f"not usable as JSON: {error}") from None
    if isinstance(value, dict) and not doubles and not any(half in text for half in _HALVES) and _is_plain(value):
        return value, ()
    faults: list[Fault] = []
    warnings: list[Fault] = []
    for steps, part in walk(value):
        if (reason := _unusable(steps, part)) is not None:
            faults.append(Fault(file, field_path(steps), reason))
        for key in doubles.get(id(part), ({}, []))[1]:
            warnings.append(Fault(file, field_path((*steps, printable(key))), "key occurs twice; the last one counts"))
    if not isinstance(value, dict):
        faults.append(Fault(file, WHOLE_FILE, f"the top level is {_kind(value)}; needs an object {{...}}"))
    if faults:
        raise CorpusError(faults)
    return value, tuple(warnings)


def walk(value: object) -> Iterator[tuple[Steps, object]]:
    """Every part of a JSON value with the steps that lead to it, outermost first, down to the level after DEEPEST."""
    pending: list[tuple[Steps, object]] = [((), value)]
    while pending:
        steps, part = pending.pop()
        yield steps, part
        if len(steps) > DEEPEST:
            continue
        if isinstance(part, dict):
            pending.extend(((*steps, key), inner) for key, inner in reversed(part.items()))
        elif isinstance(part, list):
            pending.extend(((*steps, i), part[i]) for i in reversed(range(len(part))))


def _is_plain(value: object) -> bool:
    """Whether a value is nested no deeper than DEEPEST and all its numbers are finite."""
    level = [value]
    for _ in range(DEEPEST + 1):
        if not all(isfinite(part) for part in level if isinstance(part, float)):
            return False
        inner = (part.values() if isinstance(part, dict) else part for part in level if isinstance(part, (dict, list)))
        level = list(chain.from_iterable(inner))
    return not level


def _decoded(raw: bytes, file: str) -> str:
    if raw.startswith(codecs.BOM_UTF8):
        raise _broken(file, WHOLE_FILE, "begins with a byte order mark; save it as UTF-8 without one")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        reason = f"byte 0x{raw[error.start]:02x} at offset {error.start} is not UTF-8; save the file as UTF-8"
        raise _broken(file, f"line {line}", reason) from None
    if not text.strip():
        raise _broken(file, WHOLE_FILE, "is empty; needs an object {...}")
    return text


def _broken(file: str, field: str, reason: str) -> CorpusError:
    return CorpusError([Fault(file, field, reason)])


def _unusable(steps: Steps, part: object) -> str | None:
    if len(steps) > DEEPEST:
        return f"nested too deep; at most {DEEPEST} levels are allowed"
    if isinstance(part, float) and not abs(part) < float("inf"):
        return f"{part} is not a number; only finite numbers are allowed"
    if isinstance(part, str) and not _is_text(part):
        return "holds half of a surrogate pair, which is no character; only Unicode text is allowed"
    if isinstance(part, dict) and not all(_is_text(key) for key in part):
        return "a key holds half of a surrogate pair, which is no character; only Unicode text is allowed"
    return None


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _kind(value: object) -> str:
    kinds = {list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")
