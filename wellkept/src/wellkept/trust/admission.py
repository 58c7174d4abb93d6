"""What becomes of a write: kept, kept with a flag, held until its owner has looked at it, or refused.

Pure: the caller gives what is written, by whom, and how strict the gate is.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from wellkept.model import GATE, Channel, ContentOrigin, Trust, Writer
from wellkept.trust import HOLDS_SECRET, admitted
from wellkept.trust.detect import ACTS, Kind, Known, Where, against, in_pieces, inspect, masked

Mode = Literal["flag", "quarantine", "block"]
Activation = Literal["allow", "suppress"]
Verdict = Literal["keep", "flag", "hold", "refuse"]

WHERE: Mapping[Channel, Where] = {
    "owner_tty": "owner",
    "owner_local": "agent",
    "owner_git": "owner",
    "hook": "agent",
    "agent_mcp": "agent",
    "agent_http": "agent",
    "agent_cli": "agent",
    "connector": "external",
    "peer": "external",
    "restore": "external",
    "maintenance": "agent",
}
"""How the detectors look at what comes by a channel."""

SECRET_ID = "D12"  # noqa: S105
"""What notices secrets."""
NEVER_HELD: frozenset[Channel] = frozenset({"owner_tty", "owner_git", "hook"})
"""What the owner types, their folders and their conversations are kept whatever is noticed: it is their own work."""


@dataclass(frozen=True, slots=True)
class Modes:
    """How strict the gate is with what strangers and agents write, and whether it is brought unasked."""

    external_mode: Mode = "flag"
    agent_mode: Mode = "flag"
    external_activation: Activation = "allow"
    agent_activation: Activation = "allow"

    def tightened(self, said: Mapping[str, str]) -> Modes:
        """These, each made as strict as what is said of it, and never less.

        >>> Modes(agent_mode="block").tightened({"agent_mode": "flag", "external_mode": "quarantine"})
        Modes(external_mode='quarantine', agent_mode='block', external_activation='allow', agent_activation='allow')
        """
        found = {}
        for name, choices in GATE.items():
            mine = getattr(self, name)
            found[name] = max(mine, said.get(name, mine), key=choices.index)
        return Modes(**found)


PROTECTED: Mapping[str, str] = {
    "external_mode": "quarantine",
    "agent_mode": "quarantine",
    "external_activation": "suppress",
    "agent_activation": "suppress",
}
"""The settings under which nothing of others is lost and nothing of theirs comes unasked."""


@dataclass(frozen=True, slots=True)
class Decision:
    """What becomes of a write: its tier, what was noticed by id, and its text with secrets masked."""

    verdict: Verdict
    tier: Trust
    flags: tuple[str, ...]
    text: str


def admit(
    writer: Writer,
    origin: ContentOrigin | None,
    text: str,
    *,
    kind: Kind = "page",
    beside: Sequence[str] = (),
    before: Sequence[str] = (),
    known: Sequence[Known] = (),
    lineage: Collection[Trust] = (),
    modes: Modes | None = None,
) -> Decision:
    """Decide on a text that is to be kept, and on what stands `beside` it: titles, entities, whatever else is said.

    `before` is what the same writer wrote last, oldest first; `known` what more trusted writers say of those it names.
    A secret is masked unless a person types it at a terminal. InvalidInput for an origin that the door cannot have.
    """
    modes = Modes() if modes is None else modes
    tier = admitted(writer, origin, lineage)
    where = WHERE[writer.channel]
    found = [flag for one in (text, *beside) for flag in inspect(one, where, kind=kind)]
    found += [*in_pieces(text, before, where), *against(text, known, where)]
    kept = text if writer.channel == "owner_tty" else masked(text, where)[0]
    flags = tuple(sorted({flag.id for flag in found}))
    if SECRET_ID in flags and kept == text and masked(text, where)[0] != text:
        flags += (HOLDS_SECRET,)
    acts = any(flag.severity >= ACTS for flag in found)
    mode = modes.external_mode if where == "external" else modes.agent_mode
    verdict: Verdict = "flag" if flags else "keep"
    if acts and writer.channel not in NEVER_HELD:
        verdict = _WHAT_ACTS[mode]
    return Decision(verdict, tier, flags, kept)


_WHAT_ACTS: Mapping[Mode, Verdict] = {"flag": "flag", "quarantine": "hold", "block": "refuse"}
