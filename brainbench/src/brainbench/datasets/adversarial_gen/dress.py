"""How a sentence stands in an issue, a mail, a page, what a tool gave back or what an agent notes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Around:
    """What a text says besides its core: ordinary sentences, `fillers` as many as its length needs."""

    title: str
    opener: str
    closer: str
    reason: str
    fillers: Sequence[str]
    number: int
    """Of the issue, mail or call."""


Layout = Callable[[str, Around], str]


def _plain(core: str, a: Around) -> str:
    return "\n\n".join([a.opener, f"{core} {a.reason}".strip(), *a.fillers, a.closer])


def _late(core: str, a: Around) -> str:
    return "\n\n".join([a.opener, *a.fillers, f"{a.reason} {core}".strip()])


def _listed(core: str, a: Around) -> str:
    points = [*a.fillers[:1], core, *a.fillers[1:], a.reason]
    return "\n".join([a.opener, "", *(f"- {point}" for point in points if point), "", a.closer])


def _commented(core: str, a: Around) -> str:
    return "\n\n".join([a.opener, *a.fillers, f"<!-- {core} {a.reason} -->", a.closer])


def _table(core: str, a: Around) -> str:
    rows = [*a.fillers, core, a.reason]
    return "\n".join([a.opener, "", "| # | |", "|---|---|", *(f"| {n} | {row} |" for n, row in enumerate(rows, 1))])


def _postscript(core: str, a: Around) -> str:
    return "\n\n".join([a.opener, *a.fillers, a.closer, f"PS: {core} {a.reason}".strip()])


def _reply(core: str, a: Around) -> str:
    quoted = "\n".join(f"> {line}" for line in a.fillers or (a.reason,))
    return "\n\n".join([a.opener, quoted, core, a.closer])


def _caption(core: str, a: Around) -> str:
    return "\n\n".join([a.opener, f"![{core}](/img/{a.number}.png)", a.reason, *a.fillers])


def _json(core: str, a: Around) -> str:
    rows = [{"id": a.number + n, "text": text} for n, text in enumerate([*a.fillers, core], 1)]
    return json.dumps({"ok": True, "title": a.title, "rows": rows, "note": a.reason}, ensure_ascii=False)


def _log(core: str, a: Around) -> str:
    said = [a.opener, *a.fillers, core, a.reason]
    return "\n".join(f"09:{a.number % 50 + n:02d}:07 INFO {line}" for n, line in enumerate(said) if line)


def _fields(core: str, a: Around) -> str:
    told = [("topic", a.title), ("summary", a.opener), *(("row", row) for row in a.fillers), ("note", core)]
    return "\n".join(f"{key}: {text}" for key, text in [*told, ("source", a.reason)] if text)


def _minutes(core: str, a: Around) -> str:
    points = [*a.fillers, core, a.reason]
    return "\n".join([f"# {a.title}", "", *(f"{n}. {point}" for n, point in enumerate(filter(None, points), 1))])


def _bare(core: str, a: Around) -> str:
    return " ".join(filter(None, [*a.fillers, core, a.reason]))


LAYOUTS: Mapping[str, Layout] = {
    "plain": _plain,
    "late": _late,
    "list": _listed,
    "comment": _commented,
    "table": _table,
    "postscript": _postscript,
    "reply": _reply,
    "caption": _caption,
    "json": _json,
    "log": _log,
    "fields": _fields,
    "minutes": _minutes,
    "bare": _bare,
}
OF_ONE_LINE = frozenset({"list", "comment", "table", "caption", "log", "fields", "minutes", "bare"})
"""Layouts that a core of several lines would break."""


@dataclass(frozen=True, slots=True)
class Channel:
    """A way in: the door, how an event says it, the layouts found there, and whose arm it counts for."""

    name: str
    door: str
    via: str
    arm: str
    layouts: tuple[str, ...]
    folder: str
    origin: str | None = None
    part: str | None = None


CHANNELS: tuple[Channel, ...] = (
    Channel(
        "github",
        "connector:github",
        "connector",
        "external",
        ("plain", "late", "list", "comment", "table"),
        "issues",
        part="body",
    ),
    Channel(
        "mail", "connector:mail", "connector", "external", ("plain", "late", "postscript", "reply"), "mail", part="body"
    ),
    Channel(
        "web",
        "connector:web",
        "connector",
        "external",
        ("plain", "late", "list", "comment", "caption", "table"),
        "web",
        part="body",
    ),
    Channel("tool", "mcp", "tool", "agent", ("json", "log", "fields", "plain"), "calls", origin="tool_output"),
    Channel(
        "agent", "mcp", "page", "agent", ("bare", "minutes", "plain", "late", "list"), "notes", origin="agent_inferred"
    ),
)
"""What an agent passes on is in the agent's arm, a tool's words included: it came by the agent's door."""


def dressed(channel: Channel, layout: str, core: str, around: Around) -> str:
    """A core as it comes in by a channel."""
    body = LAYOUTS[layout](core, around)
    if channel.name == "github":
        return f"#{around.number} {around.title}\n\n{body}\n"
    if channel.name == "mail":
        return f"Subject: {around.title}\n\n{body}\n"
    if channel.name == "web":
        return f"# {around.title}\n\n{body}\n"
    return f"{body}\n" if layout != "bare" else body
