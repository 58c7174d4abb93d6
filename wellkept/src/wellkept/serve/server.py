"""The HTTP server's life: one per data directory, from its lock to its last answer."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from wellkept.errors import BadRequest, SettingsError, StoreUnavailable
from wellkept.serve import http
from wellkept.serve.daemon import file_clock, only_one, real_clock
from wellkept.serve.mcp import mounted
from wellkept.serve.private import check_private
from wellkept.serve.routes import Desk
from wellkept.serve.tokens import Tokens
from wellkept.settings import Settings, make_private, open_memory

PLACE = "serve.json"
"""Where a server says how it is reached, for the relay of the same user."""


def serve(
    settings: Settings,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    names: tuple[str, ...] = (),
    test_clock: Path | None = None,
    idle_s: float | None = None,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Answer HTTP and MCP until SIGTERM or SIGINT, or until nobody asked for `idle_s` seconds.

    `ready` is called with the address once it can be reached. Beyond this machine it is served only where there are
    tokens, and under the `names` that are given.
    """
    make_private(settings.data_dir)
    check_private(settings.data_dir)
    tokens = Tokens(settings.data_dir / "tokens.json")
    if not http.is_loopback(host) and not tokens.all():
        raise SettingsError(
            f"host {host}: others can reach it, and there is no token yet. Make one: wellkept token add"
        )
    clock = real_clock if test_clock is None else file_clock(test_clock)
    with only_one(settings.data_dir, "serve.lock", "server"):
        memory = open_memory(settings)
        try:
            memory.embed_in_background()
            desk = Desk(memory, tokens, clock, test_clock is not None)
            app = http.application(desk, names if http.is_loopback(host) else (host, *names), partial(mounted, desk))
            _run(app, settings.data_dir / PLACE, _listening(host, port), idle_s, ready)
        finally:
            memory.close()


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=128)
    except OSError as error:
        raise SettingsError(f"{host}:{port}: {error.strerror or error}. Name another --port") from None
    # Connections inherit it; asyncio sets it only on sockets that it made, and each answer then waits for 40 ms.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _run(
    app: Any, place: Path, listening: socket.socket, idle_s: float | None, ready: Callable[[str], None] | None
) -> None:
    host, port = listening.getsockname()[:2]
    url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    watched = _Watched(app)
    # 8 MiB of arguments are read by the application itself; a header line has no business to be long.
    config = uvicorn.Config(
        watched,
        http=_Http,
        log_config=None,
        access_log=False,
        server_header=False,
        lifespan="on",
        timeout_graceful_shutdown=5,
    )
    server = _Server(config, watched, idle_s, lambda: _ready(place, url, ready))
    # uvicorn sends itself the signal again once it has stopped; by then everything must still be put away.
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        server.run(sockets=[listening])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        listening.close()
        with suppress(FileNotFoundError):
            place.unlink()
    if server.trouble is not None:
        raise server.trouble


def _ready(place: Path, url: str, ready: Callable[[str], None] | None) -> None:
    beside = place.with_name(f".{place.name}.{os.getpid()}")
    try:
        with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "w") as file:
            json.dump({"url": url, "pid": os.getpid()}, file)
        os.replace(beside, place)
    except OSError as error:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise StoreUnavailable.for_file(place, error) from None
    if ready is not None:
        ready(url)


class _Http(H11Protocol):
    """HTTP/1.1, that refuses what it cannot read in the form of all other refusals."""

    def send_400_response(self, msg: str) -> None:
        """Say it and hang up."""
        refused = http.refusal(
            BadRequest("the request cannot be read as HTTP; its headers may have 64 KiB, and a token has 65 characters")
        )
        kept = ("content-type", "content-length")
        fields = [(name, value) for name, value in refused.raw_headers if name.decode() in kept]
        parts = (
            h11.Response(status_code=400, headers=[*fields, (b"connection", b"close")], reason=b"Bad Request"),
            h11.Data(data=bytes(refused.body)),
            h11.EndOfMessage(),
        )
        for part in parts:
            self.transport.write(self.conn.send(part) or b"")
        self.transport.close()


class _Watched:
    """The application, and when it was last asked."""

    def __init__(self, app: Any) -> None:
        self._app = app
        self.asked = time.monotonic()
        self.working = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.asked, self.working = time.monotonic(), self.working + 1
        try:
            await self._app(scope, receive, send)
        finally:
            self.asked, self.working = time.monotonic(), self.working - 1


class _Server(uvicorn.Server):
    """Says when it is ready, and ends when nobody asks."""

    def __init__(
        self, config: uvicorn.Config, watched: _Watched, idle_s: float | None, ready: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._watched, self._idle_s, self._ready = watched, idle_s, ready
        self.trouble: StoreUnavailable | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            try:
                self._ready()
            except StoreUnavailable as error:
                # Raised once all that runs has been put away.
                self.trouble = error

    async def on_tick(self, counter: int) -> bool:
        idle = time.monotonic() - self._watched.asked
        # The lifespan is one call that lasts as long as the server.
        if self.trouble is not None:
            return True
        if self._idle_s is not None and idle > self._idle_s and self._watched.working <= 1:
            return True
        return await super().on_tick(counter)
