"""The core corpus is what its generator makes, and keeps the promises that its README gives."""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import shutil
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from brainbench import corpus, gold
from brainbench.datasets import DATASETS, core_gen
from brainbench.datasets.core_gen import __main__ as door
from brainbench.datasets.core_gen import check, oblique, universe
from brainbench.datasets.core_gen.script import Labelled, Script
from brainbench.datasets.core_gen.world import Named, Names, Page, slug_of
from brainbench.datasets.core_words import denied, table
from brainbench.datasets.splitmix import SplitMix64, substream
from brainbench.errors import CorpusError, OutputError

ROOT = Path(__file__).parents[3]
CORE = ROOT / "corpus" / "core"
POCKET = ROOT / "corpus" / "pocket"
DATA = Path(os.environ.get("BRAINBENCH_DATA", ROOT.parent / "shared" / "data"))
TABLE = {
    "direct": 60,
    "silent": 60,
    "push-budget": 50,
    "semantic": 50,
    "typo": 40,
    "code": 30,
    "long": 24,
    "distractor": 40,
    "near-duplicate": 40,
    "multi-source": 40,
}
LISTED_IN_THE_SPECIFICATION = {
    *("direct", "silent", "push-budget", "semantic", "pronoun", "typo", "multilingual", "code", "long", "distractor"),
    *("near-duplicate", "renamed", "stale", "assistant", "injection", "multi-source", "write-back", "continuity"),
    *("described", "errand", "typed"),
}


@pytest.fixture(scope="module")
def inspection() -> check.Inspection:
    return check.inspect(CORE)


@pytest.fixture(scope="module")
def made() -> tuple[Script, ...]:
    return tuple(core_gen.scripts())


def changed(tmp_path: Path, name: str, change: Callable[[dict[str, Any]], None]) -> Path:
    """A copy of the corpus without its manifest, with one file changed."""
    copy = tmp_path / "copy"
    shutil.copytree(CORE, copy, ignore=shutil.ignore_patterns("MANIFEST.json"))
    path = copy / name
    value = json.loads(path.read_text(encoding="utf-8"))
    change(value)
    path.write_text(json.dumps(value), encoding="utf-8")
    return copy


@pytest.mark.req("C-801", "C-207", "C-001")
def test_a_rebuild_gives_the_committed_bytes(tmp_path: Path) -> None:
    shutil.copy(CORE / "EXPECTATIONS.toml", tmp_path)
    shutil.copytree(CORE / "validation", tmp_path / "validation")
    core_gen.build(tmp_path)
    same_bytes(tmp_path, CORE)


def same_bytes(made: Path, committed: Path) -> None:
    for folder in ("fixtures", "gold"):
        names = sorted(p.name for p in (made / folder).iterdir())
        assert names == sorted(p.name for p in (committed / folder).iterdir())
        for name in names:
            assert (made / folder / name).read_bytes() == (committed / folder / name).read_bytes(), name
    assert (made / "MANIFEST.json").read_bytes() == (committed / "MANIFEST.json").read_bytes()


@pytest.mark.req("C-809")
def test_the_pocket_holds_two_or_three_fixtures_of_every_category_as_the_core_has_them(tmp_path: Path) -> None:
    core_gen.build_pocket(tmp_path)
    same_bytes(tmp_path, POCKET)
    held = corpus.read(POCKET / "fixtures", include_holdout=True)
    assert len(held.fixtures) == 46
    assert {f.category for f in held.fixtures} == LISTED_IN_THE_SPECIFICATION
    for document in held.documents:
        assert document.raw == (CORE / "fixtures" / document.file).read_bytes()
    split = corpus.read_manifest(CORE).split
    assert split is not None
    assert {f.fixture_id for f in held.fixtures} <= set(split.gate)
    assert held.held_out == 0


def test_a_rebuild_removes_what_is_no_longer_made_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "fixtures").mkdir()
    (tmp_path / "fixtures" / "core-gone-000.fixture.json").write_text("{}")
    (tmp_path / "fixtures" / "notes.txt").write_text("mine")
    core_gen.build(tmp_path)
    assert not (tmp_path / "fixtures" / "core-gone-000.fixture.json").exists()
    assert (tmp_path / "fixtures" / "notes.txt").read_text() == "mine"


