"""Which profile and which baselines a change is judged by."""

from __future__ import annotations

from pathlib import Path

import pytest

from brainbench.errors import IncompatibleError, UsageError
from brainbench.evidence.committed import both_commits, bytes_of, find_profile

LAX = 'schema_version = 1\nname = "mine"\n[floors.v1.all]\nfalse_fire_rate = { max = 1 }\n'


def test_a_profile_of_the_checkout_is_found_from_below_and_before_the_bundled_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gates = tmp_path / "evidence" / "gates"
    gates.mkdir(parents=True)
    (gates / "conformance.toml").write_text(LAX)
    (tmp_path / "deep" / "down").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep" / "down")
    assert find_profile("conformance").name == "mine"
    with pytest.raises(UsageError, match=r"--profile: no .*nope\.toml; known: conformance"):
        find_profile("nope")


def test_outside_a_checkout_there_is_nothing_to_judge_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(IncompatibleError, match="'main' is no commit"):
        both_commits("conformance", "main")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(IncompatibleError, match="Is a directory; name a baseline or result file"):
        bytes_of(tmp_path)
