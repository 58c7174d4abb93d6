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
from wellkept.errors import NotFound
from wellkept.ingest import conversation
from wellkept.ingest.conversation import FOLDER, PAGE_TYPE
from wellkept.ingest.git_history import GitHistory, Rewritten
from wellkept.ingest.git_history import history as git_history
from wellkept.ingest.git_history import rewrite as rewrite_git
from wellkept.ingest.markdown import parse_page
from wellkept.ingest.striking import StruckFile, holding, strike
from wellkept.model import Fact, Page, Told
from wellkept.storage import Folder, Held, Job, StoneRow, Store
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
    "the remotes and clones of a Git repository, and the history of one that pages were imported from",
    "other files than Markdown in a folder that is followed",
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
    `residual`: something is left, in the stores whose `left` is not 0. `files` are those of followed folders that held
    it, `git_history` what their repositories still hold of earlier times: that is not touched by a purge.
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
    files: tuple[StruckFile, ...] = ()
    git_history: tuple[GitHistory, ...] = ()
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

    It looks into `sources`; `everywhere` they are all that the store has, and any that is begun later. `files` are the
    folder and path of each file that holds some of it.
    """

    source: str
    sources: tuple[str, ...]
    everywhere: bool
    items: tuple[str, ...]
    claims: tuple[str, ...]
    copies: tuple[Copy, ...]
    files: tuple[tuple[str, str], ...] = ()


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
    files = tuple(
        (folder.name, path)
        for folder in _followed(store, sources)
        for path in _to_strike(store, folder, finder, source, names)
    )
    return Plan(source, sources, everywhere, names, claims, tuple(found), files)


def _followed(store: Store, sources: Collection[str]) -> tuple[Folder, ...]:
    return tuple(folder for folder in store.folders.all() if folder.source in sources)


def _to_strike(store: Store, folder: Folder, finder: _Finder, source: str, names: Collection[str]) -> tuple[str, ...]:
    whole = (
        file.path
        for file in store.folders.files(folder.name)
        if folder.source == source and f"page:{file.slug}" in names and Path(folder.path, file.path).exists()
    )
    return tuple(sorted({*holding(folder, finder.spans), *whole}))


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
    spans = _Finder(plan.claims).spans
    asked = files.strike(plan.sources, spans)
    if asked:
        found["queries"] = asked
    struck_files = tuple(one for folder in _followed(store, plan.sources) for one in _strike(store, folder, spans))
    if struck_files:
        found["files"] = len(struck_files)
    settled, seen = _looked(store, files, plan)
    struck_files += _passed_over(_followed(store, plan.sources), seen, struck_files)
    left = seen.left or seen.bytes_left or any(one.what == "left" for one in struck_files)
    status: Status = "pending" if not settled else "residual" if left else "complete"
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
        struck_files,
        _histories(_followed(store, plan.sources), lambda _: spans),
    )


def _looked(store: Store, files: Files, plan: Plan) -> tuple[bool, Seen]:
    """Whether the log is empty, and what is left; where bytes are, the file is written anew and looked at again."""
    settled = _settled(store, anew=False)
    needles = Needles(None if plan.everywhere else plan.source, plan.claims, _spellings(plan))
    notes = [Path(folder.path) for folder in _followed(store, plan.sources)]
    seen = look_for(files.database or store.forgetting.image(), files.folder, needles, notes)
    if settled and seen.bytes_left:
        settled = _settled(store, anew=True)
        seen = look_for(files.database or store.forgetting.image(), files.folder, needles, notes)
    return settled, seen


def _strike(store: Store, folder: Folder, spans: Callable[[str], Sequence[Span]]) -> tuple[StruckFile, ...]:
    """Take what is forgotten out of the files of a folder, and those of forgotten pages away."""
    going = tuple(file.path for file in store.folders.files(folder.name) if file.standing == "going")
    done = strike(folder, spans, going)
    left = {one.path for one in done if one.what == "left"}
    if going and "." not in left:
        with store.transaction():
            for path in going:
                if path not in left:
                    store.folders.drop(folder.name, path)
    return tuple(replace(one, path=_shown(one.path)) for one in done)


def _shown(path: str) -> str:
    """A path as text; what is none in it is written out."""
    return path.encode("utf-8", "backslashreplace").decode()


def _passed_over(folders: Sequence[Folder], seen: Seen, named: Collection[StruckFile]) -> tuple[StruckFile, ...]:
    """The files that still hold something, or that nobody could look into, and that are not named yet."""
    known = {(one.folder, one.path) for one in named if one.what == "left"}
    found = (
        (folder.name, _shown(Path(path).relative_to(folder.path).as_posix()))
        for path in seen.notes_left
        for folder in folders
        if Path(folder.path) in Path(path).parents
    )
    return tuple(
        StruckFile(name, path, "left", why="it still holds it, or cannot be looked into")
        for name, path in found
        if (name, path) not in known
    )


def _histories(
    folders: Sequence[Folder], spans: Callable[[Folder], Callable[[str], Sequence[Span]]]
) -> tuple[GitHistory, ...]:
    found = (git_history(folder.name, Path(folder.path), spans(folder)) for folder in folders)
    return tuple(one for one in found if one)


def _of_purge(store: Store, source: str, receipt: str) -> tuple[Folder, ...]:
    """The folders that a purge looked into. NotFound when the source has no purge of that id."""
    stones = [row for one in (ANY, source) for row in store.forgetting.stones(one) if row.purge == receipt]
    if not stones:
        raise NotFound(f"there is no purge {receipt!r} in source {source!r}, or it was lifted before")
    everywhere = any(row.source == ANY for row in stones)
    return tuple(folder for folder in store.folders.all() if everywhere or folder.source == source)


def histories(store: Store, key: Key, source: str, receipt: str) -> tuple[GitHistory, ...]:
    """What the repositories that a purge looked into still hold of all that was forgotten in their source."""
    return _histories(_of_purge(store, source, receipt), lambda one: Gate(store, key).forgotten(one.source).spans)


def rewrite_histories(store: Store, key: Key, source: str, receipt: str) -> tuple[Rewritten, ...]:
    """Write those histories anew without it. GitUnavailable names one that cannot be; those before it are done."""
    held = {one.folder for one in histories(store, key, source, receipt)}
    return tuple(
        rewrite_git(folder.name, Path(folder.path), Gate(store, key).forgotten(folder.source).spans)
        for folder in _of_purge(store, source, receipt)
        if folder.name in held
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
        spans = Gate(store, key).forgotten(source.id).spans
        files.strike((source.id,), spans)
        for folder in _followed(store, (source.id,)):
            _strike(store, folder, spans)
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
            store.folders.let_go(plan.source, item)
    for one in plan.sources:
        store.folders.read_anew(one)
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
    "files": "rewritten, and committed where Git had them",
}
