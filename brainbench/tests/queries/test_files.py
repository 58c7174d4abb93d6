from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brainbench.errors import CorpusError, IncompatibleError, NothingMeasured, OutputError, UsageError
from brainbench.queries import files
from brainbench.queries.files import Thresholds, newest_of_each, query_hash, read_captured, read_query_baseline

from .conftest import Export, captured


def publish(source: Path, target: Path, **changes: Any) -> files.QueryBaseline:
    flags: dict[str, Any] = {"label": "before", "thresholds": Thresholds()} | changes
    return files.publish(read_captured(source), str(source), target, **flags)


def faults(action: Any, *arguments: Any) -> list[str]:
    with pytest.raises(CorpusError) as caught:
        action(*arguments)
    return [str(fault).partition(": ")[2] for fault in caught.value.faults]


@pytest.mark.req("C-902")
def test_the_first_line_and_the_hashes_are_as_computed_by_hand(export: Export, tmp_path: Path) -> None:
    source = export(captured("Tea  with\tADA ", latency_ms=1.0), captured("rain", latency_ms=2.5, mood=["kept"]))
    target = tmp_path / "x.baseline.ndjson"
    publish(source, target)
    head, first, second = map(json.loads, target.read_text().splitlines())
    tea, rain = (hashlib.sha256(words).hexdigest()[:16] for words in (b"tea with ada", b"rain"))
    together = hashlib.sha256("\n".join(sorted([tea, rain])).encode()).hexdigest()
    assert list(head) == [
        "schema_version",
        "_kind",
        "label",
        "published_at",
        "source_hash",
        "thresholds",
        "row_count",
        "baseline_mean_latency_ms",
    ]
    assert (head["schema_version"], head["_kind"], head["label"]) == (1, "baseline_metadata", "before")
    assert head["thresholds"] == {"jaccard": 0.85, "top1": 0.80, "latency_multiplier": 2.0}
    assert (head["source_hash"], head["row_count"], head["baseline_mean_latency_ms"]) == (together, 2, 1.75)
    assert head["published_at"].endswith("Z")
    assert (first["query_hash"], second["query_hash"]) == (tea, rain)
    assert {k: v for k, v in second.items() if k != "query_hash"} == captured("rain", latency_ms=2.5, mood=["kept"])


@pytest.mark.req("C-902")
def test_nothing_is_written_for_no_question_for_two_alike_or_over_a_file(export: Export, tmp_path: Path) -> None:
    target = tmp_path / "x.baseline.ndjson"
    with pytest.raises(NothingMeasured, match="holds no question"):
        publish(export(), target)
    twice = export(captured("tea"), captured("rain"), captured(" TEA"))
    assert faults(publish, twice, target) == [
        "line 3: query: asks the same as line 1 (tool, sources and words); --keep-newest takes the first of them"
    ]
    assert not target.exists()
    target.write_text("mine")
    with pytest.raises(UsageError, match="is there already"):
        publish(export(captured()), target)
    assert target.read_text() == "mine"
    publish(export(captured()), target, force=True)
    assert len(read_query_baseline(target).rows) == 1
    with pytest.raises(OutputError, match="there is no directory"):
        publish(export(captured()), tmp_path / "none" / "x")


def test_the_same_words_to_another_tool_or_source_are_another_question(export: Export) -> None:
    rows = read_captured(export(captured(), captured(tool_name="context"), captured(source_ids=["team"]), captured()))
    assert [row.line for row in newest_of_each(rows)] == [1, 2, 3]


@pytest.mark.req("C-902")
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"schema_version": 2}, "schema_version: expected 1, not 2"),
        ({"tool_name": ""}, "tool_name: expected text that is not empty"),
        ({"query": None}, "query: expected text that is not empty"),
        ({"retrieved_slugs": "a"}, "retrieved_slugs: expected a list of texts"),
        ({"source_ids": [1]}, "source_ids: expected a list of texts"),
        ({"latency_ms": -1}, "latency_ms: expected a number from 0"),
        ({"latency_ms": True}, "latency_ms: expected a number from 0"),
        ({"detail": 3}, "detail: expected text or null"),
        ({"_kind": "baseline_metadata"}, "_kind: this is a published baseline, not an export"),
    ],
)
def test_a_fault_names_the_line_and_the_field(export: Export, wrong: dict[str, object], said: str) -> None:
    assert faults(read_captured, export(captured("fine"), captured("not fine") | wrong)) == [f"line 2: {said}"]


