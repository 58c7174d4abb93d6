"""What the report writes, the evidence reads."""

from __future__ import annotations

from dataclasses import replace

import pytest

from brainbench.evidence.baseline import baseline_of
from brainbench.evidence.documents import read_run
from brainbench.report.v1 import v1_result
from brainbench.write import to_json, to_line


@pytest.mark.req("C-110", "C-111")
@pytest.mark.parametrize("written", [to_json, to_line])
def test_a_result_document_reads_back_as_the_run_it_came_from(board, written):
    trusted = replace(board, cells=tuple(cell for cell in board.cells if cell.status in ("scored", "not_applicable")))
    document = written(v1_result(trusted)).encode()
    assert read_run(document, "result.json") == baseline_of(trusted)


@pytest.mark.req("C-111")
def test_the_v1_part_alone_reads_back_with_its_counts(board):
    document = v1_result(replace(board, cells=board.cells[:1]))
    del document["_meta"]
    cells = read_run(to_json(document).encode(), "result.json").cells
    assert {key: (cell.gold_total, cell.gold_failed) for key, cell in cells.items()} == {
        "claude-code/know-to-ask": (8, 3)
    }
