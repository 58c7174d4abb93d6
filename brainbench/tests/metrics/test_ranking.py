"""Golden vectors and laws of the metrics of a ranking."""

from __future__ import annotations

import json
import math
import os
import random
from pathlib import Path

import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from brainbench.metrics.ranking import DEFINITIONS_VERSION, RANKING, ceilings, definitions_sha256, scores

FIVE = ("d1", "d2", "d3", "d4", "d5")
NAMES = ("hit", "recall", "recall_all", "mrr", "precision", "ndcg", "ndcg_lme")
DATA = Path(os.environ.get("BRAINBENCH_DATA") or Path(__file__).parents[3].parent / "shared" / "data")
PUBLISHED = DATA / "ir-golden" / "longmemeval_ranked_dev.json"
VECTORS = {
    "half of two": (("d3", "d9"), FIVE, 5, (1, 0.5, 0, 0.333333, 0.2, 0.306574, 0.315465)),
    "three of three": (("d2", "d4", "d5"), FIVE, 5, (1, 1, 1, 0.5, 0.6, 0.679731, 0.733838)),
    "three cut at three": (("d2", "d4", "d5"), FIVE, 3, (1, 0.333333, 0, 0.5, 0.333333, 0.296082, 0.380094)),
    "graded": ({"d2": 3, "d3": 1, "d8": 2}, FIVE, 5, (1, 0.666667, 0, 0.5, 0.4, 0.502491, 0.644819)),
    "nothing found": (("d1",), (), 5, (0, 0, 0, 0, 0, 0, 0)),
    "more gold than ranks": ((*FIVE, "d6"), FIVE, 5, (1, 0.833333, 0, 1, 1, 1, 1)),
    "found twice": (("d1", "d2"), ("d1", "d1", "d2"), 2, (1, 1, 1, 1, 1, 1, 1)),
}


def graded(gold: object) -> dict[str, float]:
    return dict(gold) if isinstance(gold, dict) else dict.fromkeys(gold, 1)  # type: ignore[call-overload,no-any-return]


@pytest.mark.req("E-302", "E-306")
@pytest.mark.parametrize("name", VECTORS)
def test_a_golden_vector_has_its_values(name):
    gold, ranking, k, expected = VECTORS[name]
    found = scores(ranking, graded(gold), [k])
    assert [round(found[RANKING[metric].at(k)], 6) for metric in NAMES] == list(expected)


RANKINGS = st.lists(st.sampled_from([f"d{n}" for n in range(12)]), max_size=20)
GRADES = st.dictionaries(st.sampled_from([f"d{n}" for n in range(12)]), st.integers(0, 3), min_size=1).filter(
    lambda grades: any(grades.values())
)
CUTS = st.integers(1, 15)


@pytest.mark.req("E-307")
@given(RANKINGS, GRADES, CUTS)
def test_every_metric_lies_between_none_and_all_and_below_its_ceiling(ranking, grades, k):
    best = ceilings(grades, [k])
    for name, value in scores(ranking, grades, [k]).items():
        assert 0 <= value <= 1
        assert value <= best[name] + 1e-12, name


@pytest.mark.req("E-307")
@given(RANKINGS, GRADES, CUTS)
def test_a_deeper_cut_finds_no_less_and_hit_recall_and_all_stand_in_order(ranking, grades, k):
    found = scores(ranking, grades, [k, k + 1])
    for name in ("hit", "recall", "recall_all"):
        assert found[f"{name}@{k}"] <= found[f"{name}@{k + 1}"]
    assert found[f"hit@{k}"] >= found[f"recall@{k}"] >= found[f"recall_all@{k}"]


@pytest.mark.req("E-307")
@given(RANKINGS, GRADES, CUTS, st.data())
def test_repeats_and_what_comes_after_the_cut_change_nothing(ranking, grades, k, drawn):
    found = scores(ranking, grades, [k])
    again = [name for name in ranking for _ in range(drawn.draw(st.integers(1, 3)))]
    assert scores(again, grades, [k]) == found
    assert scores([*ranking, "stranger", "another"], grades, [k]) == found


