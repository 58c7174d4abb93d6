"""Gold is checked against its fixtures, kept from replay, and given for judging afterwards."""

from __future__ import annotations

import copy
import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from brainbench import corpus, gold
from brainbench.errors import CorpusError, NothingMeasured
from brainbench.gold import EventGold, GoldFact, Probe
from brainbench.model import Fixture, ScriptedFact

HERE = Path(__file__).parent
MINI = HERE / "data" / "mini-v1"
DATA = Path(os.environ.get("BRAINBENCH_DATA", HERE.parents[2] / "shared" / "data"))
Value = dict[str, Any]
TS = "2026-01-01T00:00:00Z"
FACT: Value = {"gist": "g", "fact": "Ana paints", "entity_slug": None, "match_keywords": ["paints"]}


def v1(**changes: Any) -> Value:
    value: Value = {
        "schema_version": 1,
        "fixture_id": "a",
        "suites": ["know-to-ask", "push"],
        "turns": [
            {"turn_id": 1, "role": "user", "text": "Who is Ana?", "ts": TS},
            {"turn_id": 2, "role": "assistant", "text": "Ana paints.", "ts": TS},
        ],
    }
    return copy.deepcopy(value | changes)


def native(**changes: Any) -> Value:
    value: Value = {
        "schema_version": 2,
        "fixture_id": "a",
        "suites": ["know-to-ask", "continuity"],
        "category": "direct",
        "stratum": "hard",
        "language": "en",
        "events": [
            {"event_id": 1, "kind": "turn", "role": "user", "text": "Ana paints."},
            {"event_id": 2, "kind": "turn", "role": "assistant", "text": "Good."},
            {"event_id": 3, "kind": "session_break", "persist": True},
            {"event_id": 4, "kind": "turn", "role": "user", "text": "What does Ana do?"},
        ],
    }
    return copy.deepcopy(value | changes)


def native_gold(**changes: Any) -> Value:
    value: Value = {
        "schema_version": 2,
        "fixture_id": "a",
        "events": {
            "1": {"retrieve": "must_not", "gold_facts": [FACT | {"forbid_keywords": ["sings"]}]},
            "4": {"retrieve": "must", "gold_slugs": ["people/ana"], "acceptable_slugs": ["x"]},
        },
        "probes": [
            {"probe_id": "p", "after_event": 4, "channel": "stored_only", "match_keywords": ["paints"]},
            {"probe_id": "q", "after_event": 4, "channel": "any", "expected_slugs": ["x"], "forbid_keywords": ["no"]},
        ],
        "items": [],
    }
    return copy.deepcopy(value | changes)


def put(root: Path, fixtures: dict[str, object], golds: dict[str, object]) -> tuple[Path, Path]:
    """A corpus of these files."""
    for folder, suffix, values in (("fixtures", "fixture", fixtures), ("gold", "gold", golds)):
        (root / folder).mkdir(exist_ok=True)
        for name, value in values.items():
            raw = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
            (root / folder / f"{name}.{suffix}.json").write_bytes(raw)
    return root / "fixtures", root / "gold"


def told(directories: tuple[Path, Path]) -> list[str]:
    with pytest.raises(CorpusError) as caught:
        gold.validate(*directories)
    return str(caught.value).splitlines()


def turns(**entries: Any) -> Value:
    return {"fixture_id": "a", "turns": {key.lstrip("t"): value for key, value in entries.items()}}


QUIET = {"should_retrieve": False}
IDS = "lower-case letters, digits and hyphens, beginning with no hyphen"
KEYWORDS = "a non-empty list of non-empty strings"
ASSISTANT = "is an assistant turn in a.fixture.json; only user turns retrieve, only gold_facts may stand here"
NEEDS_PAGE = (
    "missing or empty; should_retrieve is true and a.fixture.json declares know-to-ask or push, so it needs a page"
)
READER = {"continuity": {"pair_id": "p", "pair_role": "reader"}}
UNPAIRED = 'a.fixture.json: continuity.pair_id: pair "p" has 0 writers, 1 reader; needs exactly 1 writer and 1 reader'
DECISION = {"decision_id": "d", "expected_slugs": [], "match_keywords": ["x"]}

