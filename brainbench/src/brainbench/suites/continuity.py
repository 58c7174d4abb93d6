"""Continuity: can a later session use what an earlier one decided?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from brainbench.gold import Gold, Probe
from brainbench.metrics import Judged, JudgedProbe
from brainbench.model import Capability, Fixture, Observation, Replayed, SeamConfig, SessionBreak
from brainbench.suites.cell import Suite, Tally
from brainbench.suites.leaks import is_scoped, turn_leaks
from brainbench.suites.matching import is_pointer, passages, states
from brainbench.suites.scripts import (
    NOT_OBSERVED,
    Scene,
    declares,
    scenes,
    session_observations,
    strays,
    texts,
    turn_observations,
    unique,
)
from brainbench.suites.telling import pages_of, told
from brainbench.suites.turns import DELIVERS

NAME = "continuity"


def _asked(fixture: Fixture, gold: Gold) -> list[tuple[Probe, Scene]]:
    """Each probe with the turn after which it is asked; a probe after no turn is asked after the one before."""
    places = {event.event_id: place for place, event in enumerate(fixture.events)}
    said = scenes(fixture)
    found = []
    for probe in gold.probes:
        place = places.get(probe.after_event, len(fixture.events))
        before = [s for s in said if s.place <= place and s.turn.role == "user"]
        if before and declares(fixture, before[-1].fixture_id, NAME):
            found.append((probe, before[-1]))
    return found


def _asks(fixture: Fixture, gold: Gold) -> tuple[str, ...]:
    return unique([scene.fixture_id for _, scene in _asked(fixture, gold)])


def _judge(fixture: Fixture, gold: Gold, replayed: Replayed, seam: SeamConfig) -> Judged:
    said = scenes(fixture)
    observed = turn_observations(replayed)
    lost = _lost_sessions(fixture, replayed)
    pages = pages_of(fixture, replayed)
    probes: list[JudgedProbe] = []
    leaks: list[str] = []
    for probe, scene in _asked(fixture, gold):
        turns = [s for s in said if s.session == scene.session and s.turn.role == "user" and s.place <= scene.place]
        seen = [observed.get(s.turn.event_id) for s in turns]
        error = _error(seen) or next((why for n, why in lost if n < scene.session), None)
        came = [replace(o, ids=told(o.text, o.ids, pages)) for o in seen if o]
        answered = error is None and _answered(probe, [s.turn.text for s in turns], came)
        probes.append(JudgedProbe(f"{scene.item}/{probe.probe_id}", probe.channel == "stored_only", answered, error))
        leaks += turn_leaks(fixture, replayed, turns)
    return Judged(
        probes=tuple(probes),
        strays=strays(replayed, "write"),
        leaks=unique(leaks),
        scoped=is_scoped(fixture),
    )


def _error(seen: Sequence[Observation | None]) -> str | None:
    errors = (NOT_OBSERVED if o is None else o.error for o in seen)
    return next((why for why in errors if why is not None), None)


def _lost_sessions(fixture: Fixture, replayed: Replayed) -> list[tuple[int, str]]:
    """The sessions that should have been written back and were not, with the reason."""
    persisted = session_observations(fixture, replayed)
    breaks = [event for event in fixture.events if isinstance(event, SessionBreak)]
    found = []
    for number, event in enumerate(breaks):
        observation = persisted.get(number)
        why = observation.error if observation is not None else NOT_OBSERVED if event.persist else None
        if why is not None:
            found.append((number, why))
    return found


def _answered(probe: Probe, said: Sequence[str], seen: Sequence[Observation]) -> bool:
    if probe.channel == "any" and any(set(o.ids) & set(probe.expected_slugs) for o in seen):
        return True
    pointers_count = probe.channel == "any"
    told = [row for o in seen for row in texts(o.facts)]
    told += [p for o in seen for p in passages(o.text) if pointers_count or not is_pointer(p)]
    return any(states(text, probe.match_keywords, probe.forbid_keywords, said) for text in told)


def _tally(judged: Judged) -> Tally:
    return Tally(
        asked=tuple(p.item for p in judged.probes),
        failed=tuple(p.item for p in judged.probes if not p.answered),
        events=len(judged.probes),
        errors=sum(p.error is not None for p in judged.probes),
    )


CONTINUITY = Suite(
    name=NAME,
    question="Can a later session use what an earlier one decided?",
    needs=(
        frozenset({Capability.CONVERSATION_WRITE}),
        DELIVERS | frozenset({Capability.RECALL_FACTS}),
    ),
    asks=_asks,
    judge=_judge,
    tally=_tally,
)