@pytest.mark.req("C-801")
def test_another_category_moves_no_fixture(monkeypatch: pytest.MonkeyPatch, made: tuple[Script, ...]) -> None:
    before = {script.fixture_id: (script.fixture(), script.gold()) for script in made}
    more = core_gen.Category("extra", 2, ("easy",), core_gen.named.direct)
    monkeypatch.setattr(core_gen, "CATEGORIES", (more, *core_gen.CATEGORIES))
    after = {script.fixture_id: (script.fixture(), script.gold()) for script in core_gen.scripts()}
    assert len(after) == len(before) + 2
    assert {name: after[name] for name in before} == before


@pytest.mark.req("C-801")
def test_the_data_set_table_leads_to_the_generator() -> None:
    module, _, function = DATASETS["core"].partition(":")
    assert getattr(import_module(module), function) is core_gen.build


@pytest.mark.req("C-201", "C-203", "C-204", "C-509")
def test_the_corpus_has_no_fault(inspection: check.Inspection) -> None:
    assert inspection.faults == ()


@pytest.mark.req("C-802")
def test_every_category_is_there_and_at_least_twelve_languages(inspection: check.Inspection) -> None:
    assert set(inspection.categories) == LISTED_IN_THE_SPECIFICATION
    for name, count in TABLE.items():
        assert inspection.categories[name] == count
    assert inspection.fixtures >= sum(TABLE.values())
    assert len(inspection.languages) >= 12


@pytest.mark.req("C-803")
@pytest.mark.parametrize("stratum", ["easy", "medium", "hard"])
def test_must_and_must_not_are_about_as_many(inspection: check.Inspection, stratum: str) -> None:
    share = inspection.must_share(stratum)
    assert share is not None
    assert 0.45 <= share <= 0.55


def test_a_stratum_in_which_nothing_is_asked_has_no_share() -> None:
    labels = {("easy", "must"): 1, ("easy", "must_not"): 3}
    found = check.Inspection(1, (), {"direct": 1}, {"en": 1}, labels, 0, 0, {})
    assert (found.must_share("easy"), found.must_share("hard")) == (0.25, None)
    assert "know-to-ask, hard: 0 must, 0 must_not (-)" in found.table()


@pytest.mark.req("C-509")
def test_at_least_half_of_the_continuity_scripts_ask_what_only_a_stored_fact_holds() -> None:
    golds = [json.loads(p.read_text(encoding="utf-8")) for p in (CORE / "gold").glob("core-continuity-*")]
    stored = [g for g in golds if any(p["channel"] == "stored_only" for p in g["probes"])]
    assert golds
    assert 2 * len(stored) >= len(golds)


@pytest.mark.req("C-206")
def test_every_seventh_fixture_is_held_out(made: tuple[Script, ...]) -> None:
    split = corpus.read(CORE / "fixtures", include_holdout=True).manifest
    assert split is not None
    assert split.split is not None
    held = set(split.split.holdout)
    alone = [(at, script.fixture_id) for at, script in enumerate(made) if script.group is None]
    assert all((at % 7 == 6) == (name in held) for at, name in alone)
    assert 0.14 <= len(held) / len(made) <= 0.17
    for group in split.groups.values():
        assert len({name in held for name in group}) == 1
    assert {name for group in split.groups.values() for name in group} == {s.fixture_id for s in made if s.group}


@pytest.mark.req("C-603")
def test_each_foreign_source_has_a_canary_and_the_active_one_has_none() -> None:
    scoped = [f for f in corpus.read(CORE / "fixtures", include_holdout=True).fixtures if len(f.sources) > 1]
    assert scoped
    assert {f.active_source for f in scoped} > {"default"}
    for fixture in scoped:
        for write in fixture.setup:
            assert ("canary:" in write.content) == (write.source != fixture.active_source)


@pytest.mark.req("C-802")
def test_what_a_script_does_is_what_it_requires() -> None:
    for fixture in corpus.read(CORE / "fixtures", include_holdout=True).fixtures:
        kinds = {type(event).__name__ for event in fixture.events}
        persists = any(getattr(event, "persist", False) for event in fixture.events)
        assert ("edit" in fixture.requires) == ("Edit" in kinds)
        assert ("extractor_seam" in fixture.requires) == bool(fixture.scripted_facts)
        assert ({"conversation_write", "recall_facts"} <= fixture.requires) == persists
        assert ("sources" in fixture.requires) == (len(fixture.sources) > 1)


