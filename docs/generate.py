"""Writes the reference pages that follow from tables, the command line and the tests.

python docs/generate.py            write the pages
python docs/generate.py --check    say which pages are out of date, and exit 1 if any is
"""

from __future__ import annotations

import ast
import importlib
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = ROOT / "docs" / "reference"
TEST_FOLDERS = (ROOT / "tests", ROOT / "brainbench" / "tests", ROOT / "wellkept" / "tests")
SPECIFICATIONS = ("conformance.md", "evidence.md", "wellkept.md", "trust.md")
_RULE = re.compile(r"^(?:- |\| |\d\. )((?:[CET]-\d{3,4}|TC-\d\d))\b(?: \| | )(.*)$", re.MULTILINE)


def rules(text: str) -> dict[str, str]:
    """The rules that a specification states: id -> its text, in the order of the page."""
    return dict(_RULE.findall(text))


def stated_rules() -> dict[str, str]:
    """The rules of every specification that stands in the reference."""
    return {
        rule: text
        for name in SPECIFICATIONS
        for rule, text in rules((REFERENCE / name).read_text(encoding="utf-8")).items()
    }


def marked_ids(folders: tuple[Path, ...] = TEST_FOLDERS) -> dict[str, list[str]]:
    """Ids named by `pytest.mark.req(...)` -> the test files that name them."""
    found: dict[str, list[str]] = {}
    for folder in folders:
        for file in sorted(folder.rglob("test_*.py")):
            for call in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "req":
                    for argument in call.args:
                        if isinstance(argument, ast.Constant):
                            found.setdefault(str(argument.value), []).append(file.name)
    return found


IN_PART = {
    "C-122": "`convert` is planned, and so is `rejudge` of a sweep",
    "C-421": "the kinds `resolve` and `context_pack` answer `unsupported_kind`",
    "C-809": "what it costs is printed by `bench-self` and not asserted",
    "C-1201": "holds on the 22 published fixtures that tests can see; the whole v1 corpus is not in this repository",
    "E-101": "holds for the commands that are there; `wellkept` keeps to its own",
    "E-104": "reports of the retrieval sets; `promote` is planned",
    "E-105": "of the two retrieval sets; a sweep's report has its own form, and accounting is planned",
    "E-106": "`rejudge` reads reports of the retrieval sets, no saved observations",
    "E-251": "`--mode lexical` (BM25) is the only mode built in; `--index`, `--embedder`, `--qa` and `--errata` are "
    "planned. Words, vectors and both merged are measured as `--system wellkept-lexical`, `-vector` and `-naive`",
    "E-252": "`lexical` and `--system wellkept`; `raw`, `vector`, `naive` and `hybrid` are no modes of `brainbench`, "
    "which has no embedder, and there is no `--index chroma`",
    "E-427": "what `brainbench` would time is planned",
    "E-601": "there is no lane of a graph, and time is a factor, not a lane",
    "E-607": "nothing is expanded along links yet, so that no link can raise what was retired",
    "E-608": "the twin with renamed names is a check of `brainbench`, not of this rule's margin",
    "E-609": "the reports in `evidence/retrieval` are of the halves on which the weights were chosen, of all lanes "
    "together and of the vectors; none is held out, and `naive` was not run on LongMemEval-S",
    "T-214": "a confirmation still asks for a word to be typed back, and there is no prompt of the system's own",
    "T-710": "names in links, and in what other pages say, stay",
    "E-262": "the rows of full-context, BM25, null and always-abstain are runs of their own, not printed beside",
}
"""Rules that tests prove only in part, and what is missing."""


def planned() -> str:
    """The page of rules that no test proves yet, and of those that are proved in part."""
    stated = stated_rules()
    proved = set(marked_ids())
    lines = [f"- {rule}: {_brief(text)}" for rule, text in stated.items() if rule not in proved]
    intro = (
        "Rules of the specifications ([conformance](conformance.md), [evidence](evidence.md), [wellkept](wellkept.md), "
        "[trust](trust.md)) "
        "that no test proves yet. A rule leaves this page when a test names it."
    )
    parts = [f"- In part: {rule}: {missing}." for rule, missing in IN_PART.items()]
    return _page("Planned", intro, ["\n".join(lines), "## Proved in part\n\n" + "\n".join(parts)])


