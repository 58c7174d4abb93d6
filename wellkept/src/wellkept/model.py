"""The values that cross wellkept's layers. All frozen; times are aware UTC datetimes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from typing import Any, Literal, TypeVar, get_args, overload

T = TypeVar("T")
Role = Literal["user", "assistant"]
FactKind = Literal["event", "preference", "commitment", "belief", "fact"]
FACT_KINDS: tuple[FactKind, ...] = ("event", "preference", "commitment", "belief", "fact")
Status = Literal["active", "pending", "superseded", "expired", "deleted"]
ItemKind = Literal["page", "fact"]
ChangeKind = Literal["created", "updated", "expired", "superseded", "restored", "confirmed", "restated"]
CorrectionAction = Literal["revise", "supersede", "mark_wrong", "mark_stale", "restore"]
CORRECTION_ACTIONS: tuple[CorrectionAction, ...] = ("revise", "supersede", "mark_wrong", "mark_stale", "restore")
Intent = Literal["build", "plan", "ideate", "decide", "review", "debug", "learn", "research", "general"]
INTENTS: tuple[Intent, ...] = get_args(Intent)
Layer = Literal["wake", "recall", "deep_search"]
LAYERS: tuple[Layer, ...] = get_args(Layer)
Signal = Literal["citation", "misled"]
Integrity = Literal["ok", "failed"]
"""Whether something is as it was written. What `failed` is of the lowest tier, and is never brought unasked."""
ContentOrigin = Literal["user_said", "agent_inferred", "document", "tool_output", "import", "derived"]
CONTENT_ORIGINS: tuple[ContentOrigin, ...] = get_args(ContentOrigin)
Channel = Literal[
    "owner_tty", "owner_local", "owner_git", "hook", "agent_mcp", "agent_http", "agent_cli", "connector", "peer",
    "restore", "maintenance",
]  # fmt: skip
CHANNELS: tuple[Channel, ...] = get_args(Channel)
NameKind = Literal["alias", "title", "slug", "tail", "surname", "first", "alias-fold", "title-fold"]


class Trust(IntEnum):
    """Who wrote it, never whether it is true. The order is the rank."""

    EXTERNAL_UNTRUSTED = 0
    AGENT_WRITTEN = 1
    USER_WRITTEN = 2
    USER_CONFIRMED = 3

    @property
    def label(self) -> str:
        """The words shown beside every item of this tier."""
        return _TRUST_LABELS[self]


TRUSTS: tuple[str, ...] = tuple(tier.name.lower() for tier in Trust)
"""The tiers as they are written in every answer."""
_TRUST_LABELS = {
    Trust.EXTERNAL_UNTRUSTED: "external, untrusted",
    Trust.AGENT_WRITTEN: "unconfirmed, agent-written",
    Trust.USER_WRITTEN: "user-written",
    Trust.USER_CONFIRMED: "user-confirmed",
}


GATE: Mapping[str, tuple[str, ...]] = {
    "external_mode": ("flag", "quarantine", "block"),
    "agent_mode": ("flag", "quarantine", "block"),
    "external_activation": ("allow", "suppress"),
    "agent_activation": ("allow", "suppress"),
}
"""Each setting of the gate, and what it can be, the strictest last."""


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes, as the door that was come through knows it; never as a request says.

    `principal` is "owner", or a name under what it is: `agent:claude`, `user:ada`, `connector:github`.
    """

    channel: Channel
    principal: str = "owner"

    @property
    def name(self) -> str:
        """How the journal calls it.

        >>> Writer("owner_tty").name, Writer("agent_mcp", "agent:claude").name
        ('owner_tty', 'agent_mcp agent:claude')
        """
        return self.channel if self.principal == "owner" else f"{self.channel} {self.principal}"


OWNER = Writer("owner_tty")
HOOK = Writer("hook")
AGENT = Writer("agent_mcp", "agent:unnamed")
OUTSIDE = Writer("connector", "connector:unnamed")


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a stored thing came from.

    For written-back facts `source` is "wellkept:writeback", `source_session` is "<source>:<session page>",
    `source_markdown_slug` is the session page, `event_id` the turn and `quote_span` the characters of the
    quote within that turn's text.
    """

    source: str
    source_session: str | None = None
    source_markdown_slug: str | None = None
    event_id: str | None = None
    quote_span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A scope: everything stored or read names exactly one."""

    id: str
    owner: Literal["user", "agent", "external"] = "user"


@dataclass(frozen=True, slots=True)
class Name:
    """One way to call a page: a normalised key under which an arm may look it up."""

    kind: NameKind
    key: str


