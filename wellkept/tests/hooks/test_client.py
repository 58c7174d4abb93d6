"""The hook process: light, quick, and silent whenever it has no whole answer in time."""

from __future__ import annotations

import json
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept.errors import InvalidInput
from wellkept.hooks import HOOKS, client, command

SECRET = "0123456789abcdef" * 4
CLIENT = Path(client.__file__)


@pytest.fixture
def place() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="wk", dir="/tmp"))
    secret = path / "ipc-secret"
    secret.write_text(SECRET + "\n")
    secret.chmod(0o600)
    yield path
    shutil.rmtree(path)


def run(
    place: Path, stdin: bytes | None = b'{"prompt":"hi"}', *more: str, **env: str
) -> subprocess.CompletedProcess[bytes]:
    argv = [*command("claude-code", place / "wellkept.sock"), *(more or ("10000",))]
    return subprocess.run(argv, input=stdin, capture_output=True, env=env, timeout=20, check=False)


def log(place: Path) -> list[dict[str, str]]:
    path = place / "heartbeat.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def is_silent(done: subprocess.CompletedProcess[bytes]) -> bool:
    return (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


Listen = Callable[[Callable[[socket.socket], None]], None]


@pytest.fixture
def listen(place: Path) -> Iterator[Listen]:
    """Let a function treat the one connection that comes."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(place / "wellkept.sock"))
    server.listen()
    threads: list[threading.Thread] = []

    def serve_one(treat: Callable[[socket.socket], None]) -> None:
        def work() -> None:
            connection, _ = server.accept()
            with connection:
                treat(connection)

        threads.append(threading.Thread(target=work))
        threads[-1].start()

    yield serve_one
    for thread in threads:
        thread.join(20)
    server.close()


def read_request(connection: socket.socket) -> bytes:
    got = b""
    while b"\r\n\r\n" not in got:
        got += connection.recv(65536)
    head, _, body = got.partition(b"\r\n\r\n")
    (length,) = [int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")]
    while len(body) < length:
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


def respond(
    body: bytes, status: str = "200 OK", protocol: str = "2", length: int | None = None
) -> Callable[[socket.socket], None]:
    def treat(connection: socket.socket) -> None:
        read_request(connection)
        size = len(body) if length is None else length
        head = f"HTTP/1.1 {status}\r\nWellkept-Protocol: {protocol}\r\nContent-Length: {size}\r\n\r\n"
        connection.sendall(head.encode() + body)

    return treat


@pytest.mark.req("C-417")
def test_it_loads_nothing_but_os_and_socket_beyond_a_bare_start(place: Path) -> None:
    probe = (
        "import sys\nbare = set(sys.modules)\n"
        f"code = compile(open({str(CLIENT)!r}, 'rb').read(), 'client.py', 'exec')\n"
        "space = {'__name__': 'client'}\nexec(code, space)\n"
        f"space['main'](['claude-code', 'user-prompt', {str(place / 'x.sock')!r}], space['time'].monotonic())\n"
        "print(sorted(set(sys.modules) - bare))"
    )
    bare = "import sys\nbare = set(sys.modules)\nimport os, _socket\nprint(sorted(set(sys.modules) - bare))"
    outputs = [
        subprocess.run([sys.executable, "-I", "-S", "-c", code], input=b"{}", capture_output=True, check=True).stdout
        for code in (probe, bare)
    ]
    assert outputs[0] == outputs[1]
    assert [line["reason"] for line in log(place)] == ["no_daemon"]


@pytest.mark.req("C-417")
def test_the_command_is_an_absolute_interpreter_and_file() -> None:
    for harness in HOOKS:
        argv = command(harness, Path("relative.sock"), 1500)
        assert argv[1:3] == ["-I", "-S"]
        assert all(os.path.isabs(argv[place]) for place in (0, 3, 6))
        assert argv[4:6] == [harness, "user-prompt"]
        assert argv[7] == "1500"
    with pytest.raises(InvalidInput):
        command("emacs", Path("/x"))


@pytest.mark.req("C-417", "C-420", "C-421")
def test_it_sends_stdin_as_it_came_and_prints_the_answer_as_it_goes(place: Path, listen: Listen) -> None:
    seen: list[bytes] = []

    def treat(connection: socket.socket) -> None:
        seen.append(read_request(connection))
        connection.sendall(b"HTTP/1.1 200 OK\r\nwellkept-protocol: 2\r\nContent-Length: 4\r\n\r\n\xff\r\n\n")

    listen(treat)
    done = run(place, b"\x00not json\xff")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"\xff\r\n\n", b"")
    head, _, body = seen[0].partition(b"\r\n\r\n")
    assert body == b"\x00not json\xff"
    assert head.startswith(b"POST /ipc/hook/claude-code/user-prompt HTTP/1.1\r\n")
    assert f"wellkept-secret: {SECRET}".encode() in head
    assert b"wellkept-protocol: 2" in head
    assert log(place) == []


@pytest.mark.req("C-415", "C-416")
@pytest.mark.parametrize(
    ("treat", "reason"),
    [
        (respond(b'{"ok":false}', "401 Unauthorized"), "unauthorized"),
        (respond(b'{"ok":false}', "409 Conflict"), "source_mismatch"),
        (respond(b'{"ok":false}', "503 Busy"), "ipc_unavailable"),
        (respond(b"answer", protocol="1"), "stale_daemon"),
        (respond(b"answer", length=7), "ipc_unavailable"),
        (lambda connection: None, "ipc_unavailable"),
        (lambda connection: connection.sendall(b"garbage"), "stale_daemon"),
        (lambda connection: connection.sendall(b"\r\n\r\n"), "stale_daemon"),
        (lambda connection: connection.sendall(b"HTTP/1.1 200 OK\r\n\r\nanswer"), "stale_daemon"),
        (lambda connection: connection.sendall(b"HTTP/1.1\r\nwellkept-protocol: 2\r\n\r\nanswer"), "stale_daemon"),
    ],
)
def test_what_is_no_whole_answer_is_silence(
    place: Path, listen: Listen, treat: Callable[[socket.socket], None], reason: str
) -> None:
    listen(treat)
    assert is_silent(run(place))
    (line,) = log(place)
    assert (line["event"], line["outcome"], line["reason"]) == ("claude-code/user-prompt", "failed", reason)


@pytest.mark.req("C-415")
@pytest.mark.parametrize("argument", ["", "1600"])
@pytest.mark.field("HOK-01")
def test_an_answer_after_the_deadline_is_not_printed(place: Path, listen: Listen, argument: str) -> None:
    def late(connection: socket.socket) -> None:
        read_request(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nwellkept-protocol: 2\r\nContent-Length: 6\r\n\r\nans")
        time.sleep(3)
        with suppress(BrokenPipeError):
            connection.sendall(b"wer")

    listen(late)
    assert is_silent(run(place, b"{}", argument))
    assert [line["reason"] for line in log(place)] == ["deadline"]


@pytest.mark.req("C-415")
def test_the_deadline_argument_gives_a_slow_daemon_more_time(place: Path, listen: Listen) -> None:
    def slow(connection: socket.socket) -> None:
        time.sleep(1)
        respond(b"answer")(connection)

    listen(slow)
    assert run(place, b"{}").stdout == b"answer"


@pytest.mark.req("C-410", "C-415")
def test_a_stdin_that_does_not_end_is_silence(place: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"{}")
    try:
        argv = command("claude-code", place / "wellkept.sock")
        done = subprocess.run(argv, stdin=reading, capture_output=True, timeout=20, check=False)
    finally:
        os.close(reading)
        os.close(writing)
    assert is_silent(done)
    assert [line["reason"] for line in log(place)] == ["no_stdin"]


@pytest.mark.req("C-410")
@pytest.mark.parametrize("stdin", [b"", b" " * (4 * 1024 * 1024 + 1)])
def test_no_stdin_or_too_much_is_silence(place: Path, listen: Listen, stdin: bytes) -> None:
    assert is_silent(run(place, stdin))
    assert [line["reason"] for line in log(place)] == ["no_stdin"]


@pytest.mark.req("C-410")
def test_the_largest_stdin_goes_through(place: Path, listen: Listen) -> None:
    listen(respond(b"answer"))
    assert run(place, b" " * (4 * 1024 * 1024)).stdout == b"answer"


@pytest.mark.req("C-415")
def test_a_closed_stdin_or_stdout_is_no_failure_of_the_process(place: Path, listen: Listen) -> None:
    argv = command("claude-code", place / "wellkept.sock")
    listen(respond(b"answer" * 10_000))
    for redirections in ("<&-", ">&-", "<&- >&- 2>&-"):
        shell = ["/bin/sh", "-c", f'printf "{{}}" | "$@" {redirections}', "sh", *argv]
        assert subprocess.run(shell, capture_output=True, timeout=20, check=False).stderr == b""


@pytest.mark.req("C-415")
def test_without_a_daemon_it_is_silent_and_leaves_one_line_a_time(place: Path) -> None:
    for count in (1, 2):
        assert is_silent(run(place))
        assert [line["reason"] for line in log(place)] == ["no_daemon"] * count
    assert stat.S_IMODE((place / "heartbeat.jsonl").stat().st_mode) == 0o600


@pytest.mark.req("C-415")
def test_a_socket_that_nobody_serves_is_no_daemon(place: Path) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(place / "wellkept.sock"))
    assert is_silent(run(place))
    assert [line["reason"] for line in log(place)] == ["no_daemon"]


@pytest.mark.req("C-415")
def test_a_place_that_does_not_exist_is_silence(place: Path) -> None:
    assert is_silent(run(place / "none"))
    assert not (place / "none").exists()


@pytest.mark.req("C-420")
@pytest.mark.parametrize("damage", ["wide", "link", "text"])
def test_a_secret_that_is_not_private_is_not_sent(place: Path, listen: Listen, damage: str) -> None:
    secret = place / "ipc-secret"
    if damage == "wide":
        secret.chmod(0o644)
    elif damage == "link":
        secret.rename(place / "other")
        secret.symlink_to(place / "other")
    else:
        secret.write_text("a\r\nx: y\n")
    assert is_silent(run(place))
    assert len(log(place)) == 1


@pytest.mark.req("C-415")
def test_the_switch_in_the_environment_turns_it_off(place: Path) -> None:
    assert is_silent(run(place, b'{"prompt":"hi"}', WELLKEPT_HOOKS="0"))
    assert log(place) == []


@pytest.mark.req("C-415")
@pytest.mark.parametrize(
    "arguments", [[], ["claude-code"], ["a b", "c", "/x"], ["a", "../c", "/x"], ["a", "b", "/x", "1", "2"]]
)
def test_a_wrong_command_line_is_silence(arguments: list[str]) -> None:
    argv = [sys.executable, "-I", "-S", str(CLIENT), *arguments]
    assert is_silent(subprocess.run(argv, input=b"{}", capture_output=True, timeout=20, check=False))


@pytest.mark.req("C-416")
def test_the_log_stops_growing_while_no_daemon_trims_it(place: Path) -> None:
    (place / "heartbeat.jsonl").write_bytes(b"x" * client.LOG_BYTES)
    assert is_silent(run(place))
    assert (place / "heartbeat.jsonl").stat().st_size == client.LOG_BYTES


@pytest.mark.req("C-416")
def test_a_log_behind_a_link_is_left_alone(place: Path) -> None:
    (place / "other").touch()
    (place / "heartbeat.jsonl").symlink_to(place / "other")
    assert is_silent(run(place))
    assert (place / "other").read_bytes() == b""


@pytest.mark.req("C-415")
@pytest.mark.parametrize(
    ("argument", "seconds"),
    [("", 0.8), ("0", 0.8), ("-1", 0.8), ("x", 0.8), ("²", 0.8), ("9" * 400, 0.8), ("1500", 1.5)],
)
def test_a_deadline_that_is_no_sensible_number_counts_as_none(argument: str, seconds: float) -> None:
    assert client.deadline_s(argument) == seconds


@given(st.binary())
def test_no_bytes_without_a_head_are_an_answer(response: bytes) -> None:
    with pytest.raises(client.NoAnswer):
        client.answer_of(response)
