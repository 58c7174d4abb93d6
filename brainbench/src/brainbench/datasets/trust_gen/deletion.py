"""Scripts in which something is purged, and all the ways in which it could come back or stay behind."""

from __future__ import annotations

from brainbench.datasets.item_script import ItemScript
from brainbench.datasets.trust_gen.cast import Cast


def _purge(script: ItemScript, thing: str) -> int:
    return script.forget("tty", thing, "purge", "pass")


def _judge(script: ItemScript, cast: Cast, purge: int, *later: int, lifted_by: int | None = None) -> None:
    """Nothing of the claim is left, neither its sentence nor the value that only it holds."""
    forms = [cast.say(), cast.values[0]]
    script.item("purge", event=purge, forms=forms, later=list(later), lifted_by=lifted_by)


def fence(script: ItemScript, cast: Cast) -> None:
    """A fact is purged; the owner's page, from which it was taken, says it too and is synced again."""
    page = cast.page(cast.near(1), cast.say(), cast.near(2))
    script.write("git", page.markdown(), slug=page.of.slug)
    fact = script.write("tty", cast.say(), via="fact", **cast.slot)
    purge = _purge(script, fact)
    script.new_session(60 * 24)
    again = script.resync("git", {f"{page.of.slug}.md": page.markdown()})
    script.turn(cast.ask)
    _judge(script, cast, purge, int(again))


def stale_checkout(script: ItemScript, cast: Cast) -> None:
    """A page is purged of a claim; a checkout that was not pulled brings the old file back."""
    page = cast.page(cast.near(1), cast.say(), cast.near(2))
    thing = script.write("git", page.markdown(), slug=page.of.slug)
    purge = _purge(script, thing)
    script.new_session(60 * 24 * 3)
    again = script.resync("stale", {f"{page.of.slug}.md": page.markdown()})
    script.turn(cast.ask)
    _judge(script, cast, purge, int(again))


def transcript(script: ItemScript, cast: Cast) -> None:
    """What a conversation told is purged; the same transcript is read in once more."""
    told = script.write("tty", cast.say(), via="fact", **cast.slot)
    script.turn(cast.say())
    script.new_session(60 * 24)
    purge = _purge(script, told)
    again = script.resync("transcript", {"transcripts/first.md": cast.say()})
    script.turn(cast.ask)
    _judge(script, cast, purge, int(again))


def backup(script: ItemScript, cast: Cast) -> None:
    """Something is purged; last week's backup is restored."""
    page = cast.page(cast.near(1), cast.say())
    thing = script.write("git", page.markdown(), slug=page.of.slug)
    script.write("tty", cast.near(2), via="fact")
    script.new_session(60 * 24 * 7)
    purge = _purge(script, thing)
    again = script.resync("restore", {f"{page.of.slug}.md": page.markdown()}, "restore")
    script.turn(cast.ask)
    _judge(script, cast, purge, int(again))


def peer(script: ItemScript, cast: Cast) -> None:
    """Something is purged; another installation, which archived it, pushes it."""
    told = script.write("tty", cast.say(), via="fact", **cast.slot)
    purge = _purge(script, told)
    page = cast.page(cast.say())
    again = script.resync("peer", {f"{page.of.slug}.md": page.markdown()}, "peer")
    script.turn(cast.ask)
    _judge(script, cast, purge, int(again))


def near_duplicates(script: ItemScript, cast: Cast) -> None:
    """One of three records of the same claim is purged, and all three have to go."""
    page = cast.elsewhere(cast.near(2), cast.say())
    script.write("git", page.markdown(), slug=page.of.slug)
    first = script.write("tty", cast.say(), via="fact", **cast.slot)
    script.write("mcp", cast.say().upper(), via="fact", origin="agent_inferred")
    purge = _purge(script, first)
    script.turn(cast.ask)
    _judge(script, cast, purge)


def parroted(script: ItemScript, cast: Cast) -> None:
    """A purged claim is said again by an agent, in another case and with marks that nobody sees."""
    told = script.write("tty", cast.say(), via="fact", **cast.slot)
    purge = _purge(script, told)
    script.new_session(60 * 24)
    said = "\u200b".join(cast.say().swapcase()) if script.index % 2 else cast.say().upper().replace(" ", "\u200d ")
    script.write("mcp", said, via="fact", origin="agent_inferred")
    script.turn(cast.ask)
    _judge(script, cast, purge, script.last_event - 1)