@dataclass(frozen=True, slots=True)
class TimelineEntry:
    """One dated line of a page; `date` is ISO 8601, as precise as it was written."""

    date: str
    text: str


@dataclass(frozen=True, slots=True)
class Told:
    """What a writer says of where a text is from. `source_id` is the writer's own id of it, never a scope.

    `content_origin` may lower the trust of what is written and never raises it; `valid_at` is when it was so.
    """

    content_origin: ContentOrigin | None = None
    source_id: str | None = None
    url: str | None = None
    valid_at: datetime | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class Ended:
    """Since when an item is current no longer, why in a word, what a person said to it, and who it was."""

    at: datetime | None
    because: str
    reason: str = ""
    by: str | None = None


@dataclass(frozen=True, slots=True)
class Page:
    """A thing that memory holds, with its Markdown as it was written (`content`, front matter included)."""

    source: str
    slug: str
    title: str
    content: str
    body: str = ""
    type: str = "note"
    summary: str = ""
    aliases: tuple[str, ...] = ()
    status: Status = "active"
    superseded_by: str | None = None
    trust: Trust = Trust.USER_WRITTEN
    timeline: tuple[TimelineEntry, ...] = ()
    updated_at: datetime | None = None
    created_at: datetime | None = None
    told: Told = field(default_factory=Told)
    flags: tuple[str, ...] = ()
    """What was noticed when it was written: ids of detectors, and words as "spoof"."""
    ended: Ended | None = None
    """Told by `Memory.get_page`, `history` and `export` of what somebody ended."""
    integrity: Integrity | None = None
    """None where nothing was sealed, so that nothing was verified."""


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that is kept: a page by its slug, or a fact by its number.

    >>> Item.named("fact:12"), Item.named("people/ada"), str(Item("fact", "12"))
    (Item(kind='fact', key='12'), Item(kind='page', key='people/ada'), 'fact:12')
    """

    kind: ItemKind
    key: str

    @staticmethod
    def named(text: str) -> Item:
        """The item that an id names: `fact:12`, `page:people/ada`, or the slug alone."""
        head, mark, rest = text.partition(":")
        if head == "fact" and mark and rest.isascii() and rest.isdecimal() and len(rest) <= 18:
            return Item("fact", str(int(rest)))
        return Item("page", rest if head == "page" and mark else text)

    def __str__(self) -> str:
        slug = self.key
        clear = self.kind == "page" and Item.named(slug) == self
        return slug if clear else f"{self.kind}:{slug}"


@dataclass(frozen=True, slots=True)
class Change:
    """One line of the journal. `before` is the text that was replaced, where a text was."""

    seq: int
    source: str
    item: Item
    change: ChangeKind
    because: str
    trust: Trust
    at: datetime | None
    before: str | None = None
    actor: str | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """A new standing of an item. What is None stays as it is; `because` is one word, `reason` what a person said.

    `until` is from when on a fact is so no longer; with it and no status it stays active until then.
    """

    change: ChangeKind
    because: str
    at: datetime
    status: Status | None = None
    trust: Trust | None = None
    superseded_by: str | None = None
    reason: str = ""
    actor: str | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Use:
    """Somebody's word that an item was of use, or misled; two with one key are one."""

    key: bytes
    item: Item
    signal: Signal
    at: datetime


@dataclass(frozen=True, slots=True)
class Usage:
    """How often an item was said to be of use or to have misled. What callers report, not what helped."""

    citations: int = 0
    misled: int = 0
    last_used_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PageRef:
    """What a pointer needs to know of a page."""

    source: str
    slug: str
    title: str
    type: str
    summary: str
    body_start: str
    trust: Trust
    content_origin: ContentOrigin | None = None
    flags: tuple[str, ...] = ()
    head: str = ""
    """How its content begins, where that may say how far its work is; else nothing."""
    integrity: Integrity | None = None


@dataclass(frozen=True, slots=True)
class NameMatch:
    """A live page found under a key."""

    key: str
    page: PageRef


