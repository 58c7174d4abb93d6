"""The two fixture formats as literals, fields in the order in which they are checked.

Version 1 is the interchange format; version 2 is a script of events. Neither has a place for gold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from brainbench.corpus.shape import (
    BOOLEAN,
    FIXTURE_ID,
    INTEGER,
    STRINGS,
    TEXT,
    Finding,
    Schema,
    Shape,
    Steps,
    items,
    mapping,
    obj,
    one_of,
    or_null,
    string,
)
from brainbench.model import (
    FACT_KINDS,
    SUITE_NAMES,
    V1_SUITES,
    Actor,
    Capability,
    Challenge,
    Door,
    EditOp,
    Part,
    ResyncOp,
    Role,
    Stratum,
    TextOrigin,
)

V1_SEALED = frozenset({"gold"})
NATIVE_SEALED = frozenset({"gold", "expected", "answer", "label", "match_keywords", "should_retrieve"})
"""Keys that may stand nowhere in a fixture, at no depth."""

ANY = string()
TIME = string("an ISO 8601 date and time such as 2026-03-02T17:00:00Z", 1)
ROLE = one_of(*get_args(Role))
ACTOR = one_of(*get_args(Actor))


def _suites(names: Sequence[str]) -> Schema:
    return items(one_of(*names), f"a non-empty list of {', '.join(names)}", 1)


V1_FIXTURE = Shape(
    obj(
        {
            "schema_version": one_of(1),
            "fixture_id": FIXTURE_ID,
            "suites": _suites(V1_SUITES),
            "turns": items(
                obj({"turn_id": INTEGER, "role": ROLE, "text": TEXT}, {"ts": TIME}), "a non-empty list of turns", 1
            ),
        },
        {
            "category": ANY,
            "holdout": BOOLEAN,
            "sources": STRINGS,
            "active_source": TEXT,
            "seed_pages": items(
                obj({"slug": TEXT, "content": TEXT}, {"source_id": TEXT}), "a list of pages with slug and content"
            ),
            "seed_facts": items(
                obj(
                    {"fact": TEXT},
                    {"entity_slug": or_null(TEXT), "source": ANY, "source_session": or_null(ANY), "source_id": TEXT},
                ),
                "a list of facts",
            ),
            "continuity": obj({"pair_id": TEXT, "pair_role": one_of("writer", "reader")}),
        },
        order="schema_version fixture_id suites category holdout sources active_source seed_pages seed_facts turns "
        "continuity",
    )
)

_TARGET = obj({}, {"as": TEXT, "slug": TEXT, "fact": TEXT, "text": TEXT})
_COMMON: dict[str, Schema] = {"ts": TIME, "source": TEXT}
PRINCIPAL = string(
    'a principal: "owner", or "agent:", "connector:" or "user:" with an id',
    1,
    r"^(owner|(agent|connector|user):[^\s:]+)$",
)
DOOR = one_of(*get_args(Door))
CHALLENGE = one_of(*get_args(Challenge))
_BY: dict[str, Schema] = {"door": DOOR, "principal": PRINCIPAL, "as": TEXT, "settle_ms": INTEGER}
"""Of every event that somebody does."""


def _event(kind: str, required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Shape:
    return Shape(obj({"event_id": INTEGER, "kind": one_of(kind), **required}, {**(optional or {}), **_COMMON}))


EVENTS: Mapping[str, Shape] = {
    "turn": _event("turn", {"role": ROLE, "text": TEXT}, {"speaker": TEXT, **_BY}),
    "write": _event(
        "write",
        {"via": one_of("page", "fact", "tool", "connector"), "actor": ACTOR, "content": TEXT},
        {
            "slug": TEXT,
            "claims": STRINGS,
            "origin": one_of(*get_args(TextOrigin)),
            "entity": TEXT,
            "attribute": TEXT,
            "replaces": TEXT,
            "valid_from": TIME,
            "lineage": STRINGS,
            "part": one_of(*get_args(Part)),
            **_BY,
        },
    ),
    "edit": _event(
        "edit",
        {"actor": ACTOR},
        {
            "slug": TEXT,
            "target": _TARGET,
            "content": TEXT,
            "replace": obj({"old": TEXT, "new": ANY}),
            "op": one_of(*get_args(EditOp)),
            "patch": obj({}, {"old": TEXT, "new": ANY, "to": TEXT, "content": TEXT, "sql": TEXT}),
            **_BY,
        },
    ),
    "forget": _event(
        "forget",
        {"target": _TARGET, "mode": one_of("expire", "purge", "lift"), "actor": ACTOR},
        {"challenge": CHALLENGE, **_BY},
    ),
    "confirm": _event(
        "confirm",
        {"target": _TARGET, "actor": ACTOR, "door": TEXT},
        {
            "op": one_of("confirm", "unconfirm", "release", "discard"),
            "challenge": CHALLENGE,
            **{name: schema for name, schema in _BY.items() if name != "door"},
        },
    ),
    "resync": _event(
        "resync",
        {"snapshot": mapping(ANY, "an object of file paths and their text")},
        {"op": one_of(*get_args(ResyncOp)), "actor": ACTOR, **_BY},
    ),
    "session_break": _event(
        "session_break", {}, {"harness": TEXT, "persist": BOOLEAN, "jobs": BOOLEAN, "crash": BOOLEAN, **_BY}
    ),
}
_LANGUAGE = string(
    "a BCP 47 language tag such as en, zh-Hant or und",
    1,
    r"^([A-Za-z]{2,8}|[xXiI]-[A-Za-z0-9]{1,8})(-[A-Za-z0-9]{1,8})*$",
)
_EVENT: Schema = {"type": "object", "description": "an event object"}

NATIVE_FIXTURE = Shape(
    obj(
        {
            "schema_version": one_of(2),
            "fixture_id": FIXTURE_ID,
            "suites": _suites(SUITE_NAMES),
            "category": TEXT,
            "stratum": one_of(*get_args(Stratum)),
            "language": _LANGUAGE,
            "events": items(_EVENT, "a non-empty list of events", 1),
        },
        {
            "tags": STRINGS,
            "requires": items(one_of(*Capability), f"a list of capabilities: {', '.join(Capability)}"),
            "sources": items(
                obj({"id": TEXT}, {"owner": one_of("user", "agent", "external")}), "a non-empty list of sources", 1
            ),
            "active_source": TEXT,
            "universe": TEXT,
            "setup": items(_EVENT, "a list of write events"),
            "scripted_facts": items(
                obj(
                    {
                        "event_id": INTEGER,
                        "quote": TEXT,
                        "mention": or_null(TEXT),
                        "fact": TEXT,
                        "kind": one_of(*FACT_KINDS),
                    },
                    {"valid_from": TIME},
                ),
                "a list of scripted facts",
            ),
        },
        order="schema_version fixture_id suites category stratum language tags requires sources active_source universe "
        "setup events scripted_facts",
    )
)


def is_native(value: Mapping[str, Any]) -> bool:
    """Whether this fixture is a script of events, by its version; by its fields where the version says nothing."""
    version = value.get("schema_version")
    if isinstance(version, int | float) and not isinstance(version, bool) and version in (1, 2):
        return version == 2
    return "events" in value and "turns" not in value


def fixture_shape(value: Mapping[str, Any]) -> Shape:
    """The shape that a fixture's fields must have."""
    return NATIVE_FIXTURE if is_native(value) else V1_FIXTURE


