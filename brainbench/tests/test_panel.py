"""The validity panel: each expectation holds where the bench is sound, and is seen to break where it is not."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from brainbench import panel as validity
from brainbench.cli import main
from brainbench.evidence.committed import find_profile
from brainbench.evidence.profile import Profile
from brainbench.metamorphic import RELATIONS, Related
from brainbench.metrics import METRICS, Count, Judged, JudgedFact, JudgedTurn, Mean, Measured, Ratio
from brainbench.model import Fixture, Write
from brainbench.panel import DEGRADED, EXPECTATIONS, Expectation, Finding, Played, findings, panel
from brainbench.replay.sweep import Sweep
from brainbench.run import choose, measure
from brainbench.suites import Cell
from brainbench.systems import SYSTEMS

MINI = Path(__file__).parent / "data" / "mini-v1"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.req("C-620")]


def alike(system: str) -> dict[str, str]:
    """Hashes as they are where nothing differs; that it is so is seen by the command's own test."""
    return {f"{name}/{way}": "1" * 64 for name in (system, "random") for way in ("first", *validity.WAYS)}


@pytest.fixture(scope="module")
def seen() -> Played:
    """The panel around wellkept, played once on the bundled corpus through one seam."""
    kept: list[Played] = []
    real = validity.findings

    def keep(played: Played) -> Iterator[Finding]:
        kept.append(played)
        return real(played)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(validity, "findings", keep)
        patch.setattr(validity, "_seen_alike", lambda run, system, told, progress: alike(system))
        found = panel(choose(corpus="pocket", systems=("wellkept",), harness="openclaw"), find_profile("conformance"))
    assert found.broken == ()
    return kept[0]


def one(played: Played, row: Expectation) -> Finding:
    (found,) = findings(played, (row,))
    return found


def test_every_expectation_holds_on_the_bundled_corpus_or_says_why_it_is_untested(seen: Played) -> None:
    by_status: dict[str, list[Finding]] = {}
    for found in findings(seen):
        by_status.setdefault(found.status, []).append(found)
    assert [str(f) for f in by_status.get("BROKEN", [])] == []
    assert len(by_status["ok"]) > 40
    for found in by_status["untested"]:
        assert re.search("nothing was asked of a brain of 1,000 pages|underpowered|nothing was lost", found.measured)


def wrong(row: Expectation, value: Measured | None) -> Measured | None:
    """Another value than the row expects."""
    match value:
        case None:
            return Ratio(1, 2)
        case Ratio(n, of) if row.bound.startswith(("<=", "= 0")) or METRICS[row.metric].better == "lower":
            return Ratio(of - n, of) if Fraction(n, of) != Fraction(1, 2) else Ratio(of, of)
        case Ratio(_, of):
            return Ratio(0, of)
        case Mean(_, of):
            return Mean(0.0, of)
        case _:
            return Count(1)


def spoiled(cell: Cell, row: Expectation) -> Cell:
    metric = row.metric or "false_fire_rate"
    if metric not in cell.metrics:
        return cell
    return replace(cell, metrics={**cell.metrics, metric: wrong(row, cell.metrics[metric])})


MEASURED = [
    row
    for row in EXPECTATIONS
    if row.metric and row.system != DEGRADED and " pages" not in row.bound and row.check is not validity._SPEAKS
]


@pytest.mark.parametrize("row", MEASURED, ids=lambda row: f"{row.system} {row.metric}")
def test_an_expectation_breaks_when_another_value_is_measured(seen: Played, row: Expectation) -> None:
    assert one(seen, row).status == "ok"
    cells = tuple(spoiled(c, row) if c.system == row.system else c for c in seen.run.board.cells)
    broken = replace(
        seen,
        run=replace(seen.run, board=replace(seen.run.board, cells=cells)),
        oracle=tuple(spoiled(c, row) if row.system == "oracle" else c for c in seen.oracle),
    )
    assert one(broken, row).status == "BROKEN"


def rows(wanted: Callable[[Expectation], bool]) -> list[Expectation]:
    found = [row for row in EXPECTATIONS if wanted(row)]
    assert found
    return found


def test_a_gate_that_lets_it_pass_breaks_the_expectation_that_it_fails(seen: Played) -> None:
    toothless = replace(seen, profile=Profile("toothless", frozenset(), {}))
    for row in rows(lambda r: r.bound == "fails the gate"):
        assert (one(seen, row).status, one(toothless, row).status) == ("ok", "BROKEN")


def test_seeing_something_else_when_played_again_breaks_the_expectation(seen: Played) -> None:
    for row in rows(lambda r: r.bound.startswith("seen alike")):
        way = f"{seen.name(row.system)}/{row.bound.removeprefix('seen alike, ')}"
        assert one(seen, row).status == "ok"
        assert one(replace(seen, hashes={**seen.hashes, way: "0" * 64}), row).status == "BROKEN"
        assert one(replace(seen, hashes={}), row).status == "untested"


