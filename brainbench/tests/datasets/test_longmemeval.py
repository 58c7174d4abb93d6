"""LongMemEval's official file, with everything that goes wrong with it."""

from __future__ import annotations

import json
import lzma
import os
from collections import Counter
from pathlib import Path

import pytest

from brainbench.datasets.longmemeval import ABSTENTION, UNLABELLED, read
from brainbench.errors import CorpusError, UsageError

DATA = Path(os.environ.get("BRAINBENCH_DATA") or Path(__file__).parents[3].parent / "shared" / "data")
HALF = DATA / "longmemeval" / "longmemeval_s_cleaned.dev.json.xz"


def turn(role: str, text: str, answers: bool | None = None) -> dict[str, object]:
    return {"role": role, "content": text} | ({} if answers is None else {"has_answer": answers})


def item(**changes: object) -> dict[str, object]:
    """Three sessions, the second of which answers and stands there twice; out of order, one after the question."""
    answering = [turn("user", "The boat lies at berth nine.", True), turn("assistant", "Noted.", False)]
    return {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "Where does the boat lie?",
        "question_date": "2023/05/30 (Tue) 23:40",
        "answer": 9,
        "answer_session_ids": ["answer_b"],
        "haystack_dates": [
            "2023/05/22 (Mon) 08:00",
            "2023/05/21 (Sun) 08:00",
            "2023/06/02 (Fri) 08:00",
            "2023/05/23 (Tue) 08:00",
        ],
        "haystack_session_ids": ["a", "answer_b", "c", "answer_b"],
        "haystack_sessions": [
            [turn("user", "Good morning.")],
            answering,
            [turn("assistant", "Nobody spoke before me.")],
            answering,
        ],
        **changes,
    }


def written(place: Path, *items: object) -> Path:
    path = place / "items.json"
    path.write_text(json.dumps(items))
    return path


def test_a_question_keeps_what_is_asked_apart_from_what_is_gold(tmp_path: Path) -> None:
    found = read(written(tmp_path, item()))
    (question,) = found.questions
    assert (question.text, question.asked_at) == ("Where does the boat lie?", "2023-05-30T23:40:00Z")
    assert (question.sessions, question.turns, question.user_turns) == (("answer_b",), ("answer_b#0",), ("answer_b#0",))
    assert question.left_out is None
    assert "answer" not in question.written


def test_a_session_listed_twice_and_one_after_the_question_stay_where_they_are(tmp_path: Path) -> None:
    sessions = read(written(tmp_path, item())).haystack(0)
    assert [session.id for session in sessions] == ["a", "answer_b", "c", "answer_b"]
    assert [session.at[:10] for session in sessions] == ["2023-05-22", "2023-05-21", "2023-06-02", "2023-05-23"]
    assert [turn.role for turn in sessions[2].turns] == ["assistant"]


@pytest.mark.parametrize("answer", ["nine", 9, 2.5, None, ["nine"]])
def test_an_answer_may_be_of_any_type(tmp_path: Path, answer: object) -> None:
    assert len(read(written(tmp_path, item(answer=answer))).questions) == 1


@pytest.mark.req("E-255")
def test_abstention_and_unlabelled_questions_are_left_out_with_their_reason(tmp_path: Path) -> None:
    silent = [[turn("user", "x")], [turn("assistant", "Berth nine.", True)], [turn("user", "y")], [turn("user", "z")]]
    found = read(
        written(
            tmp_path,
            item(question_id="q1_abs"),
            item(question_id="q2", haystack_sessions=silent),
            item(question_id="q3"),
        )
    )
    assert [question.left_out for question in found.questions] == [ABSTENTION, UNLABELLED, None]
    assert found.questions[1].turns == ("answer_b#0",)
    assert found.questions[1].user_turns == ()


def test_a_packed_file_is_the_file(tmp_path: Path) -> None:
    plain = written(tmp_path, item())
    packed = tmp_path / "items.json.xz"
    packed.write_bytes(lzma.compress(plain.read_bytes()))
    assert (read(packed).sha256, read(packed).questions) == (read(plain).sha256, read(plain).questions)
    assert not read(packed).published
    packed.write_bytes(packed.read_bytes()[:-20])
    with pytest.raises(CorpusError, match="cannot be unpacked"):
        read(packed)


@pytest.mark.parametrize(
    ("changes", "where", "why"),
    [
        ({"haystack_dates": []}, ".haystack_sessions", "not equally many: 0, 4, 4"),
        ({"answer_session_ids": ["z"]}, ".answer_session_ids", "'z' is no session of the haystack"),
        ({"answer_session_ids": []}, ".answer_session_ids", "expected the sessions"),
        ({"question_date": "yesterday"}, ".question_date", "'yesterday' is no date"),
        ({"haystack_dates": ["2023/05/22 08:00"] * 3 + ["x"]}, ".haystack_dates", "'x' is no date"),
        ({"question": " "}, ".question", "not empty"),
        ({"haystack_sessions": 3}, "", "haystack_sessions"),
        ({"haystack_sessions": [[{"role": "system", "content": ""}]] * 4}, "", "role"),
    ],
)
def test_a_fault_is_told_by_entry_and_field(tmp_path: Path, changes: dict[str, object], where: str, why: str) -> None:
    with pytest.raises(CorpusError) as raised:
        read(written(tmp_path, item(question_id="fine"), item(**changes)))
    (fault,) = raised.value.faults
    assert fault.field == f"[1]{where}"
    assert why in fault.reason


def test_a_question_that_stands_twice_is_a_fault(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="stands twice"):
        read(written(tmp_path, item(), item()))


def test_a_hundred_faults_are_told_as_twenty_and_their_number(tmp_path: Path) -> None:
    with pytest.raises(CorpusError) as raised:
        read(written(tmp_path, *(item(question_id=str(n), question="") for n in range(100))))
    assert len(raised.value.faults) == 21
    assert "80 more" in raised.value.faults[-1].reason


@pytest.mark.parametrize("content", ["", "{}", "[", "[3]", '["\ud800"]', "[" * 100_000])
def test_what_is_no_such_file_is_a_fault_and_no_traceback(tmp_path: Path, content: str) -> None:
    path = tmp_path / "odd.json"
    path.write_bytes(content.encode("utf-8", "surrogatepass"))
    with pytest.raises(CorpusError):
        read(path)


def test_a_file_that_is_not_there_and_a_directory_are_misuse(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(UsageError, match="PATH"):
            read(path)


@pytest.mark.skipif(not HALF.exists(), reason=f"no LongMemEval half at {HALF}; set BRAINBENCH_DATA")
@pytest.mark.req("E-255")
def test_the_development_half_has_the_traps_that_are_known_of_it() -> None:
    found = read(HALF)
    assert len(found.questions) == 249
    assert Counter(q.left_out for q in found.questions) == {None: 206, ABSTENTION: 15, UNLABELLED: 28}
    twice = silent = unsorted = late = 0
    for question in found.questions:
        sessions = found.haystack(question.haystack)
        days = [session.at for session in sessions]
        twice += len({session.id for session in sessions}) < len(sessions)
        silent += sum(all(turn.role != "user" for turn in session.turns) for session in sessions)
        unsorted += days != sorted(days)
        late += any(day > question.asked_at for day in days)
    assert (twice, silent, late) == (7, 43, 44)
    assert unsorted > 0
