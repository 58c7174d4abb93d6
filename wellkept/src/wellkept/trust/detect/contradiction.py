"""D10: what a text says otherwise than a writer who is trusted more: another account or number, or a retraction."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from wellkept.trust.detect.lexicon import BIT
from wellkept.trust.detect.said import Hit, hits
from wellkept.trust.detect.signs import Sign
from wellkept.trust.normal import words


@dataclass(frozen=True, slots=True)
class Known:
    """What a writer who is trusted more says of somebody or something."""

    entity: str
    says: str


_CONTACTS: Mapping[str, re.Pattern[str]] = {
    "mail": re.compile(r"(?<![\w.+-])[\w.+-]++@[\w-]++(?:\.[\w-]++)+"),
    "page": re.compile(r"(?:https?://|www\.)(?:www\.)?([\w.-]{3,200})"),
    "account": re.compile(
        r"\b[A-Z]{2}\d{2}(?:[ ]?[A-Z0-9]{4}){2,7}(?:[ ]?[A-Z0-9]{1,3})?\b|\b(?:0x[0-9a-fA-F]{40}|bc1[a-z0-9]{25,60})\b"
    ),
    "phone": re.compile(r"(?<![\w.-])(?:\+|\(?0)[\d() ./-]{6,20}\d(?![\w-])"),
}
"""Where somebody can be reached or paid. Of a page its host counts."""
_NUMBER = re.compile(r"(?<![\w.,-])\d+(?:[.,:]\d+)*(?![\w-])")
_LEAST = 4
"""Shorter words tell nothing of what a sentence is about."""
_ALIKE = 2
"""So many words in common make two sentences speak of one thing."""


def contradictions(text: str, known: Sequence[Known]) -> Iterator[Sign]:
    """Signs of what the text says otherwise than is known of those whom it names; first details are none."""
    spoken = f" {' '.join(words(text))} "
    named = [(one, name) for one in known if (name := " ".join(words(one.entity))) and f" {name} " in spoken]
    told = (
        [_Told(start, end, frozenset(words(text[start:end])), does) for start, end, does in _spans(text)]
        if named
        else []
    )
    for one, name in named:
        yield from _other_contacts(text, one.says)
        yield from _other_statements(text, told, one, frozenset(name.split()))


@dataclass(frozen=True, slots=True)
class _Told:
    """A sentence: where it stands, its words, and what they do."""

    start: int
    end: int
    words: frozenset[str]
    does: int


def _other_contacts(text: str, says: str) -> Iterator[Sign]:
    for kind, pattern in _CONTACTS.items():
        theirs = {_same(kind, found) for found in pattern.finditer(says)}
        if theirs:
            for found in pattern.finditer(text):
                if _same(kind, found) not in theirs:
                    yield Sign("D10", found.start(), found.end())


def _same(kind: str, found: re.Match[str]) -> str:
    """A contact in a form that is equal for equal ones."""
    if kind == "phone":
        return re.sub(r"\D", "", found[0]).lstrip("0")[-9:]
    if kind == "page":
        return found[1].lower().rstrip(".")
    return found[0].replace(" ", "").lower()


def _other_statements(text: str, told: Sequence[_Told], known: Known, name: frozenset[str]) -> Iterator[Sign]:
    """Sentences that take back, or tell with another number, what is known."""
    subjects = {word for word in words(known.says) if len(word) >= _LEAST and word not in name}
    numbers = set(_NUMBER.findall(known.says))
    for one in told:
        about, shared = name <= one.words, len(subjects & one.words)
        if about and one.does & BIT["retract"]:
            yield Sign("D10", one.start, one.end, sure=shared >= 1)
        other = set(_NUMBER.findall(text[one.start : one.end])) if numbers and shared >= _ALIKE else set()
        if other and not numbers & other:
            yield Sign("D10", one.start, one.end, sure=about or shared > _ALIKE)


def _spans(text: str) -> Iterator[tuple[int, int, int]]:
    """Where each sentence starts and ends, and what its words do together."""
    start, does = 0, 0
    for hit in (*hits(text), Hit(BIT["end"], len(text), len(text))):
        if hit.does != BIT["end"]:
            does |= hit.does
            continue
        if hit.start > start:
            yield start, hit.start, does
        start, does = hit.end, 0
