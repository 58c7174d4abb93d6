"""The front door: everything a caller can ask of a memory, over any Store."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Literal, TypeVar, get_args
from unicodedata import normalize

import regex  # type: ignore[import-untyped]

from wellkept import forgetting, recall, state
from wellkept.capture import Capture, Captured
from wellkept.errors import Conflict, InvalidInput, ModelUnavailable, NotFound, Refused, ScopeDenied
from wellkept.forgetting import Files, Plan, PurgeReceipt
from wellkept.ingest import writeback
from wellkept.ingest.conversation import FOLDER, is_of, page_slug
from wellkept.ingest.git_history import GitHistory, Rewritten
from wellkept.ingest.markdown import parse_page
from wellkept.ingest.restoring import restored
from wellkept.model import (
    CORRECTION_ACTIONS,
    FACT_KINDS,
    GATE,
    HOOK,
    INTENTS,
    LAYERS,
    OWNER,
    SEARCH_MODES,
    SEARCH_UNITS,
    TRUSTS,
    Budget,
    Card,
    Changed,
    ChangeKind,
    CiteReceipt,
    ContentOrigin,
    Contested,
    ContextPack,
    Correction,
    CorrectionAction,
    Dated,
    Delta,
    Ended,
    Fact,
    FactKind,
    ForgetReceipt,
    HeldKind,
    HeldWrite,
    History,
    Intent,
    Item,
    Layer,
    Mark,
    Message,
    Page,
    Pointer,
    Provenance,
    Ranking,
    Recalled,
    Restored,
    Results,
    Said,
    SearchMode,
    SearchOptions,
    Source,
    Status,
    Told,
    Trust,
    TurnContext,
    Use,
    Writer,
    WriteReceipt,
)
from wellkept.names import norm
from wellkept.providers import Embedder, Extractor, Reranker
from wellkept.recall.degraded import UNKNOWN_SOURCE
from wellkept.recall.suppress import Suppression
from wellkept.storage import Store, Walked
from wellkept.surroundings import known_of, written_before
from wellkept.trust import OWNERS, Activation, admitted, echo
from wellkept.trust.admission import PROTECTED, WHERE, Decision, Modes, admit
from wellkept.trust.detect import Known
from wellkept.trust.gate import Count, Gate, Keeper, Key
from wellkept.writes import FactWrite, PageWrite, strings

if TYPE_CHECKING:
    from wellkept.recall.embedding import Background
    from wellkept.recall.search import Sense

Kept = TypeVar("Kept", Page, Fact, Page | Fact)

LONGEST_SLUG = 512
"""In characters; the same holds for the id of a source or session."""
LARGEST_CONTENT = 4 * 1024 * 1024
"""In UTF-8 bytes."""
LARGEST_FACT = 50_000
"""In UTF-8 bytes."""

LARGEST_METADATA = 16 * 1024
"""In UTF-8 bytes of JSON."""
MOST_HELD = 10_000
MOST_HELD_BYTES = 64 * 1024 * 1024
"""So many writes of a source are held at most, and so many bytes of them."""
UNREVIEWED = timedelta(days=30)
"""What nobody has looked at for so long is held no longer: it is gone."""
MOST_IDS = 100
"""How many items one call may name."""
TOLD_BY = "wellkept:remember"
"""Who told what was remembered one statement at a time."""

_FOR_GOOD = "only the owner forgets for good, at a terminal: wellkept purge ID. Nothing was removed"

_BLOCKED = "this memory refuses what reads like instructions to it (agent_mode, external_mode). Nothing was kept"

_UNSEEN = regex.compile(r"[\p{Cc}\p{Cs}]")
# Joiners stay: Persian, Indic scripts and emoji are written with them.
_UNSHOWN = regex.compile(r"[^\P{Cf}\u200c\u200d]|[\u2028\u2029]")
_CORRECTIONS: dict[CorrectionAction, tuple[ChangeKind, str, Status]] = {
    "revise": ("superseded", "wrong", "superseded"),
    "supersede": ("superseded", "replaced", "superseded"),
    "mark_wrong": ("expired", "wrong", "expired"),
    "mark_stale": ("expired", "stale", "expired"),
    "restore": ("restored", "restored", "active"),
}


class Memory:
    """A memory over an open store. Every call names the one source that it reads or writes.

    Times are aware UTC datetimes; `now` defaults to the clock. Raises InvalidInput, naming the argument, for
    what cannot be used, NotFound for what is not there, StoreUnavailable when the database fails. With a `capture`
    what is asked is kept there, with the pages that answered. Without an `embedder`, which is opened when it is first
    needed, searches go by words alone. Of the ways to bring pages unasked those in `arms_off` stay unused; none of them
    opens an embedder or waits for its model. `key` reads the key that rows are sealed with, and by which
    what was forgotten for good is recognised, and makes it when told so; without one nothing is sealed or verified, and
    nothing can be forgotten for good. `count` tells an old copy of the store from this one. `files` is what is kept
    beside the store. `modes` says how strict the gate is at least.
    """

    def __init__(
        self,
        store: Store,
        capture: Capture | None = None,
        *,
        embedder: Callable[[], Embedder | None] | None = None,
        reranker: Reranker | None = None,
        arms_off: Collection[str] = recall.OFF,
        key: Callable[[bool], bytes | None] | None = None,
        count: Count | None = None,
        files: Files | None = None,
        modes: Modes | None = None,
    ) -> None:
        self.store, self.capture = store, capture
        self.modes = Modes() if modes is None else modes
        self.files = Files() if files is None else files
        self.key = key
        self._gate = Gate(store, Key(key))
        if key is not None:
            store.sealing.use(Keeper(store, Key(key), count))
        self.reranker = reranker
        self.arms_off = frozenset(arms_off)
        self._open_embedder = embedder
        self._embedder: Embedder | None = None
        self._background: Background | None = None

    def put_page(
        self,
        source: str,
        slug: str,
        content: str,
        *,
        told: Told | None = None,
        again: bool = False,
        lineage: Collection[Trust] = (),
        writer: Writer = OWNER,
        now: datetime | None = None,
    ) -> WriteReceipt:
        """Create or replace a page from its Markdown: page, chunks and names at once, or nothing.

        A writer of lower trust does not replace a page: it stays as it was, and the receipt says "guarded". The same
        content again changes nothing; of a page that was ended the receipt says how it stands, as "expired", unless
        `again` asks for it to be current again. What made a page current again says "revived". `lineage` are the tiers
        of what it was made from. What comes in as a file and repeats what ranks lower ranks as that does ("echo").
        """
        check_name("source", source)
        check_name("slug", slug)
        _check_text("content", content, LARGEST_CONTENT)
        return self._put_page(
            PageWrite(source, slug, content, told, again, writer, _at(now), tuple(lineage)), self.strictness()
        )

    def _put_page(self, write: PageWrite, modes: Modes) -> WriteReceipt:
        source, slug, told, again, now = write.source, write.slug, write.told, write.again, write.at
        said = Told() if told is None else told
        _check_told(said)
        beside = tuple(text for text in (slug, said.source_id, said.url) if text) + strings(said.metadata)
        decision = self._decide(
            source, write.writer, said.content_origin, write.content, modes, beside=beside, lineage=write.lineage
        )
        trust, content = decision.tier, decision.text
        page, chunks, names = parse_page(source, slug, content, trust=trust, now=now)
        with self.store.transaction():
            self._check_new(source)
            self.store.add_source(Source(source))
            self._gate.check_names(source, slug, page.title, *page.aliases, *(entry.text for entry in page.timeline))
            said = self._gate.told(source, said)
            told = None if told is None else said
            struck = self._gate.page(source, content)
            if struck != content:
                content = struck
                page, chunks, names = parse_page(source, slug, content, trust=trust, now=now)
            if decision.verdict == "hold":
                return self._hold(replace(write, content=content, told=said), "page", decision.flags)
            old = self.store.get_page(source, slug)
            page = self._as_echo(replace(page, flags=decision.flags), write.writer)
            ended = old is not None and old.status in ("expired", "deleted")
            same = old is not None and old.content == content and old.trust >= page.trust and told in (None, old.told)
            if old is not None and same and not (ended and again):
                standing = () if old.status == page.status else (old.status,)
                return WriteReceipt(source, slug, "unchanged", degraded=standing, flags=old.flags)
            if old is not None and old.status != "deleted" and min(old.trust, Trust.USER_WRITTEN) > trust:
                return WriteReceipt(source, slug, "unchanged", degraded=("guarded",))
            created = page.updated_at if old is None else old.created_at
            kept = old.told if old is not None and told is None else said
            page = replace(page, created_at=created, told=kept)
            self.store.put_page(page, chunks, names, by=write.writer.name)
        degraded = ("revived",) if ended else ()
        status: Literal["created", "updated"] = "created" if old is None else "updated"
        return WriteReceipt(source, slug, status, degraded=degraded, flags=page.flags)

    # -- the gate

    def strictness(self) -> Modes:
        """How strict the gate is: as it was said at a terminal, and what files make stricter.

        Where something else changed what was said, writes of others are held back and nothing of theirs is brought.
        """
        changed = self.store.sealing.of_table("modes") == "failed"
        return self.modes.tightened(PROTECTED if changed else self.store.holding.modes())

    def _decide(
        self,
        source: str,
        writer: Writer,
        origin: ContentOrigin | None,
        text: str,
        modes: Modes,
        *,
        kind: HeldKind = "page",
        beside: Sequence[str] = (),
        entity: str | None = None,
        lineage: Collection[Trust] = (),
    ) -> Decision:
        """What becomes of a text. Refused where the gate blocks it."""
        tier = admitted(writer, origin, lineage)
        before: tuple[str, ...] = ()
        known: tuple[Known, ...] = ()
        if WHERE[writer.channel] != "owner":
            before = written_before(self.store, source, writer)
            known = known_of(self.store, source, text, entity, tier)
        decision = admit(
            writer, origin, text, kind=kind, beside=beside, before=before, known=known, lineage=lineage, modes=modes
        )
        if decision.verdict == "refuse":
            raise Refused(_BLOCKED)
        return decision

    def _hold(self, write: PageWrite | FactWrite, kind: HeldKind, flags: tuple[str, ...]) -> WriteReceipt:
        """Keep a write where nothing reads it. Refused when the source holds as much as it may."""
        holding, source = self.store.holding, write.source
        holding.drop_older(write.at - UNREVIEWED)
        self.store.add_source(Source(source))
        held = HeldWrite(None, source, write.at, write.writer, kind, write.request(), flags)
        number = holding.same(held)
        if number is None:
            count, size = holding.size(source)
            if count >= MOST_HELD or size + len(held.request.encode()) > MOST_HELD_BYTES:
                raise Refused("queue_full: as much is held back as may be. See: wellkept review")
            number = holding.hold(held)
        slug = write.slug if isinstance(write, PageWrite) else None
        return WriteReceipt(source, slug, "held", flags=flags, held=number)

    def held(self, source: str) -> tuple[HeldWrite, ...]:
        """What is held back until its owner has looked at it, oldest first."""
        check_name("source", source)
        return self.store.holding.held(source, limit=MOST_HELD)

    def release(self, source: str, number: int, *, writer: Writer = OWNER, now: datetime | None = None) -> WriteReceipt:
        """Keep a held write after all, with the tier and flags that it has; that is no confirmation.

        NotFound when it is not held; ScopeDenied for everybody but the owner.
        """
        with self.store.transaction():
            held = self._held(source, number, writer)
            self.store.holding.drop(source, number)
            if held.kind == "page":
                return self._put_page(PageWrite.of(held, _at(now)), Modes())
            return self._remember(FactWrite.of(held, _at(now)), Modes())

    def discard(self, source: str, number: int, *, writer: Writer = OWNER) -> None:
        """Take a held write out for good. NotFound when it is not held; ScopeDenied for everybody but the owner."""
        with self.store.transaction():
            self._held(source, number, writer)
            self.store.holding.drop(source, number)

    def _held(self, source: str, number: int, writer: Writer) -> HeldWrite:
        check_name("source", source)
        if writer.channel not in OWNERS:
            raise ScopeDenied("only the owner decides on what is held, at a terminal: wellkept review")
        found = self.store.holding.one(source, number)
        if found is None:
            raise NotFound(f"nothing is held under {number} in source {source!r}. See: wellkept review")
        return found

    def set_mode(self, name: str, value: str, *, writer: Writer = OWNER) -> Modes:
        """Make the gate stricter or less strict: one of GATE. ScopeDenied for everybody but the owner."""
        if writer.channel not in OWNERS:
            raise ScopeDenied("only the owner sets how strict the gate is, at a terminal: wellkept gate NAME VALUE")
        if value not in GATE.get(name, ()):
            known = "; ".join(f"{one}: {', '.join(choices)}" for one, choices in GATE.items())
            raise InvalidInput(name, f"is {value!r}; use one of {known}")
        with self.store.transaction():
            self.store.holding.set_mode(name, value)
        return self.strictness()

    def _as_echo(self, page: Page, writer: Writer) -> Page:
        """The page with the tier of what it repeats, where it came in as a file."""
        tier = echo.echo(self.store, page.source, page.content) if writer.channel in echo.ECHOING else None
        if tier is None or tier >= page.trust:
            return page
        return replace(page, trust=tier, flags=(*page.flags, echo.FLAG))

    def _check_new(self, source: str) -> None:
        """A source is not begun under a name that looks like another's; one that is there goes on as it is."""
        plain = _UNSHOWN.sub("", normalize("NFC", source)).strip()
        if plain != source and not any(source == known.id for known in self.store.sources()):
            raise InvalidInput("source", f"{source!a} holds what cannot be seen; use {plain or 'default'!r}")

    def get_page(self, source: str, slug: str) -> Page:
        """The page, whatever its status; its id, as `page:fact:1`, will do. NotFound when there is none."""
        check_name("source", source)
        check_name("slug", slug)
        page = self.store.get_page(source, slug)
        if page is None and (named := Item.named(slug)).kind == "page":
            page = self.store.get_page(source, named.key)
        if page is None:
            raise NotFound(f"there is no page {slug!r} in source {source!r}")
        return self._with_its_end(page)

    def _with_its_end(self, kept: Kept) -> Kept:
        """The item, of one that somebody ended with when, why and by whom."""
        if kept.status in ("active", "pending"):
            return kept
        item = Item("page", kept.slug) if isinstance(kept, Page) else Item("fact", str(kept.id))
        ends = [one for one in self.store.journal(kept.source, item=item) if one.change in ("expired", "superseded")]
        if not ends or not ends[-1].because:
            return kept
        because, _, reason = ends[-1].because.partition(": ")
        return replace(kept, ended=Ended(ends[-1].at, because, reason, ends[-1].actor))

    def pages(self, source: str, limit: int = 50, *, unasked: bool = False) -> tuple[Page, ...]:
        """The first live pages of the source by slug, without conversations.

        Those that go `unasked` before a session: none from outside, nor what may only be read on demand.
        """
        check_name("source", source)
        _check_count("limit", limit)
        return (self._inside() if unasked else self.store).pages(source, limit)

    @property
    def activation(self) -> Activation:
        """What may be brought unasked, by who wrote it."""
        strict = self.strictness()
        return Activation(strict.external_activation == "allow", strict.agent_activation == "allow")

    def _unasked(self) -> Store:
        return recall.unasked(self.store, self.activation)

    def _inside(self) -> Store:
        """What a session may begin with: whoever begins one has not asked for anything from outside."""
        return recall.unasked(self.store, replace(self.activation, external=False))

    def search(
        self,
        source: str,
        query: str,
        limit: int = 10,
        *,
        offset: int = 0,
        types: Sequence[str] = (),
        labels: Sequence[str] = (),
        occurred_after: datetime | None = None,
        occurred_before: datetime | None = None,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        reference_time: datetime | None = None,
        scopes: Sequence[str] = (),
        include_memory: bool = True,
        include_documents: bool = True,
        include_content: bool = True,
        content_max_chars: int = 500,
        retrieval_mode: SearchMode = "hybrid",
        rerank: bool = False,
        record_exposure: bool = True,
        diagnostics: bool = False,
        now: datetime | None = None,
    ) -> Results:
        """Remembered facts and pages that fit the query, best first, from `offset` on: of a page its best piece.

        Filters hold before anything is ranked. `as_of` finds facts as they held then, and pages and turns from then or
        before; `known_at` what memory knew then. A piece that says what is so no longer is "superseded". With
        `reference_time` a time that the query names raises what is from then. All of a source is private to it, so that
        of `scopes` only "private" is known. Without `record_exposure` a capture does not keep the query. `diagnostics`
        says why each result ranks where it does.
        """
        check_name("source", source)
        _check_text("query", query, LARGEST_CONTENT)
        for field, count in (("limit", limit), ("offset", offset), ("content_max_chars", content_max_chars)):
            _check_count(field, count)
        _check_each("scopes", scopes, ("private",))
        options = SearchOptions(
            mode=retrieval_mode,
            types=tuple(types),
            labels=tuple(labels),
            occurred_after=occurred_after,
            occurred_before=occurred_before,
            as_of=as_of,
            known_at=known_at,
            reference_time=reference_time,
            rerank=rerank,
        )
        chars = content_max_chars if include_content else None
        showing = recall.Showing(limit, offset, include_memory, include_documents, chars, diagnostics)
        began = time.perf_counter()
        meant = self._sense(query, _checked_options(options).mode)
        search = partial(self._ranking, meant=meant)
        found = recall.searched(self.store, search, source, query, options, showing, meant, _at(now))
        if record_exposure:
            pages = [one.slug for one in found if one.slug]
            # A capture is of pages; facts took the places of some.
            places = limit - sum(not one.slug for one in found)
            asked = {name: value for name, value in _filters(options).items() if value != _UNFILTERED[name]}
            asked |= {"offset": offset} if offset else {}
            asked |= {} if include_memory else {"include_memory": False}
            asked |= {} if include_documents else {"include_documents": False}
            self._capture("search", source, query, pages, "filtered" if asked else f"limit {places}", began, asked)
        return found if found else replace(found, degraded=(*found.degraded, *self._unknown(source)))

    def find(self, source: str, query: str, limit: int = 10, options: SearchOptions | None = None) -> Ranking:
        """The pages that fit a query, or with `options` pieces and turns, with the lanes that ran."""
        check_name("source", source)
        _check_text("query", query, LARGEST_CONTENT)
        _check_count("limit", limit)
        options = _checked_options(options or SearchOptions())
        began = time.perf_counter()
        found = self._ranking(source, query, limit, options)
        self._capture("search", source, query, [hit.slug for hit in found.hits], f"limit {limit}", began)
        return found if found.hits else replace(found, degraded=(*found.degraded, *self._unknown(source)))

    def _unknown(self, source: str) -> tuple[str, ...]:
        """A misspelt source is told apart from one that holds nothing of the kind."""
        return () if any(source == known.id for known in self.store.sources()) else (UNKNOWN_SOURCE,)

    def _sense(self, query: str, mode: SearchMode) -> Sense:
        # Searches load numpy, which nothing else here needs.
        from wellkept.recall.search import Sense, sense

        try:
            embedder = self.embedder()
        except ModelUnavailable:
            return sense(self.store, query, "lexical", None) if mode == "lexical" else Sense(None, ("embedder_failed",))
        return sense(self.store, query, mode, embedder)

    def _plainly(self, source: str, query: str, limit: int, meant: Sense | None = None) -> Ranking:
        return self._ranking(source, query, limit, SearchOptions(), meant)

    def _ranking(
        self, source: str, query: str, limit: int, options: SearchOptions, meant: Sense | None = None
    ) -> Ranking:
        from wellkept.recall.search import SearchModels, find

        meant = self._sense(query, options.mode) if meant is None else meant
        found = find(self.store, source, query, limit, options, SearchModels(reranker=self.reranker), meant)
        return replace(found, degraded=(*found.degraded, *self._closed()))

    def _closed(self) -> tuple[str, ...]:
        return (*(("read_only",) if self.store.read_only else ()), *self.store.sealing.codes())

    def embedder(self) -> Embedder | None:
        """What makes vectors, if anything does."""
        if self._embedder is None and self._open_embedder is not None:
            self._embedder = self._open_embedder()
        return self._embedder

    def _opened(self) -> Embedder | None:
        """The embedder if it is open; its model is loaded soon where a thread can see to it."""
        if self._background is not None:
            self._background.load()
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
        """From now on until it is closed, give what is written its vector in a thread.

        Nothing without an embedder, nor with one that cannot be opened: searches say so.
        """
        from wellkept.recall.embedding import Background

        try:
            embedder = self.embedder()
        except ModelUnavailable:
            return
        if self._background is None and embedder is not None:
            self._background = Background(self.store, embedder)
            self._background.start()

    def remember(
        self,
        source: str,
        text: str,
        *,
        entity: str | None = None,
        attribute: str | None = None,
        kind: FactKind = "fact",
        session: str | None = None,
        replaces: str | None = None,
        valid_from: datetime | None = None,
        valid_until: datetime | None = None,
        content_origin: ContentOrigin | None = None,
        lineage: Collection[Trust] = (),
        writer: Writer = OWNER,
        now: datetime | None = None,
    ) -> WriteReceipt:
        """Keep one statement as a fact, about the page `entity` if named; `session` is where it was said.

        `attribute` is what it says of the entity, which has one value at a time, or several where the name ends in
        `[]`: a new value closes the one before, from `valid_from` on. `replaces` names the fact whose place it takes.
        What is told already is "unchanged". Where it would end what somebody said who ranks higher, nothing ends: the
        receipt says "guarded", and the new fact is `pending` until the owner confirms it. `lineage` are the tiers of
        what it was made from.
        """
        check_name("source", source)
        _check_statement("text", text)
        for field, value in (("entity", entity), ("session", session), ("attribute", attribute)):
            if value is not None:
                check_name(field, value)
        if kind not in FACT_KINDS:
            raise InvalidInput("kind", f"is {kind!r}; use one of {', '.join(FACT_KINDS)}")
        slot = None if attribute is None else _attribute(attribute)
        moment = _at(now)
        since, until = _span(valid_from, valid_until, moment)
        write = FactWrite(source, text, entity, kind, session, replaces, since, content_origin, writer, moment)
        return self._remember(
            replace(write, attribute=slot, valid_until=until, lineage=tuple(lineage)), self.strictness()
        )

    def _remember(self, write: FactWrite, modes: Modes) -> WriteReceipt:
        source, entity, session, replaces = write.source, write.entity, write.session, write.replaces
        moment, writer = write.at, write.writer
        beside = tuple(name for name in (entity, session, write.attribute) if name)
        decision = self._decide(
            *(source, writer, write.content_origin, write.text, modes),
            kind="fact",
            beside=beside,
            entity=entity,
            lineage=write.lineage,
        )
        self._gate.check_names(source, *beside)
        page = None if session is None else page_slug(session)
        told = Provenance(TOLD_BY, None if page is None else f"{source}:{page}", page)
        self._check_new(source)
        with self.store.transaction():
            old = None if replaces is None else self._live(source, replaces, "replaces", moment)
            if isinstance(old, Page):
                raise InvalidInput("replaces", "names a page; a fact can take the place of a fact only")
            text = self._gate.admit(source, decision.text)
            if decision.verdict == "hold":
                return self._hold(replace(write, text=text), "fact", decision.flags)
            about = entity if entity is not None or old is None else old.entity
            fact = Fact(None, source, text, about, write.kind, told, trust=decision.tier, recorded_at=moment)
            fact = replace(fact, valid_from=write.valid_from, valid_until=write.valid_until, flags=decision.flags)
            fact = replace(fact, content_origin=write.content_origin, attribute=write.attribute)
            if old is not None:
                same = write.attribute is None and about == old.entity
                fact = replace(fact, replaces=old.id, attribute=old.attribute if same else write.attribute)
            self.store.add_source(Source(source))
            return state.written(self.store, state.place(self.store, fact, old), writer)

    def recall(
        self,
        source: str,
        query: str,
        *,
        entity: str | None = None,
        limit: int = 10,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
        include_history: bool = False,
        now: datetime | None = None,
    ) -> Recalled:
        """What answers the query, best first: remembered facts and pieces of pages; of one entity its facts.

        With `as_of` the facts that held then, by what is known today or was known at `known_at`; with `known_at` alone
        those that held at that moment by what was known. With `include_history` also what is no longer current, or
        waits for the owner's word.
        """
        check_name("source", source)
        _check_text("query", query, LARGEST_CONTENT)
        _check_count("limit", limit)
        if entity is not None:
            check_name("entity", entity)
        known = None if known_at is None else _at(known_at, "known_at")
        then = known if as_of is None else _at(as_of, "as_of")
        asked = recall.Asked(_at(now), entity, then, known, include_history)
        began = time.perf_counter()
        meant = self._sense(query, "hybrid")
        search = partial(self._plainly, meant=meant)
        found = recall.recalled(self.store, search, source, query, limit, meant, asked)
        pages = [one.item.entity or "" if isinstance(one.item, Fact) else one.item.slug for one in found]
        self._capture("recall", source, query, [page for page in pages if page], f"limit {limit}", began)
        return found if found else replace(found, degraded=(*found.degraded, *self._unknown(source)))

    def entity(self, source: str, name: str, *, include_history: bool = False, now: datetime | None = None) -> Card:
        """What memory holds about the thing that goes by a name, alias or slug. NotFound when nothing does."""
        check_name("source", source)
        check_name("name", name)
        return recall.entity_card(self.store, source, name, _at(now), history=include_history)

    def timeline(
        self,
        source: str,
        entity: str,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        now: datetime | None = None,
    ) -> tuple[Dated, ...]:
        """What has a date about a thing, oldest first, between two moments if given. NotFound as for `entity`."""
        check_name("source", source)
        check_name("entity", entity)
        first = None if since is None else _at(since, "since")
        last = None if until is None else _at(until, "until")
        return recall.timeline(self.store, source, entity, _at(now), first, last)

    def history(self, source: str, id: str) -> History:  # noqa: A002 - the name at every door
        """What became of a page or fact since it was written, whatever its status."""
        item = _item(source, "id", id)
        kept = self._kept(source, item)
        earlier: tuple[str, ...] = ()
        later = None if kept.superseded_by is None else str(Item(item.kind, str(kept.superseded_by)))
        if isinstance(kept, Fact):
            told = self.store.facts(source, ended=True)
            earlier = tuple(f"fact:{fact.id}" for fact in told if fact.superseded_by == kept.id)
        changes = self.store.journal(source, item=item)
        return History(str(item), self._with_its_end(kept), changes, earlier, later, self.store.usage(source, item))

    def conflicts(self, source: str, *, now: datetime | None = None) -> tuple[Contested, ...]:
        """What only a person can settle, each with the commands that do: pending facts, disagreements, echoes."""
        check_name("source", source)
        return state.contested(self.store, source, _at(now))

    def delta(self, source: str, *, since: int = 0, limit: int = 100) -> Delta:
        """What changed in the source after a cursor, oldest first, and the cursor to ask with next time."""
        check_name("source", source)
        _check_count("since", since)
        _check_count("limit", limit)
        lines = self.store.journal(source, after=since, limit=limit + 1)
        told = tuple(
            Changed(line.seq, str(line.item), line.change, line.because, line.at, self.item(source, line.item))
            for line in lines[:limit]
        )
        return Delta(told, told[-1].seq if told else since, len(lines) > limit)

    def forget(
        self,
        source: str,
        ids: Sequence[str],
        *,
        mode: Literal["expire", "purge"] = "expire",
        reason: str = "",
        writer: Writer = OWNER,
        now: datetime | None = None,
    ) -> ForgetReceipt:
        """Let pages and facts be current no longer; their history is kept. All of them, or none.

        NotFound names those that are not there or were ended before. What somebody wrote who ranks above the writer
        stands as it was ("guarded").
        """
        items = _items(source, ids)
        _check_text("reason", reason, LARGEST_FACT)
        reason = self._gate.page(source, reason)
        if mode == "purge":
            raise ScopeDenied(_FOR_GOOD)
        if mode != "expire":
            raise InvalidInput("mode", f"is {mode!r}; use expire")
        cap, moment = admitted(writer, None), _at(now)
        with self.store.transaction():
            live = {str(item): self._open(source, str(item), "ids", moment) for item in items}
            live |= {f"fact:{one.id}": one for kept in tuple(live.values()) for one in self._copies(kept, moment)}
            guarded = tuple(name for name, kept in live.items() if min(kept.trust, Trust.USER_WRITTEN) > cap)
            gone = tuple(name for name in live if name not in guarded)
            for name in gone:
                because = state.DECLINED if live[name].status == "pending" else "forgotten"
                mark = Mark("expired", because, moment, "expired", reason=reason, actor=writer.name)
                self._end(source, Item.named(name), mark)
        return ForgetReceipt(source, "expire", "guarded" if guarded else "complete", gone, guarded)

    def _copies(self, kept: Page | Fact, now: datetime) -> list[Fact]:
        """The other facts that tell what a current one tells."""
        if isinstance(kept, Page) or kept.status == "pending":
            return []
        return [one for one in state.copies(self.store, kept) if state.standing(one, now) == "active"]

    def _end(self, source: str, item: Item, mark: Mark) -> bool:
        """Let an item be current no longer. What would have made way for it only later stays."""
        kept = self.item(source, item) if mark.status == "expired" else None
        done = self.store.mark(source, item, mark)
        if isinstance(kept, Fact) and kept.valid_from is not None and kept.valid_from > mark.at:
            for one in state.making_way(self.store, kept):
                back = Mark("restored", "restored", mark.at, "active", reason=mark.because, actor=mark.actor)
                if state.in_its_place(self.store, one) is None:
                    self.store.mark(source, Item("fact", str(one.id)), back)
        return done

    def purge_plan(self, source: str, ids: Sequence[str], *, everywhere: bool = False) -> Plan:
        """What `purge` would take out; nothing is changed. NotFound names what is not there."""
        named = _items(source, ids)
        with self.store.transaction():
            items = [self._kept(source, item) for item in named]
            return forgetting.planned(self.store, source, items, everywhere=everywhere)

    def purge(
        self,
        source: str,
        ids: Sequence[str],
        *,
        everywhere: bool = False,
        shown: Plan | None = None,
        writer: Writer = OWNER,
        now: datetime | None = None,
    ) -> PurgeReceipt:
        """Forget pages and facts for good: they, and what they say wherever else the source holds it, are removed.

        `everywhere` what they say is removed from every source of the memory, and kept out of any that is begun later.
        Refused when it would not be what was `shown` of it.

        What was forgotten is recognised and refused if anybody says it again. ScopeDenied for everybody but the owner.
        """
        if writer.channel not in OWNERS:
            raise ScopeDenied(_FOR_GOOD)
        named = _items(source, ids)

        def plan() -> Plan:
            items = [self._kept(source, item) for item in named]
            found = forgetting.planned(self.store, source, items, everywhere=everywhere)
            if shown is not None and (shown.items, shown.claims) != (found.items, found.claims):
                raise Refused("what is to be forgotten has changed since it was shown; look at it again")
            return found

        receipt = forgetting.purge(self.store, Key(self.key), self.files, plan, now=_at(now))
        self.store.index.forget_views()
        return receipt

    def lift(self, source: str, receipt: str) -> int:
        """Let what one purge forgot be kept again if somebody says it; how many claims that are. Nothing comes back.

        NotFound when the source has no purge of that id.
        """
        check_name("source", source)
        check_name("receipt", receipt)
        Key(self.key).known(self.store)
        with self.store.transaction():
            lifted = self.store.forgetting.lift(source, receipt)
        if not lifted:
            raise NotFound(f"there is no purge {receipt!r} in source {source!r}, or it was lifted before")
        return lifted

    def git_histories(self, source: str, receipt: str) -> tuple[GitHistory, ...]:
        """What the repositories of followed folders still hold of what was forgotten. NotFound as for `lift`."""
        check_name("source", source)
        check_name("receipt", receipt)
        return forgetting.histories(self.store, Key(self.key), source, receipt)

    def rewrite_git_histories(self, source: str, receipt: str, *, writer: Writer = OWNER) -> tuple[Rewritten, ...]:
        """Write those histories anew without it, and throw the old ones away. ScopeDenied for all but the owner."""
        if writer.channel not in OWNERS:
            raise ScopeDenied("only the owner rewrites a history, at a terminal: wellkept purge --rewrite-history")
        check_name("source", source)
        check_name("receipt", receipt)
        return forgetting.rewrite_histories(self.store, Key(self.key), source, receipt)

    def without_forgotten(self, source: str, messages: Sequence[Message]) -> tuple[Message, ...]:
        """The messages as `bank` would keep them: with [forgotten] where something was forgotten for good."""
        check_name("source", source)
        return self._gate.messages(source, messages)

    def finish_purges(self) -> int:
        """Bring purges to their end that something ended before; how many are at their end now."""
        return forgetting.resume(self.store, Key(self.key), self.files)

    def verified(self, *, every: bool = True) -> Walked:
        """Whether something else changed what is kept, of every source; without `every` only what is quickly told."""
        return self.store.sealing.walk(every=every)

    def reseal(self, *, writer: Writer = OWNER) -> int:
        """Seal what fails anew, with the lowest trust, and take what is there for all there is; how many failed.

        ScopeDenied for everybody but the owner.
        """
        if writer.channel not in OWNERS:
            raise ScopeDenied("only the owner seals anew, at a terminal: wellkept doctor --reseal")
        resealed = self.store.sealing.reseal()
        self.store.index.forget_views()
        return resealed

    def correct(
        self,
        source: str,
        id: str,  # noqa: A002 - the name at every door
        action: CorrectionAction,
        *,
        replacement: str | None = None,
        reason: str = "",
        preview: bool = True,
        writer: Writer = OWNER,
        now: datetime | None = None,
    ) -> Correction:
        """Put right what memory says of one item; a preview unless told otherwise.

        revise: `replacement` is the right text, and the old one was wrong. supersede: the item that `replacement`
        names takes its place. mark_wrong, mark_stale: it is current no longer. restore: it is current again.
        """
        item = _item(source, "id", id)
        if action not in CORRECTION_ACTIONS:
            raise InvalidInput("action", f"is {action!r}; use one of {', '.join(CORRECTION_ACTIONS)}")
        needs = action in ("revise", "supersede")
        if needs != (replacement is not None):
            raise InvalidInput("replacement", f"is {'needed' if needs else 'not used'} by {action}")
        _check_text("reason", reason, LARGEST_FACT)
        reason = self._gate.page(source, reason)
        moment = _at(now)
        with self.store.transaction():
            kept = self._kept(source, item) if action == "restore" else self._live(source, id, "id", moment)
            affected: tuple[str, ...] = (str(item),)
            guarded = min(kept.trust, Trust.USER_WRITTEN) > admitted(writer, None)
            if action == "revise":
                self._check_revision(kept, replacement)
            if action == "supersede":
                affected += (self._successor(source, item, str(replacement), moment),)
            if guarded:
                created = None
                if action == "revise" and isinstance(kept, Fact) and not preview:
                    created = self._contradict(kept, str(replacement), writer, moment)
                return Correction(source, str(item), action, "guarded", created=created)
            if action != "restore":
                same = [one for one in self._copies(kept, moment) if f"fact:{one.id}" not in affected]
                cap = admitted(writer, None)
                affected += tuple(f"fact:{one.id}" for one in same if min(one.trust, Trust.USER_WRITTEN) <= cap)
            if preview:
                return Correction(source, str(item), action, "preview", affected)
            change, because, status = _CORRECTIONS[action]
            mark = Mark(change, because, moment, status, reason=reason, actor=writer.name)
            created = self._correct(affected, kept, action, str(replacement), mark, writer)
        return Correction(source, str(item), action, "applied", affected, created)

    def _check_revision(self, kept: Page | Fact, replacement: str | None) -> None:
        if isinstance(kept, Page):
            _check_text("replacement", replacement, LARGEST_CONTENT)
        else:
            _check_statement("replacement", replacement)

    def _successor(self, source: str, item: Item, replacement: str, now: datetime) -> str:
        successor = _item(source, "replacement", replacement)
        self._live(source, replacement, "replacement", now)
        if successor.kind != item.kind or successor == item:
            raise InvalidInput("replacement", f"must name another {item.kind}")
        return str(successor)

    def _contradict(self, kept: Fact, replacement: str, writer: Writer, now: datetime) -> str:
        """Keep what somebody says against one who ranks higher; its id."""
        fact = self._revised(kept, replacement, writer, now)
        return f"fact:{state.written(self.store, state.Placed(fact, against=kept), writer).pending[0]}"

    def _revised(self, kept: Fact, replacement: str, writer: Writer, now: datetime) -> Fact:
        """The right words for a fact: about the same, in the same time, told in the same conversation."""
        # Only not in these words there.
        told = replace(kept.provenance, source=TOLD_BY, event_id=None, quote_span=None)
        decision = self._decide(kept.source, writer, None, replacement, Modes(), kind="fact")
        text = self._gate.admit(kept.source, decision.text)
        fact = Fact(None, kept.source, text, kept.entity, kept.kind, told, trust=decision.tier, recorded_at=now)
        since = kept.valid_from or kept.recorded_at
        return replace(fact, valid_from=since, valid_until=kept.valid_until, attribute=kept.attribute, replaces=kept.id)

    def _correct(
        self,
        affected: Sequence[str],
        kept: Page | Fact,
        action: CorrectionAction,
        replacement: str,
        mark: Mark,
        writer: Writer,
    ) -> str | None:
        """Do it; the id of what was written anew, if anything was."""
        source, item, moment = kept.source, Item.named(affected[0]), mark.at
        if action == "revise" and isinstance(kept, Page):
            self.put_page(source, kept.slug, replacement, writer=writer, now=moment)
            return str(item)
        created = None
        if action == "revise" and isinstance(kept, Fact):
            fact = self._revised(kept, replacement, writer, moment)
            if fact.text == kept.text:
                return None
            told = [one for one in state.saying(self.store, fact) if one.entity == fact.entity and one.id != kept.id]
            there = next((one for one in told if state.is_current(one, moment) and fact.attribute is None), None)
            number = self.store.last_fact_id() + 1 if there is None or there.id is None else there.id
            created, mark = f"fact:{number}", replace(mark, superseded_by=str(number))
        if action == "supersede":
            mark = replace(mark, superseded_by=Item.named(replacement).key)
        if action == "restore" and isinstance(kept, Fact):
            taken = state.in_its_place(self.store, kept)
            if taken is not None:
                raise Conflict(f"{item}: its place is taken by fact:{taken.id}; remember it again to put it there")
        for name in affected:
            if action == "supersede" and name == str(Item.named(replacement)):
                continue
            if created != name and not self._end(source, Item.named(name), mark):
                raise Conflict(f"{item}: the same is told by another active fact")
        if action == "revise" and isinstance(kept, Fact) and there is None:
            self.store.add_fact(replace(fact, id=number), writer.name)
        return created

    def confirm(
        self,
        source: str,
        id: str,  # noqa: A002 - the name at every door
        *,
        writer: Writer = OWNER,
        now: datetime | None = None,
    ) -> WriteReceipt:
        """Raise an item to user-confirmed: the owner says that it is so. ScopeDenied for everybody else.

        It holds for the text as it is; a change drops the item to the trust of who made it. A pending fact takes the
        place of what it contradicts.
        """
        item = _item(source, "id", id)
        if writer.channel not in OWNERS:
            raise ScopeDenied("only the owner confirms, at a terminal: wellkept confirm ID")
        with self.store.transaction():
            moment = _at(now)
            kept = self._open(source, id, "id", moment)
            slug = kept.slug if isinstance(kept, Page) else None
            facts = () if isinstance(kept, Page) or kept.id is None else (kept.id,)
            if kept.integrity == "failed":
                raise Refused(
                    f"{id}: something else changed it, so that it cannot be vouched for. See: wellkept doctor"
                )
            if isinstance(kept, Fact) and kept.status == "pending":
                state.settled(self.store, kept, writer, moment)
                return WriteReceipt(source, None, "updated", facts)
            if kept.trust is Trust.USER_CONFIRMED:
                return WriteReceipt(source, slug, "unchanged", facts)
            self.store.mark(source, item, Mark("confirmed", "", moment, trust=Trust.USER_CONFIRMED, actor=writer.name))
        return WriteReceipt(source, slug, "updated", facts)

    def cite(
        self,
        source: str,
        ids: Sequence[str],
        *,
        misled: bool = False,
        session: str | None = None,
        message: str | None = None,
        writer: Writer = OWNER,
        now: datetime | None = None,
    ) -> CiteReceipt:
        """Keep that items were of use, or with `misled` that they were not. It is a report, not a measurement.

        The same word of the same `message` of a `session` counts once however often it is sent; without a message
        each call counts. Ids that the source does not hold are rejected, the others are kept.
        """
        items = _items(source, ids)
        for field, value in (("session", session), ("message", message)):
            if value is not None:
                check_name(field, value)
        moment = _at(now)
        where = (session or "", message or f"at {moment.isoformat()}", writer.name)
        held = [item for item in items if self.item(source, item) is not None]
        signal: Literal["citation", "misled"] = "misled" if misled else "citation"
        uses = [Use(_digest(source, *where, item.kind, item.key, signal), item, signal, moment) for item in held]
        recorded = self.store.use(source, uses) if uses else 0
        rejected = tuple(str(item) for item in items if item not in held)
        return CiteReceipt(recorded, len(uses) - recorded, rejected)

    def export(self, source: str) -> Iterator[Page | Fact]:
        """Everything the source holds, pages by slug and then facts by id, whatever their status."""
        check_name("source", source)
        return self._everything(source)

    def _everything(self, source: str) -> Iterator[Page | Fact]:
        after = ""
        while pages := self.store.every_page(source, after, 100):
            yield from map(self._with_its_end, pages)
            after = pages[-1].slug
        yield from map(self._with_its_end, self.store.facts(source, ended=True))

    def restore(self, items: Iterable[Page | Fact]) -> Restored:
        """Keep what an export holds, as it stood: words, labels, times, and that it was ended. All of it, or nothing.

        What is there already stays as it is, forgotten or not, so that doing it twice changes nothing. What was
        forgotten for good is struck from what is kept, and a fact that says nothing else is left out. A fact whose id
        is taken gets another one.
        """
        with self.store.transaction():
            return restored(self.store, self._gate, items)

    def item(self, source: str, item: Item) -> Page | Fact | None:
        """The item whatever its status, or None."""
        if item.kind == "page":
            return self.store.get_page(source, item.key)
        return self.store.fact(source, int(item.key))

    def _kept(self, source: str, item: Item) -> Page | Fact:
        kept = self.item(source, item)
        if kept is None:
            raise NotFound(f"there is no {item.kind} {str(item)!r} in source {source!r}")
        return kept

    def _live(self, source: str, id: str, field: str, now: datetime) -> Page | Fact:  # noqa: A002
        """The item that the argument `field` names, which must be current, or a fact that is still to come."""
        kept = self._kept(source, _item(source, field, id))
        status = state.standing(kept, now) if isinstance(kept, Fact) else kept.status
        if status != "active":
            raise NotFound(f"{id!r} in source {source!r} is {status}, not current. See: wellkept history {id}")
        return kept

    def _open(self, source: str, id: str, field: str, now: datetime) -> Page | Fact:  # noqa: A002
        """The item that the argument names, which must be current or wait for the owner's word."""
        kept = self._kept(source, _item(source, field, id))
        return kept if kept.status == "pending" else self._live(source, id, field, now)

    def recall_facts(
        self,
        source: str,
        query: str | None = None,
        *,
        entity: str | None = None,
        limit: int | None = None,
        now: datetime | None = None,
    ) -> tuple[Fact, ...]:
        """Current facts of the source, of one entity if named: best first for a query, else in the order recorded."""
        check_name("source", source)
        if entity is not None:
            check_name("entity", entity)
        if limit is not None:
            _check_count("limit", limit)
        began, among = time.perf_counter(), partial(state.is_current, now=_at(now))
        if query is None or not norm(query):
            return tuple(filter(among, self.store.facts(source, entity)))[:limit]
        _check_text("query", query, LARGEST_CONTENT)
        found: tuple[Fact, ...] = ()
        if limit is not None:
            found = recall.fitting_facts(self.store, source, query, limit, entity=entity, among=among)
        if len(found) != limit:
            facts = tuple(filter(among, self.store.facts(source, entity)))
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
        check_name("source", source)
        if not all(isinstance(turn, Message) for turn in window):
            raise InvalidInput("window", "must be a list of Message")
        if session is not None:
            check_name("session", session)
        began = time.perf_counter()
        found = recall.turn_context(
            self._unasked(),
            source,
            window,
            prior=prior,
            session=None if session is None else page_slug(session).removeprefix(FOLDER),
            budget=Budget() if budget is None else budget,
            now=_at(now),
            arms_off=self.arms_off,
            embedder=None if self._open_embedder is None else self._opened,
            ours=_ours(session),
        )
        found = replace(found, degraded=(*found.degraded, *self._closed()))
        alone = len(window) == 1 and not prior and budget in (None, Budget())
        slugs = [pointer.slug for pointer in (*found.pointers, *found.volunteered)]
        query = window[-1].text if window else ""
        self._capture("context", source, query, slugs, "one turn" if alone else "in a conversation", began)
        return found

    def context_pack(
        self,
        source: str,
        goal: str,
        *,
        entities: Sequence[str] = (),
        intent: Intent = "build",
        layer: Layer = "recall",
        limit: int = 24,
        include_related: bool = True,
        related_limit: int = 3,
        markdown_token_budget: int = 4000,
        now: datetime | None = None,
    ) -> ContextPack:
        """What a session with a goal should start with, sorted by what it is for, within a budget of tokens."""
        check_name("source", source)
        _check_text("goal", goal, LARGEST_CONTENT)
        if not goal.strip():
            raise InvalidInput("goal", "is empty; say what the session is for")
        for position, name in enumerate(entities):
            check_name(f"entities[{position}]", name)
        for field, value, choices in (("intent", intent, INTENTS), ("layer", layer, LAYERS)):
            if value not in choices:
                raise InvalidInput(field, f"is {value!r}; use one of {', '.join(choices)}")
        for field, count in (
            ("limit", limit),
            ("related_limit", related_limit),
            ("markdown_token_budget", markdown_token_budget),
        ):
            _check_count(field, count)
        began = time.perf_counter()
        pack = recall.context_pack(
            self._unasked(),
            partial(self._ranking, options=recall.searchable(self.activation)),
            source,
            goal,
            entities=entities,
            intent=intent,
            layer=layer,
            limit=limit,
            related=related_limit if include_related else 0,
            tokens=markdown_token_budget,
            now=_at(now),
        )
        pages = [one.item.slug for part in pack.sections for one in part.items if isinstance(one.item, Page)]
        self._capture("context_pack", source, goal, pages, f"limit {limit}", began)
        return pack

    def opening_pack(
        self, source: str, *, since: datetime, tokens: int, mark: str, now: datetime | None = None
    ) -> ContextPack:
        """The pack of a session whose goal nobody knows yet: newest pages, facts told since a moment, in the same form.

        What is from outside stays out; `mark` is the first line of its text.
        """
        check_name("source", source)
        _check_count("tokens", tokens)
        return recall.opening_pack(self._inside(), source, _at(since, "since"), tokens, mark, now=_at(now))

    def pointers(
        self, source: str, text: str, *, prior: str = "", pages: int = 3, suppression: Suppression = "slug-and-title"
    ) -> tuple[tuple[Pointer, ...], tuple[str, ...]]:
        """At most `pages` pages that one turn names, surest first, and the codes of arms that failed.

        A page is left out when its slug, or for "slug-and-title" its title, stands in `prior`.
        """
        check_name("source", source)
        _check_count("pages", pages)
        if suppression not in get_args(Suppression):
            raise InvalidInput("suppression", f"is {suppression!r}; use one of {', '.join(get_args(Suppression))}")
        began = time.perf_counter()
        found = recall.turn_pointers(
            self._unasked(),
            source,
            text,
            prior=prior,
            pages=pages,
            suppression=suppression,
            arms_off=self.arms_off,
            embedder=None if self._open_embedder is None else self._opened,
        )
        slugs = [pointer.slug for pointer in found[0]]
        self._capture("pointers", source, text, slugs, "in a conversation" if prior else f"limit {pages}", began)
        return found

    def volunteers(
        self, source: str, window: Sequence[Message], *, prior: str = "", exclude: Collection[str] = (), limit: int = 3
    ) -> tuple[tuple[Pointer, ...], tuple[str, ...]]:
        """At most `limit` pages that the turns of `window` name, without `exclude`, and the codes of failed arms."""
        check_name("source", source)
        _check_count("limit", limit)
        return recall.window_volunteers(self._unasked(), source, window, prior=prior, exclude=exclude, limit=limit)

    def said(
        self, source: str, text: str, *, prior: str = "", session: str | None = None
    ) -> tuple[tuple[Said, ...], tuple[str, ...]]:
        """What the user said in other conversations than `session` and a turn asks for, and what failed."""
        check_name("source", source)
        if recall.SAID in self.arms_off:
            return (), ()
        return recall.said_before(self._unasked(), source, (Message("user", text),), _ours(session), prior)

    def bank(
        self,
        source: str,
        session: str,
        messages: Sequence[Message],
        *,
        extractor: Extractor | None = None,
        writer: Writer = HOOK,
        now: datetime | None = None,
    ) -> WriteReceipt:
        """Keep a conversation as a page with the facts it states; banked again it changes only what differs."""
        check_name("source", source)
        check_name("session", session)
        self._check_new(source)
        self._gate.check_names(source, session)
        return writeback.bank(
            self.store, source, session, messages, gate=self._gate, writer=writer, extractor=extractor, now=_at(now)
        )

    def _capture(
        self,
        tool: str,
        source: str,
        query: str,
        slugs: Sequence[str],
        detail: str,
        began: float,
        filters: Mapping[str, object] | None = None,
    ) -> None:
        if self.capture is not None and query.strip():
            latency_ms = (time.perf_counter() - began) * 1000
            self.capture.keep(Captured(tool, source, query, slugs, detail, latency_ms, filters or {}))

    def close(self) -> None:
        """Release the store. Closing twice is harmless."""
        if self._background is not None:
            self._background.stop()
        self.store.close()


