"""A memory, a folder of notes, and git as its owner would run it."""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from wellkept.forgetting import Files
from wellkept.memory import Memory
from wellkept.storage import Folder, open_store
from wellkept.sync import bind
from wellkept.trust.gate import key_file

Write = Callable[..., Path]
Git = Callable[..., str]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    (tmp_path / "memory").mkdir()
    found = opened(tmp_path)
    yield found
    found.close()


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "notes" / "people").mkdir(parents=True)
    return tmp_path / "notes"


@pytest.fixture
def write(notes: Path) -> Write:
    def put(name: str, text: str | bytes) -> Path:
        path = notes / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return put


@pytest.fixture
def folder(memory: Memory, notes: Path) -> Folder:
    return bind(memory, "default", notes)


def opened(place: Path) -> Memory:
    files = Files(place / "memory", place / "memory" / "memory.db")
    return Memory(open_store("sqlite", place / "memory" / "memory.db"), key=key_file(place / "trust.key"), files=files)


@pytest.fixture
def again(tmp_path: Path) -> Callable[[], Memory]:
    """Opens the same memory once more."""
    return lambda: opened(tmp_path)


@pytest.fixture
def git(notes: Path) -> Git:
    """Runs git in the folder of notes, or in another one."""

    def run(*arguments: str, at: Path | None = None) -> str:
        env = {"PATH": os.environ["PATH"], "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": "/dev/null"}
        who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgSign=false")
        command = ["git", "-C", str(at or notes), *who, *arguments]
        said = subprocess.run(command, env=env, capture_output=True, check=True).stdout
        return said.decode("utf-8", "surrogateescape")

    return run


@pytest.fixture
def commit(git: Git) -> Git:
    """Commits all that is in the folder of notes; the new commit."""

    def run(message: str = "notes") -> str:
        git("add", "-A")
        git("commit", "-q", "-m", message)
        return git("rev-parse", "HEAD").strip()

    return run
