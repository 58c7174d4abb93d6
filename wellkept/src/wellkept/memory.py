"""The front door: everything a caller can ask of a memory, over any Store."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal, get_args

import regex  # type: ignore[import-untyped]

from wellkept import recall
from wellkept.capture import Capture, Captured
from wellkept.errors import InvalidInput, NotFound
from wellkept.ingest import writeback
from wellkept.ingest.conversation import FOLDER, page_slug
from wellkept.ingest.markdown import parse_page
from wellkept.model import (
    FACT_KINDS,
    SEARCH_MODES,
    SEARCH_UNITS,
    Budget,
    Fact,
    FactKind,
    Hit,
    Message,
    Page,
    Pointer,
    Provenance,
    Ranking,
    SearchOptions,
    Source,
    Trust,
    TurnContext,
    WriteReceipt,
)
from wellkept.names import norm
from wellkept.providers import Embedder, Extractor, Reranker
from wellkept.recall.suppress import Suppression
from wellkept.storage import Store

if TYPE_CHECKING:
    from wellkept.recall.embedding import Background

Actor = Literal["owner", "agent", "external"]

LONGEST_SLUG = 512
"""In characters; the same holds for the id of a source or session."""
LARGEST_CONTENT = 4 * 1024 * 1024
"""In UTF-8 bytes."""
LARGEST_FACT = 50_000
"""In UTF-8 bytes."""

_UNSEEN = regex.compile(r"[\p{Cc}\p{Cs}]")

_WRITTEN_BY: dict[str, Trust] = {
    "owner": Trust.USER_WRITTEN,
    "agent": Trust.AGENT_WRITTEN,
    "external": Trust.EXTERNAL_UNTRUSTED,
}


class Memory:
    """A memory over an open store. Every call names the one source that it reads or writes.

    Times are aware UTC datetimes; `now` defaults to the clock. Raises InvalidInput, naming the argument, for
    what cannot be used, NotFound for what is not there, StoreUnavailable when the database fails. With a `capture`
    what is asked is kept there, with the pages that answered. Without an `embedder`, which is opened when it is first
    needed, searches go by words alone. Of the ways to bring pages unasked those in `arms_off` stay unused.
    """

    def __init__(
        self,
        store: Store,
        capture: Capture | None = None,
        *,
        embedder: Callable[[], Embedder | None] | None = None,
        reranker: Reranker | None = None,
        arms_off: Collection[str] = (),
    ) -> None:
        self.store, self.capture = store, capture
        self.reranker = reranker
        self.arms_off = frozenset(arms_off)
        self._open_embedder = embedder
        self._embedder: Embedder | None = None
        self._background: Background | None = None

    def put_page(
        self, source: str, slug: str, content: str, *, actor: Actor = "owner", now: datetime | None = None
    ) -> WriteReceipt:
        """Create or replace a page from its Markdown: page, chunks and names at once, or nothing.

        A writer of lower trust does not replace a page: it stays as it was, and the receipt says "guarded".
        """
        _check_name("source", source)
        _check_name("slug", slug)
        _check_text("content", content, LARGEST_CONTENT)
        trust = _trust(actor)
        page, chunks, names = parse_page(source, slug, content, trust=trust, now=_at(now))
        with self.store.transaction():
            self.store.add_source(Source(source))
            old = self.store.get_page(source, slug)
            if old is not None and (old.content, old.trust) == (content, trust):
                return WriteReceipt(source, slug, "unchanged")
            if old is not None and old.status != "deleted" and old.trust > trust:
                return WriteReceipt(source, slug, "unchanged", degraded=("guarded",))
            self.store.put_page(page, chunks, names)
        return WriteReceipt(source, slug, "created" if old is None else "updated")

    def get_page(self, source: str, slug: str) -> Page:
        """The page, whatever its status. NotFound when the source has none of this slug."""
        _check_name("source", source)
        _check_name("slug", slug)
        page = self.store.get_page(source, slug)
        if page is None:
            raise NotFound(f"there is no page {slug!r} in source {source!r}")
        return page

    def pages(self, source: str, limit: int = 50) -> tuple[Page, ...]:
        """The first live pages of the source by slug, without conversations."""
        _check_name("source", source)
        _check_count("limit", limit)
        return self.store.pages(source, limit)

    def search(self, source: str, query: str, limit: int = 10, options: SearchOptions | None = None) -> tuple[Hit, ...]:
        """The pages of the source that fit the query, or with `options` pieces and turns, best first."""
        return self.find(source, query, limit, options).hits

    def find(self, source: str, query: str, limit: int = 10, options: SearchOptions | None = None) -> Ranking:
        """The hits of a search, the lanes that ran, and codes for what could not."""
        # Searches load numpy, which nothing else here needs.
        from wellkept.recall.search import SearchModels, find

        _check_name("source", source)
        _check_text("query", query, LARGEST_CONTENT)
        _check_count("limit", limit)
        options = _checked_options(options or SearchOptions())
        began = time.perf_counter()
        found = find(self.store, source, query, limit, options, SearchModels(self.embedder(), self.reranker))
        self._capture("search", source, query, [hit.slug for hit in found.hits], f"limit {limit}", began)
        return found

    def embedder(self) -> Embedder | None:
        """What makes vectors, if anything does."""
        if self._embedder is None and self._open_embedder is not None:
            self._embedder = self._open_embedder()
        return self._embedder

    def embed_waiting(self, progress: Callable[[int], object] = bool) -> int:
        """Give all that waits its vector, of every source; how many were given one. `progress` hears it growing.

        NotFound without an embedder, EmbedderMismatch when the vectors kept are another model's.
        """
        embedder = self.embedder()
        if embedder is None:
            raise NotFound("there is no embedder: the settings say off, or the packaged model is not installed")
        from wellkept.recall.embedding import embed_waiting

        return embed_waiting(self.store, embedder, progress)

    def embed_in_background(self) -> None:
        """From now on until it is closed, give what is written its vector in a thread. Nothing without an embedder."""
        from wellkept.recall.embedding import Background

        if self._background is None and (embedder := self.embedder()) is not None:
            self._background = Background(self.store, embedder)
            self._background.start()

    def remember(
        self,
        source: str,
        text: str,
        *,
        entity: str | None = None,
        kind: FactKind = "fact",
        session: str | None = None,
        actor: Actor = "owner",
        now: datetime | None = None,
    ) -> WriteReceipt:
        """Keep one statement as an active fact, about the page `entity` if named.

        Told again it keeps its id and status "unchanged"; `session` is where it was said.
        """
        _check_name("source", source)
        _check_text("text", text, LARGEST_FACT)
        if not text.strip():
            raise InvalidInput("text", "is empty; say what to remember")
        for field, value in (("entity", entity), ("session", session)):
            if value is not None:
                _check_name(field, value)
        if kind not in FACT_KINDS:
            raise InvalidInput("kind", f"is {kind!r}; use one of {', '.join(FACT_KINDS)}")
        moment = _at(now)
        page = None if session is None else page_slug(session)
        told = Provenance("wellkept:remember", None if page is None else f"{source}:{page}", page)
        fact = Fact(None, source, text, entity, kind, told, trust=_trust(actor), recorded_at=moment)
        with self.store.transaction():
            last = self.store.last_fact_id()
            ids = self.store.put_facts(source, None, [fact], moment)
        return WriteReceipt(source, None, "created" if ids[0] > last else "unchanged", ids)

    def recall_facts(
        self, source: str, query: str | None = None, *, entity: str | None = None, limit: int | None = None
    ) -> tuple[Fact, ...]:
        """Active facts of the source, of one entity if named: best first for a query, else in the order recorded."""
        _check_name("source", source)
        if entity is not None:
            _check_name("entity", entity)
        if limit is not None:
            _check_count("limit", limit)
        began = time.perf_counter()
        facts = self.store.facts(source, entity)
        if query is None or not norm(query):
            return facts[:limit]
        _check_text("query", query, LARGEST_CONTENT)
        found = recall.rank_facts(facts, query, len(facts) if limit is None else limit)
        pages = [page for fact in found if (page := fact.entity or fact.provenance.source_markdown_slug)]
        detail = "of one entity" if entity is not None else "no limit" if limit is None else f"limit {limit}"
        self._capture("recall_facts", source, query, pages, detail, began)
        return found

    def context(
        self,
        source: str,
        window: Sequence[Message],
        *,
        prior: str = "",
        session: str | None = None,
        budget: Budget | None = None,
        now: datetime | None = None,
    ) -> TurnContext:
        """What to inject on the newest turn of `window`, oldest first; `prior` is what the model has seen already."""
        _check_name("source", source)
        if session is not None:
            _check_name("session", session)
        began = time.perf_counter()
        found = recall.turn_context(
            self.store,
            source,
            window,
            prior=prior,
            session=None if session is None else page_slug(session).removeprefix(FOLDER),
            budget=Budget() if budget is None else budget,
            now=_at(now),
            arms_off=self.arms_off,
        )
        alone = len(window) == 1 and not prior and budget in (None, Budget())
        slugs = [pointer.slug for pointer in (*found.pointers, *found.volunteered)]
        query = window[-1].text if window else ""
        self._capture("context", source, query, slugs, "one turn" if alone else "in a conversation", began)
        return found

    def pointers(
        self, source: str, text: str, *, prior: str = "", pages: int = 3, suppression: Suppression = "slug-and-title"
    ) -> tuple[tuple[Pointer, ...], tuple[str, ...]]:
        """At most `pages` pages that one turn names, surest first, and the codes of arms that failed.

        A page is left out when its slug, or for "slug-and-title" its title, stands in `prior`.
        """
        _check_name("source", source)
        _check_count("pages", pages)
        if suppression not in get_args(Suppression):
            raise InvalidInput("suppression", f"is {suppression!r}; use one of {', '.join(get_args(Suppression))}")
        began = time.perf_counter()
        found = recall.turn_pointers(
            self.store, source, text, prior=prior, pages=pages, suppression=suppression, arms_off=self.arms_off
        )
        slugs = [pointer.slug for pointer in found[0]]
        self._capture("pointers", source, text, slugs, "in a conversation" if prior else f"limit {pages}", began)
        return found

    def volunteers(
        self, source: str, window: Sequence[Message], *, prior: str = "", exclude: Collection[str] = (), limit: int = 3
    ) -> tuple[tuple[Pointer, ...], tuple[str, ...]]:
        """At most `limit` pages that the turns of `window` name, without `exclude`, and the codes of failed arms."""
        _check_name("source", source)
        _check_count("limit", limit)
        return recall.window_volunteers(self.store, source, window, prior=prior, exclude=exclude, limit=limit)

    def bank(
        self,
        source: str,
        session: str,
        messages: Sequence[Message],
        *,
        extractor: Extractor | None = None,
        now: datetime | None = None,
    ) -> WriteReceipt:
        """Keep a conversation as a page with the facts it states; banked again it changes only what differs."""
        _check_name("source", source)
        _check_name("session", session)
        return writeback.bank(self.store, source, session, messages, extractor=extractor, now=_at(now))

    def _capture(self, tool: str, source: str, query: str, slugs: Sequence[str], detail: str, began: float) -> None:
        if self.capture is not None and query.strip():
            latency_ms = (time.perf_counter() - began) * 1000
            self.capture.keep(Captured(tool, source, query, slugs, detail, latency_ms))

    def close(self) -> None:
        """Release the store. Closing twice is harmless."""
        if self._background is not None:
            self._background.stop()
        self.store.close()


def _checked_options(options: SearchOptions) -> SearchOptions:
    for field, value, known in (("unit", options.unit, SEARCH_UNITS), ("mode", options.mode, SEARCH_MODES)):
        if value not in known:
            raise InvalidInput(field, f"is {value!r}; use one of {', '.join(known)}")
    for field, moment in (("as_of", options.as_of), ("reference_time", options.reference_time)):
        if moment is not None and moment.utcoffset() is None:
            raise InvalidInput(field, "has no time zone; give an aware datetime")
    if options.recency and options.reference_time is None:
        raise InvalidInput("reference_time", "is needed for recency; say as of when something is recent")
    return options


def _at(now: datetime | None) -> datetime:
    if now is None:
        return datetime.now(UTC)
    if now.utcoffset() is None:
        raise InvalidInput("now", "has no time zone; give an aware datetime")
    return now


def _trust(actor: str) -> Trust:
    if actor not in _WRITTEN_BY:
        raise InvalidInput("actor", f"is {actor!r}; use one of {', '.join(_WRITTEN_BY)}")
    return _WRITTEN_BY[actor]


def _check_name(field: str, name: object) -> None:
    """A source, slug or session: compared exactly, so nothing in it may be invisible or at an edge."""
    if not isinstance(name, str):
        raise InvalidInput(field, f"must be text, not {type(name).__name__}")
    if not name.strip():
        raise InvalidInput(field, "is empty")
    if name != name.strip():
        raise InvalidInput(field, "begins or ends with a space; remove it")
    if len(name) > LONGEST_SLUG:
        raise InvalidInput(field, f"has {len(name)} characters; {LONGEST_SLUG} are allowed")
    if _UNSEEN.search(name):
        raise InvalidInput(field, "holds a control character or half a surrogate pair; remove it")


def _check_text(field: str, text: object, largest: int) -> None:
    if not isinstance(text, str):
        raise InvalidInput(field, f"must be text, not {type(text).__name__}")
    if "\0" in text:
        raise InvalidInput(field, "holds a NUL character; remove it")
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        raise InvalidInput(field, f"holds half a surrogate pair at character {error.start}; remove it") from error
    if size > largest:
        raise InvalidInput(field, f"has {size} bytes of UTF-8; {largest} are allowed. Split it")


def _check_count(field: str, count: object) -> None:
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise InvalidInput(field, f"is {count!r}; give a whole number from 0")
