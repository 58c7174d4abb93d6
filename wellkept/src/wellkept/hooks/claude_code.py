"""The prompt hook of Claude Code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from wellkept.hooks.prompt import Harness
from wellkept.ingest import claude_code
from wellkept.ingest.transcript import Transcript, confine


def _transcript(path: str, roots: Sequence[Path]) -> Transcript:
    return claude_code.read(confine(path, roots))


answer = Harness(_transcript).answer