def renamed(played: Played, names: dict[str, str]) -> Played:
    """The same with what was seen of one system given out as that of another."""
    run = played.run
    replays = tuple(replace(r, system=names.get(r.system, r.system)) for r in run.replays)
    cells = tuple(replace(c, system=names.get(c.system, c.system)) for c in run.board.cells)
    return replace(played, run=replace(run, replays=replays, board=replace(run.board, cells=cells)))


def test_a_damaged_memory_that_scores_better_than_the_whole_one_breaks_the_expectation(seen: Played) -> None:
    swapped = renamed(seen, {"wellkept": "degraded:wellkept", "degraded:wellkept": "wellkept"})
    for row in rows(lambda r: r.system == DEGRADED):
        assert one(seen, row).status in ("ok", "untested")
        found = one(swapped, row)
        assert found.status == ("BROKEN" if one(seen, row).status == "ok" else "untested"), found


@pytest.mark.parametrize(
    ("lost", "won", "status"),
    [(8, 0, "ok"), (7, 0, "untested"), (8, 1, "BROKEN"), (0, 8, "BROKEN"), (0, 0, "untested")],
)
def test_damage_must_show_in_pairs_that_chance_would_seldom_give(
    seen: Played, monkeypatch: pytest.MonkeyPatch, lost: int, won: int, status: str
) -> None:
    def judged(played: Played, system: str, cell: Cell) -> Judged:
        right = [system == validity.FULL] * lost + [system == DEGRADED] * won + [True] * 5
        return Judged(facts=tuple(JudgedFact(f"f/{n}/fact 1", False, well, well) for n, well in enumerate(right)))

    monkeypatch.setattr(Played, "judged", judged)
    (row,) = rows(lambda r: r.system == DEGRADED and r.metric == "write_back_fidelity")
    found = one(seen, row)
    said = f"{lost} of {lost + 5} lost, {won} won" if lost + won else "nothing was lost: the damage took none of 5 that"
    assert (found.status, said in found.measured) == (status, True)
    assert ("underpowered" in found.measured) == (0 < lost + won < 8)


def test_where_nothing_was_right_nothing_could_be_lost(seen: Played, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Played, "judged", lambda *_: Judged(facts=(JudgedFact("f/1/fact 1", False, False, False),)))
    (row,) = rows(lambda r: r.system == DEGRADED and r.metric == "write_back_fidelity")
    found = one(seen, row)
    assert found.status == "untested"
    assert found.measured.startswith("nothing could be lost: none of 1 was right in the whole")


def test_too_few_pairs_are_said_to_be_too_few(seen: Played) -> None:
    fixtures = seen.run.corpus.fixtures[:3]
    few = replace(seen, run=replace(seen.run, corpus=replace(seen.run.corpus, fixtures=fixtures)))
    for row in rows(lambda r: r.system == DEGRADED):
        found = one(few, row)
        assert found.status == "untested"
        assert re.search("underpowered|nothing (was|could be) lost|nothing was asked", found.measured)


@pytest.mark.parametrize("metric", ["know_to_ask_failure_rate", "write_back_fidelity"])
def test_a_damaged_system_is_paired_by_the_items_of_its_metric(seen: Played, metric: str) -> None:
    (cell,) = seen.cells(validity.FULL, METRICS[metric].suite)
    right = validity.PAIRS[metric](seen.judged(validity.FULL, cell)).values()
    value = cell.metrics[metric]
    assert isinstance(value, Ratio)
    well = value.of - value.n if METRICS[metric].better == "lower" else value.n
    assert (sum(right), len(right)) == (well, value.of)


def test_a_system_that_no_row_can_play_is_no_system() -> None:
    assert set(validity.COMPARED) <= set(SYSTEMS)
    assert {row.system for row in EXPECTATIONS} - set(validity.COMPARED) == {validity.FULL, DEGRADED, "oracle"}


def test_bringing_one_of_two_pages_where_one_fits_is_no_loss_whichever_it_is() -> None:
    def judged(slug: str) -> Judged:
        turn = JudgedTurn("f/1", "must", gold=frozenset({"a", "b"}), injected=(slug,))
        return Judged(turns=(turn,), capacity=1)

    for slug, right in (("a", True), ("b", True), ("c", False)):
        assert validity.PAIRS["push_recall"](judged(slug)) == {"f/1": right}


def test_looking_that_finds_no_more_than_the_lot_breaks_the_expectation(seen: Played) -> None:
    swapped = renamed(seen, {"bm25": "random", "random": "bm25"})
    (row,) = rows(lambda r: r.system == "bm25")
    assert (one(seen, row).status, one(swapped, row).status) == ("ok", "BROKEN")


def test_staying_silent_once_breaks_what_is_expected_of_those_that_always_speak(seen: Played) -> None:
    for row in rows(lambda r: r.check is validity._SPEAKS):
        silent = renamed(seen, {row.system: "-", "always-silent": row.system})
        assert (one(seen, row).status, one(silent, row).status) == ("ok", "BROKEN")


