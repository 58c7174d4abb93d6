"""One form for texts that read the same: what a person sees as equal is equal here, however it was typed.

Compatibility forms become plain (NFKC), what does not show goes, case goes, letters that look like Latin ones become
those (after the idea of Unicode UTS #39, section 4), and everything but letters and digits is space. Used to recognise
text, never to store or to show it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from unicodedata import is_normalized, normalize

import regex  # type: ignore[import-untyped]

_LOOK_ALIKES = (
    ("аәвгеёзіїјкӏмнорстуүхһьѕԁԛԝ", "aabreeziijklmhopctyyxhbsdqw"),  # Cyrillic
    ("αβγεηικμνορτυχωϲϳ", "abyenikuvoptuxwcj"),  # Greek
    ("օսհցոզ", "ouhgnq"),  # Armenian
    ("ɑɡıȷʟɪᴀᴏᴜᴠᴡᴢ", "agijliaouvwz"),  # Latin, of other tongues and of phonetic script
)
SKELETON: Mapping[int, str] = {
    ord(seen): plain for letters, latin in _LOOK_ALIKES for seen, plain in zip(letters, latin, strict=True)
}
"""Small letters that look like Latin ones. Both spellings of a word end the same, so that a wrong pair does no harm."""

_UNSEEN = regex.compile(
    r"[\p{Cf}\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]+"
)
# Thai and Lao, Myanmar, Khmer, kana, Han: written without spaces, so that each letter counts as a word.
_BLOCKS = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_ALONE = rf"[[{_BLOCKS}]&&[\p{{L}}\p{{N}}]]"
_WORD = regex.compile(rf"(?V1){_ALONE}\p{{M}}*|[[\p{{L}}\p{{M}}\p{{N}}\p{{Co}}]--{_ALONE}]+")
# Plain letters as they come, but for one that a mark may belong to; else one thing that is seen as a letter.
_CLUSTERS = regex.compile(r"[\x00-\x7f]+(?![^\x00-\x7f])|\X")


@dataclass(frozen=True, slots=True)
class Token:
    """One word, or one letter of a script without spaces, in its plain form; text[start:end] is where it stands."""

    text: str
    start: int
    end: int


def flat(text: str) -> str:
    """The text in its plain form, with its punctuation and spaces.

    >>> flat("Ａda’s ZERO\\u200bwidth, \\u0430nd Cyrillic")
    'ada’s zerowidth, and cyrillic'
    """
    if text.isascii():
        return text.lower()
    if not is_normalized("NFKC", text):
        text = normalize("NFKC", text)
    folded = normalize("NFKC", _UNSEEN.sub("", text).casefold())
    return folded.translate(SKELETON)


def words(text: str) -> tuple[str, ...]:
    """The words of the text, plain.

    >>> words("Ada's rate: 90,000 EUR"), words("東京に")
    (('ada', 's', 'rate', '90', '000', 'eur'), ('東', '京', 'に'))
    """
    return tuple(_WORD.findall(flat(text)))


def tokens(text: str) -> tuple[Token, ...]:
    """The words of the text, plain, and where each stands in the text as it is."""
    if text.isascii():
        return tuple(Token(found[0], found.start(), found.end()) for found in _WORD.finditer(text.lower()))
    plain: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for piece, start, end in _pieces(text):
        plain.append(piece)
        whole = len(piece) != end - start
        starts += [start] * len(piece) if whole else range(start, end)
        ends += [end] * len(piece) if whole else range(start + 1, end + 1)
    return tuple(
        Token(found[0], starts[found.start()], ends[found.end() - 1]) for found in _WORD.finditer("".join(plain))
    )


def _pieces(text: str) -> Iterator[tuple[str, int, int]]:
    for cluster in _CLUSTERS.finditer(text):
        piece = flat(cluster[0])
        if piece:
            yield piece, cluster.start(), cluster.end()
