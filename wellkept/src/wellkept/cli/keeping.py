"""What is kept: pages, conversations, folders of notes."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wellkept.cli.confirming import passphrase
from wellkept.cli.frame import (
    BadFile,
    ask,
    at_a_terminal,
    channel,
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
from wellkept.model import Trust, Writer

if TYPE_CHECKING:
    from wellkept.memory import Memory
    from wellkept.model import Fact, Page

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
        if "expired" in receipt["degraded"] or "deleted" in receipt["degraded"]:
            click.echo(f"wellkept: {slug} was forgotten and stays so; bring it back with --again", err=True)

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
@click.argument("path", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--again", is_flag=True, help="Bring back pages that were forgotten.")
@common
def import_(path: Path, again: bool, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """Keep every Markdown file below the folder PATH as a page named by its path; or what an export wrote into PATH.

    Of a folder: hidden files and folders, empty files and links that lead out of it are left out, and counted. A file
    that is refused is named, and the others are kept; the exit code is then 1. What was forgotten stays forgotten,
    unless --again.

    Of an export: all that is not there is kept as it stood, with its labels and times, what was forgotten as
    forgotten; what is there stays as it is. What this installation has sealed keeps its labels. Of the rest the labels
    are anybody's claim: it is kept as from outside, unless you vouch for it with your passphrase at a terminal. All of
    it is kept, or nothing.

    \b
    Examples:
      wellkept import ~/notes
      wellkept export --out memory.ndjson && wellkept import memory.ndjson --data-dir ~/second
    """
    if path.is_dir():
        _import_folder(path, again, as_json, source, data_dir)
    else:
        _import_export(path, as_json, source, data_dir)


def _import_folder(directory: Path, again: bool, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    from wellkept.ingest.folder import check_size, markdown_below
    from wellkept.memory import LARGEST_CONTENT

    found = markdown_below(directory)
    counts = {"created": 0, "updated": 0, "unchanged": 0}
    refused: list[str] = []
    forgotten: list[str] = []
    with opened(source, data_dir) as (memory, scope):
        for path in _with_progress(list(found.files)):
            slug = path.relative_to(directory).with_suffix("").as_posix()
            try:
                check_size(path, LARGEST_CONTENT)
                content = read_text(path)
                kept = None if again else memory.store.get_page(scope, slug)
                if kept is not None and kept.status in ("expired", "deleted"):
                    forgotten.append(slug)
                    continue
                counts[memory.put_page(scope, slug, content, again=again, writer=Writer(channel())).status] += 1
            except (InvalidInput, BadFile) as error:
                refused.append(str(error) if isinstance(error, BadFile) else f"{path}: {error}")
    summary = [f"{count} {status}" for status, count in counts.items()]
    if forgotten:
        summary.append(f"{len(forgotten)} forgotten before and left so")
    if found.skipped:
        reasons = ", ".join(f"{count} {why}" for why, count in sorted(found.skipped.items()))
        summary.append(f"{sum(found.skipped.values())} left out ({reasons})")
    told = {**counts, "refused": refused, "forgotten": forgotten, "skipped": dict(sorted(found.skipped.items()))}
    report(as_json, told, ", ".join(summary))
    if forgotten:
        click.echo(f"wellkept: forgotten before, as {forgotten[0]}; bring them back with --again", err=True)
    for line in refused:
        click.echo(f"wellkept: refused {line}", err=True)
    if refused:
        raise SystemExit(1)


def _import_export(file: Path, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    from wellkept.ingest.restoring import moved

    if not file.exists() and str(file) != "-":
        raise click.BadParameter(f"there is no {file}", param_hint="PATH")
    text = read_text(file)
    with opened(source, data_dir) as (memory, scope):
        try:
            items = _as_labelled(memory, text.split("\n"), source, data_dir)
        except InvalidInput as error:
            raise InvalidInput(str(file), f"{error}. Nothing was kept") from None
        done = memory.restore(moved(items, scope) if source is not None else items)
    said = f"{done.pages} pages and {done.facts} facts kept, {done.there} there before"
    said += f", {done.forgotten} left out, as forgotten for good" if done.forgotten else ""
    report(as_json, plain(done), said)


def _as_labelled(memory: Memory, lines: list[str], source: str | None, data_dir: Path | None) -> list[Page | Fact]:
    """The items of an export, with their labels where a seal or a person says that they are true."""
    from wellkept.ingest.exported import item, rows
    from wellkept.ingest.restoring import from_outside
    from wellkept.trust.bundle import is_sealed

    key = memory.key(False) if memory.key is not None else None
    found = [(item(where, row), key is not None and is_sealed(key, row)) for where, row in rows(lines)]
    claims = sum(not proven and one.trust > Trust.EXTERNAL_UNTRUSTED for one, proven in found)
    if claims and at_a_terminal():
        click.echo(f"{claims} items have no seal of this installation. If the file is yours, vouch for its labels.")
        passphrase(source, data_dir)
        return [one for one, _ in found]
    if claims:
        click.echo(f"wellkept: {claims} are kept as from outside, as no seal shows whose they are; "
                   "to vouch for them, import at a terminal", err=True)  # fmt: skip
    return [one if proven else from_outside(one) for one, proven in found]


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
