from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from brainbench.errors import SystemFailure
from brainbench.model import Ask, Budget, Capability, Injection, Message, SearchHit
from brainbench.seams import SEAMS, load_codec
from brainbench.seams.claude_code import additional_context, transcript
from brainbench.seams.codex import rollout
from brainbench.systems import System

PROMPT = Ask(
    harness="x",
    session="s-1",
    source="default",
    messages=(Message("user", "one"), Message("assistant", "two\nthree"), Message("user", "four “quoted” 😀")),
    injected=("<!-- memory --> first", "second"),
    budget=Budget(1),
    now="2026-02-01T10:00:00Z",
)


class Speaking(System):
    can = frozenset({Capability.CONTEXT})

    def context(self, ask: Ask) -> Injection:
        return Injection(f"→ `{ask.messages[-1].text}`")

    def preamble(self, harness: str, source: str) -> str:
        return "## Index"


class Hooked(System):
    """Has a prompt hook: the given Python program."""

    can = frozenset({Capability.HOOK_PROCESS})
    problem: str | None = None

    def __init__(self, root: Path, program: str) -> None:
        self.root, self.program = root, program

    def hook_command(self, harness: str) -> Sequence[str]:
        return [sys.executable, "-I", "-S", "-c", self.program]

    def transcript_root(self, harness: str) -> str:
        return str(self.root)

    def hook_problem(self, harness: str) -> str | None:
        return self.problem


ECHO = (
    "import sys, json; event = json.load(sys.stdin); lines = open(event['transcript_path'], encoding='utf-8').read();"
    "text = event['prompt'] + '|' + str(len(lines.splitlines()));"
    "print(json.dumps({'hookSpecificOutput': {'hookEventName': 'UserPromptSubmit', 'additionalContext': text}}))"
)


def through(seam: str, system: System, ask: Ask = PROMPT) -> Injection:
    return load_codec(SEAMS[seam])(system, SEAMS[seam]).ask(ask)


@pytest.mark.req("C-418")
def test_the_prompt_hook_runs_as_a_process_on_a_transcript_of_what_went_before(tmp_path: Path) -> None:
    assert through("claude-code", Hooked(tmp_path, ECHO)).text == "four “quoted” 😀|3"


@pytest.mark.req("C-418")
@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("raise SystemExit(2)", "exited with 2"),
        ("print('hello')", "not a hook answer"),
        ("print('[1]')", "not a hook answer"),
        ('print(\'{"hookSpecificOutput": {"additionalContext": 7}}\')', "not a text"),
        ("import os; os.abort()", "exited with -6"),
    ],
)
def test_a_hook_that_fails_is_an_error_and_never_silence(tmp_path: Path, program: str, why: str) -> None:
    with pytest.raises(SystemFailure, match=why):
        through("claude-code", Hooked(tmp_path, program))


def test_silence_that_the_product_logs_as_an_error_is_an_error(tmp_path: Path) -> None:
    system = Hooked(tmp_path, "")
    assert through("claude-code", system) == Injection("")
    system.problem = "no_daemon"
    with pytest.raises(SystemFailure, match="no_daemon"):
        through("claude-code", system)


def test_a_hook_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    system = Hooked(tmp_path, "")
    system.hook_command = lambda harness: ["/no/such/program"]  # type: ignore[method-assign]
    with pytest.raises(SystemFailure, match="cannot be started"):
        through("claude-code", system)


def test_the_transcript_goes_when_the_session_closes(tmp_path: Path) -> None:
    codec = load_codec(SEAMS["claude-code"])(Hooked(tmp_path, ECHO), SEAMS["claude-code"])
    codec.ask(PROMPT)
    assert len(list(tmp_path.rglob("*.jsonl"))) == 1
    codec.close()
    assert list(tmp_path.rglob("*.jsonl")) == []


def test_a_transcript_holds_earlier_turns_and_what_was_injected_but_not_the_prompt() -> None:
    lines = [json.loads(line) for line in transcript(PROMPT, "id").splitlines()]
    assert [line["type"] for line in lines] == ["user", "assistant", "attachment"]
    assert lines[2]["attachment"]["content"] == list(PROMPT.injected)
    assert "four" not in json.dumps(lines)


def test_a_rollout_holds_every_turn_in_the_forms_of_codex() -> None:
    lines = [json.loads(line) for line in rollout(PROMPT).decode().splitlines()]
    assert [line["type"] for line in lines] == ["session_meta", "event_msg", "response_item", "event_msg"]
    assert lines[3]["payload"]["message"] == PROMPT.messages[-1].text


@pytest.mark.req("C-431")
def test_a_turn_that_the_product_does_not_find_in_the_rollout_is_silence() -> None:
    class Drifting(Speaking):
        def parse_transcript(self, harness: str, data: bytes) -> list[Message]:
            return [Message("user", "one"), Message("user", "something else")]

    answer = through("codex", Drifting())
    assert (answer.text, answer.ids, answer.preamble) == ("", (), "## Index")


def test_the_codex_preamble_opens_the_session_only() -> None:
    codec = load_codec(SEAMS["codex"])(Speaking(), SEAMS["codex"])
    assert [codec.ask(PROMPT).preamble for _ in range(2)] == ["## Index", ""]


def test_the_direct_seam_takes_the_best_hits_up_to_the_budget() -> None:
    class Finding(System):
        can = frozenset({Capability.SEARCH})

        def search(self, source: str, query: str, limit: int) -> list[SearchHit]:
            return [SearchHit(f"p/{n}", text=f"text {n}") for n in range(9)]

    assert through("direct", Finding()) == Injection("text 0", ids=("p/0",))
    assert through("direct", Speaking()) == Injection("", ids=())


@pytest.mark.req("C-414")
@pytest.mark.parametrize("stdout", [b"", b"\n", b"  \r\n"])
def test_empty_stdout_is_silence(stdout: bytes) -> None:
    assert additional_context(stdout) == ""
