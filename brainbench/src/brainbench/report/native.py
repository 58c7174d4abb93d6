"""A scoreboard as the v2 JSON document: counts first, rates derived."""

from __future__ import annotations

from collections.abc import Mapping

from brainbench.evidence import Scoreboard, config_json
from brainbench.metrics import Mean, Measured, Ratio, counts_json, four_decimals
from brainbench.report.ties import tie_groups
from brainbench.suites import Cell, Slice


def measured_json(value: Measured | None) -> dict[str, object] | None:
    """`{"n", "of", "rate"}` of a ratio, `{"n"}` of a count, `{"total", "of", "mean"}` of a mean, None if not asked."""
    if value is None:
        return None
    counted: dict[str, object] = dict(counts_json(value))
    if isinstance(value, Ratio):
        return counted | {"rate": four_decimals(value.value)}
    if isinstance(value, Mean):
        return counted | {"mean": four_decimals(value.value) if value.of else None}
    return counted


def scoreboard_json(board: Scoreboard) -> dict[str, object]:
    """The whole scoreboard, without the per-turn rows (they stand in the v1 part of the result)."""
    return {
        "schema_version": board.schema_version,
        "corpus": board.corpus,
        "fixtures_hash": board.fixtures_hash,
        "corpus_hash": board.corpus_hash,
        "corpus_kind": board.corpus_kind,
        "observations_hash": board.observations_hash,
        "harness_sha": board.harness_sha,
        "config": config_json(board.config),
        "capabilities": {system: list(can) for system, can in sorted(board.capabilities.items())},
        "cells": [cell_json(cell) for cell in board.cells],
        "tie_groups": {place: [list(group) for group in groups] for place, groups in tie_groups(board.cells).items()},
        "ceilings": {
            seam: measured_json(Ratio(n, of)) if of else None for seam, (n, of) in sorted(board.ceilings.items())
        },
        "seed_failures": [
            {"system": system, "fixture_id": fixture, "error": error} for system, fixture, error in board.seed_failures
        ],
        "panel_failures": list(board.panel_failures),
        "warnings": list(board.warnings),
        "latency_ms": {
            place: {"p50": taken.p50, "p95": taken.p95, "turns": taken.turns}
            for place, taken in sorted(board.latencies.items())
        },
        "cost": {"cpu_s": board.cpu_s, "peak_mb": board.peak_mb, "duration_ms": board.duration_ms},
        "receipt": dict(board.receipt),
    }


def cell_json(cell: Cell) -> dict[str, object]:
    """One cell with its slices, failed items and status; every figure of one that is not scored is None."""
    trusted = cell.status == "scored"
    return {
        "key": cell.key,
        "system": cell.system,
        "harness": cell.seam,
        "kind": cell.kind,
        "suite": cell.suite,
        "status": cell.status,
        "reason": cell.reason,
        "gold_total": cell.gold_total,
        "gold_failed": cell.gold_failed,
        "metrics": _metrics(cell.metrics if trusted else dict.fromkeys(cell.metrics)),
        "slices": {
            dimension: {value: _slice(part) for value, part in sorted(parts.items()) if trusted}
            for dimension, parts in sorted(cell.slices.items())
        },
        "failed_items": list(cell.failed_items),
        "leaks": list(cell.leaks),
        "fixtures": list(cell.fixtures),
        "not_applicable": list(cell.not_applicable),
        "lacking": dict(cell.lacking),
        "errors": cell.errors,
        "events": cell.events,
        "shared": cell.shared,
        "deviations": list(cell.deviations),
    }


def _slice(part: Slice) -> dict[str, object]:
    return {"gold_total": part.gold_total, "gold_failed": part.gold_failed, "metrics": _metrics(part.metrics)}


def _metrics(metrics: Mapping[str, Measured | None]) -> dict[str, object]:
    return {name: measured_json(value) for name, value in metrics.items()}
