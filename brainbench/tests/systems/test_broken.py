"""A break lasts: it is the same in a memory that is restored from a snapshot as in one that was written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

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


@pytest.mark.parametrize("broken", ["titles-only", "never-silent", "degraded", "one-source"])
def test_pages_that_are_given_at_once_are_broken_at_once_as_one_by_one(broken: str, run: RunContext) -> None:
    names = ("Ada Lovelace", "Orla Brant", "Emil Krog")
    pages = [PageIn("default", f"people/{n}", page(name, "countess", "x")) for n, name in enumerate(names)]
    single, together = load_system(f"{broken}:bm25"), load_system(f"{broken}:bm25")
    calls: list[int] = []
    whole: Any = together.whole  # type: ignore[attr-defined]
    whole.write_pages = lambda given: [calls.append(len(given)), *map(whole.write_page, given)]
    for system in (single, together):
        system.open(run)
    for one in pages:
        single.write_page(one)
    together.write_pages(pages)
    assert calls == [6 if broken == "one-source" else 3]
    assert brought(single, "countess Ada Lovelace zebra") == brought(together, "countess Ada Lovelace zebra")
    assert single.read_pages("default", [p.slug for p in pages]) == together.read_pages(
        "default", [p.slug for p in pages]
    )
