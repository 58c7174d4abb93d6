"""What the bench and a system cost: CPU seconds, memory and latency, measured and printed, never asserted.

Machines are shared and noisy, so CPU seconds are the measure and wall time is only told; load and machine stand
beside every figure.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from brainbench.errors import NothingMeasured
from brainbench.model import Ask, Budget, Capability, Message, PageIn, RunContext, SourceDecl
from brainbench.replay.processes import adopt_orphans, children
from brainbench.seams import SEAMS, load_codec
from brainbench.systems import System, load_system

_PAGES_PER_NAME = 20


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured quantity: the median of `runs` in `unit`, all of them, and the budget it should keep."""

    id: str
    quantity: str
    unit: str
    median: float
    values: tuple[float, ...]
    budget: float | None

    @property
    def within(self) -> bool | None:
        """Whether the median keeps the budget; None without one."""
        return None if self.budget is None else self.median <= self.budget


@dataclass(frozen=True, slots=True)
class Machine:
    """Where and how busily it was measured."""

    processor: str
    cores: int
    load: tuple[float, ...]
    python: str


def machine() -> Machine:
    """This machine now; `load` are the averages of 1, 5 and 15 minutes."""
    load = tuple(round(value, 2) for value in os.getloadavg())
    return Machine(_processor(), os.cpu_count() or 1, load, platform.python_version())


SWEEPS: Mapping[str, tuple[tuple[str, tuple[str, ...], float, float | None], ...]] = {
    "v1": (
        ("C-1101: sweep with real hook processes", (), 10.0, 200.0),
        ("C-1102: sweep with the hook in process", ("--hook-inproc",), 2.5, None),
    ),
    "core": (("C-1107: core corpus with the hook in process", ("--hook-inproc",), 30.0, 400.0),),
}
"""What is swept: id and title, flags, budget of CPU seconds and of memory. Those of `v1` are meant for that corpus."""


def measure_all(
    system: str, place: Sequence[str], runs: int, which: str, told: Callable[[str], None] = lambda line: None
) -> list[Figure]:
    """Every figure for a system; `place` are the flags that name the corpus of the sweeps, `which` a key of SWEEPS.

    NothingMeasured when a sweep measured nothing, with what it said.
    """
    figures: list[Figure] = []
    for name, flags, cpu, peak in SWEEPS[which]:
        number, _, title = name.partition(": ")
        told(title)
        sweeps = [_sweep(["--system", system, *place, *flags]) for _ in range(runs)]
        figures.append(_figure(number, f"{title}: CPU with children", "CPU-s", [s.cpu_s for s in sweeps], cpu))
        figures.append(
            _figure(number, f"{title}: peak memory of all processes", "MB", [s.peak_mb for s in sweeps], peak)
        )
        figures.append(_figure(number, f"{title}: wall time (not compared)", "s", [s.wall_s for s in sweeps], None))
    told("store reset, turn context, hook process")
    with tempfile.TemporaryDirectory(prefix="bb-self-") as home, _temporary_files_in(home):
        measured = load_system(system)
        try:
            figures += _in_process(measured, Path(home), runs)
        finally:
            measured.close()
    return figures


@contextmanager
def _temporary_files_in(directory: str) -> Iterator[None]:
    """Here and in processes started meanwhile."""
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = tempfile.tempdir = directory
    try:
        yield
    finally:
        tempfile.tempdir = None
        if before is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = before


@dataclass(frozen=True, slots=True)
class _Sweep:
    cpu_s: float
    peak_mb: float
    wall_s: float


def _sweep(flags: Sequence[str]) -> _Sweep:
    """One `brainbench run` as a process of its own, with all that it starts."""
    spared = children()
    adopt_orphans()
    before, started = _children_cpu(), time.monotonic()
    argv = [sys.executable, "-c", "from brainbench.cli import main; main()", "run", "--json", *flags]
    with tempfile.TemporaryFile() as errors:
        child = subprocess.Popen(argv, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True)
        peak = 0.0
        while child.poll() is None:
            peak = max(peak, _session_mb(child.pid))
            time.sleep(0.05)
        _reap(spared)
        adopt_orphans(False)
        if child.returncode == 2:
            errors.seek(0)
            said = errors.read().decode(errors="replace").strip().splitlines() or ["nothing was said"]
            raise NothingMeasured(f"the sweep failed: {said[-1][-2000:]}")
    return _Sweep(round(_children_cpu() - before, 2), round(peak, 1), round(time.monotonic() - started, 2))


def _in_process(system: System, home: Path, runs: int) -> list[Figure]:
    figures = [_figure("C-1103", "store reset between fixtures", "ms", _resets(system, home, runs), 2.0)]
    if Capability.HOOK_PROCESS in system.can:
        wall, cpu = _hook_times(system, home, runs)
        figures.append(_figure("C-1104", "hook process, warm daemon, wall p95", "ms", wall, 80.0))
        figures.append(_figure("C-1104", "hook process, CPU of one", "ms", cpu, 35.0))
    if Capability.CONTEXT in system.can:
        for pages, budget in ((1_000, 5.0), (10_000, 15.0)):
            times = _context_times(system, home, pages, runs)
            figures.append(_figure("C-1105", f"turn context at {pages:,} pages, p95", "ms", times, budget))
    return figures


