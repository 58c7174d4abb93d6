"""Changes that change nothing that is asked, and that a corpus or system which turns on them is told."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from brainbench import metamorphic
from brainbench.metamorphic import (
    RELATIONS,
    Related,
    Relation,
    another_seed,
    filled_in_reverse,
    related,
    renamed,
    with_people_renamed,
)
from brainbench.run import choose
from brainbench.suites import Cell

MINI = Path(__file__).parent / "data" / "mini-v1"
CORE = Path(__file__).parents[2] / "corpus" / "core"


def page(slug: str, title: str, kind: str) -> dict[str, str]:
    return {
        "kind": "write",
        "via": "page",
        "slug": slug,
        "content": f"---\ntitle: {title}\ntype: {kind}\n---\n\n{title}",
    }


FIXTURE = {
    "fixture_id": "f",
    "setup": [page("people/mira-tolland", "Mira Tolland", "person"), page("companies/tolland", "Bread", "company")],
    "events": [{"event_id": 1, "kind": "turn", "role": "user", "text": "MIRA and Tolland's bread, not Admiral or it"}],
}
GOLD = {"fixture_id": "f", "events": {"1": {"retrieve": "must", "gold_slugs": ["people/mira-tolland"]}}}


def test_people_are_renamed_wherever_they_are_named_and_nothing_else_is() -> None:
    fixture, gold = with_people_renamed(FIXTURE, GOLD)
    assert gold["events"]["1"]["gold_slugs"] == [fixture["setup"][0]["slug"]]
    assert fixture["setup"][0]["slug"] == "people/nose-vummepf"
    assert fixture["setup"][0]["content"].startswith("---\ntitle: Nose Vummepf\ntype: person\n")
    assert fixture["events"][0]["text"] == "NOSE and Vummepf's bread, not Admiral or it"
    assert fixture["setup"][1]["content"] == FIXTURE["setup"][1]["content"]  # type: ignore[index]


def test_a_name_within_a_word_is_no_name() -> None:
    assert renamed("mira, admira, Mira's, people/mira", {"Mira": "Nose"}) == "nose, admira, Nose's, people/nose"


@pytest.mark.parametrize("file", sorted(p.name for p in (CORE / "fixtures").iterdir())[::7])
def test_a_renamed_fixture_of_the_bundled_corpus_keeps_its_lengths_and_its_gold(file: str) -> None:
    fixture = json.loads((CORE / "fixtures" / file).read_text())
    gold = json.loads((CORE / "gold" / file.replace(".fixture.", ".gold.")).read_text())
    other, expected = with_people_renamed(fixture, gold)
    assert len(json.dumps(other, ensure_ascii=False)) == len(json.dumps(fixture, ensure_ascii=False))
    assert other["fixture_id"] == expected["fixture_id"]
    known = {p["slug"] for p in (*other["setup"], *other["events"]) if p.get("slug")}
    for event in expected["events"].values():
        assert set(event.get("gold_slugs", ())) <= known


def test_a_brain_is_filled_from_its_other_end() -> None:
    fixture, gold = filled_in_reverse(FIXTURE, GOLD)
    assert [p["slug"] for p in fixture["setup"]] == ["companies/tolland", "people/mira-tolland"]
    assert (fixture["events"], gold) == (FIXTURE["events"], GOLD)


def test_the_counts_of_a_search_turn_on_nothing_that_does_not_matter() -> None:
    choice = choose(fixtures=MINI / "fixtures", gold=MINI / "gold", systems=("bm25",), harness="openclaw", jobs=1)
    found = list(related(choice))
    assert [one.relation for one in found] == list(RELATIONS)
    assert {one.of for one in found} != {0}
    assert [one for one in found if not one.holds] == []


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_the_counts_of_both_turn_on_nothing_that_does_not_matter_on_the_bundled_corpus() -> None:
    found = list(related(choose(corpus="pocket", systems=("wellkept", "bm25"), harness="openclaw")))
    assert len(found) == 2 * len(RELATIONS)
    assert [one for one in found if not one.holds] == []


def test_a_system_that_brings_the_newest_page_turns_on_the_order_of_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    reverse = next(r for r in RELATIONS if r.name == "brains filled in reverse")
    monkeypatch.setattr(metamorphic, "RELATIONS", (reverse,))
    (found,) = related(
        choose(corpus="pocket", systems=("always-inject",), harness="codex", suite="know-to-ask", jobs=1)
    )
    assert found.turned > 0
    assert not found.holds


def test_as_many_may_turn_as_the_relation_says_and_no_more() -> None:
    relation = Relation("x", Fraction(2, 100), "", another_seed)
    assert Related(relation, "s", 2, 100, "").holds
    assert not Related(relation, "s", 3, 100, "").holds


def cell(suite: str, of: int, *failed: str, **more: Any) -> Cell:
    items = {"gold_total": of, "gold_failed": len(failed), "failed_items": failed}
    return replace(Cell("s", "codex", "contract", suite, "scored"), **{**items, **more})


SEED, _, PEOPLE = RELATIONS


def test_the_cell_is_told_in_which_the_largest_share_turned() -> None:
    plain = (cell("know-to-ask", 200, "f/1", "f/2", "f/3"), cell("push", 20, "f/1/a", "f/1/b"))
    found = metamorphic._compared(PEOPLE, "s", plain, (cell("know-to-ask", 200), cell("push", 20)))
    assert (found.cell, found.turned, found.of, found.holds) == ("codex/push", 2, 20, False)


def test_a_cell_of_which_nothing_was_asked_does_not_stand_for_one_that_was() -> None:
    cells = (cell("know-to-ask", 0), cell("push", 20))
    assert metamorphic._compared(SEED, "s", cells, cells).of == 20


@pytest.mark.parametrize("status", ["failed", "invalid"])
def test_a_cell_that_is_no_measurement_does_not_hold_before_or_after_the_change(status: str) -> None:
    sound, unsound = cell("push", 20), cell("push", 20, status=status, reason="no fixture could be seeded")
    after = metamorphic._compared(SEED, "s", (sound,), (unsound,))
    before = metamorphic._compared(SEED, "s", (unsound,), (sound,))
    assert (after.holds, after.trouble) == (False, f"{status} another seed: no fixture could be seeded")
    assert (before.holds, before.trouble) == (False, f"{status} as it is: no fixture could be seeded")


def test_a_suite_that_a_system_cannot_be_asked_is_left_out() -> None:
    cells = (cell("push", 0, status="not_applicable"),)
    assert metamorphic._compared(SEED, "s", cells, cells).cell == "nothing was asked"


def test_every_page_that_goes_another_way_counts_where_people_are_renamed() -> None:
    before = cell("push", 200, "f/1/people/mira-tolland", "f/1/people/ada-quill", "f/1/companies/tolland")
    after = cell("push", 200, "f/1/people/nose-vummepf")
    found = metamorphic._compared(PEOPLE, "s", (before,), (after,))
    assert (found.turned, found.of) == (2, 200)


def test_a_slip_of_a_name_is_renamed_as_the_name_is() -> None:
    page = {"slug": "people/tolland", "content": "---\ntitle: Mira Tolland\ntype: person\n---\n\nShe rows.\n"}
    script = {"setup": [page], "events": [{"event_id": 1, "text": "Where does Tollnad row?"}]}
    changed, _ = with_people_renamed(script, {})
    said = changed["events"][0]["text"]
    assert changed["setup"][0]["content"].splitlines()[1] == "title: Nose Vummepf"
    assert "Vummpef" in said
    assert "Where does" in said
