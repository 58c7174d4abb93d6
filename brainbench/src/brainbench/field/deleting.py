"""Delete, forget, residue."""

from __future__ import annotations

from collections.abc import Iterator

from brainbench.field.draw import Draw
from brainbench.field.row import Case, Row, Told, add, delete, find, get, listed, reopen, same
from brainbench.replay.items import Step

UNKNOWN = "00000000-0000-4000-8000-000000000000"


def one_users_wipe(draw: Draw) -> Case:
    """Two users, one of whom is wiped."""
    gone, kept = draw.scopes(2)
    bees, oboe = draw.facts(2)
    steps = (
        add("gone", gone, bees.text),
        add("kept", kept, oboe.text),
        find("before", gone, bees.word),
        Step("wipe", "delete_all", gone),
        listed("of the wiped", gone),
        find("wiped", gone, bees.word, 10),
        listed("of the other", kept),
        find("other", kept, oboe.word),
    )

    def check(told: Told) -> Iterator[str]:
        yield from told.holds("before", bees.text)
        yield from told.lacks("of the wiped", bees.text)
        yield from told.empty("wiped")
        yield from told.holds("of the other", oboe.text)
        yield from told.holds("other", oboe.text)
        row = told.row("of the other", oboe.text)
        if row is not None and row.id != told["kept"].text:
            yield f"list({kept}): expected id {told['kept'].text!r} as before, got {row.id!r}"

    return Case((gone, kept), steps, check)


def warm_cache(draw: Draw) -> Case:
    """A search before and after everything is deleted."""
    (scope,) = draw.scopes(1)
    (safe,) = draw.facts(1)
    steps = (
        add("safe", scope, safe.text),
        find("warm", scope, safe.word),
        Step("wipe", "delete_all", scope),
        find("after", scope, safe.word),
        reopen(optional=True),
        find("reopened", scope, safe.word),
    )

    def check(told: Told) -> Iterator[str]:
        yield from told.holds("warm", safe.text)
        yield from told.lacks("after", safe.text)
        yield from told.lacks("reopened", safe.text)

    return Case((scope,), steps, check)


def every_path(draw: Draw) -> Case:
    """Five who do the same, one of whom is deleted."""
    (scope,) = draw.scopes(1)
    facts = draw.alike(5)
    gone = facts[draw.number(0, 4)]
    live = [fact for fact in facts if fact is not gone]
    steps = (
        *(add(fact.name, scope, fact.text) for fact in facts),
        find("before", scope, gone.word, 5),
        delete("delete", scope, gone.name),
        find("by word", scope, gone.word, 4),
        find("by meaning", scope, gone.near, 4),
        find("by text", scope, gone.text, 4),
        find("further down", scope, gone.word, 10),
    )

    def check(told: Told) -> Iterator[str]:
        yield from told.holds("before", *(fact.text for fact in facts))
        yield from told.says("delete", yes=True, otherwise="expected that it was there, got not found")
        for label in ("by word", "by meaning", "by text", "further down"):
            yield from told.lacks(label, gone.text)
        yield from told.holds("by word", *(fact.text for fact in live))

    return Case((scope,), steps, check)


def after_indexing(draw: Draw) -> Case:
    """One of two is deleted, and what remains is written to again."""
    (scope,) = draw.scopes(1)
    gone, kept = draw.facts(2)
    later = draw.facts(1)[0]
    steps = (
        add("gone", scope, gone.text),
        add("kept", scope, kept.text),
        delete("delete", scope, "gone"),
        add("later", scope, later.text),
        reopen(optional=True),
        find("of the deleted", scope, gone.text, 10),
        find("of the other", scope, kept.word),
    )

    def check(told: Told) -> Iterator[str]:
        yield from told.lacks("of the deleted", gone.text)
        yield from told.holds("of the other", kept.text)

    return Case((scope,), steps, check)


def not_found(draw: Draw) -> Case:
    """Ids that are none."""
    (scope,) = draw.scopes(1)
    kept, other = draw.facts(2)
    steps = (
        add("kept", scope, kept.text),
        add("other", scope, other.text),
        delete("unknown", scope, "", id=UNKNOWN, may_fail=True),
        delete("prefix", scope, "kept", name="prefix", limit=3, may_fail=True),
        find("still", scope, kept.word),
        delete("real", scope, "other"),
        delete("twice", scope, "other", may_fail=True),
    )

    def check(told: Told) -> Iterator[str]:
        for label, what in (("unknown", "an id that never was"), ("prefix", "a part of an id"), ("twice", "a gone id")):
            yield from told.says(label, yes=False, otherwise=f"expected not found for {what}, got success")
        yield from told.holds("still", kept.text)
        yield from told.says("real", yes=True, otherwise="expected success for a real id, got not found")

    return Case((scope,), steps, check)


