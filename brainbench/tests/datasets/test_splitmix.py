"""SplitMix64 gives the published numbers, and streams that do not disturb one another."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainbench.datasets.splitmix import SplitMix64, substream

PUBLISHED = {
    0: [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC, 0x1B39896A51A8749B],
    1234567: [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ],
}
SEEDS = st.integers(min_value=0, max_value=2**64 - 1)


@pytest.mark.req("C-801")
@pytest.mark.parametrize("seed", PUBLISHED)
def test_the_published_numbers_come_out(seed: int) -> None:
    stream = SplitMix64(seed)
    assert [stream.next_u64() for _ in range(5)] == PUBLISHED[seed]


def test_a_seed_counts_modulo_two_to_the_64() -> None:
    assert SplitMix64(2**64 + 5).next_u64() == SplitMix64(5).next_u64()


@given(seed=SEEDS, bound=st.integers(min_value=1, max_value=2**64))
@settings(max_examples=60)
def test_a_number_below_a_bound_is_below_it(seed: int, bound: int) -> None:
    assert 0 <= SplitMix64(seed).below(bound) < bound


@pytest.mark.parametrize("bound", [0, -1, 2**64 + 1])
def test_a_bound_that_no_number_can_meet_is_refused(bound: int) -> None:
    with pytest.raises(ValueError, match="bound"):
        SplitMix64(0).below(bound)


def test_every_value_below_a_small_bound_comes_about_as_often() -> None:
    stream = SplitMix64(42)
    seen = [0] * 6
    for _ in range(6000):
        seen[stream.below(6)] += 1
    assert min(seen) > 900
    assert max(seen) < 1100


def test_between_reaches_both_ends_and_nothing_else() -> None:
    stream = SplitMix64(7)
    assert {stream.between(3, 5) for _ in range(100)} == {3, 4, 5}


@given(seed=SEEDS, items=st.lists(st.integers(), max_size=30))
@settings(max_examples=60)
def test_shuffling_keeps_every_item(seed: int, items: list[int]) -> None:
    shuffled = list(items)
    SplitMix64(seed).shuffle(shuffled)
    assert sorted(shuffled) == sorted(items)


@given(seed=SEEDS, n=st.integers(min_value=0, max_value=10))
@settings(max_examples=60)
def test_a_sample_has_different_positions(seed: int, n: int) -> None:
    sample = SplitMix64(seed).sample(range(10), n)
    assert len(set(sample)) == len(sample) == n


def test_a_sample_larger_than_the_whole_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot take 3 of 2"):
        SplitMix64(0).sample([1, 2], 3)


@pytest.mark.req("C-801")
def test_the_streams_of_two_keys_differ_and_the_same_key_gives_the_same() -> None:
    first = substream(42, "direct", 3).next_u64()
    assert substream(42, "direct", 3).next_u64() == first
    others = [substream(42, "direct", 4), substream(42, "silent", 3), substream(43, "direct", 3)]
    assert first not in [other.next_u64() for other in others]
