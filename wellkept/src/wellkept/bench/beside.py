"""Other memories beside this one: the same pieces and questions, vectors of the same kind, each in its own process."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wellkept.bench import Beside, Speed, Timing, Written
from wellkept.bench.apart import Broke, run_apart, says, tells
from wellkept.bench.clock import Stopwatch, folder_mb, rss_mb, timed
from wellkept.bench.speed import TURNS, drawn, questions_of, session
from wellkept.bench.texts import Speech
from wellkept.model import Message
from wellkept.providers import Embedder
from wellkept.providers.embedders import packaged

LIMIT = 10


@dataclass(frozen=True, slots=True)
class Other:
    """A memory that may be installed beside this one: `made` names what opens it in a folder."""

    package: str
    made: str
    how: str


OTHERS: Mapping[str, Other] = {
    "chromadb": Other(
        "chromadb", "wellkept.bench.others:Chroma", "a PersistentClient, vectors given; 20 pieces written at once"
    ),
    "mem0": Other(
        "mem0ai", "wellkept.bench.others:Mem0", "add with infer=False on its default store, Qdrant in a folder"
    ),
    "langgraph": Other(
        "langgraph", "wellkept.bench.others:Langgraph", "InMemoryStore with an index of vectors; nothing on the disk"
    ),
}
"""By the name that the command line uses."""


class OtherMemory(Protocol):
    """What is asked of another memory."""

    def write(self, messages: Sequence[Message]) -> None:
        """Keep the turns of a conversation, each a piece of its own."""

    def search(self, question: str, limit: int) -> int:
        """How many pieces were found."""

    def close(self) -> None:
        """Release everything."""


class Vectors:
    """The one embedder of all: what is written gets vectors that were drawn, questions are computed."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.dimension = embedder.id.dimension
        self._drawn = self._one_by_one()

    def _one_by_one(self) -> Iterator[NDArray[np.float32]]:
        for rows in drawn(self.dimension):
            yield from rows

    def of_piece(self) -> list[float]:
        """The next one drawn."""
        return [float(number) for number in next(self._drawn)]

    def of_question(self, question: str) -> list[float]:
        """What the model says of it."""
        return [float(number) for number in self._embedder.embed([question])[0]]


def measure_beside(
    folder: Path, name: str, ours: Speed, questions: int, progress: Callable[[str], object] = bool
) -> Beside:
    """The other memory with as many pieces as ours has, its numbers beside ours."""
    other = OTHERS[name]
    try:
        have = version(other.package)
    except PackageNotFoundError:
        return Beside(name, "", problem=f"not installed: pip install {other.package}")
    place = folder / name
    place.mkdir(exist_ok=True)
    try:
        found = run_apart(__name__, "work_apart", name, place, ours.chunks, questions, progress=progress)
    except Broke as error:
        return Beside(name, have, other.how, ours.chunks, problem=str(error))
    search, written = Timing(**found.pop("search")), Written(**found.pop("written"))
    beside = Beside(name, have, other.how, ours.chunks, written, search, **found)
    if ours.written.per_cpu_s and written.per_cpu_s:
        beside = replace(beside, write_to_wellkept=ours.written.per_cpu_s / written.per_cpu_s)
    return replace(beside, to_wellkept=search.cpu_p50 / max(ours.search.cpu_p50, 1e-6))


def work_apart(name: str, folder: str, chunks: str, questions: str) -> None:
    """In a process of its own: fill the other memory and ask it."""
    os.environ.update({"ANONYMIZED_TELEMETRY": "False", "MEM0_TELEMETRY": "False", "MEM0_DIR": folder})
    embedder = packaged()
    if embedder is None:
        raise SystemExit("there is no packaged model, and other memories cannot go by words alone")
    module, _, kind = OTHERS[name].made.partition(":")
    opened: Callable[..., OtherMemory] = getattr(import_module(module), kind)
    tells(fill_and_ask(opened(Path(folder), Vectors(embedder)), Path(folder), int(chunks), int(questions)))


def fill_and_ask(memory: OtherMemory, folder: Path, chunks: int, questions: int) -> dict[str, Any]:
    """What was measured of another memory."""
    speech, watch = Speech(1), Stopwatch()
    for number, start in enumerate(range(0, chunks, TURNS)):
        messages = session(speech, number, min(TURNS, chunks - start))
        with watch:
            memory.write(messages)
        if number % 10 == 0:
            says(f"{start} of {chunks} pieces written")
    hits: list[int] = []
    search = timed(lambda question: hits.append(memory.search(question, LIMIT)), list(questions_of(speech, questions)))
    held = rss_mb()
    memory.close()
    return {
        "written": asdict(Written(chunks, chunks / watch.wall, chunks / watch.cpu)),
        "search": asdict(search),
        "hits": sum(hits) / len(hits),
        "rss_mb": held,
        "file_mb": folder_mb(folder),
    }
