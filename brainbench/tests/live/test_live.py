from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from brainbench.cli import main
from brainbench.live.prompt import WITH_TOOLS
from brainbench.run import spread

from ..conftest import script
from ..fake_endpoint import Body, FakeEndpoint, Said, completion, fake_endpoint, refusal

SET = Path(__file__).parents[3] / "docs" / "how-to" / "model-in-the-loop"
CORPUS = ("--fixtures", SET / "fixtures", "--gold", SET / "gold")
FREE = ("--price-in", 0, "--price-out", 0)
KEY = "sk-very-secret-0123456789"
pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _importable_by_workers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    monkeypatch.chdir(tmp_path)
    yield
    sys.modules.pop("misbehaving", None)


@pytest.fixture
def fake() -> Iterator[FakeEndpoint]:
    with fake_endpoint() as endpoint:
        yield endpoint


def run(*argv: object, **env: str) -> Result:
    return CliRunner().invoke(main, ["run", *map(str, argv)], env=env, catch_exceptions=False)


def live(fake: FakeEndpoint, *argv: object, system: str = "bm25", **env: str) -> Result:
    asked = ("--live", "--endpoint", fake.url, "--model", "made-up", "--system", system, *CORPUS)
    repeat = () if "--repeat" in argv else ("--repeat", 1)
    price = () if "--price-in" in argv else FREE
    return run(*asked, *repeat, *price, *argv, **env)


def document(result: Result) -> dict[str, Any]:
    return json.loads(result.stdout)


def cells(result: Result) -> dict[str, dict[str, Any]]:
    return {cell["arm"]: cell for cell in document(result)["cells"]}


def counts(cell: dict[str, Any]) -> dict[str, tuple[int, int] | None]:
    return {name: None if found is None else (found["n"], found["of"]) for name, found in cell["metrics"].items()}


def said(body: Body) -> str:
    return str(body["messages"][-1]["content"])


def searching(body: Body) -> Said:
    """A model that searches for the turn whenever it can, and answers once it has found something."""
    if "tools" in body and body["messages"][-1]["role"] == "user":
        return completion("", ("search", json.dumps({"query": said(body)})))
    return completion("Here it is.")


@pytest.mark.req("C-1001", "C-1002")
def test_a_model_that_always_searches_recovers_much_and_asks_too_often(fake: FakeEndpoint) -> None:
    fake.answer = searching
    found = cells(live(fake, "--json"))
    assert list(found) == ["off", "tools", "push", "both"]
    assert counts(found["off"]) == {
        "model_asked_rate": None,
        "model_recovered_rate": None,
        "model_overask_rate": None,
        "end_to_end_miss_rate": (5, 5),
    }
    tools = counts(found["tools"])
    assert tools["model_asked_rate"] == (5, 5)
    assert tools["model_overask_rate"] == (3, 3)
    assert tools["model_recovered_rate"] == (5 - tools["end_to_end_miss_rate"][0], 5)
    both, push = counts(found["both"]), counts(found["push"])
    assert both["model_asked_rate"][1] == push["end_to_end_miss_rate"][0]
    assert both["end_to_end_miss_rate"][0] < push["end_to_end_miss_rate"][0]


@pytest.mark.req("C-1002")
def test_a_model_that_never_asks_misses_whatever_memory_does_not_push(fake: FakeEndpoint) -> None:
    found = cells(live(fake, "--json"))
    assert counts(found["tools"])["model_asked_rate"] == (0, 5)
    assert counts(found["tools"])["model_recovered_rate"] is None
    assert counts(found["tools"])["model_overask_rate"] == (0, 3)
    assert counts(found["both"])["end_to_end_miss_rate"] == counts(found["push"])["end_to_end_miss_rate"]


@pytest.mark.req("C-1001")
def test_the_model_gets_history_the_pushed_block_and_tools_and_nothing_else(fake: FakeEndpoint) -> None:
    live(fake, "--arms", "both", "--max-fixtures", 1)
    last = fake.asked[-1]
    assert [message["role"] for message in last["messages"]] == ["system", *("user", "assistant") * 2, "user"]
    assert last["messages"][0]["content"] == WITH_TOOLS
    assert "people/greta-halm" in last["messages"][1]["content"]
    assert last["messages"][1]["content"].endswith("When does Greta Halm come?")
    assert [tool["function"]["name"] for tool in last["tools"]] == ["search", "get_page"]
    assert sorted(last) == ["max_tokens", "messages", "model", "seed", "temperature", "tools"]
    sent = json.dumps(fake.asked)
    assert "loop-boiler" not in sent
    assert "must_not" not in sent


