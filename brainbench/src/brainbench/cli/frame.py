"""What all commands share: flags, progress, how errors are told and what a run's exit code is."""

from __future__ import annotations

import functools
import itertools
import os
import select
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import click

from brainbench.errors import NOT_ADMITTED, UNLOADED, BenchError, CorpusError, OutputError, verdict_line

if TYPE_CHECKING:
    from brainbench.evidence import Scoreboard
    from brainbench.evidence.outcome import Outcome
    from brainbench.evidence.runledger import Sweep
    from brainbench.run import Choice

P = ParamSpec("P")
T = TypeVar("T")
PROFILE = "conformance"
READER_GONE = 128 + 13
"""The exit code where nobody reads standard output any more: what a shell tells of a program that SIGPIPE ended."""
BASELINE = "evidence/baselines/conformance.json"


_ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
QUIET_SECONDS = 60.0
"""How long a run says nothing where no bar is shown."""
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
        try:
            for flag, value in itertools.pairwise(args):
                if flag in takes_value and value.startswith("--"):
                    raise click.UsageError(f"Option {flag!r} needs a value, and {value!r} is a flag.")
            return super().make_context(info_name, args, *rest, **extra)
        except click.UsageError as error:
            if error.ctx is None:  # click names no command where it cannot take a line apart
                error.ctx = click.Context(self, info_name=info_name, parent=extra.get("parent"))
            raise


