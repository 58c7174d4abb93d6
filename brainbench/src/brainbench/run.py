"""The loop: load, replay, hash what was seen, only then read gold, judge.

The one place where replay and gold are both in scope. Replay itself happens in worker processes that are never given
gold.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from brainbench import corpus as corpora
from brainbench import gold as golds
from brainbench.corpus import Corpus
from brainbench.corpus.canaries import planted
from brainbench.datasets import brains
from brainbench.errors import UNLOADED, CorpusError, Fault, NothingMeasured, NotLoaded, UsageError
from brainbench.evidence import Config, Latency, Scoreboard, TurnRow, repository
from brainbench.gold import EventGold, Gold
from brainbench.metrics import METRICS
from brainbench.model import (
    V1_SUITES,
    Capability,
    Fixture,
    ModelDoor,
    Observation,
    Replayed,
    SeamConfig,
    SeamKind,
    Turn,
)
from brainbench.replay import observations_hash
from brainbench.replay.brains import Brain
from brainbench.replay.sweep import FIXTURE_SECONDS, Sweep, by_run_id, refusal, sweep, traits_of
from brainbench.replay.worker import Task, Traits
from brainbench.seams import SEAMS, seam_named
from brainbench.suites import SUITES, Cell, foreign_slugs, judge, push_ceiling
from brainbench.systems import INSTALL, SYSTEMS, UNBOUNDED, check_name, load_system, system_names
from brainbench.systems.access import Access
from brainbench.systems.fence import can_fence

ALONE = ("null", "bm25", "files+grep")
"""What is measured when nothing was named and wellkept is not installed."""
WORTH_A_WORKER = 300
"""Replays of a system for which one more worker process is worth its start."""
EVERY_PAGE = 1_000_000
"""The page budget of a system in UNBOUNDED."""
FILLING = 4
"""How many times the time of a fixture a system may spend on writing the pages of a large brain, whatever its size."""
PAGES_A_FIXTURE = 1_000
"""It may spend the time of a fixture on so many pages of it, if that is more."""
HOME = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Choice:
    """What is measured, on what and where; every name in it is known to be valid."""

    fixtures: Path
    gold: Path
    corpus: str
    systems: tuple[str, ...]
    seams: tuple[SeamConfig, ...]
    suites: tuple[str, ...]
    traits: Mapping[str, Traits]
    """Of a system that could not be loaded, as if it claimed everything: nothing it is asked is not applicable."""
    unloaded: Mapping[str, str] = field(default_factory=dict)
    """The systems that could not be loaded where others could, and why."""
    include_holdout: bool = False
    seed: int = 42
    jobs: int | None = None
    modes: Mapping[str, str] = field(default_factory=dict)
    fixture_seconds: float = FIXTURE_SECONDS
    door: ModelDoor | None = None
    """Where write-back asks a model; None: what an extractor would say is scripted."""
    most_fixtures: int | None = None
    command: tuple[str, ...] = ()
    access: Access = field(default_factory=Access)

    @property
    def narrowed(self) -> bool:
        """Whether harnesses, suites or fixtures were left out."""
        left_out = len(self.seams) < len(SEAMS) or len(self.suites) < len(SUITES)
        return left_out or self.most_fixtures is not None


@dataclass(frozen=True, slots=True)
class Run:
    """A judged run and what it stands on."""

    choice: Choice
    board: Scoreboard
    corpus: Corpus
    replays: tuple[Replayed, ...]
    refused: Mapping[str, str] = field(default_factory=dict)
    """The systems that were not admitted, and why: of these nothing was played."""


def choose(
    *,
    fixtures: Path | None = None,
    gold: Path | None = None,
    corpus: str | None = None,
    systems: Sequence[str] = (),
    harness: str = "all",
    suite: str = "all",
    include_holdout: bool = False,
    hook_inproc: bool = False,
    openclaw_window: str = "mixed",
    seed: int = 42,
    jobs: int | None = None,
    timeout: float = FIXTURE_SECONDS,
    command: Sequence[str] = (),
    access: Access | None = None,
) -> Choice:
    """What the flags of `brainbench run` ask for. UsageError names the flag and the valid values."""
    where = corpus_place(fixtures, gold, corpus)
    seams = tuple(seam_named(name) for name in _listed(harness, tuple(SEAMS), "--harness"))
    modes = {}
    if hook_inproc:
        modes["hook"] = "in-process"
        seams = tuple(_without_process(seam) for seam in seams)
    if openclaw_window == "user":
        modes["openclaw-window"] = "user"
        seams = tuple(_user_window(seam) for seam in seams)
    access = replace(access or Access(), hidden=hidden_places(*where[:2]))
    if access.variables:
        modes["pass-env"] = ",".join(sorted(access.variables))
    named = tuple(dict.fromkeys(systems)) or default_systems()
    traits, unloaded = _traits(named, access)
    return Choice(
        *where,
        systems=named,
        seams=seams,
        suites=_listed(suite, tuple(SUITES), "--suite"),
        traits=traits,
        unloaded=unloaded,
        include_holdout=include_holdout,
        seed=seed,
        jobs=jobs,
        modes=modes,
        fixture_seconds=timeout,
        command=tuple(command),
        access=access,
    )


def _traits(systems: Sequence[str], access: Access) -> tuple[Mapping[str, Traits], Mapping[str, str]]:
    """What each system says of itself, and why some could not be loaded. NotLoaded where none could.

    One costs only its own cells, but a name that is nobody's is a slip of the pen, better told before all is played.
    """
    for name in systems:
        check_name(name)
    traits: dict[str, Traits] = {}
    problems: dict[str, str] = {}
    for name in systems:
        try:
            traits[name] = traits_of(name, access)
        except NotLoaded as error:
            problems[name] = str(error)
    if not traits:
        raise NotLoaded("\n".join(problems.values()))
    anything = Traits(can=frozenset(Capability))
    unloaded = {name: _why_unloaded(name, text) for name, text in problems.items()}
    return {name: traits.get(name, anything) for name in systems}, unloaded


def _why_unloaded(name: str, text: str) -> str:
    """An error of loading as the reason of a row.

    >>> _why_unloaded("a:B", "--system: a:B cannot be loaded: no a")
    'could not be loaded: no a'
    """
    start = f"--system: {name}"
    told = (line.removeprefix(start).removeprefix(" cannot be loaded").removeprefix(": ") for line in text.splitlines())
    return f"{UNLOADED}{'; '.join(told)}"


def hidden_places(fixtures: Path, gold: Path) -> tuple[str, ...]:
    """What no system may read: this corpus and all at hand, what makes them, their history, and earlier results."""
    here = [place.resolve() for place in (fixtures, gold, *corpora.installed())]
    tops = {parent for place in (*here, Path.cwd()) for parent in (place, *place.parents) if (parent / ".git").exists()}
    told = [top / name for top in sorted(tops) for name in ("evidence", ".brainbench")]
    return tuple(map(str, [*here, HOME / "datasets", *map(_history, sorted(tops)), *told]))


def _history(top: Path) -> Path:
    """Where the history of a checkout stands; a linked worktree only names it."""
    link = top / ".git"
    if not link.is_file():
        return link
    return (top / link.read_text(encoding="utf-8").removeprefix("gitdir:").strip()).resolve().parents[1]


def default_systems() -> tuple[str, ...]:
    """`wellkept` where it is installed, else the built-in systems."""
    try:
        load_system("wellkept").close()
    except UsageError:
        return ALONE
    return ("wellkept",)


def measure(choice: Choice, progress: Callable[[int, int], None] = lambda done, of: None) -> Run:
    """Play and judge everything that was chosen. `progress` is told how many replays are done, of how many.

    CorpusError carries every fault of the corpus. NothingMeasured when there is nothing to judge.
    """
    started, cpu = time.monotonic(), _cpu_seconds()
    corpus, hashed, warnings = loaded(choice)
    if not any(set(f.suites) & set(choice.suites) for f in corpus.fixtures):
        declared = ", ".join(sorted({s for f in corpus.fixtures for s in f.suites}))
        raise NothingMeasured(f"--suite: no fixture declares {', '.join(choice.suites)}; they declare {declared}")
    if not any(set(seam.suites) & set(choice.suites) for seam in choice.seams):
        raise NothingMeasured(f"--harness, --suite: {_carried(choice)}")
    refused = refusals(choice)
    with laid_out(choice, corpus) as tasks:
        progress(0, len(tasks))
        swept = played(choice, tasks, refused=refused, done=lambda done: progress(done, len(tasks)))
    seen = observations_hash(swept.replays)
    gold = gold_after(choice, corpus, hashed)
    board = _board(choice, corpus, gold, hashed, swept.replays, warnings)
    board = replace(board, cells=tuple(replace(c, reason=refused.get(c.system, c.reason)) for c in board.cells))
    board = replace(
        board,
        observations_hash=seen,
        peak_mb=round(swept.peak_mb, 1),
        cpu_s=round(_cpu_seconds() - cpu, 2),
        duration_ms=round((time.monotonic() - started) * 1000, 1),
    )
    _refuse_nothing(board)
    return Run(choice, board, corpus, tuple(swept.replays), refused)


def _carried(choice: Choice) -> str:
    """Which suites the chosen seams carry, and which seams carry the chosen suites, where that is none of them."""
    ours = "; ".join(f"the {seam.name} seam carries {', '.join(seam.suites)}" for seam in choice.seams)
    others = ", ".join(seam.name for seam in SEAMS.values() if set(seam.suites) & set(choice.suites))
    return f"{ours}, not {' or '.join(choice.suites)}: that is asked through {others}"


def loaded(choice: Choice) -> tuple[Corpus, str, Sequence[Fault]]:
    """The corpus with what an extractor would say, its hash, and warnings. CorpusError carries every fault."""
    seen = corpora.scan(choice.fixtures)
    warnings = golds.validate(choice.fixtures, choice.gold, seen)
    hashed = golds.fixtures_hash(choice.fixtures, choice.gold, seen)
    corpus = corpora.read(choice.fixtures, include_holdout=choice.include_holdout, seen=seen)
    corpus = golds.with_scripted_facts(corpus, choice.gold)
    corpus = replace(corpus, fixtures=tuple(planted(f, choice.seed) for f in corpus.fixtures))
    if choice.most_fixtures is not None:
        asked = [f for f in corpus.fixtures if set(f.suites) & set(choice.suites)]
        corpus = replace(corpus, fixtures=spread(asked, choice.most_fixtures))
    return corpus, hashed, warnings


def spread(fixtures: Sequence[Fixture], most: int) -> tuple[Fixture, ...]:
    """At most so many fixtures, taken from all over the corpus."""
    if most >= len(fixtures):
        return tuple(fixtures)
    return tuple(fixtures[number * len(fixtures) // most] for number in range(most))


def gold_after(choice: Choice, corpus: Corpus, hashed: str) -> Mapping[str, Gold]:
    """The gold of a corpus that has been played. CorpusError if its files changed meanwhile."""
    gold = golds.with_canaries(golds.read(corpus, choice.gold), choice.seed)
    if golds.fixtures_hash(choice.fixtures, choice.gold) != hashed:
        raise CorpusError([Fault(str(choice.gold), "files", "fixtures or gold changed while the corpus was played")])
    return gold


def refusals(choice: Choice) -> Mapping[str, str]:
    """The systems of the choice that may not be played, and why; asked before anything is."""
    loaded = (name for name in choice.systems if name not in choice.unloaded)
    reasons = {name: refusal(name, choice.access, choice.fixture_seconds) for name in loaded}
    return {**choice.unloaded, **{name: why for name, why in reasons.items() if why is not None}}


def played(
    choice: Choice,
    tasks: Sequence[Task],
    *,
    jobs: int | None = None,
    order: Callable[[Task], str] = by_run_id,
    refused: Mapping[str, str] | None = None,
    done: Callable[[int], None] = lambda count: None,
) -> Sweep:
    """The replays of these tasks, in `jobs` workers where not as was chosen; `done` is told of every finished one."""
    return sweep(
        tasks,
        jobs or jobs_for(choice, len(tasks)),
        fixture_seconds=choice.fixture_seconds,
        order=order,
        done=done,
        access=choice.access,
        refused=refused,
    )


def jobs_for(choice: Choice, replays: int) -> int:
    """How many workers a system is played in: as asked, else by the work and the cores, at most 4."""
    return choice.jobs or min(4, os.cpu_count() or 1, 1 + replays // (len(choice.systems) * WORTH_A_WORKER))


def names() -> Mapping[str, Mapping[str, str]]:
    """Everything that can be named on the command line, with a line about each."""
    return {
        "systems": {name: _standing(name) for name in system_names()},
        "harnesses": {s.name: f"{s.kind}, {s.budget.pages} pages, {', '.join(s.suites)}" for s in SEAMS.values()},
        "suites": {name: ", ".join(suite.metrics) for name, suite in SUITES.items()},
        "metrics": {m.name: m.formula for m in METRICS.values()},
        "corpora": {path.name: str(path) for path in corpora.installed()},
    }


def _standing(system: str) -> str:
    """Whether a system can be measured here."""
    if system not in SYSTEMS:
        return "installed"
    try:
        load_system(system).close()
    except UsageError:
        return f"its adapter is built in; {INSTALL.format(system)} to measure it"
    return "built in"


class CorpusPlace(NamedTuple):
    """Where a corpus lies, and what it is called."""

    fixtures: Path
    gold: Path
    corpus: str


def corpus_place(fixtures: Path | None, gold: Path | None, corpus: str | None) -> CorpusPlace:
    """The corpus that the flags name. UsageError where there is none, or two are named."""
    if fixtures is None and gold is None:
        directory = corpora.find(corpus or "core")
        return CorpusPlace(directory / "fixtures", directory / "gold", corpus or "core")
    if corpus is not None:
        raise UsageError("--corpus: give either --corpus NAME or --fixtures DIR --gold DIR, not both")
    if fixtures is None or gold is None:
        missing = "--fixtures" if fixtures is None else "--gold"
        raise UsageError(f"{missing}: --fixtures DIR and --gold DIR go together")
    return CorpusPlace(fixtures, gold, fixtures.absolute().parent.name or "corpus")


def _listed(value: str, known: tuple[str, ...], flag: str) -> tuple[str, ...]:
    """The names of a comma-separated list, in the order of the table."""
    asked = {name.strip() for name in value.split(",") if name.strip()}
    unknown = sorted(asked - set(known) - {"all"})
    if unknown or not asked:
        wrong = f"unknown {', '.join(map(repr, unknown))}" if unknown else "nothing named"
        raise UsageError(f"{flag}: {wrong}; known: {', '.join(known)}, all")
    return known if "all" in asked else tuple(name for name in known if name in asked)


def _without_process(seam: SeamConfig) -> SeamConfig:
    if not seam.process:
        return seam
    return replace(seam, process=False, kind="contract", deviations=(*seam.deviations, "no process, no socket"))


def _user_window(seam: SeamConfig) -> SeamConfig:
    if seam.name != "openclaw":
        return seam
    return replace(seam, roles=("user",), deviations=(*seam.deviations, "window of user turns only"))


def _as_met_by(system: str, seam: SeamConfig) -> SeamConfig:
    """The seam as this system meets it: with room for every page where its budget is lifted."""
    if system not in UNBOUNDED:
        return seam
    deviations = (*seam.deviations, "page budget lifted")
    return replace(seam, budget=replace(seam.budget, pages=EVERY_PAGE), deviations=deviations)


@contextmanager
def laid_out(choice: Choice, corpus: Corpus) -> Iterator[list[Task]]:
    """The tasks of a choice, with the large brains that they are played in laid into files for as long as it takes."""
    seconds = choice.fixture_seconds
    with brains.laid_out(corpus, lambda pages: seconds * max(FILLING, pages / PAGES_A_FIXTURE)) as large:
        yield tasks_of(choice, corpus, large)


def tasks_of(choice: Choice, corpus: Corpus, large: Mapping[str, Brain] = MappingProxyType({})) -> list[Task]:
    """Which fixture goes through which seam, and in which large brain.

    What shared suites alone ask is played once, through the first seam.
    """
    shared = {name for name, suite in SUITES.items() if suite.shared}
    key = corpora.script_hash(corpus)
    tasks = []
    for system in choice.systems:
        for number, seam in enumerate(choice.seams):
            for fixture in corpus.fixtures:
                asked = set(fixture.suites) & set(choice.suites) & set(seam.suites)
                if number > 0:
                    asked -= shared
                met, traits = _as_met_by(system, seam), choice.traits[system]
                brain = large[fixture.universe] if fixture.universe else None
                for protected in _modes(asked, traits):
                    place = f"{system}/{seam.name}" + ("/protected" if protected else "")
                    run_id = corpora.opaque_id(fixture, choice.seed, key, place)
                    tasks.append(
                        Task(
                            *(system, met, fixture, run_id, choice.seed, traits.can, traits.alone, brain, choice.door),
                            protected=protected,
                        )
                    )
    return tasks


def _modes(asked: Collection[str], traits: Traits) -> Iterator[bool]:
    """Whether a fixture is played with the system's shipped settings, and protected where it has a gate for that."""
    modes = {SUITES[name].protected for name in asked}
    if False in modes:
        yield False
    if True in modes and Capability.WRITE_GATE in traits.can:
        yield True
    elif modes == {True}:
        yield False


