"""The server's place: where it listens, and how fast an answer leaves."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from wellkept.errors import SettingsError
from wellkept.serve.server import _listening


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_an_answer_is_sent_at_once_and_not_when_the_last_was_acknowledged(host: str) -> None:
    with _listening(host, 0) as listening, socket.create_connection(listening.getsockname()[:2]):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_an_address_that_cannot_be_had_is_named() -> None:
    with _listening("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        with pytest.raises(SettingsError, match=f"127.0.0.1:{port}: .*Name another --port"):
            _listening("127.0.0.1", port)
    with pytest.raises(SettingsError, match=r"no\.such\.host:1: "):
        _listening("no.such.host", 1)


def test_a_header_that_is_too_long_is_refused_like_everything_else(tmp_path: Path) -> None:
    directory = tmp_path / "memory"
    directory.mkdir(mode=0o700)
    argv = [sys.executable, "-m", "wellkept", "serve", "--port", "0", "--json", "--data-dir", str(directory)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = "".join(iter(lambda: process.stdout.read(1), "}")) + "}"  # type: ignore[union-attr]
        address = urlsplit(json.loads(said)["url"])
        with socket.create_connection((address.hostname, address.port), timeout=20) as connection:
            with suppress(OSError):
                connection.sendall(b"GET /api/auth/whoami HTTP/1.1\r\nAuthorization: Bearer " + b"x" * 1_000_000)
            answer = b""
            with suppress(ConnectionResetError):
                while piece := connection.recv(65536):
                    answer += piece
        process.terminate()
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"application/problem+json" in head
    assert (json.loads(body)["code"], json.loads(body)["status"]) == ("bad_request", 400)
