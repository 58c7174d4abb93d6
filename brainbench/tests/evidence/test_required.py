"""What `brainbench run --require` lets nobody leave out."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from brainbench.cli import main
from brainbench.errors import UsageError
from brainbench.evidence.required import required
from brainbench.model import SUITE_NAMES
from brainbench.seams import SEAMS

TESTS = Path(__file__).parents[1]
MINI = ("--fixtures", str(TESTS / "data/mini-v1/fixtures"), "--gold", str(TESTS / "data/mini-v1/gold"))


def ran(*words: str) -> Result:
    return CliRunner().invoke(main, ["run", *MINI, "--jobs", "1", *words])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("fact_write", "bm25: does not claim fact_write; add it to `can`, or leave it out of --require"),
        ("search,write-back", "bm25: write-back is n/a: codex/write-back: the system lacks conversation_write"),
    ],
)
def test_what_is_required_and_not_there_fails_the_run_and_names_it(asked: str, said: str) -> None:
    done = ran("--system", "bm25", "--harness", "codex", "--require", asked)
    assert done.exit_code == 1
    assert done.stderr.startswith(f"brainbench: fail: required: {said}")
    assert "know_to_ask_failure_rate" in done.stdout


@pytest.mark.slow
def test_what_is_there_passes_and_is_asked_of_every_system_that_was_loaded() -> None:
    words = ("--harness", "codex", "--suite", "know-to-ask,push", "--require", "search,push,codex")
    assert ran("--system", "bm25", *words).exit_code == 0
    both = ran("--system", "bm25", "--system", "always-silent", "--system", "nowhere:Mine", *words)
    assert both.exit_code == 1
    lines = [line for line in both.stderr.splitlines() if "required" in line]
    assert lines == [
        "brainbench: fail: required: always-silent: does not claim search; add it to `can`, or leave it out of "
        "--require"
    ]
    assert "nowhere:Mine: has no numbers: could not be loaded" in both.stderr


@pytest.mark.slow
def test_a_regression_or_a_doubt_hides_no_requirement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(TESTS))
    words = ("--harness", "codex", "--suite", "push", "--require", "edit")
    done = ran("--system", "misbehaving:Raising", *words)
    assert done.exit_code == 1
    assert [line.split(": ")[1:3] for line in done.stderr.splitlines()] == [
        ["inconclusive", "error_share"],
        ["fail", "required"],
    ]
    sys.modules.pop("misbehaving", None)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("edit,serach", "--require: unknown 'serach'; known: page_write, "),
        (" , ", "--require: nothing named; known: page_write, "),
        ("codex", "--require: codex is not measured in this run; name it in --harness too"),
        ("push", "--require: push is not measured in this run; name it in --suite too"),
    ],
)
def test_a_name_that_says_nothing_of_this_run_is_refused_before_it(words: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        required(words, ["openclaw"], ["know-to-ask"])
    assert str(refused.value).startswith(said)


def test_no_capability_is_called_like_a_suite_or_a_seam() -> None:
    assert not set(SEAMS) & set(SUITE_NAMES)
    assert required("edit, push,openclaw,edit", ["openclaw"], ["push"]) == ("edit", "push", "openclaw")