@dataclass(frozen=True, slots=True)
class Openings:
    """How many live pages a source has, and the slugs of those that hold a word with a beginning."""

    pages: int
    holding: Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Chunk:
    """A searchable piece of a page, in reading order.

    `lead` is searched before the text and never shown. A piece of a conversation says which turn, from 0, and when.
    An `answer` is what an assistant says. One that is not `meant` is found by its words alone and gets no vector.
    """

    ordinal: int
    text: str
    lead: str = ""
    turn: int | None = None
    at: datetime | None = None
    answer: bool = False
    meant: bool = True


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement with its entity (a page slug, or None when it could not be told) and its provenance.

    It was so from `valid_from` until `valid_until`, as is known by now; memory knew of it from `recorded_at` on, and
    of its end from `expired_at` on. `attribute` is what it says of the entity. A "pending" one contradicts `replaces`,
    which was told by somebody who ranks higher, and waits for the owner's word.
    """

    id: int | None
    source: str
    text: str
    entity: str | None
    kind: FactKind
    provenance: Provenance
    mention: str | None = None
    confidence: float = 1.0
    trust: Trust = Trust.AGENT_WRITTEN
    status: Status = "active"
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    recorded_at: datetime | None = None
    superseded_by: int | None = None
    content_origin: ContentOrigin | None = None
    expired_at: datetime | None = None
    ended_because: str | None = None
    flags: tuple[str, ...] = ()
    """As of a page."""
    ended: Ended | None = None
    """As of a page."""
    integrity: Integrity | None = None
    """As of a page."""
    attribute: str | None = None
    replaces: int | None = None
    """The fact whose place it took; of a pending one, would take."""
    told_until: datetime | None = None
    """What `valid_until` was before somebody ended the fact."""


@dataclass(frozen=True, slots=True)
class CandidateFact:
    """What an extractor says. It has no slug on purpose: finding the entity is attribution's job."""

    fact: str
    kind: FactKind
    mention: str | None
    quote: str
    confidence: float = 1.0
    valid_from: datetime | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation. `id` is the harness's or caller's own, if there is one."""

    role: Role
    text: str
    ts: datetime | None = None
    id: str | None = None


SearchUnit = Literal["page", "chunk"]
SEARCH_UNITS: tuple[SearchUnit, ...] = ("page", "chunk")
SearchMode = Literal["hybrid", "lexical", "vector", "naive"]
SEARCH_MODES: tuple[SearchMode, ...] = ("hybrid", "lexical", "vector", "naive")


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How to search: what a hit is, which lanes run, and what may be found at all.

    `unit` "page" gives each page once with its best piece, "chunk" pieces and turns. `mode` "naive" is the plain
    control: ranks of words and vectors merged, nothing else. Only pages of `types` and of the tiers `labels` (of
    TRUSTS) are found if given, only what is from `as_of` or before, and only what happened from `occurred_after` on
    and before `occurred_before`: a turn when it was said, a page when its writer says it was so, or else when it was
    written. With `reference_time` a time that the query names ("last week") raises what is from
    then; `recency` lets what is new go before what is old, as seen from `reference_time`. `rerank` lets the reranker
    of the settings, if any, order the first hits anew. What has one of `without_flags` is not found. With `known_at`
    only what memory knew at that moment is found.
    """

    unit: SearchUnit = "page"
    mode: SearchMode = "hybrid"
    types: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    occurred_after: datetime | None = None
    occurred_before: datetime | None = None
    as_of: datetime | None = None
    reference_time: datetime | None = None
    recency: bool = False
    rerank: bool = False
    without_flags: tuple[str, ...] = ()
    known_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class LaneScore:
    """What one lane said of a hit: its rank there from 1, its raw score, and the weight of the lane in the sum."""

    lane: str
    rank: int
    score: float
    weight: float


@dataclass(frozen=True, slots=True)
class Factor:
    """What the score of a hit was multiplied by, and why: "selectivity" or "time"."""

    name: str
    factor: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A search result: what was found, how well it ranked (higher is better), its tier, and why it ranked.

    `ordinal` is the piece of the page; `turn` (from 0) and `at` say which turn of a conversation it is of, and when.
    `faint` says that nothing speaks for it but that it came nearest. One that is "superseded" says what is so no
    longer; `superseded_by` is the fact that is, if there is one.
    """

    source: str
    slug: str
    title: str
    text: str
    score: float
    rank: int
    trust: Trust
    ordinal: int = 0
    turn: int | None = None
    at: datetime | None = None
    lanes: tuple[LaneScore, ...] = ()
    factors: tuple[Factor, ...] = ()
    faint: bool = False
    content_origin: ContentOrigin | None = None
    flags: tuple[str, ...] = ()
    integrity: Integrity | None = None
    status: Status = "active"
    superseded_by: str | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """An answered search: its hits, best first, the lanes that ran, and why others did not.

    `found` counts all that could have become hits, those beyond the limit too.
    """

    hits: tuple[Hit, ...]
    lanes: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()
    found: int = 0


class Listed(Sequence[T]):
    """An answer that is read as the things it holds, best first."""

    __slots__ = ()

    @abstractmethod
    def _listed(self) -> tuple[T, ...]:
        """The things, best first."""

    def __len__(self) -> int:
        return len(self._listed())

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[T]: ...
    def __getitem__(self, place: int | slice) -> T | Sequence[T]:
        return self._listed()[place]


@dataclass(frozen=True, slots=True)
class Pointer:
    """A page brought to a turn, by which arm and how sure (0 to 1)."""

    slug: str
    display: str
    synopsis: str
    trust: Trust
    arm: str
    confidence: float
    rationale: str = ""
    source: str = ""
    content_origin: ContentOrigin | None = None
    flags: tuple[str, ...] = ()
    integrity: Integrity | None = None


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence that the user said in a conversation: on which page it stands, in which turn from 0, and when."""

    source: str
    slug: str
    turn: int
    text: str
    at: datetime | None
    trust: Trust
    number: int = 0
    """Which statement of the store it is; later ones have higher numbers."""
    content_origin: ContentOrigin | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Stated:
    """How many statements a source has, and the numbers of the newest that hold a word with a beginning."""

    statements: int
    holding: Mapping[str, frozenset[int]]


