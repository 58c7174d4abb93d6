"""Changes of a corpus that change nothing that is asked, so that no count may change.

Another seed names and orders the fixtures otherwise; a brain may be filled in another order; people may be called
something else, throughout a fixture and its gold. Whatever counts differently then is an accident of the corpus.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from brainbench import corpus as corpora
from brainbench import gold as golds
from brainbench.run import Choice, measure
from brainbench.suites import Cell

_PERSON = re.compile(r"^type:\s*[\"']?person\b", re.MULTILINE)
_TITLE = re.compile(r"^title:\s*[\"']?(.+?)[\"']?\s*$", re.MULTILINE)
_NAME = re.compile(r"\b[A-Z][a-z]{3,}\b")
_RINGS = ("aeiou", "bcdfghjklmnpqrstvwxz")
_NEXT = {letter: ring[(at + 1) % len(ring)] for ring in _RINGS for at, letter in enumerate(ring)}
Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Relation:
    """A change, and the share of what was asked that it may turn."""

    name: str
    bound: Fraction
    why: str


RELATIONS: tuple[Relation, ...] = (
    Relation("another seed", Fraction(0), "a seed names and orders fixtures, and nothing else"),
    Relation("brains filled in reverse", Fraction(0), "a memory holds what it was given, in whatever order"),
    Relation("people renamed", Fraction(2, 100), "a name is a name; misspelt and listed ones may go another way"),
)


@dataclass(frozen=True, slots=True)
class Related:
    """What a change did to one system: how many items of a cell turned, in the cell where most did."""

    relation: Relation
    system: str
    turned: int
    of: int
    cell: str

    @property
    def holds(self) -> bool:
        """Whether no more items turned than may."""
        return Fraction(self.turned, max(1, self.of)) <= self.relation.bound


def related(choice: Choice, told: Callable[[str], None] = lambda what: None) -> Iterator[Related]:
    """What every change does to the systems of the choice."""
    told("playing as it is")
    plain = measure(choice).board.cells
    for relation in RELATIONS:
        told(f"playing with {relation.name}")
        with tempfile.TemporaryDirectory(prefix="brainbench-related-") as directory:
            now = measure(_changed(choice, relation, Path(directory))).board.cells
        yield from (_compared(relation, system, plain, now) for system in choice.systems)


def _changed(choice: Choice, relation: Relation, place: Path) -> Choice:
    if relation.name == "another seed":
        return replace(choice, seed=choice.seed + 1)
    change = _CHANGES[relation.name]
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
    names = {word: "".join(map(_next_letter, word)) for word in words}
    pair = (json.loads(renamed(json.dumps(document, ensure_ascii=False), names)) for document in (fixture, gold))
    return next(pair), next(pair)


def renamed(text: str, names: Mapping[str, str]) -> str:
    """A text with names changed wherever a word begins with one, in capitals, small letters and ids too."""
    for before, after in names.items():
        for form in (str, str.lower, str.upper):
            text = re.sub(rf"(?<![^\W_]){form(before)}", form(after), text)
    return text


def _next_letter(letter: str) -> str:
    moved = _NEXT.get(letter.lower(), letter)
    return moved.upper() if letter.isupper() else moved


_CHANGES: Mapping[str, Callable[[Document, Document], tuple[Document, Document]]] = {
    "brains filled in reverse": filled_in_reverse,
    "people renamed": with_people_renamed,
}


def _compared(relation: Relation, system: str, plain: tuple[Cell, ...], now: tuple[Cell, ...]) -> Related:
    """The cell of a system in which most items turned from right to wrong or back."""
    after = {cell.key: cell for cell in now}
    found = []
    for cell in plain:
        if cell.system == system and cell.status == "scored":
            other = after[cell.key]
            named = relation.name == "people renamed"
            turned = {_event(item, named) for item in cell.failed_items} ^ {
                _event(item, named) for item in other.failed_items
            }
            found.append(Related(relation, system, len(turned), cell.gold_total, f"{cell.seam}/{cell.suite}"))
    return max(found, key=lambda one: one.turned, default=Related(relation, system, 0, 0, "nothing was asked"))


def _event(item: str, named: bool) -> str:
    """What an item is called whoever is in it: a page's own name left out."""
    return "/".join(item.split("/")[:2]) if named else item
