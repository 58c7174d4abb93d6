"""Update, supersede, contradiction."""

from __future__ import annotations

from collections.abc import Iterator

from brainbench.field import wording
from brainbench.field.draw import Draw
from brainbench.field.row import Case, Row, Told, add, find, get, listed, reopen, update
from brainbench.model import Capability
from brainbench.replay.items import Step


def new_text(draw: Draw) -> Case:
    """A text that is changed, and asked for by its old and new words."""
    (scope,) = draw.scopes(1)
    name, town, works = draw.name(), draw.town(), draw.pick(wording.WORKS)
    old, new, *rest = draw.random.sample(wording.PLACES, 5)
    before, after = (works.format(n=name, p=place, t=town) for place in (old, new))
    steps = (
        add("add", scope, before),
        *(add(place, scope, works.format(n=draw.name(), p=place, t=draw.town())) for place in rest),
        find("before", scope, old),
        update("update", scope, "add", after),
        find("new", scope, new),
        find("old", scope, old, 10),
        reopen(optional=True),
        find("new, reopened", scope, new),
        find("old, reopened", scope, old, 10),
    )

    def check(told: Told) -> Iterator[str]:
        yield from told.holds("before", before)
        for more in ("", ", reopened"):
            yield from told.first(f"new{more}", after)
            yield from told.lacks(f"old{more}", before)
        row = told.row("new", after)
        if row is not None and row.id != told["update"].text:
            yield f"{told.call('new')}: expected id {told['update'].text!r}, got {row.id!r}"

    return Case((scope,), steps, check)


def twice(draw: Draw) -> Case:
    """Two changes of a short text."""
    (scope,) = draw.scopes(1)
    first, second, third = draw.facts(3)
    steps = (
        add("add", scope, first.text),
        update("once", scope, "add", second.text),
        update("twice", scope, "once", third.text),
        find("found", scope, third.word, 10),
        listed("list", scope, optional=True),
    )

    def check(told: Told) -> Iterator[str]:
        yield from told.times("found", third.text, 1)
        for label in ("found", "list"):
            yield from told.lacks(label, first.text, second.text)
        yield from told.times("list", third.text, 1)

    return Case((scope,), steps, check)


def metadata(draw: Draw) -> Case:
    """A text with metadata, of which only the text is changed."""
    (scope,) = draw.scopes(1)
    before, after = draw.facts(2)
    meta: dict[str, str | int] = {"src": f"m{draw.number(10, 99)}", "session": draw.name(), "prio": draw.number(1, 9)}
    steps = (
        add("add", scope, before.text, meta=tuple(meta.items())),
        get("before", scope, "add"),
        update("update", scope, "add", after.text),
        get("after", scope, "update"),
    )

    def check(told: Told) -> Iterator[str]:
        yield from told.holds("before", before.text)
        yield from told.holds("after", after.text)
        for label in ("before", "after"):
            for row in told[label].rows:
                if {key: row.meta.get(key) for key in meta} != meta:
                    yield f"{told.call(label)}: expected metadata {meta}, got {dict(row.meta)}"

    return Case(
        (scope,),
        steps,
        check,
    )


def said_twice(draw: Draw) -> Case:
    """The same sentence two times."""
    (scope,) = draw.scopes(1)
    (fact,) = draw.facts(1)
    steps = (add("once", scope, fact.text), add("twice", scope, fact.text), find("found", scope, fact.word))

    def check(told: Told) -> Iterator[str]:
        yield from told.holds("found", fact.text)

    return Case((scope,), steps, check)


def stale(draw: Draw) -> Case:
    """A value, a later one in other words, and a question worded like the first."""
    (scope,) = draw.scopes(1)
    old, new, question = draw.pick(wording.SETTINGS)
    words = {"n": draw.name(), "old": str(draw.number(20, 99)), "new": str(draw.number(10_000, 60_000))}
    before, after = old.format(**words), new.format(**words)
    steps = (
        add("old", scope, before, ts="2026-03-01T09:00:00Z", now="2026-03-01T09:00:00Z"),
        add("new", scope, after, ts="2026-06-01T09:00:00Z", now="2026-06-01T09:00:00Z"),
        find("asked", scope, question.format(**words)),
    )

    def check(told: Told) -> Iterator[str]:
        current = [row for row in told["asked"].rows if row.superseded_by is None]
        if told.asked("asked") and not (current and current[0].text.strip() == after):
            yield f"{told.call('asked')}: expected the current value {words['new']} first, got {told.gave('asked')}"

    return Case((scope,), steps, check)


def reassigned(draw: Draw) -> Case:
    """An assignment that takes the place of another."""
    (scope,) = draw.scopes(1)
    name, first, second = draw.name(), draw.town(), draw.town()
    before, after, question = (text.format(n=name, a=first, b=second) for text in draw.pick(wording.ASSIGNED))
    steps = (
        add("before", scope, before),
        add("after", scope, after, of="before"),
        find("asked", scope, question),
        listed("list", scope, optional=True),
    )

    def check(told: Told) -> Iterator[str]:
        yield from told.holds("asked", after)
        for label in ("asked", "list"):
            old = told.row(label, before)
            if old is not None and old.superseded_by is None:
                yield f"{told.call(label)}: expected only {second} as current, got {told.gave(label)}"

    return Case((scope,), steps, check)


