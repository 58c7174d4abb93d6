"""How long a hook takes for the harness that waits for it: the whole process, from its start to its end."""

from __future__ import annotations

import os
import resource
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass

from wellkept.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class HookTimes:
    """Milliseconds of each run of one hook command, in the order run; `answered` counts those that printed something.

    `load` is the machine's load average before and after: a number without it says little.
    """

    wall_ms: tuple[float, ...]
    cpu_ms: tuple[float, ...]
    answered: int
    load: tuple[float, float]

    def summary(self) -> dict[str, float]:
        """Runs, answers, and the 50th and 95th percentile and the maximum of wall and processor time."""
        found: dict[str, float] = {"runs": len(self.wall_ms), "answered": self.answered}
        for name, values in (("wall_ms", self.wall_ms), ("cpu_ms", self.cpu_ms)):
            ranked = sorted(values)
            for label, share in (("p50", 0.5), ("p95", 0.95), ("max", 1.0)):
                found[f"{name}_{label}"] = round(ranked[max(0, -int(-len(ranked) * share // 1) - 1)], 2)
        return {**found, "load_before": round(self.load[0], 2), "load_after": round(self.load[1], 2)}


def time_hook(argv: Sequence[str], stdin: bytes, runs: int) -> HookTimes:
    """Run a hook command one time after another, as a harness does, and time each run.

    Processor time is that of the hook process alone, not of the daemon. InvalidInput unless there is a run.
    """
    if runs < 1:
        raise InvalidInput("runs", f"is {runs}; give at least 1")
    before = os.getloadavg()[0]
    wall, cpu, answered = [], [], 0
    for _ in range(runs):
        used, began = _children_s(), time.perf_counter()
        done = subprocess.run(argv, input=stdin, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
        wall.append((time.perf_counter() - began) * 1000)
        cpu.append((_children_s() - used) * 1000)
        answered += bool(done.stdout)
    return HookTimes(tuple(wall), tuple(cpu), answered, (before, os.getloadavg()[0]))


def _children_s() -> float:
    """Processor seconds of the processes that this one has started and seen end."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
