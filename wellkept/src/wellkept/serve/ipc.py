"""The socket door: HTTP/1.1 on a unix socket, one `POST /ipc/<kind>` per connection, for this user only.

Three things stand between a stranger and the memory: a directory and a socket that only their owner can enter, the
peer's user id where the system tells it, and the install secret that every request carries.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
import socket
import stat
import struct
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import Any

import msgspec

from wellkept.errors import DaemonError, DaemonUnavailable, StoreUnavailable, Unauthorized
from wellkept.projects import BY_PROJECT, OWN
from wellkept.serve.heartbeat import Heartbeat
from wellkept.serve.kinds import Desk, Refused, Reply, answer, body_limit, error_reply

PROTOCOL = "2"
READ_S = 5.0
"""How long a peer may take to send its request, or to read the answer."""

_SECRET = re.compile(rb"[0-9a-f]{64}\n")


def install_secret(directory: Path) -> bytes:
    """The secret of this installation, made on first use. DaemonError if the file is not what it should be."""
    path = directory / "ipc-secret"
    if not os.path.lexists(path):
        # Whole or not at all: half a secret would keep every later daemon from starting.
        beside = directory / f".ipc-secret.{os.getpid()}"
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            with open(os.open(beside, flags, 0o600), "wb") as file:
                file.write(secrets.token_hex(32).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(beside, path)
        except OSError as error:
            raise StoreUnavailable.for_file(path, error) from None
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
    return read_secret(directory)


def read_secret(directory: Path) -> bytes:
    """The secret kept in the directory. FileNotFoundError if there is none, DaemonError if it cannot be trusted."""
    path = directory / "ipc-secret"
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise DaemonError(f"{path}: {error.strerror}; remove it and start the daemon again") from None
    with open(descriptor, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
            raise DaemonError(f"{path}: not private; remove it and start the daemon again")
        secret = file.read(128)
    if not _SECRET.fullmatch(secret):
        raise DaemonError(f"{path}: damaged; remove it and start the daemon again")
    return secret.strip()


class Door(ThreadingMixIn, UnixStreamServer):
    """Listens on a socket and lets a desk answer, one thread per connection."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def __init__(self, path: Path, desk: Desk, secret: bytes, heartbeat: Heartbeat) -> None:
        self.desk, self.secret, self.heartbeat = desk, secret, heartbeat
        self._since: dict[socket.socket, float] = {}
        self._guard = threading.Lock()
        self._last = time.monotonic()
        self.also: Callable[[], None] = lambda: None
        """Looked after between visits; it must be quick."""
        self.idle_s: float | None = None
        self.idle: Callable[[], None] = lambda: None
        """Called once nobody has come for `idle_s` seconds."""
        super().__init__(str(path), _Visit)

    def server_bind(self) -> None:
        """Bind, for this user only."""
        super().server_bind()
        os.chmod(str(self.server_address), 0o600)

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Only processes of this user are heard, where the system tells who they are."""
        if not hasattr(socket, "SO_PEERCRED"):
            return True
        credentials = request.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        _, uid, _ = struct.unpack("3i", credentials)
        return bool(uid == os.geteuid())

    def process_request(self, request: Any, client_address: Any) -> None:
        """Serve in a thread, and remember since when."""
        with self._guard:
            self._last = self._since[request] = time.monotonic()
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Close the connection."""
        with self._guard:
            self._since.pop(request, None)
            super().shutdown_request(request)

    def service_actions(self) -> None:
        """Hang up on peers that take too long, however they spread their bytes, and see to what else there is."""
        self.also()
        if self.idle_s is not None and not self._since and time.monotonic() - self._last > self.idle_s:
            self.idle_s = None
            self.idle()
        eldest = time.monotonic() - 2 * READ_S - self.desk.budget_s
        with self._guard:
            for request, since in self._since.items():
                if since < eldest:
                    with suppress(OSError):
                        request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A peer that went away is no news."""


class _Visit(BaseHTTPRequestHandler):
    server: Door
    protocol_version = "HTTP/1.1"
    timeout = READ_S

    def do_POST(self) -> None:
        self.close_connection = True
        try:
            reply = self._reply()
        except Refused as refused:
            reply = error_reply(refused)
        except (TimeoutError, ConnectionError):
            return
        except Exception:
            reply = error_reply(Refused("internal"))
        self._send(reply)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Say in JSON what http.server found wrong with the request."""
        self.close_connection = True
        self._send(error_reply(Refused("bad_request", code)))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - http.server's name
        """Nothing is logged but heartbeats."""

    def _reply(self) -> Reply:
        given = self.headers.get("wellkept-secret", "")
        if not hmac.compare_digest(given.encode("utf-8", "surrogateescape"), self.server.secret):
            raise Refused("unauthorized")
        if self.headers.get("wellkept-protocol") != PROTOCOL:
            raise Refused("unsupported_protocol")
        said, own = self.headers.get("wellkept-source"), self.server.desk.source
        bound = own if said is None else said.encode("latin-1", "replace").decode("utf-8", "replace")
        if bound != own and (bound, own) != (BY_PROJECT, OWN):
            raise Refused("source_mismatch")
        prefix, _, kind = self.path.partition("/ipc/")
        if prefix or not kind:
            raise Refused("unsupported_kind")
        return answer(self.server.desk, kind, self._body(body_limit(kind)), bound)

    def _body(self, limit: int) -> bytes:
        lengths = self.headers.get_all("content-length", [])
        if "transfer-encoding" in self.headers or len(lengths) != 1 or not re.fullmatch("[0-9]{1,15}", lengths[0]):
            raise Refused("bad_request")
        length = int(lengths[0])
        if length > limit:
            raise Refused("bad_request", 413)
        body = self.rfile.read(length)
        if len(body) != length:
            raise ConnectionError("the peer hung up")
        return body

    def _send(self, reply: Reply) -> None:
        self.send_response_only(reply.status)
        self.send_header("wellkept-protocol", PROTOCOL)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply.body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(reply.body)
        # Logged before the connection closes, so that whoever waits for its end finds the line.
        if reply.beat is not None:
            with suppress(OSError):
                self.server.heartbeat.append(reply.beat)
        if reply.status != 200:
            self._read_away()

    def _read_away(self) -> None:
        """Take what is still coming: closing on unread bytes would cost the peer the answer."""
        with suppress(OSError):
            self.connection.shutdown(socket.SHUT_WR)
            while self.rfile.read1(65536):
                pass


