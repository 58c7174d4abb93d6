"""Nothing that replays, is measured or reads fixtures can reach gold by an import, however it is written."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

BELOW_THE_GOLD_LINE = ("replay", "systems", "seams", "chat", "corpus", "model", "errors")
ABOVE_IT = tuple(
    """
    gold metrics suites evidence report run live labels panel probe metamorphic datasets queries conformance cli
    bench_self
    """.split()
)


def modules_below(package: Path) -> list[Path]:
    single = [package / f"{name}.py" for name in BELOW_THE_GOLD_LINE]
    return [
        *(file for file in single if file.exists()),
        *(file for name in BELOW_THE_GOLD_LINE for file in sorted((package / name).rglob("*.py"))),
    ]


def reached(file: Path) -> set[str]:
    """The names below `brainbench` that a file imports or names in a string that an importer could take."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                found.add(f"relative import in {file.name}")
            names = [node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = [node.value.partition(":")[0]]
        else:
            continue
        found |= {name.split(".")[1] for name in names if name.startswith("brainbench.") and name.count(".")}
    return found


@pytest.mark.req("C-640")
def test_no_module_below_the_gold_line_names_one_above_it(root):
    files = modules_below(root / "brainbench" / "src" / "brainbench")
    found = {file.relative_to(root / "brainbench" / "src" / "brainbench").parts[0] for file in files}
    assert {name.removesuffix(".py") for name in found} == set(BELOW_THE_GOLD_LINE)
    wrong = {file.name: found for file in files if (found := reached(file) & set(ABOVE_IT))}
    assert wrong == {}


@pytest.mark.parametrize(
    "line",
    [
        "import brainbench.gold",
        "from brainbench import gold",
        "from brainbench.gold import Gold",
        "def f():\n    from brainbench import gold as g",
        "import importlib\nimportlib.import_module('brainbench.gold')",
        "TABLE = {'x': 'brainbench.gold:Gold'}",
    ],
)
def test_every_way_to_reach_gold_is_seen(tmp_path, line):
    file = tmp_path / "replay.py"
    file.write_text(line)
    assert "gold" in reached(file)


@pytest.mark.req("C-201")
def test_the_values_that_cross_the_gold_line_have_no_field_for_gold():
    from dataclasses import fields, is_dataclass

    from brainbench import model

    forbidden = {"gold", "expected", "answer", "label", "match_keywords", "should_retrieve"}
    values = [value for value in vars(model).values() if isinstance(value, type) and is_dataclass(value)]
    assert len(values) > 10
    assert {f"{v.__name__}.{f.name}" for v in values for f in fields(v) if f.name in forbidden} == set()
