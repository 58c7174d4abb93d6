"""Which of two facts about one thing is told first: the one that says how it is by now."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.resources import files

import regex  # type: ignore[import-untyped]

from wellkept.model import Fact
from wellkept.names import norm
from wellkept.recall.facts import held_words, newer

_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+(?:['’][\p{L}\p{M}]+)*")
_UNSPACED = ("zh", "ja", "ko", "th")
_LEAST_SHARED = 2


def current_first(facts: Sequence[Fact], query: str) -> tuple[Fact, ...]:
    """The facts, one that tells a change before the older ones whose place it takes, which may be worded more alike.

    It takes the place of one about the same: they share more than half of what that one has of the query's words, and
    two words at least.
    """
    ordered: list[Fact] = []
    words = {id(fact): held_words(fact, query) for fact in facts}
    for fact in facts:
        at = len(ordered)
        if tells_a_change(fact.text):
            for place, other in enumerate(ordered):
                shared, had = len(words[id(fact)] & words[id(other)]), len(words[id(other)])
                if newer(fact, other) and shared >= _LEAST_SHARED and 2 * shared > had:
                    at = place
                    break
        ordered.insert(at, fact)
    return tuple(ordered)


def tells_a_change(text: str) -> bool:
    """Whether the text says that something was otherwise before.

    >>> tells_a_change("Ada moved to Delft"), tells_a_change("Ada lives in Delft")
    (True, False)
    """
    key = norm(text)
    spoken = " " + " ".join(found[0].replace("’", "'") for found in _WORD.finditer(key)) + " "
    apart, within = _phrases()
    return any(f" {phrase} " in spoken for phrase in apart) or any(phrase in key for phrase in within)


@cache
def _phrases() -> tuple[frozenset[str], frozenset[str]]:
    """Those that stand as words, and those of scripts without spaces."""
    apart: set[str] = set()
    within: set[str] = set()
    for line in (files(__package__) / "data" / "changed.txt").read_text(encoding="utf-8").splitlines():
        code, _, words = line.partition(" ")
        if code != "#":
            (within if code in _UNSPACED else apart).update(norm(word.replace("_", " ")) for word in words.split())
    return frozenset(apart), frozenset(within)
