"""`wellkept ...`: parse, call Memory, print. Heavy imports wait until a command needs them."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click

from wellkept import __version__
from wellkept.errors import WellkeptError

COMMANDS: Mapping[str, str] = {
    "install": "wellkept.cli.installing:install",
    "uninstall": "wellkept.cli.installing:uninstall",
    "status": "wellkept.cli.installing:status",
    "put": "wellkept.cli.keeping:put",
    "bank": "wellkept.cli.keeping:bank",
    "import": "wellkept.cli.keeping:import_",
    "get": "wellkept.cli.asking:get",
    "search": "wellkept.cli.asking:search",
    "facts": "wellkept.cli.asking:facts",
    "context": "wellkept.cli.asking:context",
    "embed": "wellkept.cli.embedding:embed",
    "bench": "wellkept.cli.benching:bench",
    "export-queries": "wellkept.cli.queries:export_queries",
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

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except WellkeptError as error:
            click.echo(f"wellkept: {error}", err=True)
            ctx.exit(1)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="wellkept")
def main() -> None:
    """A local-first memory for coding agents and assistants.

    Exit codes: 0 done, 1 refused or not found, 2 the command line was wrong.
    """
