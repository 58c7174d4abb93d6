"""The validity panel: systems whose score is known beforehand, and what must follow from that.

A bench that gives a memory that says nothing a good score, or that cannot tell a damaged memory from a whole one, says
nothing about any other. Every expectation is a row of EXPECTATIONS; one that does not hold makes the run invalid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

from brainbench import gold as golds
from brainbench.evidence.baseline import CEILED, CEILING, baseline_of
from brainbench.evidence.gate import floor_breaches
from brainbench.evidence.profile import Profile
from brainbench.gold import Gold
from brainbench.metamorphic import related
from brainbench.metrics import METRICS, Count, Judged, Measured, Ratio, counts, pooled
from brainbench.model import (
    PUSH_SUITES,
    V1_SUITES,
    FactRow,
    Fixture,
    Observation,
    Replayed,
    SeamConfig,
    SessionBreak,
    Turn,
)
from brainbench.replay import observations_hash
from brainbench.replay.sweep import traits_of
from brainbench.report.ties import mcnemar
from brainbench.run import Choice, Run, jobs_for, laid_out, measure, played
from brainbench.suites import SUITES, Cell, judge
from brainbench.suites.matching import says
from brainbench.systems.panel import pointers

Status = Literal["ok", "BROKEN", "untested"]
PAIRED = Fraction(1, 100)
"""The level at which a damaged system must be told from a whole one."""
FEWEST = 8
"""Pairs that must differ before that level can be reached: seven to none gives 2/128."""
MIDDLING = 12
"""Pages in a brain from which on three drawn by lot are at most a quarter of it."""
LARGE = 1000
"""Pages in a brain from which on drawing by lot finds next to nothing."""
FULL, DEGRADED = "the system", "degraded"
"""How the table names the system under test, and the same with its aliases and three facts of ten taken away."""
WAYS = ("again", "with other jobs", "in another order")
"""How the system is played once more."""
MUST_FAIL = ("null", "always-inject", "always-silent", "echo", "full-context")


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of one expectation: of whom, what was expected, and what was measured."""

    system: str
    expected: str
    measured: str
    status: Status
    why: str

    def __str__(self) -> str:
        return f"{self.system}: expected {self.expected}, measured {self.measured}: {self.why}"


@dataclass(frozen=True, slots=True)
class Panel:
    """The panel of one run: who was under test, and every finding."""

    system: str
    corpus: str
    fixtures: int
    fixtures_hash: str
    observations_hash: str
    """Of all that was seen of the panel."""
    findings: tuple[Finding, ...]

    @property
    def broken(self) -> tuple[Finding, ...]:
        """The expectations that did not hold."""
        return tuple(found for found in self.findings if found.status == "BROKEN")

    @property
    def failures(self) -> tuple[str, ...]:
        """The broken expectations as a scoreboard holds them."""
        return tuple(map(str, self.broken))


@dataclass(frozen=True, slots=True)
class Played:
    """A panel that has been played: the run, its gold and what stands beside it."""

    run: Run
    system: str
    gold: Mapping[str, Gold]
    profile: Profile
    oracle: tuple[Cell, ...]
    hashes: Mapping[str, str] = field(default_factory=dict)
    """What was seen of the system and of `random`, by how they were played."""

    def name(self, system: str) -> str:
        """The name that was measured for a name of the table."""
        return {FULL: self.system, DEGRADED: f"{DEGRADED}:{self.system}"}.get(system, system)

    def cells(self, system: str, suite: str) -> list[Cell]:
        """The cells of a system on a suite that apply, by seam."""
        every = self.oracle if system == "oracle" else self.run.board.cells
        name = self.name(system)
        return [c for c in every if c.system == name and c.suite == suite and c.status != "not_applicable"]

    def judged(self, system: str, cell: Cell) -> Judged:
        """Every event of a system that a cell of its suite and seam stands on."""
        name, suite = self.name(system), SUITES[cell.suite]
        seams = [s for s in self.run.choice.seams if suite.shared or s.name == cell.seam]
        found: dict[str, tuple[Replayed, SeamConfig]] = {}
        for seam in seams:
            for replayed in self.run.replays:
                if (replayed.system, replayed.seam) == (name, seam.name):
                    found.setdefault(replayed.fixture_id, (replayed, seam))
        return pooled(
            suite.judge(f, self.gold[f.fixture_id], *found[f.fixture_id])
            for f in self.run.corpus.fixtures
            if f.fixture_id in found
        )


