"""`brainbench run --live` and `--llm`: a model in the loop, or as the extractor of write-back."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import click
from click.core import ParameterSource

from brainbench.cli.frame import add_to_ledger, choice_of, printing, progress_bar
from brainbench.errors import BenchError, IncompatibleError, OverBudget, UsageError, verdict_line
from brainbench.write import to_line

if TYPE_CHECKING:
    from brainbench.chat import Chat
    from brainbench.live import LiveRun
    from brainbench.live.comparing import Change
    from brainbench.live.extracting import ExtractionRun

P = ParamSpec("P")
T = TypeVar("T")
ARM_NAMES = ("off", "tools", "push", "both")
EXTRACTION_SECONDS = 900.0
"""How long a fixture may take while it waits for a model, unless --timeout says otherwise."""
ONLY_WITH_A_MODEL = (
    "endpoint", "model", "key_env", "price_in", "price_out", "budget_usd", "repeat", "record", "recorded", "arms",
    "max_fixtures", "max_tokens",
)  # fmt: skip
"""The flags that say nothing of a run in which no model is asked."""
NOTES_EVERY = 60.0
"""Seconds between two lines about how far a long run is, where there is no terminal for a bar."""


def live_options(command: Callable[P, T]) -> Callable[P, T]:
    """The flags of runs that ask a model."""
    directory = click.Path(path_type=Path, file_okay=False)
    options = [
        click.option("--live", is_flag=True, help="Put know-to-ask turns to a model with tools on the memory."),
        click.option("--llm", is_flag=True, help="Let a model extract the facts of write-back, not the script."),
        click.option("--endpoint", metavar="URL", help="An OpenAI-compatible endpoint, such as https://host/v1."),
        click.option("--model", metavar="NAME", help="The model to ask.  [default: that of the records]"),
        click.option(
            "--key-env", default="OPENAI_API_KEY", show_default=True, metavar="NAME", help="The variable with its key."
        ),
        click.option("--price-in", type=click.FloatRange(min=0), metavar="USD", help="Per million tokens sent."),
        click.option("--price-out", type=click.FloatRange(min=0), metavar="USD", help="Per million tokens received."),
        click.option(
            "--budget-usd",
            type=click.FloatRange(min=0),
            default=5.0,
            show_default=True,
            metavar="USD",
            help="The most that this run may newly spend.",
        ),
        click.option(
            "--repeat", type=click.IntRange(1, 100), default=5, show_default=True, help="How often each turn is asked."
        ),
        click.option("--record", type=directory, metavar="DIR", help="Keep answers there, and take up from them."),
        click.option("--recorded", type=directory, metavar="DIR", help="Ask nobody: give these answers again."),
        click.option("--arms", metavar="A,B|all", default="all", show_default=True, help=", ".join(ARM_NAMES)),
        click.option("--max-fixtures", type=click.IntRange(1), metavar="N", help="So many, spread over the corpus."),
        click.option(
            "--max-tokens", type=click.IntRange(1, 100_000), default=512, show_default=True, help="Of one answer."
        ),
    ]
    for option in reversed(options):
        command = option(command)
    return command


def wants_model(flags: dict[str, Any]) -> bool:
    """Whether a run asks a model. UsageError where flags of such a run stand alone or beside what they exclude."""
    if flags["live"] and flags["llm"]:
        raise UsageError("--live, --llm: one at a time: their numbers answer different questions")
    if flags["live"] or flags["llm"]:
        for name in ("update_baseline", "committed_baseline", "allow_regression", "markdown", "save_observations"):
            if flags[name] is not None:
                flag = "--" + name.replace("_", "-")
                raise UsageError(
                    f"{flag}: a run with a model writes and blesses no baseline, and shares none; keep its result "
                    "with --out FILE"
                )
        if flags["require"] is not None:
            raise UsageError("--require: not with --live or --llm; require it of a run without a model")
        if flags["with_panel"]:
            raise UsageError(
                "--panel: not with --live or --llm: no model is asked there; run `brainbench panel` by itself"
            )
        return True
    if lone := [name for name in ONLY_WITH_A_MODEL if _given(name)]:
        raise UsageError(f"--{lone[0].replace('_', '-')}: only with --live or --llm")
    return False


def _given(name: str) -> bool:
    """Whether a flag stands on the command line."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


