"""The time that a question names, and what a record gains from its time."""

from __future__ import annotations

import math
import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, timedelta

NEAR: tuple[tuple[int, float], ...] = ((3, 1.4), (7, 1.25), (14, 1.1))
"""Days between a record and the time that was asked for, and what its score is multiplied by."""
DECAY_DAYS, FLOOR = 365.0, 0.1
RECENCY = 0.25
"""How much of a score age may take, where what is recent shall go first."""

_NUMBERS = {
    word: number
    for number, said in enumerate(
        (
            *(("a", "an", "one"), ("two", "a couple of"), ("three", "a few"), ("four",), ("five",), ("six",)),
            *(("seven",), ("eight",), ("nine",), ("ten",), ("eleven",), ("twelve",)),
        ),
        start=1,
    )
    for word in said
}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?\b"
_YEAR = r"(?P<year>[0-9]{4})\b"
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")


@dataclass(frozen=True, slots=True)
class Span:
    """The days from `first` to `last`, both included."""

    first: date
    last: date

    def days_from(self, day: date) -> int:
        """How far a day is from the span; 0 inside it."""
        return max((self.first - day).days, (day - self.last).days, 0)


def asked_time(query: str, reference: datetime) -> Span | None:
    """The time that the query names, as seen from `reference`; the first that it names; None when it names none.

    >>> asked_time("what did we eat three days ago?", datetime(2024, 3, 15)).first
    datetime.date(2024, 3, 12)
    """
    text = " ".join(query.lower().split())
    found = [
        (match.start(), -len(match[0]), span)
        for pattern, read in _FORMS
        for match in pattern.finditer(text)
        if (span := _read(read, match, reference.date())) is not None
    ]
    return min(found, key=lambda entry: entry[:2])[2] if found else None


def nearness(span: Span, day: date) -> float:
    """What the score of a record of that day is multiplied by."""
    apart = span.days_from(day)
    return next((factor for days, factor in NEAR if apart <= days), 1.0)


def temporal_boost(age_days: float, decay_days: float = DECAY_DAYS, floor: float = FLOOR) -> float:
    """How much an age leaves, from 1 down to `floor`. An age below 0 counts as 0, a decay below a day as a day.

    >>> round(temporal_boost(365), 6)
    0.367879
    """
    return max(floor, math.exp(-max(age_days, 0.0) / max(decay_days, 1.0)))


def _read(read: Callable[[re.Match[str], date], Span | None], match: re.Match[str], today: date) -> Span | None:
    try:
        return read(match, today)
    except (ValueError, OverflowError):  # no such day, or before the calendar begins
        return None


def _point(day: date) -> Span:
    return Span(day, day)


def _ago(match: re.Match[str], today: date) -> Span:
    said = match["count"]
    count = int(said) if said.isdecimal() else _NUMBERS[said]
    unit = match["unit"]
    if unit in ("day", "week"):
        return _point(today - timedelta(days=count * (7 if unit == "week" else 1)))
    months = count * (12 if unit == "year" else 1)
    index = today.year * 12 + today.month - 1 - months
    year, month = divmod(index, 12)
    return _point(date(year, month + 1, min(today.day, monthrange(year, month + 1)[1])))


def _relative(match: re.Match[str], today: date) -> Span:
    return _point(today - timedelta(days=_RELATIVE[match[1]]))


def _last(match: re.Match[str], today: date) -> Span:
    unit = match["unit"]
    if unit == "week":
        monday = today - timedelta(days=today.weekday() + 7)
        return Span(monday, monday + timedelta(days=6))
    if unit == "month":
        end = today.replace(day=1) - timedelta(days=1)
        return Span(end.replace(day=1), end)
    return Span(date(today.year - 1, 1, 1), date(today.year - 1, 12, 31))


def _weekday(match: re.Match[str], today: date) -> Span:
    back = (today.weekday() - _WEEKDAYS.index(match["weekday"])) % 7
    return _point(today - timedelta(days=back or 7))


def _iso(match: re.Match[str], today: date) -> Span:
    year, month = int(match["year"]), int(match["number"])
    if match["day"]:
        return _point(date(year, month, int(match["day"])))
    return Span(date(year, month, 1), date(year, month, monthrange(year, month)[1]))


def _month_date(match: re.Match[str], today: date) -> Span:
    named = match.groupdict()
    month = _MONTHS.index(named["month"][:3]) + 1
    day = int(named["day"]) if named.get("day") else None
    if named.get("year"):
        year = int(named["year"])
    else:
        # The last one that has begun.
        year = today.year if (month, day or 1) <= (today.month, today.day) else today.year - 1
    if day is not None:
        return _point(date(year, month, day))
    return Span(date(year, month, 1), date(year, month, monthrange(year, month)[1]))


_RELATIVE = {"today": 0, "yesterday": 1, "the day before yesterday": 2}
_COUNT = "|".join(sorted(_NUMBERS, key=len, reverse=True))

_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], Span | None]], ...] = tuple(
    (re.compile(pattern), read)
    for pattern, read in (
        (rf"\b(?P<count>[0-9]{{1,5}}|{_COUNT}) (?P<unit>day|week|month|year)s? ago\b", _ago),
        (r"\b(the day before yesterday|yesterday|today)\b", _relative),
        (r"\blast (?P<unit>week|month|year)\b", _last),
        (rf"\b(?:(?:last|on|this past) )?(?P<weekday>{'|'.join(_WEEKDAYS)})\b", _weekday),
        (r"\b(?P<year>[0-9]{4})[-/](?P<number>[0-9]{2})(?:[-/](?P<day>[0-9]{2}))?\b", _iso),
        (rf"\b{_MONTH} {_DAY}(?:,? {_YEAR})?", _month_date),
        (rf"\b{_DAY}(?: of)? {_MONTH}(?:,? {_YEAR})?", _month_date),
        (rf"\b{_MONTH},? {_YEAR}", _month_date),
        (rf"\b(?:in|during|since|of|last) {_MONTH}(?! [0-9])", _month_date),
    )
)