Told = tuple[Status, str]
Check = Callable[[Played, str, str], Told]
"""What a row asks: of a system and a metric, whether it holds and what was measured."""


def _values(played: Played, system: str, metric: str) -> list[tuple[str, Measured | None]]:
    return [(cell.seam, cell.metrics.get(metric)) for cell in played.cells(system, METRICS[metric].suite)]


def _each(
    holds: Callable[[Measured], bool],
    found: Iterable[tuple[str, Measured | None]],
    worst: Callable[[Measured], float],
    pages: int = 0,
) -> Told:
    """Whether it holds in every seam that asked, and the value furthest from it."""
    asked = [(seam, value) for seam, value in found if value is not None]
    if not asked:
        return "untested", f"nothing was asked of a brain of {pages:,} pages" if pages > 1 else "nothing was asked"
    seam, value = max(asked, key=lambda item: worst(item[1]))
    shown = counts(value) if len({counts(v) for _, v in asked}) == 1 else f"{counts(value)} ({seam})"
    return ("ok" if all(holds(v) for _, v in asked) else "BROKEN"), shown


def exactly(wanted: int, pages: int = 0) -> Check:
    """The rate is this in every seam; with `pages` on fixtures whose brain holds at least so many."""

    def check(played: Played, system: str, metric: str) -> Told:
        found = _in_brains(played, system, metric, pages) if pages else _values(played, system, metric)
        return _each(lambda v: v.value == wanted, found, lambda v: abs(float(v.value) - wanted), pages)

    return check


def at_most(most: Fraction, pages: int) -> Check:
    """The rate is not above this in any seam, on fixtures whose brain holds at least so many pages."""

    def check(played: Played, system: str, metric: str) -> Told:
        found = _in_brains(played, system, metric, pages)
        return _each(lambda v: v.value <= most, found, lambda v: float(v.value), pages)

    return check


def undefined(played: Played, system: str, metric: str) -> Told:
    """There is no rate: nothing was brought, so nothing of it can be right."""
    found = _values(played, system, metric)
    if not found:
        return "untested", "nothing was asked"
    told = [f"{counts(value)} ({seam})" for seam, value in found if value is not None]
    return ("BROKEN", told[0]) if told else ("ok", "none")


def above_random(played: Played, system: str, metric: str) -> Told:
    """In every seam more than what the lot found, where a brain is large enough for the lot to miss."""
    lot = dict(_in_brains(played, "random", metric, MIDDLING))
    pairs = [(seam, v, lot.get(seam)) for seam, v in _in_brains(played, system, metric, MIDDLING)]
    both = [(seam, v, other) for seam, v, other in pairs if v is not None and other is not None]
    if not both:
        return "untested", f"nothing was asked of a brain of {MIDDLING} pages"
    seam, value, other = min(both, key=lambda item: float(item[1].value) - float(item[2].value))
    shown = f"{counts(value)} over {counts(other)} ({seam})"
    return ("ok" if all(v.value > o.value for _, v, o in both) else "BROKEN"), shown


def _in_brains(played: Played, system: str, metric: str, pages: int) -> list[tuple[str, Measured | None]]:
    """A metric by seam on the fixtures whose brain holds at least so many pages."""
    choice, corpus = played.run.choice, played.run.corpus
    universes = {n: u.pages for n, u in corpus.manifest.universes.items()} if corpus.manifest else {}
    large = [f for f in corpus.fixtures if _pages(f, universes) >= pages]
    found: list[tuple[str, Measured | None]] = []
    for seam in choice.seams:
        seen = {r.fixture_id: r for r in played.run.replays if (r.system, r.seam) == (system, seam.name)}
        asked = [(f, played.gold[f.fixture_id], seen[f.fixture_id]) for f in large if f.fixture_id in seen]
        cell = judge(SUITES[METRICS[metric].suite], system, seam, asked, can=choice.traits[system].can)
        found += [(seam.name, cell.metrics.get(metric))] if cell is not None and cell.status == "scored" else []
    return found


