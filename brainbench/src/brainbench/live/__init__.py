"""A model in the loop: when memory stays silent, does the model ask, and does asking help?

The one other place, beside `run`, where playing and gold are both in scope. The loop stands in the bench; a worker
holds the memory and answers tool calls, and sees neither model, key nor gold.
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import msgspec
import rfc8785

from brainbench.chat import Chat
from brainbench.corpus import Corpus
from brainbench.errors import NothingMeasured, UsageError
from brainbench.evidence import repository
from brainbench.live.judging import LIVE_METRICS, Verdicts, judge
from brainbench.live.playing import ARMS, Plan, Played, Player, unplayed, user_turns
from brainbench.live.prompt import offered, prompt_hash, tools_hash
from brainbench.model import SeamConfig
from brainbench.replay.staging import staging
from brainbench.replay.worker import Task
from brainbench.run import HOME, Choice, gold_after, laid_out, loaded, refusals
from brainbench.seams import SEAMS
from brainbench.suites.scripts import user_scenes

__all__ = ["ARMS", "LIVE_METRICS", "LiveRun", "Plan", "measure_live"]

SUITE = "know-to-ask"


@dataclass(frozen=True, slots=True)
class LiveRun:
    """A judged run with a model in the loop, and what it stands on."""

    receipt: Mapping[str, object]
    verdicts: Verdicts
    played: Played
    observations_hash: str
    seam: SeamConfig
    spent_usd: float
    spent_new_usd: float
    questions: int
    new_questions: int


def measure_live(
    choice: Choice,
    plan: Plan,
    chat: Chat,
    *,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> LiveRun:
    """Play the know-to-ask fixtures with the model in every arm and repeat, then judge.

    EndpointError, OverBudget and NothingMeasured say why there is no result; what was recorded stays.
    """
    seams = _one_seam(choice)
    choice = replace(choice, suites=(SUITE,))
    corpus, hashed, _ = loaded(choice)
    asking = [f for f in corpus.fixtures if SUITE in f.suites]
    if not asking:
        raise NothingMeasured(f"no fixture declares {SUITE}: a model is put to no other turns")
    corpus = replace(corpus, fixtures=tuple(asking))
    choice = replace(choice, seams=seams)
    played, refused = Played(), refusals(choice)
    with laid_out(choice, corpus) as tasks:
        of = sum(len(user_turns(task.fixture)) for task in tasks) * len(plan.arms) * plan.repeats
        progress(0, of)
        for system in choice.systems:
            own = [task for task in tasks if task.system == system]
            before = len(played.turns)
            if system in refused:
                found = unplayed(own, plan, refused[system])
            else:
                with staging(choice.access, choice.fixture_seconds) as staged:
                    player = Player(chat, plan, staged, lambda done, before=before: progress(before + done, of))  # type: ignore[misc]
                    found = player.play(own)
            played.turns += found.turns
            played.not_applicable |= found.not_applicable
            played.seed_failures |= found.seed_failures
    seen = _seen_hash(played)
    gold = gold_after(choice, corpus, hashed)
    if not played.turns:
        raise NothingMeasured("no fixture could be played: " + "; ".join(_why(played)))
    verdicts = judge(played.turns, gold, _items(corpus), int(seen[:12], 16))
    return LiveRun(
        receipt=_receipt(choice, corpus, plan, chat, hashed, tasks),
        verdicts=verdicts,
        played=played,
        observations_hash=seen,
        seam=choice.seams[0],
        spent_usd=chat.spent.usd,
        spent_new_usd=chat.budget.spent,
        questions=chat.spent.calls,
        new_questions=chat.spent.new,
    )


def _one_seam(choice: Choice) -> tuple[SeamConfig, ...]:
    """The seam whose pushes the model sees: the one named, or of several claude-code."""
    asked = [seam for seam in choice.seams if SUITE in seam.suites]
    if not asked:
        raise UsageError(f"--harness: {choice.seams[0].name} pushes nothing to a turn; name another one")
    if len(asked) > 1 and len(choice.seams) < len(SEAMS):
        raise UsageError("--harness: a live run has one harness; name one")
    return (next((seam for seam in asked if seam.name == "claude-code"), asked[0]),)


def _items(corpus: Corpus) -> frozenset[tuple[str, int]]:
    return frozenset((f.fixture_id, s.turn.event_id) for f in corpus.fixtures for s in user_scenes(f, SUITE))


def _why(played: Played) -> list[str]:
    lacking = {f"{system} lacks {', '.join(words)}" for (system, _), words in played.not_applicable.items()}
    return sorted(lacking | set(played.seed_failures.values()))


def _seen_hash(played: Played) -> str:
    """SHA-256 over all that was seen, without how long it took."""
    digest = hashlib.sha256()
    for turn in played.turns:
        error = "error" if turn.asked.error else None
        plain = replace(turn, asked=replace(turn.asked, latency_ms=0.0, usd=0.0, error=error))
        digest.update(rfc8785.dumps(msgspec.to_builtins(plain)) + b"\n")
    return digest.hexdigest()


def _receipt(
    choice: Choice, corpus: Corpus, plan: Plan, chat: Chat, hashed: str, tasks: Sequence[Task]
) -> dict[str, object]:
    tools = {task.system: offered(task.can) for task in tasks}
    return {
        "fixtures_hash": hashed,
        "corpus": choice.corpus,
        "corpus_hash": corpus.manifest.corpus_hash if corpus.manifest else None,
        "fixtures": [fixture.fixture_id for fixture in corpus.fixtures],
        "include_holdout": choice.include_holdout,
        "harness_sha": repository.head(HOME),
        "ts": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "cmd_args": list(choice.command),
        "model": chat.model,
        "host": chat.host,
        "recorded": chat.recorded,
        "temperature": 0,
        "seed": plan.seed,
        "repeats": plan.repeats,
        "arms": list(plan.arms),
        "max_tokens": plan.max_tokens,
        "prompt_sha256": prompt_hash(),
        "tools": {system: list(names) for system, names in tools.items()},
        "tools_sha256": {system: tools_hash(names) for system, names in tools.items()},
        "usd_per_million": {"input": chat.budget.price.input, "output": chat.budget.price.output},
        "machine": {"cores": os.cpu_count(), "load": [round(x, 2) for x in os.getloadavg()], "os": platform.platform()},
    }