def _board(
    choice: Choice,
    corpus: Corpus,
    gold: Mapping[str, Gold],
    hashed: str,
    replays: Sequence[Replayed],
    warnings: Sequence[Fault],
) -> Scoreboard:
    by_place = {(r.system, r.seam, r.fixture_id, r.protected): r for r in replays}
    cells: list[Cell] = []
    rows: list[TurnRow] = []
    capabilities: dict[str, tuple[str, ...]] = {}
    for name in choice.systems:
        traits = choice.traits[name]
        shared = _played_first(name, choice.seams, corpus, gold, by_place)
        for seam in choice.seams:
            played = _played(name, seam, corpus, gold, by_place)
            guarded = _played(name, seam, corpus, gold, by_place, protected=True)
            for suite in choice.suites:
                used = shared if SUITES[suite].shared else guarded if SUITES[suite].protected else played
                if SUITES[suite].protected and Capability.WRITE_GATE not in traits.can:
                    used = played
                met = _as_met_by(name, seam)
                cell = judge(SUITES[suite], name, met, used, can=traits.can, kind=_kind(traits, seam))
                if cell is not None:
                    cells.append(cell)
            rows += _rows(name, seam, choice.suites, played)
        capabilities[name] = () if name in choice.unloaded else tuple(sorted(traits.can))
    sha = repository.head(HOME)
    return Scoreboard(
        corpus=choice.corpus,
        fixtures_hash=hashed,
        corpus_hash=corpus.manifest.corpus_hash if corpus.manifest else None,
        observations_hash="",
        config=_config(choice, corpus),
        cells=tuple(cells),
        receipt=_receipt(choice, hashed, sha),
        rows=tuple(rows),
        seed_failures=_seed_failures(replays),
        warnings=_notes(warnings, corpus, choice),
        ceilings={seam.name: _ceiling(seam, corpus, gold) for seam in choice.seams if "push" in seam.suites},
        latencies=_latencies(replays),
        harness_sha=sha,
        corpus_kind="v2" if all(f.schema_version == 2 for f in corpus.fixtures) else "v1",
        capabilities=capabilities,
    )


