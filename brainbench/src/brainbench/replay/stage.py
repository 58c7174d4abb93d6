"""A fixture played turn by turn, with the memory at hand in between: what a model with tools would find there.

Runs in a worker process. The model, and what decides how it is asked, stand in the bench.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

import msgspec

from brainbench.model import Capability, Fixture, Observation, RunContext, Turn
from brainbench.replay import _Play, fill, missing_capabilities, worker
from brainbench.replay.processes import remove
from brainbench.replay.worker import Task
from brainbench.systems import System
from brainbench.systems.answers import what_happened

HITS = 5
"""How many results a search or recall brings."""
HIT_CHARS = 400
PAGE_CHARS = 4000
"""Characters of one hit, and of a page, that are shown to the model."""


@dataclass(frozen=True, slots=True)
class Began:
    """Whether the memory could be filled, and what the fixture requires that it lacks."""

    seed_failure: str | None = None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """What a tool gave: text for the model, and the pages that it came from."""

    text: str = ""
    ids: tuple[str, ...] = ()
    error: str | None = None


class _Unasked(_Play):
    """The same events, but the memory is not asked to push anything."""

    def _ask(self, turn: Turn) -> Observation:
        return Observation(turn.event_id, "turn")


@dataclass(slots=True)
class _Stage:
    system: System
    fixture: Fixture
    play: _Play
    events: Iterator[Observation]
    directory: str


_stage: list[_Stage] = []
"""The fixture being played, if any."""


def begin(task: Task, push: bool) -> bytes:
    """Open a memory, fill it, and stand before the first event; a Began, encoded."""
    end()
    system = worker.opened(task.system)
    missing = missing_capabilities(task.fixture, system.can)
    if missing:
        return msgspec.msgpack.encode(Began(missing=missing))
    directory = tempfile.mkdtemp(dir=worker._worker_directory)
    run = RunContext(task.run_id, task.fixture.sources, task.fixture.active_source, directory, task.seed)
    try:
        fill(system, task.fixture, run, worker._filling(task))
    except Exception as error:
        remove(directory)
        return msgspec.msgpack.encode(Began(seed_failure=what_happened(error)))
    play = (_Play if push else _Unasked)(system, task.seam, task.fixture, run)
    _stage.append(_Stage(system, task.fixture, play, iter(play.observations()), directory))
    return msgspec.msgpack.encode(Began())


def advance() -> bytes:
    """Play on to the next event that is observed; its Observation, or None after the last, encoded."""
    seen = next(_stage[0].events, None)
    if seen is None:
        end()
    return msgspec.msgpack.encode(seen)


def end() -> None:
    """Leave the fixture."""
    while _stage:
        stage = _stage.pop()
        stage.play.close()
        remove(stage.directory)


def look(tool: str, source: str, argument: str) -> bytes:
    """What a tool gives at this point of the fixture; a Found, encoded. Whatever the memory raises is an error."""
    try:
        found = TOOLS[tool].look(_stage[0].system, source, argument)
    except Exception as error:
        found = Found(error=what_happened(error))
    return msgspec.msgpack.encode(found)


def _search(system: System, source: str, query: str) -> Found:
    hits = list(system.search(source, query, HITS))[:HITS]
    told = [{"id": str(h.id), "title": str(h.title), "text": str(h.text)[:HIT_CHARS]} for h in hits]
    return Found(_listed(told), tuple(dict.fromkeys(hit["id"] for hit in told)))


def _recall(system: System, source: str, query: str) -> Found:
    rows = list(system.recall_facts(source, query, HITS))[:HITS]
    told = [{"fact": str(row.text)[:HIT_CHARS], "about": row.entity} for row in rows]
    return Found(_listed(told), tuple(dict.fromkeys(str(row.entity) for row in rows if row.entity is not None)))


def _get_page(system: System, source: str, slug: str) -> Found:
    content = system.read_page(source, slug)
    if content is None:
        return Found(f"There is no page {slug[:HIT_CHARS]!r}.")
    return Found(str(content)[:PAGE_CHARS], (slug,))


def _listed(told: Iterable[Mapping[str, object]]) -> str:
    return json.dumps(list(told), ensure_ascii=False) if told else "Nothing was found."


@dataclass(frozen=True, slots=True)
class Tool:
    """What a model may call: what the memory must be able to do for it, and its one argument."""

    needs: Capability
    argument: str
    description: str
    look: Callable[[System, str, str], Found]


TOOLS: Mapping[str, Tool] = {
    "search": Tool(Capability.SEARCH, "query", "Find pages of the user's memory by words.", _search),
    "recall": Tool(Capability.RECALL_FACTS, "query", "Find single facts that the user's memory holds.", _recall),
    "get_page": Tool(Capability.PAGE_WRITE, "id", "Read a page of the user's memory by its id.", _get_page),
}
"""The tools of a model in the loop."""
