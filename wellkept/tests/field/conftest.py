"""One memory behind all its doors: Python, the command line, an HTTP server and MCP, each asked in the same words."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import httpx2
import pytest
from click.testing import CliRunner, Result

from wellkept import verbs, wire
from wellkept.cli import main
from wellkept.errors import WellkeptError
from wellkept.memory import Memory
from wellkept.serve.routes import ROUTES
from wellkept.serve.tokens import Tokens
from wellkept.settings import load_settings, open_memory
from wellkept.storage import open_store
from wellkept.trust.gate import key_file
from wellkept.verbs import VERBS

DOORS = ("python", "cli", "http", "mcp")
BARE = {
    "remember": "text",
    "recall": "query",
    "search": "query",
    "get_page": "slug",
    "entity": "name",
    "context": "text",
    "context_pack": "goal",
    "timeline": "entity",
    "history": "id",
    "forget": "ids",
    "cite": "ids",
    "correct": "id action",
}
"""What stands on a command line without an option."""


class RefusedAs(Exception):
    """A door refused; `code` is what every door calls it, `detail` what it says."""

    def __init__(self, code: str, detail: str) -> None:
        self.code, self.detail = code, detail
        super().__init__(f"{code}: {detail}")


@dataclass
class Place:
    """A data directory with a server of its own in front of it."""

    folder: Path
    url: str
    client: httpx2.Client
    memory: Memory

    def token(self, source: str) -> str:
        lasts = timedelta(days=1)
        scopes = ("read", "write", "cite", "admin")
        return Tokens(self.folder / "tokens.json").add("user:ann", source, scopes, lasts, datetime.now(UTC))[0]


class Door:
    """One way in. `ask` gives the answer as JSON types, or raises RefusedAs."""

    def __init__(self, name: str, place: Place) -> None:
        self.name, self.place = name, place
        self._tokens: dict[str, str] = {}

    def __call__(self, verb: str, source: str, /, **arguments: Any) -> Any:
        return getattr(self, f"_{self.name}")(verb, source, arguments)

    def texts(self, verb: str, source: str, query: str, **more: Any) -> list[str]:
        """The words of what is found."""
        return [
            one["content" if verb == "search" else "text"]
            for one in self(verb, source, query=query, **more)[VERBS[verb].many]
        ]

    def ids(self, verb: str, source: str, query: str, **more: Any) -> list[str]:
        return [one["id"] for one in self(verb, source, query=query, **more)[VERBS[verb].many]]

    def _python(self, verb: str, source: str, given: Mapping[str, Any]) -> Any:
        table = {one.name: one for one in VERBS[verb].arguments}
        asked = {
            name: verbs.moment(name, value) if table[name].kind == "moment" and value is not None else value
            for name, value in given.items()
        }
        try:
            if verb == "context":
                asked["window"] = wire.window(asked.pop("text"), ())
            elif verb == "put_page":
                asked = wire.folded(asked)
            return wire.answer(getattr(self.place.memory, verb)(source, **asked), VERBS[verb].many)
        except WellkeptError as error:
            raise RefusedAs(error.problem, str(error)) from None

    def _cli(self, verb: str, source: str, given: Mapping[str, Any]) -> Any:
        argv = [verb.replace("_", "-"), "--json", "--data-dir", str(self.place.folder), "--source", source]
        bare = BARE.get(verb, "").split()
        stdin = None
        if verb == "put_page":
            stdin = str(given["content"]).encode("utf-8", "surrogatepass")
        for name, value in given.items():
            if name not in (*bare, *(("slug", "content") if verb == "put_page" else ())):
                argv += option(name, value)
        argv.append("--")
        for name in bare:
            argv += given[name] if isinstance(given[name], list) else [given[name]]
        argv += [given["slug"], "-"] if verb == "put_page" else []
        done = CliRunner().invoke(main, argv, input=stdin, catch_exceptions=False)
        if done.exit_code == 0:
            return json.loads(done.stdout)
        try:
            said = json.loads(done.stderr.splitlines()[-1])
        except ValueError:
            raise RefusedAs("usage", done.stderr) from None
        raise RefusedAs(said["code"], said["detail"])

    def _http(self, verb: str, source: str, given: Mapping[str, Any]) -> Any:
        route = next(route for route in ROUTES if route.takes is VERBS[verb])
        asked, path = dict(given), f"/api{route.path}"
        for name in ("slug", "id"):
            if f"{{{name}:path}}" in path:
                named = quote(asked.pop(name), safe="/", errors="surrogatepass")
                path = path.replace(f"{{{name}:path}}", named)
        body = {"params": asked} if route.method == "GET" else {"content": json.dumps(asked).encode()}
        return said(self.place.client.request(route.method, path, headers=self._headers(source), **body))

    def _mcp(self, verb: str, source: str, given: Mapping[str, Any]) -> Any:
        params = {"name": verb, "arguments": given}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = self._headers(source) | {"Accept": "application/json, text/event-stream"}
        answer = self.place.client.post("/mcp", content=json.dumps(call).encode(), headers=headers)
        if "result" not in answer.json():
            raise RefusedAs(answer.json().get("code", "unreadable"), answer.text)
        result = answer.json()["result"]
        if result["isError"]:
            raise RefusedAs(result["structuredContent"]["code"], result["structuredContent"]["detail"])
        return result["structuredContent"]

    def _headers(self, source: str) -> dict[str, str]:
        if source not in self._tokens:
            self._tokens[source] = self.place.token(source)
        return {"Authorization": f"Bearer {self._tokens[source]}", "Content-Type": "application/json"}


def option(name: str, value: Any) -> list[str]:
    """An argument as it is typed."""
    flag = "--" + name.replace("_", "-")
    if isinstance(value, bool):
        return [flag if value else f"--no-{flag[2:]}"] if name in ("preview", "include_related") or value else []
    if isinstance(value, dict):
        return [flag, json.dumps(value)]
    return [part for one in (value if isinstance(value, list) else [value]) for part in (flag, str(one))]


def said(answer: httpx2.Response) -> Any:
    read = answer.json()
    if answer.status_code >= 300:
        raise RefusedAs(read["code"], read["detail"])
    return read


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A server that all tests of a process share; each test has a source of its own."""
    folder = tmp_path_factory.mktemp("field") / "memory"
    folder.mkdir(mode=0o700)
    (folder / "settings.toml").write_text('embedder = "off"\n')
    argv = [sys.executable, "-m", "wellkept", "serve", "--port", "0", "--json", "--data-dir", str(folder)]
    server = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    told = ""
    while not told.rstrip().endswith("}"):
        line = server.stdout.readline()
        assert line, "the server ended"
        told += line
    url = json.loads(told)["url"]
    memory = open_memory(load_settings(overrides={"data_dir": folder}))
    with httpx2.Client(base_url=url, timeout=30) as client:
        yield Place(folder, url, client, memory)
    memory.close()
    server.terminate()
    assert server.wait(20) == 0
    server.stdout.close()


