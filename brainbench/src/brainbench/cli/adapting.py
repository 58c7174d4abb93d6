"""`brainbench init-adapter`: a commented adapter to start from, with its contract tests."""

from __future__ import annotations

import keyword
import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import click

from brainbench.cli.frame import Command, reported
from brainbench.errors import OutputError, UsageError

TEMPLATES = Path(__file__).parent.parent / "adapters"
KINDS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "python": ("@name@:@Name@", {"@name@.py": "python.py.in", "test_@name@.py": "test.py.in"}),
    "cmd": ("cmd:python3 @name@.py", {"@name@.py": "command.py.in", "test_@name@.py": "test.py.in"}),
    "node": ("cmd:node @name@.js", {"@name@.js": "node.js.in", "test_@name@.py": "test.py.in"}),
    "http": ("http://127.0.0.1:9000", {"@name@.py": "server.py.in", "test_@name@.py": "test_server.py.in"}),
    "mcp": (
        "mcp:@name@.toml",
        {"@name@.toml": "mapping.toml.in", "@name@_server.py": "mcp_server.py.in", "test_@name@.py": "test.py.in"},
    ),
}
"""By kind: what `--system` takes, and the files to write with the template of each."""
BEFORE: Mapping[str, str] = {"http": "python3 @name@.py 9000 &"}
"""What has to run before the memory can be asked."""


@click.command(name="init-adapter", cls=Command)
@click.argument("name")
@click.option("--kind", type=click.Choice(list(KINDS)), default="python", show_default=True, help="How it is asked.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), default=".", metavar="DIR", help="Where to.")
@reported
def init_adapter(name: str, kind: str, out: Path) -> None:
    """Write an adapter of about 30 lines for a memory, with its contract tests.

    What is written runs as it is: a memory of titles. Replace what stands in its methods by calls of yours. No file is
    overwritten.

    \b
    Examples:
      brainbench init-adapter my_memory
      brainbench init-adapter my_memory --kind cmd --out adapters
    """
    if name in sys.stdlib_module_names or keyword.iskeyword(name):
        raise UsageError(f"NAME: {name!r} is Python's own, and an import would find that first; add something to it")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise UsageError(
            f"NAME: {name!r} is no name of a module; use lower-case letters, digits and _, as in my_memory"
        )
    system, files = KINDS[kind]
    words = {"@system@": system, "@Name@": name.title().replace("_", ""), "@name@": name}
    made = {out / _filled(file, words): TEMPLATES / template for file, template in files.items()}
    if there := [str(path) for path in made if path.exists()]:
        raise UsageError(f"NAME: {', '.join(there)} exists; choose another name or --out")
    try:
        out.mkdir(parents=True, exist_ok=True)
        for path, template in made.items():
            path.write_text(_filled(template.read_text(encoding="utf-8"), words), encoding="utf-8")
            click.echo(f"wrote {path}")
    except OSError as error:
        raise OutputError(f"--out: {out}: {error.strerror}") from error
    _tell_next(out, name, kind, words)


def _tell_next(out: Path, name: str, kind: str, words: Mapping[str, str]) -> None:
    """How to check and to measure what was written, in words that can be typed as they are."""
    where = f"cd {shlex.quote(str(out))} && " if out != Path() else ""
    checkout = _checkout(out)
    python = _typed("python", out, checkout)
    if find_spec("pytest") is None:
        click.echo(f"first:      {where}{python} -m pip install pytest")
    # The settings of a checkout ask for plugins that only its own environment has.
    alone = f"-c {os.devnull} --rootdir . " if checkout else ""
    click.echo(f"check it:   {where}{python} -m pytest {alone}-rs test_{name}.py")
    if kind in BEFORE:
        click.echo(f"start it:   {where}{_filled(BEFORE[kind], words)}")
    asked = shlex.quote(_filled(KINDS[kind][0], words))
    bench = _typed("brainbench", out, checkout)
    click.echo(f"measure it: {where}{bench} run --system {asked} --suite know-to-ask,push")


def _checkout(folder: Path) -> Path | None:
    """The checkout of this repository that a folder is in."""
    place = Path(os.path.abspath(folder))
    return next((up for up in (place, *place.parents) if (up / "brainbench" / "pyproject.toml").is_file()), None)


def _typed(program: str, folder: Path, checkout: Path | None) -> str:
    """How to call a program of this very environment from a folder: by its name where PATH leads to it."""
    found, ours = shutil.which(program), Path(sys.executable).with_name(program)
    if found is not None and Path(found).parent == ours.parent:
        return program
    if checkout is not None and ours.is_relative_to(checkout):
        return shlex.quote(os.path.relpath(ours, folder))
    return shlex.quote(str(ours if ours.exists() or program != "python" else sys.executable))


def _filled(text: str, words: Mapping[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(word, value)
    return text
