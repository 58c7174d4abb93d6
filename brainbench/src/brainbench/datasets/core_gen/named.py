"""Turns that name somebody: directly, not at all, many at once, as code, or at the end of a long paste."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from brainbench.datasets.core_gen.cast import Cast, lines
from brainbench.datasets.core_gen.script import Script
from brainbench.datasets.core_gen.world import Named, Page
from brainbench.datasets.core_words import table
from brainbench.datasets.splitmix import SplitMix64

_EASY_FORMS = ("full", "alias", "surname", "possessive")
_MEDIUM_FORMS = ("lower", "handle", "initial", "alias-lower", "reversed", "capitals")


def surface(who: Named, form: str) -> str:
    """How a text may write the name of `who`."""
    short = who.given if who.kind == "person" else who.title
    return {
        "alias": short,
        "alias-lower": short.lower(),
        "surname": who.family or who.title,
        "lower": who.title.lower(),
        "capitals": who.title.upper(),
        "handle": f"@{who.handle}",
        "initial": f"{who.given[:1]}. {who.family}",
        "reversed": f"{who.family}, {who.given}",
    }.get(form, who.title)


def templates_for(cast: Cast, who: Named, form: str) -> Sequence[str]:
    """The questions into which a name in this form fits."""
    if form == "possessive":
        return lines("possessive")
    if form == "handle":
        return lines("handle")
    if form in ("lower", "alias-lower"):
        return lines("lower")
    return cast.templates(who)


def small_talk(script: Script, n: int = 1) -> None:
    """`n` different turns that ask nothing of a memory."""
    for text in script.rng.sample(lines("small_talk"), n):
        script.quiet(text)


def direct(script: Script) -> None:
    """Names in different forms, strangers in the same forms and questions, now and then a name already dealt with."""
    rng, cast = script.rng, Cast(script)
    easy = script.stratum == "easy"
    forms = rng.sample(_EASY_FORMS if easy else _MEDIUM_FORMS, 2)
    kinds = ("person", rng.pick(("person", "company", "project", "event", "concept") if easy else ("person",)))
    turns: list[tuple[str, str, Named, bool]] = []
    for kind, form in zip(kinds, forms, strict=True):
        known, unknown = cast.member(kind, short=True).of, cast.stranger(kind)
        form = form if kind == "person" else "full"
        asked = rng.sample(templates_for(cast, known, form), 2)
        turns += [(asked[0], form, known, True), (asked[rng.below(2)], form, unknown, False)]
    cast.surround(rng.between(1, 6))
    rng.shuffle(turns)
    for template, form, who, is_known in turns:
        cast.ask(template, surface(who, form), who, is_known)
        cast.reply()


def silent(script: Script) -> None:
    """Small talk and strangers; from medium on everyday words that are also titles; on hard at a sentence's head."""
    rng, cast = script.rng, Cast(script)
    words = rng.sample(table("common")["common"], 2)
    titled = [Named("project", w["title"], f"projects/{w['title'].lower()}") for w in words]
    pages = [_project_page(cast, n) for n in titled]
    script.seed(*pages)
    turns: list[tuple[str, str, Named | None, bool]] = []
    if script.stratum == "easy":
        turns += [(text, "", None, False) for text in rng.sample(lines("small_talk"), 2)]
        turns.append((rng.pick(lines("person")), "full", cast.member().of, True))
    else:
        senses = ("plain", "derived") if script.stratum == "medium" else ("head", rng.pick(("plain", "derived")))
        turns += [(word[sense], "", None, False) for word, sense in zip(words, senses, strict=True)]
        heads = table("asks")["head"]["thing"] if script.stratum == "hard" else lines("thing")
        turns.append((rng.pick(heads), "full", titled[script.index % 2], True))
    kind = rng.pick(("person", "project", "company"))
    who = cast.stranger(kind)
    turns.append((rng.pick(cast.templates(who)), "full", who, False))
    cast.surround(rng.between(2, 8))
    rng.shuffle(turns)
    for template, form, named, is_known in turns:
        if named is None:
            script.quiet(template)
        else:
            cast.ask(template, surface(named, form), named, is_known)
        cast.reply()


