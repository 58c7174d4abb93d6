"""Scripts in which what is true changes, and what is asked is what is true now, then or as it was known."""

from __future__ import annotations

from brainbench.datasets.item_script import ItemScript
from brainbench.datasets.trust_gen.cast import Cast


def replaced(script: ItemScript, cast: Cast) -> None:
    """A new value takes the place of the old one, named as such."""
    old = script.write("tty", cast.say(0), via="fact", **cast.slot)
    script.turn(cast.ask)
    script.new_session(60 * 24 * 20)
    new = script.write("tty", cast.say(1), via="fact", replaces=old, **cast.slot)
    script.turn(cast.ask)
    _moved_on(script, cast, old, new)


def reworded(script: ItemScript, cast: Cast) -> None:
    """A new value of one slot comes in other words; three things that are true beside it stay."""
    kept = [script.write("tty", cast.near(at), via="fact", entity=cast.of.slug) for at in range(3)]
    old = script.write("tty", cast.say(0), via="fact", **cast.slot)
    script.new_session(60 * 24 * 9)
    new = script.write("tty", cast.say(1, "other"), via="fact", **cast.slot)
    script.turn(cast.ask)
    _moved_on(script, cast, old, new)
    for at, name in enumerate(kept):
        script.item("current", of=name, forms=[cast.near(at)], query=cast.near(at))


def four_records(script: ItemScript, cast: Cast) -> None:
    """The old value stands in a fact, two pages and an agent's note; the fact is corrected once."""
    page = cast.page(cast.near(1), cast.say(0))
    script.write("git", page.markdown(), slug=page.of.slug)
    other = cast.elsewhere(cast.say(0), cast.near(2))
    script.write("git", other.markdown(), slug=other.of.slug)
    script.write("mcp", cast.say(0), via="fact", origin="agent_inferred")
    old = script.write("tty", cast.say(0), via="fact", **cast.slot)
    script.new_session(60 * 24 * 3)
    new = script.write("tty", cast.say(1), via="fact", replaces=old, **cast.slot)
    script.turn(cast.ask)
    _moved_on(script, cast, old, new)


def agent_replaces(script: ItemScript, cast: Cast) -> None:
    """An agent says that its fact takes the place of the owner's; the owner's stands."""
    mine = script.write("tty", cast.say(0), via="fact", **cast.slot)
    script.new_session(60)
    script.write("mcp", cast.say(1), via="fact", origin="agent_inferred", replaces=mine, **cast.slot)
    script.turn(cast.ask)
    _stands(script, cast, mine)


def connector_closes(script: ItemScript, cast: Cast) -> None:
    """An issue says that the matter is closed and another value holds; the owner's fact stands."""
    mine = script.write("tty", cast.say(0), via="fact", **cast.slot)
    script.new_session(60)
    text = cast.say(1)
    script.write("connector:github", text, via="connector", part="comment", replaces=mine, **cast.slot)
    script.turn(cast.ask)
    _stands(script, cast, mine)


def agent_forgets(script: ItemScript, cast: Cast) -> None:
    """An agent wants the owner's fact expired; it stands."""
    mine = script.write("tty", cast.say(0), via="fact", **cast.slot)
    script.new_session(60)
    script.forget("mcp" if script.index % 2 else "http", mine, "expire")
    script.turn(cast.ask)
    _stands(script, cast, mine)


def agent_same_slot(script: ItemScript, cast: Cast) -> None:
    """An agent writes another value into the owner's slot without a word of replacing."""
    mine = script.write("tty", cast.say(0), via="fact", **cast.slot)
    script.new_session(60)
    script.write("mcp", cast.say(1, "other"), via="fact", origin="user_said", **cast.slot)
    script.turn(cast.ask)
    _stands(script, cast, mine)


def there_and_back(script: ItemScript, cast: Cast) -> None:
    """One value, another, and the first again: each holds in its own time."""
    since = [script.moment(days) for days in (0, 40, 80)]
    things = []
    for at, value in enumerate((0, 1, 0)):
        things.append(script.write("tty", cast.say(value), via="fact", valid_from=since[at], **cast.slot))
        script.new_session(60 * 24 * 40)
    script.pause(60 * 24 * 10)
    script.turn(cast.ask)
    for at, value in enumerate((0, 1, 0)):
        script.item("current", of=things[at], forms=[cast.values[value]], query=cast.ask, as_of=since[at], **cast.slot)
    script.item("stale", of=things[1], forms=[cast.values[1]], query=cast.ask, **cast.slot)


def at_once(script: ItemScript, cast: Cast) -> None:
    """The value is asked for right after it was replaced, and right after it was expired."""
    old = script.write("tty", cast.say(0), via="fact", **cast.slot)
    new = script.write("tty", cast.say(1), via="fact", replaces=old, **cast.slot)
    override = script.last_event
    script.item("stale", of=old, forms=[cast.values[0]], query=cast.ask, after_event=override, **cast.slot)
    end = script.forget("tty", new, "expire")
    script.item("stale", of=new, forms=[cast.values[1]], query=cast.ask, after_event=end, **cast.slot)
    script.item("history", of=new, forms=[cast.values[1]], query=cast.ask, **cast.slot)
    script.turn(cast.ask)


