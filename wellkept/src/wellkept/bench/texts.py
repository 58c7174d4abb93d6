"""Made text with the statistics of speech: a few words often, most of them seldom. The same for the same seed."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import accumulate

_ONSETS = (
    "b",
    "br",
    "d",
    "dr",
    "f",
    "g",
    "gl",
    "h",
    "k",
    "kr",
    "l",
    "m",
    "n",
    "p",
    "pl",
    "r",
    "s",
    "st",
    "t",
    "v",
    "z",
)
_VOWELS = ("a", "e", "i", "o", "u", "ai", "oa", "ei")
_WORDS = 30_000


class Speech:
    """Words by Zipf's law, in sentences of the length of chat."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311
        pick = self._random.choice
        self._words = [
            "".join(pick(_ONSETS) + pick(_VOWELS) for _ in range(2 + number % 3)) for number in range(_WORDS)
        ]
        self._weights = list(accumulate(1 / (rank + 10) for rank in range(_WORDS)))

    def begin(self, place: object) -> None:
        """Go on from a place of its own, whatever was said before: one part is the same without the others."""
        self._random.seed(str(place))

    def words(self, count: int) -> list[str]:
        """So many words, common ones often."""
        return self._random.choices(self._words, cum_weights=self._weights, k=count)

    def turn(self) -> str:
        """What one speaker says."""
        return " ".join(self.words(self._random.randint(8, 60))).capitalize() + "."

    def question(self) -> str:
        """A question of a few words, of which some are rare and some are common."""
        return "What about " + " ".join([*self.words(4), *self._random.choices(self._words, k=2)]) + "?"

    def names(self, count: int) -> Iterator[str]:
        """Names of people."""
        for _ in range(count):
            first, last = self._random.sample(self._words, 2)
            yield f"{first.capitalize()} {last.capitalize()}"
