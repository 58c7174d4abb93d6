"""Whether memory is at work, told without a daemon, with one, and where something is broken."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from wellkept import __version__
from wellkept.hooks import HOOKS
from wellkept.hooks.install import Bound, apply_install, plan_install
from wellkept.serve import kinds
from wellkept.serve.ipc import Door
from wellkept.serve.status import NEXT_STEPS, Status, look
from wellkept.settings import Settings, load_settings


class Look:
    """A place with harnesses, and a look at it."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.homes = {harness: place / harness for harness in HOOKS}
        for home in self.homes.values():
            home.mkdir()
        self.settings: Settings = load_settings({"HOME": str(place)}, {"data_dir": place})

    def __call__(self, lines: int = 5) -> Status:
        return look(self.settings, self.homes, lines)

    def install(self, harness: str, socket: Path | None = None) -> Path:
        bound = Bound(socket or self.settings.socket, self.place, "default")
        change = plan_install(harness, self.homes[harness], bound)
        apply_install(change, self.place)
        return change.path


@pytest.fixture
def looking(place: Path) -> Look:
    return Look(place)


def test_nothing_installed_and_nobody_there_is_well(looking: Look) -> None:
    found = looking()
    assert [(one.harness, one.events, one.trouble) for one in found.harnesses] == [(name, (), "") for name in HOOKS]
    assert (found.daemon, found.trouble, found.waiting, found.beats, found.is_well) == (None, "", 0, (), True)


@pytest.mark.parametrize("harness", HOOKS)
def test_what_is_installed_is_told_by_its_events(looking: Look, harness: str) -> None:
    looking.install(harness)
    (one,) = (one for one in looking().harnesses if one.events)
    assert one.harness == harness
    assert sorted(one.events) == ["pre-compact", "session-end", "session-start", "stop", "user-prompt"]
    assert looking().is_well


@pytest.mark.parametrize("harness", HOOKS)
@pytest.mark.parametrize("word", ["client.py", "/python"])
def test_a_command_that_is_gone_is_told_with_the_remedy(looking: Look, harness: str, word: str) -> None:
    path = looking.install(harness)
    gone = path.read_text().replace(sys.executable, "/gone/python") if word == "/python" else path.read_text()
    client = str(Path(kinds.__file__).parents[1] / "hooks" / "client.py")
    path.write_text(gone if word == "/python" else gone.replace(client, "/gone/wellkept/hooks/client.py"))
    (one,) = (one for one in looking().harnesses if one.events)
    assert "/gone/" in one.trouble
    assert one.trouble.endswith(f"is not there any more. Run: wellkept install {harness}")
    assert not looking().is_well


@pytest.mark.parametrize(
    ("harness", "file", "old", "new", "said"),
    [
        ("claude-code", "settings.json", "{", '{"disableAllHooks": true,', "disableAllHooks is true"),
        ("codex", "config.toml", "", "[features]\nhooks = false\n", "hooks is false under [features]"),
        ("codex", "config.toml", "", "[features]\ncodex_hooks = false\n", "codex_hooks is false"),
        ("openclaw", "openclaw.json", '"plugins": {', '"plugins": {"enabled": false,', "plugins.enabled is false"),
        ("openclaw", "openclaw.json", '"plugins": {', '"plugins": {deny: ["wellkept"],', "plugins.deny names"),
    ],
)
def test_a_harness_that_runs_no_hooks_is_told(
    looking: Look, harness: str, file: str, old: str, new: str, said: str
) -> None:
    looking.install(harness)
    path = looking.homes[harness] / file
    path.write_text(path.read_text().replace(old, new, 1) if path.exists() else new)
    (one,) = (one for one in looking().harnesses if one.events)
    assert said in one.trouble


def test_hooks_that_the_owner_switched_off_are_no_trouble(looking: Look) -> None:
    looking.settings = replace(looking.settings, hooks=False)
    found = looking()
    assert (found.hooks_on, found.is_well) == (False, True)


def test_hooks_of_another_memory_and_settings_that_are_broken_are_told(looking: Look) -> None:
    looking.install("codex", Path("/elsewhere/wellkept.sock"))
    (looking.homes["claude-code"] / "settings.json").write_text("{")
    troubles = {one.harness: one.trouble for one in looking().harnesses}
    assert "it asks another memory, at /elsewhere/wellkept.sock" in troubles["codex"]
    assert "line 1, column 2" in troubles["claude-code"]
    assert troubles["openclaw"] == ""


