"""The HTTP door: FastAPI reads the request and says the answer; what is asked and answered stands in routes."""

from __future__ import annotations

import hashlib
import ipaddress
import json
import logging
import secrets
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import msgspec
from anyio.to_thread import run_sync
from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route as StarletteRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from wellkept import __version__, verbs
from wellkept.errors import (
    PROBLEMS,
    BadRequest,
    InvalidInput,
    TooLarge,
    TooManyRequests,
    Unauthorized,
    WellkeptError,
    WrongHost,
)
from wellkept.serve.routes import ENTITY, ROUTES, Desk, Route, ask, at, health, with_key
from wellkept.serve.tokens import Token

LOG = logging.getLogger(__name__)
BODY_BYTES = 8 * 1024 * 1024
AT_ONCE = 64
"""How many requests may be in work; the next is told to come again."""
MCP_PATH = "/mcp"

_LOCAL = frozenset({"localhost", "127.0.0.1", "::1"})
_CODES = {404: "not_found", 405: "method_not_allowed"}


def application(desk: Desk, hosts: Sequence[str] = (), mcp: Callable[[FastAPI], ASGIApp] | None = None) -> FastAPI:
    """The server's application. `hosts` are the names beside this machine's own under which it may be reached.

    `mcp` makes the application that answers below /mcp, in the lifespan of this one.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with app.state.runs():
            yield

    app = FastAPI(
        title="wellkept",
        version=__version__,
        summary="A local-first memory for coding agents and assistants.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.runs = _nothing
    busy = _Busy()
    for route in map(at, ROUTES):
        app.add_api_route(
            route.path,
            partial(_answer, desk, route, busy),
            methods=[route.method],
            status_code=route.status,
            operation_id=route.name,
            summary=route.takes.summary,
            description=" ",
            openapi_extra=_operation(route),
            response_model=None,
            response_class=Response,
        )
    app.add_api_route(
        "/api/health", partial(_health, desk), methods=["GET"], operation_id="health", openapi_extra=_HEALTH
    )
    if mcp is not None:
        guarded = _Guarded(mcp(app), desk, busy)
        # Routes of their own, as a mount answers the path without a slash by sending the client elsewhere.
        app.router.routes += [StarletteRoute(path, guarded) for path in (MCP_PATH, f"{MCP_PATH}/")]
    app.add_exception_handler(HTTPException, _unrouted)
    app.add_exception_handler(Exception, _fault)
    app.add_middleware(_Hosts, hosts=frozenset({*_LOCAL, *hosts}))
    app.openapi = partial(_openapi, app)  # type: ignore[method-assign]
    return app


@asynccontextmanager
async def _nothing() -> AsyncIterator[None]:
    yield


class _Busy:
    """How many requests are in work."""

    def __init__(self) -> None:
        self.now = 0

    def __enter__(self) -> None:
        if self.now >= AT_ONCE:
            raise TooManyRequests(f"{AT_ONCE} requests are in work; try again in a second")
        self.now += 1

    def __exit__(self, *_: object) -> None:
        self.now -= 1


async def _answer(desk: Desk, route: Route, busy: _Busy, request: Request) -> Response:
    try:
        with busy:
            token = await run_sync(_token, desk, request)
            body = await _body(request)
            given = _given(route, request, body)
            key = request.headers.get("idempotency-key")
            if key is not None and route.takes.effect == "write":
                named = f"{route.method} {request.url.path}\n".encode()
                digest = hashlib.sha256(named + body).digest()
                work = partial(with_key, desk, route, token, given, key, digest)
            else:
                work = partial(ask, desk, route, token, given)
            found = await run_sync(work)
            return Response(msgspec.json.encode(found), route.status, media_type="application/json")
    except Exception as error:
        return refusal(error)


async def _health(desk: Desk, request: Request) -> Response:
    return Response(msgspec.json.encode(await run_sync(health, desk)), media_type="application/json")


def refusal(error: Exception) -> Response:
    """An error as RFC 9457 says it. A fault is logged by its kind, never with what somebody asked or wrote."""
    number = secrets.token_hex(8)
    said = verbs.problem(error, number)
    if not isinstance(error, WellkeptError | ClientDisconnect):
        LOG.error("request %s: %s", number, type(error).__name__, exc_info=error)
    headers = {"WWW-Authenticate": "Bearer"} if said["status"] == 401 else {}
    if said["status"] in (429, 503):
        headers["Retry-After"] = "1"
    # Escaped, because a message may repeat half a surrogate pair, which no encoding of text can hold.
    return Response(json.dumps(said), said["status"], headers, media_type="application/problem+json")


async def _unrouted(request: Request, error: Exception) -> Response:
    """What no route answers, in the form of all others."""
    status = error.status_code if isinstance(error, HTTPException) else 404
    code = _CODES.get(status, "bad_request")
    status, title = PROBLEMS[code]
    said = {"type": f"urn:wellkept:problem:{code}", "title": title, "status": status, "code": code}
    said |= {"detail": "see /api/openapi.json for what is served", "request_id": secrets.token_hex(8)}
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else {}
    return Response(msgspec.json.encode(said), status, headers, media_type="application/problem+json")


async def _fault(request: Request, error: Exception) -> Response:
    return refusal(error)


def _token(desk: Desk, request: Request) -> Token:
    kind, _, text = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer" or not text.strip():
        raise Unauthorized("no token. Send one: Authorization: Bearer wk_... (wellkept token add makes one)")
    return desk.tokens.valid(text.strip(), desk.clock())


async def _body(request: Request) -> bytes:
    held = bytearray()
    async for piece in request.stream():
        held += piece
        if len(held) > BODY_BYTES:
            raise TooLarge(f"the body has more than {BODY_BYTES} bytes; send it in parts")
    return bytes(held)


def _given(route: Route, request: Request, body: bytes) -> dict[str, Any]:
    """The arguments of a request: from its path and query, or its body. BadRequest where it is no JSON object."""
    found: dict[str, Any] = dict(request.path_params)
    if route.method in ("GET", "DELETE"):
        for name, text in request.query_params.multi_items():
            if name in found:
                raise InvalidInput(name, "is given twice")
            found[name] = _typed(route, name, text)
        return found
    try:
        # The standard library lets half a surrogate pair pass, so that the argument that holds it can be named.
        read = json.loads(body or b"{}")
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the body is no JSON: {str(error)[:200]}") from None
    if not isinstance(read, dict):
        raise BadRequest(f"the body must be a JSON object, not {type(read).__name__}")
    twice = sorted(set(read) & set(found))
    if twice:
        raise InvalidInput(twice[0], "stands in the path already")
    return found | read


def _typed(route: Route, name: str, text: str) -> object:
    """A value of the query by the kind of its argument; what does not read as that kind is left to be refused."""
    kind = next((one.kind for one in route.takes.arguments if one.name == name), "text")
    if kind == "number" and text.isascii() and text.removeprefix("-").isdecimal() and len(text) < 20:
        return int(text)
    return {"true": True, "false": False}.get(text, text) if kind == "switch" else text


def _one_at_a_time() -> Response:
    """The answer to several messages of MCP in one list, which its newer versions do not have."""
    error = {"code": -32600, "message": "a list of messages is not served; send each by itself"}
    said = {"jsonrpc": "2.0", "id": None, "error": error}
    return Response(msgspec.json.encode(said), 400, media_type="application/json")


def _replayed(body: bytes, receive: Receive) -> Receive:
    """What brings a body that was read already, and then whatever still comes."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


