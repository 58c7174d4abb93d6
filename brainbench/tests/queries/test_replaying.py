from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainbench.errors import UsageError
from brainbench.model import Capability
from brainbench.queries.replaying import Asked, attached, jaccard, replay
from brainbench.queries.telling import replay_document

from .conftest import Living, row

SLUGS = st.lists(st.sampled_from("abcdef"), max_size=6, unique=True)


@pytest.mark.req("C-903")
@given(SLUGS, SLUGS)
def test_jaccard_is_a_share_is_symmetric_and_is_1_for_the_same_set(then: list[str], now: list[str]) -> None:
    assert 0 <= jaccard(then, now) <= 1
    assert jaccard(then, now) == jaccard(now, then)
    assert (jaccard(then, now) == 1) == (set(then) == set(now))


@pytest.mark.req("C-903")
@given(st.lists(SLUGS, min_size=1, max_size=5))
def test_a_memory_that_answers_as_before_scores_1(answers: list[list[str]]) -> None:
    then = {f"q{number}": slugs for number, slugs in enumerate(answers)}
    done = replay(Living(then), [row(query, slugs) for query, slugs in then.items()])
    assert (done.mean_jaccard, done.unchanged) == (1, done.same_first)
    assert done.same_first is not None
    assert done.same_first.value == 1
    assert done.regressions(9) == ()


@pytest.mark.req("C-903")
def test_the_figures_are_those_counted_by_hand() -> None:
    system = Living({"same": ["a", "b"], "other order": ["b", "a"], "half": ["a", "c"], "gone": [], "none": []})
    rows = [
        row("same"),
        row("other order"),
        row("half"),
        row("gone"),
        row("none", []),
        row("error"),
        row("talk", detail="in a conversation"),
    ]
    done = replay(system, rows)
    found = replay_document(done, 9)
    assert list(found)[:8] == [
        "rows_total",
        "rows_replayed",
        "rows_skipped",
        "rows_errored",
        "mean_jaccard",
        "top1_stability_rate",
        "mean_latency_delta_ms",
        "rows_over_2x_latency",
    ]
    assert [found[key] for key in list(found)[:4]] == [7, 5, 1, 1]
    # (1 + 1 + 1/3 + 0 + 1 + 0) / 6, an error counting as a wrong answer
    assert done.mean_jaccard == Fraction(10, 18)
    assert found["mean_jaccard"] == 0.5556
    assert found["top1_stability_rate"] == 0.5  # same, half, none
    assert found["counts"] == {"unchanged": {"n": 2, "of": 6}, "top1_stable": {"n": 3, "of": 6}, "both_empty": 1}
    assert found["skipped"] == {"the conversation around it was not captured": 1}
    assert [asked.row.query for asked in done.regressions(9)] == ["gone", "error", "half", "other order"]
    assert [asked.row.query for asked in done.regressions(2)] == ["gone", "error"]


def test_a_question_that_was_filtered_is_not_asked_without_its_filters() -> None:
    done = replay(Living({"tea": ["a"]}), [row("tea", detail="filtered")])
    assert replay_document(done, 9)["skipped"] == {"it was filtered, and a system is asked by the query alone": 1}


def test_a_regression_says_what_was_lost_and_what_is_new() -> None:
    done = replay(Living({"tea": ["c", "b"]}), [row("tea")])
    (told,) = replay_document(done, 1)["regressions"]  # type: ignore[misc]
    assert (told["query"], told["jaccard"], told["lost"], told["new"]) == ("tea", 0.3333, ["a"], ["c"])
    assert told["top1"] == {"baseline": "a", "current": "c"}


@pytest.mark.req("C-903")
def test_latency_is_a_difference_of_means_over_answered_rows() -> None:
    done = replay(Living({"tea": ["a", "b"]}), [row("tea", latency_ms=1000.0), row("gone", latency_ms=9.0)])
    assert done.mean_latency_ms is not None
    then, now = done.mean_latency_ms
    assert then == 1000.0
    assert 0 < now < 1000.0
    assert done.slower == 0
    assert replay(Living({"tea": []}), [row("tea", latency_ms=0.0)]).slower == 1


