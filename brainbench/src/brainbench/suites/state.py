"""State: is what holds now what is told, is what held kept, and can nobody below push it aside?"""

from __future__ import annotations

from collections.abc import Iterator

from brainbench.gold_items import GoldItem
from brainbench.metrics import Control
from brainbench.model import Capability, ItemRow, Shown, Sight
from brainbench.suites.acts import Case, Verdict, is_live, of_items, says, told

_ENDED = ("expired", "superseded")


def _needed(item: GoldItem, case: Case) -> Capability | None:
    """What a memory must claim to be asked of the past."""
    if item.as_of is not None and Capability.AS_OF not in case.can:
        return Capability.AS_OF
    if item.known_at is not None and Capability.HISTORY not in case.can:
        return Capability.HISTORY
    return None


Rows = list[tuple[Shown, ItemRow]]
UNASKED = "recall was not asked of that moment"


def _recalled(case: Case, sight: Sight, item: GoldItem) -> tuple[Rows, str | None]:
    """What recall gave of the moment that an item speaks of, in its source, or why nothing was heard."""
    moments = sorted({t for e in case.fixture.events for t in (e.ts, getattr(e, "valid_from", None)) if t})
    wanted = [_last(moments, moment) for moment in (item.as_of, item.known_at)]
    source = case.source_of(item.name)
    asked = [
        shown
        for shown in sight.shown
        if shown.surface == "recall" and shown.source == source and [shown.as_of, shown.known_at] == wanted
    ]
    rows = [(shown, row) for shown in asked for row in shown.rows]
    return rows, None if rows else next((s.error for s in asked if s.error), None if asked else UNASKED)


def _for_query(rows: Rows, item: GoldItem, case: Case) -> Rows:
    """What came for the query of an item, where the script asks that; else for any."""
    own = [(shown, row) for shown, row in rows if shown.query == item.query]
    asked = any(getattr(e, "text", None) == item.query for e in case.fixture.events)
    return own if asked else rows


def _last(moments: list[str], moment: str | None) -> str | None:
    """The last moment at which something changed, up to this one: since then nothing did."""
    return None if moment is None else next((m for m in reversed(moments) if m <= moment), moment)


def _is_said(row: ItemRow, item: GoldItem) -> bool:
    return says(row.text, item.forms)


def _current(case: Case, item: GoldItem) -> Iterator[Verdict | Control | Capability]:
    if (needed := _needed(item, case)) is not None:
        yield needed
        return
    sight = case.sight(item.after)
    every, unheard = _recalled(case, sight, item)
    rows = _for_query(every, item, case)
    past = item.as_of is not None or item.known_at is not None
    found = [row for _, row in rows if _is_said(row, item) and (past or is_live(row))]
    own = [row for _, row in told(sight, ("stored",)) if item.name is not None and case.is_of(row, item.name)]
    stands = past or not own or any(is_live(row) for row in own)
    error = sight.error or case.trouble(item.name) or unheard
    seen = tuple(dict.fromkeys(row.text for _, row in rows))
    n = int(bool(found) and stands and error is None)
    yield Verdict("current_fact_accuracy", n, seen, " or ".join(item.forms), error)


def _stale(case: Case, item: GoldItem) -> Iterator[Verdict | Control | Capability]:
    if (needed := _needed(item, case)) is not None:
        yield needed
        return
    sight = case.sight(item.after)
    rows, unheard = _recalled(case, sight, item)
    past = item.as_of is not None or item.known_at is not None
    found = [row for _, row in rows if _is_said(row, item) and (past or is_live(row))]
    event = case.made.get(item.name or "")
    reply = case.sights[event].reply if event in case.sights else None
    unwritten = item.name is not None and (reply is None or reply.outcome in ("refused", "not_found"))
    error = sight.error or case.trouble(item.name) or unheard
    seen = ("it was never written",) if unwritten else tuple(dict.fromkeys(row.text for row in found))
    n = int(bool(found) or unwritten or error is not None)
    yield Verdict("stale_surfaced_as_current", n, seen, f"not {' or '.join(item.forms)}", error)


def _history(case: Case, item: GoldItem) -> Iterator[Verdict | Control | Capability]:
    if Capability.HISTORY not in case.can:
        yield Capability.HISTORY
        return
    sight = case.sight(item.after)
    rows = [row for _, row in told(sight, ("stored", "history"), case.source_of(item.name)) if _is_said(row, item)]
    ended = [row for row in rows if row.status in _ENDED or row.superseded_by is not None]
    seen = tuple(dict.fromkeys(f"{row.status or 'no status'}: {row.text}" for row in rows))
    error = sight.error or case.trouble(item.name)
    wanted = f"{' or '.join(item.forms)}, as expired or superseded"
    yield Verdict("history_preserved", int(bool(ended) and error is None), seen, wanted, error)


def _guarded(case: Case, item: GoldItem) -> Iterator[Verdict | Control | Capability]:
    sight = case.sight(item.after)
    rows = [row for _, row in told(sight, ("stored",)) if case.is_of(row, item.name)]
    stands = any(is_live(row) and (not item.forms or _is_said(row, item)) for row in rows)
    seen = tuple(dict.fromkeys(row.status or "active" for row in rows)) or ("not there",)
    error = sight.error or case.trouble(item.name)
    n = int(not stands or error is not None)
    yield Verdict("lower_tier_supersede_violations", n, seen, "the higher row stands as it was", error)


STATE_RESOLUTION = of_items(
    "state-resolution",
    "Is what holds now what is told, is what held kept as history, and can nobody of a lower tier push it aside?",
    (
        frozenset({Capability.PAGE_WRITE, Capability.FACT_WRITE, Capability.ADD}),
        frozenset({Capability.RECALL_FACTS, Capability.ADD, Capability.TRUST_LABELS}),
    ),
    {"current": _current, "stale": _stale, "history": _history, "guarded": _guarded},
    shared=True,
)