V1_FAULTS: list[tuple[Value, Value, list[str]]] = [
    ({}, {"turns": {}}, [f"fixture_id: missing; needs {IDS}"]),
    ({}, {"fixture_id": "a"}, ["turns: missing; needs an object of turn ids and what each should bring"]),
    (
        {},
        {"fixture_id": "a", "turns": []},
        ["turns: an empty list is not allowed; needs an object of turn ids and what each should bring"],
    ),
    ({}, turns() | {"schema_version": 1}, ["schema_version: unknown key; allowed here: fixture_id, turns, continuity"]),
    ({}, turns(t1={}), ["turns.1.should_retrieve: missing; needs true or false"]),
    ({}, turns(t1={"should_retrieve": 0}), ["turns.1.should_retrieve: 0 is not allowed; needs true or false"]),
    (
        {},
        turns(t1=QUIET | {"gold_slugs": "x"}),
        ['turns.1.gold_slugs: "x" is not allowed; needs a list of non-empty strings'],
    ),
    (
        {},
        turns(t1=QUIET | {"acceptable_slugs": [1]}),
        ["turns.1.acceptable_slugs[0]: 1 is not allowed; needs a non-empty string"],
    ),
    (
        {},
        turns(t1=QUIET | {"retrieve": 1}),
        ["turns.1.retrieve: unknown key; allowed here: should_retrieve, gold_slugs, acceptable_slugs, gold_facts"],
    ),
    (
        {},
        turns(t1=QUIET | {"gold_facts": [{}]}),
        [
            "turns.1.gold_facts[0].gist: missing; needs a string",
            "turns.1.gold_facts[0].fact: missing; needs a non-empty string",
            "turns.1.gold_facts[0].entity_slug: missing; needs a non-empty string or null",
            f"turns.1.gold_facts[0].match_keywords: missing; needs {KEYWORDS}",
        ],
    ),
    (
        {},
        turns(t1=QUIET | {"gold_facts": [FACT | {"match_keywords": [], "kind": None, "forbid_keywords": []}]}),
        [
            f"turns.1.gold_facts[0].match_keywords: an empty list is not allowed; needs {KEYWORDS}",
            "turns.1.gold_facts[0].kind: null is not allowed; needs a string",
            "turns.1.gold_facts[0].forbid_keywords: unknown key; allowed here: gist, fact, entity_slug, "
            "match_keywords, kind",
        ],
    ),
    (
        {},
        turns(t01={"should_retrieve": 1}, t1={"should_retrieve": 2}),
        [
            'turns.01: "01" is no turn id; needs an integer',
            "turns.01.should_retrieve: 1 is not allowed; needs true or false",
            "turns.1.should_retrieve: 2 is not allowed; needs true or false",
        ],
    ),
    ({}, turns(tx=QUIET), ['turns.x: "x" is no turn id; needs an integer']),
    ({}, turns(t01=QUIET), ['turns.01: "01" is no turn id; needs an integer']),
    ({}, turns(t9=QUIET), ["turns.9: a.fixture.json has no turn 9; its turns are 1, 2"]),
    ({}, turns(t2={"should_retrieve": True}), [f"turns.2.should_retrieve: is true, but turn 2 {ASSISTANT}"]),
    (
        {},
        turns(t2=QUIET | {"gold_slugs": ["x"], "acceptable_slugs": ["y"]}),
        [
            f"turns.2.gold_slugs: is not empty, but turn 2 {ASSISTANT}",
            f"turns.2.acceptable_slugs: is not empty, but turn 2 {ASSISTANT}",
        ],
    ),
    ({}, turns(t1={"should_retrieve": True}), [f"turns.1.gold_slugs: {NEEDS_PAGE}"]),
    ({}, turns(t1={"should_retrieve": True, "gold_slugs": []}), [f"turns.1.gold_slugs: {NEEDS_PAGE}"]),
    (
        {},
        turns() | {"continuity": {"pair_id": "p", "decisions": [DECISION]}},
        ["continuity: a.fixture.json has no continuity; remove this or say there which pair it belongs to"],
    ),
    (READER, turns(), [UNPAIRED, "continuity: missing; a.fixture.json is a reader and needs decisions"]),
    (
        READER,
        turns() | {"continuity": {"pair_id": "q", "decisions": [DECISION]}},
        [
            UNPAIRED,
            'continuity.pair_id: "q" is not allowed; a.fixture.json has pair_id "p"',
        ],
    ),
    (
        READER,
        turns() | {"continuity": {"pair_id": "p", "decisions": [DECISION, DECISION]}},
        [
            UNPAIRED,
            'continuity.decisions[1].decision_id: "d" stands also at continuity.decisions[0].decision_id; '
            "needs a value of its own",
        ],
    ),
    (
        READER,
        turns() | {"continuity": {"pair_id": "p", "decisions": [{}]}},
        [
            UNPAIRED,
            "continuity.decisions[0].decision_id: missing; needs a non-empty string",
            "continuity.decisions[0].expected_slugs: missing; needs a list of non-empty strings",
            "continuity.decisions[0].match_keywords: missing; needs a list of non-empty strings",
        ],
    ),
    (
        READER,
        turns() | {"continuity": {"pair_id": "p", "decisions": []}},
        [
            UNPAIRED,
            "continuity.decisions: an empty list is not allowed; needs a non-empty list of decisions",
        ],
    ),
    (
        {},
        native_gold(events={}, probes=[]),
        [
            "schema_version: gold of another version than a.fixture.json; a version 1 fixture has gold without "
            "schema_version"
        ],
    ),
]


