"""Turns that name somebody: directly, not at all, many at once, among many others, or almost."""

from __future__ import annotations

from collections.abc import Sequence

from brainbench.datasets.core_gen.script import Script
from brainbench.datasets.core_gen.world import Named, Names, Page, plain_page, slug_of
from brainbench.datasets.core_words import table
from brainbench.datasets.splitmix import SplitMix64

_EASY_FORMS = ("full", "alias", "surname", "possessive")
_MEDIUM_FORMS = ("lower", "handle", "alias-lower", "possessive")


def english(key: str) -> list[str]:
    """The English sentences kept under `key`."""
    sentences: list[str] = table("english")[key]
    return sentences


def page_with_short_names(rng: SplitMix64, of: Named) -> Page:
    """A page that can be found by its bearer's first name, handle or lower-case name too."""
    aliases = (of.given.lower(), of.handle) if of.kind == "person" else (of.title.lower(),)
    return plain_page(rng, of, *dict.fromkeys(aliases))


def ask_about(script: Script, who: Named, known: bool, form: str = "full") -> None:
    """One question on `who`, in the same words whether or not there is a page."""
    key = "ask_possessive" if form == "possessive" else "ask_person" if who.kind == "person" else "ask_thing"
    template = script.rng.pick(english(key))
    ask_in(script, template, surface(who, form), who, known)


def ask_in(script: Script, template: str, name: str, who: Named, known: bool) -> None:
    """The question `template` with `name` in it; memory is called for when `who` is known."""
    text = template.format(n=name)
    if known:
        script.must(text, [who], template=template)
    else:
        script.quiet(text, template=template)


def surface(who: Named, form: str) -> str:
    """How a text may write the name of `who`."""
    short = who.given if who.kind == "person" else who.title
    return {
        "alias": short,
        "alias-lower": short.lower(),
        "surname": who.family or who.title,
        "lower": who.title.lower(),
        "handle": f"@{who.handle}",
    }.get(form, who.title)


def small_talk(script: Script, n: int = 1) -> None:
    """`n` different turns that ask nothing of a memory."""
    for text in script.rng.sample(english("small_talk"), n):
        script.quiet(text)
        script.reply(script.rng.pick(english("reply")))


def direct(script: Script) -> None:
    """Six names in different forms, strangers in the same forms, and one name again."""
    rng, names = script.rng, Names(script.rng)
    forms = _EASY_FORMS if script.stratum == "easy" else _MEDIUM_FORMS
    kinds = ("person", "person", "person", "company", "project", "place")
    known, unknown = [names.cast(k) for k in kinds], [names.cast(k) for k in ("person", "person", "company")]
    script.seed(*(page_with_short_names(rng, n) for n in known))
    turns = [(n, True) for n in known] + [(n, False) for n in unknown]
    rng.shuffle(turns)
    for at, (who, is_known) in enumerate(turns):
        ask_about(script, who, is_known, forms[at % len(forms)])
        script.reply(rng.pick(english("reply")))
    again = next(who for who, is_known in turns if is_known)
    follow_up = rng.pick(english("follow_up"))
    script.quiet(follow_up.format(n=again.title), template=follow_up)
    small_talk(script)


def silent(script: Script) -> None:
    """Small talk and strangers; from medium on everyday words that are also titles; on hard at a sentence's head."""
    rng, names = script.rng, Names(script.rng)
    words = rng.sample(table("english")["common"], 3)
    things = [Named("project", w["title"], f"projects/{w['title'].lower()}") for w in words]
    script.seed(*(plain_page(rng, n) for n in things), *(plain_page(rng, names.person()) for _ in range(3)))
    if script.stratum == "easy":
        small_talk(script, 3)
    else:
        senses = ("plain", "derived")
        for at, word in enumerate(words):
            script.quiet(word[senses[at % 2]])
            script.reply(rng.pick(english("reply")))
    if script.stratum == "hard":
        script.quiet(rng.pick(words)["head"])
    for kind in ("person", "project"):
        ask_about(script, names.cast(kind), known=False)
    ask_about(script, things[0], known=True)


def push_budget(script: Script) -> None:
    """Turns on two to five names, more than some harnesses have room for; on medium some are named in passing."""
    rng, names = script.rng, Names(script.rng)
    key = "ask_three" if script.stratum == "easy" else "ask_in_passing"
    templates = rng.sample(english(key), 3)
    for template in templates:
        kinds = ("person", "company", "project", "person", "company")
        cast = [names.cast(k) for k in kinds]
        asked = [n for n, slot in zip(cast, "abc", strict=False) if f"{{{slot}}}" in template]
        passing = [n for n, slot in zip(cast[3:], "de", strict=True) if f"{{{slot}}}" in template]
        script.seed(*(page_with_short_names(rng, n) for n in [*asked, *passing]))
        script.must(template.format(**dict(zip("abcde", cast, strict=True))), asked, passing, template)
        script.reply(rng.pick(english("reply")))
        strangers = [names.cast(k) for k in kinds]
        script.quiet(template.format(**dict(zip("abcde", strangers, strict=True))), template)
        script.reply(rng.pick(english("reply")))


