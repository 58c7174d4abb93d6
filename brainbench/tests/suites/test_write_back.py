"""Write-back, judged from small scripts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from brainbench.gold import EventGold, Gold, GoldFact
from brainbench.metrics import Count, Ratio
from brainbench.model import FactRow, Fixture, Observation, Origin, Replayed, SessionBreak, SourceDecl, Turn, Write
from brainbench.seams import SEAMS
from brainbench.suites import SUITES, Cell, judge

PAGE = "conversations/a1"
FIXTURE = Fixture(
    fixture_id="wb",
    suites=("write-back",),
    category="write-back",
    stratum="medium",
    language="en",
    sources=(SourceDecl("notes"),),
    active_source="notes",
    events=(
        Turn(1, "user", "Ada likes tea. The boat is late."),
        Turn(2, "assistant", "Noted."),
        Turn(3, "user", "She leaves on Friday."),
        SessionBreak(4, persist=True),
    ),
)
TEA = GoldFact("tea", "Ada likes tea", "people/ada", ("Ada", "tea"))
BOAT = GoldFact("boat", "The boat is late", None, ("boat", "late"))
FRIDAY = GoldFact("friday", "Ada leaves on Friday", "people/ada", ("leaves", "Friday"), forbid_keywords=("never",))
GOLD = Gold("wb", {1: EventGold(1, gold_facts=(TEA, BOAT)), 3: EventGold(3, gold_facts=(FRIDAY,))})


def row(text: str, entity: str | None = "people/ada", page: str = PAGE, source: str = "notes") -> FactRow:
    return FactRow(text, entity, "memory:writeback", f"{source}:{page}", page)


PERFECT = (row("Ada likes tea"), row("The boat is late", None), row("Ada leaves on Friday"))


def played(*rows: FactRow, page: str | None = PAGE, error: str | None = None) -> Replayed:
    return Replayed("wb", "sut", "direct", (Observation(4, "persist", session_page=page, error=error),), rows)


def cell(replayed: Replayed, fixture: Fixture = FIXTURE, gold: Gold = GOLD) -> Cell:
    found = judge(SUITES["write-back"], "sut", SEAMS["openclaw"], [(fixture, gold, replayed)])
    assert found is not None
    return found


@pytest.mark.req("C-508", "C-601")
def test_a_perfect_memory_keeps_every_fact() -> None:
    kept = cell(played(*PERFECT))
    assert kept.metrics == {
        "write_back_fidelity": Ratio(3, 3),
        "attribution_accuracy": Ratio(2, 2),
        "provenance_accuracy": Ratio(3, 3),
        "source_isolation_violations": None
        if len(FIXTURE.sources) < 1
        else kept.metrics["source_isolation_violations"],
    }
    assert (kept.gold_total, kept.gold_failed, kept.shared) == (3, 0, True)


@pytest.mark.req("C-508", "C-601")
def test_an_empty_memory_keeps_none_and_has_no_provenance() -> None:
    lost = cell(played())
    assert lost.metrics["write_back_fidelity"] == Ratio(0, 3)
    assert lost.metrics["attribution_accuracy"] is None
    assert lost.metrics["provenance_accuracy"] is None
    assert lost.failed_items == ("wb/1/fact 1", "wb/1/fact 2", "wb/3/fact 1")


@pytest.mark.req("C-508")
def test_keywords_match_whatever_the_case_width_and_spacing() -> None:
    assert cell(played(row("ＡＤＡ  likes\n TEA"))).metrics["write_back_fidelity"] == Ratio(1, 3)


@pytest.mark.req("C-508")
def test_a_row_with_a_forbidden_word_does_not_state_the_fact() -> None:
    assert cell(played(row("Ada never leaves on Friday"))).metrics["write_back_fidelity"] == Ratio(0, 3)


@pytest.mark.req("C-508")
def test_a_fact_without_an_entity_in_gold_may_stand_under_any() -> None:
    assert cell(played(row("The boat is late", "things/boat"))).metrics["write_back_fidelity"] == Ratio(1, 3)


@pytest.mark.req("C-508")
def test_telling_a_fact_under_every_entity_is_no_attribution() -> None:
    hedged = cell(played(row("Ada likes tea", "people/bo"), row("Ada likes tea")))
    assert hedged.metrics["write_back_fidelity"] == Ratio(0, 3)
    assert hedged.metrics["attribution_accuracy"] == Ratio(0, 1)


@pytest.mark.req("C-508")
def test_a_fact_under_the_wrong_entity_is_found_but_has_not_survived() -> None:
    wrong = cell(played(row("Ada likes tea", "people/bo")))
    assert wrong.metrics["attribution_accuracy"] == Ratio(0, 1)
    assert wrong.metrics["write_back_fidelity"] == Ratio(0, 3)
    assert wrong.metrics["provenance_accuracy"] is None


@pytest.mark.req("C-508")
def test_one_row_answers_one_gold_fact() -> None:
    twice = Gold("wb", {1: EventGold(1, gold_facts=(TEA,)), 3: EventGold(3, gold_facts=(TEA,))})
    assert cell(played(row("Ada likes tea")), gold=twice).metrics["write_back_fidelity"] == Ratio(1, 2)


@pytest.mark.req("C-508", "C-605")
def test_saying_a_row_twice_does_not_help() -> None:
    twice = Gold("wb", {1: EventGold(1, gold_facts=(TEA,)), 3: EventGold(3, gold_facts=(TEA,))})
    doubled = played(row("Ada likes tea"), row("ada  likes tea"))
    assert cell(doubled, gold=twice).metrics["write_back_fidelity"] == Ratio(1, 2)


@pytest.mark.req("C-508")
@pytest.mark.parametrize(
    "bad",
    [
        replace(PERFECT[0], source=" "),
        replace(PERFECT[0], source_page="conversations/other"),
        replace(PERFECT[0], source_session=f"default:{PAGE}"),
        replace(PERFECT[0], source_session=None),
        replace(PERFECT[0], source_page=None),
    ],
)
def test_any_wrong_part_of_the_provenance_fails_the_fact_but_not_its_survival(bad: FactRow) -> None:
    kept = cell(played(bad, *PERFECT[1:]))
    assert kept.metrics["write_back_fidelity"] == Ratio(3, 3)
    assert kept.metrics["provenance_accuracy"] == Ratio(2, 3)
    assert kept.failed_items == ("wb/1/fact 1",)


@pytest.mark.req("C-508")
def test_a_system_that_names_no_page_has_no_provenance() -> None:
    unnamed = replace(PERFECT[0], source_page=None, source_session="notes:None")
    assert cell(played(unnamed, page=None)).metrics["provenance_accuracy"] == Ratio(0, 1)


@pytest.mark.req("C-508", "C-604")
def test_a_session_that_could_not_be_written_back_fails_its_facts_as_errors() -> None:
    lost = cell(played(*PERFECT, error="timed out"))
    assert (lost.status, lost.gold_failed, lost.errors, lost.events) == ("invalid", 3, 2, 2)
    unseen = cell(replace(played(*PERFECT), observations=()))
    assert (unseen.status, unseen.errors) == ("invalid", 2)


@pytest.mark.req("C-508", "C-604")
@pytest.mark.parametrize("event_id", [4, 3, 99])
def test_facts_that_could_not_be_told_at_the_end_are_errors(event_id: int) -> None:
    told = played(*PERFECT)
    extra = (*told.observations, Observation(event_id, "persist", error="recall_facts timed out"))
    assert cell(replace(told, observations=extra)).errors == 2


@pytest.mark.req("C-604")
def test_a_write_that_failed_is_an_error_beside_the_facts() -> None:
    told = played(*PERFECT)
    broken = cell(replace(told, observations=(*told.observations, Observation(9, "write", error="edit refused"))))
    assert (broken.errors, broken.events, broken.gold_failed, broken.status) == (1, 3, 0, "invalid")


@pytest.mark.req("C-508")
def test_each_session_has_its_own_page() -> None:
    script = replace(
        FIXTURE,
        events=(
            FIXTURE.events[0],
            SessionBreak(2, persist=True),
            FIXTURE.events[2],
            SessionBreak(4, persist=True),
        ),
    )
    seen = (Observation(2, "persist", session_page=PAGE), Observation(4, "persist", session_page="conversations/b2"))
    unread = (*seen, Observation(4, "persist", error="recall_facts timed out"))
    assert cell(Replayed("wb", "sut", "direct", unread), script).errors == 2
    swapped = Replayed("wb", "sut", "direct", seen, PERFECT)
    assert cell(swapped, script).metrics["provenance_accuracy"] == Ratio(2, 3)
    right = replace(swapped, facts=(*PERFECT[:2], row("Ada leaves on Friday", page="conversations/b2")))
    assert cell(right, script).metrics["provenance_accuracy"] == Ratio(3, 3)


@pytest.mark.req("C-132")
def test_in_a_pair_the_writer_is_judged_and_named() -> None:
    pair = replace(
        FIXTURE,
        fixture_id="pair",
        events=(*FIXTURE.events, Turn(5, "user", "So?")),
        declares=(("w", ("write-back",)), ("r", ("continuity",))),
        origins=((1, Origin("w", 1)), (2, Origin("w", 2)), (3, Origin("w", 3)), (5, Origin("r", 1))),
    )
    gold = Gold("pair", {**GOLD.events, 5: EventGold(5, gold_facts=(TEA,))})
    lost = cell(played(), pair, gold)
    assert (lost.fixtures, lost.gold_total) == (("w",), 3)
    assert lost.failed_items[0] == "w/1/fact 1"


@pytest.mark.req("C-603")
def test_a_foreign_canary_among_the_facts_is_a_violation() -> None:
    scoped = replace(
        FIXTURE,
        sources=(SourceDecl("notes"), SourceDecl("team")),
        setup=(Write(9, via="page", actor="owner", slug="p", content="canary:qx81zz", source="team"),),
    )
    leaking = cell(played(*PERFECT, row("they say qx81zz")), scoped)
    assert leaking.metrics["source_isolation_violations"] == Count(1)
    assert cell(played(*PERFECT), scoped).metrics["source_isolation_violations"] == Count(0)
