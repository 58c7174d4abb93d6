"""What came of the rows, as lines to read and as a document."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from brainbench import __version__
from brainbench.field.row import GROUPS, Verdict
from brainbench.field.running import Judged, Measured
from brainbench.report.wording import clean

VERDICTS: tuple[Verdict, ...] = ("passed", "FAILED", "n/a")


def text(found: Sequence[Measured]) -> Iterator[str]:
    """A line a row and system, then the totals by group."""
    for one in found:
        version = f" {one.version}" if one.version else ""
        yield clean(f"{one.system}{version}, seed {one.seed}")
        yield from (f"  {_line(judged)}" for judged in one.judged)
        yield ""
    yield from _totals(found)


def _line(judged: Judged) -> str:
    row = judged.row
    what = {"passed": row.right, "FAILED": f"{judged.observed} [{row.right}]", "n/a": judged.observed}[judged.verdict]
    return clean(f"{row.id}  P{row.priority}  {judged.verdict:<6}  {what}")


def _totals(found: Sequence[Measured]) -> Iterator[str]:
    """Counts of each group and system: passed, failed, not applicable."""
    width = max(len(name) for name in GROUPS.values()) + 3
    names = [clean(one.system) for one in found]
    cells = [max(len(name), 24) for name in names]
    yield "  ".join([" " * width, *(name.ljust(cell) for name, cell in zip(names, cells, strict=True))]).rstrip()
    for group, title in GROUPS.items():
        if any(judged.group == group for one in found for judged in one.judged):
            counted = [_counted(one, group).ljust(cell) for one, cell in zip(found, cells, strict=True)]
            yield "  ".join([f"{group}  {title}".ljust(width), *counted]).rstrip()
    yield "  ".join(
        ["all".ljust(width), *(_counted(one).ljust(c) for one, c in zip(found, cells, strict=True))]
    ).rstrip()
    yield "  ".join(
        ["asked".ljust(width), *(_asked(one).ljust(c) for one, c in zip(found, cells, strict=True))]
    ).rstrip()


def _counted(one: Measured, group: str | None = None) -> str:
    return f"{one.count('passed', group)} passed {one.count('FAILED', group)} FAILED {one.count('n/a', group)} n/a"


def _asked(one: Measured) -> str:
    return f"{one.asked} of {len(one.judged)} asked"


def document(found: Sequence[Measured], command: Sequence[str]) -> dict[str, Any]:
    """All that was asked and seen."""
    return {
        "schema_version": 2,
        "suite": "field",
        "brainbench": __version__,
        "command": list(command),
        "load": round(os.getloadavg()[0], 2),
        "systems": [
            {
                "system": one.system,
                "version": one.version,
                "seed": one.seed,
                "asked": {"rows": one.asked, "of": len(one.judged)},
                "totals": {verdict: one.count(verdict) for verdict in VERDICTS},
                "groups": {
                    group: {verdict: one.count(verdict, group) for verdict in VERDICTS}
                    for group in GROUPS
                    if any(judged.group == group for judged in one.judged)
                },
                "rows": [
                    {
                        "id": judged.row.id,
                        "priority": judged.row.priority,
                        "group": judged.group,
                        "verdict": judged.verdict,
                        "expected": judged.row.right,
                        "observed": judged.observed,
                    }
                    for judged in one.judged
                ],
            }
            for one in found
        ],
    }
