"""When a text says what gold asks for: plain substrings, no judge."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from brainbench.model import pointer_ids

_ITEM = re.compile(r"\s*(?:[-*+•#>|]|\d+[.)]\s|<!--)")
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n+")

_INVISIBLE = frozenset(
    map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x3164, *range(0xFE00, 0xFE10), 0xFFA0))
) | frozenset(map(chr, range(0xE0100, 0xE01F0)))
"""Characters without ink that are not of the category Cf: fillers and variation selectors."""


def plain(text: str) -> str:
    """Text as it is compared: NFKC, case folded, without invisible characters, runs of whitespace as one space.

    >>> plain("  Ｓtra\u200bße\\n4 ")
    'strasse 4'
    """
    if text.isascii():
        return " ".join(text.casefold().split())
    folded = unicodedata.normalize("NFKC", text).casefold().replace("i̇", "i")
    seen = (c for c in folded if unicodedata.category(c) != "Cf" and c not in _INVISIBLE)
    return " ".join(unicodedata.normalize("NFKC", "".join(seen)).split())


def says(text: str, keywords: Iterable[str], forbidden: Iterable[str] = ()) -> bool:
    """Whether a text holds every keyword and no forbidden one. Without keywords nothing is said."""
    stated = plain(text)
    wanted = [k for k in map(plain, keywords) if k]
    return (
        bool(wanted) and all(k in stated for k in wanted) and not any(f and f in stated for f in map(plain, forbidden))
    )


def passages(text: str) -> tuple[str, ...]:
    """The pieces of an injection that may each state a fact: its lines, and its paragraphs of running prose.

    Keywords scattered over the items of a list do not make a fact.
    """
    pieces = [line for line in text.splitlines() if line.strip()]
    for paragraph in re.split(r"\n\s*\n", text):
        lines = [line for line in paragraph.splitlines() if line.strip()]
        if len(lines) > 1 and not any(_ITEM.match(line) for line in lines):
            pieces.append(" ".join(lines))
    return tuple(pieces)


def is_pointer(passage: str) -> bool:
    """Whether a passage points at a page rather than stating something itself."""
    return bool(pointer_ids(passage))


def states(text: str, keywords: Sequence[str], forbidden: Sequence[str], said: Sequence[str]) -> bool:
    """Whether a text says the keywords, and is not merely an echo of what the user `said`.

    Where the user's own words already hold every keyword, they must stand in what the text adds to them.
    """
    if not says(text, keywords, forbidden):
        return False
    return not says(" ".join(said), keywords) or says(_added(text, said), keywords)


def _added(text: str, said: Sequence[str]) -> str:
    """What a text adds to the user's turns and their sentences."""
    rest = plain(text)
    own = {plain(piece) for turn in said for piece in (turn, *_SENTENCE.split(turn))} - {""}
    for piece in sorted(own, key=lambda p: (-len(p), p)):
        rest = rest.replace(piece, " ")
    rest = " ".join(rest.split())
    return "" if any(rest in piece for piece in own) else rest
