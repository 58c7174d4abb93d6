"""The socket door lets only its owner in, survives everybody else, and says what was wrong."""

from __future__ import annotations

import json
import os
import socket
import stat
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wellkept.errors import DaemonError, DaemonUnavailable, Unauthorized
from wellkept.serve import ipc
from wellkept.serve.ipc import Door, call, install_secret, read_secret
from wellkept.serve.private import check_private

Raw = Callable[[bytes], bytes]
OpenDoor = Callable[..., Door]


def request(door: Door, kind: str, body: bytes, **fields: str | None) -> bytes:
    given = {
        "wellkept-secret": door.secret.decode(),
        "wellkept-protocol": "2",
        "content-length": str(len(body)),
    } | {name.replace("_", "-"): value for name, value in fields.items()}
    lines = [f"{name}: {value}" for name, value in given.items() if value is not None]
    return "\r\n".join([f"POST /ipc/{kind} HTTP/1.1", *lines, "", ""]).encode() + body


def parsed(answer: bytes) -> tuple[int, dict[str, str], Any]:
    head, _, body = answer.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    fields = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    assert fields["content-length"] == str(len(body))
    return int(first.split()[1]), fields, json.loads(body) if body else None


@pytest.mark.req("C-420")
def test_socket_and_secret_are_open_to_their_owner_only(open_door: OpenDoor, place: Path) -> None:
    open_door()
    assert stat.S_IMODE((place / "wellkept.sock").stat().st_mode) == 0o600
    assert stat.S_IMODE((place / "ipc-secret").stat().st_mode) == 0o600
    secret = (place / "ipc-secret").read_bytes()
    assert len(bytes.fromhex(secret.decode().strip())) == 32
    assert secret.endswith(b"\n")


@pytest.mark.req("C-420")
def test_the_secret_is_made_once(place: Path) -> None:
    assert install_secret(place) == install_secret(place) == read_secret(place)


@pytest.mark.req("C-420")
@pytest.mark.parametrize("content", [b"", b"short\n", b"A" * 64 + b"\n", b"a" * 64, b"a" * 65 + b"\n"])
def test_a_damaged_secret_is_refused_and_not_replaced(place: Path, content: bytes) -> None:
    path = place / "ipc-secret"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(DaemonError, match="remove it"):
        install_secret(place)
    assert path.read_bytes() == content


@pytest.mark.req("C-420")
def test_a_secret_that_others_can_read_is_refused(place: Path) -> None:
    install_secret(place)
    (place / "ipc-secret").chmod(0o640)
    with pytest.raises(DaemonError, match="not private"):
        read_secret(place)


@pytest.mark.req("C-420")
def test_a_secret_behind_a_link_is_refused(place: Path) -> None:
    (place / "elsewhere").write_bytes(b"a" * 64 + b"\n")
    (place / "elsewhere").chmod(0o600)
    (place / "ipc-secret").symlink_to(place / "elsewhere")
    with pytest.raises(DaemonError):
        install_secret(place)


@pytest.mark.req("C-420")
@pytest.mark.parametrize("mode", [0o755, 0o750, 0o701])
def test_a_directory_that_others_can_enter_is_refused(place: Path, mode: int) -> None:
    check_private(place)
    place.chmod(mode)
    with pytest.raises(DaemonError, match="chmod 700"):
        check_private(place)


@pytest.mark.req("C-421")
def test_ping_tells_version_source_and_clock(open_door: OpenDoor, place: Path) -> None:
    open_door(test_clock=True)
    said = call(place / "wellkept.sock", "ping", {}, 5)
    assert said["ok"] is True
    assert said["source"] == "default"
    assert said["test_clock"] is True
    assert said["version"]


@pytest.mark.req("C-421", "C-420")
@pytest.mark.parametrize("kind", ["ping", "turn_context", "hook/claude-code/user-prompt", "nonsense"])
@pytest.mark.parametrize("secret", [None, "", "0" * 64, "é"])
def test_every_kind_needs_the_secret(open_door: OpenDoor, raw: Raw, kind: str, secret: str | None) -> None:
    door = open_door()
    status, fields, said = parsed(raw(request(door, kind, b"{}", wellkept_secret=secret)))
    assert (status, said) == (401, {"ok": False, "error": "unauthorized"})
    assert fields["wellkept-protocol"] == "2"
    assert door.desk.memory.asked == []  # type: ignore[attr-defined]


@pytest.mark.req("C-421", "C-422")
@pytest.mark.parametrize("kind", ["ping", "hook/claude-code/user-prompt", "hook/codex/stop"])
def test_a_peer_that_is_bound_to_another_source_is_refused(open_door: OpenDoor, raw: Raw, kind: str) -> None:
    door = open_door(source="grün")
    own = request(door, kind, b"{}", wellkept_source="grün")
    assert parsed(raw(own))[0] == 200
    for other in ("default", "grun", ""):
        status, _, said = parsed(raw(request(door, kind, b"{}", wellkept_source=other)))
        assert (status, said) == (409, {"ok": False, "error": "source_mismatch"})