def corrected(script: ItemScript, cast: Cast) -> None:
    """A value was wrong from the start and is corrected; what was believed before is still known."""
    old = script.write("tty", cast.say(0), via="fact", **cast.slot)
    believed = script.moment_of_last
    script.new_session(60 * 24 * 30)
    script.edit("tty", "content", {"content": cast.say(1)}, of=old, **{"as": script.take_name()})
    new = script.last_name
    script.turn(cast.ask)
    script.item("current", of=new, forms=[cast.values[1]], query=cast.ask, **cast.slot)
    script.item("stale", of=old, forms=[cast.values[0]], query=cast.ask, **cast.slot)
    script.item("current", of=old, forms=[cast.values[0]], query=cast.ask, known_at=believed, **cast.slot)
    script.item("current", of=new, forms=[cast.values[1]], query=cast.ask, as_of=believed, **cast.slot)


def again(script: ItemScript, cast: Cast) -> None:
    """A fact is expired and told again later: a new row, and the history of both."""
    first = script.write("tty", cast.say(0), via="fact", **cast.slot)
    script.new_session(60 * 24)
    end = script.forget("tty", first, "expire")
    script.item("stale", of=first, forms=[cast.values[0]], query=cast.ask, after_event=end, **cast.slot)
    script.new_session(60 * 24 * 30)
    second = script.write("tty", cast.say(0), via="fact", **cast.slot)
    script.turn(cast.ask)
    script.item("current", of=second, forms=[cast.values[0]], query=cast.ask, **cast.slot)
    script.item("history", of=first, forms=[cast.values[0]], query=cast.ask, **cast.slot)


def of_later(script: ItemScript, cast: Cast) -> None:
    """A value that holds only from a later day leaves the present one in force until then."""
    now = script.write("tty", cast.say(0), via="fact", **cast.slot)
    script.new_session(60)
    start = script.moment(60)
    later = script.write("tty", cast.say(1), via="fact", valid_from=start, **cast.slot)
    script.turn(cast.ask)
    script.item("current", of=now, forms=[cast.values[0]], query=cast.ask, **cast.slot)
    script.item("current", of=later, forms=[cast.values[1]], query=cast.ask, as_of=start, **cast.slot)


def two_sources(script: ItemScript, cast: Cast) -> None:
    """Two sources hold the same text; what one of them drops stays in the other."""
    other = script.source("studio")
    here = script.write("tty", cast.say(0), via="fact", **cast.slot)
    there = script.write("tty", cast.say(0), via="fact", source=other, **cast.slot)
    script.new_session(60)
    end = script.forget("tty", here, "expire")
    script.item("stale", of=here, forms=[cast.values[0]], query=cast.ask, after_event=end, **cast.slot)
    script.item("current", of=there, forms=[cast.values[0]], query=cast.ask, **cast.slot)
    script.turn(cast.ask)


ALIKE = (("team_a", "teamXa", "team%"), ("user1", "user10", "user1/x"), ("a/b", "a%b", "a_b"))
"""Scopes that a pattern or a prefix would take for each other."""


def alike_scopes(script: ItemScript, cast: Cast) -> None:
    """Scopes that a pattern or a prefix would take for each other hold one value each."""
    scopes = [script.source(name) for name in ALIKE[script.index % len(ALIKE)]]
    things = [
        script.write("tty", cast.say(at), via="fact", source=scope, **cast.slot) for at, scope in enumerate(scopes)
    ]
    end = script.forget("tty", things[0], "expire", source=scopes[0])
    script.item("stale", of=things[0], forms=[cast.values[0]], query=cast.ask, after_event=end, **cast.slot)
    for at in (1, 2):
        script.item("current", of=things[at], forms=[cast.values[at]], query=cast.ask, **cast.slot)
    script.turn(cast.ask)


def told_twice(script: ItemScript, cast: Cast) -> None:
    """The owner and then ten times an agent say the same: it is one fact, and stays the owner's."""
    mine = script.write("tty", cast.say(0), via="fact", **cast.slot)
    for at in range(5):
        by = f"agent:helper-{at + 1}"
        script.write("mcp", cast.say(0), via="fact", by=by, origin="agent_inferred", **cast.slot)
    script.turn(cast.ask)
    script.item("current", of=mine, forms=[cast.values[0]], query=cast.ask, **cast.slot)
    script.item("guarded", of=mine, forms=[cast.values[0]], **cast.slot)


def _moved_on(script: ItemScript, cast: Cast, old: str, new: str) -> None:
    script.item("current", of=new, forms=[cast.values[1]], query=cast.ask, **cast.slot)
    script.item("stale", of=old, forms=[cast.values[0]], query=cast.ask, **cast.slot)
    script.item("history", of=old, forms=[cast.values[0]], query=cast.ask, **cast.slot)


def _stands(script: ItemScript, cast: Cast, mine: str) -> None:
    script.item("guarded", of=mine, forms=[cast.values[0]], **cast.slot)
    script.item("current", of=mine, forms=[cast.values[0]], query=cast.ask, **cast.slot)
