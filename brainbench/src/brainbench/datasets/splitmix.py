"""SplitMix64: the same numbers on every machine and Python, which `random` does not promise."""

from __future__ import annotations

import hashlib
from collections.abc import MutableSequence, Sequence
from typing import TypeVar

_T = TypeVar("_T")
_MASK = (1 << 64) - 1
_GOLDEN_GAMMA = 0x9E3779B97F4A7C15


class SplitMix64:
    """A stream of 64-bit numbers from a 64-bit seed (Steele, Lea and Flood, 2014; the constants are Vigna's).

    >>> SplitMix64(1234567).next_u64()
    6457827717110365317
    """

    __slots__ = ("_state",)

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def next_u64(self) -> int:
        """The next number, in [0, 2**64)."""
        self._state = (self._state + _GOLDEN_GAMMA) & _MASK
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def below(self, bound: int) -> int:
        """A number in [0, bound), every one as likely: values past the last whole multiple are drawn again.

        Raises ValueError when `bound` is not in [1, 2**64].
        """
        if not 1 <= bound <= _MASK + 1:
            raise ValueError(f"bound must be between 1 and 2**64, not {bound}")
        limit = (_MASK + 1) - (_MASK + 1) % bound
        while True:
            number = self.next_u64()
            if number < limit:
                return number % bound

    def between(self, low: int, high: int) -> int:
        """A number in [low, high], both ends included."""
        return low + self.below(high - low + 1)

    def pick(self, items: Sequence[_T]) -> _T:
        """One of `items`, which must not be empty."""
        return items[self.below(len(items))]

    def shuffle(self, items: MutableSequence[_T]) -> None:
        """Reorder `items` in place (Fisher and Yates, from the end)."""
        for last in range(len(items) - 1, 0, -1):
            other = self.below(last + 1)
            items[last], items[other] = items[other], items[last]

    def sample(self, items: Sequence[_T], n: int) -> list[_T]:
        """`n` different positions of `items`, in random order. Raises ValueError when there are fewer than `n`."""
        if n > len(items):
            raise ValueError(f"cannot take {n} of {len(items)} items")
        rest = list(items)
        self.shuffle(rest)
        return rest[:n]


def substream(seed: int, *key: str | int) -> SplitMix64:
    """A stream of its own for `key`, so that drawing more under one key moves no other.

    Its seed is the first 8 bytes, big-endian, of SHA-256 over the seed and the parts of the key, joined by `/`.
    """
    text = "/".join([str(seed), *(str(part) for part in key)])
    return SplitMix64(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big"))
