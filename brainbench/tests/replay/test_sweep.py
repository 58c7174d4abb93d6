from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from brainbench.errors import UsageError
from brainbench.model import Capability, Replayed, SessionBreak, Turn
from brainbench.replay import observations_hash
from brainbench.replay.processes import Bounds
from brainbench.replay.sweep import sweep, traits_of
from brainbench.replay.worker import Task
from brainbench.seams import SEAMS

from ..conftest import script

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _importable_by_hosts(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1]))
    yield
    sys.modules.pop("misbehaving", None)


CAN = frozenset({Capability.PAGE_WRITE, Capability.CONTEXT})


def tasks(system: str, count: int) -> list[Task]:
    seam = SEAMS["openclaw"]
    return [
        Task(system, seam, script(f"Ada Lovelace {n}", fixture_id=f"f-{n}"), f"run-{n}", 42, CAN) for n in range(count)
    ]


def errors(replays: list[Replayed]) -> list[str | None]:
    return [o.error for r in replays for o in r.observations]


@pytest.mark.req("C-004")
def test_the_number_of_jobs_and_the_order_change_nothing() -> None:
    work = tasks("misbehaving:Polite", 8)
    one, two = sweep(work, 1).replays, sweep(work[::-1], 2).replays
    assert [r.fixture_id for r in one] == [f"f-{n}" for n in range(8)]
    assert observations_hash(one) == observations_hash(two)


@pytest.mark.parametrize(("name", "why"), [("Hanging", "context: no answer within 1 s"), ("Crashing", "exit code 7")])
def test_a_system_that_hangs_or_dies_costs_its_own_cell_and_is_given_up_early(name: str, why: str) -> None:
    bad, good = tasks(f"misbehaving:{name}", 12), tasks("misbehaving:Polite", 4)
    done: list[int] = []
    replays = sweep(bad + good, 2, fixture_seconds=1.0, done=done.append).replays
    assert errors(replays[12:]) == [None] * 4
    said = errors(replays[:12])
    assert all(said)
    tried = [one for one in said if "not tried" not in str(one)]
    assert all(why in str(one) for one in tried)
    assert 3 <= len(tried) <= 6
    assert done == list(range(1, 17))


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Bombing", "processes at once and was ended; at most 21 may"),
        ("Hogging", "MB and was ended; at most 700 may be held"),
        ("Sprawling", "OSError: [Errno 27] File too large"),
    ],
)
def test_a_system_that_outgrows_its_bounds_is_ended_and_harms_no_other(name: str, why: str) -> None:
    work = tasks(f"misbehaving:{name}", 1) + tasks("misbehaving:Polite", 1)
    bad, good = errors(sweep(work, 1, bounds=Bounds(processes=20, memory_mb=700)).replays)
    assert why in str(bad)
    assert good is None


def test_what_a_hosted_class_holds_is_told_as_what_the_run_held_and_not_what_the_bench_holds() -> None:
    held = b"x" * (250 << 20)
    small, large = (sweep(tasks(f"misbehaving:{name}", 1), 1).peak_mb for name in ("Polite", "Stout"))
    assert small < 200 < large
    assert len(held) > 200 << 20


def test_a_system_that_was_ended_for_its_size_is_played_on() -> None:
    bad, good = errors(sweep(tasks("misbehaving:Bombing", 2), 1, bounds=Bounds(processes=20)).replays)
    assert "processes at once" in str(bad)
    assert good is None


def test_within_wider_bounds_nothing_is_ended_for_its_size() -> None:
    wide = Bounds(processes=5000, memory_mb=1e6)
    (said,) = errors(sweep(tasks("misbehaving:Hogging", 1), 1, fixture_seconds=4.0, bounds=wide).replays)
    assert "no answer within 4 s" in str(said)


def test_a_program_that_is_slow_at_each_call_is_ended_within_the_time_of_the_whole_fixture() -> None:
    (said,) = errors(sweep(tasks("misbehaving:Tardy", 1), 1, fixture_seconds=3.0).replays)
    assert str(said).startswith("context: no answer within 3 s for the whole fixture; its process was ended")


def test_what_a_system_prints_does_not_reach_the_bench(capfd: pytest.CaptureFixture[str]) -> None:
    replays = sweep(tasks("misbehaving:Babbling", 2), 1).replays
    assert errors(replays) == [None, None]
    assert capfd.readouterr() == ("", "")


