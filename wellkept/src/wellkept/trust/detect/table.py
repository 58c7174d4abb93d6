"""Which detectors there are, and how much their signs weigh by the channel that a text came by."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain

from wellkept.trust.detect.bulk import junk, too_much
from wellkept.trust.detect.markup import markup
from wellkept.trust.detect.said import said
from wellkept.trust.detect.secret import secrets
from wellkept.trust.detect.signs import Kind, Look, Sign, Where
from wellkept.trust.detect.sinks import sinks
from wellkept.trust.detect.spoof import spoofs
from wellkept.trust.detect.unseen import mixed_scripts, reordered, unseen

EVERY_LAYER: Mapping[str, Look] = {"D1": said, "D4": markup, "D9": sinks, "D14": spoofs}
"""Looked for in the text, in its plain form and in what is encoded in it, by the first id that each may give."""

AS_WRITTEN: Mapping[str, Look] = {
    "D5": unseen,
    "D6": reordered,
    "D7": mixed_scripts,
    "D12": secrets,
}
"""Looked for in the text as it was written only."""

_ORDERS: Mapping[Where, tuple[int, int]] = {"owner": (1, 1), "agent": (2, 2), "external": (2, 1)}
_HIDDEN: Mapping[Where, tuple[int, int]] = {"owner": (1, 1), "agent": (2, 1), "external": (2, 1)}
_SECRET: Mapping[Where, tuple[int, int]] = {"owner": (2, 1), "agent": (2, 1), "external": (2, 1)}

SEVERITY: Mapping[str, Mapping[Where, tuple[int, int]]] = {
    "D1": _ORDERS,
    "D2": _ORDERS,
    "D3": {"owner": (0, 0), "agent": (2, 2), "external": (2, 1)},
    "D4": _ORDERS,
    "D5": _HIDDEN,
    "D6": _HIDDEN,
    "D7": _HIDDEN,
    "D9": _ORDERS,
    "D10": {"owner": (0, 0), "agent": (2, 2), "external": (2, 1)},
    "D11": _HIDDEN,
    "D12": _SECRET,
    "D13": {"owner": (1, 1), "agent": (2, 1), "external": (2, 1)},
    "D14": {"owner": (1, 1), "agent": (2, 2), "external": (2, 1)},
}
"""How much a sign weighs: (a sure one, another). 0 is not noted, 1 is noted, 2 acts. D8 weighs what it hides weighs.

Agents are the ones that can be talked into writing, and a flag on their text costs little, since it is kept; what
strangers write can be held, so that it takes a sure sign there. The owner's own wishes are no sign at all.
"""


def sized(kind: Kind) -> Look:
    """Looks whether there is too much text for a page or a fact, and whether it is a text."""

    def look(text: str) -> Iterator[Sign]:
        return chain(too_much(text, kind), junk(text))

    return look
