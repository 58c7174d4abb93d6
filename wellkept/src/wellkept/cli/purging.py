"""Forgetting for good, which only the owner may ask for, at a terminal."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wellkept.cli.confirming import only_a_person, passphrase
from wellkept.cli.frame import common, opened, report, shown, visible

if TYPE_CHECKING:
    from collections.abc import Callable

    from wellkept.forgetting import Plan
    from wellkept.ingest.git_history import GitHistory
    from wellkept.memory import Memory

_SHOWN = 20
_SHOWN_CHARS = 200


@click.command()
@click.argument("ids", nargs=-1)
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@click.option("--lift", metavar="RECEIPT", help="Let what that purge forgot be kept again if somebody says it.")
@click.option(
    "--rewrite-history",
    "rewrite",
    metavar="RECEIPT",
    help="Take what that purge forgot out of the history of Git, too.",
)
@common
def purge(
    ids: tuple[str, ...],
    dry_run: bool,
    lift: str | None,
    rewrite: str | None,
    as_json: bool,
    source: str | None,
    data_dir: Path | None,
) -> None:
    """Forget for good: remove facts and pages, and what they say wherever else it is kept.

    Other pages, conversations, history, word indexes, vectors and captured questions are searched in every source, also
    for other spellings of the same words; there [forgotten] takes its place. If somebody says it again it is not kept.
    With --source only that source is searched. A receipt tells what was removed and what no program can reach, as
    backups.

    The files of folders that you let memory follow are rewritten, and committed where Git had them; nothing is pushed.
    What earlier commits hold is counted, and stays until you ask for --rewrite-history: that makes new commits of
    them, drops the logs of the old ones and throws those away.

    Only a terminal will do, and your passphrase, which you choose the first time.

    \b
    Examples:
      wellkept purge fact:3 --dry-run
      wellkept purge fact:3
      wellkept purge people/ada-lovelace --json
      wellkept purge --lift 9f86d081884c7d659a2feaa0c55ad015
      wellkept purge --rewrite-history 9f86d081884c7d659a2feaa0c55ad015 --dry-run
    """
    if sum((bool(ids), lift is not None, rewrite is not None)) != 1:
        raise click.UsageError(
            "give the ids of what is to be forgotten, or --lift RECEIPT, or --rewrite-history RECEIPT"
        )
    if not dry_run:
        only_a_person("purge")
    with opened(source, data_dir) as (memory, scope):
        if lift is not None:
            passphrase(source, data_dir)
            lifted = memory.lift(scope, lift)
            report(as_json, {"lifted": lifted}, f"{lifted} claims may be kept again; nothing came back by itself")
            return
        if rewrite is not None:
            _rewrite(memory, scope, rewrite, dry_run, as_json, lambda: passphrase(source, data_dir))
            return
        plan = memory.purge_plan(scope, ids, everywhere=source is None)
        if dry_run:
            report(as_json, _planned(plan), "\n".join(_lines(plan)))
            return
        click.echo("\n".join(_lines(plan)), err=as_json)
        passphrase(source, data_dir)
        receipt = shown(memory.purge(scope, ids, everywhere=source is None, shown=plan))
    report(as_json, receipt, "\n".join(_told(receipt)))
    if receipt["status"] != "complete":
        sys.exit(1 if receipt["status"] == "residual" else 2)


def _rewrite(memory: Memory, scope: str, receipt: str, dry_run: bool, as_json: bool, ask: Callable[[], None]) -> None:
    held = memory.git_histories(scope, receipt)
    if dry_run or not held:
        said = "\n".join(map(_history, held)) or "no history that can be read holds anything of it"
        report(as_json, shown(held), said)
        return
    click.echo("\n".join(map(_history, held)), err=True)
    click.echo(
        "All of their commits from the first of these on become new ones, without signatures; logs of the old ones go. "
        "What is staged or changed stays.",
        err=True,
    )
    ask()
    done = memory.rewrite_git_histories(scope, receipt)
    lines = [f"{one.folder}: {one.commits} commits are new, the old ones are gone" for one in done]
    report(as_json, shown(done), "\n".join(lines))
    for one in done:
        for name in one.left:
            click.echo(f"wellkept: {one.folder}: LEFT in {visible(name)}", err=True)
        if one.remotes:
            far = f"{', '.join(one.remotes)} and every clone still hold it: push there by force, have clones made anew"
            click.echo(f"wellkept: {one.folder}: {far}", err=True)
    if any(one.left for one in done):
        sys.exit(1)


def _history(one: dict[str, Any] | GitHistory) -> str:
    told = shown(one)
    if told["unread"]:
        return f"git history of {told['folder']}: not looked at: {visible(told['unread'])}"
    named = (
        ("commits", "commits"),
        ("stashes", "stashes"),
        ("reflog", "lines of the reflog"),
        ("others", "lost objects"),
    )
    said = ", ".join(f"{told[name]} {what}" for name, what in named if told[name])
    dates = sorted({told[name][:10] for name in ("oldest", "newest") if told[name]})
    when = f", of {' to '.join(dates)}" if dates else ""
    return f"git history of {told['folder']}: {said} still hold it{when}"


def _planned(plan: Plan) -> dict[str, Any]:
    stores = Counter(copy.held.store for copy in plan.copies)
    found = dict(stores) | ({"files": len(plan.files)} if plan.files else {})
    return {"source": plan.source, "items": list(plan.items), "claims": list(plan.claims), "found_in": found}


def _lines(plan: Plan) -> list[str]:
    from wellkept.trust.forgotten import SHORT
    from wellkept.trust.normal import words

    where = "in any source" if plan.everywhere else f"in {plan.source}"
    lines = [f"to forget in {plan.source}: {', '.join(plan.items)}", f"what they say, wherever else it stands {where}:"]
    if not plan.claims:
        lines.append("  nothing of three words or more, so that nothing can be recognised elsewhere")
    elif any(len(words(claim)) < SHORT for claim in plan.claims):
        lines.append(f"one of fewer than {SHORT} words is recognised only where it is all that is said")
    lines += [f"  {visible(claim[:_SHOWN_CHARS])}" for claim in plan.claims[:_SHOWN]]
    if len(plan.claims) > _SHOWN:
        lines.append(f"  and {len(plan.claims) - _SHOWN} more")
    lines.append("found in:")
    for copy in plan.copies[:_SHOWN]:
        elsewhere = "" if copy.source == plan.source else f", in {visible(copy.source)}"
        lines.append(f"  {copy.held.store}  {visible(copy.item or copy.held.key)}{elsewhere}")
    if len(plan.copies) > _SHOWN:
        lines.append(f"  and {len(plan.copies) - _SHOWN} more")
    lines += [f"  file  {visible(path)}, in folder {folder}" for folder, path in plan.files[:_SHOWN]]
    if len(plan.files) > _SHOWN:
        lines.append(f"  and {len(plan.files) - _SHOWN} more files")
    return lines


def _told(receipt: dict[str, Any]) -> list[str]:
    lines = [f"{receipt['status']}: receipt {receipt['id']}"]
    for store in receipt["stores"]:
        left = f", {store['left']} LEFT" if store["left"] else ""
        lines.append(f"  {store['name']}: {store['found']} {store['method']}{left}")
    for one in receipt["files"]:
        commit = f", in commit {one['commit'][:10]}" if one["commit"] else ""
        why = f" ({visible(one['why'])})" if one["why"] else ""
        what = "LEFT" if one["what"] == "left" else one["what"]
        lines.append(f"  {one['folder']}/{visible(one['path'])}: {what}{commit}{why}")
    lines.append(f"looked for afterwards in {receipt['texts_read']} texts and {receipt['bytes_read']} bytes")
    if receipt["status"] == "pending":
        lines.append("another process still reads the database; what was removed is gone from it when that ends")
    lines += [_history(one) for one in receipt["git_history"]]
    if receipt["git_history"]:
        lines.append(f"to take it out of there: wellkept purge --rewrite-history {receipt['id']}")
    lines.append("not reached: " + "; ".join(receipt["out_of_reach"]))
    return lines
