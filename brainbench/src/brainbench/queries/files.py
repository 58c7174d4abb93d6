"""Captured questions and published baselines as files: one JSON object a line, checked before anything is done."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec

from brainbench.errors import CorpusError, Fault, NothingMeasured, UsageError
from brainbench.evidence.committed import bytes_of
from brainbench.write import check_place, to_line, write_text

SCHEMA_VERSION = 1
METADATA = "baseline_metadata"
_LARGEST: Mapping[str, float] = {"jaccard": 1, "top1": 1, "latency_multiplier": math.inf}
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Row:
    """One question as it was asked: `line` is where it stands, `written` all that stands there."""

    line: int
    tool: str
    query: str
    slugs: tuple[str, ...]
    sources: tuple[str, ...]
    detail: str | None
    latency_ms: float
    written: Mapping[str, Any]

    @property
    def query_hash(self) -> str:
        """What makes two questions the same, whatever their case and spaces."""
        return query_hash(self.query)

    @property
    def identity(self) -> tuple[str, tuple[str, ...], str]:
        """No two rows of a baseline share it."""
        return self.tool, tuple(sorted(self.sources)), self.query_hash


@dataclass(frozen=True, slots=True)
class Thresholds:
    """From where on a difference is a regression."""

    jaccard: float = 0.85
    top1: float = 0.80
    latency_multiplier: float = 2.0


@dataclass(frozen=True, slots=True)
class QueryBaseline:
    """A published set of questions with the answers they had."""

    file: str
    label: str
    published_at: str
    source_hash: str
    thresholds: Thresholds
    mean_latency_ms: float
    rows: tuple[Row, ...]


def query_hash(query: str) -> str:
    """16 hex digits of the SHA-256 of the question in lower case, its spaces collapsed.

    >>> query_hash("Tea  with Ada ") == query_hash("tea with ada")
    True
    """
    return hashlib.sha256(_SPACES.sub(" ", query.lower()).strip().encode()).hexdigest()[:16]


def source_hash(hashes: Sequence[str]) -> str:
    """The SHA-256 of the sorted hashes, one a line."""
    return hashlib.sha256("\n".join(sorted(hashes)).encode()).hexdigest()


def read_captured(path: Path) -> tuple[Row, ...]:
    """The rows of an export, in its order. CorpusError lists every fault by line and field."""
    documents, faults = _documents(path)
    rows: list[Row] = []
    for line, document in documents:
        found = [Fault(str(path), f"line {line}: {field}", reason) for field, reason in _row_faults(document)]
        if document.get("_kind") == METADATA:
            found = [Fault(str(path), f"line {line}: _kind", "this is a published baseline, not an export")]
        faults += found
        if not found:
            rows.append(_row(line, document))
    if faults:
        raise CorpusError(sorted(faults, key=_by_line))
    return tuple(rows)


def publish(
    rows: Sequence[Row], source: str, target: Path, *, label: str, thresholds: Thresholds, force: bool = False
) -> QueryBaseline:
    """Write the rows as a baseline.

    Nothing is written when there are none (NothingMeasured), when two ask the same (CorpusError), or when the target
    is there already (UsageError) without `force`.
    """
    if not rows:
        raise NothingMeasured(f"{source}: holds no question; switch capture on and ask some")
    if faults := list(_twice(rows, source)):
        raise CorpusError(faults)
    if target.exists() and not force:
        raise UsageError(f"--to: {target} is there already; choose another name, or replace it with --force")
    check_place(target)
    hashes = [row.query_hash for row in rows]
    baseline = QueryBaseline(
        file=str(target),
        label=label,
        published_at=datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        source_hash=source_hash(hashes),
        thresholds=thresholds,
        mean_latency_ms=round(math.fsum(row.latency_ms for row in rows) / len(rows), 3),
        rows=tuple(rows),
    )
    lines = [_metadata(baseline), *({**row.written, "query_hash": row.query_hash} for row in rows)]
    write_text(target, "".join(map(to_line, lines)))
    return baseline


def newest_of_each(rows: Sequence[Row]) -> tuple[Row, ...]:
    """The rows without those that ask the same as an earlier one; an export has the newest first."""
    kept: dict[object, Row] = {}
    for row in rows:
        kept.setdefault(row.identity, row)
    return tuple(kept.values())


def read_query_baseline(path: Path) -> QueryBaseline:
    """A published baseline. CorpusError lists every fault, also a row that is not the one that was published."""
    documents, faults = _documents(path)
    name = str(path)
    if not faults and (not documents or documents[0][1].get("_kind") != METADATA):
        raise CorpusError([Fault(name, "line 1: _kind", f"expected {METADATA!r}; make one with `queries publish`")])
    head = documents[0][1] if documents else {}
    faults += [Fault(name, f"line 1: {field}", reason) for field, reason in _metadata_faults(head)]
    rows: list[Row] = []
    for line, document in documents[1:]:
        found = [Fault(name, f"line {line}: {field}", reason) for field, reason in _row_faults(document)]
        if not found and document.get("query_hash") != query_hash(document["query"]):
            found = [Fault(name, f"line {line}: query_hash", "is not that of the query: the line was changed")]
        faults += found
        if not found:
            rows.append(_row(line, document))
    if not faults:
        faults += _whole(name, head, rows)
    if faults:
        raise CorpusError(sorted(faults, key=_by_line))
    return QueryBaseline(
        file=name,
        label=head["label"],
        published_at=head["published_at"],
        source_hash=head["source_hash"],
        thresholds=Thresholds(**{name: head["thresholds"][name] for name in _LARGEST}),
        mean_latency_ms=head["baseline_mean_latency_ms"],
        rows=tuple(rows),
    )


def _metadata(baseline: QueryBaseline) -> dict[str, object]:
    return {
        "schema_version": SCHEMA_VERSION,
        "_kind": METADATA,
        "label": baseline.label,
        "published_at": baseline.published_at,
        "source_hash": baseline.source_hash,
        "thresholds": msgspec.to_builtins(baseline.thresholds),
        "row_count": len(baseline.rows),
        "baseline_mean_latency_ms": baseline.mean_latency_ms,
    }


def _documents(path: Path) -> tuple[list[tuple[int, dict[str, Any]]], list[Fault]]:
    """The objects of the lines that are not empty, by line number, and the lines that hold none."""
    found: list[tuple[int, dict[str, Any]]] = []
    faults: list[Fault] = []
    for number, line in enumerate(bytes_of(path).split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            document = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            faults.append(Fault(str(path), f"line {number}", f"not JSON: {error}"))
            continue
        if isinstance(document, dict):
            found.append((number, document))
        else:
            faults.append(Fault(str(path), f"line {number}", "expected an object"))
    return found, faults


def _row_faults(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if document.get("schema_version") != SCHEMA_VERSION:
        yield "schema_version", f"expected {SCHEMA_VERSION}, not {document.get('schema_version')!r}"
    for field in ("tool_name", "query"):
        value = document.get(field)
        if not isinstance(value, str) or not value.strip():
            yield field, "expected text that is not empty"
    for field in ("retrieved_slugs", "source_ids"):
        value = document.get(field)
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            yield field, "expected a list of texts"
    if not isinstance(document.get("detail"), str | None):
        yield "detail", "expected text or null"
    if not _is_number(document.get("latency_ms"), 0, math.inf):
        yield "latency_ms", "expected a number from 0"


def _metadata_faults(head: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if head.get("schema_version") != SCHEMA_VERSION:
        yield "schema_version", f"expected {SCHEMA_VERSION}, not {head.get('schema_version')!r}"
    for field in ("label", "published_at", "source_hash"):
        if not isinstance(head.get(field), str):
            yield field, "expected text"
    if not _is_number(head.get("baseline_mean_latency_ms"), 0, math.inf):
        yield "baseline_mean_latency_ms", "expected a number from 0"
    limits = head.get("thresholds")
    if not isinstance(limits, dict) or not set(_LARGEST) <= set(limits):
        yield "thresholds", f"expected {', '.join(_LARGEST)}"
        return
    for name, largest in _LARGEST.items():
        if not _is_number(limits[name], 0, largest):
            yield f"thresholds.{name}", f"expected a number from 0{' to 1' if largest == 1 else ''}"


def _whole(name: str, head: Mapping[str, Any], rows: Sequence[Row]) -> Iterator[Fault]:
    """Why the rows are not those that were published."""
    if head.get("row_count") != len(rows):
        yield Fault(name, "line 1: row_count", f"is {head.get('row_count')!r}, and {len(rows)} rows follow")
    elif head["source_hash"] != source_hash([row.query_hash for row in rows]):
        yield Fault(name, "line 1: source_hash", "is not that of the rows: the file was changed")
    yield from _twice(rows, name)


def _twice(rows: Sequence[Row], name: str) -> Iterator[Fault]:
    first: dict[object, int] = {}
    for row in rows:
        before = first.setdefault(row.identity, row.line)
        if before != row.line:
            reason = f"asks the same as line {before} (tool, sources and words); --keep-newest takes the first of them"
            yield Fault(name, f"line {row.line}: query", reason)


def _row(line: int, document: Mapping[str, Any]) -> Row:
    return Row(
        line=line,
        tool=document["tool_name"],
        query=document["query"],
        slugs=tuple(dict.fromkeys(document["retrieved_slugs"])),
        sources=tuple(dict.fromkeys(document["source_ids"])),
        detail=document.get("detail"),
        latency_ms=document["latency_ms"],
        written=document,
    )


def _is_number(value: object, least: float, most: float) -> bool:
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most and value < math.inf
    )


def _by_line(fault: Fault) -> tuple[int, str]:
    return int(fault.field.split()[1].rstrip(":")), fault.field