def distractor(script: Script) -> None:
    """A few names among 36 pages; on hard the strangers are made of first and last names that others bear."""
    rng, names = script.rng, Names(script.rng)
    kinds = ("person",) * 18 + ("company",) * 10 + ("project",) * 8
    brain = [names.cast(k) for k in kinds]
    script.seed(*(page_with_short_names(rng, n) for n in brain))
    people = brain[:18]
    asked = [*rng.sample(people, 4), *rng.sample(brain[18:], 2)]
    strangers = [names.cast(k) for k in ("person", "company", "person", "project", "company")]
    if script.stratum == "hard":
        strangers[0] = _crossed(people[0], people[1])
        strangers[2] = _crossed(people[2], people[3])
    turns = [(n, True) for n in asked] + [(n, False) for n in strangers]
    rng.shuffle(turns)
    for who, is_known in turns:
        ask_about(script, who, is_known)
        script.reply(rng.pick(english("reply")))


def _crossed(first: Named, second: Named) -> Named:
    """A stranger with the first name of one person and the last name of another."""
    return Named("person", f"{first.given} {second.family}", "people/nobody", first.given, second.family)


def near_duplicate(script: Script) -> None:
    """Relatives with one surname, firms with one nickname, and on hard names that differ by one letter."""
    rng, names = script.rng, Names(script.rng)
    family = names.word("family")[0]
    relatives = [names.person(family) for _ in range(3)]
    firms = [names.thing("company", s) for s in ("Haulage", "Textiles")]
    nickname = rng.pick(english("nicknames"))
    script.seed(*(plain_page(rng, n) for n in relatives[:2]))
    script.seed(*(plain_page(rng, n, nickname) for n in firms))
    turns: list[tuple[Named, bool]] = [(relatives[0], True), (relatives[1], True), (relatives[2], False)]
    turns += [(firms[0], True), (names.thing("company", "Haulage"), False)]
    if script.stratum == "hard":
        first = names.person()
        second, third = _one_letter_off(first, 0), _one_letter_off(first, 1)
        script.seed(plain_page(rng, first), plain_page(rng, second))
        turns += [(first, True), (second, True), (third, False)]
    rng.shuffle(turns)
    for who, is_known in turns:
        ask_about(script, who, is_known)
        script.reply(rng.pick(english("reply")))
    script.may(f"And what about {family}?", relatives[:2])
    script.may(f"Did {nickname} write again?", firms)


def _one_letter_off(of: Named, at: int) -> Named:
    """Somebody whose surname ends in another letter than that of `of`; `at` is 0 or 1 and gives two such people."""
    endings = "ao" if of.family[-1] in "aeiou" else "nsl"
    family = of.family[:-1] + [c for c in endings if c != of.family[-1]][at]
    return Named("person", f"{of.given} {family}", slug_of("person", f"{of.given} {family}"), of.given, family)


def code(script: Script) -> None:
    """Functions, classes and files, quoted or bare, beside others of the same make that have no page."""
    rng, names = script.rng, Names(script.rng)
    known, unknown = _code_names(rng, names), _code_names(rng, names)
    script.seed(*(plain_page(rng, n) for n in known), *(plain_page(rng, names.person()) for _ in range(3)))
    turns = [(n, True) for n in known] + [(n, False) for n in unknown]
    rng.shuffle(turns)
    for who, is_known in turns:
        ask_in(script, rng.pick(english("ask_code")), who.title, who, is_known)
        script.reply(rng.pick(english("reply")))


def _code_names(rng: SplitMix64, names: Names) -> Sequence[Named]:
    """One name of each of four shapes."""
    made = []
    for shape in ("{low}_{word}", "{cap}{Word}", "{low}/{word}_rows.py", "{low}.{word}.total"):
        brand, _ = names.word("brand")
        word = rng.pick(("flush", "gateway", "parser", "handler", "rounding", "backoff"))
        title = shape.format(low=brand.lower(), cap=brand, word=word, Word=word.capitalize())
        made.append(Named("code", title, slug_of("code", title), given=title))
    return made


def long_turn(script: Script) -> None:
    """A pasted log, 5 kB or 22 kB, that names somebody only at its end."""
    rng, names = script.rng, Names(script.rng)
    size = 5_000 if script.stratum == "medium" else 22_000
    known, strangers = [names.person(), names.thing("company")], [names.person(), names.thing("company")]
    script.seed(*(page_with_short_names(rng, n) for n in known), *(plain_page(rng, names.person()) for _ in range(4)))
    tail, brief = rng.pick(english("paste_tails")), rng.pick(english("ask_person"))
    for who, is_known in ((strangers[0], False), (known[0], True)):
        template = f"{rng.pick(english('paste_heads'))}\n\n{_log(rng, size)}\n{tail}"
        ask_in(script, template, who.title, who, is_known)
        script.reply(rng.pick(english("reply")))
    for who, is_known in ((known[1], True), (strangers[1], False)):
        ask_in(script, brief, who.title, who, is_known)


def _log(rng: SplitMix64, size: int) -> str:
    """Log lines of about `size` characters in all, with nobody in them."""
    lines: list[str] = []
    minute, length = 0, 0
    while length < size:
        minute += rng.between(1, 9)
        line = f"{minute // 60:02d}:{minute % 60:02d} {rng.pick(english('paste'))}"
        lines.append(line)
        length += len(line) + 1
    return "\n".join(lines)
