"""Large brains are made from what MANIFEST.json says of them, or the run does not start."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from brainbench import corpus, gold
from brainbench.cli import main
from brainbench.datasets import brains
from brainbench.datasets.core_gen.universe import brain
from brainbench.errors import CorpusError

POCKET = Path(__file__).parents[3] / "corpus" / "pocket"


def changed(tmp_path: Path, change: Callable[[dict[str, Any]], None]) -> Path:
    """The pocket corpus with another manifest, sealed again."""
    copy = tmp_path / "pocket"
    shutil.copytree(POCKET, copy)
    manifest = json.loads((copy / "MANIFEST.json").read_text(encoding="utf-8"))
    change(manifest)
    (copy / "MANIFEST.json").write_text(json.dumps(manifest), encoding="utf-8")
    gold.write_manifest(copy, corpus.read_manifest(copy))
    return copy


def read(directory: Path) -> corpus.Corpus:
    return corpus.read(directory / "fixtures", include_holdout=True)


@pytest.mark.req("C-802")
def test_a_brain_lies_in_a_file_while_it_is_needed() -> None:
    with brains.laid_out(read(POCKET), lambda pages: 7.0) as large:
        assert list(large) == ["brain-1k"]
        laid = large["brain-1k"]
        assert laid.seconds == 7.0
        pages = msgspec.msgpack.decode(Path(laid.file).read_bytes(), type=list[tuple[str, str]])
        assert pages == list(brain("brain-1k", 42))
        assert "1k" not in laid.name + laid.file
    assert not Path(laid.file).exists()


def _other_seed(manifest: dict[str, Any]) -> None:
    manifest["universes"]["brain-1k"]["seed"] = 43


def _other_size(manifest: dict[str, Any]) -> None:
    manifest["universes"]["brain-1k"]["pages"] = 999


def _other_maker(manifest: dict[str, Any]) -> None:
    manifest["generator"]["module"] = "os"


@pytest.mark.req("C-207")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_other_seed, "what is made has SHA-256"),
        (_other_size, "999 pages are listed, 1000 are made"),
        (_other_maker, "nothing here makes it"),
    ],
)
def test_a_brain_that_is_not_what_is_listed_stops_run_and_validate(
    tmp_path: Path, change: Callable[[dict[str, Any]], None], said: str
) -> None:
    place = changed(tmp_path, change)
    with pytest.raises(CorpusError, match=said), brains.laid_out(read(place), float):
        pass
    where = ("--fixtures", str(place / "fixtures"), "--gold", str(place / "gold"))
    for command in (("validate",), ("run", "--system", "null")):
        done = CliRunner().invoke(main, [*command, *where])
        assert done.exit_code == 2
        assert f"MANIFEST.json: universes.brain-1k: {said}" in done.stderr


@pytest.mark.req("C-207")
def test_a_universe_that_is_not_listed_is_a_fault_of_its_fixture(tmp_path: Path) -> None:
    def forget(manifest: dict[str, Any]) -> None:
        del manifest["universes"]

    with pytest.raises(CorpusError, match=r"is no universe of MANIFEST\.json; it lists none"):
        gold.validate(changed(tmp_path, forget) / "fixtures", tmp_path / "pocket" / "gold")


def test_a_corpus_without_a_manifest_cannot_be_played_in_a_brain(tmp_path: Path) -> None:
    shutil.copytree(POCKET, tmp_path / "bare", ignore=shutil.ignore_patterns("MANIFEST.json"))
    with pytest.raises(CorpusError, match="no universe of this name"):
        brains.check(read(tmp_path / "bare"))


@pytest.mark.req("C-207")
def test_the_universes_are_bound_by_the_corpus_hash() -> None:
    told = corpus.read_manifest(POCKET)
    assert told.split is not None
    assert corpus.corpus_hash(told.fixtures_hash, told.universes, told.split) == told.corpus_hash
    assert corpus.corpus_hash(told.fixtures_hash, {}, told.split) != told.corpus_hash
