"""How fast and how safe this memory is on this machine: measured, with the machine and its load beside every number."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is done. `quick` sizes end within a minute and show that everything works, not how it scales."""

    chunks: tuple[int, ...] = (100_000,)
    questions: int = 200
    kills: int = 200
    processes: int = 4
    seconds: float = 10.0


QUICK = Sizes(chunks=(5_000,), questions=40, kills=10, seconds=2.0)


@dataclass(frozen=True, slots=True)
class Machine:
    """Where it was measured, and how busy that was: `load` is the mean number of running processes before and after."""

    processor: str
    cores: int
    python: str
    sqlite: str
    load: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Timing:
    """Milliseconds of one question: on the clock, and of the processor."""

    p50: float
    p95: float
    cpu_p50: float
    cpu_p95: float


@dataclass(frozen=True, slots=True)
class Written:
    """How fast the last `pieces` were written, each session of them durable before the next; None if none were."""

    pieces: int
    per_s: float | None
    per_cpu_s: float | None


@dataclass(frozen=True, slots=True)
class Speed:
    """One size. `plain` is one bare full-text query of SQLite over the same rows and for the same questions: the
    measure of the machine. Ratios to it stay comparable where the machine is busy.

    Half of the turns whose `context` is asked name somebody. `rss_mb` is of a process that only asks, with its model.
    """

    chunks: int
    facts: int
    written: Written
    lanes: tuple[str, ...]
    first_search_ms: float
    search: Timing
    lexical: Timing
    context: Timing
    recall: Timing
    plain: Timing
    rss_mb: float
    file_mb: float
    vectors: str = "drawn, not computed: they show the time of a search and nothing else"

    @property
    def search_to_plain(self) -> float:
        """The processor time of a hybrid search, as a multiple of the bare query's."""
        return self.search.cpu_p50 / max(self.plain.cpu_p50, 1e-6)


@dataclass(frozen=True, slots=True)
class Growth:
    """What became of each number between two sizes, as a multiple of what it was: 1 is no growth, `size` linear."""

    chunks: tuple[int, int]
    size: float
    search: float
    lexical: float
    context: float
    recall: float
    plain: float
    write: float | None
    rss: float
    file: float


def growth(small: Speed, large: Speed) -> Growth:
    """From one size to another, times as medians of the processor, `write` per piece."""

    def median(name: str) -> float:
        was, is_ = (getattr(speed, name).cpu_p50 for speed in (small, large))
        return float(is_) / max(float(was), 1e-6)

    was, is_ = small.written.per_cpu_s, large.written.per_cpu_s
    return Growth(
        (small.chunks, large.chunks),
        large.chunks / small.chunks,
        search=median("search"),
        lexical=median("lexical"),
        context=median("context"),
        recall=median("recall"),
        plain=median("plain"),
        write=was / is_ if was and is_ else None,
        rss=large.rss_mb / small.rss_mb,
        file=large.file_mb / small.file_mb,
    )


@dataclass(frozen=True, slots=True)
class Beside:
    """Another memory with the same pieces, vectors and questions; `problem` says why there is nothing to tell.

    `to_wellkept` is its processor time for a search at the median, as a multiple of wellkept's in this run.
    """

    name: str
    version: str
    how: str = ""
    chunks: int = 0
    written: Written | None = None
    search: Timing | None = None
    hits: float = 0.0
    rss_mb: float = 0.0
    file_mb: float = 0.0
    to_wellkept: float | None = None
    write_to_wellkept: float | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Durability:
    """Writers that were killed in the middle: what was acknowledged, and what of it is not there."""

    kills: int
    acknowledged: int
    lost: int
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Load:
    """Several processes on one memory: what they did, and what failed."""

    processes: int
    seconds: float
    writes: int
    searches: int
    contexts: int
    errors: tuple[str, ...] = field(default=())
