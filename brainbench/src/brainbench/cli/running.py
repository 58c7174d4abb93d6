"""`brainbench run`: play, print, and hold the run against a baseline where one is named."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from brainbench.cli.frame import (
    BASELINE,
    PROFILE,
    Command,
    add_to_ledger,
    choice_of,
    corpus_options,
    ended,
    printing,
    progress_bar,
    reported,
)
from brainbench.cli.live import live_options, run_live, run_llm, wants_model
from brainbench.errors import IncompatibleError, UsageError, verdict_line
from brainbench.report.terminal import print_scoreboard
from brainbench.write import to_line

if TYPE_CHECKING:
    from brainbench.evidence import Scoreboard
    from brainbench.evidence.baseline import Baseline
    from brainbench.evidence.gate import CommittedFile
    from brainbench.evidence.outcome import Outcome
    from brainbench.evidence.profile import Profile
    from brainbench.run import Choice, Run


@click.command(cls=Command)
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
@click.option("--panel", "with_panel", is_flag=True, help="Check first that the validity panel holds here.")
@click.option(
    "--require",
    metavar="A,B",
    help="Fail where a system does not claim this capability, or this suite or harness is n/a.",
)
@click.option("--long", is_flag=True, help="Every metric of every cell, with its 95 % interval.")
@click.option("--strata", is_flag=True, help="Show each cell by stratum too.")
@live_options
@reported
def run(**flags: Any) -> None:
    """Play a corpus through harness seams and print the scoreboard.

    \b
    Examples:
      brainbench run
      brainbench run --system wellkept --system bm25 --suite know-to-ask,push
      brainbench run --system 'cmd:node my_memory.js' --system mcp:mapping.toml
      brainbench run --fixtures their/fixtures --gold their/gold --json --out result.json
      brainbench run --system my_memory:MyMemory --require conversation_write,continuity
      brainbench run --compare evidence/baselines/conformance.json
      brainbench run --update-baseline --justification "the corpus gained fixtures"
      brainbench run --live --endpoint http://127.0.0.1:8080/v1 --model NAME --price-in 0 --price-out 0
    """
    from brainbench.run import measure
    from brainbench.write import make_directory

    if wants_model(flags):
        sys.exit(run_live(flags) if flags["live"] else run_llm(flags))
    gating = _Gating.of(flags)
    choice = choice_of(flags)
    needed = _required(choice, flags["require"])
    if flags["save_observations"] is not None:
        make_directory(flags["save_observations"])
    broken = _broken_panel(choice, flags["profile"]) if flags["with_panel"] else ()
    with progress_bar() as progress:
        done = measure(choice, progress)
    done = replace(done, board=replace(done.board, panel_failures=broken))
    outcome = gating.judge(done.board)
    try:
        _save_observations(done, flags["save_observations"])
        gating.bank(done.board)
        _write_results(done, outcome, flags)
    finally:
        # A file that cannot be written must not cost the run its scoreboard.
        with printing():
            if flags["as_json"]:
                click.echo(to_line(_result(done, outcome)), nl=False)
            else:
                print_scoreboard(done.board, outcome, sys.stdout, strata=flags["strata"], long=flags["long"])
    sys.exit(_ended(done.board, outcome, needed, shown=not flags["as_json"]))


def _required(choice: Choice, words: str | None) -> tuple[str, ...]:
    from brainbench.evidence.required import required

    return required(words, [seam.name for seam in choice.seams], choice.suites) if words is not None else ()


def _ended(board: Scoreboard, outcome: Outcome | None, needed: tuple[str, ...], *, shown: bool) -> int:
    """The exit code; what is required and not there fails a run, whatever else is to be said of it."""
    from brainbench.evidence.required import unmet

    code = ended(board, outcome, shown=shown)
    lacking = [verdict_line("fail", "required", text) for text in unmet(board, needed)]
    for line in lacking:
        click.echo(line, err=True)
    return 1 if lacking else code


def _broken_panel(choice: Choice, profile: str) -> tuple[str, ...]:
    """What of the validity panel does not hold for any of the systems to be measured."""
    from brainbench.evidence.committed import find_profile
    from brainbench.panel import panel

    rules = find_profile(profile)
    panels = []
    for system in choice.systems:
        with progress_bar() as progress:
            panels.append(panel(replace(choice, systems=(system,)), rules, progress))
    return tuple(failure for found in panels for failure in found.failures)


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
    """Add the run to its ledger."""
    from brainbench.evidence import repository, runledger

    dirty = repository.is_dirty(Path(__file__).parent)
    line = runledger.sweep_of(done.board, ran_at=str(done.board.receipt["ts"]), seed=flags["seed"], dirty=dirty)
    add_to_ledger(line, flags["run_ledger"])


def _save_observations(done: Run, directory: Path | None) -> None:
    from brainbench.report.observations import observations_json
    from brainbench.write import write_json

    if directory is not None:
        write_json(directory / "observations.json", observations_json(done.board, done.replays))
