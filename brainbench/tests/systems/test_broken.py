"""A break lasts: it is the same in a memory that is restored from a snapshot as in one that was written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from brainbench.model import PageIn, RunContext
from brainbench.systems import System, load_system

from ..conftest import page

SLUG = "people/ada-lovelace"
TEXT = page("Ada Lovelace", "countess", "Wrote about engines.")


def brought(system: System, text: str) -> list[str]:
    return [hit.id for hit in system.search("default", text, 5)]


@pytest.mark.parametrize(
    ("broken", "seen"),
    [
        ("titles-only:bm25", lambda system: (brought(system, "engines"), brought(system, "Ada Lovelace"))),
        ("never-silent:bm25", lambda system: brought(system, "zebra")),
        ("degraded:bm25", lambda system: (system.read_page("default", SLUG), brought(system, "countess"))),
    ],
)
def test_a_break_is_the_same_after_a_snapshot(broken: str, seen: Callable[[System], object], run: RunContext) -> None:
    system = load_system(broken)
    system.open(run)
    system.write_page(PageIn("default", SLUG, TEXT))
    before = seen(system)
    system.keep("brain")
    for number in range(2):
        system.open(replace(run, run_id=f"later-{number}"))
        assert system.restore("brain") is True
        assert seen(system) == before
        system.write_page(PageIn("default", "people/odd-one", page("Odd One", "", "Came later, about engines.")))


def test_what_was_written_before_is_forgotten_where_nothing_is_restored(run: RunContext) -> None:
    system = load_system("never-silent:bm25")
    system.open(run)
    system.write_page(PageIn("default", SLUG, TEXT))
    system.open(replace(run, run_id="later"))
    assert brought(system, "zebra") == []
    assert system.restore("nothing") is False
    assert brought(system, "zebra") == []
