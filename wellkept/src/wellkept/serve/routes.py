"""What HTTP serves: each path with what it takes, who may ask, and what answers. No web framework here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from wellkept import __version__, verbs
from wellkept.errors import InvalidInput, NotFound, StoreUnavailable, WellkeptError
from wellkept.memory import Memory
from wellkept.model import Writer
from wellkept.serve import items
from wellkept.serve.tokens import Token, Tokens
from wellkept.together import seen
from wellkept.verbs import Argument, Caller, Effect, Verb, read_arguments

API_VERSION = 1
LONGEST_HTTP_TOKEN_S = 86_400
MOST_ENTITIES = 128
TYPES = (
    *("person", "company", "concept", "system", "place", "task", "active_task", "epic", "project", "decision"),
    *("claim", "rule", "guide", "error_pattern", "pattern", "procedure", "plan", "idea", "document", "session"),
    *("episode", "note", "check", "fact"),
)
"""What an entity can be: the types of the facets of a context pack, and what a page is usually about."""


@dataclass(frozen=True, slots=True)
class Desk:
    """What one server serves."""

    memory: Memory
    tokens: Tokens
    clock: Callable[[], datetime]
    test_clock: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """A request that was read: the caller by its token, the arguments by the route's own table."""

    desk: Desk
    caller: Caller
    token: Token
    asked: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Route:
    """One path and method. `takes` are its arguments, `renamed` other names by which they may be given."""

    method: str
    path: str
    takes: Verb
    answer: Callable[[Request], dict[str, Any]]
    status: int = 200
    renamed: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its operation id."""
        return self.takes.name


def _of_verb(method: str, path: str, name: str, renamed: Mapping[str, str] | None = None) -> Route:
    def answer(request: Request) -> dict[str, Any]:
        return verbs.call(request.desk.memory, name, request.asked, request.caller)

    return Route(method, path, verbs.VERBS[name], answer, renamed=renamed or {})


def _whoami(request: Request) -> dict[str, Any]:
    return _token_shown(request.token)


def _token_shown(token: Token) -> dict[str, Any]:
    named = ("id", "principal", "source", "created_at", "expires_at")
    return {name: getattr(token, name) for name in named} | {"scopes": list(token.scopes)}


def _mint(request: Request) -> dict[str, Any]:
    asked, now = request.asked, request.caller.now or datetime.now(UTC)
    lasts = timedelta(seconds=asked["ttl_s"])
    text, token = request.desk.tokens.add(asked["principal"], request.caller.source, asked["scopes"], lasts, now)
    return _token_shown(token) | {"token": text}


def _revoke(request: Request) -> dict[str, Any]:
    number = request.asked["id"]
    if all((one.id, one.source) != (number, request.caller.source) for one in request.desk.tokens.all()):
        raise NotFound(f"there is no token {number!r}")
    return _token_shown(request.desk.tokens.remove(number))


def _create_entity(request: Request) -> dict[str, Any]:
    asked = request.asked
    entity = items.entity_of(asked, asked["entity_type"], asked["content"])
    return items.put(request.desk.memory, request.caller, entity)


def _create_entities(request: Request) -> dict[str, Any]:
    entities = [_entity_at(index, one) for index, one in enumerate(request.asked["entities"])]
    found = items.put_many(request.desk.memory, request.caller, entities)
    batch = found.pop("batch")
    request.desk.memory.store.keep_reply(
        request.caller.source, "batch", found["batch_id"], b"", _encoded(batch), request.caller.now or datetime.now(UTC)
    )
    return found


def _entity_at(index: int, given: Any) -> items.Entity | WellkeptError:
    try:
        if not isinstance(given, dict):
            raise InvalidInput("", "must be an object")
        asked = read_arguments(ENTITY, given)
    except InvalidInput as error:
        return InvalidInput(f"entities[{index}]" + (f".{error.field}" if error.field else ""), error.reason)
    return items.entity_of(asked, asked["entity_type"], asked["content"])


def _batch(request: Request) -> dict[str, Any]:
    number = request.asked["batch_id"]
    kept = request.desk.memory.store.reply(request.caller.source, "batch", number)
    if kept is None:
        raise NotFound(f"there is no batch {number[:64]!r}; a batch is known for two days")
    import json

    return dict(json.loads(kept[1]))


def _encoded(found: Mapping[str, Any]) -> str:
    import json

    return json.dumps(found, ensure_ascii=True, allow_nan=False)


def _entities(request: Request) -> dict[str, Any]:
    asked = request.asked
    return items.listed(request.desk.memory, request.caller, asked["type"], asked["cursor"], asked["limit"])


def _entity(request: Request) -> dict[str, Any]:
    return items.get(request.desk.memory, request.caller, request.asked["id"])


def _end_entity(request: Request) -> dict[str, Any]:
    return verbs.call(request.desk.memory, "forget", {"ids": [request.asked["id"]]}, request.caller)


def _raw(request: Request) -> dict[str, Any]:
    asked = {**request.asked, "name": request.asked["title"]}
    found = items.put(request.desk.memory, request.caller, items.entity_of(asked, "note", asked["raw_content"]))
    return {"id": found["entity"]["id"], "status": found["status"], "trust": found["entity"]["trust"]}


def health(desk: Desk) -> dict[str, Any]:
    """What anybody may know who can reach the server. None is what this version does not have or cannot tell."""
    from wellkept.storage.schema import migrations

    try:
        made_by, works = desk.memory.store.index.embedder(), True
    except StoreUnavailable:
        made_by, works = None, False
    return {
        "status": "ok" if works else "store_unavailable",
        "ready": works,
        "version": __version__,
        "commit": None,
        "dirty": None,
        "api_version": API_VERSION,
        "store": "sqlite",
        "graph_engine": None,
        "schema_version": len(migrations()),
        "retrieval_mode": "lexical" if made_by is None else "hybrid",
        "embedding": None if made_by is None else {"model": made_by.model, "dimensions": made_by.dimension},
        "tokenizer": None,
        "pending_ingest": 0,
        "test_clock": desk.test_clock,
    }


def _takes(name: str, effect: Effect, summary: str, *arguments: Argument) -> Verb:
    return Verb(name, effect, summary, arguments)


_TOLD = (
    verbs.ORIGIN,
    Argument("source_id", "Your own id of it; the same id is the same item.", least=1, most=400),
    Argument("url", "Where it is from.", least=1, most=512),
    Argument("valid_at", "When it was so (ISO 8601).", "moment"),
    Argument("metadata", "Anything of yours, as a JSON object of at most 16 KiB.", "object"),
)
ENTITY = _takes(
    "create_entity",
    "write",
    "Keep an item as a page of its type.",
    Argument("name", "What it is called.", required=True, least=1, most=200),
    Argument("entity_type", "What it is.", default="note", choices=TYPES),
    Argument("content", "What is to be known of it, as Markdown.", default="", most=50_000),
    *_TOLD,
)
_ENTITY_ID = Argument("id", "The id of the entity.", required=True, least=1, most=512)

ROUTES: tuple[Route, ...] = (
    Route("GET", "/auth/whoami", _takes("whoami", "any", "What this token may do."), _whoami),
    Route(
        "POST",
        "/auth/tokens",
        _takes(
            "create_token",
            "admin",
            "A token for somebody else, shown this once.",
            Argument("principal", "agent:NAME or user:NAME.", required=True, least=6, most=105),
            Argument("scopes", "What it may do.", "texts", required=True, least=1, most=4),
            Argument("ttl_s", "For how many seconds.", "number", default=3600, least=1, most=LONGEST_HTTP_TOKEN_S),
        ),
        _mint,
        201,
    ),
    Route(
        "DELETE",
        "/auth/tokens/{id}",
        _takes(
            "revoke_token",
            "admin",
            "Let a token be valid no longer.",
            Argument("id", "Its id.", required=True, most=64),
        ),
        _revoke,
    ),
    Route("POST", "/entities", ENTITY, _create_entity, 201),
    Route(
        "GET",
        "/entities",
        _takes(
            "list_entities",
            "read",
            "Current entities by id.",
            Argument("type", "Only of this type.", choices=TYPES),
            Argument("cursor", "Go on after this.", default="", most=512),
            Argument("limit", "At most so many.", "number", default=20, least=1, most=100),
        ),
        _entities,
    ),
    Route(
        "POST",
        "/entities/bulk",
        _takes(
            "create_entities",
            "write",
            "Keep many items in one transaction; what cannot be kept is named.",
            Argument("entities", "What /entities takes, each.", "objects", required=True, least=1, most=MOST_ENTITIES),
        ),
        _create_entities,
        201,
    ),
    Route(
        "GET",
        "/entities/bulk/{batch_id}",
        _takes(
            "get_batch",
            "read",
            "What became of a batch.",
            Argument("batch_id", "As the batch was answered.", required=True, most=64),
        ),
        _batch,
    ),
    Route("GET", "/entities/{id:path}", _takes("get_entity", "read", "One entity.", _ENTITY_ID), _entity),
    Route(
        "DELETE",
        "/entities/{id:path}",
        _takes("end_entity", "write", "Let an entity be current no longer; its history is kept.", _ENTITY_ID),
        _end_entity,
    ),
    _of_verb("POST", "/search", "search"),
    Route(
        "POST",
        "/memory/raw",
        _takes(
            "keep_raw",
            "write",
            "Keep a text as it is.",
            Argument("title", "What it is called.", required=True, least=1, most=300),
            Argument("raw_content", "The text.", required=True, least=1, most=500_000),
            Argument("tags", "Words to sort it by.", "texts", default=(), least=0, most=64),
            *_TOLD,
        ),
        _raw,
        201,
    ),
    _of_verb("POST", "/context/turn", "context"),
    _of_verb("POST", "/context/pack", "context_pack"),
    _of_verb("POST", "/memory/remember", "remember"),
    _of_verb("POST", "/memory/recall", "recall"),
    _of_verb("POST", "/memory/entity", "entity"),
    _of_verb("POST", "/memory/timeline", "timeline"),
    _of_verb(
        "POST",
        "/memory/cite",
        "cite",
        {"cited_ids": "ids", "session_key": "session", "message_key": "message"},
    ),
    _of_verb("POST", "/memory/correct", "correct"),
    _of_verb("POST", "/memory/forget", "forget"),
    _of_verb("POST", "/memory/confirm", "confirm"),
    _of_verb("GET", "/memory/delta", "delta"),
    _of_verb("GET", "/memory/conflicts", "conflicts"),
    _of_verb("GET", "/memory/export", "export"),
    _of_verb("GET", "/memory/{id:path}/history", "history"),
    _of_verb("GET", "/pages/{slug:path}", "get_page"),
    _of_verb("PUT", "/pages/{slug:path}", "put_page"),
)


def ask(desk: Desk, route: Route, token: Token, given: Mapping[str, Any]) -> dict[str, Any]:
    """The answer of a route to the holder of a token. Raises what every door raises."""
    caller = Caller(token.source, Writer("agent_http", token.principal), frozenset(token.scopes), desk.clock())
    verbs.allow(route.takes.effect, caller, route.name)
    named = {route.renamed.get(name, name): value for name, value in given.items()}
    desk = replace(desk, memory=seen(desk.memory, token.also))
    if route.takes is verbs.VERBS.get(route.name):
        return route.answer(Request(desk, caller, token, named))
    return route.answer(Request(desk, caller, token, read_arguments(route.takes, named)))


def with_key(
    desk: Desk, route: Route, token: Token, given: Mapping[str, Any], key: str, digest: bytes
) -> dict[str, Any]:
    """The same, once: a request that comes again under its key is answered as it was, and changes nothing."""
    import json

    from wellkept.errors import Conflict

    if not key.isprintable() or not 1 <= len(key) <= 200:
        raise InvalidInput("Idempotency-Key", "must be 1 to 200 printable characters")
    store = desk.memory.store
    with store.transaction():
        kept = store.reply(token.source, token.principal, key)
        if kept is not None and kept[0] != digest:
            raise Conflict("this Idempotency-Key came with another request before; use a new one")
        if kept is not None:
            return dict(json.loads(kept[1]))
        found = ask(desk, route, token, given)
        store.keep_reply(token.source, token.principal, key, digest, _encoded(found), desk.clock())
    return found


def at(route: Route) -> Route:
    """The route with its path below the API's."""
    return replace(route, path=f"/api{route.path}")
