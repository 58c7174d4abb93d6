"""The hooks' log stays short and whole."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from wellkept.serve.heartbeat import KEPT, LINES, Beat, Heartbeat

BEAT = Beat("claude-code/user-prompt", "injected", "", 1.25, 4, 100)


@pytest.mark.req("C-416")
def test_a_full_log_keeps_its_newest_lines(place: Path) -> None:
    log = Heartbeat(place / "heartbeat.jsonl")
    log.path.write_bytes(b"".join(b'{"n":%d}\n' % n for n in range(LINES)))
    log.append(BEAT)
    lines = log.path.read_text().splitlines()
    assert len(lines) == KEPT + 1
    assert json.loads(lines[0]) == {"n": LINES - KEPT}
    assert json.loads(lines[-1])["outcome"] == "injected"


@pytest.mark.req("C-416")
def test_lines_that_hook_processes_add_count_too(place: Path) -> None:
    log = Heartbeat(place / "heartbeat.jsonl")
    for _ in range(3):
        log.append(BEAT)
        with log.path.open("ab") as file:
            file.write(b"{}\n" * (LINES // 2))
        assert log.path.read_bytes().count(b"\n") <= LINES + LINES // 2
    log.append(BEAT)
    assert log.path.read_bytes().count(b"\n") <= LINES


@pytest.mark.req("C-416")
def test_a_log_that_was_removed_begins_anew(place: Path) -> None:
    log = Heartbeat(place / "heartbeat.jsonl")
    log.append(BEAT)
    log.path.unlink()
    log.append(BEAT)
    assert log.path.read_bytes().count(b"\n") == 1


@pytest.mark.req("C-416")
def test_a_log_behind_a_link_is_left_alone(place: Path) -> None:
    (place / "other").touch()
    (place / "heartbeat.jsonl").symlink_to(place / "other")
    with pytest.raises(OSError):
        Heartbeat(place / "heartbeat.jsonl").append(BEAT)
    assert (place / "other").read_bytes() == b""
