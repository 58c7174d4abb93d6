"""Each product is built, installed by itself in a fresh environment, and does its job there."""

from __future__ import annotations

import json
import os
import shutil
import sys
from pathlib import Path
from subprocess import CompletedProcess, run

import pytest

ROOT = Path(__file__).resolve().parent.parent
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]
TEST_TOOLS = ("pytest", "pytest-timeout", "hypothesis")


def call(argv: list[str | Path], folder: Path, **environment: str) -> CompletedProcess[str]:
    hidden = ("PYTHON", "PYTEST_", "VIRTUAL_ENV")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(hidden)}
    return run(argv, cwd=folder, env={**kept, **environment}, capture_output=True, text=True, check=False, timeout=800)


def succeed(argv: list[str | Path], folder: Path) -> CompletedProcess[str]:
    done = call(argv, folder)
    assert done.returncode == 0, f"{argv}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return done


def installed_alone(package: str, place: Path, own_files: list[str]) -> Path:
    """The Python of a fresh environment with the built wheel, its pinned dependencies and the tools of its tests."""
    source = place / "source"
    for name in own_files:
        if name.split("/")[0] in (package, "corpus", "evidence"):
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, source / name)
    pip: list[str | Path] = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    wheels = place / "wheels"
    succeed([*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", wheels, source / package], place)
    (wheel,) = wheels.glob(f"{package}-*.whl")
    succeed([sys.executable, "-m", "venv", place / "venv"], place)
    python = place / "venv" / "bin" / "python"
    lock = ROOT / "requirements.lock"
    pins = place / "pins.txt"
    pins.write_text("\n".join(pinned(lock.read_text())))
    install: list[str | Path] = [python, "-m", "pip", "--disable-pip-version-check", "install", "-q", "-c", pins]
    succeed([*install, wheel, *TEST_TOOLS], place)
    return python


def pinned(lock: str) -> list[str]:
    """The lines of the lock that pin a version, with their markers and without hashes."""
    return [line.rstrip("\\ ") for line in lock.splitlines() if "==" in line and not line.startswith((" ", "#"))]


@pytest.mark.long
def test_wellkept_passes_its_tests_where_brainbench_is_not_installed(tmp_path, own_files):
    python = installed_alone("wellkept", tmp_path, own_files)
    assert call([python, "-c", "import brainbench"], tmp_path).returncode == 1
    shutil.copytree(ROOT / "wellkept" / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    settings = tmp_path / "pytest.ini"
    settings.write_text(
        "[pytest]\naddopts = -q --import-mode=importlib -p no:cacheprovider\ntimeout = 300\n"
        "markers =\n    req: ids\n    slow: slow\n    field: reports\n    registry: from registries\n"
    )
    command = [python, "-m", "pytest", "-c", settings, "-m", "not slow and not registry", tmp_path / "tests"]
    done = succeed(command, tmp_path)
    assert " passed" in done.stdout


@pytest.fixture(scope="module")
def brainbench_alone(tmp_path_factory, own_files):
    """The Python of an environment with brainbench and without wellkept."""
    return installed_alone("brainbench", tmp_path_factory.mktemp("alone"), own_files)


@pytest.mark.req("C-404", "C-1202")
@pytest.mark.xdist_group("alone")
def test_brainbench_measures_memories_where_wellkept_is_not_installed(tmp_path, brainbench_alone):
    python = brainbench_alone
    assert call([python, "-c", "import wellkept"], tmp_path).returncode == 1
    for system in ("null", "bm25", "files+grep"):
        out = tmp_path / f"{system}.json"
        command: list[str | Path] = [python.parent / "brainbench", "run", "--corpus", "pocket", "--out", out]
        done = call([*command, "--system", system], tmp_path)
        assert "Traceback" not in done.stderr
        assert done.returncode == 0, f"{system}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        document = json.loads(out.read_text())
        assert document["_meta"]["system"] == system
        assert any(cell["status"] == "scored" for cell in document["_meta"]["native"]["cells"])

    for kind in ("python", "cmd"):
        keeps_the_contract_and_gets_a_row(python, tmp_path / kind, kind)
    done = call([python.parent / "brainbench", "run", "--system", "mcp:mapping.toml"], tmp_path)
    assert (done.returncode, "pip install 'brainbench[mcp]'" in done.stderr) == (2, True), done.stderr


def keeps_the_contract_and_gets_a_row(python: Path, place: Path, kind: str) -> None:
    """An adapter as `init-adapter` of the installed wheel writes it."""
    place.mkdir()
    brainbench = python.parent / "brainbench"
    succeed([brainbench, "init-adapter", "my_memory", "--kind", kind], place)
    assert " passed" in succeed([python, "-m", "pytest", "test_my_memory.py"], place).stdout
    system = {"python": "my_memory:MyMemory", "cmd": f"cmd:{python} my_memory.py"}[kind]
    run_it: list[str | Path] = [
        brainbench,
        "run",
        "--corpus",
        "pocket",
        "--suite",
        "push",
        "--harness",
        "codex",
        "--json",
    ]
    done = succeed([*run_it, "--system", system], place)
    (cell,) = json.loads(done.stdout)["cells"]
    assert cell["gold_total"] > cell["gold_failed"]


@pytest.mark.xdist_group("alone")
def test_brainbench_says_how_to_get_the_memory_that_is_missing(tmp_path, brainbench_alone):
    done = call([brainbench_alone.parent / "brainbench", "run", "--system", "wellkept"], tmp_path)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "wellkept" in done.stderr
