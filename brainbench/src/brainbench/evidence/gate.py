"""May this change pass? A run against the baseline of the main branch and the one committed beside the change.

What is never waived comes first: metrics that must be zero, and the floors. Then whatever makes the run
untrustworthy; then regressions, which only a committed baseline of this very run with a justification can bless.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from brainbench.errors import IncompatibleError, UsageError
from brainbench.evidence import CorpusKind, Scoreboard
from brainbench.evidence.baseline import (
    CEILED,
    Baseline,
    Part,
    StoredCell,
    baseline_of,
    in_version,
    read_baseline,
    serialised,
    shown,
)
from brainbench.evidence.compare import (
    aligned,
    config_differences,
    exact,
    improvements,
    regressions,
    zero_breaches,
    zero_metrics,
)
from brainbench.evidence.outcome import Breach, Mode, Outcome, Reason
from brainbench.evidence.profile import Floor, Profile
from brainbench.metrics import METRICS, Count, Ratio
from brainbench.model import ITEM_SUITES
from brainbench.suites import Cell

SHORTEST = 20
"""Characters that a justification needs; less says nothing."""
BANK = "run `brainbench run --update-baseline` and commit the file"


@dataclass(frozen=True, slots=True)
class CommittedFile:
    """The baseline file of the tree under test: its bytes and what they say."""

    data: bytes
    baseline: Baseline


def read_committed(data: bytes, name: str) -> CommittedFile:
    """The committed file in these bytes; IncompatibleError names the part that cannot be used."""
    return CommittedFile(data, read_baseline(data, name))


@dataclass(frozen=True, slots=True)
class _Case:
    """What is judged: the run as a baseline of its own, the base, and the committed file."""

    profile: Profile
    board: Scoreboard
    run: Baseline
    base: Baseline
    committed: CommittedFile | None
    waiver: str | None

    @property
    def mode(self) -> Mode:
        return "same-hash" if self.base.same_corpus(self.run) else "corpus-bless"


def gate(
    profile: Profile,
    current: Scoreboard,
    base: Baseline | None,
    committed: CommittedFile | None,
    *,
    justification: str | None = None,
    allow_regression: str | None = None,
    ci: bool = False,
) -> Outcome:
    """The verdict on a run; UsageError for a waiver where CI is set.

    Without `base` (the first landing) the committed file is the base. `justification` stands for a committed file
    of this run with these words. `allow_regression` waives regressions on a person's own machine, nothing else.
    """
    if allow_regression is not None and (ci or not allow_regression.strip()):
        why = "refused where CI is set; commit a baseline with a justification instead" if ci else "needs a reason"
        raise UsageError(f"--allow-regression: {why}")
    run = baseline_of(current)
    unwaivable = tuple(_never_waived(profile, current, run, committed))
    base = base or (committed.baseline if committed else None)
    if unwaivable:
        same = base is None or base.same_corpus(run)
        return Outcome("fail", "same-hash" if same else "corpus-bless", unwaivable)
    if base is None:
        return _inconclusive("same-hash", Reason.INCOMPATIBLE, f"there is no baseline to compare with; {BANK}")
    if justification is not None:
        version = committed.baseline.schema_version if committed else 2
        blessed = in_version(replace(run, justification=justification), version)
        committed = CommittedFile(serialised(blessed), blessed)
    return _judged(_Case(profile, current, run, base, committed, allow_regression))


def _judged(case: _Case) -> Outcome:
    doubts = tuple(_doubts(case.board)) or tuple(_unlike(case))
    if doubts:
        return Outcome("inconclusive", case.mode, reasons=doubts)
    return _same_corpus(case) if case.mode == "same-hash" else _other_corpus(case)


def _doubts(board: Scoreboard) -> Iterator[tuple[Reason, str]]:
    """Whatever makes a run untrustworthy by itself."""
    for cell in board.cells:
        if cell.status in ("invalid", "failed"):
            yield Reason.ERROR_SHARE, f"{cell.key} is {cell.status}: {cell.reason}"
        elif cell.errors:
            words = cell.reason or f"{cell.errors} of {cell.events} events went wrong"
            yield Reason.ERROR_SHARE, f"{cell.key}: {words}"
    for system, fixture, why in board.seed_failures:
        yield Reason.SEED_FAILURE, f"{system}: {fixture}: {why}"
    yield from ((Reason.PANEL, text) for text in board.panel_failures)
    if not any(cell.status == "scored" and cell.gold_total for cell in board.cells):
        yield Reason.NO_CASES, _nothing(board)
    if board.config.include_holdout:
        yield Reason.INCOMPATIBLE, "a run with the holdout gates nothing"


def _nothing(board: Scoreboard) -> str:
    if not board.cells:
        return "no fixture asked anything"
    if all(cell.status == "not_applicable" for cell in board.cells):
        return f"every cell is not applicable: {board.cells[0].reason}"
    return "no gold turn is left"


def _unlike(case: _Case) -> Iterator[tuple[Reason, str]]:
    """Why the run and the base cannot be compared."""
    try:
        base, run = aligned(case.base, case.run)
    except IncompatibleError as error:
        yield Reason.INCOMPATIBLE, str(error)
        return
    if not any(cell.metrics for cell in base.cells.values()):
        yield Reason.NO_CASES, "the baseline gates nothing"
    differing = config_differences(base.config, run.config)
    if differing and case.board.config.narrowed:
        yield Reason.INCOMPATIBLE, "a narrowed run never meets a full baseline; run without filters"
    elif differing and not _carries_this_run(case):
        yield Reason.INCOMPATIBLE, f"the run differs from its baseline in {', '.join(differing)}; {BANK}"


def _carries_this_run(case: _Case) -> bool:
    """Whether a version 2 file is committed that holds this very run, so that a new config may be blessed."""
    return case.base.schema_version == 2 and case.committed is not None and _equals_run(case)


def _equals_run(case: _Case) -> bool:
    committed = case.committed
    if committed is None:
        return False
    run = replace(case.run, justification=committed.baseline.justification)
    try:
        return committed.data == serialised(in_version(run, committed.baseline.schema_version))
    except IncompatibleError:
        return False


def _breaches(case: _Case, same_corpus: bool) -> tuple[Breach, ...]:
    base, run = aligned(case.base, case.run)
    gone = {cell.key: cell.reason or cell.status for cell in case.board.cells if cell.status != "scored"}
    if base.schema_version == 1:
        gone = {"/".join(key.split("/")[-2:]): why for key, why in gone.items()}
    return tuple(regressions(base, run, same_corpus=same_corpus, gone=gone))


def _same_corpus(case: _Case) -> Outcome:
    base, run = aligned(case.base, case.run)
    if config_differences(base.config, run.config):
        return _other_corpus(case)
    breaches = _breaches(case, same_corpus=True)
    committed = case.committed
    if committed is not None and _content(committed.baseline) != _content(case.base):
        return _banked(case, breaches, "same-hash")
    stale = improvements(base, run)
    notes = (f"baseline is stale: {'; '.join(stale)}",) if stale else ()
    if not breaches:
        return Outcome("pass", case.mode, notes=notes, stale=stale)
    if case.waiver is not None:
        waived = (f"regressions waived here: {case.waiver.strip()}", *notes)
        return Outcome("pass", case.mode, breaches, waived, stale=stale)
    return Outcome("fail", case.mode, breaches, notes, stale=stale)


def _content(baseline: Baseline) -> Baseline:
    return replace(baseline, justification=None)


def _other_corpus(case: _Case) -> Outcome:
    return _banked(case, _breaches(case, same_corpus=False), "corpus-bless")


def _banked(case: _Case, breaches: tuple[Breach, ...], mode: Mode) -> Outcome:
    """The verdict where the tree brings a baseline of its own: it must be of this run, and say why it is worse."""
    if not _equals_run(case):
        what = "the committed baseline is not what this run writes" if case.committed else "the corpus has changed"
        return _inconclusive(mode, Reason.INCOMPATIBLE, f"{what}; {BANK}")
    if not breaches:
        return Outcome("pass", mode, notes=("the committed baseline is this run",))
    words = _words(case.committed.baseline) if case.committed else ""
    if len(words) < SHORTEST:
        note = f"a new baseline that is worse needs a justification of at least {SHORTEST} characters"
        return Outcome("fail", mode, breaches, notes=(note,))
    if words == _words(case.base):
        return Outcome(
            "fail", mode, breaches, notes=("the justification is that of the old baseline; say what is new",)
        )
    return Outcome("pass", mode, breaches, notes=(f"regressions justified: {words}",))


def _words(baseline: Baseline) -> str:
    return " ".join((baseline.justification or "").split())


def _inconclusive(mode: Mode, reason: Reason, text: str) -> Outcome:
    return Outcome("inconclusive", mode, reasons=((reason, text),))


def _never_waived(
    profile: Profile, board: Scoreboard, run: Baseline, committed: CommittedFile | None
) -> Iterator[Breach]:
    """Broken zeros and floors of the run, then of the committed file where the run keeps them."""
    zero = profile.zero | zero_metrics()
    untrusted = {c.key: _zeros(c, zero) for c in board.cells if c.status != "scored"}
    found = [*zero_breaches({**run.cells, **untrusted}, zero), *floor_breaches(profile, run)]
    yield from found
    if committed is not None:
        broken = {(b.cell, b.metric) for b in found}
        held = _completed(committed.baseline, run)
        stored = [*zero_breaches(held.cells, zero), *floor_breaches(profile, held)]
        for breach in stored:
            if (breach.cell, breach.metric) not in broken:
                yield replace(breach, detail=f"in the committed baseline: {breach.detail}")


def _completed(stored: Baseline, run: Baseline) -> Baseline:
    """A version 1 file with what that format cannot hold: the kind of the run's corpus, and its ceilings."""
    if stored.schema_version != 1:
        return stored
    known = run.cells if stored.same_corpus(run) else {}
    ceilings = {"/".join(key.split("/")[-2:]): cell.ceiling for key, cell in known.items()}
    cells = {k: replace(cell, ceiling=ceilings.get(k)) for k, cell in stored.cells.items()}
    return replace(stored, corpus_kind=run.corpus_kind, cells=cells)


