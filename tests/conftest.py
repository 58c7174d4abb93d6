"""What the repository's own tests share: its files, copies of it, and the generator of reference pages."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from subprocess import run
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parent.parent
_IDENTITY = ("-c", "user.name=test", "-c", "user.email=test@example.test")
NOT_OURS = ("__pycache__", "build", "dist", "uv.lock")


def files_of(root: Path) -> list[str]:
    """The paths of the repository's files, relative to it: what git tracks, or without git what is no by-product."""
    if (root / ".git").exists():
        listed = run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=root,
            capture_output=True,
            check=True,
        )
        names = [name for name in listed.stdout.decode().split("\0") if name]
    else:
        names = [str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()]
    return sorted(n for n in names if not _by_product(n) and (root / n).is_file())


def _by_product(name: str) -> bool:
    parts = Path(name).parts
    hidden = any(part.startswith(".") for part in parts[:-1])
    return hidden or any(part in NOT_OURS or part.endswith(".egg-info") for part in parts)


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def own_files() -> list[str]:
    return files_of(ROOT)


@pytest.fixture
def copy_of_repository(tmp_path: Path) -> Callable[[], Path]:
    """Makes a copy in which commands may write: a checkout with one commit, which borrows this environment."""

    def copy() -> Path:
        target = tmp_path / "repository"
        for name in files_of(ROOT):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)
        if (ROOT / ".venv").exists():
            (target / ".venv").symlink_to(ROOT / ".venv")
        for words in (["init", "-q"], ["add", "."], [*_IDENTITY, "commit", "-q", "-m", "copy"]):
            run(["git", *words], cwd=target, check=True, capture_output=True)
        return target

    return copy


@pytest.fixture(scope="session")
def environment() -> Mapping[str, str]:
    """The environment of commands that are run as a reader of the docs would run them."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    return {**kept, "PATH": path, "NO_COLOR": "1"}


@pytest.fixture(scope="session")
def generator() -> ModuleType:
    """docs/generate.py as a module."""
    spec = importlib.util.spec_from_file_location("docs_generate", ROOT / "docs" / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
