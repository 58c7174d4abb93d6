"""What the gate holds back, and how strict it is: the owner looks and decides, at a terminal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wellkept.cli.confirming import only_a_person, passphrase
from wellkept.cli.frame import common, opened, plain, report, shown, visible, written
from wellkept.model import GATE

if TYPE_CHECKING:
    from wellkept.memory import Memory
    from wellkept.model import HeldWrite

_SHOWN_CHARS = 2000
_LINE_CHARS = 80


@click.command()
@click.argument("number", type=int, required=False)
@common
def review(number: int | None, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """List what the gate holds back, or show one of it whole.

    Nothing else reads it: no search, no prompt, no index. What nobody has looked at for 30 days is gone. It is shown at
    a terminal only, with odd characters written out: it is held because it may be meant for a program that reads it.

    \b
    Examples:
      wellkept review
      wellkept review 3
    """
    only_a_person("review")
    with opened(source, data_dir) as (memory, scope):
        held = memory.held(scope) if number is None else (_one(memory, scope, number),)
        told = [plain(one) for one in held]
    if number is not None:
        report(as_json, told[0], "\n".join(_whole(held[0])))
        return
    report(as_json, {"held": told}, "\n".join(_line(one) for one in held) or "nothing is held")


@click.command()
@click.argument("number", type=int)
@common
def release(number: int, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """Keep what was held back after all, with the label of who wrote it.

    That is no confirmation: what an agent wrote stays unconfirmed, what is from outside stays from outside. What was
    forgotten for good since then stays so. Asks for your passphrase.

    \b
    Examples:
      wellkept release 3
    """
    only_a_person("release")
    with opened(source, data_dir) as (memory, scope):
        click.echo("\n".join(_whole(_one(memory, scope, number))), err=as_json)
        passphrase(source, data_dir)
        receipt = shown(memory.release(scope, number))
    report(as_json, receipt, f"released: {written(receipt)}")


@click.command()
@click.argument("number", type=int)
@common
def discard(number: int, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """Throw away what was held back. Asks for your passphrase.

    \b
    Examples:
      wellkept discard 3
    """
    only_a_person("discard")
    with opened(source, data_dir) as (memory, scope):
        _one(memory, scope, number)
        passphrase(source, data_dir)
        memory.discard(scope, number)
    report(as_json, {"discarded": number}, f"discarded {number}")


@click.command()
@click.argument("name", type=click.Choice(tuple(GATE)), required=False)
@click.argument("value", required=False)
@common
def gate(name: str | None, value: str | None, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """Show how strict the gate is, or set NAME to VALUE for this memory.

    external_mode and agent_mode say what becomes of a text of strangers or agents that reads like instructions, hides
    something or imitates you: flag keeps it with a flag, quarantine holds it until you look, block refuses it. What
    reads harmless is kept in each. external_activation and agent_activation say whether what they wrote is brought
    unasked: allow, suppress. The settings file may make each stricter and never less strict.

    To set one asks for your passphrase, at a terminal.

    \b
    Examples:
      wellkept gate
      wellkept gate external_mode quarantine
      wellkept gate agent_activation suppress
    """
    if name is not None and value is None:
        raise click.UsageError(f"give what {name} is to be: {', '.join(GATE[name])}")
    if name is not None:
        only_a_person("gate")
    with opened(source, data_dir) as (memory, _):
        if name is not None and value is not None:
            passphrase(source, data_dir)
            memory.set_mode(name, value)
        modes = plain(memory.strictness())
    report(as_json, modes, "\n".join(f"{one:<20} {what}" for one, what in modes.items()))


def _one(memory: Memory, scope: str, number: int) -> HeldWrite:
    from wellkept.errors import NotFound

    for one in memory.held(scope):
        if one.id == number:
            return one
    raise NotFound(f"nothing is held under {number} in source {scope!r}. See: wellkept review")


def _line(one: HeldWrite) -> str:
    said = " ".join(_text(one).split())
    text = said[:_LINE_CHARS] + (" ..." if len(said) > _LINE_CHARS else "")
    return f"{one.id}  {one.kind} by {one.writer.name} ({', '.join(one.flags)}): {visible(text)}"


def _whole(one: HeldWrite) -> list[str]:
    text = _text(one)
    lines = [f"{one.id}  {one.kind} by {one.writer.name}, {one.at.isoformat(timespec='seconds')}"]
    lines += [f"noticed: {', '.join(one.flags)}"]
    more = " ..." if len(text) > _SHOWN_CHARS else ""
    return [*lines, *(f"  {visible(line)}" for line in text[:_SHOWN_CHARS].splitlines()), *([more] if more else [])]


def _text(one: HeldWrite) -> str:
    said = json.loads(one.request)
    return str(said.get("content") or said.get("text"))
