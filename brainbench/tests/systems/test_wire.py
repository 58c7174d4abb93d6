from __future__ import annotations

from dataclasses import fields

import jsonschema_rs
import msgspec
import pytest

from brainbench import model
from brainbench.errors import SystemFailure, Unsupported, UsageError
from brainbench.model import Capability, FactIn, PageIn, RunContext, SearchHit, SourceDecl
from brainbench.systems import System
from brainbench.systems.wire import METHODS, Hello, Remote, schema

from .test_systems import ask

SENT = {
    "open": RunContext("r", (SourceDecl("default"),), "default", "d"),
    "write_page": PageIn("default", "people/ada", "text"),
    "write_fact": FactIn("default", "text"),
    "context": ask("Ada?", "earlier"),
}


def valid(part: object, value: object) -> bool:
    whole = {**part, "$defs": schema()["$defs"]}  # type: ignore[dict-item]
    return bool(jsonschema_rs.validator_for(whole).is_valid(value))


@pytest.mark.parametrize("name", SENT)
def test_what_is_sent_fits_the_published_schema(name: str) -> None:
    sent = msgspec.to_builtins(SENT[name])
    params = schema()["methods"][name]["params"]
    assert valid(params, sent)
    assert not valid(params, {**sent, next(iter(sent)): 5})


def test_the_schema_tells_results_too() -> None:
    result = schema()["methods"]["search"]["result"]
    assert valid(result, msgspec.to_builtins([SearchHit("a")]))
    assert not valid(result, [{"title": "no id"}])
    assert schema()["methods"].keys() == METHODS.keys()


def test_the_methods_are_those_of_a_system() -> None:
    assert {name for name in METHODS if not hasattr(System, name)} == {"hello"}


class Saying(Remote):
    """Answers every method with the same JSON."""

    def __init__(self, told: object) -> None:
        self.name, self.told = "saying", msgspec.json.encode(told)

    def ask(self, method: str, params: object) -> bytes:
        return self.told


@pytest.mark.parametrize(
    ("hello", "said"),
    [
        (Hello("x", can=("mind_reading",)), "`can` holds mind_reading; known here: "),
        (Hello("x", can=("hook_process",)), "`can` holds hook_process; known here: "),
        (
            Hello("x", also=("parse_transcript",)),
            "`also` holds parse_transcript; known: heard, jobs, keep, opening, preamble, ",
        ),
        (Hello("x", also=("dance",)), "`also` holds dance; known: heard, jobs, keep, opening, preamble, "),
    ],
)
def test_what_no_door_can_ask_cannot_be_claimed(hello: Hello, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Saying(hello).greet()


def test_a_method_that_was_not_claimed_is_never_asked() -> None:
    system = Saying(None)
    system.can = frozenset({Capability.PAGE_WRITE})
    assert system.read_page("default", "x") is None
    with pytest.raises(Unsupported, match="search: the memory does not claim search"):
        system.search("default", "x", 5)
    assert system.preamble("codex", "default") == ""


def test_a_null_where_a_list_belongs_is_an_error() -> None:
    system = Saying(None)
    system.can = frozenset({Capability.SEARCH})
    with pytest.raises(SystemFailure, match="search: answered something else than it should"):
        system.search("default", "x", 5)


@pytest.mark.parametrize(
    "name", "Ask Budget Conversation FactIn FactRow Injection Message PageIn RunContext SearchHit".split()
)
def test_help_of_a_value_that_a_memory_meets_says_what_each_of_its_fields_is(name: str) -> None:
    value = getattr(model, name)
    assert [f.name for f in fields(value) if f"`{f.name}`" not in value.__doc__] == []
