"""Gold is checked by people who do not see it: the sheet gives nothing away, and disagreement is counted and listed."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from brainbench import corpus as corpora
from brainbench import gold as golds
from brainbench.cli import main
from brainbench.corpus.manifest import read_manifest
from brainbench.errors import IncompatibleError, UsageError
from brainbench.gold import Gold, Probe
from brainbench.labels.agreement import answers_probe, cohen_kappa, read_labels, receipt
from brainbench.labels.sheet import asked_answers, asked_facts, asked_turns, hidden_names, sheet
from brainbench.model import Fixture, Turn
from brainbench.suites.matching import says

CORE = corpora.find("core")
SEED = 5


@pytest.fixture(scope="module")
def drawn() -> dict[str, Any]:
    return sheet(CORE / "fixtures", CORE / "gold", corpus="core", share=0.1, seed=SEED)


@pytest.fixture(scope="module")
def perfect(drawn: dict[str, Any]) -> Callable[[str], dict[str, Any]]:
    """Labels that say what gold says. Made here from gold, which no labeller has."""
    read = corpora.read(CORE / "fixtures", include_holdout=True)
    gold, hidden = golds.read(read, CORE / "gold"), hidden_names(read, SEED)
    by_name = {hidden[f.fixture_id]: f for f in read.fixtures}
    labels = {}
    for shown in drawn["fixtures"]:
        fixture = by_name[shown["id"]]
        right = gold[fixture.fixture_id]
        labels[shown["id"]] = {
            "turns": {str(n): _turn(right, n) for n in asked_turns(fixture)},
            "facts": {str(n): _fact(right, fixture.scripted_facts[n]) for n in asked_facts(fixture)},
            "answers": {str(n): _answer(right, n) for n in asked_answers(fixture)},
        }
    return lambda name: json.loads(json.dumps({"schema_version": 1, "labeller": name, "labels": labels}))


def _turn(gold: Gold, event: int) -> dict[str, Any]:
    wanted = gold.events.get(event)
    return {"retrieve": wanted.retrieve or "may", "slugs": list(wanted.gold_slugs)} if wanted else {"retrieve": "may"}


def _fact(gold: Gold, said: Any) -> dict[str, Any]:
    events = gold.events.get(said.event_id)
    match = [f for f in events.gold_facts if f.fact == said.fact] if events else []
    return {"entity": match[0].entity_slug if match else None, "keep": bool(match)}


def _answer(gold: Gold, event: int) -> str | None:
    words = [k for p in gold.probes if p.after_event == event for k in p.match_keywords]
    return " ".join(words) or None


def agreed(drawn: dict[str, Any], *labels: dict[str, Any], fixes: dict[str, str] | None = None) -> dict[str, Any]:
    files = [read_labels(json.dumps(one).encode(), one["labeller"]) for one in labels]
    return receipt(CORE / "fixtures", CORE / "gold", (json.dumps(drawn).encode(), "sheet.json"), files, fixes or {})


@pytest.mark.req("C-807")
def test_the_sample_has_a_tenth_of_each_category_and_stratum_and_no_fewer_than_one(drawn):
    read = corpora.read(CORE / "fixtures", include_holdout=True)
    hidden = {hidden: name for name, hidden in hidden_names(read, SEED).items()}
    families = {f.fixture_id: (f.category, f.stratum) for f in read.fixtures}
    had = Counter(families.values())
    drawn_families = Counter(families[hidden[shown["id"]]] for shown in drawn["fixtures"])
    assert drawn_families == {family: max(1, -(-count // 10)) for family, count in had.items()}


def test_a_category_may_have_a_share_of_its_own_and_no_other_changes():
    drawn = [
        sheet(CORE / "fixtures", CORE / "gold", corpus="core", share=0.1, seed=SEED, more=more)
        for more in ({}, {"typed": 1.0})
    ]
    read = corpora.read(CORE / "fixtures", include_holdout=True)
    category = {hidden_names(read, SEED)[f.fixture_id]: f.category for f in read.fixtures}
    plain, more = ({shown["id"] for shown in one["fixtures"]} for one in drawn)
    assert plain < more
    assert {category[name] for name in more - plain} == {"typed"}
    assert {name for name in more if category[name] == "typed"} == {n for n in category if category[n] == "typed"}
    assert drawn[1]["more"] == {"typed": 1.0}


@pytest.mark.parametrize(("more", "why"), [({"typed": 2}, "--more typed: 2"), ({"nowhere": 0.5}, "nowhere is no cat")])
def test_a_share_of_no_category_or_beyond_all_of_it_is_refused(more: dict[str, float], why: str):
    with pytest.raises(UsageError, match=why):
        sheet(CORE / "fixtures", CORE / "gold", corpus="core", share=0.1, seed=1, more=more)


def test_another_seed_draws_another_sample():
    first, second = (
        sheet(CORE / "fixtures", CORE / "gold", corpus="core", share=0.1, seed=seed)["fixtures"] for seed in (1, 2)
    )
    texts = [{json.dumps(f["events"]) for f in drawn} for drawn in (first, second)]
    assert texts[0] != texts[1]


def test_the_sheet_gives_away_nothing_that_names_or_sorts_a_fixture_nor_any_gold(drawn):
    read = corpora.read(CORE / "fixtures", include_holdout=True)
    text = json.dumps(drawn["fixtures"], ensure_ascii=False)
    assert not [f.fixture_id for f in read.fixtures if f.fixture_id in text]
    words = (
        "id active_source pages events turns facts answers slug source content event at user assistant page_written "
        "page_changed old new new_session said more_pages"
    )
    assert {key for key in _keys(drawn["fixtures"]) if not key.isdigit()} <= set(words.split())
    assert [f["id"] for f in drawn["fixtures"]] == sorted(f["id"] for f in drawn["fixtures"])


def _keys(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [*value, *(key for inner in value.values() for key in _keys(inner))]
    return [key for inner in value for key in _keys(inner)] if isinstance(value, list) else []


def test_what_is_asked_does_not_depend_on_gold(drawn, tmp_path: Path):
    shutil.copytree(CORE, tmp_path / "core")
    for path in (tmp_path / "core" / "gold").glob("*.json"):
        value = json.loads(path.read_text())
        for event in value["events"].values():
            if event.get("retrieve") == "must":
                event |= {"retrieve": "must_not", "gold_slugs": [], "acceptable_slugs": []}
        path.write_text(json.dumps(value))
    golds.write_manifest(tmp_path / "core", read_manifest(tmp_path / "core"))
    other = sheet(tmp_path / "core" / "fixtures", tmp_path / "core" / "gold", corpus="core", share=0.1, seed=SEED)
    assert other["fixtures"] == drawn["fixtures"]


@pytest.mark.req("C-807")
def test_labels_that_say_what_gold_says_agree_on_everything(drawn, perfect):
    done = agreed(drawn, perfect("Ana"), perfect("Bela"))
    assert done["disagreements"] == []
    assert done["blocked"] == []
    assert all(row["n"] == row["of"] for row in done["agreement"])
    assert {row["kappa"] for row in done["agreement"]} <= {1.0, None}
    assert done["items"] > 100


@pytest.mark.req("C-807")
def test_one_label_that_differs_is_listed_with_who_said_what_and_its_fix(drawn, perfect):
    odd = perfect("Bela")
    name, event = next(
        (f["id"], e) for f in drawn["fixtures"] for e in f["turns"] if _said(odd, f["id"], e) == "must_not"
    )
    odd["labels"][name]["turns"][str(event)] = {"retrieve": "must", "slugs": ["x/y"]}
    (apart,) = agreed(drawn, perfect("Ana"), odd)["disagreements"]
    assert apart["said"] == {"gold": "must_not", "Ana": "must_not", "Bela": "must"}
    assert apart["fix"] is None
    (mended,) = agreed(drawn, perfect("Ana"), odd, fixes={apart["item"]: "reworded"})["disagreements"]
    assert mended["fix"] == "reworded"


def _said(labels: dict[str, Any], name: str, event: int) -> str:
    return str(labels["labels"][name]["turns"][str(event)]["retrieve"])


@pytest.mark.req("C-807")
def test_a_category_whose_labels_are_swapped_is_blocked(drawn, perfect):
    odd = perfect("Bela")
    swap = {"must": "must_not", "must_not": "must", "may": "may"}
    for labels in odd["labels"].values():
        for turn in labels["turns"].values():
            turn["retrieve"] = swap[turn["retrieve"]]
    assert {"direct", "semantic"} <= set(agreed(drawn, perfect("Ana"), odd)["blocked"])


def test_wanting_an_acceptable_page_or_not_is_the_same(drawn, perfect):
    odd = perfect("Bela")
    read = corpora.read(CORE / "fixtures", include_holdout=True)
    gold, hidden = golds.read(read, CORE / "gold"), hidden_names(read, SEED)
    names = {hidden[f.fixture_id]: f.fixture_id for f in read.fixtures}
    for name, labels in odd["labels"].items():
        for event, turn in labels["turns"].items():
            if turn["retrieve"] == "must":
                turn["slugs"] += gold[names[name]].events[int(event)].acceptable_slugs
    assert agreed(drawn, perfect("Ana"), odd)["disagreements"] == []


def test_a_fact_that_gold_files_under_no_page_may_be_filed_under_any(drawn, perfect):
    odd = perfect("Bela")
    loose = [f for labels in odd["labels"].values() for f in labels["facts"].values() if f["keep"] and not f["entity"]]
    assert loose
    for fact in loose:
        fact["entity"] = "people/somebody"
    assert agreed(drawn, perfect("Ana"), odd)["disagreements"] == []
    loose[0]["keep"] = False
    assert len(agreed(drawn, perfect("Ana"), odd)["disagreements"]) == 1


QUOTED = "Othriba Fenstamor proposes Quartz for the release, and we all like it."
"""What was said of which gold keeps "wants the new release called Quartz", and the probe asks for "called Quartz"."""


@pytest.fixture(scope="module")
def quartz() -> tuple[Probe, Fixture, Gold]:
    read = corpora.read(CORE / "fixtures", include_holdout=True)
    (fixture,) = (f for f in read.fixtures if f.fixture_id == "core-continuity-044")
    gold = golds.read(read, CORE / "gold")[fixture.fixture_id]
    return gold.probes[0], fixture, gold


@pytest.mark.parametrize("text", ["It is called Quartz", QUOTED, QUOTED.rstrip("."), QUOTED.upper()])
def test_an_answer_says_the_keywords_or_is_quoted_from_where_gold_has_them_from(quartz, text: str):
    assert answers_probe(text, *quartz)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  . ",
        "Quartz",
        "Quartz for the release",
        "and we all like it.",
        "I will use that in the notes.",
        "What name did Othriba Fenstamor come up with?",
        f"{QUOTED} It was Basalt in the end.",
        QUOTED.replace("Quartz", "Basalt"),
    ],
)
def test_a_piece_another_turn_or_what_nobody_said_is_no_quotation(quartz, text: str):
    assert not answers_probe(text, *quartz)


def test_a_quotation_counts_only_of_a_fact_of_gold_told_before_and_with_nothing_forbidden(quartz):
    probe, fixture, gold = quartz
    told = gold.events[7]
    assert not answers_probe(QUOTED, replace(probe, forbid_keywords=("we all like",)), fixture, gold)
    assert not answers_probe(QUOTED, replace(probe, match_keywords=("called Basalt",)), fixture, gold)
    assert not answers_probe(QUOTED, replace(probe, after_event=7), fixture, gold)
    assert not answers_probe(
        QUOTED, probe, fixture, replace(gold, events={**gold.events, 7: replace(told, gold_facts=())})
    )


@pytest.mark.parametrize(("quote", "text"), [("Quartz", "Quartz"), ("", ""), ("", "Othriba Fenstamor")])
def test_a_fact_taken_from_one_word_or_from_no_text_is_not_agreed_on_by_quoting(quartz, quote: str, text: str):
    probe, fixture, gold = quartz
    short = replace(fixture, scripted_facts=tuple(replace(f, quote=quote) for f in fixture.scripted_facts))
    assert not answers_probe(text, probe, short, gold)


def test_no_probe_of_the_corpus_is_answered_by_quoting_a_turn_that_gold_has_no_such_fact_of():
    read = corpora.read(CORE / "fixtures", include_holdout=True)
    gold, right, wrong = golds.read(read, CORE / "gold"), 0, 0
    for fixture in read.fixtures:
        mine = gold[fixture.fixture_id]
        for probe, turn in ((p, e) for p in mine.probes for e in fixture.events if isinstance(e, Turn)):
            said = mine.events.get(turn.event_id)
            facts = [f.fact for f in said.gold_facts] if said else []
            if any(says(fact, probe.match_keywords) for fact in facts):
                right += answers_probe(turn.text, probe, fixture, mine)
            elif not says(turn.text, probe.match_keywords):
                assert not answers_probe(turn.text, probe, fixture, mine), (fixture.fixture_id, probe.probe_id)
                wrong += 1
    assert right > 60
    assert wrong > 500


def test_an_answer_quoted_from_the_turn_of_golds_fact_agrees_and_from_another_turn_is_listed(drawn, perfect):
    read = corpora.read(CORE / "fixtures", include_holdout=True)
    gold, hidden = golds.read(read, CORE / "gold"), hidden_names(read, SEED)
    names = {hidden[f.fixture_id]: f for f in read.fixtures}
    quoted, astray = perfect("Bela"), perfect("Bela")
    changed = 0
    for name, labels in quoted["labels"].items():
        turns = {e.event_id: e.text for e in names[name].events if isinstance(e, Turn)}
        for probe in gold[names[name].fixture_id].probes:
            facts = {f.event_id for f in names[name].scripted_facts if says(f.fact, probe.match_keywords)}
            if probe.channel == "stored_only" and not says(turns[min(facts)], probe.match_keywords):
                labels["answers"][str(probe.after_event)] = turns[min(facts)]
                astray["labels"][name]["answers"][str(probe.after_event)] = turns[probe.after_event]
                changed += 1
    assert changed
    assert agreed(drawn, perfect("Ana"), quoted)["disagreements"] == []
    assert len(agreed(drawn, perfect("Ana"), astray)["disagreements"]) == changed


def test_a_missing_label_is_named(drawn, perfect):
    odd = perfect("Bela")
    name = next(f["id"] for f in drawn["fixtures"] if f["turns"])
    gone = next(iter(odd["labels"][name]["turns"]))
    del odd["labels"][name]["turns"][gone]
    with pytest.raises(IncompatibleError, match=f"Bela: labels.{name}.turns.{gone}: missing"):
        agreed(drawn, perfect("Ana"), odd)


@pytest.mark.parametrize("names", [("Ana", "Ana"), ("Ana",), ("gold", "Ana"), ("", "Ana")])
def test_two_labellers_with_names_of_their_own_are_needed(drawn, perfect, names):
    with pytest.raises(IncompatibleError, match="two labellers"):
        agreed(drawn, *map(perfect, names))


def test_a_sheet_of_another_state_of_the_corpus_is_refused(drawn, perfect):
    with pytest.raises(IncompatibleError, match=r"sheet.json: fixtures_hash: made from another state"):
        agreed(drawn | {"fixtures_hash": "0" * 64}, perfect("Ana"), perfect("Bela"))


@pytest.mark.parametrize(
    ("data", "why"),
    [(b"{", "a.json: "), (b'{"schema_version": 1, "labeller": "A", "labels": {"x": {"turn": {}}}}', "turn")],
)
def test_a_file_that_is_no_labels_is_named_with_its_field(data: bytes, why: str):
    with pytest.raises(IncompatibleError, match=why):
        read_labels(data, "a.json")


@pytest.mark.parametrize("share", [0, -1, 1.1])
def test_a_share_that_is_none_is_refused(share: float):
    with pytest.raises(UsageError, match="--share"):
        sheet(CORE / "fixtures", CORE / "gold", corpus="core", share=share, seed=1)


def test_kappa_of_a_counted_table():
    """Two raters, 50 items: 20 both yes, 15 both no, 5 and 10 apart: po .70, pe .50, kappa .40."""
    pairs = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    kappa, low, high = cohen_kappa(pairs) or (0.0, 0.0, 0.0)
    assert kappa == pytest.approx(0.4)
    assert (low, high) == pytest.approx((0.146, 0.654), abs=0.001)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc")), min_size=1, max_size=60))
def test_kappa_is_at_most_one_the_same_both_ways_and_within_its_bounds(pairs):
    both = cohen_kappa(pairs), cohen_kappa([(b, a) for a, b in pairs])
    if both[0] is None or both[1] is None:
        assert both == (None, None)
        return
    assert both[0] == pytest.approx(both[1])
    assert -1 <= both[0][1] <= both[0][0] <= both[0][2] <= 1
    if all(a == b for a, b in pairs):
        assert both[0][0] == 1


def test_the_two_commands_draw_compare_and_end_with_one_while_something_is_blocked(tmp_path, perfect):
    run = CliRunner().invoke
    place = str(tmp_path / "sheet.json")
    drawn = run(main, ["labels", "sheet", "--seed", str(SEED), "--out", place])
    assert drawn.exit_code == 0, drawn.output
    unclear = run(main, ["labels", "sheet", "--more", "typed", "--seed", "1", "--out", str(tmp_path / "no.json")])
    assert (unclear.exit_code, (tmp_path / "no.json").exists()) == (2, False)
    assert "'typed' is no CATEGORY=SHARE" in unclear.output
    files = []
    for name in ("Ana", "Bela"):
        files.append(str(tmp_path / f"{name}.json"))
        labels = perfect(name)
        if name == "Bela":
            for one in labels["labels"].values():
                one["turns"] = {event: {"retrieve": "may"} for event in one["turns"]}
        Path(files[-1]).write_text(json.dumps(labels))
    out = tmp_path / "validation.json"
    told = run(main, ["labels", "agree", "--sheet", place, "--out", str(out), *files])
    assert told.exit_code == 1, told.output
    assert "disagree: core-direct-" in told.output
    assert "blocked: " in told.output
    assert json.loads(out.read_text())["labellers"] == ["Ana", "Bela"]
    same = run(main, ["labels", "agree", "--sheet", place, files[0], files[0]])
    assert same.exit_code == 2