def _pages(fixture: Fixture, universes: Mapping[str, int]) -> int:
    own = [e for e in fixture.setup if e.via == "page" and e.source in (None, fixture.active_source)]
    return len({e.slug for e in own}) + universes.get(fixture.universe or "", 0)


def most_tokens(played: Played, system: str, metric: str) -> Told:
    """No other system of the panel brings more."""
    own = {seam: float(v.value) for seam, v in _values(played, system, metric) if v is not None}
    if not own:
        return "untested", "nothing was asked"
    rivals = [
        (float(v.value) - own.get(seam, 0.0), other, seam, v)
        for other in (*COMPARED, FULL)
        if other != system
        for seam, v in _values(played, other, metric)
        if v is not None
    ]
    least = f"{min(own.values()):.1f} a turn"
    if not rivals:
        return "untested", f"{least}; nobody beside it"
    ahead, other, seam, value = max(rivals, key=lambda rival: rival[0])
    shown = f"{least}; next {played.name(other)} {float(value.value):.1f} ({seam})"
    return ("ok" if ahead < 0 else "BROKEN"), shown


def worse_than_full(played: Played, system: str, metric: str) -> Told:
    """In every seam the damage shows in pairs of the same item: exact McNemar test, one per cent."""
    told: list[tuple[Fraction, Told]] = []
    for cell in played.cells(FULL, METRICS[metric].suite):
        whole, damaged = (PAIRS[metric](played.judged(s, cell)) for s in (FULL, system))
        lost = sum(right and not damaged.get(item, False) for item, right in whole.items())
        won = sum(not right and damaged.get(item, False) for item, right in whole.items())
        p = mcnemar(lost, won)
        place = "" if cell.shared else f" ({cell.seam})"
        shown = f"{lost} of {sum(whole.values())} lost, {won} won, p = {float(p):.2g}{place}"
        if lost > won and p < PAIRED:
            told.append((p, ("ok", shown)))
        elif not lost + won:
            told.append((p, ("untested", _nothing_lost(sum(whole.values()), len(whole), place))))
        elif lost + won < FEWEST:
            told.append((p, ("untested", f"underpowered: {shown}; {FEWEST} must differ")))
        else:
            told.append((p, ("BROKEN", shown)))
    if not told:
        return "untested", "nothing was asked"
    return max(told, key=lambda item: (("ok", "untested", "BROKEN").index(item[1][0]), item[0]))[1]


def _nothing_lost(right: int, of: int, place: str) -> str:
    """What was seen where a damaged and a whole system did well on the same items."""
    if not of:
        return "nothing was asked"
    if not right:
        return f"nothing could be lost: none of {of} was right in the whole{place}"
    return f"nothing was lost: the damage took none of {right} that were right of {of}{place}"


def _helped(judged: Judged) -> dict[str, bool]:
    return {t.item: t.helped for t in judged.turns if t.retrieve == "must"}


def _recalled(judged: Judged) -> dict[str, bool]:
    must = [t for t in judged.turns if t.retrieve == "must"]
    return {t.item: len(t.gold - t.missed) >= min(judged.capacity, len(t.gold)) for t in must}


def _survived(judged: Judged) -> dict[str, bool]:
    return {f.item: f.survived for f in judged.facts}


PAIRS: Mapping[str, Callable[[Judged], dict[str, bool]]] = {
    "know_to_ask_failure_rate": _helped,
    "push_recall": _recalled,
    "write_back_fidelity": _survived,
}
"""Metric -> for each counted item whether a system did well on it. By these a damaged and a whole one are paired."""


