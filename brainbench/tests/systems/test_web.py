from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from brainbench.errors import SystemFailure, SystemLost, UsageError
from brainbench.model import Capability, PageIn, RunContext
from brainbench.replay.sweep import refusal, sweep, traits_of
from brainbench.replay.worker import Task
from brainbench.seams import SEAMS
from brainbench.systems import System, load_system
from brainbench.systems.access import Access, granted

from ..conftest import script
from .test_systems import ask


class Server(BaseHTTPRequestHandler):
    """A memory that answers well until it is asked for context, and then does what `manner` says."""

    manner = "polite"
    pages: dict[str, str] = {}  # noqa: RUF012
    seen: list[dict[str, str]] = []  # noqa: RUF012
    opened: list[str] = []  # noqa: RUF012

    def do_POST(self) -> None:
        self.seen.append(dict(self.headers))
        params = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        method = self.path.removeprefix("/v1/")
        if method == "context" and self.manner != "polite":
            getattr(self, self.manner)()
            return
        result: Any = None
        if method == "hello":
            result = {"name": "server", "can": ["page_write", "context"]}
        elif method == "open":
            self.opened.append(str(Path(params["directory"]).parent))
            self.pages.clear()
        elif method == "write_page":
            self.pages[params["slug"]] = params["content"]
        elif method == "read_page":
            result = self.pages.get(params["slug"])
        elif method == "context":
            result = {"text": " ".join(f"→ `{slug}`" for slug in self.pages)}
        self.answer(json.dumps({"result": result}).encode())

    def answer(self, body: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def hang(self) -> None:
        time.sleep(3)

    def drip(self) -> None:
        self.send_response(200)
        self.end_headers()
        for _ in range(40):
            self.wfile.write(b" ")
            self.wfile.flush()
            time.sleep(0.1)

    def crash(self) -> None:
        self.connection.shutdown(socket.SHUT_RDWR)

    def flood(self) -> None:
        self.answer(b'{"result": {"text": "' + b"x" * 10_000_000 + b'"}}')

    def garbage(self) -> None:
        self.answer(b"<html>it works</html>")

    def bytes(self) -> None:
        self.answer(b'{"result": {"text": "\xff\xfe"}}')

    def deep(self) -> None:
        self.answer(b'{"result": ' + b"[" * 100_000 + b"]" * 100_000 + b"}")

    def wrong(self) -> None:
        self.answer(b'{"result": {"text": 5}}')

    def error(self) -> None:
        self.answer(b'{"error": "no such luck"}', status=500)

    def elsewhere(self) -> None:
        self.answer(b"", status=307, Location="http://192.0.2.1/v1/context")

    def zipped(self) -> None:
        self.answer(b'{"result": {"text": ""}}', Content_Encoding="gzip")

    def log_message(self, *words: object) -> None:
        """Silent."""


@pytest.fixture
def server() -> Iterator[type[Server]]:
    kind = type("Own", (Server,), {"pages": {}, "seen": [], "opened": []})
    running = ThreadingHTTPServer(("127.0.0.1", 0), kind)
    thread = threading.Thread(target=running.serve_forever, args=(0.05,))
    thread.start()
    kind.address = f"http://127.0.0.1:{running.server_port}"  # type: ignore[attr-defined]
    yield kind
    running.shutdown()
    running.server_close()
    thread.join()


def memory(server: Any, run: RunContext, access: Access | None = None) -> System:
    system = load_system(server.address, access or Access(call_seconds=1))
    system.open(run)
    system.write_page(PageIn("default", "people/ada", "Text ö 😀\n"))
    return system


@pytest.mark.req("C-404")
def test_a_server_that_answers_posts_is_a_memory_that_one_worker_plays(server: Any, run: RunContext) -> None:
    system = memory(server, run)
    assert system.alone
    assert system.can == {Capability.PAGE_WRITE, Capability.CONTEXT}
    assert system.read_page("default", "people/ada") == "Text ö 😀\n"
    assert system.context(ask("Ada?")).text == "→ `people/ada`"
    system.close()


@pytest.mark.parametrize(
    ("manner", "said", "kind"),
    [
        ("hang", "context: no answer in 1 s", SystemLost),
        ("drip", "context: no whole answer in 1 s", SystemLost),
        ("crash", "context: no answer: Server disconnected", SystemLost),
        ("flood", "context: answered more than 8,388,608 bytes", SystemLost),
        ("garbage", "context: answered status 200 with what is no answer: JSON is malformed", SystemFailure),
        ("bytes", "context: answered something else than it should", SystemFailure),
        ("deep", "context: .*nested too deeply", SystemFailure),
        ("wrong", "context: answered something else than it should: Expected `str`, got `int`", SystemFailure),
        ("error", "context: no such luck", SystemFailure),
        ("elsewhere", "context: answered status 307 with what is no answer", SystemFailure),
        ("zipped", "context: answered with Content-Encoding gzip", SystemFailure),
    ],
)
def test_a_misbehaving_server_costs_one_call_and_is_asked_again_after_open(
    manner: str, said: str, kind: type[Exception], server: Any, run: RunContext
) -> None:
    server.manner = manner
    system = memory(server, run)
    with pytest.raises(kind, match=said):
        system.context(ask("Ada?"))
    assert system.losses == (kind is SystemLost)
    system.open(run)
    assert system.read_page("default", "people/ada") is None
    system.close()


def test_a_token_is_sent_and_never_told(
    server: Any, run: RunContext, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(os.environ, "MEMORY_TOKEN", "hunter2")
    server.manner = "error"
    system = memory(server, run, granted(token_env="MEMORY_TOKEN"))
    assert {headers["Authorization"] for headers in server.seen} == {"Bearer hunter2"}
    with pytest.raises(SystemFailure) as failure:
        system.context(ask("Ada?"))
    system.close()
    assert "hunter2" not in str(failure.value) + "".join(capsys.readouterr())


def test_proxies_of_the_environment_are_not_used(server: Any, run: RunContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    memory(server, run).close()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://192.0.2.1:9000", "192.0.2.1 is not this machine; --allow-remote measures a memory elsewhere"),
        ("http://127.0.0.1.example.test", "is not this machine"),
        ("http://ann:secret@127.0.0.1", "give a token by --token-env"),
        ("http://127.0.0.1/?key=secret", "give a token by --token-env"),
        ("http://", "no host in the address"),
        ("http://127.0.0.1:99999999", "--system: "),
        ("http://127.0.0.1:9", "cannot be loaded: hello: no answer: "),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_without_telling_secrets(url: str, said: str) -> None:
    with pytest.raises(UsageError, match=said) as refused:
        load_system(url, Access(call_seconds=1))
    assert "secret" not in str(refused.value)


def test_a_token_goes_to_another_machine_over_https_only() -> None:
    with pytest.raises(UsageError, match="--token-env: a token goes to another machine over https only"):
        load_system("http://192.0.2.1", Access(token="hunter2", remote=True))


@pytest.mark.slow
def test_a_server_is_played_by_one_worker_whatever_the_number_of_jobs_and_harms_no_other(server: Any) -> None:
    access, seam = Access(call_seconds=1), SEAMS["openclaw"]
    traits = traits_of(server.address, access=access)
    assert traits.alone
    assert refusal(server.address, access=access) is None
    can = frozenset({Capability.PAGE_WRITE, Capability.SEARCH})
    names = ((server.address, traits.can, True), ("bm25", can, False))
    work = [
        Task(name, seam, script(f"Ada Lovelace {n}", fixture_id=f"f-{n}"), f"r-{n}", 42, claimed, alone)
        for name, claimed, alone in names
        for n in range(6)
    ]
    server.opened.clear()
    replays = sweep(work, 2, access=access).replays
    assert [r.observations[0].error for r in replays] == [None] * 12
    assert len(set(server.opened)) == 1
    server.manner = "garbage"
    replays = sweep(work, 2, access=access).replays
    assert [r.observations[0].error is None for r in replays] == [False] * 6 + [True] * 6
