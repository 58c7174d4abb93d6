"""The HTTP door: the verbs and items over HTTP, to the holder of a token, with one form of refusal."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from wellkept.memory import Memory
from wellkept.model import Trust
from wellkept.providers import EmbedderId
from wellkept.serve.http import AT_ONCE, BODY_BYTES, application, is_loopback
from wellkept.serve.routes import ROUTES, Desk
from wellkept.serve.tokens import Tokens
from wellkept.storage import open_store
from wellkept.storage.schema import migrations
from wellkept.verbs import ALLOWED, DECIDED_BY_THE_DOOR, SCOPES, VERBS

LABEL = {"trust", "label", "confirmed", "content_origin", "source", "status", "flags", "integrity"}


class Clock:
    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


class Served:
    """A memory behind its HTTP door, and tokens for it."""

    def __init__(self, folder: Path) -> None:
        self.memory = Memory(open_store("sqlite", folder / "memory.db"))
        self.tokens, self.clock = Tokens(folder / "tokens.json"), Clock()
        self.desk = Desk(self.memory, self.tokens, self.clock)
        self.client = TestClient(
            application(self.desk), base_url="http://127.0.0.1:8377", raise_server_exceptions=False
        )

    def token(self, *scopes: str, source: str = "default", principal: str = "user:ann") -> str:
        return self.tokens.add(
            principal, source, scopes or ("read", "write", "cite", "admin"), timedelta(days=1), self.clock()
        )[0]

    def ask(self, method: str, path: str, body: object = None, *, token: str | None = None, **headers: str) -> Any:
        told = {"Authorization": f"Bearer {self.token() if token is None else token}", **headers}
        content = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        return self.client.request(method, f"/api{path}", content=content, headers=told)

    def said(self, method: str, path: str, body: object = None, **more: Any) -> Any:
        answer = self.ask(method, path, body, **more)
        assert answer.status_code < 300, answer.text
        return answer.json()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    found = Served(tmp_path)
    yield found
    found.client.close()
    found.memory.close()


def refused(answer: Any, status: int, code: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    said: dict[str, Any] = answer.json()
    assert (said["status"], said["code"], said["type"]) == (status, code, f"urn:wellkept:problem:{code}")
    assert said["title"]
    assert said["detail"]
    return said


# -- who may ask


@pytest.mark.req("E-426")
def test_anybody_may_ask_whether_it_answers(served: Served) -> None:
    said = served.client.get("/api/health").json()
    assert (said["status"], said["ready"], said["test_clock"]) == ("ok", True, False)
    assert (said["schema_version"], said["retrieval_mode"], said["embedding"]) == (len(migrations()), "lexical", None)


def test_health_says_whose_vectors_there_are_and_whether_the_store_works(served: Served) -> None:
    served.memory.put_page("default", "n/one", "# One\n")
    (waiting,) = served.memory.store.index.waiting(0, 9)
    served.memory.store.index.put_vectors(EmbedderId("m", 8), [waiting.id], np.ones((1, 8), np.float32))
    said = served.client.get("/api/health").json()
    assert (said["retrieval_mode"], said["embedding"]) == ("hybrid", {"model": "m", "dimensions": 8})
    served.memory.close()
    said = served.client.get("/api/health")
    assert (said.status_code, said.json()["status"], said.json()["ready"]) == (200, "store_unavailable", False)


@pytest.mark.req("E-423")
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_nothing_else_is_told_without_a_token(served: Served, route: Any) -> None:
    path = "/api" + route.path.replace("{id:path}", "x").replace("{slug:path}", "x").replace("{id}", "x").replace(
        "{batch_id}", "x"
    )
    for headers in ({}, {"Authorization": "Bearer "}, {"Authorization": "Basic x"}, {"Authorization": "Bearer wk_x"}):
        answer = served.client.request(route.method, path, headers=headers)
        refused(answer, 401, "unauthorized")
        assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.req("E-423")
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_a_token_does_what_its_scopes_allow_and_nothing_else(served: Served, route: Any) -> None:
    path = (
        route.path.replace("{id:path}", "x").replace("{slug:path}", "x").replace("{id}", "x").replace("{batch_id}", "x")
    )
    for scope in SCOPES:
        answer = served.ask(
            route.method, path, None if route.method in ("GET", "DELETE") else {}, token=served.token(scope)
        )
        assert (answer.status_code == 403) == (scope not in ALLOWED[route.takes.effect]), answer.text


def test_an_expired_or_revoked_token_opens_nothing(served: Served) -> None:
    token = served.token()
    assert served.said("GET", "/auth/whoami", token=token)["principal"] == "user:ann"
    served.clock.now += timedelta(days=2)
    assert "expired at" in refused(served.ask("GET", "/auth/whoami", token=token), 401, "unauthorized")["detail"]
    other = served.token("read")
    number = served.said("GET", "/auth/whoami", token=other)["id"]
    served.said("DELETE", f"/auth/tokens/{number}")
    refused(served.ask("GET", "/auth/whoami", token=other), 401, "unauthorized")


def test_an_admin_makes_tokens_for_the_own_source_and_only_there_revokes_them(served: Served) -> None:
    made = served.said("POST", "/auth/tokens", {"principal": "agent:codex", "scopes": ["read"], "ttl_s": 60})
    assert (made["source"], made["scopes"]) == ("default", ["read"])
    assert served.said("GET", "/auth/whoami", token=made["token"])["id"] == made["id"]
    foreign = served.token(source="team")
    refused(served.ask("DELETE", f"/auth/tokens/{made['id']}", token=foreign), 404, "not_found")
    wrong = served.ask("POST", "/auth/tokens", {"principal": "agent:x", "scopes": ["admin"]})
    refused(wrong, 422, "invalid_params")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example"}, 403),
        ({"Host": "localhost.evil.example"}, 403),
        ({"Host": ""}, 403),
        ({"Host": "[::1"}, 403),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Host": "localhost:9"}, 200),
        ({"Host": "[::1]:9"}, 200),
        ({"Origin": "http://127.0.0.1:3000"}, 200),
    ],
)
def test_a_page_of_a_browser_cannot_point_a_name_of_its_own_here(
    served: Served, headers: dict[str, str], status: int
) -> None:
    answer = served.client.get("/api/health", headers=headers)
    assert answer.status_code == status
    if status == 403:
        refused(answer, 403, "wrong_host")


def test_only_loopback_is_this_machine_alone() -> None:
    assert [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "127.9.9.9")] == [True] * 4
    assert [is_loopback(host) for host in ("192.0.2.1", "::", "10.0.0.1", "example.org", "")] == [False] * 5


# -- items


@pytest.mark.req("E-422")
def test_an_entity_is_kept_found_read_and_ended(served: Served) -> None:
    sent = {
        "name": 'Über "Rechnungen" 会议室',
        "entity_type": "decision",
        "content": "\n\nWe bill in euros.\r\n",
        "metadata": {"prio": 3, "näme": [1, None]},
        "valid_at": "2019-03-02",
        "source_id": "crm/7",
        "url": "https://example.org/7",
    }
    made = served.said("POST", "/entities", sent)
    entity = made["entity"]
    assert made["status"] == "created"
    assert {name: entity[name] for name in ("name", "entity_type", "content", "metadata")} == {
        name: sent[name] for name in ("name", "entity_type", "content", "metadata")
    }
    assert entity["provenance"] == {"source_id": "crm/7", "url": "https://example.org/7"}
    assert (entity["valid_at"], entity["created_at"]) == ("2019-03-02T00:00:00Z", "2026-03-01T12:00:00Z")
    assert served.said("GET", f"/entities/{entity['id']}") == entity
    for query in ("euros", "会议室", "rechnungen"):
        (found,) = served.said("POST", "/search", {"query": query})["results"]
        assert found["id"] == entity["id"]
    assert served.said("DELETE", f"/entities/{entity['id']}")["forgotten"] == [entity["id"]]
    refused(served.ask("GET", f"/entities/{entity['id']}"), 404, "not_found")
    assert served.said("POST", "/search", {"query": "euros"})["results"] == []
    history = served.said("GET", f"/memory/{entity['id']}/history")
    assert [change["change"] for change in history["changes"]] == ["created", "expired"]


@pytest.mark.req("E-425")
@pytest.mark.field("UPD-13")
def test_the_same_item_again_is_the_same_entity(served: Served) -> None:
    sent = {"name": "Billing", "content": "monthly", "source_id": "crm/7"}
    first = served.said("POST", "/entities", sent)
    assert served.said("POST", "/entities", sent)["status"] == "duplicate"
    changed = served.said("POST", "/entities", {**sent, "name": "Invoices", "content": "weekly"})
    assert (changed["status"], changed["entity"]["id"]) == ("updated", first["entity"]["id"])
    assert changed["entity"]["created_at"] == first["entity"]["created_at"]
    assert served.said("POST", "/search", {"query": "monthly"})["results"] == []
    assert len(served.said("GET", "/entities")["entities"]) == 1


def test_names_without_a_latin_letter_do_not_become_one_entity(served: Served) -> None:
    names = ["季度计划", "旅行清单", "🚀", "🎯", "...", "a", "A b", "a-b", "a b"]
    ids = [served.said("POST", "/entities", {"name": name, "content": f"x {name}"})["entity"]["id"] for name in names]
    assert len(set(ids)) == len(names) - 2
    assert {ids[6], ids[7], ids[8]} == {"note/a-b"}
    for name, number in zip(names[:5], ids[:5], strict=True):
        assert served.said("GET", f"/entities/{number}")["content"] == f"x {name}"


@pytest.mark.req("E-427")
def test_many_entities_are_kept_at_once_and_what_cannot_be_is_named(served: Served) -> None:
    sent = [{"name": f"n{n}", "content": "phrase of the batch"} for n in range(100)]
    sent[7] = {"name": ""}
    sent[9] = "nonsense"  # type: ignore[call-overload]
    sent[11] = {"name": "x", "colour": "red"}
    sent[13] = {"name": "half \ud83d"}
    sent[15] = dict(sent[14])
    made = served.said("POST", "/entities/bulk", {"entities": sent})
    assert (made["created"], made["duplicates"]) == (95, 1)
    assert [(one["index"], one["code"]) for one in made["failed"]] == [(n, "invalid_params") for n in (7, 9, 11, 13)]
    batch = served.said("GET", f"/entities/bulk/{made['batch_id']}")
    assert batch == {"received": 100, "stored": 96, "searchable": 96, "failed": 4, "done": True}
    assert len(served.said("POST", "/search", {"query": "phrase of the batch", "limit": 50})["results"]) == 50
    refused(served.ask("POST", "/entities/bulk", {"entities": sent * 2}), 422, "invalid_params")
    refused(served.ask("GET", "/entities/bulk/none"), 404, "not_found")
    refused(served.ask("GET", f"/entities/bulk/{made['batch_id']}", token=served.token(source="b")), 404, "not_found")


def test_entities_are_listed_page_by_page(served: Served) -> None:
    for number in range(7):
        kind = "task" if number % 2 else "note"
        served.said("POST", "/entities", {"name": f"n{number}", "entity_type": kind, "content": "x"})
    cursor, seen = "", []
    while True:
        page = served.said("GET", f"/entities?limit=3&cursor={cursor}")
        seen += [one["id"] for one in page["entities"]]
        if not page["has_more"]:
            break
        cursor = page["cursor"]
    assert seen == sorted(seen)
    assert len(seen) == 7
    assert len(served.said("GET", "/entities?type=task")["entities"]) == 3


@pytest.mark.req("E-421")
def test_a_search_pages_and_picks_what_it_returns(served: Served) -> None:
    for number in range(5):
        served.said("POST", "/entities", {"name": f"n{number}", "content": "harbour " * 50})
        served.said("POST", "/memory/remember", {"text": f"The harbour has {number} boats"})
    found = served.said("POST", "/search", {"query": "harbour", "limit": 4, "content_max_chars": 20})
    assert (len(found["results"]), found["has_more"]) == (4, True)
    assert all(len(one["content"]) == 20 for one in found["results"] if one["origin"] == "document")
    assert set(found["results"][0]) >= LABEL
    scores = [one["score"] for one in found["results"]]
    assert scores == sorted(scores, reverse=True)
    rest = served.said("POST", "/search", {"query": "harbour", "limit": 50, "offset": 4})
    assert [one["rank"] for one in rest["results"]] == [5, 6, 7, 8, 9, 10]
    assert len({one["id"] for one in [*found["results"], *rest["results"]]}) == 10
    only = served.said("POST", "/search", {"query": "harbour", "include_documents": False, "include_content": False})
    assert {(one["origin"], one["content"]) for one in only["results"]} == {("memory", None)}
    assert len(only["results"]) == 5


def test_a_raw_text_is_kept_as_it_is(served: Served) -> None:
    text = "Line one\r\n\r\n---\nnot: front matter\n---\n🚀"
    made = served.said(
        "POST", "/memory/raw", {"title": "Log", "raw_content": text, "tags": ["a"], "content_origin": "tool_output"}
    )
    assert (made["status"], made["trust"]) == ("created", "external_untrusted")
    kept = served.said("GET", f"/entities/{made['id']}")
    assert (kept["content"], kept["metadata"]) == (text, {"tags": ["a"]})


# -- verbs


def test_every_verb_but_the_owners_own_is_served(served: Served) -> None:
    assert {route.name for route in ROUTES} >= {name for name, verb in VERBS.items() if "http" in verb.doors}


def test_the_verbs_answer_as_they_do_in_python(served: Served) -> None:
    assert served.said("POST", "/memory/remember", {"text": "Ada likes tea", "entity": "people/ada"})["facts"] == [1]
    assert served.said("PUT", "/pages/people/ada", {"content": "# Ada\n"})["status"] == "created"
    assert served.said("GET", "/pages/people/ada")["content"] == "# Ada\n"
    (memory, page) = served.said("POST", "/memory/recall", {"query": "Ada tea"})["memories"]
    assert (memory["id"], page["id"], memory["trust"]) == ("fact:1", "people/ada", "agent_written")
    assert served.said("POST", "/memory/entity", {"name": "ada"})["facts"][0]["id"] == "fact:1"
    assert served.said("GET", "/memory/delta?since=1&limit=5")["cursor"] == 2
    assert "Ada likes tea" in served.said("POST", "/context/pack", {"goal": "tea for Ada"})["markdown"]
    cited = {"cited_ids": ["fact:1"], "session_key": "s", "message_key": "m"}
    assert served.said("POST", "/memory/cite", cited)["recorded"] == 1
    assert served.said("POST", "/memory/cite", {"ids": ["fact:1"], "session": "s", "message": "m"})["duplicates"] == 1
    corrected = {"id": "fact:1", "action": "revise", "replacement": "Ada likes coffee", "preview": False}
    assert served.said("POST", "/memory/correct", corrected)["created"] == "fact:2"
    assert served.said("POST", "/memory/forget", {"ids": ["fact:2"]})["forgotten"] == ["fact:2"]
    assert served.said("GET", "/memory/fact:1/history")["superseded_by"] == "fact:2"
    assert len(served.said("GET", "/memory/export")["items"]) == 3
    refused(served.ask("POST", "/memory/forget", {"ids": ["fact:2"], "mode": "purge"}), 403, "scope_denied")
    refused(served.ask("POST", "/memory/confirm", {"id": "people/ada"}), 403, "scope_denied")


@pytest.mark.req("E-423")
def test_nobody_over_http_writes_above_an_agent_or_touches_what_the_owner_wrote(served: Served) -> None:
    served.memory.put_page("default", "note/plan", "# Mine\n")
    served.memory.remember("default", "The plan is mine")
    made = served.said("PUT", "/pages/note/plan", {"content": "# Theirs\n"})
    assert made["degraded"] == ["guarded"]
    assert served.said("POST", "/entities", {"name": "plan", "content": "theirs"})["status"] == "guarded"
    assert served.said("POST", "/memory/forget", {"ids": ["fact:1"]})["status"] == "guarded"
    assert served.memory.get_page("default", "note/plan").content == "# Mine\n"
    served.said("POST", "/memory/remember", {"text": "Said by an agent"})
    fact = served.memory.store.fact("default", 2)
    assert fact is not None
    assert fact.trust is Trust.AGENT_WRITTEN
    for claim in sorted(DECIDED_BY_THE_DOOR):
        said = refused(served.ask("POST", "/memory/remember", {"text": "x", claim: "owner"}), 422, "invalid_params")
        assert said["errors"][0]["pointer"] == f"/{claim}"


@pytest.mark.req("E-401", "E-423", "E-507")
def test_a_token_reads_and_writes_its_own_source_only(served: Served) -> None:
    served.said("POST", "/memory/remember", {"text": "my desk is next to the window"}, token=served.token(source="u1"))
    served.said("POST", "/entities", {"name": "desk", "content": "window"}, token=served.token(source="u1"))
    for source in ("u", "u10", "u1 ", "u%", "U1"):
        token = served.token(source=source) if source == source.strip() else served.token(source="u2")
        for path in ("/search", "/memory/recall"):
            found = served.said("POST", path, {"query": "desk window"}, token=token)
            assert found.get("results", found.get("memories")) == []
        refused(served.ask("GET", "/entities/note/desk", token=token), 404, "not_found")
        refused(served.ask("GET", "/memory/fact:1/history", token=token), 404, "not_found")
        refused(served.ask("DELETE", "/entities/note/desk", token=token), 404, "not_found")
    mine = served.said(
        "POST", "/memory/remember", {"text": "my desk is next to the window"}, token=served.token(source="u2")
    )
    assert mine["status"] == "created"


# -- the same request again


@pytest.mark.req("E-425")
@pytest.mark.field("CON-08")
def test_a_request_sent_again_under_its_key_changes_nothing(served: Served) -> None:
    sent = {"text": "once"}
    first = served.ask("POST", "/memory/remember", sent, **{"Idempotency-Key": "k1"})
    served.said("POST", "/memory/forget", {"ids": ["fact:1"]})
    again = served.ask("POST", "/memory/remember", sent, **{"Idempotency-Key": "k1"})
    assert (again.status_code, again.json()) == (200, first.json())
    assert served.said("POST", "/memory/recall", {"query": "once"})["memories"] == []
    refused(served.ask("POST", "/memory/remember", {"text": "two"}, **{"Idempotency-Key": "k1"}), 409, "conflict")
    other = served.token(principal="user:bob")
    assert (
        served.ask("POST", "/memory/remember", {"text": "two"}, token=other, **{"Idempotency-Key": "k1"}).status_code
        == 200
    )
    refused(served.ask("POST", "/memory/remember", sent, **{"Idempotency-Key": "x" * 201}), 422, "invalid_params")


def test_a_refused_request_leaves_its_key_unused(served: Served) -> None:
    refused(served.ask("POST", "/memory/forget", {"ids": ["fact:1"]}, **{"Idempotency-Key": "k"}), 404, "not_found")
    served.said("POST", "/memory/remember", {"text": "now it is there"})
    assert (
        served.said("POST", "/memory/forget", {"ids": ["fact:1"]}, **{"Idempotency-Key": "k"})["status"] == "complete"
    )


# -- what cannot be used


@pytest.mark.req("E-422", "E-424")
@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"", 422, "invalid_params"),
        (b"{", 400, "bad_request"),
        (b"[]", 400, "bad_request"),
        (b"\xff\xfe", 400, "bad_request"),
        (b'"x"', 400, "bad_request"),
        (b"[" * 100_000, 400, "bad_request"),
        (b'{"text": ""}', 422, "invalid_params"),
        (b'{"text": "\\ud800"}', 422, "invalid_params"),
        (b'{"text": "a\\u0000b"}', 422, "invalid_params"),
        (b'{"\\ud800": 1}', 422, "invalid_params"),
        (b'{"text": null}', 422, "invalid_params"),
        (b'{"text": 1e999}', 422, "invalid_params"),
        (b'{"text": "' + b"x" * 1_000_000 + b'"}', 422, "invalid_params"),
        (b'{"text": "x", "entity": "\\u0007"}', 422, "invalid_params"),
        (b"x" * (BODY_BYTES + 1), 413, "too_large"),
    ],
)
def test_a_body_that_cannot_be_used_is_refused_and_nothing_is_kept(
    served: Served, body: bytes, status: int, code: str
) -> None:
    refused(served.ask("POST", "/memory/remember", body), status, code)
    assert served.memory.store.sources() == ()


@pytest.mark.req("E-424")
@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nothing", 404, "not_found"),
        ("PATCH", "/search", 405, "method_not_allowed"),
        ("GET", "/memory/delta?since=x", 422, "invalid_params"),
        ("GET", "/memory/delta?since=1&since=2", 422, "invalid_params"),
        ("GET", "/memory/delta?colour=1", 422, "invalid_params"),
        ("GET", "/memory/delta?since=99999999999999999999999", 422, "invalid_params"),
        ("GET", "/pages/%00", 422, "invalid_params"),
        ("GET", "/pages/%ED%A0%80", 404, "not_found"),
        ("GET", "/pages/" + "x" * 600, 422, "invalid_params"),
        ("GET", "/memory/fact:99999999999999999/history", 404, "not_found"),
        ("GET", "/memory/%20x/history", 422, "invalid_params"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused(
    served: Served, method: str, path: str, status: int, code: str
) -> None:
    refused(served.ask(method, path), status, code)


@pytest.mark.req("E-424")
def test_a_fault_is_told_by_a_number_and_never_by_what_it_says(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ValueError("the words of somebody's page")

    served.memory.recall = broken  # type: ignore[assignment]
    said = refused(served.ask("POST", "/memory/recall", {"query": "x"}), 500, "internal")
    assert "somebody" not in json.dumps(said)
    assert said["request_id"] in caplog.text


def test_a_store_that_fails_is_unavailable_and_not_a_fault(served: Served) -> None:
    served.memory.close()
    answer = served.ask("POST", "/memory/recall", {"query": "x"})
    refused(answer, 503, "store_unavailable")
    assert answer.headers["retry-after"] == "1"


def test_more_requests_than_are_served_at_once_are_told_to_come_again(served: Served) -> None:
    from wellkept.errors import TooManyRequests
    from wellkept.serve.http import _Busy

    busy = _Busy()
    for _ in range(AT_ONCE):
        busy.__enter__()
    with pytest.raises(TooManyRequests), busy:
        pass
    busy.__exit__()
    with busy:
        assert busy.now == AT_ONCE
    assert busy.now == AT_ONCE - 1


# -- what it says of itself


@pytest.mark.req("E-401")
def test_the_description_names_every_route_with_what_it_takes_and_how_it_refuses(served: Served) -> None:
    said = served.client.get("/api/openapi.json").json()
    assert said["openapi"].startswith("3.1")
    assert said["security"] == [{"token": []}]
    for route in ROUTES:
        operation = said["paths"]["/api" + route.path.replace(":path", "")][route.method.lower()]
        assert operation["operationId"] == route.name
        assert {"401", "403", "422", str(route.status)} <= set(operation["responses"])
        named = {one["name"] for one in operation.get("parameters", []) if one["in"] != "header"}
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
        taken = {argument.name for argument in route.takes.arguments}
        assert named | set(body.get("properties", {})) == taken | set(route.renamed)


def test_every_item_that_is_read_over_http_carries_its_own_label(served: Served) -> None:
    served.memory.put_page("default", "people/ada", "---\ntitle: Ada\naliases: [ada]\n---\nAda likes tea.\n")
    served.said("POST", "/memory/remember", {"text": "Ada likes coffee", "entity": "people/ada"})
    served.said("POST", "/entities", {"name": "tea", "content": "Ada drinks it", "content_origin": "tool_output"})
    reads = [
        *(("POST", path, {"query": "Ada tea coffee"}) for path in ("/search", "/memory/recall")),
        ("POST", "/context/turn", {"text": "What does Ada like?"}),
        ("POST", "/context/pack", {"goal": "Ada tea coffee"}),
        ("POST", "/memory/entity", {"name": "ada"}),
        ("POST", "/memory/timeline", {"entity": "ada"}),
        *(("GET", path, None) for path in ("/entities", "/entities/note/tea", "/pages/people/ada", "/memory/delta")),
        *(("GET", path, None) for path in ("/memory/fact:1/history", "/memory/export")),
    ]
    tiers = set()
    for method, path, body in reads:
        items = [*_items(served.said(method, path, body))]
        assert items, path
        for item in items:
            assert set(item) >= LABEL, (path, item)
            tiers.add(item["trust"])
    assert tiers == {"user_written", "agent_written", "external_untrusted"}


def _items(value: Any) -> Iterator[dict[str, Any]]:
    """Everything in an answer that has the words of a page or fact."""
    if isinstance(value, dict):
        if "id" in value and {"text", "content", "display"} & set(value):
            yield value
        for inner in value.values():
            yield from _items(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _items(inner)