def _zeros(cell: Cell, zero: frozenset[str]) -> StoredCell:
    """What must be zero in a cell whose other numbers cannot be trusted."""
    found = {n: v for n, v in cell.metrics.items() if n in zero and isinstance(v, Ratio | Count)}
    return StoredCell(cell.gold_total, cell.gold_failed, found)


def floor_breaches(profile: Profile, baseline: Baseline) -> Iterator[Breach]:
    """Every floor that a stored run does not reach. A stratum that asks nothing has no floor."""
    yield from _unmeasured(profile, baseline)
    for key, cell in baseline.cells.items():
        seam = key.split("/")[-2]
        for stratum, part in _parts(baseline.corpus_kind, cell):
            for floor in profile.floors.get((baseline.corpus_kind, stratum), ()):
                if floor.seam in ("", seam):
                    yield from _below(key, stratum, part, floor)


def _unmeasured(profile: Profile, baseline: Baseline) -> Iterator[Breach]:
    """What a profile names of an item suite and a scored cell of that did not measure: n/a must not pass for good."""
    named = profile.zero | {floor.metric for floors in profile.floors.values() for floor in floors}
    for key, cell in baseline.cells.items():
        suite = key.rpartition("/")[2]
        for name in sorted(named) if suite in ITEM_SUITES else ():
            if METRICS[name].suite == suite and cell.metrics.get(name) is None:
                detail = "nothing was measured; the profile names it"
                yield Breach(key, name, Fraction(0), None, detail, Reason.THRESHOLD)


