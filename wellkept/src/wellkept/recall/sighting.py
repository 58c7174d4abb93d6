"""The value that passes from reading a turn to looking names up."""

from __future__ import annotations

from typing import Literal, NamedTuple

Shape = Literal["name", "handle", "code", "word", "phrase", "uncased", "hangul", "glued", "emoji"]


class Sighting(NamedTuple):
    """A stretch of text that may name a page.

    `query` is its key under `norm`; `weak` says that its spelling alone is no sign of a name; `start` and `end` are
    characters of the text; of several readings of one stretch the lower `variant` is the more literal, and an
    `inflected` one takes a case ending off. `excludes` are the types of page that cannot be meant in such a place.
    `initial` is the letter that the first name of whoever is meant begins with, under `fold`; "" where none is written.
    """

    display: str
    query: str
    weak: bool
    start: int
    end: int
    shape: Shape
    mid: bool = False
    single: bool = False
    variant: int = 0
    inflected: bool = False
    excludes: frozenset[str] = frozenset()
    initial: str = ""
