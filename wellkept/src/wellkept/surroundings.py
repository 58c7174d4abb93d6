"""What a write is held against: what its writer wrote before, and what trusted writers say of those it names."""

from __future__ import annotations

from collections.abc import Sequence

import regex  # type: ignore[import-untyped]

from wellkept.model import Trust, Writer
from wellkept.names import norm
from wellkept.storage import Store
from wellkept.trust.detect import Known
from wellkept.trust.detect.pieces import LAST

_NAME = regex.compile(r"\p{Lu}[\p{L}\p{M}\p{Nd}'’.-]*(?:\s+\p{Lu}[\p{L}\p{M}\p{Nd}'’.-]*){0,3}")
_READ_CHARS = 20_000
_MOST_NAMES = 48
_MOST_PAGES = 8
_SAYS_CHARS = 4_000


def written_before(store: Store, source: str, writer: Writer) -> tuple[str, ...]:
    """The texts that this writer wrote last into the source, oldest first."""
    return store.holding.written_last(source, writer.name, LAST)


def known_of(store: Store, source: str, text: str, entity: str | None, tier: Trust) -> tuple[Known, ...]:
    """What writers who are trusted more than `tier` say of the pages that a text names, or that it is about."""
    keys = dict.fromkeys(norm(name) for found in _NAME.finditer(text[:_READ_CHARS]) for name in _names(found[0]))
    pages: dict[str, str] = {}
    for kind in ("title", "alias"):
        for match in store.find_names(source, kind, list(keys)[:_MOST_NAMES]):
            pages.setdefault(match.page.slug, match.page.title)
    if entity is not None and (page := store.get_page(source, entity)) is not None:
        pages.setdefault(entity, page.title)
    found = []
    for slug, title in list(pages.items())[:_MOST_PAGES]:
        page = store.get_page(source, slug)
        says = [page.body[:_SAYS_CHARS]] if page is not None and page.trust > tier else []
        says += [fact.text for fact in store.facts(source, slug) if fact.trust > tier]
        if says:
            found.append(Known(title, "\n".join(says)))
    return tuple(found)


def _names(run: str) -> Sequence[str]:
    """A run of capitalised words, and its parts: "The Ada Lovelace" names Ada Lovelace."""
    words = run.split()
    return [" ".join(words[start:end]) for start in range(len(words)) for end in range(len(words), start, -1)]