def test_nothing_asked_is_not_measured() -> None:
    done = replay(Living(), [row("tea", detail="cut")])
    assert (done.mean_jaccard, done.same_first, done.errors, done.mean_latency_ms) == (None, None, None, None)
    found = replay_document(done, 5)
    assert (found["mean_jaccard"], found["top1_stability_rate"], found["mean_latency_delta_ms"]) == (None, None, None)


def test_a_row_is_asked_as_it_was_asked_then() -> None:
    system = Living({"q": [str(number) for number in range(40)]})
    asked = [
        row("q", ["0"], detail="limit 25", source_ids=["team"]),
        row("q", ["0", "1", "2"], detail=None),
        row("q", [], detail="medium", source_ids=[], tool_name="query"),
        row("q", ["0"], detail="no limit", tool_name="recall_facts"),
        row("q", ["0"], detail="limit 2", tool_name="recall_facts"),
        row("q", ["0"], detail="one turn", tool_name="context"),
        row("q", ["0"], detail="limit 1", tool_name="pointers"),
    ]
    replay(system, asked)
    assert system.asked[1:] == [
        ("search", "team", "q", 25),
        ("search", "default", "q", 3),
        ("search", "default", "q", 10),
        ("recall_facts", "default", "q", None),
        ("recall_facts", "default", "q", 2),
        ("context", "default", "q", "claude-code", 3),
        ("context", "default", "q", "codex", 1),
    ]


def test_a_fact_without_a_page_of_its_own_stands_for_the_page_it_was_told_on() -> None:
    done = replay(Living({"q": ["a", "", "a"]}), [row("q", ["a", "told-in"], tool_name="recall_facts")])
    assert done.mean_jaccard == 1


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"detail": "cut"}, "the query was cut"),
        ({"detail": "of one entity"}, "it was about one entity"),
        ({"tool_name": "get_page"}, "the tool 'get_page' is not one of search, query, recall_facts, context, pointers"),
        ({"source_ids": ["a", "b"]}, "it was asked of several sources at once"),
        ({"query": "mail [scrubbed mail]"}, "a part of it was scrubbed"),
        ({"query": "mail [REDACTED_EMAIL]"}, "a part of it was scrubbed"),
        ({"slugs": ["people/[scrubbed phone]"]}, "a part of it was scrubbed"),
    ],
)
def test_what_cannot_be_asked_as_it_was_is_skipped_and_says_why(changes: dict[str, object], why: str) -> None:
    system = Living({"tea": ["a", "b"]})
    done = replay(system, [row(**changes), row("tea")])  # type: ignore[arg-type]
    assert done.skipped == {why: 1}
    assert len(done.asked) == 1


def test_what_a_system_cannot_do_is_not_asked_of_it() -> None:
    class Searching(Living):
        can = frozenset({Capability.SEARCH})

    done = replay(Searching({"tea": ["a", "b"]}), [row("tea", tool_name="context"), row("tea")])
    assert done.skipped == {"living cannot context": 1}


@pytest.mark.req("C-903")
def test_a_limit_takes_the_first_rows_and_counts_the_others_as_skipped() -> None:
    system = Living({f"q{number}": ["a"] for number in range(4)})
    done = replay(system, [row(f"q{number}", ["a"]) for number in range(4)], limit=3)
    assert [asked.row.query for asked in done.asked] == ["q0", "q1", "q2"]
    assert done.skipped == {"beyond --limit": 1}


def test_an_error_is_a_wrong_answer_even_where_nothing_was_found_then() -> None:
    asked = Asked(row("tea", []), error="boom")
    assert (asked.jaccard, asked.same_first, asked.both_empty) == (0, False, False)


def test_a_memory_that_is_gone_after_each_run_cannot_be_attached() -> None:
    with pytest.raises(UsageError, match="bm25 keeps no memory that could be asked again"):
        attached("bm25", None)
