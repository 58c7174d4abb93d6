"""`wellkept ...`: parse, call Memory, print. Heavy imports wait until a command needs them."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from wellkept import __version__
from wellkept.errors import InvalidInput, WellkeptError
from wellkept.hooks import HOOKS

if TYPE_CHECKING:
    from datetime import datetime

    from wellkept.capture import Kept
    from wellkept.memory import Memory
    from wellkept.model import Fact, Hit
    from wellkept.settings import Settings

SLOW_S = 2.0
"""Work that takes longer says how far it is, to a person at a terminal."""

HARNESS = click.Choice(tuple(HOOKS))

F = TypeVar("F", bound=Callable[..., Any])


class _Commands(click.Group):
    """Says what wellkept refuses in one line, with exit code 1, and a wrong command line with 2."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except WellkeptError as error:
            click.echo(f"wellkept: {error}", err=True)
            ctx.exit(1)


class _BadFile(click.ClickException):
    exit_code = 2


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="wellkept")
def main() -> None:
    """A local-first memory for coding agents and assistants.

    Exit codes: 0 done, 1 refused or not found, 2 the command line was wrong.
    """


def _common(command: F) -> F:
    """The options that every command takes."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text."),
        click.option("--source", metavar="NAME", help="The scope to read or write (default: from the settings)."),
        click.option("--data-dir", metavar="DIR", type=click.Path(path_type=Path), help="Where the memory is kept."),
    ):
        command = option(command)
    return command


def _settings(source: str | None, data_dir: Path | None, **more: object) -> Settings:
    from wellkept.settings import load_settings

    return load_settings(overrides={"source": source, "data_dir": data_dir, **more})


@contextmanager
def _memory(source: str | None, data_dir: Path | None) -> Iterator[tuple[Memory, str]]:
    """The memory and the source that the options name."""
    from wellkept.settings import open_memory

    settings = _settings(source, data_dir)
    memory = open_memory(settings)
    try:
        yield memory, settings.source
    finally:
        memory.close()


def _print(as_json: bool, found: object, text: str) -> None:
    """The one or the other form of an answer; an empty text prints nothing."""
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False, indent=2, allow_nan=False))
    elif text:
        click.echo(text)


def _plain(value: object) -> Any:
    """A frozen value as JSON types."""
    import msgspec

    return msgspec.to_builtins(value)


@main.command()
@click.option("--budget-ms", type=int, metavar="MS", help="How long one request may take (default 400).")
@click.option(
    "--test-clock",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Read the time from FILE on every request, to make runs repeatable.",
)
@_common
def daemon(
    budget_ms: int | None, test_clock: Path | None, as_json: bool, source: str | None, data_dir: Path | None
) -> None:
    """Keep the memory open and answer hooks until told to stop.

    \b
    Examples:
      wellkept daemon
      wellkept daemon --data-dir ~/notes/memory --budget-ms 1000
    """
    from wellkept.serve.daemon import serve

    def ready(socket: Path) -> None:
        _print(as_json, {"ready": True, "socket": str(socket)}, f"listening on {socket}")
        sys.stdout.flush()

    serve(_settings(source, data_dir, budget_ms=budget_ms), test_clock, ready)


@main.command()
@_common
def ping(as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """Ask whether a daemon answers.

    \b
    Example:
      wellkept ping --json
    """
    from wellkept.serve.ipc import call

    asked = {} if source is None else {"source": source}
    said = call(_settings(source, data_dir).socket, "ping", asked, timeout_s=2.0)
    _print(as_json, said, f"wellkept {said['version']} serves {said['source']}")


@main.group()
def hook() -> None:
    """Try by hand what a harness's hook would say."""


@hook.command("user-prompt")
@click.option("--harness", type=HARNESS, default="claude-code", show_default=True, help="Whose hook to try.")
@_common
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

    from wellkept.model import Budget
    from wellkept.settings import open_memory

    settings = _settings(source, data_dir)
    memory = open_memory(settings)
    try:
        said = import_module(HOOKS[harness]).answer(
            memory,
            settings.source,
            sys.stdin.buffer.read(),
            roots=settings.transcript_roots,
            budget=Budget(),
            now=datetime.now(UTC),
            hooks_on=settings.hooks,
        )
    finally:
        memory.close()
    summary = {"outcome": said.outcome, "reason": said.reason, "turns": said.turns}
    if as_json:
        _print(True, {**summary, "stdout": said.stdout.decode()}, "")
        return
    click.echo(said.stdout, nl=False)
    click.echo(f"{said.outcome} {said.reason}".strip(), err=True)


