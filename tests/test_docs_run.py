"""Every command and example of the docs, and of the docstrings, is run as a reader would run it.

Fenced blocks marked `console` and `python` run, each in a fresh copy of the repository; `text` and other blocks do
not. Words after the language: `slow` leaves a block out of `./bb check`, `long` leaves it to `.ci/run`, `registry` to
`.ci/registry`; `terminal` runs it at a terminal; `exit=1` says how its last command ends. Lines below a command are
output that it must print, in this order; `...` stands for anything.
"""

from __future__ import annotations

import doctest
import os
import pty
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from subprocess import PIPE, CompletedProcess, Popen, run
from threading import Thread

import pytest

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(
    r"^(?P<fence>`{3,}|~{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=fence)[ \t]*$", re.MULTILINE | re.DOTALL
)
_LONG = (pytest.mark.slow, pytest.mark.timeout(900))
MARKS = {"slow": _LONG, "long": (pytest.mark.long, *_LONG), "registry": (pytest.mark.registry, *_LONG)}
THE_TESTS_THEMSELVES = ("./bb test", "./bb check")


@dataclass(frozen=True, slots=True)
class Block:
    file: str
    line: int
    language: str
    words: tuple[str, ...]
    body: str

    @property
    def expected_exit(self) -> int:
        return next((int(word[5:]) for word in self.words if word.startswith("exit=")), 0)


def blocks(file: str, text: str) -> Iterator[Block]:
    for found in FENCE.finditer(text):
        language, *words = found["info"].split() or [""]
        yield Block(file, text.count("\n", 0, found.start()) + 1, language, tuple(words), found["body"])


def commands(body: str) -> list[str]:
    """The lines after `$ `, with what a trailing backslash joins to them."""
    joined = body.replace("\\\n", "")
    return [line[2:].strip() for line in joined.splitlines() if line.startswith("$ ")]


def outputs(body: str) -> list[list[str]]:
    """Per command, the lines of output shown below it, without blank ones and `...`."""
    shown: list[list[str]] = []
    for line in body.replace("\\\n", "").splitlines():
        if line.startswith("$ "):
            shown.append([])
        elif line.strip() not in ("", "..."):
            shown[-1].append(line.rstrip())
    return shown


def in_order(wanted: list[str], printed: str) -> list[str]:
    """The wanted lines that do not follow one another in what was printed."""
    lines = iter([line.rstrip() for line in printed.splitlines()])
    return [line for line in wanted if line not in lines]


def pages() -> list[Path]:
    named = [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / p / "README.md" for p in ("brainbench", "wellkept")),
    ]
    return [path for path in (*named, *sorted((ROOT / "docs").rglob("*.md"))) if path.exists()]


RUNNABLE = [
    pytest.param(
        block,
        id=f"{block.file}:{block.line}",
        marks=[mark for word, marks in MARKS.items() if word in block.words for mark in marks],
    )
    for page in pages()
    for block in blocks(str(page.relative_to(ROOT)), page.read_text(encoding="utf-8"))
    if block.language in ("console", "python")
]


@pytest.fixture
def at_home(tmp_path, environment):
    """The environment of a reader with a home of their own, in which harnesses keep their settings."""
    home = tmp_path / "home"
    for harness in (".claude", ".codex", ".openclaw"):
        (home / harness).mkdir(parents=True)
    moved = ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENCLAW_STATE_DIR", "XDG_DATA_HOME")
    kept = {
        name: value for name, value in environment.items() if name not in moved and not name.startswith("WELLKEPT_")
    }
    return {**kept, "HOME": str(home)}


def run_at_a_terminal(argv, *, cwd, env):
    """The command as a person runs it: what it reads from and prints to is a terminal."""
    parent, child = pty.openpty()
    pieces = []

    def listen():
        try:
            while piece := os.read(parent, 65_536):
                pieces.append(piece)
        except OSError:
            pass  # nobody has the terminal open any more

    with Popen(argv, cwd=cwd, env=env, stdin=child, stdout=child, stderr=PIPE, text=True) as process:
        os.close(child)
        ear = Thread(target=listen)
        ear.start()
        _, errors = process.communicate(timeout=800)
        ear.join(60)
    os.close(parent)
    return CompletedProcess(argv, process.returncode, b"".join(pieces).decode().replace("\r\n", "\n"), errors)


def run_in_a_pipe(argv, *, cwd, env):
    return run(argv, cwd=cwd, env=env, capture_output=True, text=True, check=False, timeout=800)


@pytest.mark.parametrize("block", RUNNABLE)
def test_a_block_of_the_docs_runs(block, copy_of_repository, at_home):
    where = f"{block.file}:{block.line}"
    folder = copy_of_repository()
    if block.language == "python":
        argvs = [[sys.executable, "-c", block.body]]
    else:
        lines = commands(block.body)
        assert lines, f"{where}: a console block without a `$ ` line"
        argvs = [["sh", "-c", line] for line in lines if line not in THE_TESTS_THEMSELVES]
        shown = [out for line, out in zip(lines, outputs(block.body), strict=True) if line not in THE_TESTS_THEMSELVES]
    for index, argv in enumerate(argvs, 1):
        done = (run_at_a_terminal if "terminal" in block.words else run_in_a_pipe)(argv, cwd=folder, env=at_home)
        expected = block.expected_exit if index == len(argvs) else 0
        assert done.returncode == expected, f"{where}: {argv[-1]}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        assert "Traceback" not in done.stderr, f"{where}: {argv[-1]}\n{done.stderr[-2000:]}"
        if block.language == "console":
            assert in_order(shown[index - 1], done.stdout) == [], f"{where}: {argv[-1]} printed\n{done.stdout}"


WITH_EXAMPLES = [
    ".".join(file.relative_to(ROOT / package / "src").with_suffix("").parts).removesuffix(".__init__")
    for package in ("brainbench", "wellkept")
    for file in sorted((ROOT / package / "src").rglob("*.py"))
    if ">>> " in file.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("module", WITH_EXAMPLES)
def test_the_examples_of_a_module_hold(module):
    done = doctest.testmod(import_module(module))
    assert done.attempted > 0
    assert done.failed == 0


def test_the_readme_shows_how_to_measure_and_how_to_test():
    shown = [c for b in blocks("README.md", (ROOT / "README.md").read_text()) for c in commands(b.body)]
    assert any(command.startswith("./bb brainbench run") for command in shown)
    assert "./bb test" in shown


def test_the_commands_left_out_are_those_of_bb():
    script = (ROOT / "bb").read_text()
    assert all(f"    {command.split()[1]})" in script for command in THE_TESTS_THEMSELVES)


def test_blocks_commands_and_marks_are_read_as_written():
    console = "```console slow exit=1\n$ one \\\n  two\noutput\n$ three\n```\n"
    text = f"x\n{console}~~~~text\n```python\n~~~~\n```python\n1\n```\n"
    first, second, third = blocks("f.md", text)
    assert (first.line, first.language, first.words, first.expected_exit) == (2, "console", ("slow", "exit=1"), 1)
    assert commands(first.body) == ["one   two", "three"]
    assert outputs(first.body) == [["output"], []]
    assert in_order(["b", "c"], "a\nb \nx\nc\n") == []
    assert in_order(["c", "b"], "a\nb\nx\nc\n") == ["b"]
    assert second.language == "text"
    assert third.body == "1\n"


def test_links_between_pages_lead_somewhere():
    lost = []
    for page in pages():
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target and not (page.parent / target).exists():
                lost.append(f"{page.relative_to(ROOT)}: {target}")
    assert lost == []
