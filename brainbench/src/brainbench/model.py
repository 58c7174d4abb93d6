"""The values of the bench: scripts of events, and what was seen when they were played.

A Fixture has no field that could hold gold. Times are ISO 8601 UTC strings ending in Z.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

Role = Literal["user", "assistant"]
Actor = Literal["owner", "agent", "external"]
Stratum = Literal["easy", "medium", "hard"]
SeamKind = Literal["production", "contract"]
V1_SUITES = ("know-to-ask", "push", "write-back", "continuity")
"""The suites of the v1 interchange format."""
ITEM_SUITES = ("trust", "state-resolution", "deletion", "poisoning", "poisoning-default")
"""Those that judge what a memory keeps, shows and lets go of, by the items of gold."""
ONCE = ITEM_SUITES[:3]
"""Those of them that ask nothing of a harness, so that they are played once for all."""
SUITE_NAMES = (*V1_SUITES, *ITEM_SUITES)
"""Every suite that a fixture may declare and a seam may carry, in the order of SUITES."""
PUSH_SUITES = ("know-to-ask", "push")
"""Those that judge what is brought to every turn."""
_POINTER = re.compile(r"→ `([^`\n]+)`")
_BARE_TAG = re.compile(r"</?[a-zA-Z][\w-]*\s*/?>")
_BLANK_LETTERS = "\u115f\u1160\u17b4\u17b5\u3164\uffa0"
"""Letters by their category that have no shape."""
FACT_KINDS = ("event", "preference", "commitment", "belief", "fact")


class Capability(StrEnum):
    """What a system can be asked to do. A missing one makes a cell not applicable, never zero and never a pass."""

    PAGE_WRITE = "page_write"
    FACT_WRITE = "fact_write"
    CONVERSATION_WRITE = "conversation_write"
    SEARCH = "search"
    RECALL_FACTS = "recall_facts"
    CONTEXT = "context"
    EDIT = "edit"
    FORGET = "forget"
    PURGE = "purge"
    CONFIRM = "confirm"
    RESYNC = "resync"
    SOURCES = "sources"
    TRUST_LABELS = "trust_labels"
    HOOK_PROCESS = "hook_process"
    EXTRACTOR_SEAM = "extractor_seam"
    ADD = "add"
    GET = "get"
    UPDATE = "update"
    DELETE = "delete"
    DELETE_ALL = "delete_all"
    LIST = "list"
    META = "meta"
    EVENT_TIME = "event_time"
    SUPERSEDE = "supersede"
    AS_OF = "as_of"
    REOPEN = "reopen"
    WRITE_GATE = "write_gate"
    PRINCIPALS = "principals"
    HISTORY = "history"
    CONNECTOR = "connector"
    RECEIPTS = "receipts"
    STORAGE_DIR = "storage_dir"
    RAW_STORE = "raw_store"


Door = Literal[
    "tty",
    "local",
    "git",
    "mcp",
    "http",
    "cli",
    "connector:github",
    "connector:mail",
    "connector:web",
    "hook",
    "import",
    "restore",
    "peer",
    "raw_store",
]
"""Where something comes in. Only `tty` is a person who can be asked for a passphrase."""
DOORS_OF: Mapping[str, Door] = {"owner": "git", "agent": "mcp", "external": "connector:web"}
"""The door of an actor where an event names none."""
Challenge = Literal["pass", "fail", "absent"]
TextOrigin = Literal["user_said", "agent_inferred", "document", "tool_output", "import", "derived"]
Part = Literal["title", "body", "comment", "attachment"]


@dataclass(frozen=True, slots=True)
class By:
    """Who does something, and how: the actor, the door, and a principal such as "owner" or "agent:planner"."""

    actor: Actor = "owner"
    door: Door = "git"
    principal: str = "owner"


@dataclass(frozen=True, slots=True)
class SourceDecl:
    """A scope of the fixture's memory, and whose it is."""

    id: str
    owner: Literal["user", "agent", "external"] = "user"


