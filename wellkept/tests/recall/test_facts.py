"""Which facts answer a query."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from wellkept.model import Fact, Provenance
from wellkept.recall import rank_facts

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
