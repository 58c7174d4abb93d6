"""The numbers that the documentation tells of detectors are those of the last run."""

import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "wellkept" / "tests" / "data" / "detect"
PAGE = ROOT / "docs" / "explanation" / "detectors.md"


def test_the_tables_of_the_documentation_are_those_of_the_receipt(monkeypatch):
    spec = spec_from_file_location("detect_measure", FOLDER / "measure.py")
    measure = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, measure)
    spec.loader.exec_module(measure)
    told = PAGE.read_text("utf-8").partition("<!-- measured -->\n")[2].partition("<!-- /measured -->")[0]
    assert told.strip() == measure.table(json.loads((FOLDER / "receipt.json").read_text("utf-8")))
