"""An outside set of conversations with questions about them, and what its files are read with.

What a question asks and where its answer was said stand apart: `Question.text` may be shown to a memory, its gold not.
"""

from __future__ import annotations

import hashlib
import lzma
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from brainbench.errors import CorpusError, Fault, UsageError
from brainbench.model import Role

MOST_BYTES = 8 << 30
"""How large a file may be once it is unpacked."""
MOST_FAULTS = 20
"""How many faults of one file are told; where the shape is wrong, every entry has the same one."""


@dataclass(frozen=True, slots=True)
class Said:
    """One turn of a session, under the id that gold knows it by."""

    id: str
    role: Role
    text: str


@dataclass(frozen=True, slots=True)
class Session:
    """One conversation, and when it was held. Two sessions of a haystack may share an id."""

    id: str
    at: str
    turns: tuple[Said, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question about one haystack, when it is asked, and in which sessions and turns its answer was said.

    `left_out` says why it is not in the headline row. `user_turns` are those of `turns` that the user said.
    """

    id: str
    haystack: int
    text: str
    asked_at: str
    kind: str
    sessions: tuple[str, ...]
    turns: tuple[str, ...]
    user_turns: tuple[str, ...]
    left_out: str | None = None
    written: Mapping[str, object] = field(default_factory=dict)
    """What a report tells of it besides."""


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A set as read: its questions, and its haystacks one by one, as together they would not fit into memory.

    `version` is that of a published file, else "". `published` says that the file is the one that numbers are published
    on. `headline` names the row to be compared.
    """

    name: str
    version: str
    licence: str
    sha256: str
    published: bool
    headline: str
    questions: tuple[Question, ...]
    haystacks: int
    haystack: Callable[[int], Sequence[Session]]
    notes: tuple[str, ...] = ()


def unpacked(path: Path) -> bytes:
    """The bytes of a JSON file, or of one packed with xz. UsageError where there is none, CorpusError if it is torn."""
    try:
        if path.suffix != ".xz":
            return path.read_bytes()
        with lzma.open(path) as file:
            return file.read(MOST_BYTES)
    except FileNotFoundError:
        raise UsageError(f"PATH: there is no file {path}") from None
    except (lzma.LZMAError, EOFError) as error:
        raise CorpusError([Fault(str(path), "the file", f"cannot be unpacked: {error}")]) from None
    except OSError as error:
        raise UsageError(f"PATH: {path} cannot be read: {error.strerror or error}") from None


def sha256_of(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def first_faults(faults: Sequence[Fault]) -> CorpusError:
    """The first faults of a file, and how many more there are."""
    told = list(faults[:MOST_FAULTS])
    if more := len(faults) - len(told):
        told.append(Fault(faults[0].file, "the file", f"has {more} more faults"))
    return CorpusError(told)
