"""Commands as they are typed: through a pipe, and at a terminal by a person."""

import os
import pty
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wellkept.cli import main

Type = Callable[[Sequence[str], Sequence[str]], tuple[int, str]]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    here = {
        "HOME": str(tmp_path),
        "WELLKEPT_DATA_DIR": str(tmp_path / "memory"),
        "XDG_CONFIG_HOME": str(tmp_path / "c"),
    }
    return {"PATH": os.environ["PATH"], "TERM": "dumb", **here}


@pytest.fixture
def piped(environment: dict[str, str]) -> Callable[..., Result]:
    return lambda *arguments: CliRunner().invoke(main, arguments, env={**dict.fromkeys(os.environ), **environment})


@pytest.fixture
def typed(environment: dict[str, str]) -> Type:
    """Runs wellkept at a terminal of its own and types the lines, each once a colon asks for it."""

    def run(arguments: Sequence[str], lines: Sequence[str]) -> tuple[int, str]:
        process, terminal = pty.fork()
        if process == 0:
            os.execve(sys.executable, [sys.executable, "-m", "wellkept", *arguments], environment)  # noqa: S606
        seen, waiting = "", list(lines)
        while True:
            try:
                got = os.read(terminal, 65_536)
            except OSError:
                break
            if not got:
                break
            seen += got.decode()
            if waiting and seen.rstrip(" ").endswith(":"):
                os.write(terminal, waiting.pop(0).encode() + b"\n")
        _, status = os.waitpid(process, 0)
        os.close(terminal)
        return os.waitstatus_to_exitcode(status), seen.replace("\r\n", "\n")

    return run
