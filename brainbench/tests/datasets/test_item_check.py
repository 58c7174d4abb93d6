"""The commands that make and check an item corpus say what is wrong, and end as the bench's own do."""

from __future__ import annotations

from pathlib import Path

import pytest

from brainbench.datasets import adversarial_gen, trust_gen
from brainbench.datasets.item_check import Report, main
from brainbench.datasets.trust_gen.check import inspect
from brainbench.errors import Fault, OutputError


def test_the_door_builds_checks_and_prints_the_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path)], "m", trust_gen.build, inspect) == 0
    assert main(["--check", str(tmp_path)], "m", trust_gen.build, inspect) == 0
    assert "suites: deletion" in capsys.readouterr().out


def test_the_door_names_the_changed_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trust_gen.build(tmp_path)
    with (tmp_path / "gold" / "trust-fence-000.gold.json").open("a") as file:
        file.write("\n")
    assert main(["--check", str(tmp_path)], "m", trust_gen.build, inspect) == 2
    assert "trust-fence-000.gold.json" in capsys.readouterr().err


def test_the_door_tells_every_fault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = Report(("fine",), (Fault("a", "b", "is wrong"), Fault("c", "d", "is missing")))
    assert main(["--check", str(tmp_path)], "m", trust_gen.build, lambda _: broken) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert "a: b: is wrong" in told.err
    assert "c: d: is missing" in told.err


@pytest.mark.parametrize("argv", [[], ["--check"], ["a", "b"], ["--nonsense"]])
def test_the_door_explains_itself_when_misused(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(argv, "brainbench.datasets.trust_gen", trust_gen.build, inspect) == 2
    assert "usage: python -m brainbench.datasets.trust_gen [--check] DIR" in capsys.readouterr().err


def test_a_place_that_cannot_be_written_is_an_output_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write"):
        adversarial_gen.build(tmp_path / "file")


def test_a_rebuild_removes_what_is_no_longer_made_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures" / "trust-gone-000.fixture.json").write_text("{}")
    (tmp_path / "fixtures" / "notes.txt").write_text("mine")
    trust_gen.build(tmp_path)
    assert not (tmp_path / "fixtures" / "trust-gone-000.fixture.json").exists()
    assert (tmp_path / "fixtures" / "notes.txt").read_text() == "mine"