def test_without_push_the_memory_is_not_asked_and_without_tools_none_are_offered(fake: FakeEndpoint) -> None:
    live(fake, "--arms", "off,tools", "--max-fixtures", 1)
    assert "people/greta-halm" not in json.dumps(fake.asked)
    assert [("tools" in body) for body in fake.asked].count(True) == 3


@pytest.mark.req("C-1001")
def test_a_model_that_calls_for_ever_is_stopped_after_four_calls(fake: FakeEndpoint) -> None:
    fake.in_turn(completion("", *[("search", '{"query": "x"}')] * 3))
    result = live(fake, "--json", "--arms", "tools", "--max-fixtures", 1)
    turns = document(result)["turns"]
    assert [len(turn["calls"]) for turn in turns] == [4, 4, 4]
    assert [turn["questions"] for turn in turns] == [2, 2, 2]


def test_calls_that_make_no_sense_are_answered_counted_and_bring_nothing(fake: FakeEndpoint) -> None:
    fake.answer = lambda body: (
        completion("", ("search", "{garbage"), ("open", "{}"), ("get_page", '{"id": ["x"]}'))
        if body["messages"][-1]["role"] == "user"
        else completion("Well.")
    )
    found = cells(live(fake, "--json", "--arms", "tools"))["tools"]
    assert found["usage"]["unusable_calls"] == found["usage"]["calls"] == 24
    assert counts(found)["model_recovered_rate"] == (0, 5)
    told = [message["content"] for message in fake.asked[1]["messages"] if message["role"] == "tool"]
    assert ["JSON object" in told[0], "there is no tool 'open'" in told[1], "JSON object" in told[2]] == [True] * 3


def test_a_page_that_the_model_reads_counts_as_recovered(fake: FakeEndpoint) -> None:
    fake.answer = lambda body: (
        completion("", ("get_page", '{"id": "people/greta-halm"}'))
        if body["messages"][-1]["role"] == "user"
        else completion("Monday.")
    )
    found = cells(live(fake, "--json", "--arms", "tools"))["tools"]
    assert counts(found)["model_recovered_rate"] == (1, 5)
    assert "first Monday" in json.dumps(fake.asked)


@pytest.mark.req("C-1003", "E-1501")
def test_repeats_have_seeds_of_their_own_and_intervals_are_over_fixtures(fake: FakeEndpoint) -> None:
    fake.answer = searching
    result = live(fake, "--json", "--repeat", 3, "--seed", 7)
    assert {body["seed"] for body in fake.asked} == {7, 8, 9}
    assert {body["temperature"] for body in fake.asked} == {0}
    missed = cells(result)["both"]["metrics"]["end_to_end_miss_rate"]
    assert missed["of"] == 15
    assert missed["fixtures"] == 3
    low, high = missed["ci95"]
    assert low <= float(missed["rate"]) <= high
    receipt = document(result)["receipt"]
    assert receipt["host"] in fake.url
    assert (receipt["model"], receipt["seed"], receipt["repeats"]) == ("made-up", 7, 3)
    assert len(receipt["prompt_sha256"]) == len(receipt["tools_sha256"]["bm25"]) == 64


@pytest.mark.req("C-1005")
def test_a_recorded_run_is_replayed_exactly_without_key_or_endpoint(fake: FakeEndpoint, tmp_path: Path) -> None:
    fake.answer = searching
    first = document(live(fake, "--json", "--record", tmp_path / "kept"))
    asked = len(fake.asked)
    again = document(
        run("--live", "--recorded", tmp_path / "kept", "--system", "bm25", *CORPUS, "--repeat", 1, "--json")
    )
    assert len(fake.asked) == asked
    assert again["receipt"]["recorded"] is True
    for part in ("cells", "lifts", "turns", "observations_hash"):
        assert again[part] == first[part], part


def test_what_was_not_recorded_ends_a_replay_with_2(fake: FakeEndpoint, tmp_path: Path) -> None:
    live(fake, "--record", tmp_path / "kept")
    result = run("--live", "--recorded", tmp_path / "kept", "--system", "bm25", *CORPUS, "--repeat", 2)
    assert result.exit_code == 2
    assert "no answer is recorded" in result.stderr
    assert "repeat 2" in result.stderr
    assert result.stdout == ""


