"""The words and numbers that every printed form of a scoreboard shares."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

from brainbench.evidence import Scoreboard
from brainbench.evidence.outcome import Outcome
from brainbench.metrics import Count, Mean, Measured, Ratio, four_decimals, wilson
from brainbench.model import V1_SUITES
from brainbench.report.ties import tie_groups
from brainbench.suites import Cell

VERDICT_WORDS: Mapping[str, str] = {
    "pass": "✓ PASS",
    "fail": "✗ FAIL",
    "inconclusive": "? INCONCLUSIVE",
}
TIES = "better (>) or not to be told apart (=), by exact paired test at 5 %"
STATUS_WORDS: Mapping[str, str] = {
    "scored": "scored",
    "not_applicable": "n/a",
    "invalid": "! INVALID",
    "failed": "! FAILED",
}
LIMITS = (
    "A contract row shows what a memory would hand over, not that the harness delivered it.",
    "Nothing here says that a model read what was injected, used it well, or that an answer got better.",
    "The numbers hold for this corpus; intervals treat counted things as independent and cover chance only.",
    "n/a is not a result: neither a zero nor a pass.",
)


KEY = (
    "n/of rate: n of so many that were asked. failed: not as it should be. ↓ less is better, ↑ more is better: "
    "these the gate holds; rows without an arrow explain them."
)
"""How to read the compact scoreboard."""


def clean(text: object, limit: int = 400) -> str:
    """The text on one line with every control, bidi and invisible character spelled out, at most `limit` long."""
    shown = "".join(character if character.isprintable() else _spelled(character) for character in str(text))
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def _spelled(character: str) -> str:
    if character in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[character]
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def measured(value: Measured | None) -> str:
    """`n/of (rate)`, a plain count, `mean x`, or `not asked`."""
    if value is None:
        return "not asked"
    if isinstance(value, Ratio):
        return f"{value.n}/{value.of} ({four_decimals(value.value)})"
    if isinstance(value, Count):
        return str(value.n)
    return f"mean {four_decimals(value.value)}" if value.of else "not asked"


def interval(value: Measured | None) -> str:
    """`low-high` of the 95 % Wilson interval; for a mean over how much; "" where there is neither."""
    if isinstance(value, Mean) and value.of:
        return f"over {value.of}"
    if not isinstance(value, Ratio):
        return ""
    low, high = wilson(value.n, value.of)
    return f"{four_decimals(low)}-{four_decimals(high)}"


def tokens(cell: Cell) -> str:
    """The mean of injected tokens per turn, or "" when it was not measured."""
    value = cell.metrics.get("avg_injected_tokens")
    return four_decimals(value.value) if isinstance(value, Mean) and value.of else ""


def status(cell: Cell) -> str:
    """The status word and, unless the cell is plainly scored, why."""
    word, reason = STATUS_WORDS[cell.status], why(cell)
    return f"{word}: {reason}" if reason else word


def why(cell: Cell) -> str:
    """What the system lacks, what went wrong, or a remark on a scored cell; "" when there is nothing to say."""
    if cell.status == "not_applicable":
        return clean(cell.reason or ", ".join(cell.not_applicable) or "nothing to ask")
    if cell.status != "scored":
        return trouble(cell)
    once = "one write-back" if cell.suite in V1_SUITES else "judged once"
    remarks = [f"{once}, shared by all harnesses"] if cell.shared else []
    if cell.not_applicable:
        remarks.append(f"{len(cell.not_applicable)} fixtures n/a (the system lacks {lacking(cell)})")
    if cell.errors:
        remarks.append(f"{cell.errors} errors in {cell.events} events")
    return "; ".join(remarks)


def trouble(cell: Cell) -> str:
    """What went wrong in a cell, and where it did first."""
    return clean(cell.reason or f"{cell.errors} errors in {cell.events} events")


def lacking(cell: Cell) -> str:
    """What fixtures need that the system does not have: `edit`, or `edit: 2, sources: 1` with how many need each."""
    if len(cell.lacking) < 2:
        return "".join(map(clean, cell.lacking)) or "what they need"
    return ", ".join(f"{clean(name)}: {count}" for name, count in cell.lacking.items())


def figures(cell: Cell) -> Mapping[str, Measured | None]:
    """The metrics of a cell whose numbers can be trusted; none of any other."""
    return cell.metrics if cell.status == "scored" else {}


def header(board: Scoreboard) -> Iterator[tuple[str, str]]:
    """What the numbers stand on, as (name, words)."""
    config = board.config
    yield "corpus", clean(board.corpus)
    yield "fixtures", clean(board.fixtures_hash[:12])
    yield "holdout", "included (this run gates nothing)" if config.include_holdout else "left out"
    yield "llm", "yes" if config.llm else "no"
    modes = ", ".join(f"{clean(name)}={clean(value)}" for name, value in sorted(config.modes.items()))
    yield "modes", modes or "default"
    yield "observations", clean(board.observations_hash[:12])
    if config.narrowed:
        yield "narrowed", "yes (filters were used: no full baseline can judge this run)"


def ceilings(board: Scoreboard) -> Iterator[str]:
    """The most push_recall that each seam's page budget allows."""
    for seam, (n, of) in sorted(board.ceilings.items()):
        if of:
            yield f"{clean(seam)}: push_recall can reach {measured(Ratio(n, of))}"


