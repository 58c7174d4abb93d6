"""Did anything cross from a source that was not asked?"""

from __future__ import annotations

from brainbench.metrics.judged import Judged
from brainbench.metrics.values import Count


def source_isolation_violations(judged: Judged) -> Count | None:
    """How many pages or texts of a foreign source came through; None where there was none to come."""
    return Count(len(judged.leaks)) if judged.scoped or judged.leaks else None
