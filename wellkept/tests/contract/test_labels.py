"""Whatever door is asked, each item that it shows says who wrote it. A new verb, route or command is listed here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio
import mcp_types as types
import pytest
from click.testing import CliRunner

from wellkept import wire
from wellkept.cli import COMMANDS, main
from wellkept.memory import Memory
from wellkept.model import AGENT, OUTSIDE, OWNER, Trust, Writer
from wellkept.serve import mcp
from wellkept.serve.routes import ROUTES, Desk, ask
from wellkept.serve.tokens import Token, Tokens
from wellkept.storage import open_store
from wellkept.verbs import VERBS, Caller, call

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LABEL = {"trust", "label", "confirmed", "content_origin", "source", "status", "flags", "integrity"}
E, A, U, C = Trust
WORDS = {E: "quillfern", A: "brackmoor", U: "tansyhollow", C: "veldspar"}
"""A word for each tier, that stands in everything of it and in nothing else."""
WRITERS = {E: OUTSIDE, A: AGENT, U: OWNER, C: OWNER}
PAGES = {tier: f"p/{tier.value}" for tier in Trust}
IDS = [*PAGES.values(), *(f"fact:{number}" for number in range(1, 5))]
PROSE = ("text", "markdown")
"""The texts that hold many items; each line has the label of its own."""

CALLS: Mapping[str, tuple[dict[str, Any], ...]] = {
    "remember": ({"text": "Anew."},),
    "recall": ({"query": "billing", "limit": 50}, {"query": "billing", "include_history": True}),
    "search": ({"query": "billing", "limit": 50, "diagnostics": True}, {"query": "billing", "include_content": False}),
    "get_page": tuple({"slug": slug} for slug in PAGES.values()),
    "put_page": ({"slug": "p/new", "content": "Anew."},),
    "entity": ({"name": "Shared"}, *({"name": slug} for slug in PAGES.values())),
    "context": tuple({"text": f"What about {word.title()}?"} for word in WORDS.values()),
    "context_pack": (
        {"goal": "billing"},
        {"goal": "billing", "markdown_token_budget": 100},
        {"goal": "billing", "entities": ["Shared", "p/2"], "limit": 2},
    ),
    "delta": ({},),
    "conflicts": ({},),
    "forget": ({"ids": ["p/spare"]},),
    "confirm": ({"id": "p/spare"},),
    "timeline": tuple({"entity": slug} for slug in PAGES.values()),
    "history": tuple({"id": one} for one in IDS),
    "correct": ({"id": "p/spare", "action": "mark_stale"},),
    "cite": ({"ids": ["p/0"]},),
    "export": ({},),
}
RECEIPTS = {"remember", "put_page", "forget", "confirm", "correct", "cite"}
"""What only says what became of a write."""

OF_ROUTES: Mapping[str, dict[str, Any] | None] = {
    "create_entity": {"name": "brackmoor new", "content": "brackmoor"},
    "list_entities": {"limit": 100},
    "create_entities": {"entities": [{"name": "new"}]},
    "get_entity": {"id": "p/1"},
    "end_entity": {"id": "p/spare"},
    "keep_raw": {"title": "new", "raw_content": "new"},
    "whoami": None,
    "create_token": None,
    "revoke_token": None,
    "get_batch": None,
}
"""Of the routes that are no verbs what each is asked, or None where nothing that is kept is told."""

COMMAND_LINES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "recall": (("billing", "--limit", "50"),),
    "search": (("billing", "--limit", "50"),),
    "get": tuple((one,) for one in IDS),
    "get-page": tuple((slug,) for slug in PAGES.values()),
    "entity": (("Shared",), *((slug,) for slug in PAGES.values())),
    "timeline": tuple((slug,) for slug in PAGES.values()),
    "facts": ((), ("billing",)),
    "history": tuple((one,) for one in IDS),
    "delta": ((),),
    "conflicts": ((),),
    "export": ((),),
    "context": tuple((f"What about {word.title()}?",) for word in WORDS.values()),
    "context-pack": (("billing",), ("billing", "--limit", "2", "--entities", "Shared")),
}
SHOW_NOTHING_KEPT = frozenset(
    "remember forget correct confirm cite put import bank embed put-page install uninstall status hook hook-command "
    "serve mcp token daemon ping bench export-queries gate sync connect doctor".split()
)
"""Commands that write, measure or see to the program."""
AT_A_TERMINAL = {"purge", "review", "release", "discard"}
"""Commands that show what is kept or held to nobody but its owner."""
AS_IT_IS = ("get", "get-page")
"""Commands that print a page as it was written; its label stands beside it, where messages go."""


def fill(memory: Memory) -> Memory:
    """Pages, facts and their histories of every tier, all about billing."""
    for tier, word in WORDS.items():
        head = f"title: {word.title()}\nsummary: {word} summary\naliases: [Shared, {word}-alias]"
        page = f"---\n{head}\n---\nAbout billing and {word}. See [[{PAGES[U if tier is not U else A]}]].\n"
        for text in (page, f"{page}\n## Timeline\n- 2020: {word} began\n"):
            told = memory.put_page("default", PAGES[tier], text, writer=WRITERS[tier], now=NOW)
            assert told.status in ("created", "updated")
        memory.remember(
            "default", f"{word} pays for billing", entity=PAGES[tier], writer=WRITERS[tier], now=NOW, kind="belief"
        )
        if tier is C:
            for one in (PAGES[C], "fact:4"):
                memory.confirm("default", one, now=NOW)
    memory.put_page("default", "p/spare", "Spare.", now=NOW)
    for attribute, higher, lower in (("payer", U, A), ("leader", C, E)):
        for tier in (higher, lower):
            text = f"{WORDS[tier]} is the {attribute} of billing"
            slot = {"entity": "p/none", "attribute": attribute}
            told = memory.remember("default", text, **slot, writer=WRITERS[tier], now=NOW)
            if tier is C:
                memory.confirm("default", f"fact:{told.facts[0]}", now=NOW)
    return memory


@pytest.fixture
def memory() -> Iterator[Memory]:
    opened = fill(Memory(open_store("sqlite", ":memory:")))
    yield opened
    opened.close()


def labelled(answer: Any) -> set[Trust]:
    """The tiers of which an answer shows something; AssertionError where an item has not its own label."""
    found: set[Trust] = set()
    _walk(answer, (), found)
    return found


def _walk(value: Any, above: tuple[dict[str, Any], ...], found: set[Trust], name: str = "") -> None:
    if isinstance(value, dict):
        for key, one in value.items():
            _walk(key, (*above, value), found)
            _walk(one, (*above, value), found, str(key))
    elif isinstance(value, list | tuple):
        for one in value:
            _walk(one, above, found, name)
    elif isinstance(value, str) and name in PROSE and len(above) == 1 and "trust" not in above[0]:
        found |= told_by_lines(value)
    elif isinstance(value, str):
        for tier in tiers_in(value):
            carrying = next((one for one in reversed(above) if "trust" in one), {})
            assert set(carrying) >= LABEL, f"{name} {value!r} has no label"
            # What was confirmed is not what it replaced.
            said = U if name == "before" and tier is C else tier
            assert carrying["trust"] == said.name.lower(), f"{name} {value!r} is said to be {carrying['trust']}"
            assert carrying["confirmed"] == (said is C)
            assert carrying["label"] == said.label
            found.add(tier)


def tiers_in(text: str) -> set[Trust]:
    return {tier for tier, word in WORDS.items() if word in text.lower()}


def told_by_lines(text: str) -> set[Trust]:
    """The same of a text with an item on each line."""
    for line in text.splitlines():
        for tier in tiers_in(line):
            assert tier.label in line, f"no label: {line}"
            assert not any(other.label in line for other in Trust if other is not tier), line
    return tiers_in(text)


def show(memory: Memory, name: str) -> set[Trust]:
    caller = Caller("default", Writer("owner_tty"), now=NOW)
    return set().union(*(labelled(call(memory, name, asked, caller)) for asked in CALLS[name]))


@pytest.mark.req("T-103", "T-401", "T-403", "TC-40")
@pytest.mark.parametrize("name", VERBS)
def test_every_verb_labels_each_item_that_it_shows(memory: Memory, name: str) -> None:
    assert set(CALLS) == set(VERBS), "say in CALLS how a new verb is asked"
    assert show(memory, name) == (set() if name in RECEIPTS else set(Trust))


@pytest.mark.req("T-401")
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_every_route_labels_each_item_that_it_shows(memory: Memory, tmp_path: Path, route: Any) -> None:
    token = _token(tmp_path)
    if route.name in VERBS:
        asked = () if VERBS[route.name].effect == "owner" else CALLS[route.name]
    else:
        assert route.name in OF_ROUTES, "say in OF_ROUTES how a new route is asked"
        one = OF_ROUTES[route.name]
        asked = () if one is None else (one,)
    desk = Desk(memory, Tokens(tmp_path / "tokens.json"), lambda: NOW)
    shown = [labelled(ask(desk, route, token, dict(given))) for given in asked if route.name != "forget"]
    if route.name in VERBS and VERBS[route.name].effect in ("read", "admin"):
        assert set().union(*shown) == set(Trust)


@pytest.mark.req("T-401", "TC-40")
@pytest.mark.parametrize("tool", mcp.tools(), ids=lambda tool: tool.name)
def test_every_tool_labels_each_item_and_says_nothing_beside_its_answer(
    memory: Memory, tmp_path: Path, tool: types.Tool
) -> None:
    context = SimpleNamespace(request=SimpleNamespace(scope={"wellkept.token": _token(tmp_path)}))
    desk = Desk(memory, Tokens(tmp_path / "tokens.json"), lambda: NOW)
    shown: set[Trust] = set()
    for given in CALLS[tool.name]:
        params = types.CallToolRequestParams(name=tool.name, arguments=given)
        found = anyio.run(mcp._call_tool, desk, context, params)
        assert found.meta is None
        (text,) = found.content
        assert isinstance(text, types.TextContent)
        assert text.meta is None
        assert json.loads(text.text) == found.structured_content
        shown |= labelled(found.structured_content)
    assert shown == (set() if tool.name in RECEIPTS else set(Trust))


@pytest.mark.req("T-404", "TC-40")
def test_what_a_model_is_told_of_the_tools_holds_nothing_that_is_kept(memory: Memory) -> None:
    told = json.dumps([tool.model_dump(mode="json") for tool in mcp.tools()]) + mcp.INSTRUCTIONS
    assert tiers_in(told) == set()
    assert all(tool.meta is None for tool in mcp.tools())


@pytest.mark.req("T-401")
@pytest.mark.parametrize("name", COMMAND_LINES)
def test_every_command_labels_each_item_that_it_prints(name: str, tmp_path: Path) -> None:
    assert set(COMMAND_LINES) | SHOW_NOTHING_KEPT | AT_A_TERMINAL == set(COMMANDS), "say how a new command is typed"
    fill(Memory(open_store("sqlite", tmp_path / "memory.db"))).close()
    printed: set[Trust] = set()
    for line in COMMAND_LINES[name]:
        argv = [name, *line, "--data-dir", str(tmp_path)]
        said = CliRunner().invoke(main, argv, catch_exceptions=False)
        assert said.exit_code == 0, said.stderr
        if name == "export":
            shown = set().union(*(labelled(json.loads(row)) for row in said.stdout.splitlines()))
        elif name in AS_IT_IS and "fact:" not in line[0]:
            (tier,) = tiers_in(said.stdout) - ({U} & tiers_in(line[0]))
            assert f"wellkept: {line[0]} ({tier.label})" in said.stderr
            shown = {tier}
        else:
            shown = told_by_lines(said.stdout)
        if name != "delta":
            assert labelled(json.loads(CliRunner().invoke(main, [*argv, "--json"]).stdout)) >= shown
        printed |= shown
    assert printed == (set() if name == "delta" else set(Trust))


@pytest.mark.req("T-401")
def test_a_piece_of_a_page_says_where_it_is_from_and_what_was_noticed(memory: Memory) -> None:
    store = memory.store
    with store.transaction():
        store._change("UPDATE pages SET flags = 'D1 D4', content_origin = 'tool_output' WHERE slug = 'p/0'")  # type: ignore[attr-defined]
    store.index.forget_views()
    caller = Caller("default", now=NOW)
    (found,) = [one for one in call(memory, "recall", {"query": "billing"}, caller)["memories"] if one["id"] == "p/0"]
    (pointed,) = call(memory, "context", {"text": "What about Quillfern?"}, caller)["pointers"]
    for one in (found, pointed):
        assert (one["content_origin"], one["flags"]) == ("tool_output", ["D1", "D4"])


@pytest.mark.parametrize("name", [name for name in VERBS if name not in RECEIPTS | {"context", "context_pack"}])
def test_an_item_without_its_label_is_noticed(memory: Memory, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "_label", lambda item: {})
    with pytest.raises(AssertionError, match="has no label"):
        show(memory, name)


@pytest.mark.parametrize("name", ["context", "context_pack"])
def test_a_line_without_its_label_is_noticed(memory: Memory, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Trust, "label", property(lambda tier: "user-written"))
    with pytest.raises(AssertionError):
        show(memory, name)


def _token(folder: Path) -> Token:
    text, _ = Tokens(folder / "tokens.json").add(
        "user:ann", "default", ("read", "write", "cite", "admin"), timedelta(days=1), NOW
    )
    return Tokens(folder / "tokens.json").valid(text, NOW)
