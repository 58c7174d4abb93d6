"""The bundled corpus asks more than the reference memory can do: told from the committed baseline, not replayed."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

BANDS = {"medium": (Fraction(5, 100), Fraction(25, 100)), "hard": (Fraction(20, 100), Fraction(65, 100))}


@pytest.fixture(scope="module")
def cells(root: Path) -> dict[str, Any]:
    baseline: dict[str, Any] = json.loads((root / "evidence" / "baselines" / "conformance.json").read_text())
    manifest = json.loads((root / "corpus" / "core" / "MANIFEST.json").read_text())
    assert baseline["fixtures_hash"] == manifest["fixtures_hash"]
    found: dict[str, Any] = baseline["cells"]
    return found


@pytest.mark.req("C-804")
@pytest.mark.parametrize("stratum", BANDS)
@pytest.mark.parametrize("harness", ["openclaw", "claude-code", "codex"])
def test_the_reference_misses_a_share_of_the_turns_that_call_for_memory(
    cells: dict[str, Any], harness: str, stratum: str
) -> None:
    missed = cells[f"wellkept/{harness}/know-to-ask"]["strata"][stratum]["metrics"]["know_to_ask_failure_rate"]
    least, most = BANDS[stratum]
    assert least <= Fraction(missed["n"], missed["of"]) <= most
