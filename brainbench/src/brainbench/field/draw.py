"""Invented people and what is said of them, drawn from a seed, so that no memory can know a row by its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from brainbench.field import wording

_ONSETS = ("B", "D", "F", "G", "H", "J", "K", "L", "M", "N", "P", "R", "S", "T", "V", "Br", "Dr", "Kl", "Pr", "Tr")
_VOWELS = ("a", "e", "i", "o", "u")
_MIDDLES = ("l", "m", "n", "r", "v", "d", "t", "lm", "nd", "rv", "st", "rk", "ld")
_ENDS = ("a", "o", "an", "en", "is", "or", "el", "un", "ith", "ane")
_TOWN_ENDS = ("ford", "wick", "holm", "stad", "mere", "dale")
BESIDE = 7
"""How many texts are kept beside what a row is about."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fact:
    """Something said of somebody: `word` stands in no other fact of the draw, `near` asks for it in other words."""

    text: str
    name: str
    word: str
    near: str


class Draw:
    """Names and facts of one row. The same seed and row give the same ones."""

    def __init__(self, seed: str, row: str) -> None:
        self.random = Random(f"{seed}/{row}")  # noqa: S311 - names are drawn, not keys
        self._taken: set[str] = set()
        self._does = self.random.sample(wording.DOES, len(wording.DOES))

    def name(self) -> str:
        """A first name that was not given before."""
        return self._fresh(lambda: self._one(_ONSETS) + self._one(_VOWELS) + self._one(_MIDDLES) + self._one(_ENDS))

    def town(self) -> str:
        """A town that was not given before."""
        return self._fresh(
            lambda: self._one(_ONSETS) + self._one(_VOWELS) + self._one(_MIDDLES) + "e" + self._one(_TOWN_ENDS)
        )

    def scope(self) -> str:
        """A scope that was not given before."""
        return f"user-{self.name().lower()}"

    def scopes(self, count: int) -> tuple[str, ...]:
        """Some scopes."""
        return tuple(self.scope() for _ in range(count))

    def facts(self, count: int) -> list[Fact]:
        """Facts about different people, each with a word that the others do not have."""
        return [self._fact(*self._does.pop()) for _ in range(count)]

    def alike(self, count: int) -> list[Fact]:
        """Facts about different people that share their word."""
        does = self._does.pop()
        return [self._fact(*does) for _ in range(count)]

    def controls(self) -> list[tuple[str, str]]:
        """What is kept beside what a row is about: some texts, each with a word that no other holds."""
        words = self.random.sample(wording.BESIDE, BESIDE)
        return [(f"The {self.town()} {self._one(wording.OWNERS)} {self._one(wording.OWNS)} {w}", w) for w in words]

    def statements(self, count: int) -> list[str]:
        """Sentences about nothing, each with a name and a number of its own."""
        return [f"{self.name()} said {self._doings()}, number {number}" for number in range(count)]

    def holdings(self, count: int) -> list[str]:
        """Short sentences about nothing: a great many that drown none of those about something."""
        nouns = [self._one(wording.THINGS) for _ in range(count)]
        return [f"{self.town()} {self._one(wording.OWNS)} {n} {noun}" for n, noun in enumerate(nouns)]

    def key(self) -> str:
        """Letters and digits that tell nothing."""
        return f"{self.random.getrandbits(48):012x}"

    def number(self, least: int, most: int) -> int:
        """A whole number, both bounds included."""
        return self.random.randint(least, most)

    def pick(self, choices: Sequence[T]) -> T:
        """One of some."""
        return self._one(choices)

    def long_text(self, words: int) -> list[str]:
        """Sentences of at least so many words in all."""
        told: list[str] = []
        while sum(len(sentence.split()) for sentence in told) < words:
            told.append(f"{self._doings()} and {self._doings()}".capitalize() + ".")
        return told

    def _doings(self) -> str:
        parts = (wording.WHO, wording.DID, wording.WHAT, wording.WHEN)
        return " ".join(self._one(part) for part in parts)

    def _fact(self, does: str, word: str, near: str) -> Fact:
        name = self.name()
        text = self._one(wording.FRAMES).format(n=name, d=f"{does} {self._one(wording.AT).format(p=self.town())}")
        return Fact(text, name, word, near)

    def _one(self, choices: Sequence[T]) -> T:
        return choices[self.random.randrange(len(choices))]

    def _fresh(self, make: object) -> str:
        assert callable(make)  # noqa: S101
        while (made := str(make())) in self._taken:
            pass
        self._taken.add(made)
        return made
