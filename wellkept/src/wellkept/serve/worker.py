"""One thread that owns the memory, so that a request may stop waiting without stopping the work."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")

PENDING = 16


class Busy(Exception):
    """Too many requests are waiting already."""


class BudgetSpent(Exception):
    """The time to wait is over; a job that had begun runs on."""


class Worker:
    """Runs jobs one after another in its own thread."""

    def __init__(self) -> None:
        self._jobs: queue.Queue[tuple[Callable[[], Any], Future[Any]] | None] = queue.Queue(PENDING)
        self._thread = threading.Thread(target=self._work, name="memory", daemon=True)
        self._thread.start()

    def run(self, job: Callable[[], T], wait_s: float | None = None) -> T:
        """What the job returns or raises; BudgetSpent after `wait_s` seconds; Busy when PENDING jobs are waiting."""
        future: Future[T] = Future()
        try:
            self._jobs.put_nowait((job, future))
        except queue.Full:
            raise Busy from None
        try:
            return future.result(wait_s)
        except TimeoutError:
            if future.done() and future.exception() is not None:  # the job's own
                raise
            future.cancel()
            raise BudgetSpent from None

    def stop(self, wait_s: float) -> bool:
        """End after the jobs already given; False if they still run after `wait_s` seconds."""
        try:
            self._jobs.put(None, timeout=wait_s)
        except queue.Full:
            return False
        self._thread.join(wait_s)
        return not self._thread.is_alive()

    def _work(self) -> None:
        while (entry := self._jobs.get()) is not None:
            job, future = entry
            if not future.set_running_or_notify_cancel():
                continue
            try:
                result = job()
            except BaseException as error:
                future.set_exception(error)
            else:
                future.set_result(result)
