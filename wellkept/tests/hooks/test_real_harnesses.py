"""The real programs run the installed hooks: their model is shown what memory brought, and memory keeps both sides.

The model is a program of this test on the loopback interface, the home a folder of its own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.registry

QUESTION, ANSWER = "When may we open the Kiln in the yard?", "Below ninety degrees, as agreed."
KILN = "---\ntitle: Kiln in the yard\n---\n\nThe kiln may be opened below 90 degrees.\n"
POINTER = "The kiln may be opened below 90 degrees."
PACK = "<!-- wellkept:pack v1"
PINNED = Path(__file__).with_name("harnesses")
_USAGE = {"input_tokens": 10, "output_tokens": 9}


def _messages(model: str) -> list[dict[str, Any]]:
    """A turn of Anthropic's API as it is streamed."""
    start = {"id": "msg_1", "type": "message", "role": "assistant", "model": model, "content": [], "usage": _USAGE}
    return [
        {"type": "message_start", "message": {**start, "stop_reason": None, "stop_sequence": None}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": ANSWER}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None}, "usage": _USAGE},
        {"type": "message_stop"},
    ]


def _responses() -> list[dict[str, Any]]:
    """A turn of OpenAI's API as it is streamed."""
    said = [{"type": "output_text", "text": ANSWER, "annotations": []}]
    item = {"type": "message", "id": "it_1", "role": "assistant", "status": "completed", "content": said}
    usage = {**_USAGE, "total_tokens": 19, "input_tokens_details": None, "output_tokens_details": None}
    return [
        {"type": "response.created", "response": {"id": "resp_1"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {"id": "resp_1", "output": [item], "usage": usage}},
    ]


class Model(ThreadingHTTPServer):
    """Answers every question with the same words and remembers what it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Door)
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Door(BaseHTTPRequestHandler):
    server: Model

    def do_POST(self) -> None:
        said = json.loads(self.rfile.read(int(self.headers["content-length"])))
        path = self.path.partition("?")[0]
        events = {"/v1/messages": _messages(str(said.get("model"))), "/v1/responses": _responses()}.get(path)
        if events is not None:
            self.server.asked.append(json.dumps(said, ensure_ascii=False))
        told = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events or ()).encode()
        self.send_response(200 if events is not None else 404)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the base class
        pass


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the programs are, installed as they are pinned."""
    assert shutil.which("npm") is not None, "install Node, or run this by .ci/registry"
    folder = tmp_path_factory.mktemp("harnesses")
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(PINNED / name, folder / name)
    subprocess.run(["npm", "ci", "--silent"], cwd=folder, check=True, timeout=900)
    return folder / "node_modules" / ".bin"


@pytest.fixture
def model() -> Iterator[Model]:
    with Model() as served:
        thread = threading.Thread(target=served.serve_forever, daemon=True)
        thread.start()
        yield served
        served.shutdown()
        thread.join()


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody with a home of their own and nothing of this process's environment."""

    home: Path
    more: Mapping[str, str]
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def environment(self) -> Mapping[str, str]:
        return {"PATH": os.environ["PATH"], "HOME": str(self.home), **self.more}

    def types(self, *argv: str) -> subprocess.CompletedProcess[str]:
        env = self.environment
        work = self.home / "work"
        work.mkdir(exist_ok=True)
        return subprocess.run(
            argv, cwd=work, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=True
        )

    def wellkept(self, *argv: str) -> str:
        return self.types(sys.executable, "-m", "wellkept", *argv).stdout

    def begins(self, harness: str, folder: str) -> None:
        """A memory with one page, and the hooks of a harness."""
        (self.home / folder).mkdir()
        (self.home / "kiln.md").write_text(KILN)
        self.wellkept("put-page", "kiln", str(self.home / "kiln.md"))
        self.wellkept("install", harness)
        self._has_a_daemon()

    def _has_a_daemon(self) -> None:
        """One that is warm, so that a busy machine does not decide what a hook brings in its time."""
        daemon = (sys.executable, "-m", "wellkept", "daemon")
        nowhere = subprocess.DEVNULL
        self.started.append(
            subprocess.Popen(daemon, cwd=self.home, env=self.environment, stdout=nowhere, stderr=nowhere)
        )
        until = time.monotonic() + 60
        ping = (sys.executable, "-m", "wellkept", "ping")
        while subprocess.run(ping, cwd=self.home, env=self.environment, capture_output=True, check=False).returncode:
            assert time.monotonic() < until, "the daemon does not answer"
            time.sleep(0.1)

    def outcomes(self) -> dict[str, list[str]]:
        """By event what its hooks came to, those before there was a daemon left out."""
        found: dict[str, list[str]] = {}
        for log in self.home.rglob("heartbeat.jsonl"):
            for beat in map(json.loads, log.read_text().splitlines()):
                if beat["reason"] != "no_daemon":
                    why = f": {beat['reason']}" if beat["outcome"] == "failed" else ""
                    found.setdefault(beat["event"].partition("/")[2], []).append(beat["outcome"] + why)
        return found

    def conversation(self) -> str:
        """All that is kept of what was said."""
        items = (json.loads(line) for line in self.wellkept("export").splitlines())
        return "\n".join(item["content"] for item in items if item["id"].startswith("conversations/"))


@pytest.fixture
def person(tmp_path: Path, model: Model) -> Iterator[Person]:
    more = {
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "MODEL_KEY": "none",
    }
    somebody = Person(tmp_path, more)
    yield somebody
    for process in somebody.started:
        process.terminate()
        process.wait(30)


@pytest.mark.field("HOK-03")
def test_claude_code_shows_its_model_what_memory_brings_and_memory_keeps_what_was_said(
    programs: Path, person: Person, model: Model
) -> None:
    person.begins("claude-code", ".claude")
    claude = (str(programs / "claude"), "-p", "--model", "claude-sonnet-4-5")
    assert ANSWER in person.types(*claude, QUESTION).stdout
    assert (PACK in model.asked[0], POINTER in model.asked[0], QUESTION in model.asked[0]) == (True,) * 3
    kept = person.conversation()
    assert (kept.count(QUESTION), kept.count(ANSWER), "wellkept:" in kept) == (1, 1, False)
    person.types(*claude, "--continue", "/compact")
    seen = person.outcomes()
    assert {"session-start", "user-prompt", "stop", "pre-compact", "session-end"} == set(seen)
    assert (seen["session-start"][0], seen["user-prompt"]) == ("injected", ["injected"])
    # Where Claude Code writes its transcript late, the end of the session keeps what was said, as seen above.
    assert set(seen["stop"]) <= {"kept", "silent", "failed: transcript_unreadable", "failed: deadline"}
    person.wellkept("uninstall", "claude-code")
    person.types(*claude, QUESTION)
    assert "wellkept:" not in model.asked[-1]


def _codex_settings(home: Path, url: str) -> None:
    provider = (
        f'[model_providers.here]\nname = "here"\nbase_url = "{url}/v1"\nwire_api = "responses"\nenv_key = "MODEL_KEY"\n'
    )
    (home / ".codex" / "config.toml").write_text(f'model = "any"\nmodel_provider = "here"\n{provider}')


@pytest.mark.field("HOK-03")
@pytest.mark.parametrize("trusted", [True, False])
def test_codex_shows_its_model_what_memory_brings_once_its_owner_trusts_the_hooks(
    programs: Path, person: Person, model: Model, trusted: bool
) -> None:
    person.begins("codex", ".codex")
    _codex_settings(person.home, model.url)
    trust: Sequence[str] = ("--dangerously-bypass-hook-trust",) if trusted else ()
    assert ANSWER in person.types(str(programs / "codex"), "exec", "--skip-git-repo-check", *trust, QUESTION).stdout
    assert (PACK in model.asked[0], POINTER in model.asked[0]) == (trusted, trusted)
    if trusted:
        kept = person.conversation()
        assert (kept.count(QUESTION), kept.count(ANSWER), "wellkept:" in kept) == (1, 1, False)
        seen = person.outcomes()
        assert (seen["session-start"][0], seen["user-prompt"], seen["stop"]) == ("injected", ["injected"], ["kept"])
    else:
        assert (person.outcomes(), person.conversation()) == ({}, "")
