"""What was expected is judged by counts, and is never changed afterwards."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from brainbench import corpus, gold
from brainbench.cli import main
from brainbench.errors import CorpusError, IncompatibleError
from brainbench.evidence.expectations import check_only_added, judged, lines, read_expectations, read_result

CORE = Path(__file__).parents[3] / "corpus" / "core"
ENTRY = """
[[expect]]
id = "{id}"
registered = "2026-11-30"
statement = "It is so."
system = "bm25"
seam = "openclaw"
suite = "push"
stratum = "{stratum}"
metric = "push_recall"
op = "{op}"
value = {value}
"""


def entry(**changes: object) -> str:
    return ENTRY.format(**{"id": "one", "stratum": "hard", "op": ">=", "value": 0.5} | changes)


def result(n: int = 6, of: int = 10, status: str = "scored", corpus_name: str = "core", kind: str = "v2") -> bytes:
    metrics = {"push_recall": {"n": n, "of": of, "rate": "x"}, "push_precision": None}
    other = {"push_recall": {"n": 1, "of": 10, "rate": "x"}}
    cell: dict[str, Any] = {
        "key": "bm25/openclaw/push",
        "status": status,
        "metrics": other,
        "slices": {"stratum": {"hard": {"metrics": metrics}}, "universe": {"a": {"metrics": other}}},
    }
    return json.dumps({"_meta": {"native": {"corpus": corpus_name, "corpus_kind": kind, "cells": [cell]}}}).encode()


def found(text: str, *results: bytes) -> list[tuple[str, str]]:
    boards = [read_result(data, "r.json") for data in results]
    return [(one.state, one.detail) for one in judged(read_expectations(text.encode(), "e"), boards)]


@pytest.mark.req("C-808")
@pytest.mark.parametrize(
    ("changes", "state", "said"),
    [
        ({}, "confirmed", "6/10 = 0.6000, expected >= 0.5"),
        ({"op": "<"}, "refuted", "6/10 = 0.6000, expected < 0.5"),
        ({"value": 0.6}, "confirmed", "expected >= 0.6"),
        ({"op": ">", "value": 0.6}, "refuted", "expected > 0.6"),
        ({"stratum": "all", "op": "==", "value": 0.1}, "confirmed", "1/10 = 0.1000"),
        ({"stratum": "easy"}, "untested", "this was not asked"),
    ],
)
def test_an_expectation_is_confirmed_or_refuted_by_exact_counts(
    changes: dict[str, object], state: str, said: str
) -> None:
    ((is_state, detail),) = found(entry(**changes), result())
    assert is_state == state
    assert said in detail


@pytest.mark.req("C-808")
@pytest.mark.parametrize(
    ("results", "said"),
    [
        ([], "no result of this corpus was given"),
        ([result(corpus_name="other")], "no result of this corpus was given"),
        ([result(status="invalid")], "its cell is invalid"),
    ],
)
def test_what_no_result_holds_is_untested_with_the_reason(results: list[bytes], said: str) -> None:
    ((state, detail),) = found(entry(), *results)
    assert state == "untested"
    assert said in detail


@pytest.mark.req("C-808")
def test_a_comparison_takes_the_difference_of_two_numbers() -> None:
    than = 'than = { stratum = "all", universe = "a" }\n'
    assert found(entry(op="==") + than, result()) == [("confirmed", "6/10 minus 1/10 = 0.5000, expected == 0.5")]
    assert found(entry(op=">") + than, result())[0][0] == "refuted"
    (only,) = found(entry() + 'than = { system = "null" }\n', result())
    assert only == ("untested", "core: null/openclaw/push [hard] push_recall: no result has this cell")


def test_of_two_results_the_later_one_counts_and_v1_is_a_corpus_of_any_name() -> None:
    assert found(entry(), result(9), result(1))[0][0] == "refuted"
    assert found(entry() + 'corpus = "v1"\n', result(9), result(1, kind="v1", corpus_name="their"))[0][0] == "refuted"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("expect = 1", "may hold [[expect]] entries"),
        ("[[expect]]\nid = 'x'", "e: expect[0]: registered is missing"),
        (entry() + "more = 1", "more is unknown"),
        (entry(op="~"), "op: must be one of < <= == >= >"),
        (entry(value="true"), "value: must be a number"),
        (entry().replace("push_recall", "luck"), "metric: 'luck' is unknown; known: know_to_ask_failure_rate"),
        (entry() + "category = 'typo'", "category: a number is of one slice"),
        (entry() + "than = { value = 1 }", "than: must be a table of corpus, system"),
        (entry() + entry(), "id 'one' stands twice"),
        (entry(id=""), "id: must be a non-empty text"),
        ("[[", "e: "),
    ],
)
def test_a_broken_entry_is_named_with_what_may_stand_there(text: str, said: str) -> None:
    with pytest.raises(IncompatibleError) as caught:
        read_expectations(text.encode(), "e")
    assert said in str(caught.value)


@pytest.mark.req("C-808")
def test_entries_may_be_added_and_never_changed() -> None:
    before = entry()
    check_only_added(before.encode(), (before + entry(id="two")).encode(), "e")
    for now in ("", entry(value=0.4), entry(id="two") + before, before.replace("It is", "It was")):
        with pytest.raises(IncompatibleError, match="'one' was registered and is changed or gone"):
            check_only_added(before.encode(), now.encode(), "e")


def test_lines_count_what_became_of_all() -> None:
    data = entry() + entry(id="two", op="<")
    told = list(lines(judged(read_expectations(data.encode(), "e"), [read_result(result(), "r")])))
    assert told[0] == "confirmed one: It is so."
    assert told[-1] == "1 confirmed, 1 refuted, 0 untested"


@pytest.mark.req("C-808")
def test_the_file_of_the_core_corpus_is_sealed(tmp_path: Path) -> None:
    copy = tmp_path / "core"
    shutil.copytree(CORE, copy)
    gold.validate(copy / "fixtures", copy / "gold")
    with (copy / "EXPECTATIONS.toml").open("a", encoding="utf-8") as file:
        file.write("# later\n")
    with pytest.raises(CorpusError, match=r"MANIFEST\.json: expectations_hash: the file has SHA-256"):
        gold.validate(copy / "fixtures", copy / "gold")


@pytest.mark.req("C-808")
def test_the_command_reports_results_and_refuses_what_is_no_result(tmp_path: Path) -> None:
    nothing = CliRunner().invoke(main, ["expect"])
    assert nothing.exit_code == 0, nothing.output
    assert nothing.stdout.splitlines()[-1].startswith("0 confirmed, 0 refuted, ")
    (tmp_path / "r.json").write_bytes(result())
    told = CliRunner().invoke(main, ["expect", str(tmp_path / "r.json"), "--json"])
    document = json.loads(told.stdout)
    ids = [e.id for e in read_expectations((CORE / "EXPECTATIONS.toml").read_bytes(), "e")]
    assert [e["id"] for e in document["expectations"]] == ids
    (tmp_path / "r.json").write_text("{}")
    refused = CliRunner().invoke(main, ["expect", str(tmp_path / "r.json")])
    assert refused.exit_code == 2
    assert "no result of `brainbench run --out FILE`" in refused.stderr
    assert corpus.read_manifest(CORE).expectations_hash