@dataclass(frozen=True, slots=True)
class Turn:
    """Something said. Only user turns ask the memory for context."""

    event_id: int
    role: Role
    text: str
    ts: str | None = None
    source: str | None = None
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class Write:
    """Something given to the memory to keep: a page (with `slug`), or a fact (`slug` is its entity, if known)."""

    event_id: int
    via: Literal["page", "fact", "tool", "connector"]
    actor: Actor
    content: str
    slug: str | None = None
    claims: tuple[str, ...] = ()
    ts: str | None = None
    source: str | None = None
    session: str | None = None
    by: By | None = None
    name: str | None = None
    origin: TextOrigin | None = None
    entity: str | None = None
    attribute: str | None = None
    replaces: str | None = None
    valid_from: str | None = None
    lineage: tuple[str, ...] = ()
    part: Part | None = None
    """`name` is what later events call it (`as` in the file); `replaces` and `lineage` are such names."""


@dataclass(frozen=True, slots=True)
class Target:
    """What an event is about; exactly one field is set. `name` is that of an earlier write."""

    slug: str | None = None
    fact: str | None = None
    text: str | None = None
    name: str | None = None


EditOp = Literal["content", "replace", "rename", "copy", "metadata", "raw_store"]


@dataclass(frozen=True, slots=True)
class Edit:
    """Something changes: to new `content`, by replacing the first `old` with `new`, or as its `op` says.

    `to` is the slug of a renamed or copied page, `sql` what a stranger runs on the stored file itself.
    """

    event_id: int
    slug: str | None
    actor: Actor
    content: str | None = None
    replace: tuple[str, str] | None = None
    ts: str | None = None
    source: str | None = None
    by: By | None = None
    name: str | None = None
    target: Target | None = None
    op: EditOp | None = None
    to: str | None = None
    sql: str | None = None


@dataclass(frozen=True, slots=True)
class Forget:
    """Expire (history is kept), purge (nothing is kept), or lift a purge."""

    event_id: int
    target: Target
    mode: Literal["expire", "purge", "lift"]
    actor: Actor
    ts: str | None = None
    source: str | None = None
    by: By | None = None
    name: str | None = None
    challenge: Challenge = "absent"


@dataclass(frozen=True, slots=True)
class Confirm:
    """The owner vouches for something, or somebody tries to."""

    event_id: int
    target: Target
    actor: Actor
    door: str
    ts: str | None = None
    source: str | None = None
    by: By | None = None
    name: str | None = None
    op: Literal["confirm", "unconfirm", "release", "discard"] = "confirm"
    challenge: Challenge = "absent"


ResyncOp = Literal["git", "stale", "transcript", "restore", "peer", "import"]


@dataclass(frozen=True, slots=True)
class Resync:
    """Files arrive as they are at their origin, perhaps stale: path -> text."""

    event_id: int
    snapshot: tuple[tuple[str, str], ...]
    ts: str | None = None
    source: str | None = None
    by: By | None = None
    name: str | None = None
    op: ResyncOp = "git"


@dataclass(frozen=True, slots=True)
class SessionBreak:
    """The conversation ends and another begins. With `persist` the closed one is written back first.

    With `jobs` the memory does what it does between sessions; with `crash` it is killed and started again.
    """

    event_id: int
    harness: str | None = None
    persist: bool = False
    ts: str | None = None
    source: str | None = None
    jobs: bool = False
    crash: bool = False


Event = Turn | Write | Edit | Forget | Confirm | Resync | SessionBreak


@dataclass(frozen=True, slots=True)
class ScriptedFact:
    """What an extractor would say of a turn: an input, not gold. It has no slug: finding the entity is measured."""

    event_id: int
    quote: str
    mention: str | None
    fact: str
    kind: str
    valid_from: str | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """Which v1 fixture and turn an event came from; native events are their own origin."""

    fixture_id: str
    turn_id: int


