"""A change reaches every index, keeps what was not changed, and ends what it replaces and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest

from wellkept.memory import Memory
from wellkept.model import CandidateFact, Message
from wellkept.providers import EmbedderId
from wellkept.providers.scripted import ScriptedExtractor
from wellkept.storage import open_store

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
JOBS = {
    "en": ("Rhea works at a bakery", "Rhea works at a shipyard", "bakery", "shipyard"),
    "de": ("Rhea arbeitet in einer Bäckerei", "Rhea arbeitet in einer Werft", "Bäckerei", "Werft"),
    "zh": ("林雨在面包店工作", "林雨在造船厂工作", "面包店", "造船厂"),
    "ru": ("Рея работает в пекарне", "Рея работает на верфи", "пекарне", "верфи"),
    "ar": ("تعمل ريا في مخبز", "تعمل ريا في حوض سفن", "مخبز", "سفن"),
}


@pytest.mark.field("UPD-01", "UPD-13")
@pytest.mark.parametrize("language", JOBS)
def test_a_changed_page_is_found_by_its_new_words_only(door: Any, scope: str, language: str) -> None:
    old, new, before, after = JOBS[language]
    for content in (old, new, new):
        door("put_page", scope, slug="rhea", content=content)
    assert door.ids("search", scope, after) == ["rhea"]
    assert door.ids("search", scope, before) == []
    assert door("get_page", scope, slug="rhea")["content"] == new
    assert not any(before in text for text in door.texts("recall", scope, f"Rhea 林雨 Рея ريا {before} {after}"))


@pytest.mark.field("UPD-01", "UPD-15")
@pytest.mark.parametrize("how", ["replaces", "revise", "supersede"])
def test_a_replaced_statement_is_shown_on_request_only_with_what_took_its_place(
    door: Any, scope: str, how: str
) -> None:
    old = f"fact:{door('remember', scope, text='Rhea works at a bakery')['facts'][0]}"
    new = "Rhea works at a shipyard"
    if how == "replaces":
        number = f"fact:{door('remember', scope, text=new, replaces=old)['facts'][0]}"
    elif how == "revise":
        number = door("correct", scope, id=old, action="revise", replacement=new, preview=False)["created"]
    else:
        number = f"fact:{door('remember', scope, text=new)['facts'][0]}"
        door("correct", scope, id=old, action="supersede", replacement=number, preview=False)
    for query in ("Rhea bakery", "Rhea shipyard", "works"):
        assert door.texts("recall", scope, query) == [new]
    (both,) = [door("recall", scope, query="Rhea", include_history=True)["memories"]]
    assert {(one["id"], one["status"], one["superseded_by"]) for one in both} == {
        (old, "superseded", number),
        (number, "active", None),
    }
    assert door("history", scope, id=old)["superseded_by"] == number
    assert door("history", scope, id=number)["supersedes"] == [old]


@pytest.mark.field("UPD-01")
def test_a_changed_page_is_still_found_by_its_new_words_after_reopening(tmp_path: Path) -> None:
    for round_ in range(2):
        memory = Memory(open_store("sqlite", tmp_path / "memory.db"))
        if round_ == 0:
            for content in ("Rhea works at a bakery", "Rhea works at a shipyard", "Rhea works at a shipyard now"):
                memory.put_page("default", "rhea", content, now=NOW)
        assert [hit.slug for hit in memory.search("default", "shipyard job")] == ["rhea"]
        assert not memory.search("default", "bakery")
        memory.close()


class Lengths:
    """A vector that tells how long a text is."""

    id = EmbedderId("lengths", 8)

    def embed(self, texts: Sequence[str]) -> Any:
        return np.array([np.eye(8)[len(text) % 8] for text in texts], np.float32)


@pytest.mark.field("UPD-02")
def test_a_page_that_changes_often_has_one_vector_and_it_is_of_its_last_words(tmp_path: Path) -> None:
    memory = Memory(open_store("sqlite", tmp_path / "memory.db"), embedder=Lengths)
    for text in ("tea", "tea now", "tea or not"):
        memory.put_page("default", "a", text, now=NOW)
        memory.embed_waiting()
        assert memory.store.index.vector_counts() == (1, 0)
        with closing(apsw.Connection(str(tmp_path / "memory.db"))) as file:
            ((vector,),) = file.execute("SELECT vector FROM vectors")
        assert np.frombuffer(vector, np.float32).argmax() == len(f"a\n{text}") % 8
        assert [hit.slug for hit in memory.search("default", "tea")] == ["a"]
    memory.close()


TOLD = {"source_id": "m42", "url": "https://example.test/m42", "metadata": {"session": "s04", "prio": 3, "名": ["é"]}}


@pytest.mark.field("UPD-03", "OBS-06", "OBS-04")
@pytest.mark.parametrize("how", ["put_page", "revise"])
def test_a_new_text_changes_nothing_of_what_was_said_about_the_old_one(door: Any, scope: str, how: str) -> None:
    door("put_page", scope, slug="a", content="one", valid_at="2019-03-02", **TOLD)
    before = door("get_page", scope, slug="a")
    if how == "put_page":
        door("put_page", scope, slug="a", content="two")
    else:
        door("correct", scope, id="a", action="revise", replacement="two", preview=False)
    after = door("get_page", scope, slug="a")
    assert after["content"] == "two"
    for name in ("metadata", "provenance", "valid_at", "created_at"):
        assert after[name] == before[name] != None  # noqa: E711
    assert after["provenance"] == {"source_id": "m42", "url": TOLD["url"]}


@pytest.mark.field("UPD-03")
def test_a_revised_statement_keeps_what_it_is_about_and_where_it_was_told(door: Any, scope: str) -> None:
    door("put_page", scope, slug="noor", content="# Noor")
    told = {"entity": "noor", "kind": "preference", "session": "monday", "valid_from": "2019-03-02"}
    old = f"fact:{door('remember', scope, text='Noor has two hives', **told)['facts'][0]}"
    done = door("correct", scope, id=old, action="revise", replacement="Noor has three hives", preview=False)
    kept, new = (door("history", scope, id=one)["item"] for one in (old, done["created"]))
    for name in ("type", "entity", "valid_from"):
        assert new[name] == kept[name]
    for name in ("source_session", "source_markdown_slug"):
        assert new["provenance"][name] == kept["provenance"][name] != None  # noqa: E711


@pytest.mark.field("UPD-05", "CON-12")
@pytest.mark.parametrize(
    "variants", [["The boat is green"] * 3, ["the  boat is green", "The boat is green ", "THE BOAT IS GREEN"]]
)
def test_a_sentence_told_again_is_there_once_and_crowds_nothing_out(door: Any, scope: str, variants: list[str]) -> None:
    made = [door("remember", scope, text=text) for text in variants]
    assert [one["status"] for one in made] == ["created", "unchanged", "unchanged"]
    assert len({one["facts"][0] for one in made}) == 1
    for text in ("The boat is called Una", "The boat lies in the harbour"):
        door("remember", scope, text=text)
    found = door.texts("recall", scope, "the boat", limit=5)
    assert len(found) == 3
    assert {"The boat is called Una", "The boat lies in the harbour"} < set(found)


@pytest.mark.field("UPD-06", "UPD-08")
@pytest.mark.parametrize("order", ["old first", "new first"])
def test_a_stale_statement_that_fits_the_question_better_is_not_the_answer_once_it_was_replaced(
    door: Any, scope: str, order: str
) -> None:
    stale, current = "the SSH port of the build box is 22", "moved the build box: SSH listens on 49222 now"
    old = f"fact:{door('remember', scope, text=stale)['facts'][0]}"
    if order == "old first":
        door("remember", scope, text=current, replaces=old)
    else:
        new = f"fact:{door('remember', scope, text=current)['facts'][0]}"
        door("correct", scope, id=old, action="supersede", replacement=new, preview=False)
    assert door.texts("recall", scope, "what SSH port does the build box use?") == [current]


@pytest.mark.field("UPD-06")
def test_statements_that_nobody_said_replace_each_other_both_come_with_their_dates(door: Any, scope: str) -> None:
    for text in ("the SSH port of the build box is 22", "moved the build box: SSH listens on 49222 now"):
        door("remember", scope, text=text)
    found = door("recall", scope, query="what SSH port does the build box use?")["memories"]
    assert len(found) == 2
    assert all(one["created_at"] for one in found)
    assert {one["status"] for one in found} == {"active"}


@pytest.mark.field("UPD-09")
def test_more_that_is_true_of_the_same_thing_ends_nothing(door: Any, scope: str) -> None:
    door("put_page", scope, slug="kofi", content="# Kofi")
    texts = {"Kofi is employed by Meridian", "Kofi administers Meridian's code host", "Kofi uses Vim"}
    for text in sorted(texts):
        door("remember", scope, text=text, entity="kofi")
    assert set(door.texts("recall", scope, "Kofi", entity="kofi")) == texts
    assert {one["text"] for one in door("entity", scope, name="kofi")["facts"]} == texts


@pytest.mark.field("UPD-11")
def test_what_was_true_stopped_and_is_true_again_is_told_for_each_time(door: Any, scope: str) -> None:
    last = None
    for text, since in (("on Payments", "2024-01-01"), ("on Search", "2024-04-01"), ("on Payments", "2024-07-01")):
        more = {} if last is None else {"replaces": last}
        made = door("remember", scope, text=f"Kofi is {text}", valid_from=since, **more)
        assert made["status"] == "created"
        last = f"fact:{made['facts'][0]}"
    assert door.texts("recall", scope, "Kofi") == ["Kofi is on Payments"]
    assert len(door("recall", scope, query="Kofi", include_history=True)["memories"]) == 3


@pytest.mark.field("UPD-14")
def test_paraphrases_leave_room_for_the_rest_and_can_be_put_under_one(door: Any, scope: str) -> None:
    said = ["Una is a green boat", "The boat Una is painted green", "Una, the boat, has a green hull"]
    ids = [f"fact:{door('remember', scope, text=text)['facts'][0]}" for text in said]
    others = {"The boat Una lies in the harbour", "The boat Una has two masts"}
    for text in sorted(others):
        door("remember", scope, text=text)
    assert others < set(door.texts("recall", scope, "the boat Una", limit=5))
    for number in ids[1:]:
        door("correct", scope, id=number, action="supersede", replacement=ids[0], preview=False)
    assert set(door.texts("recall", scope, "the boat Una", limit=5)) == {said[0], *others}


@pytest.mark.field("UPD-14")
def test_a_conversation_read_by_a_model_says_that_likeness_was_not_looked_for(memory: Memory) -> None:
    said = "Una is a green boat"
    extractor = ScriptedExtractor([CandidateFact(said, "fact", None, said)])
    receipt = memory.bank("default", "s", (Message("user", said), Message("assistant", "Nice.")), extractor=extractor)
    assert "degraded_dedup" in receipt.degraded


@pytest.mark.field("UPD-13", "UPD-02")
def test_a_page_put_under_a_known_slug_is_the_same_page(door: Any, scope: str) -> None:
    for content in ("prefers email", "prefers phone", "prefers email", "prefers phone"):
        door("put_page", scope, slug="ns/key", content=content)
    assert door("get_page", scope, slug="ns/key")["content"] == "prefers phone"
    assert door.texts("recall", scope, "prefers") == ["key\nprefers phone"]
    assert door.ids("search", scope, "email") == []
