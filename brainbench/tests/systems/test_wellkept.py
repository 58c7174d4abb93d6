from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from brainbench.model import Ask, Budget, Capability, Conversation, ItemIn, Message, PageIn, RunContext
from brainbench.systems.wellkept import Wellkept, WellkeptByMeaning, WellkeptLexical, WellkeptNaive, WellkeptVector

from ..conftest import page


def test_a_closed_memory_leaves_nothing_on_disk(
    run: RunContext, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    system = Wellkept()
    system.open(run)
    system.tell_time("2026-01-01T00:00:00Z")
    system.write_page(PageIn("default", "people/ada-lovelace", page("Ada Lovelace")))
    assert list(place.iterdir())
    system.close()
    assert list(place.iterdir()) == []


def test_turns_are_told_and_what_was_meant_is_found_once_the_memory_has_settled(run: RunContext) -> None:
    system = Wellkept()
    system.open(run)
    system.tell_time("2026-01-01T00:00:00Z")
    said = (Message("user", "Hello"), Message("assistant", "Hi"), Message("user", "Somebody took my red automobile"))
    page_id = system.write_conversation(Conversation("default", "monday", said, now="2026-01-01T00:00:00Z"))
    assert list(system.search_turns("default", "stolen vehicle", 5)) == []
    system.settle()
    first, *_ = system.search_turns("default", "stolen vehicle", 5)
    assert (first.id, first.turns) == (page_id, (2,))
    assert [hit.id for hit in system.search("default", "stolen vehicle", 5)] == [page_id]
    system.open(run)
    assert list(system.search("default", "stolen vehicle", 5)) == []
    system.close()


@pytest.fixture
def items(run: RunContext) -> Iterator[Wellkept]:
    system = Wellkept()
    system.reopen(run)
    system.tell_time("2026-01-01T00:00:00Z")
    yield system
    system.close()


def test_a_statement_is_an_item_that_is_changed_ended_and_listed(items: Wellkept) -> None:
    bees = ItemIn("default", "Ada keeps bees", "n1", ts="2019-03-02T00:00:00Z")
    first = items.add_item(bees)
    assert items.add_item(replace(bees, name="n2")) == first
    told = items.get_item("default", first)
    assert told is not None
    assert (told.at, told.made) == ("2019-03-02T00:00:00+00:00", "2026-01-01T00:00:00+00:00")
    now = items.update_item("default", first, "Ada keeps hens")
    assert now is not None
    assert [row.text for row in items.list_items("default")] == ["Ada keeps hens"]
    old = items.get_item("default", first)
    assert old is not None
    assert old.superseded_by == now
    assert items.delete_item("default", now)
    assert not items.delete_item("default", now)
    assert items.get_item("default", now) is None
    assert items.update_item("default", "fact:99", "x") is None


def test_what_has_a_title_or_metadata_or_is_long_is_a_page_and_an_item_all_the_same(items: Wellkept) -> None:
    titled = items.add_item(ItemIn("default", "Ada keeps bees", "n1", title="🚀"))
    told = items.add_item(ItemIn("default", "Ada sold hens", "n2", meta={"prio": 3}))
    long = items.add_item(ItemIn("default", "words " * 300, "n3"))
    assert {titled, told, long} == {"items/n1", "items/n2", "items/n3"}
    assert [row.text.strip() for row in items.find_items("default", "bees", 1)] == ["Ada keeps bees"]
    now = items.update_item("default", told, "Ada bought hens")
    kept = items.get_item("default", str(now))
    assert kept is not None
    assert (kept.text.strip(), kept.meta) == ("Ada bought hens", {"prio": 3})
    items.delete_items("default")
    assert items.list_items("default") == []


def test_a_directory_that_was_lent_keeps_its_memory_and_stays_apart_from_its_own(
    run: RunContext, tmp_path: Path
) -> None:
    system = Wellkept()
    system.open(run)
    system.tell_time("2026-01-01T00:00:00Z")
    system.write_page(PageIn("default", "people/ada", page("Ada")))
    system.reopen(run)
    assert system.list_items("default") == []
    system.add_item(ItemIn("default", "Ada keeps bees", "n1"))
    system.open(run)
    assert system.read_page("default", "people/ada") is None
    assert system.list_items("default") == []
    system.reopen(run)
    assert [row.text for row in system.list_items("default")] == ["Ada keeps bees"]
    system.close()
    assert (tmp_path / "memory.db").is_file()


def test_what_held_at_a_time_is_found_as_of_then(items: Wellkept) -> None:
    first = items.add_item(ItemIn("default", "Ada is on the red team", "n1", ts="2026-01-01T00:00:00Z"))
    items.tell_time("2026-04-01T00:00:00Z")
    items.add_item(ItemIn("default", "Ada is on the blue team", "n2", ts="2026-04-01T00:00:00Z", replaces=first))
    then = items.find_items("default", "Ada team", 5, as_of="2026-02-01T00:00:00Z")
    assert [row.text for row in then] == ["Ada is on the red team"]
    assert [row.text for row in items.find_items("default", "Ada team", 5)] == ["Ada is on the blue team"]


def test_by_meaning_is_the_same_memory_with_every_arm_on_and_its_vectors_there(run: RunContext) -> None:
    said = Message("user", "someone nicked my bike outside the gym, do we get any money back?")
    ask = Ask("openclaw", "s", "default", (said,), (), Budget(pages=3), "2026-01-01T00:00:00Z")
    policy = "House and contents, excess 300. Bicycles are covered up to 900 each."
    for system, brought in ((Wellkept(), False), (WellkeptByMeaning(), True)):
        system.open(run)
        system.tell_time("2026-01-01T00:00:00Z")
        system.write_page(PageIn("default", "notes/insurance", page("Insurance", body=policy)))
        system.write_page(PageIn("default", "notes/school", page("School run", body="The gate shuts at 8:40.")))
        injection = system.context(ask)
        assert ("notes/insurance" in injection.text) == brought
        assert injection.degraded == ()
        system.close()


@pytest.mark.parametrize("variant", [WellkeptLexical, WellkeptVector, WellkeptNaive])
def test_a_mode_of_search_pushes_nothing_by_the_hooks_that_it_does_not_change(variant):
    assert not variant.can & {Capability.CONTEXT, Capability.HOOK_PROCESS}
    assert Capability.SEARCH in variant.can


@pytest.mark.parametrize("variant", [WellkeptLexical, WellkeptVector, WellkeptNaive, WellkeptByMeaning])
def test_only_what_ships_is_production(variant):
    assert Wellkept.production
    assert not variant.production
