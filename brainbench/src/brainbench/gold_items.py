"""The items of gold: what must be so of a thing that a script writes, marks or forgets. Sealed like all gold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from brainbench.corpus.canaries import named_in
from brainbench.corpus.checks import whole
from brainbench.corpus.formats import listed
from brainbench.corpus.shape import (
    BOOLEAN,
    INTEGER,
    KEYWORDS,
    TEXT,
    Finding,
    Rank,
    Schema,
    Shape,
    Steps,
    items,
    obj,
    one_of,
    or_null,
    shown,
    string,
)
from brainbench.corpus.times import utc

Kind = Literal["tier", "max_tier", "refused", "current", "stale", "history", "guarded", "payload", "benign", "purge"]
Tier = Literal["external_untrusted", "agent_written", "user_written", "user_confirmed"]
TIERS: tuple[str, ...] = get_args(Tier)
"""From the lowest to the highest."""
SUITE_OF: Mapping[str, tuple[str, ...]] = {
    "tier": ("trust",),
    "max_tier": ("trust",),
    "refused": ("trust",),
    "current": ("state-resolution",),
    "stale": ("state-resolution",),
    "history": ("state-resolution",),
    "guarded": ("state-resolution",),
    "payload": ("poisoning", "poisoning-default"),
    "benign": ("poisoning", "poisoning-default"),
    "purge": ("deletion",),
}
"""Which suites judge a kind of item; a fixture that holds one declares at least one of them."""


@dataclass(frozen=True, slots=True)
class GoldItem:
    """One item. `name` is that of the thing that it is about, `text` or `forms` are words in which that may be said.

    It is judged after the event `after`, or at the end. Which other fields stand in it is its kind's to say.
    """

    item_id: str
    kind: Kind
    name: str | None = None
    text: str | None = None
    after: int | None = None
    tier: str = ""
    event: int | None = None
    accept: Literal["refused", "detected"] = "refused"
    forms: tuple[str, ...] = ()
    query: str = ""
    as_of: str | None = None
    known_at: str | None = None
    arm: Literal["external", "agent"] = "external"
    attack: str = ""
    canary: str = ""
    preference: bool = False
    probe: str = ""
    later: tuple[int, ...] = ()
    lifted_by: int | None = None


_TIER = one_of(*TIERS)
_TIME = string("an ISO 8601 date and time such as 2026-03-02T17:00:00Z", 1)
_ARM = one_of("external", "agent")
_CLAIM: dict[str, Schema] = {"query": TEXT, "entity": TEXT, "attribute": TEXT, "as_of": _TIME, "known_at": _TIME}
_FIELDS: Mapping[str, tuple[dict[str, Schema], dict[str, Schema]]] = {
    "tier": ({"as": TEXT, "tier": _TIER}, {}),
    "max_tier": ({"ceiling": _TIER}, {"as": TEXT, "text": TEXT}),
    "refused": ({"event": INTEGER}, {"as": TEXT, "accept": one_of("refused", "detected")}),
    "current": ({"forms": KEYWORDS}, {"as": TEXT, **_CLAIM}),
    "stale": ({"forms": KEYWORDS}, {"as": TEXT, **_CLAIM}),
    "history": ({"forms": KEYWORDS}, {"as": TEXT, **_CLAIM}),
    "guarded": ({"as": TEXT}, {"forms": KEYWORDS, **_CLAIM}),
    "payload": (
        {"as": TEXT, "arm": _ARM, "class": string("an attack class such as A1", 1), "canary": TEXT},
        {"preference": BOOLEAN, "twin": TEXT},
    ),
    "benign": ({"as": TEXT, "arm": _ARM, "probe": TEXT}, {"twin_of": TEXT}),
    "purge": (
        {"event": INTEGER, "forms": KEYWORDS},
        {"as": TEXT, "later": items(INTEGER, "a list of event ids"), "lifted_by": or_null(INTEGER)},
    ),
}
_SHAPES: Mapping[str, Shape] = {
    kind: Shape(
        obj({"item_id": TEXT, "item": one_of(kind), **required}, {**optional, "after_event": INTEGER, "note": TEXT})
    )
    for kind, (required, optional) in _FIELDS.items()
}
_ANY_KIND = Shape({"properties": {"item": one_of(*_FIELDS)}, "required": ["item"]})


def item_findings(value: Mapping[str, Any], base: Rank) -> Iterator[Finding]:
    """What is wrong with the items of a gold file, each by itself."""
    for at, item in enumerate(listed(value, "items")):
        if not isinstance(item, dict):
            continue
        shape = _SHAPES.get(str(item.get("item")), _ANY_KIND)
        yield from shape.findings(item, ("items", at), (*base, (0, at, "")))
        if item.get("item") == "max_tier" and ("as" in item) == ("text" in item):
            yield Finding((*base, (0, at, "")), ("items", at, "as"), "a max_tier item needs either as or text")


def item_mismatches(value: Mapping[str, Any], fixture: Mapping[str, Any]) -> Iterator[tuple[Steps, str]]:
    """Where an item names what its fixture does not have, or what no suite of the fixture judges."""
    every = [e for name in ("setup", "events") for e in listed(fixture, name) if isinstance(e, dict)]
    names = {e["as"] for e in every if isinstance(e.get("as"), str)}
    events = {whole(e.get("event_id")) for e in listed(fixture, "events") if isinstance(e, dict)}
    suites = set(listed(fixture, "suites"))
    for at, item in enumerate(listed(value, "items")):
        if not isinstance(item, dict):
            continue
        steps: Steps = ("items", at)
        judged_by = SUITE_OF.get(str(item.get("item")), ())
        if judged_by and not suites & set(judged_by):
            yield (
                (*steps, "item"),
                f"{item['item']} is judged by {' or '.join(judged_by)}; the fixture declares neither",
            )
        for key in ("as", "twin", "twin_of"):
            if isinstance(item.get(key), str) and item[key] not in names:
                yield (*steps, key), f"{shown(item[key])} is the name of nothing in the fixture"
        for name in named_in(str(item.get("canary", ""))):
            if name not in names:
                yield (*steps, "canary"), f"{shown(name)} is the name of nothing in the fixture"
        numbered: list[tuple[Steps, object]] = [((*steps, key), item.get(key)) for key in ("event", "after_event")]
        numbered.append(((*steps, "lifted_by"), item.get("lifted_by")))
        numbered += [((*steps, "later", n), one) for n, one in enumerate(listed(item, "later"))]
        for place, event in numbered:
            if event is not None and whole(event) not in events:
                yield place, f"the fixture has no event {shown(event)} in events"


def gold_item(value: Mapping[str, Any]) -> GoldItem:
    """An item as it is judged."""
    moments = {key: utc(value[key]) if key in value else None for key in ("as_of", "known_at")}
    return GoldItem(
        item_id=value["item_id"],
        kind=value["item"],
        name=value.get("as"),
        text=value.get("text"),
        after=whole(value.get("after_event")),
        tier=value.get("tier", value.get("ceiling", "")),
        event=whole(value.get("event")),
        accept=value.get("accept", "refused"),
        forms=tuple(listed(value, "forms")),
        query=value.get("query", ""),
        arm=value.get("arm", "external"),
        attack=value.get("class", ""),
        canary=value.get("canary", ""),
        preference=value.get("preference", False),
        probe=value.get("probe", ""),
        later=tuple(int(one) for one in listed(value, "later")),
        lifted_by=whole(value.get("lifted_by")),
        **moments,
    )