def _brief(text: str) -> str:
    """The start of a rule, as plain words."""
    words = re.sub(r"[`*|]", "", text).strip()
    return words if len(words) <= 100 else words[:100].rsplit(" ", 1)[0] + " …"


def metrics() -> str:
    """The glossary of metrics."""
    table = importlib.import_module("brainbench.metrics").METRICS
    parts = []
    for name, metric in table.items():
        rule = "always 0: never waived, never blessed" if metric.zero else "gated" if metric.gated else "not gated"
        parts.append(
            f"## {name}\n\n- suite: {metric.suite}\n- formula: {_plain(metric.formula)}\n"
            f"- better: {metric.better}\n- {rule}"
        )
    intro = (
        "Counts come first: a metric is `n/of`, the rate follows from it, and where nothing was asked there is no "
        "number. Counts are summed over all events of a cell, then divided (micro-average)."
    )
    return _page("Metrics", intro, parts)


def live() -> str:
    """What is counted with a model in the loop, and what the model may call."""
    table = importlib.import_module("brainbench.live.judging").LIVE_METRICS
    tools = importlib.import_module("brainbench.replay.stage").TOOLS
    parts = [
        f"## {name}\n\n- formula: {_plain(metric.formula)}\n- better: {metric.better}\n"
        f"- arms: {'tools, both' if metric.needs_tools else 'off, tools, push, both'}\n- not gated"
        for name, metric in table.items()
    ]
    listed = [f"- `{name}({tool.argument})`: {tool.description} Needs {tool.needs}." for name, tool in tools.items()]
    parts.append("## Tools\n\n" + "\n".join(listed))
    intro = (
        "Counted by `brainbench run --live`, per arm: memory pushes or not, the model has tools or not. Intervals are "
        "a bootstrap over fixtures. See [what these numbers mean](../explanation/live-numbers.md)."
    )
    return _page("Model in the loop", intro, parts)


def retrieval() -> str:
    """What is counted of a ranking."""
    ranking = importlib.import_module("brainbench.metrics.ranking")
    parts = []
    for name, metric in ranking.RANKING.items():
        of = "cases" if metric.share else "the mean over cases"
        called = f"`{metric.at(5)}` for the first five" if metric.cut else "not cut at any rank"
        parts.append(f"## {name}\n\n- formula: {_plain(metric.formula)}\n- better: higher\n- told as {of}; {called}")
    intro = (
        "Counted by `brainbench longmemeval` and `brainbench locomo`. A ranking is read without repeats, the first "
        "of each kept; a grade above 0 is gold. Every number is a mean over the *asked* cases: where nothing came "
        "back, by an error or not, all of them are 0. The best possible ranking is told beside each: with more gold "
        f"than ranks it is below 1. Definitions version {ranking.DEFINITIONS_VERSION}, "
        f"`{ranking.definitions_sha256()}`. "
        "See [how to measure retrieval](../how-to/measure-retrieval.md)."
    )
    return _page("Metrics of retrieval", intro, parts)


def field() -> str:
    """The rows of the field suite."""
    rows = importlib.import_module("brainbench.field").BY_GROUP
    titles = importlib.import_module("brainbench.field.row").GROUPS
    parts = []
    for group, title in titles.items():
        lines = [_field_row(row) for row in rows[group]]
        table = "| row | P | right | asked of a memory with | reported in |\n|---|---|---|---|---|"
        parts.append(f"## {group}: {title}\n\n" + "\n".join([table, *lines]))
    intro = (
        "What users of real memory systems reported, as rows to ask of any memory: `brainbench field`. P1 is data "
        "lost, leaked or wrong, P2 wrong and visible, P3 a nuisance. Each row is a script of what a client would send; "
        "names and texts are drawn from `--seed`. See [how to ask them](../how-to/ask-what-broke-others.md)."
    )
    return _page("Field suite", intro, parts)


def _field_row(row: Any) -> str:
    reports = importlib.import_module("brainbench.field.reports").REPORTS[row.id]
    where = ", ".join(f"`{report}`" for report in reports)
    if row.make is None:
        return f"| {row.id} | {row.priority} | {_plain(row.right)} | n/a: {_plain(row.unasked)} | {where} |"
    script = importlib.import_module("brainbench.field.row").laid(row, 42).script
    needs = ", ".join(f"`{name}`" for name in sorted(importlib.import_module("brainbench.replay.items").needed(script)))
    return f"| {row.id} | {row.priority} | {_plain(row.right)} | {needs} | {where} |"


