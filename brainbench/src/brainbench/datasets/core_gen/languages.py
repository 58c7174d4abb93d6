"""Fourteen ways to speak: thirteen languages besides English, two mixed in one sentence, and emoji for names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brainbench.datasets.core_gen.named import ask_in, english
from brainbench.datasets.core_gen.script import Script
from brainbench.datasets.core_gen.world import Named, Names, Page, plain_page
from brainbench.datasets.core_words import table
from brainbench.model import Stratum

LANGUAGES = ("de", "fr", "es", "pl", "tr", "ru", "el", "ar", "he", "hi", "zh", "ja", "ko")
_ATTACHED = ("ru", "pl", "ja", "he", "tr", "ar", "el", "zh", "ko", "de", "hi", "fr")
_LATINISED = ("ru", "el", "ar", "hi", "he", "ko", "ja", "zh")
CASES: tuple[tuple[str, str, Stratum], ...] = (
    *(("plain", language, "easy") for language in LANGUAGES),
    *(("attached", language, "medium") for language in _ATTACHED[:5]),
    ("mixed", "mul", "medium"),
    ("emoji", "en", "medium"),
    *(("latinised", language, "hard") for language in _LATINISED[:4]),
    ("mixed", "mul", "hard"),
    *(("attached", language, "medium") for language in _ATTACHED[5:]),
    *(("latinised", language, "hard") for language in _LATINISED[4:]),
)
"""What each fixture of the category does, in which language, and how hard that is. New cases go to the end."""


def multilingual(script: Script) -> None:
    """One case of the table: the same questions on known and unknown names, and small talk."""
    case, language, stratum = CASES[script.index % len(CASES)]
    script.stratum, script.language, script.tags = stratum, language, (case,)
    {"emoji": _emoji, "mixed": _mixed}.get(case, _native)(script)


def _native(script: Script) -> None:
    """Questions in one language: names as written, with what the language hangs on them, or in Latin letters."""
    rng, words, case = script.rng, table("languages")[script.language], script.tags[0]
    names = Names(rng, words)
    known, unknown = [names.person() for _ in range(3)], [names.person() for _ in range(3)]
    brand = names.thing("company")
    script.seed(*(_page(script, words, n) for n in [*known, brand]))
    asks: list[str] = words["attached"] if case == "attached" else words["ask"]
    turns = [(n, True, asks[i % len(asks)]) for i, n in enumerate(known)]
    turns += [(n, False, asks[i % len(asks)]) for i, n in enumerate(unknown)]
    if case == "attached":
        turns[2], turns[5] = (known[2], True, words["ask"][0]), (unknown[2], False, words["ask"][0])
    rng.shuffle(turns)
    for who, is_known, ask in turns:
        name = _latin(who) if case == "latinised" else who.title
        ask_in(script, ask.replace("{m}", inflected(words, name)), name, who, is_known)
    script.quiet(rng.pick(words["small"]))
    if case != "attached":
        is_known = script.index % 2 == 0
        firm = brand if is_known else names.thing("company")
        ask_in(script, words.get("ask_brand", words["ask"][3]), firm.title, firm, is_known)


def inflected(words: Mapping[str, Any], name: str) -> str:
    """The name in the case that the language's `attached` sentences need: longest matching ending first."""
    endings = sorted(words["inflect"]["all"], key=lambda pair: -len(pair[0]))
    parts = name.split(" ")
    first = len(parts) - 1 if words["inflect"]["last_only"] else 0
    for at in range(first, len(parts)):
        for old, new in endings:
            if parts[at].endswith(old):
                parts[at] = parts[at][: len(parts[at]) - len(old)] + new
                break
    return " ".join(parts)


def _latin(who: Named) -> str:
    """The romanised name, as somebody writes it who has no other keyboard at hand."""
    return " ".join(part.capitalize() for part in who.slug.partition("/")[2].split("-"))


def _page(script: Script, words: Mapping[str, Any], of: Named) -> Page:
    body = script.rng.pick(words["bodies"]).format(n=of)
    return Page(of, script.rng.pick(words["summaries"]), body)


def _mixed(script: Script) -> None:
    """Questions half in one language and half in another."""
    rng, words, names = script.rng, table("languages")["mul"], Names(script.rng)
    known, unknown = [names.person() for _ in range(3)], [names.person() for _ in range(2)]
    script.seed(*(plain_page(rng, n) for n in [*known, names.thing("company")]))
    turns = [(n, True) for n in known] + [(n, False) for n in unknown]
    asks = rng.sample(words["ask"], 3)
    for at, (who, is_known) in enumerate(turns):
        ask_in(script, asks[at % 3], who.family if script.stratum == "hard" else who.title, who, is_known)
    script.quiet(rng.pick(words["small"]))


def _emoji(script: Script) -> None:
    """People who go by an emoji, and emoji that stand for nobody."""
    rng, words, names = script.rng, table("languages")["mul"], Names(script.rng)
    signs = rng.sample(words["emoji"], 5)
    known, unknown = [names.person() for _ in range(3)], [names.person() for _ in range(2)]
    script.seed(*(plain_page(rng, n, sign) for n, sign in zip(known, signs, strict=False)))
    turns = [(n, True) for n in known] + [(n, False) for n in unknown]
    for (who, is_known), sign in zip(turns, signs, strict=True):
        ask_in(script, rng.pick(words["ask_emoji"]), sign, who, is_known)
        script.reply(rng.pick(english("reply")))
    script.quiet("That picture is so cute 😂")
