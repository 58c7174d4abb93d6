from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellkept.ingest.codex import read, write
from wellkept.model import Message
from wellkept.providers.quotes import plain

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def line(kind: str, payload: object) -> bytes:
    return json.dumps({"timestamp": "2026-03-02T12:00:00Z", "type": kind, "payload": payload}).encode() + b"\n"


@pytest.mark.req("C-430")
def test_recorded_rollout_gives_only_what_was_said(transcripts: Path) -> None:
    raw = (transcripts / "codex_rollout.jsonl").read_bytes()
    seen = read(raw)
    assert [(m.role, m.text) for m in seen.messages] == [
        ("user", "Remind me: which fund led the widget-co seed round?"),
        ("assistant", "fund-a led the widget-co seed; fund-b participated. charlie-example made the intro."),
        ("user", "Great. Note that the bridge check-in is every Thursday."),
        ("assistant", "Noted: bridge check-in every Thursday.\nI will keep that in the plan."),
    ]
    assert (seen.session, seen.bad_lines) == ("codex-fixture-session-1", 1)
    assert "ONLY-TEXT" in raw.decode()


@pytest.mark.req("C-430")
def test_context_in_the_name_of_the_user_is_not_what_the_user_said(transcripts: Path) -> None:
    seen = read((transcripts / "codex_rollout_dogfood.jsonl").read_bytes())
    assert [m.role for m in seen.messages] == ["assistant"]
    assert seen.messages[0].text.startswith("i am wiring")
    assert (seen.session, seen.bad_lines) == ("dogfood-session-1", 0)


@pytest.mark.req("C-430")
def test_a_rollout_without_an_id_is_named_by_its_file() -> None:
    raw = line("event_msg", {"type": "user_message", "message": "hi"})
    assert read(raw, stem="rollout-7").session == "rollout-7"
    assert read(line("session_meta", {"session_id": " "}) + raw, stem="rollout-7").session == "rollout-7"
    assert read(line("session_meta", {"session_id": "s"}) + line("session_meta", {"id": "fork"})).session == "s"


@pytest.mark.req("C-430")
def test_an_oversize_rollout_keeps_its_head_and_its_tail() -> None:
    filler = [line("event_msg", {"type": "token_count", "pad": "x" * 1000}) for _ in range(3000)]
    first = line("session_meta", {"session_id": "s"}) + line("event_msg", {"type": "user_message", "message": "first"})
    middle = line("event_msg", {"type": "user_message", "message": "middle"})
    last = line("event_msg", {"type": "user_message", "message": "last"})
    seen = read(first + b"".join(filler[:500]) + middle + b"".join(filler) + last)
    assert ([m.text for m in seen.messages], seen.session, seen.bad_lines) == (["first", "last"], "s", 0)


@pytest.mark.req("C-430")
@given(st.data())
@settings(max_examples=150, deadline=None)
def test_what_is_written_reads_back(any_messages: st.SearchStrategy[list[Message]], data: st.DataObject) -> None:
    messages = data.draw(any_messages)
    seen = read(write(messages, session="s-1"))
    kept = [message for message in messages if plain(message.text).strip()]
    assert [(m.role, m.text) for m in seen.messages] == [(m.role, plain(m.text).strip()) for m in kept]
    assert all(
        old.ts is None or (new.ts and abs(old.ts - new.ts).total_seconds() < 0.001)
        for old, new in zip(kept, seen.messages, strict=True)
    )
    assert (seen.session, seen.bad_lines) == ("s-1", 0)


@given(st.binary(max_size=400))
@settings(max_examples=200)
def test_no_bytes_break_the_reader(raw: bytes) -> None:
    assert read(raw).bad_lines >= 0


@given(
    st.recursive(
        st.none() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["type", "role", "content", "text", "message", "id"]), inner)
        ),
        max_leaves=10,
    ),
    st.sampled_from(["event_msg", "response_item", "session_meta"]),
)
@settings(max_examples=200)
def test_no_json_breaks_the_reader(value: object, kind: str) -> None:
    read(line(kind, value))
    read(line("response_item", {"type": "message", "role": "assistant", "content": value}))
    read(line("event_msg", {"type": "user_message", "message": value}))


def user_item(text: str) -> bytes:
    return line(
        "event_msg",
        {"type": "item_completed", "item": {"type": "UserMessage", "content": [{"type": "text", "text": text}]}},
    )


def test_a_users_message_is_read_where_it_is_told_as_a_completed_item() -> None:
    """As Codex 0.171 writes it."""
    answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "At 90 degrees."}]}
    agents = {"type": "AgentMessage", "content": [{"type": "Text", "text": "At 90 degrees."}]}
    raw = (
        user_item("When may we open the kiln?")
        + line("event_msg", {"type": "item_completed", "item": agents})
        + line("response_item", answer)
    )
    assert [(m.role, m.text) for m in read(raw).messages] == [
        ("user", "When may we open the kiln?"),
        ("assistant", "At 90 degrees."),
    ]


def test_a_users_message_that_is_told_in_both_forms_is_read_once_and_one_said_twice_two_times() -> None:
    old = line("event_msg", {"type": "user_message", "message": "go on"})
    assert [m.text for m in read(user_item("go on") + old).messages] == ["go on"]
    assert [m.text for m in read(old + user_item("go on")).messages] == ["go on"]
    assert [m.text for m in read((user_item("go on") + old) * 2).messages] == ["go on"] * 2
    assert [m.text for m in read(old + old).messages] == ["go on"] * 2


@pytest.mark.parametrize("item", [None, [], "x", {"type": "UserMessage"}, {"type": "UserMessage", "content": [1, {}]}])
def test_a_completed_item_that_holds_no_text_is_passed_over(item: object) -> None:
    assert read(line("event_msg", {"type": "item_completed", "item": item})).messages == ()
