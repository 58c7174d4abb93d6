"""What the detectors see in texts that nobody here wrote: attacks, and ordinary texts that must be spared.

./bb python wellkept/tests/data/detect/measure.py --packages SITE_PACKAGES [--attacks NAME:PATH] [--plain NAME:PATH]
./bb python wellkept/tests/data/detect/measure.py ... --save      # keep what was measured in receipt.json
./bb python wellkept/tests/data/detect/measure.py --table         # the tables of the documentation, from receipt.json
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import lzma
import math
import re
import sys
import sysconfig
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from wellkept.trust.detect import VERSION, inspect

RECEIPT = Path(__file__).parent / "receipt.json"
PACKAGES = {"bastioncorpus": "bastioncorpus==0.6.0", "agentdojo": "--no-deps agentdojo==0.1.35"}
CHANNELS = ("external", "agent")
LEAST = 60
"""Shorter strings of a file are names and the like, no texts."""
SIZE = 2048


@dataclass(frozen=True, slots=True)
class Text:
    """One text of a corpus: an attack or none, of which class and in which language."""

    corpus: str
    attack: bool
    kind: str
    language: str
    text: str


def bastion(packages: Path) -> Iterator[Text]:
    """The rows of bastioncorpus, whose benign ones are traps."""
    file = packages / "bastioncorpus" / "corpus" / "injections.jsonl"
    for row in map(json.loads, file.read_text("utf-8").splitlines()):
        attack = row["label"] == "malicious"
        yield Text("bastioncorpus", attack, row["category"] if attack else "traps", row["lang"], row["text"])


def agentdojo(packages: Path) -> Iterator[Text]:
    """AgentDojo: each goal of its attackers as it is and in each of its wrappings; and what its people's mails say."""
    folder = packages / "agentdojo"
    goals = sorted({goal for file in folder.glob("default_suites/*/*/injection_tasks.py") for goal in _goals(file)})
    for goal in goals:
        yield Text("agentdojo", True, "goal alone", "en", goal)
        for name, wrapping in sorted(_wrappings(folder)):
            yield Text("agentdojo", True, name, "en", wrapping.replace("{goal}", goal))
    for file in sorted(folder.glob("data/suites/**/*.yaml")):
        for text in _strings(yaml.load(file.read_text("utf-8"), _Lenient), 40):  # noqa: S506
            if not re.search(r"\{\w*injection\w*\}", text):
                yield Text("agentdojo", False, "mails, files, pages", "en", text)


class _Lenient(yaml.SafeLoader):
    """Reads YAML whatever its tags are."""


_Lenient.add_multi_constructor("!", lambda loader, suffix, node: None)


_DOCUMENTED = ast.ClassDef | ast.FunctionDef


def _goals(file: Path) -> Iterator[str]:
    tree = ast.parse(file.read_text("utf-8"))
    values: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            name, value = node.targets[0].id, _value(node.value, values)
            values[name] = value
            if name == "GOAL" and value:
                yield value


def _value(node: ast.expr, values: Mapping[str, str]) -> str:
    """A string as code writes it, with the constants of the file put in."""
    match node:
        case ast.Constant():
            return str(node.value)
        case ast.JoinedStr():
            return "".join(_value(part, values) for part in node.values)
        case ast.FormattedValue(value=ast.Name(id=name)):
            return values.get(name, "a place")
        case ast.BinOp():
            return _value(node.left, values) + _value(node.right, values)
        case _:
            return ""


def _wrappings(folder: Path) -> Iterator[tuple[str, str]]:
    """(name, text) of what attacks are wrapped in, one of each text."""
    known: set[str] = set()
    for file in sorted(folder.glob("attacks/*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                told = {ast.get_docstring(one, clean=False) for one in ast.walk(node) if isinstance(one, _DOCUMENTED)}
                texts = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant) and one.value not in told]
                for text in (one for one in texts if isinstance(one, str) and "{goal}" in one):
                    filled = (
                        text.replace("{user}", "Emma Johnson").replace("{model}", "AI model").replace("{tools}", "")
                    )
                    if filled not in known:
                        known.add(filled)
                        yield node.name.removesuffix("Attack"), filled


