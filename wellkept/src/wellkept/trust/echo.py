"""Texts of a lower tier that come back in the owner's files: what an agent wrote is not the owner's by being copied.

A line or paragraph of LEAST words and more is an echo where something of a lower tier in the source says it, and
nothing of the owner's does. It is looked for among what is held, ended or not; what was replaced is not known any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import regex  # type: ignore[import-untyped]

from wellkept.model import Channel, Trust
from wellkept.storage import Store
from wellkept.trust.normal import words

LEAST = 8
FLAG = "echo"
ECHOING: frozenset[Channel] = frozenset({"owner_git", "peer", "restore"})
"""The doors through which files come in, whose texts may be somebody else's."""

_ASKED_WORDS, _CANDIDATES = 12, 20
_LEADING = regex.compile(r"\A\s*(?:(?:[-*+>#]+|\d+[.)])\s+)*(?:\[[ xX]\]\s+)?")
_PARAGRAPH = regex.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+")


def echo(store: Store, source: str, content: str) -> Trust | None:
    """The lowest tier of what the text repeats; None where it repeats nothing of a lower tier than its owner's."""
    if not store.folders.holds_below(source, Trust.USER_WRITTEN):
        return None
    found = (_echoed(store, source, unit) for unit in dict.fromkeys(_units(content)))
    return min((tier for tier in found if tier is not None), default=None)


def _units(content: str) -> Iterator[str]:
    """The lines without what marks them as a heading, an item or a quotation, and paragraphs of several lines."""
    for paragraph in _PARAGRAPH.split(content.replace("\r\n", "\n")):
        lines = [_LEADING.sub("", line) for line in paragraph.split("\n")]
        yield from lines
        if len(lines) > 1:
            yield "\n".join(lines)


def _echoed(store: Store, source: str, unit: str) -> Trust | None:
    said = words(unit)
    if len(said) < LEAST:
        return None
    asked = sorted(dict.fromkeys(_WORD.findall(unit)), key=len, reverse=True)[:_ASKED_WORDS]
    tiers = [fact.trust for _, fact in store.facts_saying(source, asked, _CANDIDATES, ended=True)
             if _says(said, words(fact.text))]  # fmt: skip
    tiers += [tier for tier, text in store.folders.saying(source, asked, _CANDIDATES) if _within(said, _plain(text))]
    return min(tiers) if tiers and max(tiers) < Trust.USER_WRITTEN else None


def _says(said: Sequence[str], fact: Sequence[str]) -> bool:
    """Whether the one says all of the other, either way; a fact that is too short says nothing."""
    return len(fact) >= LEAST and (_within(fact, said) or _within(said, fact))


def _within(inner: Sequence[str], outer: Sequence[str]) -> bool:
    return f" {' '.join(inner)} " in f" {' '.join(outer)} "


def _plain(text: str) -> Sequence[str]:
    return [word for line in text.split("\n") for word in words(_LEADING.sub("", line))]
