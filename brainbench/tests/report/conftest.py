"""A small scoreboard with every kind of cell, and outcomes of a gate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from brainbench.evidence import Config, Scoreboard, TurnRow
from brainbench.evidence.outcome import Breach, Outcome, Reason
from brainbench.metrics import Count, Mean, Ratio
from brainbench.suites import Cell, Slice

KNOW = {
    "know_to_ask_failure_rate": Ratio(3, 8),
    "false_fire_rate": None,
    "source_isolation_violations": Count(0),
    "avg_injected_tokens": Mean(37.0, 8),
}
CELLS = (
    Cell(
        "wellkept",
        "claude-code",
        "production",
        "know-to-ask",
        "scored",
        gold_total=8,
        gold_failed=3,
        metrics=KNOW,
        slices={"stratum": {"easy": Slice(5, 0, {"know_to_ask_failure_rate": Ratio(0, 5)})}},
        failed_items=("fix-a/1", "fix-a/4", "fix-b/2"),
        fixtures=("fix-a", "fix-b"),
        events=8,
        deviations=("deadline 10 s",),
    ),
    Cell("wellkept", "claude-code", "production", "push", "invalid", gold_total=4, gold_failed=4, errors=3, events=4),
    Cell(
        "wellkept",
        "direct",
        "contract",
        "write-back",
        "scored",
        gold_total=2,
        metrics={"write_back_fidelity": Ratio(2, 2)},
        fixtures=("fix-w",),
    ),
    Cell("bm25", "claude-code", "contract", "write-back", "not_applicable", not_applicable=("conversation_write",)),
    Cell("bm25", "claude-code", "contract", "push", "failed", reason="the worker died"),
)
ROWS = tuple(
    TurnRow(fixture, turn, system, harness, suite, (f"people/{fixture}",), 12, gold, (), 1.23456)
    for system in ("wellkept", "bm25")
    for fixture, turn, gold in (
        ("fix-b", 7, None),
        ("fix-b", 2, {"should_retrieve": True, "gold_slugs": ["people/x"]}),
        ("fix-a", 1, {"should_retrieve": False}),
    )
    for suite in ("push", "know-to-ask")
    for harness in ("direct", "openclaw", "claude-code")
)


@pytest.fixture
def board() -> Scoreboard:
    return Scoreboard(
        corpus="core",
        fixtures_hash="0123456789abcdef" * 4,
        corpus_hash="f" * 64,
        observations_hash="fedcba9876543210" * 4,
        config=Config(
            include_holdout=False,
            llm=False,
            systems=("wellkept", "bm25"),
            harnesses=("claude-code", "openclaw", "direct"),
            suites=("know-to-ask", "push", "write-back"),
            modes={"openclaw_window": "mixed"},
            deviations={"claude-code": ("deadline 10 s",)},
        ),
        cells=CELLS,
        receipt={"result_schema_version": 1, "fixtures_hash": "0123456789abcdef" * 4, "seed": 42},
        rows=ROWS,
        seed_failures=(("wellkept", "fix-c", "page p not readable"), ("bm25", "fix-d", "no such page")),
        warnings=("fix-a: turns[0].ts: has no zone, read as UTC",),
        ceilings={"codex": (57, 96)},
        cpu_s=1.5,
        peak_mb=80.0,
        duration_ms=2000.0,
        harness_sha="a" * 40,
    )


@pytest.fixture
def failed() -> Outcome:
    return Outcome(
        "fail",
        "same-hash",
        breaches=(Breach("wellkept/claude-code/push", "push_recall", Ratio(4, 4), None, "the cell is gone"),),
        notes=("baseline is stale: false_fire_rate of wellkept/direct/push",),
    )


@pytest.fixture
def passed() -> Outcome:
    return Outcome("pass", "same-hash")


@pytest.fixture
def doubtful() -> Outcome:
    return Outcome("inconclusive", "same-hash", reasons=((Reason.SEED_FAILURE, "fix-c could not be seeded"),))


@pytest.fixture
def hostile(board: Scoreboard) -> Callable[[str], Scoreboard]:
    """The board with one text wherever the outside world can put one."""

    def with_text(text: str) -> Scoreboard:
        first, second, _, lacking, last = CELLS
        return replace(
            board,
            corpus=text,
            cells=(
                replace(first, system=text, suite=text, metrics={text: Ratio(1, 3)}, slices={}),
                replace(second, system=text, reason=text),
                replace(lacking, system=text, not_applicable=(text,)),
                replace(last, system=text, seam=text, deviations=(text,)),
            ),
            config=replace(board.config, modes={text: text}, deviations={text: (text,)}),
            seed_failures=((text, text, text),),
            warnings=(text,),
            ceilings={text: (1, 2)},
        )

    return with_text
