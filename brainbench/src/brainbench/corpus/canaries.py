"""Canaries: invented names that a script plants where it says `{{canary:NAME}}`, drawn anew for every seed.

Who has read a corpus does not know them, and they look like names, so that nothing can be filtered by their form.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar

from brainbench.model import Fixture

T = TypeVar("T")
_PLACE = re.compile(r"\{\{canary:([^{}]+)\}\}")
_HEADS = tuple("Bel Cor Dal Fen Gar Hol Jor Kel Lom Mar Nor Orv Pel Quil Ros Sel Tor Ul Vas Wen Yar Zel".split())
_MIDDLES = tuple("a e i o u an en in or ur al el il".split())
_TAILS = tuple("bry dak fess gund hart kin lund mire nock pold quist rond strup tev vane wick zig".split())


def named_in(text: str) -> tuple[str, ...]:
    """The names for which a text holds a canary's place.

    >>> named_in("Ask {{canary:mail}} first")
    ('mail',)
    """
    return tuple(_PLACE.findall(text))


def canary(seed: int, fixture_id: str, name: str) -> str:
    """The invented name of a person that stands for this thing in a run of this seed.

    >>> canary(42, "a", "mail") == canary(42, "a", "mail") != canary(43, "a", "mail")
    True
    """
    drawn = hmac.new(str(seed).encode(), f"{fixture_id}\n{name}".encode(), hashlib.sha256).digest()
    return " ".join(_word(drawn[at : at + 4]) for at in (0, 4))


def _word(drawn: bytes) -> str:
    middle = _MIDDLES[drawn[1] % len(_MIDDLES)]
    return _HEADS[drawn[0] % len(_HEADS)] + middle + _TAILS[(drawn[2] << 8 | drawn[3]) % len(_TAILS)]


def planting(seed: int, fixture_id: str) -> Callable[[str], str]:
    """What puts the canaries of a fixture into a text."""
    return lambda text: _PLACE.sub(lambda found: canary(seed, fixture_id, found.group(1)), text)


def planted(fixture: Fixture, seed: int) -> Fixture:
    """The fixture with its canaries in every text of its setup and events."""
    put = planting(seed, fixture.fixture_id)
    return replace(fixture, setup=filled(fixture.setup, put), events=filled(fixture.events, put))


def filled(value: T, put: Callable[[str], str]) -> T:
    """The value with every text in it as `put` gives it."""
    return _filled(value, put)  # type: ignore[no-any-return]


def _filled(value: Any, put: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return put(value) if "{{" in value else value
    if isinstance(value, tuple):
        return tuple(_filled(one, put) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        changed = {f.name: _filled(getattr(value, f.name), put) for f in fields(value)}
        return replace(value, **changed)
    return value
