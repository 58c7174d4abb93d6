"""Scripts and systems that many tests play."""

from __future__ import annotations

from pathlib import Path

import pytest

from brainbench.model import Fixture, RunContext, SourceDecl, Turn, Write
from brainbench.systems import System

from .registry import Registry


def page(title: str, aliases: str = "", body: str = "") -> str:
    lines = [f"title: {title}", "type: person"] + ([f"aliases: [{aliases}]"] if aliases else [])
    return "---\n" + "\n".join(lines) + f"\n---\n\n{body or title}\n"


def script(*texts: str, **changes: object) -> Fixture:
    """A native fixture in which the user says the texts and memory holds Ada Lovelace."""
    plain: dict[str, object] = {
        "fixture_id": "made-up",
        "suites": ("know-to-ask", "push"),
        "category": "direct",
        "stratum": "easy",
        "language": "en",
        "setup": (Write(1, "page", "owner", page("Ada Lovelace", "ada"), slug="people/ada-lovelace"),),
        "events": tuple(Turn(10 + n, "user", text) for n, text in enumerate(texts)),
        "sources": (SourceDecl("default"),),
    }
    return Fixture(**{**plain, **changes})  # type: ignore[arg-type]


@pytest.fixture
def run(tmp_path: Path) -> RunContext:
    return RunContext("r0", (SourceDecl("default"),), "default", str(tmp_path))


@pytest.fixture
def registry() -> System:
    """A memory with every protection of who wrote what."""
    return Registry()
