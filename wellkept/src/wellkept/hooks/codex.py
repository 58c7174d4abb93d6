"""What memory says to Codex: the answers of its hooks, and the texts put into a session without a hook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from wellkept.hooks.keeping import heard_in_transcript
from wellkept.hooks.prompt import Harness
from wellkept.hooks.session import opening
from wellkept.ingest import codex
from wellkept.ingest.claude_code import INJECTION_MARK
from wellkept.ingest.transcript import Transcript, confine, json_objects
from wellkept.memory import Memory
from wellkept.model import Page, Trust, TurnContext
from wellkept.recall import render
from wellkept.recall.render import stored_text

SILENCE = b"{}"
PREAMBLE_PAGES = 50


def _transcript(path: str, roots: Sequence[Path]) -> Transcript:
    raw = confine(path, roots, head=codex.HEAD_BYTES)
    read = codex.read(raw, stem=Path(path).stem)
    return replace(read, prior=_injected(raw))


def _spoken(path: str, roots: Sequence[Path], tail: int) -> Transcript:
    raw = confine(path, roots, head=codex.HEAD_BYTES, tail=tail)
    return codex.read(raw, stem=Path(path).stem, tail=tail)


def _injected(raw: bytes) -> str:
    """What memory added to the session before: Codex keeps it as messages that neither side has said."""
    found: list[str] = []
    for line in json_objects(raw) if INJECTION_MARK.encode() in raw else ():
        payload = line.get("payload") if line else None
        if isinstance(payload, dict) and payload.get("role") in ("developer", "user"):
            content = payload.get("content")
            texts = (
                [block.get("text") for block in content if isinstance(block, dict)] if isinstance(content, list) else []
            )
            found += [text for text in texts if isinstance(text, str) and INJECTION_MARK in text]
    return "\n\n".join(dict.fromkeys(found))


answer = Harness(_transcript, silence=SILENCE, needs_transcript=False).answer
begin = partial(opening, silence=SILENCE)
heard = partial(heard_in_transcript, read=_spoken)


def preamble(memory: Memory, source: str) -> str:
    """An index of the first 50 live pages by slug, to begin a session with; "" when there are none.

    Pages from outside are left out. What the user did not write says so.
    """
    pages = memory.pages(source, limit=PREAMBLE_PAGES, unasked=True)
    lines = [
        f"- {stored_text(page.title, page.trust)} ({stored_text(page.slug, page.trust)}){_label(page)}"
        for page in pages
        if page.trust > Trust.EXTERNAL_UNTRUSTED
    ]
    return "\n".join(["## Memory index", *lines]) if lines else ""


def _label(page: Page) -> str:
    """The label of a page, but for what the user wrote, as the index says of most."""
    return "" if page.trust >= Trust.USER_WRITTEN else f" ({page.trust.label})"


def pointers(memory: Memory, source: str, text: str, *, prior: str = "", pages: int = 1) -> TurnContext:
    """The pages that one turn names, at most `pages`, without those that `prior` already shows."""
    found, degraded = memory.pointers(source, text, prior=prior, pages=pages, suppression="slug-and-title")
    return TurnContext(text=render(found, (), ()), pointers=found, degraded=degraded)
