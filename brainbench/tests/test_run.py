from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from brainbench import corpus as corpora
from brainbench.errors import CorpusError, NothingMeasured, UsageError
from brainbench.replay import observations_hash
from brainbench.replay.sweep import sweep
from brainbench.run import choose, measure, tasks_of
from brainbench.seams import SEAMS
from brainbench.suites import SUITES

MINI = Path(__file__).parent / "data" / "mini-v1"


@pytest.fixture
def mini(tmp_path: Path) -> Path:
    shutil.copytree(MINI, tmp_path / "mini")
    return tmp_path / "mini"


def chosen(place: Path, **flags: object) -> object:
    plain = {"fixtures": place / "fixtures", "gold": place / "gold", "systems": ("bm25",), "jobs": 1}
    return choose(**{**plain, **flags})  # type: ignore[arg-type]


def test_a_run_has_a_cell_for_every_system_seam_and_suite_that_is_asked(mini: Path) -> None:
    board = measure(chosen(mini, systems=("bm25", "null"))).board  # type: ignore[arg-type]
    keys = [cell.key for cell in board.cells]
    suites = ("know-to-ask", "push", "write-back", "continuity")
    wanted = {f"{n}/{h}/{s}" for n in ("bm25", "null") for h in ("openclaw", "claude-code", "codex") for s in suites}
    assert wanted <= set(keys)
    assert len(keys) == len(set(keys))
    assert {cell.status for cell in board.cells if cell.system == "null" and cell.seam != "direct"} == {"scored"}
    assert {c.status for c in board.cells if c.key.startswith("bm25/openclaw")} == {"scored", "not_applicable"}


@pytest.mark.req("C-112")
def test_rows_are_user_turns_times_declared_suites_and_readers_only_for_continuity(mini: Path) -> None:
    board = measure(chosen(mini, systems=("null",))).board  # type: ignore[arg-type]
    seen = {(row.fixture_id, row.turn_id, row.harness, row.suite) for row in board.rows}
    assert len(seen) == len(board.rows)
    for row in board.rows:
        fixture = json.loads((mini / "fixtures" / f"{row.fixture_id}.fixture.json").read_text())
        turn = next(t for t in fixture["turns"] if t["turn_id"] == row.turn_id)
        assert turn["role"] == "user"
        assert row.suite in fixture["suites"]
        assert row.suite != "continuity" or fixture["continuity"]["pair_role"] == "reader"


@pytest.mark.req("C-640")
@pytest.mark.parametrize("spoil", ["absent", "garbage"])
def test_observations_are_the_same_without_gold(mini: Path, spoil: str) -> None:
    choice = chosen(mini, suite="know-to-ask,push")
    honest = measure(choice).board.observations_hash  # type: ignore[arg-type]
    shutil.rmtree(mini / "gold")
    if spoil == "garbage":
        (mini / "gold").mkdir()
        (mini / "gold" / "a.gold.json").write_text("garbage")
    corpus = corpora.read(mini / "fixtures", include_holdout=False)
    blind = sweep(tasks_of(choice, corpus), 1).replays  # type: ignore[arg-type]
    assert observations_hash(blind) == honest
    with pytest.raises(CorpusError):
        measure(choice)  # type: ignore[arg-type]


@pytest.mark.req("C-107")
def test_the_hash_of_the_corpus_counts_the_holdout_whether_or_not_it_is_played(mini: Path) -> None:
    gate, every = (measure(chosen(mini, include_holdout=flag)).board for flag in (False, True))  # type: ignore[arg-type]
    assert gate.fixtures_hash == every.fixtures_hash
    assert sum(c.gold_total for c in every.cells) > sum(c.gold_total for c in gate.cells)


@pytest.mark.req("C-121")
def test_filters_that_leave_nothing_are_no_pass(mini: Path) -> None:
    with pytest.raises(NothingMeasured, match="no cell applies: bm25"):
        measure(chosen(mini, suite="write-back"))  # type: ignore[arg-type]
    carried = (
        "--harness, --suite: the direct seam carries write-back, continuity, trust, state-resolution, deletion, "
        "not know-to-ask: that is asked through"
    )
    with pytest.raises(NothingMeasured, match=f"^{carried} openclaw, claude-code, codex$"):
        measure(chosen(mini, suite="know-to-ask", harness="direct"))  # type: ignore[arg-type]
    for path in (mini / "fixtures").iterdir():
        path.unlink()
    for path in (mini / "gold").iterdir():
        path.unlink()
    with pytest.raises(NothingMeasured, match=r"no \*\.fixture\.json"):
        measure(chosen(mini))  # type: ignore[arg-type]


@pytest.mark.req("C-120")
@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ({"harness": "claude"}, f"--harness: unknown 'claude'; known: {', '.join(SEAMS)}, all"),
        ({"harness": ","}, "--harness: nothing named"),
        ({"suite": "push,nope"}, f"--suite: unknown 'nope'; known: {', '.join(SUITES)}, all"),
        ({"systems": ("nope",)}, "--system: unknown system 'nope'; known: wellkept"),
        ({"gold": None}, "--gold: --fixtures DIR and --gold DIR go together"),
        ({"corpus": "core"}, "--corpus: give either"),
        (
            {"fixtures": None, "gold": None, "corpus": "nope"},
            "--corpus: unknown corpus 'nope'; found: adversarial, core",
        ),
    ],
)
def test_unknown_names_list_the_valid_ones(mini: Path, flags: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError) as error:
        chosen(mini, **flags)
    assert str(error.value).startswith(said)


def test_disclosed_modes_stand_in_the_config_and_beside_the_seam(mini: Path) -> None:
    board = measure(chosen(mini, hook_inproc=True, openclaw_window="user")).board  # type: ignore[arg-type]
    assert dict(board.config.modes) == {"hook": "in-process", "openclaw-window": "user"}
    assert "no process, no socket" in board.config.deviations["claude-code"]
    assert "window of user turns only" in board.config.deviations["openclaw"]


def test_filters_make_a_narrowed_run(mini: Path) -> None:
    assert not measure(chosen(mini)).board.config.narrowed  # type: ignore[arg-type]
    assert measure(chosen(mini, harness="codex,openclaw")).board.config.narrowed  # type: ignore[arg-type]