class _UnixConnection(HTTPConnection):
    def __init__(self, path: Path, timeout_s: float) -> None:
        super().__init__("wellkept", timeout=timeout_s)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self._path))


def call(path: Path, kind: str, request: Mapping[str, object], timeout_s: float) -> dict[str, Any]:
    """What the daemon at a socket says to a request of a JSON kind (not a hook).

    DaemonUnavailable if none answers, Unauthorized if it does not know our secret, DaemonError for other refusals.
    """
    absent = DaemonUnavailable(f"no daemon answers on {path}. Start one: wellkept daemon (with the same --data-dir)")
    connection = _UnixConnection(path, timeout_s)
    try:
        fields = {"wellkept-secret": read_secret(path.parent).decode(), "wellkept-protocol": PROTOCOL}
        connection.request("POST", f"/ipc/{kind}", msgspec.json.encode(request), fields)
        response = connection.getresponse()
        echo, said = response.headers.get("wellkept-protocol"), msgspec.json.decode(response.read())
    except (OSError, HTTPException, msgspec.DecodeError):
        raise absent from None
    finally:
        connection.close()
    if echo != PROTOCOL or not isinstance(said, dict):
        raise DaemonError(f"the daemon on {path} is of another version. Stop it and start it again")
    if response.status == 401:
        raise Unauthorized(f"the daemon on {path} does not know the secret beside it. Stop it and start it again")
    if said.get("ok") is not True:
        raise DaemonError(f"the daemon on {path} refused: {said.get('error')}")
    return said
