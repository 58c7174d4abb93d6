"""Scope, isolation, identity."""

from __future__ import annotations

from collections.abc import Iterator

from brainbench.field import wording
from brainbench.field.draw import Draw
from brainbench.field.row import Case, Row, Told, add, delete, find, get, listed, update
from brainbench.model import Capability
from brainbench.replay.items import Step


def two_users(draw: Draw) -> Case:
    """The same question of two users."""
    one, other = draw.scopes(2)
    home, question = draw.pick(wording.HOMES)
    mine, theirs = (home.format(t=draw.town()) for _ in range(2))
    steps = (
        add("mine", one, mine),
        add("theirs", other, theirs),
        find("find", one, question, 50),
        find("by word", one, theirs.split()[-1], 50),
        listed("list", one, optional=True),
        get("get", one, "theirs", optional=True, may_fail=True),
        find("own", one, mine.split()[-1]),
        find("their own", other, theirs.split()[-1]),
    )

    def check(told: Told) -> Iterator[str]:
        for label in ("find", "by word", "list", "get"):
            yield from told.lacks(label, theirs)
        yield from told.holds("own", mine)
        yield from told.holds("their own", theirs)

    return Case((one, other), steps, check)


def every_surface(draw: Draw) -> Case:
    """Another user's id, at every verb that takes one."""
    one, other = draw.scopes(2)
    mine, theirs, forged, spare, changed = draw.facts(5)
    steps = (
        add("mine", one, mine.text),
        add("theirs", other, theirs.text),
        add("spare", one, spare.text),
        get("get", one, "theirs", optional=True, may_fail=True),
        update("update", one, "theirs", forged.text, optional=True, may_fail=True),
        delete("delete", one, "theirs", optional=True, may_fail=True),
        find("their own", other, theirs.word),
        find("forged", other, forged.word),
        find("own", one, mine.word),
        get("get own", one, "mine", optional=True),
        update("update own", one, "mine", changed.text, optional=True),
        find("changed", one, changed.word),
        delete("delete own", one, "spare", optional=True),
        find("deleted", one, spare.word),
    )

    def check(told: Told) -> Iterator[str]:
        yield from told.holds("get own", mine.text)
        for label in ("update own", "delete own"):
            yield from told.says(label, yes=True, otherwise="expected success for an id of one's own, got not found")
        if told.asked("update own"):
            yield from told.holds("changed", changed.text)
        if told.asked("delete own"):
            yield from told.lacks("deleted", spare.text)
        yield from told.lacks("get", theirs.text)
        yield from told.says("delete", yes=False, otherwise="expected not found for another user's id, got success")
        yield from told.holds("their own", theirs.text)
        yield from told.lacks("forged", forged.text)
        yield from told.holds("own", mine.text)

    return Case((one, other), steps, check)


def _apart(draw: Draw, scopes: tuple[str, ...]) -> Case:
    """A text in each scope; the first one is looked through, and then wiped where that can be asked."""
    facts = draw.alike(len(scopes))
    steps = [add(scope, scope, fact.text) for scope, fact in zip(scopes, facts, strict=True)]
    steps += [find(f"in {scope}", scope, facts[0].word, 50) for scope in scopes]
    steps += [listed(f"list {scope}", scope, optional=True) for scope in scopes]
    steps += [Step("wipe", "delete_all", scopes[0], optional=True)]
    steps += [find(f"then in {scope}", scope, facts[0].word, 50) for scope in scopes]

    def check(told: Told) -> Iterator[str]:
        for scope, own in zip(scopes, facts, strict=True):
            others = [fact.text for fact in facts if fact is not own]
            yield from told.holds(f"in {scope}", own.text)
            yield from told.lacks(f"in {scope}", *others)
            yield from told.holds(f"list {scope}", own.text)
            yield from told.lacks(f"list {scope}", *others)
            if scope != scopes[0]:
                yield from told.holds(f"then in {scope}", own.text)
        if told.asked("wipe"):
            yield from told.lacks(f"then in {scopes[0]}", facts[0].text)

    return Case(scopes, tuple(steps), check)


