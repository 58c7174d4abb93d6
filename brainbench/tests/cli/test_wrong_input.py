"""Every command, given what it cannot use: one line that says what, where and what to do; exit code 2; no traceback."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from brainbench.cli import COMMANDS, main

BAD = {
    "nowhere.json": None,
    "folder": None,
    "cut.json": b'{"schema_version": ',
    "list.json": b"[1]",
    "binary": b"\xff\xfe\x00",
    "empty": b"",
}
"""What stands in place of a file; None: no file."""
NAMES = ("--system", "--harness", "--suite", "--corpus", "--profile")
WRITTEN = ("--out", "--markdown", "--checkpoint")
LINE = re.compile(r"brainbench: inconclusive: \w+: (?P<told>.+)")
OTHER_LINE = re.compile(r"[^:]+: [^:]+: .+")
"""A fault of a corpus file: FILE: FIELD: what."""


def leaves(command: click.Command, *path: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if not isinstance(command, click.Group):
        yield path, command
        return
    for name in command.list_commands(click.Context(command)):
        found = command.get_command(click.Context(command), name)
        assert found is not None
        yield from leaves(found, *path, name)


LEAVES = dict(leaves(main))


def _lines() -> Iterator[tuple[str, ...]]:
    """Wrong command lines, a fault in each."""
    for path, command in LEAVES.items():
        needed = [p for p in command.params if p.required or isinstance(p, click.Argument)]
        files = [p for p in needed if isinstance(p.type, click.Path)]
        others = {"WORDS": "words"}
        rest = [w for p in needed if p not in files for w in _given(p, others.get(p.human_readable_name, "folder"))]
        first = [w for p in files for w in _given(p, "list.json")]
        if files:
            yield from ((*path, *rest, *(w for p in files for w in _given(p, bad))) for bad in BAD)
        for option in (p for p in command.params if isinstance(p, click.Option)):
            flag = option.opts[-1]
            if isinstance(option.type, click.types.IntParamType | click.types.FloatParamType):
                yield (*path, *first, *rest, flag, "many")
            if isinstance(option.type, click.IntRange | click.FloatRange):
                yield (*path, *first, *rest, flag, "-7")
            if isinstance(option.type, click.Choice) or flag in NAMES:
                yield (*path, *first, *rest, flag, "no-such-thing")
            if flag in WRITTEN:
                places = ("list.json",) if path == ("init-adapter",) else ("folder", "nowhere/result.json")
                yield from ((*path, *first, *rest, flag, place) for place in places)
        yield (*path, "--no-such-flag")
        if any(p.name == "fixtures" for p in command.params):
            yield (*path, *first, *rest, "--fixtures", "folder", "--gold", "folder")
            yield (*path, *first, *rest, "--fixtures", "folder")


def _given(parameter: click.Parameter, value: str) -> tuple[str, ...]:
    return (parameter.opts[-1], value) if isinstance(parameter, click.Option) else (value,)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("wrong")
    (made / "folder").mkdir()
    for name, content in BAD.items():
        if content is not None:
            (made / name).write_bytes(content)
    return made


def told(*words: str) -> Result:
    return CliRunner().invoke(main, words, catch_exceptions=False)


def test_every_command_is_walked_over() -> None:
    assert {path[0] for path in LEAVES} == set(COMMANDS)
    assert {line[0] for line in _lines()} == set(COMMANDS)


@pytest.mark.req("C-120")
@pytest.mark.parametrize("words", list(_lines()), ids=" ".join)
def test_what_cannot_be_used_is_told_in_a_line_with_exit_code_2(
    words: tuple[str, ...], place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    monkeypatch.setenv("BRAINBENCH_BASE_REF", "")
    before = sorted(place.rglob("*"))
    done = told(*words)
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    lines = done.stderr.splitlines()
    assert LINE.fullmatch(lines[-1]), done.stderr
    for line in lines:
        assert LINE.fullmatch(line) or OTHER_LINE.fullmatch(line) or line.endswith(" ..."), line
    assert sorted(place.rglob("*")) == before


@pytest.mark.req("C-120")
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("run", "--seed", "x"), "--seed: 'x' is not a valid integer; see `brainbench run --help`"),
        (("compare", "a.json"), "CURRENT: is missing; see `brainbench compare --help`"),
        (("queries", "wrong"), "No such command 'wrong'; see `brainbench queries --help`"),
        (("field", "--priority", "9"), "--priority: '9' is not one of '1', '2', '3'; see `brainbench field --help`"),
        (
            ("run", "--out", "--json"),
            "Option '--out' needs a value, and '--json' is a flag; see `brainbench run --help`",
        ),
    ],
)
def test_what_the_command_line_gets_wrong_is_told_like_every_error(words: tuple[str, ...], line: str) -> None:
    done = told(*words)
    assert (done.exit_code, done.stderr) == (2, f"brainbench: inconclusive: usage: {line}\n")
