"""The hooks as a harness runs them: the installed command lines, real processes, a daemon that nobody started."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from wellkept.errors import NotFound
from wellkept.ingest import claude_code
from wellkept.model import Message
from wellkept.projects import project_source
from wellkept.serve.waiting import files
from wellkept.settings import load_settings, open_memory

ADA = "---\ntitle: Ada Lovelace\ntype: person\nsummary: Wrote the first program.\n---\nShe lived in London.\n"
KEY = "sk-abcdefghij0123456789"
TALK = (
    Message("user", "Good morning."),
    Message("assistant", f"Good morning. The key is {KEY}, ask ada@example.test."),
)


class Host:
    """A harness with wellkept installed in it, in a home of its own."""

    def __init__(self, home: Path) -> None:
        self.home, self.data = home, home / "m"
        (home / ".claude").mkdir()
        self.wellkept("put", "people/ada-lovelace", "-", stdin=ADA)
        self.wellkept("install", "claude-code")
        self.transcript = home / ".claude" / "projects" / "p" / "s1.jsonl"
        self.transcript.parent.mkdir(parents=True)
        self.say(*TALK)

    def wellkept(self, *arguments: str, stdin: str = "") -> str:
        argv = [sys.executable, "-m", "wellkept", *arguments, "--data-dir", str(self.data)]
        return subprocess.run(argv, input=stdin, capture_output=True, text=True, check=True, env=self.env).stdout

    @property
    def env(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": os.environ["PATH"]}

    def say(self, *messages: Message | claude_code.Injection) -> None:
        self.transcript.write_bytes(claude_code.write(messages, session="s1"))

    def line(self, event: str, deadline_ms: int = 20_000, file: str = ".claude/settings.json") -> str:
        """The command that stands in the settings, with more time than it ships with: machines that test are slow."""
        settings = json.loads((self.home / file).read_text())
        ((hook,),) = (group["hooks"] for group in settings["hooks"][event])
        before, socket, after = hook["command"].partition("wellkept.sock ")
        return f"{before}{socket}{deadline_ms} {after.partition(' ')[2]}"

    def event(self, name: str, deadline_ms: int = 20_000, **more: Any) -> str:
        stdin = json.dumps({"session_id": "s1", "transcript_path": str(self.transcript), **more})
        argv = ["/bin/sh", "-c", self.line(name, deadline_ms)]
        done = subprocess.run(argv, input=stdin, capture_output=True, text=True, timeout=60, check=True, env=self.env)
        assert done.stderr == ""
        return done.stdout

    def in_codex(self, prompt: str) -> str:
        """What the installed Codex hook adds to a prompt of another session."""
        stdin = json.dumps({"session_id": "c1", "prompt": prompt, "cwd": str(self.home), "transcript_path": None})
        argv = ["/bin/sh", "-c", self.line("UserPromptSubmit", file=".codex/hooks.json")]
        done = subprocess.run(argv, input=stdin, capture_output=True, text=True, timeout=60, check=True, env=self.env)
        return done.stdout

    def context(self, stdout: str) -> tuple[str, str]:
        said = json.loads(stdout)["hookSpecificOutput"]
        return said["hookEventName"], said["additionalContext"]

    def kept(self, source: str = "default") -> str:
        memory = open_memory(load_settings(self.env, {"data_dir": self.data}))
        try:
            return memory.get_page(source, "conversations/s1").content
        except NotFound:
            return ""
        finally:
            memory.close()

    def daemon(self) -> int:
        return int((self.data / "daemon.lock").read_text())

    def beats(self) -> list[tuple[str, str, str]]:
        lines = (self.data / "heartbeat.jsonl").read_text().splitlines()
        return [(beat["event"].partition("/")[2], beat["outcome"], beat["reason"]) for beat in map(json.loads, lines)]

    def wait_for(self, what: Callable[[], object]) -> None:
        until = time.monotonic() + 30
        while not what():
            assert time.monotonic() < until, f"{self.beats()} {(self.data / 'daemon.log').read_text()}"
            time.sleep(0.1)

    def end_daemon(self, number: int = signal.SIGKILL) -> None:
        pid = self.daemon()
        os.kill(pid, number)
        self.wait_for(lambda: not is_running(pid))


def is_running(pid: int) -> bool:
    """Whether the process lives; one that has ended and that nobody has asked about does not."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


@pytest.fixture
def host() -> Iterator[Host]:
    home = Path(tempfile.mkdtemp(prefix="wk", dir="/tmp"))
    made = Host(home)
    yield made
    # By their arguments: one that has just been started has not written its number yet.
    while ours := [pid for pid in pids() if str(made.data) in words_of(pid) and is_running(pid)]:
        for pid in ours:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.05)
    shutil.rmtree(home)


def pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]


def words_of(pid: int) -> list[str]:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")
    return []


@pytest.mark.req("C-414", "C-417")
@pytest.mark.field("HOK-03")
def test_a_session_starts_the_daemon_and_begins_with_what_memory_holds(host: Host) -> None:
    name, text = host.context(host.event("SessionStart", source="startup"))
    assert name == "SessionStart"
    assert text.startswith("<!-- wellkept:pack v1")
    assert "- **Ada Lovelace** — Wrote the first program. _src=people/ada-lovelace; created=" in text
    name, text = host.context(host.event("UserPromptSubmit", prompt="Where did Ada Lovelace live?"))
    assert name == "UserPromptSubmit"
    assert "→ `people/ada-lovelace`" in text
    assert host.event("SessionStart", source="resume") == ""
    assert "Ada" in host.context(host.event("SessionStart", source="compact"))[1]
    assert host.beats()[1:] == [
        ("session-start", "injected", ""),
        ("user-prompt", "injected", ""),
        ("session-start", "silent", "resumed"),
        ("session-start", "injected", ""),
    ]


def test_a_page_that_the_session_began_with_is_still_pointed_at_when_it_is_named(host: Host) -> None:
    _, pack = host.context(host.event("SessionStart", source="startup"))
    host.say(claude_code.Injection(pack), *TALK)
    assert "ada-lovelace" in host.context(host.event("UserPromptSubmit", prompt="Where did Ada Lovelace live?"))[1]


@pytest.mark.field("HOK-02")
def test_what_was_said_in_claude_code_comes_back_in_codex_when_it_is_asked_for(host: Host) -> None:
    (host.home / ".codex").mkdir()
    host.wellkept("install", "codex")
    host.event("SessionStart", source="startup")
    told = "We decided to deploy with Fly, not Heroku. Staging's database listens on 5433."
    host.say(Message("user", told, datetime(2026, 11, 29, 9, tzinfo=UTC)), Message("assistant", "The VPN is moss."))
    host.event("Stop")
    _, text = host.context(host.in_codex("how do I connect to the staging database?"))
    assert text.splitlines()[1:] == [
        "## Said before",
        '- said on 2026-11-29 by you (`conversations/s1`): "Staging\'s database listens on 5433."'
        " (unconfirmed, agent-written)",
    ]
    assert "listens on 5433" in host.wellkept("get", "conversations/s1")
    assert [host.in_codex(quiet) for quiet in ("thanks!", "run the linter", "what is the VPN called?")] == ["{}"] * 3
    assert host.event("UserPromptSubmit", prompt="how do I connect to the staging database?") == ""
    _, pack = host.context(host.event("SessionStart", source="startup"))
    assert 'Last time you said: "We decided to deploy with Fly, not Heroku."' in pack
    host.wellkept("forget", "conversations/s1")
    assert host.in_codex("how do I connect to the staging database?") == "{}"


@pytest.mark.parametrize("event", ["Stop", "PreCompact", "SessionEnd"])
@pytest.mark.field("HOK-09", "HOK-02")
def test_what_was_said_is_kept_masked_when_the_hook_returns(host: Host, event: str) -> None:
    host.event("SessionStart", source="startup")
    assert host.event(event) == ""
    page = host.kept()
    assert "): Good morning.\n" in page
    assert "The key is [scrubbed key], ask [scrubbed mail]." in page
    assert KEY not in page
    assert host.event(event) == ""
    assert [outcome for _, outcome, _ in host.beats()[-2:]] == ["kept", "silent"]
    host.say(*TALK, Message("user", "Bye."))
    host.event(event)
    assert host.kept() == page + "\n**You** (1970-01-01 12:00 AM): Bye.\n"
    for path in host.data.iterdir():
        assert path.is_dir() or path.is_socket() or KEY.encode() not in path.read_bytes()


@pytest.mark.field("ISO-11", "ISO-10")
def test_what_a_session_says_is_kept_for_its_project_and_found_in_no_other(host: Host) -> None:
    lantern, harbour = host.home / "lantern", host.home / "harbour"
    for place in (lantern / ".git", lantern / "src", harbour / ".git"):
        place.mkdir(parents=True)
    name = project_source(lantern, host.home) or ""
    host.wellkept("put", "projects/lantern", "-", "--source", name, stdin=ADA.replace("Ada Lovelace", "Lantern"))

    asked = "Does Ada Lovelace know Lantern?"
    host.event("SessionStart", source="startup", cwd=str(lantern))
    inside = host.context(host.event("UserPromptSubmit", prompt=asked, cwd=str(lantern / "src")))[1]
    beside = host.context(host.event("UserPromptSubmit", prompt=asked, cwd=str(harbour)))[1]
    assert ("ada-lovelace" in inside, "projects/lantern" in inside) == (True, True)
    assert ("ada-lovelace" in beside, "projects/lantern" in beside) == (True, False)

    host.event("Stop", cwd=str(lantern / "src"))
    assert (host.kept(), "Good morning" in host.kept(name)) == ("", True)
    host.say(*TALK, Message("user", "Bye."))
    host.event("SessionEnd", cwd=str(harbour))
    assert "Bye." in host.kept(name)
    assert host.kept(project_source(harbour, host.home) or "") == ""


