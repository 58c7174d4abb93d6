"""What a run is held against: the counts of its gated metrics, as a file in the repository.

Version 2 is ours and holds counts; version 1 is the published interchange form and holds rates of four decimals.
Both are read. Only what is gated is stored, so that a change of wording or of a diagnostic needs no new baseline.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from brainbench.errors import IncompatibleError, UsageError
from brainbench.evidence import Config, CorpusKind, Scoreboard, config_json
from brainbench.metrics import METRICS, Count, Measured, Ratio, counts, counts_json, four_decimals
from brainbench.model import V1_SUITES
from brainbench.seams import HARNESSES
from brainbench.suites import Cell, Slice
from brainbench.write import make_directory, refuse_devices, write_bytes

Stored = Ratio | Count | Fraction
"""A gated value as stored: counts, or in version 1 a rate."""
LIVE = "brainbench-live"
"""What the result of a run with a model in the loop calls itself."""
CEILED, CEILING = "push_recall", "push_recall_ceiling"
"""The metric whose best value depends on the seam's page budget, and the metric that says how good it can be."""


@dataclass(frozen=True, slots=True)
class Part:
    """The counts of a cell or of one of its strata. A metric that was not asked is absent."""

    gold_total: int
    gold_failed: int
    metrics: Mapping[str, Stored] = field(default_factory=dict)
    ceiling: Ratio | None = None


@dataclass(frozen=True, slots=True)
class StoredCell(Part):
    """A cell as a baseline holds it. `failed` names the failed items, and is None where they are not known."""

    failed: tuple[str, ...] | None = None
    strata: Mapping[str, Part] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Baseline:
    """A stored run. Cells are keyed `<system>/<seam>/<suite>`, in version 1 `<harness>/<suite>`.

    `config` lists are sorted; what version 1 does not bind is empty in it.
    """

    schema_version: Literal[1, 2]
    corpus_kind: CorpusKind
    fixtures_hash: str
    corpus_hash: str | None
    config: Config
    cells: Mapping[str, StoredCell]
    capabilities: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    justification: str | None = None

    def same_corpus(self, other: Baseline) -> bool:
        """Whether both stand on the same corpus; version 1 knows only the hash of the fixtures."""
        known = self.corpus_hash is not None and other.corpus_hash is not None
        return self.fixtures_hash == other.fixtures_hash and (not known or self.corpus_hash == other.corpus_hash)


def baseline_of(board: Scoreboard, justification: str | None = None) -> Baseline:
    """The baseline that this run would write."""
    return Baseline(
        schema_version=2,
        corpus_kind=board.corpus_kind,
        fixtures_hash=board.fixtures_hash,
        corpus_hash=board.corpus_hash,
        config=_sorted(board.config),
        cells={c.key: _stored(c) for c in sorted(board.cells, key=lambda c: c.key) if c.status == "scored"},
        capabilities={system: tuple(sorted(can)) for system, can in sorted(board.capabilities.items())},
        justification=justification,
    )


def _stored(cell: Cell) -> StoredCell:
    strata = {name: _part(part) for name, part in sorted(cell.slices.get("stratum", {}).items())}
    whole = _part(cell)
    failed = tuple(sorted(cell.failed_items))
    return StoredCell(whole.gold_total, whole.gold_failed, whole.metrics, whole.ceiling, failed, strata)


def _part(part: Cell | Slice) -> Part:
    ceiling = part.metrics.get(CEILING)
    return Part(
        part.gold_total,
        part.gold_failed,
        {n: v for n, v in sorted(part.metrics.items()) if isinstance(v, Ratio | Count) and _is_gated(n)},
        ceiling if isinstance(ceiling, Ratio) else None,
    )


def _is_gated(name: str) -> bool:
    return name in METRICS and METRICS[name].gated


def _sorted(config: Config) -> Config:
    return replace(
        config,
        systems=tuple(sorted(config.systems)),
        harnesses=tuple(sorted(config.harnesses)),
        suites=tuple(sorted(config.suites)),
        modes=dict(sorted(config.modes.items())),
        deviations={seam: tuple(words) for seam, words in sorted(config.deviations.items())},
        narrowed=False,
    )


def as_v1(baseline: Baseline) -> Baseline:
    """The same baseline as version 1 tells it: one system, its three harnesses, rates of four decimals.

    Raises IncompatibleError when it holds more than one system.
    """
    if baseline.schema_version == 1:
        return baseline
    if len(baseline.config.systems) != 1:
        raise IncompatibleError(
            f"config.systems: a version 1 baseline holds one system, not {', '.join(baseline.config.systems) or 'none'}"
        )
    keys = {k: k.removeprefix(f"{baseline.config.systems[0]}/") for k in baseline.cells}
    cells = {keys[k]: _v1_cell(cell) for k, cell in baseline.cells.items() if is_v1(*keys[k].split("/", 1))}
    return replace(
        baseline,
        schema_version=1,
        corpus_kind="v1",
        corpus_hash=None,
        config=Config(
            include_holdout=baseline.config.include_holdout,
            llm=baseline.config.llm,
            systems=(),
            harnesses=tuple(h for h in baseline.config.harnesses if h in HARNESSES),
            suites=tuple(s for s in baseline.config.suites if s in V1_SUITES),
        ),
        cells=dict(sorted(cells.items())),
        capabilities={},
    )


