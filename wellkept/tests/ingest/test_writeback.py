from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellkept.errors import InvalidInput, WellkeptError
from wellkept.ingest import writeback
from wellkept.ingest.conversation import parse_page as parse_conversation
from wellkept.ingest.markdown import parse_page
from wellkept.model import HOOK, CandidateFact, Fact, Message, Provenance, Source, Trust, WriteReceipt
from wellkept.providers import Segment
from wellkept.providers.scripted import ScriptedExtractor
from wellkept.storage import Store, open_store
from wellkept.storage.sqlite import SqliteStore
from wellkept.trust.gate import Gate, Key

START = datetime(2026, 3, 2, 17, 0, 30, tzinfo=UTC)
NOW = datetime(2026, 3, 3, tzinfo=UTC)
PAGE = "conversations/s-1"

SAID = [
    Message("user", "Mira Oland called.", START, "t1"),
    Message("assistant", "What did she say?", START + timedelta(minutes=1), "t2"),
    Message("user", "She moves in May. And I owe her a list.", START + timedelta(minutes=2), "t3"),
]
SCRIPT = [
    CandidateFact("I owe Mira Oland a list", "commitment", "her", "I owe her a list"),
    CandidateFact("Mira Oland moves in May", "event", "She", "She moves in May."),
]


def bank(store: Store, *how: Any, **more: Any) -> WriteReceipt:
    return writeback.bank(store, *how, gate=Gate(store, Key(None)), writer=HOOK, **more)


@pytest.fixture
def store() -> Iterator[Store]:
    """One person."""
    store = open_store("sqlite", ":memory:")
    content = "---\ntitle: Mira Oland\ntype: person\n---\n\nA neighbour.\n"
    store.put_page(*parse_page("default", "people/mira-oland", content, trust=Trust.USER_WRITTEN, now=NOW))
    yield store
    store.close()


def told(store: Store) -> list[tuple[str, str | None]]:
    return [(fact.text, fact.entity) for fact in store.facts("default")]


@pytest.mark.req("C-506", "C-507")
def test_a_conversation_becomes_a_page_and_facts_with_their_provenance(store: Store) -> None:
    receipt = bank(store, "default", "s-1", SAID, extractor=ScriptedExtractor(SCRIPT), now=NOW)
    moves, owes = store.facts("default")
    assert receipt.slug == PAGE
    assert (receipt.status, receipt.facts, receipt.expired) == ("created", (moves.id, owes.id), 0)
    assert moves == Fact(
        id=moves.id,
        source="default",
        text="Mira Oland moves in May",
        entity="people/mira-oland",
        kind="event",
        provenance=Provenance("wellkept:writeback", f"default:{PAGE}", PAGE, "t3", (0, 17)),
        mention="She",
        confidence=1.0,
        trust=Trust.AGENT_WRITTEN,
        valid_from=START.replace(second=0),
        recorded_at=NOW,
    )
    span = owes.provenance.quote_span
    assert span is not None
    assert SAID[2].text[slice(*span)] == "I owe her a list"
    page = store.get_page("default", PAGE)
    assert page is not None
    assert (page.type, page.trust, page.updated_at) == ("conversation", Trust.AGENT_WRITTEN, NOW)
    assert [m.text for m in parse_conversation(page.content)] == [m.text for m in SAID]


@pytest.mark.req("C-506")
def test_the_words_of_a_conversation_can_be_searched_but_it_has_no_name(store: Store) -> None:
    bank(store, "default", "s-1", [Message("user", "the kiln is blue\n## Timeline\n- 2020: x", START)], now=NOW)
    assert [hit.slug for hit in store.find_words("default", ["kiln"], 5)] == [PAGE]
    assert store.find_names("default", "tail", ["s-1"]) == ()
    assert store.pages("default", 9)[0].slug == "people/mira-oland"
    page = store.get_page("default", PAGE)
    assert page is not None
    assert page.timeline == ()


