"""`brainbench ...`: parse, call, print. Exit 0 pass, 1 a measured rule broke, 2 nothing trustworthy was measured."""

from __future__ import annotations

import functools
import itertools
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import click

from brainbench import __version__
from brainbench.errors import BenchError, CorpusError, IncompatibleError, OutputError, UsageError
from brainbench.report.terminal import print_scoreboard
from brainbench.write import to_line

if TYPE_CHECKING:
    from brainbench.evidence import Scoreboard
    from brainbench.evidence.baseline import Baseline
    from brainbench.evidence.gate import CommittedFile
    from brainbench.evidence.outcome import Outcome
    from brainbench.evidence.profile import Profile
    from brainbench.run import Choice, Run

P = ParamSpec("P")
T = TypeVar("T")
PROFILE = "conformance"
BASELINE = "evidence/baselines/conformance.json"


PLACE = click.Path(path_type=Path, readable=False)
"""A corpus directory. Whether it can be read is for the loader to say, with all that is wrong beside it."""


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


@contextmanager
def _ended_like_an_interrupt() -> Iterator[None]:
    """SIGTERM and SIGHUP do what Ctrl-C does, so that worker processes and their directories go too."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, signal.default_int_handler) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def reported(command: Callable[P, T]) -> Callable[P, T]:
    """The command with its errors as one line each on standard error, and the exit code they stand for.

    Exit code 1 is kept for what was measured, so whatever else goes wrong ends with 2.
    """

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            with _ended_like_an_interrupt():
                try:
                    return command(*args, **kwargs)
                finally:
                    sys.stdout.flush()
        except CorpusError as error:
            for fault in error.faults:
                click.echo(str(fault), err=True)
            files = len({fault.file for fault in error.faults})
            count = f"{len(error.faults)} fault{'s'[: len(error.faults) > 1]} in {files} file{'s'[: files > 1]}"
            click.echo(f"brainbench: inconclusive: schema: {count}", err=True)
            sys.exit(2)
        except BenchError as error:
            for line in str(error).splitlines():
                click.echo(f"brainbench: inconclusive: {error.reason}: {line}", err=True)
            sys.exit(2)
        except KeyboardInterrupt:
            click.echo("brainbench: inconclusive: interrupted: nothing was written", err=True)
            sys.exit(2)
        except (click.ClickException, click.exceptions.Exit):
            raise
        except Exception as error:
            if isinstance(error, OSError) and error.strerror:
                click.echo(f"brainbench: inconclusive: output: {error.strerror}", err=True)
            else:
                traceback.print_exc()
                click.echo("brainbench: inconclusive: internal: a fault of brainbench; please report it", err=True)
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(2)

    return run


@contextmanager
def _printing() -> Iterator[None]:
    """OutputError where standard output takes nothing any more: a full disk, or a pipe whose reader has ended."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        with open(os.devnull, "wb") as nowhere:  # or Python complains once more of what is buffered while it ends
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        raise OutputError(f"standard output: {error.strerror or error}") from error


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="brainbench")
def main() -> None:
    """Measure what an agent's memory does, and gate changes to it.

    \b
    brainbench run                        the whole bench on the bundled corpus
    brainbench run --system bm25          another memory
    brainbench gate --profile conformance judge this tree against the main branch

    Exit codes: 0 pass, 1 something that was measured got worse or broke a floor, 2 nothing that can be trusted was
    measured.
    """


