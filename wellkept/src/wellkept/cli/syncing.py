"""Folders of notes that memory follows."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wellkept.cli.confirming import only_a_person, passphrase
from wellkept.cli.frame import common, here, plain, report, settings_of, visible
from wellkept.cli.keeping import SLOW_S

if TYPE_CHECKING:
    from wellkept.memory import Memory
    from wellkept.storage import Folder
    from wellkept.sync import Synced

_NOW = "now"


class _Sync(click.Group):
    """Without the name of a command it syncs: `wellkept sync`, `wellkept sync notes`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not {"-h", "--help"}.intersection(args) and not any(name in self.commands for name in args[:1]):
            args = [_NOW, *args]
        return super().parse_args(ctx, args)


@click.group(cls=_Sync)
def sync() -> None:
    """Follow folders of notes: keep what changed in them, end the pages whose file is gone.

    A folder is bound to a source once, by you at a terminal; nothing in the folder can choose where it is read into.
    Each Markdown file is the page of its path. A file that cannot be read is named, the others are kept, and the exit
    code is then 1. What you forgot stays forgotten. `wellkept sync` can be run as often as you like, also by cron.

    \b
    Examples:
      wellkept sync add ~/notes
      wellkept sync
      wellkept sync notes --dry-run
      wellkept sync list --json
    """


@sync.command("add")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--name", metavar="NAME", help="How to call it (default: the name of the folder).")
@click.option(
    "--require-signed-commits",
    "signed",
    is_flag=True,
    help="What no commit of yours signs counts as written by an agent. Signatures are those of your GnuPG keyring.",
)
@click.option(
    "--signers",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="The same, with SSH signatures: whose, in the form of ssh-keygen's allowed signers.",
)
@common
def add(
    directory: Path,
    name: str | None,
    signed: bool,
    signers: Path | None,
    as_json: bool,
    source: str | None,
    data_dir: Path | None,
) -> None:
    """Bind the folder DIR to a source: your own, or that of --source.

    Only a terminal will do, and your passphrase. The files count as written by you from then on, since they are in
    your folder: bind only one in which nobody writes whom you would not let speak for you.

    \b
    Examples:
      wellkept sync add ~/notes
      wellkept sync add ~/work/handbook --source work --name handbook
      wellkept sync add ~/notes --signers ~/.ssh/allowed_signers
    """
    from wellkept.sync import bind

    only_a_person("sync add")
    whose = str(signers.resolve()) if signers is not None else "" if signed else None
    scope, _ = settings_of(source, data_dir).place(here())
    with _memory(source, data_dir) as memory:
        passphrase(source, data_dir)
        folder = bind(memory, scope, directory, name=name, signers=whose)
    report(as_json, _shown(folder), f"bound {folder.path} to source {folder.source}, as {folder.name}")
    click.echo(f"wellkept: keep what is in it: wellkept sync {folder.name}", err=True)


@sync.command("list")
@common
def list_(as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """List the folders that are bound.

    \b
    Example:
      wellkept sync list
    """
    with _memory(source, data_dir) as memory:
        folders = [one for one in memory.store.folders.all() if source in (None, one.source)]
    lines = [f"{one.name}  {visible(one.path)} in source {one.source}{_signed(one)}" for one in folders]
    report(as_json, [_shown(one) for one in folders], "\n".join(lines) or "no folder is bound")


@sync.command("remove")
@click.argument("name")
@common
def remove(name: str, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """Follow the folder NAME no longer. Its pages stay, and so do its files.

    \b
    Example:
      wellkept sync remove notes
    """
    from wellkept.sync import unbind

    only_a_person("sync remove")
    with _memory(source, data_dir) as memory:
        passphrase(source, data_dir)
        folder = unbind(memory, name)
    report(as_json, {"removed": folder.name}, f"{folder.path} is followed no longer; its pages stay")


@sync.command(_NOW)
@click.argument("name", required=False)
@click.option("--dry-run", is_flag=True, help="Only say what would change.")
@click.option("--emptied", is_flag=True, help="End all pages of a folder that holds no notes any more.")
@common
def now(
    name: str | None, dry_run: bool, emptied: bool, as_json: bool, source: str | None, data_dir: Path | None
) -> None:
    """Keep what changed in the folder NAME, or in all that are bound, and end the pages whose file is gone.

    The word now may be left out.

    \b
    Examples:
      wellkept sync
      wellkept sync now notes --dry-run
      wellkept sync --json
    """
    from wellkept.errors import WellkeptError
    from wellkept.sync import bound
    from wellkept.sync import sync as follow

    done: list[Synced] = []
    failed: list[WellkeptError] = []
    with _memory(source, data_dir) as memory:
        folders = [one for one in bound(memory, name) if source in (None, one.source)]
        for folder in folders:
            try:
                done.append(follow(memory, folder, dry_run=dry_run, emptied=emptied, progress=_Progress()))
            except WellkeptError as error:
                if len(folders) == 1:
                    raise
                failed.append(error)
    report(as_json, [plain(one) for one in done], "\n".join(map(_line, done)))
    for one in done:
        _name(one)
    for fault in failed:
        click.echo(f"wellkept: {visible(str(fault))}", err=True)
    if failed or any(one.unread for one in done):
        sys.exit(1)


@contextmanager
def _memory(source: str | None, data_dir: Path | None) -> Iterator[Memory]:
    """The memory alone: a folder has one source, whatever is read together where the command was typed."""
    from wellkept.settings import open_memory

    memory = open_memory(settings_of(source, data_dir))
    try:
        yield memory
    finally:
        memory.close()


def _shown(folder: Folder) -> dict[str, Any]:
    return {
        "name": folder.name,
        "source": folder.source,
        "path": folder.path,
        "head": folder.head,
        "signed_commits": folder.signers is not None,
        "signers": folder.signers,
        "at": folder.at.isoformat(),
    }


def _signed(folder: Folder) -> str:
    return "" if folder.signers is None else ", signed commits only"


def _line(done: Synced) -> str:
    would = "would be " if done.dry_run else ""
    counts = ((done.created, "created"), (done.updated, "updated"), (done.expired, "expired"))
    said = [f"{count} {would}{word}" for count, word in counts if count] + [f"{done.unchanged} unchanged"]
    if done.forgotten:
        said.append(f"{len(done.forgotten)} forgotten before and left so")
    if done.changed:
        said.append(f"{len(done.changed)} without a file left, as they say something else by now")
    head = f" at {done.head[:10]}" if done.head else ""
    return f"{done.folder}{head} (source {done.source}): {', '.join(said)}"


def _name(done: Synced) -> None:
    for slug in done.changed:
        click.echo(f"wellkept: {visible(slug)}: its file is gone; end it: wellkept forget {visible(slug)}", err=True)
    for one in done.unread:
        click.echo(f"wellkept: not kept: {visible(one.path)}: {visible(one.reason)}", err=True)


class _Progress:
    """Says on the terminal how far it is, once it takes long."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    def __call__(self, done: int, all_: int) -> None:
        if sys.stderr.isatty() and time.monotonic() - self._began > SLOW_S:
            click.echo(f"\r{done + 1} of {all_} files" + ("\n" if done + 1 == all_ else ""), err=True, nl=False)
