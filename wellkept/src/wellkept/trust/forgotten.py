"""What was forgotten for good, recognised when it comes again. Keyed digests only: nobody can read or guess a claim.

A claim is a run of words in their plain form (`wellkept.trust.normal`). It is found within longer text. One of fewer
words than SHORT is no claim by itself, as it would take half of what others say with it: it is recognised only where it
is all that somebody says.
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from wellkept.model import Told
from wellkept.trust.normal import Token, tokens, words

SHORT = 3
MARK = "[forgotten]"
"""What stands where a claim was."""
MARK_IN_FRONT = "(forgotten)"
"""The same in front matter, where brackets begin a list."""
KEY_BYTES = 32
ANY = ""
"""Stands for every source, where a claim was forgotten in all."""


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A claim: how many words, and keyed digests of all of them and of the first."""

    words: int
    claim: bytes
    first: bytes


@dataclass(frozen=True, slots=True)
class Span:
    """Where a claim stands: text[start:end]."""

    start: int
    end: int


Spans = Callable[[str], Sequence[Span]]
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n.*?^---[ \t]*$", re.DOTALL | re.MULTILINE)


def tombstone(key: bytes, claim: str) -> Tombstone | None:
    """What is kept of a claim; None of one without a word."""
    said = words(claim)
    if not said:
        return None
    return Tombstone(len(said), _digest(key, said), _first(key, said[0]))


class Forgotten:
    """Recognises the claims that were forgotten."""

    def __init__(self, key: Callable[[], bytes], stones: Iterable[Tombstone]) -> None:
        self._key = key
        self._claims: dict[bytes, dict[int, set[bytes]]] = {}
        for stone in stones:
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
        lengths = self._claims.get(_first(key, said[place].text))
        for length in sorted(lengths or (), reverse=True):
            whole = length >= SHORT or length == len(said)
            window = [token.text for token in said[place : place + length]]
            if whole and len(window) == length and lengths and _digest(key, window) in lengths[length]:
                return length
        return 0


def struck(text: str, spans: Sequence[Span]) -> str:
    """The text with MARK in the place of each span."""
    for span in reversed(spans):
        text = text[: span.start] + MARK + text[span.end :]
    return text


def struck_page(content: str, spans: Spans) -> str:
    """A page's Markdown without what is forgotten. Of its front matter each line is looked at by itself."""
    if not spans(content):
        return content
    front = _FRONT_MATTER.match(content)
    if front is None:
        return struck(content, spans(content))
    lines = (struck(line, spans(line)).replace(MARK, MARK_IN_FRONT) for line in front[0].splitlines(keepends=True))
    body = content[front.end() :]
    return "".join(lines) + struck(body, spans(body))


def strings(value: object) -> Iterator[str]:
    """Every text in a JSON value, the keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from strings(key)
            yield from strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from strings(inner)


def without(told: Told, spans: Spans) -> Told:
    """What a writer said of a page's origin, without what is forgotten: a part of it goes whole."""
    source_id, url = (None if text is None or spans(text) else text for text in (told.source_id, told.url))
    kept = {key: value for key, value in told.metadata.items() if not spans("\n".join(strings([key, value])))}
    if spans("\n".join(strings(kept))):
        kept = {}
    return replace(told, source_id=source_id, url=url, metadata=kept)


def _digest(key: bytes, said: Sequence[str]) -> bytes:
    return hmac.digest(key, "\0".join(("claim", *said)).encode("utf-8", "surrogatepass"), "sha256")


@lru_cache(maxsize=8192)
def _first(key: bytes, word: str) -> bytes:
    return hmac.digest(key, "\0".join(("first", word)).encode("utf-8", "surrogatepass"), "sha256")[:4]
