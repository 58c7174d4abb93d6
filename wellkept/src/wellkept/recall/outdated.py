"""Which pieces of pages still say what somebody said is so no longer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import regex  # type: ignore[import-untyped]

from wellkept.model import Fact, Trust
from wellkept.recall.asked import all_content_words
from wellkept.sentences import sentences
from wellkept.state import CLOSING_MARKS, DECLINED, is_current, saying, spellings, standing
from wellkept.storage import Store
from wellkept.trust.normal import words

_MARKS = regex.compile(r"^\s*(?:[-*+•#>|]+|\d{1,3}[.)]|\[[ x]\])\s+")


@dataclass(frozen=True, slots=True)
class Piece:
    """What a page says somewhere: its slug, the words, and who wrote it."""

    slug: str
    text: str
    trust: Trust


@dataclass(frozen=True, slots=True)
class Outdated:
    """The claim that a piece still makes, the fact that is so now, if any took its place, and the sentences."""

    claim: Fact
    successor: int | None
    said: tuple[str, ...]

    @property
    def superseded_by(self) -> str | None:
        """The id of the fact that is so now."""
        return None if self.successor is None else f"fact:{self.successor}"

    def struck(self, text: str) -> str:
        """The text with a word on what is so now in place of what is not; "" when it says nothing else."""
        mark = "[no longer so]" if self.successor is None else f"[superseded by fact:{self.successor}]"
        rest = text
        for sentence in self.said:
            rest = rest.replace(sentence, "")
            text = text.replace(sentence, mark)
        return text if words(rest) else ""


def outdated(store: Store, source: str, pieces: Sequence[Piece], now: datetime) -> tuple[Outdated | None, ...]:
    """For each piece what it says that is so no longer, or None.

    A sentence or line says it in the same words as a fact that somebody ended; in the conversation or page where the
    fact was told, also one that holds what the fact had and its successor has not. A fact ends nothing in what somebody
    of a higher tier wrote, and what is told by a current fact is current.
    """
    if not pieces or not store.has_ended(source):
        return (None,) * len(pieces)
    said = [tuple(_sentences(piece.text)) for piece in pieces]
    every = {spelling for units in said for unit in units for spelling in spellings(unit, CLOSING_MARKS)}
    told = store.facts_told(source, sorted(every))
    claims: dict[tuple[str, ...], list[Fact]] = {}
    for fact in told:
        claims.setdefault(words(fact.text), []).append(fact)
    linked = {slug: _ended(store, source, slug, now) for slug in dict.fromkeys(piece.slug for piece in pieces)}
    return tuple(
        _found(store, piece, units, claims, linked[piece.slug], now) for piece, units in zip(pieces, said, strict=True)
    )


def _sentences(text: str) -> Iterator[str]:
    """Each line and each sentence, without what marks a list or heading."""
    for line in text.splitlines():
        bare = _MARKS.sub("", line).strip()
        if bare:
            yield bare
            yield from (sentence for sentence in sentences(bare) if sentence != bare)


def _ended(store: Store, source: str, slug: str, now: datetime) -> list[Fact]:
    return [fact for fact in store.facts(source, told_in=slug, ended=True) if _is_over(fact, now)]


def _is_over(fact: Fact, now: datetime) -> bool:
    """Whether somebody said that it is so no longer, or its own end has come. A pending one never was so."""
    status = standing(fact, now)
    if status == "pending" or fact.ended_because == DECLINED:
        return status == "pending"
    return status != "active" and (fact.ended_because is not None or fact.status == "active")


def _found(
    store: Store,
    piece: Piece,
    units: Sequence[str],
    claims: dict[tuple[str, ...], list[Fact]],
    linked: Sequence[Fact],
    now: datetime,
) -> Outdated | None:
    for unit in units:
        plain = words(unit)
        for fact in claims.get(plain, ()):
            if _is_over(fact, now) and not _still_told(fact, claims[plain], now) and _may_end(store, fact, piece):
                return Outdated(fact, fact.superseded_by, tuple(one for one in units if words(one) == plain))
    for fact in linked:
        telling = _telling(store, fact)
        carrying = tuple(one for one in units if telling and telling <= all_content_words(one))
        if carrying and not _still_told(fact, saying(store, fact), now) and _may_end(store, fact, piece):
            shortest = tuple(one for one in carrying if not any(other != one and other in one for other in carrying))
            return Outdated(fact, fact.superseded_by, shortest)
    return None


def _still_told(fact: Fact, told: Sequence[Fact], now: datetime) -> bool:
    """Whether another fact says the same of the same, and is current."""
    return any(is_current(one, now) and (fact.entity is None or one.entity in (None, fact.entity)) for one in told)


def _telling(store: Store, fact: Fact) -> frozenset[str]:
    """What the fact says by its words, and its successor does not."""
    said = all_content_words(fact.text)
    later = None if fact.superseded_by is None else store.fact(fact.source, fact.superseded_by)
    return said if later is None else (said - all_content_words(later.text) or said)


def _may_end(store: Store, fact: Fact, piece: Piece) -> bool:
    """Whether whoever ended the fact ranks as high as who wrote the piece."""
    named = fact.replaces if fact.status == "pending" else fact.superseded_by
    other = None if named is None else store.fact(fact.source, named)
    if fact.status == "pending":
        return other is not None and piece.trust < other.trust
    tier = max(fact.trust, fact.trust if other is None else other.trust)
    return min(piece.trust, Trust.USER_WRITTEN) <= tier
