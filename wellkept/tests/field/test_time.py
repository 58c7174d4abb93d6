"""A moment is one moment: at every door, in every time zone of the machine, and whatever the clock does."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from wellkept.memory import Memory
from wellkept.model import Fact

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
SPELLINGS = (
    "2024-05-01T23:30:00+08:00",
    "2024-05-01T15:30:00Z",
    "2024-05-01T15:30:00",
    "2024-05-01T10:30:00-05:00",
    "20240501T153000Z",
)


@pytest.mark.field("TIM-10", "TIM-05")
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_moment_is_the_same_however_it_is_written_and_through_whatever_door(
    doors: dict[str, Any], scope: str, spelling: str
) -> None:
    doors["python"]("put_page", scope, slug="noor", content="# Noor", valid_at="2024-05-01T15:30:00Z")
    for name, door in doors.items():
        door("remember", scope, text=f"Noor sailed, {name}", entity="noor", valid_from=spelling)
    read = [{one["valid_from"] for one in door("recall", scope, query="sailed")["memories"]} for door in doors.values()]
    assert read == [{"2024-05-01T15:30:00Z"}] * len(doors)
    for door in doors.values():
        day = door("timeline", scope, entity="noor", since="2024-05-01", until="2024-05-01")["entries"]
        assert {one["date"] for one in day} == {"2024-05-01"}
        for other in ("2024-04-30", "2024-05-02"):
            assert door("timeline", scope, entity="noor", since=other, until=other)["entries"] == []
        assert door("get_page", scope, slug="noor")["valid_at"] == "2024-05-01T15:30:00Z"


@pytest.fixture
def zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Put the machine into a time zone."""

    def move(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield move
    monkeypatch.undo()
    time.tzset()


@pytest.mark.field("TIM-04")
def test_a_day_holds_the_same_in_every_time_zone_of_the_machine_and_on_every_path(
    typed: Callable[..., Any], zone: Callable[[str], None], tmp_path: Path
) -> None:
    data = ("--data-dir", str(tmp_path / "m"), "--json")
    read = []
    for name in ("Asia/Shanghai", "UTC", "America/Lima"):
        zone(name)
        if not read:
            typed("put-page", "noor", "-", *data, stdin="# Noor")
            told = ("--entity", "noor", "--valid-from", "2024-05-01T23:30:00+08:00")
            typed("remember", "Noor sailed", *told, *data)
        day = typed("timeline", "noor", "--since", "2024-05-01", "--until", "2024-05-01", *data)
        found = [json.loads(typed("recall", "sailed", "--as-of", at, *data).stdout) for at in AROUND]
        read.append(([one["date"] for one in json.loads(day.stdout)["entries"]], [one["total"] for one in found]))
    assert read == [(["2024-05-01"], [1, 0, 1, 0])] * 3


AROUND = ("2024-05-01T15:30:00", "2024-05-01T15:29:59", "2024-05-01T23:30:00+08:00", "2024-05-01T23:29:59+08:00")


@pytest.mark.field("TIM-05")
def test_when_something_was_and_when_it_was_told_are_both_readable(door: Any, scope: str) -> None:
    before = datetime.now(UTC) - timedelta(seconds=2)
    door("put_page", scope, slug="noor", content="# Noor")
    door("remember", scope, text="Noor bought the boat", entity="noor", valid_from="2019-03-02")
    march = door("timeline", scope, entity="noor", since="2019-03-01", until="2019-03-31")["entries"]
    assert [one["date"] for one in march] == ["2019-03-02"]
    (one,) = door("recall", scope, query="boat", as_of="2019-03-15")["memories"]
    assert one["valid_from"] == "2019-03-02T00:00:00Z"
    assert datetime.fromisoformat(one["created_at"]) > before
    assert door("recall", scope, query="boat", as_of="2019-03-01")["memories"] == []


@pytest.mark.field("TIM-05")
def test_both_times_are_in_what_python_gives(memory: Memory) -> None:
    then = datetime(2019, 3, 2, tzinfo=UTC)
    memory.put_page("default", "noor", "# Noor\n", now=NOW)
    memory.remember("default", "Noor bought the boat", entity="noor", valid_from=then, now=NOW)
    (entry,) = memory.timeline("default", "noor", since=then, until=then + timedelta(days=29))
    assert isinstance(entry.item, Fact)
    assert (entry.date, entry.item.valid_from, entry.item.recorded_at) == ("2019-03-02", then, NOW)


@pytest.mark.parametrize("jump", [timedelta(days=400), timedelta(days=365 * 40), timedelta(seconds=1)])
def test_the_clock_may_go_back_and_nothing_is_lost_or_out_of_order(memory: Memory, jump: timedelta) -> None:
    for text, now in (("one", NOW), ("two", NOW - jump)):
        memory.remember("default", text, now=now)
        memory.put_page("default", "a", text, now=now)
    old = memory.remember("default", "three", now=NOW).facts[0]
    memory.forget("default", [f"fact:{old}"], now=NOW - jump)
    seen = [one.id for one in memory.delta("default").changes]
    assert seen == ["fact:1", "a", "fact:2", "a", "fact:3", "fact:3"]
    page = memory.get_page("default", "a")
    assert (page.content, page.created_at) == ("two", NOW)
    assert [fact.text for fact in memory.recall_facts("default")] == ["one", "two"]
    assert not memory.recall("default", "three")
    assert not memory.recall("default", "three", as_of=NOW + jump)
    assert memory.remember("default", "three", now=NOW - jump).status == "created"
