"""What the conversation already holds need not be brought again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal
from unicodedata import normalize

import regex  # type: ignore[import-untyped]

from wellkept.model import PageRef, Trust
from wellkept.names import norm

Suppression = Literal["slug-and-title", "slug-only"]

PRIOR_CHARS = 20_000

_LABELS = "|".join(regex.escape(tier.label) for tier in Trust)
_POINTER_LINE = regex.compile(r"^- [^`\n]*→ `([^`\n]+)`[^\n]*$", regex.MULTILINE)
_FACT_LINE = regex.compile(rf"^- [^\n]*\(\d\.\d\d, (?:{_LABELS})\)(?:</external-data>)?$", regex.MULTILINE)
_SAID_LINE = regex.compile(r"^- said (?:on \d{4}-\d\d-\d\d )?by you \(`[^`\n]+`\): [^\n]*$", regex.MULTILINE)
_SLUG_NEIGHBOUR = regex.compile(r"[\p{L}\p{N}/\-]")
_WORD_NEIGHBOUR = regex.compile(r"[\p{L}\p{M}\p{N}_]")
_WRITTEN_WITHOUT_SPACES = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Hangul}]"
)


def already_shown(prior: str, suppression: Suppression) -> Callable[[PageRef], bool]:
    """A test for pages that the last 20,000 characters of `prior` already name.

    Of lines that memory itself brought, only the slug pointed at counts: what a page or fact says about others does
    not show them, or one page could silence another.
    By slug, standing alone; with "slug-and-title" also by title as a whole word. A title of one word must be written
    with its capitals, because "an orange" does not speak of the page Orange.
    """
    pointed = _POINTER_LINE.sub(r"→ `\1`", prior[-PRIOR_CHARS:])
    written = _SAID_LINE.sub("", _FACT_LINE.sub("", pointed))
    spoken = normalize("NFC", written)
    key = norm(written) if suppression == "slug-and-title" else ""

    def shown(page: PageRef) -> bool:
        if _stands_in(page.slug, written, _SLUG_NEIGHBOUR):
            return True
        if suppression == "slug-only" or not page.title.strip():
            return False
        title = norm(page.title)
        if _WRITTEN_WITHOUT_SPACES.search(title):
            return title in key or title.replace(" ", "") in key
        if " " in title:
            return _stands_in(title, key, _WORD_NEIGHBOUR)
        return _stands_in(normalize("NFC", page.title.strip()), spoken, _WORD_NEIGHBOUR)

    return shown


def _stands_in(name: str, text: str, neighbour: regex.Pattern[str]) -> bool:
    if not name:
        return False
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        before = at > 0 and neighbour.match(text[at - 1])
        after = end < len(text) and neighbour.match(text[end])
        if not before and not after:
            return True
        at = text.find(name, at + 1)
    return False
