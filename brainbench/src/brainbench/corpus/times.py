"""Points in time as the bench writes them: ISO 8601, UTC, ending in Z."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_DATE = r"\d{4}-?\d{2}-?\d{2}"
_CLOCK = r"\d{2}(:?\d{2}(:?\d{2}([.,]\d+)?)?)?"
_FORM = re.compile(rf"{_DATE}([T ]{_CLOCK}(Z|[+-]\d{{2}}(:?\d{{2}})?)?)?", re.ASCII)


def utc(text: str) -> str:
    """The same instant in UTC, such as `2026-03-02T17:00:00Z`. Without a zone it is read as UTC.

    ValueError if the text is no ISO 8601 date, or date and time. Fractions finer than a microsecond are cut.

    >>> utc("2026-03-02T18:30+01:30")
    '2026-03-02T17:00:00Z'
    """
    if not _FORM.fullmatch(text):
        raise ValueError(f"{text!r} is no ISO 8601 date and time")
    try:
        moment = datetime.fromisoformat(text)
        aware = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
    except OverflowError:
        raise ValueError(f"{text!r} lies outside the years 1 to 9999") from None
    return aware.replace(tzinfo=None).isoformat() + "Z"


def has_zone(text: str) -> bool:
    """Whether an ISO 8601 text says in which zone it is."""
    return re.search(r"[T ].*(Z|[+-]\d{2}(:?\d{2})?)$", text, re.ASCII) is not None
