"""Answers of a model as they came, kept on disk: what was paid for once is never asked again, and CI needs no key.

`DIR/about.json` says which model at which host answered; `DIR/answers.jsonl` holds one answer a line under the hash of
its question. Questions are not kept: the same run asks the same ones.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from brainbench.errors import IncompatibleError, OutputError
from brainbench.write import make_directory, write_json

SCHEMA_VERSION = 1
_KEPT = ("model", "choices", "usage", "system_fingerprint")
"""What of an answer is kept; the rest is new with every call."""


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came back for one question: the response, or why there is none."""

    request_sha256: str
    response: dict[str, Any] = {}
    latency_ms: float = 0.0
    failed: str | None = None

    @property
    def tokens(self) -> tuple[int, int]:
        """Tokens sent and received, as the endpoint counts them; 0 where it does not say."""
        usage = self.response.get("usage")
        told = usage if isinstance(usage, dict) else {}
        return _count(told.get("prompt_tokens")), _count(told.get("completion_tokens"))


_SESSION = re.compile(r"\b[0-9a-f]{32}(-\d+)\b")


class _About(msgspec.Struct):
    schema_version: int
    model: str
    host: str


def request_hash(body: Mapping[str, object]) -> str:
    """SHA-256 of a question, whatever the order of its keys and whatever opaque name its session has in this run."""
    told = _SESSION.sub(r"session\1", json.dumps(body, sort_keys=True, separators=(",", ":")))
    return hashlib.sha256(told.encode()).hexdigest()


def kept(response: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a response that is recorded."""
    return {key: response[key] for key in _KEPT if key in response}


class Records:
    """The answers in a directory. A line that a crash has torn is asked again."""

    def __init__(self, directory: Path, about: _About) -> None:
        self.directory, self.model, self.host = directory, about.model, about.host
        self._answers = _read(directory / "answers.jsonl")

    @classmethod
    def open(cls, directory: Path) -> Records:
        """The records that stand there. IncompatibleError where there are none."""
        about = _about(directory)
        if about is None:
            raise IncompatibleError(
                f"--recorded: {directory} holds no recorded answers (about.json); make some: --record"
            )
        return cls(directory, about)

    @classmethod
    def for_writing(cls, directory: Path, model: str, host: str) -> Records:
        """The records there, or new ones. IncompatibleError where they are of another model or host."""
        about = _about(directory)
        if about is None:
            make_directory(directory)
            about = _About(SCHEMA_VERSION, model, host)
            write_json(directory / "about.json", msgspec.to_builtins(about))
        if (about.model, about.host) != (model, host):
            raise IncompatibleError(
                f"--record: {directory} holds answers of {about.model} at {about.host}, not of {model} at {host}; "
                "name another directory"
            )
        return cls(directory, about)

    def __len__(self) -> int:
        return len(self._answers)

    def find(self, request_sha256: str) -> Answer | None:
        """The answer to this question, if there is one."""
        return self._answers.get(request_sha256)

    def add(self, answer: Answer) -> None:
        """Keep an answer, on disk before this returns."""
        self._answers[answer.request_sha256] = answer
        line = json.dumps(msgspec.to_builtins(answer), ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")
        place = self.directory / "answers.jsonl"
        try:
            with place.open("ab+") as file:
                if file.tell() and not _ends_a_line(place):
                    file.write(b"\n")
                file.write(line + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise OutputError(f"cannot write {place}: {error.strerror or error}") from error


def _ends_a_line(place: Path) -> bool:
    with place.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _about(directory: Path) -> _About | None:
    place = directory / "about.json"
    try:
        about = msgspec.json.decode(place.read_bytes(), type=_About)
    except FileNotFoundError:
        return None
    except NotADirectoryError:
        raise IncompatibleError(f"{directory}: is no directory; name one for recorded answers") from None
    except OSError as error:
        raise IncompatibleError(f"{place}: {error.strerror or error}") from error
    except msgspec.DecodeError as error:
        raise IncompatibleError(f"{place}: {error}") from error
    if about.schema_version != SCHEMA_VERSION:
        raise IncompatibleError(f"{place}: schema_version is {about.schema_version}; this bench reads {SCHEMA_VERSION}")
    return about


def _read(place: Path) -> dict[str, Answer]:
    found: dict[str, Answer] = {}
    try:
        lines = place.read_bytes().split(b"\n")
    except FileNotFoundError:
        return found
    except OSError as error:
        raise IncompatibleError(f"{place}: {error.strerror or error}") from error
    for line in lines:
        try:
            answer = msgspec.json.decode(line, type=Answer)
        except msgspec.DecodeError:
            continue
        found[answer.request_sha256] = answer
    return found


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
