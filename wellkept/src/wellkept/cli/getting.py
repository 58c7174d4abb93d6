"""One thing by its id."""

from __future__ import annotations

from pathlib import Path

import click

from wellkept.cli.frame import ask, common, report
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
        standing = "" if found["status"] == "active" else f", {found['status']}"
        report(as_json, found, f"{found['text']} ({found['label']}{standing})")
        return
    found = ask("get_page", {"slug": item.key}, source, data_dir)
    report(as_json, found, str(found["content"]).rstrip("\n"))
