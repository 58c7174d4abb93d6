"""What a compared report of `brainbench rejudge --against` says, without its cases, which hold the data set's own text.

Usage: ./bb python evidence/retrieval/condense.py compared.json > evidence/retrieval/SET-vs-OTHER.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from wellkept.recall import fusion

LANES = {
    "weights": dict(fusion.WEIGHTS),
    "page_weights": dict(fusion.PAGE_WEIGHTS),
    "of_pages": dict(fusion.OF_PAGES),
    "named": fusion.NAMED,
    "page_sum": fusion.PAGE_SUM,
}
"""What is on by default, by its weight: a report is of these and of no others."""


def condensed(report: dict[str, object]) -> dict[str, object]:
    """The fields of the report that say what was measured, where, and how the two compare."""
    kept = ("suite", "granularity", "headline", "dataset", "sut", "bench", "counts", "against")
    return {"schema_version": 1, "lanes": LANES, **{name: report[name] for name in kept}}


if __name__ == "__main__":
    print(json.dumps(condensed(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))), indent=1))
