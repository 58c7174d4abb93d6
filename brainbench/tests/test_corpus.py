"""Fixtures are read as they are, and whatever is wrong with them is told at once."""

from __future__ import annotations

import copy
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brainbench import corpus
from brainbench.corpus.markdown import names
from brainbench.corpus.times import utc
from brainbench.corpus.words import find_name
from brainbench.errors import CorpusError, NothingMeasured, OutputError, UsageError
from brainbench.model import Capability, Edit, Forget, Resync, SessionBreak, Turn, Write

HERE = Path(__file__).parent
MINI = HERE / "data" / "mini-v1"
DATA = Path(os.environ.get("BRAINBENCH_DATA", HERE.parents[2] / "shared" / "data"))
PAGE = "---\ntitle: Ana Sol\n---\n\nAna Sol paints.\n"
Value = dict[str, Any]


def v1(**changes: Any) -> Value:
    """A small v1 fixture without fault."""
    value: Value = {
        "schema_version": 1,
        "fixture_id": "a",
        "suites": ["know-to-ask"],
        "turns": [{"turn_id": 1, "role": "user", "text": "Hello"}],
    }
    return copy.deepcopy(value | changes)


def native(**changes: Any) -> Value:
    """A small native fixture without fault that has every kind of event."""
    value: Value = {
        "schema_version": 2,
        "fixture_id": "n",
        "suites": ["push", "know-to-ask"],
        "category": "direct",
        "stratum": "easy",
        "language": "en",
        "tags": ["one"],
        "requires": ["page_write", "purge"],
        "sources": [{"id": "home", "owner": "user"}, {"id": "feed", "owner": "external"}],
        "active_source": "home",
        "universe": "small",
        "setup": [
            {"event_id": 1, "kind": "write", "via": "page", "actor": "owner", "slug": "people/ana", "content": PAGE}
        ],
        "events": [
            {"event_id": 2, "kind": "turn", "role": "user", "text": "Ask Ana Sol, she knows.", "speaker": "Bo"},
            {"event_id": 3, "kind": "write", "via": "fact", "actor": "agent", "content": "Ana paints", "claims": ["x"]},
            {"event_id": 4, "kind": "edit", "slug": "people/ana", "actor": "owner", "replace": {"old": "a", "new": ""}},
            {"event_id": 5, "kind": "edit", "slug": "people/ana", "actor": "owner", "content": PAGE, "source": "feed"},
            {"event_id": 6, "kind": "forget", "target": {"fact": "Ana paints"}, "mode": "purge", "actor": "owner"},
            {"event_id": 7, "kind": "confirm", "target": {"slug": "people/ana"}, "actor": "owner", "door": "tty"},
            {"event_id": 8, "kind": "resync", "snapshot": {"b.md": "B", "a.md": "A"}},
            {"event_id": 9, "kind": "session_break", "harness": "codex", "persist": True, "ts": "2026-01-01T00:00:00Z"},
        ],
        "scripted_facts": [
            {"event_id": 2, "quote": "Ask Ana Sol", "mention": "Ana Sol", "fact": "Ana knows", "kind": "fact"}
        ],
    }
    return copy.deepcopy(value | changes)


def put(directory: Path, *values: object, names: str = "abcdefgh") -> Path:
    """These values as fixture files."""
    directory.mkdir(exist_ok=True)
    for name, value in zip(names, values, strict=False):
        raw = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
        (directory / f"{name}.fixture.json").write_bytes(raw)
    return directory


def told(directory: Path) -> list[str]:
    """The faults of a directory as printed."""
    with pytest.raises(CorpusError) as caught:
        corpus.read(directory, include_holdout=True)
    return str(caught.value).splitlines()


def test_a_valid_fixture_of_each_version_has_no_fault(tmp_path: Path) -> None:
    found = corpus.read(put(tmp_path, v1(), native()), include_holdout=False)
    assert [f.schema_version for f in found.fixtures] == [1, 2]
    assert found.warnings == ()


INT = "an integer of at most 9007199254740991 in size"
SUITES = "a non-empty list of know-to-ask, push, write-back, continuity"
SUITE = '"know-to-ask" or "push" or "write-back" or "continuity"'
TIME = "an ISO 8601 date and time such as 2026-03-02T17:00:00Z"
IDS = "lower-case letters, digits and hyphens, beginning with no hyphen"
TOP = (
    "schema_version, fixture_id, suites, category, holdout, sources, active_source, seed_pages, seed_facts, turns, "
    "continuity"
)
SEALED = "may not stand in a fixture; gold belongs in the gold directory"


def turn(**changes: Any) -> Value:
    return {"turns": [{"turn_id": 1, "role": "user", "text": "Hello"} | changes]}


