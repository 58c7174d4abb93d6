"""The owner's word, given at a terminal and nowhere else."""

from __future__ import annotations

from pathlib import Path

import click

from wellkept.cli.frame import at_a_terminal, common, opened, report, settings_of, shown, visible, written
from wellkept.errors import NeedsTerminal

_SHOWN_CHARS = 2000


@click.command()
@click.argument("id")
@common
def confirm(id: str, as_json: bool, source: str | None, data_dir: Path | None) -> None:  # noqa: A002
    """Vouch for a page or fact: you say that it is so.

    Shows what you vouch for and asks for your passphrase, which you choose the first time. Only a terminal will do: no
    flag, variable, pipe, hook or token can stand in for it. A change of the text takes the confirmation away.

    \b
    Examples:
      wellkept confirm fact:3
      wellkept confirm people/ada-lovelace
    """
    only_a_person("confirm")
    with opened(source, data_dir) as (memory, scope):
        item = shown(memory.history(scope, id).item)
        text = str(item.get("content") or item.get("text")).strip()
        click.echo(f"{item['id']} ({item['label']}, origin {item['content_origin'] or 'not said'})")
        click.echo(visible(text[:_SHOWN_CHARS]) + (" ..." if len(text) > _SHOWN_CHARS else ""))
        passphrase(source, data_dir)
        receipt = shown(memory.confirm(scope, id))
    report(as_json, receipt, f"confirmed: {written(receipt)}")


def only_a_person(command: str) -> None:
    """NeedsTerminal unless a person can be asked."""
    if not at_a_terminal():
        raise NeedsTerminal(f"{command}: only a person at a terminal may do this; run it there, without a pipe")


def passphrase(source: str | None, data_dir: Path | None) -> None:
    """Ask the person at the terminal for the passphrase, or to choose one. Refused where it is not that."""
    from wellkept.trust.passphrase import Passphrase

    known = Passphrase(settings_of(source, data_dir).passphrase)
    if not known.is_set():
        click.echo("Choose a passphrase. It is asked whenever something is to be done that only you may do.", err=True)
        known.choose(click.prompt("New passphrase", hide_input=True, confirmation_prompt=True, err=True))
        return
    known.check(click.prompt("Passphrase", hide_input=True, err=True))
