"""One line per sweep, appended and never rewritten: what ran, on what, and what it counted.

This is a log of work on one machine, kept out of the repository. Published numbers stand elsewhere.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from brainbench.errors import OutputError
from brainbench.evidence import Scoreboard, config_json
from brainbench.metrics import Measured, counts_json
from brainbench.write import make_directory, refuse_devices

Status = Literal["completed", "failed", "invalid", "over_budget"]


@dataclass(frozen=True, slots=True)
class Sweep:
    """A line of the ledger, schema version 3. `previous` is the run id of the line before it."""

    run_id: str
    ran_at: str
    commit: str
    dirty: bool
    seed: int
    params: Mapping[str, object]
    observations_hash: str
    status: Status
    duration_ms: float
    cpu_s: float
    peak_mb: float
    usd: float = 0.0
    suite: str = "conformance"
    mode: str = "n/a"
    previous: str | None = None

    def document(self) -> dict[str, object]:
        """The line as JSON, keys in the order of the format."""
        return {
            "schema_version": 3,
            "run_id": self.run_id,
            "ran_at": self.ran_at,
            "suite": self.suite,
            "mode": self.mode,
            "commit": self.commit,
            "dirty": self.dirty,
            "seed": self.seed,
            "params": dict(self.params),
            "observations_hash": self.observations_hash,
            "status": self.status,
            "duration_ms": self.duration_ms,
            "cpu_s": self.cpu_s,
            "peak_mb": self.peak_mb,
            "usd": self.usd,
            "previous": self.previous,
        }


def sweep_of(board: Scoreboard, *, ran_at: str, seed: int, dirty: bool, status: Status | None = None) -> Sweep:
    """The line for this run. Without `status` it is "invalid" when a cell or seed was, else "completed"."""
    untrusted = bool(board.seed_failures) or any(cell.status in ("invalid", "failed") for cell in board.cells)
    return Sweep(
        run_id=f"{board.harness_sha[:7]}-{board.corpus}-{seed}",
        ran_at=ran_at,
        commit=board.harness_sha,
        dirty=dirty,
        seed=seed,
        params={
            "fixtures_hash": board.fixtures_hash,
            "corpus_hash": board.corpus_hash,
            "config": config_json(board.config),
            "cells": {cell.key: _cell_counts(cell.status, cell.metrics) for cell in board.cells},
        },
        observations_hash=board.observations_hash,
        status=status or ("invalid" if untrusted else "completed"),
        duration_ms=board.duration_ms,
        cpu_s=board.cpu_s,
        peak_mb=board.peak_mb,
    )


def _cell_counts(status: str, metrics: Mapping[str, Measured | None]) -> dict[str, object]:
    return {"status": status, "counts": {n: None if v is None else counts_json(v) for n, v in metrics.items()}}


def append(path: Path, sweep: Sweep) -> Sweep:
    """Add one line and wait until it is on disk; gives the line with `previous` filled in.

    A torn last line stays as it is: the new one starts on a line of its own. OutputError when it cannot be written.
    """
    make_directory(path.parent)
    refuse_devices(path)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        before = path.read_bytes()
        lines = _parsed(before)
        linked = replace(sweep, previous=str(lines[-1].get("run_id")) if lines else None)
        line = json.dumps(linked.document(), ensure_ascii=False, allow_nan=False).encode() + b"\n"
        torn = before and not before.endswith(b"\n")
        _write_all(descriptor, b"\n" + line if torn else line)
        os.fsync(descriptor)
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        os.close(descriptor)
    return linked


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def read(path: Path) -> tuple[Mapping[str, object], ...]:
    """The lines of a ledger, oldest first; none where there is no file. Lines torn by a crash are left out."""
    try:
        return _parsed(path.read_bytes())
    except FileNotFoundError:
        return ()


def _parsed(data: bytes) -> tuple[Mapping[str, object], ...]:
    found = []
    for line in data.split(b"\n"):
        try:
            document = json.loads(line)
        except ValueError:
            continue
        if isinstance(document, dict):
            found.append(document)
    return tuple(found)
