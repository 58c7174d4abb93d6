"""Claude Code transcripts: read what was said and what memory injected, and write transcripts of the same form."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast
from uuid import NAMESPACE_URL, uuid5

from wellkept.ingest.transcript import TAIL_BYTES, ends, json_objects, read_time, write_time
from wellkept.ingest.transcript import Transcript as Transcript
from wellkept.ingest.transcript import TranscriptRefused as TranscriptRefused
from wellkept.ingest.transcript import confine as confine
from wellkept.model import Message, Role
from wellkept.providers.quotes import plain

INJECTION_MARK = "<!-- wellkept:context v1"
PRIOR_BYTES = 32 * 1024

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MACHINE_MADE = ("<command-name>", "<command-message>", "<local-command-", "<bash-", "[Request interrupted by user")
_BLOCKS = {"tool_result": "[tool result]", "thinking": "[thinking]", "image": "[image]"}


@dataclass(frozen=True, slots=True)
class Injection:
    """Text that a hook added to the conversation at some moment."""

    text: str
    ts: datetime | None = None


def read(raw: bytes, *, tail: int = TAIL_BYTES, spoken: bool = False) -> Transcript:
    """What a transcript says in its last `tail` bytes; a line that cannot be understood is counted and passed over.

    With `spoken` only what the two sides said: no tools, no thoughts, nothing that Claude Code itself put into the
    user's mouth.
    """
    messages: list[Message] = []
    injected: list[str] = []
    bad, session = 0, None
    for line in json_objects(ends(raw, tail=tail)):
        if line is None or not isinstance(line.get("type"), str):
            bad += 1
            continue
        if isinstance(line.get("sessionId"), str):
            session = cast(str, line["sessionId"]) or session
        if line.get("isSidechain"):
            continue
        if line["type"] == "attachment":
            injected += _injections(line.get("attachment"))
        elif line["type"] in ("user", "assistant"):
            if spoken and (line.get("isMeta") or line.get("isCompactSummary")):
                continue
            message = _message(line, spoken)
            bad += message is None
            if message is not None and message.text:
                messages.append(message)
    return Transcript(tuple(messages), _prior(injected), bad, session)


def _message(line: dict[str, object], spoken: bool) -> Message | None:
    """The turn on a line, or None when the line does not hold one."""
    said = line.get("message")
    if not isinstance(said, dict) or said.get("role") not in ("user", "assistant"):
        return None
    content = said.get("content")
    if isinstance(content, str):
        parts = [content]
    elif isinstance(content, list):
        blocks = [block for block in content if isinstance(block, dict)]
        parts = [_block(block) for block in blocks if not spoken or block.get("type") == "text"]
    else:
        return None
    text = plain("\n".join(part for part in parts if part)).strip()
    if spoken and text.startswith(_MACHINE_MADE):
        text = ""
    uuid = line.get("uuid")
    return Message(
        role=cast(Role, said["role"]),
        text=text,
        ts=read_time(line.get("timestamp")),
        id=plain(uuid) if isinstance(uuid, str) and uuid else None,
    )


def _block(block: dict[str, object]) -> str:
    kind = block.get("type")
    if kind == "text":
        text = block.get("text")
        return text if isinstance(text, str) else ""
    if kind == "tool_use":
        return f"[tool: {block.get('name') or 'unnamed'}]"
    return _BLOCKS.get(str(kind), f"[{kind}]") if kind else ""


def _injections(attachment: object) -> list[str]:
    if not isinstance(attachment, dict) or attachment.get("type") != "hook_additional_context":
        return []
    content = attachment.get("content")
    texts = content if isinstance(content, list) else [content]
    return [plain(text).strip() for text in texts if isinstance(text, str) and INJECTION_MARK in text]


def _prior(injected: Sequence[str]) -> str:
    """The newest different injections that fit, oldest first."""
    kept: list[str] = []
    room = PRIOR_BYTES
    for text in dict.fromkeys(reversed(injected)):
        room -= len(text.encode())
        if room < 0:
            break
        kept.append(text)
    return "\n\n".join(reversed(kept))


def write(entries: Iterable[Message | Injection], *, session: str, cwd: str = "/", version: str = "2.0.0") -> bytes:
    """A transcript with these entries, one line each, as Claude Code itself writes it.

    An entry without a time takes that of the entry before, at the start 1970. Entries without an id get one that
    depends on the session and the place only.
    """
    lines: list[dict[str, object]] = []
    before: str | None = None
    ts = _EPOCH
    for place, entry in enumerate(entries):
        ts = entry.ts or ts
        uuid = (isinstance(entry, Message) and entry.id) or str(uuid5(NAMESPACE_URL, f"{plain(session)}#{place}"))
        lines.append(
            {
                "parentUuid": before,
                "isSidechain": False,
                "userType": "external",
                "cwd": cwd,
                "sessionId": session,
                "version": version,
                "gitBranch": "",
                **_entry(entry, uuid),
                "uuid": uuid,
                "timestamp": write_time(ts),
            }
        )
        before = uuid
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


def _entry(entry: Message | Injection, uuid: str) -> dict[str, object]:
    if isinstance(entry, Injection):
        context: dict[str, object] = {
            "type": "hook_additional_context",
            "content": [entry.text],
            "hookName": "UserPromptSubmit",
            "hookEvent": "UserPromptSubmit",
            "toolUseID": f"hook-{uuid}",
        }
        return {"type": "attachment", "attachment": context}
    if entry.role == "user":
        return {"type": "user", "message": {"role": "user", "content": entry.text}}
    answer: dict[str, object] = {
        "id": f"msg_{uuid}",
        "type": "message",
        "role": "assistant",
        "model": "unknown",
        "content": [{"type": "text", "text": entry.text}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }
    return {"type": "assistant", "requestId": f"req_{uuid}", "message": answer}
