"""`brainbench gate` and `brainbench compare`: judge a fresh run, or two stored ones."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import click

from brainbench.cli.frame import PROFILE, Command, choice_of, corpus_options, ended, printing, progress_bar, reported
from brainbench.errors import OutputError
from brainbench.report.terminal import print_comparison, print_scoreboard
from brainbench.write import to_line


@click.command(cls=Command)
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
    choice = choice_of(flags)
    with progress_bar() as progress:
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
    sys.exit(ended(board, outcome))


def _add_summary(place: Path, text: str) -> None:
    """Append to the summary of a CI step. A summary that cannot be written is told, and changes no verdict."""
    from brainbench.write import append_text

    try:
        append_text(place, text)
    except OutputError as error:
        click.echo(f"brainbench: note: GITHUB_STEP_SUMMARY: {error}", err=True)


@click.command(cls=Command)
@click.argument("base", type=click.Path(path_type=Path))
@click.argument("current", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@click.option("--markdown", type=click.Path(path_type=Path), metavar="FILE", help="Write the verdict as Markdown here.")
@reported
def compare(base: Path, current: Path, as_json: bool, markdown: Path | None) -> None:
    """Hold one stored run against another: result documents or baselines.

    It tells whether the same systems on the same corpus got worse. Runs of other systems or on another corpus are
    inconclusive; systems are held side by side in one run.

    \b
    Examples:
      brainbench compare evidence/baselines/conformance.json result.json
      brainbench compare before.json after.json --markdown summary.md
    """
    from brainbench.evidence.committed import bytes_of
    from brainbench.evidence.compare import compare as compared
    from brainbench.evidence.documents import read_run
    from brainbench.evidence.outcome import outcome_document
    from brainbench.report.markdown import verdict
    from brainbench.write import check_place, write_text

    if markdown is not None:
        check_place(markdown)
    before, now = (read_run(bytes_of(path), str(path)) for path in (base, current))
    outcome = compared(before, now)
    if markdown is not None:
        write_text(markdown, f"{verdict(outcome)}\n")
    with printing():
        if as_json:
            click.echo(to_line(outcome_document(outcome)), nl=False)
        else:
            print_comparison([(str(base), before), (str(current), now)], outcome, sys.stdout)
    for line in outcome.lines():
        click.echo(line, err=True)
    sys.exit(outcome.exit_code)
