"""What was expected of a corpus before it was measured, and what became of it.

EXPECTATIONS.toml beside MANIFEST.json holds them in the order in which they were registered. Entries are added at the
end and never changed, so one that was refuted stays to be read.
"""

from __future__ import annotations

import operator
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import msgspec

from brainbench.errors import IncompatibleError
from brainbench.metrics import METRICS

FILE_NAME = "EXPECTATIONS.toml"
State = Literal["confirmed", "refuted", "untested"]
OPS: Mapping[str, Callable[[Fraction, Fraction], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
}
_PLACE = ("corpus", "system", "seam", "suite", "stratum", "category", "universe", "metric")
_SLICES = ("stratum", "category", "universe")
_REQUIRED = ("id", "registered", "statement", "system", "seam", "suite", "stratum", "metric", "op", "value")


@dataclass(frozen=True, slots=True)
class Place:
    """Which number of a run: one metric of one cell, whole or of one slice of it. `corpus` is its name, or "v1"."""

    corpus: str
    system: str
    seam: str
    suite: str
    slice: tuple[str, str] | None
    metric: str

    def __str__(self) -> str:
        part = "" if self.slice is None else f" [{self.slice[1]}]"
        return f"{self.corpus}: {self.system}/{self.seam}/{self.suite}{part} {self.metric}"


@dataclass(frozen=True, slots=True)
class Expectation:
    """`of` minus `than` (0 where nothing is compared), `op`, `value`."""

    id: str
    registered: str
    statement: str
    of: Place
    than: Place | None
    op: str
    value: Fraction


@dataclass(frozen=True, slots=True)
class Found:
    """An expectation and what the results say of it, with the counts that were compared."""

    expectation: Expectation
    state: State
    detail: str


class _Part(msgspec.Struct):
    metrics: dict[str, dict[str, Any] | None]


class _Cell(_Part, kw_only=True):
    key: str
    status: str
    slices: dict[str, dict[str, _Part]]


class _Board(msgspec.Struct):
    corpus: str
    corpus_kind: str
    cells: list[_Cell]


class _Meta(msgspec.Struct):
    native: _Board


class _Document(msgspec.Struct):
    meta: _Meta = msgspec.field(name="_meta")


Results = Sequence[_Board]


def read_expectations(data: bytes, name: str) -> tuple[Expectation, ...]:
    """The expectations in these bytes, in order.

    IncompatibleError names the entry, the key and what may stand there.
    """
    try:
        document = tomllib.loads(data.decode("utf-8"), parse_float=Decimal)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise IncompatibleError(f"{name}: {error}") from None
    entries = document.get("expect", [])
    if set(document) - {"expect"} or not isinstance(entries, list):
        raise IncompatibleError(f"{name}: may hold [[expect]] entries and nothing else")
    read = tuple(_expectation(f"{name}: expect[{at}]", entry) for at, entry in enumerate(entries))
    if doubles := sorted({e.id for e in read if sum(o.id == e.id for o in read) > 1}):
        raise IncompatibleError(f"{name}: id {doubles[0]!r} stands twice; give each entry one of its own")
    return read


def check_only_added(before: bytes, now: bytes, name: str) -> None:
    """IncompatibleError unless `now` is `before` with entries added at its end."""
    earlier, entries = read_expectations(before, f"{name} as it was"), read_expectations(now, name)
    for at, old in enumerate(earlier):
        if at >= len(entries) or entries[at] != old:
            raise IncompatibleError(
                f"{name}: {old.id!r} was registered and is changed or gone; restore it and add a new one at the end"
            )


def read_result(data: bytes, name: str) -> _Board:
    """The scoreboard in a result document of `brainbench run --out`. IncompatibleError if there is none."""
    try:
        return msgspec.json.decode(data, type=_Document).meta.native
    except msgspec.DecodeError as error:
        raise IncompatibleError(f"{name}: no result of `brainbench run --out FILE`: {error}") from None


def judged(expectations: Sequence[Expectation], results: Results) -> tuple[Found, ...]:
    """What the results say of each expectation. Of two results that hold the same number the later one counts."""
    return tuple(_judged(expectation, results) for expectation in expectations)


def _judged(expectation: Expectation, results: Results) -> Found:
    numbers = []
    for place in filter(None, (expectation.of, expectation.than)):
        counts, why = _looked_up(place, results)
        if counts is None:
            return Found(expectation, "untested", f"{place}: {why}")
        numbers.append(counts)
    values = [Fraction(n, of) for n, of in numbers]
    difference = values[0] - (values[1] if len(values) > 1 else 0)
    held = OPS[expectation.op](difference, expectation.value)
    shown = " minus ".join(f"{n}/{of}" if of != 1 else str(n) for n, of in numbers)
    said = f"{shown} = {float(difference):.4f}, expected {expectation.op} {float(expectation.value):g}"
    return Found(expectation, "confirmed" if held else "refuted", said)


def _looked_up(place: Place, results: Results) -> tuple[tuple[int, int] | None, str]:
    """n and of of the number, or why there is none."""
    boards = [b for b in results if b.corpus_kind == "v1" or place.corpus != "v1"]
    boards = [b for b in boards if place.corpus in ("v1", b.corpus)]
    if not boards:
        return None, "no result of this corpus was given"
    cells = [c for b in boards for c in b.cells if c.key == f"{place.system}/{place.seam}/{place.suite}"]
    scored: list[_Part] = [c for c in cells if c.status == "scored"]
    if not scored:
        return None, f"its cell is {cells[-1].status}" if cells else "no result has this cell"
    if place.slice is not None:
        dimension, value = place.slice
        scored = [
            p for c in cells if c.status == "scored" for k, p in c.slices.get(dimension, {}).items() if k == value
        ]
    metric = scored[-1].metrics.get(place.metric) if scored else None
    if metric is None:
        return None, "this was not asked"
    return (int(metric["n"]), int(metric.get("of", 1))), ""


def _expectation(name: str, entry: Any) -> Expectation:
    if not isinstance(entry, dict):
        raise IncompatibleError(f"{name}: must be a table")
    missing = [key for key in _REQUIRED if key not in entry]
    unknown = sorted(set(entry) - {*_REQUIRED, *_PLACE, "than"})
    if missing or unknown:
        raise IncompatibleError(f"{name}: {f'{missing[0]} is missing' if missing else f'{unknown[0]} is unknown'}")
    if entry["op"] not in OPS:
        raise IncompatibleError(f"{name}: op: must be one of {' '.join(OPS)}")
    if isinstance(entry["value"], bool) or not isinstance(entry["value"], int | Decimal):
        raise IncompatibleError(f"{name}: value: must be a number")
    than = entry.get("than")
    if than is not None and (not isinstance(than, dict) or not than or set(than) - set(_PLACE)):
        raise IncompatibleError(f"{name}: than: must be a table of {', '.join(_PLACE)}")
    own = {key: entry[key] for key in _PLACE if key in entry}
    return Expectation(
        id=_text(name, entry, "id"),
        registered=_text(name, entry, "registered"),
        statement=_text(name, entry, "statement"),
        of=_place(name, own),
        than=None if than is None else _place(f"{name}: than", own | than),
        op=entry["op"],
        value=Fraction(entry["value"]),
    )


def _place(name: str, entry: Mapping[str, Any]) -> Place:
    metric, suite = _text(name, entry, "metric"), _text(name, entry, "suite")
    if metric not in METRICS:
        raise IncompatibleError(f"{name}: metric: {metric!r} is unknown; known: {', '.join(METRICS)}")
    slices = [(key, _text(name, entry, key)) for key in _SLICES if entry.get(key, "all") != "all"]
    if len(slices) > 1:
        raise IncompatibleError(f'{name}: {slices[1][0]}: a number is of one slice; leave {slices[0][0]} at "all"')
    return Place(
        corpus=_text(name, entry, "corpus") if "corpus" in entry else "core",
        system=_text(name, entry, "system"),
        seam=_text(name, entry, "seam"),
        suite=suite,
        slice=slices[0] if slices else None,
        metric=metric,
    )


def _text(name: str, entry: Mapping[str, Any], key: str) -> str:
    value = entry[key]
    if not isinstance(value, str) or not value:
        raise IncompatibleError(f"{name}: {key}: must be a non-empty text")
    return value


def lines(found: Sequence[Found]) -> Iterator[str]:
    """What became of each, and the counts of all."""
    for one in found:
        yield f"{one.state:<9} {one.expectation.id}: {one.expectation.statement}"
        yield f"          {one.detail}"
    counts = {state: sum(f.state == state for f in found) for state in ("confirmed", "refuted", "untested")}
    yield ", ".join(f"{n} {state}" for state, n in counts.items())


def document(found: Sequence[Found]) -> dict[str, Any]:
    """The same as JSON."""
    return {
        "schema_version": 1,
        "expectations": [
            {
                "id": one.expectation.id,
                "registered": one.expectation.registered,
                "statement": one.expectation.statement,
                "state": one.state,
                "detail": one.detail,
            }
            for one in found
        ],
    }
