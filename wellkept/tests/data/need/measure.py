"""What the topic arm does on the conversations of this folder, and the weights that they give it.

    ./bb python wellkept/tests/data/need/measure.py         # the arm as it is: misses, false fires, precision
    ./bb python wellkept/tests/data/need/measure.py --fit   # weights fitted to them; what such do on worlds left out

A world begins with "= name language". Its pages: "@ slug | title | type | aliases | summary", then the body; a fact
about one: "+ slug :: ". A session begins with "==", a turn that needs one of some pages with "! slug,slug :: ", one
that needs none with "- ".
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import exp
from pathlib import Path

from wellkept.ingest.markdown import parse_page
from wellkept.model import Fact, Provenance, Source, Trust
from wellkept.recall import topic as arm
from wellkept.recall.kin import terms
from wellkept.recall.need import need
from wellkept.storage import Store, open_store

FOLDER = Path(__file__).parent
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
FOLDS = 8
PENALTY = 1.0


@dataclass(slots=True)
class World:
    """Pages, and sessions of turns: what a turn needs, and its text."""

    name: str
    language: str
    pages: dict[str, str] = field(default_factory=dict)
    sessions: list[list[tuple[frozenset[str], str]]] = field(default_factory=lambda: [[]])
    facts: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Seen:
    """What one turn brought to light: the page that fits best and the evidence, or nothing to judge."""

    world: str
    language: str
    text: str
    wanted: frozenset[str]
    slug: str | None
    evidence: dict[str, float]


def worlds(folder: Path = FOLDER, files: str = "*.txt") -> list[World]:
    """Every world of the folder's text files."""
    found: list[World] = []
    slug = ""
    for file in sorted(folder.glob(files)):
        for line in file.read_text(encoding="utf-8").splitlines():
            mark, _, rest = line.partition(" ")
            if mark == "=":
                found.append(World(*rest.split()))
            elif mark == "==":
                found[-1].sessions.append([])
            elif mark == "@":
                slug, title, kind, aliases, summary = (part.strip() for part in rest.split("|"))
                listed = json.dumps(
                    [alias.strip() for alias in aliases.split(",") if alias.strip()], ensure_ascii=False
                )
                quoted = json.dumps(summary, ensure_ascii=False)
                found[-1].pages[slug] = (
                    f"---\ntitle: {json.dumps(title, ensure_ascii=False)}\ntype: {kind}\n"
                    f"aliases: {listed}\nsummary: {quoted}\n---\n\n"
                )
            elif mark == "!":
                slugs, _, text = rest.partition(" :: ")
                found[-1].sessions[-1].append((frozenset(slugs.split(",")), text))
            elif mark == "+":
                about, _, text = rest.partition(" :: ")
                found[-1].facts.append((about, text))
            elif mark == "-":
                found[-1].sessions[-1].append((frozenset(), rest))
            elif line and mark != "#":
                found[-1].pages[slug] += line + "\n"
    return found


def filled(world: World) -> Store:
    """A store with the pages of a world."""
    store = open_store("sqlite", ":memory:")
    store.add_source(Source(world.name))
    for slug, content in world.pages.items():
        page, chunks, names = parse_page(world.name, slug, content, trust=Trust.USER_WRITTEN, now=NOW)
        store.put_page(page, chunks, names)
    told = Provenance("wellkept:remember", None, None)
    facts = [Fact(None, world.name, text, about, "fact", told) for about, text in world.facts]
    store.put_facts(world.name, None, facts, NOW)
    return store


def seen(world: World) -> Iterator[Seen]:
    """What each turn of a world shows. A page that an earlier turn of the session needed has been brought already."""
    store = filled(world)
    for session in world.sessions:
        shown: set[str] = set()
        for wanted, text in session:
            asked = terms(text)
            fits = arm.fit(store, world.name, asked)
            slug = fits[0].page.slug if fits and fits[0].page.slug not in shown else None
            evidence = dict(arm.evidence(fits, need(text), arm.names(fits[0], text))) if slug else {}
            yield Seen(world.name, world.language, text, wanted, slug, evidence)
            shown |= wanted
    store.close()


