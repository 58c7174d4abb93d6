"""Know-to-ask and push, judged from small scripts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from brainbench.gold import EventGold, Gold
from brainbench.metrics import Count, Mean, Ratio
from brainbench.model import (
    Capability,
    Edit,
    Event,
    Fixture,
    Observation,
    Origin,
    Replayed,
    Resync,
    SessionBreak,
    SourceDecl,
    Turn,
    Write,
)
from brainbench.seams import SEAMS
from brainbench.suites import SUITES, Cell, judge, push_ceiling

OPENCLAW, CODEX, DIRECT = SEAMS["openclaw"], SEAMS["codex"], SEAMS["direct"]
FIXTURE = Fixture(
    fixture_id="fx",
    suites=("know-to-ask", "push"),
    category="direct",
    stratum="easy",
    language="en",
    setup=(
        Write(100, via="page", actor="owner", slug="people/ada", content="Ada"),
        Write(101, via="page", actor="owner", slug="people/bo", content="Bo"),
    ),
    events=(
        Turn(1, "user", "What about Ada and Bo?"),
        Turn(2, "assistant", "Both are well."),
        Turn(3, "user", "Nice weather."),
        Turn(4, "user", "Perhaps Bo?"),
        Turn(5, "user", "Go on."),
    ),
)
GOLD = Gold(
    "fx",
    {
        1: EventGold(1, "must", ("people/ada", "people/bo"), ("orgs/ado",)),
        3: EventGold(3, "must_not"),
        4: EventGold(4, "may", ("people/bo",)),
    },
)


def seen(**injected: tuple[str, ...]) -> Replayed:
    """Observations of the four user turns: `t1=("people/ada",)`; the others are silent."""
    turns = (
        Observation(event_id=n, kind="turn", ids=ids, text=" ".join(ids), tokens=10 * len(ids))
        for n in (1, 3, 4, 5)
        for ids in (injected.get(f"t{n}", ()),)
    )
    return Replayed("fx", "sut", "openclaw", tuple(turns))


def cell(suite: str, replayed: Replayed, fixture: Fixture = FIXTURE, gold: Gold = GOLD) -> Cell:
    found = judge(SUITES[suite], "sut", OPENCLAW, [(fixture, gold, replayed)])
    assert found is not None
    return found


def with_error(replayed: Replayed, event_id: int) -> Replayed:
    changed = tuple(replace(o, error="timed out") if o.event_id == event_id else o for o in replayed.observations)
    return replace(replayed, observations=changed)


PERFECT = seen(t1=("people/ada", "people/bo"), t4=("people/bo",))


@pytest.mark.req("C-601", "C-602")
def test_a_perfect_memory_fails_nothing() -> None:
    asked, pushed = cell("know-to-ask", PERFECT), cell("push", PERFECT)
    assert (asked.gold_total, asked.gold_failed, asked.failed_items) == (2, 0, ())
    assert asked.metrics["know_to_ask_failure_rate"] == Ratio(0, 1)
    assert asked.metrics["false_fire_rate"] == Ratio(0, 1)
    assert (pushed.gold_total, pushed.gold_failed) == (2, 0)
    assert pushed.metrics["push_recall"] == Ratio(2, 2)
    assert pushed.metrics["push_precision"] == Ratio(3, 3)


@pytest.mark.req("C-601", "C-602")
def test_a_silent_memory_misses_everything_and_has_no_precision() -> None:
    asked, pushed = cell("know-to-ask", seen()), cell("push", seen())
    assert asked.metrics["know_to_ask_failure_rate"] == Ratio(1, 1)
    assert asked.metrics["false_fire_rate"] == Ratio(0, 1)
    assert asked.failed_items == ("fx/1",)
    assert pushed.metrics["push_precision"] is None
    assert pushed.metrics["push_recall"] == Ratio(0, 2)
    assert pushed.failed_items == ("fx/1/people/ada", "fx/1/people/bo")


@pytest.mark.req("C-601")
def test_always_injecting_cannot_win_both_metrics() -> None:
    noisy = cell("know-to-ask", seen(t1=("people/ada",), t3=("people/ada",)))
    assert noisy.metrics["know_to_ask_failure_rate"] == Ratio(0, 1)
    assert noisy.metrics["false_fire_rate"] == Ratio(1, 1)
    assert noisy.failed_items == ("fx/3",)


@pytest.mark.req("C-601")
def test_a_text_that_names_no_page_is_a_false_fire_too() -> None:
    def saying(text: str) -> Replayed:
        said = tuple(replace(o, text=text) if o.event_id == 3 else o for o in PERFECT.observations)
        return replace(PERFECT, observations=said)

    assert cell("know-to-ask", saying("Remember: Ada is well.")).failed_items == ("fx/3",)
    assert cell("know-to-ask", saying(" \n")).failed_items == ()
    assert cell("know-to-ask", saying("Nice weather.\n")).failed_items == ()


@pytest.mark.req("C-601")
def test_an_acceptable_page_counts_as_help_but_not_as_recall() -> None:
    replayed = seen(t1=("orgs/ado",))
    assert cell("know-to-ask", replayed).metrics["know_to_ask_failure_rate"] == Ratio(0, 1)
    assert cell("push", replayed).metrics["push_precision"] == Ratio(1, 1)
    assert cell("push", replayed).metrics["push_recall"] == Ratio(0, 2)


@pytest.mark.req("C-204")
def test_a_turn_that_may_be_helped_is_unscored_but_its_pages_count_for_precision() -> None:
    replayed = seen(t4=("people/bo", "people/cy"))
    assert cell("know-to-ask", replayed).gold_total == 2
    assert cell("push", replayed).metrics["push_precision"] == Ratio(1, 2)


@pytest.mark.req("C-601")
def test_a_turn_that_gold_does_not_mention_counts_only_in_diagnostics() -> None:
    replayed = seen(t5=("people/cy",))
    pushed = cell("push", replayed)
    assert pushed.metrics["push_precision"] is None
    assert pushed.metrics["unresolved_rate"] == Ratio(1, 1)
    assert cell("know-to-ask", replayed).gold_failed == 1


@pytest.mark.req("C-605")
def test_an_id_injected_twice_counts_once() -> None:
    twice = seen(t1=("people/ada", "people/ada", "people/zed"))
    assert cell("push", twice).metrics["push_precision"] == Ratio(1, 2)
    assert cell("push", twice).metrics["push_recall"] == Ratio(1, 2)


@pytest.mark.req("C-604")
def test_an_errored_turn_fails_in_each_of_its_denominators_and_counts_as_an_error() -> None:
    asked = cell("know-to-ask", with_error(PERFECT, 1))
    assert asked.metrics["know_to_ask_failure_rate"] == Ratio(1, 1)
    assert cell("push", with_error(PERFECT, 1)).metrics["push_recall"] == Ratio(0, 2)
    quiet = cell("know-to-ask", with_error(PERFECT, 3))
    assert quiet.metrics["false_fire_rate"] == Ratio(1, 1)
    assert (quiet.errors, quiet.events, quiet.status) == (1, 2, "invalid")
    assert "1 of 2 events" in quiet.reason


@pytest.mark.req("C-604")
def test_a_turn_without_an_observation_is_an_error_not_silence() -> None:
    blind = replace(PERFECT, observations=PERFECT.observations[1:])
    asked = cell("know-to-ask", blind)
    assert (asked.errors, asked.gold_failed, asked.status) == (1, 1, "invalid")


@pytest.mark.req("C-604")
def test_an_error_on_a_turn_that_was_not_asked_is_still_an_error() -> None:
    asked = cell("know-to-ask", with_error(PERFECT, 5))
    assert (asked.errors, asked.events, asked.gold_failed) == (1, 3, 0)


@pytest.mark.req("C-604")
@pytest.mark.parametrize("kind", ["write", "persist"])
def test_a_write_that_failed_under_the_turns_is_an_error_of_every_suite(kind: str) -> None:
    failed = Observation(9, "write" if kind == "write" else "persist", error="edit refused")
    broken = replace(PERFECT, observations=(*PERFECT.observations, failed))
    for suite, events in (("know-to-ask", 3), ("push", 4)):
        judged = cell(suite, broken)
        assert (judged.errors, judged.events, judged.gold_failed, judged.status) == (1, events, 0, "invalid")


def test_what_was_not_asked_any_more_hides_no_reason() -> None:
    turns = tuple(Turn(n, "user", "hm") for n in range(1, 10))
    fixture, gold = replace(FIXTURE, events=turns), Gold("fx", {n: EventGold(n, "must_not") for n in range(1, 10)})
    words = ["context: no answer in 5 s", *["not asked: context: no answer in 5 s"] * 8]
    observed = tuple(Observation(n, "turn", error=said) for n, said in enumerate(words, 1))
    judged = cell("know-to-ask", Replayed("fx", "sut", "openclaw", observed), fixture, gold)
    assert judged.reason == "every event went wrong: context: no answer in 5 s; in fixture fx"


@pytest.mark.req("C-604")
@pytest.mark.parametrize(("errors", "status"), [(0, "scored"), (2, "scored"), (3, "invalid")])
def test_a_cell_is_invalid_past_two_percent_of_errors(errors: int, status: str) -> None:
    turns = tuple(Turn(n, "user", "hm") for n in range(1, 101))
    fixture = replace(FIXTURE, events=turns)
    gold = Gold("fx", {n: EventGold(n, "must_not") for n in range(1, 101)})
    observed = tuple(Observation(n, "turn", error="timed out" if n <= errors else None) for n in range(1, 101))
    judged = cell("know-to-ask", Replayed("fx", "sut", "openclaw", observed), fixture, gold)
    assert (judged.status, judged.errors, judged.gold_failed) == (status, errors, errors)
    assert ("most often: timed out; in fixture fx" in judged.reason) == (errors > 0)
    assert ("more than 2 %" in judged.reason) == (status == "invalid")


@pytest.mark.req("C-202", "C-604")
def test_missing_capabilities_are_not_applicable_and_in_no_denominator() -> None:
    lacking = replace(seen(), missing=("sources",))
    other = replace(FIXTURE, fixture_id="other")
    both = judge(SUITES["push"], "sut", OPENCLAW, [(FIXTURE, GOLD, lacking), (other, GOLD, PERFECT)])
    assert both is not None
    assert (both.status, both.not_applicable, both.fixtures, both.gold_total) == ("scored", ("fx",), ("other",), 2)
    assert both.lacking == {"sources": 1}
    alone = cell("push", lacking)
    assert (alone.status, alone.gold_total, alone.metrics) == ("not_applicable", 0, {})
    assert "sources" in alone.reason


@pytest.mark.req("C-404")
def test_a_suite_that_the_system_or_the_seam_cannot_carry_is_not_applicable() -> None:
    played = [(FIXTURE, GOLD, PERFECT)]
    unable = judge(SUITES["push"], "sut", OPENCLAW, played, can=frozenset({Capability.PAGE_WRITE}))
    assert unable is not None
    assert (unable.status, unable.reason) == ("not_applicable", "the system lacks context or hook_process or search")
    direct = judge(SUITES["push"], "sut", DIRECT, played)
    assert direct is not None
    assert direct.status == "not_applicable"


@pytest.mark.req("C-112")
def test_a_suite_that_asks_nothing_has_no_cell() -> None:
    silent = Gold("fx", {5: EventGold(5)})
    assert judge(SUITES["push"], "sut", OPENCLAW, [(FIXTURE, silent, PERFECT)]) is None
    undeclared = replace(FIXTURE, suites=("write-back",))
    assert judge(SUITES["push"], "sut", OPENCLAW, [(undeclared, GOLD, PERFECT)]) is None
    assert judge(SUITES["push"], "sut", OPENCLAW, []) is None


@pytest.mark.req("C-130")
def test_a_fixture_that_could_not_be_seeded_is_unscored() -> None:
    unseeded = replace(seen(), seed_failure="page people/ada cannot be read back")
    other = replace(FIXTURE, fixture_id="other")
    both = judge(SUITES["push"], "sut", OPENCLAW, [(FIXTURE, GOLD, unseeded), (other, GOLD, PERFECT)])
    assert both is not None
    assert (both.status, both.fixtures, both.gold_failed) == ("invalid", ("other",), 0)
    assert cell("push", unseeded).status == "failed"


@pytest.mark.req("C-130")
def test_a_system_that_cannot_be_filled_for_what_is_hard_has_no_rate() -> None:
    unseeded = replace(seen(), seed_failure="page people/ada cannot be read back")
    played = [(replace(FIXTURE, fixture_id=f"fx-{n}"), GOLD, PERFECT if n else unseeded) for n in range(49)]
    found = judge(SUITES["push"], "sut", OPENCLAW, played)
    assert found is not None
    assert (found.status, found.reason) == ("invalid", "1 of 49 fixtures could not be seeded, more than 2 %")
    enough = judge(SUITES["push"], "sut", OPENCLAW, [*played, (replace(FIXTURE, fixture_id="fx-49"), GOLD, PERFECT)])
    assert enough is not None
    assert (enough.status, enough.reason) == ("scored", "")


@pytest.mark.req("C-601")
def test_a_cell_is_sliced_by_stratum_category_and_language() -> None:
    hard = replace(FIXTURE, fixture_id="hard", stratum="hard", category="typo", language="de")
    both = judge(SUITES["push"], "sut", OPENCLAW, [(FIXTURE, GOLD, PERFECT), (hard, GOLD, seen())])
    assert both is not None
    strata = both.slices["stratum"]
    assert (strata["easy"].gold_failed, strata["hard"].gold_failed) == (0, 2)
    assert strata["hard"].metrics["push_recall"] == Ratio(0, 2)
    assert set(both.slices["category"]) == {"direct", "typo"}
    assert both.slices["language"]["de"].gold_total == 2
    assert both.metrics["push_recall"] == Ratio(2, 4)


@pytest.mark.req("C-132", "C-208")
def test_in_a_pair_only_the_readers_turns_are_judged_and_named_by_their_v1_ids() -> None:
    pair = replace(
        FIXTURE,
        fixture_id="pair",
        events=(Turn(1, "user", "Ada."), SessionBreak(2, persist=True), Turn(3, "user", "Ada?")),
        declares=(("w", ("write-back", "push")), ("r", ("push",))),
        origins=((1, Origin("w", 7)), (3, Origin("r", 1))),
    )
    gold = Gold("pair", {n: EventGold(n, "must", ("people/ada",)) for n in (1, 3)})
    silent = Replayed("pair", "sut", "openclaw", (Observation(1, "turn"), Observation(3, "turn")))
    judged = cell("push", silent, pair, gold)
    assert (judged.fixtures, judged.failed_items) == (("r",), ("r/1/people/ada",))
    assert judge(SUITES["know-to-ask"], "sut", OPENCLAW, [(pair, gold, silent)]) is None


@pytest.mark.req("C-331")
def test_the_ceiling_of_recall_is_what_fits_the_seams_budget() -> None:
    assert push_ceiling(CODEX, [(FIXTURE, GOLD)]) == (1, 2)
    assert push_ceiling(OPENCLAW, [(FIXTURE, GOLD)]) == (2, 2)
    judged = judge(SUITES["push"], "sut", CODEX, [(FIXTURE, GOLD, PERFECT)])
    assert judged is not None
    assert judged.metrics["push_recall_ceiling"] == Ratio(1, 2)


@pytest.mark.req("C-601")
def test_an_id_resolves_when_the_script_or_a_written_session_has_its_page() -> None:
    persisted = Observation(9, "persist", session_page="sessions/1")
    replayed = seen(t5=("people/ada", "sessions/1", "people/zed"))
    with_session = replace(replayed, observations=(*replayed.observations, persisted))
    assert cell("push", with_session).metrics["unresolved_rate"] == Ratio(1, 3)
    assert cell("push", replayed).metrics["unresolved_rate"] == Ratio(2, 3)
    in_universe = replace(FIXTURE, universe="large")
    assert cell("push", replayed, in_universe).metrics["unresolved_rate"] is None


@pytest.mark.req("C-604")
def test_what_came_with_an_error_counts_nowhere() -> None:
    broken = cell("push", with_error(PERFECT, 1))
    assert broken.metrics["push_precision"] == Ratio(1, 1)
    assert broken.metrics["avg_injected_tokens"] == Mean(10.0, 3)
    assert broken.metrics["unresolved_rate"] == Ratio(0, 1)


@pytest.mark.req("C-402", "C-404")
def test_a_cell_is_of_the_kind_that_really_ran() -> None:
    played = [(FIXTURE, GOLD, PERFECT)]
    kinds = [judge(SUITES["push"], "sut", OPENCLAW, played, kind=kind) for kind in (None, "contract")]
    assert [found.kind for found in kinds if found] == ["production", "contract"]
    assert all(found.deviations == OPENCLAW.deviations for found in kinds if found)


SCOPED = replace(
    FIXTURE,
    sources=(SourceDecl("default"), SourceDecl("team", "external")),
    setup=(
        *(replace(write, source="default") for write in FIXTURE.setup),
        Write(102, via="page", actor="owner", slug="people/bo", content="Bo. canary:zq7-visby", source="team"),
        Write(103, via="page", actor="owner", slug="people/cy", content="Cy", source="team"),
    ),
)


@pytest.mark.req("C-601", "C-603")
def test_a_page_seeded_only_in_a_foreign_source_is_a_violation() -> None:
    leaking = cell("know-to-ask", seen(t5=("people/cy", "people/bo")), SCOPED)
    assert leaking.metrics["source_isolation_violations"] == Count(1)
    assert leaking.leaks == ("fx/5/people/cy",)


@pytest.mark.req("C-603")
@pytest.mark.parametrize("text", ["see canary:zq7-visby", "see ZQ7-Visby", "x canary:ZQ7-VISBY."])
def test_foreign_content_under_a_shared_slug_is_caught_by_its_canary(text: str) -> None:
    replayed = replace(seen(), observations=(Observation(1, "turn", ids=("people/bo",), text=text),))
    assert cell("push", replayed, SCOPED).metrics["source_isolation_violations"] == Count(1)


@pytest.mark.req("C-603", "C-604")
def test_an_error_does_not_hide_a_leak() -> None:
    replayed = replace(seen(), observations=(Observation(1, "turn", ids=("people/cy",), error="late"),))
    assert cell("push", replayed, SCOPED).metrics["source_isolation_violations"] == Count(1)


@pytest.mark.req("C-603")
def test_isolation_is_zero_when_kept_and_none_with_a_single_source() -> None:
    assert cell("push", PERFECT, SCOPED).metrics["source_isolation_violations"] == Count(0)
    assert cell("push", PERFECT).metrics["source_isolation_violations"] is None


@pytest.mark.req("C-603")
def test_what_is_written_in_the_active_source_is_not_foreign() -> None:
    own = replace(SCOPED, active_source="team")
    assert cell("push", seen(t1=("people/cy",)), own).metrics["source_isolation_violations"] == Count(0)
    assert cell("push", seen(t1=("people/ada",)), own).metrics["source_isolation_violations"] == Count(1)


@pytest.mark.req("C-603")
@pytest.mark.parametrize(
    "change",
    [
        Edit(200, slug="people/cy", actor="owner", content="now canary:ed11tt", source="team"),
        Edit(200, slug="people/cy", actor="owner", replace=("Cy", "canary:ed11tt"), source="team"),
        Resync(200, snapshot=(("cy.md", "canary:ed11tt"),), source="team"),
        Write(200, via="fact", actor="owner", content="canary:ed11tt", source="team"),
    ],
)
def test_a_canary_planted_by_a_later_event_betrays_its_source_too(change: Event) -> None:
    later = replace(SCOPED, events=(change, *SCOPED.events))
    leaking = replace(seen(), observations=(Observation(3, "turn", text="so: ED11TT"),))
    assert cell("push", leaking, later).metrics["source_isolation_violations"] == Count(1)
    own = replace(SCOPED, events=(replace(change, source="default"), *SCOPED.events))
    assert cell("push", leaking, own).metrics["source_isolation_violations"] == Count(0)