def additive(draw: Draw) -> Case:
    """Three things that are all true of somebody."""
    (scope,) = draw.scopes(1)
    name, firm = draw.name(), draw.town()
    texts = tuple(text.format(n=name, f=firm) for text in draw.pick(wording.ADDITIVE))
    steps = (
        *(add(f"fact {number}", scope, text) for number, text in enumerate(texts)),
        find("asked", scope, name),
        listed("list", scope, optional=True),
    )

    def check(told: Told) -> Iterator[str]:
        for label in ("asked", "list"):
            yield from told.holds(label, *texts)
            for text in texts:
                row = told.row(label, text)
                if row is not None and row.superseded_by is not None:
                    yield f"{told.call(label)}: expected {text!r} to stay current, got it superseded"

    return Case((scope,), steps, check)


def true_again(draw: Draw) -> Case:
    """On one thing, on another, and on the first again."""
    (scope,) = draw.scopes(1)
    name, first, second = draw.name(), draw.town(), draw.town()
    belongs, asked = draw.pick(wording.TEAMS)
    one, other = (belongs.format(n=name, a=group) for group in (first, second))
    question = asked.format(n=name)
    days = ("2026-01-05T09:00:00Z", "2026-04-05T09:00:00Z", "2026-07-05T09:00:00Z")
    steps = (
        add("Jan", scope, one, ts=days[0], now=days[0]),
        add("Apr", scope, other, of="Jan", ts=days[1], now=days[1]),
        add("Jul", scope, one, of="Apr", ts=days[2], now=days[2]),
        find("February", scope, question, as_of="2026-02-10T00:00:00Z"),
        find("May", scope, question, as_of="2026-05-10T00:00:00Z"),
        find("August", scope, question, as_of="2026-08-10T00:00:00Z"),
    )

    def check(told: Told) -> Iterator[str]:
        for label, right, wrong in (("February", one, other), ("May", other, one), ("August", one, other)):
            yield from told.holds(label, right)
            yield from told.lacks(label, wrong)

    return Case((scope,), steps, check)


def keyed(draw: Draw) -> Case:
    """Two texts under one key."""
    (scope,) = draw.scopes(1)
    before, after = draw.facts(2)
    key = f"people/{draw.name().lower()}"
    steps = (
        Step("put", "put", scope, f"{before.text}\n", name=key),
        Step("found", "search", scope, before.word),
        Step("put again", "put", scope, f"{after.text}\n", name=key),
        Step("read", "read", scope, name=key),
        Step("old", "search", scope, before.word),
        Step("new", "search", scope, after.word),
    )

    def check(told: Told) -> Iterator[str]:
        yield from told.holds("read", after.text)
        if told.asked("found") and not told["found"].rows:
            yield f"{told.call('found')}: expected the page, got nothing"
        yield from told.lacks("old", before.text)
        ids = [row.id for row in told["new"].rows]
        if told.asked("new") and ids.count(key) != 1:
            yield f"{told.call('new')}: expected {key} once, got {ids}"

    return Case((scope,), steps, check)


def superseded(draw: Draw) -> Case:
    """A fact that another takes the place of."""
    (scope,) = draw.scopes(1)
    before, after = draw.facts(2)
    steps = (
        add("old", scope, before.text),
        add("new", scope, after.text, of="old"),
        find("by default", scope, before.word),
        get("on request", scope, "old"),
    )

    def check(told: Told) -> Iterator[str]:
        yield from told.lacks("by default", before.text)
        yield from told.holds("on request", before.text)
        for row in told["on request"].rows:
            if row.superseded_by != told["new"].text:
                new = told["new"].text
                yield f"{told.call('on request')}: expected superseded by {new!r}, got {row.superseded_by!r}"

    return Case((scope,), steps, check)


_SUPERSEDE = frozenset({Capability.SUPERSEDE})
ROWS = (
    Row("UPD-01", 1, "after an update every index describes the new text, and none the old", new_text),
    Row("UPD-02", 1, "an item that is updated twice is still found, once", twice),
    Row("UPD-03", 1, "an update of the text keeps the metadata", metadata, needs=frozenset({Capability.META})),
    Row("UPD-05", 1, "the same sentence said twice leaves at least one", said_twice),
    Row("UPD-06", 1, "the current value comes before one worded like the question", stale),
    Row(
        "UPD-08",
        1,
        "a reassignment leaves only the new one current (by an explicit supersede)",
        reassigned,
        needs=_SUPERSEDE,
    ),
    Row("UPD-09", 1, "facts that add to one another all stay current", additive),
    Row(
        "UPD-11",
        2,
        "what became true again has its own interval",
        true_again,
        needs=_SUPERSEDE | {Capability.AS_OF, Capability.EVENT_TIME},
    ),
    Row("UPD-13", 2, "a second text under one key replaces the first", keyed, needs=frozenset({Capability.ADD})),
    Row("UPD-14", 2, "three paraphrases of one fact do not crowd out others", unasked="LLM: needs an extracting model"),
    Row("UPD-15", 3, "what was superseded is hidden, and on request names its successor", superseded, needs=_SUPERSEDE),
)