def _filters(options: SearchOptions) -> dict[str, object]:
    """What a search was asked besides the query, as JSON types."""
    moments = {
        name: None if (moment := getattr(options, name)) is None else moment.isoformat()
        for name in ("occurred_after", "occurred_before", "as_of", "known_at", "reference_time")
    }
    lists = {"types": list(options.types), "labels": list(options.labels)}
    return {**lists, **moments, "retrieval_mode": options.mode, "rerank": options.rerank}


_UNFILTERED = _filters(SearchOptions())


def _checked_options(options: SearchOptions) -> SearchOptions:
    for field, value, known in (("unit", options.unit, SEARCH_UNITS), ("mode", options.mode, SEARCH_MODES)):
        if value not in known:
            raise InvalidInput(
                "retrieval_mode" if field == "mode" else field, f"is {value!r}; use one of {', '.join(known)}"
            )
    for field in ("as_of", "known_at", "reference_time", "occurred_after", "occurred_before"):
        if (moment := getattr(options, field)) is not None:
            _at(moment, field)
    _check_each("labels", options.labels, TRUSTS)
    for position, name in enumerate(options.types):
        check_name(f"types[{position}]", name)
    after, before = options.occurred_after, options.occurred_before
    if after is not None and before is not None and before <= after:
        raise InvalidInput("occurred_before", "is not later than occurred_after, so that nothing can be between them")
    if options.recency and options.reference_time is None:
        raise InvalidInput("reference_time", "is needed for recency; say as of when something is recent")
    return options


