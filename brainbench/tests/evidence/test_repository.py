"""What git knows of a checkout, and of a folder that is none."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from brainbench.errors import IncompatibleError
from brainbench.evidence import repository


def git(directory: Path, *argv: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.test", "-c", "init.defaultBranch=main")
    subprocess.run(["git", "-C", str(directory), *identity, *argv], check=True, capture_output=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("one\n")
    git(tmp_path, "init")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "first")
    return tmp_path


def test_a_folder_outside_a_checkout_has_no_commit_and_is_not_dirty(tmp_path: Path) -> None:
    assert repository.head(tmp_path) == "unknown"
    assert not repository.is_dirty(tmp_path)


def test_a_checkout_is_dirty_when_a_tracked_file_differs(checkout: Path) -> None:
    (checkout / "new.txt").write_text("untracked")
    assert not repository.is_dirty(checkout)
    (checkout / "a.txt").write_text("two\n")
    assert repository.is_dirty(checkout)


def test_a_file_is_read_as_it_stood_at_a_commit(checkout: Path) -> None:
    (checkout / "a.txt").write_text("two\n")
    commit = repository.resolve(checkout, "main")
    assert commit == repository.head(checkout)
    assert repository.show(checkout, commit, "a.txt") == b"one\n"
    assert repository.show(checkout, commit, "b.txt") is None


@pytest.mark.parametrize("ref", ["no/such", "--help", "", "HEAD:a.txt"])
def test_what_is_no_commit_is_refused_by_name(checkout: Path, ref: str) -> None:
    with pytest.raises(IncompatibleError, match="is no commit of the repository"):
        repository.resolve(checkout, ref)


def test_where_git_is_not_installed_nothing_is_known(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert repository.head(checkout) == "unknown"
