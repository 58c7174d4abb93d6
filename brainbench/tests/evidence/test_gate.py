"""The gate: each rule has a run that keeps it and one that breaks it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from brainbench.errors import UsageError
from brainbench.evidence import Scoreboard
from brainbench.evidence.baseline import Baseline, as_v1, baseline_of, read_baseline, serialised
from brainbench.evidence.gate import CommittedFile, gate, read_committed, why_no_baseline
from brainbench.evidence.outcome import Outcome, outcome_document, when_fresh_is_required
from brainbench.evidence.profile import Profile
from brainbench.metrics import Count, Ratio

WORDS = "The budget was halved on purpose: see the note on cost."
Seen = Callable[..., Any]


def committed(board: Scoreboard, words: str | None = None, version: int = 2) -> CommittedFile:
    baseline = baseline_of(board, words)
    return read_committed(serialised(as_v1(baseline) if version == 1 else baseline), "conformance.json")


def metrics_of(outcome: Outcome) -> set[str]:
    return {breach.metric for breach in outcome.breaches}


@pytest.fixture
def good(world: Any) -> Scoreboard:
    return world.board()


@pytest.fixture
def base(good: Scoreboard) -> Baseline:
    return baseline_of(good)


@pytest.fixture
def worse(world: Any, seen: Seen) -> Scoreboard:
    """One hard fixture loses its page on one turn."""
    return world.board({"hard-3": seen(3, ids=())})


@pytest.mark.req("C-705", "C-709", "C-120")
def test_the_same_run_passes_with_exit_code_zero(profile: Profile, good: Scoreboard, base: Baseline) -> None:
    outcome = gate(profile, good, base, committed(good))
    assert (outcome.verdict, outcome.mode, outcome.exit_code) == ("pass", "same-hash", 0)
    assert (outcome.breaches, outcome.notes, outcome.stale, outcome.lines()) == ((), (), (), ())


@pytest.mark.req("C-705", "C-707", "C-120")
def test_one_lost_page_is_a_regression_with_exit_code_one(profile: Profile, worse: Scoreboard, base: Baseline) -> None:
    outcome = gate(profile, worse, base, None)
    assert (outcome.verdict, outcome.exit_code) == ("fail", 1)
    assert metrics_of(outcome) == {"gold_failed", "failed_items", "know_to_ask_failure_rate", "push_recall"}
    assert any("sut/openclaw/push: push_recall: 60/60 -> 59/60" in line for line in outcome.lines())
    assert all(line.startswith("brainbench: fail: regression: ") for line in outcome.lines())
    assert "newly failed: hard-3/3/people/ada" in str(outcome.breaches)


@pytest.mark.req("C-705")
def test_a_new_failure_is_a_breach_even_if_another_was_mended(lenient: Profile, world: Any, seen: Seen) -> None:
    before = world.board({"hard-3": seen(3, ids=())})
    after = world.board({"hard-4": seen(3, ids=())})
    outcome = gate(lenient, after, baseline_of(before), None)
    assert (outcome.verdict, metrics_of(outcome)) == ("fail", {"failed_items"})


@pytest.mark.req("C-709")
def test_an_improvement_passes_and_says_that_the_baseline_is_stale(
    lenient: Profile, good: Scoreboard, worse: Scoreboard
) -> None:
    outcome = gate(lenient, good, baseline_of(worse), None)
    assert outcome.verdict == "pass"
    assert outcome.notes[0].startswith("baseline is stale: ")
    assert any("push_recall 59/60 -> 60/60" in line for line in outcome.stale)
    required = when_fresh_is_required(outcome)
    assert (required.exit_code, required.lines()[0][:28]) == (1, "brainbench: fail: stale: the")
    banked = gate(lenient, good, baseline_of(worse), committed(good))
    assert (banked.verdict, banked.stale) == ("pass", ())
    assert when_fresh_is_required(banked) == banked


@pytest.mark.req("C-703")
@pytest.mark.parametrize(
    "change",
    [
        {"llm": True},
        {"systems": ("sut", "other")},
        {"harnesses": ("openclaw",)},
        {"suites": ("push",)},
        {"modes": {"hook": "inproc"}},
        {"deviations": {}},
    ],
)
def test_a_bound_field_that_differs_is_inconclusive(
    profile: Profile, good: Scoreboard, base: Baseline, change: dict[str, Any]
) -> None:
    other = replace(good, config=replace(good.config, **change))
    outcome = gate(profile, other, base, committed(good))
    assert (outcome.verdict, outcome.exit_code) == ("inconclusive", 2)
    assert f"config.{next(iter(change))}" in outcome.lines()[0]


@pytest.mark.req("C-703", "C-708")
def test_a_new_config_passes_when_the_committed_baseline_is_this_run(
    profile: Profile, good: Scoreboard, base: Baseline
) -> None:
    other = replace(good, config=replace(good.config, modes={"hook": "inproc"}))
    outcome = gate(profile, other, base, committed(other))
    assert (outcome.verdict, outcome.mode) == ("pass", "corpus-bless")
    narrower = replace(other, cells=other.cells[:-1])
    refused = gate(profile, narrower, base, committed(narrower))
    assert (refused.verdict, metrics_of(refused)) == ("fail", {"cell"})
    assert gate(profile, narrower, base, committed(narrower, WORDS)).verdict == "pass"


@pytest.mark.req("C-704", "C-604")
def test_a_single_error_makes_the_run_inconclusive(lenient: Profile, world: Any, seen: Seen, base: Baseline) -> None:
    broken = world.board({"easy-1": seen(4, error="timed out")})
    outcome = gate(lenient, broken, base, None)
    assert (outcome.verdict, outcome.exit_code) == ("inconclusive", 2)
    assert "brainbench: inconclusive: error_share: sut/openclaw/know-to-ask: 1 of 90" in outcome.lines()[0]


@pytest.mark.req("C-704")
def test_an_invalid_cell_a_seed_failure_or_a_failed_panel_is_inconclusive(
    lenient: Profile, world: Any, seen: Seen, good: Scoreboard, base: Baseline
) -> None:
    invalid = world.board({"*": seen(4, error="timed out")})
    unseeded = replace(good, seed_failures=(("sut", "easy-1", "page cannot be read back"),))
    panel = replace(good, panel_failures=("null passed the gate",))
    for board, reason in ((invalid, "error_share"), (unseeded, "seed_failure"), (panel, "panel")):
        outcome = gate(lenient, board, base, None)
        assert outcome.verdict == "inconclusive"
        assert f"inconclusive: {reason}: " in outcome.lines()[0]


@pytest.mark.req("C-704", "C-706")
def test_regressions_in_an_untrusted_run_are_no_verdict_but_a_leak_is(
    profile: Profile, world: Any, seen: Seen, worse: Scoreboard, base: Baseline
) -> None:
    unseeded = replace(worse, seed_failures=(("sut", "easy-1", "no"),))
    assert gate(profile, unseeded, base, None).exit_code == 2
    leaking = world.board({"*": seen(4, error="late", ids=("people/cy",))})
    outcome = gate(profile, leaking, base, None)
    assert (outcome.exit_code, metrics_of(outcome)) == (1, {"source_isolation_violations"})


@pytest.mark.req("C-705", "C-202")
def test_a_missing_or_no_longer_applicable_cell_is_a_breach(profile: Profile, good: Scoreboard, base: Baseline) -> None:
    gone = gate(profile, replace(good, cells=good.cells[1:]), base, None)
    assert (gone.verdict, gone.breaches[0].current) == ("fail", None)
    unable = replace(good.cells[0], status="not_applicable", reason="the system lacks context")
    lost = gate(profile, replace(good, cells=(unable, *good.cells[1:])), base, None)
    assert "the cell is gone: the system lacks context" in lost.lines()[0]


@pytest.mark.req("C-202")
def test_a_capability_that_was_lost_is_a_breach_and_one_that_was_gained_is_none(
    profile: Profile, good: Scoreboard, base: Baseline
) -> None:
    poorer = replace(good, capabilities={"sut": ("context", "page_write")})
    outcome = gate(profile, poorer, base, None)
    assert (outcome.verdict, metrics_of(outcome)) == ("fail", {"capability"})
    assert "no longer claims recall_facts" in outcome.lines()[0]
    richer = replace(good, capabilities={"sut": (*good.capabilities["sut"], "purge")})
    assert gate(profile, richer, base, None).verdict == "pass"


@pytest.mark.req("C-705")
def test_a_changed_total_on_the_same_corpus_is_a_breach(lenient: Profile, good: Scoreboard, base: Baseline) -> None:
    fewer = replace(good.cells[0], gold_total=good.cells[0].gold_total - 1)
    outcome = gate(lenient, replace(good, cells=(fewer, *good.cells[1:])), base, None)
    assert (outcome.verdict, metrics_of(outcome)) == ("fail", {"gold_total"})


@pytest.mark.req("C-705")
def test_a_metric_that_was_defined_and_is_none_now_is_a_breach(
    lenient: Profile, good: Scoreboard, base: Baseline
) -> None:
    undefined = replace(good.cells[0], metrics={**good.cells[0].metrics, "false_fire_rate": None})
    outcome = gate(lenient, replace(good, cells=(undefined, *good.cells[1:])), base, None)
    assert (outcome.verdict, metrics_of(outcome)) == ("fail", {"false_fire_rate"})
    assert outcome.breaches[0].current is None


@pytest.mark.req("C-708", "C-120")
def test_another_corpus_needs_a_committed_baseline_of_this_very_run(
    profile: Profile, world: Any, good: Scoreboard, base: Baseline
) -> None:
    grown = replace(good, fixtures_hash="a" * 64)
    for file in (None, committed(good), committed(replace(grown, corpus_hash="d" * 64))):
        outcome = gate(profile, grown, base, file)
        assert (outcome.verdict, outcome.mode, outcome.exit_code) == ("inconclusive", "corpus-bless", 2)
        assert "--update-baseline" in outcome.lines()[0]
    assert gate(profile, grown, base, committed(grown)).verdict == "pass"


@pytest.mark.req("C-708")
def test_a_split_that_moved_is_another_corpus(profile: Profile, good: Scoreboard, base: Baseline) -> None:
    moved = replace(good, corpus_hash="d" * 64)
    assert gate(profile, moved, base, committed(good)).mode == "corpus-bless"


@pytest.mark.req("C-708")
def test_a_regression_on_another_corpus_needs_its_own_justification(
    profile: Profile, worse: Scoreboard, good: Scoreboard
) -> None:
    base = baseline_of(good, WORDS)
    grown = replace(worse, fixtures_hash="a" * 64)
    assert gate(profile, grown, base, committed(grown)).verdict == "fail"
    assert gate(profile, grown, base, committed(grown, "too short")).verdict == "fail"
    assert gate(profile, grown, base, committed(grown, " " * 40)).verdict == "fail"
    assert gate(profile, grown, base, committed(grown, WORDS)).verdict == "fail"
    outcome = gate(profile, grown, base, committed(grown, WORDS + " Renewed."))
    assert outcome.verdict == "pass"
    assert "regressions justified: " in outcome.notes[0]
    assert outcome.breaches


@pytest.mark.req("C-705")
def test_hollowing_a_stratum_is_a_breach_even_when_the_total_holds(
    lenient: Profile, world: Any, base: Baseline
) -> None:
    names = tuple(n for n in world.names if n[0] != "hard-9")
    refilled = (*names, ("easy-10", "easy"))
    other = replace(world, fixtures_hash="a" * 64)
    for corpus, named in ((names, {"gold_total"}), (refilled, {"gold_total"})):
        board = replace(other, names=corpus).board()
        outcome = gate(lenient, board, base, committed(board))
        assert (outcome.verdict, metrics_of(outcome)) == ("fail", named)
    assert "stratum hard is hollowed: 30 -> 27" in str(outcome.breaches)
    moved = replace(other, names=(*world.names, ("easy-10", "easy"))).board()
    assert gate(lenient, moved, base, committed(moved)).verdict == "pass"


@pytest.mark.req("C-707")
def test_a_committed_baseline_that_is_not_this_run_is_inconclusive(
    profile: Profile, good: Scoreboard, worse: Scoreboard, base: Baseline
) -> None:
    assert gate(profile, good, base, committed(worse)).exit_code == 2
    handmade = committed(worse, WORDS)
    spaced = CommittedFile(handmade.data + b"\n", handmade.baseline)
    assert gate(profile, worse, base, spaced).exit_code == 2


@pytest.mark.req("C-707", "C-651")
def test_a_new_baseline_that_hides_a_regression_is_refused_without_a_justification(
    profile: Profile, worse: Scoreboard, base: Baseline
) -> None:
    hidden = gate(profile, worse, base, committed(worse))
    assert (hidden.verdict, hidden.mode) == ("fail", "same-hash")
    assert "justification" in hidden.notes[0]
    assert gate(profile, worse, base, committed(worse, WORDS)).verdict == "pass"


@pytest.mark.req("C-707")
def test_other_words_in_the_same_baseline_bless_nothing(profile: Profile, worse: Scoreboard, good: Scoreboard) -> None:
    outcome = gate(profile, worse, baseline_of(good), committed(good, WORDS))
    assert outcome.verdict == "fail"


@pytest.mark.req("C-707", "C-708")
def test_the_words_of_this_run_stand_for_the_file_it_will_write(
    profile: Profile, worse: Scoreboard, base: Baseline
) -> None:
    assert gate(profile, worse, base, None, justification=WORDS).verdict == "pass"
    assert gate(profile, worse, base, None, justification="short").verdict == "fail"


@pytest.mark.req("C-707")
def test_a_local_waiver_passes_with_its_reason_and_is_refused_in_ci(
    profile: Profile, worse: Scoreboard, base: Baseline
) -> None:
    outcome = gate(profile, worse, base, None, allow_regression="trying a cheaper arm")
    assert (outcome.verdict, bool(outcome.breaches)) == ("pass", True)
    assert "trying a cheaper arm" in outcome.notes[0]
    with pytest.raises(UsageError, match="CI"):
        gate(profile, worse, base, None, allow_regression="trying a cheaper arm", ci=True)
    with pytest.raises(UsageError, match="reason"):
        gate(profile, worse, base, None, allow_regression=" ")


@pytest.mark.req("C-706", "C-651")
def test_a_leak_is_never_waived_never_blessed_and_needs_no_base(
    profile: Profile, world: Any, seen: Seen, base: Baseline
) -> None:
    leaking = world.board({"easy-2": seen(3, text="as the team said: PZ41QQ")})
    tries = (
        gate(profile, leaking, base, None, allow_regression="just this once, please"),
        gate(profile, leaking, base, committed(leaking, WORDS)),
        gate(profile, leaking, baseline_of(leaking), committed(leaking)),
        gate(profile, leaking, None, None),
        gate(profile, replace(leaking, fixtures_hash="a" * 64), base, committed(leaking, WORDS)),
        gate(profile, replace(leaking, seed_failures=(("sut", "x", "no"),)), base, None),
    )
    for outcome in tries:
        assert (outcome.exit_code, "source_isolation_violations" in metrics_of(outcome)) == (1, True)
        assert "must be 0; nothing waives this" in str(outcome.breaches)


@pytest.mark.req("C-706")
def test_a_profile_that_forgets_the_zero_list_does_not_lift_it(lenient: Profile, world: Any, seen: Seen) -> None:
    assert not lenient.zero
    leaking = world.board({"easy-2": seen(3, ids=("people/ada", "people/cy"))})
    assert gate(lenient, leaking, baseline_of(leaking), committed(leaking, WORDS)).exit_code == 1


@pytest.mark.req("C-706", "C-720")
def test_a_floor_is_never_waived(profile: Profile, world: Any, seen: Seen) -> None:
    silent = {f"easy-{n}": seen(3, ids=()) for n in range(2)}
    board = world.board(silent)
    for outcome in (
        gate(profile, board, baseline_of(board), committed(board, WORDS)),
        gate(profile, board, baseline_of(board), None, allow_regression="only here, only now"),
        gate(profile, board, None, None),
    ):
        assert outcome.verdict == "fail"
        assert metrics_of(outcome) == {"know_to_ask_failure_rate", "push_recall"}
        assert "easy: 2/20, must be <= 0.0200" in str(outcome.breaches)
        assert outcome.lines()[0].startswith("brainbench: fail: threshold: ")


@pytest.mark.req("C-706")
def test_a_floor_broken_in_the_committed_baseline_fails_a_good_run(
    profile: Profile, world: Any, good: Scoreboard, seen: Seen
) -> None:
    poor = world.board({f"easy-{n}": seen(3, ids=()) for n in range(5)})
    outcome = gate(profile, good, baseline_of(poor), committed(poor))
    assert outcome.verdict == "fail"
    assert "in the committed baseline: easy: 5/20" in str(outcome.breaches)


@pytest.mark.req("C-706")
def test_hard_gold_may_be_missed_where_easy_gold_may_not(profile: Profile, world: Any, seen: Seen) -> None:
    for stratum, verdict in (("hard", "pass"), ("medium", "fail"), ("easy", "fail")):
        board = world.board({f"{stratum}-{n}": seen(3, ids=()) for n in range(5)})
        assert gate(profile, board, baseline_of(board), None).verdict == verdict


@pytest.mark.req("C-706")
def test_recall_is_held_against_what_the_seam_allows(profile: Profile, world: Any, good: Scoreboard) -> None:
    cell = next(c for c in good.cells if c.suite == "push")
    easy = cell.slices["stratum"]["easy"]
    blind = replace(easy, metrics={k: v for k, v in easy.metrics.items() if k != "push_recall_ceiling"})
    sliced = replace(cell, slices={"stratum": {**cell.slices["stratum"], "easy": blind}})
    board = replace(good, cells=(sliced,))
    assert "no ceiling is known" in str(gate(profile, board, baseline_of(board), None).breaches)


@pytest.mark.req("C-620", "C-651", "E-1614")
def test_a_memory_that_never_speaks_or_always_speaks_fails(profile: Profile, world: Any, seen: Seen) -> None:
    def silent(fixture: Any, replayed: Any) -> Any:
        quiet = tuple(replace(o, ids=(), text="", facts=()) for o in replayed.observations)
        return replace(replayed, observations=quiet, facts=())

    board = world.board({"*": silent})
    outcome = gate(profile, board, None, committed(board, WORDS))
    assert outcome.verdict == "fail"
    assert {"know_to_ask_failure_rate", "push_recall", "write_back_fidelity", "stored_continuity_rate"} <= metrics_of(
        outcome
    )
    assert {"push_precision", "provenance_accuracy"} <= metrics_of(outcome), "nothing measured is no excuse"
    noisy = world.board({"*": seen(4, ids=("people/ada",), text="→ `people/ada`")})
    assert "false_fire_rate" in metrics_of(gate(profile, noisy, None, committed(noisy)))


@pytest.mark.req("C-651")
@pytest.mark.parametrize(
    ("event", "change", "metric"),
    [
        (3, {"ids": ()}, "know_to_ask_failure_rate"),
        (4, {"ids": ("people/ada",), "text": "→ `people/ada`"}, "false_fire_rate"),
        (3, {"ids": ("people/ada", "people/zed")}, "push_precision"),
        (3, {"ids": ("people/zed",)}, "push_recall"),
        (2, {"session_page": "s/other"}, "provenance_accuracy"),
        (3, {"facts": ()}, "stored_continuity_rate"),
        (3, {"facts": (), "ids": ()}, "continuity_rate"),
        (3, {"text": "canary:pz41qq"}, "source_isolation_violations"),
    ],
)
def test_breaking_what_was_seen_breaches_the_metric_that_guards_it(
    lenient: Profile, world: Any, seen: Seen, base: Baseline, event: int, change: dict[str, Any], metric: str
) -> None:
    outcome = gate(lenient, world.board({"medium-5": seen(event, **change)}), base, None)
    assert outcome.verdict == "fail"
    assert metric in metrics_of(outcome)


@pytest.mark.req("C-651")
def test_losing_or_misattributing_a_fact_breaches_fidelity_and_attribution(
    lenient: Profile, world: Any, base: Baseline
) -> None:
    def lost(fixture: Any, replayed: Any) -> Any:
        return replace(replayed, facts=())

    def misattributed(fixture: Any, replayed: Any) -> Any:
        return replace(replayed, facts=tuple(replace(f, entity="people/cy") for f in replayed.facts))

    assert "write_back_fidelity" in metrics_of(gate(lenient, world.board({"easy-1": lost}), base, None))
    assert "attribution_accuracy" in metrics_of(gate(lenient, world.board({"easy-1": misattributed}), base, None))


@pytest.mark.req("C-121")
def test_nothing_measured_is_never_a_pass(profile: Profile, good: Scoreboard, base: Baseline) -> None:
    empty = replace(good, cells=())
    unable = replace(good, cells=tuple(_unable(c) for c in good.cells))
    goldless = replace(good, cells=tuple(replace(c, gold_total=0, gold_failed=0, slices={}) for c in good.cells))
    for board, why in ((empty, "no fixture"), (unable, "not applicable"), (goldless, "no gold turn")):
        outcome = gate(profile, board, base, None)
        assert outcome.exit_code == 2
        assert "inconclusive: no_cases: " in outcome.lines()[0]
        assert why in outcome.lines()[0]
    ungated = replace(base, cells={})
    assert gate(profile, good, ungated, None).exit_code == 2
    assert gate(profile, good, None, None).exit_code == 2


def _unable(cell: Any) -> Any:
    return replace(cell, status="not_applicable", metrics={}, slices={}, gold_total=0, reason="lacks context")


@pytest.mark.req("C-121")
def test_a_run_with_holdout_gates_nothing(profile: Profile, good: Scoreboard, base: Baseline) -> None:
    other = replace(good, config=replace(good.config, include_holdout=True))
    assert gate(profile, other, base, committed(other, WORDS)).exit_code == 2
    assert gate(profile, other, baseline_of(other), None).exit_code == 2


@pytest.mark.req("C-121")
def test_a_narrowed_run_never_meets_a_full_baseline_and_blesses_nothing(
    profile: Profile, world: Any, base: Baseline
) -> None:
    few = world.board(suites=("push",))
    narrowed = replace(few, config=replace(few.config, narrowed=True))
    for file in (None, committed(narrowed, WORDS)):
        outcome = gate(profile, narrowed, base, file)
        assert outcome.exit_code == 2
        assert "a narrowed run never meets a full baseline" in outcome.lines()[0]
    assert gate(profile, narrowed, baseline_of(narrowed), None).verdict == "pass"


@pytest.mark.req("C-710")
def test_the_first_landing_is_held_against_the_committed_file(
    profile: Profile, good: Scoreboard, worse: Scoreboard
) -> None:
    assert gate(profile, good, None, committed(good)).verdict == "pass"
    assert gate(profile, worse, None, committed(good)).verdict == "fail"


@pytest.mark.req("C-114", "C-705")
def test_a_version_1_baseline_gates_by_its_rates_and_counts(profile: Profile, v1_world: Any, seen: Seen) -> None:
    good = v1_world.board()
    base = read_baseline(serialised(as_v1(baseline_of(good))), "v1.json")
    assert gate(profile, good, base, None).verdict == "pass"
    worse = v1_world.board({"hard-3": seen(3, ids=())})
    outcome = gate(profile, worse, base, None)
    assert metrics_of(outcome) == {"gold_failed", "know_to_ask_failure_rate", "push_recall"}
    assert gate(profile, worse, base, committed(worse, WORDS, version=1)).verdict == "pass"
    two = replace(good, config=replace(good.config, systems=("sut", "other")))
    assert "holds one system" in gate(profile, two, base, None).lines()[0]


@pytest.mark.req("C-706")
def test_the_floors_of_a_version_1_corpus_hold_for_the_whole_cell(profile: Profile, v1_world: Any, seen: Seen) -> None:
    one = v1_world.board({"hard-1": seen(3, ids=())})
    assert gate(profile, one, baseline_of(one), None).verdict == "pass"
    three = v1_world.board({f"hard-{n}": seen(3, ids=()) for n in range(3)})
    outcome = gate(profile, three, baseline_of(three), None)
    assert metrics_of(outcome) == {"know_to_ask_failure_rate", "push_recall"}


@pytest.mark.req("C-706")
def test_a_floor_never_demands_more_than_the_seam_allows(profile: Profile, v1_world: Any) -> None:
    board = replace(v1_world, seams=("codex",)).board()
    push = next(c for c in board.cells if c.suite == "push")
    half = {**push.metrics, "push_recall": Ratio(1, 2), "push_recall_ceiling": Ratio(1, 2)}
    at_best = replace(board, cells=(replace(push, metrics=half),))
    below = replace(board, cells=(replace(push, metrics={**half, "push_recall": Ratio(49, 100)}),))
    for version in (1, 2):
        assert gate(profile, at_best, None, committed(at_best, version=version)).verdict == "pass"
        assert gate(profile, below, None, committed(below, version=version)).verdict == "fail"


@pytest.mark.req("C-114", "C-706")
def test_a_version_1_file_of_a_version_2_corpus_is_not_held_to_the_floors_of_version_1(
    profile: Profile, world: Any, seen: Seen
) -> None:
    board = world.board({f"hard-{n}": seen(3, ids=()) for n in range(5)})
    assert gate(profile, board, None, committed(board, version=1)).verdict == "pass"


@pytest.mark.req("C-115")
def test_the_outcome_as_a_document_calls_a_failure_a_regression(
    profile: Profile, worse: Scoreboard, base: Baseline, good: Scoreboard
) -> None:
    document = outcome_document(gate(profile, worse, base, None))
    assert (document["verdict"], document["mode"]) == ("regression", "same-hash")
    first = document["breaches"][0]  # type: ignore[index]
    assert list(first) == ["cell", "metric", "baseline", "current", "detail"]
    recall = next(b for b in document["breaches"] if b["metric"] == "push_recall")  # type: ignore[attr-defined]
    assert (recall["baseline"], recall["current"]) == (1.0, 0.9833)
    gone = outcome_document(gate(profile, replace(good, cells=good.cells[1:]), base, None))
    assert gone["breaches"][0]["current"] is None  # type: ignore[index]
    assert outcome_document(gate(profile, good, base, None))["verdict"] == "pass"


@pytest.mark.req("C-122")
def test_a_run_that_cannot_be_trusted_may_not_become_a_baseline(
    profile: Profile, world: Any, seen: Seen, good: Scoreboard, worse: Scoreboard
) -> None:
    assert why_no_baseline(profile, good) == ()
    assert why_no_baseline(profile, worse) == ()
    refused = (
        replace(good, seed_failures=(("sut", "easy-1", "no"),)),
        world.board({"*": seen(4, error="late")}),
        world.board({"easy-1": seen(3, ids=("people/cy",))}),
        world.board({"*": seen(3, ids=())}),
        replace(good, config=replace(good.config, narrowed=True)),
        replace(good, config=replace(good.config, include_holdout=True)),
    )
    assert all(why_no_baseline(profile, board) for board in refused)


def test_a_zero_metric_counts_zero_in_a_clean_run(good: Scoreboard) -> None:
    assert {cell.metrics["source_isolation_violations"] for cell in good.cells} == {Count(0)}


@pytest.mark.req("C-705")
@pytest.mark.parametrize(("left", "verdict"), [(19, "pass"), (18, "fail")])
def test_a_stratum_may_lose_one_twentieth_and_no_more(
    lenient: Profile, good: Scoreboard, left: int, verdict: str
) -> None:
    cell = good.cells[0]
    easy = cell.slices["stratum"]["easy"]

    def sized(total: int, fixtures_hash: str) -> Scoreboard:
        strata = {**cell.slices["stratum"], "easy": replace(easy, gold_total=total)}
        return replace(good, fixtures_hash=fixtures_hash, cells=(replace(cell, slices={"stratum": strata}),))

    smaller = sized(left, "a" * 64)
    outcome = gate(lenient, smaller, baseline_of(sized(20, "f" * 64)), committed(smaller))
    assert outcome.verdict == verdict


@pytest.mark.req("C-708")
@pytest.mark.parametrize(("words", "verdict"), [("x" * 19, "fail"), ("x" * 20, "pass")])
def test_a_justification_has_twenty_characters(
    profile: Profile, worse: Scoreboard, base: Baseline, words: str, verdict: str
) -> None:
    assert gate(profile, worse, base, committed(worse, words)).verdict == verdict


@pytest.mark.req("C-706")
@pytest.mark.parametrize(
    ("metric", "kept", "broken"),
    [
        ("false_fire_rate", Ratio(2, 100), Ratio(201, 10_000)),
        ("know_to_ask_failure_rate", Ratio(2, 100), Ratio(201, 10_000)),
    ],
)
def test_a_floor_is_kept_by_exactly_what_it_demands(
    profile: Profile, v1_world: Any, metric: str, kept: Ratio, broken: Ratio
) -> None:
    board = v1_world.board()
    cell = next(c for c in board.cells if c.suite == "know-to-ask")
    for value, verdict in ((kept, "pass"), (broken, "fail")):
        measured = replace(board, cells=(replace(cell, metrics={**cell.metrics, metric: value}),))
        assert gate(profile, measured, baseline_of(measured), None).verdict == verdict
    precise = next(c for c in board.cells if c.suite == "push")
    for value, verdict in ((Ratio(98, 100), "pass"), (Ratio(9799, 10_000), "fail")):
        pushed = replace(precise, metrics={**precise.metrics, "push_precision": value})
        assert gate(profile, replace(board, cells=(pushed,)), baseline_of(board), None).exit_code == 1
        outcome = gate(profile, replace(board, cells=(pushed,)), baseline_of(replace(board, cells=(pushed,))), None)
        assert outcome.verdict == verdict


@pytest.mark.req("C-706")
def test_what_was_never_injected_has_no_precision_to_hold(profile: Profile, good: Scoreboard) -> None:
    cell = next(c for c in good.cells if c.suite == "push")
    strata = {
        name: replace(part, gold_total=0, metrics={**part.metrics, "push_precision": None, "push_recall": None})
        for name, part in cell.slices["stratum"].items()
    }
    board = replace(good, cells=(replace(cell, slices={"stratum": strata}),))
    assert gate(profile, board, baseline_of(board), None).verdict == "pass"


@pytest.mark.req("C-705")
def test_a_message_names_five_new_failures_and_counts_the_rest(
    lenient: Profile, world: Any, seen: Seen, base: Baseline
) -> None:
    for broken, words in ((5, "hard-4/4"), (6, "hard-4/4 and 1 more")):
        board = world.board({f"hard-{n}": seen(4, ids=("people/ada",), text="→ `people/ada`") for n in range(broken)})
        named = next(b for b in gate(lenient, board, base, None).breaches if b.metric == "failed_items")
        assert named.detail.endswith(words)


@pytest.mark.req("C-706")
def test_only_what_must_be_zero_is_trusted_in_an_invalid_cell(profile: Profile, world: Any, seen: Seen) -> None:
    board = world.board({"*": seen(4, error="late", ids=("people/cy",))})
    outcome = gate(profile, board, None, None)
    assert metrics_of(outcome) == {"source_isolation_violations"}
    quiet = world.board({"*": seen(4, error="late")})
    assert gate(profile, quiet, baseline_of(world.board()), None).exit_code == 2