@pytest.mark.req("C-102", "C-103", "C-106")
@pytest.mark.parametrize(("changes", "value", "expected"), V1_FAULTS)
def test_every_fault_of_v1_gold_names_field_value_and_remedy(
    tmp_path: Path, changes: Value, value: Value, expected: list[str]
) -> None:
    lines = told(put(tmp_path, {"a": v1(**changes)}, {"a": value}))
    lines = [line for line in lines if "has no gold" not in line]
    assert lines == [line if line.startswith("a.fixture") else f"a.gold.json: {line}" for line in expected]


def events(**entries: Any) -> Value:
    return native_gold(events={key.lstrip("e"): value for key, value in entries.items()})


def probe(**changes: Any) -> Value:
    value = {"probe_id": "p", "after_event": 4, "channel": "any", "match_keywords": ["x"]} | changes
    return native_gold(probes=[value])


NO_PAGE = 'missing or empty; retrieve is "must", so it needs a page'
VACUOUS = "missing or empty; needs a keyword, or with channel any an expected slug: else anything would do"
NATIVE_FAULTS: list[tuple[Value, list[str]]] = [
    (native_gold(schema_version=3), ["schema_version: 3 is not allowed; needs 2"]),
    (native_gold(notes=1), ["notes: unknown key; allowed here: schema_version, fixture_id, events, probes, items"]),
    (events(e4={"retrieve": True}), ['events.4.retrieve: true is not allowed; needs "must" or "may" or "must_not"']),
    (events(e4={"retrieve": "must"}), [f"events.4.gold_slugs: {NO_PAGE}"]),
    (
        events(e4={"retrieve": "must_not", "gold_slugs": ["x"]}),
        ['events.4.gold_slugs: is not empty; retrieve is "must_not", so no page is wanted'],
    ),
    (
        events(e4={"should_retrieve": True}),
        ["events.4.should_retrieve: unknown key; allowed here: retrieve, gold_slugs, acceptable_slugs, gold_facts"],
    ),
    (events(efour={}), ['events.four: "four" is no event id; needs an integer']),
    (events(e9={}), ["events.9: a.fixture.json has no event 9 in events"]),
    (
        events(e2={"retrieve": "may"}),
        ["events.2.retrieve: event 2 of a.fixture.json is no user turn; only a user turn retrieves"],
    ),
    (
        events(e3={"gold_facts": [FACT]}),
        ["events.3.gold_facts: event 3 of a.fixture.json is no turn; only a turn is written back"],
    ),
    (
        events(e1={"gold_facts": [FACT | {"forbid_keywords": "x"}]}),
        ['events.1.gold_facts[0].forbid_keywords: "x" is not allowed; needs a list of non-empty strings'],
    ),
    (probe(after_event=7), ["probes[0].after_event: a.fixture.json has no event 7 in events"]),
    (probe(channel="all"), ['probes[0].channel: "all" is not allowed; needs "any" or "stored_only"']),
    (probe(match_keywords=[]), [f"probes[0].match_keywords: {VACUOUS}"]),
    (probe(match_keywords=[], expected_slugs=["x"], channel="stored_only"), [f"probes[0].match_keywords: {VACUOUS}"]),
    (
        native_gold(probes=native_gold()["probes"] + [native_gold()["probes"][0]]),
        ['probes[2].probe_id: "p" stands also at probes[0].probe_id; needs a value of its own'],
    ),
    (native_gold(items=[1]), ["items[0]: 1 is not allowed; needs an object"]),
    (turns(), ["schema_version: gold of another version than a.fixture.json; needs schema_version 2"]),
]