V1_FAULTS: list[tuple[Value, list[str]]] = [
    ({"schema_version": 3}, ["schema_version: 3 is not allowed; needs 1 or 2"]),
    ({"schema_version": True}, ["schema_version: true is not allowed; needs 1 or 2"]),
    ({"schema_version": "1"}, ['schema_version: "1" is not allowed; needs 1 or 2']),
    ({"fixture_id": "A b"}, [f'fixture_id: "A b" is not allowed; needs {IDS}']),
    ({"fixture_id": "a\n"}, [f'fixture_id: "a\\n" is not allowed; needs {IDS}']),
    ({"fixture_id": "-a"}, [f'fixture_id: "-a" is not allowed; needs {IDS}']),
    ({"fixture_id": None}, [f"fixture_id: null is not allowed; needs {IDS}"]),
    ({"suites": []}, [f"suites: an empty list is not allowed; needs {SUITES}"]),
    ({"suites": "push"}, [f'suites: "push" is not allowed; needs {SUITES}']),
    ({"suites": ["push", "recall"]}, [f'suites[1]: "recall" is not allowed; needs {SUITE}']),
    ({"category": 7}, ["category: 7 is not allowed; needs a string"]),
    ({"holdout": 1}, ["holdout: 1 is not allowed; needs true or false"]),
    ({"holdout": "false"}, ['holdout: "false" is not allowed; needs true or false']),
    ({"sources": "x"}, ['sources: "x" is not allowed; needs a list of non-empty strings']),
    ({"sources": ["x", 1]}, ["sources[1]: 1 is not allowed; needs a non-empty string"]),
    ({"active_source": ""}, ['active_source: "" is not allowed; needs a non-empty string']),
    ({"active_source": None}, ["active_source: null is not allowed; needs a non-empty string"]),
    (
        {"seed_pages": {}},
        ["seed_pages: an object with 0 keys is not allowed; needs a list of pages with slug and content"],
    ),
    (
        {"seed_pages": [{}]},
        [
            "seed_pages[0].slug: missing; needs a non-empty string",
            "seed_pages[0].content: missing; needs a non-empty string",
        ],
    ),
    (
        {"seed_pages": [{"slug": "", "content": "", "source_id": None, "title": "x"}]},
        [
            'seed_pages[0].slug: "" is not allowed; needs a non-empty string',
            'seed_pages[0].content: "" is not allowed; needs a non-empty string',
            "seed_pages[0].source_id: null is not allowed; needs a non-empty string",
            "seed_pages[0].title: unknown key; allowed here: slug, content, source_id",
        ],
    ),
    (
        {"seed_pages": [{"slug": "x", "content": "plain"}]},
        [
            'seed_pages[0].content: "plain" has no front matter; needs Markdown that begins with a block between two '
            "lines ---"
        ],
    ),
    ({"seed_facts": [{}]}, ["seed_facts[0].fact: missing; needs a non-empty string"]),
    (
        {"seed_facts": [{"fact": 1, "entity_slug": 2, "source": None, "source_session": 3, "source_id": ""}]},
        [
            "seed_facts[0].fact: 1 is not allowed; needs a non-empty string",
            "seed_facts[0].entity_slug: 2 is not allowed; needs a non-empty string or null",
            "seed_facts[0].source: null is not allowed; needs a string",
            "seed_facts[0].source_session: 3 is not allowed; needs a string or null",
            'seed_facts[0].source_id: "" is not allowed; needs a non-empty string',
        ],
    ),
    ({"turns": []}, ["turns: an empty list is not allowed; needs a non-empty list of turns"]),
    ({"turns": ["hi"]}, ['turns[0]: "hi" is not allowed; needs an object with turn_id, role, text, ts']),
    (turn(turn_id=True), [f"turns[0].turn_id: true is not allowed; needs {INT}"]),
    (turn(turn_id=1.5), [f"turns[0].turn_id: 1.5 is not allowed; needs {INT}"]),
    (turn(turn_id="1"), [f'turns[0].turn_id: "1" is not allowed; needs {INT}']),
    (turn(turn_id=2**53), [f"turns[0].turn_id: 9007199254740992 is not allowed; needs {INT}"]),
    (turn(role="system"), ['turns[0].role: "system" is not allowed; needs "user" or "assistant"']),
    (turn(text=""), ['turns[0].text: "" is not allowed; needs a non-empty string']),
    (turn(ts="yesterday"), [f'turns[0].ts: "yesterday" is not allowed; needs {TIME}']),
    (turn(ts="2026-02-30T10:00:00Z"), [f'turns[0].ts: "2026-02-30T10:00:00Z" is not allowed; needs {TIME}']),
    (turn(ts=""), [f'turns[0].ts: "" is not allowed; needs {TIME}']),
    (turn(ts=1767225600), [f"turns[0].ts: 1767225600 is not allowed; needs {TIME}"]),
    (turn(speaker="x"), ["turns[0].speaker: unknown key; allowed here: turn_id, role, text, ts"]),
    (
        {"turns": [{"turn_id": 1, "role": "user", "text": "a"}, {"turn_id": 1.0, "role": "user", "text": "b"}]},
        ["turns[1].turn_id: 1 stands also at turns[0].turn_id; needs a value of its own"],
    ),
    (
        {"continuity": {"pair_id": "", "pair_role": "both"}},
        [
            'continuity.pair_id: "" is not allowed; needs a non-empty string',
            'continuity.pair_role: "both" is not allowed; needs "writer" or "reader"',
        ],
    ),
    ({"continuity": None}, ["continuity: null is not allowed; needs an object with pair_id, pair_role"]),
    ({"1": 1}, [f"1: unknown key; allowed here: {TOP}"]),
    ({"seed": 1}, [f"seed: unknown key; allowed here: {TOP}"]),
    ({"gold": {}}, [f"gold: 'gold' {SEALED}"]),
    (turn(gold=1), [f"turns[0].gold: 'gold' {SEALED}"]),
    ({"x": {"y": [{"gold": 1}]}}, [f"x: unknown key; allowed here: {TOP}", f"x.y[0].gold: 'gold' {SEALED}"]),
    (
        {"suites": ["write-back"]},
        ["turns[0].ts: missing; a fixture that declares write-back needs ts on every turn"],
    ),
    (
        {"continuity": {"pair_id": "p", "pair_role": "writer"}},
        [
            "turns[0].ts: missing; a writer needs ts on every turn",
            'continuity.pair_id: pair "p" has 1 writer, 0 readers; needs exactly 1 writer and 1 reader',
        ],
    ),
]


