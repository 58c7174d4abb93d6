"""D11: a text that is harmless alone and an order together with what the same writer wrote before, or beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence

LAST = 20
"""So many earlier pieces are joined."""
_TAIL = 4_000
"""So many characters of the end of each."""
_SHORT = 120
"""A piece of this length may be a part of a sentence though a full stop ends it."""

_COUNTED = re.compile(
    r"^[\s>*_#-]{0,8}(?:"
    r"(?:part|teil|parte|partie|deel|cz[eę]ść|часть|частина|bölüm|kısım|الجزء|جزء|חלק|भाग|step|fragment|section|note|comment"
    r"|piece|chunk|schritt|étape|paso|passo|шаг|крок|adım)[ \t]{0,3}(?:no\.?|nr\.?|#|№)?[ \t]{0,3}(?P<part>\d{1,3})"
    r"(?:[ \t]{0,3}(?:/|of|von|de|di|van|z|из|з)[ \t]{0,3}\d{1,3})?[ \t]{0,3}[:.)\-–—]*"
    r"|第(?P<han>\d{1,3})[部节節回章段][^\w]?|(?P<ko>\d{1,3})(?:부|편)[^\w]?"
    r"|[(\[]?(?P<number>\d{1,3})(?:[ \t]{0,3}(?:/|of)[ \t]{0,3}\d{1,3})?[.):\]][ \t]{0,3}"
    r"|(?:\.{3}|…)?(?:cont(?:inued|'?d|\.)|continued from (?:above|before))[ \t]{0,3}[:.)\-–—]*"
    r")[ \t]*",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"^\s*(?:\.{2,}|…)\s*|\s*(?:\.{2,}|…|-)\s*$")


def joined(text: str, earlier: Sequence[str]) -> list[tuple[str, int]]:
    """The pieces as one text, with and without spaces between them, each with the place where the last one begins."""
    *before, last = (_bare(piece) for piece in (*(piece[-_TAIL:] for piece in earlier[-LAST:]), text))
    ways = []
    for between in (" ", ""):
        start = "".join(piece + between for piece in before)
        ways.append((start + last, len(start)))
    return ways


def _bare(piece: str) -> str:
    """A piece without what counts it, and without the full stop of what may go on."""
    bare = _GOES_ON.sub("", _COUNTED.sub("", piece, count=1)).strip()
    return bare.rstrip(".,;:") if len(bare) <= _SHORT else bare
