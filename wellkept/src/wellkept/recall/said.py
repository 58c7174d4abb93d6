"""What the user said in an earlier conversation and a turn asks for: the statement that holds the turn's telling words.

Two things are judged, as for a page that a turn needs: whether a statement is about what the turn speaks of, and
whether the turn asks. The weights come from sessions and conversations about made-up households, teams and clubs in
many languages. Only what the user said in words of their own is looked at.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from heapq import nlargest
from math import log

import regex  # type: ignore[import-untyped]

from wellkept.model import PageRef, Said, Statement
from wellkept.names import fold, norm
from wellkept.recall.arms import SAID
from wellkept.recall.kin import TELLING, Reading, Term, terms
from wellkept.recall.need import Need, need
from wellkept.recall.render import stored_text
from wellkept.recall.suppress import PRIOR_CHARS
from wellkept.recall.topic import TERMS, TURN_CHARS, Fit, likelihood, names, shows
from wellkept.recall.words import read_sections
from wellkept.storage import Store

LEAST = 0.78
"""How likely it must be that the turn asks for the statement."""
FOLLOWS = 0.3
"""How likely it must be of one that says anew what another said which is."""
MOST_SAID = 2
"""So many statements at most are brought to a turn."""
MOST_HOLDING = 256
"""A word that more statements hold tells none of them from the others."""
READ = 16
"""So many statements at most are read."""
_HELD, _HELD_STRETCH = 0.5, 0.6
_MOST_MASS = 3.0
_LONGEST_BEGINNING = 4
_ANEW = 4
"""So often one thing may be spoken of before it counts as common."""
_FEW = 30
_SHORT = 4
"""In a memory that holds less, a word is not common because another statement has it."""
_COMMON = 0.15

Ours = Callable[[str], bool]
"""Whether a page, by its slug, is of the conversation that a turn belongs to."""

WEIGHTS: Mapping[str, float] = {
    "always": -5.7,
    "mass": 1.96,
    "asks": 2.52,
    "pointed": 0.41,
    "earlier": 1.24,
    "ours": 1.28,
    "mine": 0.63,
    "orders": -0.69,
    "at_large": -1.79,
    "back": -0.58,
    "chat": -1.29,
    "any_one": -0.83,
    "stranger": -2.4,
}

_WORD = regex.compile(r"[\p{L}\p{M}\p{N}]+(?:['’-][\p{L}\p{M}]+)*")
_NUMBER = regex.compile(r"\p{N}+")


@dataclass(frozen=True, slots=True)
class Match:
    """How a statement fits a turn: the terms that it holds, and the evidence that it is asked for."""

    statement: Statement
    held: frozenset[Term]
    mass: float
    evidence: Mapping[str, float]

    @property
    def likely(self) -> float:
        """How likely the turn asks for the statement, from 0 to 1."""
        return likelihood(self.evidence, WEIGHTS)


def said(store: Store, source: str, text: str, *, ours: Ours, prior: str, limit: int = MOST_SAID) -> tuple[Said, ...]:
    """The statements of earlier conversations that a turn asks for, newest first, at most two; mostly none.

    Not those of pages that are `ours`, nor what `prior` shows. Of two about the same the newer takes the place
    of the older.
    """
    shown = need(text) if len(text) <= TURN_CHARS else None
    if shown is None or limit < 1 or likelihood(_evidence(shown, _MOST_MASS, any_one=False), WEIGHTS) < LEAST:
        return ()
    found = matches(store, source, text, shown, ours=ours, prior=prior)
    if not found or found[0].likely < LEAST:
        return ()
    return tuple(_said(match) for match in _newest(found, min(limit, MOST_SAID)))


def matches(
    store: Store, source: str, text: str, shown: Need, *, ours: Ours, prior: str, least: float = FOLLOWS
) -> tuple[Match, ...]:
    """The statements that share telling words with a turn, those most likely asked for first; none below `least`."""
    asked = _Asked.of(store, source, text)
    fresh = _fresh(store.statements(source, asked.best()), ours, prior)
    found = [_match(statement, asked, shown) for statement in fresh]
    likely = [match for match in found if match.held and match.likely >= least and tells(match.statement.text)]
    return tuple(sorted((_met(match, text) for match in likely), key=lambda one: (-one.likely, -one.statement.number)))


@dataclass(frozen=True, slots=True)
class _Asked:
    """The terms of a turn, each with the newest statements that may hold it and the word that leads to it, and how many
    statements there are.
    """

    holding: Mapping[Term, frozenset[int]]
    led_by: Mapping[Term, str]
    statements: int

    @classmethod
    def of(cls, store: Store, source: str, text: str) -> _Asked:
        """What the turn `text` asks of a source."""
        asked = terms(text)[:TERMS]
        openings = {term: _beginnings_of(term) for term in asked}
        wanted = dict.fromkeys(part for parts in openings.values() for part in parts)
        known = store.find_statements(source, wanted, MOST_HOLDING)
        holding = {
            term: frozenset().union(*(known.holding.get(part, frozenset()) for part in parts))
            for term, parts in openings.items()
        }
        return cls(holding, _led_by(text, asked), known.statements)

    def best(self) -> Sequence[int]:
        """The statements that hold the most and the rarest terms, the newest of equal ones first."""
        rough: dict[int, float] = defaultdict(float)
        common: list[tuple[float, frozenset[int]]] = []
        for term, numbers in self.holding.items():
            weight = term.weight * _rarity(len(numbers), self.statements)
            if len(numbers) >= MOST_HOLDING:
                common.append((weight, numbers))
                continue
            for number in numbers:
                rough[number] += weight
        # Where enough hold more than all common words together count, only those of them matter that are among these.
        most = sum(weight for weight, _ in common)
        enough = sum(held > most for held in rough.values()) >= READ
        for weight, numbers in common:
            for number in numbers.intersection(rough) if enough else numbers:
                rough[number] += weight
        return [number for _, number in nlargest(READ, zip(rough.values(), rough, strict=True))]

    def rarity(self, held: Iterable[Term]) -> Mapping[Term, float]:
        """How telling each of the terms is where a statement holds them all: few may hold what many hold one of."""
        each = {term: _rarity(len(self.holding[term]), self.statements) for term in held}
        together = frozenset.intersection(*(self.holding[term] for term in each)) if len(each) > 1 else ()
        least = _rarity(len(together), self.statements) if together else 0.0
        return {term: max(rarity, least) for term, rarity in each.items()}


def _rarity(holding: int, statements: int) -> float:
    """How telling a word is that so many statements hold: 1 for one of them or none, towards 0 for all."""
    if holding >= MOST_HOLDING:
        return _COMMON
    size = max(statements, holding) + _FEW
    return log(size / max(1.0, holding / _ANEW)) / log(size)


def _fresh(statements: Iterable[Statement], ours: Ours, prior: str) -> Iterable[Statement]:
    """Those of other conversations that are not shown yet; of equal ones the newest."""
    seen = prior[-PRIOR_CHARS:]
    once: dict[str, Statement] = {}
    for one in statements:
        if ours(one.slug) or (seen and stored_text(one.text, one.trust) in seen):
            continue
        key = norm(one.text)
        if key not in once or _age(one) > _age(once[key]):
            once[key] = one
    return once.values()


def _beginnings_of(term: Term) -> tuple[str, ...]:
    """What other forms of a term begin with too; a short one may be a plural."""
    short = len(term.key) == _SHORT and term.key.isascii() and term.key.endswith("s")
    return (term.key[:-1],) if short else term.beginnings()


def _led_by(text: str, asked: Iterable[Term]) -> Mapping[Term, str]:
    """The word before each term of a turn, or before the terms that it stands among: an article, where there is one."""
    spoken = [match[0].replace("’", "'") for match in _WORD.finditer(fold(text))]
    places: dict[int, Term] = {}
    for term in asked:
        at = next((at for at, word in enumerate(spoken) if word.startswith(term.key)), None)
        if at is not None and not term.glued:
            places[at] = term
    led_by: dict[Term, str] = {}
    for at, term in places.items():
        first = at
        while first - 1 in places:
            first -= 1
        led_by[term] = spoken[first - 1] if first else ""
    return led_by


def _match(statement: Statement, asked: _Asked, shown: Need) -> Match:
    reading = Reading((statement.text,))
    alike = {term: reading.matches(term)[0] for term in asked.holding}
    held = frozenset(term for term, surely in alike.items() if surely >= (_HELD_STRETCH if term.glued else _HELD))
    if sum(term.weight for term in held) < TELLING:
        held = frozenset()
    rarity = asked.rarity(held)
    mass = sum(term.weight * term.words * rarity[term] * alike[term] for term in held)
    any_one = not _phrases("indefinite").isdisjoint(asked.led_by.get(term, "") for term in held)
    return Match(statement, held, mass, _evidence(shown, mass, any_one))


def _met(match: Match, text: str) -> Match:
    """The match with what the names in the turn say: one that the statement does not hold is another's."""
    one = match.statement
    page = PageRef(one.source, one.slug, "", "", "", one.text, one.trust)
    stranger = names(Fit(page, match.mass, match.mass, len(match.held)), text) == "stranger"
    return replace(match, evidence={**match.evidence, "stranger": float(stranger)})


