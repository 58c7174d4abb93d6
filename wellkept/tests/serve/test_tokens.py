"""Who may ask: tokens that are kept as digests in a private file."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread

import pytest

from wellkept.errors import InvalidInput, NotFound, SettingsError, Unauthorized
from wellkept.serve import tokens as module
from wellkept.serve.tokens import Tokens
from wellkept.verbs import SCOPES

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def tokens(tmp_path: Path) -> Tokens:
    return Tokens(tmp_path / "tokens.json")


def test_the_scopes_are_those_of_the_verbs() -> None:
    assert module.SCOPES == SCOPES


def test_a_token_opens_until_it_expires_or_is_revoked(tokens: Tokens) -> None:
    text, kept = tokens.add("agent:codex", "default", ["write", "read"], HOUR, NOW)
    assert tokens.valid(text, NOW) == kept
    assert (kept.principal, kept.source, kept.scopes) == ("agent:codex", "default", ("read", "write"))
    with pytest.raises(Unauthorized, match="expired at 2026-03-01T13:00:00"):
        tokens.valid(text, NOW + HOUR)
    tokens.remove(kept.id)
    with pytest.raises(Unauthorized, match="not one of this memory"):
        tokens.valid(text, NOW)
    with pytest.raises(NotFound):
        tokens.remove(kept.id)


def test_neither_the_token_nor_a_part_of_its_secret_is_on_the_disk(tokens: Tokens) -> None:
    text, _ = tokens.add("agent:codex", "default", ["read"], HOUR, NOW)
    held = tokens.path.read_text()
    assert text not in held
    assert text.rpartition("_")[2][:8] not in held
    assert tokens.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("text", ["", "wk_", "wk_000000000000_" + "a" * 43, "x" * 1_000_000, "\ud800", "wk_\0"])
def test_what_is_no_token_opens_nothing(tokens: Tokens, text: str) -> None:
    tokens.add("agent:codex", "default", ["read"], HOUR, NOW)
    with pytest.raises(Unauthorized):
        tokens.valid(text, NOW)


def test_a_token_with_another_secret_opens_nothing(tokens: Tokens) -> None:
    text, _ = tokens.add("agent:codex", "default", ["read"], HOUR, NOW)
    other = text[:-1] + ("a" if text[-1] != "a" else "b")
    with pytest.raises(Unauthorized):
        tokens.valid(other, NOW)


@pytest.mark.parametrize(
    ("principal", "scopes", "lasts", "field"),
    [
        ("owner", ["read"], HOUR, "principal"),
        ("agent:", ["read"], HOUR, "principal"),
        ("agent:a\n", ["read"], HOUR, "principal"),
        ("agent:a", [], HOUR, "scopes"),
        ("agent:a", ["purge"], HOUR, "scopes"),
        ("agent:a", ["read", "admin"], HOUR, "scopes"),
        ("user:a", ["read"], timedelta(0), "expiry"),
        ("user:a", ["read"], timedelta(days=400), "expiry"),
    ],
)
def test_what_a_token_may_not_be_is_refused(
    tokens: Tokens, principal: str, scopes: list[str], lasts: timedelta, field: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        tokens.add(principal, "default", scopes, lasts, NOW)
    assert caught.value.field == field
    assert tokens.all() == ()


def test_another_process_sees_what_was_added_and_revoked_at_once(tokens: Tokens) -> None:
    other = Tokens(tokens.path)
    text, kept = tokens.add("agent:codex", "default", ["read"], HOUR, NOW)
    assert other.valid(text, NOW) == kept
    tokens.remove(kept.id)
    with pytest.raises(Unauthorized):
        other.valid(text, NOW)


def test_none_is_lost_when_many_are_added_at_once(tokens: Tokens) -> None:
    def add() -> None:
        for _ in range(5):
            Tokens(tokens.path).add("agent:codex", "default", ["read"], HOUR, NOW)

    threads = [Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(tokens.all()) == 20


def test_a_file_that_others_can_read_or_that_is_damaged_opens_nothing(tokens: Tokens) -> None:
    text, _ = tokens.add("agent:codex", "default", ["read"], HOUR, NOW)
    tokens.path.chmod(0o644)
    with pytest.raises(SettingsError, match="chmod 600"):
        tokens.valid(text, NOW)
    tokens.path.chmod(0o600)
    for damage in (
        "",
        "{",
        "[]",
        '{"schema_version": 1, "tokens": [{}]}',
        "\ufeff\x00",
        '{"schema_version": 1, "tokens": 7}',
    ):
        tokens.path.write_text(damage)
        with pytest.raises(SettingsError, match="Remove it and make new tokens"):
            tokens.valid(text, NOW)
    tokens.path.write_text(json.dumps({"schema_version": 9, "tokens": []}))
    with pytest.raises(SettingsError, match="another version"):
        tokens.valid(text, NOW)


def test_tokens_that_expired_long_ago_are_swept_when_another_is_made(tokens: Tokens) -> None:
    tokens.add("agent:old", "default", ["read"], HOUR, NOW)
    tokens.add("agent:new", "default", ["read"], HOUR, NOW + timedelta(days=400))
    assert [token.principal for token in tokens.all()] == ["agent:new"]
