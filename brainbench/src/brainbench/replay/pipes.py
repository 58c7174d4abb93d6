"""What worker processes say to the pool, read without making any object that they name.

The pool's messages are pickles, and a pickle can call whatever it names. A system has the pipe of its worker at hand,
so only the pool's own message types are made here; anything else is passed over.
"""

from __future__ import annotations

import io
import logging
import pickle
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

from pebble import ProcessPool

_MESSAGES = {
    "pebble.pool.process": ("Acknowledgement", "TaskResult", "TaskProblem"),
    "pebble.common.types": ("Result", "ResultStatus"),
}


class _Messages(pickle.Unpickler):
    """Knows the message types of the pool and nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if name not in _MESSAGES.get(module, ()):
            raise pickle.UnpicklingError(f"{module}.{name} is no message of the pool")
        return super().find_class(module, name)


def read_plainly(pool: ProcessPool) -> None:
    """Make a pool that has not started yet read its workers' messages this way."""
    workers: Any = pool._pool_manager.worker_manager
    make_channels = workers.create_channels

    def channels() -> None:
        make_channels()
        workers.pool_channel.recv = partial(_receive, workers.pool_channel.reader)

    workers.create_channels = channels


def _receive(reader: Connection) -> object:
    """The next message; None, which the pool passes over, for what is none."""
    try:
        return _Messages(io.BytesIO(reader.recv_bytes())).load()
    except (OSError, EOFError):
        raise
    except Exception:
        logging.getLogger(__name__).warning("a worker sent what is no message of the pool; it was passed over")
        return None
