"""The page that a turn needs although it names none: by the words they share, and by what the turn asks.

Two things are judged apart. The first is which page the turn speaks of: the one that shares the most telling words
with it, in whatever form. The second is whether it wants anything of it: people mostly speak of what they know, and
ask about things at large. The weights come from conversations about made-up households and teams in many languages.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import exp, log
from typing import Literal

import regex  # type: ignore[import-untyped]

from wellkept.model import PageRef, Trust
from wellkept.names import norm
from wellkept.recall.candidates import seen
from wellkept.recall.kin import TELLING, Reading, Term, is_slip, terms
from wellkept.recall.need import Need, need
from wellkept.recall.spoken import SHORT, spoken
from wellkept.recall.words import Speech
from wellkept.storage import Store

LOG = logging.getLogger(__name__)

LEAST = 0.9
"""How likely it must be that the turn needs the page."""
MOST_FACTS = 40
"""Of the facts about a page the newest so many are read."""
TURN_CHARS = SHORT
"""What is longer without what was pasted says too many things at once."""
MOST_PAGES = 64
"""A word that more pages hold tells none of them from the others."""
TERMS = 24
"""Words of a turn that are looked up."""
_READ = 5
_HELD = 0.5
_MOST_MASS = 3.0
_AGREEING = 2

WEIGHTS: Mapping[str, float] = {
    "always": -4.13,
    "mass": 0.7,
    "local": 0.22,
    "margin": 0.1,
    "two": 0.36,
    "three": 0.47,
    "asks": 1.32,
    "pointed": 0.57,
    "earlier": 0.45,
    "ours": 2.09,
    "mine": 1.05,
    "orders": -0.7,
    "at_large": -0.84,
    "back": -1.36,
    "stranger": -3.69,
    "slip": 0.23,
    "chat": -1.25,
    "asks_local": 0.83,
}

_SENTENCE_END = regex.compile(r"(?<=[.!?。！？؟])\s+|\n+")


@dataclass(frozen=True, slots=True)
class Topic:
    """The page that fits a turn best, and how likely the turn needs it."""

    page: PageRef
    likely: float


@dataclass(frozen=True, slots=True)
class Fit:
    """How a page fits a turn: the weight of the words that they share, of those among them that stand in its title, its
    summary or one and the same sentence, and how many telling ones they are. A fact about it counts as a sentence.
    """

    page: PageRef
    mass: float
    local: float
    words: int
    facts: tuple[str, ...] = ()

    @property
    def strength(self) -> float:
        """By which pages are compared."""
        return (self.mass + self.local) / 2


ANY = PageRef("", "", "", "", "", "", Trust.USER_WRITTEN)
"""Stands for whichever page fits."""


def topic(store: Store, source: str, text: str) -> Topic | None:
    """The live page that a turn which names none speaks of, with how likely it needs it; None where there is none."""
    text = spoken(text)
    shown = need(text) if len(text) <= TURN_CHARS else None
    if shown is None or likelihood(_at_best(shown)) < LEAST:
        return None
    fits = fit(store, source, terms(text)[:TERMS])
    if not fits:
        return None
    return Topic(fits[0].page, likelihood(evidence(fits, shown, names(fits[0], text))))


def _at_best(shown: Need) -> Mapping[str, float]:
    """The evidence if some page fitted as well as any can: most turns need no look into the store to be silent."""
    return evidence([Fit(ANY, _MOST_MASS, _MOST_MASS, 3)], shown, "slip")


def fit(store: Store, source: str, asked: Sequence[Term], also: Sequence[str] = ()) -> tuple[Fit, ...]:
    """The pages that share words with a turn, best first, and those of `also` whether they do or not."""
    if not asked and not also:
        return ()
    openings = {term: term.beginnings() for term in asked}
    known = store.find_beginnings(source, dict.fromkeys(b for parts in openings.values() for b in parts), MOST_PAGES)
    holding = {
        term: frozenset().union(*(known.holding.get(part, ()) for part in parts)) for term, parts in openings.items()
    }
    rarity = _Rarity(known.pages)
    rough: dict[str, float] = defaultdict(float)
    for term, slugs in holding.items():
        for slug in slugs:
            rough[slug] += term.weight * rarity.of(len(slugs))
    refs = _refs(store, source, sorted(rough, key=lambda slug: (-rough[slug], slug)), also)
    facts = {page.slug: store.told_of(source, page.slug, MOST_FACTS) for page in refs}
    readings = [(page, reading(page.title, page.summary, page.body_start, facts[page.slug])) for page in refs]
    matches = {page.slug: {term: read.matches(term) for term in asked} for page, read in readings}
    weights = {term: _weighed(term, holding[term], matches, rarity) for term in asked}
    fits = [replace(_fit(page, matches[page.slug], weights), facts=facts[page.slug]) for page in refs]
    wanted = (one for one in fits if one.mass > 0 or one.page.slug in also)
    return tuple(sorted(wanted, key=lambda one: (-one.strength, one.page.slug)))


def _refs(store: Store, source: str, best: Sequence[str], also: Sequence[str]) -> list[PageRef]:
    """The first of the best pages that may be brought, and those of `also`; what came from outside may not be."""
    found: dict[str, PageRef] = {}
    for start in range(0, max(1, len(best)), _READ):
        asked = (*best[start : start + _READ], *(also if start == 0 else ()))
        found |= {page.slug: page for page in store.page_refs(source, asked) if page.trust > Trust.EXTERNAL_UNTRUSTED}
        if sum(slug in found for slug in best) >= min(_READ, len(best)):
            break
    return [found[slug] for slug in sorted(found)]


@dataclass(frozen=True, slots=True)
class _Rarity:
    """How telling a word is that so many of the pages hold: 1 for one page, towards 0 for all of them."""

    pages: int

    def of(self, holding: int) -> float:
        if holding >= MOST_PAGES:
            return 0.0
        return self._idf(max(1, holding)) / self._idf(1)

    def _idf(self, holding: int) -> float:
        pages = max(self.pages, holding)
        return log(1 + (pages - holding + 0.5) / (holding + 0.5))


def _weighed(
    term: Term, holding: frozenset[str], matches: Mapping[str, Mapping[Term, Sequence[float]]], rarity: _Rarity
) -> float:
    """What it says that a page holds the term: what begins alike on a page that was read may be another word."""
    refuted = sum(1 for slug in holding if slug in matches and max(matches[slug][term], default=0) < _HELD)
    return term.weight * term.words * rarity.of(len(holding) - refuted)


def _fit(page: PageRef, found: Mapping[Term, Sequence[float]], weights: Mapping[Term, float]) -> Fit:
    best = {term: max(held, default=0.0) for term, held in found.items()}
    mass = sum(weights[term] * best[term] for term in best)
    heads = {term: max(held[:2], default=0.0) for term, held in found.items()}
    # A sentence that holds no term says what the title and the summary say: those are looked at once.
    holding = {0, *(at for held in found.values() for at, surely in enumerate(held) if surely)}
    local = max(sum(weights[term] * max(heads[term], held[at]) for term, held in found.items()) for at in holding)
    telling = sum(1 for term, held in best.items() if held >= _HELD and term.weight >= TELLING)
    return Fit(page, mass, local, telling)


@lru_cache(maxsize=512)
def reading(title: str, summary: str, body: str, facts: tuple[str, ...] = ()) -> Reading:
    """The words of a page's title, its summary, each sentence that follows and each fact about it."""
    return Reading((title, summary, *(part for part in _SENTENCE_END.split(body) if part.strip()), *facts))


