"""Turns that bear on a page without its exact name: by meaning, or with a slip of the keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brainbench.datasets.core_gen.named import ask_in, english, surface
from brainbench.datasets.core_gen.script import Script
from brainbench.datasets.core_gen.world import Named, Names, Page, plain_page
from brainbench.datasets.core_words import table
from brainbench.datasets.splitmix import SplitMix64

_KEYS = {
    letter: (row, column)
    for row, letters in enumerate(("QWERTYUIOP", "ASDFGHJKL", "ZXCVBNM"))
    for column, letter in enumerate(letters)
}


def semantic(script: Script) -> None:
    """Three questions that only the meaning of a page answers, each with a twin of the same shape."""
    rng, names = script.rng, Names(script.rng)
    meanings: list[Mapping[str, Any]] = table("meanings")["meaning"]
    first = 3 * script.index
    chosen = [meanings[(first + i) % len(meanings)] for i in range(3)]
    turns: list[tuple[Named | None, str]] = []
    for meaning in chosen:
        of = names.cast(meaning["kind"])
        script.seed(Page(of, meaning["summary"], meaning["body"]))
        which = rng.below(len(meaning["ask"]))
        turns += [(of, meaning["ask"][which]), (None, meaning["twin"][which])]
    script.seed(*(plain_page(rng, names.cast(k)) for k in ("person", "person", "company", "project")))
    rng.shuffle(turns)
    for wanted, text in turns:
        if wanted is None:
            script.quiet(text)
        else:
            script.must(text, [wanted])
        script.reply(rng.pick(english("reply")))


def typo(script: Script) -> None:
    """Names with a slip of the keys, and strangers as many letters away; each kind once without a slip."""
    rng, names = script.rng, Names(script.rng)
    kinds = ("company", "project", "person") if script.stratum == "medium" else ("person", "company", "person")
    slipped, plain = [_slippery(names, k) for k in kinds], names.person()
    script.seed(*(plain_page(rng, n) for n in [*slipped, plain, names.cast("project")]))
    turns: list[tuple[Named, str, bool]] = [(plain, plain.title, True), (plain, names.person().title, False)]
    for who in slipped:
        turns += [(who, _slip(rng, who), True), (who, _stranger(rng, who), False)]
    rng.shuffle(turns)
    for who, name, is_known in turns:
        key = "ask_person" if who.kind == "person" else "ask_thing"
        ask_in(script, rng.pick(english(key)), name, who, is_known)
        script.reply(rng.pick(english("reply")))


def _slip(rng: SplitMix64, who: Named) -> str:
    """The name with two neighbouring letters swapped in its last word, or one of its letters dropped."""
    head, _, word = surface(who, "full").rpartition(" ")
    spots = [i for i in range(1, len(word) - 2) if word[i] != word[i + 1]]
    at = rng.pick(spots)
    swap = rng.below(3) > 0
    changed = word[:at] + word[at + 1] + word[at] + word[at + 2 :] if swap else word[:at] + word[at + 1 :]
    return f"{head} {changed}".strip()


def _stranger(rng: SplitMix64, who: Named) -> str:
    """A name one letter away from that of `who`: its last word begins otherwise, with no neighbour on the keyboard."""
    head, _, word = who.title.rpartition(" ")
    initial = rng.pick([c for c in _initials(word) if not _neighbours(c, word[0])])
    return f"{head} {initial}{word[1:]}".strip()


def _initials(word: str) -> str:
    """Letters with which the rest of `word` can be spoken."""
    if word[0] in "AEIOU":
        return "AEIOU"
    if word[1] in "aeiouy":
        return "BDFGKLMNPRSTVZ"
    return "BDFGKPT" if word[1] == "r" else ""


def _neighbours(one: str, other: str) -> bool:
    """Whether two letters are the same or lie side by side on a keyboard."""
    (row, column), (other_row, other_column) = _KEYS[one], _KEYS[other]
    return abs(row - other_row) <= 1 and abs(column - other_column) <= 1


def _slippery(names: Names, kind: str) -> Named:
    """Somebody whose last word can begin with another letter and still be spoken."""
    while True:
        who = names.cast(kind)
        if _initials(who.title.rpartition(" ")[2]):
            return who
