"""`brainbench failures` on runs that were really played."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from brainbench.cli import main

DATA = Path(__file__).parents[1] / "data" / "mini-v1"
MINI = ("--fixtures", str(DATA / "fixtures"), "--gold", str(DATA / "gold"))
Told = Callable[..., Result]


def brainbench(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The result and the observations of a run of two systems."""
    place = tmp_path_factory.mktemp("run")
    kept = ("--out", place / "result.json", "--save-observations", place / "seen")
    done = brainbench("run", *MINI, "--jobs", "1", "--system", "bm25", "--system", "echo", *kept)
    assert done.exit_code == 0, done.output
    return place


@pytest.fixture
def told(place: Path) -> Told:
    """The answer to `brainbench failures` of that run."""
    return lambda *words: brainbench("failures", place / "result.json", *MINI, *words)


def test_an_item_is_told_with_its_turn_what_was_wanted_and_what_came(told: Told) -> None:
    done = told("--system", "bm25")
    assert done.exit_code == 0
    assert done.stdout == TOLD


def test_what_another_system_brought_stands_in_the_observations(told: Told, place: Path) -> None:
    asked = ("--system", "echo", "--suite", "continuity")
    brought = "    brought  Which wood did we choose for the Heron Refit?\n"
    assert brought not in told(*asked).stdout
    assert "not in the result; --observations DIR tells" in told(*asked).stdout
    assert told(*asked, "--observations", place / "seen").stdout.endswith(
        "    wanted   projects/heron-refit or words that hold 'larch'\n" + brought
    )


def test_every_failed_item_of_the_result_is_told_and_no_other(told: Told, place: Path) -> None:
    document = json.loads((place / "result.json").read_text())
    cells = document["_meta"]["native"]["cells"]
    expected = {(c["system"], c["suite"], c["harness"], item) for c in cells for item in c["failed_items"]}
    for words in ((), ("--observations", place / "seen")):
        found = json.loads(told("--json", *words).stdout)
        assert len(expected) == sum(len(each["harnesses"]) for each in found)
        assert expected == {(e["system"], e["suite"], h, e["item"]) for e in found for h in e["harnesses"]}
    assert all(each["brought"] is not None for each in found)


def test_a_stored_fact_of_the_wrong_page_is_told_as_what_came(tmp_path: Path) -> None:
    kept = ("--out", tmp_path / "result.json", "--save-observations", tmp_path)
    only = ("--suite", "write-back", "--harness", "codex", "--system", "full-context")
    assert brainbench("run", *MINI, *only, *kept).exit_code == 0
    done = brainbench("failures", tmp_path / "result.json", *MINI, "--observations", tmp_path, "--limit", "1")
    assert "wanted   Decided to use larch for the Heron Refit (of projects/heron-refit)\n" in done.stdout
    assert "brought  Decided to use larch for the Heron Refit (of nobody, from page " in done.stdout
    assert "  and 3 more; --limit 4 shows all\n" in done.stdout


def test_an_error_is_told_instead_of_what_came(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "failing.py").write_text(FAILING)
    monkeypatch.chdir(tmp_path)
    flags = ("--system", "failing:Failing", "--suite", "push", "--harness", "codex")
    brainbench("run", *MINI, *flags, "--out", "result.json", "--save-observations", "seen")
    assert "brought  not in the result" in brainbench("failures", "result.json", *MINI).stdout
    done = brainbench("failures", "result.json", *MINI, "--observations", "seen")
    assert "    error    Failing.context: RuntimeError: out of ink\n" in done.stdout
    assert "brought" not in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ("--suite", "speed"),
            "--suite: 'speed' is not in this run; it holds know-to-ask, push, write-back, continuity",
        ),
        (("--system", "bm52"), "--system: 'bm52' is not in this run; it holds bm25, echo"),
        (("--observations", "nowhere"), "nowhere/observations.json: "),
    ],
)
def test_what_cannot_be_told_is_answered_in_one_line(told: Told, words: tuple[str, ...], said: str) -> None:
    done = told(*words)
    assert (done.exit_code, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert said in done.stderr


def test_another_corpus_other_observations_and_no_result_are_refused(told: Told, place: Path, tmp_path: Path) -> None:
    result = place / "result.json"
    named = brainbench("failures", result)
    assert "unknown corpus 'mini-v1'" in named.stderr
    assert "name what was played with --fixtures DIR --gold DIR" in named.stderr
    document = json.loads(result.read_text())
    document["_meta"]["native"]["corpus"] = "pocket"
    (tmp_path / "result.json").write_text(json.dumps(document))
    assert "was measured on another corpus" in brainbench("failures", tmp_path / "result.json").stderr
    seen = json.loads((place / "seen" / "observations.json").read_text())
    (tmp_path / "observations.json").write_text(json.dumps(seen | {"observations_hash": "0"}))
    assert "holds the observations of another run" in told("--observations", tmp_path).stderr
    other = place / "seen" / "observations.json"
    assert "is no result of `brainbench run --out`" in brainbench("failures", other, *MINI).stderr


TOLD = """\
bm25: know-to-ask: 1 item failed
  mini-pair-writer/3 (openclaw, claude-code, codex)
    said     We decided to use larch for the Heron Refit.
    wanted   projects/heron-refit
    brought  nothing
bm25: push: 1 item failed
  mini-pair-writer/3/projects/heron-refit (openclaw, claude-code, codex)
    said     We decided to use larch for the Heron Refit.
    wanted   projects/heron-refit
    brought  nothing
"""
FAILING = """
from brainbench.systems import System
class Failing(System):
    can = frozenset({"page_write", "context"})
    def open(self, run): self.pages = {}
    def write_page(self, page): self.pages[page.slug] = page.content
    def read_page(self, source, slug): return self.pages.get(slug)
    def context(self, ask):
        if ask.session.startswith("admission"):
            from brainbench.model import Injection
            return Injection(" ".join(f"\u2192 `{slug}`" for slug in self.pages))
        raise RuntimeError("out of ink")
"""
