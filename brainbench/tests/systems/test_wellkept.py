from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from brainbench.model import Ask, Budget, Conversation, Message, PageIn, RunContext
from brainbench.systems.wellkept import Wellkept, WellkeptByMeaning

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
