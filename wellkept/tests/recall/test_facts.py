"""Which facts answer a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellkept.model import Fact, Item, Mark, Provenance
from wellkept.names import fold
from wellkept.recall import fitting_facts, rank_facts
from wellkept.recall.asked import content_words
from wellkept.recall.facts import _matches
from wellkept.storage import Store
from wellkept.storage.sqlite import SqliteStore

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def fact(number: int, text: str, entity: str | None = None, mention: str | None = None, days: int = 0) -> Fact:
    when = NOW - timedelta(days=days)
    return Fact(number, "default", text, entity, "fact", Provenance("note"), mention=mention, recorded_at=when)


def test_more_matching_words_come_first_then_newer_then_lower_ids() -> None:
    facts = [
        fact(1, "The studio is dry", days=1),
        fact(2, "Rent of the studio is 614", days=9),
        fact(3, "The kiln is loud", days=0),
        fact(4, "The studio has north light", days=1),
        fact(5, "Nothing at all", days=2),
    ]
    assert [one.id for one in rank_facts(facts, "what is the rent for the studio", 9)] == [2, 1, 4, 3, 5]
    assert [one.id for one in rank_facts(facts, "what is the rent for the studio", 2)] == [2, 1]
    assert rank_facts(facts, "rent", 0) == ()


def test_entity_and_mention_count_and_accents_do_not() -> None:
    facts = [fact(1, "Prefers tea"), fact(2, "Prefers tea", entity="people/jose-garcia"), fact(3, "x", mention="José")]
    assert [one.id for one in rank_facts(facts, "josé", 3)] == [2, 3, 1]
    assert [one.id for one in rank_facts([fact(1, "x"), fact(2, "他喜欢喝茶")], "喝茶", 1)] == [2]


@given(st.text(st.characters(codec=None), max_size=60))
@settings(max_examples=60, deadline=None)
def test_the_order_given_never_matters(query: str) -> None:
    facts = [fact(1, "kiln and glaze"), fact(2, "kiln"), fact(3, query)]
    first = rank_facts(facts, query, 3)
    assert all(rank_facts(order, query, 3) == first for order in permutations(facts))


def kept(store: Store, *facts: Fact) -> tuple[Fact, ...]:
    store.put_facts("default", None, [replace(one, id=None) for one in facts], NOW)
    return store.facts("default")


def scanned(facts: Sequence[Fact], query: str, limit: int) -> list[int | None]:
    """What looking at every fact finds."""
    words = [fold(word) for word in content_words(query)]
    fitting = [one for one in facts if _matches(one, words)]
    return [one.id for one in rank_facts(fitting, query, limit)]


WORDS = st.sampled_from(
    [
        "kiln",
        "kilns",
        "Kiln's",
        "o'brien",
        "José",
        "jose",
        "книга",
        "аудиокниги",
        "الكتاب",
        "كتاب",
        "予算案",
        "予算",
        "책을",
    ]
)
SAYINGS = st.lists(WORDS, min_size=1, max_size=5).map(" ".join)


@given(st.lists(st.tuples(SAYINGS, st.sampled_from([None, "kiln", "予算"])), max_size=12), SAYINGS, st.integers(0, 4))
@settings(max_examples=80, deadline=None)
def test_the_index_finds_what_looking_at_every_fact_finds(
    said: list[tuple[str, str | None]], query: str, limit: int
) -> None:
    store = SqliteStore(":memory:")
    facts = kept(store, *(fact(0, text, about, days=place % 3) for place, (text, about) in enumerate(said)))
    assert [one.id for one in fitting_facts(store, "default", query, limit)] == scanned(facts, query, limit)
    about = fitting_facts(store, "default", query, limit, entity="kiln")
    assert [one.id for one in about] == scanned([one for one in facts if one.entity == "kiln"], query, limit)
    store.close()


def test_facts_that_only_seemed_to_fit_hide_none_that_do() -> None:
    store = SqliteStore(":memory:")
    # The index cuts the endings off, so that it takes every one of these for a kiln.
    others = [fact(0, f"kilning {number}") for number in range(400)]
    kept(store, *others, fact(0, "the old kiln", days=9))
    assert [one.text for one in fitting_facts(store, "default", "kiln", 1)] == ["the old kiln"]


def test_few_of_many_facts_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    store = SqliteStore(":memory:")
    kept(store, *(fact(0, f"kiln {number}", days=number) for number in range(900)))
    read: list[int] = []
    real = store.facts_saying

    def counted(*args: object, **how: object) -> tuple[tuple[int, Fact], ...]:
        found = real(*args, **how)  # type: ignore[arg-type]
        read.append(len(found))
        return found

    monkeypatch.setattr(store, "facts_saying", counted)
    assert [one.text for one in fitting_facts(store, "default", "the kiln", 2)] == ["kiln 0", "kiln 1"]
    assert sum(read) < 100


def test_a_fact_is_found_by_what_it_says_now_and_not_when_it_was_ended() -> None:
    store = SqliteStore(":memory:")
    (one,) = kept(store, fact(0, "Kiln", mention="oven"))
    store.put_facts("default", None, [replace(one, id=None, mention="stove")], NOW)
    assert [len(fitting_facts(store, "default", word, 9)) for word in ("oven", "stove")] == [0, 1]
    store.mark("default", Item("fact", str(one.id)), Mark("expired", "stale", NOW, "expired"))
    assert fitting_facts(store, "default", "stove", 9) == ()
    assert len(fitting_facts(store, "default", "stove", 9, ended=True)) == 1
    assert fitting_facts(store, "default", "stove", 9, ended=True, among=lambda _: False) == ()
    store.reset()
    assert fitting_facts(store, "default", "stove", 9, ended=True) == ()
