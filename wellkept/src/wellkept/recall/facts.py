"""Which facts answer a query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from wellkept.model import Fact
from wellkept.names import fold
from wellkept.recall.asked import content_words

_LONG_AGO = datetime(1, 1, 1, tzinfo=UTC)


def rank_facts(facts: Iterable[Fact], query: str, limit: int) -> tuple[Fact, ...]:
    """The `limit` facts that fit the query best.

    A fact counts for each content word of the query that stands in its text, entity or mention, accents aside. Equal
    ones come newest first, then by id; those without any match come last, newest first.
    """
    wanted = [fold(word) for word in content_words(query)]
    scored = [(-_matches(fact, wanted), _oldness(fact), fact.id if fact.id is not None else 0, fact) for fact in facts]
    scored.sort(key=lambda row: row[:3])
    return tuple(fact for *_, fact in scored[: max(0, limit)])


def _matches(fact: Fact, wanted: Sequence[str]) -> int:
    text = fold(" ".join((fact.text, fact.mention or "", fact.entity or "")))
    words = set(content_words(text))
    return sum(1 for word in wanted if word in words or (not word.isascii() and word in text))


def _oldness(fact: Fact) -> float:
    when = fact.recorded_at or fact.valid_from or _LONG_AGO
    return -(when - _LONG_AGO).total_seconds()
