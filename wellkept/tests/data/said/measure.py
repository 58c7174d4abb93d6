"""What the said arm does on the sessions of this folder, and the weights that they give it.

./bb python wellkept/tests/data/said/measure.py          # the arm as it is: misses, false fires, precision
./bb python wellkept/tests/data/said/measure.py --fit    # weights fitted to fit.json; what such do on worlds left out
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import exp
from pathlib import Path

from wellkept.memory import Memory
from wellkept.model import Message, Role
from wellkept.recall import said as arm
from wellkept.recall.need import need
from wellkept.storage import open_store

FOLDER = Path(__file__).parent
PENALTY = 0.3
GUESSED_FOR = {"mass": 0.8, "covered": 4.0, "two": 1.0, "three": 0.5, "asks": 2.0, "pointed": 0.5, "earlier": 0.4}
GUESSED_FOR |= {"ours": 1.0, "mine": 0.5}
GUESSED_AGAINST = {"elsewhere": -2.0, "orders": -1.0, "at_large": -1.0, "back": -0.8, "chat": -1.0, "stranger": -3.0}
START = {"always": -6.0, **GUESSED_FOR, **GUESSED_AGAINST}
"""What the weights were guessed to be: where the sessions say little they stay near it."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What a turn brought to light: the statements that may be asked for, best first, and what was brought."""

    world: str
    text: str
    wanted: str | None
    found: tuple[arm.Match, ...]
    brought: tuple[str, ...]

    @property
    def helped(self) -> bool:
        """Whether the first statement brought is the one that is needed."""
        return self.wanted is not None and any(self.wanted in text for text in self.brought[:1])


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


def seen(name: str) -> Iterator[Seen]:
    """What each turn of a file shows: one person's memory holds all its worlds, and another's what is out of scope."""
    told = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    sessions = [("mine", day, turns) for world in told["worlds"] for day, turns in world["sessions"]]
    memory = remembered([*sessions, *(("theirs", day, turns) for day, turns in told["other_scope"])])
    asks = [(world["name"], *ask) for world in told["worlds"] for ask in world["asks"]]
    asks += [("other scope", *ask) for ask in told["other_asks"]]
    for world, text, wanted in asks:
        found = arm.matches(memory.store, "mine", text, need(text), None, "")
        brought = memory.context("mine", [Message("user", text)], session="another").said
        yield Seen(world, text, wanted, found, tuple(one.text for one in brought))
    memory.close()


def counted(turns: Sequence[Seen]) -> dict[str, list[int]]:
    """Turns that did not get first what they need, quiet ones that got something, turns that got something right."""
    asked = [turn for turn in turns if turn.wanted]
    quiet = [turn for turn in turns if not turn.wanted]
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
    rows = [(dict(match.evidence), _wants(turn, match)) for turn in turns for match in turn.found[:3]]
    weights = dict(arm.WEIGHTS)
    for _ in range(3000):
        slope = {name: PENALTY * (START[name] - value) for name, value in weights.items()}
        for evidence, wanted in rows:
            missing = wanted - 1 / (1 + exp(-sum(weights[name] * value for name, value in evidence.items())))
            for name, value in evidence.items():
                slope[name] += missing * value
        for name, by in slope.items():
            moved = weights[name] + 0.02 * by
            weights[name] = moved if name == "always" else max(0.0, moved) if name in GUESSED_FOR else min(0.0, moved)
    return {name: round(value, 2) for name, value in weights.items()}


def _wants(turn: Seen, match: arm.Match) -> float:
    return float(turn.wanted is not None and turn.wanted in match.statement.text)


def main() -> None:
    """Print the counts, or the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", default="fit.json")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--show", action="store_true", help="print each turn that went wrong")
    given = parser.parse_args()
    turns = list(seen(given.file))
    if given.fit:
        print(json.dumps(fitted(turns), indent=1))
        return
    print(json.dumps(counted(turns)))
    for turn in turns if given.show else ():
        if bool(turn.wanted) != bool(turn.brought) or (turn.wanted and not turn.helped):
            best = [(round(match.likely, 2), match.statement.text) for match in turn.found[:2]]
            print(turn.world, "|", turn.text, "| wants", turn.wanted, "|", best)


if __name__ == "__main__":
    main()
