"""What other services hold, kept as what it is: from outside."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from wellkept.cli.frame import common, here, plain, report, settings_of, visible
from wellkept.cli.keeping import SLOW_S


@click.group()
def connect() -> None:
    """Keep what another service holds, as text from outside."""


@connect.command("github")
@click.argument("repository", metavar="OWNER/NAME")
@click.option("--api", metavar="URL", help="Where it answers (default: https://api.github.com).")
@click.option(
    "--token-env",
    default="GITHUB_TOKEN",
    show_default=True,
    metavar="VARIABLE",
    help="The environment variable with a token, where one is needed. A token is never an argument.",
)
@click.option(
    "--wait-s",
    type=click.IntRange(0, 3600),
    default=60,
    show_default=True,
    help="How long to wait where the service wants to be asked later.",
)
@common
def github(
    repository: str,
    api: str | None,
    token_env: str,
    wait_s: int,
    as_json: bool,
    source: str | None,
    data_dir: Path | None,
) -> None:
    """Keep the issues and pull requests of a GitHub repository, and what was said to them.

    Each is a page of its own, as github/OWNER/NAME/issues/7, labelled as from outside whoever wrote it, with its
    address. Run again it asks only for what changed since. That something is closed, changed or gone there never
    changes what you said here. What cannot be kept is named, and the exit code is then 1.

    \b
    Examples:
      wellkept connect github ada/engine
      GITHUB_TOKEN=... wellkept connect github ada/engine --source work --json
      wellkept connect github ada/engine --api https://github.example.org/api/v3
    """
    from dataclasses import replace

    from wellkept.connectors.github import API, fetch
    from wellkept.connectors.rest import checked_service
    from wellkept.settings import open_memory, secret

    settings = settings_of(source, data_dir)
    scope, _ = settings.place(here())
    service = replace(checked_service(api or API, secret(token_env)), wait_s=float(wait_s))
    memory = open_memory(settings)
    began = time.monotonic()

    def progress(count: int) -> None:
        if sys.stderr.isatty() and time.monotonic() - began > SLOW_S and count % 20 == 0:
            click.echo(f"\r{count} read", err=True, nl=False)

    try:
        done = fetch(memory, scope, repository, service, progress=progress)
    finally:
        memory.close()
    read = f"{done.issues} issues and pull requests, {done.comments} comments"
    kept = f"{done.created} created, {done.updated} updated, {done.unchanged} unchanged"
    kept += f", {done.held} held back: wellkept review" if done.held else ""
    report(as_json, plain(done), f"{done.repository} (source {done.source}): {read} read; {kept}")
    for line in done.left:
        click.echo(f"wellkept: not kept: {visible(line)}", err=True)
    if done.left:
        sys.exit(1)
