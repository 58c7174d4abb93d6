"""A memory to recall from: pages written as Markdown into a real store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

import pytest

from wellkept.ingest.markdown import parse_page
from wellkept.model import Pointer, Source, Trust
from wellkept.recall import turn_pointers
from wellkept.storage import Store, open_store

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def write_page(
    store: Store,
    slug: str,
    title: str,
    *aliases: str,
    kind: str = "person",
    summary: str = "",
    body: str = "Some words about it.",
    source: str = "default",
    trust: Trust = Trust.USER_WRITTEN,
    status: str = "active",
) -> None:
    listed = "".join(f'\n  - "{alias}"' for alias in aliases)
    head = f'title: "{title}"\ntype: {kind}\nsummary: "{summary}"\nstatus: {status}\naliases:{listed}'
    content = f"---\n{head}\n---\n\n{body}\n"
    store.add_source(Source(source))
    page, chunks, names = parse_page(source, slug, content, trust=trust, now=NOW)
    store.put_page(page, chunks, names)


@pytest.fixture
def store() -> Iterator[Store]:
    opened = open_store("sqlite", ":memory:")
    opened.add_source(Source("default"))
    yield opened
    opened.close()


@pytest.fixture
def write(store: Store) -> Callable[..., None]:
    """Write a page into the store: slug, title, aliases, and by keyword kind, summary, body, source, trust, status."""

    def into_store(slug: str, title: str, *aliases: str, **rest: object) -> None:
        write_page(store, slug, title, *aliases, **rest)  # type: ignore[arg-type]

    return into_store


@pytest.fixture
def found(store: Store) -> Callable[..., list[str]]:
    """The slugs that one turn brings, with nothing said before."""

    def slugs(text: str, pages: int = 9, prior: str = "") -> list[str]:
        pointers, degraded = turn_pointers(store, "default", text, prior=prior, pages=pages)
        assert degraded == ()
        return [pointer.slug for pointer in pointers]

    return slugs


@pytest.fixture
def arms(store: Store) -> Callable[[str], Sequence[tuple[str, str]]]:
    """Slug and arm of everything that one turn brings."""

    def pairs(text: str) -> list[tuple[str, str]]:
        pointers: tuple[Pointer, ...] = turn_pointers(store, "default", text, prior="", pages=9)[0]
        return [(pointer.slug, pointer.arm) for pointer in pointers]

    return pairs


@pytest.fixture
def now() -> datetime:
    return NOW
