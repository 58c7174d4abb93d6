"""The v1 result document."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from brainbench.evidence import Scoreboard
from brainbench.metrics import Ratio
from brainbench.report.v1 import v1_result


def result(board: Scoreboard, **more: object) -> dict:
    """What a reader of the file sees: the document after a round trip through JSON."""
    return json.loads(json.dumps(v1_result(board, **more)))


@pytest.mark.req("C-110")
def test_the_keys_stand_in_the_order_of_the_format(board):
    document = result(board)
    assert list(document) == ["receipt", "cells", "turn_rows", "seed_failures", "_meta"]
    assert list(document["cells"][0]) == [
        "suite",
        "harness",
        "seam",
        "gold_total",
        "gold_failed",
        "metrics",
        "fixtures",
    ]
    assert list(document["turn_rows"][0]) == [
        "fixture_id",
        "turn_id",
        "harness",
        "suite",
        "injected_slugs",
        "injected_tokens",
        "gold",
        "cross_source_slugs",
        "latency_ms",
    ]
    assert document["seed_failures"] == [{"fixture_id": "fix-c", "error": "page p not readable"}]
    assert document["receipt"] == board.receipt


@pytest.mark.req("C-110")
def test_a_small_document_is_exactly_this(board):
    only = replace(board, rows=(), warnings=(), seed_failures=(), cells=board.cells[:1])
    document = result(only)
    native, glossary = document["_meta"].pop("native"), document["_meta"].pop("metric_glossary")
    assert document == {
        "receipt": {"result_schema_version": 1, "fixtures_hash": "0123456789abcdef" * 4, "seed": 42},
        "cells": [
            {
                "suite": "know-to-ask",
                "harness": "claude-code",
                "seam": "production",
                "gold_total": 8,
                "gold_failed": 3,
                "metrics": {
                    "know_to_ask_failure_rate": 0.375,
                    "source_isolation_violations": 0,
                    "avg_injected_tokens": 4.625,
                },
                "fixtures": ["fix-a", "fix-b"],
            }
        ],
        "turn_rows": [],
        "seed_failures": [],
        "_meta": {
            "system": "wellkept",
            "observations_hash": "fedcba9876543210" * 4,
            "undefined_metrics": ["claude-code/know-to-ask/false_fire_rate"],
            "warnings": [],
            "compare": None,
            "panel": None,
        },
    }
    assert glossary["false_fire_rate"] == "must-not turns with any injection / must-not turns (lower is better)"
    assert native["cells"][0]["metrics"]["know_to_ask_failure_rate"] == {"n": 3, "of": 8, "rate": "0.3750"}


@pytest.mark.req("C-111")
def test_outside_meta_only_the_four_suites_and_three_harnesses_appear(board):
    document = result(board)
    assert {cell["harness"] for cell in document["cells"]} == {"claude-code"}
    assert {row["harness"] for row in document["turn_rows"]} == {"claude-code", "openclaw"}
    assert "wellkept/direct/write-back" in [cell["key"] for cell in document["_meta"]["native"]["cells"]]


@pytest.mark.req("C-111")
def test_the_v1_part_holds_the_first_system_and_names_it(board):
    swapped = replace(board, config=replace(board.config, systems=("bm25", "wellkept")))
    document = result(swapped)
    assert document["_meta"]["system"] == "bm25"
    assert document["seed_failures"] == [{"fixture_id": "fix-d", "error": "no such page"}]
    assert document["cells"] == []


@pytest.mark.req("C-111", "C-115")
def test_a_comparison_stands_in_meta(board, failed, passed):
    assert result(board, outcome=passed)["_meta"]["compare"] == {
        "verdict": "pass",
        "mode": "same-hash",
        "breaches": [],
        "notes": [],
    }
    compared = result(board, outcome=failed)["_meta"]["compare"]
    assert compared["verdict"] == "regression"
    assert compared["breaches"] == [
        {
            "cell": "wellkept/claude-code/push",
            "metric": "push_recall",
            "baseline": 1.0,
            "current": None,
            "detail": "the cell is gone",
        }
    ]


@pytest.mark.req("C-112")
def test_a_metric_of_which_nothing_was_asked_is_left_out_and_named(board):
    document = result(board)
    assert "false_fire_rate" not in document["cells"][0]["metrics"]
    assert document["_meta"]["undefined_metrics"] == ["claude-code/know-to-ask/false_fire_rate"]


@pytest.mark.req("C-112")
def test_a_cell_of_which_nothing_was_asked_is_left_out(board):
    empty = replace(board.cells[0], gold_total=0, gold_failed=0, metrics={"push_recall": None})
    assert result(replace(board, cells=(empty,)))["cells"] == []


@pytest.mark.req("C-112")
def test_rows_stand_by_requested_harness_file_turn_and_suite(board):
    rows = result(board, fixture_order=("fix-a", "fix-b"))["turn_rows"]
    assert [(r["harness"], r["fixture_id"], r["turn_id"], r["suite"]) for r in rows] == [
        (harness, fixture, turn, suite)
        for harness in ("claude-code", "openclaw")
        for fixture, turn in (("fix-a", 1), ("fix-b", 7), ("fix-b", 2))
        for suite in ("know-to-ask", "push")
    ]


@pytest.mark.req("C-112")
def test_cells_stand_by_requested_harness_and_suite(board):
    cells = tuple(
        replace(board.cells[0], seam=seam, suite=suite)
        for suite in ("push", "know-to-ask")
        for seam in ("openclaw", "codex", "claude-code")
    )
    found = [(cell["harness"], cell["suite"]) for cell in result(replace(board, cells=cells))["cells"]]
    seams = ("claude-code", "openclaw", "codex")
    assert found == [(seam, suite) for seam in seams for suite in ("know-to-ask", "push")]


@pytest.mark.req("C-604")
def test_an_untrusted_cell_has_no_number_in_v1_and_a_warning(board):
    document = result(board)
    assert [cell["suite"] for cell in document["cells"]] == ["know-to-ask"]
    assert "wellkept/claude-code/push is invalid and has no v1 cell: 3 errors" in document["_meta"]["warnings"]


def test_latency_has_three_decimals_and_rates_are_not_rounded(board):
    third = replace(board.cells[0], metrics={"push_recall": Ratio(1, 3)})
    document = result(replace(board, cells=(third,)))
    assert document["turn_rows"][0]["latency_ms"] == 1.235
    assert document["cells"][0]["metrics"]["push_recall"] == 1 / 3


def test_gold_of_a_row_is_v1s_own_or_null(board):
    rows = result(board)["turn_rows"]
    assert {json.dumps(row["gold"]) for row in rows if row["fixture_id"] == "fix-b"} == {
        "null",
        '{"should_retrieve": true, "gold_slugs": ["people/x"]}',
    }
