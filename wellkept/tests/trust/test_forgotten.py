"""A forgotten claim is recognised in whatever spelling, within longer text, in its own source, and by its key only."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept.trust.forgotten import MARK, Forgotten, tombstone

KEY = b"k" * 32
CLAIM = "Ada's salary is 90,000 EUR"


def knowing(*claims: str, key: bytes = KEY) -> Forgotten:
    stones = [stone for claim in claims if (stone := tombstone(KEY, claim))]
    return Forgotten(lambda: key, stones)


@pytest.mark.req("T-707")
@pytest.mark.req("TC-07")
@pytest.mark.parametrize(
    "text",
    [
        "I hear that Ada's salary is 90,000 EUR, net.",
        "ADA’S SALARY IS 90.000 eur",
        "ada s sal\u200bary is\n90 000 EUR",
        "\u0410d\u0430's s\u0430l\u0430ry is 90,000 EUR",
    ],
)
def test_a_claim_is_struck_in_whatever_way_it_is_spelled(text: str) -> None:
    found = knowing(CLAIM).struck(text)
    assert MARK in found
    assert "90" not in found


@pytest.mark.parametrize("text", ["Ada's salary is 80,000 EUR", "salary is 90,000 EUR", "Ada's salary", "", MARK])
def test_what_says_something_else_stays(text: str) -> None:
    assert knowing(CLAIM).struck(text) == text


def test_a_claim_of_two_words_goes_only_where_it_is_all_that_is_said() -> None:
    known = knowing("likes tea")
    assert known.struck("Likes tea!") == MARK + "!"
    assert known.struck("Bob likes tea") == "Bob likes tea"


@pytest.mark.req("TC-17")
def test_what_is_kept_of_a_claim_says_nothing_without_the_key() -> None:
    assert knowing(CLAIM, key=b"x" * 32).struck(CLAIM) == CLAIM
    stone = tombstone(KEY, CLAIM)
    assert stone is not None
    assert stone.claim != tombstone(b"x" * 32, CLAIM).claim  # type: ignore[union-attr]


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_claim_is_found_between_any_two_texts(before: str, after: str) -> None:
    struck = knowing(CLAIM).struck(f"{before} {CLAIM} {after}")
    assert CLAIM not in struck
    assert MARK in struck


def test_of_two_claims_that_begin_alike_the_longer_goes() -> None:
    assert knowing("Ada likes green tea", "Ada likes green").struck("Ada likes green tea.") == MARK + "."
