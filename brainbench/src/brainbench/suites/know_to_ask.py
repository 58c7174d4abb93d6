"""Know to ask: does memory speak when a turn calls for it, and only then?"""

from __future__ import annotations

from brainbench.gold import Gold
from brainbench.metrics import Judged
from brainbench.model import Capability, Fixture, Replayed, SeamConfig
from brainbench.suites.cell import Suite, Tally
from brainbench.suites.scripts import unique, user_scenes
from brainbench.suites.turns import DELIVERS, judge_turns

NAME = "know-to-ask"


def _asks(fixture: Fixture, gold: Gold) -> tuple[str, ...]:
    scored = ("must", "must_not")
    seen = user_scenes(fixture, NAME)
    return unique(
        [s.fixture_id for s in seen if (g := gold.events.get(s.turn.event_id)) is not None and g.retrieve in scored]
    )


def _judge(fixture: Fixture, gold: Gold, replayed: Replayed, seam: SeamConfig) -> Judged:
    return judge_turns(NAME, fixture, gold, replayed, seam)


def _tally(judged: Judged) -> Tally:
    must = [t for t in judged.turns if t.retrieve == "must"]
    quiet = [t for t in judged.turns if t.retrieve == "must_not"]
    failed = [t.item for t in must if not t.helped] + [t.item for t in quiet if t.fired]
    stray = sum(t.error is not None for t in judged.turns if t.retrieve not in ("must", "must_not"))
    errors = sum(t.error is not None for t in (*must, *quiet))
    return Tally(
        asked=tuple(t.item for t in (*must, *quiet)),
        failed=tuple(failed),
        events=len(must) + len(quiet) + stray,
        errors=errors + stray,
    )


KNOW_TO_ASK = Suite(
    name=NAME,
    question="Does memory speak when a turn calls for it, and only then?",
    needs=(frozenset({Capability.PAGE_WRITE}), DELIVERS),
    asks=_asks,
    judge=_judge,
    tally=_tally,
)
