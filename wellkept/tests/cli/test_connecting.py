"""What a person types to keep what a repository's issues say."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from wellkept.cli import main

RECORDED = Path(__file__).parent.parent / "connectors" / "recorded"
Piped = Callable[..., Result]


@pytest.fixture
def api() -> Iterator[tuple[str, list[str]]]:
    """The address of a server that answers what was recorded, and the tokens that it was sent."""
    tokens: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            tokens.append(self.headers.get("authorization", ""))
            name = "comments.json" if "/comments" in self.path else "issues.json"
            answer = (RECORDED / name).read_bytes()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            return

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", tokens
    server.shutdown()
    server.server_close()
    thread.join()


def test_issues_are_kept_and_labelled_as_from_outside(piped: Piped, api: tuple[str, list[str]]) -> None:
    done = piped("connect", "github", "ada/engine", "--api", api[0])
    assert done.exit_code == 0, done.stderr
    assert done.stdout == (
        "ada/engine (source default): 3 issues and pull requests, 2 comments read; 5 created, 0 updated, 0 unchanged\n"
    )
    page = json.loads(piped("get-page", "github/ada/engine/issues/7", "--json").stdout)
    assert (page["trust"], page["label"]) == ("external_untrusted", "external, untrusted")
    assert page["provenance"]["url"] == "https://github.com/ada/engine/issues/7"
    assert api[1] == ["", ""]


def test_a_token_comes_from_a_variable_and_from_nowhere_else(
    environment: dict[str, str], api: tuple[str, list[str]]
) -> None:
    done = CliRunner().invoke(
        main,
        ["connect", "github", "ada/engine", "--api", api[0], "--token-env", "MINE", "--json"],
        env={**environment, "MINE": "ghp_secret"},
    )
    assert json.loads(done.stdout)["created"] == 5
    assert api[1] == ["Bearer ghp_secret"] * 2
    assert "ghp_secret" not in done.output


def test_what_cannot_be_asked_is_an_error_of_one_line(piped: Piped) -> None:
    for arguments, told in (
        (("ada/engine", "--api", "http://127.0.0.1:9"), "ConnectionRefusedError"),
        (("ada/engine", "--api", "http://api.example.org"), "use https"),
        (("ada",), "use OWNER/NAME"),
    ):
        refused = piped("connect", "github", *arguments)
        assert refused.exit_code == 1
        assert told in refused.stderr
        assert refused.stderr.count("\n") == 1