@pytest.mark.req("C-506")
def test_banking_again_changes_nothing_and_a_grown_session_keeps_its_facts(store: Store) -> None:
    script = ScriptedExtractor([*SCRIPT, CandidateFact("Mira Oland has a cat", "fact", "she", "she has a cat")])
    first = bank(store, "default", "s-1", SAID, extractor=script, now=NOW)
    again = bank(store, "default", "s-1", SAID, extractor=script, now=NOW + timedelta(days=1))
    assert (again.status, again.facts, again.expired) == ("unchanged", first.facts, 0)
    assert {fact.recorded_at for fact in store.facts("default")} == {NOW}
    grown = [*SAID, Message("user", "she has a cat", START + timedelta(minutes=3), "t4")]
    later = bank(store, "default", "s-1", grown, extractor=script, now=NOW)
    assert (later.status, later.facts[:2], len(later.facts)) == ("updated", first.facts, 3)


@pytest.mark.req("C-506")
def test_facts_that_are_no_longer_read_in_a_session_expire_and_others_stay(store: Store) -> None:
    bank(store, "default", "s-1", SAID, extractor=ScriptedExtractor(SCRIPT), now=NOW)
    bank(store, "default", "s-2", SAID, extractor=ScriptedExtractor(SCRIPT[:1]), now=NOW)
    receipt = bank(store, "default", "s-1", SAID, extractor=ScriptedExtractor(SCRIPT[1:]), now=NOW)
    assert (receipt.status, receipt.expired) == ("updated", 1)
    assert told(store) == [
        ("Mira Oland moves in May", "people/mira-oland"),
        ("I owe Mira Oland a list", "people/mira-oland"),
    ]
    back = bank(store, "default", "s-1", SAID, extractor=ScriptedExtractor(SCRIPT), now=NOW)
    assert (len(back.facts), back.expired) == (2, 0)


@pytest.mark.req("C-506")
def test_without_an_extractor_facts_stay_as_they_were(store: Store) -> None:
    first = bank(store, "default", "s-1", SAID, extractor=ScriptedExtractor(SCRIPT), now=NOW)
    second = bank(store, "default", "s-1", SAID[:1], now=NOW)
    assert (second.status, sorted(second.facts), second.expired) == ("updated", sorted(first.facts), 0)


class FailingExtractor:
    """An extractor whose model does not answer."""

    def extract(self, segment: Segment, source: str) -> Sequence[CandidateFact]:
        raise WellkeptError("no answer")


@pytest.mark.req("C-506")
def test_a_failing_extractor_loses_neither_the_page_nor_earlier_facts(store: Store) -> None:
    bank(store, "default", "s-1", SAID[:3], extractor=ScriptedExtractor(SCRIPT), now=NOW)
    receipt = bank(store, "default", "s-1", [*SAID, Message("user", "bye")], extractor=FailingExtractor(), now=NOW)
    assert (receipt.status, len(receipt.facts), receipt.degraded) == ("updated", 2, ("extractor_failed",))


class ForgetfulStore(SqliteStore):
    """A store whose disk is full when facts are written."""

    def put_facts(self, *given: object, **more: object) -> tuple[int, ...]:
        raise OSError("no space")


@pytest.mark.req("C-506")
def test_page_and_facts_are_kept_together_or_not_at_all() -> None:
    store = ForgetfulStore(":memory:")
    with pytest.raises(OSError, match="no space"):
        bank(store, "default", "s-1", SAID, extractor=ScriptedExtractor(SCRIPT), now=NOW)
    assert store.get_page("default", PAGE) is None
    store.close()


def test_a_session_that_says_nothing_changes_nothing(store: Store) -> None:
    for messages in ([], [Message("user", " \n")]):
        receipt = bank(store, "default", "s-1", messages, extractor=ScriptedExtractor(SCRIPT), now=NOW)
        assert (receipt.slug, receipt.status, receipt.facts) == (None, "unchanged", ())
    assert store.get_page("default", PAGE) is None
    with pytest.raises(InvalidInput, match="session: it is empty"):
        bank(store, "default", "", SAID, now=NOW)