def evidence(fits: Sequence[Fit], shown: Need, named: Names) -> Mapping[str, float]:
    """What speaks for and against a need, by the names of the weights."""
    first = fits[0]
    second = fits[1].strength if len(fits) > 1 else 0.0
    local = min(first.local, _MOST_MASS)
    return {
        "always": 1.0,
        "mass": min(first.mass, _MOST_MASS),
        "local": local,
        "margin": min(first.strength - second, 2.0),
        "two": float(first.words >= 2),
        "three": float(first.words >= 3),
        **shows(shown),
        "stranger": float(named == "stranger"),
        "slip": float(named == "slip"),
        "asks_local": shown.asks * min(local, 2.0),
    }


def shows(shown: Need) -> Mapping[str, float]:
    """What the words of a turn show, as evidence."""
    return {
        "asks": float(shown.asks),
        "pointed": float(shown.pointed),
        "earlier": float(shown.earlier),
        "ours": float(shown.ours),
        "mine": float(shown.mine),
        "orders": float(shown.orders),
        "at_large": float(shown.at_large),
        "back": float(shown.back),
        "chat": float(shown.chat),
    }


Names = Literal["known", "slip", "stranger"]


def names(fitting: Fit, text: str) -> Names:
    """Whether the turn has a name, by the look of it, of which page and facts say nothing: a stranger's.

    A name that is the page's title but for a slip of the keys is a slip if two more words agree with the page. Where
    nouns have capitals, only two words together look like a name.
    """
    page = fitting.page
    named = [one for one in seen(text).found if not one.weak and one.shape in ("name", "handle", "code")]
    if not named:
        return "known"
    read = reading(page.title, page.summary, page.body_start, fitting.facts)
    nouns = Speech(norm(text).split()).speaks("de")
    found: Names = "known"
    for sighting in named:
        parts = terms(sighting.display)
        held = [read.names(part) for part in parts]
        if sighting.shape != "name":
            unknown = bool(parts) and not read.says(sighting.display)
        elif nouns:
            unknown = len(parts) > 1 and not any(held)
        else:
            unknown = not all(held)
        if unknown and is_slip(sighting.display, page.title) and _agrees(read, text, sighting.display):
            return "slip"
        if unknown:
            found = "stranger"
    return found


def _agrees(read: Reading, text: str, name: str) -> bool:
    """Whether two telling words besides the name stand in the page's title, its summary or one sentence of it."""
    named = {part.key for part in terms(name)}
    others = [read.matches(term) for term in terms(text) if term.key not in named and term.weight >= TELLING]
    sentences = zip(*others, strict=True)
    return any(sum(held >= _HELD for held in sentence) >= _AGREEING for sentence in sentences)


def likelihood(found: Mapping[str, float], weights: Mapping[str, float] = WEIGHTS) -> float:
    """How likely a turn with this evidence needs the page, from 0 to 1."""
    return 1 / (1 + exp(-sum(weights[name] * value for name, value in found.items())))
