"""`brainbench bench-self`, `validate` and `list`: what a run costs, is made of, and can name."""

from __future__ import annotations

from pathlib import Path

import click

from brainbench.cli.frame import PLACE, Command, place_options, reported
from brainbench.write import to_line


@click.command(name="bench-self", cls=Command)
@click.option("--fixtures", type=PLACE, metavar="DIR", help="Corpus of the sweeps, v1 or native.")
@click.option("--gold", type=PLACE, metavar="DIR", help="The gold of --fixtures.")
@click.option("--system", default="wellkept", show_default=True, metavar="NAME", help="The system to measure with.")
@click.option("--runs", type=click.IntRange(1, 100), default=3, show_default=True, help="How often each is measured.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@reported
def bench_self(fixtures: Path | None, gold: Path | None, system: str, runs: int, as_json: bool) -> None:
    """Measure what the bench and a system cost: CPU seconds, memory, latency.

    Without --fixtures the core corpus is swept, with the budgets for it; those for --fixtures are meant for the v1
    corpus. Figures are printed with machine and load, never asserted.

    \b
    Examples:
      brainbench bench-self
      brainbench bench-self --fixtures v1/fixtures --gold v1/gold --runs 5
    """
    from brainbench import bench_self as bench
    from brainbench.run import choose

    place = choose(fixtures=fixtures, gold=gold, systems=(system,), harness="openclaw,claude-code,codex")
    flags = ["--fixtures", str(place.fixtures), "--gold", str(place.gold), "--harness", "openclaw,claude-code,codex"]
    before = bench.machine()
    which = "core" if fixtures is None else "v1"
    figures = bench.measure_all(
        system, flags, runs, which, lambda title: click.echo(f"measuring {title} ...", err=True)
    )
    click.echo(bench.as_json(figures, before) if as_json else bench.as_text(figures, before, place.corpus))


@click.command(cls=Command)
@place_options
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@reported
def validate(fixtures: Path | None, gold: Path | None, corpus: str | None, as_json: bool) -> None:
    """Check a corpus and say everything that is wrong with it at once.

    \b
    Examples:
      brainbench validate
      brainbench validate --fixtures their/fixtures --gold their/gold
    """
    from brainbench import corpus as corpora
    from brainbench import gold as golds
    from brainbench.datasets import brains
    from brainbench.run import corpus_place

    place = corpus_place(fixtures, gold, corpus)
    warnings = golds.validate(place.fixtures, place.gold)
    read = corpora.read(place.fixtures, include_holdout=True)
    brains.check(read)
    found = {
        "fixture_files": len(read.documents),
        "scripts": len(read.fixtures),
        "held_out": read.held_out,
        "universes": list(brains.needed(read)),
        "fixtures_hash": golds.fixtures_hash(place.fixtures, place.gold),
        "warnings": [str(w) for w in warnings],
    }
    if as_json:
        click.echo(to_line(found), nl=False)
        return
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)
    click.echo(
        f"{found['fixture_files']} fixture files, {found['scripts']} scripts, {found['held_out']} held out: no fault"
    )
    click.echo(f"fixtures_hash {found['fixtures_hash']}")


@click.command(name="list", cls=Command)
@click.argument("what", type=click.Choice(["systems", "harnesses", "suites", "metrics", "corpora"]), required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@reported
def list_names(what: str | None, as_json: bool) -> None:
    """Name what can be measured: systems, harnesses, suites, metrics, corpora.

    \b
    Examples:
      brainbench list
      brainbench list metrics --json
    """
    from brainbench.run import names

    tables = {key: table for key, table in names().items() if what in (None, key)}
    if as_json:
        click.echo(to_line(tables), nl=False)
        return
    for key, table in tables.items():
        click.echo(click.style(key, bold=True))
        for name, text in table.items():
            click.echo(f"  {name}  {text}")
