"""A memory that is not sound does not pass by knowing the rows, taking a claim back, or hiding what it is."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from brainbench.field import limits
from brainbench.field.running import Judged, chosen, measure, salted
from brainbench.systems.access import Access

from . import cheats
from .test_rows import asked

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
