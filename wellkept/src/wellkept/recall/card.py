"""What memory holds about one thing, by any of its names, and when."""

from __future__ import annotations

from calendar import monthrange
from datetime import date, datetime
from itertools import product

from wellkept.errors import NotFound
from wellkept.model import Card, Dated, Item, NameKind, Page, PageRef, Trust
from wellkept.names import ascii_slug, fold, norm, slugify
from wellkept.state import DECLINED, as_it_stands, is_current
from wellkept.storage import Store

_KINDS: tuple[tuple[NameKind, bool], ...] = (
    ("slug", False),
    ("alias", False),
    ("title", False),
    ("tail", False),
    ("alias-fold", True),
    ("title-fold", True),
)
"""The ways to call a page, surest first; a folded one forgives accents."""


def entity_card(store: Store, source: str, name: str, now: datetime, *, history: bool = False) -> Card:
    """The page that goes by the name, with its current facts, or with `history` all. NotFound when none does.

    Where several do, the first by slug of the surest kind of name, of those that did not come from outside if there are
    any; `also` names the others of that kind.
    """
    page, also = _named(store, source, name)
    facts = store.facts(source, page.slug, ended=history)
    return Card(page, tuple(as_it_stands(fact, now) for fact in facts if history or is_current(fact, now)), also)


def timeline(
    store: Store, source: str, name: str, now: datetime, since: datetime | None = None, until: datetime | None = None
) -> tuple[Dated, ...]:
    """What has a date about the thing, oldest first: the timeline of its page, and its facts.

    A fact stands at the date from which it held, else at that on which it was recorded. With `since` and `until` only
    what is not wholly before or after; a year lasts until its end.
    """
    card = entity_card(store, source, name, now, history=True)
    page = card.page
    found = [Dated(entry.date, entry.text, str(Item("page", page.slug)), page) for entry in page.timeline]
    for fact in card.facts:
        moment = fact.valid_from or fact.recorded_at
        if moment is not None and fact.status != "pending" and fact.ended_because != DECLINED:
            found.append(Dated(moment.date().isoformat(), fact.text, f"fact:{fact.id}", fact))
    first, last = (None if moment is None else moment.date() for moment in (since, until))
    kept = [one for one in found if _within(one.date, first, last)]
    return tuple(sorted(kept, key=lambda one: (one.date, one.id)))


def _within(written: str, first: date | None, last: date | None) -> bool:
    year, month, day = (*(int(part) for part in written.split("-")), 0, 0)[:3]
    begins = date(year, month or 1, day or 1)
    ends = date(year, month or 12, day or monthrange(year, month or 12)[1])
    return (first is None or ends >= first) and (last is None or begins <= last)


def _named(store: Store, source: str, name: str) -> tuple[Page, tuple[PageRef, ...]]:
    page = store.get_page(source, name)
    if page is not None and page.status == "active":
        return page, ()
    # What came from outside takes no name from a page.
    for outside, (kind, folded) in product((False, True), _KINDS):
        keys = {fold(name)} if folded else {name, norm(name), slugify(name), ascii_slug(name)} - {""}
        named = {match.page.slug: match.page for match in store.find_names(source, kind, keys)}
        for slug, ref in named.items():
            page = store.get_page(source, slug)
            if page is not None and (ref.trust is Trust.EXTERNAL_UNTRUSTED) == outside:
                return page, tuple(other for other in named.values() if other.slug != slug)
    raise NotFound(f"nothing in source {source!r} goes by the name {name!r}")
