"""How a script of acts, its gold items and what was seen are read side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from brainbench.gold import Gold
from brainbench.gold_items import SUITE_OF, TIERS, GoldItem
from brainbench.metrics import METRICS, Control, Judged, JudgedItem
from brainbench.model import Capability, Fixture, ItemRow, Replayed, SeamConfig, Shown, Sight, Surface, Write
from brainbench.replay.acting import END
from brainbench.suites.cell import Suite, Tally
from brainbench.suites.matching import plain
from brainbench.suites.scripts import unique

LIVE = ("", "active")
EXPLICIT: tuple[Surface, ...] = ("page", "search", "recall")
NOT_SEEN = "the act was not played"
_MOST_SEEN = 4


class Case:
    """One fixture as it was played, asked about by the names of its gold."""

    def __init__(self, fixture: Fixture, replayed: Replayed) -> None:
        self.fixture, self.replayed = fixture, replayed
        self.can = frozenset(replayed.can)
        self.sights: dict[int, Sight] = {sight.event_id: sight for sight in replayed.sights}
        self.order = [sight.event_id for sight in replayed.sights]

    @cached_property
    def written(self) -> Mapping[str, Write]:
        """The writes of the script by their names."""
        every = (*self.fixture.setup, *self.fixture.events)
        return {e.name: e for e in every if isinstance(e, Write) and e.name is not None}

    @cached_property
    def made(self) -> Mapping[str, int]:
        """Which event made a thing, by its name: a write, or whatever else was given a name."""
        every = (*self.fixture.setup, *self.fixture.events)
        return {name: e.event_id for e in every if (name := getattr(e, "name", None)) is not None}

    def sight(self, event: int | None) -> Sight:
        """What was seen after an event, or at the end; an error where it was not played."""
        if event is None:
            return self.sights.get(END, Sight(END, error=NOT_SEEN))
        found = self.sights.get(event)
        if found is not None:
            return found
        # After a turn stands what was seen after the act before it.
        numbers = [e.event_id for e in (*self.fixture.setup, *self.fixture.events)]
        earlier = [one for one in numbers[: numbers.index(event)] if one in self.sights] if event in numbers else []
        return self.sights[earlier[-1]] if earlier else Sight(event, error=NOT_SEEN)

    def before(self, event: int) -> Sight | None:
        """What was seen of the act before this one."""
        place = self.order.index(event) if event in self.order else 0
        return self.sights[self.order[place - 1]] if place else None

    def id_of(self, name: str | None) -> str | None:
        """The id under which a thing was kept."""
        event = self.made.get(name or "")
        reply = self.sights[event].reply if event in self.sights else None
        return reply.id if reply is not None else None

    def trouble(self, name: str | None) -> str | None:
        """Why a thing could not be written, if that went wrong."""
        event = self.made.get(name or "")
        return self.sights[event].error if event in self.sights else None

    def text_of(self, name: str | None) -> str:
        """What the script says of a thing, below any front matter."""
        write = self.written.get(name or "")
        if write is None:
            return ""
        head, mark, body = write.content.partition("\n---\n")
        return body if mark and head.startswith("---") else write.content

    def source_of(self, name: str | None) -> str:
        """In which source a thing stands; the active one where nothing is named."""
        every = (*self.fixture.setup, *self.fixture.events)
        found = next((e for e in every if name is not None and getattr(e, "name", None) == name), None)
        return (found.source if found is not None else None) or self.fixture.active_source

    def is_of(self, row: ItemRow, name: str | None) -> bool:
        """Whether a row is of a thing: by its id, or by its words where the memory gave none."""
        own = self.id_of(name)
        if own is not None:
            return row.id == own
        text = plain(self.text_of(name))
        return bool(text) and text in plain(row.text)


def told(
    sight: Sight, surfaces: Sequence[str] | None = None, source: str | None = None
) -> Iterator[tuple[Shown, ItemRow]]:
    """What stood on these surfaces as it is now, in one source; on all and in every one where none is named."""
    for shown in sight.shown:
        there = (surfaces is None or shown.surface in surfaces) and source in (None, shown.source)
        if there and shown.as_of is None and shown.known_at is None:
            for row in shown.rows:
                yield shown, row


def rank(trust: str) -> int:
    """The place of a tier; what is not labelled stands above all, since nothing keeps it down."""
    return TIERS.index(trust) if trust in TIERS else len(TIERS)


def says(text: str, forms: Iterable[str]) -> bool:
    """Whether a text holds one of these forms of a claim."""
    said = plain(text)
    return any(form in said for form in map(plain, forms) if form)


def is_live(row: ItemRow) -> bool:
    """Whether a row stands as current: as it says itself, and else where nothing has taken its place.

    What says that it is active may name what is to take its place one day.
    """
    return row.status in LIVE and (bool(row.status) or row.superseded_by is None)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of an item for one metric."""

    metric: str
    n: int
    seen: tuple[str, ...] = ()
    wanted: str = ""
    error: str | None = None