@contextmanager
def opened_chat(flags: dict[str, Any]) -> Iterator[Chat]:
    """The model that the flags name, ready to be asked. The key leaves the environment before any worker starts."""
    from brainbench.chat import Budget, Chat, Endpoint, Records
    from brainbench.chat.budget import Price
    from brainbench.chat.key import take_key

    key = take_key(flags["key_env"])
    if flags["recorded"] is not None:
        if flags["endpoint"] is not None or flags["record"] is not None:
            raise UsageError("--recorded: asks nobody; leave out --endpoint and --record")
        found = Records.open(flags["recorded"])
        price = Price(flags["price_in"] or 0.0, flags["price_out"] or 0.0)

        yield Chat(flags["model"] or found.model, records=found, budget=Budget(0.0, price))
        return
    for name in ("endpoint", "model"):
        if not flags[name]:
            raise UsageError(f"--{name}: say which is to be asked, or replay answers with --recorded DIR")
    if flags["price_in"] is None or flags["price_out"] is None:
        raise UsageError(
            f"--price-in, --price-out: what {flags['model']} costs is not known, and nothing is asked without that: "
            "give USD per million tokens sent and received, 0 and 0 for a model of your own"
        )
    endpoint = Endpoint(flags["endpoint"], key=key, key_name=flags["key_env"])
    try:
        endpoint.check(flags["model"])
        records = None
        if flags["record"] is not None:
            records = Records.for_writing(flags["record"], flags["model"], endpoint.host)
        price = Price(flags["price_in"], flags["price_out"])
        yield Chat(flags["model"], records=records, endpoint=endpoint, budget=Budget(flags["budget_usd"], price))
    finally:
        endpoint.close()


def run_live(flags: dict[str, Any]) -> int:
    """Play, print, and hold against an earlier live result where one is named; the exit code."""
    from brainbench.live import Plan, measure_live
    from brainbench.live.comparing import read_live
    from brainbench.write import check_place

    plan = Plan(_arms(flags["arms"]), flags["repeat"], flags["seed"], flags["max_tokens"])
    before = read_live(flags["compare"]) if flags["compare"] is not None else None
    if flags["out"] is not None:
        check_place(flags["out"])
    with opened_chat(flags) as chat, kept_answers(flags["record"]), logged(flags, chat, "live") as log:
        choice = replace(choice_of(flags), most_fixtures=flags["max_fixtures"])
        with long_progress(chat) as progress:
            done = measure_live(choice, plan, chat, progress=progress)
        invalid = bool(done.played.seed_failures) or any(c.status != "scored" for c in done.verdicts.cells)
        log(done.observations_hash, invalid, {c: v for c, v in done.receipt.items() if c not in ("ts", "cmd_args")})
    return _told(done, before, flags)


def run_llm(flags: dict[str, Any]) -> int:
    """Play write-back with a model as the extractor, print, and give the exit code."""
    from brainbench.chat.relay import relaying
    from brainbench.live.extracting import measure_extraction
    from brainbench.write import check_place

    if flags["compare"] is not None:
        raise UsageError(
            "--compare: a run with a model as extractor is held against no baseline: its numbers are not gated"
        )
    if flags["out"] is not None:
        check_place(flags["out"])
    flags = _as_extracted(flags)
    with (
        opened_chat(flags) as chat,
        kept_answers(flags["record"]),
        logged(flags, chat, "extraction") as log,
        relaying(chat, flags["seed"], flags["max_tokens"]) as relay,
        long_progress(chat) as progress,
    ):
        choice = replace(choice_of(flags), most_fixtures=flags["max_fixtures"])
        done = measure_extraction(choice, chat, relay, flags["repeat"], progress)
        board = done.runs[0].board
        invalid = bool(board.seed_failures) or any(c.status in ("invalid", "failed") for c in board.cells)
        log(board.observations_hash, invalid, {"fixtures_hash": board.fixtures_hash, **done.receipt})
    return _told_extraction(done, flags)


def _as_extracted(flags: dict[str, Any]) -> dict[str, Any]:
    """The flags of a run with a model as extractor: what was not given is what suits one."""
    usual: dict[str, Any] = {"timeout": EXTRACTION_SECONDS}
    if not _given("suite"):
        usual |= {"suite": "write-back", "harness": "openclaw"}
    return {**flags, **{name: value for name, value in usual.items() if not _given(name)}}


def _told_extraction(done: ExtractionRun, flags: dict[str, Any]) -> int:
    from brainbench.cli.frame import ended
    from brainbench.live.report import extraction_json, extraction_text
    from brainbench.report.terminal import print_scoreboard
    from brainbench.report.v1 import v1_result
    from brainbench.write import write_json

    first = done.runs[0].board
    document = v1_result(first)
    document["_meta"] = {**dict(document["_meta"]), "extraction": extraction_json(done)}  # type: ignore[call-overload]
    try:
        if flags["out"] is not None:
            write_json(flags["out"], document)
    finally:
        with printing():
            if flags["as_json"]:
                click.echo(to_line(document), nl=False)
            else:
                print_scoreboard(first, None, sys.stdout, strata=flags["strata"], long=flags["long"])
                click.echo(extraction_text(done), nl=False)
    return max(ended(run.board, None) for run in done.runs)


