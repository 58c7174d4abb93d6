"""The engine holds no word of the corpora that measure it: no name, no slug, no misspelling, no benchmark.

A word of a corpus is distinctive when it stands in a name (a page's title, alias or slug, a mention, a handle) or is a
misspelling of such a word, and is not general language. General language is what the standard library's documentation
says, and the reviewed words in `general_words.txt`.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
import sysconfig
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ENGINE = ROOT / "wellkept" / "src" / "wellkept"
WORD = re.compile(r"[^\W\d_]{4,}")
NAME_PLACES = re.compile(r"^(?:title|aliases):(.*(?:\n[ -]+.*)*)$", re.MULTILINE)
HANDLE = re.compile(r"@(\w+)")
BENCHMARKS = re.compile(
    r"brain_?bench|gbrain|long_?mem_?eval|locomo|\bbeam100k|realmem|injecagent|has_answer|haystack|answer_ids?\b"
    r"|question_id|gold_(?:slug|fact)|should_retrieve|trec_?eval|msmarco|\bbeir\b|hotpot_?qa",
    re.IGNORECASE,
)


def words(text: str) -> set[str]:
    return {found.casefold() for found in WORD.findall(text)}


@cache
def standard_words() -> frozenset[str]:
    """The words of the standard library's own documentation strings and comments."""
    folder = Path(sysconfig.get_path("stdlib"))
    files = (
        file for file in sorted(folder.glob("*.py")) + sorted(folder.glob("[a-z]*/*.py")) if "test" not in file.parts
    )
    skipped = ("site-packages", "idlelib", "lib2to3")
    texts = (f.read_text("utf-8", "replace") for f in files if not any(part in f.parts for part in skipped))
    return frozenset().union(*(words(text) for text in texts))


def general_words() -> frozenset[str]:
    lines = (ROOT / "tests" / "general_words.txt").read_text(encoding="utf-8").splitlines()
    reviewed = {word for line in lines if not line.startswith("#") for word in line.split()}
    return standard_words() | reviewed


def strings(value: object) -> Iterator[tuple[str, str]]:
    """(key, text) of every string in a JSON document."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from ((key, inner),) if isinstance(inner, str) else strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from (("", inner),) if isinstance(inner, str) else strings(inner)


def distinctive(fixtures: list[Path], general: frozenset[str]) -> frozenset[str]:
    """The distinctive words of a corpus's fixtures, case-folded."""
    names: set[str] = set()
    said: set[str] = set()
    for file in fixtures:
        for key, text in strings(json.loads(file.read_text(encoding="utf-8"))):
            said |= words(text)
            if key in ("slug", "mention", "entity_slug"):
                names |= words(text)
            for found in (*NAME_PLACES.findall(text), *HANDLE.findall(text)):
                names |= words(found)
    names -= general
    return frozenset(names | misspelt(said - names - general, names))


def misspelt(candidates: set[str], names: set[str]) -> set[str]:
    """The candidates that one or two slips of the finger make of a name of at least six letters."""
    shapes: dict[str, set[str]] = {}
    for name in names:
        if len(name) >= 6:
            for shape in _shortened(name):
                shapes.setdefault(shape, set()).add(name)
    return {
        word
        for word in candidates
        if len(word) >= 5
        and any(
            sorted(word) == sorted(name) or _near(word, name) for s in _shortened(word) for name in shapes.get(s, ())
        )
    }


def _shortened(word: str) -> set[str]:
    """The word, and the word without any one or two of its letters."""
    once = {word[:i] + word[i + 1 :] for i in range(len(word))}
    return {word} | once | {part[:i] + part[i + 1 :] for part in once for i in range(len(part))}


def _near(one: str, other: str) -> bool:
    """Whether at most two letters are changed, dropped, added or swapped (Levenshtein, a swap counting two)."""
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        above, row[0] = row[0], i
        for j, against in enumerate(other, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (letter != against))
    return row[-1] <= 2