@pytest.mark.req("C-802")
def test_long_turns_name_somebody_only_at_their_end(made: tuple[Script, ...]) -> None:
    long_turns = [turn for script in made for turn in script.labelled if len(turn.text) > 4000]
    assert {turn.must for turn in long_turns} == {True, False}
    assert max(len(turn.text) for turn in long_turns) > 20_000
    for turn in long_turns:
        assert len(turn.text) <= 40_000
        capital = [m.start() for m in re.finditer(r"[A-Z][a-z]{4,}", turn.text) if m.start() > 80]
        assert min(capital) > len(turn.text) - 200


@pytest.mark.req("C-803")
@pytest.mark.parametrize("stratum", ["easy", "medium", "hard"])
def test_the_words_of_a_turn_do_not_tell_its_label(made: tuple[Script, ...], stratum: str) -> None:
    assert balanced_accuracy(asked(made, stratum)) <= 0.60


@pytest.mark.req("C-803")
@pytest.mark.parametrize("category", ["described", "errand", "typed"])
def test_neither_words_nor_syllables_tell_whether_what_is_not_plainly_named_is_known(
    made: tuple[Script, ...], category: str
) -> None:
    turns = [turn for script in made if script.category == category for turn in script.labelled]
    assert len(turns) >= 60
    assert balanced_accuracy(turns) <= 0.60
    assert balanced_accuracy(turns, four_letters) <= 0.60
    assert balanced_accuracy([replace(t, text=f"{t.text} kindly") if t.must else t for t in turns]) > 0.60


def asked(made: Sequence[Script], stratum: str) -> list[Labelled]:
    return [t for s in made if "know-to-ask" in s.suites for t in s.labelled if t.stratum == stratum]


@pytest.mark.req("C-803")
@pytest.mark.parametrize("stratum", ["easy", "medium", "hard"])
def test_a_word_that_most_turns_of_one_label_share_is_found_out(made: tuple[Script, ...], stratum: str) -> None:
    leaky = [replace(t, text=f"{t.text} kindly") if t.must else t for t in asked(made, stratum)]
    assert balanced_accuracy(leaky) > 0.60


def four_letters(turn: Labelled) -> set[str]:
    end = turn.text[-600:].casefold()
    return {end[at : at + 4] for at in range(len(end) - 3)}


@pytest.mark.req("C-803")
@pytest.mark.parametrize("stratum", ["easy", "medium", "hard"])
def test_the_syllables_of_a_turn_do_not_tell_its_label_either(made: tuple[Script, ...], stratum: str) -> None:
    assert balanced_accuracy(asked(made, stratum), four_letters) <= 0.60


@pytest.mark.req("C-803")
def test_strangers_with_syllables_of_their_own_are_found_out(made: tuple[Script, ...]) -> None:
    told = [t if t.must else replace(t, text=re.sub(r"\b[A-Z][a-z]{3}", "Grub", t.text)) for t in asked(made, "medium")]
    assert balanced_accuracy(told, four_letters) > 0.60


@pytest.mark.req("C-803")
def test_who_is_a_stranger_here_has_a_page_elsewhere_so_that_no_name_tells_a_label(made: tuple[Script, ...]) -> None:
    labels: dict[str, set[bool]] = {}
    for script in made:
        text = "\n".join(write["content"] for write in script.fixture()["setup"])
        for turn in script.labelled:
            gap = re.fullmatch(re.escape(turn.template).replace(r"\{n\}", r"(?P<n>.+)", 1), turn.text, re.DOTALL)
            if script.category in ("direct", "code") and gap:
                labels.setdefault(gap["n"], set()).add(turn.must)
                words = {w for w in re.findall(r"[^\W_]{5,}", gap["n"]) if w.casefold() not in ordinary_words()}
                assert turn.must or not any(word in text for word in words), (script.fixture_id, turn.text)
    assert sum(len(found) == 2 for found in labels.values()) >= 20


@pytest.mark.req("C-803")
def test_there_are_enough_turns_and_enough_of_them_are_hard(
    made: tuple[Script, ...], inspection: check.Inspection
) -> None:
    assert sum(inspection.labels.values()) >= 1_500
    assert sum(script.stratum == "hard" for script in made) >= 0.25 * len(made)


@pytest.mark.req("C-803")
def test_every_semantic_turn_and_every_slip_has_a_silent_twin(made: tuple[Script, ...]) -> None:
    for script in made:
        if script.category == "semantic":
            labels = Counter((turn.template, turn.must) for turn in script.labelled)
            assert all(labels[about, True] == labels[about, False] == 1 for about, _ in labels)
        if script.category == "typo":
            by_part = [t for t in script.labelled if "{part}" in t.template]
            assert Counter(t.must for t in by_part) == {True: 2, False: 2}


