"""How long a question takes, and what a process holds."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np

from wellkept.bench import Timing

_WARM = 5


def timed(ask: Callable[[str], object], questions: Sequence[str]) -> Timing:
    """Each question once, after a few that do not count."""
    for question in questions[:_WARM]:
        ask(question)
    wall, cpu = [], []
    for question in questions:
        began, used = time.perf_counter(), time.process_time()
        ask(question)
        wall.append((time.perf_counter() - began) * 1000)
        cpu.append((time.process_time() - used) * 1000)
    return Timing(*_quantiles(wall), *_quantiles(cpu))


def _quantiles(values: Iterable[float]) -> tuple[float, float]:
    low, high = np.percentile(list(values), [50, 95])
    return float(low), float(high)


class Stopwatch:
    """Seconds by the clock and of the processor, of what is done inside it."""

    def __init__(self) -> None:
        self.wall = self.cpu = 0.0

    def __enter__(self) -> Stopwatch:
        self.wall -= time.perf_counter()
        self.cpu -= time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall += time.perf_counter()
        self.cpu += time.process_time()


def rss_mb() -> float:
    """What this process holds in memory; not a number where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return float("nan")
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def folder_mb(folder: Path) -> float:
    """What the files in a folder take."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
