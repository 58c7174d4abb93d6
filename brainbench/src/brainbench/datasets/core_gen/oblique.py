"""Turns that bear on a page without its exact name: by meaning, or with a slip of the keys."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from brainbench.datasets.core_gen.cast import Cast, lines
from brainbench.datasets.core_gen.script import Script
from brainbench.datasets.core_gen.world import Named, Names, Page
from brainbench.datasets.core_words import table
from brainbench.datasets.splitmix import SplitMix64

_KEYS = {
    letter: (row, column)
    for row, letters in enumerate(("QWERTYUIOP", "ASDFGHJKL", "ZXCVBNM"))
    for column, letter in enumerate(letters)
}


def semantic(script: Script) -> None:
    """Two questions that only the meaning of a page answers, each with a twin of the same shape.

    A meaning comes back in a later fixture in other words; the two are one group.
    """
    rng, cast, names = script.rng, Cast(script), Names(script.rng)
    meanings: list[Mapping[str, Any]] = table("meanings")["meaning"]
    script.group = f"semantic-{script.index % (len(meanings) // 2):03d}"
    turns: list[tuple[Named | None, str, str]] = []
    for at in (2 * script.index, 2 * script.index + 1):
        meaning = meanings[at % len(meanings)]
        of = names.cast(meaning["kind"])
        script.seed(Page(of, meaning["summary"], meaning["body"]))
        which = at // len(meanings) % len(meaning["ask"])
        turns += [(of, meaning["ask"][which], meaning["summary"]), (None, meaning["twin"][which], meaning["summary"])]
    cast.surround(rng.between(2, 12))
    rng.shuffle(turns)
    for wanted, text, about in turns:
        if wanted is None:
            script.quiet(text, about)
        else:
            script.must(text, [wanted], template=about)
        cast.reply()


def typo(script: Script) -> None:
    """Names with slips of the keys, and strangers as many letters away; what somebody does tells them apart.

    On medium one slip in the surname; on hard two, or one in each name.
    """
    rng, cast = script.rng, Cast(script)
    turns: list[tuple[str, str, Named, bool, str]] = []
    for template in rng.sample(lines("by_part"), 2):
        who = cast.member()
        given, family = who.of.given, _slip(rng, who.of.family)
        other = f"{given} {_elsewhere(rng, who.of.family)}"
        if script.stratum == "hard":
            if rng.below(2):
                given, other = _slip(rng, given), f"{_elsewhere(rng, given)} {_elsewhere(rng, who.of.family)}"
            else:
                family, other = (
                    _second_slip(rng, family, who.of.family),
                    f"{given} {_elsewhere(rng, _replaced(rng, who.of.family))}",
                )
        turns.append((template, f"{given} {family}", who.of, True, who.part))
        turns.append((template, other, who.of, False, cast.part_of_nobody()))
    plain, stranger = cast.member("company").of, cast.stranger("company")
    about = rng.sample(lines("thing"), 2)
    turns += [(about[0], plain.title, plain, True, ""), (about[1], stranger.title, stranger, False, "")]
    cast.surround(rng.between(1, 8))
    rng.shuffle(turns)
    for template, name, who_, is_known, part in turns:
        cast.ask(template, name, who_, is_known, part)
        cast.reply()


def _slip(rng: SplitMix64, word: str) -> str:
    """The word with two neighbouring letters swapped, or one of its letters dropped or struck twice."""
    spots = [i for i in range(1, len(word) - 2) if word[i] != word[i + 1]]
    at = rng.pick(spots)
    return (
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        word[:at] + word[at + 1 :],
        word[: at + 1] + word[at:],
        word[:at] + word[at + 1] + word[at] + word[at + 2 :],
    )[rng.below(4)]


def _second_slip(rng: SplitMix64, slipped: str, word: str) -> str:
    """One more slip in `slipped` that leaves it two away from `word`."""
    while distance(again := _slip(rng, slipped), word) != 2:
        pass
    return again


def distance(one: str, other: str) -> int:
    """How many letters must be changed, dropped, added or swapped with a neighbour (optimal string alignment)."""
    rows = [list(range(len(other) + 1))]
    for i, a in enumerate(one, start=1):
        rows.append([i])
        for j, b in enumerate(other, start=1):
            best = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and b == one[i - 2]:
                best = min(best, rows[i - 2][j - 2] + 1)
            rows[i].append(best)
    return rows[-1][-1]


def _elsewhere(rng: SplitMix64, word: str) -> str:
    """A name one letter away: it begins otherwise, with no neighbour on the keyboard."""
    return f"{rng.pick([c for c in _initials(word) if not _neighbours(c, word[0])])}{word[1:]}"


def _replaced(rng: SplitMix64, word: str) -> str:
    """The word with its last letter replaced by one that makes another name of it."""
    endings = "aoi" if word[-1] in "aeiouy" else "nslk"
    return word[:-1] + rng.pick([c for c in endings if c != word[-1]])


def _initials(word: str) -> str:
    """Letters with which the rest of `word` can be spoken."""
    if word[0] in "AEIOU":
        return "AEIOU"
    if word[1] in "aeiouy":
        return "BDFGKLMNPRSTVZ"
    return {"r": "BDFGKPT", "l": "BCFGPS", "h": "CSTW"}.get(word[1], "ABDEFGIKLMNOPRSTU")


def _neighbours(one: str, other: str) -> bool:
    """Whether two letters are the same or lie side by side on a keyboard."""
    (row, column), (other_row, other_column) = _KEYS[one], _KEYS[other]
    return abs(row - other_row) <= 1 and abs(column - other_column) <= 1
