"""What searches do by default is what the reports in evidence/retrieval were made with, and gains by them."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent.parent / "evidence" / "retrieval"
REPORTS = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(FOLDER.glob("*.json"))}
NOW = json.loads(json.dumps(runpy.run_path(str(FOLDER / "condense.py"))["LANES"]))
LEAST = {"locomo-vs-naive": ("hit@10", "recall_all@10"), "longmemeval-vs-lexical": ("recall_all@5", "recall_all@10")}
"""What each report must show a gain in."""


def gains(report: dict[str, Any], metric: str) -> bool:
    """Whether the interval of the gain excludes none."""
    found = report["against"]["metrics"][metric]
    _, low, high = found["better"]
    return 0 < low <= high and found["here"][0] - found["there"][0] == found["lost"] - found["gained"]


@pytest.mark.req("E-609", "E-602")
@pytest.mark.parametrize("name", LEAST)
def test_the_lanes_that_are_on_are_those_of_a_report_that_shows_a_gain(name: str) -> None:
    report = REPORTS[name]
    assert report["lanes"] == NOW, f"the weights changed: make evidence/retrieval/{name}.json again (README.md there)"
    assert (report["sut"]["name"], report["counts"]["errors"]) == ("wellkept", 0)
    assert all(gains(report, metric) for metric in LEAST[name])


def test_no_report_is_left_out_and_none_holds_what_the_data_says() -> None:
    assert REPORTS.keys() == LEAST.keys()
    assert not any("case_results" in report for report in REPORTS.values())
    assert len({report["suite"] for report in REPORTS.values()}) == 2


def test_a_gain_that_may_be_none_is_noticed() -> None:
    report = {
        "against": {
            "metrics": {"m": {"better": [0.1, 0.0, 0.2], "here": [2, 9], "there": [1, 9], "gained": 0, "lost": 1}}
        }
    }
    assert not gains(report, "m")
    report["against"]["metrics"]["m"]["better"] = [0.1, 0.01, 0.2]
    assert gains(report, "m")
    report["against"]["metrics"]["m"]["here"] = [3, 9]
    assert not gains(report, "m")