@pytest.mark.req("C-803")
def test_a_stranger_is_as_many_letters_from_a_page_as_a_slip(made: tuple[Script, ...]) -> None:
    for script in made:
        if script.category != "typo":
            continue
        titles = re.findall(r"^title: (\w+ \w+)$", "\n".join(w["content"] for w in script.fixture()["setup"]), re.M)
        for template in {t.template for t in script.labelled if "{part}" in t.template}:
            near = {t.must: nearest(t.text, titles) for t in script.labelled if t.template == template}
            assert near[True] == near[False] >= 1, (script.fixture_id, template)


@pytest.mark.req("C-803")
def test_what_a_stranger_is_said_to_do_nobody_with_a_page_does(made: tuple[Script, ...]) -> None:
    asked = 0
    for script in made:
        pages = "\n".join(write["content"] for write in script.fixture()["setup"]).casefold()
        for turn in (t for t in script.labelled if "{part}" in t.template and not t.must):
            way = re.escape(turn.template).replace(r"\{n\}", ".+").replace(r"\{part\}", "(?P<part>.+)")
            said = re.fullmatch(way, turn.text)
            assert said is not None
            assert f"summary: {said['part']}, works".casefold() not in pages, (script.fixture_id, turn.text)
            asked += 1
    assert asked >= 100


@pytest.mark.req("C-803")
def test_a_name_one_letter_off_is_in_no_question_that_doubts_its_own_spelling(made: tuple[Script, ...]) -> None:
    turns = [t for script in made if script.category == "near-duplicate" for t in script.labelled]
    assert not [t.text for t in turns if "if I read" in t.template]


def nearest(text: str, titles: Sequence[str]) -> int:
    """Single-letter changes, swaps of neighbours included, between a title and the two words most like it."""
    words = re.findall(r"[^\W\d_]+", text)
    return min(oblique.distance(f"{a} {b}", title) for a, b in itertools.pairwise(words) for title in titles)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("abcd", "abcd", 0),
        ("abcd", "abdc", 1),
        ("abcd", "acd", 1),
        ("abcd", "xbcd", 1),
        ("abcd", "abbdc", 2),
        ("", "ab", 2),
    ],
)
def test_letters_are_counted_as_typists_slip(one: str, other: str, expected: int) -> None:
    assert oblique.distance(one, other) == oblique.distance(other, one) == expected


@pytest.mark.req("C-802", "C-206")
def test_a_conversation_is_played_in_both_brains_word_for_word(made: tuple[Script, ...]) -> None:
    pairs: dict[str, list[Script]] = {}
    for script in made:
        if script.category == "distractor":
            pairs.setdefault(str(script.group), []).append(script)
    assert len(pairs) == 20
    bare = {m.of.title for m in universe.brain_members("brain-10k") if m.of.title == m.of.given}
    for small, large in pairs.values():
        assert (small.universe, large.universe) == ("brain-1k", "brain-10k")
        assert [(t.text, t.must) for t in small.labelled] == [(t.text, t.must) for t in large.labelled]
        assert not any(set(re.findall(r"\w+", turn.text)) & bare for turn in large.labelled)


def test_the_classifier_of_words_finds_a_label_that_words_do_tell() -> None:
    turns = [
        Labelled("x", "hard", f"t{i}", ("please recall" if i % 2 else "never mind") + f" item{i}", bool(i % 2))
        for i in range(60)
    ]
    assert balanced_accuracy(turns) == 1


def balanced_accuracy(
    turns: Sequence[Labelled], parts: Callable[[Labelled], set[str]] = lambda turn: words(turn)
) -> float:
    """Five-fold naive Bayes on the set of words or other parts, where a template is in one fold only."""
    right: Counter[bool] = Counter()
    for fold in range(5):
        train = [t for t in turns if zlib.crc32(t.template.encode()) % 5 != fold]
        seen = {label: Counter(w for t in train if t.must is label for w in parts(t)) for label in (True, False)}
        sizes = Counter(t.must for t in train)
        for turn in turns:
            if zlib.crc32(turn.template.encode()) % 5 == fold:
                score = sum(
                    math.log((seen[True][w] + 1) / (sizes[True] + 2))
                    - math.log((seen[False][w] + 1) / (sizes[False] + 2))
                    for w in parts(turn)
                    if seen[True][w] or seen[False][w]
                )
                right[turn.must] += turn.must == (score > 0)
    totals = Counter(t.must for t in turns)
    return sum(right[label] / totals[label] for label in (True, False)) / 2


