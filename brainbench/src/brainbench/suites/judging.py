"""From what was played and what should have been to a cell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from brainbench.gold import Gold
from brainbench.metrics import Control, Judged, pooled
from brainbench.model import DOORS_OF, V1_SUITES, Capability, Fixture, Replayed, SeamConfig, SeamKind, Write
from brainbench.suites.cell import Cell, Slice, Suite

Played = tuple[Fixture, Gold, Replayed]
MOST_ERRORS = 2
"""Past this percentage of errored events, or of fixtures that it could not be filled for, a cell says nothing."""
UNASKED = ("not asked: ", "not tried: ")
"""How errors begin of events that were not played any more."""
_DIMENSIONS: Mapping[str, Callable[[Fixture], str]] = {
    "stratum": lambda fixture: fixture.stratum,
    "category": lambda fixture: fixture.category,
    "language": lambda fixture: fixture.language,
    "universe": lambda fixture: fixture.universe or "none",
}


def _channel(fixture: Fixture) -> str:
    """The doors by which others than the owner write in a script, or "owner" where nobody else does."""
    doors = {
        e.by.door if e.by is not None else DOORS_OF[e.actor]
        for e in fixture.events
        if isinstance(e, Write) and e.actor != "owner"
    }
    return ", ".join(sorted(doors)) or "owner"


def judge(
    suite: Suite,
    system: str,
    seam: SeamConfig,
    played: Sequence[Played],
    *,
    can: frozenset[Capability] | None = None,
    kind: SeamKind | None = None,
) -> Cell | None:
    """The cell of one system through one seam on one suite, or None when the fixtures ask nothing of it.

    With `can` the suite's own needs are checked too; `kind` says otherwise than the seam where a system's shipped
    artefact does not run in it. Fixtures that could not be seeded are unscored; with more than a few the cell is
    invalid, or a system could leave out what is hard.
    """
    asked = [(fixture, gold, replayed) for fixture, gold, replayed in played if suite.asks(fixture, gold)]
    if not asked:
        return None
    missing = _missing(suite, seam, can)
    usable = [p for p in asked if not missing and not p[2].missing]
    seeded = [p for p in usable if p[2].seed_failure is None]
    head = Cell(
        system=system,
        seam=seam.name,
        kind=kind or seam.kind,
        suite=suite.name,
        status="scored",
        fixtures=_names(suite, seeded),
        not_applicable=_names(suite, [p for p in asked if p not in usable]),
        lacking=_lacking(suite, asked),
        shared=suite.shared,
        deviations=seam.deviations,
    )
    if not usable:
        return replace(head, status="not_applicable", reason=missing or _capabilities(asked))
    if not seeded:
        return replace(head, status="failed", reason="no fixture could be seeded")
    scored = _scored(head, suite, seam, seeded)
    unfilled = len(usable) - len(seeded)
    if unfilled * 100 > MOST_ERRORS * len(usable):
        why = f"{unfilled} of {len(usable)} fixtures could not be seeded, more than {MOST_ERRORS} %"
        return replace(scored, status="invalid", reason="; ".join(filter(None, (why, scored.reason))))
    return scored


def _scored(head: Cell, suite: Suite, seam: SeamConfig, seeded: Sequence[Played]) -> Cell:
    judged = [(fixture, suite.judge(fixture, gold, replayed, seam)) for fixture, gold, replayed in seeded]
    every = pooled(j for _, j in judged)
    tally = suite.tally(every)
    errors, events = tally.errors + len(every.strays), tally.events + len(every.strays)
    blind = _blind(every.controls)
    if not events and every.unasked:
        needs = sorted({capability for _, capability in every.unasked})
        return replace(head, status="not_applicable", reason=f"the system lacks {', '.join(needs)}")
    invalid = errors * 100 > MOST_ERRORS * events or blind
    return replace(
        head,
        status="invalid" if invalid else "scored",
        gold_total=len(tally.asked),
        gold_failed=len(tally.failed),
        metrics=suite.measure(every),
        slices=_slices(suite, judged),
        failed_items=tuple(sorted(tally.failed)),
        errors=errors,
        events=events,
        reason="; ".join(filter(None, (_trouble(errors, events, seeded) if errors else "", blind))),
        not_applicable=(*head.not_applicable, *sorted({item for item, _ in every.unasked})),
        lacking=dict(Counter(head.lacking) + Counter(capability for _, capability in every.unasked)),
        leaks=tuple(sorted(every.leaks)),
    )


def _blind(controls: Sequence[Control]) -> str:
    """What was known beforehand and not seen, where that is more than one in twenty: then nothing else was seen."""
    lost = [control for control in controls if not control.held]
    if len(lost) * 20 <= len(controls):
        return ""
    first = min(lost, key=lambda control: control.item)
    return f"{len(lost)} of {len(controls)} controls failed; first: {first.what}, in {first.item}"


def _errors(replayed: Replayed) -> Iterator[str]:
    """Whatever went wrong while a fixture was played."""
    yield from (seen.error for seen in replayed.observations if seen.error)
    yield from (seen.error for seen in replayed.sights if seen.error)
    yield from (seen.error for seen in replayed.later if seen.error)


def _trouble(errors: int, events: int, played: Sequence[Played]) -> str:
    """How much went wrong, the words that were heard most often, and the fixture in which they were heard first.

    What was only not asked any more, because of something that went wrong before, is no reason where there is another.
    """
    share = f"{errors} of {events} events went wrong"
    every = [(error, f.fixture_id) for f, _, replayed in played for error in _errors(replayed)]
    heard = Counter(words for words, _ in every)
    causes = {words: count for words, count in heard.items() if not words.startswith(UNASKED)} or heard
    if not causes:
        return share
    words = min(causes, key=lambda words: (-causes[words], words))
    where = f"{words}; in fixture {next(fixture for said, fixture in every if said == words)}"
    if errors == events and len(causes) == 1:
        return f"every event went wrong: {where}"
    if errors * 100 > MOST_ERRORS * events:
        share += f", more than {MOST_ERRORS} %"
    return f"{share}; most often: {where}{' first' if causes[words] > 1 else ''}"


def _slices(suite: Suite, judged: Sequence[tuple[Fixture, Judged]]) -> Mapping[str, Mapping[str, Slice]]:
    """The same counts by each of _DIMENSIONS."""
    found: dict[str, dict[str, Slice]] = {}
    dimensions = _DIMENSIONS if suite.name in V1_SUITES else {**_DIMENSIONS, "channel": _channel}
    for dimension, value_of in dimensions.items():
        values = sorted({value_of(fixture) for fixture, _ in judged})
        found[dimension] = {v: _slice(suite, [j for f, j in judged if value_of(f) == v]) for v in values}
    return found


def _slice(suite: Suite, parts: Sequence[Judged]) -> Slice:
    every = pooled(parts)
    tally = suite.tally(every)
    return Slice(len(tally.asked), len(tally.failed), suite.measure(every))


def _missing(suite: Suite, seam: SeamConfig, can: frozenset[Capability] | None) -> str:
    """Why the suite as a whole does not apply here, or ""."""
    if suite.name not in seam.suites:
        return f"the {seam.name} seam does not carry this suite"
    lacking = suite.lacking(can) if can is not None else ()
    return f"the system lacks {', '.join(lacking)}" if lacking else ""


def _names(suite: Suite, played: Sequence[Played]) -> tuple[str, ...]:
    return tuple(sorted({name for fixture, gold, _ in played for name in suite.asks(fixture, gold)}))


def _lacking(suite: Suite, played: Sequence[Played]) -> Mapping[str, int]:
    """How many fixtures need each capability that the system does not have; one may need several."""
    needed = sorted({capability for _, _, replayed in played for capability in replayed.missing})
    return {c: len(_names(suite, [p for p in played if c in p[2].missing])) for c in needed}


def _capabilities(played: Sequence[Played]) -> str:
    lacking = sorted({c for _, _, replayed in played for c in replayed.missing})
    return f"the system lacks {', '.join(lacking)}"
