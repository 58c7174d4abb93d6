"""What the hook process writes down when nobody answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept.hooks import CAPTURES, absence

EVENT = {"session_id": "s-1", "transcript_path": "/a/b.jsonl", "last_assistant_message": "secret"}
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def meet(data_dir: Path, event: str = "stop", reason: str = "deadline", said: object = EVENT) -> bytes:
    stdin = said if isinstance(said, bytes) else json.dumps(said).encode()
    return absence.meet("claude-code", event, str(data_dir), "default", stdin, reason, 0.0, lambda: b"never")


def waiting(data_dir: Path) -> dict[str, Any]:
    folder = data_dir / "waiting"
    return {path.name: json.loads(path.read_text()) for path in folder.iterdir()} if folder.exists() else {}


@given(st.dictionaries(st.text(max_size=6), VALUES, max_size=6))
def test_the_strings_on_top_are_those_that_json_has(event: dict[str, Any]) -> None:
    text = json.dumps(event, ensure_ascii=False)
    found = absence.strings_on_top(text)
    expected = {
        json.dumps(key, ensure_ascii=False)[1:-1]: value for key, value in event.items() if isinstance(value, str)
    }
    assert {key: json.loads(value) for key, value in found.items()} == expected


@given(st.text(alphabet='{}[]:,"\\ a', max_size=30))
def test_no_text_is_too_broken_to_look_at(text: str) -> None:
    assert all(value.startswith('"') for value in absence.strings_on_top(text).values())


def test_an_event_is_written_down_by_its_place_and_never_by_what_was_said(tmp_path: Path) -> None:
    for event in CAPTURES:
        assert meet(tmp_path, event) == b""
    assert waiting(tmp_path) == {
        "claude-code-s-1.json": {
            "harness": "claude-code",
            "event": "session-end",
            "session_id": "s-1",
            "transcript_path": "/a/b.jsonl",
        }
    }


@pytest.mark.parametrize("reason", ["no_stdin", "unauthorized", "source_mismatch"])
def test_what_is_not_for_this_daemon_is_not_written_down(tmp_path: Path, reason: str) -> None:
    meet(tmp_path, reason=reason)
    assert waiting(tmp_path) == {}


def test_a_session_named_like_a_path_stays_in_the_folder(tmp_path: Path) -> None:
    meet(tmp_path, said={**EVENT, "session_id": "../../x"})
    ((name, row),) = waiting(tmp_path).items()
    assert name.removeprefix("claude-code-").removesuffix(".json").isdigit()
    assert row["session_id"] == "../../x"


@pytest.mark.parametrize("said", [b"", b"no json", b"[]", b"{}", {"session_id": "s"}, {"a": {"transcript_path": "/x"}}])
def test_an_event_without_a_transcript_is_not_written_down(tmp_path: Path, said: object) -> None:
    meet(tmp_path, said=said)
    assert waiting(tmp_path) == {}


def test_a_prompt_is_not_written_down_and_a_place_that_is_gone_is_not_made(tmp_path: Path) -> None:
    meet(tmp_path, "user-prompt")
    meet(tmp_path / "gone", reason="no_daemon")
    assert list(tmp_path.iterdir()) == []


def test_so_many_wait_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(absence, "WAITING", 2)
    for number in range(4):
        meet(tmp_path, said={**EVENT, "session_id": f"s{number}"})
    assert sorted(waiting(tmp_path)) == ["claude-code-s0.json", "claude-code-s1.json"]
