"""D13: too much text, and text that is none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from wellkept.trust.detect.signs import Kind, Sign

PAGE_BYTES = 1 << 20
FACT_CHARS = 2_000
_ENOUGH = 400
"""Shorter texts tell nothing about how their characters are spread."""
_SAMPLE = 20_000
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f\ufffd]")
_RUN = 50
_LONG_WORD = re.compile(r"[^\s/]{400}")


def too_much(text: str, kind: Kind) -> Iterator[Sign]:
    """One sign for a page of more than a mebibyte, or for a fact that is no sentence any more."""
    if kind == "fact":
        large = len(text) > FACT_CHARS
    else:
        large = len(text) * 4 > PAGE_BYTES and len(text.encode("utf-8", "surrogatepass")) > PAGE_BYTES
    if large:
        yield Sign("D13", 0, len(text))


def junk(text: str) -> Iterator[Sign]:
    """Unsure signs: control bytes, one character or one line again and again, and letters without words."""
    found = _CONTROL.search(text)
    if found:
        yield Sign("D13", found.start(), found.end(), sure=False)
    elif any(_one_character(text[at : at + _RUN]) for at in range(0, len(text) - _RUN, _RUN)):
        yield Sign("D13", 0, len(text), sure=False)
    elif len(text) >= _ENOUGH:
        sample = text[:_SAMPLE]
        wordless = sum(len(run[0]) for run in _LONG_WORD.finditer(sample))
        lines = Counter(line for line in sample.splitlines() if len(line) >= 20)
        repeated = sum(len(line) * count for line, count in lines.items() if count >= 20)
        if max(wordless, repeated) > len(sample) / 2:
            yield Sign("D13", 0, len(text), sure=False)


def _one_character(piece: str) -> bool:
    """Whether a piece is one character again and again, and no line that somebody drew."""
    return piece[0] == piece[-1] and piece[0] not in "=*_~#.+|- \n" and piece == piece[0] * len(piece)
