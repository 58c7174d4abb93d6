"""What was forgotten for good, recognised when it comes again. Keyed digests only: nobody can read or guess a claim.

A claim is a run of words in their plain form (`wellkept.trust.normal`). It is found within longer text. One of fewer
words than SHORT is no claim by itself, as it would take half of what others say with it: it is recognised only where it
is all that somebody says.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from wellkept.trust.normal import Token, tokens, words

SHORT = 3
MARK = "[forgotten]"
"""What stands where a claim was."""
KEY_BYTES = 32


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A claim of one source: how many words, and keyed digests of all of them and of the first."""

    source: str
    words: int
    claim: bytes
    first: bytes


@dataclass(frozen=True, slots=True)
class Span:
    """Where a claim stands: text[start:end]."""

    start: int
    end: int


def tombstone(key: bytes, source: str, claim: str) -> Tombstone | None:
    """What is kept of a claim; None of one without a word."""
    said = words(claim)
    if not said:
        return None
    return Tombstone(source, len(said), _digest(key, source, said), _first(key, source, said[0]))


class Forgotten:
    """Recognises the claims of one source that were forgotten. `stones` of other sources are left out."""

    def __init__(self, key: Callable[[], bytes], source: str, stones: Iterable[Tombstone]) -> None:
        self._key, self.source = key, source
        self._claims: dict[bytes, dict[int, set[bytes]]] = {}
        for stone in stones:
            if stone.source == source:
                self._claims.setdefault(stone.first, {}).setdefault(stone.words, set()).add(stone.claim)

    def __bool__(self) -> bool:
        return bool(self._claims)

    def spans(self, text: str) -> tuple[Span, ...]:
        """Where forgotten claims stand in the text, in order; they do not overlap."""
        if not self._claims:
            return ()
        key, said = self._key(), tokens(text)
        found: list[Span] = []
        place = 0
        while place < len(said):
            length = self._length_at(key, said, place)
            if length:
                found.append(Span(said[place].start, said[place + length - 1].end))
            place += length or 1
        return tuple(found)

    def struck(self, text: str) -> str:
        """The text with MARK in the place of each claim; the same text where there is none."""
        return struck(text, self.spans(text))

    def _length_at(self, key: bytes, said: Sequence[Token], place: int) -> int:
        """Of how many words the longest claim is that begins at this one; 0 when none does."""
        lengths = self._claims.get(_first(key, self.source, said[place].text))
        for length in sorted(lengths or (), reverse=True):
            whole = length >= SHORT or length == len(said)
            window = [token.text for token in said[place : place + length]]
            if whole and len(window) == length and lengths and _digest(key, self.source, window) in lengths[length]:
                return length
        return 0


def struck(text: str, spans: Sequence[Span]) -> str:
    """The text with MARK in the place of each span."""
    for span in reversed(spans):
        text = text[: span.start] + MARK + text[span.end :]
    return text


def _digest(key: bytes, source: str, said: Sequence[str]) -> bytes:
    return hmac.digest(key, "\0".join(("claim", source, *said)).encode("utf-8", "surrogatepass"), "sha256")


@lru_cache(maxsize=8192)
def _first(key: bytes, source: str, word: str) -> bytes:
    return hmac.digest(key, "\0".join(("first", source, word)).encode("utf-8", "surrogatepass"), "sha256")[:4]
