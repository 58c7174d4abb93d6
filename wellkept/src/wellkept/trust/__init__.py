"""Who said it, and how that is shown. Pure functions: nothing here reads, writes or trusts what a text claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from wellkept.errors import InvalidInput
from wellkept.model import CONTENT_ORIGINS, ContentOrigin, Fact, Hit, Page, Pointer, Said, Status, Trust

Actor = Literal["owner", "agent", "external"]

_U, _A, _E = Trust.USER_WRITTEN, Trust.AGENT_WRITTEN, Trust.EXTERNAL_UNTRUSTED
CEILINGS: Mapping[str, Mapping[str, Trust]] = {
    "owner": {"user_said": _U, "agent_inferred": _A, "document": _U, "tool_output": _E, "import": _E},
    "agent": {"user_said": _A, "agent_inferred": _A, "document": _E, "tool_output": _E, "import": _E},
    "external": dict.fromkeys(CONTENT_ORIGINS, _E),
}
"""The most trust that a writer's text can have, by where the writer says it is from. Never `user_confirmed`."""

_UNSAID: Mapping[str, Trust] = {"owner": _U, "agent": _A, "external": _E}


def admitted(actor: str, origin: ContentOrigin | None) -> Trust:
    """The tier of what this actor writes. A claim about its origin can lower the tier and never raises it."""
    if actor not in get_args(Actor):
        raise InvalidInput("actor", f"is {actor!r}; use one of {', '.join(get_args(Actor))}")
    if origin is None:
        return _UNSAID[actor]
    if origin not in CONTENT_ORIGINS:
        raise InvalidInput("content_origin", f"is {origin!r}; use one of {', '.join(CONTENT_ORIGINS)}")
    return CEILINGS[actor][origin]


@dataclass(frozen=True, slots=True)
class Label:
    """What stands on every item that is read. `integrity` is None where nothing was sealed, so nothing was verified."""

    trust: str
    label: str
    confirmed: bool
    content_origin: ContentOrigin | None
    source: str
    status: Status
    flags: tuple[str, ...] = ()
    integrity: str | None = None


def label(item: Page | Fact | Hit | Pointer | Said) -> Label:
    """The label of one item: always that of the item itself, never of the list it stands in."""
    origin = item.told.content_origin if isinstance(item, Page) else getattr(item, "content_origin", None)
    status: Status = item.status if isinstance(item, Page | Fact) else "active"
    tier = item.trust
    integrity = getattr(item, "integrity", None)
    return Label(
        tier.name.lower(), tier.label, tier is Trust.USER_CONFIRMED, origin, item.source, status, integrity=integrity
    )