@pytest.mark.req("C-422")
@pytest.mark.parametrize(
    ("kind", "body", "fields", "status", "error"),
    [
        ("ping", b"{}", {"wellkept_protocol": "1"}, 400, "unsupported_protocol"),
        ("ping", b"{}", {"wellkept_protocol": None}, 400, "unsupported_protocol"),
        ("resolve", b"{}", {}, 404, "unsupported_kind"),
        ("hook/emacs/user-prompt", b"{}", {}, 404, "unsupported_kind"),
        ("hook/claude-code", b"{}", {}, 404, "unsupported_kind"),
        ("ping", b'{"source":"other"}', {}, 409, "source_mismatch"),
        ("turn_context", b'{"window":[],"source":"other"}', {}, 409, "source_mismatch"),
        ("turn_context", b"{}", {}, 400, "bad_request"),
        ("turn_context", b"[1", {}, 400, "bad_request"),
        ("turn_context", b"[" * 100_000, {}, 400, "bad_request"),
        ("turn_context", b'{"window":[{"role":"system","text":""}]}', {}, 400, "bad_request"),
        ("turn_context", b'{"window":[],"harness":"emacs"}', {}, 400, "bad_request"),
        ("turn_context", b'{"window":[],"max_bytes":-1}', {}, 400, "bad_request"),
        ("ping", b"{}", {"content_length": None}, 400, "bad_request"),
        ("ping", b"{}", {"content_length": "-1"}, 400, "bad_request"),
        ("ping", b"{}", {"content_length": "1e9"}, 400, "bad_request"),
        ("ping", b"{}", {"transfer_encoding": "chunked"}, 400, "bad_request"),
    ],
)
def test_a_refusal_names_its_reason(
    open_door: OpenDoor, raw: Raw, kind: str, body: bytes, fields: dict[str, str | None], status: int, error: str
) -> None:
    answer = parsed(raw(request(open_door(), kind, body, **fields)))
    assert answer[0] == status
    assert answer[1]["wellkept-protocol"] == "2"
    assert answer[2] == {"ok": False, "error": error}


@pytest.mark.req("C-421")
@pytest.mark.parametrize(
    ("kind", "limit"), [("ping", 256 * 1024), ("turn_context", 256 * 1024), ("hook/codex/user-prompt", 4 * 1024 * 1024)]
)
def test_a_body_beyond_the_limit_is_refused_as_too_large(open_door: OpenDoor, raw: Raw, kind: str, limit: int) -> None:
    door = open_door()
    assert parsed(raw(request(door, kind, b" " * (limit + 1))))[0] == 413
    assert parsed(raw(request(door, kind, b" " * limit)))[0] != 413


@pytest.mark.req("C-421")
def test_turn_context_gives_the_block_of_the_bound_source(open_door: OpenDoor, place: Path) -> None:
    door = open_door(lambda: "block")
    asked = {
        "window": [{"role": "user", "text": "hi"}],
        "prior": "p",
        "session": "s",
        "max_bytes": 100,
        "source": "default",
        "other": 1,
    }
    assert call(place / "wellkept.sock", "turn_context", asked, 5) == {"ok": True, "block": "block", "degraded": []}
    ((source, window, rest),) = door.desk.memory.asked  # type: ignore[attr-defined]
    assert (source, window[0].text, rest["prior"], rest["session"]) == ("default", "hi", "p", "s")
    assert rest["budget"].bytes == 100


@pytest.mark.req("C-422")
def test_a_spent_budget_is_said_and_logged_as_such(open_door: OpenDoor, place: Path) -> None:
    door = open_door(lambda: time.sleep(0.5) or "late", budget_s=0.05)
    said = call(place / "wellkept.sock", "turn_context", {"window": []}, 5)
    assert said == {"ok": True, "block": None, "degraded": ["server_budget"]}
    assert beats(door)[-1]["reason"] == "deadline"


@pytest.mark.req("C-422")
def test_an_error_of_the_memory_is_internal_and_the_door_stays_open(open_door: OpenDoor, place: Path) -> None:
    def fail() -> str:
        raise RuntimeError("private words")

    open_door(fail)
    with pytest.raises(DaemonError, match="internal") as caught:
        call(place / "wellkept.sock", "turn_context", {"window": []}, 5)
    assert "private" not in str(caught.value)
    assert call(place / "wellkept.sock", "ping", {}, 5)["ok"]


@pytest.mark.req("C-422")
def test_too_many_waiting_requests_make_it_busy(open_door: OpenDoor, raw: Raw) -> None:
    gate = threading.Event()
    door = open_door(lambda: (gate.wait(60) and "late") or "never", budget_s=0.01)
    answers = [parsed(raw(request(door, "turn_context", b'{"window":[]}'))) for _ in range(18)]
    gate.set()
    assert [status for status, _, _ in answers[:2]] == [200, 200]
    assert answers[-1][2] == {"ok": False, "error": "busy"}