def test_all_faults_are_told_at_once(export: Export) -> None:
    source = export("\n", "{\n", "[]\n", captured(query=1, source_ids=None), '{"latency_ms": NaN}\n')
    told = faults(read_captured, source)
    assert [fault.split(":")[0] for fault in told] == ["line 2", "line 3", "line 4", "line 4", "line 5"]
    assert "line 3: expected an object" in told


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(IncompatibleError, match=r"gone\.ndjson"):
        read_captured(tmp_path / "gone.ndjson")


def changed(target: Path, line: int, **changes: object) -> list[str]:
    lines = target.read_text().splitlines()
    lines[line - 1] = json.dumps(json.loads(lines[line - 1]) | changes)
    target.write_text("\n".join(lines) + "\n")
    return faults(read_query_baseline, target)


@pytest.mark.req("C-902")
@pytest.mark.parametrize(
    ("line", "changes", "said"),
    [
        (1, {"row_count": 3}, "line 1: row_count: is 3, and 2 rows follow"),
        (1, {"source_hash": "0"}, "line 1: source_hash: is not that of the rows: the file was changed"),
        (1, {"label": None}, "line 1: label: expected text"),
        (1, {"_kind": "other"}, "line 1: _kind: expected 'baseline_metadata'; make one with `queries publish`"),
        (1, {"thresholds": {}}, "line 1: thresholds: expected jaccard, top1, latency_multiplier"),
        (
            1,
            {"thresholds": {"jaccard": 2, "top1": 1, "latency_multiplier": 9}},
            "line 1: thresholds.jaccard: expected a number from 0 to 1",
        ),
        (2, {"query": "coffee"}, "line 2: query_hash: is not that of the query: the line was changed"),
        (3, {"query_hash": None}, "line 3: query_hash: is not that of the query: the line was changed"),
        (3, {"latency_ms": None}, "line 3: latency_ms: expected a number from 0"),
    ],
)
def test_a_baseline_that_was_changed_is_refused(
    export: Export, tmp_path: Path, line: int, changes: dict[str, object], said: str
) -> None:
    target = tmp_path / "x.baseline.ndjson"
    publish(export(captured("tea"), captured("rain")), target)
    assert changed(target, line, **changes) == [said]


def test_keys_that_are_not_known_change_nothing(export: Export, tmp_path: Path) -> None:
    target = tmp_path / "x.baseline.ndjson"
    publish(export(captured("tea")), target)
    head, row = map(json.loads, target.read_text().splitlines())
    limits = head["thresholds"] | {"mood": 1}
    target.write_text(json.dumps(head | {"mood": 1, "thresholds": limits}) + "\n" + json.dumps(row | {"mood": 1}))
    read = read_query_baseline(target)
    assert (read.thresholds, read.rows[0].written["mood"]) == (Thresholds(), 1)


def test_an_export_is_no_baseline(export: Export) -> None:
    assert faults(read_query_baseline, export(captured()))[0].startswith("line 1: _kind: expected 'baseline_metadata'")
    assert faults(read_query_baseline, export())[0].startswith("line 1: _kind")


ROWS = st.builds(
    captured,
    query=st.text(min_size=1).filter(lambda text: text.strip() and text.isprintable()),
    slugs=st.lists(st.text(min_size=1, max_size=5), max_size=4),
    latency_ms=st.floats(0, 1e6),
    source_ids=st.lists(st.sampled_from(["default", "team"]), max_size=2, unique=True),
)


@pytest.mark.req("C-902")
@given(st.lists(ROWS, min_size=1, max_size=6))
def test_what_is_published_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, written: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("published")
    source, target = folder / "asked.ndjson", folder / "x.baseline.ndjson"
    source.write_text("".join(json.dumps(document) + "\n" for document in written))
    rows = newest_of_each(read_captured(source))
    made = files.publish(rows, "asked", target, label="l", thresholds=Thresholds(0.5, 0.25, 3.0))
    read = read_query_baseline(target)
    assert [(r.tool, r.query, r.slugs, r.sources) for r in read.rows] == [
        (r.tool, r.query, r.slugs, r.sources) for r in rows
    ]
    assert (read.thresholds, read.source_hash, read.mean_latency_ms) == (
        made.thresholds,
        made.source_hash,
        made.mean_latency_ms,
    )


@given(st.text())
def test_case_and_spaces_make_no_other_question(text: str) -> None:
    assert query_hash(f"  {text}\n\n") == query_hash(text)
    assert query_hash(text.replace(" ", "   ")) == query_hash(text)
    assert len(query_hash(text)) == 16
