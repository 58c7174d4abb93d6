"""Where memory is kept: one narrow protocol, one module per engine.

Every read and write names its source, and the source is part of the query itself. A store holds no policy: it
does not rank, decide or label.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from wellkept.model import Chunk, Fact, Hit, Name, NameKind, NameMatch, Openings, Page, PageRef, Source

STORES: Mapping[str, str] = {
    "sqlite": "wellkept.storage.sqlite:SqliteStore",
}


class Store(Protocol):
    """What an engine must do. The contract tests in wellkept/tests/contract run against every entry of STORES."""

    def transaction(self) -> AbstractContextManager[None]:
        """All writes inside are kept or none is. Nests; the outermost one commits, durably, on leaving."""

    def add_source(self, source: Source) -> None:
        """Make sure the source exists. Known already: its owner stays as it was."""

    def sources(self) -> tuple[Source, ...]:
        """All sources, by id."""

    def put_page(self, page: Page, chunks: Sequence[Chunk], names: Sequence[Name]) -> None:
        """Create or replace the page with its chunks, names, aliases and timeline."""

    def get_page(self, source: str, slug: str) -> Page | None:
        """The page whatever its status, or None."""

    def pages(self, source: str, limit: int) -> tuple[Page, ...]:
        """The first `limit` live pages by slug (code point order); conversation pages are left out."""

    def find_names(self, source: str, kind: NameKind, keys: Iterable[str]) -> tuple[NameMatch, ...]:
        """Live pages known under any of the keys, ordered by (key, slug). A page is live when active.

        The names of a superseded page are those of the page that took its place.
        """

    def find_words(self, source: str, words: Sequence[str], limit: int) -> tuple[Hit, ...]:
        """Best chunks of live pages holding any of the words (BM25, best first, ties by slug and ordinal)."""

    def find_beginnings(self, source: str, beginnings: Iterable[str], most: int) -> Openings:
        """For each beginning of a word the live pages that hold such a word, at most `most`; conversations left out."""

    def page_refs(self, source: str, slugs: Iterable[str]) -> tuple[PageRef, ...]:
        """What a pointer needs to know of the live pages of these slugs, by slug."""

    def put_facts(self, source: str, session_page: str | None, facts: Sequence[Fact], now: datetime) -> tuple[int, ...]:
        """Make `facts` the active facts of `session_page`; ids in the order given.

        A fact equal to a stored one in (source, session page, normalised text, entity) keeps its id. Active facts
        of that session page that are not given again become expired. With `session_page` None the facts are added.
        """

    def facts(self, source: str, entity: str | None = None, since: datetime | None = None) -> tuple[Fact, ...]:
        """Active facts of the source by id, of one entity if named, recorded or valid at or after `since` if given."""

    def last_fact_id(self) -> int:
        """The highest id any fact was given, whatever its source; 0 when none was. Later facts get higher ones."""

    def reset(self) -> None:
        """Empty every table, keep the schema, let ids start again at 1."""

    def close(self) -> None:
        """Release the database. Closing twice is harmless."""


def open_store(kind: str, path: Path | str) -> Store:
    """An open store of a kind in STORES; for sqlite `path` is the database file or ":memory:"."""
    module, _, name = STORES[kind].partition(":")
    return cast(Store, getattr(import_module(module), name)(path))
