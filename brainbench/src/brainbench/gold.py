"""Sealed: what should have happened. Read to validate a corpus, then again only after replay is hashed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Retrieve = Literal["must", "may", "must_not"]


@dataclass(frozen=True, slots=True)
class GoldFact:
    """A fact that must survive the write-back of its turn."""

    gist: str
    fact: str
    entity_slug: str | None
    match_keywords: tuple[str, ...]
    kind: str = "fact"
    forbid_keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EventGold:
    """What one event should bring. `retrieve` None: nothing is said about retrieval on this event."""

    event_id: int
    retrieve: Retrieve | None = None
    gold_slugs: tuple[str, ...] = ()
    acceptable_slugs: tuple[str, ...] = ()
    gold_facts: tuple[GoldFact, ...] = ()


@dataclass(frozen=True, slots=True)
class Probe:
    """A decision that a later session must be able to use. `stored_only`: only a written-back fact holds it."""

    probe_id: str
    after_event: int
    channel: Literal["any", "stored_only"]
    expected_slugs: tuple[str, ...] = ()
    match_keywords: tuple[str, ...] = ()
    forbid_keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gold:
    """The gold of one fixture. `v1_turns` keeps v1's own TurnGold, keyed (fixture_id, turn_id), for its result file."""

    fixture_id: str
    events: Mapping[int, EventGold]
    probes: tuple[Probe, ...] = ()
    v1_turns: Mapping[tuple[str, int], Mapping[str, object]] = field(default_factory=dict)
