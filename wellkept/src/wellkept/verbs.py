"""The verbs: one table from which every door is made, and the one way through which a door calls them.

A verb is a method of Memory. Its arguments have the same names, limits and defaults at every door, its answer is the
same JSON, and what it refuses carries the same code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

from wellkept.errors import PROBLEMS, InvalidInput, NotFound, ScopeDenied, WellkeptError
from wellkept.model import AGENT, Writer

if TYPE_CHECKING:
    from datetime import datetime

    from wellkept.memory import Memory

Effect = Literal["any", "read", "write", "cite", "admin", "owner"]
Kind = Literal["text", "number", "switch", "moment", "texts", "object", "objects", "turns"]
Scope = Literal["read", "write", "cite", "admin"]
SCOPES: tuple[Scope, ...] = ("read", "write", "cite", "admin")

ALLOWED: Mapping[Effect, frozenset[str]] = {
    "any": frozenset(SCOPES),
    "read": frozenset({"read", "write", "admin"}),
    "write": frozenset({"write", "admin"}),
    "cite": frozenset({"cite", "write", "admin"}),
    "admin": frozenset({"admin"}),
    "owner": frozenset(),
}
"""Which scopes of a token let it do what. What only the owner does, no token lets anybody do."""

MOST_RESULTS = 50
LONGEST_QUERY = 20_000
MOST_TURNS = 50
DECIDED_BY_THE_DOOR = frozenset("source actor writer trust tier trust_tier channel principal confirmed".split())
"""What a caller is comes from its token or terminal and never from what it says."""


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a verb; `least` and `most` bound a number, or the length of a text or list."""

    name: str
    help: str
    kind: Kind = "text"
    required: bool = False
    default: object = None
    least: int | None = None
    most: int | None = None
    choices: tuple[str, ...] = ()
    flag: str = ""
    """Its option on the command line, where that is not its name."""


@dataclass(frozen=True, slots=True)
class Verb:
    """What can be asked of a memory. `many` is the name of the list in the answer, where it is one."""

    name: str
    effect: Effect
    summary: str
    arguments: tuple[Argument, ...]
    many: str = ""
    doors: frozenset[str] = frozenset({"cli", "http", "mcp"})


_KINDS_OF_FACT = ("event", "preference", "commitment", "belief", "fact")
_ROLES = ("user", "assistant")
_INTENTS = ("build", "plan", "ideate", "decide", "review", "debug", "learn", "research", "general")
_ORIGINS = ("user_said", "agent_inferred", "document", "tool_output", "import", "derived")
_TIERS = ("external_untrusted", "agent_written", "user_written", "user_confirmed")
_MODES = ("hybrid", "lexical", "vector", "naive")
_LIMIT = Argument("limit", "At most so many.", "number", default=10, least=1, most=MOST_RESULTS)
_QUERY = Argument("query", "Plain words; a question will do.", required=True, least=1, most=LONGEST_QUERY)
_HISTORY = Argument("include_history", "Also what is no longer current.", "switch", default=False)
_KNOWN_AT = Argument("known_at", "As known then (ISO 8601).", "moment")
_REASON = Argument("reason", "Why, kept in the history.", default="", most=1000)
_ID = Argument("id", "A page's slug, or fact:NUMBER.", required=True, least=1, most=520)
_IDS = Argument("ids", "Slugs of pages, or fact:NUMBER.", "texts", required=True, least=1, most=100)
ORIGIN = Argument("content_origin", "Where the text is from; can only lower its trust.", choices=_ORIGINS)
_NAMED = 512
_ISO = " (ISO 8601)"


def _verbs(*verbs: Verb) -> Mapping[str, Verb]:
    return {verb.name: verb for verb in verbs}


