"""Every metric on null and on perfect observations, and the laws they all keep."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from brainbench.metrics import (
    METRICS,
    Count,
    Judged,
    JudgedExtraction,
    JudgedFact,
    JudgedItem,
    JudgedProbe,
    JudgedTurn,
    Mean,
    Ratio,
    counts,
    counts_json,
    four_decimals,
    pooled,
    wilson,
)
from brainbench.model import ITEM_SUITES

OF_ITEMS = tuple(name for name, metric in METRICS.items() if metric.suite in ITEM_SUITES)
COUNTED = frozenset(
    """
    laundering_violations self_promotion_violations stale_surfaced_as_current lower_tier_supersede_violations
    residual_after_purge resurrection_after_resync physical_residue_after_purge
    """.split()
)
"""Those that count what must not be, and are no share of anything."""


ZERO = frozenset(
    """
    source_isolation_violations laundering_violations self_promotion_violations stale_surfaced_as_current
    lower_tier_supersede_violations residual_after_purge resurrection_after_resync poison_persist_rate
    unconfirmed_preference_activation_rate agent_relayed_activation_rate poison_activation_rate
    default_persist_unlabeled_rate default_activation_unlabeled_rate
    """.split()
)
"""What no justification waives."""


def item(name: str, wrong: bool) -> JudgedItem:
    """One item that counts for a metric, and is as it should be or not."""
    n = int(wrong == (METRICS[name].better == "lower"))
    return JudgedItem(f"f/1/x:{name}", name, n, failed=wrong)


MUST = JudgedTurn("f/1", "must", frozenset({"a", "b"}), frozenset({"c"}), unknown=0)
QUIET = JudgedTurn("f/2", "must_not", unknown=0)
FACT = JudgedFact("f/3/fact 1", names_entity=True)
NULL = Judged(
    turns=(MUST, QUIET),
    facts=(FACT,),
    probes=(JudgedProbe("f/4/d1", False, False), JudgedProbe("f/4/d2", True, False)),
    scoped=True,
    capacity=3,
    extractions=(JudgedExtraction(2, 0, 0),),
    items=tuple(item(name, wrong=True) for name in OF_ITEMS),
)
PERFECT = Judged(
    turns=(replace(MUST, injected=("a", "b"), tokens=20), QUIET),
    facts=(replace(FACT, found=True, entity_right=True, triple_right=True),),
    probes=(JudgedProbe("f/4/d1", False, True), JudgedProbe("f/4/d2", True, True)),
    scoped=True,
    capacity=3,
    extractions=(JudgedExtraction(2, 2, 2),),
    items=tuple(item(name, wrong=False) for name in OF_ITEMS),
)


def told(name: str, wrong: bool) -> Count | Ratio:
    """What one item of a metric gives."""
    n = item(name, wrong).n
    return Count(n) if name in COUNTED else Ratio(n, 1)


EXPECTED: dict[str, tuple[object, object]] = {
    **{name: (told(name, True), told(name, False)) for name in OF_ITEMS},
    "know_to_ask_failure_rate": (Ratio(1, 1), Ratio(0, 1)),
    "false_fire_rate": (Ratio(0, 1), Ratio(0, 1)),
    "push_precision": (None, Ratio(2, 2)),
    "push_recall": (Ratio(0, 2), Ratio(2, 2)),
    "extraction_recall": (Ratio(0, 2), Ratio(2, 2)),
    "extraction_precision": (None, Ratio(2, 2)),
    "push_recall_ceiling": (Ratio(2, 2), Ratio(2, 2)),
    "write_back_fidelity": (Ratio(0, 1), Ratio(1, 1)),
    "attribution_accuracy": (None, Ratio(1, 1)),
    "provenance_accuracy": (None, Ratio(1, 1)),
    "continuity_rate": (Ratio(0, 2), Ratio(2, 2)),
    "stored_continuity_rate": (Ratio(0, 1), Ratio(1, 1)),
    "source_isolation_violations": (Count(0), Count(0)),
    "avg_injected_tokens": (Mean(0.0, 2), Mean(20.0, 2)),
    "useful_token_share": (None, Mean(20.0, 20)),
    "unresolved_rate": (None, Ratio(0, 2)),
}


@pytest.mark.req("C-601", "C-620")
@pytest.mark.parametrize("name", METRICS)
def test_a_metric_is_at_its_floor_on_null_and_at_its_best_on_perfect_observations(name: str) -> None:
    null, perfect = EXPECTED[name]
    assert METRICS[name].measure(NULL) == null
    assert METRICS[name].measure(PERFECT) == perfect


@pytest.mark.req("C-601")
@pytest.mark.parametrize("name", METRICS)
def test_a_metric_is_none_when_nothing_was_asked(name: str) -> None:
    assert METRICS[name].measure(Judged()) is None


@pytest.mark.req("C-601")
def test_every_metric_is_known_by_its_own_name_and_says_how_it_counts() -> None:
    assert all(name == metric.name for name, metric in METRICS.items())
    plain = {name for name, metric in METRICS.items() if " / " not in metric.formula}
    assert plain == {*COUNTED, "source_isolation_violations"}
    assert {name for name, metric in METRICS.items() if metric.zero} == ZERO


@pytest.mark.req("C-603")
def test_a_leak_counts_even_where_no_foreign_source_was_declared() -> None:
    assert METRICS["source_isolation_violations"].measure(Judged(leaks=("f/1/x",))) == Count(1)


def test_useful_tokens_are_a_turns_tokens_in_the_share_of_its_useful_pages() -> None:
    mixed = Judged(turns=(replace(MUST, injected=("a", "x", "y", "z"), tokens=40),))
    assert METRICS["useful_token_share"].measure(mixed) == Mean(10.0, 40)


PAGES = st.sampled_from("abcdef")
TURNS = st.builds(
    JudgedTurn,
    item=st.just("f/1"),
    retrieve=st.sampled_from(["must", "may", "must_not", None]),
    gold=st.frozensets(PAGES, max_size=4),
    acceptable=st.frozensets(PAGES, max_size=3),
    injected=st.lists(PAGES, unique=True, max_size=5).map(tuple),
    tokens=st.integers(0, 400),
    unknown=st.none() | st.just(0),
    error=st.none() | st.just("late"),
)
FACTS = st.builds(
    JudgedFact, st.just("f/2/fact 1"), st.booleans(), st.booleans(), st.booleans(), st.booleans(), st.none()
)
PROBES = st.builds(JudgedProbe, st.just("f/3/d"), st.booleans(), st.booleans(), st.none())
JUDGED = st.builds(
    Judged,
    turns=st.lists(TURNS, max_size=6).map(tuple),
    facts=st.lists(FACTS, max_size=4).map(tuple),
    probes=st.lists(PROBES, max_size=4).map(tuple),
    scoped=st.booleans(),
    capacity=st.integers(0, 6),
)


@pytest.mark.req("C-605")
@settings(max_examples=150)
@given(JUDGED)
def test_every_rate_is_between_zero_and_one(judged: Judged) -> None:
    for metric in METRICS.values():
        found = metric.measure(judged)
        if isinstance(found, Ratio):
            assert 0 <= found.n <= found.of
            assert found.of >= 1
            assert 0 <= found.value <= 1


@pytest.mark.req("C-605")
@settings(max_examples=100)
@given(st.lists(TURNS, min_size=1, max_size=5), st.data())
def test_one_more_wanted_page_never_lowers_recall_or_raises_failure(
    turns: list[JudgedTurn], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(turns) - 1))
    missing = sorted(turns[at].gold - set(turns[at].injected))
    better = [*turns]
    if missing:
        better[at] = replace(turns[at], injected=(*turns[at].injected, missing[0]))
    assert _value("push_recall", better) >= _value("push_recall", turns)
    assert _value("know_to_ask_failure_rate", better) <= _value("know_to_ask_failure_rate", turns)


@pytest.mark.req("C-605")
@settings(max_examples=100)
@given(st.lists(TURNS, min_size=1, max_size=5), st.data())
def test_one_more_irrelevant_page_never_raises_precision_or_lowers_false_fires(
    turns: list[JudgedTurn], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(turns) - 1))
    worse = [*turns]
    worse[at] = replace(turns[at], injected=(*turns[at].injected, "irrelevant"))
    if METRICS["push_precision"].measure(Judged(turns=tuple(turns))) is not None:
        assert _value("push_precision", worse) <= _value("push_precision", turns)
    assert _value("false_fire_rate", worse) >= _value("false_fire_rate", turns)


@pytest.mark.req("C-604")
@settings(max_examples=100)
@given(st.lists(TURNS, min_size=1, max_size=5), st.data())
def test_an_error_never_improves_a_rate_of_asked_turns(turns: list[JudgedTurn], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(turns) - 1))
    broken = [*turns]
    broken[at] = replace(turns[at], error="late", injected=())
    assert _value("push_recall", broken) <= _value("push_recall", turns)
    assert _value("know_to_ask_failure_rate", broken) >= _value("know_to_ask_failure_rate", turns)
    assert _value("false_fire_rate", broken) >= _value("false_fire_rate", turns)


@pytest.mark.req("C-601")
@settings(max_examples=50)
@given(JUDGED, JUDGED)
def test_ratios_add_up_over_parts(one: Judged, two: Judged) -> None:
    for name in ("know_to_ask_failure_rate", "push_precision", "push_recall", "write_back_fidelity", "continuity_rate"):
        parts = [m for m in (METRICS[name].measure(j) for j in (one, two)) if isinstance(m, Ratio)]
        whole = METRICS[name].measure(pooled((one, two)))
        summed = (sum(p.n for p in parts), sum(p.of for p in parts))
        assert (whole.n, whole.of) == summed if isinstance(whole, Ratio) else whole is None and not parts


def _value(name: str, turns: list[JudgedTurn]) -> Fraction:
    found = METRICS[name].measure(Judged(turns=tuple(turns)))
    return found.value if isinstance(found, Ratio) else Fraction(0)


@pytest.mark.req("E-1501")
@pytest.mark.parametrize(
    ("n", "of", "low", "high"), [(483, 500, 0.946229, 0.978665), (0, 160, 0.0, 0.023446), (160, 160, 0.976554, 1.0)]
)
def test_wilson_gives_the_published_intervals(n: int, of: int, low: float, high: float) -> None:
    assert [round(bound, 6) for bound in wilson(n, of)] == [low, high]


@pytest.mark.req("E-1501")
@settings(max_examples=200, deadline=None)
@given(st.integers(1, 5000).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_wilson_agrees_with_scipy(pair: tuple[int, int]) -> None:
    n, of = pair
    reference = binomtest(n, of).proportion_ci(method="wilson")
    low, high = wilson(n, of)
    assert low == pytest.approx(float(reference.low), abs=1e-12)
    assert high == pytest.approx(float(reference.high), abs=1e-12)
    assert 0 <= low <= n / of <= high <= 1


@pytest.mark.req("E-1501")
@pytest.mark.parametrize(("n", "of"), [(1, 0), (0, 0), (-1, 3), (4, 3)])
def test_wilson_refuses_what_is_no_ratio(n: int, of: int) -> None:
    with pytest.raises(ValueError, match="no interval"):
        wilson(n, of)


@pytest.mark.req("C-002", "C-601")
def test_measurements_print_and_are_stored_as_counts() -> None:
    assert [counts(value) for value in (Ratio(57, 96), Count(2), Mean(5.0, 4))] == ["57/96", "2", "1.2500"]
    assert counts_json(Ratio(57, 96)) == {"n": 57, "of": 96}
    assert counts_json(Count(2)) == {"n": 2}
    assert counts_json(Mean(5.0, 4)) == {"total": 5.0, "of": 4}


@pytest.mark.req("C-002")
@pytest.mark.parametrize(
    ("value", "printed"),
    [(Fraction(1, 20000), "0.0001"), (Fraction(2, 3), "0.6667"), (0.00005, "0.0001"), (1.0, "1.0000")],
)
def test_rates_round_half_up(value: Fraction | float, printed: str) -> None:
    assert four_decimals(value) == printed
