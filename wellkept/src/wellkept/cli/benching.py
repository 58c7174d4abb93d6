"""How fast and how safe it is here."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import click

from wellkept.cli.frame import report

if TYPE_CHECKING:
    from wellkept.bench import Durability, Load, Machine, Speed, Timing


@click.command()
@click.option("--quick", is_flag=True, help="Small sizes: within a minute, to see that everything works.")
@click.option("--chunks", type=click.IntRange(100, 10_000_000), help="Pieces to search among (default: 100000).")
@click.option("--only", type=click.Choice(["speed", "kills", "load"]), help="One part alone.")
@click.option("--folder", type=click.Path(path_type=Path), help="Where the memories are made (default: temporary).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def bench(quick: bool, chunks: int | None, only: str | None, folder: Path | None, as_json: bool) -> None:
    """Measure speed, and whether what was acknowledged is kept, on this machine.

    New memories are made and removed; yours are not touched. The exit code is 1 when something acknowledged was lost
    or a process failed. Times hold for this machine and its load, which are printed; the ratio to a bare full-text
    query, measured in the same run, can be compared between machines.

    \b
    Examples:
      wellkept bench --quick
      wellkept bench --only speed --chunks 1000000 --json
    """
    from wellkept.bench import QUICK, Sizes
    from wellkept.bench.safety import kill_writers, mixed_load
    from wellkept.bench.speed import machine, measure
    from wellkept.providers.embedders import packaged

    sizes = QUICK if quick else Sizes()
    sizes = sizes if chunks is None else replace(sizes, chunks=chunks)
    load = os.getloadavg()[0]
    with TemporaryDirectory(prefix="wellkept-bench-", dir=folder) as made:
        place, show = Path(made), _progress()
        speed = measure(place, sizes, packaged(), show) if only in (None, "speed") else None
        kills = kill_writers(place, sizes, show) if only in (None, "kills") else None
        busy = mixed_load(place, sizes, show) if only in (None, "load") else None
        show("")
    where = machine(load)
    parts: Mapping[str, object] = {"machine": where, "speed": speed, "kills": kills, "load": busy}
    document = {name: asdict(part) for name, part in parts.items() if part is not None}  # type: ignore[call-overload]
    if speed is not None:
        document["speed"]["search_to_plain"] = speed.search_to_plain
    report(as_json, document, "\n".join((*_machine(where), *_speed(speed), *_kills(kills), *_load(busy))))
    if (kills is not None and (kills.lost or kills.problems)) or (busy is not None and busy.errors):
        raise SystemExit(1)


def _progress() -> Callable[[str], None]:
    """One line that says what is done, to a person at a terminal."""

    def show(said: str) -> None:
        if sys.stderr.isatty():
            click.echo(f"\r\x1b[K{said}", err=True, nl=False)

    return show


def _machine(found: Machine) -> list[str]:
    before, after = found.load
    return [
        f"{found.processor}, {found.cores} cores, Python {found.python}, SQLite {found.sqlite}",
        f"load {before} before, {after} after",
    ]


def _speed(found: Speed | None) -> list[str]:
    if found is None:
        return []
    return [
        f"{found.chunks} pieces, {found.file_mb:.0f} MB on disk, {found.rss_mb:.0f} MB in memory",
        f"written: {found.ingest_per_s:.0f} a second, {found.ingest_per_cpu_s:.0f} a processor second",
        _timing(f"search ({', '.join(found.lanes)})", found.search),
        _timing("search (words alone)", found.lexical),
        _timing("context of a turn", found.context),
        _timing("bare full-text query", found.plain),
        f"first search of a process: {found.first_search_ms:.0f} ms",
        f"a search takes {found.search_to_plain:.2f} times the processor time of a bare query",
        f"vectors: {found.vectors}"
        if "vector" in found.lanes
        else "vectors: none, the packaged model is not installed",
    ]


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
    return [line, *(f"problem: {problem}" for problem in found.problems)]


def _load(found: Load | None) -> list[str]:
    if found is None:
        return []
    did = f"{found.writes} writes, {found.searches} searches, {found.contexts} contexts"
    line = f"{found.processes} processes for {found.seconds:.0f} s: {did}, {len(found.errors)} errors"
    return [line, *(f"error: {error}" for error in found.errors[:5])]
