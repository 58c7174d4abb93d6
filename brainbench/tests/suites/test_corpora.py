"""The suites on whole corpora: what an oracle, an echo and a silent memory score there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from brainbench import corpus as corpora
from brainbench import gold as golds
from brainbench.gold import Gold
from brainbench.metrics import METRICS, Count, Mean, Ratio
from brainbench.model import FactRow, Fixture, Observation, Replayed, SeamConfig, SessionBreak, Turn
from brainbench.panel import oracle
from brainbench.seams import SEAMS
from brainbench.suites import SUITES, Cell, judge
from brainbench.suites.leaks import turn_leaks
from brainbench.suites.scripts import scenes

ROOT = Path(__file__).parents[3]
DATA = Path(os.environ.get("BRAINBENCH_DATA", ROOT.parent / "shared" / "data"))
CORPORA = {"core": ROOT / "corpus" / "core", "v1-samples": DATA / "v1-samples", "wild-dev": DATA / "wild-dev"}
Memory = Callable[[Fixture, Gold, SeamConfig], Replayed]


def echo(fixture: Fixture, gold: Gold, seam: SeamConfig) -> Replayed:
    """A memory that repeats the turn, as text and as a fact."""
    return Replayed(fixture.fixture_id, "echo", seam.name, tuple(_echoes(fixture)))


def _echoes(fixture: Fixture) -> Iterator[Observation]:
    for event in fixture.events:
        if isinstance(event, SessionBreak):
            yield Observation(event.event_id, "persist")
        elif isinstance(event, Turn) and event.role == "user":
            row = FactRow(event.text, None, "echo", None, None)
            yield Observation(event.event_id, "turn", text=event.text, facts=(row,))


def silent(fixture: Fixture, gold: Gold, seam: SeamConfig) -> Replayed:
    """A memory that does nothing."""
    quiet = tuple(
        Observation(e.event_id, "persist" if isinstance(e, SessionBreak) else "turn")
        for e in fixture.events
        if isinstance(e, Turn | SessionBreak)
    )
    return Replayed(fixture.fixture_id, "null", seam.name, quiet)


def cells(name: str, memory: Memory, seam: SeamConfig) -> list[Cell]:
    """The cells of one memory on every suite that the corpus asks."""
    place = CORPORA[name]
    if not (place / "fixtures").is_dir():
        pytest.skip(f"{place} is not here; set BRAINBENCH_DATA to the folder with the development data")
    corpus = corpora.read(place / "fixtures", include_holdout=True)
    gold = golds.read(corpus, place / "gold")
    played = [(f, gold[f.fixture_id], memory(f, gold[f.fixture_id], seam)) for f in corpus.fixtures]
    found = [judge(suite, memory.__name__, seam, played) for suite in SUITES.values()]
    asked = [cell for cell in found if cell is not None]
    assert len(asked) >= 2
    return asked


@pytest.mark.req("C-620", "C-602")
@pytest.mark.parametrize("name", CORPORA)
@pytest.mark.parametrize("seam", ["openclaw", "codex"])
def test_gold_is_satisfiable_up_to_the_seams_budget(name: str, seam: str) -> None:
    for cell in cells(name, oracle, SEAMS[seam]):
        assert (cell.status, cell.errors) == ("scored", 0), cell.reason
        for metric, value in cell.metrics.items():
            if isinstance(value, Ratio) and METRICS[metric].gated and metric != "push_recall":
                assert value.value == (0 if METRICS[metric].better == "lower" else 1), (metric, cell.failed_items[:3])
            if isinstance(value, Count):
                assert value.n == 0, cell.leaks
        if cell.suite != "push":
            assert cell.failed_items == ()
        elif seam == "codex":
            assert cell.metrics["push_recall"] == cell.metrics["push_recall_ceiling"]


@pytest.mark.req("C-620", "C-509")
@pytest.mark.parametrize("name", CORPORA)
@pytest.mark.parametrize("memory", [echo, silent])
def test_repeating_the_turn_or_saying_nothing_earns_nothing(name: str, memory: Memory) -> None:
    for cell in cells(name, memory, SEAMS["openclaw"]):
        assert (cell.status, cell.errors) == ("scored", 0), cell.reason
        for metric in ("push_recall", "write_back_fidelity", "continuity_rate", "stored_continuity_rate"):
            value = cell.metrics.get(metric)
            assert value is None or (isinstance(value, Ratio) and value.n == 0), (metric, value)
        assert cell.metrics.get("push_precision") is None
        assert cell.metrics.get("provenance_accuracy") is None
        if cell.suite == "know-to-ask":
            assert cell.metrics["know_to_ask_failure_rate"] == Ratio(*[_asked(cell)] * 2)
            assert cell.metrics["false_fire_rate"] == Ratio(0, cell.gold_total - _asked(cell))


def _asked(cell: Cell) -> int:
    rate = cell.metrics["know_to_ask_failure_rate"]
    assert isinstance(rate, Ratio)
    return rate.of


@pytest.mark.req("C-601", "C-602")
@pytest.mark.parametrize("name", CORPORA)
def test_the_slices_of_a_cell_add_up_to_it(name: str) -> None:
    for cell in cells(name, silent, SEAMS["codex"]):
        for parts in cell.slices.values():
            assert sum(p.gold_total for p in parts.values()) == cell.gold_total
            assert sum(p.gold_failed for p in parts.values()) == cell.gold_failed == len(cell.failed_items)
            for metric, whole in cell.metrics.items():
                counted = [p.metrics[metric] for p in parts.values()]
                if isinstance(whole, Ratio):
                    assert sum(m.n for m in counted if isinstance(m, Ratio)) == whole.n
                    assert sum(m.of for m in counted if isinstance(m, Ratio)) == whole.of
                assert isinstance(whole, Ratio | Count | Mean) or not any(counted)


@pytest.mark.req("C-603", "C-651")
def test_every_foreign_page_of_the_core_corpus_is_noticed_when_it_leaks() -> None:
    corpus = corpora.read(CORPORA["core"] / "fixtures", include_holdout=True)
    scoped = [fixture for fixture in corpus.fixtures if len(fixture.sources) > 1]
    assert scoped
    for fixture in scoped:
        turn = next(e for e in fixture.events if isinstance(e, Turn) and e.role == "user")
        for write in fixture.setup:
            foreign = (write.source or fixture.active_source) != fixture.active_source
            seen = Observation(turn.event_id, "turn", text=write.content.upper())
            leaks = turn_leaks(fixture, Replayed(fixture.fixture_id, "sut", "x", (seen,)), scenes(fixture))
            assert bool(leaks) == foreign, (fixture.fixture_id, write.slug)
