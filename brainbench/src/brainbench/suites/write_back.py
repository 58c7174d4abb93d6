"""Write-back: does what was said survive the session, under the right entity and with its provenance?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from brainbench.gold import Gold, GoldFact
from brainbench.metrics import Judged, JudgedExtraction, JudgedFact
from brainbench.model import Capability, FactRow, Fixture, Observation, Replayed, SeamConfig
from brainbench.suites.cell import Suite, Tally
from brainbench.suites.leaks import is_scoped, store_leaks
from brainbench.suites.matching import plain, says
from brainbench.suites.scripts import (
    NOT_OBSERVED,
    Scene,
    declares,
    scenes,
    session_observations,
    strays,
    unique,
    unreadable,
)

NAME = "write-back"


def _scenes(fixture: Fixture, gold: Gold) -> list[tuple[Scene, tuple[GoldFact, ...]]]:
    """The turns with gold facts, of both roles, in order."""
    said = [s for s in scenes(fixture) if declares(fixture, s.fixture_id, NAME)]
    annotated = [(s, gold.events.get(s.turn.event_id)) for s in said]
    return [(s, event.gold_facts) for s, event in annotated if event is not None and event.gold_facts]


def _asks(fixture: Fixture, gold: Gold) -> tuple[str, ...]:
    return unique([s.fixture_id for s, _ in _scenes(fixture, gold)])


def _judge(fixture: Fixture, gold: Gold, replayed: Replayed, seam: SeamConfig) -> Judged:
    sessions = session_observations(fixture, replayed)
    unread = unreadable(fixture, replayed)
    left = _distinct(replayed.facts)
    facts = []
    for scene, expected in _scenes(fixture, gold):
        persisted = sessions.get(scene.session)
        error = unread or (NOT_OBSERVED if persisted is None else persisted.error)
        for number, fact in enumerate(expected, 1):
            row = _take(left, fact) if error is None else None
            facts.append(
                JudgedFact(
                    item=f"{scene.item}/fact {number}",
                    names_entity=fact.entity_slug is not None,
                    found=row is not None,
                    entity_right=row is not None and _about(row, fact),
                    triple_right=row is not None and _traced(row, fixture.active_source, persisted),
                    error=error,
                )
            )
    return Judged(
        extractions=tuple(_extractions(fixture, gold, sessions)),
        facts=tuple(facts),
        strays=strays(replayed, "write"),
        leaks=store_leaks(fixture, replayed),
        scoped=is_scoped(fixture),
    )


def _extractions(fixture: Fixture, gold: Gold, sessions: Mapping[int, Observation]) -> Iterator[JudgedExtraction]:
    """What a model said of each session that one has read, against the gold facts of that session."""
    for number, persisted in sessions.items():
        if persisted.extraction is None:
            continue
        expected = [f for s, facts in _scenes(fixture, gold) if s.session == number for f in facts]
        said = list(dict.fromkeys(persisted.extraction.facts))
        left = list(said)
        for fact in expected:
            found = next((text for text in left if says(text, fact.match_keywords, fact.forbid_keywords)), None)
            if found is not None:
                left.remove(found)
        yield JudgedExtraction(len(expected), len(said), len(said) - len(left))


def _distinct(rows: Sequence[FactRow]) -> list[FactRow]:
    """The rows without repeats, so that saying a thing twice does not answer two questions."""
    return list({(plain(r.text), r.entity, r.source_session, r.source_page): r for r in reversed(rows)}.values())[::-1]


def _take(left: list[FactRow], fact: GoldFact) -> FactRow | None:
    """The first row that states the fact; it is used up. Telling it under every entity is no way to be right."""
    chosen = next((row for row in left if says(row.text, fact.match_keywords, fact.forbid_keywords)), None)
    if chosen is not None:
        left.remove(chosen)
    return chosen


def _about(row: FactRow, fact: GoldFact) -> bool:
    return fact.entity_slug is None or row.entity == fact.entity_slug


def _traced(row: FactRow, source: str, persisted: Observation | None) -> bool:
    page = persisted.session_page if persisted is not None else None
    return (
        bool(page) and row.source_page == page and row.source_session == f"{source}:{page}" and bool(row.source.strip())
    )


def _tally(judged: Judged) -> Tally:
    failed = [f.item for f in judged.facts if not (f.survived and f.triple_right)]
    turns = {f.item.rpartition("/")[0]: f.error is not None for f in judged.facts}
    return Tally(
        asked=tuple(f.item for f in judged.facts),
        failed=tuple(failed),
        events=len(turns),
        errors=sum(turns.values()),
    )


WRITE_BACK = Suite(
    name=NAME,
    question="Does what was said survive the session, under the right entity and with its provenance?",
    needs=(frozenset({Capability.CONVERSATION_WRITE}), frozenset({Capability.RECALL_FACTS})),
    asks=_asks,
    judge=_judge,
    tally=_tally,
    shared=True,
)
