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

_ASKED_WORDS, _CANDIDATES = 5, 500
_BELOW = tuple(tier for tier in Trust if tier < Trust.USER_WRITTEN)
_OURS = tuple(tier for tier in Trust if tier >= Trust.USER_WRITTEN)
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
    """The lines without what marks them as a heading, an item or a quotation; with a short one its paragraph too."""
    for paragraph in _PARAGRAPH.split(content.replace("\r\n", "\n")):
        lines = [_LEADING.sub("", line) for line in paragraph.strip("\n").split("\n")]
        yield from lines
        if len(lines) > 1 and any(len(line.split()) < LEAST for line in lines):
            yield "\n".join(lines)


def _echoed(store: Store, source: str, unit: str) -> Trust | None:
    said = words(unit)
    if len(said) < LEAST:
        return None
    longest = sorted(dict.fromkeys(_WORD.findall(unit)), key=len, reverse=True)[:_ASKED_WORDS]
    found = list(_saying(store, source, said, longest, _telling(unit), _BELOW))
    if not found or any(True for _ in _saying(store, source, said, longest, _telling(unit), _OURS)):
        return None
    return min(found)


def _saying(
    store: Store, source: str, said: Sequence[str], all_: Sequence[str], any_: Sequence[str], tiers: Sequence[Trust]
) -> Iterator[Trust]:
    """The tiers of what says it, of these tiers."""
    for tier, text in store.folders.facts_saying(source, any_, tiers, _CANDIDATES):
        if _says(said, words(text)):
            yield tier
    for tier, text in store.folders.pages_saying(source, all_, tiers, _CANDIDATES):
        if _within(said, _plain(text)):
            yield tier


def _telling(unit: str) -> list[str]:
    """Words of which each run of LEAST words holds one, the long ones first: few texts hold those."""
    found = _WORD.findall(unit)
    chosen, place = [], -1
    while place + LEAST < len(found):
        place = max(range(place + 1, place + 1 + LEAST), key=lambda at: (len(found[at]), at))
        chosen.append(found[place])
    return list(dict.fromkeys(chosen))


def _says(said: Sequence[str], fact: Sequence[str]) -> bool:
    """Whether the one says all of the other, either way; a fact that is too short says nothing."""
    return len(fact) >= LEAST and (_within(fact, said) or _within(said, fact))


def _within(inner: Sequence[str], outer: Sequence[str]) -> bool:
    return f" {' '.join(inner)} " in f" {' '.join(outer)} "


def _plain(text: str) -> Sequence[str]:
    return [word for line in text.split("\n") for word in words(_LEADING.sub("", line))]
