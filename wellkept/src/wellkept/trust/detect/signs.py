"""What a detector gives back, and what is made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

Where = Literal["owner", "agent", "external"]
"""By which class of channel a text came."""
Kind = Literal["page", "fact"]


@dataclass(frozen=True, slots=True)
class Sign:
    """Something a detector saw in text[start:end]. One that is not sure stands for what is often harmless."""

    id: str
    start: int
    end: int
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Flag:
    """What is noted of a text: the detector, how much it weighs (1 is noted, 2 acts), and where it stands."""

    id: str
    severity: int
    start: int
    end: int


Look = Callable[[str], Iterator[Sign]]
"""A detector: pure, and linear in the length of the text."""
