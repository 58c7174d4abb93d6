from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner, Result

from brainbench.chat import Budget, Chat, Endpoint
from brainbench.chat.budget import Price
from brainbench.chat.relay import relaying
from brainbench.cli import main
from brainbench.errors import NothingMeasured
from brainbench.live.extracting import ExtractionRun
from brainbench.model import (
    Capability,
    Conversation,
    ModelDoor,
    PageIn,
    RunContext,
    ScriptedFact,
    SessionBreak,
    Turn,
)
from brainbench.replay import replay
from brainbench.run import Choice
from brainbench.seams import SEAMS
from brainbench.systems import System

from ..conftest import script
from ..fake_endpoint import Body, FakeEndpoint, Said, completion, fake_endpoint, refusal

FREE = ("--price-in", 0, "--price-out", 0)
pytestmark = pytest.mark.slow


@pytest.fixture
def fake() -> Iterator[FakeEndpoint]:
    with fake_endpoint() as endpoint:
        yield endpoint


@pytest.fixture(autouse=True)
def _elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    monkeypatch.chdir(tmp_path)
    yield
    sys.modules.pop("misbehaving", None)


def llm(fake: FakeEndpoint, *argv: object) -> Result:
    asked = ("run", "--llm", "--endpoint", fake.url, "--model", "made-up", *FREE, "--max-fixtures", 2, *argv)
    repeat = () if "--repeat" in argv else ("--repeat", 1)
    return CliRunner().invoke(main, [*map(str, (*asked, *repeat))], catch_exceptions=False)


def extraction(result: Result) -> dict[str, Any]:
    return json.loads(result.stdout)["_meta"]["extraction"]


def counts(result: Result) -> dict[str, tuple[int, int] | None]:
    (row,) = extraction(result)["rows"]
    return {name: None if m is None else (m["n"], m["of"]) for name, m in row["metrics"].items()}


def attentive(body: Body) -> Said:
    """A model that repeats every turn of the user as a fact, quoted word for word, and says one thing too many."""
    lines = [
        line.partition("): ")[2] for line in body["messages"][1]["content"].splitlines() if line.startswith("user")
    ]
    told = [{"fact": line, "kind": "fact", "mention": None, "quote": line} for line in lines]
    told.append({"fact": "It was a long day", "kind": "event", "mention": None, "quote": lines[0]})
    return completion(json.dumps({"facts": told[:10]}))


@pytest.mark.req("C-1006", "C-601", "C-504")
def test_what_a_model_says_replaces_the_script_and_is_counted_by_itself(fake: FakeEndpoint) -> None:
    fake.answer = attentive
    result = llm(fake, "--json")
    assert result.exit_code == 0, result.stderr
    found = counts(result)
    assert found["extraction_recall"] == (3, 3)
    assert found["extraction_precision"] is not None
    assert found["extraction_precision"][0] == 3 < found["extraction_precision"][1]
    assert found["provenance_accuracy"] is not None
    receipt = json.loads(result.stdout)["receipt"]
    assert receipt["llm"] is True
    told = extraction(result)["receipt"]
    assert (told["model"], told["repeats"]) == ("made-up", 1)
    assert len(told["prompt_sha256"]) == 1


@pytest.mark.parametrize(
    ("argv", "harnesses", "suites", "seconds"),
    [
        ((), {"openclaw"}, ("write-back",), 900.0),
        (("--harness", "codex"), {"codex"}, ("write-back",), 900.0),
        (("--suite", "continuity", "--harness", "codex"), {"codex"}, ("continuity",), 900.0),
        (("--suite", "continuity"), set(SEAMS), ("continuity",), 900.0),
        (("--timeout", 30), {"openclaw"}, ("write-back",), 30.0),
    ],
)
def test_what_was_named_is_what_a_model_extracts_for(
    fake: FakeEndpoint,
    monkeypatch: pytest.MonkeyPatch,
    argv: tuple[object, ...],
    harnesses: set[str],
    suites: tuple[str, ...],
    seconds: float,
) -> None:
    chosen: list[Choice] = []

    def seen(choice: Choice, *rest: object) -> ExtractionRun:
        chosen.append(choice)
        raise NothingMeasured("only looked at")

    monkeypatch.setattr("brainbench.live.extracting.measure_extraction", seen)
    assert "only looked at" in llm(fake, *argv).stderr
    (choice,) = chosen
    assert ({seam.name for seam in choice.seams}, choice.suites) == (harnesses, suites)
    assert choice.fixture_seconds == seconds


