"""Changes of a corpus that change nothing that is asked, so that no count may change.

Another seed names and orders the fixtures otherwise; a brain may be filled in another order; people may be called
something else, throughout a fixture and its gold. Whatever counts differently then is an accident of the corpus.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import Any

from brainbench import corpus as corpora
from brainbench import gold as golds
from brainbench.run import Choice, measure
from brainbench.suites import Cell
from brainbench.systems.fence import RUNS

_PERSON = re.compile(r"^type:\s*[\"']?person\b", re.MULTILINE)
_TITLE = re.compile(r"^title:\s*[\"']?(.+?)[\"']?\s*$", re.MULTILINE)
_NAME = re.compile(r"\b[A-Z][a-z]{3,}\b")
_NEAR = 0.75
"""How alike a word and a name are, from 0 to 1, where one may be a slip of the other."""
_RINGS = ("aeiou", "bcdfghjklmnpqrstvwxz")
_NEXT = {letter: ring[(at + 1) % len(ring)] for ring in _RINGS for at, letter in enumerate(ring)}
_RING = {letter: ring[0] for ring in _RINGS for letter in ring}
Document = dict[str, Any]
Change = Callable[[Choice, Path], Choice]
"""What plays a choice changed; an empty directory is there for a changed corpus."""


@dataclass(frozen=True, slots=True)
class Relation:
    """A change, and the share of what was asked that it may turn.

    `item` gives what an item is called both before and after the change, where the change renames it.
    """

    name: str
    bound: Fraction
    why: str
    change: Change
    item: Callable[[str], str] = str


@dataclass(frozen=True, slots=True)
class Related:
    """What a change did to one system: how many items of a cell turned, in the cell where the largest share did.

    `trouble` says why that cell, before or after the change, is no measurement; "" where both are.
    """

    relation: Relation
    system: str
    turned: int
    of: int
    cell: str
    trouble: str = ""

    @property
    def share(self) -> Fraction:
        """The part of what was asked that turned; 0 where nothing was."""
        return Fraction(self.turned, max(1, self.of))

    @property
    def holds(self) -> bool:
        """Whether both were measured, and no more items turned than may."""
        return not self.trouble and self.share <= self.relation.bound


def another_seed(choice: Choice, place: Path) -> Choice:
    """The choice with the next seed."""
    return replace(choice, seed=choice.seed + 1)


def rewritten(change: Callable[[Document, Document], tuple[Document, Document]]) -> Change:
    """What changes every fixture of a corpus and its gold in this way."""

    def changed(choice: Choice, place: Path) -> Choice:
        corpus = corpora.read(choice.fixtures, include_holdout=choice.include_holdout)
        played = {name for f in corpus.fixtures for name in (f.fixture_id, *dict(f.declares))}
        for folder in ("fixtures", "gold"):
            (place / folder).mkdir()
        gold = {path.name.removesuffix(golds.SUFFIX): path for path in choice.gold.glob(f"*{golds.SUFFIX}")}
        for path in choice.fixtures.glob(f"*{corpora.SUFFIX}"):
            name = path.name.removesuffix(corpora.SUFFIX)
            fixture: Document = json.loads(path.read_text(encoding="utf-8"))
            if fixture["fixture_id"] in played:
                pair = change(fixture, json.loads(gold[name].read_text(encoding="utf-8")))
                for folder, suffix, document in zip(
                    ("fixtures", "gold"), (corpora.SUFFIX, golds.SUFFIX), pair, strict=True
                ):
                    (place / folder / f"{name}{suffix}").write_text(json.dumps(document), encoding="utf-8")
        if corpus.manifest is not None:
            golds.write_manifest(place, replace(corpus.manifest, split=None, groups={}))
        return replace(choice, fixtures=place / "fixtures", gold=place / "gold")

    return changed


def filled_in_reverse(fixture: Document, gold: Document) -> tuple[Document, Document]:
    """The same script, its brain filled last page first."""
    key = "setup" if "setup" in fixture else "seed_pages"
    return {**fixture, key: fixture.get(key, [])[::-1]}, gold


def with_people_renamed(fixture: Document, gold: Document) -> tuple[Document, Document]:
    """The same script and gold with every person called something else, as long and as easy to say.

    >>> renamed("Ada Lovelace", {"Lovelace": "Muwimedi"})
    'Ada Muwimedi'
    """
    pages = [page.get("content", "") for page in fixture.get("setup") or fixture.get("seed_pages") or []]
    titles = [found.group(1) for page in pages if _PERSON.search(page) for found in _TITLE.finditer(page)]
    words: list[str] = _NAME.findall(" ".join(titles))
    said = " ".join(str(event.get("text", "")) for event in fixture.get("events") or fixture.get("turns") or [])
    words += _slips(_NAME.findall(said), words)
    names = {word: "".join(map(_next_letter, word)) for word in words}
    pair = (json.loads(renamed(json.dumps(document, ensure_ascii=False), names)) for document in (fixture, gold))
    return next(pair), next(pair)


def _slips(said: Iterable[str], names: Sequence[str]) -> list[str]:
    """The words that a slip of the keys may have made of a name: they change as the name does."""
    return [word for word in dict.fromkeys(said) if word not in names and get_close_matches(word, names, 1, _NEAR)]


def renamed(text: str, names: Mapping[str, str]) -> str:
    """A text with names changed wherever a word begins with one, in capitals, small letters and ids too."""
    for before, after in names.items():
        for form in (str, str.lower, str.upper):
            text = re.sub(rf"(?<![^\W_]){form(before)}", form(after), text)
    return text


def _next_letter(letter: str) -> str:
    moved = _NEXT.get(letter.lower(), letter)
    return moved.upper() if letter.isupper() else moved


def whoever(item: str) -> str:
    """An item of a cell as it is called whoever is in it: a vowel stays a vowel where people are renamed.

    >>> whoever("f-07/3/people/mira-tolland") == whoever("f-07/3/people/nose-vummepf")
    True
    """
    fixture, event, *detail = item.split("/")
    return "/".join((fixture, event, *("".join(_RING.get(letter, letter) for letter in part) for part in detail)))


RELATIONS: tuple[Relation, ...] = (
    Relation("another seed", Fraction(0), "a seed names and orders fixtures, and nothing else", another_seed),
    Relation(
        "brains filled in reverse",
        Fraction(0),
        "a memory holds what it was given, in whatever order",
        rewritten(filled_in_reverse),
    ),
    Relation(
        "people renamed",
        Fraction(2, 100),
        "a name is a name; misspelt and listed ones may go another way",
        rewritten(with_people_renamed),
        whoever,
    ),
)


def related(choice: Choice, told: Callable[[str], None] = lambda what: None) -> Iterator[Related]:
    """What every change does to the systems of the choice."""
    told("playing as it is")
    plain = measure(choice).board.cells
    for relation in RELATIONS:
        told(f"playing with {relation.name}")
        with tempfile.TemporaryDirectory(prefix=f"{RUNS}related-") as directory:
            now = measure(relation.change(choice, Path(directory))).board.cells
        yield from (_compared(relation, system, plain, now) for system in choice.systems)


def _compared(relation: Relation, system: str, plain: tuple[Cell, ...], now: tuple[Cell, ...]) -> Related:
    """The cell of a system in which the largest share of items turned from right to wrong or back.

    One that is no measurement, before or after the change, comes first.
    """
    after = {cell.key: cell for cell in now}
    found = [
        _turned(relation, cell, after[cell.key])
        for cell in plain
        if cell.system == system and {cell.status, after[cell.key].status} != {"not_applicable"}
    ]
    nothing = Related(relation, system, 0, 0, "nothing was asked")
    return max(found, key=lambda one: (bool(one.trouble), one.share, one.of), default=nothing)


def _turned(relation: Relation, cell: Cell, other: Cell) -> Related:
    name = f"{cell.seam}/{cell.suite}"
    for when, seen in (("as it is", cell), (relation.name, other)):
        if seen.status != "scored":
            trouble = f"{seen.status} {when}: {seen.reason or 'no reason was given'}"
            return Related(relation, cell.system, 0, cell.gold_total, name, trouble)
    before, after = (Counter(map(relation.item, seen.failed_items)) for seen in (cell, other))
    return Related(relation, cell.system, ((before - after) + (after - before)).total(), cell.gold_total, name)