@pytest.fixture(params=DOORS)
def door(request: pytest.FixtureRequest, place: Place) -> Door:
    return Door(request.param, place)


@pytest.fixture
def doors(place: Place) -> dict[str, Door]:
    """All ways in, to the same memory."""
    return {name: Door(name, place) for name in DOORS}


@pytest.fixture
def scope() -> str:
    """A source that no other test uses."""
    return f"s-{uuid4().hex[:12]}"


@pytest.fixture
def refused() -> Callable[..., RefusedAs]:
    """What a call is refused with; it must be refused."""

    def find(call: Callable[..., object], /, *arguments: Any, **named: Any) -> RefusedAs:
        with pytest.raises(RefusedAs) as caught:
            call(*arguments, **named)
        return caught.value

    return find


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    opened = Memory(open_store("sqlite", tmp_path / "memory.db"))
    yield opened
    opened.close()


@pytest.fixture
def its_key() -> Callable[[bool], bytes | None]:
    """The key with which the command line seals the memories of these tests."""
    path = load_settings().trust_key
    assert path is not None
    return key_file(path)


@pytest.fixture
def told() -> Callable[..., list[str]]:
    """The words of what a memory recalls."""

    def find(memory: Memory, query: str, source: str = "default", limit: int = 10) -> list[str]:
        return [one.item.text for one in memory.recall(source, query, limit=limit)]

    return find


@pytest.fixture
def typed() -> Callable[..., Result]:
    """A command line, run in this process."""

    def run(*argv: str, stdin: str | None = None) -> Result:
        return CliRunner().invoke(main, argv, input=stdin, catch_exceptions=False)

    return run


@pytest.fixture
def wellkept() -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command as a person does: in a process for which permissions hold even when root runs the tests."""

    def run(*typed: str, stdin: str = "", env: Mapping[str, str] | None = None, **more: Any) -> Any:
        return subprocess.run(
            more.pop("argv", [sys.executable, "-m", "wellkept", *typed]),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env={**os.environ, **(env or {})},
            **{"preexec_fn": without_privileges, **more},
        )

    return run


def without_privileges() -> None:
    """Root may write where nobody may; this takes that from whatever is started next."""
    if os.getuid() == 0:
        for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


@pytest.fixture(scope="session")
def cases() -> Mapping[str, Mapping[str, str]]:
    """Every case by its id."""
    read: Mapping[str, Mapping[str, str]] = tomllib.loads(Path(__file__).with_name("cases.toml").read_text())
    return read