class _Guarded:
    """An application that only the holder of a token reaches; the token goes along in the scope."""

    def __init__(self, app: ASGIApp, desk: Desk, busy: _Busy) -> None:
        self._app, self._desk, self._busy = app, desk, busy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            raise HTTPException(404)
        try:
            with self._busy:
                token = await run_sync(_token, self._desk, Request(scope))
                body = await _body(Request(scope, receive))
                if body.lstrip()[:1] == b"[":
                    await _one_at_a_time()(scope, receive, send)
                    return
                await self._app({**scope, "wellkept.token": token}, _replayed(body, receive), send)
        except WellkeptError as error:
            await refusal(error)(scope, receive, send)


class _Hosts:
    """Lets nobody in who came under another name: a page of a browser could point its own name at this machine."""

    def __init__(self, app: ASGIApp, hosts: frozenset[str]) -> None:
        self._app, self._hosts = app, hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = Request(scope).headers
            origin = headers.get("origin")
            names = [f"//{headers.get('host', '')}", *([origin] if origin is not None else [])]
            if not all(self._is_ours(name) for name in names):
                await refusal(WrongHost("this server is not reached under that host or from that origin"))(
                    scope, receive, send
                )
                return
        await self._app(scope, receive, send)

    def _is_ours(self, address: str) -> bool:
        try:
            return (urlsplit(address).hostname or "") in self._hosts
        except ValueError:
            return False


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that is bound to the host."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


