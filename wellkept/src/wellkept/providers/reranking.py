"""A reranker behind an address, over the interface that most servers of such models share."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from wellkept.errors import ModelUnavailable
from wellkept.providers.asking import Address, post


class EndpointReranker:
    """A model behind an address that ends before `/rerank`. The query and the texts are sent there."""

    def __init__(self, to: Address, model: str) -> None:
        self._to, self._model = to, model

    def rank(self, query: str, texts: Sequence[str]) -> Sequence[float]:
        """A score for each text, higher is better."""
        answer = post(self._to, "/rerank", {"model": self._model, "query": query, "documents": list(texts)})
        try:
            said = {int(row["index"]): float(row["relevance_score"]) for row in json.loads(answer)["results"]}
            scores = [said[place] for place in range(len(texts))]
        except (ValueError, LookupError, TypeError, RecursionError):
            raise ModelUnavailable(self._to.url, "it answered what is no score for each text") from None
        if not all(map(math.isfinite, scores)):
            raise ModelUnavailable(self._to.url, "it answered a score that is no number")
        return scores
