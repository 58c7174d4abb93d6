"""How fast and how safe this memory is on this machine: measured, with the machine and its load beside every number."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much is done. `quick` sizes end within a minute and show that everything works, not how it scales."""

    chunks: int = 100_000
    questions: int = 200
    kills: int = 200
    processes: int = 4
    seconds: float = 10.0


QUICK = Sizes(chunks=5_000, questions=40, kills=10, seconds=2.0)


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
class Speed:
    """`plain` is one bare full-text query of SQLite over the same rows and for the same questions: the measure of the
    machine. Ratios to it stay comparable where the machine is busy."""

    chunks: int
    ingest_per_s: float
    ingest_per_cpu_s: float
    lanes: tuple[str, ...]
    first_search_ms: float
    search: Timing
    lexical: Timing
    context: Timing
    plain: Timing
    rss_mb: float
    file_mb: float
    vectors: str = "drawn, not computed: they show the time of a search and nothing else"

    @property
    def search_to_plain(self) -> float:
        """The processor time of a hybrid search, as a multiple of the bare query's."""
        return self.search.cpu_p50 / max(self.plain.cpu_p50, 1e-6)


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
