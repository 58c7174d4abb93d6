"""What may only be read on demand is not brought unasked, and takes the place of nothing that may be."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from wellkept.hooks import claude_code, codex, openclaw
from wellkept.memory import Memory
from wellkept.model import AGENT, OUTSIDE, OWNER, Budget, Message, Writer
from wellkept.recall.pack import CAPS
from wellkept.settings import Settings, load_settings, open_memory
from wellkept.storage import open_store
from wellkept.trust import HOLDS_SECRET, Activation
from wellkept.trust.admission import Modes

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NAME = "Kestrelwort"
ALLOW, NO_EXTERNAL, NO_AGENT = Activation(), Activation(external=False), Activation(agent=False)


def opened(activation: Activation = ALLOW) -> Memory:
    said = {True: "allow", False: "suppress"}
    modes = Modes(external_activation=said[activation.external], agent_activation=said[activation.agent])  # type: ignore[arg-type]
    return Memory(open_store("sqlite", ":memory:"), modes=modes)


def put(memory: Memory, slug: str, writer: Writer = OWNER, *, name: str = NAME, head: str = "", text: str = "") -> None:
    page = f"---\ntitle: {name}\n{head}---\n{text or f'All about {name}, by {writer.channel}.'}\n"
    memory.put_page("default", slug, page, writer=writer, now=NOW)


def flag(memory: Memory, table: str, flags: str) -> None:
    with memory.store.transaction():
        memory.store._change(f"UPDATE {table} SET flags = ?", (flags,))  # type: ignore[attr-defined]


def context(memory: Memory, said: str) -> str:
    return memory.context("default", (Message("user", said),), now=NOW).text


def claude(memory: Memory, said: str) -> str:
    event = json.dumps({"prompt": said, "transcript_path": "/tmp/none/x.jsonl"}).encode()
    how: dict[str, Any] = {"roots": (Path("/tmp/none"),), "budget": Budget(), "now": NOW}
    return claude_code.answer(memory, "default", event, **how).stdout.decode()


def codex_hook(memory: Memory, said: str) -> str:
    event = json.dumps({"prompt": said}).encode()
    return codex.answer(memory, "default", event, roots=(), budget=Budget(), now=NOW).stdout.decode()


def openclaw_hook(memory: Memory, said: str) -> str:
    event = json.dumps({"prompt": said, "messages": [{"role": "user", "text": said}]}).encode()
    return openclaw.answer(memory, "default", event, roots=(), budget=Budget(), now=NOW).stdout.decode()


def pack(memory: Memory, said: str) -> str:
    found = memory.context_pack("default", said, entities=[NAME])
    return found.markdown + repr(found.sections) + repr([one.id for one in found.omitted if one.reason != "unknown"])


def begin(memory: Memory, said: str) -> str:
    event = b'{"session_id": "s", "source": "startup"}'
    begun = [one(memory, "default", event, now=NOW) for one in (claude_code.begin, codex.begin, openclaw.begin)]
    return "".join(one.stdout.decode() for one in begun) + codex.preamble(memory, "default")


TURNS = {"context": context, "claude": claude, "codex": codex_hook, "openclaw": openclaw_hook, "context_pack": pack}
SURFACES = TURNS | {"session brief": begin}
Surface = Callable[[Memory, str], str]


@pytest.fixture(params=SURFACES, ids=str)
def surface(request: pytest.FixtureRequest) -> Surface:
    found: Surface = SURFACES[request.param]
    return found


@pytest.mark.req("T-302", "T-303", "T-406")
@pytest.mark.parametrize(("activation", "writer"), [(NO_EXTERNAL, OUTSIDE), (NO_AGENT, AGENT)])
def test_a_tier_that_is_switched_off_comes_on_demand_only(
    surface: Surface, activation: Activation, writer: Writer
) -> None:
    memory = opened(activation)
    put(memory, "p/other", writer)
    memory.remember("default", f"{NAME} prefers vendor X.", entity="p/other", writer=writer, now=NOW)
    for said in (f"What about {NAME}?", f"Which vendor does {NAME} prefer?"):
        assert "p/other" not in surface(memory, said)
        assert "vendor X" not in surface(memory, said)
    assert memory.get_page("default", "p/other").title == NAME
    assert {one.id for one in memory.recall("default", f"{NAME} vendor")} == {"p/other", "fact:1"}
    assert memory.entity("default", NAME).page.slug == "p/other"
    memory.close()


@pytest.mark.req("T-103", "T-405")
@pytest.mark.parametrize("name", SURFACES)
def test_what_an_agent_wrote_says_so_on_each_line(name: str) -> None:
    memory = opened()
    put(memory, "p/agent", AGENT)
    memory.remember("default", f"{NAME} prefers vendor X.", entity="p/agent", writer=AGENT, now=NOW)
    text = SURFACES[name](memory, f"What about {NAME}?").replace("\\n", "\n")
    lines = [line for line in text.split("\n") if NAME in line and line.startswith("- ")]
    assert lines
    assert all("unconfirmed, agent-written" in line for line in lines)
    memory.close()


@pytest.mark.req("T-406")
@pytest.mark.parametrize("table", ["pages", "facts"])
def test_what_holds_a_secret_is_not_brought(surface: Surface, table: str) -> None:
    memory = opened()
    put(memory, "p/keys", text="The gate code is hunter2.")
    memory.remember("default", f"{NAME} opens with hunter2.", entity="p/keys", now=NOW)
    assert "hunter2" in surface(memory, f"What about {NAME}?")
    flag(memory, table, f"D2 {HOLDS_SECRET}")
    shown = surface(memory, f"What about {NAME}?")
    assert ("gate code" if table == "pages" else "opens with") not in shown
    assert {one.id for one in memory.recall("default", f"{NAME} hunter2")} == {"p/keys", "fact:1"}
    memory.close()


@pytest.mark.req("T-305", "T-406", "TC-38")
def test_a_secret_that_was_masked_keeps_nothing_back_and_one_that_its_owner_kept_does() -> None:
    key = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7cF0iL3oR6"
    for writer in (Writer("owner_git"), Writer("hook"), AGENT, OWNER):
        memory = opened()
        put(memory, "p/keys", writer, text=f"The deploy token is {key}.")
        for surface in TURNS.values():
            shown = surface(memory, f"What about {NAME}?")
            assert key not in shown
            assert ("p/keys" in shown) == (writer is not OWNER)
        memory.close()


@pytest.mark.req("T-303", "T-406")
def test_what_the_owner_switches_off_is_off_at_once() -> None:
    memory = opened()
    put(memory, "p/agent", AGENT)
    assert "p/agent" in context(memory, f"What about {NAME}?")
    memory.set_mode("agent_activation", "suppress", writer=OWNER)
    assert "p/agent" not in context(memory, f"What about {NAME}?")
    memory.close()


@pytest.mark.req("T-406")
@pytest.mark.parametrize("standing", ["archived", "hidden", "Archived", '"hidden"'])
def test_what_is_put_away_is_not_brought(surface: Surface, standing: str) -> None:
    memory = opened()
    put(memory, "p/old", head=f"status: {standing}\n")
    assert "p/old" not in surface(memory, f"What about {NAME}?")
    assert memory.entity("default", NAME).page.slug == "p/old"
    put(memory, "p/old", head="status: active\n")
    assert "p/old" in surface(memory, f"What about {NAME}?")
    memory.close()


@pytest.mark.req("T-406")
@pytest.mark.parametrize("surface", TURNS.values(), ids=TURNS)
def test_what_is_switched_off_makes_no_name_ambiguous(surface: Surface) -> None:
    memory = opened(NO_EXTERNAL)
    put(memory, "p/owner")
    for number in range(3):
        put(memory, f"mail/{number}", OUTSIDE)
    assert "p/owner" in surface(memory, f"What about {NAME}?")
    memory.close()


@pytest.mark.req("T-212")
@pytest.mark.parametrize("surface", TURNS.values(), ids=TURNS)
def test_an_alias_from_outside_leads_nobody_past_a_page(surface: Surface) -> None:
    memory = opened()
    put(memory, "p/owner")
    put(memory, "a/mail", OUTSIDE, name="Offer", head=f"aliases: [{NAME}]\n")
    put(memory, "a/mail/2", OUTSIDE, name="Other", head="aliases: [Zinnober]\n")
    shown = surface(memory, f"What about {NAME}?")
    assert "p/owner" in shown
    assert memory.entity("default", NAME).page.slug == "p/owner"
    assert memory.entity("default", "Zinnober").page.slug == "a/mail/2"
    if surface is not pack:
        assert "a/mail" not in shown
        assert "a/mail/2" in surface(memory, "What about Zinnober?")
    memory.close()


@pytest.mark.req("T-406")
def test_what_may_not_be_brought_takes_no_place_in_a_pack() -> None:
    memory = opened(NO_EXTERNAL)
    for number in range(4 * CAPS["recall"]):
        put(memory, f"mail/{number}", OUTSIDE, text=f"{NAME} {NAME} {NAME} {number}")
    put(memory, "p/owner", name="Other", text=f"Somewhere in a longer text {NAME} is spoken of once.")
    found = memory.context_pack("default", NAME)
    assert [item.id for part in found.sections for item in part.items] == ["p/owner"]
    assert found.omitted == ()
    flag(memory, "pages", HOLDS_SECRET)
    memory.store.index.forget_views()
    with memory.store.transaction():
        memory.store._change("UPDATE pages SET flags = '' WHERE slug = 'p/owner'", ())  # type: ignore[attr-defined]
    everywhere = Memory(memory.store)
    assert [item.id for part in everywhere.context_pack("default", NAME).sections for item in part.items] == ["p/owner"]
    memory.close()


@pytest.mark.req("T-406", "C-333")
def test_pages_from_outside_crowd_none_out_that_a_turn_needs() -> None:
    memory = opened()
    asked = "When is the boiler in the cellar serviced again?"
    put(memory, "home/boiler", name="Heating", text="The boiler in the cellar is serviced every October.")
    assert "home/boiler" in context(memory, asked)
    for number in range(70):
        put(memory, f"mail/{number:02}", OUTSIDE, name=f"Offer {number}", text=asked)
    assert "home/boiler" in context(memory, asked)
    memory.close()


@pytest.mark.req("T-406")
def test_a_session_begins_with_what_may_be_brought_however_much_may_not() -> None:
    memory = opened(NO_AGENT)
    for number in range(600):
        put(memory, f"a/{number:03}", AGENT if number % 2 else OUTSIDE)
    put(memory, "z/owner")
    begun = memory.opening_pack("default", since=NOW - timedelta(days=1), tokens=1000, mark="x")
    assert [item.id for part in begun.sections for item in part.items] == ["z/owner"]
    assert codex.preamble(memory, "default") == f"## Memory index\n- {NAME} (z/owner)"
    memory.close()


@pytest.mark.req("T-303")
def test_the_settings_say_which_tiers_come_unasked(tmp_path: Path) -> None:
    def held(line: str) -> Settings:
        (tmp_path / "settings.toml").write_text(line)
        return load_settings({"WELLKEPT_DATA_DIR": str(tmp_path), "HOME": str(tmp_path)})

    for line, activation in (
        ("", ALLOW),
        ('external_activation = "suppress"', NO_EXTERNAL),
        ('agent_activation = "suppress"', NO_AGENT),
        ('agent_activation = "allow"', ALLOW),
    ):
        memory = open_memory(held(line))
        assert memory.activation == activation
        memory.close()


@pytest.mark.req("T-402", "TC-41")
def test_a_hit_claims_no_more_than_the_page_that_it_is_of() -> None:
    memory = opened()
    put(memory, "p/owner", text="Billing is Ada's.")
    put(memory, "p/agent", AGENT, text="Billing is Ada's.")
    memory.remember("default", "Billing is Ada's.", entity="p/owner", writer=AGENT, now=NOW)
    tiers = {one.id: one.item.trust for one in memory.recall("default", "billing")}
    assert tiers == {
        "p/owner": memory.get_page("default", "p/owner").trust,
        "p/agent": memory.get_page("default", "p/agent").trust,
        "fact:1": memory.recall_facts("default")[0].trust,
    }
    assert len(set(tiers.values())) == 2
    memory.close()
