"""A model as extractor: what it may say, what is left out, and what happens when it cannot be asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from wellkept.errors import ModelUnavailable, SettingsError
from wellkept.memory import Memory
from wellkept.model import Message
from wellkept.providers import Segment
from wellkept.providers.chat import MOST_CHARS, MOST_FACTS, ChatExtractor, ChatModel
from wellkept.settings import load_settings, open_extractor
from wellkept.storage import open_store

NOW = datetime(2026, 1, 1, tzinfo=UTC)
SAID = "Greta moves the delivery to 14 June. She prefers tea."


class Model:
    """A server on loopback that answers in the form that llama.cpp's was seen to use."""

    def __init__(self) -> None:
        self.text: str | Callable[[dict[str, Any]], str] = ""
        self.raw: bytes | None = None
        self.status = 200
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.url = ""


@pytest.fixture
def model() -> Iterator[Model]:
    told = Model()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            told.asked.append(body)
            told.keys.append(self.headers.get("authorization", ""))
            text = told.text if isinstance(told.text, str) else told.text(body)
            answer = {
                "choices": [{"finish_reason": "stop", "index": 0, "message": {"role": "assistant", "content": text}}]
            }
            sent = told.raw if told.raw is not None else json.dumps(answer).encode()
            self.send_response(told.status)
            self.send_header("content-length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    told.url = f"http://127.0.0.1:{server.server_port}/v1"
    yield told
    server.shutdown()
    server.server_close()
    thread.join()


def fact(text: str = "Greta prefers tea", quote: str = "She prefers tea", **more: object) -> dict[str, object]:
    return {"fact": text, "kind": "preference", "mention": "Greta", "quote": quote, **more}


def facts(*found: dict[str, object]) -> str:
    return json.dumps({"facts": found})


def segment(*texts: str, parts: tuple[str, ...] | None = None) -> Segment:
    return Segment("s", tuple(Message("user", text, NOW) for text in texts), texts if parts is None else parts)


def extractor(model: Model, key: str | None = None) -> ChatExtractor:
    return ChatExtractor(ChatModel(model.url, "small", key, seconds=5))


@pytest.mark.req("C-504")
def test_a_fact_that_is_quoted_word_for_word_is_taken(model: Model) -> None:
    model.text = facts(fact())
    (found,) = extractor(model).extract(segment(SAID), "default")
    assert (found.fact, found.kind, found.mention, found.quote) == (
        "Greta prefers tea",
        "preference",
        "Greta",
        "She prefers tea",
    )
    (asked,) = model.asked
    assert (asked["model"], asked["temperature"]) == ("small", 0)
    assert asked["messages"][1]["content"] == SAID
    assert asked["response_format"]["type"] == "json_schema"


@pytest.mark.req("C-504")
def test_a_quote_that_nobody_said_is_left_out_and_counted(model: Model) -> None:
    model.text = facts(fact(), fact("Greta prefers coffee", "She prefers coffee"))
    asking = extractor(model)
    assert [one.fact for one in asking.extract(segment(SAID), "default")] == ["Greta prefers tea"]
    assert asking.heard.unquoted == 1
    assert [one.fact for one in asking.heard.facts] == ["Greta prefers tea", "Greta prefers coffee"]


@pytest.mark.req("C-504")
def test_a_mention_that_nobody_said_names_nobody(model: Model) -> None:
    model.text = facts(fact(mention="Odo"), fact(mention=None), fact(mention="Greta"))
    assert [one.mention for one in extractor(model).extract(segment(SAID), "default")] == [None, None, "Greta"]


@pytest.mark.req("C-504")
@pytest.mark.parametrize(
    "text",
    [
        "Greta prefers tea.",
        "{garbage",
        '{"facts": "none"}',
        facts(fact(kind="opinion")),
        facts({"fact": "x", "kind": "fact", "quote": SAID}),
        facts(fact(slug="people/greta")),
        facts(fact(entity="people/greta")),
    ],
    ids=["prose", "garbage", "no list", "unknown kind", "no mention", "a slug", "an entity"],
)
def test_an_answer_of_another_form_gives_nothing_and_is_counted(model: Model, text: str) -> None:
    model.text = text
    asking = extractor(model)
    assert asking.extract(segment(SAID), "default") == ()
    assert asking.heard.unreadable == 1


def test_a_code_fence_around_the_answer_does_no_harm(model: Model) -> None:
    model.text = f"```json\n{facts(fact())}\n```"
    assert len(extractor(model).extract(segment(SAID), "default")) == 1


@pytest.mark.req("C-504")
def test_the_model_reads_eight_thousand_characters_and_says_ten_facts_at_most(model: Model) -> None:
    model.text = facts(*[fact(f"fact {n}") for n in range(30)])
    found = extractor(model).extract(segment(SAID, parts=("x" * 20_000,)), "default")
    assert len(found) == MOST_FACTS
    assert len(model.asked[0]["messages"][1]["content"]) == MOST_CHARS


@pytest.mark.parametrize(
    ("status", "raw", "words"),
    [
        (200, b"<html>", "no chat completion"),
        (200, b'{"choices": []}', "no chat completion"),
        (200, b'{"choices": [{"message": {"content": null}}]}', "holds no text"),
        (429, b'{"error": {"message": "slow down"}}', "HTTP 429: slow down"),
        (500, b"oops", "HTTP 500"),
    ],
)
def test_a_model_that_gives_no_answer_is_told_with_the_reason(
    model: Model, status: int, raw: bytes, words: str
) -> None:
    model.status, model.raw = status, raw
    with pytest.raises(ModelUnavailable, match=words):
        extractor(model).extract(segment(SAID), "default")


def test_a_model_that_is_not_there_is_told_with_its_address() -> None:
    with pytest.raises(ModelUnavailable, match=r"127\.0\.0\.1:9"):
        ChatExtractor(ChatModel("http://127.0.0.1:9/v1", "small")).extract(segment(SAID), "default")


def test_the_key_is_sent_and_told_to_nobody(model: Model) -> None:
    model.status, model.raw = 401, b'{"error": {"message": "bad key sk-secret"}}'
    asking = extractor(model, "sk-secret")
    with pytest.raises(ModelUnavailable, match="bad key") as caught:
        asking.extract(segment(SAID), "default")
    assert model.keys == ["Bearer sk-secret"]
    assert "sk-secret" not in f"{caught.value}{asking.model!r}"


def test_what_a_model_said_is_kept_under_the_page_it_mentions_and_a_failure_keeps_the_page(
    model: Model, tmp_path: Path
) -> None:
    memory = Memory(open_store("sqlite", tmp_path / "m.db"))
    memory.put_page("default", "people/greta", "---\ntitle: Greta\ntype: person\n---\n\nGreta.\n", now=NOW)
    model.text = facts(fact())
    memory.bank("default", "one", [Message("user", SAID, NOW)], extractor=extractor(model), now=NOW)
    assert [(f.text, f.entity) for f in memory.recall_facts("default")] == [("Greta prefers tea", "people/greta")]
    model.status = 500
    receipt = memory.bank("default", "two", [Message("user", SAID, NOW)], extractor=extractor(model), now=NOW)
    assert receipt.slug is not None
    assert receipt.degraded == ("extractor_failed",)
    memory.close()


def test_settings_name_the_model_and_the_variable_with_its_key(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "WELLKEPT_DATA_DIR": str(tmp_path)}
    assert open_extractor(load_settings(env)) is None
    (tmp_path / "settings.toml").write_text(
        'extractor_url = "https://models.example/v1"\nextractor_model = "small"\nextractor_key_env = "MY_KEY"\n'
    )
    settings = load_settings(env | {"MY_KEY": "sk-secret"})
    assert "sk-secret" not in repr(settings)
    found = open_extractor(settings)
    assert isinstance(found, ChatExtractor)
    assert (found.model.url, found.model.key) == ("https://models.example/v1", "sk-secret")
    assert load_settings(env | {"WELLKEPT_EXTRACTOR_MODEL": "large"}).extractor_model == "large"


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"WELLKEPT_EXTRACTOR_URL": "https://models.example/v1"}, "needs both"),
        ({"WELLKEPT_EXTRACTOR_URL": "http://models.example/v1", "WELLKEPT_EXTRACTOR_MODEL": "m"}, "unencrypted"),
        ({"WELLKEPT_EXTRACTOR_URL": "https://me:pw@h/v1", "WELLKEPT_EXTRACTOR_MODEL": "m"}, "without a user"),
        ({"WELLKEPT_EXTRACTOR_URL": "https://h:port/v1", "WELLKEPT_EXTRACTOR_MODEL": "m"}, "extractor_url"),
    ],
)
def test_an_address_that_cannot_be_used_is_told(tmp_path: Path, variables: dict[str, str], words: str) -> None:
    with pytest.raises(SettingsError, match=words):
        load_settings({"HOME": str(tmp_path), **variables})