def test_a_conversation_that_waited_is_kept_for_its_project(host: Host) -> None:
    (host.home / "lantern" / ".git").mkdir(parents=True)
    name = project_source(host.home / "lantern", host.home) or ""
    host.event("Stop", cwd=str(host.home / "lantern"))
    host.wait_for(lambda: "Good morning" in host.kept(name))
    assert host.kept() == ""


def test_a_hook_that_was_installed_for_one_source_goes_on_with_it(host: Host) -> None:
    (host.home / "lantern" / ".git").mkdir(parents=True)
    host.wellkept("install", "claude-code", "--source", "default")
    host.event("SessionStart", source="startup")
    host.event("Stop", cwd=str(host.home / "lantern"))
    assert "Good morning" in host.kept()


def test_without_a_daemon_a_stop_loses_nothing_and_waits_for_nobody(host: Host) -> None:
    began = time.monotonic()
    assert host.event("Stop", last_assistant_message=f"It is {KEY}") == ""
    took = time.monotonic() - began
    (waiting,) = (host.data / "waiting").iterdir()
    assert json.loads(waiting.read_text()) == {
        "source": "@project",
        "harness": "claude-code",
        "event": "stop",
        "session_id": "s1",
        "transcript_path": str(host.transcript),
    }
    assert waiting.stat().st_mode & 0o777 == 0o600
    assert took < 5
    host.wait_for(lambda: not files(host.data / "waiting"))
    assert "Good morning." in host.kept()
    host.wait_for(lambda: ("waiting", "kept", "") in host.beats())


@pytest.mark.req("C-415")
@pytest.mark.field("HOK-01")
def test_a_daemon_that_hangs_costs_the_deadline_and_loses_nothing(host: Host) -> None:
    host.event("SessionStart", source="startup")
    os.kill(host.daemon(), signal.SIGSTOP)
    try:
        began = time.monotonic()
        assert host.event("Stop", deadline_ms=1500) == ""
        assert time.monotonic() - began < 5
        assert host.beats()[-1] == ("stop", "failed", "deadline")
        assert len(files(host.data / "waiting")) == 1
    finally:
        os.kill(host.daemon(), signal.SIGCONT)
    host.wait_for(lambda: not files(host.data / "waiting"))
    assert host.kept().count("Good morning. The key") == 1


@pytest.mark.field("HOK-02")
def test_a_session_end_that_is_cut_off_costs_only_what_was_said_since_the_last_turn(host: Host) -> None:
    host.event("SessionStart", source="startup")
    host.event("Stop")
    host.say(*TALK, Message("user", "Bye."))
    hook = subprocess.Popen(["/bin/sh", "-c", host.line("SessionEnd")], stdin=subprocess.PIPE, env=host.env)
    hook.kill()
    hook.communicate()
    assert "Good morning." in host.kept()


def test_a_prompt_without_a_daemon_starts_one_and_is_silent_at_once(host: Host) -> None:
    assert host.event("UserPromptSubmit", prompt="Ada Lovelace?") == ""
    assert host.beats()[0] == ("user-prompt", "failed", "no_daemon")
    host.wait_for((host.data / "wellkept.sock").exists)
    host.wait_for(lambda: host.event("UserPromptSubmit", prompt="Ada Lovelace?"))


@pytest.mark.req("C-420")
@pytest.mark.field("CON-09")
def test_a_crashed_daemon_is_replaced_and_keeps_what_it_had_begun(host: Host) -> None:
    host.event("SessionStart", source="startup")
    first = host.daemon()
    host.end_daemon()
    assert (host.data / "wellkept.sock").is_socket()
    (host.data / "waiting").mkdir()
    taken = {"harness": "claude-code", "event": "stop", "session_id": "s1", "transcript_path": str(host.transcript)}
    (host.data / "waiting" / "claude-code-s1.taken").write_text(json.dumps(taken))
    past = time.time() - 60
    os.utime(host.data / "daemon.log", (past, past))
    assert "Ada" in host.event("SessionStart", source="startup")
    assert host.daemon() != first
    host.wait_for(host.kept)


