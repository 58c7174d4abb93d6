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
    """Share of injected ids that name no page of the script."""
    seen = [(t.unknown, len(t.injected)) for t in _observed(judged) if t.unknown is not None]
    return ratio(sum(unknown for unknown, _ in seen), sum(injected for _, injected in seen))
