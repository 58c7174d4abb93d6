"""What a fixture that is played turn by turn says of a memory that cannot be played."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from brainbench.live.playing import Plan, Player
from brainbench.model import Capability
from brainbench.replay import TooSlow, stage, worker
from brainbench.replay.stage import Began
from brainbench.replay.worker import Task
from brainbench.seams import SEAMS
from brainbench.systems import System

from ..conftest import script
from ..misbehaving import Polite

TASK = Task("polite", SEAMS["claude-code"], script("Hello"), "0" * 32, 42, Polite.can)


@pytest.fixture
def polite(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> System:
    memory = Polite()
    monkeypatch.setattr(worker, "_open_systems", {"polite": memory})
    monkeypatch.setattr(worker, "_worker_directory", str(tmp_path))
    return memory


def began(task: Task) -> Began:
    return msgspec.msgpack.decode(stage.begin(task, push=True), type=Began)


def test_a_memory_that_claims_less_than_at_first_is_in_error(polite: System) -> None:
    assert began(TASK) == Began()
    stage.end()
    polite.can = frozenset({Capability.PAGE_WRITE})
    assert began(TASK) == Began(error="it no longer claims the capabilities that it claimed at first")


def test_a_memory_that_is_not_there_is_in_error(polite: System) -> None:
    found = began(replace(TASK, system="nowhere"))
    assert "unknown system 'nowhere'" in (found.error or "")


def test_a_memory_that_is_too_slow_for_a_large_brain_is_in_error(
    polite: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Slow:
        def pour(self, system: System, source: str) -> None:
            raise TooSlow("wrote 100 of 10,000 pages")

    monkeypatch.setattr(worker, "_filling", lambda task: Slow())
    assert began(TASK) == Began(error="wrote 100 of 10,000 pages")


def test_each_turn_of_a_memory_in_error_is_one() -> None:
    class Staged:
        def begin(self, task: Task, *, push: bool) -> Began:
            return Began(error="wrote 100 of 10,000 pages")

    nobody: Any = None
    staged: Any = Staged()
    found = Player(nobody, Plan(("push",), repeats=2), staged, lambda done: None).play([TASK])
    assert [turn.asked.error for turn in found.turns] == ["wrote 100 of 10,000 pages"] * 2
    assert found.seed_failures == {}
