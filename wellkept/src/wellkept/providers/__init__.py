"""What wellkept asks of models, as protocols. An implementation is chosen by settings, never by the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from wellkept.model import CandidateFact, Message


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of one conversation that an extractor reads at once; never empty."""

    session: str
    messages: tuple[Message, ...]
    parts: tuple[str, ...]
    """The segment as text, cut into pieces of at most 6,500 characters for a model to read."""


class Extractor(Protocol):
    """Turns conversation into candidate facts. It names entities by their mention only, never by a slug."""

    def extract(self, segment: Segment, source: str) -> Sequence[CandidateFact]:
        """The facts the segment states. Each quote is verbatim text of one message."""
