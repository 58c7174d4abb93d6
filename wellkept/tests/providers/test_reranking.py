"""A reranker behind an address."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from wellkept.errors import ModelUnavailable, SettingsError
from wellkept.providers.asking import Address
from wellkept.providers.reranking import EndpointReranker
from wellkept.settings import load_settings, open_memory


class Scorer(ThreadingHTTPServer):
    """Scores a text by how often it says soup, and answers as `says` makes of that."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[dict[str, Any]] = []
        self.says: Any = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        server = self.server
        assert isinstance(server, Scorer)
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        server.asked.append({**asked, "path": self.path, "key": self.headers.get("authorization")})
        scores = [text.count("soup") for text in asked["documents"]]
        rows = [{"index": place, "relevance_score": score} for place, score in enumerate(scores)]
        body = json.dumps({"results": rows[::-1]} if server.says is None else server.says).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def scorer() -> Iterator[Scorer]:
    server = Scorer()
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_it_asks_for_a_score_of_each_text_and_sorts_what_it_is_told(scorer: Scorer) -> None:
    reranker = EndpointReranker(Address(scorer.url, "secret"), "its-name")
    assert reranker.rank("dinner", ["a soup", "none", "soup, soup"]) == [1.0, 0.0, 2.0]
    (asked,) = scorer.asked
    assert (asked["path"], asked["model"], asked["query"]) == ("/v1/rerank", "its-name", "dinner")
    assert asked["key"] == "Bearer secret"


@pytest.mark.parametrize(
    "says",
    [
        {},
        [],
        {"results": []},
        {"results": [{"index": 0}]},
        {"results": [{"index": 0, "relevance_score": "high"}]},
        {"results": [{"index": 0, "relevance_score": float("nan")}]},
        {"results": 7},
    ],
)
def test_what_is_no_score_for_each_text_is_refused(scorer: Scorer, says: object) -> None:
    scorer.says = says
    with pytest.raises(ModelUnavailable, match="score"):
        EndpointReranker(Address(scorer.url), "m").rank("q", ["a"])


def test_the_settings_name_one_and_a_search_that_asks_for_it_is_ranked_by_it(scorer: Scorer, tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text(f'reranker_url = "{scorer.url}"\nreranker_model = "m"\n')
    memory = open_memory(load_settings({"HOME": str(tmp_path)}, {"data_dir": tmp_path}))
    for number in range(25):
        memory.put_page("default", f"n/{number:02}", "kiln " * (number + 1) + ("soup" if number == 7 else ""))
    plain = memory.search("default", "kiln", 3)
    assert "n/07" not in [one.slug for one in plain]
    assert scorer.asked == []
    found = memory.search("default", "kiln", 3, rerank=True, diagnostics=True)
    assert found[0].slug == "n/07"
    assert [one.lane for one in found[0].lanes or ()][-1] == "rerank"
    assert found.lanes[-1] == "rerank"
    assert len(scorer.asked[0]["documents"]) == 20
    memory.close()


def test_an_address_without_a_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "settings.toml").write_text('reranker_url = "https://host/v1"\n')
    with pytest.raises(SettingsError, match="reranker_url, reranker_model"):
        load_settings({"HOME": str(tmp_path)}, {"data_dir": tmp_path})