def words(turn: Labelled) -> set[str]:
    return set(re.findall(r"\w+", turn.text.casefold()))


@pytest.mark.req("C-806")
def test_no_invented_name_is_a_denied_word(made: tuple[Script, ...]) -> None:
    assert not set(title_words(made)) & denied()


@pytest.mark.req("C-806")
def test_no_name_shares_a_word_with_the_development_data(made: tuple[Script, ...]) -> None:
    files = [p for name in ("v1-samples", "wild-dev") for p in (DATA / name).glob("*/*.json")]
    if not files:
        pytest.skip(f"no development data in {DATA}; name its directory with BRAINBENCH_DATA")
    taken = {w for p in files for w in re.findall(r"[^\W\d_]+", p.read_text(encoding="utf-8").casefold())}
    assert not set(title_words(made)) & taken


@pytest.mark.req("C-806")
def test_every_host_is_a_test_host() -> None:
    text = "".join(p.read_text(encoding="utf-8") for p in (CORE / "fixtures").iterdir())
    hosts = re.findall(r"(?:https?://|@)([a-z0-9-]+(?:\.[a-z0-9-]+)+)", text)
    assert all(host.endswith(".test") for host in hosts)


def title_words(made: tuple[Script, ...]) -> Iterator[str]:
    """The invented words of four letters and more in titles and aliases of every seeded page, without case."""
    ordinary = ordinary_words()
    for script in made:
        for write in script.fixture()["setup"]:
            names = re.findall(r"^(?:title|aliases): (.*)$", write["content"], re.MULTILINE)
            assert names
            words = re.findall(r"[^\W\d_]{4,}", " ".join(names).casefold())
            yield from (word for word in words if word not in ordinary)


def ordinary_words() -> frozenset[str]:
    """Common words that stand behind an invented one in a title, or are a title or nickname themselves."""
    told = table("domains")["domain"]
    behind = [word for d in told for key in ("suffixes", "nouns", "ideas") for word in d[key]]
    seconds = [*universe._FUNDS, *universe._PLACES, *universe._EVENTS, *universe._WORDS, "rows", "total"]
    titles = [c["title"] for c in table("common")["common"]]
    nicknames = table("asks")["nicknames"]
    return frozenset(w for word in (*behind, *seconds, *titles, *nicknames) for w in word.casefold().split())


def _other_slug(value: dict[str, Any]) -> None:
    next(e for e in value["events"].values() if e["gold_slugs"])["gold_slugs"] = ["people/nobody"]


def _accepting_silence(value: dict[str, Any]) -> None:
    quiet = next(e for e in value["events"].values() if e["retrieve"] == "must_not")
    quiet["acceptable_slugs"] = [next(e for e in value["events"].values() if e["gold_slugs"])["gold_slugs"][0]]


def _unlabelled(value: dict[str, Any]) -> None:
    value["events"].popitem()


def _foreign_keyword(value: dict[str, Any]) -> None:
    next(e for e in value["events"].values() if e["gold_facts"])["gold_facts"][0]["match_keywords"] = ["zeppelin"]


def _untold_fact(value: dict[str, Any]) -> None:
    next(e for e in value["events"].values() if e["gold_facts"])["gold_facts"][0]["fact"] = "Nobody said this"


def _given_away(value: dict[str, Any]) -> None:
    value["probes"][0]["match_keywords"] = ["fence"]


def _nowhere(value: dict[str, Any]) -> None:
    value["probes"][0]["match_keywords"] = ["zeppelin"]


def _too_early(value: dict[str, Any]) -> None:
    value["probes"][0]["after_event"] = min(int(k) for k in value["events"])


@pytest.mark.parametrize(
    ("name", "change", "reason"),
    [
        ("gold/core-direct-000.gold.json", _other_slug, "people/nobody is no page of the active source"),
        ("gold/core-direct-000.gold.json", _accepting_silence, "a silent turn accepts no page"),
        ("gold/core-direct-000.gold.json", _unlabelled, "a user turn without a label"),
        ("gold/core-write-back-000.gold.json", _foreign_keyword, "fit 0 of the scripted facts"),
        ("gold/core-write-back-000.gold.json", _untold_fact, "no extractor would say"),
        ("gold/core-continuity-000.gold.json", _given_away, "the question gives away what is asked"),
        ("gold/core-continuity-000.gold.json", _nowhere, "only a stored fact may hold it, and one must"),
        ("gold/core-continuity-000.gold.json", _too_early, "comes before anything was written back"),
    ],
)
def test_a_broken_promise_is_a_fault(
    tmp_path: Path, name: str, change: Callable[[dict[str, Any]], None], reason: str
) -> None:
    faults = check.inspect(changed(tmp_path, name, change)).faults
    assert any(reason in str(fault) for fault in faults)