VERBS: Mapping[str, Verb] = _verbs(
    Verb(
        "remember",
        "write",
        "Keep one statement as a fact.",
        (
            Argument("text", "The statement, in one sentence.", required=True, least=1, most=50_000),
            Argument("entity", "The slug of the page it is about.", least=1, most=_NAMED),
            Argument(
                "attribute",
                "Its attribute: one value; several in name[].",
                least=1,
                most=_NAMED,
            ),
            Argument("kind", "Its kind.", default="fact", choices=_KINDS_OF_FACT),
            Argument("replaces", "The fact that it replaces, as fact:NUMBER.", least=1, most=520),
            Argument("valid_from", "Since when (ISO 8601).", "moment"),
            Argument("valid_until", "Until when (ISO 8601).", "moment"),
            Argument("session", "Where it was said.", least=1, most=_NAMED),
            ORIGIN,
        ),
    ),
    Verb(
        "recall",
        "read",
        "What memory knows about a question: facts and pieces of pages, best first.",
        (
            _QUERY,
            Argument("entity", "Only facts about the page of this slug.", least=1, most=_NAMED),
            _LIMIT,
            Argument("as_of", "Facts as of then (ISO 8601).", "moment"),
            _KNOWN_AT,
            _HISTORY,
        ),
        many="memories",
    ),
    Verb(
        "search",
        "read",
        "Find facts and pages by words and meaning, filtered, best first.",
        (
            _QUERY,
            _LIMIT,
            Argument("offset", "Leave out the first so many.", "number", default=0, least=0, most=1000),
            Argument(
                "types", "Only of these types; of a fact its kind.", "texts", default=(), least=0, most=32, flag="type"
            ),
            Argument(
                "labels",
                "Only what such a writer wrote.",
                "texts",
                default=(),
                least=0,
                most=4,
                choices=_TIERS,
                flag="label",
            ),
            Argument("occurred_after", "Nothing before (ISO 8601).", "moment", flag="after"),
            Argument("occurred_before", "Nothing from then on (ISO 8601).", "moment", flag="before"),
            Argument("as_of", "As it was then (ISO 8601).", "moment"),
            _KNOWN_AT,
            Argument("reference_time", 'From when "last week" in the query counts (ISO 8601).', "moment"),
            Argument("scopes", "All is private so far.", "texts", default=(), least=0, most=1, choices=("private",)),
            Argument("include_memory", "Remembered facts.", "switch", default=True, flag="facts"),
            Argument("include_documents", "Pages.", "switch", default=True, flag="pages"),
            Argument("include_content", "With their words.", "switch", default=True, flag="content"),
            Argument("content_max_chars", "At most so many of each.", "number", default=500, least=0, most=50_000),
            Argument(
                "retrieval_mode",
                "By words and meaning, by one, or by plain ranks of both.",
                default="hybrid",
                choices=_MODES,
                flag="mode",
            ),
            Argument("rerank", "Let the reranker of the settings look.", "switch", default=False),
            Argument("record_exposure", "Let a capture of queries keep it.", "switch", default=True, flag="record"),
            Argument("diagnostics", "Why each ranks where it does.", "switch", default=False, flag="explain"),
        ),
        many="results",
    ),
    Verb(
        "get_page",
        "read",
        "One page as it was written.",
        (Argument("slug", "The slug of the page.", required=True, least=1, most=_NAMED),),
    ),
    Verb(
        "put_page",
        "write",
        "Create or replace a page of Markdown.",
        (
            Argument("slug", "Its path-like name, as people/ada.", required=True, least=1, most=_NAMED),
            Argument("content", "Markdown, with front matter if any.", required=True, most=4 * 1024 * 1024),
            ORIGIN,
            Argument("source_id", "Your own id of it.", least=1, most=_NAMED),
            Argument("url", "Where it is from.", least=1, most=_NAMED),
            Argument("valid_at", "When it was so (ISO 8601).", "moment"),
            Argument("metadata", "Anything of yours, as a JSON object.", "object"),
            Argument("again", "Bring it back if it was forgotten.", "switch", default=False),
        ),
    ),
    Verb(
        "entity",
        "read",
        "What is known about a person or thing, by any of its names.",
        (Argument("name", "A name, alias or slug.", required=True, least=1, most=_NAMED), _HISTORY),
    ),
    Verb(
        "context",
        "read",
        "What a hook adds at this turn: the pages and facts that it calls for, labelled. Often nothing.",
        (
            Argument("text", "What the user just said.", required=True, least=1, most=200_000),
            Argument("earlier", "Turns before it, oldest first: {role: user | assistant, text}.", "turns", default=()),
            Argument(
                "prior", "What the model has seen already; its pages are not brought again.", default="", most=200_000
            ),
            Argument("session", "The conversation, whose facts come first.", least=1, most=_NAMED),
        ),
    ),
    Verb(
        "context_pack",
        "read",
        "What a session should start with, for a goal: one labelled text within a budget, and what was left out.",
        (
            Argument("goal", "What the session is for.", required=True, least=1, most=4000),
            Argument("entities", "Names or slugs that come first.", "texts", default=(), least=0, most=64),
            Argument("intent", "Which sections come first.", default="build", choices=_INTENTS),
            Argument(
                "layer", "How much: 8, 24 or 50 items.", default="recall", choices=("wake", "recall", "deep_search")
            ),
            Argument("limit", "At most so many items.", "number", default=24, least=1, most=MOST_RESULTS),
            Argument("include_related", "Name the pages that an item speaks of.", "switch", default=True),
            Argument("related_limit", "At most so many of them.", "number", default=3, least=0, most=5),
            Argument(
                "markdown_token_budget", "At most so many tokens.", "number", default=4000, least=100, most=32_000
            ),
        ),
    ),
    Verb(
        "delta",
        "read",
        "What changed since a cursor.",
        (
            Argument("since", "The cursor of the last answer; 0 for everything.", "number", default=0, least=0),
            Argument("limit", "At most so many.", "number", default=100, least=1, most=1000),
        ),
    ),
    Verb(
        "forget",
        "write",
        "Let facts or pages be current no longer. Their history is kept.",
        (
            _IDS,
            Argument("mode", "purge is the owner's, at a terminal.", default="expire", choices=("expire", "purge")),
            _REASON,
        ),
    ),
    Verb("confirm", "owner", "The owner vouches for an item. Refused to everybody else.", (_ID,)),
    Verb(
        "timeline",
        "read",
        "What happened to a person or thing, oldest first.",
        (
            Argument("entity", "A name, alias or slug.", required=True, least=1, most=_NAMED),
            Argument("since", "Nothing before (ISO 8601).", "moment"),
            Argument("until", "Nothing after (ISO 8601).", "moment"),
        ),
        many="entries",
    ),
    Verb(
        "conflicts",
        "read",
        "What only the owner can settle, and how.",
        (),
        many="conflicts",
    ),
    Verb("history", "read", "What became of one fact or page since it was written.", (_ID,)),
    Verb(
        "correct",
        "write",
        "Put right what memory says of one item. Only shows what it would do unless preview is false.",
        (
            _ID,
            Argument(
                "action",
                "What to do.",
                required=True,
                choices=("revise", "supersede", "mark_wrong", "mark_stale", "restore"),
            ),
            Argument(
                "replacement", "revise: the right text. supersede: the id of the successor.", most=4 * 1024 * 1024
            ),
            _REASON,
            Argument("preview", "Only show what would change.", "switch", default=True),
        ),
    ),
    Verb(
        "cite",
        "cite",
        "Say that items were of use, or misled.",
        (
            _IDS,
            Argument("misled", "They misled.", "switch", default=False),
            Argument("session", "The conversation.", least=1, most=_NAMED),
            Argument("message", "The message; the same one counts once.", least=1, most=_NAMED),
        ),
    ),
    Verb(
        "export",
        "admin",
        "Everything that is held, with its labels.",
        (),
        many="items",
        doors=frozenset({"cli", "http"}),
    ),
)