def test_workers_see_an_empty_directory_and_a_scrubbed_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "SECRET_TOKEN", "hunter2")
    monkeypatch.setitem(os.environ, "BRAINBENCH_DATA", "/somewhere")
    (seen,) = sweep(tasks("misbehaving:Nosy", 1), 1).replays
    assert seen.observations[0].text == ""


@pytest.mark.req("C-604")
@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("Quitting", "Quitting.context: SystemExit: 0"),
        ("Interrupting", "Interrupting.context: KeyboardInterrupt: no message"),
        ("Unspeakable", "Unspeakable.context: Mute: no message"),
        ("Painting", "Painting.context: ValueError: \ufffd[2J\ufffd]0;title\ufffd \ufffdgone"),
        (
            "Numbering",
            "Numbering.context: answered something else than it should: Expected `str`, got `int` - at `$.ids[0]`",
        ),
        ("HalfPaired", "HalfPaired.context: answered something else than it should: 'utf-8' codec can't encode"),
        ("Smuggling", "Smuggling.context: answered something else than it should: a Touching is no plain value"),
        ("Severing", "context: "),
    ],
)
def test_whatever_a_system_does_is_an_error_of_its_own_and_never_ends_the_bench(
    name: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    replays = sweep(tasks(f"misbehaving:{name}", 1) + tasks("misbehaving:Polite", 1), 1).replays
    bad, good = errors(replays)
    assert (bad or "").startswith(why)
    assert good is None
    assert list(tmp_path.iterdir()) == []


def test_texts_of_a_class_of_their_own_are_taken_as_texts() -> None:
    (seen,) = sweep(tasks("misbehaving:Subclassing", 1), 1).replays[0].observations
    assert (type(seen.text), type(seen.ids[0]), seen.ids == ("b",)) == (str, str, False)


@pytest.mark.req("C-205")
def test_nothing_in_a_worker_names_or_sorts_the_fixture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["brainbench", "run", "--gold", "/secret/telltale"])
    (seen,) = sweep(tasks("misbehaving:Snooping", 1), 1).replays[0].observations
    assert "Ada Lovelace 0" in seen.text
    assert [word for word in ("f-0", "telltale", "easy", "'en'", "--gold") if word in seen.text] == []


def test_a_page_budget_cannot_be_widened() -> None:
    (seen,) = sweep(tasks("misbehaving:Greedy", 1), 1).replays[0].observations
    assert len(seen.ids) == SEAMS["openclaw"].capacity


def test_a_worker_speaks_only_for_its_own_system_and_fixture() -> None:
    replays = sweep(tasks("misbehaving:Usurping", 3) + tasks("misbehaving:Polite", 1), 1).replays
    assert [(r.system, r.fixture_id) for r in replays] == [
        *(("misbehaving:Usurping", f"f-{n}") for n in range(3)),
        ("misbehaving:Polite", "f-0"),
    ]
    assert replays[3].observations[0].ids == ("people/ada-lovelace",)


@pytest.mark.req("C-202")
def test_a_capability_cannot_be_disclaimed_for_the_hard_fixtures() -> None:
    replays = sweep(tasks("misbehaving:Escaping", 3), 1).replays
    assert [r.missing for r in replays] == [()] * 3
    assert errors(replays) == [None] * 3


def test_facts_without_end_are_an_error() -> None:
    events = (Turn(1, "user", "one"), SessionBreak(2, persist=True))
    seam, can = SEAMS["direct"], CAN | {Capability.CONVERSATION_WRITE, Capability.RECALL_FACTS}
    work = [Task("misbehaving:Endless", seam, script(events=events, suites=("write-back",)), "r", 42, can)]
    assert "tells more than 100,000 facts" in str(errors(sweep(work, 1).replays)[-1])


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="only Linux tells whose children processes are")
def test_nothing_that_a_system_started_or_wrote_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (seen,) = sweep(tasks("misbehaving:Forking", 1), 1).replays[0].observations
    assert [pid for pid in seen.text.split() if Path("/proc", pid).exists()] == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.req("C-120")
@pytest.mark.parametrize(("name", "why"), [("Unborn", "SystemExit: 0"), ("Boasting", "mind_reading")])
def test_a_system_that_cannot_say_what_it_can_is_a_usage_error(
    name: str, why: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UsageError, match=f"--system: misbehaving:{name}.*{why}"):
        traits_of(f"misbehaving:{name}")
    assert capfd.readouterr() == ("", "")


def test_foreign_code_is_never_imported_by_the_bench() -> None:
    assert traits_of("misbehaving:Polite").can == CAN
    sweep(tasks("misbehaving:Polite", 1), 1)
    assert "misbehaving" not in sys.modules