def test_hooks_that_come_at_once_share_one_daemon(host: Host) -> None:
    stdin = json.dumps({"session_id": "s1", "source": "startup"}).encode()
    argv = ["/bin/sh", "-c", host.line("SessionStart")]
    hooks = [subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=host.env) for _ in range(4)]
    said = [hook.communicate(stdin, timeout=60)[0] for hook in hooks]
    assert all(b"Ada Lovelace" in one for one in said)
    assert len([pid for pid in pids() if "daemon" in (words := words_of(pid)) and str(host.data) in words]) == 1


def test_other_processes_write_while_the_daemon_serves(host: Host) -> None:
    host.event("SessionStart", source="startup")
    host.wellkept("put", "people/grace-hopper", "-", stdin="---\ntitle: Grace Hopper\n---\nWrote a compiler.\n")
    assert "grace-hopper" in host.event("UserPromptSubmit", prompt="What did Grace Hopper write?")
    host.event("Stop")
    assert "Good morning." in host.wellkept("get", "conversations/s1")


@pytest.mark.field("HOK-05")
def test_what_memory_said_is_never_kept_however_often_it_is_repeated(host: Host) -> None:
    host.event("SessionStart", source="startup")
    _, block = host.context(host.event("UserPromptSubmit", prompt="Ada Lovelace?"))
    _, pack = host.context(host.event("SessionStart", source="startup"))
    echo = f"It says:\n{block}\n\nand before:\n{pack}\n\nThat is all."
    host.say(*TALK, claude_code.Injection(block), Message("user", echo), Message("assistant", echo))
    pages = set()
    for _ in range(5):
        host.event("Stop")
        pages.add(host.kept())
    (page,) = pages
    assert "It says:" in page
    assert "That is all." in page
    assert "wellkept:" not in page
    assert "Wrote the first program" not in page


@pytest.mark.field("OBS-07")
def test_a_daemon_that_cannot_start_says_why_and_is_not_tried_at_every_prompt(host: Host) -> None:
    (host.data / "settings.toml").write_text("sauce = 1\n")
    log = host.data / "daemon.log"

    def tried(times: int) -> int:
        assert host.event("UserPromptSubmit", prompt="Ada Lovelace?") == ""
        # It is started beside the hook, which does not wait to see it run.
        host.wait_for(lambda: log.exists() and log.read_text().count("unknown key 'sauce'") >= times)
        host.wait_for(lambda: not any(str(host.data) in words_of(pid) for pid in pids()))
        return log.read_text().count("unknown key 'sauce'")

    assert tried(1) == 1
    log.touch()
    assert tried(1) == 1
    past = time.time() - 60
    os.utime(log, (past, past))
    assert tried(2) == 2


@pytest.mark.field("ISO-03", "ISO-11")
def test_hooks_of_another_source_are_not_served(host: Host) -> None:
    host.event("SessionStart", source="startup")
    host.wellkept("install", "claude-code", "--source", "team")
    assert host.event("Stop") == ""
    assert host.beats()[-1] == ("stop", "failed", "source_mismatch")
    assert host.kept() == ""
    assert not (host.data / "waiting").exists()


@pytest.mark.field("HOK-16")
def test_switched_off_it_neither_speaks_nor_keeps(host: Host) -> None:
    (host.data / "settings.toml").write_text("hooks = false\n")
    assert host.event("SessionStart", source="startup") == ""
    host.wait_for((host.data / "wellkept.sock").exists)
    assert host.event("Stop") == ""
    assert host.kept() == ""
    assert host.beats()[-1] == ("stop", "disabled", "")


def test_an_idle_daemon_ends(host: Host) -> None:
    argv = [sys.executable, "-m", "wellkept", "daemon", "--data-dir", str(host.data), "--idle-minutes", "0.005"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True, env=host.env)
    assert done.stdout.startswith("listening on ")
    assert not (host.data / "wellkept.sock").exists()


def test_a_daemon_that_cannot_start_is_not_waited_for_and_status_says_why(host: Host) -> None:
    host.data.chmod(0o755)
    began = time.monotonic()
    assert host.event("SessionStart", source="startup", deadline_ms=60_000) == ""
    assert time.monotonic() - began < 30
    host.data.chmod(0o700)
    argv = [sys.executable, "-m", "wellkept", "status", "--data-dir", str(host.data)]
    said = subprocess.run(argv, capture_output=True, text=True, check=False, env=host.env)
    assert said.returncode == 1
    assert f"cannot start: {host.data}: open to other users; close it: chmod 700 {host.data}" in said.stdout
    os.utime(host.data / "daemon.log", (0, 0))  # so that another is started at once
    assert "Ada" in host.event("SessionStart", source="startup")
    assert (host.data / "daemon.log").read_bytes() == b""
