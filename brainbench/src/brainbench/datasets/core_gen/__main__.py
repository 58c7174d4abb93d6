"""`python -m brainbench.datasets.core_gen [--check|--NAME] DIR`: make a corpus of its own in DIR, or check one."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from brainbench.datasets import DATASETS
from brainbench.datasets.core_gen.check import inspect
from brainbench.errors import BenchError, CorpusError

OWN = tuple(name for name, maker in DATASETS.items() if maker.startswith("brainbench.datasets.core_gen:"))
WISHES = ("--check", *(f"--{name}" for name in OWN))
USAGE = f"usage: python -m brainbench.datasets.core_gen [{'|'.join(WISHES)}] DIR"


def main(argv: Sequence[str]) -> int:
    """Exit code 0, or 2 with the reason on standard error."""
    wish, names = (argv[0], argv[1:]) if argv and argv[0] in WISHES else ("--core", argv)
    if len(names) != 1 or names[0].startswith("-"):
        print(USAGE, file=sys.stderr)
        return 2
    directory = Path(names[0])
    try:
        if wish != "--check":
            module, _, function = DATASETS[wish.removeprefix("--")].partition(":")
            getattr(import_module(module), function)(directory)
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
