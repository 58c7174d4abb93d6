"""`brainbench failures`: which items of a stored run failed, what was wanted of them and what came."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from brainbench.cli.frame import PLACE, Command, reported
from brainbench.errors import IncompatibleError, UsageError
from brainbench.write import to_line

if TYPE_CHECKING:
    from brainbench.corpus import Corpus
    from brainbench.gold import Gold
    from brainbench.report.failures import FailedCell, StoredRun


@click.command(cls=Command)
@click.argument("result", type=click.Path(path_type=Path))
@click.option("--system", "systems", multiple=True, metavar="NAME", help="A system of the run; may be given again.")
@click.option("--harness", "harnesses", multiple=True, metavar="NAME", help="A harness; may be given again.")
@click.option("--suite", "suites", multiple=True, metavar="NAME", help="A suite; may be given again.")
@click.option("--observations", type=PLACE, metavar="DIR", help="What the run kept by --save-observations.")
@click.option("--fixtures", type=PLACE, metavar="DIR", help="The fixtures that were played, v1 or native.")
@click.option("--gold", type=PLACE, metavar="DIR", help="The gold of --fixtures.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=10, show_default=True, help="How many of a system's suite to print."
)
@click.option("--json", "as_json", is_flag=True, help="All of them as one JSON document on standard output.")
@reported
def failures(result: Path, as_json: bool, **flags: Any) -> None:
    """Tell which items of a run failed: the turn, what was wanted of it, and what came.

    RESULT is what `brainbench run --out` wrote. What the first system brought to a turn stands in it; for other
    systems, stored facts and errors give --observations.

    \b
    Examples:
      brainbench failures result.json
      brainbench failures result.json --system bm25 --suite push --limit 50
      brainbench failures result.json --observations seen --json
    """
    from brainbench.evidence.committed import bytes_of
    from brainbench.report import failures as report

    run = report.read_stored(bytes_of(result), str(result))
    cells = _chosen(run.meta.native.cells, flags)
    replays = None
    if flags["observations"] is not None:
        place = flags["observations"] / "observations.json"
        replays = report.read_observations(bytes_of(place), str(place), run)
    corpus, gold = _corpus_of(run, str(result), flags)
    found = report.failures(run, cells, corpus, gold, replays)
    if as_json:
        click.echo(to_line(report.as_json(found)), nl=False)
        return
    for line in report.as_text(found, flags["limit"]):
        click.echo(line)
    if not found:
        click.echo("nothing failed")


def _chosen(cells: Sequence[FailedCell], flags: dict[str, Any]) -> list[FailedCell]:
    """The cells that the flags name. UsageError lists what the run holds."""
    for flag, names, known in (
        ("--system", flags["systems"], {cell.system: 0 for cell in cells}),
        ("--harness", flags["harnesses"], {cell.harness: 0 for cell in cells}),
        ("--suite", flags["suites"], {cell.suite: 0 for cell in cells}),
    ):
        if unknown := [name for name in names if name not in known]:
            raise UsageError(f"{flag}: {', '.join(map(repr, unknown))} is not in this run; it holds {', '.join(known)}")
    return [
        cell
        for cell in cells
        if cell.system in (flags["systems"] or (cell.system,))
        and cell.harness in (flags["harnesses"] or (cell.harness,))
        and cell.suite in (flags["suites"] or (cell.suite,))
    ]


def _corpus_of(run: StoredRun, name: str, flags: dict[str, Any]) -> tuple[Corpus, Mapping[str, Gold]]:
    """The corpus that was played, with its gold: the one that the result names, or where the flags say it is."""
    from brainbench import corpus as corpora
    from brainbench import gold as golds
    from brainbench.corpus import canaries
    from brainbench.run import corpus_place

    board = run.meta.native
    corpus = board.corpus if flags["fixtures"] is None and flags["gold"] is None else None
    hint = "; name what was played with --fixtures DIR --gold DIR"
    try:
        place = corpus_place(flags["fixtures"], flags["gold"], corpus)
    except UsageError as error:
        raise UsageError(f"{error}{hint if corpus else ''}") from None
    if golds.fixtures_hash(place.fixtures, place.gold) != board.fixtures_hash:
        raise IncompatibleError(f"{name}: was measured on another corpus than {place.fixtures}{hint}")
    read = corpora.read(place.fixtures, include_holdout=run.receipt.include_holdout)
    seed = run.receipt.seed
    planted = replace(read, fixtures=tuple(canaries.planted(fixture, seed) for fixture in read.fixtures))
    return planted, golds.with_canaries(golds.read(read, place.gold), seed)
