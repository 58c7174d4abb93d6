"""What is asked beside the verbs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from wellkept.cli.frame import common, inert, opened, report, shown, standing

if TYPE_CHECKING:
    from wellkept.model import Fact


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
    report(as_json, shown(found), "\n".join(_fact_line(fact) for fact in found) or "nothing found")


def _fact_line(fact: Fact) -> str:
    entity = f" [{fact.entity}]" if fact.entity else ""
    return inert(f"- {' '.join(fact.text.split())}{entity} ({standing(shown(fact))})")