@pytest.mark.req("C-421")
@pytest.mark.parametrize(
    "garbage",
    [
        b"",
        b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"POST /ipc/ping\r\n\r\n",
        b"POST /ipc/ping HTTP/9.9\r\n\r\n",
        b"POST http://elsewhere/ipc/ping HTTP/1.1\r\n\r\n",
        b"POST /ipc/ping HTTP/1.1\r\nwellkept-secret",
        b"POST /ipc/ping HTTP/1.1\r\n" + b"x: y\r\n" * 200 + b"\r\n",
        b"POST /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 500,
        bytes(range(256)) * 10,
    ],
)
def test_garbage_is_refused_and_the_door_stays_open(open_door: OpenDoor, raw: Raw, place: Path, garbage: bytes) -> None:
    open_door()
    assert b" 200 " not in raw(garbage).split(b"\r\n")[0]
    assert call(place / "wellkept.sock", "ping", {}, 5)["ok"]


@pytest.mark.req("C-421")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(garbage=st.binary(max_size=2000))
def test_no_bytes_without_the_secret_are_answered_with_success(
    open_door: OpenDoor, raw: Raw, place: Path, garbage: bytes
) -> None:
    if not (place / "wellkept.sock").exists():
        open_door()
    assert b" 200 " not in raw(b"POST /ipc/ping HTTP/1.1\r\n" + garbage).split(b"\r\n")[0]
    assert call(place / "wellkept.sock", "ping", {}, 5)["ok"]


@pytest.mark.req("C-421")
def test_a_peer_that_drips_is_hung_up_on(open_door: OpenDoor, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ipc, "READ_S", 0.2)
    door = open_door(budget_s=0.1)
    with socket.socket(socket.AF_UNIX) as slow:
        slow.settimeout(10)
        slow.connect(str(place / "wellkept.sock"))
        head = request(door, "ping", b"{}", content_length="100000")
        survived = 0
        with suppress(BrokenPipeError, ConnectionResetError):
            for byte in head + b" " * 1000:
                survived += 1
                assert call(place / "wellkept.sock", "ping", {}, 5)["ok"]
                slow.send(bytes([byte]))
                time.sleep(0.02)
    assert survived < 500


@pytest.mark.req("C-421")
def test_a_peer_that_hangs_up_early_is_no_news(
    open_door: OpenDoor, place: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    door = open_door()
    for size in (0, 30, 200):
        with socket.socket(socket.AF_UNIX) as hasty:
            hasty.connect(str(place / "wellkept.sock"))
            hasty.sendall(request(door, "turn_context", b'{"window":[]}')[:size])
    assert call(place / "wellkept.sock", "ping", {}, 5)["ok"]
    assert capfd.readouterr().err == ""


@pytest.mark.req("C-420")
def test_a_peer_of_another_user_is_not_heard(open_door: OpenDoor, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    open_door()
    uid = os.geteuid()
    secret = read_secret(place).decode()
    monkeypatch.setattr(ipc.os, "geteuid", lambda: uid + 1)
    monkeypatch.setattr(ipc, "read_secret", lambda directory: secret.encode())
    with pytest.raises(DaemonUnavailable):
        call(place / "wellkept.sock", "ping", {}, 5)


@pytest.mark.req("C-422")
def test_a_caller_is_told_what_is_wrong(open_door: OpenDoor, place: Path) -> None:
    with pytest.raises(DaemonUnavailable, match="wellkept daemon"):
        call(place / "wellkept.sock", "ping", {}, 1)
    open_door()
    (place / "ipc-secret").write_bytes(b"0" * 64 + b"\n")
    with pytest.raises(Unauthorized):
        call(place / "wellkept.sock", "ping", {}, 5)


def beats(door: Door) -> list[dict[str, Any]]:
    for _ in range(100):
        # The line is written after the answer, so the caller may be here first.
        if door.heartbeat.path.exists() and door.heartbeat.path.read_bytes().endswith(b"\n"):
            break
        time.sleep(0.05)
    return [json.loads(line) for line in door.heartbeat.path.read_text().splitlines()]


@pytest.mark.req("C-416")
def test_a_delivery_is_logged_without_its_content(open_door: OpenDoor, place: Path) -> None:
    door = open_door(lambda: "secret words")
    call(place / "wellkept.sock", "turn_context", {"window": [{"role": "user", "text": "other words"}]}, 5)
    (beat,) = beats(door)
    assert list(beat) == ["ts", "event", "outcome", "reason", "duration_ms", "turns", "bytes"]
    assert (beat["outcome"], beat["turns"], beat["bytes"]) == ("injected", 1, 12)
    assert "words" not in json.dumps(beat)
    assert stat.S_IMODE(door.heartbeat.path.stat().st_mode) == 0o600
