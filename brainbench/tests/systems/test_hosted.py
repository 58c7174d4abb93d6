"""A foreign class in a process of its own: what it is told, what it is not, and what comes back of it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from brainbench.errors import SystemFailure, SystemLost, Unsupported, UsageError
from brainbench.model import Capability, Message, PageIn, RunContext
from brainbench.replay.sweep import sweep
from brainbench.replay.worker import Task
from brainbench.seams import SEAMS
from brainbench.systems import System, load_system
from brainbench.systems.fence import can_fence

from ..conftest import script
from ..replay.test_sweep import CAN, errors, tasks
from .test_systems import ask


@pytest.fixture(autouse=True)
def _importable_by_hosts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    yield
    assert "hosting" not in sys.modules


@pytest.fixture
def hooked(run: RunContext) -> Iterator[System]:
    system = load_system("hosting:Hooked")
    system.open(run)
    yield system
    system.close()


def test_what_a_class_says_of_itself_comes_across(hooked: System) -> None:
    assert hooked.can == {Capability.PAGE_WRITE, Capability.CONTEXT, Capability.HOOK_PROCESS}
    assert (hooked.name, hooked.version, hooked.alone) == ("hosting:Hooked", "7", True)
    assert hooked.production == {"claude-code"}


def test_all_that_a_harness_and_a_large_brain_need_is_asked_of_the_class(hooked: System) -> None:
    hooked.tell_time("2026-02-03T00:00:00Z")
    hooked.write_pages([PageIn("default", "a", "A"), PageIn("default", "b", "B")])
    hooked.keep("two")
    assert hooked.read_pages("default", ["b", "c", "a"]) == ("B", None, "A")
    assert hooked.restore("two") is True
    assert hooked.restore("none") is False
    assert hooked.hook_command("claude-code") == ("notes", "2026-02-03T00:00:00Z")
    assert hooked.hook_environment() == {"NOTES": "1"}
    assert hooked.hook_inproc("claude-code", b"\x00\xff") == b"\xff\x00"
    assert hooked.hook_problem("claude-code") == "no notes"
    assert hooked.transcript_root("claude-code") == "/claude-code"
    assert hooked.preamble("codex", "default") == "codex of default"
    assert hooked.parse_transcript("codex", b"hello") == (Message("user", "hello"),)
    assert hooked.heard() is None


def test_what_a_class_does_not_define_stays_as_it_is_for_any_system(run: RunContext) -> None:
    system = load_system("misbehaving:Polite")
    system.open(run)
    system.write_pages([PageIn("default", "a", "A")])
    system.keep("one")
    assert (system.restore("one"), system.heard(), system.preamble("codex", "default")) == (False, None, "")
    assert system.parse_transcript("codex", b"") is None
    for refused in (lambda: system.search("default", "x", 5), lambda: system.hook_command("codex")):
        with pytest.raises(Unsupported):
            refused()
    system.close()


def test_an_error_keeps_its_kind_and_its_words(run: RunContext) -> None:
    system = load_system("hosting:Raising")
    with pytest.raises(UsageError, match="no store here; make one"):
        system.open(run)
    with pytest.raises(Unsupported, match=r"^Raising\.write_page: not today$"):
        system.write_page(PageIn("default", "a", "A"))
    with pytest.raises(SystemFailure, match=r"^Raising\.read_page: KeyError: 'a'$"):
        system.read_page("default", "a")
    system.close()


def test_an_error_names_the_method_of_the_class_that_raised_it(run: RunContext) -> None:
    system = load_system("hosting:Raising")
    with pytest.raises(Unsupported, match=r"^Raising\.write_page: not today$"):
        system.write_pages([PageIn("default", "a", "A")])
    system.can |= {Capability.CONTEXT}
    with pytest.raises(SystemFailure, match=r"^Raising\.context: answered something else than it should"):
        system.context(ask("Ada?"))
    system.close()


def test_a_class_that_ends_its_process_is_lost_until_it_is_opened_again(run: RunContext) -> None:
    system = load_system("misbehaving:Crashing")
    system.open(run)
    with pytest.raises(SystemLost, match=r"context: its process ended \(exit code 7\)"):
        system.context(ask("Ada?"))
    with pytest.raises(SystemFailure, match="not asked: context: its process ended"):
        system.read_page("default", "a")
    system.open(run)
    assert system.read_page("default", "a") is None
    assert system.losses == 1
    system.close()


def test_a_break_goes_around_a_hosted_class(run: RunContext) -> None:
    system = load_system("one-page:misbehaving:Polite")
    system.open(run)
    system.write_pages([PageIn("default", slug, "text") for slug in ("a/a", "b/b")])
    assert system.context(ask("Ada?")).ids == ("a/a",)
    system.close()


def test_an_installed_name_is_looked_up_and_imported_in_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "notes-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: notes\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[brainbench.systems]\nnotes = hosting:Hooked\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    system = load_system("notes")
    assert (system.name, system.version) == ("notes", "7")
    system.close()


def test_its_process_and_directory_go_when_it_is_closed() -> None:
    system = load_system("hosting:Placed")
    pid, directory = (system.read_page("default", what) for what in ("pid", "directory"))
    assert pid is not None
    assert directory is not None
    assert Path("/proc", pid).exists()
    assert Path(directory).exists()
    system.close()
    assert not Path("/proc", pid).exists()
    assert not Path(directory).exists()


@pytest.mark.req("C-642")
@pytest.mark.parametrize("here", [True, False])
def test_no_script_is_in_the_memory_of_a_hosted_class(here: bool, run: RunContext) -> None:
    kept = script("Ada?")
    system = load_system("hosting:Placed", here=here)
    try:
        system.open(run)
        assert (system.read_page("default", "scripts") != "0") is here, kept
    finally:
        system.close()
        sys.modules.pop("hosting", None)


PROGRAM = """
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    told = None
    if asked["method"] == "hello":
        told = {"name": "x", "can": ["page_write", "context"]}
    if asked["method"] == "read_page":
        told = "text"
    if asked["method"] == "context":
        try:
            open(f"/proc/{os.getppid()}/mem", "rb").close()
            told = {"text": "seen"}
        except OSError as error:
            told = {"text": type(error).__name__}
    print(json.dumps({"id": asked["id"], "result": told}), flush=True)
