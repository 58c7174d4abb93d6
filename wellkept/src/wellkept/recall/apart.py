"""Telling pages of one name apart by what else is said: "Ambridge, the surveyor" is the one who is a surveyor."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import regex  # type: ignore[import-untyped]

from wellkept.model import PageRef
from wellkept.names import norm
from wellkept.recall.words import Speech

_WORD = regex.compile(r"[\p{L}\p{M}]{4,}")


def told_apart(pages: Sequence[PageRef], text: str) -> PageRef | None:
    """The one of the pages whose summary shares a word with the text that no other's summary has; None if unclear."""
    said, words = _telling(text), [_telling(page.summary) for page in pages]
    meant = [
        page
        for at, page in enumerate(pages)
        if (words[at] & said).difference(*(other for place, other in enumerate(words) if place != at))
    ]
    return meant[0] if len(meant) == 1 else None


@lru_cache(maxsize=256)
def _telling(text: str) -> frozenset[str]:
    """The words of a text that are neither function words nor dates, under `norm`."""
    words = [norm(word) for word in _WORD.findall(text)]
    speech = Speech(words)
    return frozenset(word for word in words if not (speech.is_hard(word) or speech.is_soft(word)))