@pytest.mark.req("C-101", "C-102", "C-103", "C-104", "C-106")
@pytest.mark.parametrize(("changes", "expected"), V1_FAULTS)
def test_every_fault_of_a_v1_fixture_names_field_value_and_remedy(
    tmp_path: Path, changes: Value, expected: list[str]
) -> None:
    assert told(put(tmp_path, v1(**changes))) == [f"a.fixture.json: {line}" for line in expected]


def event(index: int, **changes: Any) -> Value:
    value = native()
    for key, new in changes.items():
        if new is ...:
            del value["events"][index][key]
        else:
            value["events"][index][key] = new
    return {"events": value["events"]}


def scripted(**changes: Any) -> Value:
    return {"scripted_facts": [native()["scripted_facts"][0] | changes]}


KINDS = '"turn" or "write" or "edit" or "forget" or "confirm" or "resync" or "session_break"'
CAPABILITIES = " or ".join(f'"{c}"' for c in Capability)
FACT_KIND = '"event" or "preference" or "commitment" or "belief" or "fact"'
NO_TURN = "is no turn of this script; needs the event_id of a turn"
NO_SOURCE = "is no declared source; needs one of"
NOT_QUOTED = "is not in the quote; needs a part of it, a pronoun or null"
NOT_VERBATIM = "is not in the text of event 2; needs a verbatim part of it"
ONE_CHANGE = "an edit needs exactly one of content, replace, patch"
ONE_TARGET = "needs exactly one of as, slug, fact, text"
OWN = "needs a value of its own"
NATIVE_FAULTS: list[tuple[Value, list[str]]] = [
    ({"schema_version": 2.5}, ["schema_version: 2.5 is not allowed; needs 1 or 2"]),
    ({"category": ""}, ['category: "" is not allowed; needs a non-empty string']),
    ({"stratum": "severe"}, ['stratum: "severe" is not allowed; needs "easy" or "medium" or "hard"']),
    ({"language": "e_n"}, ['language: "e_n" is not allowed; needs a BCP 47 language tag such as en, zh-Hant or und']),
    ({"requires": ["fly"]}, [f'requires[0]: "fly" is not allowed; needs {CAPABILITIES}']),
    (
        {"sources": []},
        [
            "sources: an empty list is not allowed; needs a non-empty list of sources",
            f'active_source: "home" {NO_SOURCE} sources',
            f'events[3].source: "feed" {NO_SOURCE} sources',
        ],
    ),
    (
        {"sources": [{"id": "home", "owner": "me"}, {"id": "feed"}, {"id": "home"}]},
        [
            'sources[0].owner: "me" is not allowed; needs "user" or "agent" or "external"',
            f'sources[2].id: "home" stands also at sources[0].id; {OWN}',
        ],
    ),
    ({"active_source": "work"}, [f'active_source: "work" {NO_SOURCE} "home", "feed"']),
    ({"setup": [native()["events"][0] | {"event_id": 1}]}, ['setup[0].kind: "turn" is not allowed; needs "write"']),
    (
        {"events": []},
        [
            "events: an empty list is not allowed; needs a non-empty list of events",
            f"scripted_facts[0].event_id: 2 {NO_TURN}",
        ],
    ),
    (event(2, kind="rename"), [f'events[2].kind: "rename" is not allowed; needs {KINDS}']),
    (event(2, kind=...), [f"events[2].kind: missing; needs {KINDS}"]),
    (event(2, kind=["edit"]), [f"events[2].kind: a list of 1 is not allowed; needs {KINDS}"]),
    (event(1, event_id=1), [f"events[1].event_id: 1 stands also at setup[0].event_id; {OWN}"]),
    (event(1, via="page"), ["events[1].slug: missing; a page is written under a slug"]),
    (
        event(1, via="mail", actor="me"),
        [
            'events[1].via: "mail" is not allowed; needs "page" or "fact" or "tool" or "connector"',
            'events[1].actor: "me" is not allowed; needs "owner" or "agent" or "external"',
        ],
    ),
    (event(2, content="x"), [f"events[2].content: {ONE_CHANGE}; it has content and replace"]),
    (event(2, replace=...), [f"events[2].content: {ONE_CHANGE}; it has none"]),
    (
        event(2, replace={"old": "", "new": 1}),
        [
            'events[2].replace.old: "" is not allowed; needs a non-empty string',
            "events[2].replace.new: 1 is not allowed; needs a string",
        ],
    ),
    (event(4, target={}), [f"events[4].target: names nothing; {ONE_TARGET}"]),
    (event(5, target={"slug": "a", "text": "b"}), [f"events[5].target: names slug, text; {ONE_TARGET}"]),
    (event(4, mode="hide"), ['events[4].mode: "hide" is not allowed; needs "expire" or "purge" or "lift"']),
    (event(5, door=...), ["events[5].door: missing; needs a non-empty string"]),
    (event(6, snapshot={"a b": 1}), ['events[6].snapshot["a b"]: 1 is not allowed; needs a string']),
    (
        event(6, snapshot={"7": 1, "#7": 2}),
        [
            "events[6].snapshot.7: 1 is not allowed; needs a string",
            'events[6].snapshot["#7"]: 2 is not allowed; needs a string',
        ],
    ),
    (event(7, ts="later"), [f'events[7].ts: "later" is not allowed; needs {TIME}']),
    (event(7, source="x"), [f'events[7].source: "x" {NO_SOURCE} "home", "feed"']),
    (scripted(event_id=3), [f"scripted_facts[0].event_id: 3 {NO_TURN}"]),
    (scripted(quote="ask ana sol"), [f'scripted_facts[0].quote: "ask ana sol" {NOT_VERBATIM}']),
    (scripted(mention="Bo"), [f'scripted_facts[0].mention: "Bo" {NOT_QUOTED}']),
    (scripted(kind="rumour"), [f'scripted_facts[0].kind: "rumour" is not allowed; needs {FACT_KIND}']),
    (scripted(valid_from="soon"), [f'scripted_facts[0].valid_from: "soon" is not allowed; needs {TIME}']),
    *[
        ({"tags": [], key: 1}, [f"{key}: {key!r} {SEALED}"])
        for key in sorted(["gold", "expected", "answer", "label", "match_keywords", "should_retrieve"])
    ],
    (event(6, snapshot={"answer": "x"}), [f"events[6].snapshot.answer: 'answer' {SEALED}"]),
]