def shape_findings(value: Mapping[str, Any]) -> list[Finding]:
    """What is wrong with the fields of a fixture, each by itself."""
    found = fixture_shape(value).findings(value)
    if is_native(value):
        for steps, event in events_of(value):
            found.extend(_event_findings(steps, event))
    return [_both_versions(f, value) for f in found]


def events_of(value: Mapping[str, Any]) -> list[tuple[Steps, Mapping[str, Any]]]:
    """The event objects of a native fixture with their places: those of `setup` first."""
    return [
        ((name, i), event)
        for name in ("setup", "events")
        for i, event in enumerate(listed(value, name))
        if isinstance(event, dict)
    ]


def listed(value: Mapping[str, Any], name: str) -> list[Any]:
    """The list under a key; an empty one if there is none."""
    found = value.get(name)
    return found if isinstance(found, list) else []


def _event_findings(steps: Steps, event: Mapping[str, Any]) -> list[Finding]:
    base = NATIVE_FIXTURE.rank(steps)
    kind = event.get("kind")
    allowed = ["write"] if steps[0] == "setup" else list(EVENTS)
    if isinstance(kind, str) and kind in allowed:
        return EVENTS[kind].findings(event, steps, base)
    only_kind = Shape({"properties": {"kind": one_of(*allowed)}, "required": ["kind"]})
    return only_kind.findings(event, steps, base)


def _both_versions(finding: Finding, value: Mapping[str, Any]) -> Finding:
    if finding.steps != ("schema_version",):
        return finding
    seen = "missing" if "schema_version" not in value else finding.reason.partition(" is not allowed")[0]
    reason = f"{seen}; needs 1 or 2" if seen == "missing" else f"{seen} is not allowed; needs 1 or 2"
    return Finding(finding.rank, finding.steps, reason)
