"""LongMemEval (Wu et al., 2025) in its official item format: 500 questions, each with a haystack of its own.

Gold is everywhere in the file: session ids that begin with `answer_`, turns marked `has_answer`, question ids that end
with `_abs`. All of it stays in `Question` and in ids that no memory is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec

from brainbench.datasets.sets import Question, QuestionSet, Said, Session, first_faults, sha256_of, unpacked
from brainbench.errors import CorpusError, Fault

SHA256 = "sha256:d6f21ea9d60a0d56f34a05b609c79c88a451d2ae03597821ea3d5a9678c3a442"
"""The cleaned S file, longmemeval_s_cleaned.json."""
ABSTENTION, UNLABELLED = "abstention", "no labelled user turn"
_WEEKDAY = re.compile(r"\s*\(\w+\)\s*")


class _Turn(msgspec.Struct):
    role: Literal["user", "assistant"]
    content: str
    has_answer: bool | None = False


class _Item(msgspec.Struct):
    question_id: str
    question_type: str
    question: str
    question_date: str
    answer_session_ids: list[str]
    haystack_dates: list[str]
    haystack_session_ids: list[str]
    haystack_sessions: list[list[_Turn]]
    answer: Any = None


def read(path: Path) -> QuestionSet:
    """The questions of a file. CorpusError says by entry and field what is wrong with it."""
    content = unpacked(path)
    try:
        entries = msgspec.json.decode(content, type=list[msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise CorpusError([Fault(str(path), "the file", f"is no JSON list of questions: {error}")]) from None
    digest = sha256_of(content)
    del content
    questions: list[Question] = []
    faults: list[Fault] = []
    seen: set[str] = set()
    for number, entry in enumerate(entries):
        try:
            item = _item(entry)
            wrong = list(_wrong(item, seen))
        except ValueError as error:
            wrong = [("", str(error))]
        faults += [Fault(str(path), f"[{number}]{field}", reason) for field, reason in wrong]
        if not wrong:
            seen.add(item.question_id)
            questions.append(_question(number, item))
    if faults:
        raise first_faults(faults)
    return QuestionSet(
        name="longmemeval-s",
        version="cleaned" if digest == SHA256 else "",
        licence="MIT",
        sha256=digest,
        published=digest == SHA256,
        headline="official",
        questions=tuple(questions),
        haystacks=len(entries),
        haystack=partial(_haystack, entries),
    )


def _item(entry: msgspec.Raw) -> _Item:
    """An entry by its fields; ValueError names the one that is wrong."""
    try:
        return msgspec.json.decode(entry, type=_Item)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(str(error)) from None


def _wrong(item: _Item, seen: set[str]) -> Iterator[tuple[str, str]]:
    if item.question_id in seen:
        yield ".question_id", f"{item.question_id!r} stands twice in the file"
    if not item.question.strip():
        yield ".question", "expected text that is not empty"
    parts = (item.haystack_dates, item.haystack_session_ids, item.haystack_sessions)
    if len({len(part) for part in parts}) > 1:
        sizes = ", ".join(str(len(part)) for part in parts)
        yield ".haystack_sessions", f"dates, ids and sessions are not equally many: {sizes}"
    if not item.answer_session_ids:
        yield ".answer_session_ids", "expected the sessions that hold the answer, or that an abstention is about"
    if lost := sorted(set(item.answer_session_ids) - set(item.haystack_session_ids)):
        yield ".answer_session_ids", f"{lost[0]!r} is no session of the haystack"
    for field, dates in ((".question_date", [item.question_date]), (".haystack_dates", item.haystack_dates)):
        for date in dates:
            try:
                _time(date)
            except ValueError:
                yield field, f"{date!r} is no date such as '2023/05/30 (Tue) 23:40'"
                break


def _question(number: int, item: _Item) -> Question:
    labelled = [
        (f"{name}#{place}", turn.role)
        for name, turns in zip(item.haystack_session_ids, item.haystack_sessions, strict=True)
        for place, turn in enumerate(turns)
        if turn.has_answer
    ]
    user_turns = tuple(dict.fromkeys(name for name, role in labelled if role == "user"))
    left_out = ABSTENTION if item.question_id.endswith("_abs") else None if user_turns else UNLABELLED
    return Question(
        id=item.question_id,
        haystack=number,
        text=item.question,
        asked_at=_time(item.question_date),
        kind=item.question_type,
        sessions=tuple(dict.fromkeys(item.answer_session_ids)),
        turns=tuple(dict.fromkeys(name for name, _ in labelled)),
        user_turns=user_turns,
        left_out=left_out,
        written={
            "question_id": item.question_id,
            "question_type": item.question_type,
            "question": item.question,
            "question_date": item.question_date,
            "answer_session_ids": item.answer_session_ids,
        },
    )


def _haystack(entries: Sequence[msgspec.Raw], number: int) -> Sequence[Session]:
    """The sessions of a question as they stand in the file, those that are dated after the question too."""
    item = _item(entries[number])
    return [
        Session(
            name, _time(date), tuple(Said(f"{name}#{at}", turn.role, turn.content) for at, turn in enumerate(turns))
        )
        for name, date, turns in zip(
            item.haystack_session_ids, item.haystack_dates, item.haystack_sessions, strict=True
        )
    ]


def _time(date: str) -> str:
    """A date of the file as an ISO 8601 UTC string.

    >>> _time("2023/05/30 (Tue) 23:40")
    '2023-05-30T23:40:00Z'
    """
    return datetime.strptime(_WEEKDAY.sub(" ", date), "%Y/%m/%d %H:%M").strftime("%Y-%m-%dT%H:%M:%SZ")
