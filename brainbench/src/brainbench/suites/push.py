"""Push: are the pages brought to a turn the right ones, and all of them?"""

from __future__ import annotations

from collections.abc import Iterable

from brainbench.gold import Gold
from brainbench.metrics import Judged
from brainbench.model import Capability, Fixture, Replayed, SeamConfig
from brainbench.suites.cell import Suite, Tally
from brainbench.suites.scripts import unique, user_scenes
from brainbench.suites.turns import DELIVERS, judge_turns

NAME = "push"


def push_ceiling(seam: SeamConfig, golds: Iterable[tuple[Fixture, Gold]]) -> tuple[int, int]:
    """The most wanted pages that the seam's budget allows, and how many are wanted."""
    room, n, of = seam.capacity, 0, 0
    for fixture, gold in golds:
        for scene in user_scenes(fixture, NAME):
            event = gold.events.get(scene.turn.event_id)
            if event is not None and event.retrieve == "must":
                wanted = len(set(event.gold_slugs))
                n, of = n + min(wanted, room), of + wanted
    return n, of


def _asks(fixture: Fixture, gold: Gold) -> tuple[str, ...]:
    seen = user_scenes(fixture, NAME)
    return unique(
        [s.fixture_id for s in seen if (g := gold.events.get(s.turn.event_id)) is not None and g.retrieve is not None]
    )


def _judge(fixture: Fixture, gold: Gold, replayed: Replayed, seam: SeamConfig) -> Judged:
    return judge_turns(NAME, fixture, gold, replayed, seam)


def _tally(judged: Judged) -> Tally:
    must = [t for t in judged.turns if t.retrieve == "must"]
    errors = sum(t.error is not None for t in judged.turns)
    annotated = sum(t.retrieve is not None for t in judged.turns)
    stray = sum(t.retrieve is None and t.error is not None for t in judged.turns)
    return Tally(
        asked=tuple(f"{t.item}/{slug}" for t in must for slug in sorted(t.gold)),
        failed=tuple(f"{t.item}/{slug}" for t in must for slug in sorted(t.missed)),
        events=annotated + stray,
        errors=errors,
    )


PUSH = Suite(
    name=NAME,
    question="Are the pages brought to a turn the right ones, and all of them?",
    needs=(frozenset({Capability.PAGE_WRITE}), DELIVERS),
    asks=_asks,
    judge=_judge,
    tally=_tally,
)
