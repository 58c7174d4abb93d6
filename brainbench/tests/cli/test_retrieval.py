"""What a user of `longmemeval` and `locomo` types, sees and gets as exit code."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result

from brainbench.cli import main
from brainbench.replay import haystacks
from brainbench.retrieval import running
from brainbench.retrieval.judging import case_scores, summary
from brainbench.retrieval.results import CaseResult
from brainbench.retrieval.telling import numbers

TINY = Path(__file__).parents[3] / "docs" / "how-to" / "retrieval"
ANY = "--allow-unknown-dataset"


def brainbench(*argv: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in argv], catch_exceptions=False)


def longmemeval(*argv: object) -> Result:
    return brainbench("longmemeval", TINY / "tiny_longmemeval.json", ANY, *argv)


def locomo(*argv: object) -> Result:
    return brainbench("locomo", TINY / "tiny_locomo.json", ANY, *argv)


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Outside any checkout, where the memories of these tests can be imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "retrieval"))
    yield
    sys.modules.pop("asked_memories", None)


@pytest.mark.req("E-255", "E-303")
def test_every_metric_at_each_k_stands_with_n_and_its_ceiling():
    done = longmemeval("--system", "bm25", "--k", 3, "--k", 1)
    assert done.exit_code == 0, done.output
    for k in (1, 3):
        (heading,) = [line for line in done.stdout.splitlines() if f"hit@{k} " in line and " n " in line]
        assert heading.split() == [
            "n",
            *(f"{m}@{k}" for m in ("hit", "recall", "recall_all", "ndcg", "ndcg_lme")),
            "mrr",
        ]
    first = [line.split() for line in done.stdout.splitlines() if line.startswith(("official", "all ", "  the best"))]
    assert [line[-7] for line in first] == ["3", "3", "5", "3", "3", "5"]
    assert "left out of official: 1 no labelled user turn, 1 abstention" in done.stdout
    assert "dataset  not the published file: sha256:" in done.stdout
    assert "does not show production latency" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100


@pytest.mark.req("E-105", "E-106", "E-254")
@pytest.mark.parametrize("ask", [longmemeval, locomo])
@pytest.mark.parametrize("granularity", ["session", "turn"])
def test_every_number_of_a_report_follows_from_its_cases(tmp_path, ask, granularity):
    done = ask("--mode", "lexical", "--granularity", granularity, "--out", tmp_path / "r.json", "--label", "mine")
    assert done.exit_code == 0, done.output
    report = json.loads((tmp_path / "r.json").read_text())
    again = brainbench("rejudge", tmp_path / "r.json")
    assert (again.exit_code, again.stderr) == (0, "")
    assert rows(again) == rows(done)
    assert (report["mode"], report["label"], report["status"]) == ("lexical", "mine", "scored")
    assert report["dataset"]["published"] is False
    assert report["auth_manifest_id"] == "not-applicable:offline"
    assert report["runtime"]["graph_engine"] == "none"
    for case in report["case_results"]:
        assert case["metrics"]["mrr"] <= 1
        assert len(case["ranked_ids"]) <= case["candidates"]


def rows(done: Result) -> list[str]:
    return [line for line in done.stdout.splitlines() if line[28:34].strip().isdigit()]


@pytest.mark.req("E-106", "E-1602")
@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("overall", "official", "metrics", "hit@5", "n"), 4),
        (("overall", "all", "metrics", "recall@10", "value"), 0.9999),
        (("per_type", "temporal-reasoning", "cases"), 2),
        (("statistics", "hit@5", "interval"), [0.9, 1.0]),
        (("counts", "errors"), 1),
        (("latency", "p50_ms"), 0.001),
        (("case_results", 0, "ranked_ids"), []),
        (("case_results", 1, "expected_ids"), ["x"]),
        (("case_results", 1, "relevance_grades"), {"x": 1}),
        (("case_results", 2, "metrics", "mrr"), 0.1),
        (("case_results", 3, "left_out"), "abstention"),
        (("case_results", 0, "error"), "lost"),
    ],
)
def test_whatever_is_changed_in_a_report_is_found(tmp_path, path, value):
    longmemeval("--system", "bm25", "--out", "r.json")
    report = json.loads((tmp_path / "r.json").read_text())
    place = report
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    (tmp_path / "r.json").write_text(json.dumps(report))
    done = brainbench("rejudge", "r.json")
    assert done.exit_code == 1, done.output
    assert "brainbench: fail: mismatch: " in done.stderr


def test_other_cut_offs_need_no_other_run(tmp_path):
    longmemeval("--system", "bm25", "--k", 2, "--out", "r.json")
    direct = longmemeval("--system", "bm25", "--k", 1, "--k", 3)
    again = brainbench("rejudge", "r.json", "--k", 3, "--k", 1, "--out", "new.json")
    assert again.exit_code == 0
    assert rows(again) == rows(direct)
    new = json.loads((tmp_path / "new.json").read_text())
    assert new["parent"].startswith("sha256:")
    assert new["k_values"] == [1, 3]
    assert brainbench("rejudge", "new.json").exit_code == 0


def test_a_report_of_other_definitions_is_refused_with_the_remedy(tmp_path):
    longmemeval("--system", "bm25", "--out", "r.json")
    text = (tmp_path / "r.json").read_text()
    (tmp_path / "r.json").write_text(re.sub(r'("metric_definitions_sha256": ")[^"]*', r"\1sha256:00", text))
    done = brainbench("rejudge", "r.json", "--out", "new.json")
    assert done.exit_code == 2
    assert "incompatible: r.json: metric_definitions_sha256: " in done.stderr
    assert "measure again, or judge it with the release that wrote it" in done.stderr
    assert not (tmp_path / "new.json").exists()


def changed(tmp_path: Path, name: str, change: Callable[[dict[str, Any]], object]) -> None:
    """Write the report r.json anew as `name`, changed."""
    report = json.loads((tmp_path / "r.json").read_text())
    change(report)
    (tmp_path / name).write_text(json.dumps(report))


def consistent(report: dict[str, Any]) -> None:
    """Put the numbers that follow from changed cases into a report, as one who means to deceive would."""
    cases = msgspec.convert(report["case_results"], tuple[CaseResult, ...])
    found = summary(cases, report["k_values"], report["headline"])
    report.update(msgspec.to_builtins(numbers(found)))
    report["counts"]["errors"] = found.errors.n
    for written, case in zip(report["case_results"], cases, strict=True):
        written["metrics"] = case_scores(case, report["k_values"])


def test_a_report_with_numbers_that_do_not_follow_is_not_written_anew(tmp_path):
    longmemeval("--system", "bm25", "--out", "r.json")
    changed(tmp_path, "better.json", lambda report: report["counts"].update(asked=4))
    for flags in (("better.json",), ("r.json", "--against", "better.json")):
        done = brainbench("rejudge", *flags, "--out", "new.json")
        assert done.exit_code == 1, done.output
        assert "brainbench: fail: mismatch: " in done.stderr
        assert not (tmp_path / "new.json").exists()


@pytest.mark.parametrize(
    ("field", "value"), [("relevance_grades", {"s1": 1.0, "s2": 1.0, "s3": 1.0}), ("left_out", "abstention")]
)
def test_reports_that_hold_another_gold_of_a_question_are_not_compared(tmp_path, field, value):
    longmemeval("--system", "bm25", "--out", "r.json")

    def stretched(report: dict[str, Any]) -> None:
        case = report["case_results"][0]
        case[field] = value
        case["expected_ids"] = sorted(case["relevance_grades"])
        consistent(report)

    changed(tmp_path, "other.json", stretched)
    assert brainbench("rejudge", "other.json").exit_code == 0
    done = brainbench("rejudge", "r.json", "--against", "other.json", "--out", "new.json")
    assert done.exit_code == 2, done.output
    assert f"{field} is not the same here and there" in done.stderr
    assert not (tmp_path / "new.json").exists()


def test_too_many_errors_are_the_verdict_again(tmp_path):
    longmemeval("--system", "bm25", "--out", "r.json")

    def failed(report: dict[str, Any]) -> None:
        report["case_results"][0]["error"] = "lost"
        consistent(report)

    changed(tmp_path, "claimed.json", failed)
    assert "states scored, and invalid follows" in brainbench("rejudge", "claimed.json").stderr
    changed(tmp_path, "told.json", lambda report: (failed(report), report.update(status="invalid")))
    for flags in (("told.json",), ("r.json", "--against", "told.json")):
        done = brainbench("rejudge", *flags)
        assert done.exit_code == 2, done.output
        assert "brainbench: inconclusive: error_share: 1/" in done.stderr


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"schema_version": "longmemeval-offline-v2"}', "NaN", "[" * 9999],
)
def test_what_is_no_report_is_told(tmp_path, content):
    (tmp_path / "r.json").write_text(content)
    done = brainbench("rejudge", "r.json")
    assert done.exit_code == 2
    assert "brainbench: inconclusive: incompatible: r.json: " in done.stderr


@pytest.mark.parametrize(
    ("path", "value"),
    [(("k_values",), ["five"]), (("k_values",), []), (("case_results",), []), (("case_results", 0, "slice"), {}),
     (("case_results", 0, "relevance_grades"), {}), (("case_results", 0, "ranked_ids"), 3)],
)  # fmt: skip
def test_a_report_that_cannot_be_judged_is_told_by_its_field(tmp_path, path, value):
    longmemeval("--system", "bm25", "--out", "r.json")
    report = json.loads((tmp_path / "r.json").read_text())
    place = report
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    (tmp_path / "r.json").write_text(json.dumps(report))
    done = brainbench("rejudge", "r.json")
    assert done.exit_code == 2, done.output
    assert "inconclusive: incompatible: r.json: case_results: " in done.stderr


@pytest.mark.req("E-254")
def test_a_report_of_longmemeval_has_the_fields_of_its_schema(tmp_path):
    longmemeval("--system", "bm25", "--out", tmp_path / "r.json")
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["schema_version"] == "longmemeval-offline-v2"
    assert {"mode", "k_values", "total_questions", "per_type", "elapsed_seconds", "claim_boundary"} <= set(report)
    case = report["case_results"][0]
    wanted = {"question_id", "question_type", "question", "question_date", "answer_session_ids", "ranked_session_ids"}
    assert wanted <= set(case)
    assert case["ranked_session_ids"] == case["ranked_ids"]
    assert report["sut"]["conflict_of_interest"] is False


def test_json_is_the_report_on_one_line():
    done = longmemeval("--system", "bm25", "--json", "--limit", 2)
    assert done.stdout.count("\n") == 1
    assert len(json.loads(done.stdout)["case_results"]) == 2


def test_the_product_is_measured_by_its_own_doors():
    done = longmemeval("--json")
    report = json.loads(done.stdout)
    assert report["sut"]["name"] == "wellkept"
    assert report["sut"]["conflict_of_interest"] is True
    assert report["counts"]["errors"] == 0
    assert report["runtime"]["written_by"] == "keeps conversations"
    assert "by the authors of this bench" in longmemeval("--limit", 1).stdout


@pytest.mark.req("E-101", "E-251")
@pytest.mark.parametrize(
    ("argv", "reason", "words"),
    [
        (("longmemeval", TINY / "tiny_longmemeval.json"), "usage", "--allow-unknown-dataset"),
        (("longmemeval", TINY / "none.json"), "usage", "there is no file"),
        (("longmemeval", TINY / "tiny_longmemeval.json", ANY, "--system", "nobody"), "usage", "unknown system"),
        (("longmemeval", TINY / "tiny_longmemeval.json", ANY, "--system", "echo"), "usage", "needs `search`"),
        (
            ("longmemeval", TINY / "tiny_longmemeval.json", ANY, "--system", "bm25", "--mode", "lexical"),
            "usage",
            "--mode",
        ),
        (("longmemeval", TINY / "tiny_longmemeval.json", ANY, "--out", "none/r.json"), "output", "no directory"),
        (("longmemeval", TINY / "tiny_locomo.json", ANY), "schema", "1 fault in 1 file"),
        (("locomo", TINY / "tiny_longmemeval.json", ANY), "schema", "1 fault in 1 file"),
        (
            ("longmemeval", TINY / "tiny_longmemeval.json", ANY, "--system", "asked_memories:Stubborn"),
            "no_cases",
            "5/5",
        ),
        (
            ("longmemeval", TINY / "tiny_longmemeval.json", ANY, "--system", "asked_memories:Berthless"),
            "error_share",
            "2/5",
        ),
    ],
)
def test_what_cannot_be_trusted_ends_with_exit_code_2_and_one_reason(argv, reason, words):
    done = brainbench(*argv)
    assert done.exit_code == 2
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("brainbench: ")]
    assert line.startswith(f"brainbench: inconclusive: {reason}: ")
    assert words in line
    assert "Traceback" not in done.output


@pytest.mark.parametrize("flags", [("--mode", "telepathy"), ("--k", "0"), ("--limit", "0"), ("--nope",)])
def test_flags_that_make_no_sense_are_misuse(flags):
    done = brainbench("longmemeval", TINY / "tiny_longmemeval.json", ANY, *flags)
    assert done.exit_code == 2


def test_an_invalid_report_is_written_all_the_same(tmp_path):
    done = longmemeval("--system", "asked_memories:Berthless", "--out", tmp_path / "r.json")
    report = json.loads((tmp_path / "r.json").read_text())
    assert (done.exit_code, report["status"], report["counts"]["errors"]) == (2, "invalid", 2)
    assert [case["error"] for case in report["case_results"] if case["error"]] == [
        "Berthless.search: RuntimeError: no berth here"
    ] * 2


@pytest.mark.req("E-262")
def test_locomo_tells_headline_adversarial_and_all_questions_apart():
    done = locomo("--system", "bm25", "--k", 2)
    sizes = {
        line[:28].strip(): int(line[28:].split()[0])
        for line in done.stdout.splitlines()
        if line[28:34].strip().isdigit()
    }
    assert (sizes["categories 1-4"], sizes["adversarial *"], sizes["all"]) == (3, 1, 4)
    assert "evidence that names no turn of its conversation, and is no gold: 1" in done.stdout


@pytest.mark.req("E-252")
def test_the_modes_are_the_systems_that_they_name():
    one, two = (
        json.loads(longmemeval(*flags, "--json").stdout) for flags in (("--mode", "lexical"), ("--system", "bm25"))
    )
    assert [c["ranked_ids"] for c in one["case_results"]] == [c["ranked_ids"] for c in two["case_results"]]
    assert msgspec.json.encode(one["overall"]) == msgspec.json.encode(two["overall"])


@pytest.mark.req("E-104")
def test_in_a_checkout_reports_are_kept_and_none_is_overwritten(tmp_path):
    (tmp_path / "evidence" / "gates").mkdir(parents=True)
    for _ in range(2):
        done = longmemeval("--system", "null", "--limit", 1, "--label", "a b/../c")
        assert "report written: " in done.stderr
    kept = list((tmp_path / ".brainbench" / "runs").iterdir())
    assert len(kept) == 2
    assert all(re.fullmatch(r"longmemeval_a-b-..-c_\d{8}T\d{6}Z(-\d)?\.json", file.name) for file in kept)
    longmemeval("--system", "null", "--limit", 1, "--no-save")
    assert len(list((tmp_path / ".brainbench" / "runs").iterdir())) == 2


def test_outside_a_checkout_nothing_is_written_that_was_not_asked_for(tmp_path):
    assert "report written" not in longmemeval("--system", "null", "--limit", 1).stderr
    assert list(tmp_path.iterdir()) == []


def test_a_run_that_is_interrupted_says_where_it_goes_on(monkeypatch, tmp_path):
    def first_only(*given, **named):
        yield next(haystacks.ask_all(*given, **named))
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "ask_all", first_only)
    done = longmemeval("--system", "bm25", "--checkpoint", "half.jsonl")
    assert done.exit_code == 2
    assert "interrupted: what is done is kept in half.jsonl; the same command goes on from there" in done.stderr
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    again = longmemeval("--system", "bm25", "--checkpoint", "half.jsonl", "--json")
    assert [attempt["answered_before"] for attempt in json.loads(again.stdout)["attempts"]] == [0, 1]


@pytest.mark.req("E-1502")
def test_two_reports_are_compared_question_by_question(tmp_path):
    for system in ("bm25", "null"):
        longmemeval("--system", system, "--k", 1, "--out", f"{system}.json")
    done = brainbench("rejudge", "bm25.json", "--against", "null.json")
    assert done.exit_code == 0
    told = "hit@1          2/3, there 0/3: 0 gained, 2 lost, better by 0.667 (0.000 to 1.000), p 0.5000  may be chance"
    assert told in done.stdout
    back = brainbench("rejudge", "null.json", "--against", "bm25.json", "--out", "back.json")
    told = (
        "hit@1          0/3, there 2/3: 2 gained, 0 lost, better by -0.667 (-1.000 to 0.000), p 0.5000  may be chance"
    )
    assert told in back.stdout
    kept = json.loads(Path("back.json").read_text())["against"]
    assert (kept["system"], kept["metrics"]["hit@1"]["there"]) == ("bm25", [2, 3])
    assert kept["metrics"]["hit@1"]["better"] == pytest.approx([-2 / 3, -1, 0])


@pytest.mark.parametrize(
    ("flags", "why"),
    [(("--granularity", "turn"), "granularity is session here and turn there"), (("--limit", 2), "other questions"),
     (("--text-policy", "user-turns-only-v1"), "text_policy is")],
)  # fmt: skip
def test_reports_on_other_questions_are_not_compared(tmp_path, flags, why):
    longmemeval("--system", "bm25", "--out", "one.json")
    longmemeval("--system", "bm25", "--out", "two.json", *flags)
    done = brainbench("rejudge", "one.json", "--against", "two.json", "--out", "new.json")
    assert done.exit_code == 2
    assert why in done.stderr
    assert not (tmp_path / "new.json").exists()


@pytest.mark.req("E-1502")
def test_questions_of_one_conversation_are_one_in_a_comparison(tmp_path):
    (sample,) = json.loads((TINY / "tiny_locomo.json").read_text())
    samples = [{**sample, "sample_id": f"conv-{n}"} for n in range(5)]
    (tmp_path / "five.json").write_text(json.dumps(samples))
    for system in ("null", "bm25"):
        brainbench("locomo", "five.json", ANY, "--system", system, "--k", 2, "--out", f"{system}-report.json")
    done = brainbench("rejudge", "null-report.json", "--against", "bm25-report.json")
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("hit@2") and "there" in line]
    assert re.search(
        r"0/15, there 10/15: 10 gained, 0 lost, better by -0\.667 \(-1\.000 to -0\.232\), p 0\.0[56]", line
    )
    assert line.endswith("may be chance")