def ids_that_work(draw: Draw) -> Case:
    """Ids from each place that gives them."""
    (scope,) = draw.scopes(1)
    facts = draw.facts(3)
    added, searched, told_of = facts
    steps = (
        *(add(fact.name, scope, fact.text) for fact in facts),
        find("find", scope, searched.word),
        listed("list", scope, optional=True),
        get("get", scope, added.name, optional=True),
        delete("by id of add", scope, added.name),
        delete("by id of find", scope, "find", text=searched.text),
        delete("by id of list", scope, "list", text=told_of.text, optional=True),
        *(find(f"gone {fact.name}", scope, fact.word) for fact in (added, searched)),
    )

    def check(told: Told) -> Iterator[str]:
        yield from told.holds("get", added.text)
        for label in ("by id of add", "by id of find"):
            yield from told.says(label, yes=True, otherwise="expected success, got not found")
        if told.asked("list"):
            yield from told.says("by id of list", yes=True, otherwise="expected success, got not found")
        for fact in (added, searched):
            yield from told.lacks(f"gone {fact.name}", fact.text)

    return Case((scope,), steps, check)


def added_again(draw: Draw) -> Case:
    """The same text after it was deleted."""
    (scope,) = draw.scopes(1)
    (bins,) = draw.facts(1)
    steps = (
        add("first", scope, bins.text),
        delete("delete", scope, "first"),
        find("deleted", scope, bins.word),
        add("again", scope, bins.text),
        find("found", scope, bins.word),
        listed("list", scope, optional=True),
    )

    def check(told: Told) -> Iterator[str]:
        yield from told.lacks("deleted", bins.text)
        yield from told.times("found", bins.text, 1)
        yield from told.times("list", bins.text, 1)

    return Case((scope,), steps, check)


def the_second_of_three(draw: Draw) -> Case:
    """One of three that were said together."""
    (scope,) = draw.scopes(1)
    first, second, third = draw.facts(3)
    steps = (
        *(add(fact.name, scope, fact.text) for fact in (first, second, third)),
        delete("delete", scope, second.name),
        *(find(f"of {fact.name}", scope, fact.word) for fact in (first, second, third)),
    )

    def check(told: Told) -> Iterator[str]:
        yield from told.holds(f"of {first.name}", first.text)
        yield from told.lacks(f"of {second.name}", second.text)
        yield from told.holds(f"of {third.name}", third.text)

    return Case((scope,), steps, check)


def half_are_gone(draw: Draw) -> Case:
    """Fifty of which twenty-five are deleted."""
    (scope,) = draw.scopes(1)
    facts = draw.alike(50)
    gone, live = facts[::2], facts[1::2]
    steps = (
        *(add(fact.name, scope, fact.text) for fact in facts),
        *(delete(f"delete {fact.name}", scope, fact.name) for fact in gone),
        reopen(optional=True),
        find("find", scope, gone[0].word, 60),
        listed("list", scope),
    )

    def check(told: Told) -> Iterator[str]:
        dead = {told[fact.name].text for fact in gone}
        for label in ("find", "list"):
            left = [row for row in told[label].rows if row.id in dead or any(same(row.text, f.text) for f in gone)]
            if left:
                yield f"{told.call(label)}: expected none of 25 deleted, got {len(left)} of them"
        yield from told.holds("list", *(fact.text for fact in live))
        yield from told.holds("find", *(fact.text for fact in live[:3]))

    return Case((scope,), steps, check)


ROWS = (
    Row("DEL-01", 1, "deleting all of one user leaves the others, under the same ids", one_users_wipe),
    Row("DEL-02", 1, "a search that was asked before is not answered from before the deletion", warm_cache),
    Row("DEL-03", 1, "what is deleted is on no search path, and live items take its place", every_path),
    Row("DEL-04", 1, "no side table keeps what was deleted", unasked="no verb counts what a memory keeps beside items"),
    Row("DEL-06", 1, "a deleted item stays away when the index is written anew", after_indexing),
    Row("DEL-07", 2, "an id that is none is told apart from one that was deleted, and nothing changes", not_found),
    Row("DEL-08", 2, "delete takes the ids that add, find and list give", ids_that_work),
    Row("DEL-09", 1, "a text that was deleted can be kept again, once", added_again),
    Row("DEL-10", 2, "a deletion through another surface reaches search", unasked="a system has one door here"),
    Row("DEL-11", 2, "one of three facts can be deleted and the other two stay", the_second_of_three),
    Row("DEL-13", 2, "of fifty items with half deleted none of the dead is a candidate", half_are_gone),
)
