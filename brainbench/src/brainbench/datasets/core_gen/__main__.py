"""`python -m brainbench.datasets.core_gen [--check|--pocket] DIR`: make a corpus in DIR, or check the one there."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from brainbench.datasets.core_gen import build, build_pocket
from brainbench.datasets.core_gen.check import inspect
from brainbench.errors import BenchError, CorpusError

USAGE = "usage: python -m brainbench.datasets.core_gen [--check|--pocket] DIR"


def main(argv: Sequence[str]) -> int:
    """Exit code 0, or 2 with the reason on standard error."""
    wish = argv[0] if argv[:1] in (["--check"], ["--pocket"]) else ""
    names = argv[1:] if wish else argv
    if len(names) != 1 or names[0].startswith("-"):
        print(USAGE, file=sys.stderr)
        return 2
    directory = Path(names[0])
    try:
        if wish == "--pocket":
            build_pocket(directory)
        elif not wish:
            build(directory)
        report = inspect(directory)
        if report.faults:
            raise CorpusError(report.faults)
    except BenchError as error:
        print(error, file=sys.stderr)
        return 2
    print(report.table())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
