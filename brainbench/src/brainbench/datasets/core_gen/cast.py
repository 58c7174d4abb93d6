"""Who takes part in a fixture: members of one walk of life who cannot be mistaken for each other, and strangers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from brainbench.datasets.core_gen.script import Script
from brainbench.datasets.core_gen.universe import Member, by_kind, domains
from brainbench.datasets.core_gen.world import Named, Page
from brainbench.datasets.core_words import table
from brainbench.datasets.splitmix import SplitMix64

NOISE = ("person", "company", "person", "project", "person", "concept", "company", "event", "person", "fund", "place")
"""Kinds of the pages that surround those that are asked for."""

_MANY = 24


def lines(key: str) -> list[str]:
    """The sentences kept under `key` for turns."""
    found: list[str] = table("asks")[key]
    return found


class Cast:
    """The members of a fixture. No two share a word of their names, and none of those asked for speaks of another."""

    def __init__(self, script: Script) -> None:
        self._script, self._rng = script, script.rng
        self.domain = self._rng.pick(domains())
        self.seeded: list[Member] = []
        self._words: set[str] = set()
        self._unknown: set[str] = set()
        self._borne_by_nobody: set[str] = set()
        self._asked: list[Member] = []

    @property
    def rng(self) -> SplitMix64:
        """The stream of the fixture."""
        return self._rng

    def member(self, kind: str = "person", short: bool = False, alias: str = "") -> Member:
        """Somebody to be asked for, seeded. With `short` the page also lists first name and handle, or `alias`."""
        one = self.drawn(kind)
        if short:
            one = _short_named(one)
        if alias:
            one = replace(one, page=replace(one.page, aliases=(alias,)))
        self.admit(one)
        return one

    def admit(self, one: Member) -> None:
        """Seed somebody who was drawn and is to be asked for."""
        self._asked.append(one)
        self.seed(one)

    def drawn(self, kind: str) -> Member:
        """Somebody who shares no word with those drawn before, not seeded."""
        names = [self.domain["name"], *(d["name"] for d in domains())]
        for walk in names:
            pool = by_kind()[walk, kind]
            first = self._rng.below(len(pool))
            for candidate in (*pool[first:], *pool[:first]):
                if self._fits(candidate):
                    self._words |= _words(candidate.of)
                    return candidate
        raise ValueError(f"the universe has no {kind} left for this fixture")

    def surround(self, n: int) -> None:
        """Seed about `n` pages that nobody asks for, in a few fixtures many more; with the others three at least.

        Some may speak of those asked for; then they help too.
        """
        most = _MANY if self._rng.below(20) == 0 else max(n, 4 - len(self.seeded))
        for at in range(most):
            pool = by_kind()[self.domain["name"], NOISE[at % len(NOISE)]]
            one = self._rng.pick(pool)
            if one.part in self._borne_by_nobody or _words(one.of) & self._words:
                continue
            if not self._speaks_of_strangers(one):
                self._words |= _words(one.of)
                self.seed(one)

    def borrowed(self, kind: str) -> Page:
        """What a page of this kind may say, for somebody else to bear: it names only others."""
        while True:
            one = self._rng.pick(by_kind()[self.domain["name"], kind])
            if one.of.title not in one.page.summary + one.page.body:
                return one.page

    def seed(self, *members: Member, source: str | None = None) -> None:
        """Put pages there before the first event."""
        self.seeded.extend(members)
        self._script.seed(*(m.page for m in members), source=source)

    def stranger(self, kind: str = "person") -> Named:
        """Somebody of the universe who has no page here: no page here holds any word of the name."""
        while True:
            one = self._rng.pick(by_kind()[self._rng.pick(domains())["name"], kind]).of
            words = _words(one)
            if not words & self._words and not any(w in m.page.markdown() for m in self.seeded for w in words):
                self._words |= words
                self._unknown |= words
                return one

    def helping(self, *wanted: Named) -> list[Named]:
        """The seeded pages, besides those wanted, that speak of one of them by name."""
        rest = [m for m in self.seeded if m.of not in wanted]
        return [m.of for m in rest if any(w.title in m.page.markdown() for w in wanted)]

    def ask(self, template: str, name: str, who: Named, known: bool, part: str = "") -> None:
        """The question `template` with `name` in it; memory is called for when `who` is known."""
        text = template.format(n=name, part=part)
        if known:
            self._script.must(text, [who], self.helping(who), template)
        else:
            self._script.quiet(text, template)

    def reply(self) -> None:
        """Something short from the assistant, on most turns."""
        if self._rng.below(3):
            self._script.reply(self._rng.pick(lines("reply")))

    def templates(self, who: Named) -> Sequence[str]:
        """What can be asked about somebody of this kind."""
        if who.kind == "person":
            return (*lines("person"), *self.domain["ask"])
        return lines("code" if who.kind == "code" else "thing")

    def part_of_nobody(self) -> str:
        """What nobody seeded so far does, nor any page that surrounds them later."""
        taken = {m.part for m in self.seeded}
        parts: list[str] = [part for walk in domains() for part in walk["roles"]]
        drawn = self._rng.pick([part for part in parts if part not in taken])
        self._borne_by_nobody.add(drawn)
        return drawn

    def _speaks_of_strangers(self, one: Member) -> bool:
        text = one.page.markdown()
        return any(word in text for word in self._unknown)

    def _fits(self, one: Member) -> bool:
        if _words(one.of) & self._words or self._speaks_of_strangers(one):
            return False
        text = one.page.markdown()
        return not any(a.of.title in text or one.of.title in a.page.markdown() for a in self._asked)


def _words(of: Named) -> set[str]:
    return {of.given, of.family} - {""}


def _short_named(one: Member) -> Member:
    """The member with a page that lists the first name or first word, and the handle."""
    first = one.of.given.lower()
    return replace(one, page=replace(one.page, aliases=tuple(dict.fromkeys((first, one.of.handle)))))
