"""From a turn or query to what memory knows about it: pointers, related pages, facts and search hits.

Searches stand in `recall.search`, which loads what the rest does not need.
"""

from wellkept.recall.arms import OFF, SAID, SWITCHES
from wellkept.recall.card import entity_card, timeline
from wellkept.recall.context import said_before, turn_context, turn_pointers, window_volunteers
from wellkept.recall.degraded import DEGRADED, found_by
from wellkept.recall.facts import fitting_facts, rank_facts
from wellkept.recall.fused import Asked, Showing, recalled, searched
from wellkept.recall.pack import context_pack, opening_pack
from wellkept.recall.render import render
from wellkept.recall.unasked import searchable, unasked

__all__ = [
    "DEGRADED",
    "OFF",
    "SAID",
    "SWITCHES",
    "Asked",
    "Showing",
    "context_pack",
    "entity_card",
    "fitting_facts",
    "found_by",
    "opening_pack",
    "rank_facts",
    "recalled",
    "render",
    "said_before",
    "searchable",
    "searched",
    "timeline",
    "turn_context",
    "turn_pointers",
    "unasked",
    "window_volunteers",
]
