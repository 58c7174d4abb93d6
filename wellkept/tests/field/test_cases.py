"""Every case is tried by a test, or says why it does not apply."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).parent.parent


def tried() -> Iterator[tuple[str, str]]:
    """Each case that a test names, and the file."""
    for file in sorted(TESTS.rglob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "field":
                for argument in node.args:
                    assert isinstance(argument, ast.Constant)
                    yield str(argument.value), file.name


def test_every_case_has_a_test_or_a_reason_and_never_both(cases: Mapping[str, Mapping[str, str]]) -> None:
    named = {case for case, _ in tried()}
    away = {case for case, row in cases.items() if "away" in row}
    assert {"neither": set(cases) - named - away, "both": named & away} == {"neither": set(), "both": set()}
    assert named - set(cases) == set()
    assert len(cases) > 60
    assert all(row["holds"].endswith(".") and row.get("away", "because") for row in cases.values())


@pytest.mark.field("OBS-03")
def test_an_empty_scope_is_an_empty_answer(door: Any, scope: str) -> None:
    assert door("recall", scope, query="what did Ada say?")["memories"] == []
    assert door("search", scope, query="what did Ada say?")["results"] == []
    assert door("context", scope, text="What did Ada say?")["text"] == ""
    assert door("context_pack", scope, goal="ask Ada")["total_items"] == 0
    assert door("delta", scope)["changes"] == []


@pytest.mark.field("OBS-03")
def test_a_question_in_plain_words_finds_what_has_only_some_of_them(door: Any, scope: str) -> None:
    door("put_page", scope, slug="boat", content="Una was painted green at the harbour in May.")
    door("remember", scope, text="Una lies at the harbour")
    for question in ("where is Una lying these days?", "Which colour was the Una painted, do you remember?"):
        assert "boat" in door.ids("recall", scope, question)


FIRST = """
import sys
from pathlib import Path
from wellkept.memory import Memory
from wellkept.storage import open_store
memory = Memory(open_store("sqlite", Path(sys.argv[1])))
made = memory.remember("default", "Ada likes tea")
found = memory.recall("default", "tea")
memory.forget("default", [found[0].id])
print(made.status, len(found), len(memory.recall("default", "tea")))
"""


@pytest.mark.field("OBS-02")
def test_a_fresh_store_in_a_fresh_process_takes_gives_and_forgets(tmp_path: Path) -> None:
    argv = [sys.executable, "-I", "-W", "error", "-c", FIRST, str(tmp_path / "memory.db")]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, env={"PATH": os.environ["PATH"]})
    assert (done.stdout, done.stderr) == ("created 1 0\n", "")


@pytest.mark.field("OBS-07")
def test_a_start_that_fails_says_so_in_one_line(typed: Any, tmp_path: Path) -> None:
    (tmp_path / "m").mkdir(mode=0o755)
    for argv in (("serve", "--port", "0"), ("daemon",)):
        said = typed(*argv, "--data-dir", str(tmp_path / "m"))
        assert (said.exit_code, said.stdout, said.stderr.count("\n")) == (1, "", 1)
        assert "chmod 700" in said.stderr or "chmod" in said.stderr
    (tmp_path / "m").chmod(0o700)
    (tmp_path / "m" / "settings.toml").write_text("budget_ms = 'soon'\n")
    for argv in (("serve", "--port", "0"), ("daemon",), ("recall", "x")):
        said = typed(*argv, "--data-dir", str(tmp_path / "m"), "--json")
        assert (said.exit_code, json.loads(said.stderr)["code"]) == (1, "settings")