def wildcards(draw: Draw) -> Case:
    """Scopes that would match one another as patterns, and an id made of wildcards."""
    name = draw.name().lower()
    case = _apart(draw, (f"{name}_a", f"{name}Xa", f"{name}%", f"{name}a"))
    scope = case.scopes[1]
    steps = (
        get("id of _", scope, "", id="_" * 6, optional=True, may_fail=True),
        delete("delete by _", scope, "", id="_" * 6, optional=True, may_fail=True),
        delete("delete by %", scope, "", id="%", optional=True, may_fail=True),
    )

    def check(told: Told) -> Iterator[str]:
        yield from told.empty("id of _")
        for label in ("delete by _", "delete by %"):
            yield from told.says(label, yes=False, otherwise="expected not found for a wildcard, got success")
        yield from case.check(told)

    adds = len(case.scopes)
    return Case(case.scopes, (*case.steps[:adds], *steps, *case.steps[adds:]), check)


def prefixes(draw: Draw) -> Case:
    """Scopes of which one begins like the others."""
    name = draw.name().lower()
    return _apart(draw, (f"{name}1", f"{name}10", f"{name}1/x"))


def nearly_a_scope(draw: Draw) -> Case:
    """A scope with a space at its end, and one that is misspelt."""
    begins, wrongly = draw.pick(wording.NEARLY)
    name = draw.name().lower()
    scope, misspelt = f"{begins}-{name}", f"{wrongly}-{name}"
    spaced = f"{scope} "
    own, stray = draw.facts(2)
    steps = (
        add("own", scope, own.text),
        add("stray", spaced, stray.text, may_fail=True),
        find("with a space", scope, stray.word),
        find("misspelt", misspelt, own.word, may_fail=True),
        find("nothing there", scope, draw.key(), may_fail=True),
        find("own again", scope, own.word),
    )

    def check(told: Told) -> Iterator[str]:
        if told.asked("stray") and not any(stray.text in text for text in told.texts("with a space")):
            yield f"add({spaced!r}): expected a refusal or the scope {scope!r}, got a second scope of nearly that name"
        if told.asked("misspelt"):
            gave = told.gave("misspelt")
            yield f"find({misspelt!r}): expected that an unknown scope is told apart from no match, got {gave}"
        yield from told.lacks("misspelt", own.text)
        yield from told.holds("own again", own.text)

    return Case((scope,), steps, check)


def the_same_text(draw: Draw) -> Case:
    """One text of two users."""
    one, other = draw.scopes(2)
    (desk,) = draw.facts(1)
    steps = (
        add("one", one, desk.text),
        add("other", other, desk.text),
        find("of one", one, desk.word),
        find("of the other", other, desk.word),
        delete("delete", one, "one", optional=True),
        find("of the other, then", other, desk.word),
        find("of one, then", one, desk.word),
    )

    def check(told: Told) -> Iterator[str]:
        for label in ("of one", "of the other", "of the other, then"):
            yield from told.holds(label, desk.text)
        if told.asked("delete"):
            yield from told.lacks("of one, then", desk.text)

    return Case((one, other), steps, check)


def another_project(draw: Draw) -> Case:
    """A rule of one project, asked for in another."""
    first, second = (f"project-{draw.name().lower()}" for _ in range(2))
    text, word, ways = draw.pick(wording.RULES)
    rule = text.format(w=draw.pick(ways), t=draw.town())
    other = draw.facts(1)[0]
    steps = (
        add("rule", first, rule),
        add("other", second, other.text),
        find("there", first, word),
        find("here", second, word, 20),
        find("here, whole", second, rule, 20),
    )

    def check(told: Told) -> Iterator[str]:
        yield from told.holds("there", rule)
        for label in ("here", "here, whole"):
            yield from told.lacks(label, rule)

    return Case((first, second), steps, check)


ROWS = (
    Row("ISO-01", 1, "a search, list or get of one user brings nothing of another", two_users),
    Row("ISO-03", 1, "another user's id opens, changes and deletes nothing", every_surface),
    Row("ISO-04", 1, "`_` and `%` in a scope or id are letters like others", wildcards),
    Row("ISO-05", 1, "a scope that begins like another one is another one", prefixes),
    Row(
        "ISO-06",
        2,
        "a scope with a space more, or misspelt, is refused or the same, and not a silent second one",
        nearly_a_scope,
        needs=frozenset({Capability.SOURCES}),
    ),
    Row("ISO-08", 1, "two users may keep the same text, each for himself", the_same_text),
    Row(
        "ISO-10",
        2,
        "a worktree and its project have one key",
        unasked="the key of a folder is made by a hook, not by a verb",
    ),
    Row("ISO-11", 2, "a rule of one project does not hold in another", another_project),
)
