"""Codex rollouts: read what the user and the assistant said, and write rollouts of the same form.

A rollout repeats what was said and mixes it with context that was injected in the user's name. Only these lines are
the conversation: the event of a user message, which newer versions tell as a completed item, and the assistant's answer
among the response items.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import cast

from wellkept.ingest.transcript import TAIL_BYTES, Transcript, ends, json_objects, read_time, write_time
from wellkept.model import Message
from wellkept.providers.quotes import plain

HEAD_BYTES = 256 * 1024

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def read(raw: bytes, *, stem: str | None = None, tail: int = TAIL_BYTES) -> Transcript:
    """What a rollout says in its first 256 KiB and its last `tail` bytes; lines not understood are counted.

    The session is the one it names, else `stem`, the file's name without suffix.
    """
    messages: list[Message] = []
    bad, session, told = 0, None, ""
    for line in json_objects(ends(raw, head=HEAD_BYTES, tail=tail)):
        payload = line.get("payload") if line else None
        if line is None or not isinstance(payload, dict):
            bad += 1
            continue
        if line.get("type") == "session_meta":
            session = session or _session(payload)
        message = _message(line, payload)
        if message is None or not message.text:
            continue
        # A version that tells a user's message in both forms tells it once.
        form = "" if message.role == "assistant" else str(payload.get("type"))
        again = form and told and form != told and messages[-1].text == message.text
        if not again:
            messages.append(message)
        told = "" if again else form
    return Transcript(tuple(messages), bad_lines=bad, session=session or stem)


def _session(payload: dict[str, object]) -> str | None:
    for key in ("session_id", "id"):
        value = payload.get(key)
        if isinstance(value, str) and value.strip():
            return plain(value)
    return None


def _message(line: dict[str, object], payload: dict[str, object]) -> Message | None:
    kind = (line.get("type"), payload.get("type"))
    ts = read_time(line.get("timestamp"))
    if kind == ("event_msg", "user_message") and isinstance(payload.get("message"), str):
        return Message("user", plain(cast(str, payload["message"])).strip(), ts)
    if kind == ("event_msg", "item_completed"):
        item = payload.get("item")
        return _completed(item, ts) if isinstance(item, dict) else None
    if kind == ("response_item", "message") and payload.get("role") == "assistant":
        return Message("assistant", _texts(payload, "output_text"), ts)
    return None


def _completed(item: dict[str, object], ts: datetime | None) -> Message | None:
    return Message("user", _texts(item, "text"), ts) if item.get("type") == "UserMessage" else None


def _texts(holder: dict[str, object], kind: str) -> str:
    """The texts of the blocks of this kind, a line each."""
    content = holder.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    texts = [block.get("text") for block in blocks if block.get("type") == kind]
    return plain("\n".join(text for text in texts if isinstance(text, str) and text)).strip()


def write(messages: Iterable[Message], *, session: str, cwd: str = "/", cli_version: str = "0.99.0") -> bytes:
    """A rollout with these messages, each said twice over as Codex itself does it.

    A message without a time takes that of the message before, at the start 1970. Rollouts keep no message ids.
    """
    said = list(messages)
    ts = next((message.ts for message in said if message.ts), _EPOCH)
    start = write_time(ts)
    meta = {"id": session, "session_id": session, "timestamp": start, "cwd": cwd, "cli_version": cli_version}
    lines: list[dict[str, object]] = [{"timestamp": start, "type": "session_meta", "payload": meta}]
    for message in said:
        ts = message.ts or ts
        lines += [{"timestamp": write_time(ts), "type": kind, "payload": payload} for kind, payload in _lines(message)]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def _lines(message: Message) -> list[tuple[str, dict[str, object]]]:
    block = "input_text" if message.role == "user" else "output_text"
    item: dict[str, object] = {
        "type": "message",
        "role": message.role,
        "content": [{"type": block, "text": message.text}],
    }
    event = "user_message" if message.role == "user" else "agent_message"
    return [("response_item", item), ("event_msg", {"type": event, "message": message.text})]