def attacks(name: str, path: Path) -> Iterator[Text]:
    """The attacks of somebody's own file."""
    content = path.read_text("utf-8")
    rows = json.loads(content) if content.lstrip().startswith("[") else map(json.loads, content.splitlines())
    for row in rows:
        text = row.get("Attacker Instruction") or row["text"]
        kind = row.get("category") or row.get("Attack Type") or path.stem
        yield Text(name, row.get("label") != "benign", kind, row.get("lang", "en"), text)


def plain(name: str, path: Path) -> Iterator[Text]:
    """Ordinary texts: the strings of JSON files, the sections of others."""
    files = sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path]
    for file in files:
        raw = file.read_bytes()
        content = (lzma.decompress(raw) if file.suffix == ".xz" else raw).decode("utf-8", "replace")
        if ".json" in file.name:
            texts: Iterable[str] = (text for value in _values(content) for text in _strings(value, LEAST))
        else:
            texts = (part for part in re.split(r"\n\n(?=#)", content) if len(part) >= LEAST)
        for text in texts:
            yield Text(name, False, "ordinary texts", "", text)


def documentation() -> Iterator[Text]:
    """What Python's own library says of itself: orders to programmers, and nothing that is meant for a memory."""
    for file in sorted(Path(sysconfig.get_path("stdlib")).glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8", "replace"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                text = ast.get_docstring(node) or ""
                if len(text) >= LEAST:
                    yield Text("Python's docstrings", False, "ordinary texts", "en", text)


def _values(content: str) -> Iterator[Any]:
    try:
        yield json.loads(content)
    except ValueError:
        for line in content.splitlines():
            try:
                yield json.loads(line)
            except ValueError:
                continue


def _strings(value: Any, least: int) -> Iterator[str]:
    if isinstance(value, str):
        if len(value) >= least:
            yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner, least)


