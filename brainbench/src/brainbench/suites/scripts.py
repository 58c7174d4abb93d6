"""How a script, its gold and what was seen are read side by side."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from brainbench.model import FactRow, Fixture, Observation, Replayed, SessionBreak, Turn

NOT_OBSERVED = "the event was not observed"


@dataclass(frozen=True, slots=True)
class Scene:
    """A turn in its script: where it stands, which session it is in, and the id that results name it by."""

    turn: Turn
    place: int
    session: int
    fixture_id: str
    item: str


def scenes(fixture: Fixture) -> tuple[Scene, ...]:
    """Every turn of the script, in order. Turns of a v1 fixture are named by the fixture and turn they came from."""
    origins = dict(fixture.origins)
    found, session = [], 0
    for place, event in enumerate(fixture.events):
        if isinstance(event, SessionBreak):
            session += 1
        elif isinstance(event, Turn):
            origin = origins.get(event.event_id)
            owner, number = (origin.fixture_id, origin.turn_id) if origin else (fixture.fixture_id, event.event_id)
            found.append(Scene(event, place, session, owner, f"{owner}/{number}"))
    return tuple(found)


def declares(fixture: Fixture, fixture_id: str, suite: str) -> bool:
    """Whether the suite may judge the events that came from this fixture."""
    if not fixture.declares:
        return suite in fixture.suites
    return suite in dict(fixture.declares).get(fixture_id, ())


def user_scenes(fixture: Fixture, suite: str) -> tuple[Scene, ...]:
    """The user turns on which the suite judges what was pushed: in a pair, the reader's only."""
    found = tuple(s for s in scenes(fixture) if s.turn.role == "user" and declares(fixture, s.fixture_id, suite))
    if len(fixture.declares) < 2:
        return found
    writer = fixture.declares[0][0]
    return tuple(s for s in found if s.fixture_id != writer)


def turn_observations(replayed: Replayed) -> Mapping[int, Observation]:
    """What was seen on each turn; of several sightings of one event the first."""
    return {o.event_id: o for o in reversed(replayed.observations) if o.kind == "turn"}


def session_observations(fixture: Fixture, replayed: Replayed) -> Mapping[int, Observation]:
    """What was seen when each session was written back, by the session's number; an error outweighs a success."""
    found: dict[int, Observation] = {}
    breaks = _breaks(fixture)
    for observation in replayed.observations:
        number = breaks.get(observation.event_id)
        if observation.kind == "persist" and number is not None and (number not in found or observation.error):
            found[number] = observation
    return found


def unreadable(fixture: Fixture, replayed: Replayed) -> str | None:
    """Why the stored facts could not be told at the end: the error of a write-back that closed no session."""
    breaks = _breaks(fixture)
    closing: set[int] = set()
    for observation in replayed.observations:
        if observation.kind != "persist":
            continue
        extra = observation.event_id in closing or observation.event_id not in breaks
        if extra and observation.error is not None:
            return observation.error
        closing.add(observation.event_id)
    return None


def strays(replayed: Replayed, *kinds: str) -> tuple[str, ...]:
    """The events of these kinds that went wrong, as items. Nothing is asked of them, and later turns build on them."""
    wrong = (o.event_id for o in replayed.observations if o.kind in kinds and o.error is not None)
    return tuple(f"{replayed.fixture_id}/{event_id}" for event_id in dict.fromkeys(wrong))


def _breaks(fixture: Fixture) -> Mapping[int, int]:
    """The event that closes each session -> the session's number."""
    breaks = (event.event_id for event in fixture.events if isinstance(event, SessionBreak))
    return {event_id: number for number, event_id in enumerate(breaks)}


def unique(ids: Sequence[str]) -> tuple[str, ...]:
    """The ids in order, without repeats."""
    return tuple(dict.fromkeys(ids))


def texts(rows: Sequence[FactRow]) -> Iterator[str]:
    """The distinct texts of some fact rows, in order."""
    yield from dict.fromkeys(row.text for row in rows)