@pytest.mark.req("C-201", "C-202", "C-203")
@pytest.mark.parametrize(("changes", "expected"), NATIVE_FAULTS)
def test_every_fault_of_a_native_fixture_names_field_value_and_remedy(
    tmp_path: Path, changes: Value, expected: list[str]
) -> None:
    assert told(put(tmp_path, native(**changes))) == [f"a.fixture.json: {line}" for line in expected]


@pytest.mark.parametrize("field", ["fixture_id", "suites", "category", "stratum", "language", "events"])
def test_a_native_fixture_needs_its_fields(tmp_path: Path, field: str) -> None:
    value = native(scripted_facts=[])
    del value[field]
    assert f"a.fixture.json: {field}: missing; needs " in told(put(tmp_path, value))[0]


@pytest.mark.parametrize("mention", ["she", "Ana", "ana sol", None, "彼女"])
def test_a_mention_may_be_part_of_the_quote_or_a_pronoun_or_nothing(tmp_path: Path, mention: str | None) -> None:
    found = corpus.read(put(tmp_path, native(**scripted(mention=mention))), include_holdout=True)
    assert found.fixtures[0].scripted_facts[0].mention == mention


BROKEN: list[tuple[bytes, str]] = [
    (b"", "(file): is empty; needs an object {...}"),
    (b" \n", "(file): is empty; needs an object {...}"),
    (b'{"a": 1,\n "b" 2}', "line 2 column 6: not JSON: Expecting ':' delimiter"),
    (b'{"a": [1, 2', "line 1 column 12: not JSON: Expecting ',' delimiter"),
    (b"{} {}", "line 1 column 4: not JSON: Extra data"),
    (b"\xef\xbb\xbf{}", "(file): begins with a byte order mark; save it as UTF-8 without one"),
    (b'{"a":\n"\xff"}', "line 2: byte 0xff at offset 7 is not UTF-8; save the file as UTF-8"),
    ("{}".encode("utf-16"), "line 1: byte 0xff at offset 0 is not UTF-8; save the file as UTF-8"),
    (b"[1]", "(file): the top level is a list; needs an object {...}"),
    (b"null", "(file): the top level is null; needs an object {...}"),
    (b'"x"', "(file): the top level is a string; needs an object {...}"),
    (b"true", "(file): the top level is true or false; needs an object {...}"),
    (b"7", "(file): the top level is a number; needs an object {...}"),
    (b'{"a": {"b": NaN}}', "a.b: nan is not a number; only finite numbers are allowed"),
    (b'{"a": [0, -Infinity]}', "a[1]: -inf is not a number; only finite numbers are allowed"),
    (b'{"a": 1e999}', "a: inf is not a number; only finite numbers are allowed"),
    (b'{"a": "\\ud800"}', "a: holds half of a surrogate pair, which is no character; only Unicode text is allowed"),
    (b"[" * 100_000, "(file): nested without end; at most 64 levels are allowed"),
]


@pytest.mark.req("C-001", "C-103")
@pytest.mark.parametrize(("raw", "expected"), BROKEN)
def test_a_file_that_is_no_json_object_says_where_and_why(tmp_path: Path, raw: bytes, expected: str) -> None:
    assert told(put(tmp_path, raw)) == [f"a.fixture.json: {expected}"]


def test_messages_are_single_lines_of_printable_text(tmp_path: Path) -> None:
    lines = told(put(tmp_path, v1(category=["x"], holdout="\x1b[2J\u2028", **{"\x9b\n": "y" * 200}), names="\x1b"))
    assert len(lines) == 3
    assert all(line.isprintable() for line in lines)
    assert max(map(len, lines)) < 250


def test_a_value_nested_deep_but_readable_is_refused(tmp_path: Path) -> None:
    (line,) = told(put(tmp_path, b'{"a":' + b"[" * 200 + b"]" * 200 + b"}"))
    assert line.endswith("nested too deep; at most 64 levels are allowed")


def test_a_number_with_too_many_digits_is_refused(tmp_path: Path) -> None:
    (line,) = told(put(tmp_path, b'{"a":' + b"9" * 5000 + b"}"))
    assert line.startswith("a.fixture.json: (file): not usable as JSON: Exceeds the limit")


@pytest.mark.req("C-103")
def test_all_faults_come_at_once_by_file_and_then_by_check(tmp_path: Path) -> None:
    put(tmp_path, v1(fixture_id="B", turns=[{"role": "user", "text": "", "turn_id": 1}]), b"{", v1(suites=[], x=1))
    fields = [line.split(": ")[:2] for line in told(tmp_path)]
    assert fields == [
        ["a.fixture.json", "fixture_id"],
        ["a.fixture.json", "turns[0].text"],
        ["b.fixture.json", "line 1 column 2"],
        ["c.fixture.json", "suites"],
        ["c.fixture.json", "x"],
    ]


