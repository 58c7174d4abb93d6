"""Conversations that hook processes could not hand over: their places were written down, and are taken from there."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import msgspec

from wellkept.hooks import HOOKS
from wellkept.serve.heartbeat import Beat, Heartbeat
from wellkept.serve.kinds import Desk, Refused, keep_heard

LOOK_EVERY_S = 2.0
AFTER_FAILURE_S = 60.0


class Waiting:
    """The events written down in a folder. A file is gone once its conversation is kept, or cannot ever be."""

    def __init__(self, folder: Path, desk: Desk, heartbeat: Heartbeat) -> None:
        self.folder, self.desk, self.heartbeat = folder, desk, heartbeat
        self._next = 0.0
        self._thread: threading.Thread | None = None

    def look(self) -> None:
        """Take what waits, in a thread of its own; quick when nothing does or it is not yet time."""
        now = time.monotonic()
        if now < self._next or (self._thread is not None and self._thread.is_alive()):
            return
        self._next = now + LOOK_EVERY_S
        if files(self.folder):
            self._thread = threading.Thread(target=self._take_all, name="waiting", daemon=True)
            self._thread.start()

    def _take_all(self) -> None:
        for path in files(self.folder):
            if not self._take(path):
                self._next = time.monotonic() + AFTER_FAILURE_S
                return

    def _take(self, path: Path) -> bool:
        """Keep one conversation; False when it has to wait on."""
        began = time.monotonic()
        # Under another name first: a hook process may write the same session down again meanwhile.
        taken = path.with_suffix(".taken")
        try:
            path.rename(taken)
            event = msgspec.json.decode(taken.read_bytes(), type=dict[str, str])
            module = import_module(HOOKS[event["harness"]])
        except (OSError, msgspec.DecodeError, KeyError):
            with suppress(OSError):
                taken.unlink()
            return True
        try:
            said = keep_heard(self.desk, module, msgspec.json.encode(event), bound=event.get("source", ""))
        except Refused:
            return False
        lost = said.outcome == "failed" and said.reason.startswith("exception:")
        if not lost:
            with suppress(OSError):
                taken.unlink()
        ms = (time.monotonic() - began) * 1000
        with suppress(OSError):
            self.heartbeat.append(Beat(f"{event['harness']}/waiting", said.outcome, said.reason, ms, said.turns, 0))
        return not lost


def files(folder: Path) -> list[Path]:
    """What waits, oldest names first; those that a daemon had begun to take when it ended are among them."""
    try:
        return sorted(path for path in folder.iterdir() if path.suffix in (".json", ".taken"))
    except OSError:
        return []