def at_ceiling(played: Played, system: str, metric: str) -> Told:
    """Gold can be satisfied: the best value there is, within the seam's page budget."""
    best = 0 if METRICS[metric].better == "lower" else 1
    if metric != CEILED:
        return exactly(best)(played, system, metric)
    room = {seam: value for seam, value in _values(played, system, CEILING) if isinstance(value, Ratio)}
    found = _values(played, system, metric)
    short = [f"{counts(v)} of {counts(room[s])} ({s})" for s, v in found if v and s in room and v != room[s]]
    told = [f"{counts(v)} ({s})" for s, v in found if v is not None]
    if not told:
        return "untested", "nothing was asked"
    return ("BROKEN", short[0]) if short else ("ok", told[-1])


def no_leaks(played: Played, system: str, metric: str) -> Told:
    """Nothing foreign was brought, in any suite."""
    found = [c.metrics.get(metric) for suite in SUITES for c in played.cells(system, suite)]
    leaks = [v.n for v in found if isinstance(v, Count)]
    return ("ok" if not sum(leaks) else "BROKEN", str(sum(leaks))) if leaks else ("untested", "one source only")


def fails_the_gate(played: Played, system: str, metric: str) -> Told:
    """The floors of the gate's profile stop it."""
    board = played.run.board
    own = [c for c in board.cells if c.system == system]
    if not any(c.status == "scored" and c.suite in PUSH_SUITES and c.gold_total for c in own):
        return "untested", "nothing was asked"
    floors = list(floor_breaches(played.profile, baseline_of(replace(board, cells=tuple(own)))))
    return ("ok" if floors else "BROKEN"), f"{len(floors)} floors broken"


def same_seen(how: str) -> Check:
    """Played that way, the same is seen to the byte."""

    def check(played: Played, system: str, metric: str) -> Told:
        name = played.name(system)
        first, again = (played.hashes.get(f"{name}/{way}") for way in ("first", how))
        if first is None or again is None:
            return "untested", "not played again"
        return ("ok", first[:12]) if first == again else ("BROKEN", f"{first[:12]}, then {again[:12]}")

    return check


@dataclass(frozen=True, slots=True)
class Expectation:
    """A row of the panel: what must be measured of a system, and what would be wrong otherwise."""

    system: str
    metric: str
    bound: str
    check: Check
    why: str


_ONE, _NONE, _NO = exactly(1), exactly(0), undefined
_LITTLE = at_most(Fraction(35, 100), MIDDLING)
_SPEAKS = exactly(1, pages=1)
_AGAIN = "the same system must be seen alike however it is played"