@contextmanager
def _ended_like_an_interrupt() -> Iterator[None]:
    """SIGTERM and SIGHUP do what Ctrl-C does, so that worker processes and their directories go too.

    What is ignored, as SIGINT is in a shell's background, stays ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard = [number for number in _ENDINGS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, signal.default_int_handler) for number in heard}
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
            click.echo(verdict_line("inconclusive", "schema", count), err=True)
            sys.exit(2)
        except BenchError as error:
            for line in str(error).splitlines():
                click.echo(verdict_line("inconclusive", error.reason, line), err=True)
            sys.exit(2)
        except KeyboardInterrupt:
            click.echo(verdict_line("inconclusive", "interrupted", "nothing was written"), err=True)
            sys.exit(2)
        except (click.ClickException, click.exceptions.Exit):
            raise
        except Exception as error:
            if isinstance(error, BrokenPipeError) and _nobody_reads():
                _say_no_more()
                sys.exit(READER_GONE)
            if isinstance(error, OSError) and error.strerror:
                reason, where = ("files", f"{error.filename}: ") if error.filename else ("output", "")
                click.echo(verdict_line("inconclusive", reason, f"{where}{error.strerror}"), err=True)
            else:
                traceback.print_exc()
                click.echo(
                    verdict_line("inconclusive", "internal", "a fault of brainbench; please report it"), err=True
                )
            _say_no_more()
            sys.exit(2)

    return run


def _nobody_reads() -> bool:
    """Whether standard output is a pipe whose reader has ended: other pipes of a run may break too."""
    try:
        asked = select.poll()
        asked.register(sys.stdout.fileno(), 0)
        return any(event & select.POLLERR for _, event in asked.poll(0))
    except (AttributeError, OSError, ValueError):
        return True  # no poll on Windows, and no fileno where output is captured


def _say_no_more() -> None:
    """Let standard output lead nowhere, or Python complains once more of what is buffered while it ends."""
    with suppress(OSError, ValueError), open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), sys.stdout.fileno())


@contextmanager
def printing() -> Iterator[None]:
    """OutputError where standard output takes nothing any more, as on a full disk.

    Where the reader of a pipe has ended, as `head` does, the command ends as quietly as any other.
    """
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _say_no_more()
        raise OutputError(f"standard output: {error.strerror or error}") from error


def place_options(command: Callable[P, T]) -> Callable[P, T]:
    """The flags that name a corpus, for commands that play nothing."""
    options = [
        click.option("--fixtures", type=PLACE, metavar="DIR", help="Fixtures, v1 or native."),
        click.option("--gold", type=PLACE, metavar="DIR", help="The gold of --fixtures."),
        click.option("--corpus", metavar="NAME", help="A corpus of this repository.  [default: core]"),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def corpus_options(command: Callable[P, T]) -> Callable[P, T]:
    """The flags that choose what is measured, on what and where."""
    options = [
        click.option(
            "--system",
            "systems",
            multiple=True,
            metavar="NAME",
            help="A system; may be given again.  [default: wellkept; where it is not installed null, bm25, files+grep]",
        ),
        click.option("--pass-env", multiple=True, metavar="VAR", help="Let systems see this variable (disclosed)."),
        click.option("--allow-remote", is_flag=True, help="Let a system be a URL on another machine."),
        click.option("--token-env", metavar="VAR", help="The variable with the token for systems behind a URL."),
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
    return place_options(command)


def choice_of(flags: dict[str, Any]) -> Choice:
    from brainbench.run import choose
    from brainbench.systems.access import granted

    access = granted(flags["pass_env"], flags["token_env"], flags["allow_remote"], flags["timeout"])
    if any(":" in name for name in flags["systems"]):
        sys.path.append(os.getcwd())
    wanted = ("fixtures", "gold", "corpus", "systems", "harness", "suite", "include_holdout", "hook_inproc")
    chosen = {name: flags[name] for name in (*wanted, "openclaw_window", "seed", "jobs", "timeout")}
    return choose(**chosen, command=tuple(sys.argv[1:]), access=access)


@contextmanager
def progress_bar(doing: str = "playing fixtures") -> Iterator[Callable[[int, int], None]]:
    """A bar with counts and time left on standard error, if that is a terminal; else a line a minute."""
    if not sys.stderr.isatty():
        yield _line_a_minute(doing)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(doing), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, of: bar.update(task, completed=done, total=of)


def _line_a_minute(doing: str) -> Callable[[int, int], None]:
    """Says how far it is, so that nobody takes a long run in a log for one that hangs."""
    last = time.monotonic()

    def progress(done: int, of: int) -> None:
        nonlocal last
        if time.monotonic() - last >= QUIET_SECONDS:
            last = time.monotonic()
            click.echo(f"{doing}: {done:,} of {of:,}", err=True)

    return progress


def add_to_ledger(line: Sweep, asked: Path | None) -> None:
    """Add a run to the ledger. Only one that was asked for by name may stop the command."""
    from brainbench.evidence import runledger
    from brainbench.evidence.committed import checkout

    top = checkout()
    place = asked or (top / ".brainbench" / "run-ledger.jsonl" if top else None)
    if place is None:
        return
    try:
        runledger.append(place, line)
    except OutputError as error:
        if asked is not None:
            raise
        click.echo(f"brainbench: note: no line in the run ledger: {error}", err=True)


def _untrusted(board: Scoreboard, shown: bool) -> Iterator[str]:
    """The cells that have no numbers and should: of a system that was not played at all, one line with the reason."""
    for system, cells in itertools.groupby(board.cells, key=lambda cell: cell.system):
        own = [cell for cell in cells if cell.status != "not_applicable"]
        bad = [cell for cell in own if cell.status in ("invalid", "failed")]
        if bad and bad[0].reason.startswith((UNLOADED, NOT_ADMITTED)):
            yield f"{system}: has no numbers: {bad[0].reason}"
            continue
        for cell in bad:
            yield f"{cell.key}: {f'{cell.status}; the scoreboard says why' if shown else cell.reason}"


def ended(board: Scoreboard, outcome: Outcome | None, *, shown: bool = False) -> int:
    """The exit code of a run, with a line on standard error for every reason that is not a pass.

    Where the scoreboard is `shown`, why a cell has no numbers stands there and is not told again.
    """
    lines = list(outcome.lines()) if outcome is not None else []
    if outcome is None or outcome.verdict == "pass":
        lines += [verdict_line("inconclusive", "seed_failure", f"{s}: {f}: {why}") for s, f, why in board.seed_failures]
        if outcome is None:
            lines += [verdict_line("inconclusive", "panel", text) for text in board.panel_failures]
        lines += [verdict_line("inconclusive", "error_share", text) for text in _untrusted(board, shown)]
    for line in lines:
        click.echo(line, err=True)
    if outcome is not None and outcome.verdict != "pass":
        return outcome.exit_code
    return 2 if lines else 0
