"""Fill a memory with conversations and ask it questions, in worker processes that know no gold.

A haystack is written into an empty memory, conversation by conversation in the order of time, then its questions are
asked. Everything a worker is given is said or asked; ids are opaque and tell nothing of where they came from.
"""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import msgspec
from pebble import ProcessFuture, ProcessPool

from brainbench.errors import SystemFailure
from brainbench.model import Capability, Conversation, Message, PageIn, RunContext, SearchHit, SourceDecl
from brainbench.replay.processes import Bounds, Watch, remove
from brainbench.replay.sweep import SPARE_SECONDS, WORKER_FAILURES, told, workers
from brainbench.replay.worker import opened
from brainbench.systems import System
from brainbench.systems.access import Access
from brainbench.systems.answers import plain, what_happened

SOURCE = "default"
AT_ONCE = 100
"""How many pages a system is given in one call."""
_PAGE_OR_NONE: Any = str | None


@dataclass(frozen=True, slots=True)
class Passage:
    """A conversation or a part of one, under an opaque id: what one write keeps."""

    id: str
    at: str
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Query:
    """A question, and when it is asked."""

    text: str
    at: str


@dataclass(frozen=True, slots=True)
class Haystack:
    """What is written into an empty memory and asked of it. `limit` is how many hits are wanted."""

    system: str
    run_id: str
    seed: int
    passages: tuple[Passage, ...]
    queries: tuple[Query, ...]
    limit: int
    by_turn: bool = False
    """Whether messages are looked for and not conversations."""


