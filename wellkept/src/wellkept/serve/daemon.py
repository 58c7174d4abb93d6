"""The daemon's life: one per data directory, from its lock to its last answer."""

from __future__ import annotations

import fcntl
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

from wellkept.errors import DaemonError, SettingsError, StoreUnavailable
from wellkept.hooks import HOOKS
from wellkept.memory import Memory
from wellkept.model import Message
from wellkept.serve.heartbeat import Heartbeat
from wellkept.serve.ipc import Door, install_secret
from wellkept.serve.kinds import Desk
from wellkept.serve.private import check_private
from wellkept.serve.waiting import Waiting
from wellkept.serve.worker import Worker
from wellkept.settings import Settings, make_private, open_memory

STOP_S = 2.0
"""How long a stopping daemon waits for work that has begun."""


def real_clock() -> datetime:
    """Now, in UTC."""
    return datetime.now(UTC)


def file_clock(path: Path) -> Callable[[], datetime]:
    """A clock that reads its time from a file, anew each time it is asked, so that runs can be repeated exactly.

    The file holds one ISO 8601 time; one without an offset is UTC. SettingsError names a file that does not.
    """

    def now() -> datetime:
        try:
            read = datetime.fromisoformat(path.read_text(encoding="ascii").strip())
        except (OSError, ValueError) as error:
            raise SettingsError(f"test clock {path}: {error}. Write one ISO 8601 time into it") from None
        return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)

    now()
    return now


@contextmanager
def opened(settings: Settings, test_clock: Path | None = None) -> Iterator[Door]:
    """A door that listens, with its memory open; `serve_forever` lets it answer. All is closed on leaving.

    DaemonError when another daemon serves the directory, or when the place is not private.
    """
    clock = real_clock if test_clock is None else file_clock(test_clock)
    make_private(settings.data_dir)
    check_private(settings.data_dir)
    make_private(settings.socket.parent)
    check_private(settings.socket.parent)
    with ExitStack() as stack:
        stack.enter_context(only_one(settings.data_dir, "daemon.lock", "daemon"))
        secret = install_secret(settings.socket.parent)
        worker = Worker()
        memory = worker.run(lambda: open_memory(settings))
        stack.callback(_stop, worker, memory.close)
        worker.run(lambda: _warm(memory, settings.source))
        memory.embed_in_background()
        desk = Desk(
            memory=memory,
            worker=worker,
            source=settings.source,
            clock=clock,
            test_clock=test_clock is not None,
            hooks_on=settings.hooks,
            roots=settings.transcript_roots,
            home=settings.home,
            budget_s=settings.budget_ms / 1000,
            begin_s=settings.budget_ms * 1.5 / 1000,
            keep_s=settings.budget_ms * 3 / 1000,
        )
        _remove_stale(settings.socket)
        heartbeat = Heartbeat(settings.socket.with_name("heartbeat.jsonl"))
        try:
            door = Door(settings.socket, desk, secret, heartbeat)
        except OSError as error:
            raise StoreUnavailable.for_file(settings.socket, error) from None
        door.also = Waiting(settings.data_dir / "waiting", desk, heartbeat).look
        stack.callback(_close, door, settings.socket)
        with suppress(OSError):  # what kept an earlier one from starting does so no longer
            os.truncate(settings.daemon_log, 0)
        yield door


def serve(
    settings: Settings,
    test_clock: Path | None = None,
    ready: Callable[[Path], None] | None = None,
    idle_s: float | None = None,
) -> None:
    """Answer until SIGTERM or SIGINT, or until nobody has asked anything for `idle_s` seconds.

    `ready` is called with the socket's path once it can be reached.
    """
    with opened(settings, test_clock) as door:

        def stop(*_: object) -> None:
            # shutdown waits for the loop that this interrupts, so it needs a thread of its own.
            threading.Thread(target=door.shutdown, daemon=True).start()

        door.idle_s, door.idle = idle_s, stop

        before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            if ready is not None:
                ready(settings.socket)
            door.serve_forever(poll_interval=0.2)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _warm(memory: Memory, source: str) -> None:
    """The first question of a process loads code and word lists; no hook should have to wait for that."""
    for module in HOOKS.values():
        import_module(module)
    unseen = Memory(memory.store)  # nobody asked this, so it is not captured
    unseen.context(source, (Message("user", "Good morning, Sam. Is `it` done?"),))


@contextmanager
def only_one(data_dir: Path, lock: str, what: str) -> Iterator[None]:
    """Nobody else is that in the directory inside. DaemonError names the process that is.

    StoreUnavailable where the directory takes no file.
    """
    path = data_dir / lock
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise StoreUnavailable.for_file(path, error) from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            pid = os.pread(descriptor, 20, 0).decode("ascii", "replace").strip() or "unknown"
            raise DaemonError(f"a {what} (process {pid}) already serves {data_dir}. Stop it first") from None
        with suppress(OSError):  # a full disk; only whoever comes second would have liked to know
            os.ftruncate(descriptor, os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0))
        yield
    finally:
        os.close(descriptor)


def _remove_stale(path: Path) -> None:
    """Whoever left a socket here is gone: the lock is ours."""
    if path.is_socket():
        path.unlink()
    elif path.exists() or path.is_symlink():
        raise DaemonError(f"{path}: in the way, and not a socket. Remove it")


def _close(door: Door, path: Path) -> None:
    door.server_close()
    with suppress(FileNotFoundError):
        path.unlink()


def _stop(worker: Worker, close: Callable[[], None]) -> None:
    """Close the memory after the job that runs, if it ends in time; SQLite's journal covers the other case."""
    with suppress(Exception):
        worker.run(close, STOP_S)
    worker.stop(STOP_S)
