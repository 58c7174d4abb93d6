"""How fast and how safe it is here."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from wellkept.cli.frame import report

if TYPE_CHECKING:
    from wellkept.bench import Beside, Durability, Growth, Load, Machine, Speed, Timing

_SAY_EVERY_S = 15.0


class Failed(click.ClickException):
    """A process of the bench failed: exit code 1."""


@click.command()
@click.option("--quick", is_flag=True, help="Small sizes: within a minute, to see that everything works.")
@click.option(
    "--chunks",
    type=click.IntRange(100, 10_000_000),
    multiple=True,
    help="Pieces to search among (default: 100000); give it several times to see what grows how fast.",
)
@click.option("--only", type=click.Choice(["speed", "kills", "load"]), help="One part alone.")
@click.option("--beside", metavar="NAMES", help="Measure other memories too: chromadb,mem0,langgraph, or all of them.")
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where the memories are made (default: temporary); it is made too.",
)
@click.option("--keep", is_flag=True, help="Leave the memories in the folder; the next run goes on where one ended.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def bench(
    quick: bool,
    chunks: tuple[int, ...],
    only: str | None,
    beside: str | None,
    folder: Path | None,
    keep: bool,
    as_json: bool,
) -> None:
    """Measure speed, and whether what was acknowledged is kept, on this machine.

    New memories are made and removed; yours are not touched. The exit code is 1 when something acknowledged was lost
    or a process failed. Times hold for this machine and its load, which are printed; the ratio to a bare full-text
    query, measured in the same run, can be compared between machines. So can the ratios to other memories, which get
    the same pieces and questions and vectors of the same kind, in the smallest of the sizes; how to install them:
    docs/how-to/measure-speed.md.

    \b
    Examples:
      wellkept bench --quick
      wellkept bench --only speed --chunks 10000 --chunks 100000 --chunks 1000000 --folder ~/bench --keep
      wellkept bench --only speed --chunks 10000 --beside chromadb,mem0,langgraph --json
    """
    from wellkept.bench import QUICK, Sizes, growth
    from wellkept.bench.apart import Broke
    from wellkept.bench.beside import measure_beside
    from wellkept.bench.safety import kill_writers, mixed_load
    from wellkept.bench.speed import machine, measure

    others = _others(beside, only)
    if keep and folder is None:
        raise click.UsageError("--keep needs --folder: where to keep them?")
    sizes = QUICK if quick else Sizes()
    sizes = replace(sizes, chunks=tuple(sorted(set(chunks)))) if chunks else sizes
    load, show = os.getloadavg()[0], _progress()
    try:
        with _place(folder, keep) as place:
            wanted = sizes.chunks if only in (None, "speed") else ()
            speeds = [measure(place, size, sizes.questions, show) for size in wanted]
            rivals = [measure_beside(place, name, speeds[0], sizes.questions, show) for name in others]
            kills = kill_writers(place, sizes, show) if only in (None, "kills") else None
            busy = mixed_load(place, sizes, show) if only in (None, "load") else None
    except Broke as error:
        raise Failed(f"a process of the bench failed: {error}") from None
    finally:
        show("")
    where, grown = machine(load), [growth(*pair) for pair in pairwise(speeds)]
    document = {
        "machine": asdict(where),
        "speed": [{**asdict(speed), "search_to_plain": speed.search_to_plain} for speed in speeds],
        "growth": [asdict(one) for one in grown],
        "beside": [asdict(one) for one in rivals],
        "kills": None if kills is None else asdict(kills),
        "load": None if busy is None else asdict(busy),
    }
    lines = [*_machine(where), *_speeds(speeds), *_growth(grown), *_beside(rivals), *_kills(kills), *_load(busy)]
    report(as_json, {name: part for name, part in document.items() if part}, "\n".join(lines))
    broken = any(one.problem and one.version for one in rivals)
    if broken or (kills is not None and (kills.lost or kills.problems)) or (busy is not None and busy.errors):
        raise SystemExit(1)


def _others(named: str | None, only: str | None) -> tuple[str, ...]:
    from wellkept.bench.beside import OTHERS

    if named is None:
        return ()
    names = tuple(OTHERS) if named == "all" else tuple(dict.fromkeys(named.split(",")))
    unknown = [name for name in names if name not in OTHERS]
    if unknown:
        raise click.BadParameter(f"{unknown[0]!r} is not known; use {', '.join(OTHERS)} or all", param_hint="--beside")
    if only not in (None, "speed"):
        raise click.UsageError(f"--beside measures speed, and --only {only} leaves that out")
    return names


@contextmanager
def _place(folder: Path | None, keep: bool) -> Iterator[Path]:
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            told = f"{folder} cannot be made: {error.strerror}. Name a folder that can be"
            raise click.BadParameter(told, param_hint="--folder") from None
    if folder is not None and keep:
        yield folder
        return
    with TemporaryDirectory(prefix="wellkept-bench-", dir=folder) as made:
        yield Path(made)


def _progress() -> Callable[[str], None]:
    """What is done: to a person one line that changes, to a file a line now and then."""
    said_at = time.monotonic()

    def show(said: str) -> None:
        nonlocal said_at
        if sys.stderr.isatty():
            click.echo(f"\r\x1b[K{said}", err=True, nl=False)
        elif said and time.monotonic() - said_at >= _SAY_EVERY_S:
            said_at = time.monotonic()
            click.echo(said, err=True)

    return show


def _machine(found: Machine) -> list[str]:
    before, after = found.load
    return [
        f"{found.processor}, {found.cores} cores, Python {found.python}, SQLite {found.sqlite}",
        f"load {before} before, {after} after",
    ]


def _speeds(found: Sequence[Speed]) -> list[str]:
    return [line for speed in found for line in _speed(speed)]


def _speed(found: Speed) -> list[str]:
    written = found.written
    return [
        "",
        f"{found.chunks} pieces and {found.facts} facts: {found.file_mb:.0f} MB on disk, {found.rss_mb:.0f} in memory",
        "written: before this run"
        if written.per_s is None or written.per_cpu_s is None
        else f"written: {written.pieces}, {written.per_s:.0f} a second, {written.per_cpu_s:.0f} a processor second",
        _timing(f"search ({', '.join(found.lanes)})", found.search),
        _timing("search (words alone)", found.lexical),
        _timing("context of a turn", found.context),
        _timing("recall", found.recall),
        _timing("bare full-text query", found.plain),
        f"first search of a process: {found.first_search_ms:.0f} ms",
        f"a search takes {found.search_to_plain:.2f} times the processor time of a bare query",
        f"vectors: {found.vectors}"
        if "vector" in found.lanes
        else "vectors: none, the packaged model is not installed",
    ]


def _growth(found: Sequence[Growth]) -> list[str]:
    lines = []
    for one in found:
        names = ("search", "lexical", "context", "recall", "plain", "rss", "file")
        parts = [f"{name} {getattr(one, name):.2f}" for name in names]
        parts += [] if one.write is None else [f"writing a piece {one.write:.2f}"]
        lines += ["", f"from {one.chunks[0]} to {one.chunks[1]} pieces, {one.size:g} times as many: {', '.join(parts)}"]
    return lines


def _beside(found: Sequence[Beside]) -> list[str]:
    lines = [""] if found else []
    for one in found:
        if one.problem or one.search is None or one.written is None:
            lines.append(f"{one.name} {one.version}".rstrip() + f": {one.problem}")
            continue
        write = "" if one.write_to_wellkept is None else f", of a write {one.write_to_wellkept:.2f}"
        per_s, per_cpu_s = one.written.per_s or 0.0, one.written.per_cpu_s or 0.0
        lines += [
            f"{one.name} {one.version} with {one.chunks} pieces ({one.how})",
            _timing(f"  search, {one.hits:.1f} hits", one.search),
            f"  written: {per_s:.0f} a second, {per_cpu_s:.0f} a processor second; {one.rss_mb:.0f} MB in memory, "
            f"{one.file_mb:.0f} MB on disk",
            f"  processor time of a search {one.to_wellkept or 0.0:.2f} times wellkept's{write}",
        ]
    return lines


def _timing(what: str, found: Timing) -> str:
    wall, cpu = (
        f"p50 {found.p50:.1f}, p95 {found.p95:.1f} ms",
        f"processor p50 {found.cpu_p50:.1f}, p95 {found.cpu_p95:.1f} ms",
    )
    return f"{what}: {wall}; {cpu}"


def _kills(found: Durability | None) -> list[str]:
    if found is None:
        return []
    line = f"{found.kills} writers killed: {found.acknowledged} writes acknowledged, {found.lost} lost"
    return ["", line, *(f"problem: {problem}" for problem in found.problems)]


def _load(found: Load | None) -> list[str]:
    if found is None:
        return []
    did = f"{found.writes} writes, {found.searches} searches, {found.contexts} contexts"
    line = f"{found.processes} processes for {found.seconds:.0f} s: {did}, {len(found.errors)} errors"
    return ["", line, *(f"error: {error}" for error in found.errors[:5])]
