"""Everything after a number exists: scoreboard, baseline, gate, run ledger."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from brainbench.suites import Cell

CorpusKind = Literal["v1", "v2"]


@dataclass(frozen=True, slots=True)
class Config:
    """What binds a run to a baseline: the corpus part, systems, seams with deviations, suites and modes."""

    include_holdout: bool
    llm: bool
    systems: tuple[str, ...]
    harnesses: tuple[str, ...]
    suites: tuple[str, ...]
    modes: Mapping[str, str] = field(default_factory=dict)
    deviations: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    narrowed: bool = False


def config_json(config: Config) -> dict[str, object]:
    """The config as stored documents hold it."""
    return {
        "include_holdout": config.include_holdout,
        "llm": config.llm,
        "systems": list(config.systems),
        "harnesses": list(config.harnesses),
        "suites": list(config.suites),
        "modes": dict(sorted(config.modes.items())),
        "deviations": {seam: list(words) for seam, words in sorted(config.deviations.items())},
        "narrowed": config.narrowed,
    }


@dataclass(frozen=True, slots=True)
class TurnRow:
    """One user turn x suite as it was judged, for the v1 result document."""

    fixture_id: str
    turn_id: int
    system: str
    harness: str
    suite: str
    injected_slugs: tuple[str, ...]
    injected_tokens: int
    gold: Mapping[str, object] | None
    cross_source_slugs: tuple[str, ...]
    latency_ms: float


@dataclass(frozen=True, slots=True)
class Latency:
    """How long `turns` user turns took, in milliseconds by nearest rank; `p95` is None under 20 turns."""

    p50: float
    p95: float | None
    turns: int


@dataclass(frozen=True, slots=True)
class Scoreboard:
    """All cells of one run with what they stand on. `receipt` is v1's receipt block, keys in its order."""

    corpus: str
    fixtures_hash: str
    corpus_hash: str | None
    observations_hash: str
    config: Config
    cells: tuple[Cell, ...]
    receipt: Mapping[str, object]
    rows: tuple[TurnRow, ...] = ()
    seed_failures: tuple[tuple[str, str, str], ...] = ()
    """(system, fixture id, what went wrong)"""
    warnings: tuple[str, ...] = ()
    ceilings: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """seam -> (n, of): the most push_recall its page budget allows"""
    latencies: Mapping[str, Latency] = field(default_factory=dict)
    """`<system>/<seam>` -> how long turns took; told, never compared"""
    cpu_s: float = 0.0
    peak_mb: float = 0.0
    duration_ms: float = 0.0
    harness_sha: str = "unknown"
    schema_version: int = 2
    corpus_kind: CorpusKind = "v2"
    """The format of the corpus"""
    capabilities: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """system -> what it claims to be able to do, so that a lost capability is seen"""
    panel_failures: tuple[str, ...] = ()
    """expectations of the validity panel that did not hold"""
