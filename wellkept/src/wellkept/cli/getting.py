"""One thing by its id."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from wellkept.cli.frame import ask, common, inert, report, standing
from wellkept.model import Item


@click.command()
@click.argument("id")
@common
def get(id: str, as_json: bool, source: str | None, data_dir: Path | None) -> None:  # noqa: A002
    """Print one page as it was written, or one fact.

    An id is the slug of a page, or fact:NUMBER, as searches print it.

    \b
    Examples:
      wellkept get people/ada-lovelace
      wellkept get fact:1 --json
    """
    item = Item.named(id)
    if item.kind == "fact":
        found = ask("history", {"id": id}, source, data_dir)["item"]
        report(as_json, found, inert(f"{found['text']} ({standing(found)})"))
    else:
        found = ask("get_page", {"slug": item.key}, source, data_dir)
        report(as_json, found, str(found["content"]).rstrip("\n"))
    if found["status"] != "active":
        click.echo(f"wellkept: {_end(found)}", err=True)
    if not as_json and item.kind == "page":
        # Beside the page and not in it: it is printed as it was written.
        click.echo(f"wellkept: {inert(found['id'])} ({standing(found)})", err=True)


def _end(found: dict[str, Any]) -> str:
    """How an item stands that is current no longer: since when, by whom and why, as far as that is known."""
    word = "forgotten" if found["ended_because"] == "forgotten" else found["status"]
    parts = [f"{found['id']} is {word}"]
    parts += [f"since {found['expired_at']}"] if found["expired_at"] else []
    parts += [f"by {found['ended_by']}"] if found["ended_by"] else []
    why = found["ended_reason"] or (found["ended_because"] if word != found["ended_because"] else "")
    said = " ".join(parts) + (f": {why}" if why else "")
    later = f"; now: {found['superseded_by']}" if found["superseded_by"] else ""
    return f"{said}{later}. Current again with: wellkept correct {found['id']} restore --no-preview"