@dataclass(frozen=True, slots=True)
class Fixture:
    """A script of events, and the capabilities it needs.

    `declares` lists, per fixture id that this script stands for, the suites that may judge its events: one entry
    for a native or plain v1 fixture, two for a v1 writer and reader. `origins` maps event ids to v1 turns.
    """

    fixture_id: str
    suites: tuple[str, ...]
    category: str
    stratum: Stratum
    language: str
    events: tuple[Event, ...]
    setup: tuple[Write, ...] = ()
    scripted_facts: tuple[ScriptedFact, ...] = ()
    sources: tuple[SourceDecl, ...] = (SourceDecl("default"),)
    active_source: str = "default"
    requires: frozenset[Capability] = frozenset()
    tags: tuple[str, ...] = ()
    universe: str | None = None
    holdout: bool = False
    schema_version: Literal[1, 2] = 2
    file: str = ""
    declares: tuple[tuple[str, tuple[str, ...]], ...] = ()
    origins: tuple[tuple[int, Origin], ...] = ()


@dataclass(frozen=True, slots=True)
class FactRow:
    """A stored fact as the system tells it: its `text`, its `entity` as a page id, and where it says it came from.

    `source` names what told it, in words of the system, and is not empty. Of a session that was written back,
    `source_page` is the id that `write_conversation` gave and `source_session` is `<source of the memory>:<that id>`.
    """

    text: str
    entity: str | None
    source: str
    source_session: str | None
    source_page: str | None


@dataclass(frozen=True, slots=True)
class Extraction:
    """What a model said of a session, before anything of it was kept.

    `unquoted` of the facts were left out because nobody said their quote; `unreadable` answers gave no fact.
    """

    facts: tuple[str, ...] = ()
    unquoted: int = 0
    unreadable: int = 0


@dataclass(frozen=True, slots=True)
class Observation:
    """What crossed the seam on one event.

    `ids` are the pages injected, in order, without repeats; `text` all that was injected; `facts` the rows that
    `recall_facts` gave (after a persisted session: all of the source; on a reader's turn: within budget).
    `error` says why an event could not be observed: such an event is never a score. Latency is recorded and
    never compared.
    """

    event_id: int
    kind: Literal["turn", "persist", "write"]
    text: str = ""
    ids: tuple[str, ...] = ()
    tokens: int = 0
    facts: tuple[FactRow, ...] = ()
    session_page: str | None = None
    degraded: tuple[str, ...] = ()
    error: str | None = None
    latency_ms: float = 0.0
    extraction: Extraction | None = None
    """Of a session that a model has read; None where facts were scripted."""


CellStatus = Literal["scored", "not_applicable", "invalid", "failed"]


@dataclass(frozen=True, slots=True)
class Replayed:
    """One fixture played through one seam of one system.

    `seed_failure` means that the memory could not be filled: the fixture is unscored. `missing` lists required
    capabilities that the system lacks: the fixture is not applicable and in no denominator.
    """

    fixture_id: str
    system: str
    seam: str
    observations: tuple[Observation, ...] = ()
    facts: tuple[FactRow, ...] = ()
    seed_failure: str | None = None
    missing: tuple[str, ...] = ()
    can: tuple[str, ...] = ()
    protected: bool = False
    sights: tuple[Sight, ...] = ()
    later: tuple[Later, ...] = ()
    """What the item suites judge: each act, what later sessions were given, and what the memory claims to do."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation as a harness knows it.

    `role` is "user" or "assistant"; `text` is what was said, whole; `ts` is when, or None where the script says
    nothing.
    """

    role: Role
    text: str
    ts: str | None = None


