"""A harness's event in, its answer out: one module per harness, and the process that a harness starts.

A module in HOOKS has `answer(memory, source, stdin, *, roots, budget, now, hooks_on) -> HookAnswer` for a prompt,
`begin(memory, source, stdin, *, now) -> HookAnswer` for a session's start, `heard(stdin, roots) -> Heard` for what a
conversation holds, and its `SILENCE`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from wellkept.errors import InvalidInput

HOOKS: Mapping[str, str] = {
    "claude-code": "wellkept.hooks.claude_code",
    "codex": "wellkept.hooks.codex",
    "openclaw": "wellkept.hooks.openclaw",
}
SESSION_START, USER_PROMPT = "session-start", "user-prompt"
CAPTURES = ("stop", "pre-compact", "session-end")
"""The events at which the conversation so far is kept."""

DEADLINES_MS: Mapping[str, int] = {
    SESSION_START: 1500,
    USER_PROMPT: 800,
    "stop": 2000,
    "pre-compact": 2000,
    "session-end": 1400,
}
"""How long the hook process of an event takes at most. Claude Code gives all its session-end hooks 1.5 s together."""


def command(
    harness: str,
    socket: Path,
    deadline_ms: int | None = None,
    *,
    event: str = USER_PROMPT,
    start: tuple[Path, str] | None = None,
) -> list[str]:
    """The argv to install as the harness's hook for an event; every path in it is absolute.

    `deadline_ms` scales all deadlines of the hook process (default: that of the event). With `start`, a data
    directory and a source, the process starts a daemon for them when none answers, and is served by no other
    source. InvalidInput for a harness that is not known.
    """
    if harness not in HOOKS:
        raise InvalidInput("harness", f"{harness!r} has no hook command; known: {', '.join(HOOKS)}")
    client = Path(__file__).resolve().with_name("client.py")
    argv = [sys.executable, "-I", "-S", str(client), harness, event, str(socket.absolute())]
    if start is not None:
        data_dir, source = start
        return [*argv, str(deadline_ms or DEADLINES_MS[event]), str(data_dir.absolute()), source]
    return argv if deadline_ms is None else [*argv, str(deadline_ms)]
