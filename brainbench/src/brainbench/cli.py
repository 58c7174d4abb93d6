"""`brainbench ...`: parse, call, print. Exit 0 pass, 1 a measured rule broke, 2 nothing trustworthy was measured."""

from __future__ import annotations

import functools
import itertools
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import click

from brainbench import __version__
from brainbench.errors import BenchError, CorpusError

if TYPE_CHECKING:
    from brainbench.run import Choice, Run

P = ParamSpec("P")
T = TypeVar("T")
BASELINE = "evidence/baselines/conformance.json"
EXIT_CODES = {"pass": 0, "fail": 1, "inconclusive": 2}


class Command(click.Command):
    """A command whose value flags refuse a value that begins with `--`: it is the next flag, and one was forgotten."""

    def make_context(self, info_name: str | None, args: list[str], *rest: Any, **extra: Any) -> click.Context:
        takes_value = {
            name
            for parameter in self.params
            if isinstance(parameter, click.Option) and not parameter.is_flag and parameter._flag_needs_value is False
            for name in parameter.opts
        }
        for flag, value in itertools.pairwise(args):
            if flag in takes_value and value.startswith("--"):
                raise click.UsageError(f"Option {flag!r} needs a value, and {value!r} is a flag.")
        return super().make_context(info_name, args, *rest, **extra)


