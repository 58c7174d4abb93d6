"""Failures that users of real memory systems reported, as rows to ask of any memory through its verbs.

Each row is a script and a check. The script goes to the memory, in a worker that holds nothing else; the check stays
here and is told what was seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import chain

from brainbench.field import crashes, deleting, hooks, limits, scopes, texts, times, updating
from brainbench.field.row import Row

BY_GROUP: Mapping[str, tuple[Row, ...]] = {
    "A": deleting.ROWS,
    "B": updating.ROWS,
    "C": scopes.ROWS,
    "D": times.ROWS,
    "E": texts.ROWS,
    "F": limits.ROWS,
    "G": crashes.ROWS,
    "H": hooks.ROWS,
}
"""The rows of each group of GROUPS, in the order in which they are told."""
ROWS: Mapping[str, Row] = {row.id: row for row in chain.from_iterable(BY_GROUP.values())}
"""Every row by its id."""
