"""The run: haystacks laid out under opaque ids, written, asked, and brought together with gold once all is answered."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from brainbench.datasets import locomo, longmemeval
from brainbench.datasets.sets import QuestionSet
from brainbench.errors import IncompatibleError, UsageError
from brainbench.model import Capability
from brainbench.replay.haystacks import Asked, ask_all, unasked
from brainbench.replay.sweep import refusal, traits_of
from brainbench.replay.worker import Traits
from brainbench.retrieval.layout import Choice, Layouts, to_ask
from brainbench.retrieval.results import Attempt, CaseResult, Checkpoint
from brainbench.systems.access import Access

SETS: Mapping[str, Callable[[Path], QuestionSet]] = {"longmemeval": longmemeval.read, "locomo": locomo.read}
"""What can be asked, and how its published file is read."""
QUESTION_SECONDS = 1.0
"""How much longer a haystack may take for each of its questions."""


@dataclass(frozen=True, slots=True)
class Measured:
    """All that a report tells: what was asked of whom, and what came of each question in the order of the file."""

    choice: Choice
    questions: QuestionSet
    traits: Traits
    cases: tuple[CaseResult, ...]
    excluded: Mapping[str, int]
    attempts: tuple[Attempt, ...]
    elapsed_seconds: float
    cpu_seconds: float
    load: float


def measure(choice: Choice, progress: Callable[[int, int], None] = lambda done, of: None) -> Measured:
    """Ask every question that has gold. UsageError and CorpusError come before anything is asked.

    Where a system is not admitted, every question is an error that says why.
    """
    began, cpu = time.monotonic(), _cpu_seconds()
    started_at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    questions = read(choice)
    access = replace(choice.access, hidden=_hidden(choice))
    traits = traits_of(choice.system, access)
    _check_abilities(choice.system, traits)
    asked, excluded = to_ask(choice, questions)
    layouts = Layouts(choice, questions, traits, asked)
    run = run_of(choice, questions, traits)
    checkpoint = Checkpoint(choice.checkpoint, run, started_at) if choice.checkpoint else None
    finished = _finished(checkpoint, layouts)
    done = sum(map(len, finished.values()))
    progress(done, len(asked))
    for number, came in _answers(choice, layouts, traits, access, skipped=frozenset(finished)):
        finished[number] = tuple(layouts.results(number, came))
        if checkpoint:
            checkpoint.add(number, finished[number])
        done += len(finished[number])
        progress(done, len(asked))
    by_id = {case.case_id: case for cases in finished.values() for case in cases}
    return Measured(
        choice=choice,
        questions=questions,
        traits=traits,
        cases=tuple(by_id[question.id] for question in asked),
        excluded=excluded,
        attempts=checkpoint.attempts if checkpoint else (Attempt(started_at, 0),),
        elapsed_seconds=time.monotonic() - began,
        cpu_seconds=_cpu_seconds() - cpu,
        load=os.getloadavg()[0],
    )


def read(choice: Choice) -> QuestionSet:
    """The set. UsageError where it is not the published one and no other is allowed, CorpusError if it is faulty."""
    questions = SETS[choice.suite](choice.path)
    if not questions.published and not choice.allow_unknown:
        raise UsageError(
            f"PATH: {choice.path} is not the published file: its digest is {questions.sha256}; numbers on it are "
            "comparable with no others. Measure it all the same with --allow-unknown-dataset, which the report tells"
        )
    return questions


def _finished(checkpoint: Checkpoint | None, layouts: Layouts) -> dict[int, tuple[CaseResult, ...]]:
    """What was answered before, by haystack. IncompatibleError where other questions were."""
    if checkpoint is None:
        return {}
    for number, cases in checkpoint.finished.items():
        if [case.case_id for case in cases] != layouts.asks(number):
            raise IncompatibleError(f"--checkpoint: {checkpoint.path}: holds other questions; name another file")
    return dict(checkpoint.finished)


def run_of(choice: Choice, questions: QuestionSet, traits: Traits) -> dict[str, Any]:
    """What must be the same for two runs to be one."""
    return {
        "suite": choice.suite,
        "dataset": questions.sha256,
        "system": choice.system,
        "system_version": traits.version,
        "granularity": choice.granularity,
        "text_policy": choice.policy,
        "limit": choice.limit,
        "sample": choice.sample,
        "seed": choice.seed,
    }


def _hidden(choice: Choice) -> tuple[str, ...]:
    """What no system may read: the set, what is written of the run, and both under whatever name they are reached."""
    places = [choice.path, *choice.hidden, *([choice.checkpoint] if choice.checkpoint else [])]
    return tuple(dict.fromkeys(os.path.realpath(place) for place in places))


def _check_abilities(name: str, traits: Traits) -> None:
    keeps = {Capability.CONVERSATION_WRITE, Capability.PAGE_WRITE} & traits.can
    if not keeps or Capability.SEARCH not in traits.can:
        can = ", ".join(sorted(traits.can)) or "nothing"
        raise UsageError(
            f"--system: {name} cannot be asked: it needs `search`, and `conversation_write` or `page_write`; has {can}"
        )


def _answers(
    choice: Choice, layouts: Layouts, traits: Traits, access: Access, skipped: Container[int]
) -> Iterator[tuple[int, Asked]]:
    numbers = [number for number in layouts.numbers if number not in skipped]
    if not numbers:
        return
    if why := refusal(choice.system, access):
        yield from ((number, unasked(layouts.haystack(number), why)) for number in numbers)
        return
    jobs = 1 if traits.alone else choice.jobs
    yield from ask_all(
        layouts.haystack,
        numbers,
        jobs,
        seconds=lambda haystack: choice.haystack_seconds + QUESTION_SECONDS * len(haystack.queries),
        access=access,
    )


def _cpu_seconds() -> float:
    """CPU time of this process and of those it started and that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)