def _project_page(cast: Cast, of: Named) -> Page:
    """The page of a project with an everyday word for a title."""
    page = cast.borrowed("project")
    return replace(page, of=of, aliases=())


def push_budget(script: Script) -> None:
    """Turns on two to six names, more than some harnesses have room for; on medium some are named in passing."""
    rng, cast = script.rng, Cast(script)
    key = "three" if script.stratum == "easy" else "passing"
    kinds = [*(rng.pick(("person", "company")) for _ in range(3)), "person", "person", "person"]
    for template in rng.sample(lines(key), 2):
        slots = [slot for slot in "abcdef" if f"{{{slot}}}" in template]
        known = {slot: cast.member(kinds["abcdef".index(slot)]).of for slot in slots}
        asked, passing = ([known[s] for s in slots if s in part] for part in ("abc", "def"))
        accept = [*passing, *(h for h in cast.helping(*asked) if h not in passing)]
        script.must(template.format(**known), asked, accept, template)
        cast.reply()
        unknown = {slot: cast.stranger(kinds["abcdef".index(slot)]) for slot in slots}
        script.quiet(template.format(**unknown), template)
        cast.reply()
    one = cast.member("person" if script.index % 2 else "project").of
    cast.surround(rng.between(1, 5))
    cast.ask(rng.pick(cast.templates(one)), one.title, one, known=True)


def code(script: Script) -> None:
    """Functions, classes and files, quoted, bare or in a trace, beside others of the same make that have no page."""
    rng, cast = script.rng, Cast(script)
    turns = []
    for template in rng.sample(lines("code"), 2):
        turns += [(template, cast.member("code").of, True), (template, cast.stranger("code"), False)]
    cast.surround(rng.between(1, 8))
    rng.shuffle(turns)
    for template, who, is_known in turns:
        cast.ask(template, who.title, who, is_known)
        cast.reply()


def long_turn(script: Script) -> None:
    """Two short turns, and in sessions of their own two long pastes, 4 to 40 kB, that name somebody only at the end."""
    rng, cast = script.rng, Cast(script)
    size = (
        rng.between(4_000, 7_000) if script.stratum == "medium" else rng.pick((10_000, 12_500, 16_000, 21_000, 38_000))
    )
    known, stranger = cast.member(short=True).of, cast.stranger()
    thing, other = cast.member("company").of, cast.stranger("company")
    cast.surround(rng.between(2, 6))
    tail, brief = rng.pick(lines("long_tail")), rng.pick(lines("long_ask"))
    kind = rng.pick(sorted(table("asks")["paste"]))
    turns = [(thing, True), (other, False)]
    rng.shuffle(turns)
    for who, is_known in turns:
        cast.ask(brief, who.title, who, is_known)
        cast.reply()
    turns = [(stranger, False), (known, True)]
    rng.shuffle(turns)
    for who, is_known in turns:
        script.new_session()
        template = f"{rng.pick(lines('long_head'))}\n\n{_paste(rng, kind, size)}\n{tail}"
        cast.ask(template, who.title, who, is_known)


def _paste(rng: SplitMix64, kind: str, size: int) -> str:
    """Lines of about `size` characters in all, with nobody in them."""
    pool: list[str] = table("asks")["paste"][kind]
    made: list[str] = []
    minute, length = 0, 0
    while length < size:
        minute += rng.between(1, 9)
        stamp = f"{minute // 60:02d}:{minute % 60:02d} " if kind in ("shift", "server") else ""
        line = f"{stamp}{rng.pick(pool)}"
        made.append(line)
        length += len(line) + 1
    return "\n".join(made)