@pytest.mark.req("C-1005")
def test_a_spent_budget_stops_with_2_and_the_same_command_goes_on_where_it_ended(
    fake: FakeEndpoint, tmp_path: Path
) -> None:
    fake.answer = lambda body: completion("Yes.", tokens=(100, 10))
    flags = ("--record", tmp_path / "kept", "--price-in", 0, "--price-out", 1000, "--max-tokens", 20, "--json")
    ledger = tmp_path / "ledger.jsonl"
    stopped = live(fake, *flags, "--budget-usd", 0.1, "--run-ledger", ledger)
    assert stopped.exit_code == 2
    assert "brainbench: inconclusive: over_budget:" in stopped.stderr
    assert "the same command goes on there" in stopped.stderr
    assert stopped.stdout == ""
    (line,) = map(json.loads, ledger.read_text().splitlines())
    assert (line["status"], line["suite"], line["mode"], line["usd"]) == ("over_budget", "live", "asked", 0.09)
    paid = len(fake.asked)
    assert paid == 9
    whole = live(fake, *flags, "--budget-usd", 5)
    assert whole.exit_code == 0
    spent = document(whole)["spent"]
    assert spent["new_questions"] == len(fake.asked) - paid
    assert spent["usd_new"] == pytest.approx(0.01 * spent["new_questions"])
    assert len({json.dumps(body, sort_keys=True) for body in fake.asked}) == len(fake.asked)


@pytest.mark.req("C-1005", "C-120")
def test_an_unknown_price_is_refused_with_how_to_give_one(fake: FakeEndpoint) -> None:
    result = run("--live", "--endpoint", fake.url, "--model", "made-up", *CORPUS, "--price-in", 1)
    assert result.exit_code == 2
    assert "--price-in, --price-out" in result.stderr
    assert fake.keys == []


@pytest.mark.req("C-120")
@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("--live", "--llm"), "one at a time"),
        (("--live",), "--endpoint: say which"),
        (("--live", "--endpoint", "http://127.0.0.1:9/v1"), "--model: say which"),
        (("--live", "--endpoint", "http://127.0.0.1:9/v1", "--model", "m", *FREE), "cannot be reached"),
        (("--live", "--recorded", "nowhere"), "holds no recorded answers"),
        (("--live", "--recorded", "nowhere", "--record", "x"), "leave out"),
        (("--live", "--recorded", SET / "recorded", "--arms", "all-of-them"), "known: off, tools, push, both"),
        (("--live", "--update-baseline"), "shares none"),
        (("--llm", "--justification", "because it is so", "--update-baseline"), "shares none"),
        (("--endpoint", "http://127.0.0.1:9/v1"), "--endpoint: only with --live or --llm"),
        (("--max-fixtures", 5), "--max-fixtures: only with --live or --llm"),
        (("--arms", "all"), "--arms: only with --live or --llm"),
        (("--live", "--recorded", SET / "recorded", "--panel"), "--panel: not with --live or --llm"),
        (("--live", "--recorded", SET / "recorded", "--harness", "openclaw,codex"), "name one"),
    ],
)
def test_flags_that_do_not_fit_are_told_with_the_remedy(argv: tuple[object, ...], words: str) -> None:
    result = run(*argv)
    assert result.exit_code == 2
    assert words in result.stderr
    assert "Traceback" not in result.stderr


def test_an_unknown_model_is_told_with_those_that_there_are(fake: FakeEndpoint) -> None:
    fake.models = ("small", "large")
    result = live(fake)
    assert result.exit_code == 2
    assert "has no 'made-up'; it has large, small" in result.stderr


@pytest.mark.req("C-1004")
def test_an_endpoint_that_stops_answering_ends_the_run_and_scores_nothing(fake: FakeEndpoint) -> None:
    fake.in_turn(refusal(400, "the model takes no tools"))
    result = live(fake, "--arms", "tools")
    assert result.exit_code == 2
    assert "3 turns in a row got no answer" in result.stderr
    assert "--arms off,push" in result.stderr
    assert len(fake.asked) == 3


def test_single_failures_are_errors_that_make_the_arm_invalid(fake: FakeEndpoint) -> None:
    fake.answer = lambda body: refusal(400, "no") if said(body).startswith("Good.") else completion("Yes.")
    result = live(fake, "--json", "--arms", "tools")
    found = cells(result)["tools"]
    assert result.exit_code == 2
    assert (found["status"], found["errors"], found["judged_turns"]) == ("invalid", 1, 8)
    assert counts(found)["model_overask_rate"] == (1, 3)
    assert "brainbench: inconclusive: error_share: bm25 tools: 1 of 8 turns went wrong" in result.stderr


def test_a_memory_that_fails_on_a_tool_call_is_an_error_and_no_score(fake: FakeEndpoint) -> None:
    fake.answer = searching
    result = live(fake, "--json", "--arms", "tools", system="misbehaving:Amnesiac")
    assert result.exit_code == 2
    assert cells(result)["tools"]["errors"] == 8
    assert "ValueError: I forgot" in result.stderr


def test_a_memory_that_kills_its_process_costs_turns_and_not_the_run(fake: FakeEndpoint) -> None:
    fake.answer = searching
    result = live(fake, "--json", "--arms", "tools", system="misbehaving:SearchCrashing")
    assert result.exit_code == 2
    assert cells(result)["tools"]["errors"] == 8
    assert "its process ended (exit code 7)" in result.stderr


