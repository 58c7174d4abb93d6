"""An extractor that says what it was told to say, once what was said gives it the occasion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from wellkept.model import CandidateFact
from wellkept.providers import Segment
from wellkept.providers.quotes import find_quote

_Opening = tuple[str, str, datetime | None, str | None]


class ScriptedExtractor:
    """Gives each candidate in the first segment of a session that holds its quote in one message.

    The answer is the same when a session is read again from its start, also after it has grown.
    """

    def __init__(self, candidates: Sequence[CandidateFact]) -> None:
        self._candidates = tuple(candidates)
        self._given: dict[tuple[str, str, int], _Opening] = {}

    def extract(self, segment: Segment, source: str) -> tuple[CandidateFact, ...]:
        """The candidates that this segment gives occasion for, in the order of the script, with confidence 1."""
        first = segment.messages[0]
        opening = (first.role, first.text, first.ts, first.id)
        found = []
        for index, candidate in enumerate(self._candidates):
            if not any(find_quote(message.text, candidate.quote) for message in segment.messages):
                continue
            if self._given.setdefault((source, segment.session, index), opening) == opening:
                found.append(replace(candidate, confidence=1.0))
        return tuple(found)
