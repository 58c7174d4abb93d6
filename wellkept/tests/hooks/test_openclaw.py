"""The turn context of OpenClaw: what the newest message names, then what the last turns call for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from wellkept.hooks.openclaw import answer, assemble
from wellkept.hooks.prompt import HookAnswer
from wellkept.hooks.session import PACK_MARK
from wellkept.memory import Memory
from wellkept.model import Budget, Message
from wellkept.storage import open_store

NOW = datetime(2026, 3, 1, tzinfo=UTC)
PEOPLE = ("Ada Lovelace", "Grace Hopper", "Alan Turing", "Emmy Noether")


@pytest.fixture
def memory() -> Iterator[Memory]:
    opened = Memory(open_store("sqlite", ":memory:"))
    for name in PEOPLE:
        slug = "people/" + name.lower().replace(" ", "-")
        opened.put_page("default", slug, f"---\ntitle: {name}\ntype: person\n---\n{name} is known.\n")
    opened.put_page("other", "people/kurt-goedel", "---\ntitle: Kurt Goedel\ntype: person\n---\nElsewhere.\n")
    yield opened
    opened.close()


def user(text: str) -> Message:
    return Message("user", text)


def assistant(text: str) -> Message:
    return Message("assistant", text)


@pytest.mark.req("C-401", "C-341")
def test_the_newest_message_is_pointed_at_and_the_turns_before_volunteer(memory: Memory) -> None:
    said = (user("Ask Grace Hopper."), assistant("Alan Turing may know."), user("What about Ada Lovelace?"))
    found = assemble(memory, "default", said)
    assert [pointer.slug for pointer in found.pointers] == ["people/ada-lovelace"]
    assert {pointer.slug for pointer in found.volunteered} == {"people/grace-hopper", "people/alan-turing"}
    assert found.facts == ()
    assert found.text.index("people/ada-lovelace") < found.text.index("people/grace-hopper")


@pytest.mark.req("C-341")
def test_the_window_and_the_roles_bound_what_volunteers(memory: Memory) -> None:
    said = (user("Ask Grace Hopper."), assistant("Alan Turing may know."), user("What about Ada Lovelace?"))
    assert [p.slug for p in assemble(memory, "default", said, window=2).volunteered] == ["people/alan-turing"]
    assert assemble(memory, "default", said, window=0).volunteered == ()
    only_user = assemble(memory, "default", said, roles=("user",))
    assert [p.slug for p in only_user.volunteered] == ["people/grace-hopper"]


@pytest.mark.req("C-340")
def test_what_was_shown_before_is_not_pointed_at_again(memory: Memory) -> None:
    asked = (user("What about Ada Lovelace?"),)
    assert assemble(memory, "default", asked, prior="See `people/ada-lovelace`.").text == ""
    assert assemble(memory, "default", asked, prior="Ada Lovelace was shown.").pointers == ()


@pytest.mark.req("C-401")
def test_the_budget_bounds_the_pointers(memory: Memory) -> None:
    asked = (user("Compare Ada Lovelace, Grace Hopper, Alan Turing and Emmy Noether."),)
    assert len(assemble(memory, "default", asked).pointers) == 3
    assert [p.slug for p in assemble(memory, "default", asked, pages=1).pointers] == ["people/ada-lovelace"]


@pytest.mark.req("C-330")
def test_another_source_stays_out(memory: Memory) -> None:
    asked = (user("What about Kurt Goedel?"),)
    assert assemble(memory, "default", asked).text == ""
    assert [p.slug for p in assemble(memory, "other", asked).pointers] == ["people/kurt-goedel"]


@pytest.mark.req("C-350")
def test_nothing_said_is_nothing_to_say(memory: Memory) -> None:
    for said in ((), (assistant("Good morning."),), (user(""),), (user("Good morning!"),)):
        assert assemble(memory, "default", said).text == ""


def plugin_event(prompt: str, *messages: tuple[str, str]) -> bytes:
    said = [{"role": role, "text": text} for role, text in messages]
    return json.dumps({"session_id": "s", "prompt": prompt, "messages": said}).encode()


def answered(memory: Memory, stdin: bytes, *, hooks_on: bool = True) -> HookAnswer:
    return answer(memory, "default", stdin, roots=(), budget=Budget(), now=NOW, hooks_on=hooks_on)


def context(said: HookAnswer) -> str:
    return str(json.loads(said.stdout)["prependContext"])


def test_the_plugin_gets_what_the_prompt_names_and_not_again_what_it_was_given(memory: Memory) -> None:
    first = context(answered(memory, plugin_event("What about Ada Lovelace?")))
    assert "people/ada-lovelace" in first
    before = ("user", f"{first}\n\nWhat about Ada Lovelace?")
    assert answered(memory, plugin_event("And Ada Lovelace?", before)).stdout == b"{}"
    assert "people/grace-hopper" in context(answered(memory, plugin_event("And Grace Hopper?", before)))


def test_a_page_that_the_session_began_with_is_still_pointed_at(memory: Memory) -> None:
    pack = f"{PACK_MARK}\n## Pages in memory\n- **Ada Lovelace** (`people/ada-lovelace`) (user-written)\n\nHello."
    found = context(answered(memory, plugin_event("What about Ada Lovelace?", ("user", pack))))
    assert "people/ada-lovelace" in found


@pytest.mark.parametrize(
    ("stdin", "reason"),
    [(b"", "no_stdin"), (b"[]", "no_stdin"), (b'{"messages": 1}', "no_stdin"), (b"{}", "empty_window")],
)
def test_what_is_no_event_of_the_plugin_is_silence(memory: Memory, stdin: bytes, reason: str) -> None:
    said = answered(memory, stdin)
    assert (said.stdout, said.reason) == (b"{}", reason)
    assert answered(memory, plugin_event("Ada Lovelace?"), hooks_on=False).outcome == "disabled"