def held_out(text: str) -> bool:
    """Whether a text belongs to the half that nothing was tuned on."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[-1] % 2 == 1


def acts(text: str, where: str) -> bool:
    return any(flag.severity >= 2 for flag in inspect(text, where))  # type: ignore[arg-type]


def wilson(seen: int, of: int) -> tuple[float, float]:
    """The interval of 95 % of a share (E. B. Wilson, 1927)."""
    if not of:
        return 0.0, 1.0
    z = 1.959964
    share, spread = seen / of, z * z / of
    middle, half = share + spread / 2, z * math.sqrt(share * (1 - share) / of + spread / (4 * of))
    return max(0.0, (middle - half) / (1 + spread)), min(1.0, (middle + half) / (1 + spread))


def measured(texts: Iterable[Text]) -> dict[str, Any]:
    """Counts by corpus, class and language, of each half: [texts, acted on from outside, acted on from an agent]."""
    counts: Counter[tuple[Any, ...]] = Counter()
    known: set[str] = set()
    files = hashlib.sha256()
    for one in texts:
        if one.text in known:
            continue
        known.add(one.text)
        files.update(one.text.encode("utf-8", "surrogatepass"))
        row = (one.corpus, one.attack, one.kind, one.language, held_out(one.text))
        counts[*row, "texts"] += 1
        for where in CHANNELS:
            counts[*row, where] += acts(one.text, where)
    rows = [
        {"corpus": c, "attack": a, "kind": k, "language": lang, "held_out": h,
         "texts": counts[c, a, k, lang, h, "texts"], **{where: counts[c, a, k, lang, h, where] for where in CHANNELS}}
        for c, a, k, lang, h in sorted({key[:5] for key in counts})
    ]  # fmt: skip
    return {"rows": rows, "sha256": files.hexdigest()}


def cost(texts: Sequence[str]) -> dict[str, float]:
    """Milliseconds of the processor for texts of 2 KiB, and how often that is what finding their words takes."""
    pieces = [text[:SIZE] for text in texts if len(text) >= SIZE][:500]
    words = re.compile(r"\w+")

    def spent(work: Callable[[str], object]) -> list[float]:
        took = []
        for piece in pieces:
            began = time.thread_time()
            work(piece)
            took.append((time.thread_time() - began) * 1000)
        return sorted(took)

    spent(lambda piece: inspect(piece, "external"))
    looked, found = spent(lambda piece: inspect(piece, "external")), spent(lambda piece: words.findall(piece.lower()))
    at = len(pieces) - 1
    return {
        "texts": len(pieces),
        "p50_ms": round(looked[at // 2], 3),
        "p95_ms": round(looked[int(at * 0.95)], 3),
        "times_finding_words": round(looked[at // 2] / found[at // 2], 1),
    }


def table(receipt: Mapping[str, Any]) -> str:
    """The tables of the documentation."""
    rows = [row for row in receipt["rows"] if row["held_out"]]
    lines = []
    for attack, title in ((True, "Attacks"), (False, "Ordinary texts and traps")):
        lines += [f"{title}, the half that nothing was tuned on:", "", *_HEAD]
        for corpus in sorted({row["corpus"] for row in rows if row["attack"] is attack}):
            of_corpus = [row for row in rows if row["corpus"] == corpus and row["attack"] is attack]
            lines += [_line(corpus, row["kind"], row["language"], [row]) for row in of_corpus]
            if len(of_corpus) > 1:
                lines.append(_line(f"**{corpus}**", "**all**", "", of_corpus))
            tuned = [r for r in receipt["rows"] if not r["held_out"] and (r["corpus"], r["attack"]) == (corpus, attack)]
            lines.append(_line(corpus, "*the half tuned on*", "", tuned))
        lines.append("")
    return "\n".join(lines).rstrip()


_HEAD = (
    "| corpus | class | language | texts | act, from outside | 95 % | act, from an agent | 95 % |",
    "|---|---|---|--:|--:|--:|--:|--:|",
)


def _line(corpus: str, kind: str, language: str, rows: Sequence[Mapping[str, Any]]) -> str:
    of = sum(row["texts"] for row in rows)
    cells = []
    for where in CHANNELS:
        seen = sum(row[where] for row in rows)
        low, high = wilson(seen, of)
        cells += [f"{seen} ({seen / max(of, 1):.1%})", f"{low:.1%} to {high:.1%}"]
    return f"| {corpus} | {kind} | {language} | {of} | {' | '.join(cells)} |"


def corpora(packages: Path | None, own: Sequence[str], ordinary: Sequence[str]) -> Iterator[Text]:
    """The texts of every corpus that is there; what is not is named."""
    for name, read in (("bastioncorpus", bastion), ("agentdojo", agentdojo)):
        if packages is not None and (packages / name).is_dir():
            yield from read(packages)
        else:
            print(
                f"left out: {name}. Install it elsewhere (pip install {PACKAGES[name]}) and say --packages",
                file=sys.stderr,
            )
    for named, reading in ((own, attacks), (ordinary, plain)):
        for pair in named:
            name, _, path = pair.partition(":")
            if not Path(path).exists():
                raise SystemExit(f"{pair}: no such file; say NAME:PATH")
            yield from reading(name, Path(path))
    yield from documentation()


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print what was found."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--packages", type=Path, help="site-packages of an environment that holds the corpora")
    options.add_argument("--attacks", action="append", default=[], metavar="NAME:PATH")
    options.add_argument("--plain", action="append", default=[], metavar="NAME:PATH")
    options.add_argument("--save", action="store_true", help="write receipt.json")
    options.add_argument("--table", action="store_true", help="print the tables of receipt.json, and measure nothing")
    chosen = options.parse_args(arguments)
    if chosen.table:
        print(table(json.loads(RECEIPT.read_text("utf-8"))))
        return
    texts = list(corpora(chosen.packages, chosen.attacks, chosen.plain))
    ordinary = [one.text for one in texts if not one.attack]
    receipt = {"schema_version": 1, "detectors": VERSION, **measured(texts), "cost": cost(ordinary)}
    if chosen.save:
        RECEIPT.write_text(json.dumps(receipt, indent=1, ensure_ascii=False) + "\n", "utf-8")
    print(table(receipt))
    print("\n" + json.dumps(receipt["cost"]))


if __name__ == "__main__":
    main()
