"""Play the rows on a system in worker processes, and judge what was seen when all is played."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import wait
from dataclasses import dataclass

from brainbench.errors import SystemFailure, UsageError
from brainbench.field import BY_GROUP, ROWS
from brainbench.field.row import Laid, Row, Told, Verdict, clipped, laid
from brainbench.replay.items import RowTask, Shown, lost, play_row
from brainbench.replay.sweep import SPARE_SECONDS, WORKER_FAILURES, told, traits_of, workers
from brainbench.systems.access import Access

_SEED = re.compile(r"\d{1,18}(-[0-9a-z]{1,64})?")
ROW_SECONDS = 60.0
"""How long a row may take, besides what it is given itself, before the system's process is ended."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A row and what came of it: `observed` is what was seen instead of what is right, or why it was not asked."""

    row: Row
    group: str
    verdict: Verdict
    observed: str = ""


@dataclass(frozen=True, slots=True)
class Measured:
    """All rows of one system, in the order of the table."""

    system: str
    version: str
    seed: str
    judged: tuple[Judged, ...]

    @property
    def asked(self) -> int:
        """How many rows could be asked."""
        return len(self.judged) - self.count("n/a")

    def count(self, verdict: Verdict, group: str | None = None) -> int:
        """How many rows, in all or of a group, ended so."""
        return sum(one.verdict == verdict and group in (None, one.group) for one in self.judged)


def chosen(ids: Sequence[str] = (), groups: Sequence[str] = (), priorities: Sequence[int] = ()) -> tuple[Row, ...]:
    """The rows that are asked for, all by default. UsageError names what there is."""
    if odd := sorted(set(ids) - set(ROWS)):
        raise UsageError(f"--row: no row {odd[0]!r}; there are {', '.join(ROWS)}")
    found = tuple(
        row
        for group, rows in BY_GROUP.items()
        for row in rows
        if (not ids or row.id in ids)
        and (not groups or group in groups)
        and (not priorities or row.priority in priorities)
    )
    if not found:
        raise UsageError("--row, --group, --priority: no row is left; give fewer of them")
    return found


def salted(seed: str) -> str:
    """What the words of a run are drawn from: a number with a salt of its own, or both as they were told before.

    Without a salt whoever has read these rows knows their words. UsageError where it is neither.
    """
    if not _SEED.fullmatch(seed):
        raise UsageError(f"--seed: {seed!r} is no seed; write a number as 42, or as a run told it: 42-7f3a09c4d1e25b68")
    return seed if "-" in seed else f"{seed}-{secrets.token_hex(8)}"


def measure(
    system: str,
    rows: Sequence[Row],
    seed: str,
    access: Access,
    *,
    seconds: float = ROW_SECONDS,
    done: Callable[[int], None] = lambda count: None,
) -> Measured:
    """Every row asked of a system, in words drawn from the seed. UsageError where it cannot be loaded at all."""
    traits = traits_of(system, access)
    asked = {row.id: laid(row, seed) for row in rows if row.make is not None}
    shown: dict[str, Shown] = {}
    for row_id, what in _played(system, asked, seed, access, seconds):
        shown[row_id] = what
        done(len(shown))
    judged = tuple(judge(row, asked.get(row.id), shown.get(row.id)) for row in rows)
    return Measured(system, traits.version, seed, judged)


def judge(row: Row, asked: Laid | None, shown: Shown | None) -> Judged:
    """What came of a row."""
    group = next(name for name, rows in BY_GROUP.items() if row in rows)
    if asked is None or shown is None:
        return Judged(row, group, "n/a", row.unasked)
    if shown.missing is not None:
        return Judged(row, group, "n/a", shown.missing)
    wrong = list(asked.check(Told(asked.script.steps, shown.seen)))
    return Judged(row, group, "FAILED" if wrong else "passed", clipped(wrong) if wrong else "")


def _played(
    system: str, asked: dict[str, Laid], seed: str, access: Access, seconds: float
) -> Iterator[tuple[str, Shown]]:
    """What was seen of each row. One that hangs or ends its worker costs itself; after three, no more are tried."""
    hung = 0
    with workers(1, access) as (pool, watch):
        for row_id, one in asked.items():
            if hung >= WORKER_FAILURES:
                yield row_id, lost("not tried: rows before it hung or ended the system's process")
                continue
            task = RowTask(system, one.script, secrets.token_hex(16), _told_seed(seed))
            most = seconds + ROWS[row_id].seconds
            future = pool.schedule(play_row, args=(task,), timeout=most)
            wait([future], timeout=most + SPARE_SECONDS)
            try:
                yield row_id, told(future, most, Shown, watch)
            except SystemFailure as error:
                hung += 1
                yield row_id, lost(str(error))


def _told_seed(seed: str) -> int:
    """The seed that a memory is told: always the same for a seed, and nothing can be computed from it."""
    return int.from_bytes(hashlib.blake2b(seed.encode(), digest_size=4).digest(), "big") >> 1
