"""What wellkept asks of models, as protocols. An implementation is chosen by settings, never by the engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from wellkept.model import CandidateFact, Message

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


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


@dataclass(frozen=True, slots=True)
class EmbedderId:
    """Whose vectors they are: a model and the length of its vectors."""

    model: str
    dimension: int


class Embedder(Protocol):
    """Turns texts into vectors of length 1, of which near ones mean alike. Raises ModelUnavailable."""

    @property
    def id(self) -> EmbedderId:
        """Kept beside every vector: vectors of different models cannot be compared."""

    @property
    def ready(self) -> bool:
        """Whether it answers without loading or learning something first."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row per text. A text that is too long counts with its beginning."""


class Reranker(Protocol):
    """Looks at the first hits of a search more closely than the lanes do. Raises ModelUnavailable."""

    def rank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """A score for each text, higher is better."""
