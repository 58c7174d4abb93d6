"""Deletion: when somebody says forget, is it gone, is that told, and does it stay away?"""

from __future__ import annotations

from collections.abc import Iterator

from brainbench.gold_items import GoldItem
from brainbench.metrics import Control
from brainbench.model import Capability, Sight
from brainbench.replay.images import unpacked
from brainbench.suites.acts import Case, Verdict, is_live, of_items, says, told
from brainbench.suites.residue import Residue, residue

_GONE = ("done", "kept", "unchanged")


def _purge(case: Case, item: GoldItem) -> Iterator[Verdict | Control | Capability]:
    sight = case.sight(item.event)
    before = case.before(item.event or 0)
    shown_before = before is not None and _holding(before, item)
    prior = residue(unpacked(sight.before), item.forms) if sight.before else None
    yield Control("", "the claim is found before it is forgotten", bool(prior.count if prior else shown_before))
    yield from _left(case, item, sight)
    yield from _receipt(case, sight, prior)
    yield from _later(case, item)


def _left(case: Case, item: GoldItem, sight: Sight) -> Iterator[Verdict | Control | Capability]:
    """What holds the claim afterwards: for those who promise more than to hide it, what is on the disk."""
    wanted = "nothing that says it"
    if sight.error is not None:
        yield Verdict("residual_after_purge", 1, wanted=wanted, error=sight.error)
        return
    shown = _holding(sight, item)
    after = residue(unpacked(sight.after), item.forms) if sight.after else None
    if after is not None and Capability.PURGE in case.can:
        seen = (*(f"{n} rows of {place}" for place, n in after.rows.items()), *after.texts, *shown)
        yield Verdict("residual_after_purge", after.count + len(shown), seen, wanted)
    else:
        yield Verdict("residual_after_purge", len(shown), shown, wanted)
    if after is not None:
        yield Verdict("physical_residue_after_purge", len(after.files), (*after.files, *after.unread), "no byte of it")
    else:
        yield Capability.STORAGE_DIR


def _holding(sight: Sight, item: GoldItem) -> tuple[str, ...]:
    """Everything that is shown and says it, whatever its standing: where, and under which id."""
    found = (f"{shown.surface}: {row.id}" for shown, row in told(sight) if says(row.text, item.forms))
    return tuple(dict.fromkeys(found))


def _receipt(case: Case, sight: Sight, prior: Residue | None) -> Iterator[Verdict | Control | Capability]:
    if Capability.RECEIPTS not in case.can:
        yield Capability.RECEIPTS
        return
    receipt = sight.reply.receipt if sight.reply is not None else None
    named = frozenset(receipt.stores) if receipt is not None else frozenset()
    missing = sorted((prior.stores if prior is not None else frozenset()) - named)
    complete = receipt is not None and prior is not None and not missing
    seen = ("no receipt",) if receipt is None else tuple(f"not named: {store}" for store in missing)
    yield Verdict("receipt_completeness", int(complete), seen, "every store that held it, named", sight.error)


def _later(case: Case, item: GoldItem) -> Iterator[Verdict | Control | Capability]:
    """Whether the claim is active again after any later event; from a lift on it is to be kept where it is said."""
    order = [e.event_id for e in case.fixture.events]
    since = len(order) if item.lifted_by is None else order.index(item.lifted_by)
    away = [event for event in item.later if order.index(event) < since]
    if away:
        back = tuple(place for event in away for place in _back(case.sight(event), item))
        error = next((e for event in away if (e := case.sight(event).error) is not None), None)
        stands = bool(back) or error is not None
        yield Verdict("resurrection_after_resync", int(stands), back, "still gone afterwards", error)
    if len(away) < len(item.later):
        sight = case.sight(item.later[-1])
        back = _back(sight, item)
        yield Verdict("lift_honoured", int(bool(back)), back, "kept when it is said again", sight.error)


def _back(sight: Sight, item: GoldItem) -> tuple[str, ...]:
    """Where the claim stands as current."""
    found = (f"{s.surface}: {row.id}" for s, row in told(sight) if is_live(row) and says(row.text, item.forms))
    return tuple(dict.fromkeys(found))


DELETION = of_items(
    "deletion",
    "When somebody says forget, is it gone from everything that is kept, is that told, and does it stay away?",
    (
        frozenset({Capability.PAGE_WRITE, Capability.FACT_WRITE, Capability.ADD}),
        frozenset({Capability.FORGET, Capability.PURGE, Capability.DELETE}),
    ),
    {"purge": _purge},
    shared=True,
)
