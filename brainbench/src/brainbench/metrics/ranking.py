"""How well a ranking finds what is gold: pure functions of a ranking, its gold grades and a cut-off.

A ranking is read without repeats, the first of each kept. A grade above 0 is gold. Manning, Raghavan and Schütze,
2008, chapter 8; the gain of nDCG is the grade itself (Järvelin and Kekäläinen, 2002).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import rfc8785

Grades = Mapping[str, float]
DEFINITIONS_VERSION = "1"
"""Rises with any change of what a name in RANKING means."""


@dataclass(frozen=True, slots=True)
class RankingMetric:
    """A metric of one ranking: `measure` takes the ranking without repeats, the gold grades and k.

    `share` says that it is 0 or 1, so that its mean is a count of cases. One that is not `cut` looks at all ranks.
    """

    name: str
    formula: str
    measure: Callable[[Sequence[str], Grades, int], float]
    cut: bool = True
    share: bool = False

    def at(self, k: int) -> str:
        """Its name with the cut-off.

        >>> RANKING["hit"].at(5), RANKING["mrr"].at(5)
        ('hit@5', 'mrr')
        """
        return f"{self.name}@{k}" if self.cut else self.name


def hit(ranking: Sequence[str], grades: Grades, k: int) -> float:
    """1 if any of the first k is gold."""
    return float(any(_grade(grades, found) > 0 for found in ranking[:k]))


def recall(ranking: Sequence[str], grades: Grades, k: int) -> float:
    """The share of what is gold that is among the first k."""
    return _found(ranking, grades, k) / _gold(grades)


def recall_all(ranking: Sequence[str], grades: Grades, k: int) -> float:
    """1 if all that is gold is among the first k."""
    return float(_found(ranking, grades, k) == _gold(grades))


def precision(ranking: Sequence[str], grades: Grades, k: int) -> float:
    """The share of k ranks that hold gold, however many there are."""
    return _found(ranking, grades, k) / k


def mrr(ranking: Sequence[str], grades: Grades, k: int) -> float:
    """1 / the rank of the first gold one, 0 without any; k is not looked at."""
    return next((1 / rank for rank, found in enumerate(ranking, 1) if _grade(grades, found) > 0), 0.0)


def ndcg(ranking: Sequence[str], grades: Grades, k: int) -> float:
    """The grades of the first k, each divided by log2(rank + 1), over the same sum for the best possible ranking."""
    return _gain(ranking, grades, k, lambda rank: math.log2(rank + 1))


def ndcg_lme(ranking: Sequence[str], grades: Grades, k: int) -> float:
    """nDCG with the discount that LongMemEval's own evaluation uses: 1 at rank 1, then log2(rank)."""
    return _gain(ranking, grades, k, lambda rank: math.log2(rank) if rank > 1 else 1.0)


RANKING: Mapping[str, RankingMetric] = {
    metric.name: metric
    for metric in (
        RankingMetric("hit", "1 if any of the first k is gold, else 0", hit, share=True),
        RankingMetric("recall", "gold among the first k / gold", recall),
        RankingMetric("recall_all", "1 if all gold is among the first k, else 0", recall_all, share=True),
        RankingMetric("precision", "gold among the first k / k", precision),
        RankingMetric("mrr", "1 / rank of the first gold one, else 0", mrr, cut=False),
        RankingMetric("ndcg", "sum of grade / log2(rank + 1) over the first k / that of the best ranking", ndcg),
        RankingMetric(
            "ndcg_lme",
            "sum of grade / discount over the first k / that of the best ranking; discount 1, then log2(rank)",
            ndcg_lme,
        ),
    )
}
"""Every metric of a ranking; all are told together, and none is called recall alone."""


def scores(ranking: Iterable[str], grades: Grades, ks: Sequence[int]) -> dict[str, float]:
    """Every metric at every k by its name. ValueError where nothing is gold or a grade or k makes no sense.

    >>> scores(["a", "b"], {"b": 1}, [1])["mrr"]
    0.5
    """
    _check(grades, ks)
    kept = tuple(dict.fromkeys(ranking))
    return {metric.at(k): metric.measure(kept, grades, k) for metric in RANKING.values() for k in ks}


def ceilings(grades: Grades, ks: Sequence[int]) -> dict[str, float]:
    """What the best possible ranking would score: below 1 where there is more gold than ranks."""
    return scores(sorted(grades, key=lambda name: -grades[name]), grades, ks)


def definitions_sha256() -> str:
    """The digest of what the names in RANKING mean."""
    table = [
        {
            "name": metric.name,
            "formula": metric.formula,
            "unit": "share",
            "direction": "higher",
            "denominator": "asked cases",
        }
        for metric in RANKING.values()
    ]
    return f"sha256:{hashlib.sha256(rfc8785.dumps(table)).hexdigest()}"


def _check(grades: Grades, ks: Sequence[int]) -> None:
    if not all(math.isfinite(grade) and grade >= 0 for grade in grades.values()):
        raise ValueError("a grade is below 0 or no number")
    if not any(grade > 0 for grade in grades.values()):
        raise ValueError("nothing is gold: there is nothing to find")
    if not ks or min(ks) < 1:
        raise ValueError("k must be 1 or more")


def _grade(grades: Grades, name: str) -> float:
    return grades.get(name, 0.0)


def _found(ranking: Sequence[str], grades: Grades, k: int) -> int:
    return sum(_grade(grades, found) > 0 for found in ranking[:k])


def _gold(grades: Grades) -> int:
    return sum(grade > 0 for grade in grades.values())


def _gain(ranking: Sequence[str], grades: Grades, k: int, discount: Callable[[int], float]) -> float:
    best = sorted(grades.values(), reverse=True)[:k]
    gained = math.fsum(_grade(grades, found) / discount(rank) for rank, found in enumerate(ranking[:k], 1))
    return gained / math.fsum(grade / discount(rank) for rank, grade in enumerate(best, 1))
