"""The thousand members of the universe, and the large brains in which one of their pages can be lost.

A member belongs to a walk of life; what its page says of others is about members of the same one. Brains are not
stored: whoever needs one makes it from its seed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from brainbench.datasets.core_gen.world import Named, Page, slug_of
from brainbench.datasets.core_words import denied, table
from brainbench.datasets.splitmix import SplitMix64, substream

SEED = 42
KINDS: Mapping[str, int] = {
    "person": 40,
    "company": 20,
    "fund": 6,
    "project": 9,
    "concept": 9,
    "code": 8,
    "place": 4,
    "event": 4,
}
"""How many of each kind one walk of life has in a thousand pages."""
BRAINS: Mapping[str, int] = {"brain-1k": 1_000, "brain-10k": 10_000}
"""The large brains by name, and how many pages each has."""
_FUNDS = ("Fund", "Trust", "Foundation", "Guild", "Council", "Alliance")
_PLACES = ("Hall", "Quay", "Annexe", "Court", "Yard", "House")
_EVENTS = ("Days", "Assembly", "Open", "Gathering", "Week")
_CODE = ("{low}_{word}", "{cap}{Word}", "{low}/{word}_rows.py", "{low}.{word}.total", "{low}-{word}", "{low}_{word}.sh")
_WORDS = ("flush", "gateway", "parser", "handler", "rounding", "backoff", "ledger", "mailer", "sweeper", "resolver")
_MONTHS = (
    "January February March April May June July August September October November December"  # as dates are spoken
).split()
_SPOKEN = tuple(f"{day} {month} {year}" for month in _MONTHS for day in (3, 9, 14, 21, 28) for year in (2024, 2025))
_SUMS = ("240", "1,150", "3,800", "12,000", "65", "480", "27,500", "900", "5,400", "310")


@dataclass(frozen=True, slots=True)
class Member:
    """Somebody or something with a page. `part` is what a person does, in a few words; "" for things."""

    of: Named
    page: Page
    domain: str
    part: str = ""


@cache
def universe() -> tuple[Member, ...]:
    """The members of the universe, walk of life by walk of life."""
    return tuple(_peopled(substream(SEED, "universe"), 1, frozenset()))


@cache
def by_kind() -> Mapping[tuple[str, str], tuple[Member, ...]]:
    """The members of each (walk of life, kind)."""
    found: dict[tuple[str, str], list[Member]] = {}
    for member in universe():
        found.setdefault((member.domain, member.of.kind), []).append(member)
    return {key: tuple(members) for key, members in found.items()}


def brain(name: str, seed: int) -> Iterator[tuple[str, str]]:
    """Slug and content of each page of a large brain. No member of the universe is in it."""
    for member in brain_members(name, seed):
        yield member.of.slug, member.page.markdown()


def brain_members(name: str, seed: int = SEED) -> Iterator[Member]:
    """Everybody and everything with a page in a large brain."""
    taken = frozenset(member.of.slug for member in universe())
    yield from _peopled(substream(seed, "brain", name), BRAINS[name] // 1_000, taken)


def digest(pages: Sequence[tuple[str, str]]) -> str:
    """SHA-256 (hex) over slug and content of each page, each followed by a NUL."""
    hashed = hashlib.sha256()
    for slug, content in pages:
        hashed.update(f"{slug}\0{content}\0".encode())
    return hashed.hexdigest()


def domains() -> list[Mapping[str, Any]]:
    """The walks of life."""
    found: list[Mapping[str, Any]] = table("domains")["domain"]
    return found


@cache
def _syllables(which: str) -> tuple[str, ...]:
    """Every word of a table that is no denied one."""
    parts = table("wide")[which]
    made = (start + end for start in parts["starts"] for end in parts["ends"])
    return tuple(word for word in made if word.lower() not in denied())


def _named(rng: SplitMix64, kind: str, domain: Mapping[str, Any]) -> Named:
    if kind == "person":
        given, family = rng.pick(_syllables("given")), rng.pick(_syllables("family"))
        handle = f"{given[0]}{family}".lower()
        return Named(kind, f"{given} {family}", slug_of(kind, f"{given} {family}"), given, family, handle)
    brand = rng.pick(_syllables("brand"))
    if kind == "code":
        word = rng.pick(_WORDS)
        title = rng.pick(_CODE).format(low=brand.lower(), cap=brand, word=word, Word=word.capitalize())
        return Named(kind, title, slug_of(kind, title), brand)
    title = f"{brand} {rng.pick(_seconds(kind, domain))}".strip()
    return Named(kind, title, slug_of(kind, title), brand, handle=brand.lower())


def _seconds(kind: str, domain: Mapping[str, Any]) -> Sequence[str]:
    """Second words of the names of things. A project may go without."""
    made: Mapping[str, Sequence[str]] = {
        "company": domain["suffixes"],
        "fund": _FUNDS,
        "project": ["", "", *domain["nouns"]],
        "concept": domain["ideas"],
        "place": _PLACES,
        "event": _EVENTS,
    }
    return made[kind]


def _peopled(rng: SplitMix64, rounds: int, taken: frozenset[str]) -> Iterator[Member]:
    """Members of every walk of life, `rounds` times as many as KINDS says, none with a slug of `taken`."""
    used = set(taken)
    for domain in domains():
        named: list[Named] = []
        for kind, count in KINDS.items():
            left = count * rounds
            while left:
                one = _named(rng, kind, domain)
                if one.slug not in used:
                    used.add(one.slug)
                    named.append(one)
                    left -= 1
        yield from _with_pages(rng, domain, named)


def _with_pages(rng: SplitMix64, domain: Mapping[str, Any], named: Sequence[Named]) -> Iterator[Member]:
    others = {kind: [n for n in named if n.kind == kind] for kind in KINDS}
    handles: set[str] = set()
    for one in named:
        said = {
            "n": one,
            "org": rng.pick(others["company"]),
            "peer": _other(rng, others["person"], one),
            "work": _other(rng, others["project"], one),
            "spot": rng.pick(others["place"]),
            "idea": rng.pick(others["concept"]),
            "day": rng.pick(_SPOKEN),
            "sum": rng.pick(_SUMS),
        }
        part = rng.pick(domain["roles"]) if one.kind == "person" else ""
        yield Member(one, _page(rng, one, domain, part, said, handles), domain["name"], part)


def _other(rng: SplitMix64, members: Sequence[Named], than: Named) -> Named:
    at = rng.below(len(members))
    return members[at] if members[at] is not than else members[at - 1]


def _page(
    rng: SplitMix64, one: Named, domain: Mapping[str, Any], part: str, said: Mapping[str, Any], handles: set[str]
) -> Page:
    general: list[str] = table("domains")["general"][one.kind]
    own: list[str] = domain[one.kind] if one.kind in domain else domain["project"]
    if one.kind == "person":
        summary = f"{part[0].upper()}{part[1:]}, works with {said['org']}."
        lines = [*rng.sample(own, 2), *rng.sample(general, 3)]
    elif one.kind == "fund":
        summary = f"Pays for part of {said['work']}."
        lines = rng.sample(general, 3)
    else:
        summary, lines = rng.pick(own), rng.sample(general, 3)
    aliases = (one.handle,) if one.handle and one.handle not in handles and one.kind == "person" else ()
    handles.update(aliases)
    body = " ".join(line.format(**said) for line in lines)
    return Page(one, summary.format(**said), body, aliases)
