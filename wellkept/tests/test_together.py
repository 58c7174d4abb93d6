"""A project's memory and one's own, read as one and written apart."""

from __future__ import annotations

import inspect
from datetime import UTC, datetime, timedelta

import pytest

from wellkept.errors import NotFound
from wellkept.memory import Memory
from wellkept.model import AGENT, Budget, Message
from wellkept.storage import open_store
from wellkept.together import Together, seen
from wellkept.verbs import VERBS, Caller, call

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ADA = "---\ntitle: Ada Lovelace\ntype: person\nsummary: Wrote the first program.\n---\nShe drinks tea.\n"
LANTERN = (
    "---\ntitle: Lantern\ntype: project\nsummary: A lamp that knows when to go out.\n---\nAda leads it. Tabs, no tea.\n"
)


@pytest.fixture
def memory() -> Memory:
    memory = Memory(open_store("sqlite", ":memory:"))
    memory.put_page("default", "people/ada", ADA, now=NOW)
    memory.put_page("lantern", "projects/lantern", LANTERN, now=NOW)
    memory.put_page("harbour", "projects/harbour", LANTERN.replace("Lantern", "Harbour"), now=NOW)
    memory.remember("default", "I drink tea without sugar", now=NOW)
    memory.remember("lantern", "Indent with tabs here, said over tea", now=NOW)
    memory.remember("harbour", "Indent with spaces here, said over tea", now=NOW)
    return memory


def said(text: str) -> tuple[Message, ...]:
    return (Message("user", text),)


@pytest.mark.field("ISO-11")
def test_a_project_finds_its_own_and_what_is_the_persons_and_nothing_of_another(memory: Memory) -> None:
    lantern = seen(memory, ["default"])
    for found in (lantern.recall("lantern", "tea"), lantern.search("lantern", "tea")):
        assert {one.item.source for one in found} == {"default", "lantern"}
        assert [one.rank for one in found] == list(range(1, len(found) + 1))
        scores = [one.score for one in found]
        assert scores == sorted(scores, reverse=True)
    facts = {fact.text for fact in lantern.recall_facts("lantern")}
    assert facts == {"I drink tea without sugar", "Indent with tabs here, said over tea"}


def test_a_search_goes_on_where_its_last_page_ended(memory: Memory) -> None:
    lantern = seen(memory, ["default"])
    whole = lantern.search("lantern", "tea", 10)
    pages = [lantern.search("lantern", "tea", 1, offset=offset) for offset in range(len(whole))]
    assert [one.id for page in pages for one in page] == [one.id for one in whole]
    assert [page.has_more for page in pages] == [True] * (len(whole) - 1) + [False]


def test_a_turn_brings_pages_of_both_within_one_budget(memory: Memory) -> None:
    lantern = seen(memory, ["default"])
    window = said("Does Ada know that Lantern is late?")
    assert [one.source for one in lantern.context("lantern", window, now=NOW).pointers] == ["lantern", "default"]
    one = lantern.context("lantern", window, budget=Budget(pages=1, volunteers=0), now=NOW)
    assert [pointer.slug for pointer in one.pointers] == ["projects/lantern"]
    assert "Harbour" not in lantern.context("lantern", said("Is Harbour late?"), now=NOW).text
    whole = lantern.context("lantern", window, now=NOW).text
    tight = lantern.context("lantern", window, budget=Budget(bytes=len(whole.encode()) - 1), now=NOW)
    assert len(tight.text.encode()) < len(whole.encode())
    assert "budget_trimmed" in tight.degraded


def test_a_page_of_the_project_hides_one_of_that_name_elsewhere(memory: Memory) -> None:
    memory.put_page("lantern", "people/ada", ADA.replace("first", "second"), now=NOW)
    lantern = seen(memory, ["default"])
    assert lantern.get_page("lantern", "people/ada").source == "lantern"
    assert [one.source for one in lantern.context("lantern", said("Ask Ada"), now=NOW).pointers] == ["lantern"]
    assert [one.source for one in lantern.pointers("lantern", "Ask Ada")[0]] == ["lantern"]


