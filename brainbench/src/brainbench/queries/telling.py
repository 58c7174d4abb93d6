"""What was found, for a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction

from brainbench.metrics import Ratio, counts, counts_json, four_decimals
from brainbench.queries.files import QueryBaseline
from brainbench.queries.judging import Judgement
from brainbench.queries.qrels import Correctness, Judged
from brainbench.queries.replaying import SLOW, Asked, Replay
from brainbench.report.wording import clean

_SHOWN_PAGES = 5


def questions(count: int) -> str:
    """So many questions.

    >>> questions(1), questions(2)
    ('1 question', '2 questions')
    """
    return f"{count} question{'s'[: count != 1]}"


def replay_document(replay: Replay, most: int) -> dict[str, object]:
    """The replay as JSON; null stands for what was not measured."""
    means = replay.mean_latency_ms
    return {
        "rows_total": replay.rows_total,
        "rows_replayed": len(replay.answered),
        "rows_skipped": replay.rows_total - len(replay.asked),
        "rows_errored": len(replay.asked) - len(replay.answered),
        "mean_jaccard": _rounded(replay.mean_jaccard),
        "top1_stability_rate": _rounded(replay.same_first.value if replay.same_first else None),
        "mean_latency_delta_ms": round(means[1] - means[0], 3) if means else None,
        f"rows_over_{SLOW}x_latency": replay.slower,
        "counts": {
            "unchanged": counts_json(replay.unchanged) if replay.unchanged else None,
            "top1_stable": counts_json(replay.same_first) if replay.same_first else None,
            "both_empty": replay.both_empty,
        },
        "mean_jaccard_of_found": _rounded(replay.mean_jaccard_of_found),
        "skipped": dict(replay.skipped),
        "regressions": [_regression(asked) for asked in replay.regressions(most)],
    }


def correctness_document(found: Correctness, most: int) -> dict[str, object]:
    """The answers to questions with right pages as JSON."""
    return {
        "k": found.k,
        "queries_total": len(found.judged),
        "queries_errored": found.errors.n if found.errors else 0,
        "recall_at_k": _rounded(found.recall),
        "first_relevant": counts_json(found.first_relevant) if found.first_relevant else None,
        "expected_top1": counts_json(found.expected_top1) if found.expected_top1 else None,
        "worst": [
            {
                "query_id": judged.qrel.query_id,
                "query": judged.qrel.query,
                "recall_at_k": _rounded(judged.recall),
                "missing": [_page(page) for page in judged.qrel.relevant if page not in judged.pages],
                "first": _page(judged.pages[0]) if judged.pages else None,
                "error": judged.error,
            }
            for judged in found.worst(most)
        ],
    }


def judgement_document(judgement: Judgement) -> Mapping[str, object]:
    """The verdict as JSON."""
    return {
        "verdict": judgement.verdict,
        "reasons": [{"reason": str(reason), "text": text} for reason, text in judgement.reasons],
        "notes": list(judgement.notes),
    }


def replay_text(replay: Replay, baseline: QueryBaseline, most: int) -> Iterator[str]:
    """The replay as lines for a person: counts first, then the rows that changed most."""
    published = clean(baseline.published_at[:10])
    yield f"baseline    {clean(baseline.label)}, {questions(len(baseline.rows))}, published {published}"
    yield f"asked       {len(replay.asked)}/{replay.rows_total}, errors {len(replay.asked) - len(replay.answered)}"
    yield from (f"skipped     {count}: {clean(reason)}" for reason, count in replay.skipped.items())
    if replay.mean_jaccard is not None:
        mean = four_decimals(replay.mean_jaccard)
        yield f"same pages  {_counted(replay.unchanged)} unchanged; mean Jaccard {mean}"
        if replay.both_empty:
            others = replay.mean_jaccard_of_found
            told = f"; mean Jaccard of the others {four_decimals(others)}" if others is not None else ""
            yield f"found none  {replay.both_empty}/{len(replay.asked)} then and now{told}"
        yield f"same first  {_counted(replay.same_first)}"
    if means := replay.mean_latency_ms:
        slower = f"{replay.slower}/{len(replay.answered)} took more than {SLOW} times as long"
        yield f"latency     {means[1]:.1f} ms on average, was {means[0]:.1f} ms; {slower}"
    if changed := replay.regressions(most):
        yield "changed most:"
        yield from map(_changed_line, changed)


def correctness_text(found: Correctness, most: int) -> Iterator[str]:
    """The answers to questions with right pages as lines for a person."""
    yield f"asked           {questions(len(found.judged))}, errors {found.errors.n if found.errors else 0}"
    if found.recall is not None:
        yield f"recall@{found.k:<9}{four_decimals(found.recall)} (mean of {questions(len(found.judged))})"
    yield f"first relevant  {_counted(found.first_relevant)}"
    yield f"expected first  {_counted(found.expected_top1)}"
    if worst := found.worst(most):
        yield "answered worst:"
        yield from map(_worst_line, worst)


def _changed_line(asked: Asked) -> str:
    row = asked.row
    said = f'  {four_decimals(asked.jaccard)}  line {row.line}  {clean(row.tool)}  "{clean(row.query, 60)}"'
    if asked.error is not None:
        return f"{said}  error: {clean(asked.error, 100)}"
    lost = [slug for slug in row.slugs if slug not in asked.slugs]
    new = [slug for slug in asked.slugs if slug not in row.slugs]
    for word, slugs in (("lost", lost), ("new", new)):
        if slugs:
            said += f"  {word} {_few(slugs)}"
    if not lost and not new:
        said += f"  first was {clean(row.slugs[0], 80)}, is {clean(asked.slugs[0], 80)}"
    return said


def _worst_line(judged: Judged) -> str:
    said = f'  {four_decimals(judged.recall)}  {clean(judged.qrel.query_id, 40)}  "{clean(judged.qrel.query, 60)}"'
    if judged.error is not None:
        return f"{said}  error: {clean(judged.error, 100)}"
    missing = [slug for source, slug in judged.qrel.relevant if (source, slug) not in judged.pages]
    first = clean(judged.pages[0][1], 80) if judged.pages else "nothing"
    return f"{said}{f'  missing {_few(missing)}' if missing else ''}  first {first}"


def _few(slugs: list[str]) -> str:
    more = f" and {len(slugs) - _SHOWN_PAGES} more" if len(slugs) > _SHOWN_PAGES else ""
    return ", ".join(clean(slug, 80) for slug in slugs[:_SHOWN_PAGES]) + more


def _regression(asked: Asked) -> dict[str, object]:
    row = asked.row
    return {
        "line": row.line,
        "query_hash": row.query_hash,
        "tool_name": row.tool,
        "query": row.query,
        "jaccard": _rounded(asked.jaccard),
        "top1": {"baseline": next(iter(row.slugs), None), "current": next(iter(asked.slugs), None)},
        "lost": [slug for slug in row.slugs if slug not in asked.slugs],
        "new": [slug for slug in asked.slugs if slug not in row.slugs],
        "error": asked.error,
    }


def _counted(measured: Ratio | None) -> str:
    return f"{counts(measured)} ({four_decimals(measured.value)})" if measured else "not measured"


def _page(page: tuple[str, str]) -> dict[str, str]:
    return {"source_id": page[0], "slug": page[1]}


def _rounded(value: Fraction | None) -> float | None:
    return None if value is None else float(four_decimals(value))
