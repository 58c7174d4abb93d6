from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainbench.queries.files import Thresholds
from brainbench.queries.judging import correctness, regression, trusted
from brainbench.queries.qrels import Correctness, Judged, Qrel
from brainbench.queries.replaying import Asked, Replay

from .conftest import row


def answered(*alike: bool, latency_ms: float = 2.0, errors: int = 0) -> Replay:
    """Rows that brought their page again or lost it, and rows that ended in an error."""
    asked = [Asked(row(f"q{n}", ["a"]), ("a",) if same else ("z",), latency_ms) for n, same in enumerate(alike)]
    asked += [Asked(row(f"e{n}", ["a"]), error="boom") for n in range(errors)]
    return Replay(len(asked), tuple(asked))


def judged(*right: bool, first: bool | None = None, errors: int = 0) -> Correctness:
    page = ("default", "a")
    wanted = Qrel("q", "q", (page,), None if first is None else page)
    found = [Judged(wanted, (page,) if good else ()) for good in right]
    return Correctness(10, (*found, *(Judged(wanted, error="boom") for _ in range(errors))))


@pytest.mark.req("C-904")
def test_a_rate_at_its_threshold_passes_and_one_below_fails() -> None:
    limits = Thresholds(jaccard=0.85, top1=0.85)
    assert regression(answered(*[True] * 17, *[False] * 3), limits).verdict == "pass"
    below = regression(answered(*[True] * 16, *[False] * 4), limits)
    assert (below.verdict, below.exit_code) == ("fail", 1)
    assert below.lines() == (
        "brainbench: fail: threshold: mean_jaccard 0.8000 of 20 rows is below 0.85",
        "brainbench: fail: threshold: top1_stability_rate 16/20 (0.8000) is below 0.85",
    )


@pytest.mark.req("C-904")
def test_latency_is_noted_and_fails_only_where_it_blocks() -> None:
    slow = answered(True, latency_ms=4.1)
    noted = regression(slow, Thresholds())
    assert noted.verdict == "pass"
    assert "2.05 times the 2.0 ms" in noted.notes[0]
    assert regression(slow, Thresholds(), latency_blocks=True).verdict == "fail"
    assert regression(answered(True, latency_ms=4.0), Thresholds(), latency_blocks=True).verdict == "pass"
    assert regression(slow, Thresholds(latency_multiplier=3.0), latency_blocks=True).verdict == "pass"


@pytest.mark.req("C-903", "C-904")
def test_rows_that_never_found_a_page_prove_nothing_and_are_told_apart() -> None:
    empty = tuple(Asked(row(f"n{n}", [])) for n in range(8))
    none = regression(Replay(8, empty), Thresholds())
    assert none.lines() == ("brainbench: inconclusive: no_cases: none of 8 rows found a page, then or now",)
    diluted = regression(Replay(9, (*empty, *answered(False).asked)), Thresholds())
    assert diluted.verdict == "pass"
    assert "8/9 rows found nothing then and now" in diluted.notes[0]
    assert "mean_jaccard of the others is 0.0000" in diluted.notes[0]
    assert regression(Replay(2, (empty[0], *answered(True).asked)), Thresholds()).notes == ()


def test_a_baseline_without_latency_says_nothing_about_it() -> None:
    asked = Replay(1, (Asked(row("tea", ["a"], latency_ms=0.0), ("a",), 99.0),))
    assert regression(asked, Thresholds(), latency_blocks=True).notes == ()


@pytest.mark.req("C-904")
def test_nothing_asked_and_too_many_errors_are_inconclusive() -> None:
    nothing = trusted(Replay(3, (), {"the query was cut": 3}))
    assert nothing.exit_code == 2
    assert nothing.lines() == (
        "brainbench: inconclusive: no_cases: none of 3 rows could be asked again (3: the query was cut)",
    )
    assert regression(Replay(0, ()), Thresholds()).verdict == "inconclusive"
    assert regression(answered(*[True] * 49, errors=1), Thresholds()).verdict == "pass"
    tired = regression(answered(*[True] * 48, errors=1), Thresholds())
    assert tired.exit_code == 2
    assert "error_share: 1/49 (0.0204) ended in an error, more than 2 %, such as: boom" in tired.lines()[0]
    assert (
        regression(answered(errors=2), Thresholds()).lines()[0].startswith("brainbench: inconclusive: no_cases: all 2")
    )


@pytest.mark.req("C-904")
def test_what_cannot_be_trusted_is_inconclusive_even_where_a_rule_broke() -> None:
    assert regression(answered(*[False] * 10, errors=5), Thresholds()).verdict == "inconclusive"
    assert correctness(judged(False, errors=1)).verdict == "inconclusive"
    assert correctness(Correctness(10, ())).exit_code == 2


@pytest.mark.req("C-904")
@pytest.mark.parametrize(
    ("right", "of", "names"),
    [
        (7, 10, []),
        (6, 10, ["recall@10"]),
        (5, 10, ["recall@10", "first_relevant"]),
        (4, 10, ["recall@10", "first_relevant", "expected_top1"]),
    ],
)
def test_each_rule_of_right_pages_breaks_below_its_own_threshold(right: int, of: int, names: list[str]) -> None:
    outcome = correctness(judged(*[True] * right, *[False] * (of - right), first=True))
    assert [text.split()[0] for _, text in outcome.reasons] == names
    assert outcome.verdict == ("fail" if names else "pass")


def test_a_first_page_that_nobody_named_is_not_measured_and_says_so() -> None:
    outcome = correctness(judged(True))
    assert outcome.verdict == "pass"
    assert outcome.notes == ("expected_top1 is not measured: no question names a first page",)


@given(st.lists(st.booleans(), min_size=1, max_size=30), st.floats(0, 1), st.floats(0, 1))
def test_a_stricter_threshold_never_turns_a_failure_into_a_pass(alike: list[bool], one: float, other: float) -> None:
    lax, strict = sorted((one, other))
    asked = answered(*alike)
    if regression(asked, Thresholds(jaccard=lax, top1=0)).verdict == "fail":
        assert regression(asked, Thresholds(jaccard=strict, top1=0)).verdict == "fail"
