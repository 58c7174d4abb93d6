"""Makes the core corpus: scripts and gold from invented names and own sentences, the same bytes on every machine.

A category is a function that fills a Script. To add one: write the function in the module of its family and add a
line at the end of CATEGORIES. Each fixture draws from a stream keyed by its category and index, so no other fixture
changes; in the middle of the table a line would move the later ones between gate and holdout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from brainbench.corpus.manifest import Generator, Manifest, Split, Universe
from brainbench.datasets.core_gen import crowded, named, oblique, scenes, scopes, universe
from brainbench.datasets.core_gen.script import Script
from brainbench.datasets.emit import manifest_of, split_of, write_corpus
from brainbench.datasets.splitmix import substream
from brainbench.model import PUSH_SUITES, Stratum

VERSION = "1.1"
SEED = universe.SEED
POCKET_RULE = "of the core corpus' gate, the first fixture of each stratum in each category, at least two a category"
POCKET_LEAST, POCKET_MOST = 2, 3


@dataclass(frozen=True, slots=True)
class Category:
    """A family of fixtures: how many, how hard in turn, what they ask, and the function that fills one.

    Scenes and languages bring their own stratum, and scenes their own suites where theirs differ.
    """

    name: str
    count: int
    strata: tuple[Stratum, ...]
    fill: Callable[[Script], None]
    suites: tuple[str, ...] = PUSH_SUITES


CATEGORIES: tuple[Category, ...] = (
    Category("direct", 60, ("easy", "medium"), named.direct),
    Category("silent", 60, ("easy", "medium", "hard"), named.silent, ("know-to-ask",)),
    Category("push-budget", 50, ("easy", "medium"), named.push_budget),
    Category("semantic", 50, ("hard",), oblique.semantic),
    Category("pronoun", 40, ("medium", "hard"), scenes.scene),
    Category("typo", 40, ("medium", "hard"), oblique.typo),
    Category("multilingual", 78, ("easy", "medium", "hard"), scenes.multilingual),
    Category("code", 30, ("medium",), named.code),
    Category("long", 24, ("medium", "hard"), named.long_turn),
    Category("distractor", 40, ("medium", "hard"), crowded.distractor),
    Category("near-duplicate", 40, ("medium", "hard"), crowded.near_duplicate),
    Category("renamed", 24, ("medium", "hard"), scenes.scene),
    Category("stale", 40, ("medium", "hard"), scenes.scene, ("push",)),
    Category("assistant", 24, ("medium",), scenes.scene),
    Category("injection", 20, ("medium",), scenes.scene),
    Category("multi-source", 40, ("easy", "medium"), scopes.multi_source),
    Category("write-back", 60, ("easy", "medium", "hard"), scenes.scene, ("write-back",)),
    Category("continuity", 60, ("easy", "medium", "hard"), scenes.scene, ("continuity", "write-back")),
    Category("described", 35, ("medium", "hard"), scenes.grouped),
    Category("errand", 12, ("hard",), scenes.grouped),
    Category("typed", 14, ("medium",), scenes.grouped),
)


def scripts() -> Iterator[Script]:
    """Every fixture with its gold, in emission order."""
    for category in CATEGORIES:
        for index in range(category.count):
            rng = substream(SEED, category.name, index)
            stratum = category.strata[index % len(category.strata)]
            script = Script(category.name, index, stratum, rng, category.suites)
            category.fill(script)
            yield script


def build(out: Path) -> None:
    """Write `fixtures`, `gold` and MANIFEST.json of the core corpus below `out`.

    Files of an earlier build that are no longer made go. OutputError if that is not possible.
    """
    made = tuple(scripts())
    write_corpus(out, made, _manifest("core", made, split_of(made)), "core")


def build_pocket(out: Path) -> None:
    """Write the pocket corpus below `out`: a few fixtures of every category, in the words of the core corpus."""
    made = pocket(tuple(scripts()))
    split = Split(tuple(s.fixture_id for s in made), (), POCKET_RULE)
    write_corpus(out, made, _manifest("pocket", made, split), "core")


def pocket(made: Sequence[Script]) -> tuple[Script, ...]:
    """The pocket's fixtures among all, in emission order: by POCKET_RULE, none played in the largest brain."""
    gate = frozenset(split_of(made).gate)
    largest = max(universe.BRAINS, key=lambda name: universe.BRAINS[name])
    taken: set[str] = set()
    for category in CATEGORIES:
        left = [s for s in made if s.category == category.name and s.fixture_id in gate and s.universe != largest]
        strata: list[str] = []
        for script in left:
            if script.stratum not in strata and len(strata) < POCKET_MOST:
                strata.append(script.stratum)
                taken.add(script.fixture_id)
        rest = [s.fixture_id for s in left if s.fixture_id not in taken]
        taken.update(rest[: max(0, POCKET_LEAST - len(strata))])
    return tuple(script for script in made if script.fixture_id in taken)


def _manifest(name: str, made: Sequence[Script], split: Split) -> Manifest:
    universes = {name: _universe(name) for name in sorted({s.universe for s in made if s.universe is not None})}
    return manifest_of(name, Generator("brainbench.datasets.core_gen", VERSION, SEED), made, split, universes)


def _universe(name: str) -> Universe:
    pages = list(universe.brain(name, SEED))
    return Universe(len(pages), SEED, universe.digest(pages))
