"""A closer look at the first hits."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from wellkept.errors import ModelUnavailable
from wellkept.model import Hit, Trust
from wellkept.recall.rerank import LOOKED_AT, reranked

HITS = tuple(Hit("s", f"n/{n}", "", f"text {n}", 1 / (n + 1), n + 1, Trust.USER_WRITTEN) for n in range(LOOKED_AT + 5))


class Answers:
    def __init__(self, scores: Sequence[float], wait_s: float = 0.0, *, fails: Exception | None = None) -> None:
        self.scores, self.wait_s, self.fails = scores, wait_s, fails
        self.seen: Sequence[str] = ()

    def rank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        self.seen = texts
        time.sleep(self.wait_s)
        if self.fails:
            raise self.fails
        return self.scores


@pytest.mark.req("E-605")
def test_the_first_hits_come_in_the_rerankers_order_and_the_rest_stays() -> None:
    answers = Answers([float(n) for n in range(LOOKED_AT)])
    hits, failed = reranked(answers, "q", HITS)
    assert failed == ()
    assert len(answers.seen) == LOOKED_AT
    assert [hit.slug for hit in hits] == [hit.slug for hit in (*HITS[:LOOKED_AT][::-1], *HITS[LOOKED_AT:])]
    assert [hit.rank for hit in hits] == [hit.rank for hit in HITS]
    assert [hit.score for hit in hits] == [hit.score for hit in HITS]
    assert (hits[0].lanes[-1].lane, hits[0].lanes[-1].score) == ("rerank", LOOKED_AT - 1)


def test_equal_scores_keep_the_order() -> None:
    hits, _ = reranked(Answers([0.5] * LOOKED_AT), "q", HITS)
    assert [hit.slug for hit in hits] == [hit.slug for hit in HITS]


@pytest.mark.req("E-605")
@pytest.mark.parametrize(
    ("answers", "code"),
    [
        (Answers([], fails=ModelUnavailable("x", "it is off")), "rerank_failed"),
        (Answers([], fails=ValueError("a fault of its own")), "rerank_failed"),
        (Answers([1.0]), "rerank_failed"),
        (Answers([float("nan")] * LOOKED_AT), "rerank_failed"),
        (Answers([1.0] * LOOKED_AT, wait_s=0.5), "rerank_timeout"),
    ],
)
def test_a_reranker_that_fails_leaves_the_order_and_is_reported(answers: Answers, code: str) -> None:
    assert reranked(answers, "q", HITS, wait_s=0.05 if answers.wait_s else 5.0) == (HITS, (code,))
