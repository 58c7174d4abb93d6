"""Codex without hooks: the session's rollout is parsed by the product, one pointer a turn, a preamble first.

A turn that the product's parser does not find in the rollout is replayed as silence: a parser that drifts from the
format sinks its own row.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from brainbench.model import Ask, Capability, Injection, Message, SeamConfig
from brainbench.seams.reflex import reflex
from brainbench.systems import System


class Codex:
    """Writes the rollout as Codex does and asks with what the product reads from it."""

    def __init__(self, system: System, seam: SeamConfig) -> None:
        self.system, self.seam = system, seam
        self.first = True

    def ask(self, ask: Ask) -> Injection:
        preamble = self.system.preamble("codex", ask.source) if self.first else ""
        self.first = False
        parsed = self.system.parse_transcript("codex", rollout(ask))
        if parsed is not None:
            if _times_said(parsed, ask.messages[-1].text) < _times_said(ask.messages, ask.messages[-1].text):
                return Injection("", ids=(), preamble=preamble)
            ask = replace(ask, messages=(*parsed[:-1], ask.messages[-1]))
        answer = self.system.context(ask) if Capability.CONTEXT in self.system.can else reflex(self.system, ask)
        return replace(answer, preamble=preamble)

    def close(self) -> None:
        """Nothing is kept between turns."""


def _times_said(messages: Sequence[Message], text: str) -> int:
    return sum(m.role == "user" and m.text.strip() == text.strip() for m in messages)


def rollout(ask: Ask) -> bytes:
    """The session so far as Codex would have written it: JSON lines, the prompt last."""
    meta = {"session_id": ask.session, "cwd": "/workspace", "timestamp": ask.now, "cli_version": "0.99.0"}
    lines: list[dict[str, object]] = [{"timestamp": ask.now, "type": "session_meta", "payload": meta}]
    lines += [_line(message, ask.now) for message in ask.messages]
    return "".join(json.dumps(line, ensure_ascii=True) + "\n" for line in lines).encode("ascii")


def _line(message: Message, now: str) -> dict[str, object]:
    stamp = message.ts or now
    if message.role == "user":
        payload: dict[str, object] = {"type": "user_message", "message": message.text, "images": []}
        return {"timestamp": stamp, "type": "event_msg", "payload": payload}
    content = [{"type": "output_text", "text": message.text}]
    payload = {"type": "message", "role": "assistant", "content": content}
    return {"timestamp": stamp, "type": "response_item", "payload": payload}
