"""An endpoint on loopback that says what a test tells it to, in the shapes that real servers were seen to use."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Said:
    """One answer: status, body, headers, and how long it is kept back."""

    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    wait: float = 0.0
    hang_up: bool = False


def completion(text: str = "", *calls: tuple[str, str], tokens: tuple[int, int] = (100, 10)) -> Said:
    """A chat completion as llama.cpp's server and hosted ones give it; a call is (tool, arguments as text)."""
    message: dict[str, object] = {"role": "assistant", "content": None if calls else text}
    if calls:
        message["tool_calls"] = [
            {"type": "function", "id": f"call_{n}", "function": {"name": name, "arguments": arguments}}
            for n, (name, arguments) in enumerate(calls, 1)
        ]
    document = {
        "choices": [{"finish_reason": "tool_calls" if calls else "stop", "index": 0, "message": message}],
        "created": 1796045840,
        "model": "made-up",
        "system_fingerprint": "b0-unknown",
        "object": "chat.completion",
        "usage": {"completion_tokens": tokens[1], "prompt_tokens": tokens[0], "total_tokens": sum(tokens)},
        "id": "chatcmpl-yZq48A69",
    }
    return Said(json.dumps(document).encode())


def refusal(status: int, message: str, **headers: str) -> Said:
    document = {"error": {"code": status, "message": message, "type": "server_error"}}
    return Said(json.dumps(document).encode(), status, {name.replace("_", "-"): v for name, v in headers.items()})


@dataclass
class FakeEndpoint:
    """What was asked, and what is answered: `answer` is called with the body of each chat completion request."""

    answer: Callable[[Body], Said] = lambda body: completion("Fine.")
    models: tuple[str, ...] | None = ("made-up",)
    url: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    def in_turn(self, *answers: Said) -> None:
        """Give these answers one after the other, the last one for ever."""
        left = list(answers)
        self.answer = lambda body: left.pop(0) if len(left) > 1 else left[0]


@contextmanager
def fake_endpoint() -> Iterator[FakeEndpoint]:
    endpoint = FakeEndpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._note()
            if endpoint.models is None:
                self._say(refusal(404, "File Not Found"))
            else:
                listed = {"object": "list", "data": [{"id": name, "object": "model"} for name in endpoint.models]}
                self._say(Said(json.dumps(listed).encode()))

        def do_POST(self) -> None:
            self._note()
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            endpoint.asked.append(body)
            self._say(endpoint.answer(body))

        def _note(self) -> None:
            endpoint.keys.append(self.headers.get("authorization", ""))

        def _say(self, said: Said) -> None:
            time.sleep(said.wait)
            if said.hang_up:
                self.close_connection = True
                return
            self.send_response(said.status)
            for name, value in {"content-length": str(len(said.body)), **said.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(said.body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    endpoint.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
