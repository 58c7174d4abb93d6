"""What was found, for a terminal and as the report that holds all of it."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from brainbench import __version__
from brainbench.evidence import repository
from brainbench.evidence.outcome import Verdict
from brainbench.metrics import Mean, Ratio, counts, counts_json, four_decimals
from brainbench.metrics.ranking import DEFINITIONS_VERSION, RANKING, definitions_sha256
from brainbench.report.wording import clean
from brainbench.retrieval.judging import Row, Summary, case_scores, summary, verdict
from brainbench.retrieval.layout import BOTH, USERS, Choice
from brainbench.retrieval.results import CaseResult
from brainbench.retrieval.running import Measured
from brainbench.systems import SYSTEMS

SCHEMAS: Mapping[str, str] = {"longmemeval": "longmemeval-offline-v2", "locomo": "locomo-offline-v1"}
STATUS: Mapping[Verdict, str] = {"pass": "scored", "fail": "invalid", "inconclusive": "invalid"}
SUPPORTS = ("directional comparison of retrieval that is labelled offline",)
DOES_NOT_SHOW = ("production latency", "live quality", "quality of answers")
RUNS = Path(".brainbench/runs")
LATER = 0.5
"""Up to which share of its cost writing is told apart from what the memory does later."""
"""Where reports go in a checkout."""
_ODD = re.compile(r"[^\w.-]+")
_TOLD = ("hit", "recall", "recall_all", "ndcg", "ndcg_lme", "mrr")
_WRITTEN = {USERS: "user turns only", BOTH: "user and assistant turns"}
_WIDEST = 28


def usual_place(suite: str, label: str, top: Path | None) -> Path | None:
    """A file in a checkout that is not there yet; None outside one."""
    if top is None:
        return None
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    name = "_".join((suite, *([_ODD.sub("-", label)[:60]] if label else []), stamp))
    places = (top / RUNS / f"{name}{again}.json" for again in ("", *(f"-{n}" for n in range(2, 1000))))
    return next(place for place in places if not place.exists())


def results_at_hand(top: Path | None) -> tuple[Path, ...]:
    """Where a checkout keeps results, in which gold stands too."""
    return (top / ".brainbench", top / "evidence") if top else ()


def summary_of(done: Measured) -> Summary:
    """What follows from the cases of a run."""
    return summary(done.cases, done.choice.ks, done.questions.headline, clusters=done.choice.suite == "locomo")


def document(done: Measured, found: Summary) -> dict[str, object]:
    """The whole run as JSON: every number in it follows from `case_results`."""
    choice, questions = done.choice, done.questions
    judged, reasons = verdict(found)
    ours = _is_ours(choice.system)
    here = Path(__file__).parent
    return {
        "schema_version": SCHEMAS[choice.suite],
        "suite": choice.suite,
        "suite_version": "1",
        "status": STATUS[judged],
        "reasons": [{"reason": str(reason), "text": text} for reason, text in reasons],
        "generated_at": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "label": choice.label,
        "command": list(choice.command),
        "bench": {"version": __version__, "commit": repository.head(here), "dirty": repository.is_dirty(here)},
        "sut": {
            "name": choice.system,
            "version": done.traits.version or None,
            "commit": repository.head(here) if ours else None,
            "dirty": repository.is_dirty(here) if ours else None,
            "api_version": None,
            "conflict_of_interest": ours,
        },
        "runtime": _runtime(done),
        "mode": choice.mode,
        "granularity": choice.granularity,
        "k_values": list(choice.ks),
        "dataset": {
            "name": questions.name,
            "version": questions.version or None,
            "split": None,
            "corpus_hash": questions.sha256,
            "published": questions.published,
            "licence": questions.licence,
            "text_policy": choice.policy,
            "preprocessing": _preprocessing(done),
            "total_entries": len(questions.questions),
            "evaluated_entries": len(done.cases),
            "excluded": [{"reason": reason, "count": count} for reason, count in done.excluded.items()],
            "limit": choice.limit,
            "sample": choice.sample,
            "errata": None,
            "notes": list(questions.notes),
        },
        "total_questions": len(done.cases),
        "metric_definitions_version": DEFINITIONS_VERSION,
        "metric_definitions_sha256": definitions_sha256(),
        "repeat_count": 1,
        "seed": choice.seed,
        "auth_manifest_id": "not-applicable:offline",
        "seed_manifest_id": None,
        "env": {"python": platform.python_version(), "system": platform.system(), "machine": platform.machine()},
        "counts": {
            "asked": len(done.cases),
            "scored": len(done.cases) - found.errors.n,
            "errors": found.errors.n,
            "left_out": dict(found.left_out),
        },
        "claim_boundary": {"supports": list(SUPPORTS), "does_not_show": list(DOES_NOT_SHOW)},
        **numbers(found),
        "elapsed_seconds": round(done.elapsed_seconds, 1),
        "cpu_seconds": round(done.cpu_seconds, 1),
        "load_average": round(done.load, 2),
        "attempts": msgspec.to_builtins(done.attempts),
        "case_results": [_case(case, choice) for case in done.cases],
    }


def numbers(found: Summary) -> dict[str, object]:
    """All that follows from the cases alone."""
    return {
        "headline": found.overall[0].name,
        "overall": {row.name: _row(row) for row in found.overall},
        "per_type": {row.name: _row(row) for row in found.kinds},
        "per_slice": {"question_type": {row.name: _row(row) for row in found.kinds_of_all}},
        "statistics": {
            name: {"interval": [interval.low, interval.high], "method": interval.method, "mde": interval.mde}
            for name, interval in found.intervals.items()
        },
        "latency": msgspec.to_builtins(found.latency),
    }


def _is_ours(system: str) -> bool:
    """Whether the memory, in whatever mode, is by the authors of the bench."""
    return system == "wellkept" or (system in SYSTEMS and system.startswith("wellkept-"))


def text(done: Measured, found: Summary) -> Iterator[str]:
    """The run for a person: what was asked, every metric at each k, and what the numbers do not say."""
    choice, questions = done.choice, done.questions
    yield f"{questions.name}  {_laid_out(choice)}"
    ours = "; by the authors of this bench" if _is_ours(choice.system) else ""
    yield f"system   {clean(choice.system)} {clean(done.traits.version)}, {_written_by(done)}{ours}"
    told = f"{len(done.cases)} of {len(questions.questions)} questions"
    yield f"asked    {told}, errors {found.errors.n}/{found.errors.of}"
    for reason, count in done.excluded.items():
        yield f"excluded {count}: {reason}"
    if found.left_out:
        told = ", ".join(f"{count} {reason}" for reason, count in found.left_out.items())
        yield f"left out of {questions.headline}: {told}"
    if not questions.published:
        yield f"dataset  not the published file: {questions.sha256[:23]}…"
    yield from (f"note     {note}" for note in questions.notes)
    yield from tables(found, choice.ks)
    if ingest := _ingest(done.cases):
        yield ingest
    yield f"cost     {done.elapsed_seconds:.0f} s, {done.cpu_seconds:.0f} CPU-seconds, load {done.load:.1f}"
    yield f"offline  supports {', '.join(SUPPORTS)}"
    yield f"         does not show {', '.join(DOES_NOT_SHOW)}"


def rejudged_text(report: Mapping[str, Any], found: Summary, ks: Sequence[int]) -> Iterator[str]:
    """A report that was judged again, for a person."""
    told = report["sut"].get("name"), report["sut"].get("version")
    yield f"{clean(report['dataset'].get('name'))}  by {clean(report['granularity'])}, judged again from its cases"
    yield f"system   {' '.join(clean(part) for part in told if part)}"
    yield f"asked    {found.errors.of} questions, errors {found.errors.n}/{found.errors.of}"
    if not report["dataset"].get("published"):
        yield "dataset  not the published file"
    yield from tables(found, ks)


def tables(found: Summary, ks: Sequence[int]) -> Iterator[str]:
    """Every metric at each k, intervals and latency."""
    for k in ks:
        yield ""
        yield from _table(found, k)
    if found.kinds_left_out:
        yield f"* none of these is in {clean(found.overall[0].name)}"
    yield ""
    yield from _intervals(found)
    if found.latency is not None:
        p95 = "not measured" if found.latency.p95_ms is None else f"{found.latency.p95_ms:.1f} ms"
        yield f"search   p50 {found.latency.p50_ms:.1f} ms, p95 {p95}, {found.latency.n} searches on this machine"


def _laid_out(choice: Choice) -> str:
    where = "each conversation by itself" if choice.suite == "locomo" else "own haystack of each question"
    return f"by {choice.granularity}, {_WRITTEN[choice.policy]}, {where}"


def _written_by(done: Measured) -> str:
    return "keeps conversations" if "conversation_write" in done.traits.can else "keeps pages"


def _table(found: Summary, k: int) -> Iterator[str]:
    names = [RANKING[name].at(k) for name in _TOLD]
    widths = [max(len(name), 6) for name in names]
    yield "  ".join((" " * _WIDEST, "   n", *(name.rjust(width) for name, width in zip(names, widths, strict=True))))
    for row in (*found.overall, *found.kinds):
        cells = [four_decimals(row.measured[name].value) for name in names]
        mark = " *" if row.name in found.kinds_left_out else ""
        yield _line(clean(row.name, _WIDEST - 2) + mark, row.cases, cells, widths)
        if row is found.overall[0]:
            best = [four_decimals(row.ceilings[name]) for name in names]
            yield _line("  the best possible", row.cases, best, widths)


def _line(name: str, cases: int, cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
    return "  ".join((name.ljust(_WIDEST), f"{cases:4}", *padded))


def _intervals(found: Summary) -> Iterator[str]:
    for name, interval in found.intervals.items():
        mde = f", shows differences from {interval.mde:.3f}" if (interval.mde or 1) < 1 else ""
        between = f"{four_decimals(interval.low)} to {four_decimals(interval.high)}"
        yield f"{name.ljust(14)} {counts(found.overall[0].measured[name])}, 95 % {between} ({interval.method}{mde})"


def _ingest(cases: Sequence[CaseResult]) -> str | None:
    """How long a haystack takes to be written, by its questions; and until it was written, where more came later."""
    wall, cpu, written = (_median(cases, name) for name in ("ingest_ms", "ingest_cpu_ms", "written_cpu_ms"))
    if wall is None or cpu is None:
        return None
    told = f"writing  a haystack takes {wall / 1000:.2f} s, {cpu / 1000:.2f} CPU-seconds in the worker (median)"
    if written is None or written >= LATER * cpu:
        return told
    return f"{told}; {written / 1000:.2f} until all of it is written, the rest is left for later"


def _median(cases: Sequence[CaseResult], name: str) -> float | None:
    told = sorted(ms for case in cases if case.error is None and (ms := case.usage.get(name)))
    return told[len(told) // 2] if told else None


def _runtime(done: Measured) -> dict[str, object]:
    """What runs: null is what a system behind an adapter does not state."""
    return {
        "runtime_mode": "in-process" if done.choice.system in SYSTEMS else "offline",
        "store": None,
        "graph_engine": "none",
        "retrieval_mode": None if done.choice.mode == "system" else done.choice.mode,
        "embedding_provider": None,
        "embedding_model": None,
        "embedding_dimensions": None,
        "index": {},
        "written_by": _written_by(done),
        "timeouts": {"haystack_seconds": done.choice.haystack_seconds},
        "jobs": done.choice.jobs,
    }


def _preprocessing(done: Measured) -> str:
    choice = done.choice
    split = choice.granularity == "turn" and not done.traits.tells_turns
    unit = "each turn by itself" if split else "each session whole"
    return f"{unit}, in the order of time; turns without text are not written"


def _row(row: Row) -> dict[str, object]:
    return {
        "cases": row.cases,
        "metrics": {name: _value(measured) for name, measured in row.measured.items()},
        "ceilings": dict(row.ceilings),
    }


def _value(measured: Ratio | Mean) -> dict[str, float]:
    return {**counts_json(measured), "value": float(measured.value)}


def _case(case: CaseResult, choice: Choice) -> dict[str, object]:
    """A case with its own metrics; those of its names that are known by others too."""
    told: dict[str, Any] = msgspec.to_builtins(case)
    written = told.pop("written")
    ranked = {"ranked_session_ids": told["ranked_ids"]} if choice.granularity == "session" else {}
    return {**told, **written, **ranked, "metrics": case_scores(case, choice.ks), "http_status": None}
