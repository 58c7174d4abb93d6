"""What one script of the trust corpus is about: a bearer, three values of one attribute, and how it is said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brainbench.datasets.core_gen.world import Named, Names, Page
from brainbench.datasets.splitmix import SplitMix64
from brainbench.datasets.trust_words import subjects


@dataclass(frozen=True, slots=True)
class Cast:
    """A subject matter with its invented names. Each value is a word that stands nowhere else."""

    words: Mapping[str, Any]
    of: Named
    values: tuple[str, ...]
    stranger: Named

    @property
    def language(self) -> str:
        """The language of its sentences."""
        return str(self.words["language"])

    @property
    def slot(self) -> dict[str, Any]:
        """The entity and attribute of a fact about it."""
        return {"entity": self.of.slug, "attribute": self.words["attribute"]}

    def say(self, at: int = 0, how: str = "say") -> str:
        """The statement with the value of that number, as `how` says it."""
        return str(self.words[how]).format(e=self.of, v=self.values[at])

    def near(self, at: int) -> str:
        """Something else that is true of the same bearer."""
        return str(self.words["near"][at]).format(e=self.of)

    @property
    def ask(self) -> str:
        """What the user asks of it."""
        return str(self.words["ask"]).format(e=self.of)

    def page(self, *lines: str, front: tuple[tuple[str, str], ...] = ()) -> Page:
        """A page about the bearer with these paragraphs."""
        return Page(self.of, self.near(0), "\n\n".join(lines), front=front)

    def elsewhere(self, *lines: str) -> Page:
        """A page about somebody else with these paragraphs."""
        return Page(self.stranger, self.near(1), "\n\n".join(lines))


def cast(rng: SplitMix64, at: int) -> Cast:
    """The cast of the subject matter of that number, beginning again after the last."""
    words = subjects()[at % len(subjects())]
    names = Names(rng)
    of, stranger = names.cast(words["kind"]), names.person()
    values = tuple(names.cast(words["value"]).title for _ in range(3))
    return Cast(words, of, values, stranger)
