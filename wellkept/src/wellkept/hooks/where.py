"""Which source an event belongs to: that of the project it happened in, or the one that the hook is bound to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wellkept.ingest.conversation import page_slug
from wellkept.memory import Memory
from wellkept.projects import BY_PROJECT, project_source
from wellkept.together import Together


def asked_of(memory: Memory, own: str, bound: str, stdin: bytes, home: Path) -> tuple[Memory, str]:
    """The memory and the source that an event of a hook asks. A project's looks into what is the person's own too."""
    project = _project(stdin, home) if bound == BY_PROJECT else None
    return (memory, own) if project is None else (Together(memory, (own,)), project)


def kept_in(memory: Memory, own: str, bound: str, stdin: bytes, home: Path, session: str) -> str:
    """The source that keeps a session: the one that does already, else that of the project it happened in.

    A session that moves on into another project is kept where it began.
    """
    project = _project(stdin, home) if bound == BY_PROJECT else None
    if bound != BY_PROJECT:
        return own
    slug = page_slug(session)
    known = dict.fromkeys((project or own, *(source.id for source in memory.store.sources())))
    return next((one for one in known if memory.store.get_page(one, slug) is not None), project or own)


def _project(stdin: bytes, home: Path) -> str | None:
    try:
        # json and not msgspec, as for a prompt: a harness may cut what it quotes between two halves of an emoji.
        said: Any = json.loads(stdin)
    except (ValueError, RecursionError):
        return None
    directory = said.get("cwd") if isinstance(said, Mapping) else None
    try:
        return project_source(directory, home) if isinstance(directory, str) else None
    except (OSError, ValueError):
        return None