@pytest.mark.req("C-204")
@pytest.mark.parametrize(("value", "expected"), NATIVE_FAULTS)
def test_every_fault_of_native_gold_names_field_value_and_remedy(
    tmp_path: Path, value: Value, expected: list[str]
) -> None:
    assert told(put(tmp_path, {"a": native()}, {"a": value})) == [f"a.gold.json: {line}" for line in expected]


@pytest.mark.req("C-103", "C-106")
def test_faults_of_both_directories_come_together_by_file(tmp_path: Path) -> None:
    found = told(
        put(
            tmp_path,
            {"a": v1(suites=[]), "b": v1(fixture_id="b"), "d": b"{"},
            {"a": turns(t9=QUIET), "c": turns() | {"fixture_id": "c"}, "d": turns() | {"fixture_id": "d"}, "e": b"nul"},
        )
    )
    assert [line.split(": ")[:2] for line in found] == [
        ["a.fixture.json", "suites"],
        ["a.gold.json", "turns.9"],
        ["b.fixture.json", "fixture_id"],
        ["c.gold.json", "fixture_id"],
        ["d.fixture.json", "line 1 column 2"],
        ["e.gold.json", "line 1 column 1"],
    ]
    assert '"b" has no gold' in found[2]
    assert '"c" has no fixture' in found[3]


@pytest.mark.req("C-106")
def test_two_gold_files_cannot_share_an_id(tmp_path: Path) -> None:
    assert told(put(tmp_path, {"a": v1()}, {"a": turns(), "b": turns()})) == [
        'b.gold.json: fixture_id: "a" is already the id of a.gold.json; needs an id of its own'
    ]


@pytest.mark.req("C-101")
def test_files_are_joined_by_their_inner_id_not_by_name(tmp_path: Path) -> None:
    assert gold.validate(*put(tmp_path, {"x": v1()}, {"y": turns()})) == ()


def test_missing_directories_are_both_named(tmp_path: Path) -> None:
    lines = told((tmp_path / "f", tmp_path / "g"))
    assert [line.split(": ")[0] for line in lines] == [str(tmp_path / "f"), str(tmp_path / "g")]


def test_a_missing_directory_is_one_fault_not_one_for_each_partner(tmp_path: Path) -> None:
    fixtures, golds = put(tmp_path, {"a": v1(), "b": v1(fixture_id="b")}, {"a": turns()})
    assert len(told((fixtures, tmp_path / "no"))) == 1
    assert len(told((tmp_path / "no", golds))) == 1


