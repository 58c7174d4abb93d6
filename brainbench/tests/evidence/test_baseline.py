"""Baseline files of both versions: what they hold, what they refuse, and that they come back as they were."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainbench.errors import IncompatibleError, OutputError, UsageError
from brainbench.evidence import Config
from brainbench.evidence.baseline import (
    Baseline,
    Part,
    StoredCell,
    as_v1,
    baseline_of,
    in_version,
    read_baseline,
    serialised,
    write_baseline,
)
from brainbench.metrics import METRICS, Count, Ratio
from brainbench.model import ITEM_SUITES

Seen = Callable[..., Any]
V1 = {
    "schema_version": 1,
    "fixtures_hash": "ab" * 32,
    "config": {"include_holdout": False, "llm": False, "harnesses": ["codex"], "suites": ["push"]},
    "cells": {"codex/push": {"push_recall": 0.5938, "push_precision": 1}},
    "counts": {"codex/push": {"gold_total": 96, "gold_failed": 39}},
}


@pytest.mark.req("C-114")
def test_a_version_2_baseline_stores_counts_of_gated_metrics_only(world: Any, seen: Seen) -> None:
    board = world.board({"hard-3": seen(3, ids=())})
    document = json.loads(serialised(baseline_of(board, "why not")))
    assert document["schema_version"] == 2
    push = document["cells"]["sut/openclaw/push"]
    assert push["metrics"] == {
        "push_precision": {"n": 59, "of": 59},
        "push_recall": {"n": 59, "of": 60},
        "source_isolation_violations": {"n": 0},
    }
    assert push["failed"] == ["hard-3/3/people/ada"]
    assert push["strata"]["hard"]["gold_failed"] == 1
    stored = {name for cell in document["cells"].values() for name in cell["metrics"]}
    assert stored == {name for name, metric in METRICS.items() if metric.gated and metric.suite not in ITEM_SUITES}
    assert document["justification"] == "why not"


@pytest.mark.req("C-114")
def test_the_same_run_writes_the_same_bytes_whatever_the_order_of_its_cells(world: Any) -> None:
    board = world.board()
    turned = replace(board, cells=tuple(reversed(board.cells)), duration_ms=5.0, harness_sha="abc")
    assert serialised(baseline_of(board)) == serialised(baseline_of(turned))
    text = serialised(baseline_of(board)).decode()
    assert text.endswith("}\n")
    assert '\n  "schema_version": 2,' in text


@pytest.mark.req("C-114")
def test_cells_that_are_not_scored_are_not_stored(world: Any) -> None:
    board = world.board()
    unable = replace(board.cells[0], status="not_applicable")
    assert board.cells[0].key not in baseline_of(replace(board, cells=(unable, *board.cells[1:]))).cells


@pytest.mark.req("C-114")
def test_a_version_1_baseline_has_the_published_keys_in_their_order(v1_world: Any) -> None:
    text = serialised(as_v1(baseline_of(v1_world.board(), "words"))).decode()
    document = json.loads(text)
    assert list(document) == ["schema_version", "fixtures_hash", "config", "justification", "cells", "counts"]
    assert list(document["config"]) == ["include_holdout", "llm", "harnesses", "suites"]
    assert document["config"]["harnesses"] == ["claude-code", "openclaw"]
    assert document["config"]["suites"] == ["continuity", "know-to-ask", "push", "write-back"]
    assert list(document["cells"]) == sorted(document["cells"])
    assert document["cells"]["openclaw/push"] == {
        "push_precision": 1,
        "push_recall": 1,
        "source_isolation_violations": 0,
    }
    assert document["counts"]["openclaw/push"] == {"gold_failed": 0, "gold_total": 60}
    assert "justification" not in json.loads(serialised(as_v1(baseline_of(v1_world.board()))))


@pytest.mark.req("C-114", "C-002")
def test_version_1_rates_have_four_decimals_half_up() -> None:
    config = Config(False, False, ("sut",), ("codex",), ("push",))
    cells = {"sut/codex/push": StoredCell(32, 31, {"push_recall": Ratio(1, 32)}, failed=())}
    text = serialised(as_v1(Baseline(2, "v1", "ab", None, config, cells)))
    assert json.loads(text)["cells"]["codex/push"]["push_recall"] == 0.0313


@pytest.mark.req("C-114")
def test_a_version_1_baseline_leaves_out_what_the_format_does_not_know() -> None:
    config = Config(False, False, ("sut",), ("codex", "direct"), ("push", "trust"))
    part = StoredCell(1, 0, {"push_recall": Ratio(1, 1)})
    keys = ("sut/codex/push", "sut/direct/push", "sut/codex/trust")
    plain = as_v1(Baseline(2, "v1", "ab", None, config, dict.fromkeys(keys, part)))
    assert (list(plain.cells), plain.config.harnesses, plain.config.suites) == (["codex/push"], ("codex",), ("push",))


@pytest.mark.req("C-114")
def test_version_1_holds_one_system() -> None:
    config = Config(False, False, ("one", "two"), (), ())
    with pytest.raises(IncompatibleError, match="one system, not one, two"):
        as_v1(Baseline(2, "v2", "ab", None, config, {}))
    with pytest.raises(UsageError, match="known: 1, 2"):
        in_version(Baseline(2, "v2", "ab", None, config, {}), 3)


@pytest.mark.req("C-114")
def test_a_foreign_version_1_baseline_is_read_with_its_decimals_exact() -> None:
    baseline = read_baseline(json.dumps(V1).encode(), "base.json")
    cell = baseline.cells["codex/push"]
    assert cell.metrics == {"push_recall": Fraction(5938, 10_000), "push_precision": Fraction(1)}
    assert (cell.gold_total, cell.gold_failed, cell.failed) == (96, 39, None)


def _broken(document: dict[str, Any], path: str, value: object) -> bytes:
    copy = json.loads(json.dumps(document))
    *parents, last = path.split("|")
    place = copy
    for key in parents:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return json.dumps(copy).encode()


@pytest.mark.req("C-114", "C-120")
@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        ("schema_version", 9, "schema_version"),
        ("schema_version", True, "schema_version"),
        ("fixtures_hash", None, "fixtures_hash"),
        ("config|llm", "no", r"config\.llm"),
        ("config|suites", None, "suites"),
        ("counts|codex/push", None, "codex/push"),
        ("counts|codex/push|gold_total", -1, "gold_total|counts"),
        ("counts|codex/push|gold_failed", 97, r"counts\.codex/push"),
        ("cells|codex/push|push_recall", "high", "cells"),
    ],
)
def test_an_unreadable_version_1_baseline_names_the_part(path: str, value: object, named: str) -> None:
    with pytest.raises(IncompatibleError, match=named) as raised:
        read_baseline(_broken(V1, path, value), "base.json")
    assert str(raised.value).startswith("base.json: ")


@pytest.mark.req("C-114", "C-120")
@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        ("extra", 1, "extra"),
        ("config|modes", None, "modes"),
        ("cells|sut/openclaw/push|metrics|push_recall|of", 0, "push_recall"),
        ("cells|sut/openclaw/push|metrics|push_recall|n", 61, "push_recall"),
        ("cells|sut/openclaw/push|metrics|push_recall|n", 0.5, "cells"),
        ("cells|sut/openclaw/push|strata|easy|gold_failed", 99, r"strata\.easy"),
        ("cells|sut/openclaw/push|ceiling", {"n": 3, "of": 2}, "ceiling"),
        ("cells|sut/openclaw/push|failed", None, "failed"),
    ],
)
def test_an_unreadable_version_2_baseline_names_the_part(world: Any, path: str, value: object, named: str) -> None:
    document = json.loads(serialised(baseline_of(world.board())))
    with pytest.raises(IncompatibleError, match=named):
        read_baseline(_broken(document, path, value), "base.json")


@pytest.mark.req("C-114", "E-103")
@pytest.mark.parametrize(
    "data",
    [b"", b"[]", b"{", b"\xff\xfe", b"null", b'{"schema_version": NaN}', b"[" * 5000, b'{"schema_version": "1"}'],
)
def test_what_is_no_baseline_is_refused_without_a_traceback(data: bytes) -> None:
    with pytest.raises(IncompatibleError, match=r"base\.json"):
        read_baseline(data, "base.json")


RATIOS = st.integers(1, 99).flatmap(lambda of: st.builds(Ratio, st.integers(0, of), st.just(of)))
PARTS = {
    "gold_total": st.integers(50, 99),
    "gold_failed": st.integers(0, 50),
    "metrics": st.dictionaries(st.sampled_from(sorted(METRICS)), RATIOS | st.builds(Count, st.integers(0, 9))),
    "ceiling": st.none() | RATIOS,
}
NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), min_size=1, max_size=8)
BASELINES = st.builds(
    Baseline,
    schema_version=st.just(2),
    corpus_kind=st.sampled_from(["v1", "v2"]),
    fixtures_hash=NAMES,
    corpus_hash=st.none() | NAMES,
    config=st.builds(
        Config,
        include_holdout=st.booleans(),
        llm=st.booleans(),
        systems=st.lists(NAMES, max_size=2).map(lambda n: tuple(sorted(n))),
        harnesses=st.just(("codex",)),
        suites=st.just(("push",)),
        modes=st.dictionaries(NAMES, NAMES, max_size=2),
        deviations=st.dictionaries(NAMES, st.tuples(NAMES), max_size=2),
    ),
    cells=st.dictionaries(
        NAMES,
        st.builds(
            StoredCell,
            **PARTS,
            failed=st.lists(NAMES, max_size=3).map(lambda n: tuple(sorted(n))),
            strata=st.dictionaries(st.sampled_from(["easy", "hard"]), st.builds(Part, **PARTS)),
        ),
        max_size=3,
    ),
    capabilities=st.dictionaries(NAMES, st.just(("context", "search")), max_size=1),
    justification=st.none() | NAMES,
)


@pytest.mark.req("C-114")
@settings(max_examples=60, deadline=None)
@given(BASELINES)
def test_a_version_2_baseline_comes_back_as_it_was(baseline: Baseline) -> None:
    data = serialised(baseline)
    back = read_baseline(data, "base.json")
    assert back == baseline
    assert serialised(back) == data


@pytest.mark.req("C-114")
def test_a_version_1_baseline_comes_back_as_it_was(v1_world: Any) -> None:
    data = serialised(as_v1(baseline_of(v1_world.board(), "words")))
    assert serialised(read_baseline(data, "v1.json")) == data


@pytest.mark.req("C-122", "E-103")
def test_a_baseline_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "conformance.json"
    write_baseline(path, b"one\n")
    write_baseline(path, b"two\n")
    assert path.read_bytes() == b"two\n"
    assert [p.name for p in path.parent.iterdir()] == ["conformance.json"]
    taken = tmp_path / "taken"
    (taken / "conformance.json" / "x").mkdir(parents=True)
    with pytest.raises(OutputError, match="is a directory: name a file in it"):
        write_baseline(taken / "conformance.json", b"three\n")
    assert [p.name for p in taken.iterdir()] == ["conformance.json"]
    with pytest.raises(OutputError, match="cannot be made: File exists"):
        write_baseline(path / "below-a-file.json", b"four\n")


def test_a_pipe_or_device_is_not_replaced_by_a_baseline(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OutputError, match="it is a device, not a file: name a file"):
        write_baseline(tmp_path / "pipe", b"one\n")
    assert (tmp_path / "pipe").is_fifo()
