"""Words and intervals that all printed forms share."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from brainbench.metrics import Count, Ratio
from brainbench.report.wording import clean, interval, measured


@pytest.mark.req("C-002", "C-601")
@pytest.mark.parametrize(("n", "of"), [(0, 1), (1, 32), (57, 96), (483, 500), (2999, 3000), (7, 7)])
def test_the_interval_is_wilsons_with_four_decimals(n, of):
    expected = binomtest(n, of).proportion_ci(0.95, method="wilson")
    low, high = interval(Ratio(n, of)).split("-")
    assert float(low) == pytest.approx(expected.low, abs=5.1e-5)
    assert float(high) == pytest.approx(expected.high, abs=5.1e-5)
    assert len(low) == len(high) == 6


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
