"""Plays a corpus as no bench should: the class beside the script, in the order of the files, one seam after the other.

python outside.py CLASS FIXTURES DIRECTORY HARNESS... prints one replay a line.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from brainbench import corpus as corpora
from brainbench.model import RunContext
from brainbench.replay import replay
from brainbench.seams import SEAMS
from brainbench.systems import load_system


def main(name: str, fixtures: str, directory: str, *harnesses: str) -> None:
    corpus = corpora.read(Path(fixtures), include_holdout=False)
    system = load_system(f"cheating:{name}", here=True)
    for harness in harnesses:
        for number, fixture in enumerate(corpus.fixtures):
            run = RunContext(fixture.fixture_id, fixture.sources, fixture.active_source, directory, number)
            replayed = replay(system, SEAMS[harness], fixture, run)
            sys.stdout.buffer.write(msgspec.json.encode(replayed) + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