EXPECTATIONS: tuple[Expectation, ...] = (
    Expectation("null", "know_to_ask_failure_rate", "= 1", _ONE, "it never speaks"),
    Expectation("null", "false_fire_rate", "= 0", _NONE, "it never speaks"),
    Expectation("null", "push_recall", "= 0", _NONE, "it never speaks"),
    Expectation("null", "push_precision", "undefined", _NO, "of nothing, nothing is right"),
    Expectation("null", "write_back_fidelity", "= 0", _NONE, "it keeps nothing"),
    Expectation("null", "provenance_accuracy", "undefined", _NO, "of nothing, nothing has a source"),
    Expectation("null", "continuity_rate", "= 0", _NONE, "it keeps nothing"),
    Expectation("always-silent", "know_to_ask_failure_rate", "= 1", _ONE, "keeping is not speaking"),
    Expectation("always-silent", "false_fire_rate", "= 0", _NONE, "keeping is not speaking"),
    Expectation("always-silent", "push_recall", "= 0", _NONE, "keeping is not speaking"),
    Expectation("always-silent", "push_precision", "undefined", _NO, "of nothing, nothing is right"),
    Expectation("always-inject", "false_fire_rate", "= 1", _SPEAKS, "it speaks wherever there is a page"),
    Expectation(
        "always-inject", "push_precision", "<= 0.35 at 12 pages", _LITTLE, "the newest pages are seldom those wanted"
    ),
    Expectation("echo", "know_to_ask_failure_rate", "= 1", _ONE, "repeating a name is not recall"),
    Expectation("echo", "false_fire_rate", "= 0", _NONE, "it brings no page"),
    Expectation("echo", "push_recall", "= 0", _NONE, "repeating a name is not recall"),
    Expectation("echo", "push_precision", "undefined", _NO, "it brings no page"),
    Expectation("echo", "write_back_fidelity", "= 0", _NONE, "it keeps nothing"),
    Expectation("echo", "provenance_accuracy", "undefined", _NO, "it keeps nothing"),
    Expectation("echo", "continuity_rate", "= 0", _NONE, "repeating the question is no answer"),
    Expectation(
        "random", "push_precision", "<= 0.35 at 12 pages", _LITTLE, "pages drawn by lot are seldom those wanted"
    ),
    Expectation("random", "push_recall", "<= 0.02 at 1,000 pages", at_most(Fraction(2, 100), LARGE), "three of 1,000"),
    Expectation("full-context", "know_to_ask_failure_rate", "= 0", _NONE, "what is wanted is among all there is"),
    Expectation("full-context", "push_recall", "= 1", _ONE, "what is wanted is among all there is"),
    Expectation("full-context", "false_fire_rate", "= 1", _SPEAKS, "it speaks wherever there is a page"),
    Expectation("full-context", "avg_injected_tokens", "the most", most_tokens, "nothing costs more than everything"),
    Expectation("bm25", "push_recall", "> random at 12 pages", above_random, "looking must find more than the lot"),
    Expectation(
        "files+grep", "push_recall", "> random at 12 pages", above_random, "looking must find more than the lot"
    ),
    *(
        Expectation("oracle", name, "at its ceiling", at_ceiling, "gold can be satisfied")
        for name, metric in METRICS.items()
        if metric.gated and metric.suite in V1_SUITES
    ),
    Expectation("oracle", "source_isolation_violations", "= 0", no_leaks, "gold wants nothing foreign"),
    *(
        Expectation(
            DEGRADED, name, "worse, p < 0.01", worse_than_full, "a damaged memory must be told from a whole one"
        )
        for name in PAIRS
    ),
    *(
        Expectation(name, "", "fails the gate", fails_the_gate, "the gate must stop what is no memory")
        for name in MUST_FAIL
    ),
    *(Expectation(name, "", f"seen alike, {how}", same_seen(how), _AGAIN) for name in (FULL, "random") for how in WAYS),
)
"""Every expectation. A row whose fixtures are not at hand is untested, and says so."""
COMPARED = tuple(dict.fromkeys(row.system for row in EXPECTATIONS if row.system not in (FULL, DEGRADED, "oracle")))
"""The systems that are played beside the one under test."""


def panel(
    choice: Choice,
    profile: Profile,
    progress: Callable[[int, int], None] = lambda done, of: None,
    told: Callable[[str], None] = lambda what: None,
    changed: bool = False,
) -> Panel:
    """The panel around the first system of the choice, on its corpus and through its seams.

    `changed` adds what becomes of it and of bm25 where the corpus changes in a way that changes nothing that is asked.
    `told` hears what is being played. CorpusError and NothingMeasured as for a run.
    """
    system = choice.systems[0]
    names = tuple(dict.fromkeys((*COMPARED, system, f"{DEGRADED}:{system}")))
    wide = replace(choice, systems=names, traits={name: traits_of(name, choice.access) for name in names})
    told("playing the panel")
    run = measure(wide, progress)
    gold = golds.read(run.corpus, choice.gold)
    played = Played(
        run, system, gold, profile, tuple(_oracle_cells(run, gold)), _seen_alike(run, system, told, progress)
    )
    board = run.board
    return Panel(
        system=system,
        corpus=choice.corpus,
        fixtures=len(run.corpus.fixtures),
        fixtures_hash=board.fixtures_hash,
        observations_hash=board.observations_hash,
        findings=(*findings(played), *(_unchanged(wide, system, told) if changed else ())),
    )


def _unchanged(choice: Choice, system: str, told: Callable[[str], None]) -> Iterator[Finding]:
    """Whether the same is counted where only what does not matter has changed."""
    names = tuple(dict.fromkeys((system, "bm25")))
    for found in related(replace(choice, systems=names), told):
        most = f" but {float(found.relation.bound):.0%}" if found.relation.bound else ""
        expected = f"same counts{most}, {found.relation.name}"
        counted = found.trouble or f"{found.turned} of {found.of} turned"
        status: Status = "ok" if found.holds and found.of else "untested" if found.holds else "BROKEN"
        yield Finding(found.system, expected, f"{counted} ({found.cell})", status, found.relation.why)


