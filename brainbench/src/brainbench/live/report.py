"""A run with a model in the loop, as JSON and as text: counts first, and what it is not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from brainbench.evidence.baseline import LIVE as KIND
from brainbench.live import LiveRun
from brainbench.live.extracting import ExtractionRow, ExtractionRun
from brainbench.live.judging import LIVE_METRICS, ArmCell, Estimate, JudgedTurn, Lift
from brainbench.metrics import four_decimals

SCHEMA_VERSION = 1
BOUNDARY = (
    "These numbers are about this model, prompt, corpus and memory together. They are no property of the memory alone "
    "and never gate it."
)


def live_json(run: LiveRun) -> dict[str, object]:
    """The result document of a live run."""
    return {
        "kind": KIND,
        "schema_version": SCHEMA_VERSION,
        "receipt": dict(run.receipt),
        "seam": {"name": run.seam.name, "kind": run.seam.kind, "deviations": list(run.seam.deviations)},
        "observations_hash": run.observations_hash,
        "cells": [_cell(cell) for cell in run.verdicts.cells],
        "lifts": [_lift(lift) for lift in run.verdicts.lifts],
        "spent": {
            "questions": run.questions,
            "new_questions": run.new_questions,
            "usd": round(run.spent_usd, 6),
            "usd_new": round(run.spent_new_usd, 6),
        },
        "not_applicable": [
            {"system": system, "what": what, "lacks": list(lacks)}
            for (system, what), lacks in sorted(run.played.not_applicable.items())
        ],
        "seed_failures": [
            {"system": system, "fixture_id": fixture, "error": why}
            for (system, fixture), why in sorted(run.played.seed_failures.items())
        ],
        "turns": [_turn(turn) for turn in run.verdicts.turns],
        "boundary": BOUNDARY,
    }


def extraction_json(run: ExtractionRun) -> dict[str, object]:
    """What all repeats of an `--llm` run count together; it stands beside the result document of the first."""
    return {
        "receipt": dict(run.receipt),
        "rows": [
            {
                "system": row.system,
                "metrics": {name: _estimate(found) for name, found in row.metrics.items()},
                "sessions": row.sessions,
                "facts_said": row.said,
                "left_out_without_quote": row.unquoted,
                "unreadable_answers": row.unreadable,
            }
            for row in run.rows
        ],
        "observations_hashes": [one.board.observations_hash for one in run.runs],
        "boundary": BOUNDARY,
    }


def extraction_text(run: ExtractionRun) -> str:
    """The same for a terminal, below the scoreboard."""
    told = run.receipt
    recorded = ", recorded answers" if told["recorded"] else ""
    tokens = f"{told['input_tokens']} / {told['output_tokens']} tokens"
    lines = [
        f"extracted by {told['model']} at {told['host']} (temperature 0, {told['repeats']} repeats{recorded})",
        *(line for row in run.rows for line in _extraction_lines(row)),
        f"{told['questions']} questions, {tokens}, {told['usd']:.4f} USD",
        "",
        BOUNDARY,
    ]
    return "\n".join(lines) + "\n"


def _extraction_lines(row: ExtractionRow) -> Iterator[str]:
    yield f"{row.system:22}{'all repeats':>19}{'95 %':>16}"
    for name, found in row.metrics.items():
        yield f"{name:22}{_counts(found):>19}{_interval(found):>16}"
    yield (
        f"{row.said} facts said in {row.sessions} sessions; {row.unquoted} left out because nobody said their quote; "
        f"{row.unreadable} answers could not be read"
    )


def _cell(cell: ArmCell) -> dict[str, object]:
    return {
        "system": cell.system,
        "arm": cell.arm,
        "status": cell.status,
        "reason": cell.reason,
        "errors": cell.errors,
        "judged_turns": cell.judged,
        "metrics": {name: _estimate(found) for name, found in cell.metrics.items()},
        "usage": msgspec.to_builtins(cell.usage),
    }


def _estimate(found: Estimate | None) -> dict[str, object] | None:
    if found is None:
        return None
    interval = None if found.interval is None else [round(bound, 4) for bound in found.interval]
    return {
        "n": found.ratio.n,
        "of": found.ratio.of,
        "rate": four_decimals(found.ratio.value),
        "ci95": interval,
        "fixtures": found.clusters,
    }


def _lift(lift: Lift) -> dict[str, object]:
    return {
        "system": lift.system,
        "of": lift.of,
        "over": lift.over,
        "metric": "end_to_end_miss_rate",
        "less_missed": round(lift.difference.value, 4),
        "ci95": [round(lift.difference.low, 4), round(lift.difference.high, 4)],
        "p_sign_flip": round(lift.difference.p, 4),
        "mde": None if lift.difference.mde is None else round(lift.difference.mde, 4),
        "fixtures": lift.difference.clusters,
    }


def _turn(judged: JudgedTurn) -> dict[str, object]:
    turn, asked = judged.turn, judged.turn.asked
    return {
        "system": turn.system,
        "fixture_id": turn.fixture_id,
        "event_id": turn.event_id,
        "arm": turn.arm,
        "repeat": turn.repeat,
        "injected": list(turn.injected),
        "hits": {name: metric.hit(judged) for name, metric in LIVE_METRICS.items()},
        **msgspec.to_builtins(asked),
    }


def live_text(run: LiveRun) -> str:
    """The same for a terminal."""
    return "\n".join((*_head(run), "", *_tables(run), *_notes(run), "", BOUNDARY)) + "\n"


def _head(run: LiveRun) -> Iterator[str]:
    told = run.receipt
    seed, repeats = _number(told["seed"]), _number(told["repeats"])
    fixtures = told["fixtures"]
    recorded = " (recorded answers)" if told["recorded"] else ""
    yield f"model       {told['model']} at {told['host']}{recorded}"
    seeds = f"seeds {seed} to {seed + repeats - 1}"
    yield f"asked       temperature 0, {seeds}, at most {told['max_tokens']} tokens an answer"
    size = len(fixtures) if isinstance(fixtures, list) else 0
    yield f"corpus      {told['corpus']} {str(told['fixtures_hash'])[:12]}, {size} fixtures x {repeats} repeats"
    yield f"pushed by   {run.seam.name} ({run.seam.kind})"
    yield f"prompt      {str(told['prompt_sha256'])[:12]}, observations {run.observations_hash[:12]}"


def _tables(run: LiveRun) -> Iterator[str]:
    for system in dict.fromkeys(cell.system for cell in run.verdicts.cells):
        cells = {cell.arm: cell for cell in run.verdicts.cells if cell.system == system}
        yield f"{system:22}" + "".join(f"{arm:>19}" for arm in cells)
        for name in LIVE_METRICS:
            found = [cell.metrics[name] for cell in cells.values()]
            yield f"{name:22}" + "".join(f"{_counts(one):>19}" for one in found)
            yield f"{'  95 %':22}" + "".join(f"{_interval(one):>19}" for one in found)
        yield from _usage(cells)
        for cell in cells.values():
            if cell.status != "scored":
                yield f"{cell.arm} is {cell.status}: {cell.reason}"
        yield ""
        yield from (_lift_line(lift) for lift in run.verdicts.lifts if lift.system == system)


def _usage(cells: Mapping[str, ArmCell]) -> Iterator[str]:
    rows: Iterable[tuple[str, list[str]]] = (
        ("tool calls", [f"{c.usage.calls} ({c.usage.unusable_calls} unusable)" for c in cells.values()]),
        ("tokens in / out", [f"{c.usage.input_tokens} / {c.usage.output_tokens}" for c in cells.values()]),
        ("USD", [f"{c.usage.usd:.4f}" for c in cells.values()]),
        ("ms p50 / p95", [f"{_ms(c.usage.p50_ms)} / {_ms(c.usage.p95_ms)}" for c in cells.values()]),
        ("errors / turns", [f"{c.errors}/{c.judged}" for c in cells.values()]),
    )
    for name, values in rows:
        yield f"{name:22}" + "".join(f"{value:>19}" for value in values)


def _lift_line(lift: Lift) -> str:
    found = lift.difference
    words = "less missed" if found.certain and found.value > 0 else "more missed" if found.certain else "nothing shown"
    return (
        f"{f'{lift.of} over {lift.over}':16} {found.value:+.4f} [{found.low:+.2f}, {found.high:+.2f}] "
        f"p {found.p:.4f}, {found.clusters} fixtures, detectable {_mde(found.mde)}: {words}"
    )


def _mde(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _notes(run: LiveRun) -> Iterator[str]:
    for (system, what), lacks in sorted(run.played.not_applicable.items()):
        yield f"n/a: {system}: {what}: it lacks {', '.join(lacks)}"
    old = run.questions - run.new_questions
    yield f"{run.questions} questions ({old} answered from records), {run.spent_new_usd:.4f} USD spent now"


def _counts(found: Estimate | None) -> str:
    return "-" if found is None else f"{found.ratio.n}/{found.ratio.of} ({float(found.ratio.value):.4f})"


def _interval(found: Estimate | None) -> str:
    if found is None or found.interval is None:
        return "-"
    return f"[{found.interval[0]:.2f}, {found.interval[1]:.2f}]"


def _ms(value: float | None) -> str:
    return "-" if value is None else f"{value:.0f}"


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