def lifted(script: ItemScript, cast: Cast) -> None:
    """A purge was a mistake: the owner lifts it at a terminal and says the claim again."""
    told = script.write("tty", cast.say(), via="fact", **cast.slot)
    purge = _purge(script, told)
    script.pause(30)
    lift = script.forget("tty", told, "lift", "pass")
    again = script.write("tty", cast.say(), via="fact", **cast.slot)
    written = script.last_event
    script.turn(cast.ask)
    script.item("current", of=again, forms=[cast.values[0]], query=cast.ask)
    _judge(script, cast, purge, written, lifted_by=lift)


def not_lifted(script: ItemScript, cast: Cast) -> None:
    """The owner says a purged claim again without lifting the purge; so does a page."""
    told = script.write("tty", cast.say(), via="fact", **cast.slot)
    purge = _purge(script, told)
    script.pause(30)
    script.write("tty", cast.say(), via="fact", **cast.slot)
    page = cast.elsewhere(cast.near(1), cast.say())
    script.write("git", page.markdown(), slug=page.of.slug)
    later = (script.last_event - 1, script.last_event)
    script.turn(cast.ask)
    _judge(script, cast, purge, *later)


def everywhere(script: ItemScript, cast: Cast) -> None:
    """A claim was asked for, linked and noted before it is purged; no way of asking finds it after."""
    page = cast.page(cast.say(), cast.near(2))
    thing = script.write("git", page.markdown(), slug=page.of.slug)
    linked = cast.elsewhere(f"→ [[{page.of.slug}]]", cast.near(1))
    script.write("git", linked.markdown(), slug=linked.of.slug)
    script.turn(cast.ask)
    script.new_session(60 * 24, jobs=True)
    purge = _purge(script, thing)
    script.turn(cast.ask)
    script.turn(cast.say())
    _judge(script, cast, purge)


def crashed(script: ItemScript, cast: Cast) -> None:
    """The memory is killed after a purge and opened again, then synced."""
    page = cast.page(cast.near(1), cast.say())
    thing = script.write("git", page.markdown(), slug=page.of.slug)
    purge = _purge(script, thing)
    script.new_session(5, crash=True)
    again = script.resync("git", {f"{page.of.slug}.md": page.markdown()})
    script.turn(cast.ask)
    _judge(script, cast, purge, int(again))


def summary(script: ItemScript, cast: Cast) -> None:
    """The claim stands in what an agent made of three pages."""
    things = []
    for number, line in enumerate((cast.near(1), cast.say(), cast.near(2))):
        page = cast.elsewhere(line)
        slug = f"{page.of.slug}-{number + 1}"
        things.append(script.write("git", page.markdown(), slug=slug))
    digest = cast.say(0, "digest")
    script.write("mcp", f"# {cast.of}\n\n{digest}\n", slug="notes/week", origin="derived", lineage=things)
    purge = _purge(script, things[1])
    script.new_session(60, jobs=True)
    script.turn(cast.ask)
    _judge(script, cast, purge)


def expired_only(script: ItemScript, cast: Cast) -> None:
    """A fact is expired, then purged: what stayed as history goes too."""
    told = script.write("tty", cast.say(), via="fact", **cast.slot)
    script.forget("tty", told, "expire")
    script.new_session(60 * 24)
    purge = _purge(script, told)
    script.turn(cast.ask)
    _judge(script, cast, purge)


def superseded(script: ItemScript, cast: Cast) -> None:
    """An old value that another has replaced is purged; the new one stays."""
    old = script.write("tty", cast.say(0), via="fact", **cast.slot)
    new = script.write("tty", cast.say(1), via="fact", replaces=old, **cast.slot)
    purge = _purge(script, old)
    script.turn(cast.ask)
    script.item("current", of=new, forms=[cast.values[1]], query=cast.ask)
    _judge(script, cast, purge)


def edited_away(script: ItemScript, cast: Cast) -> None:
    """The owner had taken the claim out of a page before it is purged: the older version holds it still."""
    page = cast.page(cast.near(1), cast.say())
    thing = script.write("git", page.markdown(), slug=page.of.slug)
    fact = script.write("tty", cast.say(), via="fact", **cast.slot)
    script.edit("git", "replace", {"old": cast.say(), "new": cast.near(2)}, of=thing)
    purge = _purge(script, fact)
    script.turn(cast.ask)
    _judge(script, cast, purge)
