"""Forgetting for good: what was said is taken out of everything that memory keeps, and is recognised if it comes back.

One transaction finds every copy, takes it out, keeps keyed digests of what was forgotten and notes that the purge is
under way; from its commit on nothing reads the claim any more. What is left after it is bytes: captured questions, the
log of the database, blocks that hold an earlier state. Whoever opens the memory next goes on where a purge was ended.
`wellkept.storage.verify`, which shares no code with this, then looks for what is left.
"""

from __future__ import annotations

import time
import uuid
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Literal

import regex  # type: ignore[import-untyped]

from wellkept import capture
from wellkept.ingest import conversation
from wellkept.ingest.conversation import FOLDER, PAGE_TYPE
from wellkept.ingest.markdown import parse_page
from wellkept.model import Fact, Page, Told
from wellkept.storage import Held, Job, StoneRow, Store
from wellkept.storage.verify import Needles, Seen, look_for
from wellkept.trust.forgotten import ANY, SHORT, Span, strings, struck, struck_page, tombstone, without
from wellkept.trust.gate import Gate, Key, proof_of
from wellkept.trust.normal import Token, flat, tokens, words

WAIT_S = 30.0
"""So long a purge waits for readers that keep the database's log."""
OUT_OF_REACH = (
    "backups and copies of the memory's directory",
    "the transcripts that a harness keeps itself",
    "files that were exported",
    "the history of a Git repository that pages were imported from",
    "whoever a model's address belongs to, and what it was sent",
)
_LINES = regex.compile(r"\n+")
_LEADING = regex.compile(r"\A\s*(?:[-*+>#]+|\d+[.)])\s*")

Status = Literal["complete", "pending", "residual"]


@dataclass(frozen=True, slots=True)
class Erased:
    """One store of a receipt: in how many of its texts the claim stood, and in how many it still does."""

    name: str
    found: int
    left: int = 0
    method: str = ""


@dataclass(frozen=True, slots=True)
class PurgeReceipt:
    """What became of a purge. It holds no text, and no digest that could be guessed.

    `complete`: nothing was found any more. `pending`: a reader holds the database's log; open the memory again later.
    `residual`: something is left, in the stores whose `left` is not 0.
    """

    id: str
    source: str
    at: datetime
    status: Status
    forgotten: tuple[str, ...]
    claims: int
    stores: tuple[Erased, ...]
    texts_read: int
    bytes_read: int
    everywhere: bool
    out_of_reach: tuple[str, ...] = OUT_OF_REACH
    schema_version: int = 1