def findings(played: Played, expectations: Sequence[Expectation] = EXPECTATIONS) -> Iterator[Finding]:
    """What became of every expectation. A cell that is no measurement breaks those of its system."""
    for row in expectations:
        name = played.name(row.system)
        expected = f"{row.metric} {row.bound}".strip()
        trouble = _trouble(played, name, METRICS[row.metric].suite if row.metric else "")
        status, measured = ("BROKEN", trouble) if trouble else row.check(played, row.system, row.metric)
        yield Finding(name, expected, measured, status, row.why)  # type: ignore[arg-type]


def _trouble(played: Played, name: str, suite: str) -> str:
    """Why a system's numbers cannot be trusted, or ""."""
    for cell in played.run.board.cells:
        untrusted = cell.errors or cell.status in ("invalid", "failed")
        if cell.system == name and cell.suite == (suite or cell.suite) and untrusted:
            return f"{cell.seam}: {cell.reason or cell.status}"
    return ""


def _seen_alike(
    run: Run, system: str, told: Callable[[str], None], progress: Callable[[int, int], None]
) -> dict[str, str]:
    """Hashes of what was seen of the system and of `random`: first, again, with other jobs and in another order."""
    names = (system, "random")
    choice = replace(run.choice, systems=names)
    jobs = jobs_for(run.choice, len(run.replays))
    seen = {f"{name}/first": observations_hash(r for r in run.replays if r.system == name) for name in names}
    with laid_out(choice, run.corpus) as tasks:
        for way in WAYS:
            told(f"playing {way}")
            workers = (2 if jobs == 1 else 1) if way == "with other jobs" else jobs
            order = (lambda task: task.run_id[::-1]) if way == "in another order" else (lambda task: task.run_id)
            replays = played(
                choice, tasks, jobs=workers, order=order, refused=run.refused, done=lambda n: progress(n, len(tasks))
            ).replays
            seen |= {f"{name}/{way}": observations_hash(r for r in replays if r.system == name) for name in names}
    return seen


def _oracle_cells(run: Run, gold: Mapping[str, Gold]) -> Iterator[Cell]:
    for seam in run.choice.seams:
        asked = [f for f in run.corpus.fixtures if set(f.suites) & set(seam.suites)]
        played = [(f, gold[f.fixture_id], oracle(f, gold[f.fixture_id], seam)) for f in asked]
        for suite in run.choice.suites:
            cell = judge(SUITES[suite], "oracle", seam, played)
            if cell is not None:
                yield cell


def oracle(fixture: Fixture, gold: Gold, seam: SeamConfig) -> Replayed:
    """What a memory would show that knows the gold, within the seam's budget."""
    stored: list[FactRow] = []
    seen: list[Observation] = []
    session = 0
    for event in fixture.events:
        expected = gold.events.get(event.event_id)
        if isinstance(event, SessionBreak):
            seen.append(Observation(event.event_id, "persist", session_page=f"sessions/{session}"))
            session += 1
        if not isinstance(event, Turn):
            continue
        for fact in expected.gold_facts if expected else ():
            text = fact.fact if says(fact.fact, fact.match_keywords, fact.forbid_keywords) else str(fact.match_keywords)
            page = f"sessions/{session}"
            stored.append(FactRow(text, fact.entity_slug, "oracle", f"{fixture.active_source}:{page}", page))
        if event.role == "user":
            wanted = expected.gold_slugs if expected and expected.retrieve == "must" else ()
            probes = [p for p in gold.probes if p.after_event == event.event_id]
            rows = tuple(FactRow(" ".join(p.match_keywords), None, "oracle", None, None) for p in probes)
            brought = wanted[: seam.capacity]
            seen.append(Observation(event.event_id, "turn", text=pointers(brought), ids=brought, facts=rows))
    return Replayed(fixture.fixture_id, "oracle", seam.name, tuple(seen), tuple(stored))
