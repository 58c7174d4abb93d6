"""What the two suites of pushed context share: user turns, what was injected, and what should have been."""

from __future__ import annotations

from brainbench.gold import EventGold, Gold
from brainbench.metrics import Judged, JudgedTurn
from brainbench.model import Capability, Fixture, Observation, Replayed, SeamConfig, Write
from brainbench.suites.leaks import is_scoped, turn_leaks
from brainbench.suites.scripts import NOT_OBSERVED, Scene, strays, turn_observations, unique, user_scenes

DELIVERS = frozenset({Capability.CONTEXT, Capability.HOOK_PROCESS, Capability.SEARCH})
"""Ways to bring memory to a turn; a system needs one of them."""


def judge_turns(suite: str, fixture: Fixture, gold: Gold, replayed: Replayed, seam: SeamConfig) -> Judged:
    """Every user turn on which the suite may look, with what was injected there."""
    seen = user_scenes(fixture, suite)
    observed = turn_observations(replayed)
    pages = _pages(fixture, replayed)
    return Judged(
        turns=tuple(_judged(s, gold.events.get(s.turn.event_id), observed.get(s.turn.event_id), pages) for s in seen),
        strays=strays(replayed, "write", "persist"),
        leaks=turn_leaks(fixture, replayed, seen),
        scoped=is_scoped(fixture),
        capacity=seam.capacity,
    )


def _judged(
    scene: Scene, gold: EventGold | None, observation: Observation | None, pages: frozenset[str] | None
) -> JudgedTurn:
    seen = observation or Observation(scene.turn.event_id, "turn", error=NOT_OBSERVED)
    injected = unique(seen.ids)
    return JudgedTurn(
        item=scene.item,
        retrieve=gold.retrieve if gold else None,
        gold=frozenset(gold.gold_slugs) if gold else frozenset(),
        acceptable=frozenset(gold.acceptable_slugs) if gold else frozenset(),
        injected=injected,
        spoken=seen.text.strip() not in scene.turn.text,
        tokens=seen.tokens,
        unknown=None if pages is None else sum(i not in pages for i in injected),
        error=seen.error,
    )


def _pages(fixture: Fixture, replayed: Replayed) -> frozenset[str] | None:
    """Every page that the script writes, or None where a shared brain adds more than the script tells."""
    if fixture.universe is not None:
        return None
    written = {e.slug for e in (*fixture.setup, *fixture.events) if isinstance(e, Write) and e.slug is not None}
    return frozenset(written | {o.session_page for o in replayed.observations if o.session_page is not None})
