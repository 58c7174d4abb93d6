"""What the systems of the panel do, and what a break leaves alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from brainbench.errors import UsageError
from brainbench.model import Ask, Budget, Capability, Conversation, Injection, Message, PageIn, RunContext, ScriptedFact
from brainbench.replay.sweep import sweep
from brainbench.replay.worker import Task
from brainbench.run import EVERY_PAGE, choose, tasks_of
from brainbench.seams import SEAMS
from brainbench.systems import BREAKS, SYSTEMS, UNBOUNDED, System, load_system
from brainbench.systems.broken import Broken, only, without_aliases

from ..conftest import page, script


def ask(text: str) -> Ask:
    return Ask("openclaw", "s1", "default", (Message("user", text),), (), Budget(pages=3), "2026-01-01T00:00:00Z")


def filled(name: str, run: RunContext, pages: int = 5) -> System:
    system = load_system(name)
    system.open(run)
    system.tell_time("2026-01-01T00:00:00Z")
    for n in range(pages):
        system.write_page(PageIn("default", f"people/p{n}", page(f"Person {n}", f"alias{n}")))
    return system


@pytest.mark.req("C-620")
@pytest.mark.parametrize(
    ("name", "count"), [("always-silent", 0), ("always-inject", 3), ("echo", 0), ("random", 3), ("full-context", 5)]
)
def test_a_panel_system_brings_as_many_pages_as_it_is_meant_to(name: str, count: int, run: RunContext) -> None:
    said = filled(name, run).context(ask("Where is Person 1?"))
    assert len(said.brought) == len(set(said.brought)) == count
    assert set(said.brought) <= {f"people/p{n}" for n in range(5)}


def test_the_newest_pages_come_first_and_an_edit_makes_a_page_new(run: RunContext) -> None:
    system = filled("always-inject", run)
    system.edit_page(PageIn("default", "people/p0", page("Person 0")))
    assert system.context(ask("hm")).brought == ("people/p0", "people/p4", "people/p3")


def test_the_lot_is_the_same_for_the_same_turn_and_another_for_another(run: RunContext) -> None:
    first, again, other = (filled("random", run, 40).context(ask(text)).brought for text in ("one", "one", "two"))
    assert first == again != other


def test_only_the_built_in_full_context_has_its_page_budget_lifted() -> None:
    assert set(SYSTEMS) >= UNBOUNDED == {"full-context"}
    names = ("full-context", "always-inject", "degraded:full-context")
    mini = Path(__file__).parents[1] / "data" / "mini-v1"
    choice = choose(systems=names, fixtures=mini / "fixtures", gold=mini / "gold", harness="openclaw")
    from brainbench import corpus as corpora

    capacities: dict[str, set[int]] = {}
    corpus = corpora.read(choice.fixtures, include_holdout=False)
    small = replace(corpus, fixtures=tuple(f for f in corpus.fixtures if f.universe is None))
    for task in tasks_of(choice, small):
        capacities.setdefault(task.system, set()).add(task.seam.budget.pages)
    assert capacities == {"full-context": {EVERY_PAGE}, "always-inject": {3}, "degraded:full-context": {3}}


@pytest.mark.parametrize("name", BREAKS)
def test_a_break_goes_around_any_system_and_seeding_still_passes(name: str) -> None:
    broken = f"{name}:bm25"
    system = load_system(broken)
    assert isinstance(system, Broken)
    assert system.name == broken
    task = Task(broken, SEAMS["openclaw"], script("Ask Ada Lovelace."), "r", 42, system.can)
    (replayed,) = sweep([task], 1).replays
    assert replayed.seed_failure is None
    assert [o.error for o in replayed.observations] == [None]


def test_a_break_passes_on_every_method_that_a_system_has() -> None:
    methods = [n for n, value in vars(System).items() if callable(value) and not n.startswith("_")]
    assert len(methods) > 15
    by_others = {"read_pages"}  # page by page, as the break reads one
    assert {n for n in methods if getattr(Broken, n) is getattr(System, n)} == by_others


def test_a_break_of_pages_breaks_those_that_are_written_together_too(run: RunContext) -> None:
    degraded = load_system("degraded:bm25")
    degraded.open(run)
    degraded.write_pages([PageIn("default", "people/ada", page("Ada Lovelace", "countess", "Wrote it."))])
    (hit,) = degraded.search("default", "Wrote", 5)
    assert hit.aliases == ()


def test_what_is_said_can_only_be_broken_where_the_bench_can_reach_it() -> None:
    assert Capability.HOOK_PROCESS in load_system("degraded:wellkept").can
    assert Capability.HOOK_PROCESS not in load_system("one-page:wellkept").can


def test_an_unknown_system_within_a_break_is_told_as_such() -> None:
    with pytest.raises(UsageError, match="unknown system 'nope'"):
        load_system("degraded:nope")


def test_a_degraded_system_forgets_aliases_and_reads_back_what_was_written(run: RunContext) -> None:
    system = filled("degraded:bm25", run)
    assert system.read_page("default", "people/p1") == page("Person 1", "alias1")
    assert [h.id for h in system.search("default", "alias1", 3)] == []
    assert [h.id for h in filled("bm25", run).search("default", "alias1", 3)] == ["people/p1"]


@pytest.mark.parametrize(
    "front",
    [
        "aliases: [a, b]\n",
        "aliases:\n  - a\n  - b\n",
        "aliases:\n- a\n",
        'aliases: ["a",\n  "b"]\n',
    ],
)
def test_every_way_to_list_aliases_is_taken_out(front: str) -> None:
    whole = f"---\ntitle: T\n{front}type: person\n---\n\naliases: of the body\n"
    assert without_aliases(whole) == "---\ntitle: T\ntype: person\n---\n\naliases: of the body\n"


def test_pages_without_front_matter_or_aliases_stay_as_they_are() -> None:
    for text in ("plain", "---\ntitle: T\n---\nbody", "---\nnever closed\n", ""):
        assert without_aliases(text) == text


def test_about_three_facts_of_ten_are_lost_and_always_the_same_ones(run: RunContext) -> None:
    said = tuple(ScriptedFact(n, "q", None, f"fact {n}", "fact") for n in range(200))
    conversation = Conversation("default", "s", (Message("user", "hello"),), said)

    def kept() -> list[str]:
        system = load_system("degraded:always-silent")
        system.open(run)
        system.write_conversation(conversation)
        return [row.text for row in system.recall_facts("default")]

    assert kept() == kept()
    assert 40 < 200 - len(kept()) < 80


def test_a_page_that_is_left_out_loses_its_line_and_its_id() -> None:
    said = Injection("head\n- A → `a`\n- B → `b`")
    assert only(said, lambda slug: slug == "b") == Injection("head\n- B → `b`", ids=("b",))
    assert only(said, lambda slug: False) == Injection("", ids=())