@dataclass(frozen=True, slots=True)
class Found:
    """One hit: the id of the passage it is of, None where it is of none, and which of its messages were found."""

    passage: str | None
    turns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """The hits of one question, best first, or why there are none."""

    found: tuple[Found, ...] = ()
    latency_ms: float = 0.0
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of a haystack: an answer a question, and how long writing took, on the clock and in this worker.

    `written_cpu_ms` is the part of it until everything was written; the rest is what the memory leaves for later.
    """

    answers: tuple[Answer, ...]
    ingest_ms: float = 0.0
    ingest_cpu_ms: float = 0.0
    lost: bool = False
    written_cpu_ms: float = 0.0


def unasked(haystack: Haystack, reason: str) -> Asked:
    """An error a question: each stays in every denominator."""
    return Asked(tuple(Answer(error=reason) for _ in haystack.queries))


def ask_all(
    haystacks: Callable[[int], Haystack],
    numbers: Sequence[int],
    jobs: int,
    *,
    seconds: Callable[[Haystack], float],
    access: Access | None = None,
    bounds: Bounds | None = None,
) -> Iterator[tuple[int, Asked]]:
    """What came of each haystack by its number, as they are done; `haystacks` makes one when its turn comes.

    Once WORKER_FAILURES of them have hung or ended the system's process, the others are errors and are not tried.
    """
    with workers(jobs, access, bounds) as (pool, watch):
        yield from _results(pool, watch, haystacks, list(numbers)[::-1], jobs, seconds)


def _results(
    pool: ProcessPool,
    watch: Watch,
    haystacks: Callable[[int], Haystack],
    waiting: list[int],
    jobs: int,
    seconds: Callable[[Haystack], float],
) -> Iterator[tuple[int, Asked]]:
    failures = 0
    under_way: dict[ProcessFuture[bytes], tuple[int, Haystack]] = {}
    while waiting or under_way:
        while waiting and len(under_way) < jobs + 1:
            number = waiting.pop()
            haystack = haystacks(number)
            if failures >= WORKER_FAILURES:
                yield number, unasked(haystack, "not tried: haystacks before it hung or ended the system's process")
                continue
            under_way[pool.schedule(ask, args=(haystack,), timeout=seconds(haystack))] = number, haystack
        if not under_way:
            continue
        longest = max(seconds(haystack) for _, haystack in under_way.values())
        if not wait(under_way, timeout=longest + SPARE_SECONDS, return_when=FIRST_COMPLETED).done:
            reason = "not tried: the system's processes no longer answer the bench"
            left = [*under_way.values(), *((number, haystacks(number)) for number in waiting)]
            yield from ((number, unasked(haystack, reason)) for number, haystack in left)
            pool.stop()  # type: ignore[no-untyped-call]
            return
        for future in [future for future in under_way if future.done()]:
            number, haystack = under_way.pop(future)
            asked = _asked(future, haystack, seconds(haystack), watch)
            failures += asked.lost
            yield number, asked


def _asked(future: ProcessFuture[bytes], haystack: Haystack, seconds: float, watch: Watch) -> Asked:
    """What a worker gave back: as many answers as there are questions."""
    try:
        asked = told(future, seconds, Asked, watch)
    except SystemFailure as error:
        return Asked(unasked(haystack, str(error)).answers, lost=True)
    if len(asked.answers) != len(haystack.queries):
        return Asked(unasked(haystack, "the system's process gave back another number of answers").answers, lost=True)
    return asked


def ask(haystack: Haystack) -> bytes:
    """One haystack written and asked in this worker; an Asked, encoded."""
    try:
        return msgspec.msgpack.encode(asked_of(opened(haystack.system), haystack))
    except BaseException as error:
        return msgspec.msgpack.encode(unasked(haystack, what_happened(error)))


def asked_of(system: System, haystack: Haystack) -> Asked:
    """Write the haystack into the system, emptied before, and ask its questions. A failed write fails them all."""
    losses, directory = system.losses, tempfile.mkdtemp()
    try:
        system.open(RunContext(haystack.run_id, (SourceDecl(SOURCE),), SOURCE, directory, haystack.seed))
        began, cpu = time.perf_counter(), _cpu_ms()
        places = _write(system, haystack.passages)
        written_cpu_ms = _cpu_ms() - cpu
        system.settle()
        ingest_ms, ingest_cpu_ms = (time.perf_counter() - began) * 1000, _cpu_ms() - cpu
        search = system.search_turns if haystack.by_turn and system.tells_turns else system.search
        answers = tuple(_answer(system, search, query, haystack.limit, places) for query in haystack.queries)
    except Exception as error:
        failed = unasked(haystack, f"the haystack was not written: {what_happened(error)}")
        return replace(failed, lost=system.losses != losses)
    finally:
        remove(directory)
    return Asked(answers, ingest_ms, ingest_cpu_ms, system.losses != losses, written_cpu_ms)


def _write(system: System, passages: Iterable[Passage]) -> dict[str, str]:
    """Keep every passage, and give what names them in a hit: the bench's id, and that of the page it was kept in.

    A page in which several were kept stands for the first of them: it does not say which one was found.
    """
    places: dict[str, str] = {}
    whole = Capability.CONVERSATION_WRITE in system.can
    pages: list[PageIn] = []
    for passage in passages:
        places[passage.id] = passage.id
        if whole:
            system.tell_time(passage.at)
            said = Conversation(SOURCE, passage.id, passage.messages, now=passage.at)
            page = plain(system.write_conversation(said), _PAGE_OR_NONE)
            if page is not None:
                places.setdefault(page, passage.id)
        else:
            pages.append(PageIn(SOURCE, passage.id, _page(passage), ts=passage.at))
    for first in range(0, len(pages), AT_ONCE):
        system.tell_time(pages[first].ts or "")
        system.write_pages(pages[first : first + AT_ONCE])
    return places


def _page(passage: Passage) -> str:
    """A conversation as Markdown, for a memory that keeps pages only."""
    said = "\n\n".join(f"{message.role}: {message.text}" for message in passage.messages)
    return f"---\ntitle: Conversation of {passage.at[:10]}\ntype: conversation\n---\n\n{said}\n"


def _answer(
    system: System,
    search: Callable[[str, str, int], Sequence[SearchHit]],
    query: Query,
    limit: int,
    places: Mapping[str, str],
) -> Answer:
    try:
        system.tell_time(query.at)
        began = time.perf_counter()
        hits = list(islice(search(SOURCE, query.text, limit), limit))
        latency_ms = (time.perf_counter() - began) * 1000
        found = tuple(Found(places.get(hit.id), hit.turns) for hit in plain(hits, tuple[SearchHit, ...]))
    except Exception as error:
        return Answer(error=what_happened(error))
    return Answer(found, latency_ms)


def _cpu_ms() -> float:
    """CPU time of this process so far; that of processes it started and that still run is not in it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return (used.ru_utime + used.ru_stime) * 1000