@dataclass(frozen=True, slots=True)
class Said:
    """A statement brought to a turn, by which of the turn's words, and how likely the turn asks for it (0 to 1)."""

    text: str
    slug: str
    at: datetime | None
    trust: Trust
    arm: str
    confidence: float
    words: tuple[str, ...]
    source: str = ""
    content_origin: ContentOrigin | None = None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Budget:
    """How much may be injected on one turn: pages pointed at, facts, tokens (ceil(UTF-16 units / 4)), UTF-8 bytes.

    `said` is how many statements of earlier conversations may come.
    """

    pages: int = 3
    volunteers: int = 3
    facts: int = 10
    tokens: int | None = None
    bytes: int = 8192
    said: int = 2


@dataclass(frozen=True, slots=True)
class TurnContext:
    """What a hook injects on one turn. `text` is "" when there is nothing to say."""

    text: str
    pointers: tuple[Pointer, ...] = ()
    volunteered: tuple[Pointer, ...] = ()
    facts: tuple[Fact, ...] = ()
    degraded: tuple[str, ...] = ()
    ms: float = 0.0
    said: tuple[Said, ...] = ()


@dataclass(frozen=True, slots=True)
class WriteReceipt:
    """What one write changed. `slug` is the page written, `facts` the ids of facts now active because of it.

    "unchanged" is also what was told already. `pending` are facts that contradict somebody who ranks higher
    (degraded "guarded"): they wait for the owner's word.
    `flags` is what was noticed in it. Of a write that is "held" until its owner has looked at it nothing can be read;
    `held` is its number.
    """

    source: str
    slug: str | None
    status: Literal["created", "updated", "unchanged", "held"]
    facts: tuple[int, ...] = ()
    expired: int = 0
    degraded: tuple[str, ...] = field(default=())
    pending: tuple[int, ...] = ()
    flags: tuple[str, ...] = ()
    held: int | None = None


HeldKind = Literal["page", "fact"]


@dataclass(frozen=True, slots=True)
class HeldWrite:
    """A write that is held back: who wrote it when, and `request`, the arguments of the call as JSON."""

    id: int | None
    source: str
    at: datetime
    writer: Writer
    kind: HeldKind
    request: str
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """One thing that answers a question: a remembered fact ("memory") or a piece of a page ("document").

    `score` is one scale for both kinds and never rises from one to the next. `faint` says that nothing speaks for it
    but that it came nearest.
    """

    id: str
    origin: Literal["memory", "document"]
    score: float
    rank: int
    item: Fact | Hit
    faint: bool = False


@dataclass(frozen=True, slots=True)
class Recalled(Listed[Found]):
    """What answers a question, best first, the lanes that ran, and codes for what could not (keys of DEGRADED)."""

    memories: tuple[Found, ...]
    lanes: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()

    def _listed(self) -> tuple[Found, ...]:
        return self.memories


@dataclass(frozen=True, slots=True)
class Result:
    """One thing that a search found: a remembered fact ("memory") or a page by its best piece ("document").

    `content` is None where none was asked for. `lanes` and `factors` say why it ranks where it does, if asked.
    """

    id: str
    origin: Literal["memory", "document"]
    name: str
    content: str | None
    score: float
    rank: int
    item: Page | Fact
    turn: int | None = None
    at: datetime | None = None
    lanes: tuple[LaneScore, ...] | None = None
    factors: tuple[Factor, ...] | None = None
    faint: bool = False
    superseded_by: str | None = None
    """Of a piece of a page that says what is so no longer: the fact that is, or "" where nothing took its place."""

    @property
    def slug(self) -> str | None:
        """The slug of the page; of a fact that of the page it is about, if any."""
        return self.item.slug if isinstance(self.item, Page) else self.item.entity


