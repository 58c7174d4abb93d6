"""Embedders: the packaged model, one in a folder, one behind an address."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wellkept.errors import ModelUnavailable, SettingsError
from wellkept.providers import EmbedderId, embedders
from wellkept.providers.asking import Address
from wellkept.providers.embedders import PACKAGED, EndpointEmbedder, OnnxEmbedder, in_folder, packaged
from wellkept.settings import load_settings, open_embedder


@pytest.fixture(scope="module")
def model() -> OnnxEmbedder:
    found = packaged()
    assert found is not None
    return found


def test_what_means_alike_is_near_and_what_does_not_is_not(model: OnnxEmbedder) -> None:
    car, automobile, soup = model.embed(["my car was stolen", "somebody took my automobile", "a bowl of hot soup"])
    assert car @ automobile > 0.6
    assert car @ soup < 0.2


def test_a_vector_is_the_same_alone_and_among_others_and_has_length_one(model: OnnxEmbedder) -> None:
    texts = ["short", "a somewhat longer text about a kiln in a cellar", "", "kiln " * 900]
    together = model.embed(texts)
    assert together.shape == (4, PACKAGED.dimension)
    assert together.dtype == np.float32
    assert np.linalg.norm(together, axis=1) == pytest.approx(np.ones(4), abs=1e-5)
    for text, row in zip(texts, together, strict=True):
        assert model.embed([text])[0].tolist() == row.tolist()


def test_a_model_in_a_folder_is_known_by_its_weights(model: OnnxEmbedder, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    shutil.copy(model._model, folder / "model.onnx")
    (folder / "config.json").write_text(json.dumps({"hidden_size": 384}))
    found = in_folder(folder)
    assert (found.id.dimension, found.id.model[:5]) == (384, "mine@")
    assert found.embed(["kiln"])[0] @ model.embed(["kiln"])[0] == pytest.approx(1, abs=1e-5)
    (folder / "vocab.txt").write_text("[PAD]\n[UNK]\n[CLS]\n[SEP]\nkiln\n")
    assert in_folder(folder).embed(["kiln"])[0] @ model.embed(["kiln"])[0] < 0.99
    assert open_embedder(load_settings({"HOME": "/x"}, {"embedder": str(folder)})) is not None


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "model.onnx: No such file"),
        ({"model.onnx": b"x"}, "config.json: No such file"),
        ({"model.onnx": b"x", "config.json": b"{"}, "config.json or vocab.txt"),
        ({"model.onnx": b"x", "config.json": b'{"hidden_size": "many"}'}, "hidden_size is 'many'"),
    ],
)
def test_a_folder_without_a_model_says_what_is_missing(tmp_path: Path, files: dict[str, bytes], words: str) -> None:
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ModelUnavailable, match=words):
        in_folder(tmp_path)


def test_weights_that_are_none_or_not_the_known_ones_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "model.onnx"
    file.write_bytes(b"not a model")
    for expected, words in ((None, "cannot be loaded"), ("0" * 64, "not the model that this wellkept knows")):
        with pytest.raises(ModelUnavailable, match=words):
            OnnxEmbedder(file, PACKAGED, embedders.bert_uncased, expected).embed(["x"])


def test_without_the_packaged_model_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedders, "PACKAGE", "no_such_package_here")
    assert packaged() is None


class Server:
    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.answer: object = None
        self.url = self.key = ""


@pytest.fixture
def server() -> Iterator[Server]:
    told = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            told.asked.append({**body, "path": self.path})
            told.key = self.headers.get("authorization", "")
            rows = [{"index": n, "embedding": [3.0 + n, 4.0, 0.0]} for n in range(len(body["input"]))][::-1]
            sent = json.dumps({"data": rows} if told.answer is None else told.answer).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: object) -> None:
            pass

    serving = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=serving.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    told.url = f"http://127.0.0.1:{serving.server_port}/v1"
    yield told
    serving.shutdown()
    serving.server_close()
    thread.join()


def test_a_model_behind_an_address_gives_vectors_in_the_order_of_the_texts(server: Server) -> None:
    embedder = EndpointEmbedder(Address(server.url, "secret", 5), "small")
    assert embedder.id == EmbedderId("small", 3)
    first, second = embedder.embed(["one", "two"])
    assert first.tolist() == pytest.approx([0.6, 0.8, 0])
    assert second.tolist() == pytest.approx([0.70710677, 0.70710677, 0])
    assert (server.asked[-1]["path"], server.asked[-1]["input"], server.key) == (
        "/v1/embeddings",
        ["one", "two"],
        "Bearer secret",
    )


@pytest.mark.parametrize(
    "answer",
    [
        *({}, [], {"data": []}, {"data": [{"index": 0}]}, {"data": [{"index": 0, "embedding": "x"}]}),
        *({"data": [{"index": 0, "embedding": [float("nan")]}]}, {"data": [{"index": 0, "embedding": [1, [2]]}]}),
    ],
)
def test_what_are_no_vectors_is_refused(server: Server, answer: object) -> None:
    server.answer = answer
    with pytest.raises(ModelUnavailable, match="it answered"):
        EndpointEmbedder(Address(server.url, None, 5), "small").embed(["one"])


def test_the_settings_choose_the_embedder() -> None:
    def chosen(**given: object) -> object:
        return open_embedder(load_settings({"HOME": "/x"}, given))

    assert chosen(embedder="off") is None
    assert isinstance(chosen(), OnnxEmbedder)
    assert isinstance(chosen(embedder_url="http://127.0.0.1:9/v1", embedder_model="small"), EndpointEmbedder)
    assert load_settings({"HOME": "/x", "WELLKEPT_EMBEDDER": "off"}).embedder == "off"
    for given, words in (
        ({"embedder": "relative/folder"}, "absolute path"),
        ({"embedder_url": "http://127.0.0.1:9/v1"}, "needs both"),
        ({"embedder_url": "http://example.org/v1", "embedder_model": "x"}, "unencrypted"),
    ):
        with pytest.raises(SettingsError, match=words):
            load_settings({"HOME": "/x"}, given)


def test_the_runtime_looks_for_nobody_and_leaves_nothing_at_home(tmp_path: Path) -> None:
    code = "from wellkept.providers.embedders import packaged; print(len(packaged().embed(['kiln'])))"
    home = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    home.pop("ORT_DISABLE_TELEMETRY", None)
    done = subprocess.run([sys.executable, "-c", code], env=home, capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"
    assert [path.name for path in tmp_path.rglob("*")] == []
