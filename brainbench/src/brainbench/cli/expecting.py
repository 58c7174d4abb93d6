"""`brainbench expect`: what was expected of a corpus, and what stored runs say of it."""

from __future__ import annotations

import os
from pathlib import Path

import click

from brainbench.cli.frame import Command, reported
from brainbench.write import to_line


@click.command(cls=Command)
@click.argument("results", nargs=-1, type=click.Path(path_type=Path), metavar="[RESULT.json]...")
@click.option("--corpus", default="core", show_default=True, metavar="NAME", help="Whose expectations.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@reported
def expect(results: tuple[Path, ...], corpus: str, as_json: bool) -> None:
    """Say of each pre-registered expectation whether stored runs confirm it, refute it, or leave it untested.

    Expectations are forecasts: a refuted one stays and fails nothing. They may only be added to; what stands at
    BRAINBENCH_BASE_REF (origin/main) must still stand.

    \b
    Examples:
      brainbench expect
      brainbench expect result.json
      brainbench expect core.json v1.json --json
    """
    from brainbench.corpus import find
    from brainbench.evidence.committed import bytes_of
    from brainbench.evidence.expectations import FILE_NAME, document, judged, lines, read_expectations, read_result

    place = find(corpus) / FILE_NAME
    data = bytes_of(place)
    expectations = read_expectations(data, str(place))
    _check_history(place, data)
    found = judged(expectations, [read_result(bytes_of(path), str(path)) for path in results])
    if as_json:
        click.echo(to_line(document(found)), nl=False)
        return
    for line in lines(found):
        click.echo(line)


def _check_history(place: Path, data: bytes) -> None:
    """Hold the file against the one at the base reference, where there is one."""
    from brainbench.evidence.committed import checkout
    from brainbench.evidence.expectations import check_only_added
    from brainbench.evidence.repository import show

    top = checkout()
    if top is None or not place.is_relative_to(top):
        return
    before = show(top, os.environ.get("BRAINBENCH_BASE_REF", "origin/main"), place.relative_to(top).as_posix())
    if before is not None:
        check_only_added(before, data, place.name)
