"""From a turn or query to what memory knows about it: pointers, related pages, facts and search hits.

Searches stand in `recall.search`, which loads what the rest does not need.
"""

from wellkept.recall.arms import SWITCHES
from wellkept.recall.context import turn_context, turn_pointers, window_volunteers
from wellkept.recall.facts import rank_facts
from wellkept.recall.render import render

__all__ = ["SWITCHES", "rank_facts", "render", "turn_context", "turn_pointers", "window_volunteers"]