def counted(turns: Sequence[Seen], fired: Sequence[bool]) -> dict[str, str]:
    """Misses, false fires and precision as counts."""
    must = [(one, fire) for one, fire in zip(turns, fired, strict=True) if one.wanted]
    quiet = [fire for one, fire in zip(turns, fired, strict=True) if not one.wanted]
    found = sum(fire and one.slug in one.wanted for one, fire in must)
    return {
        "missed": f"{len(must) - found}/{len(must)}",
        "false_fires": f"{sum(quiet)}/{len(quiet)}",
        "precision": f"{found}/{sum(fired)}",
    }


def fitted(turns: Sequence[Seen], penalty: float = PENALTY) -> dict[str, float]:
    """Weights by logistic regression with a ridge, the constant left free."""
    import numpy as np

    judged = [one for one in turns if one.slug is not None]
    names = list(judged[0].evidence)
    rows = np.array([[one.evidence[name] for name in names] for one in judged])
    right = np.array([float(one.slug in one.wanted) for one in judged])
    ridge = np.eye(len(names)) * penalty
    ridge[0, 0] = 1e-3
    weights = np.zeros(len(names))
    for _ in range(50):
        likely = 1 / (1 + np.exp(-rows @ weights))
        slope = rows.T @ (rows * (likely * (1 - likely))[:, None]) + ridge
        weights += np.linalg.solve(slope, rows.T @ (right - likely) - ridge @ weights)
    return {name: round(float(weight), 2) for name, weight in zip(names, weights, strict=True)}


def likely(one: Seen, weights: dict[str, float]) -> float:
    """How likely the turn needs the page with these weights; 0 where no page fits."""
    if one.slug is None:
        return 0.0
    return float(1 / (1 + exp(-sum(weights[name] * value for name, value in one.evidence.items()))))


def left_out(every: Sequence[World], turns: Sequence[Seen]) -> list[float]:
    """For each turn how likely it needs its page, with weights from the worlds of the other folds."""
    fold = {world.name: number % FOLDS for number, world in enumerate(every)}
    weights = [fitted([one for one in turns if fold[one.world] != number]) for number in range(FOLDS)]
    return [likely(one, weights[fold[one.world]]) for one in turns]


def receipt(turns: Sequence[Seen]) -> dict[str, object]:
    """What the receipt of this folder says of these conversations."""
    every = worlds()
    shipped = [one.slug is not None and arm.likelihood(one.evidence) >= arm.LEAST for one in turns]
    chances = left_out(every, turns)
    return {
        "turns": len(turns),
        "least": arm.LEAST,
        "as_shipped": counted(turns, shipped),
        "worlds_left_out": counted(turns, [chance >= arm.LEAST for chance in chances]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--show", action="store_true", help="print every turn that goes wrong")
    asked = parser.parse_args()
    every = worlds()
    turns = [one for world in every for one in seen(world)]
    print(f"{len(every)} worlds, {len({world.language for world in every})} languages, {len(turns)} turns")
    if asked.fit:
        print(json.dumps(fitted(turns), indent=2))
        chances = left_out(every, turns)
        for least in (0.7, 0.8, 0.85, 0.9):
            print(least, json.dumps(counted(turns, [chance >= least for chance in chances])))
    else:
        chances = [arm.likelihood(one.evidence) if one.slug else 0.0 for one in turns]
        print(json.dumps(receipt(turns), indent=2))
    for one, chance in zip(turns, chances, strict=True) if asked.show else ():
        fire = chance >= arm.LEAST
        if (fire and one.slug not in one.wanted) or (one.wanted and not fire):
            print(f"{chance:.2f}", one.language, "fires" if fire else "misses", one.slug, "|", one.text)


if __name__ == "__main__":
    main()
