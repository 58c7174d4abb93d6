"""What the commands share: their options, the memory that they open, and how they answer."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar

import click

if TYPE_CHECKING:
    from wellkept.memory import Memory
    from wellkept.model import Channel
    from wellkept.settings import Settings
    from wellkept.verbs import Argument

_SCOPE = "wellkept.scope"

F = TypeVar("F", bound=Callable[..., Any])


FEW = 64
"""So many pieces without a vector are no work for a command."""


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


def here() -> Path | None:
    """The working directory; None where it is gone."""
    try:
        return Path.cwd()
    except OSError:
        return None


@contextmanager
def opened(source: str | None, data_dir: Path | None) -> Iterator[tuple[Memory, str]]:
    """The memory and the source that the options name. Where they name none reads look into the project's too."""
    from wellkept.settings import open_memory
    from wellkept.together import seen

    settings = settings_of(source, data_dir)
    scope, also = settings.place(here())
    memory = open_memory(settings)
    try:
        known = {one.id for one in memory.store.sources()} if also else set()
        yield seen(memory, tuple(one for one in also if one in known)), scope
    finally:
        memory.close()


def at_a_terminal() -> bool:
    """Whether a person may be asked: neither a pipe nor a file stands in for one."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def channel() -> Channel:
    """The door that a command is: scripts, pipes and the shells of agents are less than a person at a terminal."""
    return "owner_tty" if at_a_terminal() else "owner_local"


def report(as_json: bool, found: object, text: str) -> None:
    """The one or the other form of an answer; an empty text prints nothing."""
    if as_json:
        click.echo(json.dumps(found, ensure_ascii=False, indent=2, allow_nan=False))
    elif text:
        click.echo(text)


def ask(name: str, arguments: Mapping[str, object], source: str | None, data_dir: Path | None) -> dict[str, Any]:
    """What a verb answers the owner. Arguments that are None were not given."""
    from wellkept.model import Writer
    from wellkept.verbs import Caller, call

    with opened(source, data_dir) as (memory, scope):
        given = {key: value for key, value in arguments.items() if value is not None}
        if name in ("recall", "search"):
            _catch_up(memory)
        found = call(memory, name, given, Caller(scope, Writer(channel())))
        click.get_current_context().meta[_SCOPE] = scope
        if not any(scope == known.id for known in memory.store.sources()) and not getattr(memory, "also", ()):
            click.echo(f"wellkept: nothing was ever kept in source {scope!r}", err=True)
    return found


def _catch_up(memory: Memory) -> None:
    """Give the little that waits its vector, so that it is found by meaning without a daemon."""
    from wellkept.errors import WellkeptError

    with suppress(WellkeptError):
        _, waiting = memory.store.index.vector_counts()
        if 0 < waiting <= FEW and not memory.store.read_only:
            memory.embed_waiting()


def elsewhere(item: Mapping[str, Any]) -> str:
    """Where an item is from, when that is not the source that was asked first."""
    scope = click.get_current_context().meta.get(_SCOPE)
    return f", in {item['source']}" if scope is not None and item["source"] != scope else ""


def standing(item: Mapping[str, Any]) -> str:
    """Who wrote an item, how it stands where it is not current, and what was noticed of it."""
    parts = [str(item["label"])]
    parts += [item["status"]] if item["status"] != "active" else []
    parts += [f"flagged {' '.join(item['flags'])}"] if item["flags"] else []
    parts += ["integrity failed"] if item["integrity"] == "failed" else []
    return ", ".join(parts)


def inert(text: str) -> str:
    """The text without what would colour it, move the cursor or change its direction."""
    from wellkept.trust.envelope import without_controls

    return without_controls(text)


def shown(value: object) -> Any:
    """A value as JSON types, each item with its label."""
    from wellkept import wire

    return wire.shown(value)


def visible(text: str) -> str:
    """The text with what does not show, or would move the cursor, written out."""
    return "".join(char if char.isprintable() or char == "\n" else f"\\u{ord(char):04x}" for char in text)


def written(receipt: Mapping[str, Any]) -> str:
    """The receipt of a write in a line."""
    ids = [receipt["slug"]] if receipt["slug"] else [f"fact:{number}" for number in receipt["facts"]]
    if receipt["pending"]:
        waits = f"fact:{receipt['pending'][0]}"
        return f"pending {waits} (guarded): who said otherwise ranks higher. To settle it: wellkept confirm {waits}"
    why = f" ({', '.join(receipt['degraded'])})" if receipt["degraded"] else ""
    return f"{receipt['status']} {' '.join(ids)}".rstrip() + why


def verb_options(name: str, but: tuple[str, ...] = ()) -> Callable[[F], F]:
    """An option for each argument of a verb, without those named in `but`."""
    from wellkept.verbs import VERBS

    def decorate(command: F) -> F:
        for argument in reversed(VERBS[name].arguments):
            if argument.name not in but:
                option: Any = click.option(*_flags(argument), argument.name, **_option(argument))
                command = option(command)
        return command

    return decorate


def _flags(argument: Argument) -> tuple[str, ...]:
    flag = "--" + (argument.flag or argument.name).replace("_", "-")
    return (f"{flag}/--no-{flag[2:]}",) if argument.default is True else (flag,)


def _option(argument: Argument) -> dict[str, Any]:
    found: dict[str, Any] = {"help": argument.help, "required": argument.required}
    if argument.kind == "switch":
        return found | {"is_flag": True, "default": argument.default}
    if argument.kind == "number":
        found |= {"type": click.IntRange(argument.least, argument.most), "default": argument.default}
        return found | {"show_default": True, "metavar": "N"}
    if argument.kind == "texts":
        one = {"type": click.Choice(argument.choices)} if argument.choices else {"metavar": "TEXT"}
        return found | one | {"multiple": True, "help": f"{argument.help} May be given again."}
    if argument.kind == "moment":
        return found | {"callback": _moment, "metavar": "WHEN"}
    if argument.kind in ("object", "turns"):
        return found | {"callback": _json_value, "metavar": "JSON"}
    if argument.choices:
        return found | {"type": click.Choice(argument.choices), "default": argument.default, "show_default": True}
    return found | {"default": argument.default or None, "metavar": "TEXT"}


def _moment(_: click.Context, option: click.Parameter, text: str | None) -> str | None:
    from wellkept.errors import InvalidInput
    from wellkept.verbs import moment

    try:
        if text is not None:
            moment(option.name or "", text)
    except InvalidInput as error:
        raise click.BadParameter(error.reason, param=option) from None
    return text


def _json_value(_: click.Context, option: click.Parameter, text: str | None) -> object:
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.BadParameter(f"is no JSON: {error}", param=option) from None


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


@contextmanager
def private_file(path: Path | None) -> Iterator[TextIO]:
    """A file that only its owner may read, or standard output; one that was there keeps its permissions."""
    if path is None:
        yield sys.stdout
        return
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            yield file
    except OSError as error:
        raise BadFile(f"{path}: {error.strerror or error}") from None
