"""Metrics are pure functions from judged events to counts.

A metric gives Ratio(n, of) or Count(n), and None when nothing was asked: a suite that asked nothing is not perfect.
Rates are derived when printed.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Literal


@dataclass(frozen=True, slots=True)
class Ratio:
    """`n` of `of` counted things; `of` is at least 1 (a metric with nothing to count is None, not 0/0)."""

    n: int
    of: int

    @property
    def value(self) -> Fraction:
        """The exact rate in [0, 1]."""
        return Fraction(self.n, self.of)


@dataclass(frozen=True, slots=True)
class Count:
    """A plain count, for metrics that must be zero."""

    n: int

    @property
    def value(self) -> Fraction:
        """The count as an exact number."""
        return Fraction(self.n)


@dataclass(frozen=True, slots=True)
class Mean:
    """An average of a diagnostic, such as tokens per turn; `total` over `of` events. Never gated."""

    total: float
    of: int


Measured = Ratio | Count | Mean


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric as the glossary, the gate and the printed columns know it."""

    name: str
    suite: str
    formula: str
    better: Literal["lower", "higher"]
    gated: bool = True
    zero: bool = False
    """Must always be 0: never waived, never blessed."""


def four_decimals(value: Fraction | float) -> str:
    """A rate as printed: four decimals, half up."""
    exact = (
        Decimal(value.numerator) / Decimal(value.denominator) if isinstance(value, Fraction) else Decimal(repr(value))
    )
    return str(exact.quantize(Decimal("0.0001"), rounding=ROUND_HALF_UP))