@pytest.mark.req("C-504")
def test_a_quote_that_nobody_said_gives_no_fact(store: Store) -> None:
    class Inventing:
        """An extractor that quotes what was never said."""

        def extract(self, segment: Segment, source: str) -> Sequence[CandidateFact]:
            return [replace(SCRIPT[1], quote="She never moves")]

    receipt = bank(store, "default", "s-1", SAID, extractor=Inventing(), now=NOW)
    assert (receipt.facts, receipt.degraded) == ((), ("quote_not_found",))


@pytest.mark.req("C-506")
def test_the_same_statement_twice_is_one_fact_and_says_that_likeness_was_not_looked_for(store: Store) -> None:
    twice = [SCRIPT[1], replace(SCRIPT[1], fact="mira  oland MOVES in may")]
    receipt = bank(store, "default", "s-1", SAID, extractor=ScriptedExtractor(twice), now=NOW)
    assert len(receipt.facts) == 1
    assert receipt.degraded == ("degraded_dedup",)


@pytest.mark.req("C-506")
def test_sources_keep_their_sessions_apart(store: Store) -> None:
    store.add_source(Source("work"))
    bank(store, "default", "s-1", SAID, extractor=ScriptedExtractor(SCRIPT), now=NOW)
    bank(store, "work", "s-1", SAID, extractor=ScriptedExtractor(SCRIPT), now=NOW)
    assert {fact.entity for fact in store.facts("work")} == {None}
    assert {fact.provenance.source_session for fact in store.facts("work")} == {f"work:{PAGE}"}
    assert {fact.mention for fact in store.facts("work")} == {"She", "her"}
    assert len(store.facts("default")) == 2


@pytest.mark.req("C-503", "C-507")
def test_a_fact_is_valid_from_the_start_of_its_stretch_unless_the_extractor_knows_better(store: Store) -> None:
    later = START + timedelta(hours=2)
    said = [*SAID, Message("user", "Mira Oland is 40", later), Message("user", "Mira Oland sings", later)]
    script = [
        CandidateFact("Mira Oland is 40", "fact", "Mira Oland", "Mira Oland is 40", valid_from=NOW),
        CandidateFact("Mira Oland sings", "fact", "Mira Oland", "Mira Oland sings"),
    ]
    bank(store, "default", "s-1", said, extractor=ScriptedExtractor(script), now=NOW)
    assert [fact.valid_from for fact in store.facts("default")] == [NOW, later.replace(second=0)]


@pytest.mark.req("C-506")
@given(st.data())
@settings(max_examples=40, deadline=None)
def test_any_conversation_can_be_banked_again_and_again(
    any_messages: st.SearchStrategy[list[Message]], data: st.DataObject
) -> None:
    said = [*data.draw(any_messages), Message("user", "a\0b\ud83d\r\nc", id="x\0"), Message("user", "bye\rbye")]
    quoted = data.draw(st.sampled_from(said))
    script = ScriptedExtractor([CandidateFact(f"heard {quoted.text[:9]}", "fact", quoted.text[:9], quoted.text)])
    store = open_store("sqlite", ":memory:")
    session = data.draw(st.text(min_size=1, max_size=9))
    first = bank(store, "default", session, said, extractor=script, now=NOW)
    again = bank(store, "default", session, said, extractor=script, now=NOW)
    assert (first.status, again.status, again.facts) == ("created", "unchanged", first.facts)
    store.close()


# Recorded conversations with their wanted facts


Recorded = dict[str, Any]


