"""What the checks of both item corpora share: a report with its faults, and the commands that make and check one."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from brainbench import corpus, gold
from brainbench.errors import BenchError, CorpusError, Fault
from brainbench.gold import Gold
from brainbench.gold_items import GoldItem
from brainbench.model import Fixture, Write

NOTHING = Write(0, "page", "owner", "")


@dataclass(frozen=True, slots=True)
class Report:
    """What was found in a corpus: counts, one line each, and where it breaks a promise."""

    lines: tuple[str, ...]
    faults: tuple[Fault, ...]


@dataclass(frozen=True, slots=True)
class Read:
    """A corpus with its gold, holdout included."""

    fixtures: tuple[Fixture, ...]
    sealed: dict[str, Gold]
    held_out: int

    def pairs(self) -> Iterator[tuple[Fixture, Gold]]:
        """Each fixture with its gold."""
        return ((fixture, self.sealed[fixture.fixture_id]) for fixture in self.fixtures)


def read(directory: Path) -> Read:
    """The corpus of a directory. CorpusError if its files break the format or are not what MANIFEST.json lists."""
    gold.validate(directory / "fixtures", directory / "gold")
    played = corpus.read(directory / "fixtures", include_holdout=True)
    sealed = gold.read(played, directory / "gold")
    return Read(played.fixtures, dict(sealed), played.held_out)


def thing(fixture: Fixture, item: GoldItem) -> Write:
    """The write that an item is about, or one with no text where it is about none."""
    return next((w for w in writes(fixture) if w.name is not None and w.name == item.name), NOTHING)


def writes(fixture: Fixture) -> Iterator[Write]:
    """Every write of the script, the setup's first."""
    return (event for event in (*fixture.setup, *fixture.events) if isinstance(event, Write))


def main(argv: Sequence[str], module: str, build: Callable[[Path], None], inspect: Callable[[Path], Report]) -> int:
    """Make a corpus in the directory that is named, or only check it. Gives 0, or 2 with the reason on stderr."""
    only_check = bool(argv) and argv[0] == "--check"
    names = argv[1:] if only_check else argv
    if len(names) != 1 or names[0].startswith("-"):
        print(f"usage: python -m {module} [--check] DIR", file=sys.stderr)
        return 2
    directory = Path(names[0])
    try:
        if not only_check:
            build(directory)
        report = inspect(directory)
        if report.faults:
            raise CorpusError(report.faults)
    except BenchError as error:
        print(error, file=sys.stderr)
        return 2
    print("\n".join(report.lines))
    return 0
