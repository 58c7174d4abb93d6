"""An id counts only with a text that tells something of its page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from brainbench.gold import EventGold, Gold
from brainbench.metrics import Ratio
from brainbench.model import Fixture, Observation, Replayed, Turn, Write
from brainbench.seams import SEAMS
from brainbench.suites import SUITES, judge

ADA = "---\ntitle: Ada Byron\naliases: [Countess]\n---\n\nShe keeps bees at 東京駅.\n"
FIXTURE = Fixture(
    fixture_id="fx",
    suites=("know-to-ask", "push"),
    category="direct",
    stratum="easy",
    language="en",
    setup=(Write(100, via="page", actor="owner", slug="people/ada", content=ADA),),
    events=(Turn(1, "user", "Who can help?"),),
)
GOLD = Gold("fx", {1: EventGold(1, "must", ("people/ada",))})


def recall(text: str, fixture: Fixture = FIXTURE) -> tuple[object, object]:
    """push_recall and unresolved_rate of the one id, brought with this text."""
    seen = Observation(1, "turn", text=text, ids=("people/ada",), tokens=1)
    found = judge(
        SUITES["push"], "sut", SEAMS["openclaw"], [(fixture, GOLD, Replayed("fx", "sut", "openclaw", (seen,)))]
    )
    assert found is not None
    return found.metrics["push_recall"], found.metrics["unresolved_rate"]


@pytest.mark.parametrize("text", [".", "<!-- . -->", "x", "See it.", "東", "a b c d"])
def test_an_id_beside_a_text_that_tells_nothing_of_its_page_is_not_brought(text):
    assert recall(text) == (Ratio(0, 1), Ratio(1, 1))


@pytest.mark.parametrize(
    "text", ["- **x** → `people/ada`", "BYRON", "ada byron", "the countess", "someone keeps them", "在東京的"]
)
def test_an_id_beside_its_name_or_a_word_of_its_page_is_brought(text):
    assert recall(text) == (Ratio(1, 1), Ratio(0, 1))


def test_a_page_that_the_script_does_not_hold_is_taken_at_its_word():
    large = replace(FIXTURE, setup=(), universe="brain")
    assert recall("Whatever.", large) == (Ratio(1, 1), None)
