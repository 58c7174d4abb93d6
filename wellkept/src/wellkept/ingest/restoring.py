"""What an export holds, kept again as it stood."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime

from wellkept.ingest.conversation import FOLDER, turn_chunks
from wellkept.ingest.conversation import parse_page as turns_of
from wellkept.ingest.markdown import parse_page
from wellkept.ingest.writeback import TOLD_BY
from wellkept.model import ChangeKind, Ended, Fact, Item, Mark, Page, Restored, Writer
from wellkept.storage import Store
from wellkept.trust.admission import admit
from wellkept.trust.forgotten import MARK
from wellkept.trust.gate import Gate
from wellkept.trust.normal import words
from wellkept.writes import strings

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def restored(store: Store, gate: Gate, items: Iterable[Page | Fact]) -> Restored:
    """Keep each item that is not there, without what was forgotten for good; how many. Called in a transaction."""
    pages = facts = there = forgotten = 0
    ids: dict[int, int] = {}
    ended: list[Fact] = []
    for item in items:
        if isinstance(item, Page):
            gate.check_names(item.source, item.slug)
            told, content = gate.told(item.source, item.told), gate.page(item.source, item.content)
            new = _put_page(store, replace(item, content=content, told=told))
            pages += new
        else:
            text = gate.page(item.source, item.text)
            if text != item.text and not words(text.replace(MARK, " ")):
                forgotten += 1
                continue
            item = replace(item, text=text, replaces=None if item.replaces is None else ids.get(item.replaces))
            # As it was told; that it ends, or ended, is marked.
            told_so = replace(item, valid_until=item.told_until, told_until=None) if _has_end(item) else item
            number, new = store.restore_fact(_session_page(item), told_so)
            facts += new
            if item.id is not None:
                ids[item.id] = number
            if new and _has_end(item):
                # At once, so that the next of the same words finds its place free.
                _end(store, item, number, item.superseded_by)
                ended.append(item)
        there += not new
    for fact in ended:
        later = None if fact.superseded_by is None else ids.get(fact.superseded_by)
        if later != fact.superseded_by:
            _end(store, fact, ids[fact.id or 0], later)
    return Restored(pages, facts, there, forgotten)


def _has_end(fact: Fact) -> bool:
    """Whether somebody ended the fact, or something will take its place."""
    return fact.expired_at is not None or fact.status not in ("active", "pending")


def from_outside(item: Page | Fact) -> Page | Fact:
    """The item with the label that it has where nothing shows who wrote it."""
    writer = Writer("restore")
    if isinstance(item, Page):
        decision = admit(writer, "import", item.content, beside=(item.slug, *strings(item.told.metadata)))
        return replace(item, content=decision.text, trust=decision.tier, flags=decision.flags)
    decision = admit(writer, "import", item.text, kind="fact")
    return replace(item, text=decision.text, trust=decision.tier, flags=decision.flags)


def _end(store: Store, fact: Fact, number: int, successor: int | None) -> None:
    mark = _mark(fact, None if successor is None else str(successor))
    mark = replace(mark, status=None if fact.status == "active" else fact.status, until=fact.valid_until)
    store.mark(fact.source, Item("fact", str(number)), mark)


def _put_page(store: Store, page: Page) -> bool:
    if store.get_page(page.source, page.slug) is not None:
        return False
    read, chunks, names = parse_page(
        page.source, page.slug, page.content, trust=page.trust, now=page.updated_at or _EPOCH
    )
    times = {"updated_at": page.updated_at, "created_at": page.created_at, "told": page.told, "flags": page.flags}
    fresh = replace(read, **times)  # type: ignore[arg-type]
    said = turns_of(page.content) if page.slug.startswith(FOLDER) and page.type == "conversation" else ()
    if said:
        fresh, chunks, names = replace(fresh, status="active", aliases=(), timeline=()), turn_chunks(said), ()
    store.put_page(fresh, chunks, names)
    if (page.status, page.superseded_by) != (fresh.status, fresh.superseded_by):
        store.mark(page.source, Item("page", page.slug), _mark(page, page.superseded_by))
    return True


def _mark(item: Page | Fact, successor: str | None) -> Mark:
    """How the item came to stand as it does."""
    change: ChangeKind = "superseded" if item.status == "superseded" or successor is not None else "expired"
    told = item.expired_at if isinstance(item, Fact) else None
    ended = item.ended or Ended(told, (isinstance(item, Fact) and item.ended_because) or "")
    at = ended.at or told or _EPOCH
    kind: ChangeKind = "restored" if item.status == "active" and isinstance(item, Page) else change
    return Mark(kind, ended.because, at, item.status, None, successor, ended.reason, ended.by)


def _session_page(fact: Fact) -> str | None:
    """The conversation whose facts are replaced as a whole when it is read again."""
    return fact.provenance.source_markdown_slug if fact.provenance.source == TOLD_BY else None


def moved(items: Iterable[Page | Fact], source: str) -> Iterator[Page | Fact]:
    """The items as those of another source."""
    for item in items:
        if isinstance(item, Page):
            yield replace(item, source=source)
            continue
        told = item.provenance
        page = told.source_markdown_slug
        if told.source_session is not None and page is not None and told.source_session == f"{item.source}:{page}":
            told = replace(told, source_session=f"{source}:{page}")
        yield replace(item, source=source, provenance=told)