@pytest.mark.req("C-106")
def test_two_fixtures_cannot_share_an_id(tmp_path: Path) -> None:
    assert told(put(tmp_path, v1(), v1(), native(fixture_id="a"))) == [
        'b.fixture.json: fixture_id: "a" is already the id of a.fixture.json; needs an id of its own',
        'c.fixture.json: fixture_id: "a" is already the id of a.fixture.json; needs an id of its own',
    ]


def member(name: str, role: str) -> Value:
    return v1(fixture_id=name, continuity={"pair_id": "p", "pair_role": role}, **turn(ts="2026-01-01T00:00:00Z"))


@pytest.mark.req("C-106")
@pytest.mark.parametrize("roles", [["reader"], ["writer", "writer", "reader"], ["reader", "reader"]])
def test_a_pair_needs_one_writer_and_one_reader(tmp_path: Path, roles: list[str]) -> None:
    put(tmp_path, *[member(name, role) for name, role in zip("abc", roles, strict=False)])
    lines = told(tmp_path)
    assert len(lines) == len(roles)
    assert all("needs exactly 1 writer and 1 reader" in line for line in lines)


@pytest.mark.req("C-101")
def test_only_fixture_files_directly_inside_count_and_nothing_is_written(tmp_path: Path) -> None:
    put(tmp_path, v1())
    (tmp_path / "notes.json").write_text("{")
    (tmp_path / ".b.fixture.json").write_text("{")
    (tmp_path / "sub.fixture.json").mkdir()
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "c.fixture.json").write_text("{")
    before = sorted(tmp_path.rglob("*"))
    assert len(corpus.read(tmp_path, include_holdout=True).documents) == 1
    assert sorted(tmp_path.rglob("*")) == before


def test_symbolic_links_are_read_and_dangling_ones_are_faults(tmp_path: Path) -> None:
    put(tmp_path / "real", v1())
    links = tmp_path / "links"
    links.mkdir()
    (links / "a.fixture.json").symlink_to(tmp_path / "real" / "a.fixture.json")
    assert corpus.read(links, include_holdout=True).fixtures[0].fixture_id == "a"
    (links / "b.fixture.json").symlink_to(tmp_path / "nowhere")
    assert told(links) == ["b.fixture.json: (file): does not exist; needs a readable file"]


def test_a_pipe_is_no_fixture(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.fixture.json")
    assert told(tmp_path) == ["a.fixture.json: (file): cannot be read (is not a regular file); needs a readable file"]


def test_a_missing_directory_a_file_and_an_unreadable_one_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, v1())
    assert told(tmp_path / "no") == [f"{tmp_path / 'no'}: (directory): does not exist; needs a readable directory"]
    (line,) = told(tmp_path / "a.fixture.json")
    assert "is a file, not a directory" in line

    def refuse(path: object) -> None:
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_bytes", refuse)
        assert told(tmp_path) == ["a.fixture.json: (file): permission denied; needs a file that you may read"]
    monkeypatch.setattr(os, "scandir", refuse)
    assert told(tmp_path) == [f"{tmp_path}: (directory): permission denied; needs a directory that you may read"]


@pytest.mark.req("C-121")
def test_an_empty_directory_measures_nothing(tmp_path: Path) -> None:
    with pytest.raises(NothingMeasured, match="name the directory that holds them"):
        corpus.read(tmp_path, include_holdout=True)
    with pytest.raises(NothingMeasured, match="add --include-holdout"):
        corpus.read(put(tmp_path, v1(holdout=True)), include_holdout=False)


@pytest.mark.req("C-105")
def test_a_time_without_zone_and_a_doubled_key_only_warn(tmp_path: Path) -> None:
    raw = json.dumps(v1(**turn(ts="2026-03-02T17:00:00"))).replace('"text": "Hello"', '"text": "old", "text": "Hello"')
    found = corpus.read(put(tmp_path, raw.encode()), include_holdout=True)
    assert [str(w) for w in found.warnings] == [
        "a.fixture.json: turns[0].text: key occurs twice; the last one counts",
        'a.fixture.json: turns[0].ts: "2026-03-02T17:00:00" names no zone; read as UTC',
    ]
    assert found.fixtures[0].events == (Turn(1, "user", "Hello", "2026-03-02T17:00:00Z"),)


@pytest.mark.req("C-102")
def test_an_integral_number_is_an_integer(tmp_path: Path) -> None:
    (fixture,) = corpus.read(put(tmp_path, v1(schema_version=1.0, **turn(turn_id=3.0))), include_holdout=True).fixtures
    assert fixture.origins[0][1].turn_id == 3
    assert isinstance(fixture.origins[0][1].turn_id, int)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-03-02T17:00:00Z", "2026-03-02T17:00:00Z"),
        ("2026-03-02T17:00:00.250+00:00", "2026-03-02T17:00:00.250000Z"),
        ("2026-03-02 17:00", "2026-03-02T17:00:00Z"),
        ("20260302T1700Z", "2026-03-02T17:00:00Z"),
        ("2026-03-02", "2026-03-02T00:00:00Z"),
        ("2026-03-01T23:30:00-05:30", "2026-03-02T05:00:00Z"),
    ],
)
def test_times_become_utc(text: str, expected: str) -> None:
    assert utc(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "now", "2026-13-01", "2026-03-02x17:00", "0001-01-01T00:00+14:00", "٢٠٢٦-03-02", "2026-W10-1", " 2026-03-02"],
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"no ISO 8601|years 1 to 9999|month"):
        utc(text)


