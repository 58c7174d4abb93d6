"""The whole way: a real daemon, a real hook process, a real transcript, a checked answer."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from wellkept.errors import DaemonError, DaemonUnavailable, SettingsError
from wellkept.hooks import command
from wellkept.ingest import claude_code, codex
from wellkept.model import Message
from wellkept.serve.daemon import file_clock, opened, real_clock
from wellkept.serve.ipc import call
from wellkept.settings import load_settings, open_memory

ADA = "---\ntitle: Ada Lovelace\ntype: person\n---\nShe wrote the first program.\n"
ASKED = "What did Ada Lovelace write?"


class Daemon:
    """One running daemon and the hook that belongs to it."""

    def __init__(self, place: Path, *options: str) -> None:
        self.place, self.socket = place, place / "wellkept.sock"
        argv = [sys.executable, "-m", "wellkept", "daemon", "--data-dir", str(place), *options]
        env = {"HOME": str(place), "PATH": os.environ["PATH"]}
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env)

    def ready(self) -> Daemon:
        assert self.process.stdout is not None
        assert str(self.socket) in self.process.stdout.readline()
        return self

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str]:
        self.process.send_signal(number)
        _, stderr = self.process.communicate(timeout=20)
        return self.process.returncode, stderr

    def hook(self, event: dict[str, Any] | bytes, harness: str = "claude-code", deadline: int = 10_000) -> bytes:
        stdin = event if isinstance(event, bytes) else json.dumps(event).encode()
        argv = command(harness, self.socket, deadline)
        done = subprocess.run(argv, input=stdin, capture_output=True, timeout=30, check=True, env={})
        assert done.stderr == b""
        return done.stdout

    def beats(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.place / "heartbeat.jsonl").read_text().splitlines()]


Start = Callable[..., Daemon]


@pytest.fixture
def start(place: Path) -> Iterator[Start]:
    memory = open_memory(load_settings({"HOME": str(place)}, {"data_dir": place}))
    memory.put_page("default", "people/ada-lovelace", ADA)
    memory.close()
    daemons: list[Daemon] = []

    def start_one(*options: str) -> Daemon:
        daemons.append(Daemon(place, "--budget-ms", "9000", *options))
        return daemons[-1]

    yield start_one
    for daemon in daemons:
        if daemon.process.poll() is None:
            daemon.process.kill()
        daemon.process.communicate()


def transcript(place: Path, *messages: Message) -> str:
    path = place / ".claude" / "projects" / "p" / "s.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(claude_code.write(messages, session="s"))
    return str(path)


def context(stdout: bytes) -> str:
    text = json.loads(stdout)["hookSpecificOutput"]["additionalContext"]
    assert isinstance(text, str)
    return text


@pytest.mark.req("C-410", "C-412", "C-413", "C-414", "C-417")
def test_a_prompt_about_a_page_is_answered_with_a_pointer_to_it(start: Start, place: Path) -> None:
    daemon = start().ready()
    path = transcript(place, Message("user", "Hello."), Message("assistant", "Hello, what is it?"))
    stdout = daemon.hook({"prompt": ASKED, "session_id": "s", "cwd": "/", "transcript_path": path})
    assert "→ `people/ada-lovelace`" in context(stdout)
    (beat,) = daemon.beats()
    assert (beat["event"], beat["outcome"], beat["turns"]) == ("claude-code/user-prompt", "injected", 3)
    assert beat["bytes"] == len(stdout)


@pytest.mark.req("C-413")
def test_what_was_injected_before_is_not_injected_again(start: Start, place: Path) -> None:
    daemon = start().ready()
    path = Path(transcript(place))
    said = context(daemon.hook({"prompt": ASKED, "transcript_path": str(path)}))
    path.write_bytes(claude_code.write([Message("user", ASKED), claude_code.Injection(said)], session="s"))
    assert daemon.hook({"prompt": "Ada Lovelace again?", "transcript_path": str(path)}) == b""
    assert [beat["reason"] for beat in daemon.beats()] == ["", "empty_block"]


@pytest.mark.req("C-414")
def test_codex_is_answered_too_and_gets_an_empty_object_for_nothing(start: Start, place: Path) -> None:
    daemon = start().ready()
    path = place / ".codex" / "sessions" / "r.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(codex.write([Message("user", "Hi.")], session="s"))
    assert "people/ada-lovelace" in context(daemon.hook({"prompt": ASKED, "transcript_path": str(path)}, "codex"))
    assert daemon.hook({"prompt": "Hm?"}, "codex") == b"{}"
    assert daemon.hook(b"garbage", "codex") == b"{}"


@pytest.mark.req("C-901")
def test_what_a_hook_asks_is_captured_and_what_the_daemon_asks_itself_is_not(start: Start, place: Path) -> None:
    (place / "settings.toml").write_text("capture_queries = true\n")
    daemon = start().ready()
    daemon.hook({"prompt": ASKED, "transcript_path": transcript(place)})
    (row,) = map(json.loads, (place / "queries.ndjson").read_text().splitlines())
    assert (row["tool_name"], row["query"], row["detail"]) == ("context", ASKED, "one turn")
    assert (row["retrieved_slugs"], row["remote"]) == (["people/ada-lovelace"], False)


@pytest.mark.req("C-411")
def test_a_transcript_outside_is_not_read(start: Start, place: Path) -> None:
    daemon = start().ready()
    inside = Path(transcript(place))
    outside = place / "s.jsonl"
    outside.write_bytes(inside.read_bytes())
    (inside.parent / "link.jsonl").symlink_to(inside)
    for path in (str(outside), str(inside.parent / "link.jsonl"), str(inside.parent), "/etc/passwd", ""):
        assert daemon.hook({"prompt": ASKED, "transcript_path": path}) == b""
    assert [beat["reason"].removeprefix("transcript_") for beat in daemon.beats()] == [
        "outside_projects_dir",
        "symlink",
        "not_jsonl",
        "not_jsonl",
        "missing_path",
    ]


@pytest.mark.req("C-414", "C-416")
def test_an_unknown_event_is_silence(start: Start, place: Path) -> None:
    daemon = start().ready()
    argv = command("claude-code", daemon.socket, 10_000)
    argv[5] = "pre-tool-use"
    done = subprocess.run(argv, input=b"{}", capture_output=True, timeout=20, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


@pytest.mark.req("C-414")
def test_a_memory_that_is_still_empty_is_silent(place: Path) -> None:
    daemon = Daemon(place, "--source", "new").ready()
    try:
        assert daemon.hook({"prompt": ASKED, "transcript_path": transcript(place)}) == b""
        assert [beat["reason"] for beat in daemon.beats()] == ["empty_block"]
    finally:
        assert daemon.end() == (0, "")


@pytest.mark.req("C-330")
def test_the_daemon_answers_from_its_own_source_only(start: Start, place: Path) -> None:
    daemon = start("--source", "other").ready()
    assert daemon.hook({"prompt": ASKED, "transcript_path": transcript(place)}) == b""
    assert call(daemon.socket, "ping", {"source": "other"}, 5)["ok"]
    with pytest.raises(DaemonError, match="source_mismatch"):
        call(daemon.socket, "ping", {"source": "default"}, 5)


@pytest.mark.req("C-420")
def test_a_second_daemon_is_refused_and_the_first_goes_on(start: Start, place: Path) -> None:
    first = start().ready()
    second = start()
    _, stderr = second.process.communicate(timeout=20)
    assert second.process.returncode == 1
    assert f"process {first.process.pid}" in stderr
    assert stderr.count("\n") == 1
    assert call(first.socket, "ping", {}, 5)["ok"]


@pytest.mark.req("C-420")
def test_a_killed_daemon_leaves_a_socket_that_the_next_one_replaces(start: Start, place: Path) -> None:
    daemon = start().ready()
    daemon.end(signal.SIGKILL)
    assert daemon.socket.is_socket()
    assert daemon.hook({"prompt": ASKED, "transcript_path": transcript(place)}) == b""
    assert daemon.beats()[-1]["reason"] == "no_daemon"
    again = start().ready()
    assert "people/ada" in context(again.hook({"prompt": ASKED, "transcript_path": transcript(place)}))


@pytest.mark.req("C-420")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_told_to_stop_it_stops_without_a_word_and_takes_its_socket_along(
    start: Start, place: Path, number: int
) -> None:
    daemon = start().ready()
    assert daemon.end(number) == (0, "")
    assert not daemon.socket.exists()
    assert (place / "ipc-secret").exists()
    with pytest.raises(DaemonUnavailable):
        call(daemon.socket, "ping", {}, 1)


@pytest.mark.req("C-420")
def test_a_place_that_others_can_enter_is_refused(start: Start, place: Path) -> None:
    place.chmod(0o755)
    daemon = start()
    _, stderr = daemon.process.communicate(timeout=20)
    assert daemon.process.returncode == 1
    assert stderr == f"wellkept: {place}: open to other users; close it: chmod 700 {place}\n"


@pytest.mark.req("C-420")
def test_a_file_in_the_place_of_the_socket_is_not_removed(start: Start, place: Path) -> None:
    (place / "wellkept.sock").write_text("mine")
    daemon = start()
    _, stderr = daemon.process.communicate(timeout=20)
    assert daemon.process.returncode == 1
    assert "wellkept.sock" in stderr
    assert (place / "wellkept.sock").read_text() == "mine"


@pytest.mark.req("C-420")
def test_all_that_the_daemon_keeps_is_private(start: Start, place: Path) -> None:
    daemon = start().ready()
    daemon.hook({"prompt": ASKED, "transcript_path": transcript(place)})
    for name in ("wellkept.sock", "ipc-secret", "daemon.lock", "heartbeat.jsonl"):
        assert stat.S_IMODE((place / name).stat().st_mode) == 0o600


@pytest.mark.req("C-420")
def test_a_wrong_secret_is_silence_and_one_line(start: Start, place: Path) -> None:
    daemon = start().ready()
    (place / "ipc-secret").write_text("0" * 64 + "\n")
    assert daemon.hook({"prompt": ASKED, "transcript_path": transcript(place)}) == b""
    assert [beat["reason"] for beat in daemon.beats()] == ["unauthorized"]


@pytest.mark.req("C-415")
@pytest.mark.field("HOK-01")
def test_a_stopped_daemon_costs_the_host_no_more_than_the_deadline(start: Start, place: Path) -> None:
    daemon = start().ready()
    event = {"prompt": ASKED, "transcript_path": transcript(place)}
    daemon.process.send_signal(signal.SIGSTOP)
    try:
        assert daemon.hook(event, deadline=2000) == b""
    finally:
        daemon.process.send_signal(signal.SIGCONT)
    assert "deadline" in [beat["reason"] for beat in daemon.beats()]
    assert "people/ada" in context(daemon.hook(event))


@pytest.mark.req("C-004")
def test_the_test_clock_is_read_on_every_request_and_shown(start: Start, place: Path) -> None:
    clock = place / "clock"
    clock.write_text("2026-03-01T12:00:00Z\n")
    daemon = start("--test-clock", str(clock)).ready()
    assert call(daemon.socket, "ping", {}, 5)["test_clock"] is True
    event = {"prompt": ASKED, "transcript_path": transcript(place)}
    assert daemon.hook(event) != b""
    clock.write_text("gone")
    assert daemon.hook(event) == b""
    assert daemon.beats()[-1]["reason"] == "exception:SettingsError"


def test_a_test_clock_that_is_no_time_is_named(tmp_path: Path) -> None:
    path = tmp_path / "clock"
    for content in ("", "noon", "2026-13-01", "é"):
        path.write_text(content)
        with pytest.raises(SettingsError, match="clock"):
            file_clock(path)
    path.write_text("2026-03-01T13:00:00+01:00")
    now = file_clock(path)
    assert now() == datetime(2026, 3, 1, 12, tzinfo=UTC)
    path.write_text("2026-03-01 14:00")
    assert now() == datetime(2026, 3, 1, 14, tzinfo=UTC)


def test_the_real_clock_is_now_in_utc() -> None:
    assert abs((real_clock() - datetime.now(UTC)).total_seconds()) < 60


@pytest.mark.req("C-421", "C-422")
def test_a_program_can_ask_for_the_context_of_a_turn(start: Start) -> None:
    daemon = start().ready()
    asked: dict[str, Any] = {"window": [{"role": "user", "text": ASKED, "ts": "2026-03-01T12:00:00Z"}]}
    for harness in (None, "claude-code", "openclaw"):
        whole = call(daemon.socket, "turn_context", asked | {"harness": harness}, 20)
        assert "people/ada-lovelace" in whole["block"]
        assert whole["degraded"] == []
        cut = call(daemon.socket, "turn_context", asked | {"harness": harness, "max_bytes": 40}, 20)
        assert (cut["block"], cut["degraded"]) == ("", ["budget_trimmed"])
        seen = call(daemon.socket, "turn_context", asked | {"harness": harness, "prior": whole["block"]}, 20)
        assert (seen["block"], seen["degraded"]) == ("", [])


def test_the_daemon_makes_vectors_of_what_waits(tmp_path: Path) -> None:
    settings = load_settings({"HOME": str(tmp_path)}, {"data_dir": tmp_path / "m"})
    memory = open_memory(settings)
    memory.put_page("default", "n/car", "Somebody took my automobile.")
    with opened(settings):
        deadline = time.monotonic() + 60
        while memory.store.index.vector_counts() != (1, 0) and time.monotonic() < deadline:
            time.sleep(0.1)
    assert memory.store.index.vector_counts() == (1, 0)
    memory.close()
