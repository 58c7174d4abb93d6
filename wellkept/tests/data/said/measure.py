"""What the said arm does on the sessions of this folder, and the weights that they give it.

./bb python wellkept/tests/data/said/measure.py          # the arm as it is: misses, false fires, precision
./bb python wellkept/tests/data/said/measure.py --fit    # weights fitted to fit.json; what such do on worlds left out
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np

from wellkept.ingest.conversation import page_slug
from wellkept.memory import Memory
from wellkept.model import Message, Role
from wellkept.recall import said as arm
from wellkept.recall.need import need
from wellkept.storage import open_store

FOLDER = Path(__file__).parent
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PENALTY = 0.3
STEPS, RATE = 20_000, 0.002
GUESSED_FOR = {"mass": 1.5, "asks": 2.0, "pointed": 0.5, "earlier": 0.4, "ours": 1.0, "mine": 0.5}
GUESSED_AGAINST = {"orders": -1.0, "at_large": -1.0, "back": -0.8, "chat": -1.0, "any_one": -0.7, "stranger": -3.0}
START = {"always": -6.0, **GUESSED_FOR, **GUESSED_AGAINST}
"""What the weights were guessed to be: where the sessions say little they stay near it."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a turn brought to light: the statements that may be asked for, best first, which of them are right, and
    what was brought.
    """

    world: str
    text: str
    needs: bool
    found: tuple[arm.Match, ...]
    right: tuple[bool, ...]
    brought: tuple[str, ...]
    helped: bool


def nobody(_: str) -> bool:
    """No page is of the conversation at hand."""
    return False


def spoken_worlds() -> list[Any]:
    """The worlds of the folder `need/`, as its own measure reads them."""
    spec = spec_from_file_location("need_measure", FOLDER.parent / "need" / "measure.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return list(module.worlds())


def remembered(sessions: Sequence[tuple[str, str, Sequence[str]]]) -> Memory:
    """A memory of sessions, each with its source, day and turns; an assistant's begin with "A: "."""
    memory = Memory(open_store("sqlite", ":memory:"))
    for number, (source, day, turns) in enumerate(sessions):
        began = datetime.fromisoformat(f"{day}T09:00:00+00:00")
        messages = []
        for place, turn in enumerate(turns):
            role: Role = "assistant" if turn.startswith("A: ") else "user"
            messages.append(Message(role, turn.removeprefix("A: "), began + timedelta(minutes=place)))
        memory.bank(source, f"session-{number}", messages, now=began)
    return memory


def background() -> Iterator[list[str]]:
    """What else was said to the same memory: what pages of the worlds in `need/` say, and the turns of people there."""
    for file in sorted((FOLDER.parent / "need").glob("*.txt")):
        for line in file.read_text(encoding="utf-8").splitlines():
            text = line.rpartition(" :: ")[2].removeprefix("- ")
            if line[:1] not in ("", "=", "@", "#"):
                yield [text, "A: Ok."]


def seen(name: str) -> Iterator[Seen]:
    """What each turn of a file shows: one person's memory holds all its worlds, and another's what is out of scope."""
    told = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    sessions = [("mine", day, turns) for world in told["worlds"] for day, turns in world["sessions"]]
    sessions += [("mine", "2026-01-05", turns) for turns in background()]
    memory = remembered([*sessions, *(("theirs", day, turns) for day, turns in told["other_scope"])])
    asks = [(world["name"], *ask) for world in told["worlds"] for ask in world["asks"]]
    asks += [("other scope", *ask) for ask in told["other_asks"]]
    for world, text, wanted in asks:
        found = arm.matches(memory.store, "mine", text, need(text), ours=nobody, prior="", least=0.0)
        brought = memory.context("mine", [Message("user", text)], session="another").said
        right = tuple(wanted is not None and wanted in one.statement.text for one in found)
        helped = wanted is not None and any(wanted in one.text for one in brought)
        yield Seen(world, text, wanted is not None, found, right, tuple(one.text for one in brought), helped)
    memory.close()


def seen_elsewhere() -> Iterator[Seen]:
    """What the turns of the worlds in `need/` show if what the pages there say was said: a memory for each world.

    What an earlier turn of the session needed has been brought already.
    """
    for world in spoken_worlds():
        memory = Memory(open_store("sqlite", ":memory:"))
        for slug, content in world.pages.items():
            title, body = content.split('title: "', 1)[1].split('"', 1)[0], content.split("---\n", 2)[2].strip()
            memory.bank(world.name, slug, [Message("user", f"{title}: {body}"), Message("assistant", "Ok.")], now=NOW)
        for session in world.sessions:
            shown: set[str] = set()
            for wanted, text in session:
                found = arm.matches(memory.store, world.name, text, need(text), ours=nobody, prior="", least=0.0)
                found = tuple(one for one in found if one.statement.slug not in shown)
                slugs = {page_slug(slug) for slug in wanted}
                right = tuple(one.statement.slug in slugs for one in found)
                brought = tuple(one.statement.text for one in found[:1] if one.likely >= arm.LEAST)
                yield Seen(world.name, text, bool(wanted), found, right, brought, bool(brought) and right[0])
                shown |= slugs
        memory.close()


def counted(turns: Sequence[Seen]) -> dict[str, list[int]]:
    """Turns that did not get what they need, quiet ones that got something, turns that got something right."""
    asked = [turn for turn in turns if turn.needs]
    quiet = [turn for turn in turns if not turn.needs]
    spoken = [turn for turn in turns if turn.brought]
    return {
        "missed": [sum(not turn.helped for turn in asked), len(asked)],
        "false_fires": [sum(bool(turn.brought) for turn in quiet), len(quiet)],
        "precision": [sum(turn.helped for turn in spoken), len(spoken)],
    }


def fitted(turns: Sequence[Seen]) -> dict[str, float]:
    """Weights by logistic regression: does the turn need the statement that fits it best, with these signs?

    What speaks for a need never has a weight below 0, nor has what speaks against it one above.
    """
    rows = [
        (match.evidence, right) for turn in turns for match, right in list(zip(turn.found, turn.right, strict=True))[:3]
    ]
    names = list(START)
    evidence = np.array([[one[name] for name in names] for one, _ in rows])
    wanted = np.array([float(right) for _, right in rows])
    start = np.array([START[name] for name in names])
    low = np.array([0.0 if name in GUESSED_FOR else -np.inf for name in names])
    high = np.array([0.0 if name in GUESSED_AGAINST else np.inf for name in names])
    weights = start.copy()
    for _ in range(STEPS):
        slope = evidence.T @ (wanted - 1 / (1 + np.exp(-evidence @ weights))) - PENALTY * (weights - start)
        weights = np.clip(weights + RATE * slope, low, high)
    return {name: round(float(weight), 2) for name, weight in zip(names, weights, strict=True)}


def main() -> None:
    """Print the counts, or the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", default="fit.json")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--show", action="store_true", help="print each turn that went wrong")
    given = parser.parse_args()
    turns, others = list(seen(given.file)), list(seen_elsewhere())
    if given.fit:
        print(json.dumps(fitted([*turns, *others]), indent=1))
        return
    print(json.dumps({given.file: counted(turns), "need": counted(others)}))
    for turn in (*turns, *others) if given.show else ():
        if turn.needs != bool(turn.brought) or turn.needs != turn.helped:
            best = [(round(match.likely, 2), match.statement.text) for match in turn.found[:2]]
            print(turn.world, "|", turn.text, "| needs one" if turn.needs else "| needs none", "|", best)


if __name__ == "__main__":
    main()