@dataclass(frozen=True, slots=True)
class Budget:
    """How much a seam lets a memory inject on one turn.

    `pages` is how many it may point at, 1 or more; those beyond what the harness takes are cut. `tokens` is how
    much text, a token being four UTF-16 units; None, as in every seam that comes with the bench, is no bound: what
    is injected is counted and printed.
    """

    pages: int
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Ask:
    """What a `harness` asks a memory on one user turn; `messages` is the session so far, oldest first, and the prompt.

    `source` is the scope that is asked. `injected` are the texts injected earlier in this session, oldest first;
    `session` is opaque; `now` is the bench's clock. The harness shows its memory `window` turns of the `roles`, and
    takes no more than the `budget`: a memory that keeps to that does as it would there.
    """

    harness: str
    session: str
    source: str
    messages: tuple[Message, ...]
    injected: tuple[str, ...]
    budget: Budget
    now: str
    window: int = 4
    roles: tuple[Role, ...] = ("user", "assistant")


@dataclass(frozen=True, slots=True)
class Injection:
    """What a memory put before the model. A `text` that says nothing is silence, whatever the `ids` are: see `says`.

    `ids` are the page ids that it brings, best first, as `write_page` was given them as `slug`. With None they are
    read from pointers in the text: an arrow, a space and the id in backquotes, as in "- **Ada** → `people/ada`". ()
    says that the text points at no page. `preamble` opened the session: its tokens count, its slugs are no
    injections, and it is not prior context. `degraded` names what did not work, in words of the memory; it is kept
    and not scored.
    """

    text: str
    ids: tuple[str, ...] | None = None
    preamble: str = ""
    degraded: tuple[str, ...] = ()

    @property
    def brought(self) -> tuple[str, ...]:
        """The pages that it brings, each once; none without a text, since nothing then stands before the model.

        >>> Injection("- **Ada** → `people/ada`").brought, Injection("", ids=("people/ada",)).brought
        (('people/ada',), ())
        """
        if not says(self.text):
            return ()
        return pointer_ids(self.text) if self.ids is None else tuple(dict.fromkeys(self.ids))


def says(text: str) -> bool:
    """Whether a text holds a letter or a digit that can be seen; tags without attributes are none.

    >>> says("Ada"), says(" "), says("<!-- -->"), says("\\u200b&nbsp;**---**"), says("<memory></memory>")
    (True, False, False, False, False)
    """
    shown = _BARE_TAG.sub(" ", html.unescape(text))
    return any(unicodedata.category(c)[0] in "LN" and c not in _BLANK_LETTERS for c in shown)


def pointer_ids(text: str) -> tuple[str, ...]:
    """The page ids that a rendered block points at, in order, each once.

    >>> pointer_ids("- **A** → `people/a`\\n- **B** → `people/b` and again → `people/a`")
    ('people/a', 'people/b')
    """
    return tuple(dict.fromkeys(_POINTER.findall(text)))


@dataclass(frozen=True, slots=True)
class SearchHit:
    """A page found by search.

    `id` is the `slug` that `write_page` was given. A hit counts for a name where its `title`, one of its `aliases`
    or the last part of its `id` holds that name as whole words; "" and () tell nothing. `text` is what
    an application would put before a model, such as the page or a passage. The order of hits is what counts, best
    first; `score` is on any scale and is not compared. Of a page that holds a written conversation, `turns` are the
    messages that were found, counted from 0, best first.
    """

    id: str
    title: str = ""
    text: str = ""
    score: float = 0.0
    aliases: tuple[str, ...] = ()
    turns: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PageIn:
    """A page to be kept.

    `source` is one of those that `open` named, and `slug` the page's id there, as in `people/ada-lovelace`.
    `content` is Markdown; its front matter may hold `title`, `type` and `aliases`, as in "---\\ntitle: Ada
    Lovelace\\ntype: person\\naliases: [ada]\\n---\\n\\nText.\\n". `actor` is who writes: "owner", "agent" or
    "external". `ts` is when, or None. A slug that is written again is replaced.
    """

    source: str
    slug: str
    content: str
    actor: Actor = "owner"
    ts: str | None = None


