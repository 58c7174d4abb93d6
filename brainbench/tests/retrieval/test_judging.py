"""Rows, intervals and percentiles that follow from cases."""

from __future__ import annotations

from typing import Any

import pytest

from brainbench.metrics import Ratio
from brainbench.retrieval.judging import latency, row, summary, verdict
from brainbench.retrieval.results import CaseResult, digest_of


def case(
    number: int, ranked: tuple[str, ...] = ("gold",), gold: tuple[str, ...] = ("gold",), **changes: Any
) -> CaseResult:
    plain: dict[str, Any] = {
        "case_id": f"c{number % 3}/{number}",
        "slice": {"question_type": "plain"},
        "expected_ids": gold,
        "relevance_grades": dict.fromkeys(gold, 1.0),
        "ranked_ids": ranked,
        "candidates": 9,
        "latency_ms": float(number),
    }
    return CaseResult(**{**plain, **changes})


@pytest.mark.req("E-255", "E-304")
def test_all_questions_and_the_headline_stand_side_by_side_with_their_numbers():
    cases = [case(0), case(1, ()), case(2, (), left_out="abstention"), case(3, left_out="no labelled user turn")]
    headline, every = summary(cases, (5,), "official").overall
    assert (headline.name, headline.measured["hit@5"]) == ("official", Ratio(1, 2))
    assert (every.name, every.measured["hit@5"]) == ("all", Ratio(2, 4))
    assert summary(cases, (5,), "official").left_out == {"abstention": 1, "no labelled user turn": 1}


def test_a_kind_that_is_left_out_as_a_whole_is_told_over_all_it_has_and_marked():
    cases = [case(0), case(1, (), left_out="x"), case(2, slice={"question_type": "odd"}, left_out="x")]
    found = summary(cases, (5,), "official")
    assert [(r.name, r.cases) for r in found.kinds] == [("odd", 1), ("plain", 1)]
    assert [(r.name, r.cases) for r in found.kinds_of_all] == [("odd", 1), ("plain", 2)]
    assert found.kinds_left_out == ("odd",)


@pytest.mark.req("E-304")
def test_losing_cases_cannot_raise_a_score():
    good, bad = [case(n) for n in range(5)], [case(n, ()) for n in range(5, 10)]
    whole = row("all", good + bad, (5,)).measured
    broken = row("all", good + [case(n, ("gold",), error="lost") for n in range(5, 10)], (5,)).measured
    assert whole == broken
    assert whole["hit@5"] == Ratio(5, 10)


@pytest.mark.req("E-307")
def test_the_order_of_cases_changes_nothing():
    cases = [case(n, ("a", "gold")[n % 2 :], ("gold", "b")) for n in range(7)]
    assert row("all", cases, (1, 5)) == row("all", cases[::-1], (1, 5))


@pytest.mark.req("E-102")
@pytest.mark.parametrize(("errors", "judged"), [(0, "pass"), (2, "pass"), (3, "inconclusive"), (100, "inconclusive")])
def test_more_than_two_in_a_hundred_errors_are_no_measurement(errors, judged):
    cases = [case(n, error="lost" if n < errors else None) for n in range(100)]
    assert verdict(summary(cases, (5,), "official"))[0] == judged


@pytest.mark.req("E-305")
def test_percentiles_are_of_the_nearest_rank_and_few_times_have_no_p95():
    many, few = latency(range(1, 101)), latency([3.0, 1.0, 2.0])
    assert many is not None
    assert few is not None
    assert (many.p50_ms, many.p95_ms, many.max_ms) == (50, 95, 100)
    assert (few.p50_ms, few.p95_ms) == (2.0, None)
    assert latency([]) is None


def test_an_interval_of_cases_is_wilsons_and_one_of_conversations_draws_these():
    cases = [case(n, ("gold",) if n % 4 else ()) for n in range(24)]
    alone = summary(cases, (5,), "official").intervals["hit@5"]
    together = summary(cases, (5,), "official", clusters=True).intervals["hit@5"]
    assert alone.method == "Wilson"
    assert alone.low < 0.75 < alone.high
    assert alone.mde is not None
    assert together.method == "bootstrap over 3 conversations"
    assert together.mde is None


def test_no_case_is_no_summary_and_the_digest_is_of_what_was_found():
    with pytest.raises(ValueError, match="no case"):
        summary([], (5,), "official")
    assert digest_of([case(0)]) == digest_of([case(0, latency_ms=99.0)]) != digest_of([case(0, ())])
