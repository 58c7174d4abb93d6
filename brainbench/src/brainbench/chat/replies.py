"""What a chat completion says, read strictly: anything else is no answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from brainbench.chat.budget import Price
from brainbench.chat.records import Answer
from brainbench.errors import CallFailed


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model wants called; `arguments` is JSON text as the model wrote it."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The model's words and calls, what they cost and how long they took; `message` is what goes back as history."""

    text: str
    tool_calls: tuple[ToolCall, ...]
    message: Mapping[str, object]
    input_tokens: int
    output_tokens: int
    usd: float
    latency_ms: float


class _Function(msgspec.Struct):
    name: str
    arguments: Any = "{}"


class _Call(msgspec.Struct):
    function: _Function
    id: str = ""


class _Message(msgspec.Struct):
    content: Any = None
    tool_calls: list[_Call] | None = None


class _Choice(msgspec.Struct):
    message: _Message


class _Completion(msgspec.Struct):
    choices: list[_Choice]


def read_reply(answer: Answer, price: Price) -> Reply:
    """The reply in a recorded or fresh answer. CallFailed, with the part that is wrong, when it is no completion."""
    try:
        found = msgspec.convert(answer.response, _Completion)
    except msgspec.ValidationError as error:
        raise CallFailed(f"the endpoint answered what is no chat completion: {error}") from None
    if not found.choices:
        raise CallFailed("the endpoint answered what is no chat completion: `choices` is empty")
    said = found.choices[0].message
    if said.content is not None and not isinstance(said.content, str):
        raise CallFailed("the endpoint answered what is no chat completion: `content` is no text")
    calls = tuple(
        ToolCall(call.id or f"call-{number}", call.function.name, _as_text(call.function.arguments))
        for number, call in enumerate(said.tool_calls or (), 1)
    )
    sent, got = answer.tokens
    return Reply(said.content or "", calls, _message(said, calls), sent, got, price.of(sent, got), answer.latency_ms)


def _as_text(arguments: object) -> str:
    """Some servers give the arguments as an object."""
    return arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()


def _message(said: _Message, calls: tuple[ToolCall, ...]) -> dict[str, object]:
    message: dict[str, object] = {"role": "assistant", "content": said.content or ""}
    if calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in calls
        ]
    return message