def scripted(
    fixture: dict[str, object], gold: dict[str, object], pages: dict[str, tuple[str, ...]]
) -> list[CandidateFact]:
    """What an extractor would say, made of the wanted facts: it knows words, never a slug."""
    texts = {str(turn["turn_id"]): turn["text"] for turn in fixture["turns"]}
    script = []
    for turn_id, turn in gold["turns"].items():
        for wanted in turn.get("gold_facts", ()):
            names = pages.get(wanted["entity_slug"] or "", ())
            text, fact = texts[turn_id], wanted["fact"]
            found = next(
                (hits for said in (text, fact) if (hits := [n for n in names if n.lower() in said.lower()])), ()
            )
            mention = max(found, key=len, default=None)
            script.append(CandidateFact(fact, wanted.get("kind", "fact"), mention, text))
    return script


def recorded(data: Path, collection: str) -> Iterator[tuple[Recorded, Recorded]]:
    for file in sorted((data / collection / "gold").glob("*.gold.json")):
        gold = json.loads(file.read_text())
        if any(turn.get("gold_facts") for turn in gold["turns"].values()):
            fixture = file.parents[1] / "fixtures" / file.name.replace(".gold.", ".fixture.")
            yield json.loads(fixture.read_text()), gold


@pytest.mark.req("C-1201", "C-505", "C-507")
@pytest.mark.parametrize(("collection", "facts"), [("v1-samples", 9), ("wild-dev", 30)])
def test_every_wanted_fact_of_recorded_conversations_survives_with_its_page(
    data: Path, collection: str, facts: int
) -> None:
    survived, missed = 0, []
    for fixture, gold in recorded(data, collection):
        store = open_store("sqlite", ":memory:")
        source = str(fixture.get("active_source") or "default")
        names: dict[str, tuple[str, ...]] = {}
        for seed in fixture.get("seed_pages", ()):
            page, chunks, known = parse_page(source, seed["slug"], seed["content"], trust=Trust.USER_WRITTEN, now=NOW)
            store.put_page(page, chunks, known)
            names[page.slug] = (page.title, *page.aliases, page.slug.rpartition("/")[2])
        said = [
            Message(turn["role"], turn["text"], datetime.fromisoformat(turn["ts"]), str(turn["turn_id"]))
            for turn in fixture["turns"]
        ]
        script = ScriptedExtractor(scripted(fixture, gold, names))
        receipt = bank(store, source, str(fixture["fixture_id"]), said, extractor=script, now=NOW)
        stored = {fact.text: fact for fact in store.facts(source)}
        triple = ("wellkept:writeback", f"{source}:{receipt.slug}", receipt.slug)
        for turn_id, turn in gold["turns"].items():
            for wanted in turn.get("gold_facts", ()):
                fact = stored.get(wanted["fact"])
                told = fact.provenance if fact else None
                exact = told and (told.source, told.source_session, told.source_markdown_slug) == triple
                right = fact and wanted["entity_slug"] in (None, fact.entity)
                if exact and right and told and told.event_id == turn_id:
                    survived += 1
                else:
                    missed.append((fixture["fixture_id"], turn_id, wanted["fact"], fact.entity if fact else None))
        store.close()
    assert missed == []
    assert survived >= facts


@pytest.mark.req("T-210", "TC-20")
def test_a_question_is_no_fact_and_a_guess_stays_a_guess(store: Store) -> None:
    said = [Message("user", "Does Mira move in May? Maybe Mira keeps bees. Mira owns a boat.", START)]
    script = [
        CandidateFact("Mira moves in May", "event", "Mira", "Does Mira move in May?"),
        CandidateFact("Mira keeps bees since 2019", "fact", "Mira", "Maybe Mira keeps bees."),
        CandidateFact("Mira owns a boat", "fact", "Mira", "Mira owns a boat."),
    ]
    bank(store, "default", "s-1", said, extractor=ScriptedExtractor(script), now=NOW)
    assert [text for text, _ in told(store)] == ["Maybe Mira keeps bees.", "Mira owns a boat"]
