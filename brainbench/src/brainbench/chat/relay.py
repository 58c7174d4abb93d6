"""A door to the model for a memory under test: on loopback, with a token of its own and without the key.

Model, temperature, seed and length are the bench's to say; so are budget and records.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from brainbench.chat import Chat
from brainbench.errors import BenchError, CallFailed, OverBudget
from brainbench.model import ModelDoor

_LARGEST = 1 << 20
_PASSED_ON = ("messages", "response_format")
"""What of a question is the memory's to say."""


@dataclass(slots=True)
class Relay:
    """Where memories ask the model. `prompts` are the hashes of the instructions and answer forms that they used."""

    chat: Chat
    seed: int
    max_tokens: int
    url: str = ""
    token: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)
    prompts: set[str] = field(default_factory=set)

    @property
    def door(self) -> ModelDoor:
        """What a memory is told."""
        return ModelDoor(self.url, self.chat.model, self.token)

    def answer(self, asked: Mapping[str, Any]) -> tuple[int, dict[str, object]]:
        """Status and document for one question."""
        messages = asked.get("messages")
        if not isinstance(messages, list) or not messages:
            return 400, _error("`messages` must be a list")
        most = asked.get("max_tokens")
        body: dict[str, object] = {key: asked[key] for key in _PASSED_ON if key in asked}
        body |= {
            "model": self.chat.model,
            "temperature": 0,
            "seed": self.seed,
            "max_tokens": min(most, self.max_tokens) if type(most) is int and most > 0 else self.max_tokens,
        }
        self.prompts.add(_prompt_hash(messages, asked.get("response_format")))
        try:
            reply = self.chat.ask(body, f"an extraction (seed {self.seed})")
        except CallFailed as error:
            return 502, _error(str(error))
        except OverBudget as error:
            return 402, _error(str(error))
        except BenchError as error:
            return 503, _error(str(error))
        usage = {"prompt_tokens": reply.input_tokens, "completion_tokens": reply.output_tokens}
        return 200, {"choices": [{"index": 0, "message": dict(reply.message)}], "usage": usage}


@contextmanager
def relaying(chat: Chat, seed: int, max_tokens: int) -> Iterator[Relay]:
    """A relay that is there as long as the block."""
    relay = Relay(chat, seed, max_tokens)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(relay))
    server.daemon_threads = True
    relay.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
    thread.start()
    try:
        yield relay
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(relay: Relay) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            given = self.headers.get("authorization", "")
            if not hmac.compare_digest(given.encode(), f"Bearer {relay.token}".encode()):
                self._say(401, _error("this door is for the memory that is being measured"))
            elif self.path != "/v1/chat/completions":
                self._say(404, _error("only /v1/chat/completions"))
            else:
                asked = self._read()
                self._say(*(relay.answer(asked) if asked is not None else (400, _error("no JSON object"))))

        def _read(self) -> Mapping[str, Any] | None:
            try:
                size = int(self.headers.get("content-length", ""))
                asked = json.loads(self.rfile.read(size)) if 0 < size <= _LARGEST else None
            except (ValueError, RecursionError):
                return None
            return asked if isinstance(asked, dict) else None

        def _say(self, status: int, document: Mapping[str, object]) -> None:
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Standard error is the bench's."""

    return Handler


def _error(message: str) -> dict[str, object]:
    return {"error": {"message": message}}


def _prompt_hash(messages: list[Any], form: object) -> str:
    told = [m.get("content") for m in messages if isinstance(m, dict) and m.get("role") == "system"]
    return hashlib.sha256(json.dumps([told, form], sort_keys=True, default=str).encode()).hexdigest()
