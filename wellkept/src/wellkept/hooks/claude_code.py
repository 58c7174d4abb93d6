"""The prompt hook of Claude Code."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from wellkept.hooks.prompt import Asked, Harness, answer_prompt
from wellkept.hooks.prompt import HookAnswer as HookAnswer
from wellkept.ingest import claude_code
from wellkept.memory import Memory
from wellkept.model import Budget


def _transcript(path: str, roots: Sequence[Path]) -> claude_code.Transcript:
    return claude_code.read(claude_code.confine(path, roots))


_HARNESS = Harness(_transcript)


def answer(
    memory: Memory,
    source: str,
    stdin: bytes,
    *,
    roots: Sequence[Path],
    budget: Budget,
    now: datetime,
    hooks_on: bool = True,
) -> HookAnswer:
    """What the hook prints for a prompt: one JSON line, or nothing when there is nothing to say.

    `stdin` is what the harness sent. A transcript is read only below one of the `roots`.
    """
    if not hooks_on:
        return HookAnswer(b"", "disabled", "")
    return answer_prompt(_HARNESS, Asked(memory, source, roots, budget, now), stdin)
