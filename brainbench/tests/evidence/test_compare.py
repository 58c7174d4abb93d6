"""Two stored runs: baselines and result documents, in every combination."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brainbench.errors import IncompatibleError
from brainbench.evidence import Config
from brainbench.evidence.baseline import Baseline, StoredCell, as_v1, baseline_of, serialised
from brainbench.evidence.compare import compare, improvements
from brainbench.evidence.documents import read_run
from brainbench.metrics import METRICS, Count, Ratio

Seen = Callable[..., Any]
CONFIG = Config(False, False, ("sut",), ("codex",), ("push",))


def stored(failed: int, recall: Ratio | None = None, leaks: int = 0, **changes: Any) -> Baseline:
    metrics: dict[str, Any] = {"push_recall": recall or Ratio(10 - failed, 10)}
    metrics["source_isolation_violations"] = Count(leaks)
    cell = StoredCell(10, failed, metrics, failed=tuple(f"f/{n}" for n in range(failed)))
    return replace(Baseline(2, "v2", "f", "c", CONFIG, {"sut/codex/push": cell}), **changes)


@pytest.mark.req("C-115")
def test_a_run_compared_with_its_equal_passes_and_with_a_better_one_fails() -> None:
    assert compare(stored(2), stored(2)).verdict == "pass"
    better = compare(stored(2), stored(1))
    assert (better.verdict, len(better.stale)) == ("pass", 2)
    worse = compare(stored(1), stored(2))
    assert (worse.verdict, worse.mode) == ("fail", "same-hash")
    assert {b.metric for b in worse.breaches} == {"gold_failed", "failed_items", "push_recall"}


@pytest.mark.req("C-115")
@pytest.mark.parametrize("change", [{"fixtures_hash": "g"}, {"corpus_hash": "d"}])
def test_two_files_of_different_corpora_are_always_inconclusive(change: dict[str, Any]) -> None:
    for failed in (0, 1, 2):
        outcome = compare(stored(1), stored(failed, **change))
        assert (outcome.verdict, outcome.mode, outcome.exit_code) == ("inconclusive", "corpus-bless", 2)


@pytest.mark.req("C-115", "C-703")
def test_two_files_of_different_configs_or_without_gold_are_inconclusive() -> None:
    other = stored(1, config=replace(CONFIG, llm=True))
    assert "config.llm" in compare(stored(1), other).lines()[0]
    assert compare(stored(1, cells={}), stored(1)).verdict == "inconclusive"


@pytest.mark.req("C-706")
def test_a_leak_fails_a_comparison_whatever_else_holds() -> None:
    for base in (stored(5), stored(5, leaks=3), stored(5, fixtures_hash="g")):
        assert compare(base, stored(0, leaks=1)).verdict == "fail"
    assert compare(stored(1, leaks=3), stored(1)).verdict == "pass"


@pytest.mark.req("C-115")
def test_rates_are_compared_as_exact_fractions() -> None:
    third, almost = Ratio(100_000, 300_000), Ratio(99_999, 300_000)
    worse = compare(stored(1, third), stored(1, almost))
    assert (worse.verdict, worse.breaches[0].metric) == ("fail", "push_recall")
    assert compare(stored(1, Ratio(1, 3)), stored(1, third)).verdict == "pass"
    same_when_rounded = compare(as_v1(stored(1, third)), stored(1, almost))
    assert same_when_rounded.verdict == "pass"


@pytest.mark.req("C-114", "C-115")
def test_baselines_of_both_versions_meet_in_the_older_form() -> None:
    assert compare(as_v1(stored(1)), stored(1)).verdict == "pass"
    assert compare(stored(1), as_v1(stored(2))).verdict == "fail"
    assert compare(as_v1(stored(2)), as_v1(stored(1))).verdict == "pass"


@pytest.mark.req("C-115")
def test_a_foreign_version_1_file_may_hold_metrics_that_we_do_not_gate() -> None:
    base = as_v1(stored(1))
    cell = base.cells["codex/push"]
    more = replace(cell, metrics={**cell.metrics, "their_own": Ratio(1, 2), "avg_injected_tokens": Ratio(9, 9)})
    assert compare(replace(base, cells={"codex/push": more}), stored(1)).verdict == "pass"


@pytest.mark.req("C-705", "E-905")
def test_a_version_2_metric_that_this_bench_does_not_know_is_a_breach() -> None:
    base = stored(1)
    cell = base.cells["sut/codex/push"]
    more = replace(base, cells={"sut/codex/push": replace(cell, metrics={**cell.metrics, "novel": Ratio(1, 2)})})
    assert "does not gate it any more" in str(compare(more, base).breaches)
    assert "which direction" in str(compare(more, more).breaches)


@pytest.mark.req("C-705")
def test_a_metric_that_is_gated_no_more_is_a_breach_and_not_a_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(METRICS, "push_recall", replace(METRICS["push_recall"], gated=False))
    now = stored(3)
    cell = now.cells["sut/codex/push"]
    kept = {name: value for name, value in cell.metrics.items() if name != "push_recall"}
    outcome = compare(stored(3), replace(now, cells={"sut/codex/push": replace(cell, metrics=kept)}))
    assert outcome.verdict == "fail"
    assert "does not gate it any more" in str(outcome.breaches)


@pytest.mark.req("C-705")
@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10), st.integers(0, 10))
def test_of_two_runs_at_most_one_is_a_regression(one: int, two: int) -> None:
    forth, back = compare(stored(one), stored(two)), compare(stored(two), stored(one))
    assert (forth.verdict == "pass") == (two <= one)
    assert (back.verdict == "pass") == (one <= two)
    assert bool(improvements(stored(one), stored(two))) == (two < one)


def result_document(board: Any, native: bool) -> bytes:
    """A result document as a run writes it."""
    cells = [
        {
            "suite": c.suite,
            "harness": c.seam,
            "seam": c.kind,
            "gold_total": c.gold_total,
            "gold_failed": c.gold_failed,
            "metrics": {n: float(v.value) for n, v in c.metrics.items() if v is not None},
            "fixtures": list(c.fixtures),
        }
        for c in board.cells
    ]
    meta: dict[str, Any] = {"metric_glossary": {}}
    if native:
        meta["native"] = _native(board)
    receipt = {"result_schema_version": 1, "fixtures_hash": board.fixtures_hash, "include_holdout": False, "llm": None}
    return json.dumps({"receipt": receipt, "cells": cells, "turn_rows": [], "_meta": meta}).encode()


def _native(board: Any) -> dict[str, Any]:
    baseline = json.loads(serialised(baseline_of(board)))
    cells = [
        {
            "key": c.key,
            "status": c.status,
            "gold_total": c.gold_total,
            "gold_failed": c.gold_failed,
            "metrics": {
                **dict.fromkeys(c.metrics),
                **baseline["cells"].get(c.key, {}).get("metrics", {}),
                "avg_injected_tokens": {"total": 4.0, "of": 2, "mean": "2.0000"},
            },
            "failed_items": list(c.failed_items),
            "slices": {"stratum": {}},
        }
        for c in board.cells
    ]
    return {**baseline, "cells": cells, "observations_hash": "0"}


@pytest.mark.req("C-114", "C-115")
@pytest.mark.parametrize("native", [True, False])
def test_result_documents_are_compared_like_baselines(v1_world: Any, seen: Seen, native: bool) -> None:
    good, worse = v1_world.board(), v1_world.board({"hard-3": seen(3, ids=())})
    base = read_run(result_document(good, native), "a.json")
    assert compare(base, read_run(result_document(good, native), "b.json")).verdict == "pass"
    assert compare(base, read_run(result_document(worse, native), "b.json")).verdict == "fail"
    baseline = read_run(serialised(baseline_of(good)), "base.json")
    assert compare(baseline, read_run(result_document(worse, native), "b.json")).verdict == "fail"


@pytest.mark.req("C-704", "C-115")
def test_a_result_with_untrusted_cells_is_compared_with_nothing(world: Any, seen: Seen) -> None:
    invalid = world.board({"*": seen(4, error="late")})
    with pytest.raises(IncompatibleError, match="know-to-ask is invalid"):
        read_run(result_document(invalid, True), "r.json")


@pytest.mark.req("C-114")
@pytest.mark.parametrize(
    ("data", "named"),
    [
        (b"{", "r.json"),
        (b'{"receipt": {}, "cells": []}', "fixtures_hash"),
        (b'{"receipt": {"fixtures_hash": "f"}, "cells": [{}]}', "cells"),
        (b'{"receipt": 1, "_meta": {"native": {"schema_version": 3}}}', "schema_version"),
        (b"[1]", "schema_version"),
    ],
)
def test_what_is_no_run_is_refused(data: bytes, named: str) -> None:
    with pytest.raises(IncompatibleError, match=named):
        read_run(data, "r.json")
