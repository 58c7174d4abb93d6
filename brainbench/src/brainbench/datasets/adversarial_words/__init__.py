"""Sentences of the adversarial corpus, one data file a language.

`bad` is what a payload says, `good` what its benign twin says in the same trigger words `t`.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def sentences(language: str) -> dict[str, Any]:
    """The parsed data file of a language; callers must not change it."""
    return tomllib.loads(files(__name__).joinpath(f"{language}.toml").read_text(encoding="utf-8"))