def _parts(kind: CorpusKind, cell: StoredCell) -> Iterator[tuple[str, Part]]:
    yield "all", cell
    if kind == "v2":
        yield from cell.strata.items()


def _below(key: str, stratum: str, part: Part, floor: Floor) -> Iterator[Breach]:
    metric = METRICS[floor.metric]
    if metric.suite not in ("every", key.rpartition("/")[2]):
        return
    value = part.metrics.get(floor.metric)
    where = "" if stratum == "all" else f"{stratum}: "
    if value is None:
        if metric.earned and part.gold_failed:
            detail = f"{where}nothing was measured while {part.gold_failed} of {part.gold_total} failed"
            yield Breach(key, floor.metric, floor.value, None, detail, Reason.THRESHOLD)
        return
    limit = _limit(floor, part)
    if limit is None:
        detail = f"{where}{shown(value)} has a floor by ceiling, and no ceiling is known"
        yield Breach(key, floor.metric, floor.value, value, detail, Reason.THRESHOLD)
    elif exact(value) > limit if floor.bound == "max" else exact(value) < limit:
        sign = "<=" if floor.bound == "max" else ">="
        detail = f"{where}{shown(value)}, must be {sign} {shown(limit)}"
        yield Breach(key, floor.metric, limit, value, detail, Reason.THRESHOLD)


def _limit(floor: Floor, part: Part) -> Fraction | None:
    """What a floor demands here: never more than the seam allows, where that is known."""
    ceiling = part.ceiling.value if part.ceiling is not None and floor.metric == CEILED else None
    if floor.bound == "min_of_ceiling":
        return None if ceiling is None else floor.value * ceiling
    return floor.value if ceiling is None or floor.bound == "max" else min(floor.value, ceiling)


def why_no_baseline(profile: Profile, board: Scoreboard) -> tuple[str, ...]:
    """Why this run may not be written as a baseline; empty when it may."""
    doubts = [f"{reason}: {text}" for reason, text in _doubts(board)]
    if board.config.narrowed:
        doubts.append("usage: a narrowed run is no baseline; run without filters")
    broken = [f"{b.reason}: {b}" for b in _never_waived(profile, board, baseline_of(board), None)]
    return (*doubts, *broken)
