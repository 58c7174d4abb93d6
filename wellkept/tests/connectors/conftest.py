"""A server on this machine that answers as GitHub documents it, and a memory to fetch into."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from wellkept.connectors.rest import Service
from wellkept.forgetting import Files
from wellkept.memory import Memory
from wellkept.storage import open_store
from wellkept.trust.gate import key_file

RECORDED = Path(__file__).parent / "recorded"
REPOSITORY = "ada/engine"


@dataclass
class Reply:
    """What the server answers: a status, headers and a body."""

    body: bytes | str | list[Any] | dict[str, Any] = b"[]"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def raw(self) -> bytes:
        if isinstance(self.body, list | dict):
            return json.dumps(self.body).encode()
        return self.body if isinstance(self.body, bytes) else self.body.encode()


@dataclass
class Asked:
    """One request: its path, what it asks with, and its headers."""

    path: str
    query: dict[str, str]
    headers: dict[str, str]


Answering = Callable[[Asked], Reply]


class Api:
    """A GitHub that holds what is put into `issues` and `comments`; `answer` may be replaced by a hostile one."""

    def __init__(self) -> None:
        self.issues: list[dict[str, Any]] = json.loads((RECORDED / "issues.json").read_text())
        self.comments: list[dict[str, Any]] = json.loads((RECORDED / "comments.json").read_text())
        self.asked: list[Asked] = []
        self.answer: Answering = self.as_documented
        self.url = ""
        self.per_page: int | None = None

    def as_documented(self, asked: Asked) -> Reply:
        held = {
            f"/repos/{REPOSITORY}/issues": self.issues,
            f"/repos/{REPOSITORY}/issues/comments": self.comments,
        }.get(asked.path)
        if held is None:
            return Reply({"message": "Not Found", "documentation_url": "https://docs.github.com/rest"}, 404)
        since = asked.query.get("since", "")
        wanted = sorted((one for one in held if one["updated_at"] >= since), key=lambda one: one["updated_at"])
        size, page = self.per_page or int(asked.query["per_page"]), int(asked.query.get("page", "1"))
        part = wanted[(page - 1) * size : page * size]
        etag = f'W/"{hash(json.dumps(part)):x}"'
        if asked.headers.get("if-none-match") == etag:
            return Reply(b"", 304)
        headers = {"ETag": etag, "Content-Type": "application/json; charset=utf-8"}
        if page * size < len(wanted):
            asked_for = "&".join(f"{key}={value}" for key, value in asked.query.items() if key != "page")
            headers["Link"] = (
                f'<{self.url}{asked.path}?{asked_for}&page={page + 1}>; rel="next", '
                f'<{self.url}{asked.path}?{asked_for}&page=9>; rel="last"'
            )
        return Reply(part, headers=headers)


@pytest.fixture
def api() -> Iterator[Api]:
    found = Api()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            query = {key: values[0] for key, values in parse_qs(parts.query).items()}
            asked = Asked(parts.path, query, {key.lower(): value for key, value in self.headers.items()})
            found.asked.append(asked)
            reply = found.answer(asked)
            self.send_response(reply.status)
            for key, value in {"Content-Length": str(len(reply.raw)), **reply.headers}.items():
                self.send_header(key, value)
            self.end_headers()
            try:
                self.wfile.write(reply.raw)
            except (BrokenPipeError, ConnectionResetError):
                return

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield found
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def waits() -> list[float]:
    """How long was waited, each time."""
    return []


@pytest.fixture
def service(api: Api, waits: list[float]) -> Service:
    return Service(api.url, "ghp_secret", sleep=waits.append)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    files = Files(None, tmp_path / "memory.db")
    found = Memory(open_store("sqlite", tmp_path / "memory.db"), key=key_file(tmp_path / "trust.key"), files=files)
    yield found
    found.close()
