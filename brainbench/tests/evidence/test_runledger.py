"""The run ledger: appended, linked, and readable after a crash."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from brainbench.errors import OutputError
from brainbench.evidence.runledger import append, read, sweep_of

KEYS = (
    "schema_version run_id ran_at suite mode commit dirty seed params observations_hash status duration_ms cpu_s "
    "peak_mb usd previous"
)


def sweep(board: Any, seed: int = 42) -> Any:
    return sweep_of(replace(board, harness_sha="0123456789ab"), ran_at="2026-01-01T00:00:00Z", seed=seed, dirty=False)


@pytest.mark.req("C-721")
def test_a_sweep_is_one_line_with_the_published_keys(world: Any, tmp_path: Path) -> None:
    path = tmp_path / ".brainbench" / "run-ledger.jsonl"
    append(path, sweep(world.board()))
    (line,) = path.read_text().splitlines()
    document = json.loads(line)
    assert list(document) == KEYS.split()
    assert (document["schema_version"], document["run_id"]) == (3, "0123456-tiny-42")
    assert (document["mode"], document["status"], document["previous"]) == ("n/a", "completed", None)
    assert list(document["params"]) == ["fixtures_hash", "corpus_hash", "config", "cells"]
    assert document["params"]["cells"]["sut/openclaw/push"]["counts"]["push_recall"] == {"n": 60, "of": 60}


@pytest.mark.req("C-721")
def test_lines_are_appended_and_linked(world: Any, tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    assert read(path) == ()
    append(path, sweep(world.board(), 1))
    first = path.read_bytes()
    append(path, sweep(world.board(), 2))
    assert path.read_bytes().startswith(first)
    assert [line["previous"] for line in read(path)] == [None, "0123456-tiny-1"]


@pytest.mark.req("C-721")
@pytest.mark.parametrize("torn", [b'{"run_id": "half', b'{"run_id": "caf\xc3', b"\x00\x00"])
def test_a_torn_last_line_is_kept_apart_and_left_out(world: Any, tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "ledger.jsonl"
    append(path, sweep(world.board(), 1))
    before = path.read_bytes()
    path.write_bytes(before + torn)
    assert [line["seed"] for line in read(path)] == [1]
    append(path, sweep(world.board(), 2))
    assert [line["seed"] for line in read(path)] == [1, 2]
    assert read(path)[-1]["previous"] == "0123456-tiny-1"
    assert path.read_bytes().startswith(before + torn + b"\n")


@pytest.mark.req("C-721")
def test_writers_at_the_same_time_lose_no_line(world: Any, tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    line = sweep(world.board())
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda seed: append(path, replace(line, run_id=f"r{seed}", seed=seed)), range(12)))
    found = read(path)
    assert sorted(int(str(entry["seed"])) for entry in found) == list(range(12))
    assert [entry["previous"] for entry in found[1:]] == [entry["run_id"] for entry in found[:-1]]


@pytest.mark.req("C-721")
def test_an_untrusted_run_says_so_and_a_given_status_stands(world: Any) -> None:
    board = replace(world.board(), seed_failures=(("sut", "easy-1", "no"),))
    assert sweep(board).status == "invalid"
    assert sweep_of(board, ran_at="", seed=1, dirty=True, status="over_budget").status == "over_budget"


def test_a_ledger_that_cannot_be_written_says_where(world: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(OutputError, match="file: cannot be made: File exists; name a directory"):
        append(tmp_path / "file" / "ledger.jsonl", sweep(world.board()))
    with pytest.raises(OutputError, match="cannot write"):
        append(tmp_path, sweep(world.board()))


def test_a_pipe_or_device_is_no_ledger(world: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputError, match="it is a device, not a file: name a file"):
        append(tmp_path / "pipe", sweep(world.board()))
