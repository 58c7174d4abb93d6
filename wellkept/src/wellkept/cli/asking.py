"""What is asked: pages, pieces of pages, facts, and what a hook would add."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from wellkept.cli.frame import common, opened, plain, report

if TYPE_CHECKING:
    from wellkept.model import Fact, Hit


@click.command()
@click.argument("slug")
@common
def get(slug: str, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """Print the page SLUG as it was written.

    \b
    Example:
      wellkept get people/ada-lovelace
    """
    with opened(source, data_dir) as (memory, scope):
        page = memory.get_page(scope, slug)
    report(as_json, plain(page), page.content.rstrip("\n"))


@click.command()
@click.argument("query")
@click.option("--limit", type=click.IntRange(1, 1000), default=10, show_default=True, help="At most so many.")
@common
def search(query: str, limit: int, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """Find pages, best first.

    \b
    Examples:
      wellkept search "difference engine"
      wellkept search tea --limit 3 --json
    """
    with opened(source, data_dir) as (memory, scope):
        hits = memory.search(scope, query, limit)
    report(as_json, plain(hits), "\n".join(_hit_line(hit) for hit in hits) or "nothing found")


@click.command()
@click.argument("query", required=False)
@click.option("--limit", type=click.IntRange(1, 10_000), help="At most so many.")
@common
def facts(query: str | None, limit: int | None, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """List what is remembered as facts, all or the best for QUERY.

    \b
    Examples:
      wellkept facts
      wellkept facts "who likes tea" --limit 5
    """
    with opened(source, data_dir) as (memory, scope):
        found = memory.recall_facts(scope, query, limit=limit)
    report(as_json, plain(found), "\n".join(_fact_line(fact) for fact in found) or "nothing found")


@click.command()
@click.argument("text")
@common
def context(text: str, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """Print what a hook would add to a conversation that begins with TEXT.

    \b
    Example:
      wellkept context "Has Ada Lovelace answered yet?"
    """
    from wellkept.model import Message

    with opened(source, data_dir) as (memory, scope):
        found = memory.context(scope, (Message("user", text),))
    report(as_json, plain(found), found.text.rstrip("\n"))


def _hit_line(hit: Hit) -> str:
    return f"{hit.rank:>3}  {hit.slug}  {hit.title} ({hit.trust.label})"


def _fact_line(fact: Fact) -> str:
    entity = f" [{fact.entity}]" if fact.entity else ""
    return f"- {fact.text}{entity} ({fact.trust.label})"