def reported(command: Callable[P, T]) -> Callable[P, T]:
    """The command with its errors as one line each on standard error, and the exit code they stand for."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return command(*args, **kwargs)
        except CorpusError as error:
            for fault in error.faults:
                click.echo(f"brainbench: inconclusive: corpus: {fault}", err=True)
            sys.exit(2)
        except BenchError as error:
            for line in str(error).splitlines():
                click.echo(f"brainbench: inconclusive: {error.reason}: {line}", err=True)
            sys.exit(2)
        except KeyboardInterrupt:
            click.echo("brainbench: inconclusive: interrupted: nothing was written", err=True)
            sys.exit(2)

    return run


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="brainbench")
def main() -> None:
    """Measure what an agent's memory does, and gate changes to it.

    \b
    brainbench run                        the whole bench on the bundled corpus
    brainbench run --system bm25          another memory
    brainbench gate --profile conformance judge this tree against the main branch
    """


def corpus_options(command: Callable[P, T]) -> Callable[P, T]:
    """The flags that choose what is measured, on what and where."""
    options = [
        click.option("--fixtures", type=click.Path(path_type=Path), metavar="DIR", help="Fixtures, v1 or native."),
        click.option("--gold", type=click.Path(path_type=Path), metavar="DIR", help="The gold of --fixtures."),
        click.option("--corpus", metavar="NAME", help="A corpus of this repository.  [default: core]"),
        click.option("--system", "systems", multiple=True, metavar="NAME", help="A system; may be given again."),
        click.option("--harness", metavar="A,B|all", default="all", show_default=True, help="Harness seams."),
        click.option("--suite", metavar="A,B|all", default="all", show_default=True, help="Suites."),
        click.option("--include-holdout", is_flag=True, help="Score the holdout too; such a run gates nothing."),
        click.option("--hook-inproc", is_flag=True, help="Call the prompt hook without a process (disclosed)."),
        click.option(
            "--openclaw-window",
            type=click.Choice(["mixed", "user"]),
            default="mixed",
            show_default=True,
            help="Whose turns the OpenClaw window holds (disclosed).",
        ),
        click.option("--seed", type=int, default=42, show_default=True, help="Keys the opaque run ids."),
        click.option("--jobs", type=click.IntRange(1, 64), help="Worker processes.  [default: cores, at most 4]"),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@main.command(cls=Command)
@corpus_options
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write the result document here.")
@click.option("--markdown", type=click.Path(path_type=Path), metavar="FILE", help="Write a Markdown summary here.")
@click.option("--save-observations", type=click.Path(path_type=Path), metavar="DIR", help="Keep what was seen.")
@click.option("--compare", type=click.Path(path_type=Path), metavar="BASE", help="Gate this run against a baseline.")
@click.option("--committed-baseline", type=click.Path(path_type=Path), metavar="FILE", help="This tree's new baseline.")
@click.option(
    "--update-baseline",
    type=click.Path(path_type=Path),
    is_flag=False,
    flag_value=BASELINE,
    metavar="[FILE]",
    help=f"Write this run as the baseline.  [{BASELINE}]",
)
@click.option("--baseline-format", type=click.Choice(["v1", "v2"]), default="v2", show_default=True)
@click.option("--justification", metavar="STR", help="Why a worse baseline is right (20 characters or more).")
@click.option("--allow-regression", metavar="STR", help="Pass in spite of breaches, locally, for this reason.")
@click.option("--profile", default="conformance", show_default=True, metavar="NAME", help="Gate profile.")
@click.option("--run-ledger", type=click.Path(path_type=Path), metavar="FILE", help="One line a run is appended here.")
@click.option("--strata", is_flag=True, help="Show each cell by stratum too.")
@reported
def run(**flags: Any) -> None:
    """Play a corpus through harness seams and print the scoreboard.

    \b
    Examples:
      brainbench run
      brainbench run --system wellkept --system bm25 --suite know-to-ask,push
      brainbench run --fixtures their/fixtures --gold their/gold --json --out result.json
      brainbench run --compare evidence/baselines/conformance.json
      brainbench run --update-baseline --justification "the corpus gained fixtures"
    """
    from brainbench import run as runs

    _check_gating(flags)
    choice = _choice(flags)
    with _progress() as progress:
        done = runs.measure(choice, progress)
    outcome = _judged(done, flags)
    _save_observations(done, flags["save_observations"])
    _write_results(done, outcome, flags)
    _print_result(done, outcome, flags)
    sys.exit(_exit_code(done, outcome))


@main.command(cls=Command)
@click.option("--fixtures", type=click.Path(path_type=Path), metavar="DIR", help="Fixtures, v1 or native.")
@click.option("--gold", type=click.Path(path_type=Path), metavar="DIR", help="The gold of --fixtures.")
@click.option("--corpus", metavar="NAME", help="A corpus of this repository.  [default: core]")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@reported
def validate(fixtures: Path | None, gold: Path | None, corpus: str | None, as_json: bool) -> None:
    """Check a corpus and say everything that is wrong with it at once.

    \b
    Examples:
      brainbench validate
      brainbench validate --fixtures their/fixtures --gold their/gold
    """
    from brainbench import corpus as corpora
    from brainbench import gold as golds
    from brainbench.report.write import to_line
    from brainbench.run import choose

    place = choose(fixtures=fixtures, gold=gold, corpus=corpus, systems=("null",))
    warnings = golds.validate(place.fixtures, place.gold)
    read = corpora.read(place.fixtures, include_holdout=True)
    found = {
        "fixture_files": len(read.documents),
        "scripts": len(read.fixtures),
        "held_out": read.held_out,
        "fixtures_hash": golds.fixtures_hash(place.fixtures, place.gold),
        "warnings": [str(w) for w in warnings],
    }
    if as_json:
        click.echo(to_line(found), nl=False)
        return
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)
    click.echo(
        f"{found['fixture_files']} fixture files, {found['scripts']} scripts, {found['held_out']} held out: no fault"
    )
    click.echo(f"fixtures_hash {found['fixtures_hash']}")


@main.command(name="list", cls=Command)
@click.argument("what", type=click.Choice(["systems", "harnesses", "suites", "metrics", "corpora"]), required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@reported
def list_names(what: str | None, as_json: bool) -> None:
    """Name what can be measured: systems, harnesses, suites, metrics, corpora.

    \b
    Examples:
      brainbench list
      brainbench list metrics --json
    """
    from brainbench.report.write import to_line
    from brainbench.run import names

    tables = {key: table for key, table in names().items() if what in (None, key)}
    if as_json:
        click.echo(to_line(tables), nl=False)
        return
    for key, table in tables.items():
        click.echo(click.style(key, bold=True))
        for name, text in table.items():
            click.echo(f"  {name}  {text}")


def _choice(flags: dict[str, Any]) -> Choice:
    from brainbench.run import choose

    if any(":" in name for name in flags["systems"]):
        sys.path.insert(0, os.getcwd())
    wanted = ("fixtures", "gold", "corpus", "systems", "harness", "suite", "include_holdout", "hook_inproc")
    chosen = {name: flags[name] for name in (*wanted, "openclaw_window", "seed", "jobs")}
    return choose(**chosen, command=tuple(sys.argv[1:]))


@contextmanager
def _progress() -> Iterator[Callable[[int, int], None]]:
    """A bar with counts and time left on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda done, of: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("playing fixtures"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)


def _check_gating(flags: dict[str, Any]) -> None:
    pass


def _judged(done, flags):
    return None


def _write_results(done, outcome, flags):
    pass


def _exit_code(done, outcome):
    return 0


def _print_result(done, outcome, flags):
    from brainbench.report.terminal import print_scoreboard

    print_scoreboard(done.board, outcome, sys.stdout, flags["strata"])


def _save_observations(done: Run, directory: Path | None) -> None:
    import msgspec

    from brainbench.errors import OutputError
    from brainbench.report.write import write_json

    if directory is None:
        return
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(
            f"--save-observations: {directory}: {error.strerror}; name a directory to write in"
        ) from error
    document = {
        "schema_version": 1,
        "observations_hash": done.board.observations_hash,
        "fixtures_hash": done.board.fixtures_hash,
        "replays": msgspec.to_builtins(done.replays),
    }
    write_json(directory / "observations.json", document)
