"""What asking costs, and how much of it is allowed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from brainbench.errors import OverBudget


@dataclass(frozen=True, slots=True)
class Price:
    """USD per million tokens that are sent, and that come back."""

    input: float
    output: float

    def of(self, sent: int, got: int) -> float:
        """USD for so many tokens.

        >>> Price(2.0, 8.0).of(1_000_000, 500_000)
        6.0
        """
        return (sent * self.input + got * self.output) / 1_000_000


@dataclass(slots=True)
class Budget:
    """How much may be spent. The worst that a question can cost is set aside before it is asked."""

    limit: float
    price: Price
    spent: float = 0.0
    reserved: float = 0.0

    def reserve(self, body: Mapping[str, object]) -> float:
        """Set aside the worst case of a question. OverBudget, with nothing set aside, where it is not covered.

        No tokenizer makes more tokens of a text than it has bytes.
        """
        most = self.price.of(len(json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")), _most_output(body))
        if self.spent + self.reserved + most > self.limit:
            raise OverBudget(
                f"{self.spent:.4f} of {self.limit:g} USD are spent and the next question can cost {most:.4f}. "
                "With --record DIR nothing answered is paid for again: run once more with it, and with a larger "
                "--budget-usd if need be"
            )
        self.reserved += most
        return most

    def settle(self, reserved: float, usd: float) -> None:
        """Book what a question did cost in place of what was set aside for it."""
        self.reserved -= reserved
        self.spent += usd


def _most_output(body: Mapping[str, object]) -> int:
    most = body.get("max_tokens")
    if not isinstance(most, int):
        raise ValueError("a question without max_tokens has no worst case")
    return most
