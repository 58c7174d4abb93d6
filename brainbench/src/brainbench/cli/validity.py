"""`brainbench panel` and `brainbench probe`: can the bench itself be trusted, on this corpus and with this system?"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from brainbench.cli.frame import PROFILE, Command, choice_of, corpus_options, printing, progress_bar, reported
from brainbench.errors import UsageError, verdict_line
from brainbench.report.native import measured_json
from brainbench.report.wording import clean, measured
from brainbench.write import to_line

if TYPE_CHECKING:
    from brainbench.panel import Panel
    from brainbench.probe import Probed
    from brainbench.run import Choice


@click.command(cls=Command)
@corpus_options
@click.option("--profile", default=PROFILE, show_default=True, metavar="NAME", help="The gate that must stop them.")
@click.option("--metamorphic", is_flag=True, help="Also change what does not matter: seed, order of pages, names.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@reported
def panel(profile: str, metamorphic: bool, as_json: bool, **flags: Any) -> None:
    """Check that systems whose score is known beforehand get it, here.

    One that says nothing, one that says everything, one that repeats the turn, one that draws by lot, one that knows
    the answers, and the system under test with its aliases and three facts of ten taken away. Ends with 2 where an
    expectation does not hold: then no number of this corpus and system can be trusted. What could not be tested is
    listed as such.

    \b
    Examples:
      brainbench panel
      brainbench panel --system my_memory:Notebook
      brainbench panel --metamorphic --harness openclaw
    """
    from brainbench.evidence.committed import find_profile
    from brainbench.panel import panel as played

    choice, rules = _one_system(choice_of(flags)), find_profile(profile)
    with progress_bar() as progress:
        found = played(choice, rules, progress, _note, metamorphic)
    with printing():
        click.echo(to_line(_document(found)) if as_json else _panel_text(found), nl=False)
    for text in found.failures:
        click.echo(verdict_line("inconclusive", "panel", clean(text)), err=True)
    sys.exit(2 if found.broken else 0)


@click.command(cls=Command)
@corpus_options
@click.option("--json", "as_json", is_flag=True, help="One JSON document on standard output.")
@reported
def probe(as_json: bool, **flags: Any) -> None:
    """Break the protection behind each gated metric, and see that the gate notices.

    The system is played whole and then with one thing taken away at a time, through the first harness named. Ends
    with 1 where a break does not breach: that metric protects nothing here.

    \b
    Examples:
      brainbench probe
      brainbench probe --system my_memory:Notebook --corpus core
    """
    from brainbench.probe import probe as probed

    choice = _one_system(choice_of(flags))
    with progress_bar() as progress:
        found = probed(choice, _note, progress)
    with printing():
        click.echo(to_line(_probe_document(found)) if as_json else _probe_text(found), nl=False)
    idle = [f for f in found if f.verdict == "NOT BREACHED"]
    for f in idle:
        words = f"{f.metric}: {f.broken} changes nothing that the gate sees{f': {f.why}' if f.why else ''}"
        click.echo(verdict_line("fail", "threshold", clean(words)), err=True)
    sys.exit(1 if idle else 0)


def _probe_text(found: Sequence[Probed]) -> str:
    rows = [
        (f.broken, f.metric, measured(f.whole), measured(f.now), f.verdict + (f": {f.why}" if f.why else ""))
        for f in found
    ]
    return _table(("break", "must breach", "whole", "broken", ""), rows)


def _probe_document(found: Sequence[Probed]) -> dict[str, object]:
    return {
        "schema_version": 1,
        "probes": [
            {
                "metric": f.metric,
                "break": f.broken,
                "whole": measured_json(f.whole),
                "broken": measured_json(f.now),
                "verdict": f.verdict,
                "why": f.why,
            }
            for f in found
        ],
    }


def _one_system(choice: Choice) -> Choice:
    """The choice, if it names one system; UsageError otherwise."""
    if len(choice.systems) > 1:
        raise UsageError(f"--system: name one, not {', '.join(choice.systems)}; each is checked by itself")
    return choice


def _note(what: str) -> None:
    click.echo(f"{what} ...", err=True)


def _panel_text(found: Panel) -> str:
    rows = [(f.system, f.expected, f.measured, f.status) for f in found.findings]
    counted = {status: sum(f.status == status for f in found.findings) for status in ("ok", "BROKEN", "untested")}
    told = ", ".join(f"{count} {status}" for status, count in counted.items())
    head = f"validity panel: {found.system} on {found.corpus}, {found.fixtures} fixtures"
    return f"{clean(head)}\n\n{_table(('system', 'expectation', 'measured', ''), rows)}\n{told}\n"


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows under their titles, columns as wide as what stands in them, the last one as it is."""
    every = [titles, *([clean(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in every) for column in range(len(titles) - 1)]
    padded = ("  ".join([*(c.ljust(w) for c, w in zip(row, widths, strict=False)), row[-1]]).rstrip() for row in every)
    return "".join(f"{line}\n" for line in padded)


def _document(found: Panel) -> dict[str, object]:
    return {
        "schema_version": 1,
        "system": found.system,
        "corpus": found.corpus,
        "fixtures": found.fixtures,
        "fixtures_hash": found.fixtures_hash,
        "observations_hash": found.observations_hash,
        "valid": not found.broken,
        "expectations": [
            {"system": f.system, "expected": f.expected, "measured": f.measured, "status": f.status, "why": f.why}
            for f in found.findings
        ],
    }
