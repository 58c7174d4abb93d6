from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest

from brainbench.errors import CorpusError, NothingMeasured, UsageError
from brainbench.metrics import four_decimals
from brainbench.model import Capability, SearchHit
from brainbench.queries.qrels import Qrel, ask_all, read_qrels

from .conftest import Living

ROOT = Path(__file__).parents[3]
GOLDEN = Path(os.environ.get("BRAINBENCH_DATA", ROOT.parent / "shared" / "data")) / "ir-golden" / "trec_eval_test"


def file_of(tmp_path: Path, document: object) -> Path:
    path = tmp_path / "x.qrels.json"
    path.write_text(json.dumps(document))
    return path


def plain(query: str, *slugs: str, first: str | None = None) -> Qrel:
    pages = tuple(("default", slug) for slug in slugs)
    return Qrel(query, query, pages, None if first is None else ("default", first))


@pytest.mark.req("C-904")
def test_both_shapes_say_the_same(tmp_path: Path) -> None:
    one = {"query_id": "q1", "query": "tea", "relevant_slugs": ["a", "b"], "first_relevant_slug": "a"}
    pages = [{"source_id": "default", "slug": "a", "grade": 2}, {"source_id": "default", "slug": "b"}]
    judged_wrong = {"source_id": "default", "slug": "z", "grade": 0}
    two = {"query_id": "q1", "query": "tea", "relevant": [*pages, judged_wrong], "expected_top1": pages[0]}
    wanted = (Qrel("q1", "tea", (("default", "a"), ("default", "b")), ("default", "a")),)
    assert read_qrels(file_of(tmp_path, {"schema_version": 1, "queries": [one]})) == wanted
    assert read_qrels(file_of(tmp_path, [two])) == wanted


@pytest.mark.req("C-904")
@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"query_id": ""}, "queries[1].query_id: expected text that is not empty"),
        ({"query": 1}, "queries[1].query: expected text that is not empty"),
        ({"relevant_slugs": []}, "queries[1].relevant_slugs: expected a list of pages that is not empty"),
        ({"relevant_slugs": ["a", 1]}, "queries[1].relevant_slugs[1]: expected a slug"),
        ({"first_relevant_slug": "z"}, "queries[1].first_relevant_slug: is not among relevant_slugs"),
        ({"query_id": "q1"}, "queries[1].query_id: 'q1' is that of queries[0] too"),
    ],
)
def test_a_fault_names_the_entry_and_the_field(tmp_path: Path, changes: dict[str, object], said: str) -> None:
    fine = {"query_id": "q1", "query": "tea", "relevant_slugs": ["a"]}
    with pytest.raises(CorpusError) as caught:
        read_qrels(file_of(tmp_path, [fine, fine | {"query_id": "q2"} | changes]))
    assert [str(fault).partition(": ")[2] for fault in caught.value.faults] == [said]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ([{"slug": "a"}], "relevant[0]: expected source_id and slug"),
        (["a"], "relevant[0]: expected source_id and slug"),
        ([{"source_id": "s", "slug": "a", "grade": 0}], "relevant: no page has a grade above 0"),
        ([{"source_id": "s", "slug": "a", "grade": "high"}], "relevant[0]: expected source_id and slug"),
    ],
)
def test_pages_with_their_source_are_checked_too(tmp_path: Path, entry: list[object], said: str) -> None:
    with pytest.raises(CorpusError, match="queries") as caught:
        read_qrels(file_of(tmp_path, [{"query_id": "q", "query": "tea", "relevant": entry}]))
    assert said in str(caught.value)


def test_a_file_without_questions_or_without_json_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NothingMeasured):
        read_qrels(file_of(tmp_path, {"queries": []}))
    with pytest.raises(CorpusError, match="expected a list"):
        read_qrels(file_of(tmp_path, {"schema_version": 1}))
    (tmp_path / "x.qrels.json").write_text("{")
    with pytest.raises(CorpusError, match="not JSON"):
        read_qrels(tmp_path / "x.qrels.json")


@pytest.mark.req("C-904")
def test_the_figures_are_those_counted_by_hand() -> None:
    system = Living({"both": ["a", "b"], "late": ["x", "a"], "half": ["b", "y"], "none": []})
    questions = [
        plain("both", "a", "b", first="a"),
        plain("late", "a", first="a"),
        plain("half", "a", "b", first="a"),
        plain("none", "a"),
        plain("error", "a"),
    ]
    found = ask_all(system, questions, 10)
    assert found.recall == Fraction(1 + 1) / 5 + Fraction(1, 10)
    assert (found.first_relevant, found.expected_top1, found.errors) == (
        type(found.errors)(2, 5),  # type: ignore[misc]
        type(found.errors)(1, 3),  # type: ignore[misc]
        type(found.errors)(1, 5),  # type: ignore[misc]
    )
    assert [judged.qrel.query for judged in found.worst(9)] == ["none", "error", "half", "late"]
    assert ask_all(system, [plain("both", "a", "b")], 1).recall == Fraction(1, 2)


def test_sources_are_taken_in_turn_and_their_pages_are_not_mixed_up() -> None:
    class Scoped(Living):
        def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
            return [SearchHit(slug) for slug in {"team": ["a", "b"], "own": ["a", "c", "d"]}[source][:limit]]

    question = Qrel("q", "tea", (("own", "d"), ("team", "a")), ("team", "a"))
    (judged,) = ask_all(Scoped(), [question], 10).judged
    assert judged.pages == (("team", "a"), ("own", "a"), ("team", "b"), ("own", "c"), ("own", "d"))
    assert (judged.recall, judged.starts_as_expected) == (1, True)
    (cut,) = ask_all(Scoped(), [Qrel("q", "tea", (("own", "a"), ("team", "b")), None)], 2).judged
    assert cut.pages == (("own", "a"), ("team", "a"))
    assert cut.recall == Fraction(1, 2)


def test_a_memory_that_cannot_search_is_not_asked() -> None:
    class Mute(Living):
        can = frozenset({Capability.CONTEXT})

    with pytest.raises(UsageError, match="cannot search"):
        ask_all(Mute(), [plain("tea", "a")], 10)


@pytest.mark.req("C-904")
@pytest.mark.parametrize("k", [5, 10, 100])
def test_recall_is_that_of_trec_eval(k: int) -> None:
    if not GOLDEN.is_dir():
        pytest.skip(f"{GOLDEN} is absent; set BRAINBENCH_DATA to the folder that holds ir-golden")
    wanted: dict[str, list[str]] = defaultdict(list)
    for line in (GOLDEN / "qrels.test").read_text().splitlines():
        topic, _, document, grade = line.split()
        if int(grade) > 0:
            wanted[topic].append(document)
    ranked: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for line in (GOLDEN / "results.test").read_text().splitlines():
        topic, _, document, _, score, _ = line.split()
        ranked[topic].append((float(score), document))
    system = Living({topic: [document for _, document in sorted(run, reverse=True)] for topic, run in ranked.items()})
    found = ask_all(system, [plain(topic, *wanted[topic]) for topic in sorted(ranked)], k)
    golden = dict(line.split("\tall\t") for line in (GOLDEN / "out.test.a").read_text().splitlines())
    theirs = {name.strip(): value.strip() for name, value in golden.items()}
    assert found.recall is not None
    assert four_decimals(found.recall) == theirs[f"recall_{k}"]
    assert found.first_relevant is not None
    assert four_decimals(found.first_relevant.value) == theirs["success_1"]
