"""What a run must not leave out: capabilities that a system has to claim, seams and suites that have to apply to it.

A gate sees by its baseline that a capability was lost. Where nothing was banked yet, n/a would pass for good.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from brainbench.errors import UNLOADED, UsageError
from brainbench.evidence import Scoreboard
from brainbench.model import SUITE_NAMES, Capability
from brainbench.seams import SEAMS


def required(words: str, seams: Sequence[str], suites: Sequence[str]) -> tuple[str, ...]:
    """The names of a comma-separated list. UsageError for what is none, and for what a run of these leaves out."""
    names = tuple(dict.fromkeys(name.strip() for name in words.split(",") if name.strip()))
    known = (*Capability, *SEAMS, *SUITE_NAMES)
    if odd := [name for name in names if name not in known]:
        raise UsageError(f"--require: unknown {', '.join(map(repr, odd))}; known: {', '.join(known)}")
    if not names:
        raise UsageError(f"--require: nothing named; known: {', '.join(known)}")
    for name in names:
        if name not in (*Capability, *seams, *suites):
            flag = "--harness" if name in SEAMS else "--suite"
            raise UsageError(f"--require: {name} is not measured in this run; name it in {flag} too")
    return names


def unmet(board: Scoreboard, names: Sequence[str]) -> Iterator[str]:
    """What is not as required, one sentence for each system and name. What could not be loaded is told elsewhere."""
    unloaded = {cell.system for cell in board.cells if cell.reason.startswith(UNLOADED)}
    for system in board.config.systems:
        if system in unloaded:
            continue
        for name in names:
            if name in tuple(Capability):
                if name not in board.capabilities.get(system, ()):
                    yield f"{system}: does not claim {name}; add it to `can`, or leave it out of --require"
            elif why := _not_applicable(board, system, name):
                yield f"{system}: {name} is n/a: {why}; leave it out of --require where that is meant"


def _not_applicable(board: Scoreboard, system: str, name: str) -> str:
    """Why a seam or suite does not apply to a system, wherever the seam carries the suite; "" where it does."""
    own = [cell for cell in board.cells if cell.system == system and name in (cell.seam, cell.suite)]
    carried = [cell for cell in own if cell.seam not in SEAMS or cell.suite in SEAMS[cell.seam].suites]
    bad = [cell for cell in carried if cell.status == "not_applicable"]
    if not carried:
        return "no fixture asks it there"
    return "; ".join(f"{cell.seam}/{cell.suite}: {cell.reason}" for cell in bad)
