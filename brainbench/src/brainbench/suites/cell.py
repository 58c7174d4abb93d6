"""What a suite is, and the cell that judging it gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from brainbench.gold import Gold
from brainbench.metrics import METRICS, Judged, Measured
from brainbench.model import Capability, CellStatus, Fixture, Replayed, SeamConfig, SeamKind


@dataclass(frozen=True, slots=True)
class Slice:
    """Part of a cell (a stratum, category, language or universe) with its own counts."""

    gold_total: int
    gold_failed: int
    metrics: Mapping[str, Measured | None]


@dataclass(frozen=True, slots=True)
class Cell:
    """One system through one seam on one suite.

    `metrics` has every metric of the suite, None where nothing was asked. `failed_items` names what failed
    (`fixture/event[/detail]`), sorted, so that a fix cannot hide a new failure; `leaks` names in the same way what
    crossed from a foreign source. `lacking` counts, by capability, the fixtures that are not applicable for want of it.
    `slices` is keyed `stratum`, `category`, `language`, `universe` -> value. `events` are the events that were asked
    of, and those that went wrong without being asked of; `errors` are those that went wrong.
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
    lacking: Mapping[str, int] = field(default_factory=dict)
    errors: int = 0
    events: int = 0
    shared: bool = False
    reason: str = ""
    deviations: tuple[str, ...] = ()
    leaks: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """`<system>/<seam>/<suite>`, as baselines name it."""
        return f"{self.system}/{self.seam}/{self.suite}"


@dataclass(frozen=True, slots=True)
class Tally:
    """What was asked and what of it failed, as item names; how many events that took and how many went wrong."""

    asked: tuple[str, ...]
    failed: tuple[str, ...]
    events: int
    errors: int


@dataclass(frozen=True, slots=True)
class Suite:
    """A question asked of a memory.

    `needs` are groups of capabilities; a system needs one of each group. `asks` gives the ids under which results
    name the fixtures that hold gold for this suite (a pair is named by its reader, or its writer for write-back);
    `judge` holds one fixture's events against gold, `tally` counts what was asked. A `shared` suite does not depend
    on the seam: its cell is computed once and stands under each.
    """

    name: str
    question: str
    needs: tuple[frozenset[Capability], ...]
    asks: Callable[[Fixture, Gold], tuple[str, ...]]
    judge: Callable[[Fixture, Gold, Replayed, SeamConfig], Judged]
    tally: Callable[[Judged], Tally]
    shared: bool = False
    protected: bool = False
    """Whether it is played with the system's settings that hold back instead of marking."""

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that name this suite, and those counted in every one, in the order of METRICS."""
        return tuple(name for name, metric in METRICS.items() if metric.suite in (self.name, "every"))

    def lacking(self, can: frozenset[Capability]) -> tuple[str, ...]:
        """What a system that `can` do this lacks for the suite; alternatives are joined by "or"."""
        return tuple(" or ".join(sorted(group)) for group in self.needs if not group & can)

    def measure(self, judged: Judged) -> Mapping[str, Measured | None]:
        """Every metric of the suite."""
        return {name: METRICS[name].measure(judged) for name in self.metrics}
