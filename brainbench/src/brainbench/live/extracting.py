"""Write-back with a real extractor: the same play and the same judging, a model in place of the script, repeated."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from brainbench.chat import Chat
from brainbench.chat.relay import Relay
from brainbench.errors import EndpointError
from brainbench.gold import Gold
from brainbench.live.judging import Estimate
from brainbench.metrics import METRICS, Judged, Ratio
from brainbench.metrics.resampling import clustered_interval
from brainbench.run import Choice, Run, gold_after, measure
from brainbench.suites.write_back import WRITE_BACK

ROWS = (
    "extraction_recall",
    "extraction_precision",
    "write_back_fidelity",
    "attribution_accuracy",
    "provenance_accuracy",
)
"""What is counted over all repeats: first what the model said, then what became of it."""


@dataclass(frozen=True, slots=True)
class ExtractionRow:
    """One system over all repeats."""

    system: str
    metrics: Mapping[str, Estimate | None]
    sessions: int
    said: int
    unquoted: int
    unreadable: int


@dataclass(frozen=True, slots=True)
class ExtractionRun:
    """The runs of all repeats, what they count together, and what they stand on."""

    runs: tuple[Run, ...]
    rows: tuple[ExtractionRow, ...]
    receipt: Mapping[str, object]


def measure_extraction(
    choice: Choice, chat: Chat, relay: Relay, repeats: int, progress: Callable[[int, int], None]
) -> ExtractionRun:
    """Play and judge every repeat with a seed of its own. OverBudget and EndpointError say why there is no result."""
    first, runs = relay.seed, []
    choice = replace(choice, door=relay.door, jobs=1, modes={**choice.modes, "extractor": chat.model})
    for repeat in range(repeats):
        relay.seed = first + repeat

        def told(done: int, of: int, before: int = repeat) -> None:
            progress(before * of + done, repeats * of)

        runs.append(measure(choice, told))
        for stop in (chat.exhausted, chat.refused):
            if stop is not None:
                raise stop
    if not chat.spent.calls:
        raise EndpointError("no memory asked the model: none of them has an extractor that uses `RunContext.door`")
    gold = gold_after(choice, runs[0].corpus, runs[0].board.fixtures_hash)
    seed = int(runs[0].board.observations_hash[:12], 16)
    rows = tuple(_row(system, runs, gold, seed) for system in choice.systems)
    return ExtractionRun(tuple(runs), rows, _receipt(chat, relay, first, repeats))


def _row(system: str, runs: list[Run], gold: Mapping[str, Gold], seed: int) -> ExtractionRow:
    judged: dict[str, list[Judged]] = {}
    heard = []
    for run in runs:
        fixtures = {f.fixture_id: f for f in run.corpus.fixtures}
        for replayed in run.replays:
            if replayed.system != system or replayed.seam != run.choice.seams[0].name:
                continue
            fixture = fixtures[replayed.fixture_id]
            found = WRITE_BACK.judge(fixture, gold[fixture.fixture_id], replayed, run.choice.seams[0])
            judged.setdefault(fixture.fixture_id, []).append(found)
            heard += [o.extraction for o in replayed.observations if o.extraction is not None]
    return ExtractionRow(
        system=system,
        metrics={name: _estimate(name, judged, seed) for name in ROWS},
        sessions=len(heard),
        said=sum(len(h.facts) for h in heard),
        unquoted=sum(h.unquoted for h in heard),
        unreadable=sum(h.unreadable for h in heard),
    )


def _estimate(name: str, judged: Mapping[str, list[Judged]], seed: int) -> Estimate | None:
    clusters = []
    for fixture in sorted(judged):
        found = [m for one in judged[fixture] if isinstance(m := METRICS[name].measure(one), Ratio)]
        clusters.append((sum(m.n for m in found), sum(m.of for m in found)))
    of = sum(of for _, of in clusters)
    if not of:
        return None
    asked = [c for c in clusters if c[1]]
    return Estimate(Ratio(sum(n for n, _ in asked), of), clustered_interval(asked, seed), len(asked))


def _receipt(chat: Chat, relay: Relay, seed: int, repeats: int) -> dict[str, object]:
    return {
        "model": chat.model,
        "host": chat.host,
        "recorded": chat.recorded,
        "temperature": 0,
        "seed": seed,
        "repeats": repeats,
        "max_tokens": relay.max_tokens,
        "prompt_sha256": sorted(relay.prompts),
        "usd_per_million": {"input": chat.budget.price.input, "output": chat.budget.price.output},
        "questions": chat.spent.calls,
        "new_questions": chat.spent.new,
        "input_tokens": chat.spent.input_tokens,
        "output_tokens": chat.spent.output_tokens,
        "usd": round(chat.spent.usd, 6),
        "usd_new": round(chat.budget.spent, 6),
        "machine": {"cores": os.cpu_count(), "load": [round(x, 2) for x in os.getloadavg()], "os": platform.platform()},
    }