@pytest.mark.req("C-1006")
def test_without_a_model_that_says_something_nothing_is_recalled(fake: FakeEndpoint) -> None:
    fake.in_turn(completion('{"facts": []}'))
    found = counts(llm(fake, "--json"))
    assert found["extraction_recall"] == (0, 3)
    assert found["extraction_precision"] is None
    assert found["write_back_fidelity"] == (0, 3), "the scripted facts must not have crossed"


@pytest.mark.req("C-504")
def test_what_was_said_without_a_quote_is_judged_but_not_kept(fake: FakeEndpoint) -> None:
    def paraphrasing(body: Body) -> Said:
        answer = json.loads(attentive(body).body)
        told = json.loads(answer["choices"][0]["message"]["content"])
        for fact in told["facts"]:
            fact["quote"] = "never said " + fact["quote"]
        return completion(json.dumps(told))

    fake.answer = paraphrasing
    result = llm(fake, "--json")
    found = counts(result)
    assert found["extraction_recall"] == (3, 3)
    assert found["write_back_fidelity"] == (0, 3)
    (row,) = extraction(result)["rows"]
    assert row["left_out_without_quote"] == row["facts_said"] > 0


def test_repeats_are_asked_with_seeds_of_their_own_and_counted_together(fake: FakeEndpoint) -> None:
    fake.answer = attentive
    found = counts(llm(fake, "--json", "--repeat", 3))
    assert found["extraction_recall"] == (9, 9)
    assert {body["seed"] for body in fake.asked} == {42, 43, 44}
    assert {body["temperature"] for body in fake.asked} == {0}


@pytest.mark.req("C-1005")
def test_a_recorded_extraction_is_replayed_without_an_endpoint(fake: FakeEndpoint, tmp_path: Path) -> None:
    fake.answer = attentive
    first = llm(fake, "--json", "--record", tmp_path / "kept")
    asked = len(fake.asked)
    argv = ["run", "--llm", "--recorded", str(tmp_path / "kept"), "--max-fixtures", "2", "--repeat", "1", "--json"]
    again = CliRunner().invoke(main, argv, catch_exceptions=False)
    assert counts(again) == counts(first)
    assert extraction(again)["observations_hashes"] == extraction(first)["observations_hashes"]
    assert len(fake.asked) == asked
    missing = CliRunner().invoke(main, [*argv[:-3], "--repeat", "2"], catch_exceptions=False)
    assert missing.exit_code == 2
    assert "no answer is recorded" in missing.stderr


@pytest.mark.req("C-1004")
def test_a_stored_run_with_a_model_is_never_compared_with_one_without(fake: FakeEndpoint, tmp_path: Path) -> None:
    fake.answer = attentive
    llm(fake, "--out", tmp_path / "llm.json")
    plain = ["run", "--suite", "write-back", "--harness", "openclaw", "--out", str(tmp_path / "plain.json")]
    assert CliRunner().invoke(main, plain, catch_exceptions=False).exit_code == 0
    stored = [str(tmp_path / name) for name in ("plain.json", "llm.json")]
    result = CliRunner().invoke(main, ["compare", *stored], catch_exceptions=False)
    assert result.exit_code == 2
    assert "config.llm" in result.stderr + result.stdout


@pytest.mark.req("C-1005")
def test_a_spent_budget_stops_an_extraction_and_scores_nothing(fake: FakeEndpoint, tmp_path: Path) -> None:
    fake.answer = attentive
    flags = ("--price-out", 1000, "--max-tokens", 100, "--budget-usd", 0.105, "--record", tmp_path / "kept")
    result = llm(fake, *flags)
    assert result.exit_code == 2
    assert "over_budget" in result.stderr
    assert result.stdout == ""


