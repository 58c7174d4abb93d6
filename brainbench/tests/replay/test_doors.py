"""Programs that misbehave in every way cost only their own cells, and nothing of them is left."""

from __future__ import annotations

import sys
import tempfile
from contextlib import suppress
from multiprocessing import resource_tracker
from pathlib import Path

import pytest

from brainbench.model import Capability
from brainbench.replay.processes import Bounds, children
from brainbench.replay.sweep import refusal, sweep, traits_of
from brainbench.replay.worker import Task
from brainbench.seams import SEAMS
from brainbench.systems.access import Access

from ..conftest import script

pytestmark = pytest.mark.slow
UNCIVIL = Path(__file__).parents[1] / "uncivil.py"
BRIEF, PATIENT = Access(call_seconds=4), Access(call_seconds=25)
WAITED_FOR = ("hang", "slow", "shut-in")
CAN = frozenset({Capability.PAGE_WRITE, Capability.CONTEXT})
BM25 = frozenset({Capability.PAGE_WRITE, Capability.SEARCH})
BOUNDS = Bounds(processes=20, memory_mb=700)


def uncivil(manner: str, at: str = "context") -> str:
    return f"cmd:{sys.executable} {UNCIVIL} {manner} {at}"


def tasks(system: str, count: int, can: frozenset[Capability] = CAN) -> list[Task]:
    seam = SEAMS["openclaw"]
    return [
        Task(system, seam, script(f"Ada Lovelace {n}", fixture_id=f"f-{n}"), f"run-{n}", 42, can) for n in range(count)
    ]


def running(word: str) -> list[str]:
    """Command lines that hold a word."""
    found = []
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            words = place.read_bytes().decode().split("\0")
            found += [" ".join(words)] if word in words else []
    return found


@pytest.mark.req("C-404")
@pytest.mark.parametrize(
    ("manner", "said"),
    [
        ("hang", "no answer in "),
        ("crash", "exit code 7"),
        ("slow", "no answer in "),
        ("flood", "more than 8,388,608 bytes"),
        ("endless", "more than 8,388,608 bytes"),
        ("garbage", "2 lines on standard output"),
        ("bytes", "answered something else"),
        ("deep", "nested too deeply"),
        ("other-id", "answered request"),
        ("shut-in", None),
        ("shut-out", "closed its standard output"),
        ("big-file", "File too large"),
        ("fork-bomb", "processes at once and was ended; at most 21 may"),
        ("hog", "and was ended; at most 700 may be held"),
        ("daemons", None),
        ("litter", None),
        ("noise", None),
    ],
)
def test_a_misbehaving_program_costs_only_its_own_cells_and_leaves_nothing(
    manner: str, said: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    resource_tracker.ensure_running()
    mine, mark = children(), str(tmp_path)
    work = tasks(f"{uncivil(manner)} {mark}", 1) + tasks("bm25", 2, BM25)
    bad, *good = sweep(work, 1, access=BRIEF if manner in WAITED_FOR else PATIENT, bounds=BOUNDS).replays
    (seen,) = bad.observations
    if said is None:
        assert seen.error is None
    else:
        assert said in str(seen.error)
    assert [o.error for r in good for o in r.observations] == [None, None]
    assert [o.ids for r in good for o in r.observations] == [("people/ada-lovelace",)] * 2
    assert list(tmp_path.iterdir()) == []
    assert children() - mine == frozenset()
    assert running(mark) == []


def test_a_program_that_hangs_every_time_is_given_up_after_three_fixtures() -> None:
    replays = sweep(tasks(uncivil("hang"), 8), 1, access=Access(call_seconds=3)).replays
    said = [str(r.observations[0].error) for r in replays]
    assert [("not tried" in words, "no answer in " in words) for words in (said[0], said[-1])] == [
        (False, True),
        (True, False),
    ]
    assert sum("no answer in " in words for words in said) <= 5


@pytest.mark.req("C-404")
@pytest.mark.parametrize(
    ("manner", "at", "said"),
    [
        ("hang", "context", "not admitted: context: no answer in "),
        ("crash", "write_page", "not admitted: write_page: its process ended"),
        ("error", "read_page", "not admitted: read_page: no"),
        ("garbage", "open", "not admitted: open: 2 lines on standard output"),
        ("wrong", "context", "not admitted: context: answered something else"),
    ],
)
def test_a_program_that_fails_at_what_it_claims_is_not_admitted(manner: str, at: str, said: str) -> None:
    assert str(refusal(uncivil(manner, at), access=BRIEF if manner in WAITED_FOR else PATIENT)).startswith(said)


def test_a_program_that_keeps_its_claims_is_admitted() -> None:
    name = uncivil("polite")
    assert traits_of(name, access=PATIENT).can == CAN
    assert refusal(name, access=PATIENT) is None


def test_of_a_refused_system_nothing_is_played_and_every_event_says_why() -> None:
    replays = sweep(tasks(uncivil("hang"), 3), 1, access=PATIENT, refused={uncivil("hang"): "not admitted: no"}).replays
    assert [o.error for r in replays for o in r.observations] == ["not admitted: no"] * 3
