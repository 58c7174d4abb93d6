"""A stored live result is read whole, or is refused with what is wrong in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from brainbench.errors import IncompatibleError
from brainbench.evidence.baseline import LIVE
from brainbench.live.comparing import changes, read_live
from brainbench.live.report import SCHEMA_VERSION

TURN: dict[str, Any] = {
    "system": "bm25",
    "arm": "push",
    "fixture_id": "f",
    "event_id": 1,
    "repeat": 1,
    "hits": {"end_to_end_miss_rate": True},
}
WHOLE: dict[str, Any] = {
    "kind": LIVE,
    "schema_version": SCHEMA_VERSION,
    "receipt": {"model": "m"},
    "seam": {"name": "codex"},
    "observations_hash": "0" * 64,
    "turns": [TURN],
}


@pytest.mark.parametrize(
    ("spoiled", "said"),
    [
        ({"receipt": ...}, "`receipt`"),
        ({"seam": ...}, "`seam`"),
        ({"observations_hash": 7}, "$.observations_hash"),
        ({"turns": [{**TURN, "hits": None}]}, "$.turns[0].hits"),
        ({"turns": [{name: value for name, value in TURN.items() if name != "arm"}]}, "`arm`"),
    ],
)
def test_a_result_that_was_cut_is_refused_with_its_file_and_what_is_missing(
    tmp_path: Path, spoiled: dict[str, Any], said: str
) -> None:
    document = {name: value for name, value in {**WHOLE, **spoiled}.items() if value is not ...}
    file = tmp_path / "before.json"
    file.write_text(json.dumps(document))
    with pytest.raises(IncompatibleError) as told:
        read_live(file)
    assert str(told.value).startswith(f"{file}: is no whole result of `brainbench run --live --out`: ")
    assert said in str(told.value)


def test_a_whole_result_is_held_against_itself(tmp_path: Path) -> None:
    file = tmp_path / "before.json"
    whole = {**WHOLE, "turns": [TURN, {**TURN, "fixture_id": "g"}]}
    file.write_text(json.dumps(whole))
    (found,) = changes(read_live(file), whole)
    assert (found.metric, found.difference.value, found.worse) == ("end_to_end_miss_rate", 0, False)