def _figure(number: str, quantity: str, unit: str, values: Sequence[float], budget: float | None) -> Figure:
    rounded = tuple(round(value, 3) for value in values)
    return Figure(number, quantity, unit, round(statistics.median(rounded), 3), rounded, budget)


def _open(system: System, home: Path) -> None:
    system.open(RunContext("bench-self", (SourceDecl("default"),), "default", str(home)))
    system.tell_time("2026-01-01T00:00:00Z")


def _page(number: int) -> PageIn:
    first, last = f"Vorn{number % _PAGES_PER_NAME}ik", f"Tasselby{number}"
    body = f"{first} {last} keeps the ledger of plot {number}. " * 5
    front = f"title: {first} {last}\ntype: person\naliases: [t{number}]\nsummary: Keeps plot {number}."
    return PageIn("default", f"people/{last.lower()}", f"---\n{front}\n---\n\n{body}\n")


def _fill(system: System, home: Path, pages: int) -> None:
    _open(system, home)
    for number in range(pages):
        system.write_page(_page(number))


def _timed_ms(act: Callable[[], object]) -> float:
    started = time.perf_counter()
    act()
    return (time.perf_counter() - started) * 1000


def _p95(values: Sequence[float]) -> float:
    """Nearest rank."""
    return sorted(values)[-(-95 * len(values) // 100) - 1]


def _resets(system: System, home: Path, runs: int) -> list[float]:
    medians = []
    for _ in range(runs):
        times = []
        for _ in range(20):
            _fill(system, home, 6)
            times.append(_timed_ms(lambda: _open(system, home)))
        medians.append(statistics.median(times))
    return medians


def _ask(number: int, harness: str) -> Ask:
    """A prompt that names one page, in words that no other prompt has."""
    text = f"Did Vorn{number % _PAGES_PER_NAME}ik Tasselby{number} say anything about plot {number + 1} next to it?"
    earlier = (Message("user", "Morning."), Message("assistant", "Good morning."))
    prompt = Message("user", text)
    return Ask(harness, f"s{number}", "default", (*earlier, prompt), (), Budget(3), "2026-01-01T00:00:00Z")


def _context_times(system: System, home: Path, pages: int, runs: int) -> list[float]:
    _fill(system, home, pages)
    found = []
    for run in range(runs):
        asks = [_ask((number * 3 + run) % pages, "context") for number in range(200)]
        found.append(_p95([_timed_ms(partial(system.context, ask)) for ask in asks]))
    return found


def _hook_times(system: System, home: Path, runs: int) -> tuple[list[float], list[float]]:
    _fill(system, home, 100)
    seam = SEAMS["claude-code"]
    codec = load_codec(seam)(system, seam)
    codec.ask(_ask(0, "claude-code"))
    wall, cpu = [], []
    for _ in range(runs):
        before = _children_cpu()
        asks = [_ask(number, "claude-code") for number in range(40)]
        wall.append(_p95([_timed_ms(partial(codec.ask, ask)) for ask in asks]))
        cpu.append((_children_cpu() - before) * 1000 / 40)
    codec.close()
    return wall, cpu


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _reap(spared: frozenset[int]) -> None:
    """Wait for every process that was started since, whoever started it."""
    while left := children() - spared:
        for pid in left:
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _session_mb(session: int) -> float:
    """Memory of all processes of a session in MB, pages that several share counted once (PSS; Linux)."""
    total = 0
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            stat = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(stat[3]) == session:
                lines = (entry / "smaps_rollup").read_text().splitlines()
                total += next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        except (OSError, IndexError, ValueError, StopIteration):
            continue
    return total / 1024


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def as_text(figures: Sequence[Figure], where: Machine, corpus: str) -> str:
    """All figures as lines of at most 100 columns."""
    lines = [
        f"{where.processor}, {where.cores} cores, Python {where.python}, load {' '.join(map(str, where.load))}",
        f"corpus of the sweeps: {corpus}; medians of {len(figures[0].values)} runs, all runs in brackets",
        "",
    ]
    for figure in figures:
        budget = "" if figure.budget is None else f"  budget {figure.budget:g}: {'kept' if figure.within else 'OVER'}"
        every = ", ".join(f"{value:g}" for value in figure.values)
        lines.append(f"{figure.id:<7}{figure.quantity}")
        lines.append(f"       {figure.median:g} {figure.unit}  [{every}]{budget}")
    return "\n".join(lines)


def as_json(figures: Sequence[Figure], where: Machine) -> str:
    """All figures as one line of JSON."""
    import msgspec

    document = {"schema_version": 1, "machine": msgspec.to_builtins(where), "figures": msgspec.to_builtins(figures)}
    return json.dumps(document)