Judge = Callable[[Case, GoldItem], Iterator[Verdict | Control | Capability]]
"""What an item gives: verdicts, controls, or the capability for want of which it is not asked."""


def judged(suite: str, judges: Mapping[str, Judge], fixture: Fixture, gold: Gold, replayed: Replayed) -> Judged:
    """Every item of a fixture that this suite judges."""
    case = Case(fixture, replayed)
    items: list[JudgedItem] = []
    controls: list[Control] = []
    unasked: list[tuple[str, str]] = []
    for item in gold.items:
        if item.kind not in judges:
            continue
        name = f"{fixture.fixture_id}/{'end' if item.event is None else item.event}/{item.item_id}"
        for found in judges[item.kind](case, item):
            if isinstance(found, Verdict):
                items.append(_item(name, item, found))
            elif isinstance(found, Control):
                controls.append(replace(found, item=name))
            else:
                unasked.append((name, str(found)))
    return Judged(items=tuple(items), controls=tuple(controls), unasked=tuple(unasked))


def _item(name: str, item: GoldItem, found: Verdict) -> JudgedItem:
    lower = METRICS[found.metric].better == "lower"
    return JudgedItem(
        f"{name}:{found.metric}",
        found.metric,
        found.n,
        failed=found.n > 0 if lower else found.n == 0,
        wanted=found.wanted,
        seen=found.seen[:_MOST_SEEN],
        error=found.error,
    )


def tally(judged: Judged) -> Tally:
    """What gates of the items, and what of it failed."""
    gated = [item for item in judged.items if METRICS[item.metric].gated]
    places: dict[str, bool] = {}
    for item in judged.items:
        place = item.item.rpartition(":")[0]
        places[place] = places.get(place, False) or item.error is not None
    return Tally(
        asked=tuple(item.item for item in gated),
        failed=tuple(item.item for item in gated if item.failed),
        events=len(places),
        errors=sum(places.values()),
    )


def asks(suite: str) -> Callable[[Fixture, Gold], tuple[str, ...]]:
    """Whether a fixture that declares the suite has items of a kind that it judges."""

    def ask(fixture: Fixture, gold: Gold) -> tuple[str, ...]:
        wanted = any(suite in SUITE_OF[item.kind] for item in gold.items)
        return unique([fixture.fixture_id]) if suite in fixture.suites and wanted else ()

    return ask


def of_items(
    name: str,
    question: str,
    needs: tuple[frozenset[Capability], ...],
    judges: Mapping[str, Judge],
    *,
    shared: bool = False,
    protected: bool = False,
) -> Suite:
    """A suite that judges items of these kinds."""

    def judge(fixture: Fixture, gold: Gold, replayed: Replayed, seam: SeamConfig) -> Judged:
        return judged(name, judges, fixture, gold, replayed)

    return Suite(name, question, needs, asks(name), judge, tally, shared=shared, protected=protected)
