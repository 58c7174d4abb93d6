"""What the injections cost, per replayed turn. Diagnostics: printed, never gated."""

from __future__ import annotations

from brainbench.metrics.judged import Judged, JudgedTurn
from brainbench.metrics.values import Mean, Ratio, mean, ratio


def _observed(judged: Judged) -> list[JudgedTurn]:
    return [t for t in judged.turns if t.error is None]


def avg_injected_tokens(judged: Judged) -> Mean | None:
    """Tokens injected per replayed turn, silent turns included."""
    seen = _observed(judged)
    return mean(float(sum(t.tokens for t in seen)), len(seen))


def useful_token_share(judged: Judged) -> Mean | None:
    """Share of injected tokens that went to useful pages; a turn's tokens are divided evenly among its pages."""
    seen = [t for t in _observed(judged) if t.retrieve is not None]
    useful = sum(t.tokens * len(t.useful) / len(t.injected) for t in seen if t.injected)
    return mean(useful, sum(t.tokens for t in seen))


def unresolved_rate(judged: Judged) -> Ratio | None:
    """Share of the ids that came which name no page of the script, or one of which the text holds nothing."""
    seen = [(t.unknown + t.untold, len(t.injected) + t.untold) for t in _observed(judged) if t.unknown is not None]
    return ratio(sum(odd for odd, _ in seen), sum(came for _, came in seen))