@dataclass(frozen=True, slots=True)
class Copy:
    """A text of a source that is to go, or in which something stands that is to go. Without spans it goes whole."""

    source: str
    held: Held
    spans: tuple[Span, ...]

    @property
    def item(self) -> str | None:
        """The fact or page that it is part of."""
        kind, _, _ = self.held.store.partition(".")
        return {"facts": f"fact:{self.held.key}", "pages": f"page:{self.held.key}"}.get(kind)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a purge would take out: `items` of `source` whole, and their claims wherever else they stand (`copies`).

    It looks into `sources`; `everywhere` they are all that the store has, and any that is begun later.
    """

    source: str
    sources: tuple[str, ...]
    everywhere: bool
    items: tuple[str, ...]
    claims: tuple[str, ...]
    copies: tuple[Copy, ...]


# -- what is to go


def planned(store: Store, source: str, items: Sequence[Page | Fact], *, everywhere: bool) -> Plan:
    """What forgetting these items for good would take out. Nothing is changed."""
    sources = tuple(known.id for known in store.sources()) if everywhere else (source,)
    whole = [*items, *_with(store, source, items)]
    claims = tuple(dict.fromkeys(claim for item in whole for claim in _claims(store, item) if words(claim)))
    names = tuple(dict.fromkeys(_id(item) for item in whole))
    finder = _Finder(claims)
    found = [
        copy for one in sources for copy in _copies(store, one, finder, set(names) if one == source else frozenset())
    ]
    return Plan(source, sources, everywhere, names, claims, tuple(found))


def _with(store: Store, source: str, items: Sequence[Page | Fact]) -> Iterator[Fact]:
    """The facts that go with the pages: those that are about one, and those that one tells."""
    for item in items:
        if isinstance(item, Page):
            yield from store.facts(source, item.slug, ended=True)
            yield from store.facts(source, told_in=item.slug, ended=True)


def _id(item: Page | Fact) -> str:
    return f"page:{item.slug}" if isinstance(item, Page) else f"fact:{item.id}"


def _claims(store: Store, item: Page | Fact) -> Iterator[str]:
    if isinstance(item, Fact):
        yield item.text
        yield from _quotes(store, item)
    elif item.slug.startswith(FOLDER):
        for message in conversation.parse_page(item.content):
            yield from _lines(message.text)
    else:
        yield from _lines(item.content)


def _lines(text: str) -> Iterator[str]:
    for line in _LINES.split(text):
        claim = _LEADING.sub("", line).strip()
        if len(words(claim)) >= SHORT:
            yield claim


def _quotes(store: Store, fact: Fact) -> Iterator[str]:
    """What was said, of which a fact was made, as far as it can be found again."""
    told, span = fact.provenance, fact.provenance.quote_span
    page = store.get_page(fact.source, told.source_markdown_slug) if told.source_markdown_slug and span else None
    if page is None or span is None:
        return
    said = set(words(fact.text))
    quotes = [turn.text[slice(*span)] for turn in conversation.parse_page(page.content) if len(turn.text) >= span[1]]
    near = max(quotes, key=lambda quote: len(said & set(words(quote))), default="")
    if len(words(near)) >= SHORT and 2 * len(said & set(words(near))) >= len(said):
        yield near


class _Finder:
    """Finds claims in texts by the words themselves, as the purge knows them."""

    def __init__(self, claims: Iterable[str]) -> None:
        self._claims: dict[str, list[tuple[str, ...]]] = {}
        for claim in claims:
            said = words(claim)
            if said:
                self._claims.setdefault(said[0], []).append(said)
        for several in self._claims.values():
            several.sort(key=len, reverse=True)
        # A text holds a claim only if it holds the claim's longest word.
        self._needles = {max(said, key=len) for several in self._claims.values() for said in several}

    def spans(self, text: str) -> tuple[Span, ...]:
        """Where claims stand in the text; they do not overlap."""
        plain = flat(text)
        if not any(needle in plain for needle in self._needles):
            return ()
        said = tokens(text)
        found: list[Span] = []
        place = 0
        while place < len(said):
            fitting = (claim for claim in self._claims.get(said[place].text, ()) if _fits(claim, said, place))
            length = len(next(fitting, ()))
            if length:
                found.append(Span(said[place].start, said[place + length - 1].end))
            place += length or 1
        return tuple(found)


def _fits(claim: tuple[str, ...], said: Sequence[Token], place: int) -> bool:
    window = tuple(token.text for token in said[place : place + len(claim)])
    return window == claim and (len(claim) >= SHORT or len(claim) == len(said))


def _copies(store: Store, source: str, finder: _Finder, whole: Collection[str]) -> Iterator[Copy]:
    for held in store.forgetting.texts(source):
        copy = Copy(source, held, finder.spans(held.text))
        if copy.spans or copy.item in whole:
            yield copy


# -- carrying it out


def purge(store: Store, key: Key, files: Files, plan_now: Callable[[], Plan], *, now: datetime) -> PurgeReceipt:
    """Carry out what is planned when it begins, in the transaction that does it. Refused without a key."""
    secret = key.made(store)
    name = uuid.uuid4().hex
    with store.transaction():
        plan = plan_now()
        found = Counter(copy.held.store for copy in plan.copies)
        whose = ANY if plan.everywhere else plan.source
        _take_out(store, plan, now)
        stones = [stone for claim in plan.claims if (stone := tombstone(secret, claim))]
        store.forgetting.keep_proof(proof_of(secret))
        store.forgetting.add_stones([StoneRow(whose, one.claim, one.first, one.words, name) for one in stones], now)
        store.forgetting.begin(Job(name, plan.source, now))
    asked = files.strike(plan.sources, _Finder(plan.claims).spans)
    if asked:
        found["queries"] = asked
    settled = _settled(store, anew=False)
    needles = Needles(None if plan.everywhere else plan.source, plan.claims, _spellings(plan))
    seen = look_for(files.database or store.forgetting.image(), files.folder, needles)
    if settled and seen.bytes_left:
        settled = _settled(store, anew=True)
        seen = look_for(files.database or store.forgetting.image(), files.folder, needles)
    status: Status = "pending" if not settled else "residual" if seen.left or seen.bytes_left else "complete"
    if status != "pending":
        _ended(store, name)
    return PurgeReceipt(
        name,
        plan.source,
        now,
        status,
        plan.items,
        len(plan.claims),
        _stores(found, seen),
        seen.texts_read,
        seen.bytes_read,
        plan.everywhere,
    )


def _spellings(plan: Plan) -> tuple[str, ...]:
    """The claims as they were written where they stood."""
    spelled = (copy.held.text[span.start : span.end] for copy in plan.copies for span in copy.spans)
    return tuple(dict.fromkeys(spelled))[:100]


@dataclass(frozen=True, slots=True)
class Files:
    """What memory keeps beside its database: the directory, the database in it and the captured questions."""

    folder: Path | None = None
    database: Path | None = None
    queries: Path | None = None

    def strike(self, sources: Collection[str], spans: Callable[[str], Sequence[Span]]) -> int:
        """Take the questions of the sources out that hold a claim; how many."""
        if self.queries is None or not self.queries.exists():
            return 0
        return capture.strike(
            self.queries, lambda row: not set(sources).isdisjoint(row.get("source_ids", ())) and _holds(row, spans)
        )


def _holds(value: object, spans: Callable[[str], Sequence[Span]]) -> bool:
    return any(spans(text) for text in strings(value))


def resume(store: Store, key: Key, files: Files) -> int:
    """Bring purges to their end that something ended before; how many are at their end now.

    Their text is known no longer: questions are recognised by the digests, the file is written anew as a whole, and
    nobody can look afterwards for what was in it.
    """
    jobs = () if store.read_only else store.forgetting.jobs()
    for source in store.sources() if jobs else ():
        files.strike((source.id,), Gate(store, key).forgotten(source.id).spans)
    if not jobs or not _settled(store, anew=True, wait_s=0.0):
        return 0
    for name, _ in jobs:
        _ended(store, name)
    return len(jobs)


def _take_out(store: Store, plan: Plan, now: datetime) -> None:
    finder, forgetting = _Finder(plan.claims), store.forgetting
    for name in plan.items:
        kind, _, item = name.partition(":")
        if kind == "fact":
            forgetting.erase_fact(plan.source, int(item))
        else:
            forgetting.erase_page(plan.source, item)
    whole = set(plan.items)
    last = forgetting.last_line()
    for copy in plan.copies:
        source, held = copy.source, copy.held
        if source == plan.source and copy.item in whole:
            continue
        if held.store == "facts.text":
            forgetting.erase_fact(source, int(held.key))
        elif held.store in ("pages.content", "pages.told"):
            _rewrite_page(store, source, held.key, finder, now)
            forgetting.forget_history_of(source, held.key, last)
        elif held.store != "pages.slug":
            forgetting.rewrite(held, source, struck(held.text, copy.spans))


def _rewrite_page(store: Store, source: str, slug: str, finder: _Finder, now: datetime) -> None:
    page = store.get_page(source, slug)
    if page is None:
        return
    told = without(page.told, finder.spans)
    content = struck_page(page.content, finder.spans)
    said = conversation.parse_page(page.content) if page.type == PAGE_TYPE and slug.startswith(FOLDER) else ()
    if said:
        turns = tuple(replace(turn, text=struck(turn.text, finder.spans(turn.text))) for turn in said)
        content = conversation.render(turns)
        fresh, _, _ = parse_page(source, slug, content, trust=page.trust, now=now)
        store.put_page(
            _as_before(replace(fresh, aliases=(), timeline=()), page, told), conversation.turn_chunks(turns), ()
        )
        return
    fresh, chunks, names = parse_page(source, slug, content, trust=page.trust, now=now)
    store.put_page(_as_before(fresh, page, told), chunks, names)


def _as_before(fresh: Page, page: Page, told: Told) -> Page:
    return replace(
        fresh,
        status=page.status,
        superseded_by=page.superseded_by,
        created_at=page.created_at,
        updated_at=page.updated_at,
        told=told,
    )


def _settled(store: Store, *, anew: bool, wait_s: float | None = None) -> bool:
    """Whether nothing is left in the log; with `anew` the file is written again first, once."""
    until = time.monotonic() + (WAIT_S if wait_s is None else wait_s)
    while not store.forgetting.settle(anew=anew):
        if time.monotonic() > until:
            return False
        anew = False
        time.sleep(0.05)
    return True


def _ended(store: Store, name: str) -> None:
    with store.transaction():
        store.forgetting.end(name)


def _stores(found: Mapping[str, int], seen: Seen) -> tuple[Erased, ...]:
    names = sorted({*found, *seen.left})
    return tuple(
        Erased(name, found.get(name, 0), seen.left.get(name, 0), _METHODS.get(name, "erased")) for name in names
    )


_METHODS: Mapping[str, str] = {
    "pages.content": "rewritten, with its pieces, names, word indexes and vectors",
    "pages.told": "rewritten",
    "journal.before": "rewritten",
    "journal.because": "rewritten",
    "pages.slug": "erased with the page; the name of another page stays",
}
