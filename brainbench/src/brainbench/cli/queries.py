"""`brainbench queries`: publish what people really asked, ask it again, and gate a change by it."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import click

from brainbench.cli.frame import Command, printing, reported
from brainbench.write import to_line

if TYPE_CHECKING:
    from brainbench.queries.judging import Judgement
    from brainbench.systems import System

P = ParamSpec("P")
T = TypeVar("T")
FILE = click.Path(path_type=Path)


class _Finite(click.FloatRange):
    """A range that has no place for NaN, which is neither below nor above anything."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"{value} is no number", param, ctx)
        return number


SHARE = _Finite(0, 1)


@click.group()
def queries() -> None:
    """Ask real questions again: do they still bring the same pages?

    \b
    wellkept export-queries --out asked.ndjson
    brainbench queries publish --from asked.ndjson --to before.baseline.ndjson
    brainbench queries replay --against before.baseline.ndjson
    brainbench queries gate --baseline before.baseline.ndjson
    """


def _asking(command: Callable[P, T]) -> Callable[P, T]:
    """The flags of commands that ask a memory."""
    options = [
        click.option("--system", default="wellkept", show_default=True, metavar="NAME", help="The memory to ask."),
        click.option("--store", metavar="PLACE", help="Where it is kept.  [default: where its own settings say]"),
        click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output."),
        click.option(
            "--top-regressions",
            type=click.IntRange(0, 10_000),
            default=5,
            show_default=True,
            metavar="K",
            help="How many of the questions that fared worst are shown.",
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@queries.command(cls=Command)
@click.option("--from", "source", type=FILE, required=True, metavar="F", help="Captured questions, one JSON a line.")
@click.option("--to", "target", type=FILE, required=True, metavar="X", help="The baseline, X.baseline.ndjson.")
@click.option("--label", metavar="STR", help="What to call it.  [default: the name of X]")
@click.option("--threshold-jaccard", type=SHARE, default=0.85, show_default=True, help="Least mean Jaccard.")
@click.option("--threshold-top1", type=SHARE, default=0.80, show_default=True, help="Least share with the same first.")
@click.option(
    "--threshold-latency-multiplier",
    type=_Finite(0, 1_000_000, min_open=True),
    default=2.0,
    show_default=True,
    help="How many times slower is too slow.",
)
@click.option("--keep-newest", is_flag=True, help="Of questions asked twice take the one that stands first.")
@click.option("--force", is_flag=True, help="Replace X.")
@reported
def publish(
    source: Path,
    target: Path,
    label: str | None,
    threshold_jaccard: float,
    threshold_top1: float,
    threshold_latency_multiplier: float,
    keep_newest: bool,
    force: bool,
) -> None:
    """Make captured questions and their answers the baseline to hold later answers against.

    \b
    Examples:
      brainbench queries publish --from asked.ndjson --to before.baseline.ndjson
      brainbench queries publish --from asked.ndjson --to mine.baseline.ndjson --keep-newest --threshold-jaccard 0.95
    """
    from brainbench.queries import files
    from brainbench.queries.telling import questions

    rows = files.read_captured(source)
    kept = files.newest_of_each(rows) if keep_newest else rows
    limits = files.Thresholds(threshold_jaccard, threshold_top1, threshold_latency_multiplier)
    name = target.name.removesuffix(".baseline.ndjson") if label is None else label
    done = files.publish(kept, str(source), target, label=name, thresholds=limits, force=force)
    left_out = f", {len(rows) - len(kept)} asked again left out" if len(rows) != len(kept) else ""
    click.echo(f"published {questions(len(done.rows))}{left_out}: {target}")


@queries.command(cls=Command)
@click.option("--against", type=FILE, required=True, metavar="F", help="A published baseline.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Ask at most so many, the newest.")
@_asking
@reported
def replay(
    against: Path, limit: int | None, system: str, store: str | None, as_json: bool, top_regressions: int
) -> None:
    """Ask the questions of a baseline again and show what became of their answers.

    The memory is only read. Exit code 0 says that something was measured; `queries gate` judges it.

    \b
    Examples:
      brainbench queries replay --against before.baseline.ndjson
      brainbench queries replay --against before.baseline.ndjson --store ~/copy-of-memory --top-regressions 20
    """
    from brainbench.queries import files, judging, replaying, telling

    baseline = files.read_query_baseline(against)
    with _attached(system, store) as memory:
        done = replaying.replay(memory, baseline.rows, limit)
    judged = judging.trusted(done)
    with printing():
        if as_json:
            click.echo(to_line(telling.replay_document(done, top_regressions)), nl=False)
        else:
            click.echo("\n".join(telling.replay_text(done, baseline, top_regressions)))
    _end(judged)


@queries.command(cls=Command)
@click.option("--baseline", type=FILE, metavar="X", help="Hold answers against these of then.")
@click.option("--qrels", type=FILE, metavar="Y", help="Hold answers against right pages.")
@click.option(
    "--k", type=click.IntRange(1, 1000), metavar="N", help="How many pages count, with --qrels.  [default: 10]"
)
@click.option("--latency-blocks", is_flag=True, help="Fail when too slow, with --baseline; else that is only noted.")
@_asking
@reported
def gate(
    baseline: Path | None,
    qrels: Path | None,
    k: int | None,
    latency_blocks: bool,
    system: str,
    store: str | None,
    as_json: bool,
    top_regressions: int,
) -> None:
    """Pass or fail a memory by real questions: against their answers of then, or against right pages.

    With --baseline the thresholds in its first line hold. With --qrels recall@k must reach 0.70, a right page must
    come first for 0.60 of the questions, and the expected one for 0.50 of those that name it.

    \b
    Examples:
      brainbench queries gate --baseline before.baseline.ndjson
      brainbench queries gate --qrels right.qrels.json --k 5 --json
    """
    from brainbench.errors import UsageError

    if (baseline is None) == (qrels is None):
        raise UsageError("give one of --baseline and --qrels")
    if qrels is not None and latency_blocks:
        raise UsageError("--latency-blocks: goes with --baseline; right pages have no latency")
    if baseline is not None and k is not None:
        raise UsageError("--k: goes with --qrels; a baseline's questions are asked as they were")
    if baseline is not None:
        _gate_regression(baseline, latency_blocks, (system, store), as_json, top_regressions)
    elif qrels is not None:
        _gate_correctness(qrels, k or 10, (system, store), as_json, top_regressions)


def _gate_regression(path: Path, latency_blocks: bool, asked: tuple[str, str | None], as_json: bool, most: int) -> None:
    from brainbench.queries import files, judging, replaying, telling

    baseline = files.read_query_baseline(path)
    with _attached(*asked) as memory:
        done = replaying.replay(memory, baseline.rows)
    judged = judging.regression(done, baseline.thresholds, latency_blocks=latency_blocks)
    with printing():
        if as_json:
            found = {**telling.judgement_document(judged), "regression": telling.replay_document(done, most)}
            click.echo(to_line(found), nl=False)
        else:
            click.echo("\n".join(telling.replay_text(done, baseline, most)))
            click.echo(f"verdict     {judged.verdict}")
    _end(judged)


def _gate_correctness(path: Path, k: int, asked: tuple[str, str | None], as_json: bool, most: int) -> None:
    from brainbench.queries import judging, telling
    from brainbench.queries import qrels as questions

    wanted = questions.read_qrels(path)
    with _attached(*asked) as memory:
        found = questions.ask_all(memory, wanted, k)
    judged = judging.correctness(found)
    with printing():
        if as_json:
            document = {**telling.judgement_document(judged), "correctness": telling.correctness_document(found, most)}
            click.echo(to_line(document), nl=False)
        else:
            click.echo("\n".join(telling.correctness_text(found, most)))
            click.echo(f"verdict         {judged.verdict}")
    _end(judged)


def _end(judged: Judgement) -> None:
    for line in judged.lines():
        click.echo(line, err=True)
    sys.exit(judged.exit_code)


@contextmanager
def _attached(name: str, store: str | None) -> Iterator[System]:
    """The memory in use, open to be asked until this ends."""
    from brainbench.queries.replaying import attached

    if ":" in name:
        sys.path.append(os.getcwd())
    memory = attached(name, store)
    try:
        yield memory
    finally:
        memory.close()
