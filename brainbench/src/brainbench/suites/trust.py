"""Trust: does everything stand under the tier of who wrote it, and can nothing raise itself?"""

from __future__ import annotations

from collections.abc import Iterator

from brainbench.gold_items import GoldItem
from brainbench.metrics import Control
from brainbench.model import Capability, ItemRow, Sight
from brainbench.suites.acts import EXPLICIT, Case, Verdict, of_items, rank, says, told

REFUSED = ("refused", "guarded", "pending", "held", "not_found")
"""How a memory says that it did not do what was asked."""
_TAMPERED = "integrity"


def _tier(case: Case, item: GoldItem) -> Iterator[Verdict | Control | Capability]:
    sight = case.sight(item.after)
    rows = [(s.surface, row) for s, row in told(sight) if case.is_of(row, item.name)]
    wrong = [f"{surface}: {row.trust or 'no label'}" for surface, row in rows if row.trust != item.tier]
    stored = any(surface == "stored" for surface, _ in rows)
    seen = tuple(dict.fromkeys(wrong)) if stored else ("no stored row",)
    error = case.trouble(item.name) or sight.error
    yield Verdict("trust_label_accuracy", int(stored and not wrong and error is None), seen, item.tier, error)
    yield Control("", "what was written is shown", stored and any(surface in EXPLICIT for surface, _ in rows))


def _max_tier(case: Case, item: GoldItem) -> Iterator[Verdict | Control | Capability]:
    """Every carrier counts, also what was made of it; one without a label has no ceiling."""
    sight = case.sight(item.after)
    above = [
        f"{shown.surface}: {row.id} {row.trust or 'no label'}"
        for shown, row in told(sight)
        if _carries(case, row, item) and rank(row.trust) > rank(item.tier)
    ]
    error = case.trouble(item.name) or sight.error
    seen = tuple(dict.fromkeys(above))
    yield Verdict("laundering_violations", int(bool(above) or error is not None), seen, f"at most {item.tier}", error)


def _carries(case: Case, row: ItemRow, item: GoldItem) -> bool:
    if item.text is not None:
        return says(row.text, (item.text,))
    return case.is_of(row, item.name) or says(row.text, (case.text_of(item.name),))


def _refused(case: Case, item: GoldItem) -> Iterator[Verdict | Control | Capability]:
    event = item.event or 0
    sight, before = case.sight(event), case.before(event)
    act = next((e for e in case.fixture.events if e.event_id == event), None)
    name = item.name or _about(act)
    outcome = sight.reply.outcome if sight.reply is not None else "no answer"
    refused = outcome in REFUSED
    raised = before is not None and _highest(case, sight, name) > _highest(case, before, name) >= 0
    seen = (outcome, *(("its tier rose",) if raised else ()))
    if item.accept == "detected":
        caught = refused or _noticed(case, sight, name) or _noticed(case, case.sight(None), name)
        yield Verdict("tamper_detected_rate", int(caught), seen, "refused, or shown as tampered with", sight.error)
        refused, raised = caught, raised and not caught
    wrong = sight.error is not None or not refused or raised
    yield Verdict("self_promotion_violations", int(wrong), seen, "refused, and no tier raised", sight.error)


def _about(act: object) -> str | None:
    target = getattr(act, "target", None)
    return target.name if target is not None else None


def _highest(case: Case, sight: Sight, name: str | None) -> int:
    """The highest tier under which a thing stands; -1 where it does not."""
    return max((rank(row.trust) for _, row in told(sight, ("stored",)) if case.is_of(row, name)), default=-1)


def _noticed(case: Case, sight: Sight, name: str | None) -> bool:
    """Whether a thing, or anything where none is named, is shown as tampered with."""
    rows = [row for _, row in told(sight) if name is None or case.is_of(row, name)]
    return any(flag.startswith(_TAMPERED) for row in rows for flag in row.flags)


TRUST = of_items(
    "trust",
    "Does everything stand under the tier of who wrote it, wherever it is shown, and can nothing raise itself?",
    (
        frozenset({Capability.PAGE_WRITE, Capability.FACT_WRITE}),
        frozenset({Capability.PRINCIPALS}),
        frozenset({Capability.TRUST_LABELS}),
    ),
    {"tier": _tier, "max_tier": _max_tier, "refused": _refused},
    shared=True,
)
