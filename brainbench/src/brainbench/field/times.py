"""Time."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from brainbench.field.draw import Draw
from brainbench.field.row import Case, Row, Told, add, find, get, listed, moment, reopen
from brainbench.model import Capability


def two_zones(draw: Draw) -> Case:
    """The same instant, late in the evening, written and read under two time zones."""
    (scope,) = draw.scopes(1)
    east, west = draw.facts(2)
    at = f"2026-05-{draw.number(3, 27):02d}T15:30:00Z"
    steps = (
        reopen("to the east", zone="Asia/Shanghai"),
        add("east", scope, east.text, ts=at),
        listed("list in the east", scope),
        reopen("to UTC", zone="UTC"),
        add("west", scope, west.text, ts=at),
        listed("list in UTC", scope),
    )

    def check(told: Told) -> Iterator[str]:
        yield from told.holds("list in the east", east.text)
        yield from told.holds("list in UTC", east.text, west.text)
        for label in ("list in the east", "list in UTC"):
            for row in told[label].rows:
                if row.text.strip() in (east.text, west.text) and moment(row.at) != moment(at):
                    yield f"{label}: expected the event at {at}, got {row.at or 'no time'}"

    return Case((scope,), steps, check)


def long_ago(draw: Draw) -> Case:
    """Something that happened years before it is written."""
    (scope,) = draw.scopes(1)
    then, lately = draw.facts(2)
    at = f"2019-03-{draw.number(2, 27):02d}T00:00:00Z"
    steps = (
        add("then", scope, then.text, ts=at),
        add("lately", scope, lately.text),
        get("get", scope, "then"),
        find("asked", scope, f"{then.word} in March 2019"),
    )

    def check(told: Told) -> Iterator[str]:
        yield from told.holds("get", then.text)
        yield from told.holds("asked", then.text)
        for row in told["get"].rows:
            if moment(row.at) != moment(at):
                yield f"get: expected the event at {at}, got {row.at or 'no time'}"
            made = moment(row.made)
            if not isinstance(made, datetime) or made == moment(at):
                yield f"get: expected when it was written beside when it was so, got {row.made or 'no time'}"

    return Case((scope,), steps, check)


_TIMED = frozenset({Capability.EVENT_TIME})
ROWS = (
    Row("TIM-04", 1, "an instant is the same in every time zone of the process", two_zones, needs=_TIMED),
    Row("TIM-05", 1, "when it was so is kept beside when it was written", long_ago, needs=_TIMED),
    Row("TIM-10", 3, "two surfaces write the same instant", unasked="a system has one door here"),
)
