"""Turns among pages that are easily confused: in a large brain, or beside names that are almost the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from brainbench.datasets.core_gen.cast import Cast, lines
from brainbench.datasets.core_gen.script import Script
from brainbench.datasets.core_gen.universe import BRAINS, SEED, Member, brain_members, universe
from brainbench.datasets.core_gen.world import Named, slug_of
from brainbench.datasets.splitmix import substream

_BRAINS = tuple(BRAINS)
_UNSURE = "if I read"
"""What a question says that doubts its own spelling: a name one letter off might then be the known one."""


def distractor(script: Script) -> None:
    """The same conversation twice, in a brain of a thousand pages and in one of ten thousand.

    Some are named by surname and what they do, where others share the surname; strangers are made of the first name
    of one and the surname of another.
    """
    script.universe = _BRAINS[script.index % 2]
    script.group = f"distractor-{script.index // 2:03d}"
    script.rng = substream(SEED, "distractor", "pair", script.index // 2)
    rng, cast = script.rng, Cast(script)
    first, second, third = (cast.member() for _ in range(3))
    thing = cast.drawn(kind := rng.pick(("company", "project", "fund", "event")))
    while thing.of.given in _bare():
        thing = cast.drawn(kind)
    cast.admit(thing)
    cast.surround(rng.between(1, 6))
    by_part = rng.sample(lines("by_part"), 3)
    turns: list[tuple[str, str, Named, bool, str]] = [
        (rng.pick(cast.templates(first.of)), first.of.title, first.of, True, ""),
        (rng.pick(cast.templates(thing.of)), thing.of.title, thing.of, True, ""),
    ]
    if (second.of.family, second.part) not in _parts():
        turns.append((by_part[0], second.of.family, second.of, True, second.part))
        stranger, part = cast.stranger(), cast.part_of_nobody()
        while _is_borne_once(stranger.family):
            stranger = cast.stranger()
        while _is_like_a_part(stranger.family, part):
            part = cast.part_of_nobody()
        turns.append((by_part[0], stranger.family, stranger, False, part))
    crossed = _crossed(first.of, third.of)
    if crossed.slug not in _slugs():
        turns.append((turns[0][0], crossed.title, crossed, False, ""))
    unknown = cast.stranger(kind)
    while unknown.given in _bare():
        unknown = cast.stranger(kind)
    turns.append((rng.pick(cast.templates(unknown)), unknown.title, unknown, False, ""))
    rng.shuffle(turns)
    for template, name, who, is_known, part in turns:
        cast.ask(template, name, who, is_known, part)
        cast.reply()


@cache
def _hidden() -> tuple[Member, ...]:
    """Everybody and everything with a page in a large brain."""
    return tuple(member for name in _BRAINS for member in brain_members(name))


@cache
def _slugs() -> frozenset[str]:
    """Whatever has a page somewhere."""
    return frozenset(member.of.slug for member in (*_hidden(), *universe()))


@cache
def _parts() -> frozenset[tuple[str, str]]:
    """Surname and part of everybody in a large brain."""
    return frozenset((member.of.family, member.part) for member in _hidden())


def _is_like_a_part(family: str, part: str) -> bool:
    """Whether somebody of this surname in a large brain has a part that shares a word with this one."""
    words = set(part.casefold().split())
    return any(words & set(theirs.casefold().split()) for surname, theirs in _parts() if surname == family)


@cache
def _bare() -> frozenset[str]:
    """The one-word titles of a large brain: one of them might be meant by whoever writes it with another word."""
    return frozenset(member.of.title for member in _hidden() if member.of.title == member.of.given)


@cache
def _bearers() -> Mapping[str, Counter[str]]:
    """How many bear each surname, brain by brain."""
    return {name: Counter(member.of.family for member in brain_members(name)) for name in _BRAINS}


def _is_borne_once(family: str) -> bool:
    """Whether a brain knows exactly one of that surname, who might be meant although the part is another's."""
    return any(bearers[family] == 1 for bearers in _bearers().values())


def _crossed(first: Named, second: Named) -> Named:
    """A stranger with the first name of one person and the last name of another."""
    title = f"{first.given} {second.family}"
    return Named("person", title, slug_of("person", title), first.given, second.family)


def near_duplicate(script: Script) -> None:
    """Relatives with one surname, firms with one nickname; on hard surnames that need the part, and one letter off."""
    rng, cast = script.rng, Cast(script)
    head = cast.member()
    relative = _relative(cast, head)
    firms = _nicknamed(cast)
    turns: list[tuple[str, str, Named, bool, str]] = []
    asked = rng.sample(cast.templates(head.of), 2)
    stranger = cast.stranger()
    nobody = Named("person", f"{stranger.given} {head.of.family}", "people/nobody", stranger.given, head.of.family)
    turns += [(asked[0], relative.of.title, relative.of, True, ""), (asked[1], nobody.title, nobody, False, "")]
    other = cast.stranger("company")
    about = rng.sample(lines("thing"), 2)
    turns += [(about[0], firms[0].of.title, firms[0].of, True, ""), (about[1], other.title, other, False, "")]
    if script.stratum == "hard":
        turns += _hard_turns(cast, head)
    cast.surround(rng.between(1, 5))
    rng.shuffle(turns)
    for template, name, who, is_known, part in turns:
        cast.ask(template, name, who, is_known, part)
        cast.reply()


def _hard_turns(cast: Cast, head: Member) -> list[tuple[str, str, Named, bool, str]]:
    """A shared surname with what one of its bearers does, and a near name with what no bearer does."""
    rng = cast.rng
    by_part = next(line for line in rng.sample(lines("by_part"), 2) if _UNSURE not in line)
    off = _one_letter_off(head.of)
    return [
        (by_part, head.of.family, head.of, True, head.part),
        (by_part, off.title, off, False, cast.part_of_nobody()),
    ]


def _relative(cast: Cast, of: Member) -> Member:
    """Somebody else with the surname of `of` and another part, seeded."""
    while True:
        drawn = cast.drawn("person")
        title = f"{drawn.of.given} {of.of.family}"
        if drawn.part != of.part and drawn.of.given != of.of.given and drawn.of.title not in drawn.page.body:
            named = Named("person", title, slug_of("person", title), drawn.of.given, of.of.family)
            made = replace(drawn, of=named, page=replace(drawn.page, of=named, aliases=()))
            cast.seed(made)
            return made


def _nicknamed(cast: Cast) -> tuple[Member, Member]:
    """Two firms that go by one nickname."""
    nickname = cast.rng.pick(lines("nicknames"))
    return cast.member("company", alias=nickname), cast.member("company", alias=nickname)


def _one_letter_off(of: Named) -> Named:
    """Somebody whose surname ends in another letter than that of `of`."""
    endings = "ao" if of.family[-1] in "aeiou" else "nsl"
    family = of.family[:-1] + next(c for c in endings if c != of.family[-1])
    return Named("person", f"{of.given} {family}", slug_of("person", f"{of.given} {family}"), of.given, family)
