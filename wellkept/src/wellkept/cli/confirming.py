"""The owner's word, given at a terminal and nowhere else."""

from __future__ import annotations

import secrets
from pathlib import Path

import click

from wellkept.cli.frame import at_a_terminal, common, opened, report, shown, visible, written
from wellkept.errors import NeedsTerminal, Refused

_LETTERS = "abcdefghjkmnpqrstuvwxyz"
_SHOWN_CHARS = 2000


@click.command()
@click.argument("id")
@common
def confirm(id: str, as_json: bool, source: str | None, data_dir: Path | None) -> None:  # noqa: A002
    """Vouch for a page or fact: you say that it is so.

    Shows what you vouch for and asks you to type a word back. Only a terminal will do: no flag, variable, pipe, hook or
    token can stand in for it. A program that holds your terminal can still type; keep confirmations for what matters.
    A change of the text takes the confirmation away.

    \b
    Examples:
      wellkept confirm fact:3
      wellkept confirm people/ada-lovelace
    """
    if not at_a_terminal():
        raise NeedsTerminal("confirm: only a person at a terminal may confirm; run it there, without a pipe")
    with opened(source, data_dir) as (memory, scope):
        item = shown(memory.history(scope, id).item)
        text = str(item.get("content") or item.get("text")).strip()
        click.echo(f"{item['id']} ({item['label']}, origin {item['content_origin'] or 'not said'})")
        click.echo(visible(text[:_SHOWN_CHARS]) + (" ..." if len(text) > _SHOWN_CHARS else ""))
        if not typed_back("vouch for it"):
            raise Refused("confirm: that was not the word; nothing was changed")
        receipt = shown(memory.confirm(scope, id))
    report(as_json, receipt, f"confirmed: {written(receipt)}")


def typed_back(what: str) -> bool:
    """Whether the person at the terminal types back a word that is shown for this."""
    word = "".join(secrets.choice(_LETTERS) for _ in range(5))
    return bool(click.prompt(f"Type {word} to {what}", default="", show_default=False) == word)
