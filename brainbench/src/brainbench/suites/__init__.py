"""A suite is a question asked of a memory: what it needs, how an event is judged, and which metrics count it.

To add one: a file with a Suite and a line in SUITES.
"""

from __future__ import annotations

from collections.abc import Mapping

from brainbench.suites.cell import Cell, Slice, Suite
from brainbench.suites.continuity import CONTINUITY
from brainbench.suites.deletion import DELETION
from brainbench.suites.judging import judge
from brainbench.suites.know_to_ask import KNOW_TO_ASK
from brainbench.suites.leaks import foreign_slugs
from brainbench.suites.poisoning import POISONING, POISONING_DEFAULT
from brainbench.suites.push import PUSH, push_ceiling
from brainbench.suites.state import STATE_RESOLUTION
from brainbench.suites.trust import TRUST
from brainbench.suites.write_back import WRITE_BACK

__all__ = ["SUITES", "Cell", "Slice", "Suite", "foreign_slugs", "judge", "push_ceiling"]

SUITES: Mapping[str, Suite] = {
    suite.name: suite
    for suite in (
        *(KNOW_TO_ASK, PUSH, WRITE_BACK, CONTINUITY),
        *(TRUST, STATE_RESOLUTION, DELETION, POISONING, POISONING_DEFAULT),
    )
}
