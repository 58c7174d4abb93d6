"""Writes a fixture and its gold together: the step that writes a turn says what the turn should bring."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

from brainbench.datasets.core_gen.world import Named, Page
from brainbench.datasets.splitmix import SplitMix64
from brainbench.model import PUSH_SUITES, Stratum

_FIRST_DAY = datetime(2026, 1, 5, 7, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class ToldFact:
    """A fact told in a turn: what an extractor would say of it, and what must be kept of it.

    `of` is the bearer (None: no page can be named). `keywords` empty means that the fact is told but not wanted,
    because a later turn corrects it.
    """

    quote: str
    mention: str
    fact: str
    kind: str
    of: Named | None
    keywords: tuple[str, ...] = ()
    forbid: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Labelled:
    """A user turn with its template and label, for checks of the corpus as a whole."""

    fixture_id: str
    stratum: str
    template: str
    text: str
    must: bool


@dataclass(slots=True)
class Script:
    """A fixture in the making, with its gold."""

    category: str
    index: int
    stratum: Stratum
    rng: SplitMix64
    suites: tuple[str, ...] = PUSH_SUITES
    language: str = "en"
    tags: tuple[str, ...] = ()
    requires: tuple[str, ...] = ("page_write",)
    sources: list[dict[str, str]] = field(default_factory=lambda: [{"id": "default", "owner": "user"}])
    active: str = "default"
    universe: str | None = None
    """The large brain that this fixture is played in."""
    group: str | None = None
    """Fixtures of one group are gate together or holdout together."""
    labelled: list[Labelled] = field(default_factory=list)
    _setup: list[dict[str, Any]] = field(default_factory=list)
    _events: list[dict[str, Any]] = field(default_factory=list)
    _scripted: list[dict[str, Any]] = field(default_factory=list)
    _gold: dict[str, dict[str, Any]] = field(default_factory=dict)
    _probes: list[dict[str, Any]] = field(default_factory=list)
    _now: datetime = _FIRST_DAY
    _next_id: int = 1

    def __post_init__(self) -> None:
        self._now = _FIRST_DAY + timedelta(days=self.rng.below(180), minutes=self.rng.below(600))

    @property
    def fixture_id(self) -> str:
        """`core-<category>-<three digits>`."""
        return f"core-{self.category}-{self.index:03d}"

    def seed(self, *pages: Page, source: str | None = None) -> None:
        """Pages that are there before the first event."""
        for page in pages:
            event = {"event_id": self._take_id(), "kind": "write", "via": "page", "actor": "owner"}
            self._setup.append(event | _scope(source) | {"slug": page.of.slug, "content": page.markdown()})

    def source(self, name: str, owner: Literal["user", "agent", "external"] = "user") -> str:
        """Declare one more source; gives its canary, which belongs on each of its pages and on no other page."""
        self.sources.append({"id": name, "owner": owner})
        self.require("sources")
        return f"canary:{self.rng.next_u64():016x}"

    def require(self, *capabilities: str) -> None:
        """Name capabilities without which this fixture is not applicable."""
        self.requires += tuple(c for c in capabilities if c not in self.requires)

    def must(self, text: str, want: Sequence[Named], accept: Sequence[Named] = (), template: str = "") -> int:
        """A user turn that calls for the pages of `want`; those of `accept` help too. Gives its event id."""
        return self._user(
            text,
            template,
            {
                "retrieve": "must",
                "gold_slugs": [n.slug for n in want],
                "acceptable_slugs": [n.slug for n in accept],
                "gold_facts": [],
            },
        )

    def quiet(self, text: str, template: str = "") -> int:
        """A user turn on which the memory should say nothing. Gives its event id."""
        gold = {"retrieve": "must_not", "gold_slugs": [], "acceptable_slugs": [], "gold_facts": []}
        return self._user(text, template, gold)

    def may(self, text: str, help_by: Sequence[Named]) -> int:
        """A user turn that is too vague to call for a page; those of `help_by` do no harm. Gives its event id."""
        event_id = self._turn("user", text)
        slugs = [n.slug for n in help_by]
        self._gold[str(event_id)] = {
            "retrieve": "may",
            "gold_slugs": [],
            "acceptable_slugs": slugs,
            "gold_facts": [],
        }
        return event_id

    def tell(self, text: str, facts: Sequence[ToldFact] = ()) -> int:
        """A user turn judged by what is kept of it, not by what it brings. Gives its event id."""
        event_id = self._turn("user", text)
        kept = []
        for told in facts:
            self._scripted.append(
                {"event_id": event_id, "quote": told.quote, "mention": told.mention, "fact": told.fact}
                | {"kind": told.kind}
            )
            if told.keywords:
                kept.append(_gold_fact(told))
        if kept:
            self._gold[str(event_id)] = {"gold_slugs": [], "acceptable_slugs": [], "gold_facts": kept}
        if facts:
            self.require("extractor_seam")
        return event_id

    def reply(self, text: str) -> None:
        """An assistant turn; it enters the history and asks nothing."""
        self._turn("assistant", text)

    def write(self, page: Page) -> None:
        """A page written while the conversation goes on."""
        self._event("write", via="page", actor="owner", slug=page.of.slug, content=page.markdown())

    def edit(self, of: Named, old: str, new: str) -> None:
        """A change of a page: the first `old` becomes `new`."""
        self._event("edit", slug=of.slug, actor="owner", replace={"old": old, "new": new})
        self.require("edit")

    def pause(self, minutes: int) -> None:
        """Let time pass before the next event."""
        self._now += timedelta(minutes=minutes)

    def new_session(self, persist: bool = False, minutes: int = 180) -> None:
        """End the session; with `persist` it is written back first."""
        self._event("session_break", persist=persist)
        self._now += timedelta(minutes=minutes)
        if persist:
            self.require("conversation_write", "recall_facts")

    def probe(
        self,
        after: int,
        channel: Literal["any", "stored_only"],
        keywords: Sequence[str],
        expected: Sequence[Named] = (),
        forbid: Sequence[str] = (),
    ) -> None:
        """What the reader must have at hand after the event `after`."""
        self._probes.append(
            {
                "probe_id": f"p{len(self._probes) + 1}",
                "after_event": after,
                "channel": channel,
                "expected_slugs": [n.slug for n in expected],
                "match_keywords": list(keywords),
                "forbid_keywords": list(forbid),
            }
        )

    def fixture(self) -> dict[str, Any]:
        """The script, as it is stored; nothing in it says what should happen."""
        return {
            "schema_version": 2,
            "fixture_id": self.fixture_id,
            "suites": list(self.suites),
            "category": self.category,
            "stratum": self.stratum,
            "language": self.language,
            "tags": list(self.tags),
            "requires": list(self.requires),
            "sources": self.sources,
            "active_source": self.active,
            **({} if self.universe is None else {"universe": self.universe}),
            "setup": self._setup,
            "events": self._events,
            "scripted_facts": self._scripted,
        }

    def gold(self) -> dict[str, Any]:
        """What should happen, as it is stored."""
        return {
            "schema_version": 2,
            "fixture_id": self.fixture_id,
            "events": self._gold,
            "probes": self._probes,
        }

    def _user(self, text: str, template: str, gold: dict[str, Any]) -> int:
        event_id = self._turn("user", text)
        self._gold[str(event_id)] = gold
        must = gold["retrieve"] == "must"
        self.labelled.append(Labelled(self.fixture_id, self.stratum, template or text, text, must))
        return event_id

    def _turn(self, role: str, text: str) -> int:
        return self._event("turn", role=role, text=text)

    def _event(self, kind: str, **fields: object) -> int:
        event_id = self._take_id()
        stamp = self._now.strftime("%Y-%m-%dT%H:%M:%SZ")
        self._events.append({"event_id": event_id, "kind": kind, "ts": stamp, **fields})
        self._now += timedelta(minutes=self.rng.between(1, 4))
        return event_id

    def _take_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1


def _scope(source: str | None) -> dict[str, str]:
    return {} if source is None else {"source": source}


def _gold_fact(told: ToldFact) -> dict[str, Any]:
    return {
        "gist": " / ".join(told.keywords),
        "fact": told.fact,
        "entity_slug": None if told.of is None else told.of.slug,
        "match_keywords": list(told.keywords),
        "kind": told.kind,
        "forbid_keywords": list(told.forbid),
    }
