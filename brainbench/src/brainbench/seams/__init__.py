"""Where the bench takes hold of a harness: a table of SeamConfig and a small codec for each.

A codec turns one user turn into what the harness would send, and the answer into an Injection.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Protocol

from brainbench.errors import UsageError
from brainbench.model import ONCE, Ask, Budget, Injection, SeamConfig
from brainbench.systems import System

SEAMS: Mapping[str, SeamConfig] = {
    seam.name: seam
    for seam in (
        SeamConfig(
            name="openclaw",
            kind="production",
            codec="brainbench.seams.openclaw:OpenClaw",
            budget=Budget(pages=3),
            volunteers=3,
            deviations=("no plugin shim", "config gate, heartbeat and 1,500 ms wrapper ungraded"),
        ),
        SeamConfig(
            name="claude-code",
            kind="production",
            codec="brainbench.seams.claude_code:ClaudeCode",
            budget=Budget(pages=3),
            volunteers=3,
            process=True,
            deadline_ms=10_000,
            deviations=(
                "deadline 10 s (ships 800/600/400 ms)",
                "run-scoped data directory",
                "synthesised transcript",
                "the clock of the script",
            ),
        ),
        SeamConfig(
            name="codex",
            kind="contract",
            codec="brainbench.seams.codex:Codex",
            budget=Budget(pages=1),
            window=1,
            deviations=("delivery assumed", "preamble slugs are no injections"),
        ),
        SeamConfig(
            name="direct",
            kind="contract",
            codec="brainbench.seams.direct:Direct",
            budget=Budget(pages=3),
            window=1,
            roles=("user",),
            suites=("write-back", "continuity", *ONCE),
            deviations=("search with the turn's text; know-to-ask and push do not apply",),
        ),
    )
}
HARNESSES = ("openclaw", "claude-code", "codex")
"""The three harnesses of the v1 result document."""


class Codec(Protocol):
    """One session of one harness with one system."""

    def ask(self, ask: Ask) -> Injection:
        """What the memory injects on this turn."""

    def close(self) -> None:
        """End the session."""


class CodecType(Protocol):
    """How a codec is made: once per session."""

    def __call__(self, system: System, seam: SeamConfig) -> Codec: ...


def load_codec(seam: SeamConfig) -> CodecType:
    """The codec class of a seam."""
    module, _, name = seam.codec.partition(":")
    found: CodecType = getattr(import_module(module), name)
    return found


def seam_named(name: str) -> SeamConfig:
    """A seam by name, or UsageError listing the names."""
    try:
        return SEAMS[name]
    except KeyError:
        raise UsageError(f"--harness: unknown harness {name!r}; known: {', '.join(SEAMS)}, all") from None
