"""One turn put to a model: it answers, or calls tools and is asked again, up to four calls."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from brainbench.chat import Chat, Reply, ToolCall
from brainbench.errors import CallFailed, SystemFailure
from brainbench.live.prompt import tool_specs
from brainbench.replay.stage import TOOLS, Found

MOST_CALLS = 4


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of the model: what it asked for and the pages that came. `problem`: why it could not be done."""

    tool: str
    argument: str = ""
    ids: tuple[str, ...] = ()
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """What a model did with one turn, and what that took. With an `error` nothing of it counts."""

    calls: tuple[Call, ...] = ()
    questions: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    usd: float = 0.0
    latency_ms: float = 0.0
    error: str | None = None
    unanswered: bool = False
    """The error is the endpoint's, not the memory's."""


def ask_turn(
    chat: Chat,
    body: Mapping[str, object],
    tools: Sequence[str],
    look: Callable[[str, str], Found],
    about: str,
) -> Asked:
    """Put a question to the model and do what it calls for. A failed question or a broken memory is an error."""
    seen = Asked()
    said = list(_messages(body))
    asking = dict(body) | ({"tools": tool_specs(tools)} if tools else {})
    try:
        while True:
            reply = chat.ask(asking | {"messages": said}, f"{about}, question {seen.questions + 1}")
            seen = _counted(seen, reply)
            wanted = reply.tool_calls[: MOST_CALLS - len(seen.calls)] if tools else ()
            if not wanted:
                return seen
            said = [*said, dict(reply.message)]
            for call in wanted:
                done, text = _call(call, tools, look)
                seen = replace(seen, calls=(*seen.calls, done))
                said.append({"role": "tool", "tool_call_id": call.id, "content": text})
            if len(seen.calls) >= MOST_CALLS:
                return seen
    except CallFailed as error:
        return replace(seen, error=str(error), unanswered=True)
    except SystemFailure as error:
        return replace(seen, error=str(error))


def _messages(body: Mapping[str, object]) -> Sequence[Mapping[str, object]]:
    messages = body["messages"]
    return messages if isinstance(messages, list) else []


def _counted(seen: Asked, reply: Reply) -> Asked:
    return replace(
        seen,
        questions=seen.questions + 1,
        input_tokens=seen.input_tokens + reply.input_tokens,
        output_tokens=seen.output_tokens + reply.output_tokens,
        usd=seen.usd + reply.usd,
        latency_ms=round(seen.latency_ms + reply.latency_ms, 1),
    )


def _call(call: ToolCall, tools: Sequence[str], look: Callable[[str, str], Found]) -> tuple[Call, str]:
    """The call as it was done, and what the model is told. A call that makes no sense is told, and brings nothing."""
    if call.name not in tools:
        problem = f"there is no tool {call.name[:80]!r}; there are {', '.join(tools)}"
        return Call(call.name[:80], problem=problem), f"Error: {problem}."
    argument = _argument(call.arguments, TOOLS[call.name].argument)
    if argument is None:
        problem = f"the arguments must be a JSON object with the text {TOOLS[call.name].argument!r}"
        return Call(call.name, problem=problem), f"Error: {problem}."
    found = look(call.name, argument)
    if found.error is not None:
        raise SystemFailure(f"{call.name}: {found.error}")
    return Call(call.name, argument, found.ids), found.text


def _argument(arguments: str, name: str) -> str | None:
    try:
        told = json.loads(arguments)
    except (ValueError, RecursionError):
        return None
    value = told.get(name) if isinstance(told, dict) else None
    return value[:2000] if isinstance(value, str) and value.strip() else None
