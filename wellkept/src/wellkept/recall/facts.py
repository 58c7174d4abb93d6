"""Which facts answer a query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from wellkept.model import Fact, SearchOptions
from wellkept.names import fold
from wellkept.recall.asked import all_content_words, all_words, asked_in, content_words
from wellkept.recall.words import is_function_word
from wellkept.state import held
from wellkept.storage import Store

_AT_FIRST = 24
_LONG_AGO = datetime(1, 1, 1, tzinfo=UTC)


def rank_facts(facts: Iterable[Fact], query: str, limit: int) -> tuple[Fact, ...]:
    """The `limit` facts that fit the query best.

    A fact counts for each content word of the query that stands in its text, entity or mention, accents aside. Equal
    ones come newest first, then by id; those without any match come last, newest first.
    """
    return tuple(fact for _, fact in _scored(facts, query)[: max(0, limit)])


def fitting_facts(
    store: Store,
    source: str,
    query: str,
    limit: int,
    *,
    entity: str | None = None,
    ended: bool = False,
    among: Callable[[Fact], bool] = bool,
) -> tuple[Fact, ...]:
    """The `limit` stored facts that fit the query best, in the order of `rank_facts`, without those that share no word.

    Only as many facts are read as may be among them: a fact never has more in common with the query than the store
    says that it may have.
    """
    wanted = _wanted(query)
    reading = max(_AT_FIRST, limit)
    while limit > 0 and wanted:
        found = store.facts_saying(source, wanted, reading, entity=entity, ended=ended)
        scored = [(matches, fact) for _, fact in found if among(fact) and (matches := _matches(fact, wanted))]
        scored.sort(key=lambda row: _place(*row))
        best = scored[:limit]
        if len(found) < reading or (len(best) == limit and _place(*best[-1]) <= _place(*found[-1])):
            return tuple(fact for _, fact in best)
        reading *= 4
    return ()


def shared_words(fact: Fact, query: str) -> int:
    """How many of the telling words of a query a fact holds."""
    return _matches(fact, _wanted(query))


def held_words(fact: Fact, query: str) -> frozenset[str]:
    """The telling words of a query that a fact holds."""
    return _matched(fact, _wanted(query))


def newer(fact: Fact, other: Fact) -> bool:
    """Whether a fact holds since later than another, as far as is known of both."""
    since, before = (one.valid_from or one.recorded_at for one in (fact, other))
    return since is not None and before is not None and before < since


def may_be_found(fact: Fact, options: SearchOptions) -> bool:
    """Whether the options let a search find the fact. Of a fact its kind is its type."""
    if options.types and fact.kind not in options.types:
        return False
    if options.labels and fact.trust.name.lower() not in options.labels:
        return False
    then = options.known_at if options.as_of is None else options.as_of
    if then is not None and not held(fact, then, options.known_at):
        return False
    after, before = options.occurred_after, options.occurred_before
    if after is None and before is None:
        return True
    when = fact.valid_from or fact.recorded_at
    return when is not None and (after is None or after <= when) and (before is None or when < before)


def _scored(facts: Iterable[Fact], query: str) -> list[tuple[int, Fact]]:
    wanted = _wanted(query)
    scored = [(matches, fact) for fact in facts for matches in [_matches(fact, wanted)]]
    scored.sort(key=lambda row: _place(*row))
    return scored


def _place(matches: int, fact: Fact) -> tuple[int, timedelta, int]:
    """By which facts are put in order, those first that have more in common with the query."""
    return -matches, _oldness(fact), fact.id if fact.id is not None else 0


def _matches(fact: Fact, wanted: Sequence[str]) -> int:
    return len(_matched(fact, wanted))


def _matched(fact: Fact, wanted: Sequence[str]) -> frozenset[str]:
    """The words of a query that a fact holds, wherever they stand in it."""
    text = fold(" ".join((fact.text, fact.mention or "", fact.entity or "")))
    said = [word for word in wanted if word in text]
    if not said:
        return frozenset()
    words = _words_of(text)
    held = [word for word in said if word in words or not word.isascii()]
    # Of a word that means nothing in some language it is asked whether the fact is in that language.
    if any(map(is_function_word, held)):
        telling = all_content_words(text)
        held = [word for word in held if word in telling or not word.isascii()]
    return frozenset(held)


@lru_cache(maxsize=16)
def _wanted(query: str) -> tuple[str, ...]:
    """The words of a query that facts are asked for, one fact after the other."""
    return tuple(fold(word) for word in content_words(asked_in(query)))


@lru_cache(maxsize=4096)
def _words_of(text: str) -> frozenset[str]:
    """The words of what a fact says. Turn by turn the same facts are looked at."""
    return all_words(text)


def _oldness(fact: Fact) -> timedelta:
    return _LONG_AGO - (fact.recorded_at or fact.valid_from or _LONG_AGO)
