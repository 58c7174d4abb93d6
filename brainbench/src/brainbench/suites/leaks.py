"""What crossed from a source that was not asked: pages seeded only there, and texts with a canary planted there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from brainbench.model import Edit, Fixture, Replayed, Resync, Turn, Write
from brainbench.suites.matching import plain
from brainbench.suites.scripts import Scene, texts, turn_observations, unique

_CANARY = re.compile(r"canary:([0-9A-Za-z][0-9A-Za-z_-]*)", re.IGNORECASE)
_TELLING = 6
"""A token of at least this length betrays its source even without the word before it."""


def canaries(text: str) -> tuple[str, ...]:
    """The tokens planted in a text, without the word before them.

    >>> canaries("Kept by canary:4f2a-x alone.")
    ('4f2a-x',)
    """
    return tuple(_CANARY.findall(text))


def is_scoped(fixture: Fixture) -> bool:
    """Whether the script has more than one source, so that something could leak."""
    named = {s.id for s in fixture.sources} | {source for source, _ in _contents(fixture)}
    return len(named | {fixture.active_source}) > 1


def foreign_slugs(fixture: Fixture, source: str, ids: Sequence[str]) -> tuple[str, ...]:
    """The ids that name pages of other sources only."""
    own: set[str] = set()
    other: set[str] = set()
    for event in (*fixture.setup, *fixture.events):
        if isinstance(event, Write) and event.via != "fact" and event.slug is not None:
            (own if (event.source or fixture.active_source) == source else other).add(event.slug)
    return tuple(i for i in unique(ids) if i in other - own)


def turn_leaks(fixture: Fixture, replayed: Replayed, seen: Sequence[Scene]) -> tuple[str, ...]:
    """What leaked on these turns, by item: ids, injected texts and fact rows."""
    if not is_scoped(fixture):
        return ()
    observed = turn_observations(replayed)
    found: list[str] = []
    for scene in seen:
        observation = observed.get(scene.turn.event_id)
        if observation is None:
            continue
        source = scene.turn.source or fixture.active_source
        found += [f"{scene.item}/{slug}" for slug in foreign_slugs(fixture, source, observation.ids)]
        told = (*passed(observation.text), *texts(observation.facts))
        found += [f"{scene.item}/{name}" for name in _betrayed(fixture, source, told)]
    return tuple(found)


def store_leaks(fixture: Fixture, replayed: Replayed) -> tuple[str, ...]:
    """What leaked into the facts of the active source."""
    if not is_scoped(fixture):
        return ()
    names = _betrayed(fixture, fixture.active_source, tuple(texts(replayed.facts)))
    return tuple(f"{fixture.fixture_id}/facts/{name}" for name in names)


def passed(text: str) -> tuple[str, ...]:
    """An injected text as a list of the one text it is, or of none."""
    return (text,) if text.strip() else ()


def _betrayed(fixture: Fixture, source: str, told: Sequence[str]) -> list[str]:
    foreign = _foreign_canaries(fixture, source)
    return [f"text {n}" for n, text in enumerate(told, 1) if _holds(plain(text), foreign)]


def _holds(text: str, tokens: frozenset[str]) -> bool:
    return any(f"canary:{token}" in text or (len(token) >= _TELLING and token in text) for token in tokens)


def _foreign_canaries(fixture: Fixture, source: str) -> frozenset[str]:
    """Tokens planted in other sources that nothing visible here holds as well."""
    foreign, visible = set(), []
    for owner, content in _contents(fixture):
        if owner == source:
            visible.append(plain(content))
        else:
            foreign |= {plain(token) for token in canaries(content)}
    visible += [plain(e.text) for e in fixture.events if isinstance(e, Turn)]
    return frozenset(token for token in foreign if not any(token in text for text in visible))


def _contents(fixture: Fixture) -> Iterator[tuple[str, str]]:
    """Everything written in the script, with the source it went to."""
    for event in (*fixture.setup, *fixture.events):
        source = event.source or fixture.active_source
        match event:
            case Write():
                yield source, event.content
            case Edit():
                yield source, event.content or (event.replace[1] if event.replace else "")
            case Resync():
                yield from ((source, text) for _, text in event.snapshot)
            case _:
                pass