def _check_each(field: str, given: Sequence[str], known: Sequence[str]) -> None:
    for position, one in enumerate(given):
        if one not in known:
            raise InvalidInput(f"{field}[{position}]", f"is {one!r}; use one of {', '.join(known)}")


def _ours(session: str | None) -> Callable[[str], bool]:
    return lambda slug: session is not None and is_of(session, slug)


def _at(moment: datetime | None, field: str = "now") -> datetime:
    if moment is None:
        return datetime.now(UTC)
    if not isinstance(moment, datetime) or moment.utcoffset() is None:
        raise InvalidInput(field, "has no time zone; give an aware datetime")
    return moment


def _span(since: datetime | None, until: datetime | None, now: datetime) -> tuple[datetime | None, datetime | None]:
    first = None if since is None else _at(since, "valid_from")
    last = None if until is None else _at(until, "valid_until")
    if last is not None and last <= (first or now):
        raise InvalidInput("valid_until", "is not later than valid_from, or than now where no valid_from is given")
    return first, last


def _attribute(text: str) -> str:
    named = state.attribute_named(text)
    if not named:
        raise InvalidInput("attribute", f"is {text!r}; name it with a word, as 'port' or 'hobbies[]'")
    return named


def _item(source: str, field: str, id: object) -> Item:  # noqa: A002
    check_name("source", source)
    check_name(field, id)
    return Item.named(str(id))


