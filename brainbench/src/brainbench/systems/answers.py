"""What a system answered or raised, as plain values that are safe to keep and to print."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TypeVar

import msgspec

from brainbench.errors import SystemFailure
from brainbench.model import FactRow

MOST_FACTS = 100_000
"""How many facts one source may hold; a system that tells more is in error."""
MOST_BYTES = 1 << 26
"""Size of one answer of whatever kind above which a system is in error."""
T = TypeVar("T")


def what_happened(error: BaseException) -> str:
    """The first line of an error of a system, fit to be printed."""
    try:
        said = str(error).strip()
    except Exception:
        said = ""
    first = printable((said or "no message").splitlines()[0], 300)
    return first if isinstance(error, SystemFailure) else f"{type(error).__name__}: {first}"


def printable(text: str, most: int) -> str:
    """The first characters of a text, on one line and without what moves a cursor."""
    return "".join(c if c.isprintable() else "\ufffd" for c in "; ".join(text[:most].splitlines()))


def plain(value: object, kind: type[T]) -> T:
    """A copy of what a system gave, of plain values only; anything else than `kind` is a SystemFailure."""
    try:
        told = msgspec.msgpack.encode(value, enc_hook=_text)
        if len(told) > MOST_BYTES:
            raise SystemFailure(f"answered {len(told):,} bytes; more than {MOST_BYTES:,} is an error")
        return msgspec.msgpack.decode(told, type=kind)
    except (msgspec.MsgspecError, TypeError, ValueError, OverflowError) as error:
        raise SystemFailure(f"answered something else than it should: {error}") from None


def _text(value: object) -> str:
    """A text of a type of its own as a text."""
    if isinstance(value, str):
        return str.__str__(value)
    raise TypeError(f"a {type(value).__name__} is no plain value")


def told_facts(rows: Iterable[FactRow]) -> tuple[FactRow, ...]:
    facts = list(islice(rows, MOST_FACTS + 1))
    if len(facts) > MOST_FACTS:
        raise SystemFailure(f"tells more than {MOST_FACTS:,} facts of one source")
    return plain(facts, tuple[FactRow, ...])
