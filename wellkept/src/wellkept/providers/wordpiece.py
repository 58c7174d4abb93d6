"""The tokenizer of BERT-like models: a text becomes the numbers of the pieces of words that the model knows."""

from __future__ import annotations

import lzma
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from unicodedata import category, normalize

import regex  # type: ignore[import-untyped]

_LONGEST_WORD = 100
_CACHED_WORDS = 65_536
# What BERT takes for Chinese: each such letter is a word. Japanese and Korean letters are not.
_IDEOGRAPHS = (
    "\u4e00-\u9fff\u3400-\u4dbf\uf900-\ufaff"
    "\U00020000-\U0002a6df\U0002a700-\U0002b81f\U0002b820-\U0002ceaf\U0002f800-\U0002fa1f"
)
_ASCII_SIGNS = r"!-/:-@\[-`{-~"
_WORD = regex.compile(rf"(?V1)[{_IDEOGRAPHS}]|[{_ASCII_SIGNS}\p{{P}}]|[^\s{_IDEOGRAPHS}{_ASCII_SIGNS}\p{{P}}]+")
_DROPPED = regex.compile(r"(?V1)[\p{Cc}\p{Cf}\p{Co}\p{Cs}\ufffd--[\t\n\r]]")


class WordPiece:
    """Pieces by number for a model whose vocabulary is given in order; the longest known beginning of a word first."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._number: Mapping[str, int] = {piece: number for number, piece in enumerate(vocabulary)}
        self._unknown, self._start, self._end = (self._number[mark] for mark in ("[UNK]", "[CLS]", "[SEP]"))
        self._pieces = lru_cache(maxsize=_CACHED_WORDS)(self._cut)

    def numbers(self, text: str, most: int) -> list[int]:
        """At most `most` numbers, the marks of start and end among them; a longer text is cut at its end."""
        found = [self._start]
        for word in self._words(text, most):
            found += self._pieces(word)
            if len(found) >= most:
                break
        return [*found[: most - 1], self._end]

    def _words(self, text: str, most: int) -> list[str]:
        # A piece is seldom longer than 12 letters, and never than a word.
        clean = _DROPPED.sub("", text[: most * 4 * _LONGEST_WORD])
        bare = "".join(char for char in normalize("NFD", clean) if category(char) != "Mn")
        found: list[str] = _WORD.findall(bare.lower())
        return found

    def _cut(self, word: str) -> tuple[int, ...]:
        if len(word) > _LONGEST_WORD:
            return (self._unknown,)
        pieces = []
        start = 0
        while start < len(word):
            for stop in range(len(word), start, -1):
                number = self._number.get(word[start:stop] if start == 0 else "##" + word[start:stop])
                if number is not None:
                    break
            else:
                return (self._unknown,)
            pieces.append(number)
            start = stop
        return tuple(pieces)


@cache
def bert_uncased() -> WordPiece:
    """The tokenizer of the uncased English BERT and the models that took its vocabulary."""
    packed = (files(__package__) / "data" / "bert-uncased.txt.xz").read_bytes()
    return WordPiece(lzma.decompress(packed).decode().splitlines())