Played = tuple[Fixture, Gold, Replayed]
Places = Mapping[tuple[str, str, str, bool], Replayed]


def _played(
    system: str,
    seam: SeamConfig,
    corpus: Corpus,
    gold: Mapping[str, Gold],
    replays: Places,
    *,
    protected: bool = False,
) -> list[Played]:
    found = ((f, replays.get((system, seam.name, f.fixture_id, protected))) for f in corpus.fixtures)
    return [(fixture, gold[fixture.fixture_id], replayed) for fixture, replayed in found if replayed is not None]


def _played_first(
    system: str, seams: Sequence[SeamConfig], corpus: Corpus, gold: Mapping[str, Gold], replays: Places
) -> list[Played]:
    """For suites that are judged once for all seams: each fixture as its first seam played it."""
    first: dict[str, Played] = {}
    for seam in seams:
        for played in _played(system, seam, corpus, gold, replays):
            first.setdefault(played[0].fixture_id, played)
    return [first[f.fixture_id] for f in corpus.fixtures if f.fixture_id in first]


def _kind(traits: Traits, seam: SeamConfig) -> SeamKind:
    """Production only where the artefact that the product ships for this harness is what ran."""
    shipped = seam.name in traits.production and (not seam.process or Capability.HOOK_PROCESS in traits.can)
    return seam.kind if shipped else "contract"


