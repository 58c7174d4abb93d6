"""`brainbench ...`: parse, call, print. Exit 0 pass, 1 a measured rule broke, 2 nothing trustworthy was measured."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import click
from click.exceptions import NoArgsIsHelpError

from brainbench import __version__
from brainbench.errors import verdict_line

COMMANDS: Mapping[str, str] = {
    "run": "brainbench.cli.running:run",
    "failures": "brainbench.cli.failing:failures",
    "gate": "brainbench.cli.gating:gate",
    "compare": "brainbench.cli.gating:compare",
    "queries": "brainbench.cli.queries:queries",
    "longmemeval": "brainbench.cli.retrieval:longmemeval",
    "locomo": "brainbench.cli.retrieval:locomo",
    "field": "brainbench.cli.field:field",
    "rejudge": "brainbench.cli.retrieval:rejudge",
    "expect": "brainbench.cli.expecting:expect",
    "validate": "brainbench.cli.looking:validate",
    "list": "brainbench.cli.looking:list_names",
    "labels": "brainbench.cli.labels:labels",
    "panel": "brainbench.cli.validity:panel",
    "init-adapter": "brainbench.cli.adapting:init_adapter",
    "probe": "brainbench.cli.validity:probe",
    "bench-self": "brainbench.cli.looking:bench_self",
}
"""What can be typed: name -> `module:command`, loaded when it is needed. A new command is a line here."""


class _Commands(click.Group):
    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """What click refuses is told in one line, as all other errors are."""
        run = partial(super().main, args, prog_name, complete_var, standalone_mode=False, **extra)
        if not standalone_mode:
            return run()
        try:
            sys.exit(run())
        except click.Abort:
            told = verdict_line("inconclusive", "interrupted", "nothing was written")
        except NoArgsIsHelpError as error:
            told = error.format_message()
        except click.ClickException as error:
            told = verdict_line("inconclusive", "usage", _refused(error))
        click.echo(told, err=True)
        sys.exit(2)

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name].partition(":")
        found: click.Command = getattr(import_module(module), attribute)
        return found


def _refused(error: click.ClickException) -> str:
    """What click says of a command line, as `FLAG: what is wrong; what shows the right words`."""
    words, context = error.format_message().rstrip("."), getattr(error, "ctx", None)
    if isinstance(error, click.MissingParameter):
        words = f"{_called(error.param)}: is missing" if error.param is not None else words
    elif isinstance(error, click.BadParameter) and error.param is not None:
        words = f"{_called(error.param)}: {error.message.rstrip('.')}"
    path = " ".join(["brainbench", *context.command_path.split()[1:]]) if context is not None else "brainbench"
    return f"{' '.join(words.split())}; see `{path} --help`"


def _called(parameter: click.Parameter) -> str:
    return parameter.opts[-1] if isinstance(parameter, click.Option) else parameter.human_readable_name


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="brainbench")
def main() -> None:
    """Measure what an agent's memory does, and gate changes to it.

    \b
    brainbench run                        the whole bench on the bundled corpus
    brainbench run --system bm25          another memory
    brainbench gate --profile conformance judge this tree against the main branch

    Exit codes: 0 pass, 1 something that was measured got worse or broke a floor, 2 nothing that can be trusted was
    measured.
    """
