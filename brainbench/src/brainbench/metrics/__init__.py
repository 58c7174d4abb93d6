"""Metrics are pure functions from judged events to counts.

A metric gives Ratio(n, of) or Count(n), and None when nothing was asked: a suite that asked nothing is not perfect.
Rates are derived when printed. To add one: a function in the file of its family and a line in METRICS.
"""

from __future__ import annotations

from collections.abc import Mapping

from brainbench.metrics import continuity, cost, extraction, isolation, push, writeback
from brainbench.metrics.judged import Judged, JudgedExtraction, JudgedFact, JudgedProbe, JudgedTurn, pooled
from brainbench.metrics.values import Count, Mean, Measured, Metric, Ratio, counts, counts_json, four_decimals, wilson

__all__ = [
    "METRICS",
    "Count",
    "Judged",
    "JudgedExtraction",
    "JudgedFact",
    "JudgedProbe",
    "JudgedTurn",
    "Mean",
    "Measured",
    "Metric",
    "Ratio",
    "counts",
    "counts_json",
    "four_decimals",
    "pooled",
    "wilson",
]

METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "know_to_ask_failure_rate",
            "know-to-ask",
            "must-turns where no wanted or acceptable page was injected / must-turns",
            "lower",
            measure=push.know_to_ask_failure_rate,
        ),
        Metric(
            "false_fire_rate",
            "know-to-ask",
            "must-not turns with any injection / must-not turns",
            "lower",
            measure=push.false_fire_rate,
        ),
        Metric(
            "push_precision",
            "push",
            "injected pages that were wanted or acceptable / injected pages, on annotated turns",
            "higher",
            earned=True,
            measure=push.push_precision,
        ),
        Metric(
            "push_recall",
            "push",
            "wanted pages that were injected / wanted pages, on must-turns",
            "higher",
            measure=push.push_recall,
        ),
        Metric(
            "write_back_fidelity",
            "write-back",
            "gold facts found under the right entity / gold facts",
            "higher",
            measure=writeback.write_back_fidelity,
        ),
        Metric(
            "attribution_accuracy",
            "write-back",
            "found facts under the right entity / found facts whose entity is known",
            "higher",
            earned=True,
            measure=writeback.attribution_accuracy,
        ),
        Metric(
            "provenance_accuracy",
            "write-back",
            "survived facts with the exact provenance / survived facts",
            "higher",
            earned=True,
            measure=writeback.provenance_accuracy,
        ),
        Metric(
            "continuity_rate",
            "continuity",
            "probes answered in a later session / probes",
            "higher",
            measure=continuity.continuity_rate,
        ),
        Metric(
            "stored_continuity_rate",
            "continuity",
            "probes answered / probes whose answer only a written-back fact holds",
            "higher",
            measure=continuity.stored_continuity_rate,
        ),
        Metric(
            "source_isolation_violations",
            "every",
            "injected pages seeded only in foreign sources + texts that hold a foreign canary",
            "lower",
            zero=True,
            measure=isolation.source_isolation_violations,
        ),
        Metric(
            "extraction_recall",
            "extraction",
            "gold facts that a model extracted / gold facts, with --llm",
            "higher",
            gated=False,
            measure=extraction.extraction_recall,
        ),
        Metric(
            "extraction_precision",
            "extraction",
            "extracted facts that are gold facts / extracted facts, with --llm",
            "higher",
            gated=False,
            measure=extraction.extraction_precision,
        ),
        Metric(
            "push_recall_ceiling",
            "push",
            "wanted pages that fit the seam's page budget / wanted pages, on must-turns",
            "higher",
            gated=False,
            measure=push.push_recall_ceiling,
        ),
        Metric(
            "avg_injected_tokens",
            "push",
            "injected tokens / replayed turns",
            "lower",
            gated=False,
            measure=cost.avg_injected_tokens,
        ),
        Metric(
            "useful_token_share",
            "push",
            "injected tokens of useful pages / injected tokens, on annotated turns",
            "higher",
            gated=False,
            measure=cost.useful_token_share,
        ),
        Metric(
            "unresolved_rate",
            "push",
            "ids that name no page of the script, or one of which the text holds nothing / ids that came with a text",
            "lower",
            gated=False,
            measure=cost.unresolved_rate,
        ),
    )
}