def _ceiling(seam: SeamConfig, corpus: Corpus, gold: Mapping[str, Gold]) -> tuple[int, int]:
    return push_ceiling(seam, [(f, gold[f.fixture_id]) for f in corpus.fixtures])


def _config(choice: Choice, corpus: Corpus) -> Config:
    """What binds the run: of the suites of acts only those that the corpus has fixtures for."""
    declared = {name for fixture in corpus.fixtures for name in fixture.suites}
    return Config(
        include_holdout=choice.include_holdout,
        llm=choice.door is not None,
        systems=choice.systems,
        harnesses=tuple(seam.name for seam in choice.seams),
        suites=tuple(name for name in choice.suites if name in V1_SUITES or name in declared),
        modes=dict(choice.modes),
        deviations={seam.name: seam.deviations for seam in choice.seams},
        narrowed=choice.narrowed,
    )


def _receipt(choice: Choice, fixtures_hash: str, sha: str) -> Mapping[str, object]:
    return {
        "result_schema_version": 1,
        "fixtures_hash": fixtures_hash,
        "harness_sha": sha,
        "ts": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        "cmd_args": list(choice.command),
        "seed": choice.seed,
        "include_holdout": choice.include_holdout,
        "llm": choice.door is not None,
    }


def _latencies(replays: Sequence[Replayed]) -> Mapping[str, Latency]:
    taken: dict[str, list[float]] = {}
    for replayed in replays:
        turns = [o.latency_ms for o in replayed.observations if o.kind == "turn" and o.error is None]
        taken.setdefault(f"{replayed.system}/{replayed.seam}", []).extend(turns)
    return {place: _latency(sorted(values)) for place, values in taken.items() if values}


