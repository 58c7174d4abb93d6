"""Which tool of an MCP server serves which method of the bench, read from a TOML file, and how its answers are read.

Arguments are templates: `{query}` stands for a value of the method. Paths such as `entities[0].name` read answers.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from brainbench.errors import SystemFailure, UsageError
from brainbench.model import Capability
from brainbench.systems.wire import METHODS

_VARIABLE = re.compile(r"\{(\w+)\}")
_STEP = re.compile(r"([^.\[\]]+)|\[(\d+)\]")
_TITLE = re.compile(r"^title:\s*(.+?)\s*$", re.MULTILINE)
_PAGE = ("source", "slug", "content", "title", "body", "actor", "ts")
_ITEM = ("source", "item_id")
VARIABLES: Mapping[str, tuple[str, ...]] = {
    "write_page": _PAGE,
    "read_page": ("source", "slug"),
    "edit_page": _PAGE,
    "write_fact": ("source", "text", "entity", "session", "actor", "ts"),
    "write_conversation": ("source", "session", "text", "now"),
    "recall_facts": ("source", "query", "limit"),
    "search": ("source", "query", "limit"),
    "context": ("source", "session", "prompt", "text", "now"),
    "clear": (),
    "add_item": ("source", "text", "name", "title", "ts", "meta", "replaces"),
    "find_items": ("source", "query", "limit", "as_of"),
    "get_item": _ITEM,
    "update_item": (*_ITEM, "text"),
    "delete_item": _ITEM,
    "delete_items": ("source",),
    "list_items": ("source",),
}
"""What a template of each method may name; `{directory}`, the fixture's own folder, may stand in every one.

`title` and `body` are those of the page's Markdown; `text` of a conversation or of what was said before has one line a
message.
"""

SAID = frozenset({Capability.SOURCES, Capability.META, Capability.EVENT_TIME, Capability.SUPERSEDE, Capability.AS_OF})
"""What no method asks for: it is claimed or not."""
_PATHS = (
    ("search", "each"),
    ("search", "id"),
    ("recall_facts", "each"),
    ("recall_facts", "text"),
    ("find_items", "each"),
    ("find_items", "id"),
    ("find_items", "text"),
    ("list_items", "each"),
    ("list_items", "id"),
    ("list_items", "text"),
)
"""The paths that a method cannot do without."""


class Use(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """One call of a tool, and where in its answer the values are. Paths within `each` start at one of its items."""

    tool: str
    arguments: dict[str, Any] = {}
    result: str | None = None
    none_on_error: bool = False
    each: str | None = None
    id: str | None = None
    title: str | None = None
    text: str | None = None
    score: str | None = None
    aliases: str | None = None
    entity: str | None = None
    source_session: str | None = None
    source_page: str | None = None
    at: str | None = None
    made: str | None = None
    meta: str | None = None
    superseded_by: str | None = None


Steps = Use | list[Use]


class Server(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """How the server is reached: started as `command`, with `env` besides the scrubbed environment, or at `url`."""

    command: list[str] = []
    url: str | None = None
    env: dict[str, str] = {}


class About(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What is asked of the memory, and how it is emptied before each fixture."""

    can: list[str]
    fresh: Literal["restart", "clear"] = "restart"


