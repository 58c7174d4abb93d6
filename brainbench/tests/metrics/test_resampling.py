from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainbench.metrics import wilson
from brainbench.metrics.resampling import clustered_difference, clustered_interval

CLUSTER = st.integers(0, 8).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of)))


@pytest.mark.req("E-1501")
def test_an_interval_is_the_same_on_every_machine() -> None:
    clusters = [(1, 4), (3, 4), (2, 4), (4, 4), (0, 4), (2, 4)]
    assert clustered_interval(clusters, 42) == (0.25, 0.75)
    assert clustered_interval(clusters, 42) == clustered_interval(clusters, 42)


@pytest.mark.req("E-1501")
def test_repeating_every_turn_makes_no_interval_narrower() -> None:
    once = [(1, 4), (3, 4), (2, 4), (4, 4), (0, 4), (2, 4)]
    five_times = [(5 * n, 5 * of) for n, of in once]
    assert clustered_interval(once, 42) == clustered_interval(five_times, 42)
    few, many = wilson(12, 24), wilson(60, 120)
    assert few[1] - few[0] > many[1] - many[0], "counting repeats as independent would narrow it"


@pytest.mark.req("E-1501")
@settings(deadline=None, max_examples=15)
@given(st.lists(CLUSTER, max_size=6), st.integers(0, 9))
def test_an_interval_holds_the_rate_and_lies_between_0_and_1(clusters: list[tuple[int, int]], seed: int) -> None:
    found = clustered_interval(clusters, seed)
    counted = [c for c in clusters if c[1]]
    if len(counted) < 2:
        assert found is None
        return
    assert found is not None
    rate = sum(n for n, _ in counted) / sum(of for _, of in counted)
    assert 0 <= found[0] <= rate + 1e-9
    assert rate - 1e-9 <= found[1] <= 1


def test_agreement_of_few_clusters_is_no_certainty() -> None:
    low, high = clustered_interval([(0, 10), (0, 10)], 42) or (1.0, 0.0)
    assert low == 0
    assert high > 0.6
    same = clustered_difference([(1, 1, 4), (3, 3, 4), (2, 2, 4)], 42)
    assert same is not None
    assert same.low < 0 < same.high
    assert not same.certain
    assert same.mde is None


@pytest.mark.req("E-1502", "E-1503")
def test_a_difference_is_paired_by_cluster_with_a_sign_flip_test_and_the_least_that_could_be_seen() -> None:
    found = clustered_difference([(4, 1, 4), (3, 0, 4), (4, 2, 4), (2, 0, 4), (4, 0, 4), (3, 1, 4), (4, 1, 4)], 42)
    assert found is not None
    assert found.value == -19 / 28
    assert found.low <= found.value <= found.high < 0
    assert 0.01 < found.p < 0.02, "2 of 128 signs are as far out"
    assert found.certain
    rates = [-0.75, -0.75, -0.5, -0.5, -1.0, -0.5, -0.75]
    mean = sum(rates) / 7
    sd = (sum((r - mean) ** 2 for r in rates) / 6) ** 0.5
    assert found.mde == pytest.approx(2.8016 * sd / 7**0.5)


def test_no_five_clusters_are_certain_of_anything() -> None:
    found = clustered_difference([(n, 0, 4) for n in (4, 3, 4, 2, 4)], 42)
    assert found is not None
    assert found.high < 0
    assert found.p > 0.05
    assert not found.certain