@pytest.mark.req("C-206")
def test_the_gold_of_held_out_fixtures_may_stay_away(tmp_path: Path) -> None:
    put(tmp_path, {"a": native(), "b": native(fixture_id="b")}, {"a": native_gold()})
    draft = corpus.Manifest("tiny", "1", "CC0-1.0", split=corpus.Split(("a",), ("b",), "every second"))
    gold.write_manifest(tmp_path, draft)
    assert gold.validate(tmp_path / "fixtures", tmp_path / "gold") == ()
    public = corpus.read(tmp_path / "fixtures", include_holdout=False)
    assert list(gold.read(public, tmp_path / "gold")) == ["a"]
    with pytest.raises(CorpusError, match='no gold for "b"'):
        gold.read(corpus.read(tmp_path / "fixtures", include_holdout=True), tmp_path / "gold")


def test_a_file_that_cannot_be_sealed_is_named(tmp_path: Path) -> None:
    put(tmp_path, {"a": native()}, {"a": native_gold()})
    with pytest.raises(CorpusError, match=r"notes\.md: \(file\): does not exist"):
        gold.write_manifest(tmp_path, corpus.Manifest("tiny", "1", "CC0-1.0"), ["notes.md"])


@pytest.mark.req("C-121")
def test_two_empty_directories_measure_nothing(tmp_path: Path) -> None:
    with pytest.raises(NothingMeasured):
        gold.validate(*put(tmp_path, {}, {}))


@pytest.mark.req("C-105")
def test_an_unknown_kind_of_fact_only_warns(tmp_path: Path) -> None:
    directories = put(tmp_path, {"a": v1()}, {"a": turns(t1=QUIET | {"gold_facts": [FACT | {"kind": "rumour"}]})})
    (warning,) = gold.validate(*directories)
    assert str(warning) == (
        'a.gold.json: turns.1.gold_facts[0].kind: "rumour" is no known kind: '
        "event, preference, commitment, belief, fact"
    )


def mini(include_holdout: bool = False) -> corpus.Corpus:
    return corpus.read(MINI / "fixtures", include_holdout=include_holdout)


@pytest.mark.req("C-208", "C-1201")
def test_the_mini_corpus_is_valid_and_every_script_has_gold() -> None:
    assert gold.validate(MINI / "fixtures", MINI / "gold") == ()
    found = mini(include_holdout=True)
    assert list(gold.read(found, MINI / "gold")) == [f.fixture_id for f in found.fixtures]


@pytest.mark.req("C-208")
def test_v1_gold_speaks_of_user_turns_that_it_lists() -> None:
    found = gold.read(mini(), MINI / "gold")["mini-direct"]
    assert found.events == {
        6: EventGold(6, "must_not"),
        8: EventGold(8, "must", ("people/orla-quist",), ("companies/fennmouth-boatyard",)),
        9: EventGold(9, "must", ("projects/heron-refit",)),
    }
    assert set(found.v1_turns) == {("mini-direct", 1), ("mini-direct", 3), ("mini-direct", 4)}
    assert found.v1_turns["mini-direct", 1] == {"should_retrieve": False}


@pytest.mark.req("C-131", "C-208")
def test_an_assistant_turn_is_never_asked(tmp_path: Path) -> None:
    fixtures, golds = put(tmp_path, {"a": v1()}, {"a": turns(t1=QUIET, t2=QUIET)})
    found = gold.read(corpus.read(fixtures, include_holdout=False), golds)["a"]
    assert {i: e.retrieve for i, e in found.events.items()} == {1: "must_not", 2: None}


@pytest.mark.req("C-132", "C-208")
def test_a_pair_is_judged_by_what_each_of_its_fixtures_declares() -> None:
    found = gold.read(mini(), MINI / "gold")
    pair, plain = found["mini-pair-writer+mini-pair-reader"], found["mini-pair-writer"]
    assert {i: e.retrieve for i, e in pair.events.items()} == {4: None, 6: None, 8: "must_not", 9: "must"}
    assert [f.gist for f in pair.events[6].gold_facts] == ["larch"]
    assert pair.probes == (Probe("d1", 9, "any", ("projects/heron-refit",), ("larch",)),)
    assert {i: e.retrieve for i, e in plain.events.items()} == {3: "must", 5: "must"}
    assert all(e.gold_facts == () for e in plain.events.values())
    assert plain.probes == ()


