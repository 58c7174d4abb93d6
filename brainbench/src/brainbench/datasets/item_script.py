"""Writes a script of acts and its gold items together: who writes what by which door, and what must be so after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from brainbench.datasets.core_gen.world import Page
from brainbench.datasets.splitmix import SplitMix64
from brainbench.model import Stratum

_FIRST_DAY = datetime(2026, 1, 5, 7, 0, tzinfo=UTC)
BY: Mapping[str, tuple[str, str]] = {
    "tty": ("owner", "owner"),
    "local": ("owner", "owner"),
    "git": ("owner", "owner"),
    "mcp": ("agent", "agent:clerk"),
    "http": ("agent", "agent:clerk"),
    "cli": ("agent", "agent:clerk"),
    "hook": ("agent", "agent:clerk"),
    "peer": ("agent", "agent:clerk"),
    "raw_store": ("agent", "agent:clerk"),
    "import": ("owner", "owner"),
    "restore": ("owner", "owner"),
    "connector:github": ("external", "connector:github"),
    "connector:mail": ("external", "connector:mail"),
    "connector:web": ("external", "connector:web"),
}
"""Who stands at a door where nobody else is named: the actor and the principal."""


@dataclass(slots=True)
class ItemScript:
    """A script in the making, with the items that are judged. Things are named `n1`, `n2`... so that no name tells."""

    prefix: str
    category: str
    index: int
    stratum: Stratum
    rng: SplitMix64
    suites: tuple[str, ...]
    language: str = "en"
    tags: tuple[str, ...] = ()
    requires: tuple[str, ...] = ()
    sources: list[dict[str, str]] = field(default_factory=lambda: [{"id": "default", "owner": "user"}])
    universe: str | None = None
    group: str | None = None
    name: str = ""
    """The middle of the fixture id; the category where it is empty."""
    _setup: list[dict[str, Any]] = field(default_factory=list)
    _events: list[dict[str, Any]] = field(default_factory=list)
    _items: list[dict[str, Any]] = field(default_factory=list)
    _now: datetime = _FIRST_DAY
    _next_id: int = 1
    _things: int = 0

    def __post_init__(self) -> None:
        self._now = _FIRST_DAY + timedelta(days=self.rng.below(180), minutes=self.rng.below(600))

    @property
    def fixture_id(self) -> str:
        """`<prefix>-<name>-<three digits>`."""
        return f"{self.prefix}-{self.name or self.category}-{self.index:03d}"

    def next_name(self) -> str:
        """The name that the next thing will get."""
        return f"n{self._things + 1}"

    @property
    def last_event(self) -> int:
        """The id of the event made last."""
        return self._next_id - 1

    @property
    def last_name(self) -> str:
        """The name given last."""
        return f"n{self._things}"

    @property
    def moment_of_last(self) -> str:
        """When the last event was."""
        return str(self._events[-1]["ts"])

    def source(self, name: str, owner: str = "user") -> str:
        """Declare one more source; gives its name."""
        self.sources.append({"id": name, "owner": owner})
        return name

    def require(self, *capabilities: str) -> None:
        """Name capabilities without which this script is not applicable."""
        self.requires += tuple(c for c in capabilities if c not in self.requires)

    def seed(self, page: Page, source: str | None = None) -> str:
        """A page of the owner that is there before the first event. Gives the name of the thing."""
        name = self.take_name()
        event = {"event_id": self._take_id(), "kind": "write", "via": "page", "actor": "owner", "as": name}
        self._setup.append(event | _some(source=source) | {"slug": page.of.slug, "content": page.markdown()})
        return name

    def write(self, door: str, content: str, *, via: str = "page", by: str | None = None, **fields: object) -> str:
        """Something comes in by a door: a page where `slug` is among the fields, else a fact. Gives its name."""
        name = self.take_name()
        actor, principal = BY[door]
        told = {"via": via, "actor": actor, "door": door, "principal": by or principal, "as": name}
        self._event("write", **told, content=content, **fields)
        return name

    def edit(self, door: str, op: str, patch: Mapping[str, str], *, of: str | None = None, **fields: object) -> int:
        """Something is changed by a door, in the way of `op`. Gives the event id."""
        actor, principal = BY[door]
        target = {} if of is None else {"target": {"as": of}}
        told = {"op": op, "actor": actor, "door": door, "principal": principal, **target}
        return self._event("edit", **told, patch=dict(patch), **fields)

    def forget(
        self, door: str, of: str | Mapping[str, str], mode: str, challenge: str | None = None, **fields: object
    ) -> int:
        """A thing, by its name or by its words, is expired, purged or let in again. Gives the event id."""
        actor, principal = BY[door]
        target = {"as": of} if isinstance(of, str) else dict(of)
        told = {"target": target, "mode": mode, "actor": actor, "door": door, "principal": principal}
        return self._event("forget", **told, **_some(challenge=challenge), **fields)

    def confirm(self, door: str, of: str, op: str = "confirm", challenge: str | None = None) -> int:
        """Somebody vouches for a thing, or tries to. Gives the event id."""
        actor, principal = BY[door]
        told = {"op": op, "target": {"as": of}, "actor": actor, "door": door, "principal": principal}
        return self._event("confirm", **told, **_some(challenge=challenge))

    def resync(self, op: str, snapshot: Mapping[str, str], door: str | None = None, name: bool = False) -> int | str:
        """Files come back as they are at their origin. Gives the event id, or with `name` the thing's name."""
        told: dict[str, object] = {"op": op, "snapshot": dict(snapshot)}
        if door is not None:
            actor, principal = BY[door]
            told |= {"actor": actor, "door": door, "principal": principal}
        if not name:
            return self._event("resync", **told)
        taken = self.take_name()
        self._event("resync", **told, **{"as": taken})
        return taken

    def turn(self, text: str, role: str = "user") -> int:
        """Something is said; what the user says is asked again in a later session. Gives the event id."""
        return self._event("turn", role=role, text=text)

    def new_session(self, minutes: int = 180, **fields: bool) -> int:
        """The session ends (`persist`, `jobs`, `crash` say what else happens) and time passes. Gives the event id."""
        event_id = self._event("session_break", **fields)
        self.pause(minutes)
        return event_id

    def pause(self, minutes: int) -> str:
        """Let time pass before the next event; gives the moment of that."""
        self._now += timedelta(minutes=minutes)
        return self.moment()

    def moment(self, days: int = 0) -> str:
        """The time of the next event, or so many days later."""
        return (self._now + timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ")

    def item(self, kind: str, **fields: object) -> None:
        """What must be so; `of` stands for `as`. Fields that are None are left out."""
        of = fields.pop("of", None)
        told = {"item_id": f"{kind}-{len(self._items) + 1}", "item": kind}
        self._items.append(told | _some(**{"as": of}) | _some(**fields))

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
            "active_source": "default",
            **({} if self.universe is None else {"universe": self.universe}),
            "setup": self._setup,
            "events": self._events,
        }

    def gold(self) -> dict[str, Any]:
        """What should be so, as it is stored."""
        return {"schema_version": 2, "fixture_id": self.fixture_id, "events": {}, "items": self._items}

    def _event(self, kind: str, **fields: object) -> int:
        event_id = self._take_id()
        self._events.append({"event_id": event_id, "kind": kind, "ts": self.moment(), **fields})
        self._now += timedelta(minutes=self.rng.between(1, 4))
        return event_id

    def _take_id(self) -> int:
        self._next_id += 1
        return self._next_id - 1

    def take_name(self) -> str:
        """A new name, for an event that makes a thing."""
        self._things += 1
        return f"n{self._things}"


def _some(**fields: object) -> dict[str, object]:
    return {key: value for key, value in fields.items() if value is not None}