def _evidence(shown: Need, mass: float, any_one: bool) -> Mapping[str, float]:
    return {
        "always": 1.0,
        "mass": min(mass, _MOST_MASS),
        **shows(shown),
        "any_one": float(any_one),
        "stranger": 0.0,
    }


def _newest(found: Sequence[Match], limit: int) -> Sequence[Match]:
    """The statements to bring, newest first.

    The best one, or what was said later in its place; beside it what was said later of a change, else the next likely
    one that holds more of the turn's words.
    """
    best = found[0]
    again = [match for match in found if match.likely >= FOLLOWS and _when(match) > _when(best)]
    chosen = max((match for match in again if _replaces(match, best)), key=_when, default=best)
    changes = [match for match in again if match is not chosen and match.held & best.held and _says_change(match)]
    more = [
        match
        for match in found
        if match.likely >= LEAST and match.held - chosen.held and match is not best and not _replaces(chosen, match)
    ]
    return sorted([chosen, *(changes or more)[: limit - 1]], key=_when, reverse=True)


def _replaces(new: Match, old: Match) -> bool:
    """Whether one statement tells anew what an older one tells: all that was asked of it, or a number in its place."""
    if _when(new) <= _when(old):
        return False
    if new.held >= old.held:
        return True
    return bool(new.held & old.held) and _says_change(new) and _numbers(new) == _numbers(old) != []


