"""`wellkept ...`: parse, call Memory, print. Heavy imports wait until a command needs them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from wellkept import __version__
from wellkept.errors import BadRequest, WellkeptError

COMMANDS: Mapping[str, str] = {
    "install": "wellkept.cli.installing:install",
    "uninstall": "wellkept.cli.installing:uninstall",
    "status": "wellkept.cli.installing:status",
    "remember": "wellkept.cli.verbs:remember",
    "recall": "wellkept.cli.verbs:recall",
    "search": "wellkept.cli.verbs:search",
    "get-page": "wellkept.cli.verbs:get_page",
    "put-page": "wellkept.cli.keeping:put_page",
    "entity": "wellkept.cli.verbs:entity",
    "context": "wellkept.cli.verbs:context",
    "context-pack": "wellkept.cli.verbs:context_pack",
    "delta": "wellkept.cli.verbs:delta",
    "forget": "wellkept.cli.verbs:forget",
    "confirm": "wellkept.cli.confirming:confirm",
    "timeline": "wellkept.cli.verbs:timeline",
    "history": "wellkept.cli.verbs:history",
    "correct": "wellkept.cli.verbs:correct",
    "cite": "wellkept.cli.verbs:cite",
    "export": "wellkept.cli.exporting:export",
    "put": "wellkept.cli.keeping:put",
    "bank": "wellkept.cli.keeping:bank",
    "import": "wellkept.cli.keeping:import_",
    "get": "wellkept.cli.verbs:get",
    "facts": "wellkept.cli.asking:facts",
    "embed": "wellkept.cli.embedding:embed",
    "bench": "wellkept.cli.benching:bench",
    "export-queries": "wellkept.cli.queries:export_queries",
    "serve": "wellkept.cli.doors:serve",
    "mcp": "wellkept.cli.doors:mcp",
    "token": "wellkept.cli.doors:token",
    "daemon": "wellkept.cli.serving:daemon",
    "ping": "wellkept.cli.serving:ping",
    "hook": "wellkept.cli.serving:hook",
    "hook-command": "wellkept.cli.serving:hook_command",
}
"""What can be typed: name -> `module:command`, loaded when it is needed. A new command is a line here."""


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

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[__name__] = "--json" in args
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except WellkeptError as error:
            said = f"wellkept: {error}".encode("utf-8", "backslashreplace").decode()
            click.echo(_problem(error) if ctx.meta[__name__] else said, err=True)
            ctx.exit(2 if error.problem == "needs_terminal" else 1)
        except click.ClickException as error:
            if not ctx.meta[__name__] or isinstance(error, click.UsageError):
                raise
            click.echo(_problem(BadRequest(error.format_message())), err=True)
            ctx.exit(error.exit_code)


def _problem(error: WellkeptError) -> str:
    import json

    from wellkept.verbs import problem

    return json.dumps(problem(error))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="wellkept")
def main() -> None:
    """A local-first memory for coding agents and assistants.

    Exit codes: 0 done, 1 refused or not found, 2 the command line was wrong. With --json what is refused is told as
    one JSON object on standard error, with the codes that HTTP and MCP use.
    """
