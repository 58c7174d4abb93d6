"""The server's place: where it listens, and how fast an answer leaves."""

from __future__ import annotations

import socket

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