def _told(done: LiveRun, before: Any, flags: dict[str, Any]) -> int:
    from brainbench.live.comparing import changes
    from brainbench.live.report import live_json, live_text
    from brainbench.write import write_json

    document = live_json(done)
    try:
        if flags["out"] is not None:
            write_json(flags["out"], document)
    finally:
        with printing():
            click.echo(to_line(document) if flags["as_json"] else live_text(done), nl=False)
    unscored = [cell for cell in done.verdicts.cells if cell.status != "scored"]
    doubts = [verdict_line("inconclusive", "error_share", f"{c.system} {c.arm}: {c.reason}") for c in unscored]
    doubts += [
        verdict_line("inconclusive", "seed_failure", f"{s}: {f}: {why}")
        for (s, f), why in done.played.seed_failures.items()
    ]
    for doubt in doubts:
        click.echo(doubt, err=True)
    found: list[Change] = [] if before is None or doubts else list(changes(before, document))
    for change in found:
        click.echo(verdict_line("fail", "regression", str(change)) if change.worse else str(change), err=True)
    if doubts:
        return 2
    if before is not None and not found:
        raise IncompatibleError("--compare: the two live runs have no arm and turn in common")
    return 1 if any(change.worse for change in found) else 0


def _arms(value: str) -> tuple[str, ...]:
    asked = {name.strip() for name in value.split(",") if name.strip()}
    unknown = sorted(asked - set(ARM_NAMES) - {"all"})
    if unknown or not asked:
        wrong = f"unknown {', '.join(map(repr, unknown))}" if unknown else "nothing named"
        raise UsageError(f"--arms: {wrong}; known: {', '.join(ARM_NAMES)}, all")
    return ARM_NAMES if "all" in asked else tuple(name for name in ARM_NAMES if name in asked)


@contextmanager
def kept_answers(directory: Path | None) -> Iterator[None]:
    """Say, when a run ends early, that what was answered is not lost."""
    try:
        yield
    except (BenchError, KeyboardInterrupt) as error:
        if directory is not None and not isinstance(error, UsageError | IncompatibleError):
            click.echo(f"brainbench: note: answers so far are in {directory}; the same command goes on there", err=True)
        raise


Log = Callable[[str, bool, Mapping[str, object]], None]


@contextmanager
def logged(flags: dict[str, Any], chat: Chat, suite: str) -> Iterator[Log]:
    """A line in the run ledger of what was asked and spent, also where the budget ended the run."""
    from brainbench.evidence import repository, runledger

    started, home = time.monotonic(), Path(__file__).parent

    def line(status: runledger.Status, seen: str, params: Mapping[str, object]) -> None:
        ran_at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        sweep = runledger.Sweep(
            run_id=f"{repository.head(home)[:7]}-{suite}-{flags['seed']}",
            ran_at=ran_at,
            commit=repository.head(home),
            dirty=repository.is_dirty(home),
            seed=flags["seed"],
            params={**params, "model": chat.model, "host": chat.host, "questions": chat.spent.calls},
            observations_hash=seen,
            status=status,
            duration_ms=round((time.monotonic() - started) * 1000, 1),
            cpu_s=0.0,
            peak_mb=0.0,
            usd=round(chat.budget.spent, 6),
            suite=suite,
            mode="recorded" if chat.recorded else "asked",
        )
        add_to_ledger(sweep, flags["run_ledger"])

    def log(seen: str, invalid: bool, params: Mapping[str, object]) -> None:
        line("invalid" if invalid else "completed", seen, params)

    try:
        yield log
    except OverBudget:
        line("over_budget", "", {})
        raise


@contextmanager
def long_progress(chat: Chat) -> Iterator[Callable[[int, int], None]]:
    """The bar of other runs on a terminal; elsewhere a line a minute with what was spent."""
    started = said = time.monotonic()

    def note(done: int, of: int) -> None:
        nonlocal said
        now = time.monotonic()
        if not done and not chat.recorded:
            click.echo(f"asking {chat.model} at {chat.host}: {of} turns to play", err=True)
        if done and now - said >= NOTES_EVERY:
            said = now
            left = (now - started) / done * (of - done) / 60
            click.echo(f"{done} of {of} turns, {chat.spent.usd_new:.4f} USD, about {left:.0f} min left", err=True)

    with progress_bar() as bar:
        if sys.stderr.isatty():
            yield bar
        else:
            yield note