@pytest.mark.req("C-404")
def test_a_memory_that_does_not_keep_what_it_claims_is_put_to_no_model(fake: FakeEndpoint) -> None:
    result = live(fake, "--json", "--arms", "off,push", "--repeat", 2, system="misbehaving:Crashing")
    assert result.exit_code == 2
    assert fake.asked == []
    found = cells(result)
    assert {arm: cell["status"] for arm, cell in found.items()} == {"off": "invalid", "push": "invalid"}
    assert found["push"]["errors"] == found["push"]["judged_turns"] == 16
    assert "misbehaving:Crashing push: 16 of 16 turns went wrong, one because: not admitted: " in result.stderr


def test_a_memory_without_search_is_offered_the_tools_that_it_has(fake: FakeEndpoint) -> None:
    found = document(live(fake, "--json", system="misbehaving:Polite"))
    assert found["receipt"]["tools"] == {"misbehaving:Polite": ["get_page"]}


@pytest.mark.req("C-642")
def test_a_memory_finds_the_key_nowhere_that_it_can_look(fake: FakeEndpoint, tmp_path: Path) -> None:
    fake.answer = searching
    argv = [
        "-m",
        "brainbench",
        "run",
        "--live",
        "--endpoint",
        fake.url,
        "--model",
        "made-up",
        *map(str, (*CORPUS, *FREE)),
    ]
    argv += ["--repeat", "1", "--arms", "tools", "--system", "misbehaving:Spying", "--record", str(tmp_path / "kept")]
    argv += ["--out", str(tmp_path / "out.json"), "--json"]
    env = {**os.environ, "OPENAI_API_KEY": KEY, "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run([sys.executable, *argv], env=env, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert set(fake.keys) == {f"Bearer {KEY}"}
    told = [m["content"] for body in fake.asked for m in body["messages"] if m["role"] == "tool"]
    assert told
    assert not [words for words in told if "found the key" in words], told[0]
    assert "looked at" in told[0]
    kept = "".join(file.read_text() for file in (tmp_path / "kept").iterdir()) + (tmp_path / "out.json").read_text()
    assert KEY not in kept + done.stdout + done.stderr


@pytest.mark.req("C-1004")
def test_a_live_run_is_held_against_a_live_run_only_and_fails_on_certain_differences_alone(
    fake: FakeEndpoint, tmp_path: Path
) -> None:
    fake.answer = searching
    before = tmp_path / "before.json"
    assert live(fake, "--out", before).exit_code == 0
    assert live(fake, "--compare", before).exit_code == 0
    fake.answer = lambda body: completion("I never ask.")
    worse = live(fake, "--compare", before)
    assert worse.exit_code == 0, "three fixtures are too few to be certain"
    assert "no difference shown" in worse.stderr
    other = live(fake, "--compare", before, "--repeat", 2)
    assert other.exit_code == 2
    assert "differ in repeats" in other.stderr
    stored = CliRunner().invoke(main, ["compare", str(before), str(before)], catch_exceptions=False)
    assert stored.exit_code == 2
    assert "run --live --compare" in stored.stderr
    plain = run("--system", "bm25", *CORPUS, "--harness", "openclaw", "--compare", before)
    assert plain.exit_code == 2
    assert "run --live --compare" in plain.stderr
    baseline = Path(__file__).parents[3] / "evidence" / "baselines" / "conformance.json"
    mixed = live(fake, "--compare", baseline)
    assert mixed.exit_code == 2
    assert "never compared" in mixed.stderr


def test_fixtures_are_taken_from_all_over_the_corpus() -> None:
    every = [script("Hello", fixture_id=f"f-{n}") for n in range(10)]
    assert [f.fixture_id for f in spread(every, 3)] == ["f-0", "f-3", "f-6"]
    assert len(spread(every, 30)) == 10


@pytest.mark.req("C-1005")
def test_an_interrupted_run_goes_on_where_it_was(fake: FakeEndpoint, tmp_path: Path) -> None:
    fake.answer = lambda body: Said(completion("Yes.").body, wait=0.1)
    argv = ["--live", "--endpoint", fake.url, "--model", "made-up", *map(str, (*CORPUS, *FREE)), "--system", "bm25"]
    argv += ["--repeat", "1", "--record", str(tmp_path / "kept"), "--json"]
    started = [sys.executable, "-m", "brainbench", "run", *argv]
    process = subprocess.Popen(started, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while len(fake.asked) < 5 and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2, err
    assert out == ""
    assert "interrupted" in err
    assert "the same command goes on there" in err
    kept = len((tmp_path / "kept" / "answers.jsonl").read_text().splitlines())
    assert kept >= 4
    spent = document(run(*argv))["spent"]
    assert spent["new_questions"] == len({json.dumps(body) for body in fake.asked}) - kept