@dataclass(frozen=True, slots=True)
class FactIn:
    """A fact to be kept in a `source`: its `text`, and as `entity` the page id of whom it is about, or None.

    `session` is where it was said, or None; `actor` is who writes: "owner", "agent" or "external"; `ts` is when, or
    None.
    """

    source: str
    text: str
    entity: str | None = None
    session: str | None = None
    actor: Actor = "owner"
    ts: str | None = None


@dataclass(frozen=True, slots=True)
class ItemIn:
    """Something to be kept in a `source`, under an id of the memory's own.

    `name` is an id that is free, for a memory that takes ids from its callers; sent again, it is the same write, sent
    by a client that heard no answer. `title` may be "". `ts` is when it was so, or None; that is not when it is
    written. `meta` comes back as it is, and `replaces` is the id of what it takes the place of, or None: both, and
    `ts`, are given only where the memory claims `meta`, `supersede` and `event_time`.
    """

    source: str
    text: str
    name: str
    title: str = ""
    ts: str | None = None
    meta: Mapping[str, str | int] = field(default_factory=dict, hash=False)
    replaces: str | None = None


@dataclass(frozen=True, slots=True)
class ItemRow:
    """Something that is kept, as the memory tells it: the `text` as it was given, under the id that `add_item` gave.

    `at` is when it was so and `made` when it was first written, in ISO 8601; "" where the memory does not tell. What
    has been replaced names its successor in `superseded_by`. What claims `trust_labels` says besides under which tier
    it is shown, as "agent_written", and how it stands: "active", "superseded", "expired", "pending" or "held", each ""
    where it does not tell; and what was noticed of it, as "spoof" or "integrity:failed".
    """

    id: str
    text: str
    at: str = ""
    made: str = ""
    meta: Mapping[str, str | int] = field(default_factory=dict, hash=False)
    superseded_by: str | None = None
    trust: str = ""
    status: str = ""
    flags: tuple[str, ...] = ()


Outcome = Literal["kept", "unchanged", "held", "refused", "guarded", "pending", "not_found", "done"]


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a memory says that it forgot: an id to lift it by, and every store that held it, as tables or files."""

    id: str
    status: Literal["complete", "pending", "residual", "pending_owner"]
    stores: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    """What a memory answered to one act. `id` is that of what was kept; `why` the words of what it refused."""

    id: str | None = None
    outcome: Outcome = "kept"
    flags: tuple[str, ...] = ()
    why: str = ""
    receipt: Receipt | None = None


@dataclass(frozen=True, slots=True)
class WriteIn:
    """Something that `by` somebody comes into a `source`: a page under a `slug`, else a statement.

    `of` is the id of what is given another text, `replaces` that of the statement whose place it takes, `lineage` are
    ids of what it was made from. `origin` is what the writer says of its text, `entity` the page id of what it is
    about, `attribute` what of that; `part` which part of an outside thing it is.
    """

    source: str
    text: str
    name: str
    by: By = field(default_factory=By)
    slug: str | None = None
    of: str | None = None
    origin: TextOrigin | None = None
    entity: str | None = None
    attribute: str | None = None
    replaces: str | None = None
    valid_from: str | None = None
    lineage: tuple[str, ...] = ()
    part: Part | None = None
    ts: str | None = None


@dataclass(frozen=True, slots=True)
class ForgetIn:
    """What `by` somebody is to be forgotten; of a "lift" `receipt` is the id that the purge gave."""

    source: str
    ids: tuple[str, ...]
    mode: Literal["expire", "purge", "lift"]
    by: By = field(default_factory=By)
    challenge: Challenge = "absent"
    receipt: str | None = None


@dataclass(frozen=True, slots=True)
class VouchIn:
    """The owner's word on a thing, by whoever gives it: at a terminal with the right passphrase, another or none."""

    source: str
    id: str
    op: Literal["confirm", "unconfirm", "release", "discard"]
    by: By = field(default_factory=By)
    challenge: Challenge = "absent"


