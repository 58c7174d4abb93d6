"""A harness's event in, its answer out: one module per harness, and the process that a harness starts.

A module in HOOKS has `answer(memory, source, stdin, *, roots, budget, now, hooks_on) -> HookAnswer`.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from wellkept.errors import InvalidInput

HOOKS: Mapping[str, str] = {
    "claude-code": "wellkept.hooks.claude_code",
    "codex": "wellkept.hooks.codex",
}
USER_PROMPT = "user-prompt"


def command(harness: str, socket: Path, deadline_ms: int | None = None) -> list[str]:
    """The argv to install as the harness's prompt hook; every path in it is absolute.

    `deadline_ms` scales all deadlines of the hook process (default: 800 for everything). InvalidInput for a
    harness that starts no hook processes.
    """
    if harness not in HOOKS:
        raise InvalidInput("harness", f"{harness!r} has no hook command; known: {', '.join(HOOKS)}")
    client = Path(__file__).resolve().with_name("client.py")
    argv = [sys.executable, "-I", "-S", str(client), harness, USER_PROMPT, str(socket.absolute())]
    return argv if deadline_ms is None else [*argv, str(deadline_ms)]
