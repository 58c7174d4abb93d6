"""Which systems a cell's counts cannot tell apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import comb

from brainbench.metrics import wilson
from brainbench.suites import Cell

ALPHA = Fraction(1, 20)
Groups = tuple[tuple[str, ...], ...]


def tie_groups(cells: Iterable[Cell]) -> dict[str, Groups]:
    """`<seam>/<suite>` -> groups of systems, best first, for every place where at least two were scored.

    A system joins the group of the best one left unless a test parts them: the exact McNemar test on the same items,
    corrected by Holm over the systems compared, or disjoint 95 % intervals where the items differ.
    """
    places: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.status == "scored" and cell.gold_total:
            places.setdefault(f"{cell.seam}/{cell.suite}", []).append(cell)
    return {place: _groups(found) for place, found in places.items() if len({cell.system for cell in found}) > 1}


def _groups(cells: Sequence[Cell]) -> Groups:
    rest = sorted(cells, key=lambda cell: Fraction(cell.gold_failed, cell.gold_total))
    groups: list[tuple[str, ...]] = []
    while rest:
        leader, *others = rest
        parted = _holm({cell.system: p_value(leader, cell) for cell in others})
        groups.append((leader.system, *(cell.system for cell in others if cell.system not in parted)))
        rest = [cell for cell in others if cell.system in parted]
    return tuple(groups)


def p_value(one: Cell, other: Cell) -> Fraction:
    """How likely counts this far apart are if both fail equally often; 0 or 1 where items cannot be paired."""
    if (one.fixtures, one.gold_total) != (other.fixtures, other.gold_total):
        return Fraction(int(not _disjoint(one, other)))
    return mcnemar(
        len(set(one.failed_items) - set(other.failed_items)), len(set(other.failed_items) - set(one.failed_items))
    )


def mcnemar(only_one: int, only_other: int) -> Fraction:
    """The exact two-sided McNemar test: items that failed for one only, and for the other only (McNemar 1947)."""
    discordant = only_one + only_other
    tail = sum(comb(discordant, k) for k in range(min(only_one, only_other) + 1))
    return min(Fraction(1), Fraction(2 * tail, 2**discordant))


def _disjoint(one: Cell, other: Cell) -> bool:
    (low, high), (lower, upper) = (wilson(cell.gold_failed, cell.gold_total) for cell in (one, other))
    return high < lower or upper < low


def _holm(p_values: Mapping[str, Fraction]) -> set[str]:
    """The systems whose difference stands after Holm's step-down correction (Holm 1979)."""
    parted: set[str] = set()
    for index, (system, p) in enumerate(sorted(p_values.items(), key=lambda item: item[1])):
        if p > ALPHA / (len(p_values) - index):
            break
        parted.add(system)
    return parted
