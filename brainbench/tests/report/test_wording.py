"""Words and intervals that all printed forms share."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from brainbench.metrics import Count, Ratio
from brainbench.report.wording import clean, interval, measured, wilson


@given(st.integers(0, 3000), st.integers(1, 3000))
@settings(max_examples=80, deadline=None)
@pytest.mark.req("C-601")
def test_the_interval_is_wilsons(n, more):
    ratio = Ratio(n, n + more)
    expected = binomtest(ratio.n, ratio.of).proportion_ci(0.95, method="wilson")
    assert wilson(ratio) == pytest.approx((expected.low, expected.high), abs=1e-9)


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_the_interval_holds_the_rate_and_stays_in_range(n, more):
    ratio = Ratio(n, n + more + (n + more == 0))
    low, high = wilson(ratio)
    assert 0 <= low <= float(ratio.value) + 1e-12
    assert float(ratio.value) - 1e-12 <= high <= 1


def test_a_perfect_or_empty_count_touches_its_end():
    assert interval(Ratio(5, 5)).endswith("-1.0000")
    assert interval(Ratio(0, 5)).startswith("0.0000-")
    assert interval(Count(3)) == ""


def test_what_was_not_asked_is_never_a_number():
    assert measured(None) == "not asked"


@given(st.text())
def test_cleaned_text_is_one_printable_line(text):
    assert clean(text).isprintable()


def test_long_text_is_cut_visibly():
    assert clean("a" * 500, limit=10) == "aaaaaaaaa…"
