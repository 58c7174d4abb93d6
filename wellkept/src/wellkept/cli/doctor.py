"""Whether the memory is as it was written."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wellkept.cli.confirming import only_a_person, passphrase
from wellkept.cli.frame import common, report, settings_of, visible

if TYPE_CHECKING:
    from wellkept.storage import Walked

_SHOWN = 20


@click.command()
@click.option("--verify", is_flag=True, help="Verify every row, and that none is missing.")
@click.option("--reseal", is_flag=True, help="Seal what fails anew, with the lowest trust. At a terminal only.")
@common
def doctor(verify: bool, reseal: bool, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """Tell whether something else than wellkept changed the memory.

    Whatever is kept is sealed with a key that is not in the memory. What fails is shown as external and untrusted and
    is never brought unasked. If you know why it fails, as after restoring a copy, --reseal takes what is there as it
    stands, for which only a terminal will do, and your passphrase; what failed stays untrusted until you put it anew or
    confirm it. Exit code 1 where something fails, of every source.

    \b
    Examples:
      wellkept doctor
      wellkept doctor --verify --json
      wellkept doctor --reseal
    """
    from wellkept.settings import open_memory
    from wellkept.storage import Walked

    if reseal:
        only_a_person("doctor --reseal")
    settings = settings_of(source, data_dir)
    if not settings.database.exists():
        report(as_json, _told(Walked(0, (), ())), "there is no memory yet, so that nothing can be wrong with it")
        return
    memory = open_memory(settings)
    try:
        found = memory.verified(every=verify or reseal)
        if reseal and (found.problems or found.codes):
            click.echo("\n".join(_lines(found, every=True)), err=as_json)
            passphrase(source, data_dir)
            count = memory.reseal()
            report(as_json, {"resealed": count}, f"sealed anew, as external and untrusted: {count}")
            return
    finally:
        memory.close()
    report(as_json, _told(found), "\n".join(_lines(found, every=verify or reseal)))
    if found.problems or found.codes:
        sys.exit(1)


def _told(found: Walked) -> dict[str, Any]:
    problems = [{"source": one.source, "name": one.name, "why": one.why} for one in found.problems]
    return {"rows": found.rows, "problems": problems, "codes": list(found.codes)}


def _lines(found: Walked, *, every: bool) -> list[str]:
    from wellkept.recall.degraded import DEGRADED

    lines = [DEGRADED[code] for code in found.codes]
    if not found.problems and not found.codes:
        whole = "every one is as it was written" if every else "to verify each: wellkept doctor --verify"
        return [f"sealed rows: {found.rows}; {whole}" if found.rows else "nothing is sealed yet"]
    lines += [
        f"{visible(one.name)}{f' in {visible(one.source)}' if one.key is not None else ''}: {one.why}"
        for one in found.problems[:_SHOWN]
    ]
    if len(found.problems) > _SHOWN:
        lines.append(f"and {len(found.problems) - _SHOWN} more")
    if found.problems:
        lines.append("what fails is shown as external and untrusted. If you know why it does: wellkept doctor --reseal")
    return lines
