"""A scoreboard for a terminal: at most 100 columns, and complete without colour."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, TextIO

from brainbench.evidence import Scoreboard
from brainbench.evidence.baseline import Baseline, StoredCell
from brainbench.evidence.outcome import Outcome
from brainbench.metrics import METRICS, Measured
from brainbench.report import wording
from brainbench.report.matrix import print_matrix
from brainbench.report.wording import clean
from brainbench.suites import Cell

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

WIDEST = 100
_NARROWEST = 60
_UNTRUSTED = "-"
_COLUMNS = (("suite", 11), ("status", 10), ("failed/gold", 11), ("metric", 27), ("n/of (rate)", 18), ("95 %", 13))
_STYLES = {"pass": "bold green", "fail": "bold red", "inconclusive": "bold yellow"}


def print_scoreboard(
    board: Scoreboard, outcome: Outcome | None, stream: TextIO, *, strata: bool = False, long: bool = False
) -> None:
    """Draw the scoreboard and, if something was compared, the verdict on `stream`; `long` shows every interval.

    Characters that the stream's encoding lacks are replaced; colour is used only on a terminal without NO_COLOR.
    """
    text = render(board, outcome, strata=strata, long=long, width=_width(stream), colour=_wants_colour(stream))
    _write(stream, text)


def print_comparison(runs: Sequence[tuple[str, Baseline]], outcome: Outcome, stream: TextIO) -> None:
    """Two stored runs by the names of their files, the cells in which they differ, and the verdict."""
    _write(stream, render_comparison(runs, outcome, width=_width(stream), colour=_wants_colour(stream)))


def _width(stream: TextIO) -> int:
    return shutil.get_terminal_size((WIDEST, 24)).columns if stream.isatty() else WIDEST


def _write(stream: TextIO, text: str) -> None:
    """The text on the stream; characters that its encoding lacks are replaced."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    stream.write(text.encode(encoding, "replace").decode(encoding))
    stream.flush()


def _wants_colour(stream: TextIO) -> bool:
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def render(
    board: Scoreboard,
    outcome: Outcome | None = None,
    *,
    strata: bool = False,
    long: bool = False,
    width: int = WIDEST,
    colour: bool = False,
) -> str:
    """The scoreboard as text; no line is wider than `width`, which is kept between 60 and 100 columns."""
    from rich.text import Text

    page, console = _page(width, colour)
    _header(console, board)
    if not long:
        console.print(Text(wording.KEY, style="dim", overflow="fold"))
        for system, every in groupby(board.cells, key=lambda cell: cell.system):
            prefix = f"{system}/"
            taken = {place[len(prefix) :]: v for place, v in board.latencies.items() if place.startswith(prefix)}
            print_matrix(console, system, list(every), taken, strata)
    detailed = board.cells if long else ()
    for (system, *_), cells in groupby(detailed, key=lambda cell: (cell.system, cell.seam, cell.kind)):
        _group(console, system, list(cells), strata)
    _footer(console, board, outcome, long)
    return _without_ends(page)


def _page(width: int, colour: bool) -> tuple[io.StringIO, Console]:
    """A text, and what prints into it."""
    from rich.console import Console

    page = io.StringIO()
    console = Console(
        file=page,
        width=max(_NARROWEST, min(width, WIDEST)),
        force_terminal=colour,
        color_system="standard" if colour else None,
        legacy_windows=False,
        markup=False,
        emoji=False,
        highlight=False,
    )
    return page, console


def _without_ends(page: io.StringIO) -> str:
    """What was printed, without blanks at the ends of lines."""
    return "".join(f"{line.rstrip()}\n" for line in page.getvalue().splitlines())


def render_comparison(
    runs: Sequence[tuple[str, Baseline]], outcome: Outcome, *, width: int = WIDEST, colour: bool = False
) -> str:
    """Two stored runs and their verdict as text, no wider than `width`."""
    from rich.text import Text

    page, console = _page(width, colour)
    console.print(Text("brainbench compare", style="bold"))
    for title, (name, run) in zip(("before", "now"), runs, strict=True):
        systems = ", ".join(map(clean, run.config.systems)) or "not told"
        words = f"{title + ':':<8}{clean(name)}  systems: {systems}  fixtures: {run.fixtures_hash[:12]}"
        console.print(Text(f"{words}  cells: {len(run.cells)}", overflow="fold"))
    before, now = (run.cells for _, run in runs)
    _differences(console, before, now)
    _verdict(console, outcome)
    _lines(console, "better than before", map(clean, outcome.stale))
    return _without_ends(page)


def _differences(console: Console, before: Mapping[str, StoredCell], now: Mapping[str, StoredCell]) -> None:
    """The cells that are not the same in both, and how many are."""
    from rich.text import Text

    keys = list(dict.fromkeys((*before, *now)))
    other = [key for key in keys if before.get(key) != now.get(key)]
    if other:
        console.print()
        table = _table((("cell", 56), ("before", 18), ("now", 18)), aligned=False)
        for key in other:
            table.add_row(
                *(Text(w, overflow="fold") for w in (clean(key), _failed(before.get(key)), _failed(now.get(key))))
            )
        console.print(table)
    console.print(Text(f"{len(keys) - len(other)} of {len(keys)} cells are the same in both"))
    console.print()


