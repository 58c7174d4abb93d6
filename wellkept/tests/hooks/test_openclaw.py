"""The turn context of OpenClaw: what the newest message names, then what the last turns call for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from wellkept.hooks.openclaw import assemble
from wellkept.memory import Memory
from wellkept.model import Message
from wellkept.storage import open_store

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