@pytest.mark.req("C-1004")
def test_a_model_that_fails_is_an_error_and_no_score(fake: FakeEndpoint) -> None:
    fake.in_turn(refusal(400, "too long"))
    result = llm(fake, "--json")
    assert result.exit_code == 2
    cell = json.loads(result.stdout)["_meta"]["native"]["cells"][0]
    assert cell["status"] == "invalid"
    assert "too long" in cell["reason"]
    assert counts(result)["extraction_recall"] == (0, 3)


def test_a_memory_without_an_extractor_is_said_to_ask_nothing(fake: FakeEndpoint) -> None:
    result = llm(fake, "--system", "bm25", "--suite", "push", "--harness", "openclaw")
    assert result.exit_code == 2
    assert "no memory asked the model" in result.stderr


@pytest.mark.req("C-1004")
def test_a_baseline_is_neither_written_nor_met(fake: FakeEndpoint) -> None:
    baseline = Path(__file__).parents[3] / "evidence" / "baselines" / "conformance.json"
    for flags in (("--compare", baseline), ("--update-baseline", "x.json")):
        result = llm(fake, *flags)
        assert result.exit_code == 2
        assert "baseline" in result.stderr
    assert fake.asked == []
    assert not Path("x.json").exists()


def test_the_relay_gives_the_model_and_never_the_key(fake: FakeEndpoint) -> None:
    endpoint = Endpoint(fake.url, key="sk-secret", sleep=lambda _: None)
    chat = Chat("made-up", endpoint=endpoint, budget=Budget(1.0, Price(0, 0)))
    question = {
        "messages": [{"role": "user", "content": "Hello"}],
        "model": "dearer",
        "temperature": 2,
        "max_tokens": 9999,
    }
    with relaying(chat, 42, 100) as relay:
        place = f"{relay.url}/chat/completions"
        key = {"authorization": f"Bearer {relay.token}"}
        assert httpx.post(place, json=question, trust_env=False).status_code == 401
        answer = httpx.post(place, json=question, headers=key, trust_env=False)
        assert answer.status_code == 200
        assert httpx.post(place, content=b"{", headers=key, trust_env=False).status_code == 400
        assert httpx.post(f"{relay.url}/models", json={}, headers=key, trust_env=False).status_code == 404
    endpoint.close()
    (asked,) = fake.asked
    assert (asked["model"], asked["temperature"], asked["seed"], asked["max_tokens"]) == ("made-up", 0, 42, 100)
    assert "sk-secret" not in answer.text + repr(relay)
    with pytest.raises(httpx.ConnectError):
        httpx.post(place, json=question, headers=key, trust_env=False)


class Keeping(System):
    """Notes what would have been an extractor's words."""

    can = frozenset({Capability.CONVERSATION_WRITE, Capability.PAGE_WRITE})

    def __init__(self) -> None:
        self.told: list[ScriptedFact] = []

    def write_page(self, page: PageIn) -> None: ...

    def read_page(self, source: str, slug: str) -> str | None:
        return ""

    def write_conversation(self, conversation: Conversation) -> str | None:
        self.told += conversation.scripted
        return "page"


@pytest.mark.req("C-1006")
def test_no_scripted_fact_crosses_where_a_model_extracts(tmp_path: Path) -> None:
    said = (Turn(10, "user", "Ada likes tea."), SessionBreak(11, persist=True))
    fact = ScriptedFact(10, "Ada likes tea", "Ada", "Ada likes tea", "preference")
    fixture = script(events=said, scripted_facts=(fact,), suites=("write-back",))
    scripted, asked = Keeping(), Keeping()
    run = RunContext("r", fixture.sources, "default", str(tmp_path))
    replay(scripted, SEAMS["openclaw"], fixture, run)
    replay(asked, SEAMS["openclaw"], fixture, replace(run, door=ModelDoor("http://127.0.0.1:9/v1", "m", "t")))
    assert scripted.told == [fact]
    assert asked.told == []