@pytest.mark.req("C-201")
def test_a_native_fixture_becomes_a_script_with_every_kind_of_event(tmp_path: Path) -> None:
    (fixture,) = corpus.read(put(tmp_path, native()), include_holdout=True).fixtures
    assert fixture.suites == ("know-to-ask", "push")
    assert fixture.declares == (("n", ("know-to-ask", "push")),)
    assert fixture.setup == (Write(1, "page", "owner", PAGE, "people/ana"),)
    kinds = {type(e) for e in fixture.events}
    assert len(kinds) == 7
    assert isinstance(fixture.events[2], Edit)
    assert fixture.events[2].replace == ("a", "")
    assert isinstance(fixture.events[4], Forget)
    assert fixture.events[4].target.fact == "Ana paints"
    assert isinstance(fixture.events[6], Resync)
    assert fixture.events[6].snapshot == (("a.md", "A"), ("b.md", "B"))
    assert fixture.events[7] == SessionBreak(9, "codex", True, "2026-01-01T00:00:00Z")
    assert fixture.requires == {Capability.PAGE_WRITE, Capability.PURGE}


@pytest.mark.req("C-130", "C-208")
def test_v1_seeds_become_writes_of_the_owner_in_their_sources() -> None:
    fixtures = {f.fixture_id: f for f in corpus.read(MINI / "fixtures", include_holdout=False).fixtures}
    sources = fixtures["mini-sources"]
    assert [s.id for s in sources.sources] == ["default", "club", "crew"]
    assert [(w.slug, w.source) for w in sources.setup] == [
        ("people/orla-quist", "crew"),
        ("people/orla-quist", "club"),
        ("people/tobin-achterberg", "club"),
        ("places/lock-seven", "default"),
    ]
    assert {w.actor for f in fixtures.values() for w in f.setup} == {"owner"}
    facts = [w for w in fixtures["mini-direct"].setup if w.via == "fact"]
    assert [(w.slug, w.source, w.session) for w in facts] == [
        ("people/orla-quist", "default", "conversations/march"),
        (None, "default", None),
    ]


@pytest.mark.req("C-132", "C-208")
def test_a_pair_is_one_script_and_a_writer_that_pushes_is_a_plain_one_too() -> None:
    fixtures = {f.fixture_id: f for f in corpus.read(MINI / "fixtures", include_holdout=False).fixtures}
    pair, plain = fixtures["mini-pair-writer+mini-pair-reader"], fixtures["mini-pair-writer"]
    assert "mini-pair-reader" not in fixtures
    assert [type(e).__name__ for e in pair.events] == ["Turn"] * 3 + ["SessionBreak"] + ["Turn"] * 3
    assert pair.declares == (
        ("mini-pair-writer", ("write-back", "continuity")),
        ("mini-pair-reader", ("know-to-ask", "continuity")),
    )
    assert pair.suites == ("know-to-ask", "write-back", "continuity")
    assert plain.suites == ("know-to-ask", "push")
    assert not any(isinstance(e, SessionBreak) for e in plain.events)
    assert {w.slug for w in pair.setup} == {"projects/heron-refit", "people/orla-quist", "companies/fennmouth-boatyard"}
    assert pair.origins[-1][1].turn_id == 3


@pytest.mark.req("C-208")
def test_a_plain_fixture_that_is_written_back_ends_its_session() -> None:
    fixtures = {f.fixture_id: f for f in corpus.read(MINI / "fixtures", include_holdout=False).fixtures}
    assert fixtures["mini-write"].events[-1] == SessionBreak(7, persist=True)
    assert not any(isinstance(e, SessionBreak) for e in fixtures["mini-direct"].events)
    ids = [w.event_id for w in fixtures["mini-write"].setup] + [e.event_id for e in fixtures["mini-write"].events]
    assert ids == list(range(1, 8))


def test_a_reader_of_another_source_speaks_in_it_and_its_page_wins(tmp_path: Path) -> None:
    page = {"slug": "x", "content": "---\ntitle: X\n---\nold", "source_id": "s"}
    writer = member("w", "writer") | {"seed_pages": [page]}
    reader = member("r", "reader") | {"active_source": "s", "seed_pages": [page | {"content": "---\n---\nnew"}]}
    (fixture,) = [
        f for f in corpus.read(put(tmp_path, writer, reader), include_holdout=True).fixtures if "+" in f.fixture_id
    ]
    assert [w.content for w in fixture.setup] == ["---\n---\nnew"]
    assert [e.source for e in fixture.events] == [None, None, "s"]


def test_a_reader_that_is_written_back_ends_its_session_too(tmp_path: Path) -> None:
    reader = member("r", "reader") | {"suites": ["continuity", "write-back"]}
    writer = member("w", "writer") | {"suites": ["continuity"]}
    (fixture,) = corpus.read(put(tmp_path, writer, reader), include_holdout=True).fixtures
    assert [type(e).__name__ for e in fixture.events] == ["Turn", "SessionBreak", "Turn", "SessionBreak"]
    assert fixture.suites == ("write-back", "continuity")


@pytest.mark.req("C-206")
@pytest.mark.parametrize("held", ["writer", "reader"])
def test_a_pair_is_held_out_if_either_half_is(tmp_path: Path, held: str) -> None:
    pair = [member("w", "writer") | {"suites": ["continuity"]}, member("r", "reader") | {"suites": ["continuity"]}]
    pair[held == "reader"]["holdout"] = True
    found = corpus.read(put(tmp_path, *pair, v1()), include_holdout=False)
    assert [f.fixture_id for f in found.fixtures] == ["a"]
    assert found.held_out == 1


