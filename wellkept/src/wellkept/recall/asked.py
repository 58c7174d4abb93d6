"""The words of a query that searches look for."""

from __future__ import annotations

from collections.abc import Iterator

import regex  # type: ignore[import-untyped]

from wellkept.names import norm
from wellkept.recall.words import Speech, languages

WORDS = 64
QUERY_CHARS = 20_000
_HANGUL_ENDING = regex.compile(
    r"(?<=\p{Hangul}{2})(?:은|는|이|가|을|를|의|에|도|와|과|로|으로|에서|에게|한테|까지|부터|이나|이랑|랑)$"
)

_GLUED = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}ー々"
_WORD = regex.compile(
    rf"(?V1)[{_GLUED}]+|[[\p{{L}}\p{{M}}\p{{N}}]--[{_GLUED}]]+(?:['’][[\p{{L}}\p{{M}}]--[{_GLUED}]]+)*"
)
_IS_GLUED = regex.compile(rf"[{_GLUED}]")
_IDEOGRAPHIC = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}ー々]")
_CLUSTER = regex.compile(r"\X")
_GRAMMAR = regex.compile(r"\p{Hiragana}+")
_APOSTROPHE = regex.compile(r"['’]")


def content_words(text: str) -> tuple[str, ...]:
    """The words that carry the meaning of a text, in order, each once, at most 64; all words if none does.

    Scripts written without spaces are cut into overlapping pieces.
    """
    words = list(dict.fromkeys(_words(text[:QUERY_CHARS])))
    speech = Speech(words)
    telling = [word for word in words if not speech.is_hard(word)]
    return tuple((telling or words)[:WORDS])


def _words(text: str) -> Iterator[str]:
    for match in _WORD.finditer(norm(text)):
        word = match[0]
        if _IS_GLUED.match(word):
            yield from _pieces(word)
        else:
            whole = word.replace("’", "'") in languages()[0].words("hard")
            bare = word if whole else max(_APOSTROPHE.split(word), key=len)
            yield str(_HANGUL_ENDING.sub("", bare))


def _pieces(stretch: str) -> Iterator[str]:
    """Overlapping pieces of a stretch written without spaces; hiragana alone is grammar and is left out."""
    letters = _CLUSTER.findall(stretch)
    size = 2 if _IDEOGRAPHIC.match(stretch) else 3
    if len(letters) <= size:
        yield stretch
        return
    pieces = ["".join(letters[at : at + size]) for at in range(len(letters) - size + 1)]
    yield from [piece for piece in pieces if not _GRAMMAR.fullmatch(piece)] or pieces
