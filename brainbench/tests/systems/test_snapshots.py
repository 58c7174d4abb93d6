"""A snapshot is all that was stored and nothing that came later, for every system that keeps one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from brainbench.errors import UsageError
from brainbench.model import Capability, PageIn, RunContext
from brainbench.systems import SYSTEMS, System, load_system

from ..conftest import page

NAMES = ("Orla Brant", "Tove Lisk", "Emil Krog")


def written(name: str, text: str, source: str = "default") -> PageIn:
    return PageIn(source, f"people/{name.lower().replace(' ', '-')}", page(name, "", text))


@pytest.fixture(params=SYSTEMS)
def system(request: pytest.FixtureRequest, run: RunContext) -> Iterator[System]:
    try:
        loaded = load_system(request.param)
    except UsageError as error:
        pytest.skip(str(error))
    loaded.open(run)
    loaded.tell_time("2026-01-01T00:00:00Z")
    loaded.write_pages([written(name, "Keeps the ledger.") for name in NAMES])
    yield loaded
    loaded.close()


def texts(system: System) -> list[str | None]:
    return [system.read_page("default", written(name, "").slug) for name in NAMES]


def found(system: System) -> list[str]:
    if Capability.SEARCH not in system.can:
        return []
    return sorted(h.id for h in system.search("default", "ledger barge Novak", 10))


@pytest.mark.req("C-802")
def test_what_came_after_the_snapshot_is_undone(system: System, run: RunContext) -> None:
    before, hits = texts(system), found(system)
    system.keep("kept")
    for round_ in range(3):
        system.write_page(written(NAMES[0], f"Sails a barge, {round_}."))
        system.write_page(written("Ida Novak", "Is new."))
        system.open(replace(run, run_id=f"later-{round_}"))
        assert system.restore("kept") is True
        assert (texts(system), found(system)) == (before, hits)
        assert system.read_page("default", "people/ida-novak") is None


@pytest.mark.req("C-802", "C-130")
def test_a_snapshot_is_not_there_before_it_is_restored(system: System, run: RunContext) -> None:
    system.keep("kept")
    system.open(run)
    assert texts(system) == [None] * 3
    assert found(system) == []
    assert system.restore("another") is False
    assert texts(system) == [None] * 3
    system.write_page(written("Ida Novak", "Is new."))
    system.open(run)
    assert system.restore("kept") is True
    assert None not in texts(system)
    assert system.read_page("default", "people/ida-novak") is None


def test_two_snapshots_stay_apart(system: System, run: RunContext) -> None:
    system.keep("three")
    system.open(run)
    system.write_page(written("Ida Novak", "Is new."))
    system.keep("one")
    for name, alone in (("three", False), ("one", True), ("three", False)):
        system.open(run)
        assert system.restore(name) is True
        assert (system.read_page("default", "people/ida-novak") is not None) == alone
        assert (texts(system) == [None] * 3) == alone


def test_a_restored_store_answers_a_turn_like_the_one_that_was_kept(system: System, run: RunContext) -> None:
    if Capability.SEARCH not in system.can:
        pytest.skip("it does not search")
    system.keep("kept")
    before = [system.search("default", query, 3) for query in ("Orla Brant", "ledger")]
    system.open(run)
    system.restore("kept")
    assert [system.search("default", query, 3) for query in ("Orla Brant", "ledger")] == before