def suites() -> str:
    """The questions that the bench asks."""
    table = importlib.import_module("brainbench.suites").SUITES
    parts = []
    for name, suite in table.items():
        of_suite = ", ".join(f"[{metric}](metrics.md#{metric})" for metric in suite.metrics)
        needs = "; ".join(" or ".join(sorted(group)) for group in suite.needs)
        judged = "once, and stands under each harness" if suite.shared else "per harness"
        parts.append(
            f"## {name}\n\n{suite.question}\n\n- metrics: {of_suite}\n- needs: {needs or 'nothing'}\n- judged {judged}"
        )
    return _page("Suites", "A suite is one question asked of a memory. Pick some with `brainbench run --suite`.", parts)


def seams() -> str:
    """Where the bench takes hold."""
    table = importlib.import_module("brainbench.seams").SEAMS
    parts = []
    for name, seam in table.items():
        extra = f", {seam.volunteers} volunteered" if seam.volunteers else ""
        budget = f"{seam.budget.pages} pages pointed at{extra}"
        shown = f"{seam.window} turn(s) of {' and '.join(seam.roles)}"
        lines = [
            f"- kind: {seam.kind}",
            f"- budget of a turn: {budget}",
            f"- the memory sees: {shown}",
            f"- suites: {', '.join(seam.suites)}",
            f"- differs from the harness itself: {'; '.join(seam.deviations) or 'in nothing known'}",
        ]
        parts.append(f"## {name}\n\n" + "\n".join(lines))
    intro = (
        "A seam is where the bench takes hold of a harness. `production` means that the artefact the product ships "
        "for that harness ran and its real output was measured; `contract` means that what it promises to hand over "
        "was measured."
    )
    return _page("Seams", intro, parts)


def systems() -> str:
    """Who can be measured without writing an adapter."""
    package = importlib.import_module("brainbench.systems")
    table, parts = package.SYSTEMS, []
    for name, target in table.items():
        system = _resolve(target)
        can = ", ".join(sorted(str(c) for c in system.can)) or "nothing"
        parts.append(f"## {name}\n\n{_first_line(system)}\n\n- can: {can}\n- class: `{target}`")
    intro = (
        "Memories that `brainbench run --system` knows by name. Others come in by the entry point "
        "`brainbench.systems`. `BREAK:SYSTEM` is any of them with something taken away, as `degraded:bm25`:\n\n"
    )
    intro += "\n".join(f"- `{name}`: {_first_line(_resolve(target))}" for name, target in package.BREAKS.items())
    return _page("Systems", intro, parts)


def stores() -> str:
    """The engines of wellkept."""
    table = importlib.import_module("wellkept.storage").STORES
    parts = [f"## {name}\n\n{_first_line(_resolve(target))}\n\n- class: `{target}`" for name, target in table.items()]
    intro = "Where `wellkept` keeps what it remembers. Every store passes the same contract tests."
    return _page("Stores", intro, parts)


def verbs() -> str:
    """What can be asked of wellkept, at every door."""
    module = importlib.import_module("wellkept.verbs")
    parts = []
    for name, verb in module.VERBS.items():
        scopes = " or ".join(sorted(module.ALLOWED[verb.effect])) or "none: only the owner at a terminal"
        rows = [
            f"- `{argument.name}`{_limits(argument)}: {_plain(argument.help)}"
            + (f" As an option: `--{argument.flag}`." if argument.flag else "")
            for argument in verb.arguments
        ]
        doors = f"- doors: Python, {', '.join(sorted(verb.doors))}\n- scope of a token: {scopes}"
        parts.append(f"## {name}\n\n{verb.summary}\n\n{doors}\n\n" + ("\n".join(rows) or "Takes no arguments."))
    intro = (
        "Every verb is a method of `wellkept.memory.Memory` and has the same name, arguments and defaults as a command "
        "(`wellkept get-page`), over HTTP and over MCP. Answers are the same JSON, in which each page, fact and hit "
        "carries its own label: `trust`, `label`, `confirmed`, `content_origin`, `source`, `status`, `flags`, "
        "`integrity`. What a caller is comes from its token or terminal and never from an argument. An id is the slug "
        "of a page, or `fact:NUMBER`."
    )
    return _page("Verbs", intro, [*parts, _problems()])