@pytest.mark.req("E-307")
@given(RANKINGS, GRADES, CUTS)
def test_it_agrees_with_the_definitions_written_out(ranking, grades, k):
    kept = list(dict.fromkeys(ranking))
    first, gold = kept[:k], {name for name, grade in grades.items() if grade}
    found = scores(ranking, grades, [k])
    assert found[f"hit@{k}"] == (not gold.isdisjoint(first))
    assert found[f"recall@{k}"] == pytest.approx(len(gold.intersection(first)) / len(gold), abs=1e-12)
    assert found[f"recall_all@{k}"] == (gold <= set(first))
    assert found[f"precision@{k}"] == pytest.approx(len(gold.intersection(first)) / k, abs=1e-12)
    ideal = sorted(grades.values(), reverse=True)[:k]
    dcg = sum(grades.get(name, 0) / math.log2(at + 2) for at, name in enumerate(first))
    assert found[f"ndcg@{k}"] == pytest.approx(dcg / sum(g / math.log2(at + 2) for at, g in enumerate(ideal)), abs=1e-9)


@pytest.mark.req("E-307")
def test_a_thousand_rankings_and_the_vectors_score_as_trec_eval_scores_them():
    drawn = random.Random(7)  # noqa: S311
    cases = [(graded(gold), list(dict.fromkeys(ranking)), k) for gold, ranking, k, _ in VECTORS.values() if ranking]
    while len(cases) < 1_000 + len(VECTORS):
        grades = {f"d{n}": drawn.choice((0, 0, 1, 1, 2, 3)) for n in range(drawn.randint(1, 30))}
        ranking = drawn.sample([f"d{n}" for n in range(40)], drawn.randint(1, 40))
        if any(grades.values()):
            cases.append((grades, ranking, drawn.choice((1, 3, 5, 10, 20))))
    theirs = {"hit": "success", "recall": "recall", "precision": "P", "ndcg": "ndcg_cut"}
    for grades, ranking, k in cases:
        asked = pytrec_eval.RelevanceEvaluator({"q": grades}, {*(f"{m}.{k}" for m in theirs.values()), "recip_rank"})
        told = asked.evaluate({"q": {name: float(-place) for place, name in enumerate(ranking)}})["q"]
        found = scores(ranking, grades, [k])
        assert found["mrr"] == pytest.approx(told["recip_rank"], abs=1e-9)
        for ours, name in theirs.items():
            assert found[f"{ours}@{k}"] == pytest.approx(told[f"{name}_{k}"], abs=1e-9), (name, grades, ranking, k)


def test_the_best_possible_ranking_reaches_the_ceiling_and_the_gain_looks_at_all_grades():
    grades = dict.fromkeys(("a", "b", "c"), 1.0)
    assert ceilings(grades, [2])["recall@2"] == pytest.approx(2 / 3)
    assert ceilings(grades, [2])["recall_all@2"] == 0
    assert ceilings(grades, [2])["ndcg@2"] == 1
    assert scores(["a"], grades, [5])["ndcg@5"] < 0.5


@pytest.mark.parametrize(
    ("grades", "ks", "reason"),
    [({}, [5], "nothing is gold"), ({"a": 0}, [5], "nothing is gold"), ({"a": 1, "b": -1}, [5], "a grade"),
     ({"a": math.nan}, [5], "a grade"), ({"a": 1}, [], "k must"), ({"a": 1}, [0], "k must")],
)  # fmt: skip
def test_what_cannot_be_scored_is_an_error_and_no_number(grades, ks, reason):
    with pytest.raises(ValueError, match=reason):
        scores(["a"], grades, ks)


@pytest.mark.req("E-301")
def test_what_the_names_mean_does_not_change_under_one_version():
    assert (DEFINITIONS_VERSION, definitions_sha256()) == (
        "1",
        "sha256:f8d4b8a9cad695889877b7792cb71a1debe656a0654c7858faaed3458a28f408",
    )


@pytest.mark.req("E-303")
def test_no_metric_is_a_bare_recall_and_hit_recall_and_all_come_together():
    names = scores(["a"], {"a": 1}, [5, 10])
    assert {f"{name}@{k}" for name in ("hit", "recall", "recall_all") for k in (5, 10)} <= set(names)
    assert not {"recall", "hit", "recall_all"} & set(names)


@pytest.mark.skipif(not PUBLISHED.exists(), reason=f"no published rankings at {PUBLISHED}; set BRAINBENCH_DATA")
def test_the_metrics_stored_with_a_published_ranking_come_out_again():
    cases = json.loads(PUBLISHED.read_text())["cases"]
    assert len(cases) == 249
    for case in cases:
        found = scores(case["ranked_session_ids"], dict.fromkeys(case["answer_session_ids"], 1), [5, 10])
        for name in ("hit@5", "recall@5", "ndcg@5", "hit@10", "recall@10", "ndcg@10"):
            assert found[name] == pytest.approx(case[name], abs=1e-6), (case["question_id"], name)