"""


@pytest.mark.slow
@pytest.mark.req("C-642")
@pytest.mark.skipif(not can_fence(), reason="this kernel has no Landlock")
def test_a_program_cannot_look_into_the_worker_that_asks_it(tmp_path: Path) -> None:
    (tmp_path / "looking.py").write_text(PROGRAM)
    name = f"cmd:{sys.executable} {tmp_path / 'looking.py'}"
    (replayed,) = sweep([Task(name, SEAMS["openclaw"], script("Ada?"), "r", 42, CAN)], 1).replays
    assert [seen.text for seen in replayed.observations] == ["PermissionError"]


@pytest.mark.slow
@pytest.mark.req("C-642")
@pytest.mark.skipif(not can_fence(), reason="this kernel has no Landlock")
@pytest.mark.parametrize("name", ["hosting:Spying", "degraded:hosting:Spying"])
def test_the_prompt_hook_of_a_class_cannot_look_into_the_worker_that_starts_it(name: str) -> None:
    can = CAN | {Capability.HOOK_PROCESS}
    (replayed,) = sweep([Task(name, SEAMS["claude-code"], script("Ada?"), "r", 42, can)], 1).replays
    assert [(seen.text, seen.error) for seen in replayed.observations] == [("PermissionError", None)]


def test_a_break_around_a_class_that_ends_its_process_counts_its_loss(run: RunContext) -> None:
    system = load_system("one-page:misbehaving:Crashing")
    system.open(run)
    with pytest.raises(SystemLost):
        system.context(ask("Ada?"))
    assert system.losses == 1
    system.close()


def running(words: bytes) -> list[str]:
    return [file.parent.name for file in Path("/proc").glob("[0-9]*/cmdline") if words in _read(file)]


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError:
        return b""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="only Linux tells whose children processes are")
def test_a_fixture_that_takes_too_long_ends_the_class_and_all_it_started_before_the_next() -> None:
    words = f"599.{os.getpid()}".encode()
    os.environ["LANG"], before = words.decode(), os.environ.get("LANG")
    left: list[list[str]] = []

    def look(number: int) -> None:
        for _ in range(20):
            if not (found := running(words)):
                break
            time.sleep(0.1)
        left.append(found)

    try:
        work = [*tasks("hosting:Lingering", 1), *tasks("misbehaving:Polite", 1)]
        bad, good = errors(sweep(work, 1, fixture_seconds=2.0, done=look).replays)
    finally:
        os.environ.pop("LANG")
        if before is not None:
            os.environ["LANG"] = before
    assert "no answer within 2 s" in str(bad)
    assert good is None
    assert left == [[], []]
