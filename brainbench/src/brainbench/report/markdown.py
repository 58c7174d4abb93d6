"""A scoreboard and a gate's outcome as Markdown, for pull requests and step summaries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from brainbench.evidence import Scoreboard
from brainbench.evidence.outcome import Outcome
from brainbench.metrics import Measured
from brainbench.report import wording
from brainbench.suites import Cell

_PLAIN = frozenset(" ,;/()+=%-'")
_COLUMNS = (
    "system",
    "harness (kind)",
    "suite",
    "stratum",
    "failed/gold",
    "metrics: n/of (rate) 95 %",
    "tokens",
    "status",
)
_MOST_LINES = 100


def inert(text: object, limit: int = 400) -> str:
    """Outside text as code that no Markdown reader takes for markup, a link, a mention or a table border."""
    shown = "".join(_harmless(character) for character in wording.clean(text, limit))
    return f"<code>{shown}</code>" if shown else ""


def _harmless(character: str) -> str:
    if character == "@":
        return "&#64;&#8203;"
    if character.isalnum() or character in _PLAIN:
        return character
    return f"&#{ord(character)};"


def summary(board: Scoreboard, outcome: Outcome | None = None, *, strata: bool = False) -> str:
    """The whole summary; ends with a newline. Long lists are cut, and say so."""
    parts = [
        verdict(outcome),
        "\n".join(f"- {name}: {inert(value)}" for name, value in wording.header(board)),
        "\n".join(_table(board.cells, strata)),
        _section("Seed failures", map(inert, wording.seed_failures(board))) or "Seed failures: none",
        _section("Systems: " + wording.TIES.replace(">", "&gt;"), map(inert, wording.ties(board))),
        _section("Ceilings", map(inert, wording.ceilings(board))),
        _section(
            "Deviations from the harness itself",
            (f"{inert(seam)}: {inert(words)}" for seam, words in wording.deviations(board)),
        ),
        _section("Warnings", map(inert, board.warnings)),
        _section("What these numbers do not show", wording.LIMITS),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def verdict(outcome: Outcome | None) -> str:
    """The verdict with its breaches and notes, for when there is no scoreboard to show."""
    if outcome is None:
        return "## brainbench: no verdict (nothing was compared)"
    parts = [
        f"## brainbench: {wording.VERDICT_WORDS[outcome.verdict]}",
        f"Compared: {inert(outcome.mode)}",
        _section("Reasons", map(inert, wording.reasons(outcome))),
        _section(f"Breaches: {len(outcome.breaches)}", map(inert, wording.breaches(outcome))),
        _section("Notes", map(inert, outcome.notes)),
    ]
    return "\n\n".join(part for part in parts if part)


def _section(title: str, lines: Iterable[str]) -> str:
    found = list(lines)
    if not found:
        return ""
    kept = [f"- {line}" for line in found[:_MOST_LINES]]
    if len(found) > _MOST_LINES:
        kept.append(f"- and {len(found) - _MOST_LINES} more")
    return f"### {title}\n\n" + "\n".join(kept)


def _table(cells: Iterable[Cell], strata: bool) -> Iterator[str]:
    yield _line(_COLUMNS)
    yield _line(["---"] * len(_COLUMNS))
    for cell in cells:
        place = [inert(cell.system), f"{inert(cell.seam)} ({cell.kind})", inert(cell.suite)]
        shown = inert(wording.status(cell))
        if cell.status != "scored":
            yield _line([*place, "all", "", "" if cell.status == "not_applicable" else "-", "", shown])
            continue
        failed = f"{cell.gold_failed}/{cell.gold_total}"
        yield _line([*place, "all", failed, _metrics(cell.metrics.items()), wording.tokens(cell), shown])
        for stratum, part in cell.slices.get("stratum", {}).items() if strata else ():
            counted = f"{part.gold_failed}/{part.gold_total}"
            yield _line([*place, inert(stratum), counted, _metrics(part.metrics.items()), "", ""])


def _line(words: Iterable[str]) -> str:
    return f"| {' | '.join(words)} |"


def _metrics(metrics: Iterable[tuple[str, Measured | None]]) -> str:
    return "<br>".join(
        f"{inert(name)} {wording.measured(value)} {wording.interval(value)}".rstrip() for name, value in metrics
    )
