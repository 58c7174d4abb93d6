"""What failed in a stored run: which item, what was wanted of it, and what came instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Any, TypeVar

import msgspec

from brainbench.corpus import Corpus
from brainbench.errors import IncompatibleError
from brainbench.gold import EventGold, Gold
from brainbench.metrics import JudgedItem
from brainbench.model import ITEM_SUITES, PUSH_SUITES, FactRow, Fixture, Observation, Replayed
from brainbench.report.wording import clean
from brainbench.seams import SEAMS
from brainbench.suites import SUITES
from brainbench.suites.matching import says
from brainbench.suites.scripts import Scene, declares, scenes, session_observations, turn_observations, user_scenes

T = TypeVar("T")
Place = tuple[Fixture, Scene]
_MOST_WORDS, _MOST_TOLD = 300, 6


class FailedCell(msgspec.Struct):
    """A cell of a result, as far as it says what failed."""

    system: str
    harness: str
    suite: str
    status: str
    failed_items: list[str]
    errors: int
    shared: bool = False


class _Board(msgspec.Struct):
    corpus: str
    fixtures_hash: str
    observations_hash: str
    cells: list[FailedCell]


class _Meta(msgspec.Struct):
    system: str
    native: _Board


class _Receipt(msgspec.Struct):
    include_holdout: bool
    seed: int = 42


class _Row(msgspec.Struct):
    fixture_id: str
    turn_id: int
    harness: str
    injected_slugs: list[str]


class StoredRun(msgspec.Struct):
    """What a result document says of a run. Its rows tell what its first system brought to each turn."""

    receipt: _Receipt
    turn_rows: list[_Row]
    meta: _Meta = msgspec.field(name="_meta")


class _Observations(msgspec.Struct):
    observations_hash: str
    replays: list[Replayed]


@dataclass(frozen=True, slots=True)
class Failure:
    """One item that failed, through the harnesses where the same came of it.

    `said` is the turn. One of what was `wanted` would have been enough; () is silence. `brought` is None where the run
    does not tell: then its observations do.
    """

    system: str
    suite: str
    item: str
    fixture: str
    event: int
    harnesses: tuple[str, ...]
    said: str
    wanted: tuple[str, ...]
    brought: tuple[str, ...] | None
    error: str | None = None


def read_stored(data: bytes, name: str) -> StoredRun:
    """A result document. IncompatibleError names the file and what is missing in it."""
    return _decoded(data, name, StoredRun, "is no result of `brainbench run --out`")


def read_observations(data: bytes, name: str, run: StoredRun) -> list[Replayed]:
    """What was seen in this very run. IncompatibleError where it was another."""
    found = _decoded(data, name, _Observations, "holds no observations of `brainbench run --save-observations`")
    if found.observations_hash != run.meta.native.observations_hash:
        raise IncompatibleError(f"{name}: holds the observations of another run; save them with the result")
    return found.replays


def _decoded(data: bytes, name: str, kind: type[T], otherwise: str) -> T:
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise IncompatibleError(f"{name}: {otherwise}: {error}; name what that wrote") from None


def failures(
    run: StoredRun,
    cells: Iterable[FailedCell],
    corpus: Corpus,
    gold: Mapping[str, Gold],
    replays: Sequence[Replayed] | None = None,
) -> list[Failure]:
    """Every failed item of the cells, by system, suite and item. An item that the corpus lacks is an IncompatibleError.

    Without `replays` only what stands in the result is told of what came.
    """
    told: dict[tuple[Any, ...], list[str]] = {}
    acts: dict[tuple[Any, ...], list[str]] = {}
    places: dict[str, Mapping[str, Place]] = {}
    seen = _Seen(run, replays)
    for cell in cells:
        if cell.suite in ITEM_SUITES:
            for failure in _acts(cell, corpus, gold, seen):
                acts.setdefault((failure.system, failure.suite, failure.item, failure), []).append(cell.harness)
            continue
        there = places.setdefault(cell.suite, _places(corpus, cell.suite))
        for item in cell.failed_items:
            name, detail = _split(item)
            if name not in there:
                raise IncompatibleError(f"{item}: stands in the result and not in this corpus")
            fixture, scene = there[name]
            case = _Case(fixture, scene, detail, gold[fixture.fixture_id], seen.replayed(cell, fixture))
            wanted, brought, error = TOLD[cell.suite](case)
            if case.replayed is None:
                brought = seen.ids(cell, name)
            told.setdefault((cell.system, cell.suite, item, scene, wanted, brought, error), []).append(cell.harness)
    found = [
        Failure(system, suite, item, s.fixture_id, _number(s), tuple(through), s.turn.text, wanted, brought, error)
        for (system, suite, item, s, wanted, brought, error), through in told.items()
    ]
    found += [replace(key[-1], harnesses=tuple(through)) for key, through in acts.items()]
    order = {(cell.system, cell.suite): number for number, cell in enumerate(reversed(run.meta.native.cells))}
    return sorted(found, key=lambda failure: -order[failure.system, failure.suite])


def _acts(cell: FailedCell, corpus: Corpus, gold: Mapping[str, Gold], seen: _Seen) -> Iterator[Failure]:
    """The failed items of a script of acts, judged once more where what was seen is at hand."""
    fixtures = {fixture.fixture_id: fixture for fixture in corpus.fixtures}
    suite, judged = SUITES[cell.suite], dict[str, Mapping[str, JudgedItem]]()
    for item in cell.failed_items:
        name = item.split("/", 1)[0]
        if name not in fixtures:
            raise IncompatibleError(f"{item}: stands in the result and not in this corpus")
        fixture = fixtures[name]
        replayed = seen.replayed(cell, fixture)
        if name not in judged:
            shown = replayed or Replayed(name, cell.system, cell.harness)
            items = suite.judge(fixture, gold[name], shown, SEAMS[cell.harness]).items
            judged[name] = {one.item: one for one in items}
        found = judged[name].get(item)
        event = item.split("/", 2)[1]
        yield Failure(
            *(cell.system, cell.suite, item, name),
            event=int(event) if event.lstrip("-").isdigit() else 0,
            harnesses=(),
            said=_said(fixture, event),
            wanted=(found.wanted,) if found is not None and found.wanted else (),
            brought=found.seen if found is not None and replayed is not None else None,
            error=found.error if found is not None and replayed is not None else None,
        )


def _said(fixture: Fixture, event: str) -> str:
    """The act at which an item is judged, in a few words."""
    act = next((e for e in fixture.events if str(e.event_id) == event), None)
    if act is None:
        return "the end of the script"
    kind = type(act).__name__.lower()
    words = getattr(act, "content", None) or getattr(act, "sql", None) or getattr(act, "mode", None) or ""
    return f"{kind}: {words}" if words else kind


def _split(item: str) -> tuple[str, str]:
    """`fixture/event` and what stands after it."""
    fixture, event, *detail = item.split("/", 2)
    return f"{fixture}/{event}", "".join(detail)


def _places(corpus: Corpus, suite: str) -> Mapping[str, Place]:
    """Where the suite judges each item: of a turn that two scripts play, in that of the two which is judged."""
    places: dict[str, Place] = {}
    for fixture in corpus.fixtures:
        said = scenes(fixture) if suite not in PUSH_SUITES else user_scenes(fixture, suite)
        places |= {s.item: (fixture, s) for s in said if declares(fixture, s.fixture_id, suite)}
    return places


def _number(scene: Scene) -> int:
    return int(scene.item.rpartition("/")[2])


class _Seen:
    """What a run tells of what came."""

    def __init__(self, run: StoredRun, replays: Sequence[Replayed] | None) -> None:
        self.first = run.meta.system
        self.rows = {(row.harness, f"{row.fixture_id}/{row.turn_id}"): row.injected_slugs for row in run.turn_rows}
        self.replays = {(r.system, r.seam, r.fixture_id, r.protected): r for r in replays or ()}
        self.harnesses = list(dict.fromkeys(cell.harness for cell in run.meta.native.cells))

    def replayed(self, cell: FailedCell, fixture: Fixture) -> Replayed | None:
        """The fixture as it was played for the cell: of one that is shared, through the first seam."""
        through = self.harnesses if cell.shared else [cell.harness]
        protected = SUITES[cell.suite].protected
        found = (self.replays.get((cell.system, harness, fixture.fixture_id, protected)) for harness in through)
        return next((replayed for replayed in found if replayed is not None), None)

    def ids(self, cell: FailedCell, item: str) -> tuple[str, ...] | None:
        """The pages that the rows of the result tell of. They tell nothing of errors, so of a cell with errors None."""
        slugs = self.rows.get((cell.harness, item)) if cell.system == self.first and not cell.errors else None
        return None if slugs is None or cell.suite not in PUSH_SUITES else tuple(slugs)


@dataclass(frozen=True, slots=True)
class _Case:
    """A failed item: its turn, what more names it, its gold, and what was seen if that is at hand."""

    fixture: Fixture
    scene: Scene
    detail: str
    gold: Gold
    replayed: Replayed | None

    @property
    def event(self) -> EventGold:
        return self.gold.events[self.scene.turn.event_id]

    @property
    def turn(self) -> Observation | None:
        return turn_observations(self.replayed).get(self.scene.turn.event_id) if self.replayed else None


Told = tuple[tuple[str, ...], tuple[str, ...] | None, str | None]


def _know_to_ask(case: _Case) -> Told:
    wanted = case.event.gold_slugs + case.event.acceptable_slugs if case.event.retrieve == "must" else ()
    return (wanted, *_turn(case.turn))


def _push(case: _Case) -> Told:
    return ((case.detail,), *_turn(case.turn))


def _write_back(case: _Case) -> Told:
    """The stored facts that say it: then its entity or its provenance was wrong."""
    fact = case.event.gold_facts[int(case.detail.removeprefix("fact ")) - 1]
    wanted = (fact.fact if fact.entity_slug is None else f"{fact.fact} (of {fact.entity_slug})",)
    if case.replayed is None:
        return wanted, None, None
    rows = [row for row in case.replayed.facts if says(row.text, fact.match_keywords, fact.forbid_keywords)]
    persisted = session_observations(case.fixture, case.replayed).get(case.scene.session)
    return wanted, tuple(map(_row, rows)), persisted.error if persisted else None


def _row(row: FactRow) -> str:
    return f"{row.text} (of {row.entity or 'nobody'}, from page {row.source_page}, session {row.source_session})"


def _continuity(case: _Case) -> Told:
    (probe,) = [probe for probe in case.gold.probes if probe.probe_id == case.detail]
    pages = probe.expected_slugs if probe.channel == "any" else ()
    words = (f"words that hold {', '.join(map(repr, probe.match_keywords))}",) if probe.match_keywords else ()
    brought, error = _turn(case.turn)
    if case.turn is not None and brought is not None:
        brought += tuple(dict.fromkeys(row.text for row in case.turn.facts))
    return pages + words, brought, error


def _turn(seen: Observation | None) -> tuple[tuple[str, ...] | None, str | None]:
    return (None, None) if seen is None else (seen.ids, seen.error)


TOLD: Mapping[str, Callable[[_Case], Told]] = {
    "know-to-ask": _know_to_ask,
    "push": _push,
    "write-back": _write_back,
    "continuity": _continuity,
}
"""What was wanted and what came, by suite."""


def as_json(found: Iterable[Failure]) -> list[dict[str, object]]:
    """Each failure as an object of its fields."""
    return [asdict(failure) for failure in found]


def as_text(found: Sequence[Failure], limit: int) -> Iterator[str]:
    """A few lines for each failure, at most `limit` failures of a system's suite, and how many were left out."""
    for (system, suite), every in groupby(found, key=lambda failure: (failure.system, failure.suite)):
        failed = list(every)
        items = len({failure.item for failure in failed})
        yield f"{clean(system)}: {clean(suite)}: {items} item{'s'[: items > 1]} failed"
        for failure in failed[:limit]:
            yield from _lines(failure)
        if len(failed) > limit:
            yield f"  and {len(failed) - limit} more; --limit {len(failed)} shows all"


def _lines(failure: Failure) -> Iterator[str]:
    yield f"  {clean(failure.item)} ({', '.join(map(clean, failure.harnesses))})"
    yield f"    said     {clean(failure.said, _MOST_WORDS)}"
    yield f"    wanted   {_listed(failure.wanted, ' or ')}"
    if failure.error is not None:
        yield f"    error    {clean(failure.error, _MOST_WORDS)}"
    elif failure.brought is None:
        yield "    brought  not in the result; --observations DIR tells, of a run with --save-observations DIR"
    else:
        yield f"    brought  {_listed(failure.brought, ', ')}"


def _listed(things: Sequence[str], between: str) -> str:
    if not things:
        return "nothing"
    more = f" and {len(things) - _MOST_TOLD} more" if len(things) > _MOST_TOLD else ""
    return between.join(clean(thing, _MOST_WORDS) for thing in things[:_MOST_TOLD]) + more
