"""MCP over standard input and output, for harnesses that start a process: a relay to the HTTP server of this memory.

Needs the standard library alone, so that it starts at once. Where no server runs, it starts one, which ends by itself
when nobody asks any more.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from wellkept.errors import DaemonError, DaemonUnavailable, NotFound, SettingsError, StoreUnavailable
from wellkept.serve.private import check_private
from wellkept.serve.tokens import Tokens

START_S = 30.0
ANSWER_S = 120.0
IDLE_S = 1800
_TOKEN_DAYS = 7
_LINE_BYTES = 16 * 1024 * 1024
_INTERNAL, _PARSE = -32603, -32700


@dataclass(frozen=True, slots=True)
class Place:
    """Whose memory, and where."""

    data_dir: Path
    source: str
    principal: str
    also: tuple[str, ...] = ()

    @property
    def file(self) -> Path:
        """Where the server says how it is reached."""
        return self.data_dir / "serve.json"


def relay(place: Place, asked: IO[bytes], said: IO[bytes]) -> None:
    """Answer each line until the input ends. What the server cannot be asked is answered as an error of MCP."""
    with _token(place) as token:
        server = _Server(place, token)
        while line := asked.readline(_LINE_BYTES):
            if line.strip():
                for answer in _answers(server, line):
                    said.write(answer + b"\n")
                    said.flush()


@contextmanager
def _token(place: Place) -> Iterator[str]:
    """A token of the relay's own, gone when it ends."""
    tokens = Tokens(place.data_dir / "tokens.json")
    lasts = timedelta(days=_TOKEN_DAYS)
    scopes = ("read", "write", "cite")
    text, kept = tokens.add(place.principal, place.source, scopes, lasts, datetime.now(UTC), also=place.also)
    try:
        yield text
    finally:
        with suppress(NotFound, SettingsError, StoreUnavailable):
            tokens.remove(kept.id)


def _answers(server: _Server, line: bytes) -> Iterator[bytes]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        yield _error(None, _PARSE, "the line is no JSON")
        return
    number = message.get("id") if isinstance(message, dict) else None
    try:
        status, body = server.ask(line.strip(), message if isinstance(message, dict) else {})
    except (OSError, HTTPException, DaemonError) as error:
        yield from [] if number is None else [_error(number, _INTERNAL, f"the memory cannot be asked: {error}")]
        return
    if not body or (status >= 400 and not _is_message(body)):
        yield from [] if number is None else [_error(number, _INTERNAL, _detail(status, body))]
        return
    yield json.dumps(json.loads(body), ensure_ascii=True).encode()


def _is_message(body: bytes) -> bool:
    with suppress(ValueError):
        return "jsonrpc" in json.loads(body)
    return False


def _detail(status: int, body: bytes) -> str:
    with suppress(ValueError, TypeError, KeyError):
        return str(json.loads(body)["detail"])
    return f"the server answered with {status}"


def _error(number: object, code: int, message: str) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}).encode()


class _Server:
    """The server that is asked; found, started or started anew as needed."""

    def __init__(self, place: Place, token: str) -> None:
        self._place, self._token = place, token
        self._connection: HTTPConnection | None = None
        self._version = ""

    def ask(self, line: bytes, message: Mapping[str, Any]) -> tuple[int, bytes]:
        """Status and body of the answer. A server that went away between two requests is looked for once more."""
        asked = message.get("params")
        if message.get("method") == "initialize" and isinstance(asked, dict):
            self._version = ""
        try:
            status, body = self._post(line)
        except (OSError, HTTPException):
            self._close()
            # A request whose fate is not known is not sent again, unless it cannot have begun: nobody listened.
            if _reachable(self._place):
                raise
            status, body = self._post(line)
        if message.get("method") == "initialize":
            with suppress(ValueError, TypeError, KeyError):
                self._version = str(json.loads(body)["result"]["protocolVersion"])
        return status, body

    def _post(self, line: bytes) -> tuple[int, bytes]:
        if self._connection is None:
            self._connection = _connected(self._place)
        headers = {
            "Authorization": f"Bearer {self._token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        if self._version:
            headers["Mcp-Protocol-Version"] = self._version
        self._connection.request("POST", "/mcp", line, headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read()

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def _connected(place: Place) -> HTTPConnection:
    if not _reachable(place):
        check_private(place.data_dir)  # the server would refuse it too, a second later
        _start(place)
    address = urlsplit(_url(place) or "")
    return HTTPConnection(address.hostname or "", address.port, timeout=ANSWER_S)


def _url(place: Place) -> str | None:
    with suppress(OSError, ValueError, KeyError, TypeError):
        return str(json.loads(place.file.read_text(encoding="utf-8"))["url"])
    return None


def _reachable(place: Place) -> bool:
    address = urlsplit(_url(place) or "")
    if not address.hostname:
        return False
    connection = HTTPConnection(address.hostname, address.port, timeout=5)
    try:
        connection.request("GET", "/api/health")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _last_line(log: Path) -> str:
    with suppress(OSError):
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return lines[-1].removeprefix("wellkept: ") if lines else ""
    return ""


def _start(place: Place) -> None:
    """Start a server and wait until it answers; where another relay was first, wait for that one."""
    log = place.data_dir / "serve.log"
    argv = [sys.executable, "-m", "wellkept", "serve", "--port", "0", "--idle-s", str(IDLE_S)]
    argv += ["--data-dir", str(place.data_dir), "--source", place.source]
    with open(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "wb") as file:
        process = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=file, stderr=file, start_new_session=True, close_fds=True
        )
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        if _reachable(place):
            return
        if process.poll() is not None and not _reachable(place):
            said = _last_line(log)
            # Another relay's server may be on its way; whatever else ended ours will end the next one too.
            if said and "already serves" not in said:
                raise DaemonUnavailable(f"the server of {place.data_dir} cannot start: {said}")
            if time.monotonic() > deadline - START_S + 10:
                break
        time.sleep(0.05)
    raise DaemonUnavailable(f"no server answers for {place.data_dir}. Look into {log}, or start one: wellkept serve")
