"""What `init-adapter` writes runs as it is, keeps the contract and gets a row, where no wellkept can be imported."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from brainbench.cli import main
from brainbench.cli.adapting import KINDS

MINI = Path(__file__).parents[1] / "data" / "mini-v1"
SYSTEMS = {
    kind: system.replace("@name@", "my_memory").replace("@Name@", "MyMemory") for kind, (system, _) in KINDS.items()
}


def write(place: Path, *words: str) -> str:
    done = CliRunner().invoke(main, ["init-adapter", *words, "--out", str(place)])
    assert done.exit_code == 0, done.output
    return done.output


def call(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A command in a folder, where `import wellkept` fails."""
    hidden = place / "hidden"
    hidden.mkdir(exist_ok=True)
    (hidden / "wellkept.py").write_text("raise ImportError('not here', name='wellkept')")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {"PATH": path, "PYTHONPATH": str(hidden), "HOME": str(place)}
    argv = [sys.executable, "-m", *words]
    return subprocess.run(argv, cwd=place, env=environment, capture_output=True, text=True, check=False, timeout=110)


@contextmanager
def running(kind: str, place: Path, port: int) -> Iterator[None]:
    """The server of an adapter that needs one."""
    if kind != "http":
        yield
        return
    process = subprocess.Popen([sys.executable, str(place / "my_memory.py"), str(port)])
    try:
        for _ in range(100):
            time.sleep(0.1)
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
        yield
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.slow
@pytest.mark.req("C-404", "C-1202")
@pytest.mark.parametrize("kind", [pytest.param(k, marks=[pytest.mark.registry] if k == "node" else []) for k in KINDS])
def test_an_adapter_as_written_keeps_the_contract_and_gets_a_scored_row(kind: str, tmp_path: Path) -> None:
    said = write(tmp_path, "my_memory", "--kind", kind)
    assert f"brainbench run --system {SYSTEMS[kind]}" in said.replace("'", "")
    port = free_port()
    for file in tmp_path.glob("*my_memory*"):
        file.write_text(file.read_text().replace("9000", str(port)))
    checked = call(tmp_path, "pytest", "-p", "no:cacheprovider", "-rs", "test_my_memory.py")
    assert checked.returncode == 0, checked.stdout[-3000:]
    assert re.search(r"1[0-9] passed, \d+ skipped", checked.stdout)
    assert "not applicable: " in checked.stdout
    system = SYSTEMS[kind].replace("9000", str(port))
    with running(kind, tmp_path, port):
        corpus = ("--fixtures", str(MINI / "fixtures"), "--gold", str(MINI / "gold"))
        options = (*corpus, "--harness", "openclaw", "--suite", "push", "--json")
        done = call(tmp_path, "brainbench", "run", "--system", system, *options)
    assert done.returncode == 0, done.stderr[-3000:]
    assert '"push_recall": ' in done.stdout
    (cell,) = json.loads(done.stdout)["cells"]
    assert cell["suite"] == "push"
    assert 0 <= cell["gold_failed"] < cell["gold_total"]


def printed(said: str, what: str) -> str:
    """The line that `init-adapter` prints for one of the next steps."""
    return re.search(rf"^{what}: +(.*)$", said, re.M)[1]  # type: ignore[index]


def typed(place: Path, line: str) -> subprocess.CompletedProcess[str]:
    """A line as typed into a shell whose PATH leads to nothing of this environment."""
    argv = ["/bin/sh", "-c", line]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(place)}
    return subprocess.run(argv, cwd=place, env=environment, capture_output=True, text=True, check=False, timeout=110)


@pytest.mark.parametrize("in_a_checkout", [False, True])
def test_the_printed_check_runs_as_it_is_also_in_a_checkout(
    in_a_checkout: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if in_a_checkout:
        (tmp_path / "brainbench").mkdir()
        (tmp_path / "brainbench" / "pyproject.toml").touch()
        settings = '[tool.pytest.ini_options]\naddopts = ["--strict-config"]\nno_such_option = 1\n'
        (tmp_path / "pyproject.toml").write_text(settings)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    said = CliRunner().invoke(main, ["init-adapter", "my_memory", "--out", "my adapters"]).output
    checked = typed(tmp_path, printed(said, "check it"))
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert typed(tmp_path, printed(said, "measure it").partition(" run ")[0] + " --version").returncode == 0


def test_programs_that_path_leads_to_are_named_shortly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent))
    said = CliRunner().invoke(main, ["init-adapter", "my_memory", "--kind", "cmd"]).output
    assert printed(said, "check it") == "python -m pytest -rs test_my_memory.py"
    wanted = "brainbench run --system 'cmd:python3 my_memory.py' --suite know-to-ask,push"
    assert printed(said, "measure it") == wanted


def test_where_pytest_is_missing_it_is_said_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "pip install" not in write(tmp_path, "my_memory")
    monkeypatch.setattr("brainbench.cli.adapting.find_spec", lambda name: None)
    assert printed(write(tmp_path, "other"), "first").endswith("python -m pip install pytest")


@pytest.mark.parametrize("kind", KINDS)
def test_an_adapter_is_short_enough_to_read(kind: str, tmp_path: Path) -> None:
    write(tmp_path, "my_memory", "--kind", kind)
    file = next(path for path in sorted(tmp_path.iterdir()) if path.stem == "my_memory")
    lines = [
        line for line in file.read_text().splitlines() if line.strip() and not line.strip().startswith(("#", "//"))
    ]
    assert len(lines) <= 45
    assert not [path for path in tmp_path.iterdir() if "@name" in path.read_text().lower()]


@pytest.mark.parametrize("name", ["My-Memory", "9lives", "a b", "../x", ""])
def test_a_name_that_is_no_module_is_refused(name: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["init-adapter", "--out", str(tmp_path), "--", name])
    assert (done.exit_code, "no name of a module" in done.output) == (2, True)


def test_no_file_is_overwritten(tmp_path: Path) -> None:
    write(tmp_path, "my_memory")
    done = CliRunner().invoke(main, ["init-adapter", "my_memory", "--kind", "cmd", "--out", str(tmp_path)])
    assert done.exit_code == 2
    assert "my_memory.py exists; choose another name or --out" in done.output
    assert "System" in (tmp_path / "my_memory.py").read_text()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = CliRunner().invoke(main, ["init-adapter", "my_memory", "--out", str(tmp_path / "file" / "deeper")])
    assert (done.exit_code, "--out: " in done.output) == (2, True)
