"""`brainbench init-adapter`: a commented adapter to start from, with its contract tests."""

from __future__ import annotations

import re
from collections.abc import Mapping
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
    where = f"cd {out} && " if out != Path() else ""
    click.echo(f"check it:   {where}python -m pytest -rs test_{name}.py")
    if kind in BEFORE:
        click.echo(f"start it:   {where}{_filled(BEFORE[kind], words)}")
    asked = _filled(system, words)
    quoted = f"'{asked}'" if " " in asked else asked
    click.echo(f"measure it: {where}brainbench run --system {quoted} --suite know-to-ask,push")


def _filled(text: str, words: Mapping[str, str]) -> str:
    for word, value in words.items():
        text = text.replace(word, value)
    return text