@dataclass(frozen=True, slots=True)
class Caller:
    """On whose behalf a door calls, as the door knows it. Without `scopes` everything that the writer may do."""

    source: str
    writer: Writer = AGENT
    scopes: frozenset[str] | None = None
    now: datetime | None = None


def call(memory: Memory, name: str, arguments: Mapping[str, object], caller: Caller) -> dict[str, Any]:
    """The answer of a verb as JSON types. Raises what the verb raises, InvalidInput for its arguments, ScopeDenied."""
    import inspect

    from wellkept import wire

    verb = VERBS.get(name)
    if verb is None:
        raise NotFound(f"there is no verb {name!r}. Verbs: {', '.join(VERBS)}")
    allow(verb.effect, caller, verb.name)
    asked = read_arguments(verb, arguments)
    method = getattr(memory, name)
    takes = inspect.signature(method).parameters
    if "told" in takes:
        asked = wire.folded(asked)
    if "window" in takes:
        asked["window"] = wire.window(asked.pop("text"), asked.pop("earlier"))
    if "writer" in takes:
        asked["writer"] = caller.writer
    if "now" in takes:
        asked["now"] = caller.now
    found = wire.answer(method(caller.source, **asked), verb.many)
    if verb.effect in ("read", "admin") and not _is_known(memory, caller.source):
        found["note"] = f"nothing was ever kept in source {caller.source!r}"
    return found


