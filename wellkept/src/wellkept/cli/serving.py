"""The daemon, and what harnesses' hooks say through it."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from wellkept.cli.frame import common, report, settings_of
from wellkept.hooks import HOOKS

HARNESS = click.Choice(tuple(HOOKS))


@click.command()
@click.option("--budget-ms", type=int, metavar="MS", help="How long one request may take (default 400).")
@click.option(
    "--test-clock",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Read the time from FILE on every request, to make runs repeatable.",
)
@click.option("--idle-minutes", type=click.FloatRange(min=0.001), metavar="N", help="End when nobody asks for so long.")
@common
def daemon(
    budget_ms: int | None,
    test_clock: Path | None,
    idle_minutes: float | None,
    as_json: bool,
    source: str | None,
    data_dir: Path | None,
) -> None:
    """Keep the memory open and answer hooks until told to stop.

    Installed hooks start one by themselves when none answers.

    \b
    Examples:
      wellkept daemon
      wellkept daemon --data-dir ~/notes/memory --budget-ms 1000
    """
    from wellkept.serve.daemon import serve

    def ready(socket: Path) -> None:
        report(as_json, {"ready": True, "socket": str(socket)}, f"listening on {socket}")
        sys.stdout.flush()

    idle_s = None if idle_minutes is None else idle_minutes * 60
    serve(settings_of(source, data_dir, budget_ms=budget_ms), test_clock, ready, idle_s)


@click.command()
@common
def ping(as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """Ask whether a daemon answers.

    \b
    Example:
      wellkept ping --json
    """
    from wellkept.serve.ipc import call

    asked = {} if source is None else {"source": source}
    said = call(settings_of(source, data_dir).socket, "ping", asked, timeout_s=2.0)
    report(as_json, said, f"wellkept {said['version']} serves {said['source']}")


@click.group()
def hook() -> None:
    """Try by hand what a harness's hook would say, and how long it takes."""


@hook.command("user-prompt")
@click.option("--harness", type=HARNESS, default="claude-code", show_default=True, help="Whose hook to try.")
@common
def user_prompt(harness: str, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """Answer the prompt event on standard input, without a daemon.

    \b
    Example:
      echo '{"prompt": "What did Ada decide?", "transcript_path": "'$HOME'/.claude/projects/new.jsonl"}' |
        wellkept hook user-prompt

    Standard error says what came of it. A transcript is read from below a harness's own directory only; one that
    is not there yet is an empty conversation.
    """
    from datetime import UTC, datetime
    from importlib import import_module

    from wellkept.hooks.where import asked_of
    from wellkept.model import Budget
    from wellkept.settings import open_memory

    settings = settings_of(source, data_dir)
    memory = open_memory(settings)
    try:
        stdin = sys.stdin.buffer.read()
        asked, scope = asked_of(memory, settings.source, settings.bound, stdin, settings.home)
        said = import_module(HOOKS[harness]).answer(
            asked,
            scope,
            stdin,
            roots=settings.transcript_roots,
            budget=Budget(),
            now=datetime.now(UTC),
            hooks_on=settings.hooks,
        )
    finally:
        memory.close()
    summary = {"outcome": said.outcome, "reason": said.reason, "turns": said.turns}
    if as_json:
        report(True, {**summary, "stdout": said.stdout.decode()}, "")
        return
    click.echo(said.stdout, nl=False)
    click.echo(f"{said.outcome} {said.reason}".strip(), err=True)


@hook.command("time")
@click.argument("prompt")
@click.option("--harness", type=HARNESS, default="claude-code", show_default=True, help="Whose hook to time.")
@click.option("--runs", type=click.IntRange(1, 10_000), default=100, show_default=True, help="How often.")
@common
def time_(prompt: str, harness: str, runs: int, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """Time the hook process for PROMPT, with a daemon that runs.

    \b
    Example:
      wellkept hook time "What did Ada decide?" --runs 200
    """
    import json

    from wellkept.hooks import command
    from wellkept.hooks.timing import time_hook
    from wellkept.serve.ipc import call
    from wellkept.settings import harness_home

    settings = settings_of(source, data_dir)
    call(settings.socket, "ping", {}, timeout_s=2.0)
    event = {"prompt": prompt, "transcript_path": str(harness_home(harness) / "projects" / "none" / "timed.jsonl")}
    if harness != "claude-code":
        del event["transcript_path"]
    found = time_hook(command(harness, settings.socket), json.dumps(event).encode(), runs).summary()
    report(as_json, found, "\n".join(f"{name:<12} {value:g}" for name, value in found.items()))


@click.command("hook-command")
@click.argument("harness", type=HARNESS)
@click.option("--deadline-ms", type=click.IntRange(1, 600_000), metavar="MS", help="For everything (default 800).")
@common
def hook_command(
    harness: str, deadline_ms: int | None, as_json: bool, source: str | None, data_dir: Path | None
) -> None:
    """Print the command to install as a harness's prompt hook.

    Take it out of the harness before you uninstall wellkept: Python exits with 2 when the file is gone, and some
    harnesses hold the prompt back then.

    \b
    Examples:
      wellkept hook-command claude-code
      wellkept hook-command codex --json
    """
    import shlex

    from wellkept.hooks import command

    argv = command(harness, settings_of(source, data_dir).socket, deadline_ms)
    report(as_json, argv, shlex.join(argv))