@dataclass(frozen=True, slots=True)
class ResyncIn:
    """Files as they are at their origin, path -> text: by a sync, from a backup, a peer or an export."""

    source: str
    op: ResyncOp
    files: Mapping[str, str] = field(default_factory=dict, hash=False)
    by: By = field(default_factory=By)


Surface = Literal["stored", "page", "search", "recall", "history"]
SURFACES: tuple[Surface, ...] = ("stored", "page", "search", "recall", "history")


@dataclass(frozen=True, slots=True)
class RowQuery:
    """What a memory shows on one of its surfaces: all that it holds, a page by its id, what it finds, what it had.

    `stored` is everything, whatever its standing; `history` all that `recall` gives when what was is asked for too.
    `as_of` is when it was so, `known_at` when it was known.
    """

    source: str
    surface: Surface
    query: str = ""
    limit: int = 20
    as_of: str | None = None
    known_at: str | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """What stood on one surface, for one query."""

    surface: Surface
    source: str
    query: str = ""
    as_of: str | None = None
    known_at: str | None = None
    rows: tuple[ItemRow, ...] = ()
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Sight:
    """One act of a script and what a memory showed after it.

    `before` and `after` are the files of its directory around an act that forgets, packed. `reopened` are its surfaces
    once it was started again. `deviation` says where another act stood in for one that it has no door for.
    """

    event_id: int
    reply: Reply | None = None
    shown: tuple[Shown, ...] = ()
    error: str | None = None
    before: bytes = b""
    after: bytes = b""
    deviation: str = ""


@dataclass(frozen=True, slots=True)
class Later:
    """What a later session was given unasked: on a user turn of the script through the seam, or as its opening pack."""

    event_id: int
    source: str
    kind: Literal["turn", "pack"]
    text: str = ""
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A closed session to be written back: all its `messages`, oldest first, into a `source`.

    `session` is opaque. `scripted` is what an extractor would say, for systems with that seam. `now` is the bench's
    clock.
    """

    source: str
    session: str
    messages: tuple[Message, ...]
    scripted: tuple[ScriptedFact, ...] = ()
    now: str = ""


@dataclass(frozen=True, slots=True)
class ModelDoor:
    """Where a system may ask the model of the run, as an OpenAI-compatible address; the token is for this run alone."""

    url: str
    model: str
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class RunContext:
    """What a system learns of a fixture before it starts: an opaque id, its scopes and an empty directory.

    `run_id` says nothing of the fixture: in a run, 32 hexadecimal digits. `sources` are all scopes that it will
    name, one or more, and `active_source` is the id of that which is asked where nothing else is said. `directory`
    is an absolute path that is removed after the fixture. `seed` is for what a system draws by lot. With a `door`
    conversations come without scripted facts: a system with an extractor uses that, on this model. With `protected` a
    system that claims `write_gate` holds back what it would only mark otherwise.
    """

    run_id: str
    sources: tuple[SourceDecl, ...]
    active_source: str
    directory: str
    seed: int = 42
    door: ModelDoor | None = None
    protected: bool = False


@dataclass(frozen=True, slots=True)
class SeamConfig:
    """Where the bench takes hold of a harness, as data.

    `window` counts the turns a memory is shown, `volunteers` the pages that it may offer on a turn besides those it
    points at; `process` says that the shipped hook command runs as a process; `deviations` lists how this differs
    from the harness itself, printed on every scoreboard.
    """

    name: str
    kind: SeamKind
    codec: str
    budget: Budget
    window: int = 4
    roles: tuple[Role, ...] = ("user", "assistant")
    volunteers: int = 0
    process: bool = False
    deadline_ms: int | None = None
    suites: tuple[str, ...] = SUITE_NAMES
    deviations: tuple[str, ...] = field(default=())

    @property
    def capacity(self) -> int:
        """How many pages a memory can bring to one turn: those it points at, and volunteers."""
        return self.budget.pages + self.volunteers
