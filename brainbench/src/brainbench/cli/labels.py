"""`brainbench labels`: check gold by people who do not see it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from brainbench.cli.frame import Command, place_options, reported
from brainbench.errors import IncompatibleError, UsageError
from brainbench.write import to_line

FILE = click.Path(path_type=Path)


@click.group()
def labels() -> None:
    """Check gold: draw a sheet without it, have two people label that blind, and compare.

    \b
    brainbench labels sheet --share 0.1 --seed 7 --out sheet.json
    brainbench labels agree --sheet sheet.json anna.json bela.json --out validation.json
    """


@labels.command(cls=Command)
@place_options
@click.option("--share", type=float, default=0.1, show_default=True, help="Share of each category and stratum.")
@click.option("--more", "shares", multiple=True, metavar="CATEGORY=SHARE", help="Another share of one category.")
@click.option("--seed", type=int, required=True, help="Draws the sample; take another one for each round.")
@click.option("--out", type=FILE, required=True, metavar="FILE", help="Write the sheet here.")
@reported
def sheet(
    fixtures: Path | None,
    gold: Path | None,
    corpus: str | None,
    share: float,
    shares: tuple[str, ...],
    seed: int,
    out: Path,
) -> None:
    """Draw a stratified sample and write it without gold, names and order that would give it away.

    \b
    Examples:
      brainbench labels sheet --corpus core --share 0.1 --seed 7 --out sheet.json
      brainbench labels sheet --corpus core --more typed=0.5 --seed 7 --out sheet.json
    """
    from brainbench.labels.sheet import sheet as drawn
    from brainbench.run import corpus_place
    from brainbench.write import check_place, write_json

    check_place(out)
    place = corpus_place(fixtures, gold, corpus)
    more = dict(map(_share, shares))
    made = drawn(place.fixtures, place.gold, corpus=place.corpus, share=share, seed=seed, more=more)
    write_json(out, made)
    asked = sum(len(f[part]) for f in made["fixtures"] for part in ("turns", "facts", "answers"))
    click.echo(f"{out}: {len(made['fixtures'])} fixtures, {asked} questions; `how_to` says what to write")


@labels.command(cls=Command)
@place_options
@click.option("--sheet", "drawn", type=FILE, required=True, metavar="FILE", help="What was labelled.")
@click.option("--fixes", type=FILE, metavar="FILE", help="JSON: disagreement -> what was done about it.")
@click.option("--out", type=FILE, metavar="FILE", help="Write the receipt here.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@click.argument("files", type=FILE, nargs=-1, required=True)
@reported
def agree(
    fixtures: Path | None,
    gold: Path | None,
    corpus: str | None,
    drawn: Path,
    fixes: Path | None,
    out: Path | None,
    as_json: bool,
    files: tuple[Path, ...],
) -> None:
    """Compare the labels of two people or more with gold and with each other.

    Prints agreement and Cohen's kappa for each category, and each disagreement. Exit 1 while agreement is below 0.85
    somewhere: kappa, or the share where labels are no choice among few.

    \b
    Example:
      brainbench labels agree --sheet sheet.json anna.json bela.json --fixes fixes.json --out validation.json
    """
    from brainbench.evidence.committed import bytes_of
    from brainbench.labels.agreement import read_labels, receipt
    from brainbench.run import corpus_place
    from brainbench.write import check_place, write_json

    if out is not None:
        check_place(out)
    place = corpus_place(fixtures, gold, corpus)
    read = [read_labels(bytes_of(file), str(file)) for file in files]
    done = receipt(place.fixtures, place.gold, (bytes_of(drawn), str(drawn)), read, _fixes(fixes))
    if out is not None:
        write_json(out, done)
    click.echo(to_line(done) if as_json else _told(done), nl=False)
    sys.exit(1 if done["blocked"] else 0)


def _share(text: str) -> tuple[str, float]:
    name, equals, share = text.partition("=")
    try:
        if name and equals:
            return name, float(share)
    except ValueError:
        pass
    raise UsageError(f"--more: {text!r} is no CATEGORY=SHARE, such as typed=0.5")


def _fixes(path: Path | None) -> Mapping[str, str]:
    import msgspec

    from brainbench.evidence.committed import bytes_of

    if path is None:
        return {}
    try:
        return msgspec.json.decode(bytes_of(path), type=dict[str, str])
    except msgspec.MsgspecError as error:
        raise IncompatibleError(f"{path}: {error}; write an object of disagreement -> what was done") from None


def _told(done: Mapping[str, Any]) -> str:
    from brainbench.labels.agreement import LEAST_KAPPA

    lines = [f"{done['items']} items in {len(done['sample']['fixtures'])} fixtures, labelled by gold and "]
    lines[0] += ", ".join(done["labellers"])
    for row in done["agreement"]:
        kappa = "kappa says nothing" if row["kappa"] is None else f"kappa {row['kappa']:.2f}"
        bounds = "" if not row["interval"] else f" [{row['interval'][0]:.2f}, {row['interval'][1]:.2f}]"
        pair = " and ".join(row["between"])
        lines.append(f"  {row['category']:<16} {row['question']:<7} {row['n']}/{row['of']}  {kappa}{bounds}  {pair}")
    for apart in done["disagreements"]:
        said = "; ".join(f"{name}: {label}" for name, label in apart["said"].items())
        lines.append(f"  disagree: {apart['item']}: {said}; fix: {apart['fix'] or 'none yet'}")
    if done["blocked"]:
        lines.append(f"blocked: {', '.join(done['blocked'])}: agreement below {LEAST_KAPPA}")
    return "\n".join(lines) + "\n"
