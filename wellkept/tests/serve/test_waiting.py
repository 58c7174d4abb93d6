"""What waits is kept once, stays while it cannot be, and goes when it never can."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from wellkept.errors import StoreUnavailable
from wellkept.hooks import command
from wellkept.ingest.claude_code import write
from wellkept.memory import Memory
from wellkept.model import Message, WriteReceipt
from wellkept.serve.heartbeat import Heartbeat
from wellkept.serve.ipc import Door
from wellkept.serve.kinds import Desk
from wellkept.serve.waiting import Waiting, files
from wellkept.serve.worker import Worker
from wellkept.storage import open_store

from .conftest import NOW


class Failing(Memory):
    """A memory whose disk is full while `full`."""

    full = True

    def bank(self, *arguments: Any, **more: Any) -> WriteReceipt:
        if self.full:
            raise StoreUnavailable("memory.db", "disk full")
        return super().bank(*arguments, **more)


@pytest.fixture
def memory() -> Iterator[Failing]:
    opened = Worker()
    made = opened.run(lambda: Failing(open_store("sqlite", ":memory:")))
    made.worker = opened  # type: ignore[attr-defined]
    yield made
    opened.stop(2)


@pytest.fixture
def desk(memory: Failing, place: Path) -> Desk:
    worker: Worker = memory.worker  # type: ignore[attr-defined]
    return Desk(memory=memory, worker=worker, source="default", clock=lambda: NOW, roots=(place,), keep_s=20.0)


def event(place: Path, session: str = "s", said: str = "Hello.") -> dict[str, str]:
    path = place / f"{session}.jsonl"
    path.write_bytes(write([Message("user", said)], session=session))
    return {"harness": "claude-code", "event": "stop", "session_id": session, "transcript_path": str(path)}


def put_down(place: Path, name: str, content: object) -> None:
    (place / "waiting").mkdir(exist_ok=True)
    text = content if isinstance(content, str) else json.dumps(content)
    (place / "waiting" / name).write_text(text)


def take(place: Path, desk: Desk) -> list[tuple[str, str]]:
    """Look once, and give what the log then says."""
    waiting = Waiting(place / "waiting", desk, Heartbeat(place / "heartbeat.jsonl"))
    waiting.look()
    if waiting._thread is not None:
        waiting._thread.join(30)
    log = place / "heartbeat.jsonl"
    rows = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return [(row["outcome"], row["reason"]) for row in rows]


def kept(desk: Desk, session: str) -> str:
    return desk.worker.run(lambda: desk.memory.get_page("default", f"conversations/{session}").content)


def test_what_waits_is_kept_and_goes(place: Path, desk: Desk, memory: Failing) -> None:
    memory.full = False
    put_down(place, "a.json", event(place, "a"))
    put_down(place, "b.taken", event(place, "b", "Good evening."))
    assert take(place, desk) == [("kept", ""), ("kept", "")]
    assert "Hello." in kept(desk, "a")
    assert "Good evening." in kept(desk, "b")
    assert files(place / "waiting") == []


def test_what_cannot_be_kept_waits_on_and_is_not_tried_at_once(place: Path, desk: Desk, memory: Failing) -> None:
    put_down(place, "a.json", event(place, "a"))
    put_down(place, "b.json", event(place, "b"))
    assert take(place, desk) == [("failed", "exception:StoreUnavailable")]
    assert len(files(place / "waiting")) == 2
    memory.full = False
    assert take(place, desk)[1:] == [("kept", ""), ("kept", "")]


@pytest.mark.parametrize("content", ["", "{", "[]", '{"harness": 1}', '{"harness": "emacs"}', "{}", "\0" * 9])
def test_what_is_no_event_goes(place: Path, desk: Desk, content: str) -> None:
    put_down(place, "a.json", content)
    assert take(place, desk) == []
    assert files(place / "waiting") == []


def test_a_transcript_that_is_gone_goes_too_and_is_logged(place: Path, desk: Desk) -> None:
    gone = event(place, "a")
    Path(gone["transcript_path"]).unlink()
    put_down(place, "a.json", gone)
    assert take(place, desk) == [("failed", "transcript_unreadable")]
    assert files(place / "waiting") == []


def test_no_folder_is_nothing_to_do(place: Path, desk: Desk) -> None:
    assert take(place, desk) == []


@pytest.mark.req("C-415", "C-416")
@pytest.mark.field("HOK-11")
def test_a_memory_that_cannot_write_tells_the_hook_which_writes_the_place_down(
    place: Path, desk: Desk, open_door: Callable[..., Door], memory: Failing
) -> None:
    open_door(memory=memory, worker=desk.worker, keep_s=20.0)
    said = json.dumps(event(place, "a")).encode()
    argv = command("claude-code", place / "wellkept.sock", 20_000, event="stop", start=(place, "default"))
    done = subprocess.run(argv, input=said, capture_output=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")
    reasons = [json.loads(line)["reason"] for line in (place / "heartbeat.jsonl").read_text().splitlines()]
    assert reasons == ["exception:StoreUnavailable", "ipc_unavailable"]
    assert [path.name for path in files(place / "waiting")] == ["claude-code-a.json"]


@pytest.mark.req("C-415")
def test_a_memory_that_is_slow_tells_the_hook_too(
    place: Path, desk: Desk, open_door: Callable[..., Door], memory: Failing
) -> None:
    memory.full = False
    open_door(memory=memory, worker=desk.worker, keep_s=0.05)
    done = threading.Event()
    threading.Thread(target=lambda: desk.worker.run(done.wait), daemon=True).start()
    time.sleep(0.2)
    argv = command("claude-code", place / "wellkept.sock", 20_000, event="stop", start=(place, "default"))
    subprocess.run(argv, input=json.dumps(event(place, "a")).encode(), capture_output=True, timeout=60, check=True)
    assert not done.is_set()
    done.set()
    assert [path.name for path in files(place / "waiting")] == ["claude-code-a.json"]