def test_a_daemon_that_answers_is_told_and_one_of_another_version_too(
    looking: Look, open_door: Callable[..., Door], monkeypatch: pytest.MonkeyPatch
) -> None:
    open_door()
    found = looking()
    assert found.daemon is not None
    assert (found.daemon["version"], found.daemon["source"], found.trouble) == (__version__, "default", "")
    monkeypatch.setattr(kinds, "__version__", "0.0.1")
    assert looking().trouble.startswith(f"is wellkept 0.0.1, and this is {__version__}. End it: kill ")
    (looking.place / "ipc-secret").write_text("0" * 64 + "\n")
    assert "does not know the secret" in looking().trouble


def test_a_socket_that_nobody_serves_is_no_trouble(looking: Look, open_door: Callable[..., Door]) -> None:
    door = open_door()
    door.shutdown()
    door.server_close()
    assert looking.settings.socket.is_socket()
    assert (looking().daemon, looking().trouble) == (None, "")


def test_the_last_lines_of_the_log_come_oldest_first(looking: Look) -> None:
    lines = [json.dumps({"event": str(number)}) for number in range(9)]
    (looking.place / "heartbeat.jsonl").write_text("\n".join([*lines, "torn", "[]"]) + "\n")
    assert [beat["event"] for beat in looking(5).beats] == ["6", "7", "8"]
    assert looking(0).beats == ()
    (looking.place / "waiting").mkdir()
    for name in ("a.json", "b.taken", ".1.new"):
        (looking.place / "waiting" / name).touch()
    assert looking().waiting == 2


def test_a_status_says_that_it_is_not_well_for_either_reason(looking: Look) -> None:
    found = looking()
    assert not replace(found, trouble="x").is_well
    assert not replace(found, harnesses=(replace(found.harnesses[0], trouble="x"),)).is_well


def log(looking: Look, *beats: tuple[str, str, str]) -> None:
    rows = [
        {"ts": f"2026-03-01T12:0{minute}:00Z", "event": event, "outcome": outcome, "reason": reason}
        for minute, (event, outcome, reason) in enumerate(beats)
    ]
    text = "".join(json.dumps(row) + "\n" for row in rows)
    looking.settings.socket.with_name("heartbeat.jsonl").write_text(text)


def test_a_hook_that_fails_is_told_with_when_and_why_and_what_to_do(looking: Look) -> None:
    looking.install("claude-code")
    log(looking, ("claude-code/stop", "kept", ""), ("claude-code/stop", "failed", "exception:StoreUnavailable"))
    (one,) = looking().failing
    assert (one.event, one.at, one.reason) == ("claude-code/stop", "2026-03-01T12:01:00Z", "exception:StoreUnavailable")
    assert "wellkept recall anything" in one.next_step
    assert not looking().is_well


def test_a_hook_that_works_again_or_met_no_daemon_once_is_well(looking: Look) -> None:
    looking.install("claude-code")
    absent = ("claude-code/user-prompt", "failed", "no_daemon")
    log(looking, ("claude-code/stop", "failed", "unauthorized"), ("claude-code/stop", "silent", "unchanged"), absent)
    assert looking().is_well
    log(looking, absent, absent, absent)
    assert [one.reason for one in looking().failing] == ["no_daemon"]


def test_hooks_that_are_not_installed_or_are_switched_off_fail_nobody(looking: Look) -> None:
    log(looking, ("claude-code/stop", "failed", "unauthorized"))
    assert looking().is_well
    looking.install("claude-code")
    assert not looking().is_well
    looking.settings = replace(looking.settings, hooks=False)
    assert looking().is_well


@pytest.mark.parametrize(("begins", "step"), NEXT_STEPS)
def test_every_reason_has_a_next_step(looking: Look, begins: str, step: str) -> None:
    looking.install("codex")
    log(looking, *[("codex/stop", "failed", f"{begins}x" if begins[-1] in "_e" else begins)] * 3)
    (one,) = looking().failing
    assert one.next_step == step.format(harness="codex")


def test_a_daemon_that_could_not_start_says_why(looking: Look) -> None:
    looking.settings.daemon_log.write_text("wellkept: /m: open to other users; close it: chmod 700 /m\n")
    found = looking()
    assert (found.trouble, found.is_well) == ("cannot start: /m: open to other users; close it: chmod 700 /m", False)
