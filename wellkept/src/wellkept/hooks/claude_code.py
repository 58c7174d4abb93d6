"""The hooks of Claude Code."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from wellkept.hooks.keeping import heard_in_transcript
from wellkept.hooks.prompt import Harness
from wellkept.hooks.session import opening
from wellkept.ingest import claude_code
from wellkept.ingest.transcript import Transcript, confine

SILENCE = b""


def _transcript(path: str, roots: Sequence[Path]) -> Transcript:
    return claude_code.read(confine(path, roots))


def _spoken(path: str, roots: Sequence[Path], tail: int) -> Transcript:
    return claude_code.read(confine(path, roots, tail=tail), tail=tail, spoken=True)


answer = Harness(_transcript).answer
begin = partial(opening, silence=SILENCE)
heard = partial(heard_in_transcript, read=_spoken)
