"""`wellkept ...`: parse, call Memory, print. Heavy imports wait until a command needs them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from wellkept import __version__
from wellkept.errors import BadRequest, InvalidInput, WellkeptError

SECTIONS: Mapping[str, Mapping[str, str]] = {
    "Every day": {
        "remember": "wellkept.cli.verbs:remember",
        "recall": "wellkept.cli.verbs:recall",
        "search": "wellkept.cli.verbs:search",
        "get": "wellkept.cli.getting:get",
        "entity": "wellkept.cli.verbs:entity",
        "timeline": "wellkept.cli.verbs:timeline",
        "facts": "wellkept.cli.asking:facts",
    },
    "Put right": {
        "forget": "wellkept.cli.verbs:forget",
        "purge": "wellkept.cli.purging:purge",
        "correct": "wellkept.cli.verbs:correct",
        "confirm": "wellkept.cli.confirming:confirm",
        "review": "wellkept.cli.reviewing:review",
        "release": "wellkept.cli.reviewing:release",
        "discard": "wellkept.cli.reviewing:discard",
        "gate": "wellkept.cli.reviewing:gate",
        "history": "wellkept.cli.verbs:history",
        "delta": "wellkept.cli.verbs:delta",
        "conflicts": "wellkept.cli.verbs:conflicts",
        "cite": "wellkept.cli.verbs:cite",
        "doctor": "wellkept.cli.doctor:doctor",
    },
    "Pages, folders and conversations": {
        "put": "wellkept.cli.keeping:put",
        "import": "wellkept.cli.keeping:import_",
        "sync": "wellkept.cli.syncing:sync",
        "connect": "wellkept.cli.connecting:connect",
        "bank": "wellkept.cli.keeping:bank",
        "export": "wellkept.cli.exporting:export",
        "embed": "wellkept.cli.embedding:embed",
        "put-page": "wellkept.cli.keeping:put_page",
        "get-page": "wellkept.cli.verbs:get_page",
    },
    "In your harness": {
        "install": "wellkept.cli.installing:install",
        "uninstall": "wellkept.cli.installing:uninstall",
        "status": "wellkept.cli.installing:status",
        "context": "wellkept.cli.verbs:context",
        "context-pack": "wellkept.cli.verbs:context_pack",
        "hook": "wellkept.cli.serving:hook",
        "hook-command": "wellkept.cli.serving:hook_command",
    },
    "Servers": {
        "serve": "wellkept.cli.doors:serve",
        "mcp": "wellkept.cli.doors:mcp",
        "token": "wellkept.cli.doors:token",
        "daemon": "wellkept.cli.serving:daemon",
        "ping": "wellkept.cli.serving:ping",
    },
    "Measure": {
        "bench": "wellkept.cli.benching:bench",
        "export-queries": "wellkept.cli.queries:export_queries",
    },
}
"""What can be typed, as the help sorts it: name -> `module:command`, loaded when needed. A new command is a line."""
COMMANDS: Mapping[str, str] = {name: target for section in SECTIONS.values() for name, target in section.items()}
_INTERRUPTED, _BROKEN_PIPE = 130, 141


class _Commands(click.Group):
    """Says what wellkept refuses in one line, with exit code 1, and a wrong command line with 2."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[name].partition(":")
        found: click.Command = getattr(import_module(module), attribute)
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            near = get_close_matches(args[0], COMMANDS, 1)
            if not near:
                raise
            raise click.UsageError(f"{error.message.rstrip('.')}. Did you mean {near[0]}?", ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for section, names in SECTIONS.items():
            rows = [(name, _first_sentence(self.get_command(ctx, name))) for name in names]
            with formatter.section(section):
                formatter.write_dl(rows)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[__name__] = "--json" in args
        with _read_no_further(ctx):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _read_no_further(ctx):
                return super().invoke(ctx)
        except WellkeptError as error:
            said = f"wellkept: {error}".encode("utf-8", "backslashreplace").decode()
            click.echo(_problem(error) if ctx.meta[__name__] else said, err=True)
            ctx.exit(2 if error.problem == "needs_terminal" else 1)
        except click.ClickException as error:
            if not ctx.meta[__name__]:
                raise
            click.echo(_problem(_unusable(error)), err=True)
            ctx.exit(error.exit_code)
        except KeyboardInterrupt:
            click.echo("wellkept: stopped", err=True)
            ctx.exit(_INTERRUPTED)


@contextmanager
def _read_no_further(ctx: click.Context) -> Iterator[None]:
    """Ends quietly, as by SIGPIPE, when whoever reads has seen enough; what is still buffered has nowhere to go."""
    try:
        yield
    except BrokenPipeError:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        ctx.exit(_BROKEN_PIPE)


def _first_sentence(command: click.Command | None) -> str:
    text = " ".join(((command.help if command else "") or "").partition("\n\n")[0].split())
    first, mark, _ = text.partition(". ")
    return first + mark.strip()


def _unusable(error: click.ClickException) -> WellkeptError:
    """A wrong command line as the error of the argument at fault; a file that cannot be read as one of its own."""
    if not isinstance(error, click.UsageError):
        return BadRequest(error.format_message())
    parameter = getattr(error, "param", None)
    at_fault = getattr(parameter, "name", None) or getattr(error, "option_name", None) or "arguments"
    return InvalidInput(str(at_fault).lstrip("-").replace("-", "_"), error.format_message())


def _problem(error: WellkeptError) -> str:
    import json

    from wellkept.verbs import problem

    return json.dumps(problem(error))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="wellkept")
def main() -> None:
    """A local-first memory for coding agents and assistants.

    \b
    Start with:
      wellkept remember "Ada likes tea."
      wellkept recall "what does Ada like?"
      wellkept install claude-code --dry-run

    Exit codes: 0 done, 1 refused or not found, 2 the command line was wrong. With --json what is refused is told as
    one JSON object on standard error, with the codes that HTTP and MCP use.
    """