def _failed(cell: StoredCell | None) -> str:
    return "not there" if cell is None else f"{cell.gold_failed}/{cell.gold_total} failed"


def _lines(console: Console, title: str, lines: Iterable[str], style: str = "") -> None:
    """A title with its lines beneath, long ones continued under their start; nothing when there are none."""
    from rich.padding import Padding
    from rich.text import Text

    found = list(lines)
    if not found:
        return
    console.print(Text(title, style=style or "bold"))
    for line in found:
        console.print(Padding(Text(line, overflow="fold"), (0, 0, 0, 2)))


def _header(console: Console, board: Scoreboard) -> None:
    from rich.cells import cell_len
    from rich.text import Text

    console.print(Text("brainbench", style="bold"))
    line = ""
    for name, value in wording.header(board):
        item = f"{name}: {value}"
        if line and cell_len(f"{line}  {item}") > console.width:
            console.print(Text(line, overflow="fold"))
            line = ""
        line = f"{line}  {item}" if line else item
    console.print(Text(line, overflow="fold"))


def _group(console: Console, system: str, cells: list[Cell], strata: bool) -> None:
    from rich.text import Text

    first = cells[0]
    console.print()
    console.print(Text(f"{clean(system)} through {clean(first.seam)} ({first.kind})", style="bold", overflow="fold"))
    shown = _COLUMNS if console.width >= WIDEST else _COLUMNS[:-1]
    table = _table(shown, console.width >= WIDEST)
    for cell in cells:
        for row in _rows(cell, strata):
            table.add_row(*(Text(word, overflow="fold") for word in row[: len(shown)]))
    console.print(table)


def _table(columns: Iterable[tuple[str, int]], aligned: bool) -> Table:
    """An empty table; `aligned` columns have the same place in every table of a page."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False, collapse_padding=True)
    for name, size in columns:
        table.add_column(name, min_width=size if aligned else None, max_width=size, overflow="fold")
    return table


def _rows(cell: Cell, strata: bool) -> Iterator[tuple[str, ...]]:
    """One row per metric; suite, status and failed/gold stand in the first. Why one is not trusted stands below."""
    word = wording.STATUS_WORDS[cell.status]
    if cell.status != "scored":
        note = wording.status(cell) if cell.status == "not_applicable" else _UNTRUSTED
        yield from _metric_rows((clean(cell.suite), word, ""), (), note)
        return
    failed = f"{cell.gold_failed}/{cell.gold_total}"
    yield from _metric_rows((clean(cell.suite), word, failed), cell.metrics.items(), wording.why(cell))
    if strata:
        for stratum, part in cell.slices.get("stratum", {}).items():
            lead = (f"  {clean(stratum)}", "", f"{part.gold_failed}/{part.gold_total}")
            asked = {name: value for name, value in part.metrics.items() if value is not None and _gates(name)}
            yield from _metric_rows(lead, asked.items(), "")


def _gates(name: str) -> bool:
    return name not in METRICS or METRICS[name].gated


def _metric_rows(
    lead: tuple[str, str, str], metrics: Iterable[tuple[str, Measured | None]], note: str
) -> Iterator[tuple[str, ...]]:
    rows = [(clean(name), wording.measured(value), wording.interval(value)) for name, value in metrics]
    if note:
        rows.insert(0, (note, "", ""))
    for index, row in enumerate(rows or [("", "", "")]):
        yield (*(lead if index == 0 else ("", "", "")), *row)


def _footer(console: Console, board: Scoreboard, outcome: Outcome | None, long: bool) -> None:
    console.print()
    _lines(console, f"! seed failures: {len(board.seed_failures)}", wording.seed_failures(board))
    if not board.seed_failures:
        _lines(console, "seed failures", ["none"])
    # Beside the compact form what went wrong stands right under its cell.
    _lines(console, "cells without numbers", wording.unscored(board, asked=long))
    _lines(console, "fixtures not applicable", wording.left_out(board))
    _lines(console, "! errors, counted as failures", wording.errors(board) if long else ())
    _lines(console, wording.TIES, wording.ties(board))
    if long:
        _lines(console, "ceilings", wording.ceilings(board))
    _lines(console, "deviations from the harness itself", (f"{s}: {words}" for s, words in wording.deviations(board)))
    _lines(console, "warnings", map(clean, board.warnings))
    _lines(console, "what these numbers do not show", wording.LIMITS)
    _verdict(console, outcome)


def _verdict(console: Console, outcome: Outcome | None) -> None:
    from rich.text import Text

    if outcome is None:
        console.print(Text("verdict: none (nothing was compared)", style="bold"))
        return
    words = f"verdict: {wording.VERDICT_WORDS[outcome.verdict]} ({clean(outcome.mode)})"
    console.print(Text(words, style=_STYLES[outcome.verdict]))
    _lines(console, "reasons", wording.reasons(outcome))
    _lines(console, f"breaches: {len(outcome.breaches)}", wording.breaches(outcome))
    _lines(console, "notes", map(clean, outcome.notes))
