"""Facts that are found by what they mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from wellkept.model import Fact
from wellkept.storage import Store

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_AT_FIRST = 32


def near_facts(
    store: Store,
    source: str,
    query: NDArray[np.float32],
    limit: int,
    floor: float = 0.0,
    among: Callable[[Fact], bool] = bool,
) -> tuple[tuple[float, Fact], ...]:
    """The `limit` facts, active or ended, that are nearest to the query, with their cosines, none below the floor.

    Facts that may not be found take nobody's place: as many are looked at as that needs.
    """
    depth = max(_AT_FIRST, 2 * limit)
    while limit > 0:
        nearest = store.index.nearest_facts(source, query, depth)
        found: list[tuple[float, Fact]] = []
        for cosine, number in nearest:
            if cosine < floor or len(found) >= limit:
                break
            fact = store.fact(source, number)
            if fact is not None and among(fact):
                found.append((cosine, fact))
        if len(found) >= limit or len(nearest) < depth or nearest[-1][0] < floor:
            return tuple(found)
        depth *= 4
    return ()
