"""A system on one screen: suites and metrics down, harness seams across."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from brainbench.evidence import Latency
from brainbench.metrics import METRICS, Count, Mean, Measured, Ratio, four_decimals
from brainbench.report import wording
from brainbench.report.wording import clean
from brainbench.suites import SUITES, Cell

if TYPE_CHECKING:
    from rich.console import Console

_LABEL, _COLUMN, _MOST_SEAMS = 32, 17, 4
_DOWN = {"lower": "↓", "higher": "↑"}
UNTRUSTED = ("invalid", "failed")
"""The standings of a cell that was played, or should have been, and has no numbers."""
_UNASKED, _NOT_APPLICABLE, _NO_FIGURE = "–", "n/a", "-"


def print_matrix(
    console: Console, system: str, cells: Sequence[Cell], latencies: Mapping[str, Latency], strata: bool
) -> None:
    """The cells of one system, at most four seams side by side; wider sets continue below.

    `latencies` are keyed by seam.
    """
    seams = list(dict.fromkeys(cell.seam for cell in cells))
    for start in range(0, len(seams), _MOST_SEAMS):
        chosen = seams[start : start + _MOST_SEAMS]
        _print_part(console, system, [cell for cell in cells if cell.seam in chosen], chosen, strata)
        _print_latencies(console, chosen, latencies)


def _print_part(console: Console, system: str, cells: Sequence[Cell], seams: Sequence[str], strata: bool) -> None:
    from rich.padding import Padding
    from rich.text import Text

    kinds = {cell.seam: cell.kind for cell in cells}
    console.print()
    name = clean(system, 600)
    if len(name) >= _LABEL:  # as the name of a program with its words is
        console.print(Text(name, style="bold", overflow="fold"))
        name = ""
    console.print(Text(_line(name, [clean(seam, _COLUMN - 1) for seam in seams]), style="bold"))
    console.print(Text(_line("", [kinds[seam] for seam in seams]), style="dim"))
    told: dict[str, str] = {}
    for suite in dict.fromkeys(cell.suite for cell in cells):
        by_seam = {cell.seam: cell for cell in cells if cell.suite == suite}
        bad = any(cell.status in UNTRUSTED for cell in by_seam.values())
        words = [_standing(by_seam.get(seam)) for seam in seams]
        console.print(Text(_line(clean(suite), words), style="bold red" if bad else "bold"))
        for trouble in _troubles(by_seam, told):
            console.print(Padding(Text(trouble, style="red", overflow="fold"), (0, 0, 0, 2)))
        for label, values in _metric_lines(by_seam, seams, strata):
            console.print(Text(_line(f"  {label}", values)))


def _troubles(by_seam: Mapping[str, Cell], told: dict[str, str]) -> Iterator[str]:
    """What went wrong in the cells of a suite, each thing once: of what was `told` of an earlier suite only where."""
    found: dict[str, list[str]] = {}
    for seam, cell in by_seam.items():
        if cell.status in UNTRUSTED or cell.errors:
            found.setdefault(wording.trouble(cell), []).append(seam)
    for words, seams in found.items():
        where = f"{', '.join(map(clean, seams))}: " if len(seams) < len(by_seam) else ""
        suite = next(iter(by_seam.values())).suite
        first = told.setdefault(words, suite)
        yield f"{where}{words}" if first == suite else f"{where}as {clean(first)}, above"


def _print_latencies(console: Console, seams: Sequence[str], latencies: Mapping[str, Latency]) -> None:
    from rich.text import Text

    if any(seam in latencies for seam in seams):
        words = [_milliseconds(latencies.get(seam)) for seam in seams]
        console.print(Text(_line("ms a turn, p50 / p95", words), style="dim"))


def _milliseconds(latency: Latency | None) -> str:
    if latency is None:
        return ""
    return f"{latency.p50:.1f} / " + (_UNASKED if latency.p95 is None else f"{latency.p95:.1f}")


def _line(label: str, values: Sequence[str]) -> str:
    return f"{label:<{_LABEL}}" + "".join(f"{value:<{_COLUMN}}" for value in values)


def _standing(cell: Cell | None) -> str:
    """How much of a cell failed, or why it has no numbers."""
    if cell is None or cell.status == "not_applicable":
        return _NOT_APPLICABLE
    if cell.status != "scored":
        return wording.STATUS_WORDS[cell.status]
    return f"{cell.gold_failed}/{cell.gold_total} failed"


def _metric_lines(by_seam: Mapping[str, Cell], seams: Sequence[str], strata: bool) -> Iterator[tuple[str, list[str]]]:
    """A line per metric that any seam measured, then one per stratum if asked."""
    suite = next(iter(by_seam.values())).suite
    left_out = {seam: len(cell.not_applicable) for seam, cell in by_seam.items() if cell.status != "not_applicable"}
    if any(left_out.values()):
        yield "fixtures not applicable", [str(left_out[seam]) if seam in left_out else "" for seam in seams]
    for name in SUITES[suite].metrics if suite in SUITES else ():
        values = {seam: wording.figures(cell).get(name) for seam, cell in by_seam.items()}
        if not _worth_a_line(name, values.values()):
            continue
        yield _label(name), [_figure(by_seam[seam], values[seam]) if seam in values else "" for seam in seams]
        if strata:
            yield from _stratum_lines(name, by_seam, seams)


def _stratum_lines(name: str, by_seam: Mapping[str, Cell], seams: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    scored = {seam: cell for seam, cell in by_seam.items() if cell.status == "scored"}
    found = {seam: cell.slices.get("stratum", {}) for seam, cell in scored.items()}
    for stratum in sorted({stratum for slices in found.values() for stratum in slices}):
        parts = {seam: slices[stratum].metrics.get(name) for seam, slices in found.items() if stratum in slices}
        if any(value is not None for value in parts.values()):
            yield f"  {clean(stratum)}", [_shown(parts[seam]) if seam in parts else "" for seam in seams]


def _worth_a_line(name: str, values: Iterable[Measured | None]) -> bool:
    """Whether anything was measured; a ceiling that every seam can reach says nothing."""
    measured = [value for value in values if value is not None]
    if not measured:
        return False
    if name.endswith("_ceiling"):
        return any(isinstance(value, Ratio) and value.n < value.of for value in measured)
    return True


def _label(name: str) -> str:
    metric = METRICS.get(name)
    arrow = _DOWN[metric.better] if metric is not None and metric.gated else ""
    return f"{name} {arrow}".rstrip()


def _figure(cell: Cell, value: Measured | None) -> str:
    """A metric of a cell: empty where it does not apply, a dash where nothing of the cell can be trusted."""
    if cell.status == "not_applicable":
        return ""
    return _shown(value) if cell.status == "scored" else _NO_FIGURE


def _shown(value: Measured | None) -> str:
    match value:
        case Ratio(n, of):
            return f"{n}/{of} {four_decimals(value.value)}"
        case Count(n):
            return str(n)
        case Mean() if value.of:
            return four_decimals(value.value)
        case _:
            return _UNASKED
