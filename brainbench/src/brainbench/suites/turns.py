"""What the two suites of pushed context share: user turns, what was injected, and what should have been."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from brainbench.gold import EventGold, Gold
from brainbench.metrics import Judged, JudgedTurn
from brainbench.model import Capability, Fixture, Observation, Replayed, SeamConfig, says
from brainbench.suites.leaks import is_scoped, turn_leaks
from brainbench.suites.scripts import NOT_OBSERVED, Scene, strays, turn_observations, unique, user_scenes
from brainbench.suites.telling import pages_of, told

DELIVERS = frozenset({Capability.CONTEXT, Capability.HOOK_PROCESS, Capability.SEARCH})
"""Ways to bring memory to a turn; a system needs one of them."""


def judge_turns(suite: str, fixture: Fixture, gold: Gold, replayed: Replayed, seam: SeamConfig) -> Judged:
    """Every user turn on which the suite may look, with what was injected there."""
    seen = user_scenes(fixture, suite)
    observed = turn_observations(replayed)
    pages = pages_of(fixture, replayed)
    whole = fixture.universe is None
    return Judged(
        turns=tuple(
            _judged(s, gold.events.get(s.turn.event_id), observed.get(s.turn.event_id), pages, whole) for s in seen
        ),
        strays=strays(replayed, "write", "persist"),
        leaks=turn_leaks(fixture, replayed, seen),
        scoped=is_scoped(fixture),
        capacity=seam.capacity,
    )


def _judged(
    scene: Scene,
    gold: EventGold | None,
    observation: Observation | None,
    pages: Mapping[str, Sequence[str]],
    whole: bool,
) -> JudgedTurn:
    """`whole` says that `pages` are all there are: a shared brain adds more than the script tells."""
    seen = observation or Observation(scene.turn.event_id, "turn", error=NOT_OBSERVED)
    claimed = unique(seen.ids)
    injected = told(seen.text, claimed, pages)
    return JudgedTurn(
        item=scene.item,
        retrieve=gold.retrieve if gold else None,
        gold=frozenset(gold.gold_slugs) if gold else frozenset(),
        acceptable=frozenset(gold.acceptable_slugs) if gold else frozenset(),
        injected=injected,
        spoken=says(seen.text) and seen.text.strip() not in scene.turn.text,
        tokens=seen.tokens,
        unknown=sum(i not in pages for i in injected) if whole else None,
        untold=len(claimed) - len(injected),
        error=seen.error,
    )
