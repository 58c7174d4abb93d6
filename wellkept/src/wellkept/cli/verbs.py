"""The verbs as commands. Their options follow from the table of verbs; here stands how an answer reads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from wellkept.cli.frame import ask, common, elsewhere, inert, report, standing, verb_options, written
from wellkept.verbs import VERBS

Answer = Mapping[str, Any]
_SNIPPET_CHARS = 100


def _command(name: str, says: Callable[[Answer], str], *examples: str, arguments: str = "") -> click.Command:
    """The command of a verb. `arguments` names those that stand without an option."""
    verb = name.replace("-", "_")
    bare = tuple(arguments.split())

    def run(as_json: bool, source: str | None, data_dir: Path | None, **given: object) -> None:
        asked = {key: list(value) if isinstance(value, tuple) else value for key, value in given.items()}
        found = ask(verb, asked, source, data_dir)
        report(as_json, found, says(found) if says is _content else inert(says(found)))
        if not as_json and says is _content:
            click.echo(f"wellkept: {inert(found['id'])} ({_standing(found)})", err=True)
        how = "vector" in found.get("lanes", ()) or found.get("degraded")
        if not as_json and how and "found_by" in found:
            click.echo(f"wellkept: {found['found_by']}", err=True)

    found: Any = verb_options(verb, but=bare)(common(run))
    for argument in reversed([one for one in VERBS[verb].arguments if one.name in bare]):
        how: dict[str, Any] = {"nargs": -1, "required": True} if argument.kind == "texts" else {}
        if argument.choices:
            how["type"] = click.Choice(argument.choices)
        found = click.argument(argument.name, **how)(found)
    made: click.Command = click.command(name)(found)
    shown = "\n".join(f"  {example}" for example in examples)
    made.help = f"{VERBS[verb].summary}\n\n\b\nExamples:\n{shown}\n"
    return made


def _item(item: Answer) -> str:
    """One item on a line: its id, its words, its label, and how it stands where it is not current."""
    return f"{item['id']}  {_words(item.get('title') or item.get('text') or '')} ({_standing(item)})"


def _words(text: str) -> str:
    return " ".join(text.split())


def _standing(item: Answer) -> str:
    """Who wrote it, how it stands where it is not current, and what was noticed of it."""
    return standing(item) + elsewhere(item)


def _recalled(found: Answer) -> str:
    return "\n".join(f"{item['rank']:>3}  {_item(item)}" for item in found["memories"]) or "nothing found"


def _searched(found: Answer) -> str:
    """A line a result, with the words that were found; below it, if asked, what each lane said."""
    lines = [line for item in found["results"] for line in _result_lines(item)]
    if found["has_more"]:
        lines.append(f"there is more; go on with --offset {found['offset'] + found['limit']}")
    return "\n".join(lines) or "nothing found"


def _result_lines(item: Answer) -> Iterator[str]:
    lines = (item["content"] or "").splitlines()
    while item["origin"] == "document" and lines and lines[0].lstrip("# ") in ("", item["name"]):
        lines = lines[1:]
    words = " ".join(" ".join(lines).split())
    words = words if len(words) <= _SNIPPET_CHARS else words[: _SNIPPET_CHARS - 1].rstrip() + "…"
    named = [_words(item["name"])] if item["origin"] == "document" else []
    yield f"{item['rank']:>3}  {item['id']}  {' — '.join([*named, *([words] if words else [])])} ({_standing(item)})"
    for said in item.get("diagnostics", ()):
        yield f"       {said['lane']:<10} rank {said['rank']}, score {said['score']:.4g}, weight {said['weight']:.3g}"
    for name, factor in item.get("factors", {}).items():
        yield f"       {name:<10} score x {factor:.3g}"


def _card(found: Answer) -> str:
    page = found["page"]
    lines = [f"{_words(page['title'])}  {page['id']} ({_standing(page)})"]
    lines += [f"{_words(page['summary'])} ({_standing(page)})"] if page["summary"] else []
    lines += [f"- {_item(fact)}" for fact in found["facts"]]
    also = [f"{one['id']} ({_standing(one)})" for one in found["also"]]
    lines += [f"also: {', '.join(also)}"] if also else []
    return "\n".join(lines)


def _dated(found: Answer) -> str:
    lines = [f"{one['date']:<10}  {_words(one['text'])} ({_standing(one)})" for one in found["entries"]]
    return "\n".join(lines) or "nothing found"


def _changes(found: Answer) -> str:
    lines = [
        f"{one['at'] or '?':<20}  {one['change']:<10} {one['id']}{_why(one)}"
        + (f" ({_standing(one)})" if "label" in one else "")
        for one in found["changes"]
    ]
    more = "; there is more" if found["more"] else ""
    return "\n".join([*lines, f"cursor {found['cursor']}{more}"])


def _history(found: Answer) -> str:
    lines = [_item(found["item"])]
    lines += [f"{one['at'] or '?':<20}  {one['change']}{_why(one)}" for one in found["changes"]]
    lines += [f"supersedes {', '.join(found['supersedes'])}"] if found["supersedes"] else []
    lines += [f"superseded by {found['superseded_by']}"] if found["superseded_by"] else []
    usage = found["usage"]
    return "\n".join([*lines, f"said to be of use {usage['citations']} times, to have misled {usage['misled']}"])


def _conflicts(found: Answer) -> str:
    lines = [line for one in found["conflicts"] for line in _conflict_lines(one)]
    return "\n".join(lines) or "nothing to settle"


def _conflict_lines(one: Answer) -> Iterator[str]:
    yield f"{one['kind']}: {one['why']}"
    yield from (f"  {_item(item)}" for item in one["items"])
    yield from (f"  $ {command}" for command in one["settle"])


def _why(change: Answer) -> str:
    return f" ({change['because']})" if change["because"] else ""


def _forgot(found: Answer) -> str:
    lines = [f"forgotten {one}; its history is kept" for one in found["forgotten"]]
    return "\n".join([*lines, *(f"guarded {one}: its writer ranks higher" for one in found["guarded"])])


def _corrected(found: Answer) -> str:
    return "\n".join(_correction_lines(found))


def _correction_lines(found: Answer) -> Iterator[str]:
    if found["status"] == "guarded":
        yield f"guarded {found['id']}: its writer ranks higher"
        return
    would = "would " if found["status"] == "preview" else ""
    yield f"{would}{found['action']} {' '.join(found['affected'])}"
    if found["created"] and found["created"] != found["id"]:
        yield f"created {found['created']}"
    if would:
        yield "nothing was changed; add --no-preview to do it"


def _cited(found: Answer) -> str:
    said = f"{found['recorded']} recorded, {found['duplicates']} known already"
    return said + (f", not there: {', '.join(found['rejected'])}" if found["rejected"] else "")


def _pack(found: Answer) -> str:
    lines = [str(found["markdown"])] if found["markdown"] else ["nothing found"]
    left = [f"{one['id']} ({_left_out(one)})" for one in found["omitted"]]
    return "\n".join([*lines, *([f"\nleft out: {', '.join(left)}"] if left else [])])


def _left_out(one: Answer) -> str:
    return f"{one['reason']}; {_standing(one)}" if "label" in one else str(one["reason"])


def _content(found: Answer) -> str:
    return str(found["content"]).rstrip("\n")


remember = _command(
    "remember",
    written,
    'wellkept remember "Ada likes tea."',
    'wellkept remember "Ada likes coffee now." --replaces fact:1 --kind preference',
    'wellkept remember "The queue listens on 5433." --entity queue --attribute port',
    arguments="text",
)
recall = _command(
    "recall",
    _recalled,
    'wellkept recall "what does Ada drink?"',
    'wellkept recall "where does Ada live" --as-of 2024-02-01 --json',
    'wellkept recall "where does Ada live" --known-at 2024-02-01',
    arguments="query",
)
search = _command(
    "search",
    _searched,
    'wellkept search "difference engine"',
    "wellkept search billing --type decision --label user_written --after 2026-01-01",
    "wellkept search tea --limit 3 --explain",
    arguments="query",
)
get_page = _command("get-page", _content, "wellkept get-page people/ada-lovelace", arguments="slug")
entity = _command("entity", _card, "wellkept entity ada", 'wellkept entity "Ada Lovelace" --json', arguments="name")
context = _command(
    "context",
    lambda found: str(found["text"]).rstrip("\n"),
    'wellkept context "Has Ada Lovelace answered yet?"',
    arguments="text",
)
context_pack = _command(
    "context-pack",
    _pack,
    'wellkept context-pack "ship the billing page"',
    'wellkept context-pack "why do logins fail" --intent debug --entities auth --markdown-token-budget 800',
    arguments="goal",
)
delta = _command("delta", _changes, "wellkept delta", "wellkept delta --since 42 --json")
forget = _command(
    "forget",
    _forgot,
    "wellkept forget fact:3",
    'wellkept forget people/ada-lovelace --reason "moved to another notebook"',
    arguments="ids",
)
timeline = _command("timeline", _dated, "wellkept timeline ada --since 2024-01-01", arguments="entity")
history = _command("history", _history, "wellkept history fact:3", "wellkept history people/ada --json", arguments="id")
correct = _command(
    "correct",
    _corrected,
    'wellkept correct fact:3 revise --replacement "Ada likes green tea."',
    "wellkept correct fact:3 mark_stale --no-preview",
    arguments="id action",
)
conflicts = _command("conflicts", _conflicts, "wellkept conflicts", "wellkept conflicts --json")
cite = _command(
    "cite", _cited, "wellkept cite fact:3 people/ada-lovelace", "wellkept cite fact:3 --misled", arguments="ids"
)
