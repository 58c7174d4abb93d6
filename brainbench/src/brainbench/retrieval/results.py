"""What came of each question, as the report and the checkpoint hold it: enough to compute every number again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import rfc8785

from brainbench.errors import IncompatibleError, OutputError
from brainbench.write import append_text, to_line

CHECKPOINT = "brainbench-retrieval-checkpoint-v1"


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One question: what is gold, all that was found in its order, and what it took.

    `ranked_ids` are sessions or turns, each once; `?1`, `?2`, ... stand for hits that are none of them and take a rank
    all the same. `left_out` says why the case is not in the headline row. `candidates` could have been found.
    """

    case_id: str
    slice: Mapping[str, str]
    expected_ids: tuple[str, ...]
    relevance_grades: Mapping[str, float]
    ranked_ids: tuple[str, ...]
    candidates: int
    left_out: str | None = None
    latency_ms: float | None = None
    error: str | None = None
    repeat_index: int = 0
    usage: Mapping[str, float | None] = field(default_factory=dict)
    written: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One start of a run: when, and how many questions were answered before."""

    started_at: str
    answered_before: int


class _Line(msgspec.Struct, omit_defaults=True):
    """A line of a checkpoint: what the run is, a start of it, or what came of a haystack."""

    schema_version: str | None = None
    run: dict[str, Any] | None = None
    attempt: Attempt | None = None
    haystack: int | None = None
    cases: tuple[CaseResult, ...] = ()


class Checkpoint:
    """A file to which finished haystacks are appended, and from which a run that was cut short goes on.

    An error stays an error: nothing is asked a second time. A line that was not written to its end is dropped.
    """

    def __init__(self, path: Path, run: Mapping[str, Any], started_at: str) -> None:
        self.path = path
        self.finished: dict[int, tuple[CaseResult, ...]] = {}
        attempts: list[Attempt] = []
        lines = _whole_lines(path) if path.exists() else []
        if not lines:
            append_text(path, to_line({"schema_version": CHECKPOINT, "run": run}))
        for number, text in enumerate(lines, 1):
            line = _line(path, number, text)
            if number == 1:
                _same_run(path, line, run)
            elif line.attempt is not None:
                attempts.append(line.attempt)
            elif line.haystack is not None:
                self.finished[line.haystack] = line.cases
        now = Attempt(started_at, sum(map(len, self.finished.values())))
        append_text(path, to_line({"attempt": msgspec.to_builtins(now)}))
        self.attempts = (*attempts, now)

    def add(self, haystack: int, cases: Iterable[CaseResult]) -> None:
        """Keep what came of a haystack."""
        append_text(self.path, to_line({"haystack": haystack, "cases": msgspec.to_builtins(tuple(cases))}))


def _whole_lines(path: Path) -> Sequence[bytes]:
    """The lines of a file; one without its end was cut off while it was written and is taken away."""
    try:
        content = path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        if whole != content:
            os.truncate(path, len(whole))
    except OSError as error:
        raise OutputError(f"--checkpoint: {path}: {error.strerror or error}; name a file that can be written") from None
    return whole.splitlines()


def _line(path: Path, number: int, text: bytes) -> _Line:
    try:
        return msgspec.json.decode(text, type=_Line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise IncompatibleError(f"--checkpoint: {path}: line {number}: {error}; name another file") from None


def _same_run(path: Path, line: _Line, run: Mapping[str, Any]) -> None:
    if line.schema_version != CHECKPOINT or line.run is None:
        raise IncompatibleError(f"--checkpoint: {path}: is no checkpoint of such a run; name another file")
    odd = sorted(name for name in {*line.run, *run} if line.run.get(name) != run.get(name))
    if odd:
        name = odd[0]
        was, now = line.run.get(name), run.get(name)
        raise IncompatibleError(
            f"--checkpoint: {path}: was begun with {name} {was!r}, not {now!r}; use the same flags, or another file"
        )


def digest_of(cases: Sequence[CaseResult]) -> str:
    """A digest of what was found, whatever it took."""
    told = [[case.case_id, case.repeat_index, list(case.ranked_ids), case.error] for case in cases]
    return f"sha256:{hashlib.sha256(rfc8785.dumps(told)).hexdigest()}"