@pytest.mark.req("C-206")
def test_the_holdout_stays_out_unless_asked_for_but_is_hashed(tmp_path: Path) -> None:
    without = corpus.read(MINI / "fixtures", include_holdout=False)
    with_it = corpus.read(MINI / "fixtures", include_holdout=True)
    assert {f.fixture_id for f in with_it.fixtures} - {f.fixture_id for f in without.fixtures} == {"mini-holdout"}
    assert without.held_out == 1
    assert corpus.script_hash(without) == corpus.script_hash(with_it)


@pytest.mark.req("C-205")
def test_a_run_id_hangs_on_seed_and_fixture_files_and_tells_nothing(tmp_path: Path) -> None:
    found = corpus.read(put(tmp_path, v1()), include_holdout=True)
    expected = hashlib.sha256(b"fixtures/a.fixture.json\n" + (tmp_path / "a.fixture.json").read_bytes()).hexdigest()
    assert corpus.script_hash(found) == expected
    ids = {corpus.opaque_id(found.fixtures[0], seed, key) for seed in (1, 2) for key in (expected, "0" * 64)}
    assert len(ids) == 4
    assert corpus.opaque_id(found.fixtures[0], 1, expected) == corpus.opaque_id(found.fixtures[0], 1, expected)
    assert all(len(i) == 32 for i in ids)


@pytest.mark.parametrize(
    ("content", "title", "aliases"),
    [
        ("---\ntitle: A B\naliases: [C, 'D ''e''', \"F, G\"]\n---\n", "A B", ("C", "D 'e'", "F, G")),
        ('---\r\ntitle: "A \\"B\\""\r\naliases: C, D\r\n---\r\n', 'A "B"', ("C", "D")),
        ("---\naliases:\n  - C\n  - 'D'\ntitle: A\n---\n- E\n", "A", ("C", "D")),
        ("---\ntitle:\naliases: []\n---\n", None, ()),
        ("title: A\n", None, ()),
        ("---\ntitle: A\n", None, ()),
    ],
)
def test_title_and_aliases_are_read_from_front_matter(
    content: str, title: str | None, aliases: tuple[str, ...]
) -> None:
    found = names(content)
    assert (found.title, found.aliases) == (title, aliases)


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("Ana", "banana, ANA!", "ANA"),
        ("Ana", "Anas", None),
        ("Ana", "Mariana", None),
        ("ＡＮＡ sol", "ask Ana\tSol", "Ana\tSol"),
        ("Straße 1", "in der STRASSE 1.", "STRASSE 1"),
        ("José", "für Jose\u0301s Haus, Jose\u0301!", "Jose\u0301"),
        ("東京", "東京へ行く", "東京"),
        ("", "x", None),
    ],
)
def test_a_name_is_found_as_whole_words_whatever_its_case(name: str, text: str, found: str | None) -> None:
    assert find_name(name, text) == found


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


def grown(make: Callable[[], Value]) -> st.SearchStrategy[Value]:
    """A valid fixture with some of its parts replaced by anything."""

    def places(value: Any) -> list[tuple[Any, Any]]:
        pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        return [p for key, part in pairs for p in [(value, key), *places(part)]]

    @st.composite
    def build(draw: st.DrawFn) -> Value:
        value = make()
        for _ in range(draw(st.integers(1, 3))):
            box, key = draw(st.sampled_from(places(value)))
            box[key] = draw(JSON)
        if draw(st.booleans()):
            box, _ = draw(st.sampled_from([p for p in places(value) if isinstance(p[0], dict)]))
            box[draw(st.sampled_from(["gold", "answer", "x"]))] = draw(JSON)
        return value

    return build()


@pytest.mark.req("C-103")
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(value=JSON | grown(v1) | grown(native))
def test_whatever_json_is_given_nothing_but_faults_comes_out(tmp_path: Path, value: object) -> None:
    put(tmp_path, json.dumps(value).encode())
    faults = corpus.scan(tmp_path).all_faults()
    assert all(f.file == "a.fixture.json" and f.field and f.reason and str(f).encode() for f in faults)
    if faults:
        with pytest.raises(CorpusError):
            corpus.read(tmp_path, include_holdout=True)
    else:
        assert corpus.read(tmp_path, include_holdout=True).fixtures


@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raw=st.binary(max_size=60))
def test_whatever_bytes_are_given_nothing_but_faults_comes_out(tmp_path: Path, raw: bytes) -> None:
    with pytest.raises(CorpusError):
        corpus.read(put(tmp_path, raw), include_holdout=True)


@pytest.mark.req("C-101")
@pytest.mark.parametrize(("name", "files", "scripts"), [("v1-samples", 22, 20), ("wild-dev", 46, 44)])
def test_published_v1_fixtures_load_unchanged(name: str, files: int, scripts: int) -> None:
    directory = DATA / name / "fixtures"
    if not directory.is_dir():
        pytest.skip(f"no {directory}; set BRAINBENCH_DATA to the directory that holds {name}")
    found = corpus.read(directory, include_holdout=True)
    assert (len(found.documents), len(found.fixtures), found.warnings) == (files, scripts, ())


def sealed(tmp_path: Path) -> tuple[Path, corpus.Manifest]:
    """A corpus of two native fixtures, one held out, with a manifest whose gold half is not looked at here."""
    put(tmp_path / "fixtures", native(fixture_id="a"), native(fixture_id="b"))
    files = {
        f"fixtures/{n}.fixture.json": hashlib.sha256((tmp_path / f"fixtures/{n}.fixture.json").read_bytes()).hexdigest()
        for n in "ab"
    }
    split = corpus.Split(("a",), ("b",), "every second")
    universes = {"small": corpus.Universe(10, 1, "0" * 64)}
    made = corpus.Manifest("two", "1", "CC0-1.0", files=files, fixtures_hash="0" * 64, split=split, universes=universes)
    return tmp_path, made


