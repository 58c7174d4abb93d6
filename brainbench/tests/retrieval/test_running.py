"""What a memory is given, how its hits are read, and what becomes of one that fails."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from brainbench.datasets import longmemeval
from brainbench.datasets.sets import Question
from brainbench.errors import NothingMeasured, UsageError
from brainbench.replay.haystacks import Haystack, asked_of
from brainbench.replay.worker import said_by
from brainbench.retrieval import running, telling
from brainbench.retrieval.judging import summary, verdict
from brainbench.retrieval.layout import BOTH, USERS, Choice, Layouts, sampled, to_ask
from brainbench.retrieval.running import Measured, measure
from brainbench.systems import System
from brainbench.systems.access import Access
from brainbench.systems.baselines import Bm25
from brainbench.systems.fence import can_fence

from .asked_memories import Lumping, Scattered, Snoop, Turns, Words
from .conftest import TOPICS, item, turn

MANY = [item(n, (n % 6,)) for n in range(6)]


def choice(path: Path, system: str = "bm25", **changes: Any) -> Choice:
    return Choice("longmemeval", path, system, **{"allow_unknown": True, **changes})


def given(path: Path, system: System | None = None, **changes: Any) -> Haystack:
    """The first haystack as a system is given it."""
    return layouts(path, system or Words(), **changes).haystack(0)


def layouts(path: Path, system: System, **changes: Any) -> Layouts:
    chosen, found = choice(path, **changes), longmemeval.read(path)
    return Layouts(chosen, found, said_by(system), to_ask(chosen, found)[0])


def ranked(path: Path, system: System, **changes: Any) -> tuple[str, ...]:
    """What is read from the hits of a system about the first question."""
    laid = layouts(path, system, **changes)
    (case,) = laid.results(0, asked_of(system, laid.haystack(0)))
    assert case.error is None
    return case.ranked_ids


def hits(done: Measured) -> float:
    return float(summary(done.cases, (1,), "official").overall[0].measured["hit@1"].value)


@pytest.mark.req("E-108", "E-253")
@pytest.mark.parametrize("granularity", ["session", "turn"])
@pytest.mark.parametrize("policy", [BOTH, USERS])
def test_nothing_that_a_memory_is_given_tells_gold_or_what_it_is_asked_from(made, granularity, policy):
    path = made(item(7, (2,), kind="tell-tale-kind", answer="tell-tale-answer", question_id="tell-tale_abs"))
    told = msgspec.json.encode(given(path, granularity=granularity, policy=policy)).decode()
    assert "How is the starter?" in told
    assert "The starter is fine" in told
    for secret in ("answer_", "plain_", "has_answer", "tell-tale", "_abs", "gold", "longmemeval", str(path)):
        assert secret not in told, secret


@pytest.mark.req("E-108")
@pytest.mark.skipif(not can_fence(), reason="the kernel has no fence: what lies on the disk can be read")
def test_a_snoop_gains_nothing_behind_the_walls_and_all_beside_the_file(made, monkeypatch, tmp_path):
    path = made(*MANY)
    monkeypatch.setenv("THE_SET", str(path))
    assert ranked(path, Snoop()) == ("answer_0_0",)
    done = measure(choice(path, "asked_memories:Snoop", access=Access(variables={"THE_SET": str(path)})))
    assert [case.ranked_ids for case in done.cases] == [()] * 6
    assert [case.error for case in done.cases] == [None] * 6
    assert hits(done) == 0
    assert hits(measure(choice(path, "asked_memories:Words"))) == 1
    monkeypatch.setattr(running, "_hidden", lambda choice: ())
    assert hits(measure(choice(path, "asked_memories:Snoop", access=Access(variables={"THE_SET": str(path)})))) == 1


def test_ids_tell_neither_the_order_of_the_file_nor_whether_a_session_is_gold(made):
    orders = set()
    for seed in range(40):
        passages = given(made(item(0)), seed=seed).passages
        assert len({passage.id for passage in passages}) == 6
        orders.add(sorted(range(6), key=lambda place: passages[place].id)[0])
    assert orders == set(range(6))
    again = given(made(item(0)), seed=1)
    assert again == given(made(item(0)), seed=1) != given(made(item(0)), seed=2)


def test_sessions_are_written_in_the_order_of_time_those_after_the_question_too(made):
    late = item(0, haystack_dates=["2023/07/01 (Sat) 08:00", *(f"2023/05/2{9 - n} (Mon) 08:00" for n in range(5))])
    passages = given(made(late)).passages
    assert [p.at for p in passages] == sorted(p.at for p in passages)
    assert passages[-1].at > given(made(late)).queries[0].at
    assert "kiln" in passages[-1].messages[0].text
    assert len(passages) == 6


def test_a_session_that_stands_twice_is_written_twice_and_ranks_once(made):
    twice = item(0)
    for field in ("haystack_dates", "haystack_session_ids", "haystack_sessions"):
        twice[field].append(twice[field][0])
    path = made(twice)
    assert len(given(path).passages) == 7
    assert given(path).limit == 4 * 7
    found = ranked(path, Words())
    assert found[0] == "answer_0_0"
    assert len(found) == len(set(found)) == 6


def test_users_only_leaves_out_what_the_assistant_said_and_a_session_in_which_nothing_is_left(made):
    silent = item(0)
    silent["haystack_sessions"][1] = [turn("assistant", "Nobody asked me.")]
    silent["haystack_sessions"][2] = [turn("user", " \n"), turn("assistant", "You said nothing.")]
    laid = layouts(made(silent), Words(), policy=USERS)
    haystack = laid.haystack(0)
    assert len(haystack.passages) == 4
    assert {message.role for passage in haystack.passages for message in passage.messages} == {"user"}
    (case,) = laid.results(0, asked_of(Words(), haystack))
    assert case.candidates == 6
    assert len(given(made(silent)).passages) == 6


def test_a_memory_of_pages_is_given_each_session_as_a_page(made):
    system = Bm25()
    assert ranked(made(item(0)), system)[0] == "answer_0_0"
    page = next(iter(system.pages_of("default").values()))
    assert page.startswith("---\ntitle: Conversation of 2023-05-")
    assert "\n\nuser: The " in page


def test_hits_count_for_the_page_or_the_given_id_and_strangers_take_a_rank(made):
    found = ranked(made(item(0)), Scattered())
    assert (found[0], found[1], found[2]) == ("?1", "answer_0_0", "?2")
    assert len([name for name in found if name.startswith("plain_")]) == 2
    assert len(found) == 5


def test_a_page_that_holds_all_counts_for_the_first_conversation_only(made):
    assert ranked(made(item(0, (5,))), Lumping()) == ("answer_0_5",)
    assert ranked(made(item(0, (0,))), Lumping()) == ("plain_0_5",)


@pytest.mark.parametrize("system", [Words(), Bm25()])
def test_by_turn_each_turn_is_written_by_itself(made, system):
    path = made(item(0))
    haystack = given(path, system, granularity="turn")
    assert len(haystack.passages) == 12
    assert {len(passage.messages) for passage in haystack.passages} == {1}
    assert ranked(path, system, granularity="turn")[0] == "answer_0_0#0"


def test_by_turn_a_memory_that_tells_turns_is_given_whole_conversations(made):
    path = made(item(0))
    assert len(given(path, Turns(), granularity="turn").passages) == 6
    found = ranked(path, Turns(), granularity="turn")
    assert found[:2] == ("answer_0_0#1", "answer_0_0#0")
    assert found[2] == "?1"
    assert found[3].endswith("#0")
    assert ranked(path, Turns())[0] == "answer_0_0"


@pytest.mark.req("E-102", "E-304")
def test_an_error_found_nothing_and_stays_in_the_denominator(made):
    done = measure(choice(made(*MANY), "asked_memories:Failing"))
    found = summary(done.cases, (1,), "official")
    assert [case.error for case in done.cases] == [None] * 3 + ["Failing.search: RuntimeError: no choir here"] + [
        None
    ] * 2
    assert (found.overall[0].cases, hits(done)) == (6, pytest.approx(5 / 6))
    assert (found.errors.n, found.errors.of) == (1, 6)
    assert verdict(found)[0] == "inconclusive"


def test_a_system_that_ends_its_process_costs_that_question_and_goes_on(made):
    done = measure(choice(made(*MANY), "asked_memories:Dying"))
    assert [case.error is None for case in done.cases] == [True] * 5 + [False]
    assert "exit code 3" in str(done.cases[5].error)
    assert hits(done) == pytest.approx(5 / 6)


def test_a_haystack_that_cannot_be_written_says_why_and_one_that_may_not_be_played_too(made):
    done = measure(choice(made(*MANY[:2]), "asked_memories:Stubborn"))
    assert {case.error for case in done.cases} == {
        "not admitted: Stubborn.write_conversation: RuntimeError: the disk is full"
    }
    laid = layouts(made(*MANY), Words())
    asked = asked_of(_Full(), laid.haystack(0))
    assert asked.answers[0].error == "the haystack was not written: OSError: no space left"


def test_what_a_memory_does_after_writing_is_told_apart(made):
    laid = layouts(made(item(0)), _Later())
    (case,) = laid.results(0, asked_of(_Later(), laid.haystack(0)))
    assert case.usage["ingest_cpu_ms"] - case.usage["written_cpu_ms"] >= 90
    assert "until all of it is written, the rest is left for later" in str(telling._ingest([case]))
    at_once = replace(case, usage={"ingest_ms": 9.0, "ingest_cpu_ms": 9.0, "written_cpu_ms": 8.0})
    assert telling._ingest([at_once]) == "writing  a haystack takes 0.01 s, 0.01 CPU-seconds in the worker (median)"
    before = replace(case, usage={"ingest_ms": 9.0, "ingest_cpu_ms": 9.0})
    assert telling._ingest([before]) == telling._ingest([at_once])


class _Later(Words):
    def settle(self) -> None:
        until = time.process_time() + 0.1
        while time.process_time() < until:
            pass


class _Full(Words):
    def write_conversation(self, conversation: Any) -> str | None:
        raise OSError("no space left")


def test_a_system_that_takes_too_long_is_ended(made):
    done = measure(choice(made(*MANY[:1]), "asked_memories:Sleeping", haystack_seconds=1.0))
    assert "no answer within 2 s" in str(done.cases[0].error)


@pytest.mark.parametrize("system", ["always-silent", "echo"])
def test_a_memory_that_cannot_search_is_misuse(made, system):
    with pytest.raises(UsageError, match="needs `search`"):
        measure(choice(made(*MANY), system))


def test_a_file_that_is_not_the_published_one_needs_a_word(made):
    with pytest.raises(UsageError, match="--allow-unknown-dataset"):
        measure(choice(made(*MANY), allow_unknown=False))


def test_the_sample_is_the_first_or_of_each_kind_its_share(made):
    questions = [Question(str(n), n, "?", "", "abc"[min(n // 4, 2)], (), (), ()) for n in range(12)]
    assert [q.id for q in sampled(questions, 3, "prefix")] == ["0", "1", "2"]
    assert [q.id for q in sampled(questions, 3, "stratified")] == ["0", "4", "8"]
    assert [q.id for q in sampled(questions, 7, "stratified")] == ["0", "1", "2", "4", "5", "8", "9"]
    assert len(sampled(questions, 99, "stratified")) == 12


def test_a_question_without_gold_at_this_granularity_is_excluded_with_its_reason(made):
    unlabelled = item(1, haystack_sessions=[[turn("user", name)] for name in TOPICS])
    done = measure(choice(made(item(0), unlabelled), granularity="turn"))
    assert (len(done.cases), done.excluded) == (1, {"no gold turn": 1})
    with pytest.raises(NothingMeasured):
        measure(choice(made(unlabelled), granularity="turn"))


def test_an_empty_file_is_nothing_measured(made):
    with pytest.raises(NothingMeasured):
        measure(choice(made()))


def test_more_jobs_find_the_same(made):
    one, two = (measure(choice(made(*MANY), jobs=jobs)) for jobs in (1, 2))
    assert [case.ranked_ids for case in one.cases] == [case.ranked_ids for case in two.cases]


def test_null_finds_nothing_and_full_gold_is_the_ceiling(made):
    assert hits(measure(choice(made(*MANY), "null"))) == 0
    assert hits(measure(choice(made(*MANY)))) == 1
