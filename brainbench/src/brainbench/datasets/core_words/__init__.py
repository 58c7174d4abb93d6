"""Words and sentences of the core corpus, read from the data files of this package."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def table(name: str) -> dict[str, Any]:
    """The parsed data file `<name>.toml`; callers must not change it."""
    return tomllib.loads(files(__name__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))


@cache
def denied() -> frozenset[str]:
    """Lower-case words that no invented name may equal."""
    lines = files(__name__).joinpath("denied.txt").read_text(encoding="utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))
