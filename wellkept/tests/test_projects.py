"""Which project a directory belongs to."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from wellkept.projects import project_root, project_source

GIT = ("git", "-c", "user.name=Ada", "-c", "user.email=ada@example.test")


def git(place: Path, *arguments: str) -> None:
    subprocess.run([*GIT, *arguments], cwd=place, check=True, capture_output=True)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("lantern/src/deep", "harbour", "notes"):
        (tmp_path / name).mkdir(parents=True)
    for name in ("lantern", "harbour"):
        git(tmp_path / name, "init", "-q")
    return tmp_path


def test_every_directory_of_a_repository_is_one_project_and_no_other(home: Path) -> None:
    lantern = project_source(home / "lantern", home)
    assert (lantern or "").startswith("lantern-")
    assert project_source(home / "lantern/src/deep", home) == lantern
    assert project_source(home / "lantern/src/gone/already", home) == lantern
    assert project_source(home / "harbour", home) not in (lantern, None)


def test_a_worktree_is_the_project_it_was_made_from(home: Path) -> None:
    git(home / "lantern", "commit", "-q", "--allow-empty", "-m", "begin")
    git(home / "lantern", "worktree", "add", "-q", str(home / "elsewhere" / "fix"))
    assert project_source(home / "elsewhere" / "fix", home) == project_source(home / "lantern", home)


def test_a_folder_that_claims_to_be_a_worktree_is_not_believed(home: Path) -> None:
    git(home / "lantern", "commit", "-q", "--allow-empty", "-m", "begin")
    git(home / "lantern", "worktree", "add", "-q", str(home / "fix"))
    claim = home / "downloaded"
    claim.mkdir()
    (claim / ".git").write_text(f"gitdir: {home / 'lantern' / '.git' / 'worktrees' / 'fix'}\n")
    assert project_root(claim, home) == claim


def test_outside_of_a_repository_there_is_no_project(home: Path) -> None:
    assert project_source(home / "notes", home) is None
    assert project_source("relative", home) is None
    assert project_source("/nul\0", home) is None


def test_a_home_directory_under_git_is_not_one_project_for_everything(home: Path) -> None:
    git(home, "init", "-q")
    assert project_source(home / "notes", home) is None
    assert project_source(home, home) is None
    assert project_source(home / "lantern", home) is not None


def test_a_link_to_a_repository_is_the_repository(home: Path) -> None:
    (home / "short").symlink_to(home / "lantern")
    assert project_source(home / "short" / "src", home) == project_source(home / "lantern", home)
    odd = home / "🚀"
    odd.mkdir()
    git(odd, "init", "-q")
    assert (project_source(odd, home) or "").startswith("project-")
