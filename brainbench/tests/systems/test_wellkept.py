from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from brainbench.model import Conversation, Message, PageIn, RunContext
from brainbench.systems.wellkept import Wellkept

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
