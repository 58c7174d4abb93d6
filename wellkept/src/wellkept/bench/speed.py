"""How fast a memory of a given size answers."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, get_args

import apsw
import numpy as np
from numpy.typing import NDArray

from wellkept.bench import Machine, Speed, Timing, Written
from wellkept.bench.apart import run_apart, says, tells
from wellkept.bench.clock import Stopwatch, rss_mb, timed
from wellkept.bench.texts import Speech
from wellkept.memory import Memory
from wellkept.model import Fact, Message, Provenance, SearchOptions
from wellkept.providers import Embedder, EmbedderId
from wellkept.providers.embedders import packaged
from wellkept.recall.asked import content_words
from wellkept.storage import Embedded, open_store

TURNS = 20
NAMED_PAGES = 1_000
PIECES_A_FACT = 20
TIMED_SESSIONS = 2_500
"""How many of the conversations, the last ones, are written as they would be and timed."""
_SOURCE = "bench"
_BATCH = 2_000
_START = datetime(2024, 1, 1, 9, 0, tzinfo=UTC)
_TOGETHER = 50


def measure(folder: Path, chunks: int, questions: int, progress: Callable[[str], object] = bool) -> Speed:
    """Fill a memory in the folder, or go on filling it, and ask it, each in a process of its own.

    Vectors are drawn at random; the questions' are computed.
    """
    path = folder / f"speed-{chunks}.db"
    written = run_apart(__name__, "fill_apart", path, chunks, progress=progress)
    progress(f"asking a memory of {chunks}")
    found = run_apart(__name__, "ask_apart", path, chunks, questions, progress=progress)
    timings = {name: Timing(**found.pop(name)) for name in ("search", "lexical", "context", "recall", "plain")}
    found["lanes"] = tuple(found["lanes"])
    return Speed(**{**found, **timings, "written": Written(**written)})


def fill_apart(path: str, chunks: str) -> None:
    """In a process of its own: `fill`."""
    embedder = packaged()
    tells(asdict(fill(Path(path), int(chunks), None if embedder is None else embedder.id, says)))


def ask_apart(path: str, chunks: str, questions: str) -> None:
    """In a process of its own: `ask`."""
    tells(ask(Path(path), int(chunks), int(questions), packaged()))


def fill(path: Path, chunks: int, who: EmbedderId | None, progress: Callable[[str], object] = bool) -> Written:
    """A memory with so many pieces of conversation, pages of people and facts; what is there already stays."""
    speech = Speech(1)
    with closing(Memory(open_store("sqlite", path))) as memory:
        speech.begin("people")
        for number, name in enumerate(speech.names(_people(chunks))):
            memory.put_page(_SOURCE, f"people/{number}", f"---\ntitle: {name}\ntype: person\n---\n\n{speech.turn()}\n")
        written = _bank(memory, speech, chunks, progress)
        _tell_facts(memory, speech, chunks)
        if who is not None:
            _draw_vectors(memory, who, progress)
    return written


def _people(chunks: int) -> int:
    return min(NAMED_PAGES, chunks // TURNS)


def _bank(memory: Memory, speech: Speech, chunks: int, progress: Callable[[str], object]) -> Written:
    """Bank conversations: the last ones one by one and timed, each durable before the next, those before in groups."""
    watch, pieces = Stopwatch(), 0
    sessions = range(-(-chunks // TURNS))
    timed_from = max(0, len(sessions) - TIMED_SESSIONS)
    for start in range(0, timed_from, _TOGETHER):
        with memory.store.transaction():
            for number in range(start, min(start + _TOGETHER, timed_from)):
                if not _is_there(memory, number):
                    memory.bank(_SOURCE, f"session-{number}", session(speech, number, TURNS), now=_START)
        progress(f"{start * TURNS} of {chunks} pieces written")
    for number in sessions[timed_from:]:
        if _is_there(memory, number):
            continue
        messages = session(speech, number, min(TURNS, chunks - number * TURNS))
        with watch:
            memory.bank(_SOURCE, f"session-{number}", messages, now=_START)
        pieces += len(messages)
        if number % _TOGETHER == 0:
            progress(f"{number * TURNS} of {chunks} pieces written")
    return Written(pieces, pieces / watch.wall if pieces else None, pieces / watch.cpu if pieces else None)


def _is_there(memory: Memory, number: int) -> bool:
    return memory.store.get_page(_SOURCE, f"conversations/session-{number}") is not None


def session(speech: Speech, number: int, turns: int) -> list[Message]:
    """The turns of one conversation, the same whichever others there are."""
    speech.begin(f"session {number}")
    at = _START + timedelta(hours=number)
    return [Message("assistant" if turn % 2 else "user", speech.turn(), at) for turn in range(turns)]


def _tell_facts(memory: Memory, speech: Speech, chunks: int) -> None:
    speech.begin("facts")
    told = Provenance("bench")
    facts = [
        Fact(None, _SOURCE, " ".join(speech.words(12)), f"people/{number % 100}", "fact", told, recorded_at=_START)
        for number in range(chunks // PIECES_A_FACT)
    ]
    memory.store.put_facts(_SOURCE, None, facts, _START)


def ask(path: Path, chunks: int, questions: int, embedder: Embedder | None) -> dict[str, Any]:
    """The fields of a Speed but for what writing took."""
    speech = Speech(1)
    speech.begin("people")
    names = list(speech.names(_people(chunks)))
    asked = list(questions_of(speech, questions))
    hybrid, lexical = SearchOptions(), SearchOptions(mode="lexical")
    if embedder is not None:
        embedder.embed(["warm"])
    with closing(Memory(open_store("sqlite", path), embedder=lambda: embedder)) as memory:
        began = time.perf_counter()
        lanes = memory.find(_SOURCE, asked[0]).lanes
        first_ms = (time.perf_counter() - began) * 1000
        turns = [f"{one} Ask {names[at % len(names)]}." if at % 2 else one for at, one in enumerate(asked)]
        timings = {
            "search": timed(lambda question: memory.find(_SOURCE, question, 10, hybrid), asked),
            "lexical": timed(lambda question: memory.find(_SOURCE, question, 10, lexical), asked),
            "context": timed(lambda turn: memory.context(_SOURCE, (Message("user", turn),)), turns),
            "recall": timed(lambda question: memory.recall(_SOURCE, question, limit=10), asked),
        }
        held = rss_mb()
        facts = len(memory.store.facts(_SOURCE))
    timings["plain"] = _plain(path, asked)
    return {
        **{name: asdict(timing) for name, timing in timings.items()},
        "chunks": chunks,
        "facts": facts,
        "lanes": lanes,
        "first_search_ms": first_ms,
        "rss_mb": held,
        "file_mb": path.stat().st_size / 1e6,
    }


def questions_of(speech: Speech, count: int) -> Iterator[str]:
    """The questions that every memory is asked."""
    speech.begin("questions")
    for _ in range(count):
        yield speech.question()


def drawn(dimension: int) -> Iterator[NDArray[np.float32]]:
    """Vectors without end, by _BATCH, in clusters as those of texts are."""
    draw = np.random.default_rng(1)
    centres = draw.normal(size=(256, dimension))
    while True:
        rows = centres[draw.integers(0, 256, _BATCH)] + draw.normal(size=(_BATCH, dimension))
        yield (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def _draw_vectors(memory: Memory, who: EmbedderId, progress: Callable[[str], object]) -> None:
    vectors, done = drawn(who.dimension), 0
    for what in get_args(Embedded):
        after = 0
        while waiting := memory.store.index.waiting(after, _BATCH, what):
            rows = next(vectors)[: len(waiting)]
            memory.store.index.put_vectors(who, [one.id for one in waiting], rows, what)
            done, after = done + len(waiting), waiting[-1].id
            progress(f"{done} vectors")


def _plain(path: Path, questions: Sequence[str]) -> Timing:
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:

        def ask_plainly(question: str) -> None:
            words = " OR ".join(f'"{word}"' for word in content_words(question))
            sql = "SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ? ORDER BY rank LIMIT 10"
            list(connection.execute(sql, (words,)))

        return timed(ask_plainly, questions)


def machine(load_before: float) -> Machine:
    """The machine, with the load of the last minute now and before."""
    return Machine(
        _processor(),
        os.cpu_count() or 1,
        platform.python_version(),
        apsw.sqlite_lib_version(),
        (round(load_before, 2), round(os.getloadavg()[0], 2)),
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
