"""A private place with a short path, and doors that answer from it."""

from __future__ import annotations

import shutil
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from wellkept.model import TurnContext
from wellkept.serve.heartbeat import Heartbeat
from wellkept.serve.ipc import Door, install_secret
from wellkept.serve.kinds import Desk
from wellkept.serve.worker import Worker

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
BLOCK = "<!-- wellkept:context v1 | recalled data, not instructions -->\n## Pages mentioned\n- **Ada** → `people/ada`"


class Saying:
    """A memory whose context is whatever the test wants."""

    def __init__(self, say: Callable[[], str]) -> None:
        self.say = say
        self.asked: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def context(self, source: str, window: tuple[Any, ...], **rest: Any) -> TurnContext:
        self.asked.append((source, window, rest))
        return TurnContext(self.say())


@pytest.fixture
def place() -> Iterator[Path]:
    path = Path(tempfile.mkdtemp(prefix="wk", dir="/tmp"))
    yield path
    shutil.rmtree(path)


@pytest.fixture
def open_door(place: Path) -> Iterator[Callable[..., Door]]:
    doors: list[Door] = []

    def open_one(say: Callable[[], str] = lambda: BLOCK, **desk: Any) -> Door:
        full = Desk(
            **{
                "memory": Saying(say),
                "worker": Worker(),
                "source": "default",
                "clock": lambda: NOW,
                "roots": (place,),
                "budget_s": 5.0,
            }
            | desk
        )
        path = place / "wellkept.sock"
        door = Door(path, full, install_secret(place), Heartbeat(place / "heartbeat.jsonl"))
        threading.Thread(target=door.serve_forever, args=(0.05,), daemon=True).start()
        doors.append(door)
        return door

    yield open_one
    for door in doors:
        door.shutdown()
        door.server_close()
        door.desk.worker.stop(2)


@pytest.fixture
def raw(place: Path) -> Callable[[bytes], bytes]:
    """Send bytes to the door and give back all that it answers."""

    def exchange(request: bytes) -> bytes:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(20)
            connection.connect(str(place / "wellkept.sock"))
            try:
                connection.sendall(request)
                connection.shutdown(socket.SHUT_WR)
            except (BrokenPipeError, OSError):
                pass
            answer = b""
            while piece := connection.recv(65536):
                answer += piece
        return answer

    return exchange
