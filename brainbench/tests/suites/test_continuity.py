"""Continuity, judged from small scripts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from brainbench.gold import Gold, Probe
from brainbench.metrics import Ratio
from brainbench.model import FactRow, Fixture, Observation, Origin, Replayed, SessionBreak, Turn
from brainbench.seams import SEAMS
from brainbench.suites import SUITES, Cell, judge

FIXTURE = Fixture(
    fixture_id="co",
    suites=("continuity",),
    category="continuity",
    stratum="medium",
    language="en",
    events=(
        Turn(1, "user", "We moved the Quill launch to the ninth of May."),
        SessionBreak(2, persist=True),
        Turn(3, "user", "When is the Quill launch?"),
        Turn(4, "assistant", "Let me look."),
        Turn(5, "user", "Well?"),
        Turn(6, "user", "Never mind."),
    ),
)
ANY = Probe("d1", 5, "any", ("projects/quill",), ("Quill", "ninth of May"), ("April",))
STORED = replace(ANY, probe_id="d2", channel="stored_only")
FACT = "Quill launch moved to the ninth of May"
POINTER = "- **Quill** → `projects/quill` — Quill launches on the ninth of May (user-written)"


def played(at: int = 3, text: str = "", ids: tuple[str, ...] = (), facts: tuple[str, ...] = ()) -> Replayed:
    rows = tuple(FactRow(f, None, "memory", None, None) for f in facts)
    turns = tuple(
        Observation(n, "turn", text=text, ids=ids, facts=rows) if n == at else Observation(n, "turn")
        for n in (1, 3, 5, 6)
    )
    return Replayed("co", "sut", "openclaw", (*turns, Observation(2, "persist", session_page="conversations/a")))


def cell(replayed: Replayed, *probes: Probe, fixture: Fixture = FIXTURE) -> Cell:
    gold = Gold("co", {}, probes or (ANY, STORED))
    found = judge(SUITES["continuity"], "sut", SEAMS["openclaw"], [(fixture, gold, replayed)])
    assert found is not None
    return found


@pytest.mark.req("C-509", "C-601")
@pytest.mark.parametrize("at", [3, 5])
def test_a_fact_on_any_turn_of_the_reader_answers_both_channels(at: int) -> None:
    for reached in (played(at, facts=(FACT,)), played(at, text=f"## Facts\n- {FACT} [projects/quill] (0.9, x)")):
        answered = cell(reached)
        assert answered.metrics["continuity_rate"] == Ratio(2, 2)
        assert answered.metrics["stored_continuity_rate"] == Ratio(1, 1)
        assert (answered.gold_total, answered.gold_failed) == (2, 0)


@pytest.mark.req("C-509", "C-601")
def test_a_silent_memory_answers_nothing() -> None:
    silent = cell(played())
    assert silent.metrics["continuity_rate"] == Ratio(0, 2)
    assert silent.failed_items == ("co/5/d1", "co/5/d2")
    assert cell(played(), ANY).metrics["stored_continuity_rate"] is None


@pytest.mark.req("C-509")
def test_a_pointer_alone_never_answers_a_stored_only_probe() -> None:
    pointed = cell(played(text=POINTER, ids=("projects/quill",)))
    assert pointed.metrics["continuity_rate"] == Ratio(1, 2)
    assert pointed.metrics["stored_continuity_rate"] == Ratio(0, 1)


@pytest.mark.req("C-204")
def test_the_expected_page_answers_an_open_probe_only() -> None:
    assert cell(played(ids=("projects/quill",)), ANY).gold_failed == 0
    assert cell(played(ids=("projects/other",)), ANY).gold_failed == 1
    assert cell(played(ids=("projects/quill",)), STORED).gold_failed == 1


@pytest.mark.req("C-204", "C-509")
@pytest.mark.parametrize("at", [1, 6])
def test_what_came_in_another_session_or_too_late_does_not_count(at: int) -> None:
    assert cell(played(at, ids=("projects/quill",), facts=(FACT,))).gold_failed == 2


@pytest.mark.req("C-509")
def test_a_forbidden_word_spoils_the_fact() -> None:
    assert cell(played(facts=("Quill moved from April to the ninth of May",))).gold_failed == 2


@pytest.mark.req("C-509")
def test_keywords_scattered_over_a_list_are_no_fact() -> None:
    assert cell(played(text="- Quill is a project\n- Ada was born on the ninth of May")).gold_failed == 2


@pytest.mark.req("C-509")
def test_a_fact_in_wrapped_prose_counts() -> None:
    assert cell(played(text="As agreed, the Quill launch is now on\nthe ninth of May.")).gold_failed == 0


@pytest.mark.req("C-509", "C-620")
@pytest.mark.parametrize(
    "echo",
    [
        "So Quill is on the ninth of May, is it? Tell me.",
        "You asked: So Quill is on the ninth of May, is it? Tell me.",
        "So Quill is on the ninth of May, is it?",
        "quill is on the ninth of May",
    ],
)
def test_repeating_the_question_is_no_memory(echo: str) -> None:
    asking = replace(
        FIXTURE,
        events=(
            *FIXTURE.events[:2],
            Turn(3, "user", "So Quill is on the ninth of May, is it? Tell me."),
            *FIXTURE.events[3:],
        ),
    )
    for echoed in (played(text=echo), played(facts=(echo,))):
        assert cell(echoed, fixture=asking).gold_failed == 2
    assert cell(played(facts=(FACT,)), fixture=asking).gold_failed == 0


@pytest.mark.req("C-509")
def test_a_fact_may_hold_the_words_of_a_short_question() -> None:
    asking = replace(FIXTURE, events=(*FIXTURE.events[:2], Turn(3, "user", "Quill launch"), *FIXTURE.events[3:]))
    assert cell(played(facts=(FACT,)), fixture=asking).gold_failed == 0


@pytest.mark.req("C-509")
def test_a_probe_without_keywords_is_answered_by_its_page_only() -> None:
    bare = replace(ANY, match_keywords=(), forbid_keywords=())
    assert cell(played(facts=(FACT,)), bare).gold_failed == 1
    assert cell(played(ids=("projects/quill",)), bare).gold_failed == 0


@pytest.mark.req("C-604")
@pytest.mark.parametrize("event_id", [2, 3, 5])
def test_an_error_on_the_way_to_the_answer_fails_the_probe_and_counts(event_id: int) -> None:
    reached = played(facts=(FACT,))
    changed = tuple(replace(o, error="late") if o.event_id == event_id else o for o in reached.observations)
    broken = cell(replace(reached, observations=changed))
    assert (broken.errors, broken.gold_failed, broken.status) == (2, 2, "invalid")


@pytest.mark.req("C-604")
def test_a_write_that_failed_is_an_error_beside_the_probes() -> None:
    reached = played(facts=(FACT,))
    failed = Observation(9, "write", error="edit refused")
    broken = cell(replace(reached, observations=(*reached.observations, failed)))
    assert (broken.errors, broken.events, broken.gold_failed, broken.status) == (1, 3, 0, "invalid")


@pytest.mark.req("C-604")
def test_a_session_that_was_never_written_back_is_an_error() -> None:
    reached = played(facts=(FACT,))
    skipped = replace(reached, observations=tuple(o for o in reached.observations if o.kind != "persist"))
    assert cell(skipped).errors == 2


@pytest.mark.req("C-132")
def test_in_a_pair_the_probe_is_the_readers() -> None:
    pair = replace(
        FIXTURE,
        declares=(("w", ("write-back", "continuity")), ("r", ("continuity",))),
        origins=((1, Origin("w", 1)), (3, Origin("r", 1)), (5, Origin("r", 3)), (6, Origin("r", 4))),
    )
    silent = cell(played(), fixture=pair)
    assert (silent.fixtures, silent.failed_items) == (("r",), ("r/3/d1", "r/3/d2"))
    undeclared = replace(pair, declares=(("w", ("continuity",)), ("r", ("push",))))
    gold = Gold("co", {}, (ANY,))
    assert judge(SUITES["continuity"], "sut", SEAMS["openclaw"], [(undeclared, gold, played())]) is None
