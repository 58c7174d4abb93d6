"""What the commands share: their options, the memory that they open, and how they answer."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from wellkept.memory import Memory
    from wellkept.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])


class BadFile(click.ClickException):
    """A file that cannot be used: exit code 2."""

    exit_code = 2


def common(command: F) -> F:
    """The options that every command takes."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text."),
        click.option("--source", metavar="NAME", help="The scope to read or write (default: from the settings)."),
        click.option("--data-dir", metavar="DIR", type=click.Path(path_type=Path), help="Where the memory is kept."),
    ):
        command = option(command)
    return command


def settings_of(source: str | None, data_dir: Path | None, **more: object) -> Settings:
    from wellkept.settings import load_settings

    return load_settings(overrides={"source": source, "data_dir": data_dir, **more})


@contextmanager
def opened(source: str | None, data_dir: Path | None) -> Iterator[tuple[Memory, str]]:
    """The memory and the source that the options name."""
    from wellkept.settings import open_memory

    settings = settings_of(source, data_dir)
    memory = open_memory(settings)
    try:
        yield memory, settings.source
    finally:
        memory.close()


def report(as_json: bool, found: object, text: str) -> None:
    """The one or the other form of an answer; an empty text prints nothing."""
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False, indent=2, allow_nan=False))
    elif text:
        click.echo(text)


def plain(value: object) -> Any:
    """A frozen value as JSON types."""
    import msgspec

    return msgspec.to_builtins(value)


def read_text(file: Path) -> str:
    try:
        raw = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        return raw.decode("utf-8-sig")
    except OSError as error:
        raise BadFile(f"{file}: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise BadFile(f"{file}: not UTF-8 text (byte {error.start})") from None