def is_v1(seam: str, suite: str) -> bool:
    """Whether version 1 has a place for the cells of this seam and suite."""
    return seam in HARNESSES and suite in V1_SUITES


def _v1_cell(cell: StoredCell) -> StoredCell:
    rates = {name: Fraction(four_decimals(_exact(value))) for name, value in cell.metrics.items()}
    return StoredCell(cell.gold_total, cell.gold_failed, rates)


def _exact(value: Stored) -> Fraction:
    return value if isinstance(value, Fraction) else value.value


def serialised(baseline: Baseline) -> bytes:
    """The bytes of a baseline file: the same for the same run, whoever writes it and when."""
    document = _v1_document(baseline) if baseline.schema_version == 1 else _v2_document(baseline)
    return (json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n").encode()


def _v1_document(baseline: Baseline) -> dict[str, object]:
    config = baseline.config
    document: dict[str, object] = {
        "schema_version": 1,
        "fixtures_hash": baseline.fixtures_hash,
        "config": {
            "include_holdout": config.include_holdout,
            "llm": config.llm,
            "harnesses": sorted(config.harnesses),
            "suites": sorted(config.suites),
        },
    }
    if baseline.justification is not None:
        document["justification"] = baseline.justification
    cells = sorted(baseline.cells.items())
    document["cells"] = {key: {n: _number(v) for n, v in sorted(cell.metrics.items())} for key, cell in cells}
    document["counts"] = {key: {"gold_failed": cell.gold_failed, "gold_total": cell.gold_total} for key, cell in cells}
    return document


def _number(value: Stored) -> int | float:
    exact = Fraction(four_decimals(_exact(value)))
    return exact.numerator if exact.denominator == 1 else float(exact)


def _v2_document(baseline: Baseline) -> dict[str, object]:
    config = config_json(baseline.config)
    del config["narrowed"]
    document: dict[str, object] = {
        "schema_version": 2,
        "corpus_kind": baseline.corpus_kind,
        "fixtures_hash": baseline.fixtures_hash,
        "corpus_hash": baseline.corpus_hash,
        "config": config,
        "capabilities": {system: list(can) for system, can in sorted(baseline.capabilities.items())},
    }
    if baseline.justification is not None:
        document["justification"] = baseline.justification
    document["cells"] = {key: _cell_document(cell) for key, cell in sorted(baseline.cells.items())}
    return document


def _cell_document(cell: StoredCell) -> dict[str, object]:
    return {
        **_part_document(cell),
        "failed": list(cell.failed or ()),
        "strata": {name: _part_document(part) for name, part in sorted(cell.strata.items())},
    }


def _part_document(part: Part) -> dict[str, object]:
    document: dict[str, object] = {
        "gold_total": part.gold_total,
        "gold_failed": part.gold_failed,
        "metrics": {name: _counts(value) for name, value in sorted(part.metrics.items())},
    }
    if part.ceiling is not None:
        document["ceiling"] = _counts(part.ceiling)
    return document


def _counts(value: Stored) -> dict[str, float]:
    if isinstance(value, Fraction):
        raise IncompatibleError("a version 2 baseline stores counts, and only a rate is known here")
    return counts_json(value)


Natural = Annotated[int, msgspec.Meta(ge=0)]
_Rates = dict[str, int | float]


class _CountsFile(msgspec.Struct, forbid_unknown_fields=True):
    n: Natural
    of: Natural | None = None


class _PartFile(msgspec.Struct, forbid_unknown_fields=True):
    gold_total: Natural
    gold_failed: Natural
    metrics: dict[str, _CountsFile]
    ceiling: _CountsFile | None = None


class _CellFile(_PartFile, forbid_unknown_fields=True, kw_only=True):
    failed: list[str]
    strata: dict[str, _PartFile]


class ConfigFile(msgspec.Struct):
    """The config as stored documents hold it."""

    include_holdout: bool
    llm: bool
    systems: list[str]
    harnesses: list[str]
    suites: list[str]
    modes: dict[str, str]
    deviations: dict[str, list[str]]

    def config(self) -> Config:
        """The config with its lists sorted, as baselines bind it."""
        return _sorted(
            Config(
                include_holdout=self.include_holdout,
                llm=self.llm,
                systems=tuple(self.systems),
                harnesses=tuple(self.harnesses),
                suites=tuple(self.suites),
                modes=self.modes,
                deviations={seam: tuple(words) for seam, words in self.deviations.items()},
            )
        )


class _V2Config(ConfigFile, forbid_unknown_fields=True):
    pass


class _V2File(msgspec.Struct, forbid_unknown_fields=True):
    schema_version: Literal[2]
    corpus_kind: CorpusKind
    fixtures_hash: str
    corpus_hash: str | None
    config: _V2Config
    capabilities: dict[str, list[str]]
    cells: dict[str, _CellFile]
    justification: str | None = None


class _V1Config(msgspec.Struct):
    include_holdout: bool
    llm: bool
    harnesses: list[str]
    suites: list[str]


class _V1Counts(msgspec.Struct):
    gold_total: Natural
    gold_failed: Natural


class _V1File(msgspec.Struct):
    schema_version: Literal[1]
    fixtures_hash: str
    config: _V1Config
    cells: dict[str, _Rates]
    counts: dict[str, _V1Counts]
    justification: str | None = None


def read_baseline(data: bytes, name: str) -> Baseline:
    """The baseline in these bytes; IncompatibleError names the file and the part that cannot be used."""
    try:
        document = msgspec.json.decode(data)
        refuse_live(document, name)
        version = document.get("schema_version") if isinstance(document, dict) else None
        if version == 1:
            return _from_v1(msgspec.convert(document, _V1File), name)
        if version == 2:
            return _from_v2(msgspec.convert(document, _V2File), name)
    except (msgspec.ValidationError, msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _unreadable(name, str(error)) from None
    raise _unreadable(name, "schema_version: must be 1 or 2")


def refuse_live(document: object, name: str) -> None:
    """IncompatibleError for the result of a run with a model in the loop: those are held against their like only."""
    if isinstance(document, dict) and document.get("kind") == LIVE:
        raise IncompatibleError(f"{name}: is the result of a live run; compare live runs: run --live --compare FILE")


def _unreadable(name: str, why: str) -> IncompatibleError:
    return IncompatibleError(f"{name}: {why}; write it again with `brainbench run --update-baseline`")


def _from_v1(file: _V1File, name: str) -> Baseline:
    if set(file.cells) != set(file.counts):
        odd = sorted(set(file.cells) ^ set(file.counts))[0]
        raise _unreadable(name, f"cells and counts do not name the same cells: {odd}")
    cells = {}
    for key, rates in sorted(file.cells.items()):
        counts = file.counts[key]
        _check_part(name, f"counts.{key}", counts.gold_total, counts.gold_failed)
        exact = {metric: Fraction(Decimal(repr(rate))) for metric, rate in sorted(rates.items())}
        cells[key] = StoredCell(counts.gold_total, counts.gold_failed, exact)
    config = Config(
        include_holdout=file.config.include_holdout,
        llm=file.config.llm,
        systems=(),
        harnesses=tuple(sorted(file.config.harnesses)),
        suites=tuple(sorted(file.config.suites)),
    )
    return Baseline(1, "v1", file.fixtures_hash, None, config, cells, justification=file.justification)


def _from_v2(file: _V2File, name: str) -> Baseline:
    cells = {}
    for key, cell in sorted(file.cells.items()):
        whole = _read_part(name, f"cells.{key}", cell)
        strata = {
            stratum: _read_part(name, f"cells.{key}.strata.{stratum}", part)
            for stratum, part in sorted(cell.strata.items())
        }
        failed = tuple(sorted(cell.failed))
        cells[key] = StoredCell(whole.gold_total, whole.gold_failed, whole.metrics, whole.ceiling, failed, strata)
    return Baseline(
        schema_version=2,
        corpus_kind=file.corpus_kind,
        fixtures_hash=file.fixtures_hash,
        corpus_hash=file.corpus_hash,
        config=file.config.config(),
        cells=cells,
        capabilities={system: tuple(sorted(can)) for system, can in sorted(file.capabilities.items())},
        justification=file.justification,
    )


def _read_part(name: str, where: str, part: _PartFile) -> Part:
    _check_part(name, where, part.gold_total, part.gold_failed)
    metrics = {m: _measured(name, f"{where}.metrics.{m}", value) for m, value in sorted(part.metrics.items())}
    ceiling = _measured(name, f"{where}.ceiling", part.ceiling) if part.ceiling is not None else None
    return Part(part.gold_total, part.gold_failed, metrics, ceiling if isinstance(ceiling, Ratio) else None)


def _measured(name: str, where: str, value: _CountsFile) -> Ratio | Count:
    if value.of is None:
        return Count(value.n)
    if value.of < 1 or value.n > value.of:
        raise _unreadable(name, f"{where}: {value.n} of {value.of} is no ratio")
    return Ratio(value.n, value.of)


def _check_part(name: str, where: str, total: int, failed: int) -> None:
    if failed > total:
        raise _unreadable(name, f"{where}: gold_failed {failed} exceeds gold_total {total}")


def write_baseline(path: Path, data: bytes) -> None:
    """Put a baseline file in place, whole or not at all, and its directory if there is none; else OutputError."""
    make_directory(path.parent)
    refuse_devices(path)
    write_bytes(path, data)


def in_version(baseline: Baseline, version: int) -> Baseline:
    """The baseline in the form of a version; UsageError for one that does not exist."""
    if version not in (1, 2):
        raise UsageError(f"--baseline-format: unknown version {version}; known: 1, 2")
    return as_v1(baseline) if version == 1 else baseline


def shown(value: Measured | Stored | None) -> str:
    """A stored value for a message: counts where they are known, else the rate."""
    if value is None:
        return "not asked"
    return four_decimals(value) if isinstance(value, Fraction) else counts(value)
