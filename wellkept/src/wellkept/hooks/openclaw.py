"""What memory says to OpenClaw, which assembles the context of a turn in its own process."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from wellkept.memory import Memory
from wellkept.model import Message, Role, TurnContext
from wellkept.recall import render


def assemble(
    memory: Memory,
    source: str,
    messages: Sequence[Message],
    *,
    prior: str = "",
    pages: int = 3,
    window: int = 4,
    roles: Collection[Role] = ("user", "assistant"),
) -> TurnContext:
    """The pages that the newest user message names, then pages that the last turns call for; no facts.

    At most `pages` are pointed at. The last `window` turns said by `roles` are searched for what else may matter.
    `prior` is what the session was shown before, which is not shown again.
    """
    newest = next((message.text for message in reversed(messages) if message.role == "user"), "")
    pointers, lost = memory.pointers(source, newest, prior=prior, pages=pages, suppression="slug-and-title")
    recent = tuple(message for message in messages if message.role in roles)
    recent = recent[-window:] if window > 0 else ()
    shown = tuple(pointer.slug for pointer in pointers)
    volunteered, also_lost = memory.volunteers(source, recent, prior=prior, exclude=shown)
    return TurnContext(
        text=render(pointers, volunteered, ()),
        pointers=pointers,
        volunteered=volunteered,
        degraded=tuple(dict.fromkeys((*lost, *also_lost))),
    )