def test_a_page_that_holds_the_stored_decision_is_a_fault(tmp_path: Path) -> None:
    sealed = json.loads((CORE / "gold" / "core-continuity-000.gold.json").read_text(encoding="utf-8"))
    decision = " ".join(sealed["probes"][0]["match_keywords"])

    def leak(value: dict[str, Any]) -> None:
        value["setup"][0]["content"] += f"\n{decision}\n"

    faults = check.inspect(changed(tmp_path, "fixtures/core-continuity-000.fixture.json", leak)).faults
    assert "only a stored fact may hold it, and one must" in "\n".join(map(str, faults))


def test_a_canary_on_an_active_page_is_a_fault(tmp_path: Path) -> None:
    def mark(value: dict[str, Any]) -> None:
        value["setup"][0]["content"] += "\ncanary:0123456789abcdef\n"

    faults = check.inspect(changed(tmp_path, "fixtures/core-multi-source-000.fixture.json", mark)).faults
    assert any("1 canaries on a page of default" in str(fault) for fault in faults)


def test_the_door_builds_and_prints_the_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert door.main([str(tmp_path)]) == 0
    assert "21 categories" in capsys.readouterr().out
    assert door.main(["--check", str(tmp_path)]) == 0


def test_the_door_names_the_changed_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    core_gen.build(tmp_path)
    with (tmp_path / "gold" / "core-direct-000.gold.json").open("a") as file:
        file.write("\n")
    assert door.main(["--check", str(tmp_path)]) == 2
    assert "core-direct-000.gold.json" in capsys.readouterr().err


@pytest.mark.parametrize("argv", [[], ["--check"], ["--pocket"], ["a", "b"], ["--nonsense"]])
def test_the_door_explains_itself_when_misused(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert door.main(argv) == 2
    assert "usage:" in capsys.readouterr().err


def test_a_place_that_cannot_be_written_is_an_output_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write"):
        core_gen.build(tmp_path / "file")


def test_the_check_refuses_a_corpus_that_breaks_the_format(tmp_path: Path) -> None:
    def seal_broken(value: dict[str, Any]) -> None:
        value["events"][0]["label"] = "must"

    with pytest.raises(CorpusError, match="label"):
        check.inspect(changed(tmp_path, "fixtures/core-direct-000.fixture.json", seal_broken))


def test_names_are_all_different_and_start_differently_while_they_can() -> None:
    names = Names(substream(1, "test"))
    people = [names.person() for _ in range(26)]
    assert len({p.given for p in people}) == len({p.family for p in people}) == 26
    assert len({p.given[:3] for p in people}) == 26


def test_a_table_that_is_too_small_says_so() -> None:
    names = Names(SplitMix64(0), {"brand": {"starts": ["A"], "ends": ["b"]}})
    names.thing("company")
    with pytest.raises(ValueError, match="too small"):
        names.thing("company")


@pytest.mark.parametrize(
    ("roman", "slug"),
    [("Yılmaz Öz", "people/yilmaz-oz"), ("Kłos  Świt", "people/klos-swit"), ("a.b/c_d", "people/a-b-c-d")],
)
def test_a_slug_is_plain(roman: str, slug: str) -> None:
    assert slug_of("person", roman) == slug


def test_front_matter_quotes_what_would_break_it() -> None:
    page = Page(Named("person", "Ann: a", "people/ann"), "x #y", "Text.", ("a, b", "🦊"), (("status", "archived"),))
    assert page.markdown() == (
        '---\ntitle: "Ann: a"\ntype: person\naliases: ["a, b", 🦊]\nsummary: "x #y"\nstatus: archived\n---\n\nText.\n'
    )


@pytest.mark.req("C-204")
def test_gold_can_be_read_for_every_fixture() -> None:
    played = corpus.read(CORE / "fixtures", include_holdout=True)
    sealed = gold.read(played, CORE / "gold")
    assert set(sealed) == {f.fixture_id for f in played.fixtures}