def _is_known(memory: Memory, source: str) -> bool:
    """Whether something was ever kept where a caller reads; an empty answer alone would not tell a wrong name."""
    wanted = {source, *getattr(memory, "also", ())}
    return any(one.id in wanted for one in memory.store.sources())


def allow(effect: Effect, caller: Caller, what: str) -> None:
    """ScopeDenied unless the caller may do what has this effect."""
    if caller.scopes is not None and not caller.scopes & ALLOWED[effect]:
        if effect == "owner":
            raise ScopeDenied(f"{what}: only the owner may, at a terminal: wellkept {what}")
        needs = " or ".join(sorted(ALLOWED[effect]))
        raise ScopeDenied(f"{what}: needs a token with scope {needs}; this one has {', '.join(sorted(caller.scopes))}")


def read_arguments(verb: Verb, given: Mapping[str, object]) -> dict[str, Any]:
    """The arguments of a call, with defaults. InvalidInput names the first that cannot be used."""
    import msgspec

    known = {argument.name for argument in verb.arguments}
    for name in given:
        if name not in known:
            decided = str(name) in DECIDED_BY_THE_DOOR
            why = "is decided by the door, not by the request" if decided else f"is unknown to {verb.name}"
            raise InvalidInput(str(name), f"{why}; it takes {', '.join(known and sorted(known)) or 'nothing'}")
    missing = [argument.name for argument in verb.arguments if argument.required and argument.name not in given]
    if missing:
        raise InvalidInput(missing[0], f"is missing; {verb.name} needs it")
    for argument in verb.arguments:
        said = given.get(argument.name)
        if argument.required and argument.least and isinstance(said, str) and not said.strip():
            raise InvalidInput(argument.name, f"is empty; {verb.name} needs it")
    named = {name: value for name, value in given.items() if value is not None}
    try:
        read: Any = msgspec.convert(named, type=request_type(verb))
    except msgspec.ValidationError as error:
        raise _unusable(verb, str(error)) from None
    found = {name: getattr(read, name) for name in (argument.name for argument in verb.arguments)}
    for argument in verb.arguments:
        if argument.kind == "moment" and found[argument.name] is not None:
            found[argument.name] = moment(argument.name, found[argument.name])
    return found


def moment(name: str, text: str) -> datetime:
    """An ISO 8601 date or time; one without an offset is UTC."""
    from datetime import UTC, datetime

    try:
        read = datetime.fromisoformat(text)
        return read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidInput(name, f"{text[:40]!r} is no ISO 8601 date or time, as 2026-01-31T12:00:00Z") from None


def schema(verb: Verb, *, brief: bool = False) -> dict[str, Any]:
    """The JSON Schema of a verb's arguments; a brief one is silent about lengths and forms: a refusal tells."""
    properties: dict[str, Any] = {argument.name: _schema_of(argument) for argument in verb.arguments}
    if brief:
        properties = {name: _briefly(said) for name, said in properties.items()}
    required = [argument.name for argument in verb.arguments if argument.required]
    found: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    return {**found, "required": required} if required else found


def problem(error: Exception, request_id: str = "") -> dict[str, Any]:
    """An error as every door says it (RFC 9457). What wellkept did not raise is told as a fault, without its text."""
    code = error.problem if isinstance(error, WellkeptError) else "internal"
    status, title = PROBLEMS[code]
    detail = str(error) if isinstance(error, WellkeptError) else f"{type(error).__name__}; nothing was kept"
    found: dict[str, Any] = {"type": f"urn:wellkept:problem:{code}", "title": title, "status": status}
    found |= {"detail": detail, "code": code}
    if request_id:
        found["request_id"] = request_id
    if isinstance(error, InvalidInput):
        pointer = "/" + error.field.replace("~", "~0").replace("[", "/").replace("]", "").replace(".", "/")
        found["errors"] = [{"pointer": pointer, "message": error.reason}]
    return found


@cache
def request_type(verb: Verb) -> type:
    """A type that holds the arguments of a verb, and refuses what is beyond their bounds."""
    import msgspec

    required = [(one.name, _type_of(one)) for one in verb.arguments if one.required]
    optional = [(one.name, _type_of(one), one.default) for one in verb.arguments if not one.required]
    return msgspec.defstruct(f"{verb.name}_arguments", [*required, *optional], forbid_unknown_fields=True, kw_only=True)


