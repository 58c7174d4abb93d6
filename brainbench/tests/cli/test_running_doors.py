"""What a user of `run` sees of memories that come in by a door: exit codes, messages, and others unharmed."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from brainbench.cli import main

pytestmark = pytest.mark.slow
TESTS = Path(__file__).parents[1]
MINI = ("--fixtures", str(TESTS / "data/mini-v1/fixtures"), "--gold", str(TESTS / "data/mini-v1/gold"))
UNCIVIL = f"cmd:{sys.executable} {TESTS / 'uncivil.py'}"


def measured(*systems: str, words: Sequence[str] = ()) -> Result:
    named = [word for system in systems for word in ("--system", system)]
    flags = ["--suite", "know-to-ask,push", "--harness", "openclaw", "--jobs", "1", "--timeout", "15", *words]
    return CliRunner().invoke(main, ["run", *MINI, *flags, *named])


def row(done: Result, system: str) -> str:
    """What the scoreboard prints of a system whose name begins so."""
    return done.stdout.partition(f"\n{system}")[2].partition("\n\n")[0]


@pytest.fixture(scope="module")
def bm25() -> str:
    """The row of bm25 where nothing stands beside it, without its latency."""
    return _timeless(row(measured("bm25"), "bm25"))


def _timeless(printed: str) -> str:
    return "\n".join(line.rstrip() for line in printed.splitlines() if "ms a turn" not in line)


@pytest.mark.req("C-404")
@pytest.mark.parametrize(
    ("manner", "at", "said"),
    [
        ("hang", "write_page", "not admitted: write_page: no answer in 5 s; its process was ended"),
        ("wrong", "context", "not admitted: context: answered something else than it should"),
        ("crash", "turn", "context: its process ended (exit code 7); on standard error: first"),
        ("garbage", "turn", "context: 2 lines on standard output that are no answers"),
        ("flood", "turn", "context: answered more than 8,388,608 bytes"),
    ],
)
def test_a_misbehaving_memory_is_invalid_with_its_reason_and_another_keeps_its_row(
    manner: str, at: str, said: str, bm25: str
) -> None:
    started = time.monotonic()
    done = measured(f"{UNCIVIL} {manner} {at}", "bm25")
    assert done.exit_code == 2
    assert "Traceback" not in done.output
    told = f"brainbench: inconclusive: error_share: {UNCIVIL} {manner} {at}"
    assert all(line.startswith((f"{told}: has no numbers: ", f"{told}/openclaw/")) for line in done.stderr.splitlines())
    assert done.stderr.startswith(told)
    assert said in " ".join(done.stdout.split())
    assert "error_share: bm25" not in done.stderr
    assert _timeless(row(done, "bm25")).split() == bm25.split()
    assert time.monotonic() - started < 100


@pytest.mark.parametrize(
    ("system", "said"),
    [
        ("nowhere:Mine", "could not be loaded: No module named 'nowhere'; run this from the folder of nowhere"),
        ("cmd:no-such-program", "could not be loaded: no program 'no-such-program' on PATH; install it"),
        ("http://127.0.0.1:9", "could not be loaded: hello: no answer: [Errno 111] Connection refused; see that"),
        ("misbehaving:Needy", "could not be loaded: TypeError: "),
        ("misbehaving:Boastful", "could not be loaded: `can` holds search, so it must define search"),
    ],
)
def test_a_memory_that_cannot_be_loaded_costs_only_its_own_cells(
    system: str, said: str, bm25: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(TESTS))
    done = measured(system, "bm25")
    assert done.exit_code == 2
    printed = row(done, system)
    assert printed.count("! INVALID") == 2
    assert said in " ".join(printed.split())
    assert _timeless(row(done, "bm25")).split() == bm25.split()
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"brainbench: inconclusive: error_share: {system}: has no numbers: {said[:20]}")


def test_a_memory_that_could_not_be_loaded_is_said_to_claim_nothing() -> None:
    told = json.loads(measured("cmd:no-such-program", "bm25", words=["--json"]).stdout)
    assert told["_meta"]["native"]["capabilities"]["cmd:no-such-program"] == []


def test_where_no_memory_can_be_loaded_nothing_is_played() -> None:
    done = measured("cmd:no-such-program", "nowhere:Mine")
    assert (done.exit_code, done.stdout, len(done.stderr.splitlines())) == (2, "", 2)


def test_a_name_that_is_nobodys_is_told_before_anything_is_played() -> None:
    done = measured("bm25", "bm52")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "unknown system 'bm52'" in done.stderr


def test_a_polite_program_gets_a_row_and_exit_code_0() -> None:
    done = measured(UNCIVIL)
    assert (done.exit_code, done.stderr) == (0, "")
    assert "push_recall" in row(done, "cmd:")


@pytest.mark.parametrize(
    ("system", "words", "said"),
    [
        ("cmd:no-such-program", (), "--system: cmd:no-such-program: no program 'no-such-program' on PATH"),
        (
            "perl my_memory.pl",
            (),
            "unknown system 'perl my_memory.pl'; a program is written as 'cmd:perl my_memory.pl'",
        ),
        ("mine.py:Mine", (), "unknown system 'mine.py:Mine'; a class is named by its module: mine:Mine"),
        ("http://192.0.2.7", (), "192.0.2.7 is not this machine; --allow-remote measures a memory elsewhere"),
        ("http://127.0.0.1:9", (), "cannot be loaded: hello: no answer: "),
        ("mcp:nowhere.toml", (), "nowhere.toml: No such file or directory"),
        ("bm25", ("--pass-env", "NOT_SET_HERE"), "--pass-env: no variable 'NOT_SET_HERE' in the environment"),
        ("bm25", ("--token-env", "NOT_SET_HERE"), "--token-env: no variable 'NOT_SET_HERE' in the environment"),
    ],
)
def test_what_cannot_be_measured_is_told_in_one_line(system: str, words: tuple[str, ...], said: str) -> None:
    done = measured(system, words=words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_variable_that_is_let_through_is_disclosed_by_name_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMORY_KEY", "hunter2")
    done = measured(UNCIVIL, words=["--pass-env", "MEMORY_KEY"])
    assert done.exit_code == 0
    assert "modes: pass-env=MEMORY_KEY" in done.stdout
    assert "hunter2" not in done.output
