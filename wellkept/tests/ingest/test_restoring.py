"""What was exported is there again: the same words, labels, times, and forgotten where it was forgotten."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wellkept import wire
from wellkept.errors import Conflict, InvalidInput, NotFound
from wellkept.ingest.exported import read
from wellkept.ingest.restoring import moved
from wellkept.memory import Memory
from wellkept.model import AGENT, OUTSIDE, OWNER, Message, Restored, Told, Trust, Writer
from wellkept.storage import open_store

NOW = datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC)
WORDS = ("tea", "bees", "the harbour", "会议室", "Zoë", "no sugar", "Friday")
SLUGS = ("people/ada", "people/noor", "projects/lantern", "fact:1")
TEXTS = st.sampled_from(WORDS)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["put", "remember", "replace", "forget", "revise", "stale", "restore", "confirm", "bank"]),
        st.integers(0, 5),
        TEXTS,
        st.sampled_from([OWNER, AGENT, OUTSIDE]),
    ),
    max_size=25,
)


def empty() -> Memory:
    return Memory(open_store("sqlite", ":memory:"))


def lines(memory: Memory, source: str = "default") -> list[str]:
    return [json.dumps(wire.shown(item), ensure_ascii=False) for item in memory.export(source)]


def again(said: list[str], into: Memory) -> Restored:
    return into.restore(list(read(said)))


def put(memory: Memory, number: int, words: str, writer: Writer, now: datetime) -> None:
    head = f"---\ntitle: {words}\naliases: [{words} x]\nsuperseded_by: {SLUGS[1] if number == 4 else ''}\n---\n"
    told = (
        Told("document", f"id {number}", "https://example.test", now, {"a": [1, {"b": words}]}) if number == 5 else None
    )
    text = f"{head}{words} {number}\n\n## Timeline\n- 2024-01: {words}\n"
    memory.put_page("default", SLUGS[number % 4], text, told=told, writer=writer, now=now)


def step(memory: Memory, what: str, number: int, words: str, writer: Writer, now: datetime) -> None:
    fact, page = f"fact:{number}", f"page:{SLUGS[number % 4]}"
    one = fact if number % 2 else page
    doing: dict[str, Callable[[], object]] = {
        "put": lambda: put(memory, number, words, writer, now),
        "remember": lambda: memory.remember(
            "default",
            words,
            entity=SLUGS[0] if number else None,
            session="s" if number > 3 else None,
            writer=writer,
            now=now,
        ),
        "replace": lambda: memory.remember("default", f"{words} now", replaces=fact, writer=writer, now=now),
        "forget": lambda: memory.forget("default", [one], reason=words if number > 2 else "", writer=writer, now=now),
        "revise": lambda: memory.correct(
            "default", fact, "revise", replacement=f"{words}, rather", preview=False, writer=writer, now=now
        ),
        "stale": lambda: memory.correct("default", one, "mark_stale", preview=False, writer=writer, now=now),
        "restore": lambda: memory.correct("default", one, "restore", preview=False, writer=writer, now=now),
        "confirm": lambda: memory.confirm("default", one, now=now),
        "bank": lambda: memory.bank(
            "default", f"s{number}", [Message("user", words, now), Message("assistant", "Noted.")], now=now
        ),
    }
    doing[what]()


@given(STEPS)
@settings(max_examples=60, deadline=None)
def test_an_export_of_what_was_restored_is_the_same_to_the_byte(steps: list[tuple[str, int, str, Writer]]) -> None:
    memory, other = empty(), empty()
    for number, (what, which, words, writer) in enumerate(steps):
        try:
            step(memory, what, which, words, writer, NOW + timedelta(hours=number))
        except (InvalidInput, NotFound, Conflict):
            continue
    said = lines(memory)
    done = again(said, other)
    assert lines(other) == said
    assert (done.pages + done.facts, done.there) == (len(said), 0)
    twice = again(said, other)
    assert (twice.pages + twice.facts, twice.there) == (0, len(said))
    assert lines(other) == said
    for words in WORDS:
        assert [(one.id, one.content) for one in other.search("default", words)] == [
            (one.id, one.content) for one in memory.search("default", words)
        ]


def test_what_was_forgotten_stays_forgotten_and_still_says_by_whom() -> None:
    memory, other = empty(), empty()
    memory.put_page("default", "people/ada", "Ada drinks tea", now=NOW)
    memory.forget("default", ["people/ada"], reason="asked to", writer=OWNER, now=NOW + timedelta(days=1))
    again(lines(memory), other)
    page = other.get_page("default", "people/ada")
    assert page.status == "expired"
    assert page.ended is not None
    assert (page.ended.because, page.ended.reason, page.ended.by) == ("forgotten", "asked to", "owner_tty")
    assert page.ended.at == NOW + timedelta(days=1)
    assert not other.search("default", "tea")


def test_what_is_there_is_left_as_it_is() -> None:
    memory, other = empty(), empty()
    memory.put_page("default", "people/ada", "Ada drinks tea", now=NOW)
    memory.remember("default", "Ada likes tea", now=NOW)
    other.put_page("default", "people/ada", "Ada drinks coffee", now=NOW)
    other.remember("default", "Ada likes tea", now=NOW)
    other.forget("default", ["fact:1"], now=NOW)
    assert again(lines(memory), other) == Restored(0, 0, 2)
    assert other.get_page("default", "people/ada").content == "Ada drinks coffee"
    assert other.recall_facts("default") == ()


def test_a_fact_whose_number_is_taken_gets_another_and_its_successor_is_found() -> None:
    memory, other = empty(), empty()
    memory.remember("default", "Ada likes tea", now=NOW)
    memory.remember("default", "Ada likes coffee", replaces="fact:1", now=NOW)
    other.remember("default", "Noor keeps bees", now=NOW)
    assert again(lines(memory), other).facts == 2
    old, new = (fact for fact in other.store.facts("default", ended=True) if "Ada" in fact.text)
    assert (old.status, old.superseded_by, new.status) == ("superseded", new.id, "active")
    assert [fact.text for fact in other.recall_facts("default")] == ["Noor keeps bees", "Ada likes coffee"]


def test_what_was_exported_can_be_kept_in_another_source() -> None:
    memory, other = empty(), empty()
    memory.put_page("default", "people/ada", "Ada drinks tea", now=NOW)
    memory.remember("default", "Ada likes tea", session="monday", now=NOW)
    other.restore(moved(list(read(lines(memory))), "lantern"))
    assert [source.id for source in other.store.sources()] == ["lantern"]
    (fact,) = other.recall_facts("lantern")
    assert fact.provenance.source_session == "lantern:conversations/monday"


def test_the_one_object_of_json_is_read_too() -> None:
    memory = empty()
    memory.remember("default", "Ada likes tea", now=NOW)
    whole = json.dumps({"items": [json.loads(line) for line in lines(memory)], "total": 1}, indent=2)
    assert list(read(whole.split("\n"))) == list(read(lines(memory)))


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("[1]", "line 1"),
        ("{}", "line 1"),
        ('{"id": "people/ada"}', "line 1"),
        ("no json", "line 1: is no JSON"),
        ('\n{"id": "fact:1", "source": 7}', "line 2"),
        ("{\n}", "items"),
        ('{\n"items": [{"id": 5}]}', r"items\[0\]"),
    ],
)
def test_a_line_that_is_no_item_is_named(text: str, where: str) -> None:
    with pytest.raises(InvalidInput, match=where):
        list(read(text.split("\n")))


def test_nothing_is_kept_when_one_item_cannot_be() -> None:
    memory, other = empty(), empty()
    memory.put_page("default", "people/ada", "Ada drinks tea", now=NOW)
    memory.remember("default", "Ada likes tea", now=NOW)
    items = list(read([line.replace("likes tea", "likes \\u0000 tea") for line in lines(memory)]))
    with pytest.raises(InvalidInput, match="NUL"):
        other.restore(items)
    assert other.store.sources() == ()


def test_a_confirmed_item_is_confirmed_still() -> None:
    memory, other = empty(), empty()
    memory.remember("default", "Ada likes tea", now=NOW)
    memory.confirm("default", "fact:1", now=NOW)
    again(lines(memory), other)
    assert other.recall_facts("default")[0].trust is Trust.USER_CONFIRMED
