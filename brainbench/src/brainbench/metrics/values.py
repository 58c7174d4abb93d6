"""Counts, how they print, and what a metric is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from math import sqrt
from typing import Literal

from brainbench.metrics.judged import Judged

Z95 = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""


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

    @property
    def value(self) -> float:
        """The average."""
        return self.total / self.of


Measured = Ratio | Count | Mean


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric as the glossary, the gate and the printed columns know it.

    `suite` is the suite that asks, or "every" for what is counted in all of them. `measure` gives None when nothing
    was asked.
    """

    name: str
    suite: str
    formula: str
    better: Literal["lower", "higher"]
    gated: bool = True
    zero: bool = False
    """Must always be 0: never waived, never blessed."""
    earned: bool = False
    """`of` counts what the system did, so that None beside failures is no excuse but a failure."""
    measure: Callable[[Judged], Measured | None] = field(kw_only=True)


def ratio(n: int, of: int) -> Ratio | None:
    """`n` of `of`, or None when there was nothing to count."""
    return Ratio(n, of) if of else None


def mean(total: float, of: int) -> Mean | None:
    """The average of `total` over `of`, or None when there was nothing to count."""
    return Mean(total, of) if of else None


def four_decimals(value: Fraction | float) -> str:
    """A rate as printed: four decimals, half up.

    >>> four_decimals(Fraction(1, 32))
    '0.0313'
    """
    exact = (
        Decimal(value.numerator) / Decimal(value.denominator) if isinstance(value, Fraction) else Decimal(repr(value))
    )
    return str(exact.quantize(Decimal("0.0001"), rounding=ROUND_HALF_UP))


def wilson(n: int, of: int) -> tuple[float, float]:
    """The 95 % Wilson score interval of `n` of `of`; ValueError unless 0 <= n <= of and of >= 1.

    >>> [round(bound, 6) for bound in wilson(483, 500)]
    [0.946229, 0.978665]
    """
    if not 0 <= n <= of or of < 1:
        raise ValueError(f"no interval for {n} of {of}: need 0 <= n <= of and of >= 1")
    spread = Z95 * Z95 / of
    centre = n / of + spread / 2
    half = Z95 * sqrt(n * (of - n) / of**3 + spread / (4 * of))
    low = 0.0 if n == 0 else (centre - half) / (1 + spread)
    high = 1.0 if n == of else (centre + half) / (1 + spread)
    return max(0.0, low), min(1.0, high)


def counts(measured: Measured) -> str:
    """A measurement as counts: `57/96`, `0`, or an average.

    >>> counts(Ratio(57, 96)), counts(Count(0))
    ('57/96', '0')
    """
    match measured:
        case Ratio(n, of):
            return f"{n}/{of}"
        case Count(n):
            return str(n)
        case Mean():
            return four_decimals(measured.value)


def counts_json(measured: Measured) -> dict[str, float]:
    """A measurement as stored documents hold it: `{"n", "of"}`, `{"n"}`, or `{"total", "of"}` of an average."""
    match measured:
        case Ratio(n, of):
            return {"n": n, "of": of}
        case Count(n):
            return {"n": n}
        case Mean(total, of):
            return {"total": total, "of": of}
