from __future__ import annotations

import os
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import pytest

from brainbench.errors import SystemFailure, SystemLost, UsageError
from brainbench.model import Capability, PageIn, RunContext
from brainbench.systems import load_system
from brainbench.systems.access import Access, granted
from brainbench.systems.command import argv_of, descendants

from .test_systems import ask

UNCIVIL = Path(__file__).parents[1] / "uncivil.py"


WAITED_FOR = ("hang", "slow", "shut-in")
"""Manners that end only when their time is up."""


def uncivil(manner: str = "polite", at: str = "context") -> str:
    return f"cmd:{sys.executable} {UNCIVIL} {manner} {at}"


def memory(manner: str, run: RunContext, access: Access | None = None, at: str = "context"):  # type: ignore[no-untyped-def]
    system = load_system(uncivil(manner, at), access or Access(call_seconds=4 if manner in WAITED_FOR else 20))
    system.open(run)
    system.write_page(PageIn("default", "people/ada", "---\ntitle: Ada\n---\n\nText ö 😀\n"))
    return system


@pytest.mark.req("C-404")
def test_a_program_that_answers_json_lines_is_a_memory(run: RunContext) -> None:
    system = memory("polite", run)
    assert (system.version, system.can) == ("1", {Capability.PAGE_WRITE, Capability.CONTEXT})
    assert system.read_page("default", "people/ada") == "---\ntitle: Ada\n---\n\nText ö 😀\n"
    assert system.read_page("default", "people/bob") is None
    assert system.context(ask("Ada?")).text == "→ `people/ada`"
    with pytest.raises(SystemFailure, match="search: the memory does not claim search"):
        system.search("default", "Ada", 5)
    system.close()


@pytest.mark.parametrize(
    ("manner", "said"),
    [
        ("hang", "context: no answer in [0-9.]+ s; its process was ended"),
        ("slow", "context: no answer in [0-9.]+ s; its process was ended"),
        ("crash", r"context: its process ended \(exit code 7\); on standard error: first | the disk is | full of eels"),
        ("flood", "context: answered more than 8,388,608 bytes"),
        ("endless", "context: answered more than 8,388,608 bytes"),
        ("deep", "context: answered JSON that is nested too deeply"),
        ("other-id", "context: answered request 5 when asked 4"),
        ("shut-out", "context: closed its standard output"),
    ],
)
def test_a_program_that_is_lost_says_why_and_is_started_again_by_open(manner: str, said: str, run: RunContext) -> None:
    system = memory(manner, run)
    with pytest.raises(SystemLost, match=said.replace(" | ", r" \| ")):
        system.context(ask("Ada?"))
    system.open(run)
    assert system.read_page("default", "people/ada") is None
    system.close()


def test_after_a_loss_nothing_is_asked_until_open_starts_it_again(run: RunContext) -> None:
    system = memory("crash", run)
    with pytest.raises(SystemLost):
        system.context(ask("Ada?"))
    with pytest.raises(SystemFailure, match=r"not asked: context: its process ended \(exit code 7\)"):
        system.read_page("default", "people/ada")
    assert system.losses == 1
    system.open(run)
    assert system.read_page("default", "people/ada") is None
    system.close()


@pytest.mark.parametrize(
    ("manner", "said"),
    [
        ("garbage", "context: 2 lines on standard output that are no answers .*, first: 'starting up...'"),
        ("bytes", "context: answered something else than it should: .*(utf-8|UTF-8)"),
        ("neither", "context: answered with neither `result` nor `error`"),
        ("wrong", r"context: answered something else than it should: Expected `str`, got `int` - at `\$.text`"),
        ("error", "context: no\nsuch luck"),
        ("jsonrpc-error", "context: no such luck"),
    ],
)
def test_a_bad_answer_is_an_error_of_its_call_only(manner: str, said: str, run: RunContext) -> None:
    system = memory(manner, run)
    with pytest.raises(SystemFailure, match=said):
        system.context(ask("Ada?"))
    assert system.read_page("default", "people/ada") is not None
    assert system.losses == 0
    system.close()


def test_a_program_that_closes_its_standard_input_is_lost_at_the_next_call(run: RunContext) -> None:
    system = memory("shut-in", run)
    assert system.context(ask("Ada?")).text
    with pytest.raises(SystemLost, match=r"closed its standard input|no answer in "):
        system.read_page("default", "people/ada")
    system.close()


def test_an_answer_in_the_form_of_json_rpc_is_read_too(run: RunContext) -> None:
    system = memory("jsonrpc", run)
    assert system.context(ask("Ada?")).text == "→ `people/ada`"
    system.close()


