"""The whole way with real processes: ask, capture, export, publish, ask again, break something, see the gate fail."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from brainbench import corpus
from brainbench.errors import UsageError
from brainbench.model import Turn
from brainbench.queries.files import newest_of_each, read_captured
from brainbench.queries.replaying import attached, replay
from brainbench.systems.wellkept import Wellkept
from wellkept.capture import Capture
from wellkept.capture import read as captured_rows
from wellkept.memory import Memory
from wellkept.model import Message as Said
from wellkept.storage import open_store

ROOT = Path(__file__).parents[3]

PAGES = {
    "people/ada-lovelace": "---\ntitle: Ada Lovelace\n---\nShe wrote the first program.\n",
    "people/grace-hopper": "---\ntitle: Grace Hopper\n---\nShe wrote a compiler.\n",
    "drinks/green-tea": "---\ntitle: Green tea\n---\nKept in the upper cupboard.\n",
}

Call = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def call(tmp_path: Path) -> Call:
    """Runs a command of either product with a data directory of its own and capture on."""
    hidden = ("WELLKEPT_", "XDG_")
    env = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    env |= {"HOME": str(tmp_path), "WELLKEPT_DATA_DIR": str(tmp_path / "memory"), "WELLKEPT_CAPTURE_QUERIES": "1"}

    def run(product: str, *words: object, stdin: str | None = None, code: int = 0) -> subprocess.CompletedProcess[str]:
        argv = [sys.executable, "-m", product, *map(str, words)]
        done = subprocess.run(
            argv, input=stdin, capture_output=True, text=True, env=env, cwd=tmp_path, timeout=60, check=False
        )
        assert "Traceback" not in done.stderr
        assert done.returncode == code, done.stdout + done.stderr
        return done

    return run


def asked(call: Call, tmp_path: Path) -> Path:
    """A baseline of questions that were asked of a memory of three pages."""
    for slug, content in PAGES.items():
        call("wellkept", "put", slug, "-", stdin=content)
    call("wellkept", "search", "who wrote the first program")
    call("wellkept", "search", "upper cupboard", "--limit", "1")
    call("wellkept", "search", "unicorns")
    call("wellkept", "context", "What did Grace Hopper write?")
    call("wellkept", "search", "mail ada@example.test about tea")
    call("wellkept", "export-queries", "--out", "asked.ndjson")
    done = call("brainbench", "queries", "publish", "--from", "asked.ndjson", "--to", "b.baseline.ndjson")
    assert done.stdout == "published 5 questions: b.baseline.ndjson\n"
    return tmp_path / "b.baseline.ndjson"


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.req("C-901", "C-902", "C-903", "C-904")
def test_questions_bring_the_same_pages_until_a_page_is_gone(call: Call, tmp_path: Path) -> None:
    baseline = asked(call, tmp_path)
    store, captured = tmp_path / "memory" / "memory.db", tmp_path / "memory" / "queries.ndjson"
    before = digest(store), digest(captured)
    found = json.loads(call("brainbench", "queries", "replay", "--against", baseline, "--json").stdout)
    assert (found["rows_total"], found["rows_replayed"], found["rows_skipped"], found["rows_errored"]) == (5, 4, 1, 0)
    assert (found["mean_jaccard"], found["top1_stability_rate"], found["regressions"]) == (1.0, 1.0, [])
    assert found["skipped"] == {"a part of it was scrubbed": 1}
    assert found["counts"]["both_empty"] == 1
    assert "verdict     pass" in call("brainbench", "queries", "gate", "--baseline", baseline).stdout
    assert (digest(store), digest(captured)) == before

    call("wellkept", "forget", "drinks/green-tea")
    broken = call("brainbench", "queries", "gate", "--baseline", baseline, code=1)
    assert '0.0000  line 5  search  "upper cupboard"  lost drinks/green-tea' in broken.stdout
    assert "brainbench: fail: threshold: mean_jaccard 0.7500 of 4 rows is below 0.85" in broken.stderr
    told = json.loads(call("brainbench", "queries", "gate", "--baseline", baseline, "--json", code=1).stdout)
    assert told["verdict"] == "fail"
    assert [row["query"] for row in told["regression"]["regressions"]] == ["upper cupboard"]


@pytest.mark.req("C-904")
def test_right_pages_gate_a_memory_too(call: Call, tmp_path: Path) -> None:
    for slug, content in PAGES.items():
        call("wellkept", "put", slug, "-", stdin=content)
    right = {"query_id": "q1", "query": "first program", "relevant_slugs": ["people/ada-lovelace"]}
    wrong = {"query_id": "q2", "query": "upper cupboard", "relevant_slugs": ["people/grace-hopper"]}
    qrels = tmp_path / "x.qrels.json"
    qrels.write_text(json.dumps({"schema_version": 1, "queries": [right]}))
    assert (
        "recall@10       1.0000 (mean of 1 question)" in call("brainbench", "queries", "gate", "--qrels", qrels).stdout
    )
    qrels.write_text(json.dumps({"schema_version": 1, "queries": [right, wrong]}))
    done = call("brainbench", "queries", "gate", "--qrels", qrels, "--k", 3, code=1)
    assert '0.0000  q2  "upper cupboard"  missing people/grace-hopper  first drinks/green-tea' in done.stdout
    assert "fail: threshold: recall@3 0.5000 of 2 questions is below 0.7000" in done.stderr
    assert not (tmp_path / "memory" / "queries.ndjson").exists()


@pytest.mark.req("C-902", "C-904")
def test_what_cannot_be_measured_ends_with_2_and_writes_nothing(call: Call, tmp_path: Path) -> None:
    (tmp_path / "empty.ndjson").write_text("")
    publish = ("queries", "publish", "--to", "x.baseline.ndjson", "--from")
    assert "no_cases: empty.ndjson" in call("brainbench", *publish, "empty.ndjson", code=2).stderr
    call("wellkept", "search", "tea")
    call("wellkept", "search", "TEA")
    call("wellkept", "export-queries", "--out", "asked.ndjson")
    assert "asked.ndjson: line 2: query: asks the same" in call("brainbench", *publish, "asked.ndjson", code=2).stderr
    assert not (tmp_path / "x.baseline.ndjson").exists()
    done = call("brainbench", *publish, "asked.ndjson", "--keep-newest")
    assert done.stdout == "published 1 question, 1 asked again left out: x.baseline.ndjson\n"
    assert "--force" in call("brainbench", *publish, "asked.ndjson", "--keep-newest", code=2).stderr
    assert "nan" in call("brainbench", *publish, "asked.ndjson", "--threshold-jaccard", "nan", "--force", code=2).stderr
    gate = ("queries", "gate", "--baseline", "x.baseline.ndjson")
    assert "no memory at" in call("brainbench", *gate, "--store", "nowhere", code=2).stderr
    assert "one of --baseline and --qrels" in call("brainbench", *gate, "--qrels", "y", code=2).stderr
    assert "goes with --qrels" in call("brainbench", *gate, "--k", 3, code=2).stderr
    blocked = call("brainbench", "queries", "gate", "--qrels", "y", "--latency-blocks", code=2)
    assert "goes with --baseline" in blocked.stderr
    assert "unknown system" in call("brainbench", *gate, "--system", "nope", code=2).stderr
    assert "none of 1 rows found a page, then or now" in call("brainbench", *gate, code=2).stderr
    assert "defines no `attach`" in call("brainbench", *gate, "--system", "bm25", code=2).stderr


@pytest.mark.req("C-901", "C-903")
def test_every_way_to_ask_is_asked_again_with_the_same_answer_in_many_languages(tmp_path: Path) -> None:
    fixtures = corpus.read(ROOT / "corpus" / "core" / "fixtures", include_holdout=True).fixtures[::9]
    memory = Memory(open_store("sqlite", tmp_path / "memory.db"), Capture(tmp_path / "queries.ndjson"))
    for fixture in fixtures:
        for write in fixture.setup:
            memory.put_page("default", str(write.slug), write.content)
    memory.remember("default", "Something was said of the garden.", session="s")
    texts = [event.text for fixture in fixtures for event in fixture.events if isinstance(event, Turn)]
    for text in texts:
        memory.search("default", text, 3)
        memory.recall_facts("default", text, limit=5)
        memory.context("default", (Said("user", text),))
        memory.pointers("default", text, pages=1)
    memory.close()
    export = tmp_path / "asked.ndjson"
    export.write_text("".join(json.dumps(row) + "\n" for row in captured_rows(tmp_path / "queries.ndjson").rows))
    system = attached("wellkept", str(tmp_path))
    done = replay(system, newest_of_each(read_captured(export)))
    system.close()
    assert {asked.row.tool for asked in done.asked} == {"search", "recall_facts", "context", "pointers"}
    assert len(done.asked) > 100
    assert done.both_empty < len(done.asked) * 3 / 4
    assert (done.skipped, done.regressions(3)) == ({}, ())
    assert done.mean_jaccard == 1


def test_a_memory_is_attached_as_a_copy_that_goes_when_it_is_closed(call: Call, tmp_path: Path) -> None:
    call("wellkept", "put", "people/ada-lovelace", "-", stdin=PAGES["people/ada-lovelace"])
    system = Wellkept()
    system.attach(str(tmp_path / "memory"))
    call("wellkept", "put", "people/grace-hopper", "-", stdin=PAGES["people/grace-hopper"])
    assert [hit.id for hit in system.search("default", "wrote", 10)] == ["people/ada-lovelace"]
    place = system._home
    system.close()
    assert not place.exists()


def test_a_store_that_is_no_memory_is_refused_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "memory.db").write_text("no database " * 200)
    with pytest.raises(UsageError, match=r"memory\.db cannot be read"):
        Wellkept().attach(str(tmp_path / "m"))
    assert not list(tmp_path.glob("wk-*"))