def unscored(board: Scoreboard, *, asked: bool = True) -> Iterator[str]:
    """The cells without a trusted number, each reason once: `system: suite (seams), suite (seams): status: reason`.

    Without those of which something was `asked`, only what does not apply.
    """
    yield from _placed(
        (cell, status(cell))
        for cell in board.cells
        if cell.status != "scored" and (asked or cell.status == "not_applicable")
    )


def left_out(board: Scoreboard) -> Iterator[str]:
    """Where only some fixtures apply, how many do not and why: `system: suite (seams): 2; the system lacks edit`."""
    for_want = ((c, f"{len(c.not_applicable)}; the system lacks {lacking(c)}") for c in board.cells if c.not_applicable)
    yield from _placed((cell, words) for cell, words in for_want if cell.status != "not_applicable")


def errors(board: Scoreboard) -> Iterator[str]:
    """The scored cells in which something went wrong, and what: `system: suite (seams): words`."""
    went_wrong = (cell for cell in board.cells if cell.status == "scored" and cell.errors)
    yield from _placed((c, clean(c.reason or f"{c.errors} of {c.events} events went wrong")) for c in went_wrong)


def _placed(told: Iterable[tuple[Cell, str]]) -> Iterator[str]:
    """What is told of cells, each thing once for a system, with every place it is told of."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for cell, words in told:
        found.setdefault((cell.system, words), {}).setdefault(cell.suite, []).append(cell.seam)
    for (system, words), suites in found.items():
        places = (f"{clean(suite)} ({', '.join(map(clean, seams))})" for suite, seams in suites.items())
        yield f"{clean(system)}: {', '.join(places)}: {words}"


def ties(board: Scoreboard) -> Iterator[str]:
    """Which systems can be told apart: `seam/suite: best > next = its equal`."""
    for place, groups in tie_groups(board.cells).items():
        yield f"{clean(place)}: {' > '.join(' = '.join(map(clean, group)) for group in groups)}"


def deviations(board: Scoreboard) -> Iterator[tuple[str, str]]:
    """How each seam differs from the harness it stands for: (seam, words)."""
    found = {cell.seam: cell.deviations for cell in board.cells if cell.deviations}
    found.update(board.config.deviations)
    for seam, words in sorted(found.items()):
        if words:
            yield clean(seam), clean("; ".join(words))


def seed_failures(board: Scoreboard, limit: int = 20) -> Iterator[str]:
    """The memories that could not be filled; past `limit` only how many more."""
    for system, fixture, reason in board.seed_failures[:limit]:
        yield f"{clean(system)}: {clean(fixture)}: {clean(reason)}"
    if len(board.seed_failures) > limit:
        yield f"and {len(board.seed_failures) - limit} more (all are in the JSON result)"


def reasons(outcome: Outcome) -> Iterator[str]:
    """Why nothing was judged, or what else decided: `reason: text`."""
    for reason, text in outcome.reasons:
        yield f"{reason}: {clean(text)}"


def breaches(outcome: Outcome) -> Iterator[str]:
    """Each broken rule: `cell metric: baseline -> current: why`; a floor has no baseline, only a why."""
    for breach in outcome.breaches:
        place = " ".join(clean(part) for part in (breach.cell, breach.metric) if part)
        before = "none" if breach.baseline is None else shown(breach.baseline)
        now = "gone" if breach.current is None else shown(breach.current)
        change = "" if breach.reason == "threshold" else f"{before} -> {now}: "
        yield f"{place}: {change}{clean(breach.detail)}"


def shown(value: Measured | Fraction | int) -> str:
    """A value of a comparison: counts as counts and rate, rates with 4 decimals."""
    if isinstance(value, int):
        return str(value)
    return four_decimals(value) if isinstance(value, Fraction) else measured(value)
