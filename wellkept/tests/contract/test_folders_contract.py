"""What every store keeps of where texts come from: bound folders, their files, and how far services were read."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from wellkept.model import Chunk, Fact, Page, Provenance, Source, Trust
from wellkept.storage import STORES, Cursor, Folder, FolderFile, Store, open_store

NOW = datetime(2026, 3, 1, 12, 30, 15, 123456, tzinfo=UTC)
NOTES = Folder("notes", "default", "/notes", NOW, None, None)
WORK = Folder("work", "work", "/work", NOW, "/keys", "a" * 40)


@pytest.fixture(params=STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened = open_store(request.param, tmp_path / "memory.db")
    with opened.transaction():
        for folder in (WORK, NOTES):
            opened.add_source(Source(folder.source))
            opened.folders.bind(folder)
    yield opened
    opened.close()


def keep(store: Store, name: str, *files: FolderFile) -> None:
    with store.transaction():
        for file in files:
            store.folders.keep(name, file)


def test_folders_come_back_as_they_were_bound_and_by_name(store: Store) -> None:
    assert store.folders.all() == (NOTES, WORK)
    with store.transaction():
        store.folders.reached("notes", "b" * 40)
    assert store.folders.all()[0].head == "b" * 40


def test_a_folder_that_is_let_go_takes_along_what_was_made_of_its_files(store: Store) -> None:
    keep(store, "notes", FolderFile("a.md", "a", b"1"))
    with store.transaction():
        store.folders.unbind("notes")
    assert store.folders.all() == (WORK,)
    assert store.folders.files("notes") == ()


def test_of_a_file_the_newest_is_kept_and_files_come_by_path(store: Store) -> None:
    keep(store, "notes", FolderFile("b.md", "b", b"1"), FolderFile("a.md", "a", b"1"))
    keep(store, "notes", FolderFile("b.md", "b", None, "gone"))
    assert store.folders.files("notes") == (FolderFile("a.md", "a", b"1"), FolderFile("b.md", "b", None, "gone"))
    with store.transaction():
        store.folders.drop("notes", "a.md")
    assert [file.path for file in store.folders.files("notes")] == ["b.md"]


def test_a_page_has_the_file_of_its_own_source_and_only_while_it_is_kept(store: Store) -> None:
    keep(store, "notes", FolderFile("a.md", "a", b"1"), FolderFile("b.md", "b", None, "gone"))
    assert store.folders.holder("default", "a") == ("notes", "a.md")
    assert store.folders.holder("work", "a") is None
    assert store.folders.holder("default", "b") is None


def test_what_is_to_be_looked_at_again_or_to_go_is_of_one_source(store: Store) -> None:
    for name in ("notes", "work"):
        keep(store, name, FolderFile("a.md", "a", b"1"), FolderFile("b.md", "b", b"2"))
    with store.transaction():
        store.folders.let_go("default", "a")
        store.folders.read_anew("default")
    assert store.folders.files("notes") == (FolderFile("a.md", "a", None, "going"), FolderFile("b.md", "b", None))
    assert store.folders.files("work") == (FolderFile("a.md", "a", b"1"), FolderFile("b.md", "b", b"2"))


def test_how_far_a_list_was_read_is_kept_for_each_source(store: Store) -> None:
    assert store.folders.cursor("work", "list") is None
    for cursor in (Cursor(None, 'W/"1"'), Cursor(NOW, None)):
        with store.transaction():
            store.folders.reach("work", "list", cursor)
        assert store.folders.cursor("work", "list") == cursor
    assert store.folders.cursor("default", "list") is None


def test_what_says_words_is_found_by_tier_ended_or_not_and_in_its_own_source(store: Store) -> None:
    told = Provenance("wellkept:remember")
    for source, slug, tier in (("default", "a", Trust.AGENT_WRITTEN), ("default", "b", Trust.USER_WRITTEN),
                               ("work", "c", Trust.AGENT_WRITTEN)):  # fmt: skip
        text = f"the mill turns twice, {slug}"
        page = Page(source, slug, slug, text, status="expired", trust=tier)
        store.put_page(page, [Chunk(0, text)], ())
        store.put_facts(source, None, [Fact(None, source, f"{text} 東京に", None, "fact", told, trust=tier)], NOW)
    low = (Trust.EXTERNAL_UNTRUSTED, Trust.AGENT_WRITTEN)
    assert store.folders.pages_saying("default", ["MILL", "twice"], low, 9) == (
        (Trust.AGENT_WRITTEN, "the mill turns twice, a"),
    )
    assert store.folders.pages_saying("default", ["mill", "thrice"], low, 9) == ()
    assert [tier for tier, _ in store.folders.facts_saying("default", ["mill", "thrice"], low, 9)] == [low[1]]
    assert [tier for tier, _ in store.folders.facts_saying("default", ["東京"], tuple(Trust), 9)] == [
        low[1],
        low[1] + 1,
    ]
    assert store.folders.facts_saying("default", ["\ud800", "--", ""], low, 9) == ()
    assert store.folders.holds_below("default", Trust.USER_WRITTEN)
    assert not store.folders.holds_below("default", Trust.AGENT_WRITTEN)


def test_nothing_of_it_is_left_in_a_store_that_was_emptied(store: Store) -> None:
    keep(store, "notes", FolderFile("a.md", "a", b"1"))
    with store.transaction():
        store.folders.reach("work", "list", Cursor(NOW, None))
    store.reset()
    assert (store.folders.all(), store.folders.files("notes"), store.folders.cursor("work", "list")) == ((), (), None)
