"""Each contract between layers is seen to fail when it is broken on purpose."""

from __future__ import annotations

import os
import shutil
import sys
import tomllib
from pathlib import Path
from subprocess import CompletedProcess, run

import pytest

ROOT = Path(__file__).resolve().parent.parent
CONTRACTS = [
    contract["name"]
    for contract in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
]
BREAKS = [
    ("brainbench: a module imports only", {"brainbench/seams/stray.py": "import brainbench.gold"}),
    ("brainbench: a module imports only", {"brainbench/utils.py": ""}),
    ("brainbench: a module imports only", {"brainbench/replay.py": "import brainbench.gold"}),
    ("wellkept: a module imports only", {"wellkept/storage/stray.py": "import wellkept.recall"}),
    ("wellkept: a module imports only", {"wellkept/utils.py": ""}),
    ("the wall", {"wellkept/recall/stray.py": "import brainbench.model"}),
    ("the front door", {"brainbench/report/stray.py": "import wellkept.model"}),
    (
        "no cycles in brainbench",
        {
            "brainbench/systems/stray.py": "import brainbench.seams",
            "brainbench/seams/stray.py": "import brainbench.systems",
        },
    ),
    (
        "no cycles in wellkept",
        {
            "wellkept/storage/stray.py": "import wellkept.providers",
            "wellkept/providers/stray.py": "import wellkept.storage",
        },
    ),
]


def lint(folder: Path) -> CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder), "NO_COLOR": "1", "COLUMNS": "200"}
    command = Path(sys.executable).parent / "lint-imports"
    return run([command, "--no-cache"], cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sources")
    for package in ("brainbench", "wellkept"):
        shutil.copytree(
            ROOT / package / "src" / package, folder / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


def broken(result: CompletedProcess[str]) -> list[str]:
    return [name for name in CONTRACTS for line in result.stdout.splitlines() if line.strip() == f"{name} BROKEN"]


def test_the_contracts_hold_as_the_code_stands(sources):
    result = lint(sources)
    assert result.returncode == 0, result.stdout + result.stderr
    assert broken(result) == []


@pytest.mark.req("C-640")
@pytest.mark.parametrize(("contract", "files"), BREAKS)
def test_a_contract_fails_when_it_is_broken(sources, contract, files):
    before = {name: (sources / name).read_text() if (sources / name).exists() else None for name in files}
    try:
        for name, line in files.items():
            (sources / name).write_text(f"{before[name] or ''}\n{line}\n")
        assert [name for name in broken(lint(sources)) if name.startswith(contract)]
    finally:
        for name, text in before.items():
            if text is None:
                (sources / name).unlink()
            else:
                (sources / name).write_text(text)


def test_every_contract_has_a_break():
    assert {name for name in CONTRACTS for start, _ in BREAKS if name.startswith(start)} == set(CONTRACTS)