@pytest.mark.req("C-204")
def test_native_gold_is_read_as_it_stands(tmp_path: Path) -> None:
    fixtures, golds = put(tmp_path, {"a": native()}, {"a": native_gold()})
    found = gold.read(corpus.read(fixtures, include_holdout=False), golds)["a"]
    assert found.events == {
        1: EventGold(1, "must_not", gold_facts=(GoldFact("g", "Ana paints", None, ("paints",), "fact", ("sings",)),)),
        4: EventGold(4, "must", ("people/ana",), ("x",)),
    }
    assert found.probes == (
        Probe("p", 4, "stored_only", (), ("paints",)),
        Probe("q", 4, "any", ("x",), (), ("no",)),
    )


@pytest.mark.req("C-208")
def test_each_gold_fact_of_a_written_back_turn_is_what_the_extractor_says() -> None:
    fixtures = {f.fixture_id: f for f in gold.with_scripted_facts(mini(), MINI / "gold").fixtures}
    written = fixtures["mini-write"]
    texts = {e.event_id: e.text for e in written.events if hasattr(e, "text")}
    assert written.scripted_facts == (
        ScriptedFact(4, texts[4], "Fennmouth Boatyard", "Fennmouth Boatyard closes in August", "event"),
        ScriptedFact(5, texts[5], "Skipper Quist", "Orla Quist fears that the oak planks come too late", "belief"),
        ScriptedFact(5, texts[5], "Skipper Quist", "Promised Orla Quist a cheque by Friday", "commitment"),
        ScriptedFact(6, texts[6], None, "It rained all day on 2 April", "fact"),
    )
    assert [f.event_id for f in fixtures["mini-pair-writer+mini-pair-reader"].scripted_facts] == [6]
    assert fixtures["mini-pair-writer"].scripted_facts == ()


@pytest.mark.req("C-208")
@pytest.mark.parametrize(
    ("text", "fact", "mention"),
    [
        ("ANA SOLBERG and Ana", "x", "ANA SOLBERG"),
        ("ask ana", "Ana Solberg is in", "ana"),
        ("she is in", "ana-solberg is in", "ana-solberg"),
        ("banana", "Anas", None),
        ("die Malerin kommt", "x", "die Malerin"),
    ],
)
def test_a_mention_is_the_longest_name_in_the_turn_else_in_the_fact(
    tmp_path: Path, text: str, fact: str, mention: str | None
) -> None:
    page = {"slug": "people/ana-solberg", "content": "---\ntitle: Ana Solberg\naliases: [Ana, die Malerin]\n---\n"}
    turn = {"turn_id": 1, "role": "user", "text": text, "ts": TS}
    fixtures, golds = put(
        tmp_path,
        {"a": v1(suites=["write-back"], seed_pages=[page], turns=[turn])},
        {"a": turns(t1=QUIET | {"gold_facts": [FACT | {"fact": fact, "entity_slug": page["slug"]}]})},
    )
    (fixture,) = gold.with_scripted_facts(corpus.read(fixtures, include_holdout=True), golds).fixtures
    assert fixture.scripted_facts[0].mention == mention


@pytest.mark.req("C-208")
def test_a_mention_is_a_name_of_the_page_in_the_source_that_is_spoken_in(tmp_path: Path) -> None:
    here = {"slug": "people/x", "content": "---\ntitle: Ana\n---\n", "source_id": "home"}
    there = {"slug": "people/x", "content": "---\ntitle: Ana Solberg\n---\n", "source_id": "work"}
    turn = {"turn_id": 1, "role": "user", "text": "Ana Solberg paints.", "ts": TS}
    fixtures, golds = put(
        tmp_path,
        {"a": v1(suites=["write-back"], active_source="home", seed_pages=[there, here], turns=[turn])},
        {"a": turns(t1=QUIET | {"gold_facts": [FACT | {"entity_slug": "people/x"}]})},
    )
    assert [f.mention for f in played(fixtures, golds)[0].scripted_facts] == ["Ana"]


