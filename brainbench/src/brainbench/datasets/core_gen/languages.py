"""What a language does to a name: case endings, Latin letters, another script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from brainbench.datasets.core_gen.world import Named
from brainbench.datasets.core_words import table


@dataclass(frozen=True, slots=True)
class Spoken:
    """A bearer of a name as a sentence writes it: `{p}` the title, `{p.dat}` a case, `{p.family_dat}`, `{p.latin}`,
    `{p.initials}` the first letters of its words.

    Any field of `Named` can be written too.
    """

    of: Named
    language: str = "en"

    def __str__(self) -> str:
        return self.of.title

    def __getattr__(self, name: str) -> str:
        part, _, case = name.rpartition("_")
        cases = table("languages").get(self.language, {}).get("cases", {})
        if case in cases:
            return inflected(cases[case], getattr(self.of, part or "title"))
        if name == "latin":
            return " ".join(word.capitalize() for word in self.of.slug.partition("/")[2].split("-"))
        if name == "initials":
            return "".join(word[0] for word in self.of.title.split())
        if name == "lower":
            return self.of.title.lower()
        return str(getattr(self.of, name))


def inflected(case: Mapping[str, Any], name: str) -> str:
    """The name with the endings of a case: the longest that fits, on each word of the name or on its last only."""
    endings = sorted(case["endings"], key=lambda pair: -len(pair[0]))
    parts = name.split(" ")
    first = len(parts) - 1 if case.get("last_only", False) else 0
    for at in range(first, len(parts)):
        for old, new in endings:
            if parts[at].endswith(old):
                parts[at] = parts[at][: len(parts[at]) - len(old)] + new
                break
    return " ".join(parts)
