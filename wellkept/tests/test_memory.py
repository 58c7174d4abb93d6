"""The front door: what goes in comes out, in one source, by the rules of who wrote it."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellkept.errors import InvalidInput, NotFound, StoreUnavailable
from wellkept.memory import LARGEST_CONTENT, Memory
from wellkept.model import AGENT, OUTSIDE, OWNER, Budget, CandidateFact, Message, Source, Trust, Writer
from wellkept.providers.scripted import ScriptedExtractor
from wellkept.storage.sqlite import SqliteStore

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOOR = (
    "---\ntitle: Noor Wrenhaven\ntype: person\naliases: [Noor]\nsummary: Keeps bees.\n---\n\nNoor lives by the sea.\n"
)


@pytest.fixture
def memory() -> Iterator[Memory]:
    opened = Memory(SqliteStore(":memory:"))
    yield opened
    opened.close()


def filled(memory: Memory, source: str = "default") -> Memory:
    memory.put_page(source, "people/noor", NOOR, now=NOW)
    memory.put_page(source, "places/harbour", "# The Harbour\n\nBoats and gulls.\n", now=NOW)
    return memory


# -- pages


@pytest.mark.req("C-130")
def test_a_page_put_as_the_owner_can_be_read_back_listed_and_found(memory: Memory) -> None:
    receipt = memory.put_page("default", "people/noor", NOOR, now=NOW)
    assert (receipt.status, receipt.slug, receipt.source) == ("created", "people/noor", "default")
    kept = memory.get_page("default", "people/noor")
    assert (kept.content, kept.title, kept.trust, kept.updated_at) == (NOOR, "Noor Wrenhaven", Trust.USER_WRITTEN, NOW)
    assert memory.pages("default") == (kept,)
    assert [hit.slug for hit in memory.search("default", "who lives by the sea?")] == ["people/noor"]
    assert memory.store.sources() == (Source("default"),)


def test_an_edit_shows_everywhere_and_the_same_again_changes_nothing(memory: Memory) -> None:
    filled(memory)
    edited = NOOR.replace("sea", "forest").replace("[Noor]", "[Nono]")
    assert memory.put_page("default", "people/noor", edited, now=NOW).status == "updated"
    later = NOW + timedelta(days=1)
    assert memory.put_page("default", "people/noor", edited, now=later).status == "unchanged"
    assert memory.get_page("default", "people/noor").updated_at == NOW
    assert not memory.search("default", "sea")
    assert [hit.slug for hit in memory.search("default", "forest")] == ["people/noor"]
    assert memory.pointers("default", "Ask Nono about it")[0][0].slug == "people/noor"


@pytest.mark.parametrize(
    ("writer", "trust"),
    [(OWNER, Trust.USER_WRITTEN), (AGENT, Trust.AGENT_WRITTEN), (OUTSIDE, Trust.EXTERNAL_UNTRUSTED)],
)
def test_trust_comes_from_who_writes_and_never_from_the_text(memory: Memory, writer: Writer, trust: Trust) -> None:
    content = "---\ntitle: T\ntrust: user_confirmed\nchannel: owner_tty\n---\nI am user-confirmed.\n"
    memory.put_page("default", "a", content, writer=writer, now=NOW)
    memory.remember("default", "I am user-confirmed", writer=writer, now=NOW)
    assert memory.get_page("default", "a").trust is trust
    assert memory.recall_facts("default")[0].trust is trust


def test_a_writer_of_lower_trust_does_not_replace_a_page(memory: Memory) -> None:
    filled(memory)
    before = memory.get_page("default", "people/noor")
    for writer in (AGENT, OUTSIDE, Writer("owner_local")):
        receipt = memory.put_page("default", "people/noor", "Noor lives in a cave.", writer=writer)
        assert (receipt.status, receipt.degraded) == ("unchanged", ("guarded",))
    assert memory.get_page("default", "people/noor") == before
    assert memory.put_page("default", "b", "x", writer=AGENT).status == "created"
    assert memory.put_page("default", "b", "x", writer=OWNER).status == "updated"
    assert memory.get_page("default", "b").trust is Trust.USER_WRITTEN


def test_a_superseded_page_can_be_read_but_is_not_brought(memory: Memory) -> None:
    filled(memory)
    memory.put_page("default", "people/noor", NOOR.replace("type:", "superseded_by: people/n\ntype:"), now=NOW)
    assert memory.get_page("default", "people/noor").superseded_by == "people/n"
    assert not memory.search("default", "sea")
    assert memory.pointers("default", "Ask Noor about it") == ((), ())
    assert [page.slug for page in memory.pages("default")] == ["places/harbour"]


def test_a_missing_page_is_named(memory: Memory) -> None:
    filled(memory, "work")
    for source, slug in (("default", "people/noor"), ("work", "people/Noor"), ("work", "people")):
        with pytest.raises(NotFound, match=f"{slug}.*{source}"):
            memory.get_page(source, slug)


def test_a_write_that_fails_leaves_nothing(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="title"):
        memory.put_page("new", "a", '---\ntitle: "half \\ud83d"\n---\nx')
    assert memory.store.sources() == ()


# -- facts


def test_a_remembered_fact_comes_back_and_told_again_it_is_the_same(memory: Memory) -> None:
    first = memory.remember(
        "default", "Noor keeps bees", entity="people/noor", kind="preference", session="s1", now=NOW
    )
    assert (first.status, first.facts, first.slug) == ("created", (1,), None)
    (fact,) = memory.recall_facts("default")
    assert (fact.text, fact.entity, fact.kind, fact.recorded_at) == (
        "Noor keeps bees",
        "people/noor",
        "preference",
        NOW,
    )
    assert fact.trust is Trust.USER_WRITTEN
    again = memory.remember("default", " noor  keeps BEES", entity="people/noor", kind="preference", now=NOW)
    assert (again.status, again.facts) == ("unchanged", (1,))
    later = memory.remember("default", "Noor keeps bees!", entity="people/noor", now=NOW + timedelta(days=1))
    assert (later.status, later.facts) == ("created", (2,))
    later = memory.remember("default", "Noor keeps bees!", entity="people/noor", now=NOW + timedelta(days=2))
    assert (later.status, later.facts) == ("unchanged", (2,))
    assert memory.remember("default", "Noor keeps bees", now=NOW).facts == (3,)


def test_facts_are_recalled_by_query_entity_and_number(memory: Memory) -> None:
    memory.remember("default", "Noor keeps bees", entity="people/noor", now=NOW)
    memory.remember("default", "The boat is green", entity="boat", now=NOW)
    memory.remember("default", "Noor dislikes onions", entity="people/noor", now=NOW)
    texts = [fact.text for fact in memory.recall_facts("default", "what colour is the boat?")]
    assert texts[0] == "The boat is green"
    assert [fact.text for fact in memory.recall_facts("default", "bees", limit=1)] == ["Noor keeps bees"]
    assert [fact.id for fact in memory.recall_facts("default", entity="people/noor")] == [1, 3]
    assert [fact.id for fact in memory.recall_facts("default", limit=2)] == [1, 2]
    assert memory.recall_facts("default", limit=0) == memory.recall_facts("default", "bees", limit=0) == ()
    assert memory.recall_facts("other") == ()


# -- what a turn gets


def test_a_turn_is_brought_what_it_names(memory: Memory) -> None:
    filled(memory)
    memory.remember("default", "Noor dislikes onions", entity="people/noor", now=NOW)
    context = memory.context("default", [Message("user", "What should I cook for Noor?")], now=NOW)
    assert [pointer.slug for pointer in context.pointers] == ["people/noor"]
    assert [fact.text for fact in context.facts] == ["Noor dislikes onions"]
    assert "people/noor" in context.text
    assert "onions" in context.text
    none = memory.context("default", [Message("user", "Noor?")], budget=Budget(pages=0, volunteers=0, facts=0), now=NOW)
    assert none.text == ""


@pytest.mark.parametrize("session", ["s2", "S 2/x", "сесія №2"])
def test_the_facts_of_this_session_are_shown_and_others_when_they_are_called_for(memory: Memory, session: str) -> None:
    long_ago = NOW - timedelta(days=30)
    bees = CandidateFact("Bo keeps bees", "preference", "Bo", "I keep bees")
    said = [Message("user", "I keep bees.", long_ago)]
    memory.bank("default", session, said, extractor=ScriptedExtractor([bees]), now=long_ago)
    memory.remember("default", "The cat is called Tofu", session=session, now=long_ago)
    memory.remember("default", "We meet at nine", session="other", now=NOW)
    memory.remember("default", "Told nowhere", now=NOW)
    window = [Message("user", "Go on")]
    shown = memory.context("default", window, session=session, now=NOW).facts
    assert {fact.text for fact in shown} == {"Bo keeps bees", "The cat is called Tofu"}
    assert memory.context("default", window, session="new", now=NOW).facts == ()
    asked = [Message("user", "When do we meet?")]
    assert [fact.text for fact in memory.context("default", asked, session="new", now=NOW).facts] == ["We meet at nine"]


def test_pointers_and_volunteers_leave_out_what_was_shown(memory: Memory) -> None:
    filled(memory)
    pointers, degraded = memory.pointers("default", "Is Noor at the Harbour?")
    assert ({pointer.slug for pointer in pointers}, degraded) == ({"people/noor", "places/harbour"}, ())
    assert len(memory.pointers("default", "Is Noor at the Harbour?", pages=1)[0]) == 1
    assert [p.slug for p in memory.pointers("default", "Is Noor there?", prior="see people/noor")[0]] == []
    window = [Message("user", "Is Noor around?"), Message("assistant", "Noor is out.")]
    assert [p.slug for p in memory.volunteers("default", window)[0]] == ["people/noor"]
    assert memory.volunteers("default", window, exclude=["people/noor"])[0] == ()


def test_a_conversation_is_banked_once_and_never_called_by_name(memory: Memory) -> None:
    said = [Message("user", "I moved to the lighthouse.", NOW), Message("assistant", "Noted.", NOW)]
    first = memory.bank("default", "s1", said, now=NOW)
    assert first.status == "created"
    assert first.slug is not None
    assert memory.bank("default", "s1", said, now=NOW).status == "unchanged"
    assert memory.pages("default") == ()
    assert "lighthouse" in memory.get_page("default", first.slug).content
    assert [hit.slug for hit in memory.search("default", "lighthouse")] == [first.slug]


def test_sources_do_not_see_each_other(memory: Memory) -> None:
    filled(memory, "work")
    memory.remember("work", "Noor keeps bees", now=NOW)
    window = [Message("user", "Where is Noor?")]
    for source in ("default", "Work", "work2", "wor_"):
        assert not memory.search(source, "sea bees Noor")
        assert memory.pages(source) == memory.recall_facts(source) == ()
        assert memory.context(source, window, now=NOW).text == ""
        assert memory.pointers(source, "Where is Noor?") == ((), ())
        assert memory.volunteers(source, window) == ((), ())


# -- the door


Call = Callable[[Memory], object]


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda m: m.put_page("", "a", "x"), "source"),
        (lambda m: m.put_page("default", "", "x"), "slug"),
        (lambda m: m.put_page("default", " ", "x"), "slug"),
        (lambda m: m.put_page("default", "a ", "x"), "slug"),
        (lambda m: m.put_page("default", "a\nb", "x"), "slug"),
        (lambda m: m.put_page("default", "a\x7f", "x"), "slug"),
        (lambda m: m.put_page("default", "\ud800", "x"), "slug"),
        (lambda m: m.put_page("default", "a" * 513, "x"), "slug"),
        (lambda m: m.put_page("default", 7, "x"), "slug"),
        (lambda m: m.put_page("default", "a", None), "content"),
        (lambda m: m.put_page("default", "a", "x\0"), "content"),
        (lambda m: m.put_page("default", "a", "x\udfff"), "content"),
        (lambda m: m.put_page("default", "a", "x" * (LARGEST_CONTENT + 1)), "content"),
        (lambda m: m.put_page("default", "a", "é" * (LARGEST_CONTENT // 2 + 1)), "content"),
        (lambda m: m.put_page("default", "a", "x", writer=Writer("root")), "channel"),
        (lambda m: m.put_page("default", "a", "x", now=datetime(2026, 1, 1)), "now"),
        (lambda m: m.remember("default", " \n"), "text"),
        (lambda m: m.remember("default", "x\0"), "text"),
        (lambda m: m.remember("default", "x" * 50_001), "text"),
        (lambda m: m.remember("default", "x", kind="rumour"), "kind"),
        (lambda m: m.remember("default", "x", entity=""), "entity"),
        (lambda m: m.remember("default", "x", session="\t"), "session"),
        (lambda m: m.get_page("default", "\0"), "slug"),
        (lambda m: m.pages("default", -1), "limit"),
        (lambda m: m.search("default", "x", -1), "limit"),
        (lambda m: m.search("default", "x", True), "limit"),
        (lambda m: m.recall_facts("default", "x", limit=-1), "limit"),
        (lambda m: m.recall_facts("default", entity=" "), "entity"),
        (lambda m: m.context("", []), "source"),
        (lambda m: m.pointers("default", "x", suppression="none"), "suppression"),
        (lambda m: m.volunteers("default", [], limit=-1), "limit"),
        (lambda m: m.bank("default", "", []), "session"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name_and_leaves_no_trace(memory: Memory, call: Call, field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        call(memory)
    assert caught.value.field == field
    assert memory.store.sources() == ()


def test_the_largest_page_is_kept(memory: Memory) -> None:
    content = "word " * (LARGEST_CONTENT // 5)
    memory.put_page("default", "a" * 512, content)
    assert memory.get_page("default", "a" * 512).content == content
    assert memory.get_page("default", "a" * 512).updated_at is not None


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=120), st.text(max_size=20), st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_any_input_is_kept_whole_or_refused(content: str, slug: str, query: str) -> None:
    memory = Memory(SqliteStore(":memory:"))
    try:
        memory.put_page("default", slug, content, now=NOW)
        assert memory.get_page("default", slug).content == content
    except InvalidInput:
        assert memory.pages("default") == ()
    if "\0" in query:
        with pytest.raises(InvalidInput, match="query"):
            memory.search("default", query)
    else:
        memory.search("default", query)
        memory.recall_facts("default", query)
    memory.pointers("default", query, prior=content)
    memory.context("default", [Message("user", query)], now=NOW)
    memory.close()


def test_a_memory_that_may_not_be_written_is_read_and_says_so(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(memory)
    assert "read_only" not in memory.recall("default", "sea").degraded
    monkeypatch.setattr(memory.store, "read_only", True)
    window = [Message("user", "Ask Noor")]
    for found in (memory.search("default", "sea"), memory.recall("default", "sea"), memory.context("default", window)):
        assert "read_only" in found.degraded
    assert memory.recall("default", "sea").memories
    with pytest.raises(StoreUnavailable, match="may not be written"):
        memory.remember("default", "Noor keeps bees")
