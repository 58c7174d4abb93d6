"""wellkept in a harness: put in, taken out, looked at."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from wellkept.cli.frame import common, here, plain, report, settings_of
from wellkept.hooks import HOOKS
from wellkept.projects import BY_PROJECT, OWN

if TYPE_CHECKING:
    from wellkept.hooks.install import Change
    from wellkept.serve.status import Status

HARNESS = click.Choice(tuple(HOOKS))
DRY_RUN = click.option("--dry-run", is_flag=True, help="Show what would change, as a diff, and change nothing.")


@click.command()
@click.argument("harness", type=HARNESS)
@DRY_RUN
@click.option("--no-capture", is_flag=True, help="Do not keep conversations; only bring what memory holds.")
@common
def install(
    harness: str, dry_run: bool, no_capture: bool, as_json: bool, source: str | None, data_dir: Path | None
) -> None:
    """Put wellkept into HARNESS: its user's settings then run our hooks.

    A session begins with what memory holds, each prompt brings the pages that it names, and what was said is kept
    when a turn, a session or a context ends. Other hooks stay, a copy of the settings is kept, and doing it twice
    changes nothing. The daemon that answers starts by itself.

    What a session says in a git repository is kept for that project and found in no other; what you tell wellkept
    yourself is found in all. With --source everything goes into that one source.

    \b
    Examples:
      wellkept install claude-code --dry-run
      wellkept install claude-code
      wellkept install codex --no-capture
      wellkept install claude-code --source default
    """
    from wellkept.hooks.install import TARGETS, Bound, apply_install, plan_install
    from wellkept.serve.private import check_private
    from wellkept.settings import harness_home, make_private

    settings = settings_of(source, data_dir)
    bound = Bound(settings.socket, settings.data_dir, settings.bound, capture=not no_capture)
    home = harness_home(harness)
    change = plan_install(harness, home, bound)
    backup = None
    if not dry_run and not change.is_none:
        make_private(settings.data_dir)
        check_private(settings.data_dir)  # the daemon would refuse it, and nobody reads what a daemon says
        backup = apply_install(change, settings.data_dir)
    said = [f"already installed in {change.path}" if change.is_none else f"installed in {change.path}"]
    if not change.is_none:
        said.append(_whose(bound.source))
    if backup is not None:
        said.append(f"what was there before: {backup}")
    if not change.is_none:
        said.append(TARGETS[harness].next_step)
    if obstacle := TARGETS[harness].obstacle(home):
        said.append(f"but {obstacle}")
    if dry_run and not as_json:
        click.echo(f"wellkept: {_whose(bound.source)}", err=True)
    _report(as_json, dry_run, change, "unchanged" if change.is_none else "installed", said, source=bound.source)


@click.command()
@click.argument("harness", type=HARNESS)
@DRY_RUN
@common
def uninstall(harness: str, dry_run: bool, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """Take wellkept out of HARNESS.

    Settings that nobody has changed since become what they were, byte for byte; else only our entries go. What
    memory holds stays.

    \b
    Example:
      wellkept uninstall claude-code
    """
    from wellkept.hooks.install import apply_uninstall, plan_uninstall
    from wellkept.settings import harness_home

    settings = settings_of(source, data_dir)
    change, how = plan_uninstall(harness, harness_home(harness), settings.data_dir)
    if not dry_run:
        apply_uninstall(change, settings.data_dir)
    said = {
        "restored": f"restored {change.path} as it was" if change.after is not None else f"removed {change.path}",
        "removed": f"took our entries out of {change.path}; what else changed since stays",
        "absent": f"nothing of ours is in {change.path}",
    }
    _report(as_json, dry_run, change, how, [said[how]])


def _whose(source: str) -> str:
    """Which source a hook keeps in, and reads."""
    if source != BY_PROJECT:
        return f"sessions are kept in the source {source}, and find what it holds"
    return f"sessions are kept by project (git repository), and find what it holds and what is your own ({OWN})"


def _report(as_json: bool, dry_run: bool, change: Change, outcome: str, said: list[str], **more: str) -> None:
    found = {"harness": change.harness, "file": str(change.path), "outcome": outcome, "dry_run": dry_run, **more}
    if dry_run:
        report(as_json, {**found, "diff": change.diff()}, change.diff().rstrip("\n") or "nothing would change")
    else:
        report(as_json, found, "\n".join(said))


@click.command()
@click.option("--lines", type=click.IntRange(0, 1000), default=5, show_default=True, help="So many last hook events.")
@common
def status(lines: int, as_json: bool, source: str | None, data_dir: Path | None) -> None:
    """Say where wellkept is installed, whether the daemon answers, and what the last hooks came to.

    Exit code 1 when something that is installed cannot work, or its last events failed.

    \b
    Examples:
      wellkept status
      wellkept status --lines 50 --json
    """
    from wellkept.serve.status import look
    from wellkept.settings import harness_home

    settings = settings_of(source, data_dir)
    found = look(settings, {harness: harness_home(harness) for harness in HOOKS}, lines)
    where = f"{'memory':<12} {settings.database}" + ("" if settings.database.exists() else ", nothing kept yet")
    scope, also = settings.place(here(), writes=BY_PROJECT)
    told = {**plain(found), "well": found.is_well, "database": str(settings.database), "source": scope, "also": also}
    whose = f"{'here':<12} sessions are kept in {scope}" + (f", and find {', '.join(also)} too" if also else "")
    report(as_json, told, "\n".join([where, whose, *_status_lines(found)]))
    if not found.is_well:
        raise SystemExit(1)


def _status_lines(found: Status) -> Iterator[str]:
    if not found.hooks_on:
        yield f"{'hooks':<12} are switched off, by settings.toml or WELLKEPT_HOOKS=0"
    for one in found.harnesses:
        state = f"installed, {len(one.events)} hooks in {one.file}" if one.events else "not installed"
        yield f"{one.harness:<12} {state}"
        if one.trouble:
            yield f"{'':<12} {one.trouble}"
    if found.trouble or found.daemon is None:
        starts = any(one.events for one in found.harnesses)
        sleeps = "sleeps; the next hook starts it" if starts else "does not run; no hook is installed to start it"
        yield f"{'daemon':<12} {found.trouble or sleeps}"
    else:
        yield f"{'daemon':<12} answers for the source {found.daemon['source']}, process {found.daemon.get('pid')}"
    if found.waiting:
        yield f"{'waiting':<12} {found.waiting} conversations to keep, once the daemon runs"
    for hook in found.failing:
        yield f"{'failing':<12} {hook.event} at {hook.at}: {hook.reason}. {hook.next_step}"
    for beat in found.beats:
        took = f" {beat['duration_ms']} ms" if "duration_ms" in beat else ""
        said = " ".join(str(beat[key]) for key in ("outcome", "reason") if beat.get(key))
        yield f"{beat.get('ts', ''):<24} {beat.get('event', '')}: {said}{took}"
