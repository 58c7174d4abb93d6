"""The memory as it is looked at where nobody asked: without what may only be read on demand.

What is left out here takes nobody's place: it is not looked at, so that no limit counts it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, TypeVar, cast

import regex  # type: ignore[import-untyped]

from wellkept.model import Fact, NameKind, NameMatch, Openings, Page, PageRef, SearchOptions, Stated, Statement, Trust
from wellkept.storage import Store
from wellkept.trust import HOLDS_SECRET, Activation

T = TypeVar("T", Page, Statement, tuple[int, Fact])

HIDDEN = frozenset({"archived", "hidden"})
"""What the front matter of a page calls its status that is put away."""
_WORK_STATUS = regex.compile(r"\A\ufeff?---[ \t]*\r?\n(?:[^\n]*\n){0,64}?status:[ \t]*[\"']?(\w+)", regex.IGNORECASE)
_HEAD_CHARS = 8_000


def work_status(content: str) -> str:
    """What the front matter says of how far the work is, in small letters; "" where it says nothing."""
    found = _WORK_STATUS.match(content[:_HEAD_CHARS])
    return found[1].lower() if found else ""


def unasked(store: Store, activation: Activation) -> Store:
    """The store without all that may not be brought unasked."""
    return cast(Store, _Unasked(store, activation))


def searchable(activation: Activation) -> SearchOptions:
    """How to search for what may be brought unasked."""
    tiers = activation.tiers
    labels = () if len(tiers) == len(Trust) else tuple(tier.name.lower() for tier in tiers)
    return SearchOptions(labels=labels, without_flags=(HOLDS_SECRET,))


class _Unasked:
    """A Store; what it does not say of itself is as in the one behind it."""

    def __init__(self, store: Store, activation: Activation) -> None:
        self._store, self._activation = store, activation
        self._least = min(tier for tier in activation.tiers if tier > Trust.EXTERNAL_UNTRUSTED)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def _shows(self, item: Page | PageRef | Fact | Statement) -> bool:
        if isinstance(item, Page | PageRef) and work_status(_head(item)) in HIDDEN:
            return False
        return self._activation.allows(item)

    def find_names(self, source: str, kind: NameKind, keys: Iterable[str]) -> tuple[NameMatch, ...]:
        return tuple(match for match in self._store.find_names(source, kind, keys) if self._shows(match.page))

    def page_refs(self, source: str, slugs: Iterable[str]) -> tuple[PageRef, ...]:
        return tuple(page for page in self._store.page_refs(source, slugs) if self._shows(page))

    def get_page(self, source: str, slug: str) -> Page | None:
        page = self._store.get_page(source, slug)
        return page if page is not None and self._shows(page) else None

    def pages(self, source: str, limit: int) -> tuple[Page, ...]:
        return _filled(lambda most: self._store.pages(source, most), limit, self._shows)

    def find_beginnings(self, source: str, beginnings: Iterable[str], most: int) -> Openings:
        return self._store.find_beginnings(source, beginnings, most, least=self._least)

    def find_statements(self, source: str, beginnings: Iterable[str], most: int) -> Stated:
        return self._store.find_statements(source, beginnings, most, least=self._least)

    def statements(self, source: str, numbers: Iterable[int]) -> tuple[Statement, ...]:
        return tuple(one for one in self._store.statements(source, numbers) if self._shows(one))

    def newest_statements(self, source: str, since: datetime, limit: int) -> tuple[Statement, ...]:
        return _filled(lambda most: self._store.newest_statements(source, since, most), limit, self._shows)

    def fact(self, source: str, number: int) -> Fact | None:
        fact = self._store.fact(source, number)
        return fact if fact is not None and self._shows(fact) else None

    def facts(self, source: str, *which: Any, **how: Any) -> tuple[Fact, ...]:
        return tuple(fact for fact in self._store.facts(source, *which, **how) if self._shows(fact))

    def facts_saying(self, source: str, words: Sequence[str], limit: int, **how: Any) -> tuple[tuple[int, Fact], ...]:
        def ask(most: int) -> tuple[tuple[int, Fact], ...]:
            return self._store.facts_saying(source, words, most, **how)

        return _filled(ask, limit, lambda row: self._shows(row[1]))


def _head(page: Page | PageRef) -> str:
    return page.content if isinstance(page, Page) else page.head


def _filled(ask: Callable[[int], Collection[T]], limit: int, shows: Callable[[T], bool]) -> tuple[T, ...]:
    """The first `limit` that are shown, of as many as that needs."""
    most = limit
    while True:
        found = ask(most)
        shown = tuple(one for one in found if shows(one))
        if len(shown) >= limit or len(found) < most:
            return shown[:limit]
        most *= 4
