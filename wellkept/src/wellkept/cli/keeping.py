"""What is kept: pages, conversations, folders of notes."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click

from wellkept.cli.frame import (
    BadFile,
    ask,
    common,
    here,
    opened,
    plain,
    read_text,
    report,
    settings_of,
    verb_options,
    written,
)
from wellkept.errors import InvalidInput

SLOW_S = 2.0
"""Work that takes longer says how far it is, to a person at a terminal."""


def _put(name: str) -> click.Command:
    @click.command(name)
    @click.argument("slug")
    @click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
    @verb_options("put_page", but=("slug", "content"))
    @common
    def command(
        slug: str, file: Path, as_json: bool, source: str | None, data_dir: Path | None, **more: object
    ) -> None:
        content = read_text(file)
        receipt = ask("put_page", {"slug": slug, "content": content, **more}, source, data_dir)
        report(as_json, receipt, written(receipt))

    command.help = f"""Keep FILE (Markdown, `-` for standard input) as the page SLUG.

    \b
    Examples:
      wellkept {name} people/ada-lovelace ada.md
      echo 'Ada likes tea.' | wellkept {name} people/ada-lovelace -
    """
    return command


put, put_page = _put("put"), _put("put-page")


@click.command()
@click.argument("session")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@common
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

    settings = settings_of(source, data_dir)
    messages = parse(read_text(file))
    if not messages:
        raise BadFile(f"{file}: holds no conversation that can be read; each turn needs a speaker, as `You: ...`")
    scope, _ = settings.place(here())
    memory = open_memory(settings)
    try:
        receipt = memory.bank(scope, session, messages, extractor=open_extractor(settings))
    finally:
        memory.close()
    facts = "1 fact" if len(receipt.facts) == 1 else f"{len(receipt.facts)} facts"
    report(as_json, plain(receipt), f"{receipt.status} {receipt.slug}, {facts}")
    if "extractor_failed" in receipt.degraded:
        click.echo("wellkept: the model could not read the facts; the conversation is kept, bank it again", err=True)
        raise SystemExit(1)


@click.command("import")
@click.argument("directory", type=click.Path(path_type=Path))
@common
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
    with opened(source, data_dir) as (memory, scope):
        for path in _with_progress(files):
            slug = path.relative_to(directory).with_suffix("").as_posix()
            try:
                counts[memory.put_page(scope, slug, read_text(path)).status] += 1
            except (InvalidInput, BadFile) as error:
                refused.append(str(error) if isinstance(error, BadFile) else f"{path}: {error}")
    summary = ", ".join(f"{count} {status}" for status, count in counts.items())
    report(as_json, {**counts, "refused": refused}, summary)
    for line in refused:
        click.echo(f"wellkept: refused {line}", err=True)
    if refused:
        raise SystemExit(1)


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