def test_luck_is_only_held_against_a_system_where_a_brain_is_large_enough(seen: Played) -> None:
    corpus = seen.run.corpus
    alone = [f for f in corpus.fixtures if f.universe is None]
    small = tuple(f for f in alone if validity._pages(f, {}) < validity.MIDDLING)
    large = tuple(replace(f, setup=_padded(f)) for f in corpus.fixtures)
    for row in rows(lambda r: " pages" in r.bound and r.system == "random"):
        found = [
            one(replace(seen, run=replace(seen.run, corpus=replace(corpus, fixtures=fixtures))), row)
            for fixtures in (small, large)
        ]
        assert found[0].status == "untested"
        assert f"a brain of {'1,000' if '1,000' in row.bound else '12'} pages" in found[0].measured
        assert found[1].status == ("ok" if row.metric == "push_precision" else "BROKEN")


def _padded(fixture: Fixture) -> tuple[Write, ...]:
    """The brain of a fixture with a thousand pages more, which nobody has played."""
    more = (Write(-n, "page", "owner", "padding", slug=f"padding/{n}") for n in range(1000))
    return (*fixture.setup, *more)


@pytest.mark.parametrize(
    "trouble",
    [
        {"errors": 1, "reason": "1 of 9 events went wrong"},
        {"status": "invalid", "reason": "3 of 9 fixtures could not be seeded, more than 2 %"},
        {"status": "failed", "reason": "no fixture could be seeded"},
    ],
    ids=["errors", "unfilled", "failed"],
)
def test_a_cell_of_a_panel_system_that_is_no_measurement_breaks_its_expectations(
    seen: Played, trouble: dict[str, Any]
) -> None:
    (row,) = rows(lambda r: r.system == "echo" and r.metric == "push_recall")
    cells = tuple(replace(c, **trouble) if c.key == "echo/openclaw/push" else c for c in seen.run.board.cells)
    found = one(replace(seen, run=replace(seen.run, board=replace(seen.run.board, cells=cells))), row)
    assert (found.status, found.measured) == ("BROKEN", f"openclaw: {trouble['reason']}")


def test_a_system_that_could_not_be_measured_after_a_change_breaks_the_panel(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = Related(RELATIONS[0], "bm25", 0, 20, "codex/push", "failed another seed: no fixture could be seeded")
    asked = Related(RELATIONS[1], "bm25", 0, 0, "nothing was asked")
    monkeypatch.setattr(validity, "related", lambda choice, told: [lost, asked])
    found = list(validity._unchanged(choose(corpus="pocket", systems=("bm25",)), "bm25", lambda what: None))
    assert [f.status for f in found] == ["BROKEN", "untested"]
    assert found[0].measured == "failed another seed: no fixture could be seeded (codex/push)"


def test_a_memory_that_was_not_admitted_is_not_played_again_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    names = ("misbehaving:Crashing", "random")
    run = measure(choose(fixtures=MINI / "fixtures", gold=MINI / "gold", systems=names, harness="openclaw"))
    kept: list[Any] = []
    monkeypatch.setattr(validity, "played", lambda *given, **how: kept.append(how["refused"]) or Sweep())
    validity._seen_alike(run, names[0], lambda what: None, lambda done, of: None)
    assert [list(refused) for refused in kept] == [["misbehaving:Crashing"]] * len(validity.WAYS)


def brainbench(*argv: object) -> tuple[int, str, str]:
    done = CliRunner().invoke(main, [str(word) for word in argv], env={"CI": ""}, catch_exceptions=False)
    return done.exit_code, done.stdout, done.stderr


V1 = ("--fixtures", MINI / "fixtures", "--gold", MINI / "gold", "--system", "bm25", "--harness", "openclaw")


def test_the_command_prints_a_row_for_each_expectation_on_a_v1_corpus_too() -> None:
    code, out, err = brainbench("panel", *V1)
    assert code == 0, out + err
    assert "validity panel: bm25 on mini-v1" in out
    assert out.splitlines()[2].split() == ["system", "expectation", "measured"]
    assert len(out.splitlines()) == 5 + len(EXPECTATIONS)
    assert " 0 BROKEN, " in out


def test_a_broken_expectation_ends_with_2_and_is_inconclusive_in_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(played: Played, system: str, metric: str) -> tuple[validity.Status, str]:
        return "BROKEN", "1/2"

    row = Expectation("null", "false_fire_rate", "= 0", never, "it never speaks")
    monkeypatch.setattr(validity, "findings", lambda played: findings(played, (row,)))
    line = "panel: null: expected false_fire_rate = 0, measured 1/2: it never speaks"
    code, out, err = brainbench("panel", *V1, "--json")
    assert (code, json.loads(out)["valid"]) == (2, False)
    assert f"brainbench: inconclusive: {line}" in err
    code, out, err = brainbench("run", *V1, "--panel", "--json")
    assert (code, json.loads(out)["_meta"]["panel"]) == (2, [line.removeprefix("panel: ")])
    assert f"brainbench: inconclusive: {line}" in err


def test_a_panel_is_about_one_system() -> None:
    code, _, err = brainbench("panel", "--system", "bm25", "--system", "null")
    assert code == 2
    assert "--system: name one, not bm25, null" in err
