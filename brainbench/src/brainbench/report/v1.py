"""A scoreboard as the v1 result document, with everything that is not v1 inside `_meta`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from brainbench.evidence import Scoreboard, TurnRow
from brainbench.evidence.baseline import is_v1
from brainbench.evidence.outcome import Outcome, outcome_document
from brainbench.metrics import METRICS, Count, Measured, Ratio
from brainbench.report.native import scoreboard_json
from brainbench.suites import Cell


def v1_result(
    board: Scoreboard,
    outcome: Outcome | None = None,
    fixture_order: Sequence[str] = (),
) -> dict[str, object]:
    """The v1 result of the first system of the run; `_meta.native` holds every system.

    `fixture_order` lists fixture ids in the order of their files; ids it lacks come after, as they first appear.
    `outcome` is None when nothing was compared. Cells whose numbers cannot be trusted
    are left out and named in `_meta.warnings`: the v1 form has no place to say so beside them.
    """
    system = board.config.systems[0] if board.config.systems else ""
    ours = [cell for cell in board.cells if cell.system == system]
    cells = sorted((cell for cell in ours if is_v1(cell.seam, cell.suite) and _asked(cell)), key=_cell_order(board))
    return {
        "receipt": dict(board.receipt),
        "cells": [_cell(cell) for cell in cells],
        "turn_rows": [_row(row) for row in _ordered_rows(board, system, fixture_order)],
        "seed_failures": _seed_failures(board, system),
        "_meta": {
            "metric_glossary": glossary(),
            "system": system,
            "observations_hash": board.observations_hash,
            "undefined_metrics": [
                f"{cell.seam}/{cell.suite}/{name}"
                for cell in cells
                for name, value in cell.metrics.items()
                if _number(value) is None
            ],
            "warnings": [*board.warnings, *_untrusted(ours)],
            "compare": None if outcome is None else outcome_document(outcome),
            "panel": list(board.panel_failures) or None,
            "native": scoreboard_json(board),
        },
    }


def glossary() -> dict[str, str]:
    """What each metric counts and which way is better."""
    return {name: f"{metric.formula} ({metric.better} is better)" for name, metric in METRICS.items()}


def _asked(cell: Cell) -> bool:
    return cell.status == "scored" and (cell.gold_total > 0 or any(v is not None for v in cell.metrics.values()))


def _untrusted(cells: Iterable[Cell]) -> list[str]:
    return [
        f"{cell.key} is {cell.status} and has no v1 cell: {cell.reason or f'{cell.errors} errors'}"
        for cell in cells
        if cell.status in ("invalid", "failed") and is_v1(cell.seam, cell.suite)
    ]


def _cell_order(board: Scoreboard) -> Callable[[Cell], tuple[int, str, int, str]]:
    """Requested harness, then requested suite; whatever was not requested by name comes last, by name."""
    harnesses, suites = _positions(board.config.harnesses), _positions(board.config.suites)

    def place(cell: Cell) -> tuple[int, str, int, str]:
        return (*_place(harnesses, cell.seam), *_place(suites, cell.suite))

    return place


def _positions(names: Iterable[str]) -> dict[str, int]:
    return {name: index for index, name in enumerate(dict.fromkeys(names))}


def _place(positions: Mapping[str, int], name: str) -> tuple[int, str]:
    return (positions[name], "") if name in positions else (len(positions), name)


def _number(value: Measured | None) -> int | float | None:
    """A metric as v1 knows it: one number, or None where nothing was asked."""
    if value is None:
        return None
    if isinstance(value, Count):
        return value.n
    if isinstance(value, Ratio):
        return value.n / value.of
    return value.total / value.of if value.of else None


def _cell(cell: Cell) -> dict[str, object]:
    numbers = {name: _number(value) for name, value in cell.metrics.items()}
    return {
        "suite": cell.suite,
        "harness": cell.seam,
        "seam": cell.kind,
        "gold_total": cell.gold_total,
        "gold_failed": cell.gold_failed,
        "metrics": {name: number for name, number in numbers.items() if number is not None},
        "fixtures": list(cell.fixtures),
    }


def _ordered_rows(board: Scoreboard, system: str, fixture_order: Sequence[str]) -> list[TurnRow]:
    rows = [row for row in board.rows if row.system == system and is_v1(row.harness, row.suite)]
    harnesses, suites = _positions(board.config.harnesses), _positions(board.config.suites)
    fixtures = _positions((*fixture_order, *(row.fixture_id for row in rows)))
    turns: dict[tuple[str, int], int] = {}
    for row in rows:
        turns.setdefault((row.fixture_id, row.turn_id), len(turns))
    return sorted(
        rows,
        key=lambda row: (
            _place(harnesses, row.harness),
            fixtures[row.fixture_id],
            turns[row.fixture_id, row.turn_id],
            _place(suites, row.suite),
        ),
    )


def _row(row: TurnRow) -> dict[str, object]:
    return {
        "fixture_id": row.fixture_id,
        "turn_id": row.turn_id,
        "harness": row.harness,
        "suite": row.suite,
        "injected_slugs": list(row.injected_slugs),
        "injected_tokens": row.injected_tokens,
        "gold": None if row.gold is None else dict(row.gold),
        "cross_source_slugs": list(row.cross_source_slugs),
        "latency_ms": round(row.latency_ms, 3),
    }


def _seed_failures(board: Scoreboard, system: str) -> list[dict[str, str]]:
    found = dict.fromkeys((fixture, error) for name, fixture, error in board.seed_failures if name == system)
    return [{"fixture_id": fixture, "error": error} for fixture, error in found]