def _type_of(argument: Argument) -> Any:
    from typing import Annotated

    import msgspec

    kind = argument.kind
    if argument.choices:
        found: Any = Literal[argument.choices]
        if kind == "texts":
            found = Annotated[list[found], msgspec.Meta(min_length=argument.least, max_length=argument.most)]
    elif kind == "number":
        found = Annotated[int, msgspec.Meta(ge=argument.least, le=argument.most or 2**53 - 1)]
    elif kind == "switch":
        found = bool
    elif kind == "texts":
        one = Annotated[str, msgspec.Meta(min_length=1, max_length=520)]
        found = Annotated[list[one], msgspec.Meta(min_length=argument.least, max_length=argument.most)]
    elif kind == "object":
        found = dict[str, Any]
    elif kind == "turns":
        role, words = Literal[_ROLES], Annotated[str, msgspec.Meta(max_length=200_000)]
        turn: Any = msgspec.defstruct("turn", [("role", role), ("text", words)], forbid_unknown_fields=True)
        found = Annotated[list[turn], msgspec.Meta(max_length=MOST_TURNS)]
    elif kind == "objects":
        # Each is read by itself, so that one that cannot be used does not cost the others.
        found = Annotated[list[Any], msgspec.Meta(min_length=argument.least, max_length=argument.most)]
    else:
        found = Annotated[str, msgspec.Meta(min_length=argument.least, max_length=argument.most)]
    return found if argument.required or argument.default is not None else found | None


_JSON_TYPES: Mapping[Kind, str] = {
    "text": "string",
    "moment": "string",
    "number": "integer",
    "switch": "boolean",
    "texts": "array",
    "object": "object",
    "objects": "array",
    "turns": "array",
}


_BOUNDS: Mapping[Kind, tuple[str, str]] = {
    "number": ("minimum", "maximum"),
    "texts": ("minItems", "maxItems"),
    "objects": ("minItems", "maxItems"),
}


def _schema_of(argument: Argument) -> dict[str, Any]:
    found: dict[str, Any] = {"type": _JSON_TYPES[argument.kind], "description": argument.help}
    if argument.choices and argument.kind != "texts":
        found["enum"] = list(argument.choices)
    if argument.kind == "turns":
        turn = {"role": {"enum": list(_ROLES)}, "text": {"type": "string", "maxLength": 200_000}}
        found["items"] = {
            "type": "object",
            "properties": turn,
            "required": ["role", "text"],
            "additionalProperties": False,
        }
        found["maxItems"] = MOST_TURNS
    if argument.kind == "texts":
        found["items"] = {"type": "string", "minLength": 1, "maxLength": 520}
        if argument.choices:
            found["items"] = {"enum": list(argument.choices)}
    least, most = _BOUNDS.get(argument.kind, ("minLength", "maxLength"))
    if argument.least is not None:
        found[least] = argument.least
    if argument.most is not None:
        found[most] = argument.most
    if argument.default is not None:
        found["default"] = list(argument.default) if isinstance(argument.default, tuple) else argument.default
    return found


_WORDS: Mapping[str, str] = {
    "`str` of length": "text of a length",
    "`array` of length": "a list of a length",
    "`str | null`": "text",
    "`str`": "text",
    "`int`": "a whole number",
    "`bool`": "true or false",
    "`array`": "a list",
    "`object`": "an object",
}
_LENGTHS = frozenset({"minLength", "maxLength", "minItems", "maxItems"})


def _briefly(said: Any) -> Any:
    if isinstance(said, str):
        return said.replace(_ISO, "")
    if not isinstance(said, dict):
        return said
    return {name: _briefly(value) for name, value in said.items() if name not in _LENGTHS}


def _unusable(verb: Verb, message: str) -> InvalidInput:
    """What msgspec found wrong, with the argument in front."""
    reason, _, path = message.partition(" - at `$")
    path = path.rstrip("`").lstrip(".")
    choices = next((one.choices for one in verb.arguments if one.name == path.partition("[")[0]), ())
    if choices and reason.startswith("Invalid enum value"):
        reason = f"is {reason.removeprefix('Invalid enum value ')}; use one of {', '.join(choices)}"
    for theirs, ours in _WORDS.items():
        reason = reason.replace(theirs, ours)
    return InvalidInput(path or "arguments", reason[:1].lower() + reason[1:])
