"""Forgetting for good: what was said is taken out of everything that memory keeps, and is recognised if it comes back.

One transaction finds every copy, takes it out, keeps keyed digests of what was forgotten and notes that the purge is
under way; from its commit on nothing reads the claim any more. What is left after it is bytes: captured questions, the
log of the database, blocks that hold an earlier state. Whoever opens the memory next goes on where a purge was ended.
`wellkept.storage.verify`, which shares no code with this, then looks for what is left.
"""

from __future__ import annotations

import json
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
from wellkept.trust.forgotten import SHORT, Span, struck, tombstone
from wellkept.trust.gate import Gate, Key, proof_of
from wellkept.trust.normal import Token, flat, tokens, words

LINE_WORDS = 4
"""A line of a page that is forgotten is a claim of its own from so many words on."""
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
    out_of_reach: tuple[str, ...] = OUT_OF_REACH
    schema_version: int = 1


@dataclass(frozen=True, slots=True)
class Copy:
    """A text that is to go, or in which something stands that is to go, and where. Without spans it goes whole."""

    held: Held
    spans: tuple[Span, ...]

    @property
    def item(self) -> str | None:
        """The fact or page that it is part of."""
        kind, _, _ = self.held.store.partition(".")
        return {"facts": f"fact:{self.held.key}", "pages": f"page:{self.held.key}"}.get(kind)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a purge would take out: `items` whole, and the claims in them wherever else they stand (`copies`)."""

    source: str
    items: tuple[str, ...]
    claims: tuple[str, ...]
    copies: tuple[Copy, ...]


# -- what is to go


def planned(store: Store, source: str, items: Sequence[Page | Fact]) -> Plan:
    """What forgetting these items for good would take out. Nothing is changed."""
    whole = [*items, *_with(store, source, items)]
    claims = tuple(dict.fromkeys(claim for item in whole for claim in _claims(store, item) if words(claim)))
    names = tuple(dict.fromkeys(_id(item) for item in whole))
    return Plan(source, names, claims, tuple(_copies(store, source, claims, set(names))))


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
        if len(words(claim)) >= LINE_WORDS:
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


def _copies(store: Store, source: str, claims: Sequence[str], whole: set[str]) -> Iterator[Copy]:
    finder = _Finder(claims)
    for held in store.forgetting.texts(source):
        copy = Copy(held, finder.spans(held.text))
        if copy.spans or copy.item in whole:
            yield copy


# -- carrying it out


def purge(
    store: Store, key: Key, files: Files, source: str, items: Sequence[Page | Fact], *, now: datetime
) -> PurgeReceipt:
    """Forget the items for good, and what they say wherever the source holds it. Refused without a key."""
    secret = key.made(store)
    name = uuid.uuid4().hex
    with store.transaction():
        plan = planned(store, source, items)
        found = Counter(copy.held.store for copy in plan.copies)
        _take_out(store, plan, now)
        stones = [stone for claim in plan.claims if (stone := tombstone(secret, source, claim))]
        store.forgetting.keep_proof(proof_of(secret))
        store.forgetting.add_stones([StoneRow(source, one.claim, one.first, one.words, name) for one in stones], now)
        store.forgetting.begin(Job(name, source, now, json.dumps(found)))
    asked = files.strike(source, _Finder(plan.claims).spans)
    if asked:
        found["queries"] = asked
    settled = _settled(store, anew=False)
    needles = Needles(source, plan.claims, _spellings(plan))
    seen = look_for(files.database or store.forgetting.image(), files.folder, needles)
    if settled and seen.bytes_left:
        settled = _settled(store, anew=True)
        seen = look_for(files.database or store.forgetting.image(), files.folder, needles)
    status: Status = "pending" if not settled else "residual" if seen.left or seen.bytes_left else "complete"
    if status == "complete":
        _ended(store, name)
    return PurgeReceipt(
        name, source, now, status, plan.items, len(plan.claims), _stores(found, seen), seen.texts_read, seen.bytes_read
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

    def strike(self, source: str, spans: Callable[[str], Sequence[Span]]) -> int:
        """Take the questions of the source out that hold a claim; how many."""
        if self.queries is None or not self.queries.exists():
            return 0
        return capture.strike(self.queries, lambda row: source in row.get("source_ids", ()) and _holds(row, spans))


def _holds(value: object, spans: Callable[[str], Sequence[Span]]) -> bool:
    if isinstance(value, str):
        return bool(spans(value))
    inner: Iterable[object] = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return any(_holds(one, spans) for one in inner)


def resume(store: Store, key: Key, files: Files) -> int:
    """Bring purges to their end that something ended before; how many are at their end now.

    Their text is known no longer: questions are recognised by the digests, and the file is written anew as a whole.
    """
    jobs = store.forgetting.jobs()
    for _, source in jobs:
        files.strike(source, Gate(store, key).forgotten(source).spans)
    if not jobs or not _settled(store, anew=True, wait_s=0.0):
        return 0
    for name, _ in jobs:
        _ended(store, name)
    return len(jobs)


def _take_out(store: Store, plan: Plan, now: datetime) -> None:
    source, finder, forgetting = plan.source, _Finder(plan.claims), store.forgetting
    for name in plan.items:
        kind, _, item = name.partition(":")
        if kind == "fact":
            forgetting.erase_fact(source, int(item))
        else:
            forgetting.erase_page(source, item)
    whole = set(plan.items)
    last = forgetting.last_line()
    for copy in plan.copies:
        held = copy.held
        if copy.item in whole:
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
    told = _told(page, finder)
    content = struck(page.content, finder.spans(page.content))
    if page.type == PAGE_TYPE and slug.startswith(FOLDER):
        turns = tuple(
            replace(turn, text=struck(turn.text, finder.spans(turn.text)))
            for turn in conversation.parse_page(page.content)
        )
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


def _told(page: Page, finder: _Finder) -> Told:
    """What a writer said of a page's origin, without what is forgotten."""
    told, spans = page.told, finder.spans
    metadata = {key: value for key, value in told.metadata.items() if not _holds([key, value], spans)}
    source_id = None if _holds(told.source_id, spans) else told.source_id
    return replace(told, source_id=source_id, url=None if _holds(told.url, spans) else told.url, metadata=metadata)


def _settled(store: Store, *, anew: bool, wait_s: float = WAIT_S) -> bool:
    until = time.monotonic() + wait_s
    while not store.forgetting.settle(anew=anew):
        if time.monotonic() > until:
            return False
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
    "pages.slug": "left: give the page another name",
}
