"""One table of verbs, and every door made from it."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from dataclasses import fields
from datetime import UTC, datetime

import click
import pytest

from wellkept import verbs, wire
from wellkept.cli import COMMANDS, main
from wellkept.errors import PROBLEMS, InvalidInput, NotFound, ScopeDenied, WellkeptError
from wellkept.memory import Memory
from wellkept.model import Told, Writer
from wellkept.storage.sqlite import SqliteStore
from wellkept.verbs import ALLOWED, SCOPES, VERBS, Caller, call, problem, read_arguments, schema

OWNER = Caller("default", Writer("owner_tty"))
SET_BY_DOORS = {"self", "source", "writer", "lineage", "now"}
LABEL = {"trust", "label", "confirmed", "content_origin", "source", "status", "flags", "integrity"}


@pytest.fixture
def memory() -> Iterator[Memory]:
    opened = Memory(SqliteStore(":memory:"))
    opened.put_page("default", "people/ada", "---\ntitle: Ada\n---\nLikes tea.\n\n## Timeline\n- 1833: met Babbage\n")
    opened.remember("default", "Ada likes tea", entity="people/ada")
    yield opened
    opened.close()


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_takes_the_arguments_of_its_method_with_the_same_defaults(name: str) -> None:
    takes = dict(inspect.signature(getattr(Memory, name)).parameters)
    told = {"told"} & set(takes)
    wanted = {one for one in takes if one not in SET_BY_DOORS | told}
    wanted |= {one.name for one in fields(Told)} if told else set()
    if name == "context":
        wanted = wanted - {"window", "budget"} | {"text", "earlier"}
    assert {argument.name for argument in VERBS[name].arguments} == wanted
    for argument in VERBS[name].arguments:
        if argument.name in takes:
            default = takes[argument.name].default
            assert (default is inspect.Parameter.empty) == argument.required
            assert argument.required or default == argument.default


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_is_a_command_with_the_same_arguments(name: str) -> None:
    command = main.get_command(click.Context(main), name.replace("_", "-"))
    assert command is not None
    assert name.replace("_", "-") in COMMANDS
    own = {"as_json", "source", "data_dir", "out", "file"}
    asked = {parameter.name for parameter in command.params} - own
    assert asked == {argument.name for argument in VERBS[name].arguments} - (
        {"content"} if name == "put_page" else set()
    )


def test_every_effect_and_every_scope_decide_something() -> None:
    assert {verb.effect for verb in VERBS.values()} | {"any"} == set(ALLOWED)
    assert set().union(*ALLOWED.values()) == ALLOWED["any"] == set(SCOPES)
    assert ALLOWED["owner"] == frozenset()


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_is_refused_without_the_scope_that_it_needs(memory: Memory, name: str) -> None:
    for scope in SCOPES:
        caller = Caller("default", scopes=frozenset({scope}))
        if scope in ALLOWED[VERBS[name].effect]:
            verbs.allow(VERBS[name].effect, caller, name)
        else:
            with pytest.raises(ScopeDenied, match=name):
                call(memory, name, {}, caller)


EXAMPLES: dict[str, dict[str, object]] = {
    "remember": {"text": "Ada likes coffee", "valid_from": "2024-01-01"},
    "recall": {"query": "tea"},
    "search": {"query": "tea"},
    "get_page": {"slug": "people/ada"},
    "put_page": {"slug": "b", "content": "x", "metadata": {"a": 1}, "content_origin": "import"},
    "entity": {"name": "ada"},
    "context": {"text": "And her?", "earlier": [{"role": "user", "text": "What does Ada like?"}]},
    "context_pack": {"goal": "drink tea"},
    "delta": {},
    "forget": {"ids": ["fact:1"]},
    "confirm": {"id": "fact:1"},
    "timeline": {"entity": "ada", "since": "1800-01-01"},
    "history": {"id": "people/ada"},
    "conflicts": {},
    "correct": {"id": "fact:1", "action": "mark_stale"},
    "cite": {"ids": ["fact:1"], "message": "m"},
    "export": {},
}


def labelled(value: object) -> Iterator[dict[str, object]]:
    """Everything in an answer that is a page, a fact or a hit."""
    if isinstance(value, dict):
        if "id" in value and {"text", "title", "display", "content"} & set(value):
            yield value
        for inner in value.values():
            yield from labelled(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from labelled(inner)


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_answers_in_json_with_a_label_on_each_item(memory: Memory, name: str) -> None:
    found = call(memory, name, EXAMPLES[name], OWNER)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    items = [*labelled(found)]
    reads = name in (
        "recall",
        "search",
        "get_page",
        "entity",
        "context",
        "context_pack",
        "delta",
        "timeline",
        "history",
        "export",
    )
    assert bool(items) == reads
    assert [set(item) & LABEL for item in items] == [LABEL] * len(items)


@pytest.mark.parametrize("name", VERBS)
def test_no_request_says_what_the_door_decides(memory: Memory, name: str) -> None:
    for claim in sorted(verbs.DECIDED_BY_THE_DOOR):
        with pytest.raises(InvalidInput, match="decided by the door") as caught:
            call(memory, name, {**EXAMPLES[name], claim: "owner"}, OWNER)
        assert caught.value.field == claim


@pytest.mark.parametrize(
    ("name", "arguments", "field", "words"),
    [
        ("remember", {}, "text", "missing"),
        ("remember", {"text": ""}, "text", "empty"),
        ("remember", {"text": "x", "entity": ""}, "entity", "text of a length >= 1"),
        ("remember", {"text": "x", "kind": 7}, "kind", "expected"),
        ("correct", {"id": "fact:1", "action": "mark_stale", "preview": 1}, "preview", "expected true or false"),
        ("remember", {"text": 7}, "text", "expected"),
        ("remember", {"text": "x", "kind": "rumour"}, "kind", "is 'rumour'; use one of event, preference"),
        ("search", {"query": "x", "labels": ["user_written", "mine"]}, "labels[1]", "is 'mine'; use one of external"),
        ("remember", {"text": "x", "valid_from": "soon"}, "valid_from", "ISO 8601"),
        ("remember", {"text": "x", "colour": 1}, "colour", "unknown to remember"),
        ("remember", {"text": "half \ud83d"}, "text", "surrogate"),
        ("remember", {"text": "a\0b"}, "text", "NUL"),
        ("recall", {"query": "x" * 1_000_000}, "query", "length"),
        ("recall", {"query": "x", "limit": 0}, "limit", ">= 1"),
        ("recall", {"query": "x", "limit": 51}, "limit", "<= 50"),
        ("recall", {"query": "x", "limit": True}, "limit", "expected"),
        ("recall", {"query": " \u3000 "}, "query", "empty"),
        ("forget", {"ids": []}, "ids", "length"),
        ("forget", {"ids": "fact:1"}, "ids", "expected"),
        ("forget", {"ids": [""]}, "ids[0]", "length"),
        ("forget", {"ids": [" a"]}, "ids[0]", "space"),
        ("put_page", {"slug": "a", "content": "x", "metadata": [1]}, "metadata", "expected"),
        ("delta", {"since": -1}, "since", ">= 0"),
        ("context", {"text": "x", "earlier": [{"role": "system", "text": "x"}]}, "earlier[0].role", "system"),
        ("context", {"text": "x", "earlier": [{"role": "user", "text": "x", "trust": 3}]}, "earlier[0]", "trust"),
        ("context", {"text": "x", "earlier": [{"role": "user"}]}, "earlier[0]", "text"),
        ("context", {"text": "x", "earlier": "x"}, "earlier", "expected"),
        ("timeline", {"entity": "ada", "until": "0000-00-00"}, "until", "ISO 8601"),
        ("correct", {"id": "fact:1", "action": "revise"}, "replacement", "needed"),
        ("correct", {"id": "fact:1", "action": "mark_wrong", "replacement": "x"}, "replacement", "not used"),
    ],
)
def test_what_cannot_be_used_is_refused_by_the_name_of_the_argument(
    memory: Memory, name: str, arguments: dict[str, object], field: str, words: str
) -> None:
    before = memory.delta("default").cursor
    with pytest.raises(InvalidInput) as caught:
        call(memory, name, arguments, OWNER)
    assert caught.value.field == field
    assert words in caught.value.reason
    assert memory.delta("default").cursor == before


def test_a_verb_that_is_none_is_not_there(memory: Memory) -> None:
    with pytest.raises(NotFound, match="no verb 'close'"):
        call(memory, "close", {}, OWNER)


def test_defaults_and_moments_are_filled_in() -> None:
    read = read_arguments(VERBS["timeline"], {"entity": "ada", "since": "2024-05-01", "until": None})
    assert read == {"entity": "ada", "since": datetime(2024, 5, 1, tzinfo=UTC), "until": None}
    assert verbs.moment("x", "2024-05-01T02:00:00+02:00") == datetime(2024, 5, 1, tzinfo=UTC)


@pytest.mark.parametrize("name", VERBS)
def test_the_schema_of_a_verb_says_what_it_takes(name: str) -> None:
    found = schema(VERBS[name])
    assert set(found["properties"]) == {argument.name for argument in VERBS[name].arguments}
    assert found.get("required", []) == [argument.name for argument in VERBS[name].arguments if argument.required]
    assert found["additionalProperties"] is False


def test_a_brief_schema_is_the_same_but_for_lengths() -> None:
    whole, brief = schema(VERBS["search"]), schema(VERBS["search"], brief=True)
    assert brief["properties"]["limit"] == whole["properties"]["limit"]
    assert brief["properties"]["types"]["items"] == {"type": "string"}
    assert set(brief["properties"]) == set(whole["properties"])
    assert "Length" not in json.dumps(brief)
    assert "maxLength" in json.dumps(whole)


def test_every_error_has_one_code_with_a_status_and_a_title() -> None:
    def kinds(kind: type[WellkeptError]) -> Iterator[type[WellkeptError]]:
        yield kind
        for below in kind.__subclasses__():
            yield from kinds(below)

    assert {kind.problem for kind in kinds(WellkeptError)} <= set(PROBLEMS)
    said = problem(InvalidInput("ids[3]", "is empty"), "r1")
    assert said["status"] == 422
    assert (said["code"], said["request_id"]) == ("invalid_params", "r1")
    assert said["errors"] == [{"pointer": "/ids/3", "message": "is empty"}]


def test_a_fault_is_told_without_what_it_says() -> None:
    said = problem(ValueError("the text of somebody's page"))
    assert (said["status"], said["code"]) == (500, "internal")
    assert "page" not in json.dumps(said).replace("nothing was kept", "")


def test_an_id_names_the_same_item_wherever_it_stands(memory: Memory) -> None:
    memory.put_page("default", "fact:1", "# A page called so\n")
    listed = [item["id"] for item in call(memory, "export", {}, OWNER)["items"]]
    assert listed == ["page:fact:1", "people/ada", "fact:1"]
    assert [call(memory, "history", {"id": one}, OWNER)["id"] for one in listed] == listed
    assert call(memory, "search", {"query": "page called"}, OWNER)["results"][0]["id"] == "page:fact:1"


def test_where_a_text_is_from_is_folded_into_one_value() -> None:
    assert wire.folded({"slug": "a", "url": None}) == {"slug": "a", "told": None}
    assert wire.folded({"slug": "a", "url": "u"}) == {"slug": "a", "told": Told(url="u")}