@dataclass(frozen=True, slots=True)
class Cost:
    """What an answer cost. `embedding_tokens` is None: no model here tells it."""

    latency_ms: float
    embedding_calls: int
    embedding_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Results(Listed[Result]):
    """One page of what a search found, best first, on one scale of scores that never rise.

    `total` counts the pages that were ranked, beyond these too, and the facts up to one beyond these: more are not
    read. `degraded` are keys of DEGRADED.
    """

    results: tuple[Result, ...]
    total: int
    limit: int
    offset: int
    lanes: tuple[str, ...]
    degraded: tuple[str, ...]
    usage: Cost

    @property
    def has_more(self) -> bool:
        """Whether something was ranked beyond these."""
        return self.total > self.offset + self.limit

    def _listed(self) -> tuple[Result, ...]:
        return self.results


@dataclass(frozen=True, slots=True)
class Dated:
    """Something that happened, or was said to be so from a date on; `date` is ISO 8601, as precise as it is known."""

    date: str
    text: str
    id: str
    item: Page | Fact


@dataclass(frozen=True, slots=True)
class Card:
    """What memory holds about one thing. `also` are the other pages that answer to the name that was asked."""

    page: Page
    facts: tuple[Fact, ...]
    also: tuple[PageRef, ...] = ()


@dataclass(frozen=True, slots=True)
class Changed:
    """One change as `delta` tells it, with what the item is now; `item` is None where it is there no longer."""

    seq: int
    id: str
    change: ChangeKind
    because: str
    at: datetime | None
    item: Page | Fact | None


@dataclass(frozen=True, slots=True)
class Delta:
    """What changed, and the cursor to ask with next time. `more` says that there is more already."""

    changes: tuple[Changed, ...]
    cursor: int
    more: bool


@dataclass(frozen=True, slots=True)
class History:
    """What became of one item: its changes oldest first, what took its place or was replaced by it, and its use."""

    id: str
    item: Page | Fact
    changes: tuple[Change, ...]
    supersedes: tuple[str, ...]
    superseded_by: str | None
    usage: Usage


ConflictKind = Literal["pending", "disagreement", "alike", "echo"]


@dataclass(frozen=True, slots=True)
class Contested:
    """Something that only a person can settle: what stands against what, and the commands that settle it.

    pending: the first contradicts the second, whose writer ranks higher. disagreement: two writers of one rank gave one
    slot different values; the first holds. alike: two that differ in one word, both current. echo: words that came
    back from outside.
    """

    kind: ConflictKind
    items: tuple[Page | Fact, ...]
    why: str
    settle: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ForgetReceipt:
    """What is no longer current. `guarded` items stand as they were: their writer ranks above who asked."""

    source: str
    mode: Literal["expire"]
    status: Literal["complete", "guarded"]
    forgotten: tuple[str, ...] = ()
    guarded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Correction:
    """What a correction changes, or would change where `status` is "preview". `created` is what it wrote anew."""

    source: str
    id: str
    action: CorrectionAction
    status: Literal["preview", "applied", "guarded"]
    affected: tuple[str, ...] = ()
    created: str | None = None


@dataclass(frozen=True, slots=True)
class Restored:
    """How many items of an export were kept anew, and how many were there already and stay as they are.

    `forgotten` are facts that say nothing but what was forgotten for good.
    """

    pages: int = 0
    facts: int = 0
    there: int = 0
    forgotten: int = 0


@dataclass(frozen=True, slots=True)
class CiteReceipt:
    """How many uses were kept, how many of them were known already, and the ids that the source does not hold."""

    recorded: int
    duplicates: int
    rejected: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PackItem:
    """One thing in a context pack: what it is for, why it is there, its words, and the pages it speaks of."""

    id: str
    facet: str
    reason: str
    score: float
    text: str
    item: Page | Fact
    related: tuple[Page, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """The items of one facet, as they stand under its heading."""

    facet: str
    title: str
    items: tuple[PackItem, ...]


@dataclass(frozen=True, slots=True)
class Omitted:
    """What was found and left out: unknown, duplicate, derived, limit or budget. An `item` is what the id names."""

    id: str
    reason: Literal["unknown", "duplicate", "derived", "limit", "budget"]
    item: Page | Fact | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class ContextPack:
    """What a session starts with. `markdown` holds what `sections` hold, in at most the tokens that were granted."""

    goal: str
    intent: Intent
    layer: Layer
    sections: tuple[Section, ...]
    total_items: int
    omitted: tuple[Omitted, ...]
    estimated_tokens: int
    markdown: str