def test_a_session_starts_with_both_and_with_no_more_than_its_tokens(memory: Memory) -> None:
    lantern = seen(memory, ["default"])
    for tokens in (150, 1000):
        pack = lantern.opening_pack("lantern", since=NOW - timedelta(days=1), tokens=tokens, mark="<!-- m -->")
        assert pack.estimated_tokens <= -(-len(pack.markdown) // 4) <= tokens
        assert "Harbour" not in pack.markdown
    assert {"Lantern", "Ada Lovelace"} <= {word for word in ("Lantern", "Ada Lovelace") if word in pack.markdown}
    goal = lantern.context_pack("lantern", "tea with Ada at Lantern", entities=["projects/lantern", "nobody"])
    assert {item.item.source for section in goal.sections for item in section.items} == {"default", "lantern"}
    assert [(one.id, one.reason) for one in goal.omitted if one.reason == "unknown"] == [("nobody", "unknown")]


def test_what_is_written_stays_in_the_source_that_is_named(memory: Memory) -> None:
    lantern = seen(memory, ["default"])
    lantern.remember("lantern", "Ship on Friday", now=NOW)
    lantern.put_page("lantern", "people/noor", "Noor", now=NOW)
    assert "Ship on Friday" not in {fact.text for fact in memory.recall_facts("default")}
    with pytest.raises(NotFound):
        memory.get_page("default", "people/noor")


def test_what_names_an_item_finds_it_where_it_is(memory: Memory) -> None:
    lantern = seen(memory, ["default"])
    assert lantern.history("lantern", "fact:1").item.source == "default"
    assert lantern.entity("lantern", "ada").page.source == "default"
    assert lantern.cite("lantern", ["fact:1", "fact:2", "fact:99"]).rejected == ("fact:99",)
    assert lantern.correct("lantern", "fact:1", "mark_stale", preview=False, now=NOW).source == "default"
    new = lantern.remember("lantern", "Indent with two spaces here", replaces="fact:2", now=NOW)
    assert new.source == "lantern"
    assert lantern.forget("lantern", ["people/ada", "projects/lantern"], now=NOW).forgotten == (
        "people/ada",
        "projects/lantern",
    )


def test_of_two_items_in_two_sources_none_is_forgotten_when_one_cannot_be(memory: Memory) -> None:
    lantern = seen(memory, ["default"])
    for ids in (["people/ada", "projects/harbour"], ["projects/lantern", "fact:77"]):
        with pytest.raises(NotFound):
            lantern.forget("lantern", ids, now=NOW)
    assert memory.get_page("default", "people/ada").status == "active"
    assert memory.get_page("lantern", "projects/lantern").status == "active"


def test_an_agent_stays_an_agent_whichever_memory_it_asks(memory: Memory) -> None:
    caller = Caller("lantern", AGENT, now=NOW)
    done = call(seen(memory, ["default"]), "remember", {"text": "Ada is my boss"}, caller)
    assert call(memory, "history", {"id": f"fact:{done['facts'][0]}"}, caller)["item"]["trust"] == "agent_written"
    assert call(seen(memory, ["default"]), "forget", {"ids": ["people/ada"]}, caller)["guarded"] == ["people/ada"]


@pytest.mark.parametrize("verb", VERBS)
def test_no_verb_loses_what_the_door_decides(verb: str) -> None:
    decided = ("writer", "now", "told", "window")
    plain, both = (inspect.signature(getattr(kind, verb)).parameters for kind in (Memory, Together))
    assert [name for name in decided if name in both] == [name for name in decided if name in plain]


def test_without_others_it_is_the_memory_itself(memory: Memory) -> None:
    assert seen(memory, ()) is memory


def test_of_what_was_said_in_several_sources_no_more_comes_than_from_one(memory: Memory) -> None:
    sources = ("lantern", "default", "harbour")
    for number, source in enumerate(sources):
        turns = [Message("user", f"Staging's database listens on 543{number}.", NOW)]
        memory.bank(source, f"of-{source}", turns, now=NOW)
    later = said("how do I connect to the staging database?")
    each = [len(memory.context(source, later, now=NOW).said) for source in sources]
    assert sum(each) > 2, "the test needs more than may come"
    together = seen(memory, sources[1:])
    found = together.context("lantern", later, now=NOW)
    assert [one.slug for one in found.said] == ["conversations/of-lantern", "conversations/of-default"]
    assert found.text.count("said on") == 2
    assert together.said("lantern", later[0].text)[0] == found.said
