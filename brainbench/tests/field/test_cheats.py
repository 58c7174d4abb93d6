"""A memory that is not sound does not pass by knowing the rows, taking a claim back, or hiding what it is."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from brainbench.field import ROWS, limits
from brainbench.field.row import laid
from brainbench.field.running import Judged, chosen, measure, salted
from brainbench.model import ItemIn
from brainbench.replay.items import every_step
from brainbench.systems.access import Access

from . import cheats
from .test_rows import ASKED, asked

HERE: Mapping[str, type[cheats.Sound]] = {
    "HOK-09": cheats.MasksEverything,
    "HOK-15": cheats.Floods,
    "ISO-03": cheats.OpensNothing,
    "CON-05": cheats.ThrowsAway,
    "LIM-08": cheats.SlowStart,
    "DEL-01": cheats.WipesTheList,
    "DEL-02": cheats.KnowsTheLabels,
    "HOK-11": cheats.TakesItBack,
}
"""By row who would like to pass it, in this process."""
HOSTED = (
    ("KnowsTheRows", "DEL-03", "expected nothing of"),
    ("TakesItBack", "CON-09", "it claims `reopen` and then says"),
    ("Busy", "CON-06", "an add before the kill"),
    ("Busy", "CON-07", "an add before the kill"),
    ("Daemon", "CON-09", "Connection refused"),
    ("Strict", "CON-03", "torn items.jsonl: error"),
    ("Elsewhere", "CON-03", "it keeps items elsewhere"),
    ("Nowhere", "CON-03", "wrote nothing into its directory"),
)
"""Who would like to pass which row, in a process of its own, and what is seen instead."""


@pytest.mark.parametrize("row_id", HERE)
def test_who_hides_a_fault_from_a_row_fails_it(tmp_path, row_id, monkeypatch):
    monkeypatch.setattr(limits, "MANY", 500)
    assert asked(HERE[row_id], row_id, tmp_path).verdict == "FAILED"


@pytest.mark.slow
@pytest.mark.parametrize(("cheat", "row_id", "said"), HOSTED)
def test_who_hides_what_the_end_of_its_process_does_to_it_fails(monkeypatch, cheat, row_id, said):
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    (found,) = measure(f"field.cheats:{cheat}", chosen([row_id]), salted("42"), Access()).judged
    assert isinstance(found, Judged)
    assert found.verdict == "FAILED"
    assert said in found.observed


def test_a_seed_without_a_salt_gets_one_of_its_own_and_one_that_was_told_stays():
    one, other = salted("42"), salted("42")
    assert one.startswith("42-")
    assert one != other
    assert salted(one) == one


@cache
def phrases(row_id: str, seed: str) -> frozenset[str]:
    """What of a row's texts stays the same whatever the names and numbers: runs of three plain words."""
    scripted = every_step(laid(ROWS[row_id], seed).script.steps)
    texts = [step.text for step in scripted if step.text] + [line for step in scripted for line in step.messages]
    found: set[str] = set()
    for text in texts:
        words = [word if word.isalpha() and word.islower() else "" for word in text.split()]
        found |= {" ".join(three) for three in zip(words, words[1:], words[2:], strict=False) if all(three)}
    return frozenset(found)


@pytest.mark.parametrize("row_id", ASKED)
def test_no_phrase_tells_a_row_under_every_seed(row_id):
    """Who knows the phrases that no other row has under one seed finds none of them under some other seeds."""
    others = [phrases(other, f"42-{salt}") for other in ASKED if other != row_id for salt in range(6)]
    known = phrases(row_id, "42-0").difference(*others)
    found = [known & phrases(row_id, f"42-{salt}") for salt in range(1, 25)]
    assert sum(not each for each in found) >= 4


@pytest.mark.parametrize("row_id", ["DEL-01", "DEL-06", "DEL-08", "DEL-11"])
def test_who_is_sound_only_where_it_knows_a_phrase_passes_one_seed_and_fails_others(tmp_path, row_id):
    class KnowsPhrases(cheats.Sound):
        """It deletes only what is told in a phrase that it has read before."""

        told = phrases(row_id, "42-0")

        def delete_item(self, source: str, item_id: str) -> bool:
            known = any(phrase in item["text"] for item in self.items.values() for phrase in self.told)
            return super().delete_item(source, item_id) if known else True

        def delete_items(self, source: str) -> None:
            if any(phrase in item["text"] for item in self.items.values() for phrase in self.told):
                super().delete_items(source)

    verdicts = [asked(KnowsPhrases, row_id, tmp_path, f"42-{salt}").verdict for salt in range(8)]
    assert verdicts[0] == "passed"
    assert verdicts.count("FAILED") >= 4


def test_a_machine_that_makes_later_writes_wait_fails_nobody(tmp_path, monkeypatch):
    class Held(cheats.Sound):
        """The last hundred writes take a hundred times longer by the clock, and cost no more."""

        added = 0

        def add_item(self, item: ItemIn) -> str:
            self.added += 1
            time.sleep(0.02 if self.added > 300 else 0)
            return super().add_item(item)

    monkeypatch.setattr(limits, "MANY", 400)
    assert asked(Held, "LIM-08", tmp_path).verdict == "passed"
