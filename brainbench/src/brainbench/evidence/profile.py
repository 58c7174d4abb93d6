"""What a gate demands, as a TOML file: floors per kind of corpus and stratum, and the metrics that must be zero.

A new file under `evidence/gates` is a new profile. Decimals are read exactly.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal, cast

from brainbench.errors import IncompatibleError
from brainbench.evidence import CorpusKind
from brainbench.metrics import METRICS

Bound = Literal["max", "min", "min_of_ceiling"]
Place = tuple[CorpusKind, str]
"""A kind of corpus and a stratum; "all" is the whole cell."""
_BOUNDS = ("max", "min", "min_of_ceiling")
_STRATA = ("all", "easy", "medium", "hard")
_KINDS = ("v1", "v2")


@dataclass(frozen=True, slots=True, order=True)
class Floor:
    """A bound on a metric; `seam` "" holds for every seam. `min_of_ceiling` is a share of what the seam allows."""

    metric: str
    seam: str
    bound: Bound
    value: Fraction


@dataclass(frozen=True, slots=True)
class Profile:
    """A gate: its floors by place, and the metrics that must be zero whatever else holds."""

    name: str
    zero: frozenset[str]
    floors: Mapping[Place, tuple[Floor, ...]]


def read_profile(data: bytes, name: str) -> Profile:
    """The profile in these bytes; IncompatibleError names the file, the key and what may stand there."""
    try:
        document = tomllib.loads(data.decode("utf-8"), parse_float=Decimal)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise IncompatibleError(f"{name}: {error}") from None
    _only(name, "", document, ("schema_version", "name", "zero", "floors"))
    if document.get("schema_version") != 1:
        raise IncompatibleError(f"{name}: schema_version: must be 1")
    zero = _zero(name, document.get("zero", []))
    floors: dict[Place, tuple[Floor, ...]] = {}
    for kind, strata in _table(name, "floors", document.get("floors", {})).items():
        _known(name, "floors", kind, _KINDS)
        for stratum, metrics in _table(name, f"floors.{kind}", strata).items():
            _known(name, f"floors.{kind}", stratum, _STRATA)
            where = f"floors.{kind}.{stratum}"
            found = _floors(name, where, _table(name, where, metrics))
            floors[cast(CorpusKind, kind), stratum] = tuple(sorted(found))
    if not any(floors.values()):
        raise IncompatibleError(f"{name}: floors: a gate without floors passes everything; name at least one")
    return Profile(str(document.get("name", name)), zero, floors)


def _zero(name: str, value: object) -> frozenset[str]:
    if not isinstance(value, list):
        raise IncompatibleError(f"{name}: zero: must be a list of metric names")
    for metric in value:
        _known(name, "zero", metric, tuple(METRICS))
    return frozenset(value)


def _floors(name: str, where: str, metrics: Mapping[str, object]) -> Iterator[Floor]:
    for metric, bounds in metrics.items():
        _known(name, where, metric, tuple(METRICS))
        at = f"{where}.{metric}"
        for bound, value in _table(name, at, bounds).items():
            _known(name, at, bound, _BOUNDS)
            per_seam = value if isinstance(value, dict) else {"": value}
            for seam, number in per_seam.items():
                exact = _exact(name, f"{at}.{bound}", number)
                yield Floor(metric, seam, cast(Bound, bound), exact)


def _exact(name: str, where: str, value: object) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | Decimal) or not Decimal(value).is_finite():
        raise IncompatibleError(f"{name}: {where}: must be a finite number, not {value!r}")
    return Fraction(value)


def _table(name: str, where: str, value: object) -> Mapping[str, object]:
    if not isinstance(value, dict):
        raise IncompatibleError(f"{name}: {where}: must be a table")
    return value


def _only(name: str, where: str, table: Mapping[str, object], known: tuple[str, ...]) -> None:
    for key in table:
        _known(name, where, key, known)


def _known(name: str, where: str, key: object, known: tuple[str, ...]) -> None:
    if key not in known:
        at = f"{where}.{key}" if where else f"{key}"
        raise IncompatibleError(f"{name}: {at}: unknown; known: {', '.join(known)}")


def stricter(one: Profile, two: Profile) -> Profile:
    """Of two profiles whatever demands more: the tighter of two bounds, and every demand that only one makes."""
    floors: dict[Place, tuple[Floor, ...]] = {}
    for place in sorted({*one.floors, *two.floors}):
        tightest: dict[tuple[str, str, Bound], Floor] = {}
        for floor in (*one.floors.get(place, ()), *two.floors.get(place, ())):
            key = (floor.metric, floor.seam, floor.bound)
            held = tightest.get(key)
            if held is None or (floor.value < held.value if floor.bound == "max" else floor.value > held.value):
                tightest[key] = floor
        floors[place] = tuple(sorted(tightest.values()))
    return Profile(two.name, one.zero | two.zero, floors)
