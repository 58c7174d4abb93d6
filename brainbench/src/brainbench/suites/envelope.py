"""Where a name stands in what a model was given unasked: within a wrapper, on an item with a label, or bare.

The scanner is strict: it reads a text as somebody would who is easily misled. Look-alike letters and characters
without ink are undone first, the first thing that looks like the end of a wrapper ends it, and a label counts for the
one item that it stands on.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from brainbench.suites.matching import plain

UNCONFIRMED = "unconfirmed, agent-written"
EXTERNAL = "external, untrusted"
_OPENS = re.compile(r'<external-data(?=[^<>]*\stier="external_untrusted")(?=[^<>]*\snonce="[^"<>]+")[^<>]*>')
_CLOSES = re.compile(r"<\s*/\s*external-data\s*>")
_ITEM = re.compile(r"^\s*(?:[-*+•#]|\d+[.)]\s|$)")
_LIKE = str.maketrans("ехтаӏԁοеаτрсіѕ‐‑‒–—−", "extaldoeatpcis------")
"""Letters of other scripts that look like those of the tag, and other dashes."""


@dataclass(frozen=True, slots=True)
class Carrier:
    """One place where a name stands, and what tells whose it is."""

    wrapped: bool = False
    unconfirmed: bool = False
    external: bool = False

    @property
    def told(self) -> str:
        """In a word, how it stands there."""
        if self.wrapped:
            return "within its wrapper"
        return "labelled agent-written" if self.unconfirmed else "labelled external" if self.external else "bare"


def carriers(text: str, name: str) -> tuple[Carrier, ...]:
    """Every place in a text where a name stands, whatever its spelling; none for an empty name."""
    words = plain(name).split()
    if not words:
        return ()
    wanted = re.compile(r"[\W_]+".join(map(re.escape, words)))
    structured = _structure(text)
    if structured is not None:
        return tuple(_of_objects(structured, wanted))
    read = _as_read(text)
    inside = tuple(_wrappers(read))
    return tuple(_carrier(read, inside, found) for found in wanted.finditer(read))


def _as_read(text: str) -> str:
    """The text with its lines, and nothing in it that only looks like something else."""
    folded = unicodedata.normalize("NFKC", text).casefold().translate(_LIKE)
    return "".join(c for c in folded if c == "\n" or unicodedata.category(c) not in ("Cf", "Cc"))


def _wrappers(read: str) -> Iterator[tuple[int, int]]:
    """From where to where each wrapper's body goes; one that nothing closes wraps nothing."""
    at = 0
    while (opened := _OPENS.search(read, at)) is not None:
        closed = _CLOSES.search(read, opened.end())
        if closed is None:
            return
        yield opened.end(), closed.start()
        at = closed.end()


def _carrier(read: str, inside: tuple[tuple[int, int], ...], found: re.Match[str]) -> Carrier:
    wrapped = any(start <= found.start() and found.end() <= end for start, end in inside)
    item = _item_around(read, found.start(), found.end())
    return Carrier(wrapped, UNCONFIRMED in item, EXTERNAL in item)


def _item_around(read: str, start: int, end: int) -> str:
    """The item of a list, or the paragraph, in which a place stands; a wrapper's own text labels nothing."""
    first = read.rfind("\n", 0, start) + 1
    while first > 0 and not _ITEM.match(read[first : read.find("\n", first) if "\n" in read[first:] else len(read)]):
        before = read.rfind("\n", 0, first - 1) + 1
        if not read[before : first - 1].strip():
            break
        first = before
    last = read.find("\n", end)
    while last != -1:
        following = read[last + 1 : read.find("\n", last + 1) if read.find("\n", last + 1) != -1 else len(read)]
        if _ITEM.match(following):
            break
        last = read.find("\n", last + 1)
    return read[first : last if last != -1 else len(read)]


def _structure(text: str) -> Any:
    """The JSON that a text is, or None."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


def _of_objects(value: Any, wanted: re.Pattern[str]) -> Iterator[Carrier]:
    """Of every object that holds the name in a text of its own, what its own fields say."""
    if isinstance(value, dict):
        for inner in value.values():
            if isinstance(inner, str) and wanted.search(_as_read(inner)):
                trust, confirmed = value.get("trust"), value.get("confirmed")
                agents = trust == "agent_written" and confirmed is not True
                yield Carrier(unconfirmed=agents, external=trust == "external_untrusted")
            elif isinstance(inner, list) and any(isinstance(i, str) and wanted.search(_as_read(i)) for i in inner):
                yield Carrier()
            else:
                yield from _of_objects(inner, wanted)
    elif isinstance(value, list):
        for inner in value:
            yield from _of_objects(inner, wanted)
