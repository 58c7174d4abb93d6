"""One live run against an earlier one. Only a paired interval that leaves out 0 is a regression."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from brainbench.errors import IncompatibleError
from brainbench.evidence.baseline import LIVE as KIND
from brainbench.live.judging import LIVE_METRICS, LiveMetric
from brainbench.live.report import SCHEMA_VERSION
from brainbench.metrics.resampling import Difference, clustered_difference

BOUND = (
    "fixtures_hash", "corpus_hash", "fixtures", "include_holdout", "model", "host", "seed", "repeats", "max_tokens",
    "prompt_sha256", "tools_sha256",
)  # fmt: skip
"""What two live runs must share to be compared. Arms may differ: those that both have are."""
Key = tuple[str, str, str, int, int]


@dataclass(frozen=True, slots=True)
class Change:
    """How a metric of one arm differs between two runs, paired by turn and repeat."""

    system: str
    arm: str
    metric: str
    difference: Difference
    worse: bool

    def __str__(self) -> str:
        found = self.difference
        words = "worse" if self.worse else "better" if found.certain else "no difference shown"
        return (
            f"{self.system} {self.arm} {self.metric}: {found.value:+.4f} [{found.low:+.4f}, {found.high:+.4f}] "
            f"(p {found.p:.4f}, {found.clusters} fixtures): {words}"
        )


class _Turn(msgspec.Struct):
    system: str
    arm: str
    fixture_id: str
    event_id: int
    repeat: int
    hits: dict[str, bool | None]


class StoredLive(msgspec.Struct):
    """What a live result says that a later run is held against."""

    receipt: dict[str, Any]
    seam: dict[str, Any]
    observations_hash: str
    turns: list[_Turn]


def read_live(path: Path) -> StoredLive:
    """A stored live result. IncompatibleError for anything else: other runs gate by counts, these by intervals."""
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise IncompatibleError(f"{path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise IncompatibleError(f"{path}: is no JSON: {error}") from error
    if not isinstance(document, dict) or document.get("kind") != KIND:
        raise IncompatibleError(
            f"{path}: is no result of a live run; runs with and without a model in the loop are never compared. "
            "Keep a live result with --live --out FILE"
        )
    if document.get("schema_version") != SCHEMA_VERSION:
        raise IncompatibleError(f"{path}: schema_version is not {SCHEMA_VERSION}")
    try:
        return msgspec.convert(document, StoredLive)
    except msgspec.ValidationError as error:
        raise IncompatibleError(f"{path}: is no whole result of `brainbench run --live --out`: {error}") from None


def changes(before: StoredLive, document: Mapping[str, Any]) -> Iterator[Change]:
    """Every metric that both runs measured in the same arm. IncompatibleError names what the runs do not share.

    `document` is the result of the run that is held against the stored one.
    """
    now = msgspec.convert(document, StoredLive)
    differing = [name for name in BOUND if before.receipt.get(name) != now.receipt.get(name)]
    if before.seam != now.seam:
        differing.append("seam")
    if differing:
        raise IncompatibleError(f"--compare: the two live runs differ in {', '.join(differing)}")
    seed = int(now.observations_hash[:12], 16)
    first, second = _hits(before), _hits(now)
    places = dict.fromkeys((system, arm) for system, arm, *_ in second if any(k[:2] == (system, arm) for k in first))
    for system, arm in places:
        for metric in LIVE_METRICS.values():
            found = _paired(first, second, (system, arm), metric, seed)
            if found is not None:
                bad = found.value > 0 if metric.better == "lower" else found.value < 0
                yield Change(system, arm, metric.name, found, found.certain and bad)


def _hits(stored: StoredLive) -> dict[Key, Mapping[str, bool | None]]:
    return {(t.system, t.arm, t.fixture_id, t.event_id, t.repeat): t.hits for t in stored.turns}


def _paired(
    first: Mapping[Key, Mapping[str, bool | None]],
    second: Mapping[Key, Mapping[str, bool | None]],
    place: tuple[str, str],
    metric: LiveMetric,
    seed: int,
) -> Difference | None:
    clusters: dict[str, tuple[int, int, int]] = {}
    for key in first.keys() & second.keys():
        a, b = first[key].get(metric.name), second[key].get(metric.name)
        if key[:2] == place and a is not None and b is not None:
            before, after, of = clusters.get(key[2], (0, 0, 0))
            clusters[key[2]] = (before + a, after + b, of + 1)
    return clustered_difference([clusters[name] for name in sorted(clusters)], seed)
