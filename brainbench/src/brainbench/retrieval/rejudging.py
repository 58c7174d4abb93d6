"""A report read back: do its numbers follow from its cases, and what are they at other cut-offs?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from brainbench.datasets.sets import sha256_of
from brainbench.errors import IncompatibleError
from brainbench.evidence.committed import bytes_of
from brainbench.metrics.ranking import DEFINITIONS_VERSION, definitions_sha256
from brainbench.report.wording import clean
from brainbench.retrieval.judging import Summary, case_scores, summary, verdict
from brainbench.retrieval.results import CaseResult
from brainbench.retrieval.telling import SCHEMAS, STATUS, numbers

_FIELDS: Mapping[str, type] = {
    "suite": str,
    "headline": str,
    "k_values": list,
    "case_results": list,
    "sut": dict,
    "dataset": dict,
    "granularity": str,
}


@dataclass(frozen=True, slots=True)
class Rejudged:
    """A report, its digest, and what follows from its cases now; `mismatches` are numbers that it states otherwise."""

    report: Mapping[str, Any]
    digest: str
    ks: tuple[int, ...]
    cases: tuple[CaseResult, ...]
    found: Summary
    mismatches: tuple[str, ...]


def rejudge(path: Path, ks: Sequence[int] = ()) -> Rejudged:
    """The report judged again, at its own cut-offs or others. IncompatibleError for what is no such report."""
    content = bytes_of(path)
    report, cases = _read(path, content)
    own = tuple(report["k_values"])
    wanted = tuple(sorted(set(ks))) or own
    return Rejudged(
        report=report,
        digest=sha256_of(content),
        ks=wanted,
        cases=cases,
        found=_summary(report, cases, wanted),
        mismatches=tuple(_mismatches(report, cases, own)),
    )


def rejudged_document(done: Rejudged) -> dict[str, object]:
    """A new report that names the one it was made from."""
    judged, reasons = verdict(done.found)
    return {
        **done.report,
        "status": STATUS[judged],
        "reasons": [{"reason": str(reason), "text": text} for reason, text in reasons],
        "generated_at": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "parent": done.digest,
        "k_values": list(done.ks),
        **numbers(done.found),
        "case_results": [
            {**written, "metrics": case_scores(case, done.ks)}
            for written, case in zip(done.report["case_results"], done.cases, strict=True)
        ],
    }


def _read(path: Path, content: bytes) -> tuple[Mapping[str, Any], tuple[CaseResult, ...]]:
    try:
        report = msgspec.json.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise IncompatibleError(f"{path}: is no JSON: {error}; name a report of longmemeval or locomo") from None
    if not isinstance(report, dict) or report.get("schema_version") not in SCHEMAS.values():
        raise IncompatibleError(f"{path}: schema_version: is none of {', '.join(SCHEMAS.values())}; name such a report")
    for field, kind in _FIELDS.items():
        if not isinstance(report.get(field), kind):
            raise IncompatibleError(f"{path}: {field}: is missing or of another type; the report was changed")
    if report.get("metric_definitions_sha256") != definitions_sha256():
        raise IncompatibleError(
            f"{path}: metric_definitions_sha256: is not that of the metrics of this brainbench (version"
            f" {DEFINITIONS_VERSION}), so that its numbers cannot be held against its cases; measure again, or judge it"
            " with the release that wrote it"
        )
    try:
        cases = msgspec.convert(report["case_results"], tuple[CaseResult, ...])
        ks = msgspec.convert(report["k_values"], list[int])
        _summary(report, cases, ks)
    except ValueError as error:
        raise IncompatibleError(f"{path}: case_results: {error}; the report was changed") from None
    except KeyError as error:
        raise IncompatibleError(f"{path}: case_results: {error} is missing; the report was changed") from None
    return report, cases


def _summary(report: Mapping[str, Any], cases: Sequence[CaseResult], ks: Sequence[int]) -> Summary:
    return summary(cases, ks, report["headline"], clusters=report["suite"] == "locomo")


def _mismatches(report: Mapping[str, Any], cases: Sequence[CaseResult], ks: Sequence[int]) -> Iterator[str]:
    """Each number that the report states and its cases do not."""
    found = _summary(report, cases, ks)
    for name, value in msgspec.to_builtins(numbers(found)).items():
        yield from _differences(name, report.get(name), value)
    for place, (written, case) in enumerate(zip(report["case_results"], cases, strict=True)):
        yield from _differences(f"case_results[{place}].metrics", written.get("metrics"), case_scores(case, ks))
        graded = sorted(name for name, grade in case.relevance_grades.items() if grade > 0)
        yield from _differences(f"case_results[{place}].expected_ids", sorted(case.expected_ids), graded)
    yield from _differences("status", report.get("status"), STATUS[verdict(found)[0]])
    counts = report.get("counts")
    stated = counts if isinstance(counts, dict) else {}
    yield from _differences("counts.asked", stated.get("asked"), len(cases))
    yield from _differences("counts.errors", stated.get("errors"), found.errors.n)


def _differences(where: str, stated: Any, follows: Any) -> Iterator[str]:
    if isinstance(follows, dict) and isinstance(stated, dict):
        for name in {**stated, **follows}:
            yield from _differences(f"{where}.{name}", stated.get(name), follows.get(name))
    elif stated != follows and not _near(stated, follows):
        yield f"{clean(where)}: states {clean(_short(stated))}, and {clean(_short(follows))} follows from the cases"


def _near(stated: Any, follows: Any) -> bool:
    """Whether they differ by no more than another order of adding up would make."""
    if isinstance(stated, list) and isinstance(follows, list | tuple):
        return len(stated) == len(follows) and all(a == b or _near(a, b) for a, b in zip(stated, follows, strict=True))
    numeric = isinstance(stated, int | float) and isinstance(follows, int | float)
    return numeric and not isinstance(stated, bool) and abs(stated - follows) <= 1e-9


def _short(value: Any) -> str:
    told = str(value)
    return told if len(told) <= 40 else f"{told[:39]}…"
