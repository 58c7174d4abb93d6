"""One thread does the work; those who wait may stop waiting."""

from __future__ import annotations

import sys
import threading

import pytest

from wellkept.serve.worker import PENDING, BudgetSpent, Busy, Worker


def test_jobs_run_in_one_thread_and_give_back_or_raise() -> None:
    worker = Worker()
    assert worker.run(threading.get_ident) == worker.run(threading.get_ident) != threading.get_ident()
    with pytest.raises(ZeroDivisionError):
        worker.run(lambda: 1 // 0)
    with pytest.raises(SystemExit):
        worker.run(lambda: sys.exit())
    assert worker.run(lambda: "still here") == "still here"
    assert worker.stop(5)


def test_a_timeout_of_the_job_is_not_a_spent_budget() -> None:
    def job() -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        Worker().run(job, 5)


def test_who_stops_waiting_does_not_run_later() -> None:
    worker = Worker()
    gate, ran = threading.Event(), []
    with pytest.raises(BudgetSpent):
        worker.run(lambda: gate.wait(10), 0.01)
    with pytest.raises(BudgetSpent):
        worker.run(lambda: ran.append(1), 0.01)
    gate.set()
    worker.run(lambda: None)
    assert ran == []


def test_too_many_waiting_jobs_are_refused() -> None:
    worker = Worker()
    gate = threading.Event()
    with pytest.raises(BudgetSpent):
        worker.run(gate.wait, 0.05)
    for _ in range(PENDING):
        with pytest.raises(BudgetSpent):
            worker.run(gate.wait, 0.001)
    with pytest.raises(Busy):
        worker.run(gate.wait, 0.001)
    assert not worker.stop(0.1)
    gate.set()