def corpus_options(command: Callable[P, T]) -> Callable[P, T]:
    """The flags that choose what is measured, on what and where."""
    options = [
        click.option("--fixtures", type=PLACE, metavar="DIR", help="Fixtures, v1 or native."),
        click.option("--gold", type=PLACE, metavar="DIR", help="The gold of --fixtures."),
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
        click.option(
            "--timeout",
            type=click.FloatRange(min=0.1),
            default=30.0,
            show_default=True,
            metavar="SECONDS",
            help="How long one fixture may take before the system's process is ended.",
        ),
        click.option(
            "--jobs", type=click.IntRange(1, 64), help="Worker processes.  [default: by work and cores, at most 4]"
        ),
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
@click.option("--profile", default=PROFILE, show_default=True, metavar="NAME", help="Gate profile.")
@click.option(
    "--run-ledger",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="One line a run is appended here.  [in a checkout: .brainbench/run-ledger.jsonl]",
)
@click.option("--long", is_flag=True, help="Every metric of every cell, with its 95 % interval.")
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
    from brainbench.run import measure

    gating = _Gating.of(flags)
    choice = _choice(flags)
    with _progress() as progress:
        done = measure(choice, progress)
    outcome = gating.judge(done.board)
    try:
        _save_observations(done, flags["save_observations"])
        gating.bank(done.board)
        _write_results(done, outcome, flags)
    finally:
        # A file that cannot be written must not cost the run its scoreboard.
        with _printing():
            if flags["as_json"]:
                click.echo(to_line(_result(done, outcome)), nl=False)
            else:
                print_scoreboard(done.board, outcome, sys.stdout, strata=flags["strata"], long=flags["long"])
    sys.exit(_ended(done.board, outcome))


@main.command(cls=Command)
@corpus_options
@click.option("--profile", default=PROFILE, show_default=True, metavar="NAME", help="Gate profile.")
@click.option(
    "--ref", envvar="BRAINBENCH_BASE_REF", default="origin/main", show_default=True, help="What is judged against."
)
@click.option("--require-fresh", is_flag=True, help="Fail while something is better than the baseline says.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@reported
def gate(profile: str, ref: str, require_fresh: bool, as_json: bool, **flags: Any) -> None:
    """Run, and judge this tree against the baseline of another commit.

    The baseline is evidence/baselines/PROFILE.json as it stands at --ref, and as it is committed here. Floors
    and metrics that must be zero are the stricter of both commits. Writes GITHUB_STEP_SUMMARY where that is set.

    \b
    Examples:
      brainbench gate --profile conformance
      brainbench gate --ref v1.2.0 --json
    """
    from brainbench.evidence import gate as gates
    from brainbench.evidence.committed import both_commits
    from brainbench.evidence.outcome import outcome_document, when_fresh_is_required
    from brainbench.report.markdown import summary
    from brainbench.run import measure

    rules, base, committed = both_commits(profile, ref)
    choice = _choice(flags)
    with _progress() as progress:
        board = measure(choice, progress).board
    outcome = gates.gate(rules, board, base, committed, ci=True)
    if require_fresh:
        outcome = when_fresh_is_required(outcome)
    if as_json:
        click.echo(to_line(outcome_document(outcome)), nl=False)
    else:
        print_scoreboard(board, outcome, sys.stdout)
    if place := os.environ.get("GITHUB_STEP_SUMMARY"):
        _add_summary(Path(place), summary(board, outcome))
    sys.exit(_ended(board, outcome))


def _add_summary(place: Path, text: str) -> None:
    """Append to the summary of a CI step. A summary that cannot be written is told, and changes no verdict."""
    from brainbench.write import append_text

    try:
        append_text(place, text)
    except OutputError as error:
        click.echo(f"brainbench: note: GITHUB_STEP_SUMMARY: {error}", err=True)


@main.command(cls=Command)
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("current", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@reported
def compare(base: Path, current: Path, as_json: bool) -> None:
    """Hold one stored run against another: result documents or baselines.

    \b
    Example:
      brainbench compare evidence/baselines/conformance.json result.json
    """
    from brainbench.evidence.committed import bytes_of
    from brainbench.evidence.compare import compare as compared
    from brainbench.evidence.documents import read_run
    from brainbench.evidence.outcome import outcome_document
    from brainbench.report.markdown import verdict

    before, now = (read_run(bytes_of(path), str(path)) for path in (base, current))
    outcome = compared(before, now)
    click.echo(to_line(outcome_document(outcome)) if as_json else verdict(outcome), nl=not as_json)
    for line in outcome.lines():
        click.echo(line, err=True)
    sys.exit(outcome.exit_code)


@main.command(name="bench-self", cls=Command)
@click.option("--fixtures", type=PLACE, metavar="DIR", help="Corpus of the sweeps, v1 or native.")
@click.option("--gold", type=PLACE, metavar="DIR", help="The gold of --fixtures.")
@click.option("--system", default="wellkept", show_default=True, metavar="NAME", help="The system to measure with.")
@click.option("--runs", type=click.IntRange(1, 100), default=3, show_default=True, help="How often each is measured.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@reported
def bench_self(fixtures: Path | None, gold: Path | None, system: str, runs: int, as_json: bool) -> None:
    """Measure what the bench and a system cost: CPU seconds, memory, latency.

    Without --fixtures the bundled corpus is swept. Figures are printed with machine and load, never asserted.

    \b
    Examples:
      brainbench bench-self
      brainbench bench-self --fixtures v1/fixtures --gold v1/gold --runs 5
    """
    from brainbench import bench_self as bench
    from brainbench.run import choose

    place = choose(fixtures=fixtures, gold=gold, systems=(system,), harness="openclaw,claude-code,codex")
    flags = ["--fixtures", str(place.fixtures), "--gold", str(place.gold), "--harness", "openclaw,claude-code,codex"]
    before = bench.machine()
    figures = bench.measure_all(system, flags, runs, lambda title: click.echo(f"measuring: {title}", err=True))
    click.echo(bench.as_json(figures, before) if as_json else bench.as_text(figures, before, place.corpus))


@main.command(cls=Command)
@click.option("--fixtures", type=PLACE, metavar="DIR", help="Fixtures, v1 or native.")
@click.option("--gold", type=PLACE, metavar="DIR", help="The gold of --fixtures.")
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
        sys.path.append(os.getcwd())
    wanted = ("fixtures", "gold", "corpus", "systems", "harness", "suite", "include_holdout", "hook_inproc")
    chosen = {name: flags[name] for name in (*wanted, "openclaw_window", "seed", "jobs", "timeout")}
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


@dataclass(frozen=True, slots=True)
class _Gating:
    """What `run` was told to hold the run against and to bank, checked before anything is played."""

    profile: Profile | None
    """None where nothing is judged: a run by itself needs no profile."""
    base: Baseline | None
    committed: CommittedFile | None
    bank_to: Path | None
    version: int
    justification: str | None
    waiver: str | None

    @classmethod
    def of(cls, flags: dict[str, Any]) -> _Gating:
        from brainbench.evidence.baseline import read_baseline
        from brainbench.evidence.committed import bytes_of, find_profile
        from brainbench.evidence.gate import SHORTEST, read_committed
        from brainbench.write import check_place

        base, committed = flags["compare"], flags["committed_baseline"]
        named = flags["profile"] != PROFILE
        if flags["allow_regression"] is not None and os.environ.get("CI"):
            raise UsageError("--allow-regression: refused where CI is set; commit a baseline with a justification")
        if base is None and (committed is not None or flags["allow_regression"] is not None):
            raise UsageError("--compare: needed by --committed-baseline and --allow-regression; name the baseline")
        if flags["update_baseline"] is not None and flags["include_holdout"]:
            raise UsageError(
                "--include-holdout: a run with the holdout writes no baseline; leave one of both flags out"
            )
        if flags["justification"] is not None and len(flags["justification"].strip()) < SHORTEST:
            raise UsageError(f"--justification: say in at least {SHORTEST} characters why a worse baseline is right")
        for place in (flags["out"], flags["markdown"]):
            if place is not None:
                check_place(place)
        return cls(
            profile=find_profile(flags["profile"]) if base or flags["update_baseline"] or named else None,
            base=read_baseline(bytes_of(base), str(base)) if base else None,
            committed=read_committed(bytes_of(committed), str(committed)) if committed else None,
            bank_to=flags["update_baseline"],
            version=1 if flags["baseline_format"] == "v1" else 2,
            justification=flags["justification"],
            waiver=flags["allow_regression"],
        )

    def judge(self, board: Scoreboard) -> Outcome | None:
        """The verdict against the base, if one was named."""
        from brainbench.evidence.gate import gate as judged

        if self.base is None or self.profile is None:
            return None
        return judged(
            self.profile,
            board,
            self.base,
            self.committed,
            justification=self.justification,
            allow_regression=self.waiver,
            ci=bool(os.environ.get("CI")),
        )

    def bank(self, board: Scoreboard) -> None:
        """Write the run as a baseline, if that was asked and the run may be one."""
        from brainbench.evidence.baseline import baseline_of, in_version, serialised, write_baseline
        from brainbench.evidence.gate import why_no_baseline

        if self.bank_to is None or self.profile is None:
            return
        if reasons := why_no_baseline(self.profile, board):
            raise IncompatibleError("\n".join(f"--update-baseline: refused: {reason}" for reason in reasons))
        banked = in_version(baseline_of(board, self.justification), self.version)
        write_baseline(self.bank_to, serialised(banked))
        click.echo(f"baseline written: {self.bank_to}", err=True)


def _result(done: Run, outcome: Outcome | None) -> dict[str, object]:
    from brainbench.report.v1 import v1_result

    order = [name for fixture in done.corpus.fixtures for name in (fixture.fixture_id, *dict(fixture.declares))]
    return v1_result(done.board, outcome, order)


def _write_results(done: Run, outcome: Outcome | None, flags: dict[str, Any]) -> None:
    from brainbench.report.markdown import summary
    from brainbench.write import write_json, write_text

    if flags["out"] is not None:
        write_json(flags["out"], _result(done, outcome))
    if flags["markdown"] is not None:
        write_text(flags["markdown"], summary(done.board, outcome, strata=flags["strata"]))
    _log_sweep(done, flags)


def _log_sweep(done: Run, flags: dict[str, Any]) -> None:
    """Add the run to its ledger. Only one that was asked for by name may stop the command."""
    from brainbench.evidence import repository, runledger
    from brainbench.evidence.committed import checkout

    asked, top = flags["run_ledger"], checkout()
    place = asked or (top / ".brainbench" / "run-ledger.jsonl" if top else None)
    if place is None:
        return
    dirty = repository.is_dirty(Path(__file__).parent)
    line = runledger.sweep_of(done.board, ran_at=str(done.board.receipt["ts"]), seed=flags["seed"], dirty=dirty)
    try:
        runledger.append(place, line)
    except OutputError as error:
        if asked is not None:
            raise
        click.echo(f"brainbench: note: no line in the run ledger: {error}", err=True)


def _ended(board: Scoreboard, outcome: Outcome | None) -> int:
    """The exit code of a run, with a line on standard error for every reason that is not a pass."""
    lines = list(outcome.lines()) if outcome is not None else []
    if outcome is None or outcome.verdict == "pass":
        lines += [f"brainbench: inconclusive: seed_failure: {s}: {f}: {why}" for s, f, why in board.seed_failures]
        bad = [cell for cell in board.cells if cell.status in ("invalid", "failed")]
        lines += [f"brainbench: inconclusive: error_share: {cell.key}: {cell.reason}" for cell in bad]
    for line in lines:
        click.echo(line, err=True)
    if outcome is not None and outcome.verdict != "pass":
        return outcome.exit_code
    return 2 if lines else 0


def _save_observations(done: Run, directory: Path | None) -> None:
    from brainbench.report.observations import observations_json
    from brainbench.write import make_directory, write_json

    if directory is not None:
        make_directory(directory)
        write_json(directory / "observations.json", observations_json(done.board, done.replays))
