"""How an answer was found, and what could not have its part in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from wellkept.storage import ROLLED_BACK, UNVERIFIED

UNKNOWN_SOURCE = "unknown_source"
DEGRADED: Mapping[str, str] = {
    "no_words": "the query holds no word to look for",
    UNKNOWN_SOURCE: "nothing was ever kept in this source",
    "no_embedder": "there is no model for meaning; it is off in the settings, or not installed",
    "vectors_pending": "no vectors yet; run wellkept embed",
    "embedder_mismatch": "the vectors are another model's; run wellkept embed --again",
    "embedder_failed": "the model for meaning failed; see wellkept embed",
    "read_only": "the memory may not be written, so what is told now is not kept",
    UNVERIFIED: "the trust key cannot be used, so that nothing could be verified; run wellkept doctor",
    ROLLED_BACK: "the memory is older than it was, as if an old copy was put in its place; run wellkept doctor",
    "faint": "nothing stands out; what is told is only what comes nearest",
    "no_reranker": "not ranked anew, as no reranker is set (reranker_url in settings.toml)",
    "rerank_failed": "not ranked anew, as the reranker failed",
    "rerank_timeout": "not ranked anew, as the reranker took too long",
}
"""What may keep a search from being all that it could: its code -> why, and what to do."""

_SOME_PENDING = "some of it has no vector yet; run wellkept embed"
_WORDS = frozenset({"lexical", "context", "facts"})
_MEANING = frozenset({"vector", "near facts"})


def found_by(lanes: Iterable[str], degraded: Iterable[str]) -> str:
    """How an answer was found, in one line.

    >>> found_by(("lexical", "context", "exact"), ("vectors_pending",))
    'by words only: no vectors yet; run wellkept embed'
    """
    ran, codes = set(lanes), tuple(degraded)
    means = [name for name, there in (("words", ran & _WORDS), ("meaning", ran & _MEANING)) if there]
    said = f"by {' and '.join(means)}" + (" only" if len(means) == 1 else "")
    if not means or "no_words" in codes:
        said = "nothing was looked for"
    words = {**DEGRADED, "vectors_pending": _SOME_PENDING} if ran & _MEANING else DEGRADED
    why = "; ".join(words[code] for code in codes)
    return f"{said}: {why}" if why else said
