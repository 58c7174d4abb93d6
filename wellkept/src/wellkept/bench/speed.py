"""How fast a memory of a given size answers."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import numpy as np

from wellkept.bench import Machine, Sizes, Speed, Timing
from wellkept.bench.texts import Speech
from wellkept.memory import Memory
from wellkept.model import Message, SearchOptions
from wellkept.providers import Embedder, EmbedderId
from wellkept.recall.asked import content_words
from wellkept.storage import open_store

TURNS = 20
NAMED_PAGES = 1_000
_SOURCE = "bench"
_BATCH = 2_000
_START = datetime(2024, 1, 1, 9, 0, tzinfo=UTC)
_WARM = 5


def measure(folder: Path, sizes: Sizes, embedder: Embedder | None, progress: Callable[[str], object] = bool) -> Speed:
    """Fill a new memory in the folder and ask it. Vectors are drawn at random; the questions' are computed."""
    speech = Speech(1)
    path = folder / "speed.db"
    with closing(Memory(open_store("sqlite", path), embedder=lambda: embedder)) as memory:
        names = list(speech.names(min(NAMED_PAGES, sizes.chunks // 20)))
        for number, name in enumerate(names):
            memory.put_page(_SOURCE, f"people/{number}", f"---\ntitle: {name}\ntype: person\n---\n\n{speech.turn()}\n")
        per_s, per_cpu_s = _ingest(memory, speech, sizes.chunks, progress)
        if embedder is not None:
            _draw_vectors(memory, embedder.id, progress)
        progress("asking")
        questions = [speech.question() for _ in range(sizes.questions)]
        lanes = memory.find(_SOURCE, questions[0]).lanes
        hybrid, lexical = SearchOptions(), SearchOptions(mode="lexical")
        began = time.perf_counter()
        with closing(Memory(open_store("sqlite", path), embedder=lambda: embedder)) as cold:
            cold.find(_SOURCE, questions[0])
        first_ms = (time.perf_counter() - began) * 1000
        turns = [f"{question} Ask {names[at % len(names)]}." for at, question in enumerate(questions)]
        return Speed(
            sizes.chunks,
            per_s,
            per_cpu_s,
            lanes,
            first_ms,
            search=_timed(lambda question: memory.find(_SOURCE, question, 10, hybrid), questions),
            lexical=_timed(lambda question: memory.find(_SOURCE, question, 10, lexical), questions),
            context=_timed(lambda turn: memory.context(_SOURCE, (Message("user", turn),)), turns),
            plain=_plain(path, questions),
            rss_mb=_rss_mb(),
            file_mb=path.stat().st_size / 1e6,
        )


def _ingest(memory: Memory, speech: Speech, chunks: int, progress: Callable[[str], object]) -> tuple[float, float]:
    """Bank conversations one by one, each durable before the next; chunks a second by the clock and the processor."""
    sessions = list(_sessions(speech, chunks))
    began, cpu = time.perf_counter(), time.process_time()
    for number, messages in enumerate(sessions):
        memory.bank(_SOURCE, f"session-{number}", messages, now=_START)
        if number % 100 == 0:
            progress(f"{number * TURNS} of {chunks} written")
    return chunks / (time.perf_counter() - began), chunks / (time.process_time() - cpu)


def _sessions(speech: Speech, chunks: int) -> Iterator[list[Message]]:
    for start in range(0, chunks, TURNS):
        at = _START + timedelta(hours=start // TURNS)
        size = min(TURNS, chunks - start)
        yield [Message("assistant" if turn % 2 else "user", speech.turn(), at) for turn in range(size)]


def _draw_vectors(memory: Memory, who: EmbedderId, progress: Callable[[str], object]) -> None:
    """Vectors in clusters, as those of texts are."""
    draw = np.random.default_rng(1)
    centres = draw.normal(size=(256, who.dimension))
    done = 0
    while waiting := memory.store.index.waiting(0, _BATCH):
        rows = centres[draw.integers(0, 256, len(waiting))] + draw.normal(size=(len(waiting), who.dimension))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        memory.store.index.put_vectors(who, [one.chunk for one in waiting], rows.astype(np.float32))
        done += len(waiting)
        progress(f"{done} vectors")


def _timed(ask: Callable[[str], object], questions: Sequence[str]) -> Timing:
    for question in questions[:_WARM]:
        ask(question)
    wall, cpu = [], []
    for question in questions:
        began, used = time.perf_counter(), time.process_time()
        ask(question)
        wall.append((time.perf_counter() - began) * 1000)
        cpu.append((time.process_time() - used) * 1000)
    return Timing(*_quantiles(wall), *_quantiles(cpu))


def _quantiles(values: Iterable[float]) -> tuple[float, float]:
    low, high = np.percentile(list(values), [50, 95])
    return float(low), float(high)


def _plain(path: Path, questions: Sequence[str]) -> Timing:
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:

        def ask(question: str) -> None:
            words = " OR ".join(f'"{word}"' for word in content_words(question))
            sql = "SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ? ORDER BY rank LIMIT 10"
            list(connection.execute(sql, (words,)))

        return _timed(ask, questions)


def _rss_mb() -> float:
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return float("nan")
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


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
