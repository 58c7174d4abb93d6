"""D5, D6, D7: letters that do not show, that turn others round, and that look like others."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wellkept.trust.detect.signs import Sign
from wellkept.trust.normal import SKELETON

_FLAG = "\U0001f3f4"
_TAGS = re.compile("(.?)([\U000e0000-\U000e007f]+)", re.DOTALL)
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,}")
# Nothing is joined or kept apart between two of these, so that they carry something else than writing.
_NO_WIDTH = re.compile("[\u200b-\u200d\u2060-\u2064\ufeff\u180e\u034f\u115f\u1160\u3164\uffa0]{3,}")
_WITHIN_WORD = re.compile("(?<=[A-Za-z])[\u200b-\u200d\u2060-\u2064\ufeff\u00ad](?=[A-Za-z])")
_ODD = re.compile("[^\x00-\u00ac\u00ae-\u02ff\u0370-\u1fff\u3000-\u3163\u3165-\ud7ff]")
"""Cheap: text without any such character has none of the signs."""
_SPLIT_WORDS = 3


def unseen(text: str) -> Iterator[Sign]:
    """Runs of characters that do not show and can carry a text of their own, and words split by such."""
    if text.isascii() or not _ODD.search(text):
        return
    for tags in _TAGS.finditer(text):
        if tags[1] != _FLAG or len(tags[2]) > 8:
            yield Sign("D5", tags.start(2), tags.end(2))
    for pattern in (_SELECTORS, _NO_WIDTH):
        yield from (Sign("D5", run.start(), run.end()) for run in pattern.finditer(text))
    split = [Sign("D5", one.start(), one.end(), sure=False) for one in _WITHIN_WORD.finditer(text)]
    if len(split) >= _SPLIT_WORDS:
        yield Sign("D5", split[0].start, split[-1].end)
    else:
        yield from split


_TURNED = re.compile("([\u202a-\u202e\u2066-\u2068])([^\u202a-\u202e\u2066-\u2069\n]*)")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_LATIN = re.compile("[A-Za-z]{2}|[A-Za-z(){};=][(){};=]")


def reordered(text: str) -> Iterator[Sign]:
    """Controls that show Latin letters or code in another order than they stand in."""
    if text.isascii():
        return
    for turned in _TURNED.finditer(text):
        backwards = turned[1] in "\u202b\u202e\u2067"
        if backwards and _LATIN.search(turned[2]) and (turned[1] == "\u202e" or not _RIGHT_TO_LEFT.search(turned[2])):
            yield Sign("D6", turned.start(), turned.end())


_MIXED = re.compile(
    "(?<![A-Za-z\u0370-\u052f\u0530-\u058f])"
    "(?:[A-Za-z]++[\u0370-\u052f\u0530-\u058f]|[\u0370-\u052f\u0530-\u058f]++[A-Za-z])"
    "[A-Za-z\u0370-\u052f\u0530-\u058f]*+"
)
_SCRIPT = re.compile("[\u0370-\u052f\u0530-\u058f]")
_SHORT = 4


def mixed_scripts(text: str) -> Iterator[Sign]:
    """Words of letters of two scripts that read as a word of one: a Latin word with Cyrillic letters in it."""
    if text.isascii() or not _SCRIPT.search(text):
        return
    for word in _MIXED.finditer(text):
        plain = word[0].lower().translate(SKELETON)
        if len(plain) < _SHORT or not (plain.isascii() and plain.isalpha()):
            continue
        strange = [at for at, letter in enumerate(word[0]) if not letter.isascii()]
        # A unit or a symbol of a formula stands at an edge and alone: µTorrent, Δtotal.
        formula = len(strange) == 1 and strange[0] in (0, len(plain) - 1) and word[0][strange[0]] in "μΔΩαβγλπσωηρτ"
        yield Sign("D7", word.start(), word.end(), sure=not formula)