def test_noise_on_standard_error_blocks_nothing(run: RunContext) -> None:
    system = memory("noise", run)
    assert system.context(ask("Ada?")).text == "→ `people/ada`"
    system.close()


def test_a_program_sees_few_variables_and_an_empty_directory_that_goes_with_it(
    run: RunContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    monkeypatch.setenv("WANTED", "yes")
    system = memory("nosy", run, granted(pass_env=["WANTED"]))
    *names, directory = system.context(ask("Ada?")).text.split()
    assert {"SECRET_TOKEN", "PYTHONPATH"}.isdisjoint(names)
    assert {"WANTED", "HOME", "PATH"} <= set(names)
    assert {n for n in names if n.islower()} == set()
    assert Path(directory).is_dir()
    system.close()
    assert not Path(directory).exists()


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="only Linux tells whose children processes are")
@pytest.mark.parametrize("manner", ["child", "hang"])
def test_closing_ends_the_program_and_what_it_started_in_a_session_of_its_own(manner: str, run: RunContext) -> None:
    system = memory(manner, run, at="read_page")
    pid = system._program.process.pid
    with suppress(SystemLost):
        system.read_page("default", "people/ada")
    started = descendants(pid)
    assert len(started) == (1 if manner == "child" else 0)
    system.close()
    deadline = time.monotonic() + 10
    while any(map(running, started)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [each for each in (pid, *started) if running(each)] == []


def running(pid: int) -> bool:
    """Whether a process does more than wait to be buried."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cmd:", "names no program; write it as"),
        ("cmd:'", "No closing quotation"),
        ("cmd:no-such-program-here x", "no program 'no-such-program-here' on PATH"),
        ("cmd:./missing.sh", "no program at ./missing.sh that can be run"),
        ("cmd:here.sh", "no program 'here.sh' on PATH; write ./here.sh for the one here"),
    ],
)
def test_a_name_without_a_program_is_refused(name: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "here.sh").touch(mode=0o755)
    with pytest.raises(UsageError, match=said):
        argv_of(name, Access(directory=str(tmp_path)))


def test_words_that_name_files_where_the_caller_stands_are_made_absolute(tmp_path: Path) -> None:
    (tmp_path / "here.sh").touch(mode=0o755)
    (tmp_path / "m.js").touch()
    argv = argv_of("cmd:./here.sh m.js --flag 'two words' other.js", Access(directory=str(tmp_path)))
    assert argv == [str(tmp_path / "here.sh"), str(tmp_path / "m.js"), "--flag", "two words", "other.js"]


@pytest.mark.parametrize(
    ("manner", "said"),
    [
        ("crash", r"cannot be loaded: hello: its process ended \(exit code 7\); on standard error: .*eels"),
        ("garbage", "cannot be loaded: hello: 2 lines on standard output"),
        ("wrong", "cannot be loaded: hello: answered something else than it should: .*missing required field `name`"),
    ],
)
def test_a_program_that_cannot_say_what_it_is_is_a_usage_error(manner: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        load_system(uncivil(manner, "hello"), Access(call_seconds=20))


def test_a_variable_that_is_not_set_cannot_be_passed() -> None:
    with pytest.raises(UsageError, match="--pass-env: no variable 'NOT_SET_HERE'"):
        granted(pass_env=["NOT_SET_HERE"])
    with pytest.raises(UsageError, match="--token-env: no variable 'NOT_SET_HERE'"):
        granted(token_env="NOT_SET_HERE")


def test_secrets_are_not_in_what_is_printed_of_an_access(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "SECRET_TOKEN", "hunter2")
    assert "hunter2" not in repr(granted(pass_env=["SECRET_TOKEN"], token_env="SECRET_TOKEN"))


def test_a_call_is_bounded_even_if_the_program_keeps_printing(run: RunContext) -> None:
    system = memory("hang", run)
    started = time.monotonic()
    with pytest.raises(SystemLost):
        system.context(ask("Ada?"))
    assert time.monotonic() - started < 20
    system.close()


def test_a_file_that_is_no_program_is_refused_and_leaves_no_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "odd.sh").write_text("no program\n")
    (tmp_path / "odd.sh").chmod(0o755)
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    with pytest.raises(UsageError, match=r"odd.sh cannot be started: Exec format error"):
        load_system("cmd:./odd.sh", Access(directory=str(tmp_path)))
    assert list((tmp_path / "tmp").iterdir()) == []
