"""Any stored run as a baseline, so that two files can be compared: baselines of both versions, and result documents."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

import msgspec

from brainbench.errors import IncompatibleError
from brainbench.evidence import Config, CorpusKind
from brainbench.evidence.baseline import (
    CEILING,
    Baseline,
    ConfigFile,
    Part,
    Stored,
    StoredCell,
    read_baseline,
    refuse_live,
)
from brainbench.metrics import METRICS, Count, Ratio

_NAME_ONE = "name what `brainbench run --out` or `--update-baseline` wrote"


class _Receipt(msgspec.Struct):
    fixtures_hash: str
    include_holdout: bool = False
    llm: Any = False


class _ResultCell(msgspec.Struct):
    suite: str
    harness: str
    gold_total: int
    gold_failed: int
    metrics: dict[str, int | float]


class _Result(msgspec.Struct):
    receipt: _Receipt
    cells: list[_ResultCell]


class _NativePart(msgspec.Struct):
    gold_total: int
    gold_failed: int
    metrics: dict[str, dict[str, Any] | None]


class _NativeCell(_NativePart, kw_only=True):
    key: str
    status: str
    failed_items: list[str]
    slices: dict[str, dict[str, _NativePart]]


class _Native(msgspec.Struct):
    schema_version: Literal[2]
    fixtures_hash: str
    corpus_hash: str | None
    corpus_kind: CorpusKind
    config: ConfigFile
    cells: list[_NativeCell]
    capabilities: dict[str, list[str]] = {}


def read_run(data: bytes, name: str) -> Baseline:
    """The run that this baseline or result document stores.

    Raises IncompatibleError, naming the file and the part, for anything else and for runs with untrusted cells.
    """
    try:
        document = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise IncompatibleError(f"{name}: is no JSON document: {error}; {_NAME_ONE}") from None
    refuse_live(document, name)
    if not isinstance(document, dict) or "receipt" not in document:
        return read_baseline(data, name)
    try:
        meta = document.get("_meta")
        native = meta.get("native") if isinstance(meta, dict) else None
        if native is not None:
            return _from_native(msgspec.convert(native, _Native), name)
        return _from_result(msgspec.convert(document, _Result), name)
    except msgspec.ValidationError as error:
        raise IncompatibleError(f"{name}: {error}; {_NAME_ONE}") from None


def _from_result(result: _Result, name: str) -> Baseline:
    cells = {}
    for cell in result.cells:
        rates: dict[str, Stored] = {n: Fraction(Decimal(repr(v))) for n, v in sorted(cell.metrics.items())}
        cells[f"{cell.harness}/{cell.suite}"] = StoredCell(cell.gold_total, cell.gold_failed, rates)
    config = Config(
        include_holdout=result.receipt.include_holdout,
        llm=bool(result.receipt.llm),
        systems=(),
        harnesses=tuple(sorted({cell.harness for cell in result.cells})),
        suites=tuple(sorted({cell.suite for cell in result.cells})),
    )
    return Baseline(1, "v1", result.receipt.fixtures_hash, None, config, dict(sorted(cells.items())))


def _from_native(native: _Native, name: str) -> Baseline:
    untrusted = [f"{cell.key} is {cell.status}" for cell in native.cells if cell.status in ("invalid", "failed")]
    if untrusted:
        raise IncompatibleError(f"{name}: {'; '.join(untrusted)}: such a run is compared with nothing")
    cells = {}
    for cell in sorted((c for c in native.cells if c.status == "scored"), key=lambda c: c.key):
        whole = _part(name, cell.key, cell)
        strata = {s: _part(name, cell.key, part) for s, part in sorted(cell.slices.get("stratum", {}).items())}
        failed = tuple(sorted(cell.failed_items))
        cells[cell.key] = StoredCell(whole.gold_total, whole.gold_failed, whole.metrics, whole.ceiling, failed, strata)
    return Baseline(
        schema_version=2,
        corpus_kind=native.corpus_kind,
        fixtures_hash=native.fixtures_hash,
        corpus_hash=native.corpus_hash,
        config=native.config.config(),
        cells=cells,
        capabilities={system: tuple(sorted(can)) for system, can in sorted(native.capabilities.items())},
    )


def _part(name: str, key: str, part: _NativePart) -> Part:
    found = {m: _measured(name, f"{key}: {m}", v) for m, v in sorted(part.metrics.items()) if v is not None}
    ceiling = found.get(CEILING)
    gated = {m: v for m, v in found.items() if v is not None and (m not in METRICS or METRICS[m].gated)}
    return Part(part.gold_total, part.gold_failed, gated, ceiling if isinstance(ceiling, Ratio) else None)


def _measured(name: str, where: str, value: dict[str, Any]) -> Ratio | Count | None:
    """The counts of a measurement, or None for an average."""
    n, of = value.get("n"), value.get("of")
    if n is None:
        return None
    if type(n) is int and n >= 0 and of is None:
        return Count(n)
    if type(n) is int and type(of) is int and 0 <= n <= of and of >= 1:
        return Ratio(n, of)
    raise IncompatibleError(f"{name}: {where}: {value} is no count and no ratio")
