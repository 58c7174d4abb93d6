"""`brainbench longmemeval` and `brainbench locomo`: does a memory find the conversation that holds the answer?"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import click

from brainbench.cli.frame import Command, printing, progress_bar, reported
from brainbench.errors import UsageError, verdict_line
from brainbench.write import check_place, make_directory, to_line, write_json

if TYPE_CHECKING:
    from brainbench.retrieval.layout import Choice

P = ParamSpec("P")
T = TypeVar("T")
FILE = click.Path(path_type=Path)
POLICIES = ("user-and-assistant-turns-v1", "user-turns-only-v1")
MOST_TOLD = 20
"""How many mismatches are told one by one."""
MODES = {"lexical": "bm25"}
"""What ranks without a memory product: the mode -> the built-in system that is it."""


def _asking(command: Callable[P, T]) -> Callable[P, T]:
    """The flags of commands that ask a memory about an outside set."""
    options = [
        click.argument("path", type=FILE),
        click.option("--system", metavar="NAME", help="The memory to measure.  [default: wellkept]"),
        click.option("--mode", type=click.Choice(list(MODES)), help="Instead of a memory: lexical is BM25."),
        click.option(
            "--granularity",
            type=click.Choice(["session", "turn"]),
            help="What is found: whole sessions or single turns.  [default: session; locomo: turn]",
        ),
        click.option("--k", "ks", type=click.IntRange(1, 1000), multiple=True, help="Cut-offs.  [default: 5, 10]"),
        click.option("--limit", type=click.IntRange(1), metavar="N", help="Ask so many questions only."),
        click.option(
            "--sample",
            type=click.Choice(["prefix", "stratified"]),
            default="prefix",
            show_default=True,
            help="Which: the first, or of each kind as many as its share.",
        ),
        click.option(
            "--out",
            type=FILE,
            metavar="FILE",
            help="Write the report with every case here.  [in a checkout: below .brainbench/runs]",
        ),
        click.option("--no-save", is_flag=True, help="Write no report where --out names none."),
        click.option("--checkpoint", type=FILE, metavar="FILE", help="Keep what is done, and go on from there."),
        click.option("--allow-unknown-dataset", is_flag=True, help="Measure a file that is not the published one."),
        click.option("--label", default="", metavar="STR", help="A name for the run in its report."),
        click.option("--seed", type=int, default=42, show_default=True, help="Keys the opaque ids."),
        click.option("--jobs", type=click.IntRange(1, 64), default=1, show_default=True, help="Worker processes."),
        click.option(
            "--timeout",
            type=click.FloatRange(min=0.1),
            default=120.0,
            show_default=True,
            metavar="SECONDS",
            help="How long writing one haystack may take; each question adds a second.",
        ),
        click.option("--pass-env", multiple=True, metavar="VAR", help="Let the system see this variable."),
        click.option("--allow-remote", is_flag=True, help="Let the system be a URL on another machine."),
        click.option("--token-env", metavar="VAR", help="The variable with the token for a system behind a URL."),
        click.option("--json", "as_json", is_flag=True, help="The report as one JSON document on standard output."),
    ]
    for option in reversed(options):
        command = option(command)
    return command


@click.command(cls=Command)
@_asking
@click.option(
    "--text-policy",
    type=click.Choice(POLICIES),
    default=POLICIES[0],
    show_default=True,
    help="Whose turns are written.",
)
@reported
def longmemeval(**flags: Any) -> None:
    """Measure retrieval on a LongMemEval file: does a memory find the sessions that hold the answer?

    PATH is a file in the official format, longmemeval_s_cleaned.json, or one packed with xz. Each question has a
    haystack of its own, which is written into an empty memory before it is asked.

    \b
    Examples:
      brainbench longmemeval longmemeval_s_cleaned.json --system bm25 --out bm25.json
      brainbench longmemeval longmemeval_s_cleaned.json --out wellkept.json --checkpoint half-way.jsonl
      brainbench longmemeval mine.json --allow-unknown-dataset --limit 50 --sample stratified
    """
    sys.exit(_run("longmemeval", {"granularity": "session", **{k: v for k, v in flags.items() if v is not None}}))


@click.command(cls=Command)
@_asking
@reported
def locomo(**flags: Any) -> None:
    """Measure retrieval on a LoCoMo file: does a memory find the turns that hold the evidence?

    PATH is a file in the official form, locomo10.json, or one packed with xz. Each conversation is written into an
    empty memory, then all of its questions are asked. The conversations are short enough for a model to read whole.

    \b
    Examples:
      brainbench locomo locomo10.json --system bm25 --out bm25.json
      brainbench locomo locomo10.json --granularity session --k 1 --k 5
    """
    sys.exit(_run("locomo", {"granularity": "turn", **{k: v for k, v in flags.items() if v is not None}}))


@click.command(cls=Command)
@click.argument("report", type=FILE)
@click.option("--k", "ks", type=click.IntRange(1, 1000), multiple=True, help="Other cut-offs than those of the report.")
@click.option("--against", type=FILE, metavar="OTHER", help="Compare with another report, question by question.")
@click.option("--out", type=FILE, metavar="FILE", help="Write a new report that names the old one.")
@click.option("--json", "as_json", is_flag=True, help="The new report as one JSON document on standard output.")
@reported
def rejudge(report: Path, ks: tuple[int, ...], against: Path | None, out: Path | None, as_json: bool) -> None:
    """Judge a report of longmemeval or locomo again, from its cases: nothing is asked of any memory.

    Exit 1 says that a report states a number that does not follow from its cases; then nothing is written. Exit 2 says
    that too many questions were not answered, as in the run itself, or that the report cannot be judged at all.

    \b
    Examples:
      brainbench rejudge bm25.json
      brainbench rejudge bm25.json --k 1 --k 20 --out deeper.json
      brainbench rejudge before.json --against after.json
    """
    from brainbench.retrieval.comparing import paired_document, paired_text
    from brainbench.retrieval.judging import exit_code, verdict
    from brainbench.retrieval.rejudging import rejudge as judged_again
    from brainbench.retrieval.rejudging import rejudged_document
    from brainbench.retrieval.telling import rejudged_text

    if out is not None:
        check_place(out)
    done = judged_again(report, ks)
    other = judged_again(against, done.ks) if against is not None else None
    # What cannot be compared is told before anything is written.
    compared = {"against": paired_document(done, other)} if other is not None else {}
    report_again = {**rejudged_document(done), **compared}
    mismatches = [*done.mismatches, *(f"{against}: {line}" for line in (other.mismatches if other else ()))]
    if out is not None and not mismatches:
        write_json(out, report_again)
    with printing():
        if as_json:
            click.echo(to_line(report_again), nl=False)
        else:
            for line in rejudged_text(done.report, done.found, done.ks):
                click.echo(line)
            for line in paired_text(done, other) if other is not None else ():
                click.echo(line)
    for line in mismatches[:MOST_TOLD]:
        click.echo(verdict_line("fail", "mismatch", line), err=True)
    if more := len(mismatches[MOST_TOLD:]):
        click.echo(verdict_line("fail", "mismatch", f"and {more} more"), err=True)
    if mismatches:
        sys.exit(1)
    verdicts = [verdict(one.found) for one in (done, other) if one is not None]
    for judged, reason, said in ((judged, *told) for judged, reasons in verdicts for told in reasons):
        click.echo(verdict_line(judged, reason, said), err=True)
    sys.exit(max(exit_code(judged) for judged, _ in verdicts))


def _run(suite: str, flags: dict[str, Any]) -> int:
    """Ask, write, print; the exit code."""
    from brainbench.evidence.committed import checkout
    from brainbench.retrieval.judging import exit_code, verdict
    from brainbench.retrieval.running import measure
    from brainbench.retrieval.telling import document, summary_of, text, usual_place

    for place in (flags.get("out"), flags.get("checkpoint")):
        if place is not None:
            check_place(place)
    out = flags.get("out") or (None if flags["no_save"] else usual_place(suite, flags["label"], checkout()))
    choice = _choice(suite, flags, out)
    try:
        with progress_bar("asking questions") as progress:
            done = measure(choice, progress)
    except KeyboardInterrupt:
        if choice.checkpoint is None:
            raise
        kept = f"what is done is kept in {choice.checkpoint}; the same command goes on from there"
        click.echo(verdict_line("inconclusive", "interrupted", kept), err=True)
        return 2
    found = summary_of(done)
    report = document(done, found)
    if out is not None:
        make_directory(out.parent)
        write_json(out, report)
        click.echo(f"report written: {out}", err=True)
    with printing():
        if flags["as_json"]:
            click.echo(to_line(report), nl=False)
        else:
            for line in text(done, found):
                click.echo(line)
    judged, reasons = verdict(found)
    for reason, said in reasons:
        click.echo(verdict_line(judged, reason, said), err=True)
    return exit_code(judged)


def _choice(suite: str, flags: dict[str, Any], out: Path | None) -> Choice:
    """What the flags ask for. UsageError where two of them do not go together."""
    from brainbench.evidence.committed import checkout
    from brainbench.retrieval.layout import Choice
    from brainbench.retrieval.telling import results_at_hand
    from brainbench.systems.access import granted

    if "mode" in flags and "system" in flags:
        raise UsageError("--mode: ranks by itself and takes no --system; leave one of both out")
    system = MODES[flags["mode"]] if "mode" in flags else flags.get("system", "wellkept")
    if ":" in system:
        sys.path.append(os.getcwd())
    return Choice(
        suite=suite,
        path=flags["path"],
        system=system,
        granularity=flags["granularity"],
        policy=flags.get("text_policy", POLICIES[0]),
        ks=tuple(sorted(set(flags["ks"]))) or (5, 10),
        limit=flags.get("limit"),
        sample=flags["sample"],
        seed=flags["seed"],
        jobs=flags["jobs"],
        haystack_seconds=flags["timeout"],
        allow_unknown=flags["allow_unknown_dataset"],
        checkpoint=flags.get("checkpoint"),
        label=flags["label"],
        mode=flags.get("mode", "system"),
        hidden=(*([out] if out else []), *results_at_hand(checkout())),
        command=tuple(sys.argv[1:]),
        access=granted(flags["pass_env"], flags.get("token_env"), flags["allow_remote"], flags["timeout"]),
    )
