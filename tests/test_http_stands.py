"""Whatever is sent to the HTTP door of wellkept, it answers as it says it does, and never with a fault."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from wellkept.memory import Memory
from wellkept.serve.http import application
from wellkept.serve.routes import ROUTES, Desk
from wellkept.serve.tokens import Tokens
from wellkept.storage import open_store

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def play(tmp_path: Any) -> Any:
    memory = Memory(open_store("sqlite", tmp_path / "memory.db"))
    tokens = Tokens(tmp_path / "tokens.json")
    scopes = ("read", "write", "cite", "admin")
    token, _ = tokens.add("user:ann", "default", scopes, timedelta(days=1), NOW)
    desk = Desk(memory, tokens, lambda: NOW)

    def all_operations(examples: int) -> dict[str, set[int]]:
        app = application(desk, hosts=("testserver",))
        answered: dict[str, set[int]] = {}
        for result in schemathesis.openapi.from_asgi("/api/openapi.json", app).get_all_operations():
            seen = answered.setdefault(result.ok().label, set())
            for mode in schemathesis.GenerationMode:
                _played(result.ok().as_strategy(generation_mode=mode), examples, token, seen)
        return answered

    yield desk, all_operations
    memory.close()


def _played(cases: Any, examples: int, token: str, seen: set[int]) -> None:
    @settings(
        max_examples=examples, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(case=cases)
    def one(case: Any) -> None:
        response = case.call(headers={"Authorization": f"Bearer {token}"})
        seen.add(response.status_code)
        case.validate_response(response, checks=CHECKS)

    # A route that takes nothing has no request that its description forbids.
    with suppress(Unsatisfiable):
        one()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_no_request_that_the_description_allows_or_forbids_is_a_fault(
    play: tuple[Desk, Callable[[int], dict[str, set[int]]]],
) -> None:
    answered = play[1](30)
    assert len(answered) == len(ROUTES) + 1
    assert all(answered.values())
    assert {status for seen in answered.values() for status in seen} >= {200, 201, 404, 422}


@pytest.mark.slow
def test_a_fault_would_be_found(
    play: tuple[Desk, Callable[[int], dict[str, set[int]]]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ValueError

    monkeypatch.setattr(Memory, "recall", broken)
    with pytest.raises(BaseException, match="Server error"):
        play[1](2)