def played(fixtures: Path, golds: Path) -> tuple[Fixture, ...]:
    return gold.with_scripted_facts(corpus.read(fixtures, include_holdout=True), golds).fixtures


def unsaid(value: Value, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
    """Change everything in a v1 gold file but what an extractor would say."""
    words = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=5), max_size=3)
    for turn in value["turns"].values():
        facts = turn.get("gold_facts", [])
        for fact in facts:
            fact |= {"gist": draw(st.text(st.characters(codec="utf-8"))), "match_keywords": [*draw(words), "k"]}
        kept = {"gold_facts": facts} if facts else {}
        turn.clear()
        turn |= kept | {"should_retrieve": False} | ({"gold_slugs": []} if draw(st.booleans()) else {})
    for decision in value.get("continuity", {}).get("decisions", []):
        decision |= {"expected_slugs": draw(words), "match_keywords": draw(words)}
    value["turns"] = dict(draw(st.permutations(list(value["turns"].items()))))


@pytest.mark.req("C-642", "C-208")
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(choices=st.data())
def test_nothing_else_of_v1_gold_can_change_what_is_played(tmp_path: Path, choices: st.DataObject) -> None:
    for path in (MINI / "gold").iterdir():
        value = json.loads(path.read_text(encoding="utf-8"))
        unsaid(value, choices.draw)
        put(tmp_path, {}, {path.name.removesuffix(".gold.json"): value})
    assert played(MINI / "fixtures", tmp_path / "gold") == played(MINI / "fixtures", MINI / "gold")


@pytest.mark.req("C-640")
def test_scripts_are_read_without_a_gold_directory(tmp_path: Path) -> None:
    fixtures, _ = put(tmp_path, {"a": native()}, {})
    (tmp_path / "gold").rmdir()
    found = corpus.read(fixtures, include_holdout=False)
    assert gold.with_scripted_facts(found, tmp_path / "gold") == found
    with pytest.raises(CorpusError, match="does not exist"):
        gold.read(found, tmp_path / "gold")


def test_gold_that_went_missing_is_named_when_it_is_read(tmp_path: Path) -> None:
    fixtures, golds = put(tmp_path, {"a": v1()}, {})
    found = corpus.read(fixtures, include_holdout=False)
    with pytest.raises(CorpusError, match=r'a\.fixture\.json: fixture_id: no gold for "a"'):
        gold.read(found, golds)


@pytest.mark.req("C-107")
def test_the_fixtures_hash_is_that_of_the_published_vector(tmp_path: Path) -> None:
    directories = put(tmp_path, {"a": b"{}\n"}, {"a": b"{}\n"})
    assert gold.fixtures_hash(*directories) == "7f3b13541697ff52d30bff99f4221eaa048858783e651dd12de9e306a9267550"


@pytest.mark.req("C-107")
def test_the_fixtures_hash_takes_gold_first_each_by_name(tmp_path: Path) -> None:
    directories = put(tmp_path, {"b": b"3", "a": b"2"}, {"z": b"1"})
    (tmp_path / "gold" / "notes.txt").write_text("not counted")
    text = b"gold/z.gold.json\n1fixtures/a.fixture.json\n2fixtures/b.fixture.json\n3"
    assert gold.fixtures_hash(*directories) == hashlib.sha256(text).hexdigest()
    with pytest.raises(CorpusError, match="does not exist; needs a readable directory"):
        gold.fixtures_hash(tmp_path / "no", tmp_path / "gold")


def sealed(root: Path) -> corpus.Manifest:
    put(root, {"a": native()}, {"a": native_gold()})
    (root / "EXPECTATIONS.toml").write_text("x = 1\n")
    draft = corpus.Manifest(
        "tiny",
        "1",
        "CC-BY-4.0",
        generator=corpus.Generator("m", "1", 42),
        split=corpus.Split(("a",), (), "all"),
        groups={"g": ("a",)},
        counts={"stratum": {"hard": 1}},
        universes={"u": corpus.Universe(10, 1, "0" * 64)},
        canary="c",
    )
    return gold.write_manifest(root, draft, ["EXPECTATIONS.toml"])


