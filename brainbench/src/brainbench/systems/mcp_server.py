"""A memory as an MCP server: `--system mcp:mapping.toml`, over stdio or streamable HTTP, by the official client.

The mapping says which tool serves which method. A server over stdio is started with a scrubbed environment in an empty
directory; unless the mapping names a tool that empties it, it is started anew for every fixture.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import tempfile
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import CancelledError
from concurrent.futures import Future as Later
from concurrent.futures import TimeoutError as TooLate
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import anyio
import msgspec
from anyio.from_thread import BlockingPortal, start_blocking_portal

from brainbench.errors import SystemFailure, SystemLost, UsageError
from brainbench.model import (
    Ask,
    Conversation,
    FactRow,
    Injection,
    ItemIn,
    ItemRow,
    Message,
    PageIn,
    RunContext,
    SearchHit,
)
from brainbench.systems.access import Access, scrubbed
from brainbench.systems.command import argv_at, descendants
from brainbench.systems.mapping import VARIABLES, NothingThere, Use, at, filled, page_parts, read_mapping
from brainbench.systems.web import checked_url, headers_of
from brainbench.systems.wire import MOST_ANSWER_BYTES, Hello, Remote, too_big

try:
    import httpx2
    from mcp import Client, MCPError, StdioServerParameters, stdio_client
    from mcp.client.streamable_http import streamable_http_client
except ImportError as error:
    raise UsageError(
        "--system: mcp: needs the MCP client, version 2 or newer: pip install 'brainbench[mcp]'"
    ) from error

END_SECONDS = 8.0
"""How long the client may take to end a server: it waits for it, asks it to go, and kills it."""
_WORDS = 2000


class McpServer(Remote):
    """A memory behind the tools of an MCP server."""

    def __init__(self, name: str, access: Access) -> None:
        self.name, self._access = name, access
        path = Path(access.where) / name.removeprefix("mcp:")
        self._file = path.name
        self._mapped = read_mapping(path, name)
        self._folder = path.parent.resolve()
        self._url = self._mapped.server.url
        if self._url is not None:
            checked_url(name, access, self._url)
        else:
            argv_at(name, self._mapped.server.command, self._folder)
        self._running: _Running | None = None
        self._led: set[str] = set()
        """The methods whose path has led to a text."""
        try:
            self._start(None)
            self._check_tools()
            self.greet()
        except BaseException:
            self.drop()
            raise
        self.alone = self._url is not None

    def ask(self, method: str, params: Any) -> bytes:
        told = _METHODS[method](self, params)
        encoded = msgspec.json.encode(told)
        if len(encoded) > MOST_ANSWER_BYTES:
            raise too_big()
        return encoded

    def drop(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running.end()

    def hello(self, _: Any) -> Hello:
        """What the mapping claims."""
        version = self._running.version if self._running else ""
        return Hello(self.name, version, tuple(self._mapped.memory.can), alone=self._url is not None)

    def open_memory(self, run: RunContext) -> None:
        """An empty memory, by the tool that empties it or by a new server."""
        if self._mapped.memory.fresh == "restart" or self._running is None:
            self.drop()
            self._start(run.directory)
        else:
            self._running.directory = run.directory
        if self._mapped.memory.fresh == "clear":
            self._use("clear", {})

    def read(self, params: Any) -> str | None:
        """The text at the path of `read_page`; None where the answer has nothing there."""
        return self._text("read_page", params)

    def _text(self, method: str, params: Any) -> str | None:
        """The text at the path of a method.

        A path that has never led to a text may be misspelt, so until then only an empty answer is nothing there.
        """
        use = self._mapped.steps(method)[-1]
        try:
            answer = self._use(method, _values(params))
        except _ToolError:
            if use.none_on_error:
                return None
            raise
        try:
            found = at(answer, use.result or "", f"{method}.result")
        except NothingThere:
            return None
        except SystemFailure:
            if method in self._led:
                return None
            raise
        if isinstance(found, str):
            self._led.add(method)
        return found if isinstance(found, str) else None

    def find(self, params: Any) -> list[SearchHit]:
        """The hits at the paths of `search`."""
        use = self._mapped.steps("search")[-1]
        found = []
        for item in self._items("search", use, params):
            page = page_parts(text) if use.text and isinstance(text := at(item, use.text, "search.text"), str) else {}
            found.append(
                SearchHit(
                    id=_read(item, use.id, "search.id"),
                    title=_read(item, use.title, "search.title") or page.get("title", ""),
                    text=_read(item, use.text, "search.text") or "",
                    score=_read(item, use.score, "search.score") or 0.0,
                    aliases=tuple(_read(item, use.aliases, "search.aliases") or ()),
                )
            )
        return found[: params.limit]

    def facts(self, params: Any) -> list[FactRow]:
        """The facts at the paths of `recall_facts`."""
        use = self._mapped.steps("recall_facts")[-1]
        fields = ("text", "entity", "source_session", "source_page")
        rows = []
        for item in self._items("recall_facts", use, params):
            told = {field: _read(item, getattr(use, field), f"recall_facts.{field}") for field in fields}
            rows.append(FactRow(source=self.name, **told))
        return rows if params.limit is None else rows[: params.limit]

    def bring(self, ask: Ask) -> Injection:
        """The text at the path of `context`, and the ids of its `each` where the mapping tells them."""
        use = self._mapped.steps("context")[-1]
        answer = self._use("context", _values(ask))
        ids = None
        if use.each is not None:
            ids = tuple(_read(item, use.id, "context.id") for item in at(answer, use.each, "context.each"))
        return Injection(str(at(answer, use.result or "", "context.result")), ids=ids)

    def write(self, params: Any) -> None:
        """A page is kept; what the tools answer is not read."""
        self._use("write_page", _values(params))

    def edit(self, params: Any) -> None:
        """A page is replaced."""
        self._use("edit_page", _values(params))

    def note(self, params: Any) -> None:
        """A fact is kept."""
        self._use("write_fact", _values(params))

    def wrote(self, conversation: Conversation) -> str | None:
        """The id at the path of `write_conversation`, where there is one."""
        use = self._mapped.steps("write_conversation")[-1]
        answer = self._use("write_conversation", _values(conversation))
        return None if use.result is None else str(at(answer, use.result, "write_conversation.result"))

    def reopened(self, run: RunContext) -> None:
        """A new server on the directory as it is."""
        self.drop()
        self._start(run.directory)

    def kill(self) -> None:
        """End the server at once; the next `open` or `reopen` starts it again."""
        if self._running is not None:
            self._running.kill()

    def added(self, item: ItemIn) -> str:
        """The id at the path of `add_item`, or the name that the bench proposed."""
        use = self._mapped.steps("add_item")[-1]
        answer = self._use("add_item", _values(item))
        return item.name if use.result is None else str(at(answer, use.result, "add_item.result"))

    def find_rows(self, params: Any) -> list[ItemRow]:
        """The items at the paths of `find_items`."""
        return self._rows("find_items", params)[: params.limit]

    def list_rows(self, params: Any) -> list[ItemRow]:
        """The items at the paths of `list_items`."""
        return self._rows("list_items", params)

    def _rows(self, method: str, params: Any) -> list[ItemRow]:
        use = self._mapped.steps(method)[-1]
        return [
            ItemRow(
                id=_read(item, use.id, f"{method}.id"),
                text=_read(item, use.text, f"{method}.text"),
                at=_read(item, use.at, f"{method}.at") or "",
                made=_read(item, use.made, f"{method}.made") or "",
                meta=_read(item, use.meta, f"{method}.meta") or {},
                superseded_by=_read(item, use.superseded_by, f"{method}.superseded_by"),
            )
            for item in self._items(method, use, params)
        ]

    def get_row(self, params: Any) -> ItemRow | None:
        """The item whose text stands at the path of `get_item`."""
        text = self._text("get_item", params)
        return None if text is None else ItemRow(params.item_id, text)

    def updated(self, params: Any) -> str | None:
        """The id at the path of `update_item`, or the one that was given."""
        use = self._mapped.steps("update_item")[-1]
        try:
            answer = self._use("update_item", _values(params))
        except _ToolError:
            if use.none_on_error:
                return None
            raise
        return params.item_id if use.result is None else str(at(answer, use.result, "update_item.result"))

    def deleted(self, params: Any) -> bool:
        """What stands at the path of `delete_item` as a yes or no; without a path, whether the tool did not fail."""
        use = self._mapped.steps("delete_item")[-1]
        try:
            answer = self._use("delete_item", _values(params))
        except _ToolError:
            if use.none_on_error:
                return False
            raise
        return True if use.result is None else bool(at(answer, use.result, "delete_item.result"))

    def emptied(self, params: Any) -> None:
        """All of a source is deleted; what the tools answer is not read."""
        self._use("delete_items", _values(params))

    def _items(self, method: str, use: Use, params: Any) -> Sequence[Any]:
        found = at(self._use(method, _values(params)), use.each or "", f"{method}.each")
        if not isinstance(found, list):
            raise SystemFailure(f"{method}.each: no list at {use.each!r} but {found!r:.80}")
        return found

    def _use(self, method: str, values: Mapping[str, Any]) -> Any:
        """What the last tool of a method answered."""
        if self._running is None:
            raise SystemLost("the server has ended")
        answer: Any = None
        for use in self._mapped.steps(method):
            arguments = filled(use.arguments, {**values, "directory": self._running.directory})
            answer = self._running.call(use.tool, arguments)
        return answer

    def _start(self, directory: str | None) -> None:
        self._running = _Running(self._mapped.server, self._folder, self._access, directory)

    def _check_tools(self) -> None:
        """UsageError where the mapping names a tool or an argument that the server does not have."""
        running = self._running
        if running is None:
            raise SystemLost("the server has ended")
        tools = running.tools()
        for method in VARIABLES:
            for use in self._mapped.steps(method):
                where = f"--system: {self.name}: {self._file}: {method}"
                if use.tool not in tools:
                    known = ", ".join(sorted(tools)) or "none"
                    raise UsageError(f"{where}.tool: the server has no tool {use.tool!r}; it has {known}")
                takes = tools[use.tool].get("properties") or {}
                if takes and (odd := sorted(set(use.arguments) - set(takes))):
                    raise UsageError(
                        f"{where}.arguments: tool {use.tool!r} takes no {odd[0]!r}; it takes {', '.join(sorted(takes))}"
                    )
                if lacking := sorted(set(tools[use.tool].get("required") or ()) - set(use.arguments)):
                    raise UsageError(f"{where}.arguments: tool {use.tool!r} needs {', '.join(lacking)}")


class _ToolError(SystemFailure):
    """The tool itself said that it failed."""


class _Running:
    """A session with a server, on an event loop in a thread of its own."""

    def __init__(self, server: Any, folder: Path, access: Access, directory: str | None) -> None:
        self._seconds = access.call_seconds
        self._home = tempfile.mkdtemp(prefix="system-")
        self.directory = directory or self._home
        self._errors = tempfile.TemporaryFile(mode="w+", encoding="utf-8", errors="replace")  # noqa: SIM115
        self._server, self._folder, self._access = server, folder, access
        self._portals = start_blocking_portal()
        self._portal: BlockingPortal = self._portals.__enter__()
        self._stop: anyio.Event | None = None
        self._ready: Later[Client] = Later()
        before = set(descendants(os.getpid()))
        self._session = self._portal.start_task_soon(self._serve)
        try:
            self._client = self._within(self._ready)
            info = self._client.server_info
            self.version = info.version if info is not None else ""
            self._pids = [pid for pid in descendants(os.getpid()) if pid not in before]
        except BaseException:
            self.end()
            raise

    def call(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """What a tool answers: structured content, or JSON in its text, or its text."""
        try:
            json.dumps(arguments, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise SystemFailure(f"tool {tool!r}: the client cannot send half a character") from None
        told = self._do(lambda: self._client.call_tool(tool, dict(arguments)))
        text = "\n".join(block.text for block in told.content if block.type == "text")
        if len(text) > MOST_ANSWER_BYTES:
            raise too_big()
        if told.is_error:
            raise _ToolError(f"tool {tool!r}: {text or 'an error without words'}")
        if told.structured_content is not None:
            return told.structured_content
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return text

    def tools(self) -> dict[str, dict[str, Any]]:
        """The tools of the server, with the schema of what each takes."""
        return {tool.name: tool.input_schema for tool in self._do(lambda: self._client.list_tools()).tools}

    def kill(self) -> None:
        """End what was started for it at once."""
        for pid in self._pids:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    def end(self) -> None:
        """End the session, the server and its directory."""
        if self._stop is not None:
            self._portal.call(self._stop.set)
        else:
            self._session.cancel()
        try:
            self._session.result(END_SECONDS)
        except (TooLate, CancelledError):
            pass  # it was told to go, and whatever is left of it ends with the worker
        except Exception:
            logging.getLogger(__name__).exception("ending the server")
        self._portals.__exit__(None, None, None)
        self._errors.close()
        shutil.rmtree(self._home, ignore_errors=True)

    async def _serve(self) -> None:
        """Hold the session open until it is told to stop."""
        stop = anyio.Event()
        try:
            async with AsyncExitStack() as stack:
                transport = await self._transport(stack)
                client = await stack.enter_async_context(Client(transport, mode="auto", cache=None))
                self._stop = stop
                self._ready.set_result(client)
                await stop.wait()
        except BaseException as error:
            if not self._ready.done():
                self._ready.set_exception(error)
            raise

    async def _transport(self, stack: AsyncExitStack) -> Any:
        """Over HTTP without proxies of the environment, or over the standard streams of a program started here."""
        server, access = self._server, self._access
        if server.url is not None:
            http = httpx2.AsyncClient(headers=headers_of(access), trust_env=False, timeout=self._seconds)
            return streamable_http_client(server.url, http_client=await stack.enter_async_context(http))
        values = {"directory": self.directory, "here": str(self._folder)}
        program, *words = argv_at("", [filled(word, values) for word in server.command], self._folder)
        own = {name: filled(value, values) for name, value in server.env.items()}
        environment = {**scrubbed(access.variables, self._home, self._home), **own}
        parameters = StdioServerParameters(command=program, args=words, env=environment, cwd=self._home)
        return stdio_client(parameters, errlog=self._errors)

    def _do(self, act: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
        later = self._portal.start_task_soon(act)
        try:
            return self._within(later)
        finally:
            later.cancel()

    def _within(self, later: Later[Any]) -> Any:
        """What comes of it in time. SystemLost where the session is gone, SystemFailure where the server said no."""
        try:
            return later.result(self._seconds)
        except TooLate:
            raise SystemLost(f"no answer in {self._seconds:g} s; the server was ended{self._last_words()}") from None
        except MCPError as error:
            if self._session.done() or "closed" in str(error).lower():
                raise SystemLost(f"{error}{self._last_words()}") from None
            raise SystemFailure(str(error)) from None
        except CancelledError:
            raise SystemLost(f"the session was ended{self._last_words()}") from None
        except Exception as error:
            inner = _deepest(error)
            raise SystemLost(f"{type(inner).__name__}: {inner}{self._last_words()}") from None

    def _last_words(self) -> str:
        self._errors.seek(0, 2)
        self._errors.seek(max(0, self._errors.tell() - _WORDS))
        lines = [line.strip() for line in self._errors.read().splitlines() if line.strip()]
        return f"; on standard error: {' | '.join(lines[-3:])}" if lines else ""


def _deepest(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _read(item: Any, path: str | None, what: str) -> Any:
    return None if path is None else at(item, path, what)


def _values(params: Any) -> dict[str, Any]:
    """What a template may name of the params of a method."""
    values: dict[str, Any] = {name: value for name, value in msgspec.to_builtins(params).items() if value is not None}
    if isinstance(params, PageIn):
        values |= page_parts(params.content)
    if isinstance(params, Conversation):
        values["text"] = _lines(params.messages)
    if isinstance(params, Ask):
        values |= {"prompt": params.messages[-1].text, "text": _lines(params.messages[:-1])}
    return values


def _lines(messages: Sequence[Message]) -> str:
    return "\n".join(f"{message.role}: {message.text}" for message in messages)


_METHODS: Mapping[str, Callable[[McpServer, Any], Any]] = {
    "hello": McpServer.hello,
    "open": McpServer.open_memory,
    "close": lambda memory, params: None,
    "write_page": McpServer.write,
    "edit_page": McpServer.edit,
    "write_fact": McpServer.note,
    "read_page": McpServer.read,
    "search": McpServer.find,
    "recall_facts": McpServer.facts,
    "context": McpServer.bring,
    "write_conversation": McpServer.wrote,
    "reopen": McpServer.reopened,
    "add_item": McpServer.added,
    "find_items": McpServer.find_rows,
    "get_item": McpServer.get_row,
    "update_item": McpServer.updated,
    "delete_item": McpServer.deleted,
    "delete_items": McpServer.emptied,
    "list_items": McpServer.list_rows,
}
