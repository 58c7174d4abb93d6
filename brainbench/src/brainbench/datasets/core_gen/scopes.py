"""Fixtures with more than one source, where what is known elsewhere must stay there."""

from __future__ import annotations

from dataclasses import replace

from brainbench.datasets.core_gen.cast import Cast, lines
from brainbench.datasets.core_gen.script import Script
from brainbench.datasets.core_gen.world import Named, Page, plain_page

_OTHERS = ("choir", "clinic", "workshop", "sailing", "allotment", "school")


def multi_source(script: Script) -> None:
    """Somebody with a page here and another one elsewhere, somebody known only elsewhere, and a nickname from there.

    The third and fourth of every four ask from a source that is not the default one.
    """
    rng = script.rng
    first, second = rng.sample(_OTHERS, 2)
    canaries = {first: script.source(first), second: script.source(second, "external")}
    if script.index % 4 > 1:
        canaries["default"] = f"canary:{rng.next_u64():016x}"
        script.active = first
        del canaries[first]
    cast = Cast(script)
    shared, own, thing = (cast.drawn(kind) for kind in ("person", "person", rng.pick(("company", "project", "fund"))))
    cast.seed(shared, own, thing, source=script.active)
    foreign, foreign_firm = cast.stranger(), cast.stranger("company")
    nickname = rng.pick(lines("nicknames"))
    for source, canary in canaries.items():
        pages = (plain_page(rng, shared.of, nickname), plain_page(rng, foreign), plain_page(rng, foreign_firm))
        script.seed(*(_marked(p, canary) for p in pages), source=source)
    turns: list[tuple[str, str, Named, bool]] = []
    for known, unknown in ((shared.of, foreign), (thing.of, foreign_firm)):
        for template, who in zip(rng.sample(cast.templates(known), 2), (known, unknown), strict=True):
            turns.append((template, who.title, who, who is known))
    if script.stratum == "medium":
        told = rng.pick(lines("nickname"))
        turns += [(told, own.of.title, own.of, True), (told, nickname, foreign, False)]
    else:
        turns.append((rng.pick(cast.templates(own.of)), own.of.title, own.of, True))
    rng.shuffle(turns)
    for template, name, who, is_known in turns:
        cast.ask(template, name, who, is_known)
        cast.reply()


def _marked(page: Page, canary: str) -> Page:
    """The page with the canary of its source where a reader would see it."""
    return replace(page, summary=f"{page.summary} {canary}", body=f"{page.body}\n\n{canary}")
