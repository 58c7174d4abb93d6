"""Subject matters of the trust corpus, one data file with an entry each."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def subjects() -> tuple[dict[str, Any], ...]:
    """The subject matters, in the order of their file; callers must not change them."""
    text = files(__name__).joinpath("subjects.toml").read_text(encoding="utf-8")
    return tuple(tomllib.loads(text)["subject"])
