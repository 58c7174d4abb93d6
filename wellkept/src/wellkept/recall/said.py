"""What the user said in an earlier conversation and a turn asks for: the statement that holds the turn's telling words.

Two things are judged, as for a page that a turn needs: whether a statement is about what the turn speaks of, and
whether the turn asks. A statement is short, so that it must hold most of what the turn asks about, and none of the
words by which other statements differ from it. Only what the user said in words of their own is looked at.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import log

import regex  # type: ignore[import-untyped]

from wellkept.model import PageRef, Said, Statement
from wellkept.names import norm
from wellkept.recall.arms import SAID
from wellkept.recall.kin import TELLING, Reading, Term, terms
from wellkept.recall.need import Need, need
from wellkept.recall.render import stored_text
from wellkept.recall.suppress import PRIOR_CHARS
from wellkept.recall.topic import TERMS, TURN_CHARS, Fit, likelihood, names, shows
from wellkept.recall.words import read_sections
from wellkept.storage import Store

LEAST = 0.75
"""How likely it must be that the turn asks for the statement."""
FOLLOWS = 0.3
"""How likely it must be of one that says anew what another said which is."""
MOST_SAID = 2
"""So many statements at most are brought to a turn."""
MOST_HOLDING = 256
"""A word that more statements hold tells none of them from the others."""
_READ = 24
_HELD = 0.5
_MOST_MASS = 3.0
_FEW = 30
"""In a memory that holds less, a word is not common because another statement has it."""
_COMMON = 0.15

WEIGHTS: Mapping[str, float] = {
    "always": -6.4,
    "mass": 0.75,
    "covered": 3.25,
    "elsewhere": -2.29,
    "two": 1.33,
    "three": 0.0,
    "asks": 2.16,
    "pointed": 0.71,
    "earlier": 1.81,
    "ours": 2.15,
    "mine": 0.82,
    "orders": -0.94,
    "at_large": -1.47,
    "back": -0.56,
    "chat": -1.3,
    "stranger": -3.0,
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


def said(
    store: Store, source: str, text: str, *, session: str | None, prior: str, limit: int = MOST_SAID
) -> tuple[Said, ...]:
    """The statements of earlier conversations that a turn asks for, newest first, at most two; mostly none.

    Not those of the conversation `session`, nor what `prior` shows. Of two about the same the newer takes the place
    of the older.
    """
    shown = need(text) if len(text) <= TURN_CHARS else None
    if shown is None or limit < 1 or likelihood(_at_best(shown), WEIGHTS) < LEAST:
        return ()
    found = matches(store, source, text, shown, session, prior)
    if not found or found[0].likely < LEAST:
        return ()
    return tuple(_said(match) for match in _newest(found, min(limit, MOST_SAID)))


def matches(store: Store, source: str, text: str, shown: Need, session: str | None, prior: str) -> tuple[Match, ...]:
    """The statements that share telling words with a turn, those most likely asked for first."""
    asked = terms(text)[:TERMS]
    if not asked:
        return ()
    openings = {term: term.beginnings() for term in asked}
    known = store.find_statements(source, dict.fromkeys(b for parts in openings.values() for b in parts), MOST_HOLDING)
    holding = {
        term: frozenset().union(*(known.holding.get(part, frozenset()) for part in parts))
        for term, parts in openings.items()
    }
    rarity = {term: _rarity(len(numbers), known.statements) for term, numbers in holding.items()}
    rough: dict[int, float] = defaultdict(float)
    for term, numbers in holding.items():
        for number in numbers:
            rough[number] += term.weight * rarity[term]
    best = sorted(rough, key=lambda number: (-rough[number], -number))[:_READ]
    fresh = _fresh(store.statements(source, best), session, prior)
    weights = {term: term.weight * term.words * rarity[term] for term in asked}
    known_terms = {term for term, numbers in holding.items() if numbers}
    found = [_match(statement, text, weights, known_terms, shown) for statement in fresh]
    found.sort(key=lambda match: (-match.likely, -match.statement.number))
    return tuple(match for match in found if match.held and tells(match.statement.text))


def _rarity(holding: int, statements: int) -> float:
    """How telling a word is that so many statements hold: 1 for one of them or none, towards 0 for all."""
    if holding >= MOST_HOLDING:
        return _COMMON
    size = max(statements, holding) + _FEW
    return log(size / max(1, holding)) / log(size)


def _fresh(statements: Iterable[Statement], session: str | None, prior: str) -> Iterable[Statement]:
    """Those of other conversations that are not shown yet; of equal ones the newest."""
    ours = _pages_of(session) if session else None
    seen = prior[-PRIOR_CHARS:]
    once: dict[str, Statement] = {}
    for one in statements:
        if ours is not None and ours.fullmatch(one.slug):
            continue
        if stored_text(one.text, one.trust) in seen:
            continue
        key = norm(one.text)
        if key not in once or _age(one) > _age(once[key]):
            once[key] = one
    return once.values()


def _pages_of(session: str) -> regex.Pattern[str]:
    """The pages of a session: the one named so, and those of its further parts."""
    stem = regex.escape(regex.sub(r"-[0-9a-f]{20}$", "", session)[:50])
    return regex.compile(rf"conversations/(?:{regex.escape(session)}|{stem}[a-z0-9-]*part-\d+-[0-9a-f]{{20}})")


def _match(
    statement: Statement, text: str, weights: Mapping[Term, float], known: Collection[Term], shown: Need
) -> Match:
    reading = Reading((statement.text,))
    alike = {term: reading.matches(term)[0] for term in weights}
    held = frozenset(term for term, surely in alike.items() if surely >= _HELD)
    mass = sum(weights[term] * surely for term, surely in alike.items())
    whole = sum(weights.values())
    missing = [term for term in weights if term not in held]
    elsewhere = sum(weights[term] for term in missing if term in known)
    telling = sum(1 for term in held if term.weight >= TELLING and weights[term] > _COMMON)
    page = PageRef(statement.source, statement.slug, "", "", "", statement.text, statement.trust)
    stranger = bool(held) and names(Fit(page, mass, mass, telling), text) == "stranger"
    evidence = _evidence(shown, mass, mass / whole if whole else 0.0, elsewhere, telling, stranger)
    enough = sum(term.weight for term in held) >= TELLING
    return Match(statement, held if enough else frozenset(), mass, evidence)


def _evidence(
    shown: Need, mass: float, covered: float, elsewhere: float, telling: int, stranger: bool
) -> Mapping[str, float]:
    return {
        "always": 1.0,
        "mass": min(mass, _MOST_MASS),
        "covered": covered,
        "elsewhere": min(elsewhere, 2.0),
        "two": float(telling >= 2),
        "three": float(telling >= 3),
        **shows(shown),
        "stranger": float(stranger),
    }


def _at_best(shown: Need) -> Mapping[str, float]:
    """The evidence if some statement fitted as well as any can: most turns need no look into the store."""
    return _evidence(shown, _MOST_MASS, 1.0, 0.0, 3, False)


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
    return Said(one.text, one.slug, one.at, one.trust, SAID, round(match.likely, 2), tuple(sorted(words)), one.source)


def tells(sentence: str) -> bool:
    """Whether a sentence tells something: it is no order, no wish and no thanks, unless it gives a rule."""
    key = norm(sentence)
    spoken = [match[0].replace("’", "'") for match in _WORD.finditer(key)]
    if any(ending in key for ending in _phrases("begins-within")):
        return False
    joined = " ".join(spoken) + " "
    begins = any(joined.startswith(f"{phrase} ") for phrase in _beginnings())
    return not begins or any(f" {word} " in f" {joined}" for word in _phrases("standing"))


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
