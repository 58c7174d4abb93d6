"""A suite is a question asked of a memory: what it needs, how an event is judged, and which metrics count it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from brainbench.metrics import Measured
from brainbench.model import CellStatus, SeamKind


@dataclass(frozen=True, slots=True)
class Slice:
    """Part of a cell (a stratum, category or language) with its own counts."""

    gold_total: int
    gold_failed: int
    metrics: Mapping[str, Measured | None]


@dataclass(frozen=True, slots=True)
class Cell:
    """One system through one seam on one suite.

    `metrics` has every metric of the suite, None where nothing was asked. `failed_items` names what failed
    (`fixture/event[/detail]`), sorted, so that a fix cannot hide a new failure. `slices` is keyed
    `stratum`, `category`, `language` -> value.
    """

    system: str
    seam: str
    kind: SeamKind
    suite: str
    status: CellStatus
    gold_total: int = 0
    gold_failed: int = 0
    metrics: Mapping[str, Measured | None] = field(default_factory=dict)
    slices: Mapping[str, Mapping[str, Slice]] = field(default_factory=dict)
    failed_items: tuple[str, ...] = ()
    fixtures: tuple[str, ...] = ()
    not_applicable: tuple[str, ...] = ()
    errors: int = 0
    events: int = 0
    shared: bool = False
    reason: str = ""
    deviations: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """`<system>/<seam>/<suite>`, as baselines name it."""
        return f"{self.system}/{self.seam}/{self.suite}"
