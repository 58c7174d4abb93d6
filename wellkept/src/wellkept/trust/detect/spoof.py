"""D14: a text that says of itself how far it is to be trusted."""

from __future__ import annotations

import re
from collections.abc import Iterator

from wellkept.trust.detect.markup import shown_as_code
from wellkept.trust.detect.signs import Sign

_NEEDED = ("trust", "tier", "confirm", "written", "owner", "verified", "integrity")
_CLAIM = re.compile(
    r"\b(?:trust|tier|trust[ _-]?(?:tier|level)|provenance|author(?:ity)?|writer|channel|integrity)\b[\"']?"
    r"[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?:user[ _-](?:confirmed|written)|owner(?:[ _-]\w+)?|system|verified|sealed)\b"
    r"|[\[(<][ \t]{0,2}user[ _-](?:confirmed|written)\b[^\n\])>]{0,20}[\])>]",
    re.IGNORECASE,
)
_YES = re.compile(
    r"\b(?:confirmed|verified|trusted)\b[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?(?:true|yes)\b", re.IGNORECASE
)


def spoofs(text: str) -> Iterator[Sign]:
    """Fields and labels that give the text a tier; a field that only says yes, or is shown as code, is no sure sign."""
    lower = text.lower()
    if not any(part in lower for part in _NEEDED):
        return
    code = shown_as_code(text)
    for claim in _CLAIM.finditer(text):
        yield Sign("D14", claim.start(), claim.end(), sure=not code(claim.start(), claim.end()))
    yield from (Sign("D14", claim.start(), claim.end(), sure=False) for claim in _YES.finditer(text))