class Mapped(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A mapping file."""

    server: Server
    memory: About
    clear: Steps | None = None
    write_page: Steps | None = None
    read_page: Steps | None = None
    edit_page: Steps | None = None
    write_fact: Steps | None = None
    write_conversation: Steps | None = None
    recall_facts: Steps | None = None
    search: Steps | None = None
    context: Steps | None = None
    add_item: Steps | None = None
    find_items: Steps | None = None
    get_item: Steps | None = None
    update_item: Steps | None = None
    delete_item: Steps | None = None
    delete_items: Steps | None = None
    list_items: Steps | None = None

    def steps(self, method: str) -> Sequence[Use]:
        """The calls that serve a method, in order; what it answers is read from the last."""
        found: Steps | None = getattr(self, method, None)
        return () if found is None else [found] if isinstance(found, Use) else found


def read_mapping(path: Path, name: str) -> Mapped:
    """The mapping of a file. UsageError names the field that is wrong, and what it may be."""
    try:
        found = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Mapped)
    except OSError as error:
        raise UsageError(f"--system: {name}: {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise UsageError(f"--system: {name}: {path.name}: {error}") from None
    if faults := _faults(found):
        raise UsageError("\n".join(f"--system: {name}: {path.name}: {fault}" for fault in faults))
    return found


def _faults(mapped: Mapped) -> list[str]:
    """What a mapping says that cannot be meant."""
    faults = []
    if bool(mapped.server.command) == bool(mapped.server.url):
        faults.append("server: give either `command` or `url`")
    if mapped.server.url and mapped.memory.fresh == "restart":
        faults.append(
            'memory.fresh: a server behind a `url` is not started here; use fresh = "clear" and a [clear] tool'
        )
    if mapped.memory.fresh == "clear" and not mapped.steps("clear"):
        faults.append('memory.fresh: "clear" needs a [clear] section with the tool that empties the memory')
    asked = {name: method for name, method in METHODS.items() if not method.hosted and not method.optional}
    reached = {c for name, m in asked.items() if name in VARIABLES and (c := m.capability)} | SAID | {Capability.REOPEN}
    if odd := sorted(set(mapped.memory.can) - reached):
        faults.append(f"memory.can: holds {', '.join(odd)}; known here: {', '.join(sorted(reached))}")
    for name, method in asked.items():
        if method.capability in mapped.memory.can and name in VARIABLES and not mapped.steps(name):
            faults.append(f"{name}: `can` holds {method.capability}, so it needs a [{name}] section")
    if Capability.REOPEN in mapped.memory.can and mapped.memory.fresh != "restart":
        faults.append('memory.can: `reopen` needs fresh = "restart": the server is started again on its {directory}')
    for name, known in VARIABLES.items():
        for use in mapped.steps(name):
            if odd := sorted(set(_VARIABLE.findall(repr(use.arguments))) - {*known, "directory"}):
                may = ", ".join(f"{{{word}}}" for word in (*known, "directory"))
                faults.append(f"{name}.arguments: no variable {{{odd[0]}}}; there are {may}")
    for name, needed in _PATHS:
        if (steps := mapped.steps(name)) and getattr(steps[-1], needed) is None:
            faults.append(f"{name}.{needed}: missing; the path of it in the answer of {steps[-1].tool!r}")
    for name in ("read_page", "context", "get_item"):
        if (steps := mapped.steps(name)) and steps[-1].result is None:
            faults.append(f"{name}.result: missing; the path of the text in the answer of {steps[-1].tool!r}")
    return faults


def filled(template: Any, values: Mapping[str, Any]) -> Any:
    """A template with its variables replaced; one that stands alone keeps its type.

    >>> filled({"q": "{query}", "n": "{limit}", "note": ["at most {limit}"]}, {"query": "Ada", "limit": 5})
    {'q': 'Ada', 'n': 5, 'note': ['at most 5']}
    """
    if isinstance(template, dict):
        return {key: filled(value, values) for key, value in template.items()}
    if isinstance(template, list):
        return [filled(value, values) for value in template]
    if not isinstance(template, str):
        return template
    whole = _VARIABLE.fullmatch(template)
    if whole and whole[1] in values:
        return values[whole[1]]
    return _VARIABLE.sub(lambda found: str(values.get(found[1], found[0])), template)


class NothingThere(SystemFailure):
    """A path leads to where an answer is empty: it holds nothing, which is no fault of the path."""


def at(answer: Any, path: str, what: str) -> Any:
    """What stands at a path in an answer; SystemFailure tells how far the path leads, and what is there instead.

    >>> at({"entities": [{"name": "Ada"}]}, "entities[0].name", "search.id")
    'Ada'
    """
    here = answer
    for key, index in _STEP.findall(path):
        try:
            here = here[int(index)] if index else here[key] if isinstance(here, dict) else _missing()
        except (LookupError, TypeError) as error:
            there = f"{here!r:.80}"
            if isinstance(here, dict) and isinstance(error, LookupError):
                there = f"it has {', '.join(map(str, here)) or 'nothing'}"
            kind = SystemFailure if here else NothingThere
            raise kind(f"{what}: no {path!r} in the answer; at {key or index!r}: {there}") from None
    return here


def _missing() -> Any:
    raise LookupError


def page_parts(content: str) -> dict[str, str]:
    """The title and the body of a page's Markdown."""
    head, _, body = content.partition("\n---\n") if content.startswith("---\n") else ("", "", content)
    title = _TITLE.search(head)
    return {"title": title[1].strip("\"'") if title else "", "body": body.strip("\n")}
