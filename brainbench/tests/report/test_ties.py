"""Which systems the counts tell apart."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from brainbench.report.markdown import summary
from brainbench.report.native import scoreboard_json
from brainbench.report.terminal import render
from brainbench.report.ties import mcnemar, tie_groups
from brainbench.suites import Cell


def cell(system: str, failed: set[int], total: int = 40, **more: object) -> Cell:
    items = tuple(sorted(f"fix/{n}" for n in failed))
    made = Cell(
        system, "openclaw", "contract", "push", "scored", total, len(failed), failed_items=items, fixtures=("fix",)
    )
    return replace(made, **more)


@pytest.mark.req("C-702")
def test_systems_without_a_significant_paired_difference_share_a_group():
    good, same, bad = cell("good", set(range(4))), cell("same", {0, 1, 2, 9}), cell("bad", set(range(30)))
    assert tie_groups([bad, good, same]) == {"openclaw/push": (("good", "same"), ("bad",))}


@pytest.mark.req("C-702")
def test_it_is_the_pairing_that_parts_two_systems_and_not_their_rates():
    nested = [cell("one", set(range(10))), cell("two", set(range(18)))]
    crossed = [cell("one", set(range(10))), cell("two", set(range(12, 30)))]
    assert tie_groups(nested) == {"openclaw/push": (("one",), ("two",))}
    assert tie_groups(crossed) == {"openclaw/push": (("one", "two"),)}


@pytest.mark.req("C-702")
def test_comparing_with_more_systems_asks_for_more_evidence():
    one, two = cell("one", set()), cell("two", set(range(6)))
    others = [cell(f"x{n}", set(range(10 + n, 16 + n))) for n in range(8)]
    assert tie_groups([one, two])["openclaw/push"] == (("one",), ("two",))
    assert "two" in tie_groups([one, two, *others])["openclaw/push"][0]


@pytest.mark.req("C-702")
def test_items_that_cannot_be_paired_are_parted_by_disjoint_intervals_only():
    one = cell("one", set(range(4)), fixtures=("other",))
    assert tie_groups([one, cell("two", set(range(10)))])["openclaw/push"] == (("one", "two"),)
    assert tie_groups([one, cell("two", set(range(35)))])["openclaw/push"] == (("one",), ("two",))


@given(st.integers(0, 60), st.integers(0, 60))
@settings(max_examples=60, deadline=None)
def test_the_test_is_mcnemars_exact_one(b, c):
    expected = binomtest(b, b + c, 0.5).pvalue if b + c else 1.0
    assert float(mcnemar(b, c)) == pytest.approx(expected, abs=1e-9)


@given(st.lists(st.sets(st.integers(0, 39)), min_size=2, max_size=5), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_every_system_is_in_one_group_and_no_group_beats_an_earlier_one(failures, random: Random):
    cells = [cell(f"s{n}", failed) for n, failed in enumerate(failures)]
    random.shuffle(cells)
    groups = tie_groups(cells)["openclaw/push"]
    assert sorted(s for group in groups for s in group) == sorted(c.system for c in cells)
    failed = {c.system: c.gold_failed for c in cells}
    leaders = [min(failed[s] for s in group) for group in groups]
    assert leaders == sorted(leaders)


@pytest.mark.parametrize("status", ["invalid", "failed", "not_applicable"])
def test_a_cell_without_a_trusted_number_is_compared_with_nothing(status):
    assert tie_groups([cell("one", set()), cell("two", set(range(30)), status=status)]) == {}


@pytest.mark.req("C-702")
def test_ties_are_printed_everywhere(board):
    cells = (cell("good", set()), cell("bad", set(range(30))), cell("worse", set(range(29))))
    both = replace(board, cells=cells)
    assert "  openclaw/push: good > worse = bad\n" in render(both)
    assert "openclaw/push&#58; good &#62; worse = bad" in summary(both)
    assert scoreboard_json(both)["tie_groups"] == {"openclaw/push": [["good"], ["worse", "bad"]]}