def save(directory: Path, value: Value) -> None:
    (directory / "MANIFEST.json").write_text(json.dumps(value))


@pytest.mark.req("C-206", "C-207")
def test_the_split_of_native_fixtures_stands_in_the_manifest(tmp_path: Path) -> None:
    directory, manifest = sealed(tmp_path)
    save(directory, manifest.as_json())
    found = corpus.read(directory / "fixtures", include_holdout=False)
    assert [f.fixture_id for f in found.fixtures] == ["a"]
    assert found.held_out == 1
    assert found.manifest == corpus.read_manifest(directory) == manifest


MANIFEST_FAULTS: list[tuple[Callable[[Value], object], list[str]]] = [
    (
        lambda m: m["files"].pop("fixtures/a.fixture.json"),
        ['files["fixtures/a.fixture.json"]: missing; the file is present, so list it or remove it'],
    ),
    (
        lambda m: m["files"].update({"fixtures/z.fixture.json": "0" * 64}),
        ['files["fixtures/z.fixture.json"]: listed, but does not exist; needs a readable file'],
    ),
    (
        lambda m: m["files"].update({"fixtures/../../x": "0" * 64}),
        ['files["fixtures/../../x"]: leads out of the corpus; needs a path below its directory'],
    ),
    (lambda m: m["split"].update(gate=["a", "b"]), ['split: "b" is in gate and in holdout; needs to be in one']),
    (
        lambda m: m["split"].update(gate=["q"]),
        ['split.gate[0]: "q" is no fixture of this corpus', 'split: "a" is in neither gate nor holdout'],
    ),
    (
        lambda m: m.update(groups={"g": ["a", "b"]}),
        ["groups.g: is torn between gate and holdout; a group moves together"],
    ),
    (lambda m: m.pop("licence"), ["licence: missing; needs a non-empty string"]),
    (
        lambda m: m.update(extra=1, fixtures_hash="ABC"),
        [
            'fixtures_hash: "ABC" is not allowed; needs 64 lower-case hexadecimal digits',
            "extra: unknown key; allowed here: name, version, schema_version, licence, generator, files, "
            "fixtures_hash, corpus_hash, split, groups, counts, universes, canary, validation, expectations_hash",
        ],
    ),
]


@pytest.mark.req("C-207")
@pytest.mark.parametrize(("spoil", "expected"), MANIFEST_FAULTS)
def test_a_manifest_that_does_not_fit_its_corpus_is_refused(
    tmp_path: Path, spoil: Callable[[Value], object], expected: list[str]
) -> None:
    directory, manifest = sealed(tmp_path)
    value = json.loads(json.dumps(manifest.as_json()))
    spoil(value)
    save(directory, value)
    assert told(directory / "fixtures") == [f"MANIFEST.json: {line}" for line in expected]


@pytest.mark.req("C-207")
def test_a_changed_fixture_is_noticed(tmp_path: Path) -> None:
    directory, manifest = sealed(tmp_path)
    save(directory, manifest.as_json())
    put(directory / "fixtures", native(fixture_id="a", tags=["changed"]))
    (line,) = told(directory / "fixtures")
    assert line.startswith('MANIFEST.json: files["fixtures/a.fixture.json"]: the file has SHA-256 ')


@pytest.mark.req("C-207")
def test_the_corpus_hash_binds_hash_universes_and_split() -> None:
    one, two = corpus.Universe(10, 1, "1" * 64), corpus.Universe(20, 2, "2" * 64)
    split = corpus.Split(("a",), ("b",), "r")
    total = corpus.corpus_hash("0" * 64, {"x": one, "y": two}, split)
    text = "0" * 64 + f"\nx 10 1 {'1' * 64}\ny 20 2 {'2' * 64}\n" + '{"gate":["a"],"holdout":["b"],"rule":"r"}\n'
    assert total == hashlib.sha256(text.encode()).hexdigest()
    assert total == corpus.corpus_hash("0" * 64, {"y": two, "x": one}, split)


def test_a_manifest_of_somebody_else_beside_v1_fixtures_is_left_alone(tmp_path: Path) -> None:
    put(tmp_path / "fixtures", v1())
    save(tmp_path, {"manifest_version": 3})
    assert corpus.read(tmp_path / "fixtures", include_holdout=True).manifest is None


def test_a_corpus_is_found_by_name_here_and_above(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "corpus" / "tiny").mkdir(parents=True)
    save(tmp_path / "corpus" / "tiny", {})
    (tmp_path / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep" / "er")
    assert corpus.find("tiny") == tmp_path / "corpus" / "tiny"
    for wrong in ("huge", "../tiny", "", "/etc"):
        with pytest.raises(UsageError, match=r"unknown corpus .*found: .*tiny"):
            corpus.find(wrong)


def test_a_manifest_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    from brainbench.corpus.manifest import save as write_whole

    with pytest.raises(OutputError, match=r"MANIFEST\.json: "):
        write_whole(tmp_path / "no", corpus.Manifest("x", "1", "CC0-1.0"))
    write_whole(tmp_path, corpus.Manifest("x", "1", "CC0-1.0", canary="ü"))
    assert os.listdir(tmp_path) == ["MANIFEST.json"]
    raw = (tmp_path / "MANIFEST.json").read_bytes()
    assert raw.endswith(b'"canary": "\xc3\xbc"\n}\n')