def _numbers(match: Match) -> list[int]:
    """How long the numbers of a statement are."""
    return [len(number) for number in _NUMBER.findall(match.statement.text)]


def _when(match: Match) -> tuple[float, int]:
    return _age(match.statement), match.statement.number


def _age(statement: Statement) -> float:
    return statement.at.timestamp() if statement.at else 0.0


def _said(match: Match) -> Said:
    one = match.statement
    words = tuple(term.key for term in match.held)
    return Said(
        text=one.text,
        slug=one.slug,
        at=one.at,
        trust=one.trust,
        arm=SAID,
        confidence=round(match.likely, 2),
        words=tuple(sorted(words)),
        source=one.source,
        content_origin=one.content_origin,
        flags=one.flags,
    )


def tells(sentence: str) -> bool:
    """Whether a sentence tells something: it is no order, no wish and no thanks, unless it gives a rule.

    >>> tells("Restart the worker."), tells("Never restart the worker on Fridays."), tells("The worker restarts at 9.")
    (False, True, True)
    """
    key = norm(sentence)
    if any(part in key for part in _phrases("begins-within")) or key.startswith(tuple(_phrases("begins-unspaced"))):
        return False
    spoken = [match[0].replace("’", "'") for match in _WORD.finditer(key)]
    opening = (" ".join(spoken[:size]) for size in range(1, _LONGEST_BEGINNING + 1))
    return _beginnings().isdisjoint(opening) or any(
        f" {one} " in f" {' '.join(spoken)} " for one in _phrases("standing")
    )


def _says_change(match: Match) -> bool:
    key = norm(match.statement.text)
    words = {match[0] for match in _WORD.finditer(key)}
    return not words.isdisjoint(_phrases("changed")) or any(part in key for part in _phrases("changed-within"))


@cache
def _phrases(section: str) -> frozenset[str]:
    return frozenset(word.replace("_", " ") for word in read_sections("said.txt")[section])


@cache
def _beginnings() -> frozenset[str]:
    sections = [name for name in read_sections("said.txt") if name.startswith("begins.")]
    return frozenset().union(*map(_phrases, sections))
