"""Who said it, and how that is shown. Pure functions: nothing here reads, writes or trusts what a text claims."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from wellkept.errors import InvalidInput
from wellkept.model import (
    CHANNELS,
    CONTENT_ORIGINS,
    Change,
    Channel,
    ContentOrigin,
    Fact,
    Hit,
    Page,
    PageRef,
    Pointer,
    Said,
    Statement,
    Status,
    Trust,
    Writer,
)

_E, _A, _U = Trust.EXTERNAL_UNTRUSTED, Trust.AGENT_WRITTEN, Trust.USER_WRITTEN
_AGENT = {"user_said": _A, "agent_inferred": _A, "document": _E, "tool_output": _E, "import": _E, "derived": _A}
CEILINGS: Mapping[Channel, Mapping[str, Trust | None]] = {
    # Somebody at a terminal.
    "owner_tty": {
        "user_said": _U, "agent_inferred": _A, "document": _U, "tool_output": _E, "import": _E, "derived": _U,
    },
    # The owner's user id without a terminal: scripts, pipes, the shells of agents.
    "owner_local": {
        "user_said": _A, "agent_inferred": _A, "document": _A, "tool_output": _E, "import": _E, "derived": _A,
    },
    # Files of a folder that was bound at a terminal.
    "owner_git": {
        "user_said": None, "agent_inferred": None, "document": _U, "tool_output": _E, "import": None, "derived": _U,
    },
    "hook": {
        "user_said": _A, "agent_inferred": _A, "document": _E, "tool_output": _E, "import": None, "derived": _A,
    },
    "agent_mcp": _AGENT,
    "agent_http": _AGENT,
    "agent_cli": _AGENT,
    "connector": dict.fromkeys(CONTENT_ORIGINS, _E),
    # Another installation.
    "peer": _AGENT,
    # What an own backup says of itself is looked at row by row; what cannot be shown is from outside.
    "restore": dict.fromkeys(CONTENT_ORIGINS, _E),
    # A job of wellkept's own writes what it derived, and nothing else.
    "maintenance": {**dict.fromkeys(CONTENT_ORIGINS, None), "derived": _U},
}  # fmt: skip
"""The most trust that a text can have, by the door that it came through and where its writer says it is from.

None is refused. It is never `user_confirmed`: that is the owner's word on one text and is not written.
"""

UNSAID: Mapping[Channel, ContentOrigin] = {
    "owner_tty": "user_said",
    "owner_local": "agent_inferred",
    "owner_git": "document",
    "hook": "agent_inferred",
    "agent_mcp": "agent_inferred",
    "agent_http": "agent_inferred",
    "agent_cli": "agent_inferred",
    "connector": "document",
    "peer": "document",
    "restore": "import",
    "maintenance": "derived",
}
"""Where a text is from whose writer does not say."""

OWNERS: frozenset[Channel] = frozenset({"owner_tty"})
"""Who may do what only the owner may."""


def admitted(writer: Writer, origin: ContentOrigin | None, lineage: Collection[Trust] = ()) -> Trust:
    """The tier of what is written: the least of the door's ceiling and of all that it was made from, `lineage`.

    What a writer says of a text's origin can lower the tier and never raises it. InvalidInput for an origin that the
    door cannot have.
    """
    if writer.channel not in CHANNELS:
        raise InvalidInput("channel", f"is {writer.channel!r}; use one of {', '.join(CHANNELS)}")
    if origin is not None and origin not in CONTENT_ORIGINS:
        raise InvalidInput("content_origin", f"is {origin!r}; use one of {', '.join(CONTENT_ORIGINS)}")
    said = UNSAID[writer.channel] if origin is None else origin
    ceiling = CEILINGS[writer.channel][said]
    if ceiling is None:
        able = [name for name, tier in CEILINGS[writer.channel].items() if tier is not None]
        raise InvalidInput("content_origin", f"is {said!r}, which {writer.channel} has not; use {' or '.join(able)}")
    if said == "derived" and not lineage:
        return _E
    return min((ceiling, *lineage))


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


HOLDS_SECRET = "secret"  # noqa: S105
"""The flag of what holds a secret that its owner kept all the same; elsewhere marks stand in the place of secrets."""


@dataclass(frozen=True, slots=True)
class Activation:
    """Whether what outsiders and agents wrote may be brought to a model that did not ask for it."""

    external: bool = True
    agent: bool = True

    @property
    def tiers(self) -> tuple[Trust, ...]:
        """The tiers that may."""
        return tuple(tier for tier in Trust if self._may(tier))

    def _may(self, tier: Trust) -> bool:
        return self.external if tier is _E else self.agent if tier is _A else True

    def allows(self, item: Page | PageRef | Fact | Statement) -> bool:
        """Whether the item may: it holds no secret, is as it was written, and of a tier that may."""
        if HOLDS_SECRET in item.flags or getattr(item, "integrity", None) == "failed":
            return False
        return self._may(item.trust)


Labelled = Page | PageRef | Fact | Hit | Pointer | Said | Statement
"""All that is read of what is stored."""


def label(item: Labelled) -> Label:
    """The label of one item: always that of the item itself, never of the list it stands in."""
    return Label(
        trust=item.trust.name.lower(),
        label=item.trust.label,
        confirmed=item.trust is Trust.USER_CONFIRMED,
        content_origin=item.told.content_origin if isinstance(item, Page) else item.content_origin,
        source=item.source,
        status=item.status if isinstance(item, Page | Fact | Hit) else "active",
        flags=item.flags,
        integrity=getattr(item, "integrity", None),
    )


def label_of_change(change: Change, text: Trust | None) -> Label:
    """The label of a line of the journal; `text` is the tier of what was replaced, which the line repeats."""
    tier = change.trust if text is None else min(change.trust, text)
    status: Status = "active" if change.before is None else "superseded"
    return Label(tier.name.lower(), tier.label, tier is Trust.USER_CONFIRMED, None, change.source, status)
