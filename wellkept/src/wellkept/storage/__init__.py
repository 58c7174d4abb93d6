"""Where memory is kept: one narrow protocol, one module per engine.

Every read and write names its source, and the source is part of the query itself. A store holds no policy: it
does not rank, decide or label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

from wellkept.model import (
    Change,
    Chunk,
    ContentOrigin,
    Fact,
    HeldWrite,
    Hit,
    Integrity,
    Item,
    Mark,
    Name,
    NameKind,
    NameMatch,
    Openings,
    Page,
    PageRef,
    Source,
    Stated,
    Statement,
    Trust,
    Usage,
    Use,
)
from wellkept.providers import EmbedderId

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wellkept.storage.view import View

STORES: Mapping[str, str] = {
    "sqlite": "wellkept.storage.sqlite:SqliteStore",
}


WANTS_NO_VECTOR = 2
"""What a store says of a chunk that gets no vector; 0 of one that waits for its own, 1 of one that has it."""


@dataclass(frozen=True, slots=True)
class ChunkText:
    """What a hit shows of a chunk."""

    title: str
    text: str
    trust: int
    content_origin: ContentOrigin | None = None
    flags: str = ""
    integrity: Integrity | None = None


Embedded = Literal["fact", "chunk"]
"""What has vectors."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A chunk or fact that has no vector yet."""

    id: int
    text: str


