"""What a gate says: a verdict, why, and the exit code that goes with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from fractions import Fraction
from typing import Literal

from brainbench.errors import verdict_line
from brainbench.evidence.baseline import Stored
from brainbench.metrics import Count, Measured, four_decimals

Verdict = Literal["pass", "fail", "inconclusive"]
Mode = Literal["same-hash", "corpus-bless"]
EXIT_CODES: dict[Verdict, int] = {"pass": 0, "fail": 1, "inconclusive": 2}


class Reason(StrEnum):
    """Why a gate did not pass, as printed before the text."""

    REGRESSION = "regression"
    THRESHOLD = "threshold"
    STALE = "stale"
    NO_CASES = "no_cases"
    INCOMPATIBLE = "incompatible"
    ERROR_SHARE = "error_share"
    SEED_FAILURE = "seed_failure"
    PANEL = "panel"
    MISMATCH = "mismatch"


@dataclass(frozen=True, slots=True)
class Breach:
    """One broken rule: where, of which metric, from what to what, and why. `current` None: the cell is gone."""

    cell: str
    metric: str
    baseline: Measured | Stored | int | None
    current: Measured | Stored | int | None
    detail: str
    reason: Reason = Reason.REGRESSION

    def __str__(self) -> str:
        return f"{self.cell}: {self.metric}: {self.detail}"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a comparison found. `stale` lists what is better than the baseline and not banked yet."""

    verdict: Verdict
    mode: Mode
    breaches: tuple[Breach, ...] = ()
    notes: tuple[str, ...] = ()
    reasons: tuple[tuple[Reason, str], ...] = ()
    stale: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 pass, 1 a measured rule broke, 2 nothing trustworthy was measured."""
        return EXIT_CODES[self.verdict]

    def lines(self) -> tuple[str, ...]:
        """One stderr line per reason; none for a pass."""
        return tuple(verdict_line(self.verdict, reason, text) for reason, text in self._told())

    def _told(self) -> Iterator[tuple[Reason, str]]:
        yield from self.reasons
        if self.verdict == "fail":
            yield from ((breach.reason, str(breach)) for breach in self.breaches)


def when_fresh_is_required(outcome: Outcome) -> Outcome:
    """The outcome where an improvement must be banked: a pass over a stale baseline fails."""
    if outcome.verdict != "pass" or not outcome.stale:
        return outcome
    text = f"the baseline is stale ({'; '.join(outcome.stale)}); run `brainbench run --update-baseline` and commit it"
    return replace(outcome, verdict="fail", reasons=((Reason.STALE, text),))


def outcome_document(outcome: Outcome) -> dict[str, object]:
    """The outcome as JSON: `{verdict, mode, breaches, notes}`, a failed verdict called regression."""
    return {
        "verdict": "regression" if outcome.verdict == "fail" else outcome.verdict,
        "mode": outcome.mode,
        "breaches": [
            {
                "cell": breach.cell,
                "metric": breach.metric,
                "baseline": _number(breach.baseline),
                "current": _number(breach.current),
                "detail": breach.detail,
            }
            for breach in outcome.breaches
        ],
        "notes": [*(text for _, text in outcome.reasons), *outcome.notes],
    }


def _number(value: Measured | Stored | int | None) -> float | int | None:
    match value:
        case None | int():
            return value
        case Count(n):
            return n
        case Fraction():
            return float(four_decimals(value))
        case _:
            return float(four_decimals(value.value))
