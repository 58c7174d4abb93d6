"""What crossed the seams in a run, as a document, so that it can be looked at and judged again without playing."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from brainbench.evidence import Scoreboard
from brainbench.model import Replayed


def observations_json(board: Scoreboard, replays: Sequence[Replayed]) -> dict[str, object]:
    """All replays of a run, with the hashes of what was seen and of the corpus it was seen on."""
    return {
        "schema_version": 1,
        "observations_hash": board.observations_hash,
        "fixtures_hash": board.fixtures_hash,
        "replays": msgspec.to_builtins(replays),
    }
