"""Verdicts over questions that were asked again: against what they brought then, or against what they should bring."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from brainbench.errors import verdict_line
from brainbench.evidence.outcome import EXIT_CODES, Reason, Verdict
from brainbench.metrics import Ratio, counts, four_decimals
from brainbench.queries.files import Thresholds
from brainbench.queries.qrels import Correctness
from brainbench.queries.replaying import Replay

MOST_ERRORS = Fraction(2, 100)
RECALL, FIRST_RELEVANT, EXPECTED_TOP1 = Fraction(70, 100), Fraction(60, 100), Fraction(50, 100)
"""What answers must reach on questions with right pages."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, its reasons, and what is worth saying besides."""

    verdict: Verdict
    reasons: tuple[tuple[Reason, str], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.verdict]

    def lines(self) -> tuple[str, ...]:
        """One line a reason or note, for standard error."""
        told = [verdict_line(self.verdict, reason, text) for reason, text in self.reasons]
        return (*told, *(f"brainbench: note: {note}" for note in self.notes))


def trusted(replay: Replay) -> Judgement:
    """Whether the replay measured anything: inconclusive when nothing was asked or too much went wrong."""
    skipped = ", ".join(f"{count}: {reason}" for reason, count in replay.skipped.items())
    return _trusted(replay.errors, f"none of {replay.rows_total} rows could be asked again ({skipped})", _error(replay))


def regression(replay: Replay, limits: Thresholds, *, latency_blocks: bool = False) -> Judgement:
    """Whether the pages, the first page and (if it blocks) the latency are near enough to what they were."""
    judged = trusted(replay)
    if judged.verdict != "pass" or replay.mean_jaccard is None or replay.same_first is None:
        return judged
    if replay.mean_jaccard_of_found is None:
        return Judgement(
            "inconclusive", ((Reason.NO_CASES, f"none of {len(replay.asked)} rows found a page, then or now"),)
        )
    reasons: list[tuple[Reason, str]] = []
    notes: list[str] = []
    if replay.both_empty * 2 > len(replay.asked):
        said = f"{replay.both_empty}/{len(replay.asked)} rows found nothing then and now and count as the same"
        notes.append(f"{said}; mean_jaccard of the others is {four_decimals(replay.mean_jaccard_of_found)}")
    if replay.mean_jaccard < _exact(limits.jaccard):
        said = f"mean_jaccard {four_decimals(replay.mean_jaccard)} of {len(replay.asked)} rows"
        reasons.append((Reason.THRESHOLD, f"{said} is below {limits.jaccard}"))
    if replay.same_first.value < _exact(limits.top1):
        reasons.append((Reason.THRESHOLD, f"top1_stability_rate {_told(replay.same_first)} is below {limits.top1}"))
    if slower := _slower(replay, limits.latency_multiplier):
        if latency_blocks:
            reasons.append((Reason.THRESHOLD, slower))
        else:
            notes.append(f"{slower}; this machine or its load may be why (--latency-blocks makes it fail)")
    return Judgement("fail" if reasons else "pass", tuple(reasons), tuple(notes))


def correctness(found: Correctness) -> Judgement:
    """Whether the right pages come, and come first."""
    error = next((judged.error for judged in found.judged if judged.error is not None), "")
    judged = _trusted(found.errors, "no question was asked", error)
    if judged.verdict != "pass":
        return judged
    reasons = tuple((Reason.THRESHOLD, text) for text in _below(found))
    notes = (
        () if found.expected_top1 is not None else ("expected_top1 is not measured: no question names a first page",)
    )
    return Judgement("fail" if reasons else "pass", reasons, notes)


def _below(found: Correctness) -> Iterator[str]:
    if found.recall is not None and found.recall < RECALL:
        said = f"recall@{found.k} {four_decimals(found.recall)} of {len(found.judged)} questions"
        yield f"{said} is below {four_decimals(RECALL)}"
    for name, measured, least in (
        ("first_relevant", found.first_relevant, FIRST_RELEVANT),
        ("expected_top1", found.expected_top1, EXPECTED_TOP1),
    ):
        if measured is not None and measured.value < least:
            yield f"{name} {_told(measured)} is below {four_decimals(least)}"


def _trusted(errors: Ratio | None, nothing: str, error: str) -> Judgement:
    if errors is None or errors.n == errors.of:
        why = nothing if errors is None else f"all {errors.of} questions ended in an error, such as: {error}"
        return Judgement("inconclusive", ((Reason.NO_CASES, why),))
    if errors.value > MOST_ERRORS:
        why = f"{_told(errors)} ended in an error, more than 2 %, such as: {error}"
        return Judgement("inconclusive", ((Reason.ERROR_SHARE, why),))
    return Judgement("pass")


def _error(replay: Replay) -> str:
    return next((asked.error for asked in replay.asked if asked.error is not None), "")


def _slower(replay: Replay, multiplier: float) -> str | None:
    """What is too slow, if it is; nothing can be said where no latency was recorded."""
    means = replay.mean_latency_ms
    if means is None or means[0] <= 0 or means[1] / means[0] <= multiplier:
        return None
    then, now = means
    return f"latency {now:.1f} ms is {now / then:.2f} times the {then:.1f} ms of the baseline, more than {multiplier}"


def _told(measured: Ratio) -> str:
    return f"{counts(measured)} ({four_decimals(measured.value)})"


def _exact(limit: float) -> Fraction:
    """The threshold as it was written: 0.85 is 17/20, not the nearest binary number."""
    return Fraction(Decimal(repr(limit)))
