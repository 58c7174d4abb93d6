"""What is hidden from a system cannot be read by it in any of the ways that the rights of the bench would open."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from brainbench.corpus import find
from brainbench.replay.seal import can_seal, seal
from brainbench.replay.sweep import sweep
from brainbench.replay.worker import Task
from brainbench.run import hidden_from_systems
from brainbench.seams import SEAMS

from ..conftest import script
from .test_sweep import CAN

needs_landlock = pytest.mark.skipif(not can_seal(), reason="this kernel has no Landlock")


@pytest.fixture(autouse=True)
def _importable_by_workers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    yield
    sys.modules.pop("misbehaving", None)


def told(system: str, hidden: tuple[str, ...]) -> str:
    task = Task(f"misbehaving:{system}", SEAMS["openclaw"], script("Ada?"), "r", 42, CAN)
    (observation,) = sweep([task], 1, hidden=hidden).replays[0].observations
    assert observation.error is None
    return observation.text


@pytest.mark.slow
@needs_landlock
@pytest.mark.req("C-640", "C-642")
def test_a_system_that_prowls_for_gold_finds_none():
    core = find("core")
    assert told("Prowling", hidden_from_systems(core / "fixtures", core / "gold")) == ""


@pytest.mark.slow
@needs_landlock
@pytest.mark.req("C-640", "C-642")
def test_without_the_seal_the_same_system_finds_it():
    found = told("Prowling", ())
    assert found.startswith("list read child around linked moved generator")
    assert (find("core") / "gold" / "core-direct-000.gold.json").exists()


@pytest.mark.slow
@needs_landlock
def test_a_sealed_system_can_still_work_with_files_and_processes_of_its_own():
    core = find("core")
    assert told("Working", hidden_from_systems(core / "fixtures", core / "gold")) == "ended -15"


SEALED = """
import os, sys
from brainbench.replay.seal import seal
assert seal(sys.argv[1:])
def reads(path):
    try:
        return open(path).read()
    except OSError as error:
        return error.strerror
print(*(reads(path) for path in sys.stdin.read().split()), sep="|")
"""


def sealed(hidden: list[Path], paths: list[Path]) -> list[str]:
    """What a process reads in each of the paths after some directories were hidden from it."""
    argv = [sys.executable, "-c", SEALED, *map(str, hidden)]
    asked = " ".join(map(str, paths))
    done = subprocess.run(argv, input=asked, capture_output=True, text=True, check=True)
    return done.stdout.rstrip("\n").split("|")


@needs_landlock
def test_only_what_is_below_the_hidden_directories_is_shut(tmp_path: Path):
    places = [tmp_path / name for name in ("a/gold/deep", "a/beside", "b/gold", "c")]
    for place in places:
        place.mkdir(parents=True)
        (place / "file").write_text("open")
    os.symlink(tmp_path / "a" / "gold", tmp_path / "way-in")
    paths = [*(place / "file" for place in places), tmp_path / "way-in" / "deep" / "file"]
    hidden = [tmp_path / "a" / "gold", tmp_path / "a" / "gold" / "deep", tmp_path / "b" / "gold", tmp_path / "absent"]
    assert sealed(hidden, paths) == ["Permission denied", "open", "Permission denied", "open", "Permission denied"]


@needs_landlock
def test_a_hidden_directory_named_by_a_link_is_shut_where_it_really_is(tmp_path: Path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_text("open")
    os.symlink(tmp_path / "real", tmp_path / "link")
    assert sealed([tmp_path / "link"], [tmp_path / "real" / "file"]) == ["Permission denied"]


def test_where_nothing_is_hidden_nothing_is_shut(tmp_path: Path):
    assert not seal([])
    assert not seal([str(tmp_path / "absent")])
    (tmp_path / "file").write_text("open")
    assert (tmp_path / "file").read_text() == "open"
