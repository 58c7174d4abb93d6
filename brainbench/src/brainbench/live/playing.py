"""Fixtures played with a model in the loop, in four arms: with and without pushed pages, with and without tools."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from brainbench.chat import Chat
from brainbench.errors import EndpointError, SystemFailure
from brainbench.live.loop import Asked, ask_turn
from brainbench.live.prompt import messages, offered
from brainbench.model import Fixture, Observation, Turn
from brainbench.replay import missing_capabilities
from brainbench.replay.stage import TOOLS
from brainbench.replay.staging import Staging
from brainbench.replay.worker import Task
from brainbench.suites.turns import DELIVERS

ARMS: Mapping[str, tuple[bool, bool]] = {
    "off": (False, False),
    "tools": (False, True),
    "push": (True, False),
    "both": (True, True),
}
"""Name -> (memory pushes, the model has tools)."""
FAILURES_IN_A_ROW = 3
"""Turns without an answer after which the endpoint is given up."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How each turn is put to the model."""

    arms: tuple[str, ...] = tuple(ARMS)
    repeats: int = 5
    seed: int = 42
    max_tokens: int = 512


@dataclass(frozen=True, slots=True)
class LiveTurn:
    """One user turn in one arm and repeat: what memory pushed, and what the model did."""

    system: str
    fixture_id: str
    event_id: int
    arm: str
    repeat: int
    injected: tuple[str, ...]
    asked: Asked


@dataclass(slots=True)
class Played:
    """All turns in the order they were played, and the fixtures that could not be."""

    turns: list[LiveTurn] = field(default_factory=list)
    not_applicable: dict[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)
    seed_failures: dict[tuple[str, str], str] = field(default_factory=dict)


class Player:
    """Puts every user turn of the tasks to the model."""

    def __init__(self, chat: Chat, plan: Plan, staged: Staging, done: Callable[[int], None]) -> None:
        self.chat, self.plan, self.staged, self._done = chat, plan, staged, done
        self.played = Played()
        self._failures = 0

    def play(self, tasks: Sequence[Task]) -> Played:
        """The turns of all tasks, a whole repeat before the next. EndpointError or OverBudget end it."""
        for repeat in range(1, self.plan.repeats + 1):
            for task in tasks:
                for arm in self.plan.arms:
                    self._fixture(task, arm, repeat)
        return self.played

    def _fixture(self, task: Task, arm: str, repeat: int) -> None:
        push, tools = ARMS[arm]
        name = (task.system, task.fixture.fixture_id)
        if lacking := _lacking(task, push=push, tools=tools):
            self.played.not_applicable[task.system, f"arm {arm}"] = lacking
            return
        left = user_turns(task.fixture)
        try:
            began = self.staged.begin(task, push=push)
            if began.error is not None:
                raise SystemFailure(began.error)
            if began.missing:
                self.played.not_applicable[name] = began.missing
                return
            if began.seed_failure is not None:
                self.played.seed_failures[name] = began.seed_failure
                return
            names = offered(task.can) if tools else ()
            for seen, blocks in self._turns(task):
                asked = self._turn(task, arm, repeat, seen, blocks, names)
                left = tuple(event_id for event_id in left if event_id != seen.event_id)
                self._keep(task, arm, repeat, seen, asked)
        except SystemFailure as error:
            for event_id in left:
                lost = Observation(event_id, "turn")
                self._keep(task, arm, repeat, lost, Asked(error=str(error)))

    def _turns(self, task: Task) -> Iterator[tuple[Observation, dict[int, str]]]:
        """Each turn as it was observed, with all that was pushed up to it."""
        blocks: dict[int, str] = {}
        while (seen := self.staged.advance()) is not None:
            if seen.kind == "turn":
                blocks[seen.event_id] = seen.text
                yield seen, blocks

    def _turn(
        self, task: Task, arm: str, repeat: int, seen: Observation, blocks: Mapping[int, str], tools: tuple[str, ...]
    ) -> Asked:
        if seen.error is not None:
            return Asked(error=seen.error)
        turn = next(e for e in task.fixture.events if e.event_id == seen.event_id)
        source = turn.source or task.fixture.active_source
        body: dict[str, object] = {
            "model": self.chat.model,
            "messages": messages(task.fixture, seen.event_id, blocks, tools=bool(tools)),
            "temperature": 0,
            "seed": self.plan.seed + repeat - 1,
            "max_tokens": self.plan.max_tokens,
        }
        about = f"{task.fixture.fixture_id}/{seen.event_id} ({arm}, repeat {repeat})"
        return ask_turn(self.chat, body, tools, lambda tool, what: self.staged.look(tool, source, what), about)

    def _keep(self, task: Task, arm: str, repeat: int, seen: Observation, asked: Asked) -> None:
        ids = tuple(dict.fromkeys(seen.ids))[: task.seam.capacity]
        self.played.turns.append(LiveTurn(task.system, task.fixture.fixture_id, seen.event_id, arm, repeat, ids, asked))
        self._done(len(self.played.turns))
        self._failures = self._failures + 1 if asked.unanswered else 0
        if self._failures >= FAILURES_IN_A_ROW and not self.chat.recorded:
            raise EndpointError(f"{self._failures} turns in a row got no answer, the last because: {asked.error}")


def unplayed(tasks: Sequence[Task], plan: Plan, why: str) -> Played:
    """The turns of a memory that may not be played: nobody is asked, and each is an error that says why."""
    played = Played()
    for repeat in range(1, plan.repeats + 1):
        for task in tasks:
            name = (task.system, task.fixture.fixture_id)
            if missing := missing_capabilities(task.fixture, task.can):
                played.not_applicable[name] = missing
                continue
            for arm in plan.arms:
                push, tools = ARMS[arm]
                if lacking := _lacking(task, push=push, tools=tools):
                    played.not_applicable[task.system, f"arm {arm}"] = lacking
                    continue
                turns = user_turns(task.fixture)
                played.turns += [LiveTurn(*name, turn, arm, repeat, (), Asked(error=why)) for turn in turns]
    return played


def _lacking(task: Task, *, push: bool, tools: bool) -> tuple[str, ...]:
    """What a memory lacks for an arm."""
    if push and not DELIVERS & task.can:
        return (" or ".join(sorted(DELIVERS)),)
    if tools and not offered(task.can):
        return (" or ".join(sorted(tool.needs for tool in TOOLS.values())),)
    return ()


def user_turns(fixture: Fixture) -> tuple[int, ...]:
    """The events of a fixture that are put to a model."""
    return tuple(e.event_id for e in fixture.events if isinstance(e, Turn) and e.role == "user")
