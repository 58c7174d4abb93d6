"""Invented names, and the pages of those who bear them."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from brainbench.datasets.core_words import denied, table
from brainbench.datasets.splitmix import SplitMix64

FOLDERS: Mapping[str, str] = {
    "person": "people",
    "company": "companies",
    "project": "projects",
    "concept": "concepts",
    "code": "code",
    "place": "places",
    "event": "events",
    "fund": "funds",
    "decision": "decisions",
}
LETTERS = str.maketrans({"ł": "l", "ı": "i", "ø": "o", "đ": "d", "ß": "ss", "æ": "ae", "œ": "oe"})
"""What a Latin letter with no accent to drop is written as where only plain ones are at hand."""
_INDICATORS = tuple("-?:,[]{}#&*!|>'\"%@`")


@dataclass(frozen=True, slots=True)
class Named:
    """Somebody or something with an invented name. Written into a sentence it gives its title."""

    kind: str
    title: str
    slug: str
    given: str = ""
    family: str = ""
    handle: str = ""

    def __str__(self) -> str:
        return self.title


@dataclass(frozen=True, slots=True)
class Page:
    """A Markdown page with front matter."""

    of: Named
    summary: str
    body: str
    aliases: tuple[str, ...] = ()
    front: tuple[tuple[str, str], ...] = ()

    def markdown(self) -> str:
        """The page as it is stored."""
        lines = ["---", f"title: {_scalar(self.of.title)}", f"type: {self.of.kind}"]
        if self.aliases:
            lines.append(f"aliases: [{', '.join(_scalar(a, in_list=True) for a in self.aliases)}]")
        lines.append(f"summary: {_scalar(self.summary)}")
        lines.extend(f"{key}: {_scalar(value)}" for key, value in self.front)
        return "\n".join([*lines, "---", "", self.body.strip(), ""])


def _scalar(text: str, in_list: bool = False) -> str:
    """A YAML scalar: plain where that is safe, else in double quotes."""
    safe = text.isprintable() and not text.startswith(_INDICATORS) and not text.endswith(":")
    safe = safe and ": " not in text and " #" not in text and not (in_list and set(",[]{}:") & set(text))
    return text if safe else json.dumps(text, ensure_ascii=False)


def slug_of(kind: str, roman: str) -> str:
    """`people/velt-ana` for a person romanised as "Velt Ana"."""
    plain = unicodedata.normalize("NFKD", roman.lower().translate(LETTERS))
    tail = "".join(c if c.isalnum() else "-" for c in plain if not unicodedata.combining(c))
    return f"{FOLDERS[kind]}/{'-'.join(part for part in tail.split('-') if part)}"


class Names:
    """Draws invented names of one language; no two draws share a first syllable while unused ones are left."""

    def __init__(self, rng: SplitMix64, syllables: Mapping[str, Any] | None = None) -> None:
        self._rng = rng
        self._tables = syllables if syllables is not None else table("latin")
        self._left: dict[str, list[str]] = {}
        self._used: set[str] = set()

    def word(self, which: str) -> tuple[str, str]:
        """A new word of the table `given`, `family` or `brand`: as written, and romanised."""
        starts: Sequence[str] = self._tables[which]["starts"]
        ends: Sequence[str] = self._tables[which]["ends"]
        for _ in range(1000):
            left = self._left.setdefault(which, [])
            if not left:
                left.extend(starts)
                self._rng.shuffle(left)
            start, end = left.pop().partition("|"), self._rng.pick(ends).partition("|")
            written = start[0] + end[0]
            roman = (start[2] or start[0]) + (end[2] or end[0])
            if written not in self._used and roman.lower() not in denied():
                self._used.add(written)
                return written, roman
        raise ValueError(f"the table {which!r} is too small for so many names")

    def person(self, family: str | None = None) -> Named:
        """A person, with the surname `family` (as written in Latin script) when given."""
        given, given_roman = self.word("given")
        own, own_roman = (family, family) if family is not None else self.word("family")
        order = self._tables.get("person_order", "{given} {family}")
        return Named(
            "person",
            order.format(given=given, family=own),
            slug_of("person", f"{given_roman} {own_roman}"),
            given,
            own,
            f"{given_roman[0]}{own_roman}".lower(),
        )

    def thing(self, kind: str, suffix: str = "") -> Named:
        """A company, project, place or the like, with a common word behind its name when `suffix` is given."""
        written, roman = self.word("brand")
        title = f"{written} {suffix}".strip()
        return Named(kind, title, slug_of(kind, f"{roman} {suffix}"), given=written, handle=roman.lower())

    def cast(self, kind: str) -> Named:
        """Somebody of `kind`: a person, or a thing, whose name may carry a suffix (`company/Freight`)."""
        name, _, suffix = kind.partition("/")
        return self.person() if name == "person" else self.thing(name, suffix)


def plain_page(rng: SplitMix64, of: Named, *aliases: str) -> Page:
    """An ordinary English page about `of`."""
    words = table("english")["pages"].get(of.kind, table("english")["pages"]["company"])
    return Page(
        of,
        rng.pick(words["summaries"]).format(n=of),
        " ".join(s.format(n=of) for s in rng.sample(words["bodies"], 2)),
        aliases,
    )