def _items(source: str, ids: object) -> tuple[Item, ...]:
    if isinstance(ids, str) or not isinstance(ids, Sequence):
        raise InvalidInput("ids", "must be a list of ids")
    if not 1 <= len(ids) <= MOST_IDS:
        raise InvalidInput("ids", f"has {len(ids)} ids; give 1 to {MOST_IDS}")
    return tuple(dict.fromkeys(_item(source, f"ids[{position}]", one) for position, one in enumerate(ids)))


def _digest(*parts: str) -> bytes:
    return sha256("".join(f"{len(part)}:{part}" for part in parts).encode()).digest()


def _check_told(told: Told) -> None:
    for field, value in (("source_id", told.source_id), ("url", told.url)):
        if value is not None:
            check_name(field, value)
    if told.valid_at is not None:
        _at(told.valid_at, "valid_at")
    try:
        said = json.dumps(dict(told.metadata), ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise InvalidInput("metadata", f"is no JSON: {error}") from None
    _check_text("metadata", said, LARGEST_METADATA)


def check_name(field: str, name: object) -> None:
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


def _check_statement(field: str, text: object) -> None:
    _check_text(field, text, LARGEST_FACT)
    if not str(text).strip():
        raise InvalidInput(field, "is empty; say what to remember")


def _check_count(field: str, count: object) -> None:
    if not isinstance(count, int) or isinstance(count, bool) or count < 0:
        raise InvalidInput(field, f"is {count!r}; give a whole number from 0")
