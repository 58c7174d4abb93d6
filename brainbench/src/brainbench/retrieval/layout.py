"""A set as a memory is given it: which questions, haystacks under opaque ids, and what came back by its own names."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from brainbench.datasets.sets import Question, QuestionSet, Said, Session
from brainbench.errors import NothingMeasured
from brainbench.model import Capability, Message
from brainbench.replay.haystacks import Answer, Asked, Haystack, Passage, Query
from brainbench.replay.worker import Traits
from brainbench.retrieval.results import CaseResult
from brainbench.systems.access import Access

USERS, BOTH = "user-turns-only-v1", "user-and-assistant-turns-v1"
POLICIES = (BOTH, USERS)
"""Whose turns are written."""
PIECES = 4
"""How many hits are wanted for each conversation: many memories answer with pieces of pages."""
Granularity = Literal["session", "turn"]


@dataclass(frozen=True, slots=True)
class Choice:
    """What is asked of whom, and how."""

    suite: str
    path: Path
    system: str
    granularity: Granularity = "session"
    policy: str = BOTH
    ks: tuple[int, ...] = (5, 10)
    limit: int | None = None
    sample: Literal["prefix", "stratified"] = "prefix"
    seed: int = 42
    jobs: int = 1
    haystack_seconds: float = 120.0
    allow_unknown: bool = False
    checkpoint: Path | None = None
    label: str = ""
    mode: str = "system"
    hidden: tuple[Path, ...] = ()
    command: tuple[str, ...] = ()
    access: Access = field(default_factory=Access)


def to_ask(choice: Choice, questions: QuestionSet) -> tuple[tuple[Question, ...], Mapping[str, int]]:
    """The questions to be asked, and why how many of the sample are not."""
    chosen = sampled(questions.questions, choice.limit, choice.sample)
    asked = tuple(question for question in chosen if gold_of(question, choice))
    excluded = {f"no gold {choice.granularity}": len(chosen) - len(asked)} if len(asked) < len(chosen) else {}
    if not asked:
        raise NothingMeasured(f"{choice.path}: none of {len(chosen)} questions has a gold {choice.granularity}")
    return asked, excluded


def gold_of(question: Question, choice: Choice) -> tuple[str, ...]:
    """The ids that are gold for a question at this granularity, among what is written."""
    if choice.granularity == "session":
        return question.sessions
    return question.user_turns if choice.policy == USERS else question.turns


def sampled(questions: Sequence[Question], limit: int | None, sample: str) -> tuple[Question, ...]:
    """The first `limit` questions, or as many of each kind as its share of all, the first of each; in file order."""
    if limit is None or limit >= len(questions):
        return tuple(questions)
    if sample == "prefix":
        return tuple(questions[:limit])
    kinds: dict[str, list[int]] = {}
    for number, question in enumerate(questions):
        kinds.setdefault(question.kind, []).append(number)
    exact = {kind: limit * len(places) / len(questions) for kind, places in kinds.items()}
    shares = {kind: int(share) for kind, share in exact.items()}
    for kind in sorted(exact, key=lambda kind: (shares[kind] - exact[kind], kind))[: limit - sum(shares.values())]:
        shares[kind] += 1
    kept = sorted(number for kind, places in kinds.items() for number in places[: shares[kind]])
    return tuple(questions[number] for number in kept)


@dataclass(frozen=True, slots=True)
class _Layout:
    """A haystack as it is given away, and what its ids stand for: per passage the id of each of its messages."""

    haystack: Haystack
    units: Mapping[str, tuple[str, ...]]
    candidates: int


class Layouts:
    """Makes haystacks as they are needed and reads what came back; the names of the file stay here."""

    def __init__(self, choice: Choice, questions: QuestionSet, traits: Traits, asked: Sequence[Question]) -> None:
        self._choice, self._set = choice, questions
        self._by_turn = choice.granularity == "turn"
        self._split = self._by_turn and not (traits.tells_turns and Capability.CONVERSATION_WRITE in traits.can)
        self._asked: dict[int, list[Question]] = {}
        for question in asked:
            self._asked.setdefault(question.haystack, []).append(question)
        self._made: dict[int, _Layout] = {}

    @property
    def numbers(self) -> Sequence[int]:
        return list(self._asked)

    def asks(self, number: int) -> Sequence[str]:
        """The ids of the questions that are asked of a haystack; none where it is not asked."""
        return [question.id for question in self._asked.get(number, ())]

    def haystack(self, number: int) -> Haystack:
        """The haystack as a worker is given it."""
        self._made[number] = self._layout(number)
        return self._made[number].haystack

    def results(self, number: int, asked: Asked) -> Iterator[CaseResult]:
        """What came of each question of a haystack, under the names of the file."""
        layout = self._made.pop(number)
        for question, answer in zip(self._asked[number], asked.answers, strict=True):
            gold = gold_of(question, self._choice)
            yield CaseResult(
                case_id=question.id,
                slice={"question_type": question.kind},
                expected_ids=gold,
                relevance_grades=dict.fromkeys(gold, 1.0),
                ranked_ids=self._ranked(answer, layout),
                candidates=layout.candidates,
                left_out=question.left_out,
                latency_ms=None if answer.error else round(answer.latency_ms, 3),
                error=answer.error,
                usage={
                    "ingest_ms": round(asked.ingest_ms, 3),
                    "ingest_cpu_ms": round(asked.ingest_cpu_ms, 3),
                    "written_cpu_ms": round(asked.written_cpu_ms, 3),
                },
                written=question.written,
            )

    def _layout(self, number: int) -> _Layout:
        passages: list[Passage] = []
        units: dict[str, tuple[str, ...]] = {}
        sessions = self._set.haystack(number)
        for place, session in enumerate(sorted(sessions, key=lambda session: session.at)):
            for part, turns in enumerate(self._parts(session)):
                passage = Passage(
                    self._opaque(number, place, part), session.at, tuple(_message(turn, session.at) for turn in turns)
                )
                passages.append(passage)
                units[passage.id] = tuple(turn.id for turn in turns) if self._by_turn else (session.id,)
        known = {turn.id for s in sessions for turn in self._said(s)} if self._by_turn else {s.id for s in sessions}
        haystack = Haystack(
            system=self._choice.system,
            run_id=self._opaque(number, -1, 0),
            seed=self._choice.seed,
            passages=tuple(passages),
            queries=tuple(Query(question.text, question.asked_at) for question in self._asked[number]),
            limit=max(len(known), PIECES * len(passages)),
            by_turn=self._by_turn,
        )
        return _Layout(haystack, units, len(known))

    def _parts(self, session: Session) -> Sequence[tuple[Said, ...]]:
        """What is written of a session at once: all of it, or each turn by itself. Nothing where nothing was said."""
        said = self._said(session)
        return [(turn,) for turn in said] if self._split else [said] if said else []

    def _said(self, session: Session) -> tuple[Said, ...]:
        heard = {"user"} if self._choice.policy == USERS else {"user", "assistant"}
        return tuple(turn for turn in session.turns if turn.role in heard and turn.text.strip())

    def _opaque(self, haystack: int, place: int, part: int) -> str:
        """An id of this set and seed; it sorts like nothing else does."""
        told = f"{self._choice.seed}:{self._set.sha256}:{haystack}:{place}:{part}"
        return f"c{hashlib.sha256(told.encode()).hexdigest()[:15]}"

    def _ranked(self, answer: Answer, layout: _Layout) -> tuple[str, ...]:
        ranked: list[str] = []
        strays = 0
        for found in answer.found:
            units = layout.units.get(found.passage or "", ())
            if self._by_turn and not self._split:
                units = tuple(units[turn] for turn in found.turns if 0 <= turn < len(units))
            if not units:
                strays += 1
            ranked += units or (f"?{strays}",)
        return tuple(dict.fromkeys(ranked))


def _message(turn: Said, at: str) -> Message:
    return Message(turn.role, turn.text, at)