def literals(folder: Path) -> Iterator[tuple[str, set[str]]]:
    """(place, words) of every string literal of code, and of every line of a data file."""
    for file in sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
        name = str(file.relative_to(folder))
        text = file.read_text(encoding="utf-8", errors="replace")
        if file.suffix in (".py", ".pyi"):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes)):
                    value = node.value if isinstance(node.value, str) else node.value.decode("utf-8", "replace")
                    yield f"{name}:{node.lineno}", words(value)
        else:
            for number, line in enumerate(text.splitlines(), 1):
                yield f"{name}:{number}", words(line)


def leaks(folder: Path, forbidden: frozenset[str]) -> list[str]:
    return [f"{place}: {word}" for place, found in literals(folder) for word in sorted(found & forbidden)]


def corpora() -> list[Path]:
    return sorted(path for path in (ROOT / "corpus").iterdir() if (path / "fixtures").is_dir())


@pytest.fixture(scope="module")
def forbidden() -> frozenset[str]:
    general = general_words()
    return frozenset().union(
        *(distinctive(sorted((corpus / "fixtures").glob("*.json")), general) for corpus in corpora())
    )


@pytest.mark.req("C-642", "C-313", "E-608")
def test_no_distinctive_word_of_a_corpus_stands_in_the_engine(forbidden):
    assert leaks(ENGINE, forbidden) == []


def test_every_committed_corpus_has_distinctive_words():
    found = {corpus.name: list((corpus / "fixtures").glob("*.json")) for corpus in corpora()}
    assert "core" in found
    general = general_words()
    assert all(len(distinctive(files, general)) >= 10 for files in found.values())


@pytest.mark.parametrize("place", ["recall/stray.py", "stray.txt"])
def test_a_planted_name_and_a_planted_misspelling_are_found(tmp_path, forbidden, place):
    fixture = tmp_path / "x.fixture.json"
    turn = {"text": "is Quorvelda Brenstow still there? i mean quorvleda"}
    page = {"slug": "people/quorvelda-brenstow", "content": "---\ntitle: Quorvelda Brenstow\n---\n\nThere.\n"}
    fixture.write_text(json.dumps({"events": [turn], "setup": [page]}))
    known = forbidden | distinctive([fixture], general_words())
    assert {"quorvelda", "brenstow", "quorvleda"} <= known
    assert not {"still", "there", "mean", "people", "title"} & known
    engine = tmp_path / "wellkept"
    shutil.copytree(ENGINE, engine, ignore=shutil.ignore_patterns("__pycache__"))
    before = leaks(engine, known)
    for word in ("quorvelda", "quorvleda"):
        (engine / place).write_text(f'WORDS = {{"x": ("{word}",)}}\n')
        assert [leak for leak in leaks(engine, known) if leak not in before] == [f"{place}:1: {word}"]


@pytest.mark.req("C-642")
def test_no_benchmark_is_named_in_the_engine():
    found = [
        f"{file.relative_to(ENGINE)}: {match[0]}"
        for file in sorted(ENGINE.rglob("*"))
        if file.is_file() and "__pycache__" not in file.parts
        for match in BENCHMARKS.finditer(file.read_text(encoding="utf-8", errors="replace"))
    ]
    assert found == []


@pytest.mark.parametrize("name", ["brainbench", "LongMemEval", "locomo", "gbrain", "has_answer", "answer_id"])
def test_a_benchmarks_name_would_be_found(name):
    assert BENCHMARKS.search(f"if {name}:")


def test_a_reviewed_general_word_is_no_part_of_a_persons_name():
    """The list excuses words of general language; the name of somebody in a corpus must not hide in it."""
    reviewed = general_words() - standard_words()
    people = {
        word
        for corpus in corpora()
        for file in (corpus / "fixtures").glob("*.json")
        for key, text in strings(json.loads(file.read_text(encoding="utf-8")))
        if key == "slug" and text.startswith("people/")
        for word in words(text.partition("/")[2])
    }
    assert reviewed & people == set()
