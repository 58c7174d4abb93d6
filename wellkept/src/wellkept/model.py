"""The values that cross wellkept's layers. All frozen; times are aware UTC datetimes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import IntEnum
from typing import Literal

Role = Literal["user", "assistant"]
FactKind = Literal["event", "preference", "commitment", "belief", "fact"]
FACT_KINDS: tuple[FactKind, ...] = ("event", "preference", "commitment", "belief", "fact")
Status = Literal["active", "superseded", "expired", "deleted"]
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


_TRUST_LABELS = {
    Trust.EXTERNAL_UNTRUSTED: "external, untrusted",
    Trust.AGENT_WRITTEN: "unconfirmed, agent-written",
    Trust.USER_WRITTEN: "user-written",
    Trust.USER_CONFIRMED: "user-confirmed",
}


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
    """

    ordinal: int
    text: str
    lead: str = ""
    turn: int | None = None
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement with its entity (a page slug, or None when it could not be told) and its provenance."""

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
    control: ranks of words and vectors merged, nothing else. Only pages of `types` are found if given, and only what
    is from `as_of` or before. With `reference_time` a time that the query names ("last week") raises what is from
    then; `recency` lets what is new go before what is old, as seen from `reference_time`. `rerank` lets the reranker
    of the settings, if any, order the first hits anew.
    """

    unit: SearchUnit = "page"
    mode: SearchMode = "hybrid"
    types: tuple[str, ...] = ()
    as_of: datetime | None = None
    reference_time: datetime | None = None
    recency: bool = False
    rerank: bool = False


@dataclass(frozen=True, slots=True)
class LaneScore:
    """What one lane said of a hit: its rank there from 1, its raw score, and the weight of the lane in the sum."""

    lane: str
    rank: int
    score: float
    weight: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A search result: what was found, how well it ranked (higher is better), its tier, and why it ranked.

    `ordinal` is the piece of the page; `turn` (from 0) and `at` say which turn of a conversation it is of, and when.
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


@dataclass(frozen=True, slots=True)
class Ranking:
    """An answered search: its hits, best first, the lanes that ran, and why others did not."""

    hits: tuple[Hit, ...]
    lanes: tuple[str, ...] = ()
    degraded: tuple[str, ...] = ()


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


@dataclass(frozen=True, slots=True)
class Budget:
    """How much may be injected on one turn: pages pointed at, tokens (ceil(UTF-16 units / 4)), UTF-8 bytes."""

    pages: int = 3
    volunteers: int = 3
    facts: int = 10
    tokens: int | None = None
    bytes: int = 8192


@dataclass(frozen=True, slots=True)
class TurnContext:
    """What a hook injects on one turn. `text` is "" when there is nothing to say."""

    text: str
    pointers: tuple[Pointer, ...] = ()
    volunteered: tuple[Pointer, ...] = ()
    facts: tuple[Fact, ...] = ()
    degraded: tuple[str, ...] = ()
    ms: float = 0.0


@dataclass(frozen=True, slots=True)
class WriteReceipt:
    """What one write changed. `slug` is the page written, `facts` the ids of facts now active because of it."""

    source: str
    slug: str | None
    status: Literal["created", "updated", "unchanged"]
    facts: tuple[int, ...] = ()
    expired: int = 0
    degraded: tuple[str, ...] = field(default=())
