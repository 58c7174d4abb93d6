"""What a hook costs is measured on whole processes."""

from __future__ import annotations

import sys

import pytest

from wellkept.errors import InvalidInput
from wellkept.hooks.timing import HookTimes, time_hook


def test_a_process_is_timed_from_its_start_to_its_end() -> None:
    code = "import sys, time; time.sleep(0.2); sys.stdout.write(sys.stdin.read())"
    found = time_hook([sys.executable, "-I", "-S", "-c", code], b"said", 3)
    assert found.answered == 3
    assert all(200 <= wall < 20_000 for wall in found.wall_ms)
    assert all(0 < cpu < 200 for cpu in found.cpu_ms)


def test_one_that_says_nothing_is_not_counted_as_an_answer() -> None:
    assert time_hook([sys.executable, "-I", "-S", "-c", ""], b"", 1).answered == 0


def test_the_summary_is_of_ranks_that_were_measured() -> None:
    times = HookTimes(tuple(float(n) for n in range(100, 0, -1)), (1.0,) * 100, 100, (0.5, 0.75))
    found = times.summary()
    assert (found["wall_ms_p50"], found["wall_ms_p95"], found["wall_ms_max"]) == (50, 95, 100)
    assert (found["runs"], found["cpu_ms_p95"], found["load_before"], found["load_after"]) == (100, 1, 0.5, 0.75)
    one = HookTimes((7.0,), (1.0,), 1, (0, 0)).summary()
    assert one["wall_ms_p50"] == one["wall_ms_p95"] == 7


def test_no_runs_are_refused() -> None:
    with pytest.raises(InvalidInput, match="runs"):
        time_hook([sys.executable], b"", 0)
