"""The v2 scoreboard document."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from brainbench.metrics import Count, Mean, Ratio
from brainbench.report.native import measured_json, scoreboard_json


@pytest.mark.req("C-002")
@pytest.mark.parametrize(
    ("value", "document"),
    [
        (Ratio(1, 16), {"n": 1, "of": 16, "rate": "0.0625"}),
        (Ratio(1, 32), {"n": 1, "of": 32, "rate": "0.0313"}),
        (Ratio(57, 96), {"n": 57, "of": 96, "rate": "0.5938"}),
        (Ratio(2, 3), {"n": 2, "of": 3, "rate": "0.6667"}),
        (Count(0), {"n": 0}),
        (Mean(7.0, 2), {"total": 7.0, "of": 2, "mean": "3.5000"}),
        (Mean(0.0, 0), {"total": 0.0, "of": 0, "mean": None}),
        (None, None),
    ],
)
def test_counts_come_first_and_rates_have_four_decimals_half_up(value, document):
    assert measured_json(value) == document


def test_the_whole_board_is_json_with_every_cell(board):
    document = json.loads(json.dumps(scoreboard_json(board), allow_nan=False))
    assert document["schema_version"] == 2
    assert [cell["key"] for cell in document["cells"]] == [cell.key for cell in board.cells]
    assert document["config"]["deviations"] == {"claude-code": ["deadline 10 s"]}
    assert document["ceilings"] == {"codex": {"n": 57, "of": 96, "rate": "0.5938"}}
    first = document["cells"][0]
    assert first["metrics"]["false_fire_rate"] is None
    assert first["slices"]["stratum"]["easy"] == {
        "gold_total": 5,
        "gold_failed": 0,
        "metrics": {"know_to_ask_failure_rate": {"n": 0, "of": 5, "rate": "0.0000"}},
    }
    assert document["seed_failures"][1] == {"system": "bm25", "fixture_id": "fix-d", "error": "no such page"}


@pytest.mark.req("C-604")
def test_a_cell_that_is_invalid_has_its_reason_and_no_figure(board):
    bad = replace(board.cells[0], status="invalid", reason="it hung")
    cell = scoreboard_json(replace(board, cells=(bad,)))["cells"][0]
    assert set(cell["metrics"].values()) == {None}
    assert cell["metrics"].keys() == bad.metrics.keys()
    assert cell["slices"] == {"stratum": {}}
    assert (cell["reason"], cell["failed_items"]) == ("it hung", list(bad.failed_items))


@pytest.mark.req("C-202")
def test_what_a_system_lacks_is_counted(board):
    cell = replace(board.cells[0], not_applicable=("f", "g"), lacking={"edit": 2})
    document = scoreboard_json(replace(board, cells=(cell,)))["cells"][0]
    assert (document["not_applicable"], document["lacking"]) == (["f", "g"], {"edit": 2})


@pytest.mark.req("C-003")
def test_names_are_sorted_by_code_point(board):
    names = ("é", "Z", "a", "ä", "\U0001f600", "\uff21")
    modes = dict.fromkeys(names, "x")
    document = scoreboard_json(replace(board, config=replace(board.config, modes=modes)))
    assert list(document["config"]["modes"]) == ["Z", "a", "ä", "é", "\uff21", "\U0001f600"]
