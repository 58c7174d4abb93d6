"""What a hook injects: pointers, related pages and facts within the budget."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import exp

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellkept.model import FACT_KINDS, Budget, Fact, FactKind, Message, Provenance, TurnContext
from wellkept.recall import render, turn_context
from wellkept.recall.candidates import Seen, seen
from wellkept.recall.context import FRAGMENTS, decayed
from wellkept.storage import Store, open_store

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
Context = Callable[..., TurnContext]


def fact(text: str, session: str | None = None, **rest: object) -> Fact:
    page = f"conversations/{session}" if session else None
    return Fact(None, "default", text, None, "fact", Provenance("note", source_markdown_slug=page), **rest)  # type: ignore[arg-type]


@pytest.fixture
def context(store: Store) -> Context:
    def of(
        *turns: str,
        prior: str = "",
        session: str | None = None,
        budget: Budget | None = None,
        fragments: Collection[str] = FRAGMENTS,
    ) -> TurnContext:
        window = [Message("user", turn) for turn in turns]
        return turn_context(
            store,
            "default",
            window,
            prior=prior,
            session=session,
            budget=budget or Budget(),
            now=NOW,
            fragments=fragments,
        )

    return of


def keep(store: Store, facts: Sequence[Fact], session: str | None = None, at: datetime = NOW) -> None:
    store.put_facts("default", f"conversations/{session}" if session else None, facts, at)


@pytest.mark.req("C-353")
def test_a_context_is_its_rendered_parts(store: Store, write: Callable[..., None], context: Context) -> None:
    write("p/noor", "Noor Tavenholt", summary="Founder.")
    keep(store, [fact("Rent is 614")])
    brought = context("and Noor Tavenholt, what rent?")
    assert [pointer.slug for pointer in brought.pointers] == ["p/noor"]
    assert [one.text for one in brought.facts] == ["Rent is 614"]
    assert brought.text == render(brought.pointers, brought.volunteered, brought.facts)
    assert brought.degraded == ()
    assert brought.ms >= 0


@pytest.mark.req("C-353")
def test_nothing_to_say_is_an_empty_text(context: Context) -> None:
    assert context("hello").text == ""
    assert context().text == ""


@pytest.mark.req("C-353")
def test_only_the_fragments_asked_for_are_brought(store: Store, write: Callable[..., None], context: Context) -> None:
    write("p/noor", "Noor Tavenholt")
    keep(store, [fact("Rent is 614")])
    assert not context("Noor Tavenholt", fragments=["facts"]).pointers
    assert context("Noor Tavenholt, rent", fragments=["facts"]).facts
    assert not context("Noor Tavenholt, rent", fragments=["pointers"]).facts
    assert len(context("Noor Tavenholt", fragments=["volunteers"]).volunteered) == 1


@pytest.mark.req("C-353")
def test_facts_come_that_are_of_this_session_or_called_for_and_no_others(
    store: Store, write: Callable[..., None], context: Context
) -> None:
    write("p/noor", "Noor Tavenholt")
    keep(store, [fact("old but ours", "s1")], "s1", NOW - timedelta(days=30))
    keep(store, [fact("My dentist is Dr. Okonkwo"), fact("The kiln takes cone six")])
    keep(store, [replace(fact("Likes onions"), entity="p/noor")])
    keep(store, [fact(f"Person{number} keeps {number} marbles") for number in range(20)])
    for small_talk in ("good morning", "write a haiku", "thanks!", ""):
        assert context(small_talk).facts == ()
    assert [one.text for one in context("good morning", session="s1").facts] == ["old but ours"]
    assert [one.text for one in context("who is my dentist?").facts] == ["My dentist is Dr. Okonkwo"]
    assert [one.text for one in context("what does Noor Tavenholt eat?").facts] == ["Likes onions"]
    assert [one.text for one in context("how many marbles does Person10 keep?").facts] == ["Person10 keeps 10 marbles"]
    assert context("I lost my marbles").facts == ()


@pytest.mark.req("C-353")
def test_what_an_assistant_says_calls_for_no_fact(store: Store) -> None:
    keep(store, [fact("My dentist is Dr. Okonkwo")])
    window = [Message("assistant", "Shall I ask the dentist?")]
    assert not turn_context(store, "default", window, prior="", session=None, budget=Budget(), now=NOW).facts


@pytest.mark.req("C-353")
def test_the_best_facts_by_decayed_confidence_are_kept(store: Store, context: Context) -> None:
    keep(store, [fact(f"number {number}", "s", confidence=number / 20) for number in range(1, 16)], "s")
    brought = context("x", session="s").facts
    assert [one.text for one in brought] == [f"number {number}" for number in range(15, 5, -1)]
    assert brought[0].confidence == pytest.approx(0.75)


@pytest.mark.req("C-353")
def test_a_fact_that_the_conversation_shows_is_not_said_on_every_turn(store: Store, context: Context) -> None:
    keep(store, [fact(f"number {number} <a>", "s", confidence=number / 20) for number in range(1, 16)], "s")
    first = context("x", session="s")
    assert len(first.facts) == 10
    assert context("y", prior=f"{first.text}\n", session="s").text == ""
    assert [one.text for one in context("y", prior="- number 15 &lt;a>", session="s").facts][:2] == [
        "number 14 <a>",
        "number 13 <a>",
    ]


@pytest.mark.req("C-353")
def test_no_fact_of_another_source_or_past_its_time_is_brought(store: Store, context: Context) -> None:
    store.put_facts("team", None, [Fact(None, "team", "their rent", None, "fact", Provenance("x"))], NOW)
    over, holds = NOW - timedelta(minutes=1), NOW + timedelta(1)
    keep(store, [fact("the rent was 3", valid_until=over), fact("the rent is 4", valid_until=holds)])
    assert [one.text for one in context("what rent?").facts] == ["the rent is 4"]


@pytest.mark.req("C-353")
def test_facts_go_first_when_the_budget_is_short_and_pointers_last(
    store: Store, write: Callable[..., None], context: Context
) -> None:
    write("p/noor", "Noor Tavenholt", summary="Founder of everything.")
    write("p/ida", "Ida Kelpgrove", summary="Keeper of the books.")
    keep(store, [fact("The rent is 614 from May on")])
    whole = context("Noor Tavenholt, Ida Kelpgrove, rent", budget=Budget(pages=1))
    sizes = []
    for limit in range(len(whole.text.encode()), -1, -1):
        brought = context("Noor Tavenholt, Ida Kelpgrove, rent", budget=Budget(pages=1, bytes=limit))
        assert len(brought.text.encode()) <= limit
        assert (brought.degraded == ("budget_trimmed",)) is (brought.text != whole.text)
        sizes.append((len(brought.pointers), len(brought.volunteered), len(brought.facts)))
    assert list(dict.fromkeys(sizes)) == [(1, 1, 1), (1, 1, 0), (1, 0, 0), (0, 0, 0)]


@pytest.mark.req("C-353")
@pytest.mark.parametrize("tokens", [0, 1, 20, 40, 60, 1000])
def test_the_callers_tokens_are_kept_too(write: Callable[..., None], context: Context, tokens: int) -> None:
    write("p/noor", "Noor 🦊 Tavenholt", summary="Founder of 🦊🦊🦊.")
    text = context("Noor 🦊 Tavenholt", budget=Budget(tokens=tokens)).text
    assert -(-len(text.encode("utf-16-le")) // 2 // 4) <= tokens


@pytest.mark.req("C-353")
def test_a_store_that_fails_brings_nothing_and_says_so(store: Store) -> None:
    store.close()
    brought = turn_context(
        store, "default", [Message("user", "Noor")], prior="", session=None, budget=Budget(), now=NOW
    )
    assert brought.text == ""
    assert "facts_skipped" in brought.degraded
    assert any(code.startswith("arm_failed:") for code in brought.degraded)


@pytest.mark.req("C-354")
@pytest.mark.parametrize(
    ("kind", "life"), [("event", 7), ("commitment", 90), ("preference", 90), ("belief", 365), ("fact", 365)]
)
def test_confidence_fades_with_age_by_kind(kind: FactKind, life: float) -> None:
    old = Fact(1, "s", "x", None, kind, Provenance("n"), confidence=0.8, recorded_at=NOW - timedelta(days=life))
    assert decayed(old, NOW) == pytest.approx(0.8 * exp(-1))


@pytest.mark.req("C-354")
@given(st.sampled_from(FACT_KINDS), st.floats(0, 1), st.floats(-400, 4000))
@settings(max_examples=60, deadline=None)
def test_decay_never_raises_confidence_and_the_future_is_not_old(
    kind: FactKind, confidence: float, days: float
) -> None:
    one = Fact(1, "s", "x", None, kind, Provenance("n"), confidence=confidence, recorded_at=NOW - timedelta(days=days))
    assert 0 <= decayed(one, NOW) <= confidence
    if days <= 0:
        assert decayed(one, NOW) == confidence


@pytest.mark.req("C-354")
def test_what_no_longer_holds_has_no_confidence() -> None:
    one = fact("x", recorded_at=NOW, valid_until=NOW)
    assert decayed(one, NOW) == 0
    assert decayed(fact("x", recorded_at=NOW, status="expired"), NOW) == 0
    assert decayed(fact("x"), NOW) == 1


@pytest.mark.req("C-353")
def test_a_context_costs_a_bounded_number_of_queries(monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store("sqlite", ":memory:")
    asked: list[str] = []
    for name in ("find_names", "name_openings", "facts", "find_words", "get_page", "pages"):
        real = getattr(type(store), name)

        def counted(*args: object, _real: object = real, _name: str = name, **kw: object) -> object:
            asked.append(_name)
            return _real(*args, **kw)  # type: ignore[operator]

        monkeypatch.setattr(type(store), name, counted)
    window = [Message("user", "Noor, noor `x_y` @ida 王小明 🦊 وليلى " * 50)] * 5
    turn_context(store, "default", window, prior="", session="s", budget=Budget(), now=NOW)
    assert len(asked) <= 10
    store.close()


@pytest.mark.parametrize("words", [1, 1_500])
def test_a_turn_is_read_once_for_all_windows_that_it_stands_in(
    context: Context, monkeypatch: pytest.MonkeyPatch, words: int
) -> None:
    read: list[str] = []

    def counted(text: str) -> Seen:
        read.append(text)
        return seen(text)

    monkeypatch.setattr("wellkept.recall.context.seen", counted)
    turns = [f"Read {number} {'once ' * words}" for number in range(8)]
    for last in range(5, 9):
        context(*turns[last - 5 : last])
    assert sorted(read) == turns