def _latency(values: Sequence[float]) -> Latency:
    p50, p95 = (values[-(-share * len(values) // 100) - 1] for share in (50, 95))
    return Latency(p50, p95 if len(values) >= 20 else None, len(values))


def _seed_failures(replays: Sequence[Replayed]) -> tuple[tuple[str, str, str], ...]:
    found = {(r.system, r.fixture_id): r.seed_failure for r in replays if r.seed_failure is not None}
    return tuple((system, fixture, found[system, fixture] or "") for system, fixture in sorted(found))


def _notes(warnings: Sequence[Fault], corpus: Corpus, choice: Choice) -> tuple[str, ...]:
    notes = [str(w) for w in warnings]
    if any(f.scripted_facts and f.schema_version == 1 for f in corpus.fixtures):
        notes.append("v1_extractor_from_gold: the scripted extractor of v1 fixtures says what their gold facts say")
    if not can_fence():
        notes.append(
            "this kernel has no Landlock: nothing but its good will keeps a system from reading the gold files"
        )
    lifted = sorted(UNBOUNDED & set(choice.systems))
    notes += [f"{system}: the page budget is lifted; it shows what bringing everything scores" for system in lifted]
    if corpus.held_out and not choice.include_holdout:
        notes.append(f"{corpus.held_out} held-out scripts were not played")
    return tuple(notes)


def _rows(name: str, seam: SeamConfig, suites: Sequence[str], played: Sequence[Played]) -> Iterator[TurnRow]:
    """One row per user turn that was asked x suite that its fixture declares and that was requested."""
    for fixture, gold, replayed in played:
        origins = dict(fixture.origins)
        declared = dict(fixture.declares) or {fixture.fixture_id: fixture.suites}
        seen = {o.event_id: o for o in replayed.observations if o.kind == "turn"}
        for event in fixture.events:
            if not isinstance(event, Turn) or event.event_id not in seen:
                continue
            origin = origins.get(event.event_id)
            place = (origin.fixture_id, origin.turn_id) if origin else (fixture.fixture_id, event.event_id)
            source = event.source or fixture.active_source
            observed = seen[event.event_id]
            for suite in suites:
                if suite in declared[place[0]] and suite in seam.suites and not SUITES[suite].shared:
                    foreign = foreign_slugs(fixture, source, observed.ids)
                    yield _row(
                        name, seam.name, suite, place, observed, _turn_gold(gold, place, event.event_id), foreign
                    )


def _row(
    system: str,
    seam: str,
    suite: str,
    place: tuple[str, int],
    seen: Observation,
    gold: Mapping[str, object] | None,
    foreign: tuple[str, ...],
) -> TurnRow:
    return TurnRow(*place, system, seam, suite, seen.ids, seen.tokens, gold, foreign, seen.latency_ms)


def _turn_gold(gold: Gold, place: tuple[str, int], event_id: int) -> Mapping[str, object] | None:
    """The gold of a turn in v1's form."""
    if place in gold.v1_turns:
        return gold.v1_turns[place]
    event = gold.events.get(event_id)
    return None if event is None or event.retrieve is None else _as_v1(event)


def _as_v1(event: EventGold) -> Mapping[str, object]:
    turn: dict[str, object] = {"should_retrieve": event.retrieve == "must"}
    if event.gold_slugs:
        turn["gold_slugs"] = list(event.gold_slugs)
    if event.acceptable_slugs:
        turn["acceptable_slugs"] = list(event.acceptable_slugs)
    return turn


def _refuse_nothing(board: Scoreboard) -> None:
    if not board.cells:
        raise NothingMeasured("no cell asks anything: the fixtures have no gold for these suites and harnesses")
    if all(cell.status == "not_applicable" for cell in board.cells):
        why = "; ".join(sorted({f"{cell.system}: {cell.reason}" for cell in board.cells}))
        raise NothingMeasured(f"no cell applies: {why}")


def _cpu_seconds() -> float:
    """CPU seconds of this process and of all children that have ended."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime
