"""`brainbench field`: does a memory survive what users of real ones reported?"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import click

from brainbench.cli.frame import Command, printing, progress_bar, reported
from brainbench.write import check_place, to_line, write_json

FILE = click.Path(path_type=Path)


def _told(progress: Callable[[int, int], None], of: int, done: int) -> None:
    progress(done, of)


@click.command(cls=Command)
@click.option(
    "--system", "systems", multiple=True, metavar="NAME", help="A memory; may be given again.  [default: wellkept]"
)
@click.option("--row", "rows", multiple=True, metavar="ID", help="Ask this row only, as ISO-04; may be given again.")
@click.option("--group", "groups", multiple=True, type=click.Choice(list("ABCDEFGH")), help="Ask this group only.")
@click.option(
    "--priority",
    "priorities",
    multiple=True,
    type=click.Choice(["1", "2", "3"]),
    help="Ask these rows only; 1 is worst.",
)
@click.option(
    "--seed",
    default="42",
    show_default=True,
    help="Draws the names and texts, with a salt of the run; as a run told it (42-7f3a...), the same ones again.",
)
@click.option(
    "--timeout",
    type=click.FloatRange(min=0.1),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long a row may take before the system's process is ended; some get more.",
)
@click.option("--out", type=FILE, metavar="FILE", help="Write the result here as JSON.")
@click.option("--pass-env", multiple=True, metavar="VAR", help="Let systems see this variable.")
@click.option("--allow-remote", is_flag=True, help="Let a system be a URL on another machine.")
@click.option("--token-env", metavar="VAR", help="The variable with the token for systems behind a URL.")
@click.option("--json", "as_json", is_flag=True, help="The result as one JSON document on standard output.")
@reported
def field(**flags: Any) -> None:
    """Ask a memory what broke real ones: deletions that did not, leaks between users, kills in mid-write.

    Each row restates a public report. Names and texts are drawn anew in each run. A row that needs what the memory
    does not claim is n/a, with the reason: see how many were asked. Exit 1 says that a row failed, 2 that a system
    could not be asked at all.

    \b
    Examples:
      brainbench field
      brainbench field --system bm25 --system files+grep --group A
      brainbench field --system my_memory:MyMemory --row ISO-04 --seed 7
      brainbench field --system 'cmd:node my_memory.js' --priority 1 --out result.json
    """
    from brainbench.errors import NothingMeasured, NotLoaded, verdict_line
    from brainbench.field.running import chosen, measure, salted
    from brainbench.field.telling import document, text
    from brainbench.systems import check_name
    from brainbench.systems.access import granted

    if flags["out"] is not None:
        check_place(flags["out"])
    names = tuple(dict.fromkeys(flags["systems"])) or ("wellkept",)
    if any(":" in name for name in names):
        sys.path.append(os.getcwd())
    rows = chosen(flags["rows"], flags["groups"], [int(number) for number in flags["priorities"]])
    access = granted(flags["pass_env"], flags["token_env"], flags["allow_remote"], flags["timeout"])
    for name in names:
        check_name(name)
    found = []
    unloaded = []
    seed = salted(flags["seed"])
    asked = sum(row.make is not None for row in rows)
    for name in names:
        with progress_bar(f"asking {name}") as progress:
            heard = partial(_told, progress, asked)
            try:
                found.append(measure(name, rows, seed, access, seconds=flags["timeout"], done=heard))
            except NotLoaded as error:
                unloaded += str(error).splitlines()
    if not found:
        raise NotLoaded("\n".join(unloaded))
    told = document(found, sys.argv[1:])
    if flags["out"] is not None:
        write_json(flags["out"], told)
    with printing():
        if flags["as_json"]:
            click.echo(to_line(told), nl=False)
        else:
            for line in text(found):
                click.echo(line)
    for one in found:
        if failed := [judged.row.id for judged in one.judged if judged.verdict == "FAILED"]:
            click.echo(f"brainbench: fail: field: {one.system}: {', '.join(failed)}", err=True)
    if empty := [one.system for one in found if one.count("n/a") == len(one.judged)]:
        raise NothingMeasured(f"{', '.join(empty)}: no row could be asked")
    for line in unloaded:
        click.echo(verdict_line("inconclusive", "usage", line), err=True)
    if unloaded:
        sys.exit(2)
    sys.exit(1 if any(one.count("FAILED") for one in found) else 0)
