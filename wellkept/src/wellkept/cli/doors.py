"""HTTP and MCP: the server, the relay that harnesses start, and who may ask."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from wellkept.cli.frame import common, here, report, settings_of
from wellkept.projects import BY_PROJECT

PORT = 8377


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0 takes a free one.")
@click.option("--name", "names", multiple=True, metavar="NAME", help="Another host name under which it is reached.")
@click.option("--idle-s", type=click.IntRange(1), metavar="S", help="End when nobody asked for so many seconds.")
@click.option(
    "--test-clock",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Read the time from FILE on every request, to make runs repeatable; health says so.",
)
@common
def serve(
    host: str,
    port: int,
    names: tuple[str, ...],
    idle_s: int | None,
    test_clock: Path | None,
    as_json: bool,
    source: str | None,
    data_dir: Path | None,
) -> None:
    """Answer over HTTP (/api, described by /api/openapi.json) and MCP (/mcp) until told to stop.

    Every request but /api/health needs a token: wellkept token add. Nobody is let in from elsewhere unless you name
    another host, and then only with a token; put something that speaks TLS in front of it.

    \b
    Examples:
      wellkept serve
      wellkept serve --port 0 --json
    """
    from wellkept.serve.server import serve as answer
    from wellkept.serve.tokens import Tokens

    settings = settings_of(source, data_dir)

    def ready(url: str) -> None:
        report(as_json, {"ready": True, "url": url}, f"listening on {url}")
        sys.stdout.flush()
        if not Tokens(settings.data_dir / "tokens.json").all():
            click.echo("wellkept: nobody has a token yet; make one: wellkept token add agent:NAME", err=True)

    answer(settings, host=host, port=port, names=names, test_clock=test_clock, idle_s=idle_s, ready=ready)


@click.command()
@click.option("--principal", default="agent:mcp", show_default=True, help="On whose behalf: agent:NAME.")
@common
def mcp(principal: str, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """Speak MCP on standard input and output; for the settings of a harness.

    Asks the server of this memory, and starts one where none runs; that one ends after half an hour without a
    question. What it writes counts as an agent's, and is the project's in which the harness starts it; what is your
    own is found too. With --source it is that source alone.

    \b
    Examples:
      wellkept mcp
      claude mcp add wellkept -- wellkept mcp
    """
    from wellkept.serve.relay import Place, relay
    from wellkept.settings import make_private

    settings = settings_of(source, data_dir)
    make_private(settings.data_dir)
    scope, also = settings.place(here(), writes=BY_PROJECT)
    relay(Place(settings.data_dir, scope, principal, also), sys.stdin.buffer, sys.stdout.buffer)


@click.group()
def token() -> None:
    """Who may ask over HTTP and MCP."""


@token.command("add")
@click.argument("principal")
@click.option("--scopes", default="read,write,cite", show_default=True, help="Some of read,write,cite,admin.")
@click.option("--days", type=click.IntRange(1, 366), default=90, show_default=True, help="For how long.")
@common
def add(principal: str, scopes: str, days: int, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """Make a token for PRINCIPAL (agent:NAME or user:NAME) and print it, this once.

    It is for one source. What its holder writes ranks below what you write, whoever it is; admin makes tokens and
    exports, and is for people only.

    \b
    Examples:
      wellkept token add agent:codex
      wellkept token add user:ann --scopes read --days 7 --source team
    """
    from datetime import UTC, datetime, timedelta

    from wellkept.serve.tokens import Tokens
    from wellkept.settings import make_private

    settings = settings_of(source, data_dir)
    make_private(settings.data_dir)
    scope, _ = settings.place(here())
    wanted = [one.strip() for one in scopes.split(",") if one.strip()]
    tokens = Tokens(settings.data_dir / "tokens.json")
    text, kept = tokens.add(principal, scope, wanted, timedelta(days=days), datetime.now(UTC))
    report(as_json, {"id": kept.id, "token": text, "expires_at": kept.expires_at}, text)
    click.echo(
        f"wellkept: {kept.principal} may {', '.join(kept.scopes)} in {kept.source} until {kept.expires_at}", err=True
    )


@token.command("list")
@common
def list_(as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """List the tokens, never the secret in them.

    \b
    Example:
      wellkept token list
    """
    from datetime import UTC, datetime

    from wellkept.serve.tokens import Tokens

    now = datetime.now(UTC)
    kept = [
        token
        for token in Tokens(settings_of(source, data_dir).data_dir / "tokens.json").all()
        if source in (None, token.source)
    ]
    rows = [
        {
            "id": token.id,
            "principal": token.principal,
            "source": token.source,
            "scopes": list(token.scopes),
            "expires_at": token.expires_at,
            "expired": token.expired(now),
        }
        for token in kept
    ]
    lines = [
        f"{row['id']}  {row['principal']} may {', '.join(row['scopes'])} in {row['source']} "  # type: ignore[arg-type]
        f"{'until' if not row['expired'] else 'expired'} {row['expires_at']}"
        for row in rows
    ]
    report(as_json, rows, "\n".join(lines) or "no tokens")


@token.command("revoke")
@click.argument("id")
@common
def revoke(id: str, as_json: bool, source: str | None, data_dir: Path | None) -> None:  # noqa: A002
    """Let the token of this ID be valid no longer, at once.

    \b
    Example:
      wellkept token revoke 1f0c52aa93de
    """
    from wellkept.serve.tokens import Tokens

    kept = Tokens(settings_of(source, data_dir).data_dir / "tokens.json").remove(id)
    report(as_json, {"id": kept.id, "revoked": True}, f"revoked {kept.id} of {kept.principal}")
