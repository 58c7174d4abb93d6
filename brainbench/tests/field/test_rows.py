"""Every row is passed by a memory that is sound, and failed by one that gets just that wrong."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from brainbench.field import BY_GROUP, ROWS, limits
from brainbench.field.row import GROUPS, laid
from brainbench.field.running import Judged, chosen, judge, measure
from brainbench.model import Capability, RunContext, SourceDecl
from brainbench.replay.items import Play, every_step
from brainbench.systems import System
from brainbench.systems.access import Access

from . import toys

KILLED = ("TIM-04", "CON-03", "CON-06", "CON-07", "CON-09")
"""The rows that need a process of its own."""
ASKED = tuple(row.id for row in ROWS.values() if row.make is not None)
TOYS: Mapping[str, tuple[type[toys.Sound], frozenset[str]]] = {
    "DEL-01": (toys.WipesEverybody, frozenset({"ISO-04", "ISO-05"})),
    "DEL-02": (toys.CachesSearches, frozenset({"ISO-04", "ISO-05"})),
    "DEL-03": (toys.FindsTheDead, frozenset({"DEL-06"})),
    "DEL-06": (toys.IndexesTheDeadAgain, frozenset({"DEL-13"})),
    "DEL-07": (toys.SaysDeleted, frozenset({"ISO-03", "ISO-04"})),
    "DEL-08": (toys.ListsOtherIds, frozenset({"DEL-01"})),
    "DEL-09": (toys.NeverAgain, frozenset({"UPD-11"})),
    "DEL-11": (toys.DeletesTheWholeSession, frozenset({"DEL-03", "DEL-06", "DEL-08", "DEL-13"})),
    "DEL-13": (toys.CompactsSeldom, frozenset()),
    "UPD-01": (toys.KeepsTheOldIndex, frozenset({"ISO-03", "UPD-02"})),
    "UPD-02": (toys.LosesTheSecondUpdate, frozenset()),
    "UPD-03": (toys.DropsMetadata, frozenset()),
    "UPD-05": (toys.SecondSayingDeletes, frozenset({"CON-08"})),
    "UPD-06": (toys.OldFirst, frozenset()),
    "UPD-08": (toys.KeepsBoth, frozenset({"UPD-11", "UPD-15"})),
    "UPD-09": (toys.RetiresByName, frozenset({"TXT-09"})),
    "UPD-11": (toys.OneInterval, frozenset()),
    "UPD-13": (toys.KeyedTwice, frozenset()),
    "UPD-15": (toys.HidesForGood, frozenset()),
    "ISO-01": (toys.SearchesEverybody, frozenset()),
    "ISO-03": (toys.UpdatesAnybodys, frozenset()),
    "ISO-04": (toys.LikePatterns, frozenset()),
    "ISO-05": (toys.PrefixScopes, frozenset()),
    "ISO-06": (toys.TakesAnyScope, frozenset()),
    "ISO-08": (toys.OneTextForAll, frozenset()),
    "ISO-11": (toys.SharesProjects, frozenset()),
    "TIM-04": (toys.LocalTime, frozenset()),
    "TIM-05": (toys.IngestionTime, frozenset()),
    "TXT-01": (toys.WholeWords, frozenset({"TXT-02", "TXT-06"})),
    "TXT-02": (toys.LosesIdentifiers, frozenset()),
    "TXT-03": (toys.IdsFromTitles, frozenset()),
    "TXT-04": (toys.KeepsHalves, frozenset()),
    "TXT-05": (toys.QueryLanguage, frozenset()),
    "TXT-06": (toys.Romanises, frozenset()),
    "TXT-07": (toys.KnowsOneForm, frozenset()),
    "TXT-09": (toys.IgnoresMarks, frozenset()),
    "TXT-10": (toys.Inverts, frozenset()),
    "LIM-02": (toys.FirstWordsOnly, frozenset()),
    "LIM-08": (toys.RewritesAll, frozenset()),
    "CON-02": (toys.LastWriterWins, frozenset({"CON-05", "LIM-08"})),
    "CON-03": (toys.StrictReader, frozenset()),
    "CON-05": (toys.ThirdSeesNothing, frozenset()),
    "CON-06": (toys.SaysKeptTooSoon, frozenset({"CON-03", "CON-07", "CON-09"})),
    "CON-07": (toys.QuarantinesTheEnd, frozenset()),
    "CON-08": (toys.KeepsEveryRetry, frozenset({"CON-12"})),
    "CON-09": (toys.LeavesItsLock, frozenset({"CON-03", "CON-06", "CON-07"})),
    "CON-12": (toys.KeepsEveryRepetition, frozenset()),
    "HOK-08": (toys.FirstWordsOfTheQuery, frozenset()),
    "HOK-09": (toys.KeepsSecrets, frozenset()),
    "HOK-11": (toys.KeepsSomeInMemory, frozenset({"CON-02"})),
    "HOK-15": (toys.PushesStrays, frozenset()),
}
"""By row the memory that gets it wrong, and the other rows that the same fault cannot but fail."""
CHEATERS = (toys.SaysYes, toys.Echoes, toys.GivesEverything, toys.GivesTheNewest)


@pytest.fixture(autouse=True)
def _fewer_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MANY", 400)


@pytest.fixture
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))


def asked(kind: type[System], row_id: str, place: Path, seed: str = "42") -> Judged:
    """What comes of a row of a memory in this process."""
    one = laid(ROWS[row_id], seed)
    place = place / f"{kind.__name__}-{row_id}-{seed}"
    place.mkdir()
    scopes = tuple(SourceDecl(scope) for scope in one.script.scopes)
    run = RunContext("0" * 32, scopes, scopes[0].id, str(place), 0)
    return judge(ROWS[row_id], one, Play(kind(), lambda zone: kind(), one.script, run).play())


def failed(kind: type[System], place: Path, seed: str = "42") -> dict[str, str]:
    """The rows that a memory does not pass, of those that need no process of its own, and what was seen."""
    found = (asked(kind, row_id, place, seed) for row_id in ASKED if row_id not in KILLED)
    return {one.row.id: f"{one.verdict}: {one.observed}" for one in found if one.verdict != "passed"}


@pytest.mark.parametrize("seed", ["42", "1", "2", "3"])
def test_a_sound_memory_passes_every_row(tmp_path, seed):
    assert failed(toys.Sound, tmp_path, seed) == {}


@pytest.mark.parametrize("row_id", [row_id for row_id in ASKED if row_id not in KILLED])
def test_a_memory_that_gets_one_thing_wrong_fails_just_that_row(tmp_path, row_id):
    toy, also = TOYS[row_id]
    found = failed(toy, tmp_path)
    assert found[row_id].startswith("FAILED")
    assert set(found) == {row_id, *also} - set(KILLED)


@pytest.mark.slow
def test_a_sound_memory_survives_the_end_of_its_process(importable):
    found = measure("toys:Sound", chosen(KILLED), "42", Access())
    assert {one.row.id: (one.verdict, one.observed) for one in found.judged} == dict.fromkeys(KILLED, ("passed", ""))


@pytest.mark.slow
@pytest.mark.parametrize("row_id", KILLED)
def test_a_memory_that_does_not_survive_one_end_fails_just_that_row(importable, row_id):
    toy, also = TOYS[row_id]
    found = measure(f"toys:{toy.__name__}", chosen(KILLED), "42", Access())
    verdicts = {one.row.id: one.verdict for one in found.judged}
    assert verdicts[row_id] == "FAILED"
    assert {name for name, verdict in verdicts.items() if verdict == "FAILED"} == {row_id, *also} & set(KILLED)


@pytest.mark.parametrize("cheater", CHEATERS, ids=lambda kind: kind.__name__)
def test_who_only_says_yes_repeats_or_gives_everything_passes_no_row(tmp_path, cheater):
    assert set(failed(cheater, tmp_path)) == set(ASKED) - set(KILLED)


@pytest.mark.slow
def test_who_keeps_nothing_passes_no_row_that_kills_it(importable):
    found = measure("toys:SaysYes", chosen(KILLED), "42", Access())
    assert [one.row.id for one in found.judged if one.verdict == "passed"] == []


def test_every_row_that_is_asked_has_a_memory_that_fails_it():
    assert tuple(TOYS) == ASKED


def test_a_row_that_is_not_asked_says_why():
    assert [row.id for row in ROWS.values() if (row.make is None) != bool(row.unasked)] == []


def test_rows_stand_once_and_in_a_group_that_has_a_name():
    assert set(BY_GROUP) == set(GROUPS)
    assert len(ROWS) == sum(map(len, BY_GROUP.values()))


@pytest.mark.parametrize("row_id", ASKED)
def test_a_row_is_the_same_for_the_same_seed_and_another_for_another(row_id):
    scripts = [laid(ROWS[row_id], seed).script for seed in ("42-0", "42-0", "42-1")]
    assert scripts[0] == scripts[1]
    assert scripts[0] != scripts[2]


@pytest.mark.parametrize("row_id", ASKED)
def test_labels_of_a_row_are_its_own_and_tell_nothing(row_id):
    """A label is in no call but as part of a name that is free, and names no row."""
    script = laid(ROWS[row_id], "42").script
    labels = [step.label for step in every_step(script.steps)]
    assert len(set(labels)) == len(labels)
    assert not any(row_id.lower() in label.lower() for label in labels)


def test_a_memory_is_asked_nothing_that_it_does_not_claim(tmp_path):
    class Few(toys.Sound):
        can = frozenset({Capability.ADD, Capability.SOURCES})

        def list_items(self, source):
            raise AssertionError("asked")

        get_item = update_item = delete_item = delete_items = reopen = list_items

        def open(self, run):
            toys.Sound.reopen(self, run)

    verdicts = {row_id: asked(Few, row_id, tmp_path) for row_id in ASKED}
    assert verdicts["DEL-01"].observed == "it does not claim `delete_all`, `list`"
    assert verdicts["ISO-01"].verdict == verdicts["ISO-05"].verdict == "passed"
    assert not any("asked" in one.observed for one in verdicts.values())