@pytest.mark.req("C-207", "C-001")
def test_a_sealed_corpus_is_valid_and_its_manifest_reads_back(tmp_path: Path) -> None:
    manifest = sealed(tmp_path)
    assert corpus.read_manifest(tmp_path) == manifest
    assert gold.validate(tmp_path / "fixtures", tmp_path / "gold") == ()
    assert sorted(manifest.files) == ["EXPECTATIONS.toml", "fixtures/a.fixture.json", "gold/a.gold.json"]
    assert manifest.fixtures_hash == gold.fixtures_hash(tmp_path / "fixtures", tmp_path / "gold")
    raw = (tmp_path / "MANIFEST.json").read_text(encoding="utf-8")
    assert raw.startswith('{\n  "name": "tiny"')
    assert raw.endswith("}\n")
    assert sealed(tmp_path) == manifest


@pytest.mark.req("C-207")
@pytest.mark.parametrize(
    ("spoil", "fields"),
    [
        (
            lambda root: (root / "EXPECTATIONS.toml").write_text("x = 2\n"),
            ['files["EXPECTATIONS.toml"]', "expectations_hash"],
        ),
        (lambda root: (root / "EXPECTATIONS.toml").unlink(), ['files["EXPECTATIONS.toml"]', "expectations_hash"]),
        (
            lambda root: put(root, {}, {"a": native_gold(probes=[])}),
            ['files["gold/a.gold.json"]', "fixtures_hash"],
        ),
        (
            lambda root: put(root, {"b": native(fixture_id="b")}, {"b": native_gold(fixture_id="b")}),
            ['files["fixtures/b.fixture.json"]', "split", 'files["gold/b.gold.json"]', "fixtures_hash"],
        ),
        (
            lambda root: gold.save(root, replace(corpus.read_manifest(root), corpus_hash="1" * 64)),
            ["corpus_hash"],
        ),
    ],
)
def test_what_a_manifest_seals_cannot_change_unnoticed(
    tmp_path: Path, spoil: Callable[[Path], object], fields: list[str]
) -> None:
    sealed(tmp_path)
    spoil(tmp_path)
    lines = told((tmp_path / "fixtures", tmp_path / "gold"))
    assert [line.split(": ")[1] for line in lines] == fields


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
NAMED = st.sampled_from(
    "turns events probes continuity 1 2 4 gold_facts should_retrieve retrieve pair_id decisions after_event".split()
)
GROWN = st.recursive(
    JSON, lambda inner: st.dictionaries(NAMED, inner, max_size=3) | st.lists(inner, max_size=2), max_leaves=4
)


@pytest.mark.req("C-103")
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(fixture=st.sampled_from([v1(), native(), v1(**READER)]), value=st.dictionaries(NAMED, GROWN, max_size=4))
def test_whatever_gold_is_given_nothing_but_faults_comes_out(tmp_path: Path, fixture: Value, value: Value) -> None:
    directories = put(tmp_path, {"a": fixture}, {"a": value | {"fixture_id": "a"}})
    try:
        gold.validate(*directories)
    except CorpusError as error:
        faults = error.faults
    else:
        faults = ()
    assert all(f.file in ("a.gold.json", "a.fixture.json") and f.field and f.reason for f in faults)


@pytest.mark.req("C-101", "C-106")
@pytest.mark.parametrize(("name", "facts"), [("v1-samples", 9), ("wild-dev", 30)])
def test_published_v1_corpora_are_valid(name: str, facts: int) -> None:
    root = DATA / name
    if not root.is_dir():
        pytest.skip(f"no {root}; set BRAINBENCH_DATA to the directory that holds {name}")
    assert gold.validate(root / "fixtures", root / "gold") == ()
    found = played(root / "fixtures", root / "gold")
    assert sum(len(f.scripted_facts) for f in found) >= facts
    assert set(gold.read(corpus.read(root / "fixtures", include_holdout=True), root / "gold")) == {
        f.fixture_id for f in found
    }
