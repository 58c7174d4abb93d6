"""The questions that were captured."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wellkept.cli.frame import common, private_file, report, settings_of

if TYPE_CHECKING:
    from datetime import datetime

    from wellkept.capture import Kept
    from wellkept.settings import Settings


@click.command("export-queries")
@click.option("--since", metavar="WHEN", help="Only those asked at or after this ISO 8601 date or time (UTC).")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="At most so many, the newest.")
@click.option("--tool", metavar="NAME", help="Only one kind: search, recall_facts, context or pointers.")
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write here instead of printing.")
@click.option("--clear", is_flag=True, help="Delete what was captured instead.")
@common
def export_queries(**flags: Any) -> None:
    """Print the questions that were captured, newest first, one JSON line each.

    Nothing is captured until `capture_queries = true` stands in settings.toml, or WELLKEPT_CAPTURE_QUERIES=1 is set.
    Rows are scrubbed of mail addresses, telephone numbers and keys before they are written, and kept for 90 days.
    --json prints one list instead of lines.

    \b
    Examples:
      wellkept export-queries --out queries.ndjson
      wellkept export-queries --tool search --since 2026-01-31 --limit 200
      wellkept export-queries --clear
    """
    from wellkept import capture

    settings = settings_of(flags["source"], flags["data_dir"])
    if flags["clear"]:
        if any(flags[name] is not None for name in ("since", "limit", "tool", "out")):
            raise click.UsageError("--clear deletes everything; it takes no --since, --limit, --tool or --out")
        gone = capture.clear(settings.queries)
        report(flags["as_json"], {"deleted": gone}, f"{gone} deleted")
        return
    kept = capture.read(settings.queries, since=_since(flags["since"]), tool=flags["tool"], limit=flags["limit"])
    rows = [row for row in kept.rows if flags["source"] is None or flags["source"] in row.get("source_ids", ())]
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    text = json.dumps(rows, ensure_ascii=False, indent=2) + "\n" if flags["as_json"] else lines
    with private_file(flags["out"]) as file:
        file.write(text)
    click.echo(_exported(len(rows), kept, settings), err=True)


def _since(text: str | None) -> datetime | None:
    from datetime import UTC, datetime

    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is no ISO 8601 date or time", param_hint="--since") from None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def _exported(count: int, kept: Kept, settings: Settings) -> str:
    """What an export says of itself: how many, what was lost, and whether anything is captured at all."""
    said = [f"{count} exported"]
    if kept.lost:
        said.append(f"{kept.lost} captures failed and are missing")
    if kept.torn:
        said.append(f"{kept.torn} lines cannot be read")
    if not settings.capture_queries:
        said.append("capture is off (capture_queries in settings.toml)")
    return "wellkept: " + "; ".join(said)
