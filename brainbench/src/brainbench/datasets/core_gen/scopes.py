"""Fixtures with more than one source, where what is known elsewhere must stay there."""

from __future__ import annotations

from dataclasses import replace

from brainbench.datasets.core_gen.named import ask_about, ask_in, english
from brainbench.datasets.core_gen.script import Script
from brainbench.datasets.core_gen.world import Names, Page, plain_page

_OTHERS = ("choir", "clinic", "workshop", "sailing")


def multi_source(script: Script) -> None:
    """Somebody with a page here and another one elsewhere, somebody known only elsewhere, and a nickname from there.

    Odd fixtures ask from a source that is not the default one.
    """
    rng, names = script.rng, Names(script.rng)
    first, second = rng.sample(_OTHERS, 2)
    canaries = {first: script.source(first), second: script.source(second, "external")}
    if script.index % 2:
        canaries["default"] = f"canary:{rng.next_u64():016x}"
        script.active = first
        del canaries[first]
    shared, own, also_own = names.person(), names.person(), names.thing("company")
    foreign, foreign_firm = names.person(), names.thing("company")
    script.seed(*(plain_page(rng, n) for n in (shared, own, also_own)), source=script.active)
    nickname = rng.pick(english("nicknames"))
    for source, canary in canaries.items():
        pages = (plain_page(rng, shared, nickname), plain_page(rng, foreign), plain_page(rng, foreign_firm))
        script.seed(*(_marked(p, canary) for p in pages), source=source)
    turns = [(shared, True), (own, True), (also_own, True), (foreign, False), (foreign_firm, False)]
    rng.shuffle(turns)
    for who, is_known in turns:
        ask_about(script, who, is_known)
        script.reply(rng.pick(english("reply")))
    if script.stratum == "medium":
        ask_in(script, "Did {n} leave a message for me?", nickname, foreign, known=False)


def _marked(page: Page, canary: str) -> Page:
    """The page with the canary of its source where a reader would see it."""
    return replace(page, summary=f"{page.summary} {canary}", body=f"{page.body}\n\n{canary}")
