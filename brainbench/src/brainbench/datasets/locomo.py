"""LoCoMo (Maharana et al., 2024) in its official form: ten long conversations, each with many questions.

The data are CC BY-NC 4.0: they are read, never shipped. Some evidence is written as several ids in one string, names a
turn that is not there, or is no id at all; what is left of it counts, and what was lost is told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from brainbench.datasets.sets import Question, QuestionSet, Said, Session, first_faults, sha256_of, unpacked
from brainbench.errors import CorpusError, Fault

SHA256 = "sha256:79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"
"""The published locomo10.json."""
CATEGORIES: Mapping[int, str] = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
"""What the numbers mean: told by how much evidence they have, not by the order in which the paper names them."""
ADVERSARIAL = 5
_EVIDENCE = re.compile(r"D(\d+):(\d+)")
_SESSION = re.compile(r"session_(\d+)")


class _Turn(msgspec.Struct):
    speaker: str
    dia_id: str
    text: str
    blip_caption: str | None = None


class _Asked(msgspec.Struct):
    question: str
    category: int
    evidence: list[str]


class _Sample(msgspec.Struct):
    sample_id: str
    conversation: dict[str, msgspec.Raw]
    qa: list[_Asked]


@dataclass(frozen=True, slots=True)
class _Conversation:
    sessions: tuple[Session, ...]
    user_turns: frozenset[str]


def read(path: Path) -> QuestionSet:
    """The questions of a file. CorpusError says by conversation and field what is wrong with it."""
    content = unpacked(path)
    try:
        samples = msgspec.json.decode(content, type=list[_Sample])
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise CorpusError([Fault(str(path), "the file", f"is not what LoCoMo publishes: {error}")]) from None
    conversations: list[_Conversation] = []
    questions: list[Question] = []
    faults: list[Fault] = []
    for number, sample in enumerate(samples):
        try:
            conversation = _conversation(sample.conversation)
        except ValueError as error:
            faults.append(Fault(str(path), f"[{number}].conversation", str(error)))
            continue
        odd = [(at, qa.category) for at, qa in enumerate(sample.qa) if qa.category not in CATEGORIES]
        faults += [Fault(str(path), f"[{number}].qa[{at}].category", f"{got} is not one of 1 to 5") for at, got in odd]
        conversations.append(conversation)
        questions += [_question(number, sample.sample_id, at, qa, conversation) for at, qa in enumerate(sample.qa)]
    if faults:
        raise first_faults(faults)
    digest = sha256_of(content)
    lost = sum(len(wrong) for q in questions if isinstance(wrong := q.written["evidence_lost"], list))
    return QuestionSet(
        name="locomo",
        version="10" if digest == SHA256 else "",
        licence="CC BY-NC 4.0",
        sha256=digest,
        published=digest == SHA256,
        headline="categories 1-4",
        questions=tuple(questions),
        haystacks=len(conversations),
        haystack=lambda number: conversations[number].sessions,
        notes=(f"evidence that names no turn of its conversation, and is no gold: {lost}",) if lost else (),
    )


def _conversation(parts: Mapping[str, msgspec.Raw]) -> _Conversation:
    """A conversation by its sessions; ValueError names what is missing or wrong. Dates without a session are left."""
    first = _part(parts, "speaker_a", str)
    sessions: list[Session] = []
    user_turns: set[str] = set()
    for name in sorted((n for n in parts if _SESSION.fullmatch(n)), key=lambda n: int(n.removeprefix("session_"))):
        turns: list[_Turn] = _part(parts, name, list[_Turn])
        try:
            at = _time(_part(parts, f"{name}_date_time", str))
        except ValueError as error:
            raise ValueError(f"{name}_date_time: {error}") from None
        said = tuple(Said(_id(t), "user" if t.speaker == first else "assistant", _text(t)) for t in turns)
        user_turns |= {turn.id for turn in said if turn.role == "user"}
        sessions.append(Session(f"D{name.removeprefix('session_')}", at, said))
    if not sessions:
        raise ValueError("holds no session_1, session_2, ...")
    return _Conversation(tuple(sessions), frozenset(user_turns))


def _part(parts: Mapping[str, msgspec.Raw], name: str, kind: Any) -> Any:
    if name not in parts:
        raise ValueError(f"{name} is missing")
    try:
        return msgspec.json.decode(parts[name], type=kind)
    except msgspec.MsgspecError as error:
        raise ValueError(f"{name}: {error}") from None


def _text(turn: _Turn) -> str:
    """What was said with who said it, and what the picture shows that was sent along."""
    picture = f" [sends a picture: {turn.blip_caption}]" if turn.blip_caption else ""
    return f"{turn.speaker}: {turn.text}{picture}"


def _question(number: int, sample: str, at: int, asked: _Asked, conversation: _Conversation) -> Question:
    known = {turn.id for session in conversation.sessions for turn in session.turns}
    turns: list[str] = []
    lost: list[str] = []
    for written in asked.evidence:
        found = list(_ids(written))
        turns += [name for name in found if name in known]
        lost += [name for name in found if name not in known] if found else [written]
    turns = list(dict.fromkeys(turns))
    return Question(
        id=f"{sample}/{at}",
        haystack=number,
        text=asked.question,
        asked_at=conversation.sessions[-1].at,
        kind=CATEGORIES.get(asked.category, ""),
        sessions=tuple(dict.fromkeys(turn.partition(":")[0] for turn in turns)),
        turns=tuple(turns),
        user_turns=tuple(turn for turn in turns if turn in conversation.user_turns),
        left_out="adversarial" if asked.category == ADVERSARIAL else None,
        written={"question_id": f"{sample}/{at}", "category": asked.category, "evidence_lost": lost},
    )


def _ids(written: str) -> Iterator[str]:
    """The turns that a piece of evidence names, without leading zeros.

    >>> list(_ids("D8:6; D9:17")), list(_ids("D30:05")), list(_ids("D"))
    (['D8:6', 'D9:17'], ['D30:5'], [])
    """
    yield from (f"D{int(session)}:{int(turn)}" for session, turn in _EVIDENCE.findall(written))


def _id(turn: _Turn) -> str:
    return next(_ids(turn.dia_id), turn.dia_id)


def _time(date: str) -> str:
    """A date of the file as an ISO 8601 UTC string.

    >>> _time("1:56 pm on 8 May, 2023")
    '2023-05-08T13:56:00Z'
    """
    return datetime.strptime(date, "%I:%M %p on %d %B, %Y").strftime("%Y-%m-%dT%H:%M:%SZ")
