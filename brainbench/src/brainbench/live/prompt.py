"""What a model in the loop is told: fixed words, the conversation so far, what memory pushed, and its tools."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

from brainbench.model import Capability, Fixture, SessionBreak, Turn
from brainbench.replay.stage import TOOLS

WITHOUT_TOOLS = "You are the assistant of one user. Answer in one or two sentences."
WITH_TOOLS = (
    "You are the assistant of one user. You have tools that look into the user's memory: notes about people, projects, "
    "places and decisions. When an answer depends on something the user may have noted before and it is not in front "
    "of you, call a tool first. Otherwise answer at once, in one or two sentences."
)


def offered(can: frozenset[Capability]) -> tuple[str, ...]:
    """The tools that a memory which `can` do this has an answer for."""
    return tuple(name for name, tool in TOOLS.items() if tool.needs in can)


def tool_specs(names: Sequence[str]) -> list[dict[str, object]]:
    """The tools as a chat completion request lists them."""
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": TOOLS[name].description,
                "parameters": {
                    "type": "object",
                    "properties": {TOOLS[name].argument: {"type": "string"}},
                    "required": [TOOLS[name].argument],
                },
            },
        }
        for name in names
    ]


def messages(fixture: Fixture, event_id: int, blocks: Mapping[int, str], *, tools: bool) -> list[dict[str, object]]:
    """The session up to this turn, each user turn under the block that memory pushed on it."""
    said: list[dict[str, object]] = []
    for event in fixture.events:
        if isinstance(event, SessionBreak):
            said = []
        elif isinstance(event, Turn):
            block = blocks.get(event.event_id, "")
            said.append({"role": event.role, "content": f"{block}\n\n{event.text}" if block else event.text})
            if event.event_id == event_id:
                break
    return [{"role": "system", "content": WITH_TOOLS if tools else WITHOUT_TOOLS}, *said]


def prompt_hash() -> str:
    """SHA-256 of the words that a model is told in every arm."""
    return hashlib.sha256(f"{WITHOUT_TOOLS}\n{WITH_TOOLS}\n".encode()).hexdigest()


def tools_hash(names: Sequence[str]) -> str:
    """SHA-256 of the tools that are offered."""
    return hashlib.sha256(json.dumps(tool_specs(names), sort_keys=True).encode()).hexdigest()
