"""What metrics count: events that have been held against gold, and nothing else of a run.

An errored event carries its reason in `error` and is judged as if nothing had come: it fails wherever it is counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain

from brainbench.gold import Retrieve


@dataclass(frozen=True, slots=True)
class JudgedTurn:
    """One user turn: what was injected against what should have been. `retrieve` None: nothing was asked of it.

    `injected` has no repeats; `spoken` says whether any text came that is not the turn's own, with an id or without
    one. `unknown` counts injected ids that name no page of the script, and is None where the script's pages are not all
    at hand. `untold` counts ids that came with a text that holds nothing of their pages: those were not injected.
    """

    item: str
    retrieve: Retrieve | None
    gold: frozenset[str] = frozenset()
    acceptable: frozenset[str] = frozenset()
    injected: tuple[str, ...] = ()
    spoken: bool = False
    tokens: int = 0
    unknown: int | None = None
    untold: int = 0
    error: str | None = None

    @property
    def useful(self) -> frozenset[str]:
        """The injected ids that were wanted or acceptable."""
        return frozenset(self.injected) & (self.gold | self.acceptable)

    @property
    def helped(self) -> bool:
        """Whether anything useful came, without an error."""
        return self.error is None and bool(self.useful)

    @property
    def fired(self) -> bool:
        """Whether anything was injected, with or without an id; an errored turn counts as having fired."""
        return self.error is not None or bool(self.injected) or self.spoken

    @property
    def missed(self) -> frozenset[str]:
        """The wanted ids that did not come."""
        return self.gold if self.error is not None else self.gold - frozenset(self.injected)


@dataclass(frozen=True, slots=True)
class JudgedFact:
    """One gold fact: was it found, under the right entity, with the exact provenance?

    `names_entity` is False where gold has no entity; then any entity is right.
    """

    item: str
    names_entity: bool
    found: bool = False
    entity_right: bool = False
    triple_right: bool = False
    error: str | None = None

    @property
    def survived(self) -> bool:
        """Found, and about the right entity."""
        return self.found and self.entity_right


@dataclass(frozen=True, slots=True)
class JudgedProbe:
    """One decision that a later session needed: did it get there?"""

    item: str
    stored_only: bool
    answered: bool
    error: str | None = None


@dataclass(frozen=True, slots=True)
class JudgedExtraction:
    """What a model said of one session: so many of the gold facts there, and of what it said, are the same."""

    gold: int
    said: int
    matched: int


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """What one item of gold gave for one metric: `n` is what it adds to the count, or 1 where it is as the metric says.

    `failed` says whether that is wrong. `wanted` and `seen` tell it in words; `error` says why nothing was seen.
    """

    item: str
    metric: str
    n: int
    failed: bool
    wanted: str = ""
    seen: tuple[str, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Control:
    """Something that is known beforehand, so that a bench that does not see it sees nothing."""

    item: str
    what: str
    held: bool


@dataclass(frozen=True, slots=True)
class Judged:
    """All that was judged of some fixtures for one suite.

    `strays` names events that went wrong though nothing was asked of them, such as a write that later turns build on.
    `leaks` names what crossed from a foreign source; `scoped` says whether there was a foreign source to leak from.
    `capacity` is how many pages the seam lets a system inject on one turn. `unasked` names items that are not
    applicable for want of a capability.
    """

    turns: tuple[JudgedTurn, ...] = ()
    facts: tuple[JudgedFact, ...] = ()
    probes: tuple[JudgedProbe, ...] = ()
    strays: tuple[str, ...] = ()
    leaks: tuple[str, ...] = ()
    scoped: bool = False
    capacity: int = 0
    extractions: tuple[JudgedExtraction, ...] = ()
    items: tuple[JudgedItem, ...] = ()
    controls: tuple[Control, ...] = ()
    unasked: tuple[tuple[str, str], ...] = ()
    """(item, the capability that it needs)"""


def pooled(parts: Iterable[Judged]) -> Judged:
    """The parts as one, in order; micro-averages are taken over this."""
    every = tuple(parts)
    return Judged(
        turns=tuple(chain.from_iterable(p.turns for p in every)),
        facts=tuple(chain.from_iterable(p.facts for p in every)),
        probes=tuple(chain.from_iterable(p.probes for p in every)),
        strays=tuple(chain.from_iterable(p.strays for p in every)),
        leaks=tuple(chain.from_iterable(p.leaks for p in every)),
        scoped=any(p.scoped for p in every),
        capacity=max((p.capacity for p in every), default=0),
        extractions=tuple(chain.from_iterable(p.extractions for p in every)),
        items=tuple(chain.from_iterable(p.items for p in every)),
        controls=tuple(chain.from_iterable(p.controls for p in every)),
        unasked=tuple(chain.from_iterable(p.unasked for p in every)),
    )