def _limits(argument: object) -> str:
    least, most = getattr(argument, "least", None), getattr(argument, "most", None)
    said = ["needed"] if getattr(argument, "required", False) else []
    said += [" | ".join(choices)] if (choices := getattr(argument, "choices", ())) else []
    said += [f"{least} to {most}"] if least is not None and most is not None else []
    default = getattr(argument, "default", None)
    said += [f"default `{json.dumps(default)}`"] if default not in (None, "") else []
    return f" ({_plain(', '.join(said))})" if said else ""


def _problems() -> str:
    table = importlib.import_module("wellkept.errors").PROBLEMS
    rows = [f"- `{code}` ({status}): {title}" for code, (status, title) in table.items()]
    intro = (
        "An error has one code at every door. HTTP answers with an RFC 9457 object, a command with `--json` prints the "
        "same object on standard error, a tool of MCP returns it as an error result."
    )
    return "## Errors\n\n" + intro + "\n\n" + "\n".join(rows)


def protocol_schema() -> str:
    """The JSON Schema of the protocol."""
    return json.dumps(importlib.import_module("brainbench.systems.wire").schema(), indent=1, ensure_ascii=False) + "\n"


def openapi() -> str:
    """How the HTTP door of wellkept describes itself."""
    door = importlib.import_module("wellkept.serve.http")
    routes = importlib.import_module("wellkept.serve.routes")
    # The description depends on no memory: none is opened.
    app = door.application(routes.Desk(memory=None, tokens=None, clock=None))
    described = {**app.openapi(), "x-generated-by": "python docs/generate.py"}
    return json.dumps(described, indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def cli() -> str:
    """Every command with its help text."""
    parts = []
    for package in ("brainbench", "wellkept"):
        command = importlib.import_module(f"{package}.cli").main
        parts.extend(_commands(package, command))
    return _page("Command line", "The help of every command, as `--help` prints it.", parts)


def _commands(name: str, command: object) -> Iterator[str]:
    import click

    if not isinstance(command, click.Command):
        raise TypeError(f"{name}: the entry point is no click command")
    names = ["-h", "--help"]  # as both command lines set it; click would otherwise keep those of the last invocation
    context = click.Context(command, info_name=name, terminal_width=100, max_content_width=100, help_option_names=names)
    yield f"## {name}\n\n```text\n{command.get_help(context).rstrip()}\n```"
    if isinstance(command, click.Group):
        for child in command.list_commands(context):
            found = command.get_command(context, child)
            if found is not None and not found.hidden:
                yield from _commands(f"{name} {child}", found)


def _resolve(target: str) -> object:
    module, _, attribute = target.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _first_line(thing: object) -> str:
    return (getattr(thing, "__doc__", None) or "").strip().split("\n\n")[0].replace("\n", " ")


def _plain(text: str) -> str:
    return text.replace("|", "\\|")


def _page(title: str, intro: str, parts: list[str]) -> str:
    return "\n\n".join([f"# {title}", "<!-- written by docs/generate.py -->", intro, *parts]) + "\n"


PAGES: Mapping[str, Callable[[], str]] = {
    "metrics.md": metrics,
    "live.md": live,
    "retrieval.md": retrieval,
    "suites.md": suites,
    "field.md": field,
    "seams.md": seams,
    "systems.md": systems,
    "stores.md": stores,
    "verbs.md": verbs,
    "cli.md": cli,
    "protocol.schema.json": protocol_schema,
    "openapi.json": openapi,
    "planned.md": planned,
}


def stale() -> list[str]:
    """The pages that are not what they would be if written now."""
    return [
        name
        for name, page in PAGES.items()
        if not (REFERENCE / name).exists() or (REFERENCE / name).read_text(encoding="utf-8") != page()
    ]


def main(arguments: list[str]) -> int:
    """Write the pages, or with --check say which are out of date."""
    if arguments == ["--check"]:
        names = stale()
        for name in names:
            print(f"docs/reference/{name} is out of date: run ./bb python docs/generate.py")
        return int(bool(names))
    if arguments:
        print(__doc__)
        return 2
    for name, page in PAGES.items():
        (REFERENCE / name).write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
