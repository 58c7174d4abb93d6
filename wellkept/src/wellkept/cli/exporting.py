"""Everything that a memory holds, for its owner to take along."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wellkept.cli.frame import common, opened, private_file, shown
from wellkept.errors import StoreUnavailable
from wellkept.trust.bundle import sealed

if TYPE_CHECKING:
    from wellkept.memory import Memory


@click.command()
@click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Write here instead of printing.")
@common
def export(out: Path | None, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """Everything that is held, with its labels: one JSON line each, pages by slug and then facts.

    Whatever its status: what was superseded or forgotten says so. --json prints one list instead of lines. A file is
    made for its owner only. Each item is sealed with the key of this installation, so that an import can tell that
    nobody has changed it.

    \b
    Examples:
      wellkept export --out memory.ndjson
      wellkept export --source team --json
      wellkept import memory.ndjson --data-dir ~/second
    """
    count = 0
    with opened(source, data_dir) as (memory, scope), private_file(out) as file:
        others = [known.id for known in memory.store.sources() if known.id != scope]
        key = _key(memory)
        held = (shown(item) if key is None else sealed(key, shown(item)) for item in memory.export(scope))
        if as_json:
            items = list(held)
            count = len(items)
            file.write(json.dumps({"items": items, "total": count}, ensure_ascii=False, indent=2) + "\n")
        else:
            for item in held:
                file.write(json.dumps(item, ensure_ascii=False) + "\n")
                count += 1
    sys.stdout.flush()
    left = f"; not those of {', '.join(others)}, each with --source" if others else ""
    click.echo(f"wellkept: {count} exported of {scope}{left}", err=True)


def _key(memory: Memory) -> bytes | None:
    """The key of this installation, made if there is none; None where it cannot be had, which is said."""
    try:
        return None if memory.key is None else memory.key(True)
    except StoreUnavailable as error:
        click.echo(f"wellkept: exported without seals: {error}", err=True)
        return None