class SearchIndex(Protocol):
    """What a search reads, and where vectors are kept. The vectors of a store are all of one model."""

    def reading(self, source: str) -> AbstractContextManager[View]:
        """The live chunks of the source; everything read inside is of one and the same state."""

    def postings(self, words: Sequence[str]) -> Sequence[NDArray[np.int64]]:
        """For each word the ids of chunks that hold it, of any source, an id as often as the word stands there."""

    def texts(self, chunks: Sequence[int]) -> Mapping[int, ChunkText]:
        """Title, text and tier of chunks, by id."""

    def forget_views(self) -> None:
        """Read everything anew the next time: for whoever put other contents in the place of these."""

    def embedder(self) -> EmbedderId | None:
        """Whose vectors the store holds; None when it holds none."""

    def vectors(self, chunks: Sequence[int]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The ids that have vectors, each as often as it has some, and the vectors."""

    def put_vectors(
        self,
        who: EmbedderId,
        ids: Sequence[int],
        vectors: NDArray[np.float32],
        what: Embedded = "chunk",
        texts: Mapping[int, str] | None = None,
    ) -> int:
        """Keep the vectors of what is still there, the first of each that of all of it; of how many chunks or facts.

        With `texts`, what was read of each, one that says something else now gets none.
        The vectors of one stand one after the other. EmbedderMismatch for another model's.
        """

    def waiting(self, after: int, limit: int, what: Embedded = "chunk") -> tuple[Waiting, ...]:
        """The first chunks or facts with an id above `after` that wait for their vector, by id."""

    def vector_counts(self) -> tuple[int, int]:
        """How many chunks of live pages and active facts have a vector, and how many wait for one."""

    def nearest_facts(self, source: str, query: NDArray[np.float32], depth: int) -> Sequence[tuple[float, int]]:
        """The cosines and ids of about `depth` facts of the source that are nearest, active or ended, nearest first."""

    def drop_vectors(self) -> None:
        """Forget all vectors and whose they were; every chunk and fact waits again."""


@dataclass(frozen=True, slots=True)
class StoneRow:
    """What a store keeps of a claim that was forgotten for good, and by which purge."""

    source: str
    claim: bytes
    first: bytes
    words: int
    purge: str


@dataclass(frozen=True, slots=True)
class Held:
    """A text that a source holds: in which store, under which key."""

    store: str
    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Job:
    """A purge under way."""

    id: str
    source: str
    at: datetime


class Forgetting(Protocol):
    """What forgetting for good needs of an engine. What changes it is called within a transaction of the store."""

    def stones(self, source: str) -> tuple[StoneRow, ...]:
        """What is kept of the claims that the source forgot."""

    def add_stones(self, stones: Sequence[StoneRow], at: datetime) -> None:
        """Keep what is to be recognised; one that is there stays as it is."""

    def lift(self, source: str, purge: str) -> int:
        """Take away what one purge left to recognise; how many claims that were."""

    def proof(self) -> bytes | None:
        """What tells the key of the digests; None where there is none yet."""

    def keep_proof(self, proof: bytes) -> None:
        """Tie the store to a key. One that is tied stays so."""

    def texts(self, source: str) -> Iterator[Held]:
        """Every text that the source holds, with where it stands."""

    def erase_fact(self, source: str, number: int) -> None:
        """Take a fact out, with all that was said of it and every line of its history."""

    def erase_page(self, source: str, slug: str) -> None:
        """Take a page out, with its pieces, names, vectors, history and all that was said of it."""

    def rewrite(self, held: Held, source: str, text: str) -> None:
        """Put another text in the place of one of the journal, of what was answered, or of a turn's id."""

    def forget_history_of(self, source: str, slug: str, last: int) -> None:
        """Let no line of a page's journal beyond `last` hold what the page said before."""

    def last_line(self) -> int:
        """The newest line of the journal."""

    def begin(self, job: Job) -> None:
        """Keep that a purge is under way."""

    def jobs(self) -> tuple[tuple[str, str], ...]:
        """The purges that are not at their end: id and source."""

    def end(self, job: str) -> None:
        """The purge is at its end."""

    def image(self) -> bytes:
        """All that the store holds, as the bytes of a database: of one that has no file."""

    def settle(self, *, anew: bool) -> bool:
        """Leave no byte of what was taken out; False while a reader keeps it. With `anew` all is written again."""


Sign = Callable[[str, str, Mapping[str, str | int | float | bytes | None]], bytes]
"""Makes the seal of a row: for what, of which table, and the row's columns."""
UNVERIFIED, ROLLED_BACK = "unverified", "rollback_suspected"
"""Why what is read may not be as it was written."""


class SealKeeper(Protocol):
    """What a store seals with: a key, and a count that stands beside the key and not in the store."""

    def sign(self, *, make: bool) -> Sign:
        """What makes seals; with `make` within a transaction of the store, to which the key is tied then.

        StoreUnavailable where the key is not to be had.
        """

    def seen(self) -> int:
        """How many sealing writes of the store were seen; 0 when none was."""

    def saw(self, count: int) -> None:
        """So many are on the disk."""


@dataclass(frozen=True, slots=True)
class Tampered:
    """A row that is not as we wrote it, or, with key None, all rows of a table and source; `name` is for people."""

    table: str
    source: str
    key: Any
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Walked:
    """How many rows were verified, what failed, and codes for what could not be verified at all."""

    rows: int
    problems: tuple[Tampered, ...]
    codes: tuple[str, ...]


class Sealing(Protocol):
    """What tells whether rows were changed from outside."""

    def use(self, keeper: SealKeeper) -> None:
        """From now on rows are sealed when they are written, and verified when they are read."""

    def codes(self) -> tuple[str, ...]:
        """Why what is read may not be as it was written: UNVERIFIED, ROLLED_BACK, or nothing."""

    def of_slugs(self, source: str, slugs: Iterable[str]) -> Mapping[str, Integrity]:
        """Which pages of a source are as they were written; nothing where nothing can be verified."""

    def of_table(self, table: str, source: str = "") -> Integrity | None:
        """Whether all rows of a small table, of a source if it has one, are as they were written and none is missing.

        None where nothing can be verified.
        """

    def walk(self, *, every: bool = True) -> Walked:
        """Verify every row, and that none is missing; without `every` only count them."""

    def reseal(self) -> int:
        """Seal what fails anew, with the lowest tier, and what is there now as all there is; how many rows failed."""


class Holding(Protocol):
    """What the gate needs of an engine. What changes it is called within a transaction of the store."""

    def hold(self, write: HeldWrite) -> int:
        """Keep it, and give its number."""

    def same(self, write: HeldWrite) -> int | None:
        """The number of the same write by the same writer, if that is held."""

    def size(self, source: str) -> tuple[int, int]:
        """How many writes of the source are held, and their bytes."""

    def held(self, source: str, after: int = 0, limit: int = 100) -> tuple[HeldWrite, ...]:
        """What is held of the source beyond a number, oldest first."""

    def one(self, source: str, number: int) -> HeldWrite | None:
        """One held write."""

    def drop(self, source: str, number: int) -> bool:
        """Take one out; whether it was there."""

    def drop_older(self, moment: datetime) -> int:
        """Take out what nobody has looked at since; how many."""

    def written_last(self, source: str, writer: str, most: int) -> tuple[str, ...]:
        """The texts that a writer, by its name in the journal, wrote last, oldest first; without what was flagged."""

    def modes(self) -> Mapping[str, str]:
        """How strict the gate is, where that was said."""

    def set_mode(self, name: str, value: str) -> None:
        """Say how strict the gate is."""


Standing = Literal["kept", "gone", "going"]


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of notes that its owner bound to a source.

    `signers` says whose signatures commits need: None nobody's, "" those of the owner's keyring, else the path of a
    file of allowed signers. `head` is where its history stood when it was last read.
    """

    name: str
    source: str
    path: str
    at: datetime
    signers: str | None = None
    head: str | None = None


@dataclass(frozen=True, slots=True)
class FolderFile:
    """What a sync made of a file: its page, the SHA-256 of that page as it was kept, and how it stands.

    Without a digest it is looked at anew. "gone": the page ended when the file went; "going": the page was forgotten
    for good, and the file is still to be removed.
    """

    path: str
    slug: str
    digest: bytes | None
    standing: Standing = "kept"


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a list of another service was read: the newest change, and its mark for "nothing changed since"."""

    at: datetime | None
    etag: str | None


class Folders(Protocol):
    """Which folders are bound, what was made of their files, and how far other services were read.

    What changes them is called within a transaction.
    """

    def all(self) -> tuple[Folder, ...]:
        """Every bound folder, by name."""

    def bind(self, folder: Folder) -> None:
        """Keep that the folder is bound; its name and path are free."""

    def unbind(self, name: str) -> None:
        """Forget a folder and what was made of its files. Pages stay."""

    def reached(self, name: str, head: str | None) -> None:
        """Keep where the history of the folder stood when it was read."""

    def files(self, name: str) -> tuple[FolderFile, ...]:
        """What a sync made of the files of a folder, by path."""

    def keep(self, name: str, file: FolderFile) -> None:
        """Keep what was made of one file, in the place of what was kept of it."""

    def drop(self, name: str, path: str) -> None:
        """Keep nothing of one file any more."""

    def holder(self, source: str, slug: str) -> tuple[str, str] | None:
        """The folder and the path of the file that a page of the source is kept from, if one is."""

    def read_anew(self, source: str) -> None:
        """Let every file of the folders of a source be looked at again by the next sync."""

    def let_go(self, source: str, slug: str) -> None:
        """Keep that the files of a page are to be removed."""

    def holds_below(self, source: str, tier: Trust) -> bool:
        """Whether the source holds any page or fact of a lower tier, ended or not."""

    def pages_saying(
        self, source: str, words: Sequence[str], tiers: Sequence[Trust], limit: int
    ) -> tuple[tuple[Trust, str], ...]:
        """Pages of these tiers that hold all the words near each other, ended or not: tier and content."""

    def facts_saying(
        self, source: str, words: Sequence[str], tiers: Sequence[Trust], limit: int
    ) -> tuple[tuple[Trust, str], ...]:
        """Facts of these tiers that hold any of the words, ended or not: tier and text."""

    def cursor(self, source: str, name: str) -> Cursor | None:
        """How far a list was read for a source; None where it never was."""

    def reach(self, source: str, name: str, cursor: Cursor) -> None:
        """Keep how far a list was read."""


class Store(Protocol):
    """What an engine must do. The contract tests in wellkept/tests/contract run against every entry of STORES."""

    @property
    def index(self) -> SearchIndex:
        """What searches read."""

    read_only: bool
    """It can be read, and refuses every write with StoreUnavailable."""

    @property
    def forgetting(self) -> Forgetting:
        """What forgetting for good needs."""

    @property
    def sealing(self) -> Sealing:
        """What tells whether rows were changed from outside; those are read with the lowest tier."""

    @property
    def holding(self) -> Holding:
        """What is held back, and how strict the gate is."""

    @property
    def folders(self) -> Folders:
        """The folders of notes that are bound to sources."""

    def transaction(self) -> AbstractContextManager[None]:
        """All writes inside are kept or none is. Nests; the outermost one commits, durably, on leaving."""

    def add_source(self, source: Source) -> None:
        """Make sure the source exists. Known already: its owner stays as it was."""

    def sources(self) -> tuple[Source, ...]:
        """All sources, by id."""

    def put_page(
        self,
        page: Page,
        chunks: Sequence[Chunk],
        names: Sequence[Name],
        statements: Sequence[Statement] = (),
        by: str | None = None,
    ) -> None:
        """Create or replace the page with its chunks, names, aliases, timeline and what is stated there."""

    def get_page(self, source: str, slug: str) -> Page | None:
        """The page whatever its status, or None."""

    def pages(self, source: str, limit: int) -> tuple[Page, ...]:
        """The first `limit` live pages by slug (code point order); conversation pages are left out."""

    def every_page(self, source: str, after: str, limit: int) -> tuple[Page, ...]:
        """The first `limit` pages with a slug beyond `after`, by slug, whatever their type and status."""

    def find_names(self, source: str, kind: NameKind, keys: Iterable[str]) -> tuple[NameMatch, ...]:
        """Live pages known under any of the keys, ordered by (key, slug). A page is live when active.

        The names of a superseded page are those of the page that took its place.
        """

    def name_openings(self, source: str, kinds: Sequence[NameKind], asked: int) -> frozenset[str] | None:
        """The `opening` of each such name of the source that goes on after it, or None where they are not at hand.

        It may hold others too.

        `asked` is how many names would have to be looked up without knowing: it tells whether to read them all.
        """

    def find_words(self, source: str, words: Sequence[str], limit: int) -> tuple[Hit, ...]:
        """Best chunks of live pages holding any of the words (BM25, best first, ties by slug and ordinal)."""

    def find_beginnings(
        self, source: str, beginnings: Iterable[str], most: int, *, least: Trust = Trust.AGENT_WRITTEN
    ) -> Openings:
        """For each beginning of a word the live pages that hold such a word, or of which an active fact holds it.

        At most `most` of either; conversations are left out, and what is of a lower tier than `least`.
        """

    def page_refs(self, source: str, slugs: Iterable[str]) -> tuple[PageRef, ...]:
        """What a pointer needs to know of the live pages of these slugs, by slug."""

    def told_of(self, source: str, slug: str, limit: int) -> tuple[str, ...]:
        """What the newest active facts about a page say, newest first; none from outside, none that has an end."""

    def find_statements(
        self, source: str, beginnings: Iterable[str], most: int, *, least: Trust = Trust.AGENT_WRITTEN
    ) -> Stated:
        """For each beginning of a word the newest `most` statements of live pages that hold such a word.

        None of a lower tier than `least`.
        """

    def statements(self, source: str, numbers: Iterable[int]) -> tuple[Statement, ...]:
        """The statements of live pages with these numbers, by number."""

    def newest_statements(self, source: str, since: datetime, limit: int) -> tuple[Statement, ...]:
        """The newest `limit` statements of live pages made at or after a moment, newest first; none from outside."""

    def put_facts(
        self,
        source: str,
        session_page: str | None,
        facts: Sequence[Fact],
        now: datetime,
        by: str | None = None,
        *,
        cap: Trust = Trust.USER_CONFIRMED,
    ) -> tuple[int, ...]:
        """Make `facts` the active facts of `session_page`; ids in the order given.

        A fact equal to a stored one in (source, session page, normalised text, entity) keeps its id. Active facts
        of that session page that are not given again become expired, but for those of a tier above `cap`. With
        `session_page` None the facts are added, and one that was ended is told anew. A fact of a session page that was
        ended by a mark stays ended.
        """

    def add_fact(self, fact: Fact, by: str | None = None) -> int:
        """Add a fact as it is, under its own id where it has one, whatever is told already; its id."""

    def facts_told(self, source: str, texts: Iterable[str]) -> tuple[Fact, ...]:
        """The facts of the source in any of these words (`names.norm`), whatever their status, by id."""

    def facts_of_slot(self, source: str, entity: str | None, attribute: str) -> tuple[Fact, ...]:
        """The facts that say this of the entity, whatever their status, by id."""

    def has_ended(self, source: str) -> bool:
        """Whether the source holds a fact that is not simply current: ended, pending, or with an end."""

    def restore_fact(self, session_page: str | None, fact: Fact) -> tuple[int, bool]:
        """Add a fact as it was told, active, under its own id where that is free; its id, and whether it is new.

        One that is there, with the same words, about the same, recorded at the same time, is left as it stands.
        """

    def facts(
        self,
        source: str,
        entity: str | None = None,
        since: datetime | None = None,
        *,
        told_in: str | None = None,
        ended: bool = False,
    ) -> tuple[Fact, ...]:
        """Active facts of the source by id, of one entity if named, recorded or valid at or after `since` if given.

        With `told_in` only what the page of this slug tells; with `ended` those that are no longer active too.
        """

    def facts_saying(
        self, source: str, words: Sequence[str], limit: int, *, entity: str | None = None, ended: bool = False
    ) -> tuple[tuple[int, Fact], ...]:
        """The first `limit` facts that may hold any of the words, each with how many it holds at most.

        A word in other than ASCII letters is held where it stands within another. Those that hold most come first,
        then the newest, then by id. None that holds a word is left out.
        """

    def fact(self, source: str, number: int) -> Fact | None:
        """The fact whatever its status, or None."""

    def last_fact_id(self) -> int:
        """The highest id any fact was given, whatever its source; 0 when none was. Later facts get higher ones."""

    def mark(self, source: str, item: Item, mark: Mark) -> bool:
        """Give an item a new standing and write it into the journal; False where it cannot have it.

        There is no such item, or a fact equal to one that would be active again is active already.
        """

    def journal(
        self, source: str, *, after: int = 0, item: Item | None = None, limit: int | None = None
    ) -> tuple[Change, ...]:
        """What changed in the source beyond a line of the journal, oldest first, of one item if named.

        Each put and each mark is one line; what was put without any difference is none.
        """

    def use(self, source: str, uses: Sequence[Use]) -> int:
        """Keep what was said of items; how many of it was new."""

    def usage(self, source: str, item: Item) -> Usage:
        """What was said of an item so far."""

    def reply(self, source: str, caller: str, key: str) -> tuple[bytes, str] | None:
        """The digest of the request that a caller made under a key, and what was answered; None when none was."""

    def keep_reply(self, source: str, caller: str, key: str, digest: bytes, reply: str, at: datetime) -> None:
        """Remember what was answered to a request. Replies older than two days may be forgotten."""

    def reset(self) -> None:
        """Empty every table, keep the schema, let ids start again at 1."""

    def close(self) -> None:
        """Release the database. Closing twice is harmless."""


def open_store(kind: str, path: Path | str) -> Store:
    """An open store of a kind in STORES; for sqlite `path` is the database file or ":memory:"."""
    module, _, name = STORES[kind].partition(":")
    return cast(Store, getattr(import_module(module), name)(path))
