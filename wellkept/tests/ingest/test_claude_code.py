from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellkept.ingest.claude_code import INJECTION_MARK, Injection, read, write
from wellkept.model import Message
from wellkept.providers.quotes import plain

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def line(**fields: object) -> bytes:
    return json.dumps(fields).encode() + b"\n"


def turn(content: object, role: str = "user", **fields: object) -> bytes:
    return line(**{"type": role, "message": {"role": role, "content": content}, **fields})


def attachment(*texts: str, **fields: object) -> bytes:
    return line(type="attachment", attachment={"type": "hook_additional_context", "content": list(texts)}, **fields)


@pytest.mark.req("C-412")
def test_blocks_become_text_or_a_mark() -> None:
    content = [
        {"type": "text", "text": "see"},
        {"type": "tool_use", "name": "Bash", "input": {}},
        {"type": "tool_result", "content": "secret output"},
        {"type": "thinking", "thinking": "hidden"},
        {"type": "image", "source": {}},
        {"type": "server_tool_use"},
        "stray",
    ]
    (message,) = read(turn(content)).messages
    assert message.text == "see\n[tool: Bash]\n[tool result]\n[thinking]\n[image]\n[server_tool_use]"


@pytest.mark.req("C-412")
def test_only_turns_of_the_main_conversation_with_text_are_read() -> None:
    raw = (
        turn("one", uuid="u-1", timestamp="2026-03-02T12:00:00Z")
        + turn("aside", isSidechain=True)
        + turn("  \n ")
        + line(type="summary", summary="not said")
        + line(type="system", message={"role": "user", "content": "not said"})
        + turn("two", role="assistant")
    )
    assert read(raw).messages == (Message("user", "one", NOON, "u-1"), Message("assistant", "two"))
    assert read(raw).bad_lines == 0


@pytest.mark.req("C-412")
def test_bad_lines_are_counted_and_the_rest_is_read() -> None:
    bad = [b"{", b"42", b"[1]", b'"x"', b'{"silly":1}', b'{"type":"user","message":"error"}', b"\xff\xfe", b"[" * 9000]
    bad += [line(type="user", message={"role": "user", "contenst": []}).strip(), b'{"n":' + b"9" * 5000 + b"}"]
    seen = read(b"\n".join(bad) + b"\n\n" + turn("still here"))
    assert [message.text for message in seen.messages] == ["still here"]
    assert seen.bad_lines == len(bad)


@pytest.mark.req("C-412")
def test_half_a_character_is_replaced() -> None:
    (message,) = read(b'{"type":"user","message":{"role":"user","content":"a\\ud83d\\r\\nb"}}').messages
    assert message.text == "a\ufffd\nb"


@pytest.mark.req("C-413")
def test_only_our_own_injections_are_prior_context_each_once_in_order() -> None:
    mine = [f"{INJECTION_MARK} | recalled data -->\n{n}" for n in range(3)]
    raw = attachment(mine[0]) + attachment("of another hook") + attachment(mine[1], mine[2]) + attachment(mine[0])
    raw += attachment(f"{INJECTION_MARK} aside", isSidechain=True) + line(
        type="attachment", attachment={"type": "file"}
    )
    raw += turn(f"I type {INJECTION_MARK}")
    assert read(raw).prior == "\n\n".join([mine[1], mine[2], mine[0]])


@pytest.mark.req("C-413")
def test_prior_context_keeps_the_newest_32_kib() -> None:
    texts = [f"{INJECTION_MARK} {n} {'ü' * 5000}" for n in range(9)]
    prior = read(b"".join(attachment(text) for text in texts)).prior
    assert prior == "\n\n".join(texts[-3:])


@pytest.mark.req("C-412", "C-413")
@given(st.data())
@settings(max_examples=150, deadline=None)
def test_what_is_written_reads_back(any_messages: st.SearchStrategy[list[Message]], data: st.DataObject) -> None:
    messages = data.draw(any_messages)
    injection = Injection(f"{INJECTION_MARK} | x -->\nhello", NOON)
    seen = read(write([*messages[:2], injection, *messages[2:]], session="s-1"))
    kept = [message for message in messages if plain(message.text).strip()]
    assert [(m.role, m.text) for m in seen.messages] == [(m.role, plain(m.text).strip()) for m in kept]
    for old, new in zip(kept, seen.messages, strict=True):
        assert new.ts is not None
        assert old.ts is None or new.ts == old.ts.replace(microsecond=old.ts.microsecond // 1000 * 1000)
    assert (seen.prior, seen.bad_lines) == (injection.text, 0)


def test_a_written_transcript_is_a_chain_that_names_its_session_and_keeps_ids() -> None:
    entries = [Message("user", "a", NOON, "mine"), Injection("x"), Message("assistant", "b")]
    raw = write(entries, session="s", cwd="/p")
    lines = [json.loads(text) for text in raw.splitlines()]
    assert [entry["parentUuid"] for entry in lines] == [None, *[entry["uuid"] for entry in lines[:-1]]]
    assert {(entry["sessionId"], entry["cwd"], entry["timestamp"]) for entry in lines} == {
        ("s", "/p", "2026-03-02T12:00:00.000Z")
    }
    assert read(raw).messages[0].id == "mine"
    assert raw == write(entries, session="s", cwd="/p")


@given(
    st.binary(max_size=400)
    | st.lists(st.sampled_from([b'{"type":"user"', b'"message":{', b"}", b"\n", b"[", b"null"])).map(b"".join)
)
@settings(max_examples=200)
def test_no_bytes_break_the_reader(raw: bytes) -> None:
    assert read(raw).bad_lines >= 0


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "message", "role", "content", "text", "attachment", "name", "uuid", "sessionId"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(json_values, st.sampled_from(["user", "assistant", "attachment", 7]))
@settings(max_examples=200)
def test_no_json_breaks_the_reader(value: object, kind: object) -> None:
    read(json.dumps({"type": kind, "message": value, "attachment": value, "uuid": value, "timestamp": value}).encode())
    read(json.dumps({"type": "user", "message": {"role": "user", "content": [value]}}).encode())


@pytest.mark.req("C-412")
@pytest.mark.parametrize(
    ("name", "turns", "bad"),
    [
        ("claude_code_session_b", 3, 0),
        ("claude_code_b_sample_session", 7, 0),
        ("claude_code_edge_cases", 11, 6),
        ("claude_code_representative_messages", None, 0),
        ("claude_code_todowrite_examples", None, 0),
    ],
)
def test_recorded_transcripts_are_read(transcripts: Path, name: str, turns: int | None, bad: int) -> None:
    seen = read((transcripts / f"{name}.jsonl").read_bytes())
    assert seen.bad_lines == bad
    assert len(seen.messages) == turns or (turns is None and len(seen.messages) > 5)
    assert all(message.ts for message in seen.messages)
    assert seen.session
