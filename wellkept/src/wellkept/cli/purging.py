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
    from wellkept.forgetting import Plan

_SHOWN = 20
_SHOWN_CHARS = 200


@click.command()
@click.argument("ids", nargs=-1)
@click.option("--dry-run", is_flag=True, help="Only show what would be removed.")
@click.option("--lift", metavar="RECEIPT", help="Let what that purge forgot be kept again if somebody says it.")
@common
def purge(
    ids: tuple[str, ...], dry_run: bool, lift: str | None, as_json: bool, source: str | None, data_dir: Path | None
) -> None:
    """Forget for good: remove facts and pages, and what they say wherever else it is kept.

    Other pages, conversations, history, word indexes, vectors and captured questions are searched in every source, also
    for other spellings of the same words; there [forgotten] takes its place. If somebody says it again it is not kept.
    With --source only that source is searched. A receipt tells what was removed and what no program can reach, as
    backups.

    Only a terminal will do, and your passphrase, which you choose the first time.

    \b
    Examples:
      wellkept purge fact:3 --dry-run
      wellkept purge fact:3
      wellkept purge people/ada-lovelace --json
      wellkept purge --lift 9f86d081884c7d659a2feaa0c55ad015
    """
    if bool(ids) == (lift is not None):
        raise click.UsageError("give the ids of what is to be forgotten, or --lift RECEIPT")
    if not dry_run:
        only_a_person("purge")
    with opened(source, data_dir) as (memory, scope):
        if lift is not None:
            passphrase(source, data_dir)
            lifted = memory.lift(scope, lift)
            report(as_json, {"lifted": lifted}, f"{lifted} claims may be kept again; nothing came back by itself")
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


def _planned(plan: Plan) -> dict[str, Any]:
    stores = Counter(copy.held.store for copy in plan.copies)
    return {"source": plan.source, "items": list(plan.items), "claims": list(plan.claims), "found_in": dict(stores)}


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
    return lines


def _told(receipt: dict[str, Any]) -> list[str]:
    lines = [f"{receipt['status']}: receipt {receipt['id']}"]
    for store in receipt["stores"]:
        left = f", {store['left']} LEFT" if store["left"] else ""
        lines.append(f"  {store['name']}: {store['found']} {store['method']}{left}")
    lines.append(f"looked for afterwards in {receipt['texts_read']} texts and {receipt['bytes_read']} bytes")
    if receipt["status"] == "pending":
        lines.append("another process still reads the database; what was removed is gone from it when that ends")
    lines.append("not reached: " + "; ".join(receipt["out_of_reach"]))
    return lines