@main.command("hook-command")
@click.argument("harness", type=HARNESS)
@click.option("--deadline-ms", type=click.IntRange(1, 600_000), metavar="MS", help="For everything (default 800).")
@_common
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

    argv = command(harness, _settings(source, data_dir).socket, deadline_ms)
    _print(as_json, argv, shlex.join(argv))


@main.command()
@click.argument("slug")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@_common
def put(slug: str, file: Path, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """Keep FILE (Markdown, `-` for standard input) as the page SLUG.

    \b
    Examples:
      wellkept put people/ada-lovelace ada.md
      echo 'Ada likes tea.' | wellkept put people/ada-lovelace -
    """
    content = _markdown(file)
    with _memory(source, data_dir) as (memory, scope):
        receipt = memory.put_page(scope, slug, content)
    _print(as_json, _plain(receipt), f"{receipt.status} {receipt.slug}")


@main.command()
@click.argument("session")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@_common
def bank(session: str, file: Path, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """Keep the conversation in FILE (a transcript, `-` for standard input) as SESSION.

    The facts that it states are kept too where the settings name a model to read them (extractor_url,
    extractor_model). When the model fails, the conversation is kept without facts and the exit code is 1.

    \b
    Examples:
      wellkept bank monday talk.txt
      wellkept bank monday talk.jsonl --json
    """
    from wellkept.ingest.conversation import parse
    from wellkept.settings import open_extractor, open_memory

    settings = _settings(source, data_dir)
    messages = parse(_markdown(file))
    if not messages:
        raise _BadFile(f"{file}: holds no conversation that can be read; each turn needs a speaker, as `You: ...`")
    memory = open_memory(settings)
    try:
        receipt = memory.bank(settings.source, session, messages, extractor=open_extractor(settings))
    finally:
        memory.close()
    facts = "1 fact" if len(receipt.facts) == 1 else f"{len(receipt.facts)} facts"
    _print(as_json, _plain(receipt), f"{receipt.status} {receipt.slug}, {facts}")
    if "extractor_failed" in receipt.degraded:
        click.echo("wellkept: the model could not read the facts; the conversation is kept, bank it again", err=True)
        raise SystemExit(1)


@main.command()
@click.argument("slug")
@_common
def get(slug: str, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """Print the page SLUG as it was written.

    \b
    Example:
      wellkept get people/ada-lovelace
    """
    with _memory(source, data_dir) as (memory, scope):
        page = memory.get_page(scope, slug)
    _print(as_json, _plain(page), page.content.rstrip("\n"))


@main.command()
@click.argument("query")
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="At most so many.")
@_common
def search(query: str, limit: int, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """Find pages, best first.

    \b
    Examples:
      wellkept search "difference engine"
      wellkept search tea --limit 3 --json
    """
    with _memory(source, data_dir) as (memory, scope):
        hits = memory.search(scope, query, limit)
    _print(as_json, _plain(hits), "\n".join(_hit_line(hit) for hit in hits) or "nothing found")


@main.command()
@click.argument("query", required=False)
@click.option("--limit", type=click.IntRange(1, 10_000), help="At most so many.")
@_common
def facts(query: str | None, limit: int | None, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """List what is remembered as facts, all or the best for QUERY.

    \b
    Examples:
      wellkept facts
      wellkept facts "who likes tea" --limit 5
    """
    with _memory(source, data_dir) as (memory, scope):
        found = memory.recall_facts(scope, query, limit=limit)
    _print(as_json, _plain(found), "\n".join(_fact_line(fact) for fact in found) or "nothing found")


@main.command()
@click.argument("text")
@_common
def context(text: str, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """Print what a hook would add to a conversation that begins with TEXT.

    \b
    Example:
      wellkept context "Has Ada Lovelace answered yet?"
    """
    from wellkept.model import Message

    with _memory(source, data_dir) as (memory, scope):
        found = memory.context(scope, (Message("user", text),))
    _print(as_json, _plain(found), found.text.rstrip("\n"))


@main.command("import")
@click.argument("directory", type=click.Path(path_type=Path))
@_common
def import_(directory: Path, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """Keep every Markdown file below DIRECTORY as a page named by its path.

    A file that is refused is named, and the others are kept; the exit code is then 1.

    \b
    Example:
      wellkept import ~/notes
    """
    if not directory.is_dir():
        raise click.BadParameter(f"{directory} is not a directory", param_hint="DIRECTORY")
    files = sorted(path for path in directory.rglob("*.md") if path.is_file())
    counts = {"created": 0, "updated": 0, "unchanged": 0}
    refused: list[str] = []
    with _memory(source, data_dir) as (memory, scope):
        for path in _with_progress(files):
            slug = path.relative_to(directory).with_suffix("").as_posix()
            try:
                counts[memory.put_page(scope, slug, _markdown(path)).status] += 1
            except (InvalidInput, _BadFile) as error:
                refused.append(str(error) if isinstance(error, _BadFile) else f"{path}: {error}")
    summary = ", ".join(f"{count} {status}" for status, count in counts.items())
    _print(as_json, {**counts, "refused": refused}, summary)
    for line in refused:
        click.echo(f"wellkept: refused {line}", err=True)
    if refused:
        raise SystemExit(1)


@main.command("export-queries")
@click.option("--since", metavar="WHEN", help="Only those asked at or after this ISO 8601 date or time (UTC).")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most so many, the newest.")
@click.option("--tool", metavar="NAME", help="Only one kind: search, recall_facts, context or pointers.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write here instead of printing.")
@click.option("--clear", is_flag=True, help="Delete what was captured instead.")
@_common
def export_queries(**flags: Any) -> None:
    """Print the questions that were captured, newest first, one JSON line each.

    Nothing is captured until `capture_queries = true` stands in settings.toml, or WELLKEPT_CAPTURE_QUERIES=1 is set.
    Rows are scrubbed of mail addresses, telephone numbers and keys before they are written, and kept for 90 days.
    --json prints one list instead of lines.

    \b
    Examples:
      wellkept export-queries --out queries.ndjson
      wellkept export-queries --tool search --since 2026-01-31 --limit 200
      wellkept export-queries --clear
    """
    from wellkept import capture

    settings = _settings(flags["source"], flags["data_dir"])
    if flags["clear"]:
        if any(flags[name] is not None for name in ("since", "limit", "tool", "out")):
            raise click.UsageError("--clear deletes everything; it takes no --since, --limit, --tool or --out")
        gone = capture.clear(settings.queries)
        _print(flags["as_json"], {"deleted": gone}, f"{gone} deleted")
        return
    kept = capture.read(settings.queries, since=_since(flags["since"]), tool=flags["tool"], limit=flags["limit"])
    rows = [row for row in kept.rows if flags["source"] is None or flags["source"] in row.get("source_ids", ())]
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    text = json.dumps(rows, ensure_ascii=False, indent=2) + "\n" if flags["as_json"] else lines
    if flags["out"] is None:
        click.echo(text, nl=False)
    else:
        _write_private(flags["out"], text)
    click.echo(_exported(len(rows), kept, settings), err=True)


def _since(text: str | None) -> datetime | None:
    from datetime import UTC, datetime

    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is no ISO 8601 date or time", param_hint="--since") from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def _write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read; one that was there keeps its permissions."""
    import os

    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise _BadFile(f"{path}: {error.strerror or error}") from None


def _exported(count: int, kept: Kept, settings: Settings) -> str:
    """What an export says of itself: how many, what was lost, and whether anything is captured at all."""
    said = [f"{count} exported"]
    if kept.lost:
        said.append(f"{kept.lost} captures failed and are missing")
    if kept.torn:
        said.append(f"{kept.torn} lines cannot be read")
    if not settings.capture_queries:
        said.append("capture is off (capture_queries in settings.toml)")
    return "wellkept: " + "; ".join(said)


def _with_progress(files: list[Path]) -> Iterator[Path]:
    """The files, with a count on the terminal once it takes long."""
    began = time.monotonic()
    shown = False
    for done, path in enumerate(files):
        if sys.stderr.isatty() and time.monotonic() - began > SLOW_S:
            shown = True
            click.echo(f"\r{done} of {len(files)} files", err=True, nl=False)
        yield path
    if shown:
        click.echo(f"\r{len(files)} of {len(files)} files", err=True)


def _markdown(file: Path) -> str:
    try:
        raw = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        return raw.decode("utf-8-sig")
    except OSError as error:
        raise _BadFile(f"{file}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise _BadFile(f"{file}: not UTF-8 text (byte {error.start})") from None


def _hit_line(hit: Hit) -> str:
    return f"{hit.rank:>3}  {hit.slug}  {hit.title} ({hit.trust.label})"


def _fact_line(fact: Fact) -> str:
    entity = f" [{fact.entity}]" if fact.entity else ""
    return f"- {fact.text}{entity} ({fact.trust.label})"


if __name__ == "__main__":
    main()
