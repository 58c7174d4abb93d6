"""From a turn or query to what memory knows about it: pointers, related pages, facts and search hits."""

from wellkept.recall.arms import SWITCHES
from wellkept.recall.context import turn_context, turn_pointers, window_volunteers
from wellkept.recall.facts import rank_facts
from wellkept.recall.render import render
from wellkept.recall.search import search

__all__ = ["SWITCHES", "rank_facts", "render", "search", "turn_context", "turn_pointers", "window_volunteers"]