# -- what it says of itself


def _openapi(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        from fastapi.openapi.utils import get_openapi

        found = get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
        components = found.setdefault("components", {})
        components["schemas"] = _SCHEMAS
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        found["security"] = [{"token": []}]
        app.openapi_schema = found
    return app.openapi_schema


_LABELS: Mapping[str, dict[str, Any]] = {
    "trust": {"enum": ["external_untrusted", "agent_written", "user_written", "user_confirmed"]},
    "label": {"type": "string"},
    "confirmed": {"type": "boolean"},
    "content_origin": {"type": ["string", "null"]},
    "source": {"type": "string"},
    "status": {"enum": ["active", "superseded", "expired", "deleted"]},
    "flags": {"type": "array", "items": {"type": "string"}},
    "integrity": {"type": ["string", "null"]},
}
_SCHEMAS: Mapping[str, Any] = {
    "Problem": {
        "type": "object",
        "required": ["type", "title", "status", "detail", "code"],
        "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "detail": {"type": "string"},
            "code": {"enum": list(PROBLEMS)},
            "request_id": {"type": "string"},
            "errors": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["pointer", "message"],
                    "properties": {"pointer": {"type": "string"}, "message": {"type": "string"}},
                },
            },
        },
    },
    "Item": {
        "type": "object",
        "description": "A page, fact or piece of a page, with its own label.",
        "required": ["id", *_LABELS],
        "properties": {"id": {"type": "string"}, **_LABELS},
    },
    "Entity": verbs.schema(ENTITY),
}
_LISTS = {
    "recall": "memories",
    "search": "results",
    "export": "items",
    "list_entities": "entities",
}
_ITEMS = ("get_entity", "get_page")
_STATUSES = {"400", "401", "403", "404", "409", "413", "422", "429", "500", "503"}


def _operation(route: Route) -> dict[str, Any]:
    """What OpenAPI says of a route beside its name."""
    taken = verbs.schema(route.takes)
    found: dict[str, Any] = {"responses": {**_refusals(), str(route.status): _told(route)}}
    in_path = {name for name in taken["properties"] if f"{{{name}" in route.path}
    names = in_path if route.method in ("POST", "PUT") else set(taken["properties"])
    if names:
        found["parameters"] = [_parameter(name, taken, name in in_path) for name in sorted(names)]
    if route.method in ("POST", "PUT"):
        body = {name: value for name, value in taken["properties"].items() if name not in in_path}
        if "entities" in body and route.name == "create_entities":
            body["entities"] = {**body["entities"], "items": {"type": "object"}}
        body |= {other: body[name] for other, name in route.renamed.items()}
        needed = [name for name in taken.get("required", []) if name in body and name not in route.renamed.values()]
        schema = {"type": "object", "properties": body, "additionalProperties": False}
        schema |= {"required": needed} if needed else {}
        found["requestBody"] = {"required": bool(needed), "content": {"application/json": {"schema": schema}}}
    if route.takes.effect == "write":
        found.setdefault("parameters", []).append(_KEY)
    return found


def _parameter(name: str, taken: Mapping[str, Any], in_path: bool) -> dict[str, Any]:
    schema = dict(taken["properties"][name])
    described = {"name": name, "in": "path" if in_path else "query", "description": schema.pop("description")}
    return {**described, "required": in_path or name in taken.get("required", []), "schema": schema}


def _refusals() -> dict[str, Any]:
    said = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    titles = {str(status): title for status, title in reversed(list(PROBLEMS.values()))}
    return {status: {"description": titles[status], "content": said} for status in sorted(_STATUSES)}


def _told(route: Route) -> dict[str, Any]:
    item = {"$ref": "#/components/schemas/Item"}
    schema: dict[str, Any] = {"type": "object"}
    if route.name in _LISTS:
        many = _LISTS[route.name]
        schema |= {"required": [many], "properties": {many: {"type": "array", "items": item}}}
    elif route.name in _ITEMS:
        schema = item
    return {"description": "Done.", "content": {"application/json": {"schema": schema}}}


_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same request again under its key is answered as it was, and changes nothing, for two days.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
}
_HEALTH: dict[str, Any] = {
    "summary": "Whether it answers, and what it is.",
    "security": [],
    "responses": {"200": {"description": "Done.", "content": {"application/json": {"schema": {"type": "object"}}}}},
}
