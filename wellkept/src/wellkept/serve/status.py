"""Whether memory is at work: where it is installed, whether a daemon answers, and what the last hooks came to."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import Any

import msgspec

from wellkept import __version__
from wellkept.errors import DaemonError, DaemonUnavailable, InstallRefused
from wellkept.hooks import HOOKS
from wellkept.hooks.install import TARGETS, installed
from wellkept.serve.ipc import call
from wellkept.serve.waiting import files
from wellkept.settings import Settings

PING_S = 1.0
TAIL_BYTES = 64 * 1024
TAIL_LINES = 500
PASSING, PASSING_TIMES = frozenset({"no_daemon", "deadline"}), 3
"""What a hook that finds no daemon, or a busy machine, meets now and then."""
OTHER_STEP = "Run by hand what fails: wellkept hook user-prompt, wellkept recall"
NEXT_STEPS: tuple[tuple[str, str], ...] = (
    ("no_daemon", "Start one and see what it says: wellkept daemon"),
    ("stale_daemon", "The daemon is of another version; end it, and the next hook starts a new one"),
    ("ipc_unavailable", "The daemon hangs or is busy; end it, and the next hook starts a new one"),
    (
        "unauthorized",
        "The daemon does not know the secret beside its socket; end it, and the next hook starts a new one",
    ),
    ("source_mismatch", "The daemon serves another source; end it, and run: wellkept install {harness}"),
    ("deadline", "Memory answers too late; see how long it takes: wellkept hook time PROMPT --harness {harness}"),
    ("transcript_", "The conversation cannot be read there; add its folder to transcript_roots in settings.toml"),
    ("no_stdin", "The harness sends no event that can be read; bring it, or wellkept, up to date"),
    ("exception:Store", "The memory cannot be used; see why: wellkept recall anything"),
)
"""How a reason begins -> what to do."""


@dataclass(frozen=True, slots=True)
class Installed:
    """A harness: the events whose hooks are ours, and what is wrong with them ("" for nothing)."""

    harness: str
    file: str
    events: tuple[str, ...]
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class Failing:
    """A hook whose last events came to nothing: since when, why as its log says, and what to do."""

    event: str
    at: str
    reason: str
    next_step: str


@dataclass(frozen=True, slots=True)
class Status:
    """`daemon` is None when none answers, and `trouble` says why not if one should have."""

    harnesses: tuple[Installed, ...]
    socket: str
    daemon: Mapping[str, Any] | None
    trouble: str
    waiting: int
    beats: tuple[Mapping[str, Any], ...]
    """The hooks' last log lines, oldest first."""
    hooks_on: bool = True
    """Off: the owner has switched all hooks off, which is no trouble."""
    failing: tuple[Failing, ...] = ()

    @property
    def is_well(self) -> bool:
        """Nothing that is installed is broken or fails, and no daemon refuses. One that sleeps is well."""
        return not self.trouble and not self.failing and not any(one.trouble for one in self.harnesses)


def look(settings: Settings, homes: Mapping[str, Path], lines: int = 5) -> Status:
    """The state of things; `homes` are the harnesses' directories, `lines` how much of the log is wanted."""
    daemon: dict[str, Any] | None = None
    trouble = ""
    if settings.socket.exists():
        try:
            daemon = call(settings.socket, "ping", {}, PING_S)
        except DaemonUnavailable:
            daemon = None  # one that was killed leaves its socket, and the next hook starts another
        except DaemonError as error:
            trouble = str(error)
    if daemon is not None and daemon.get("version") != __version__:
        trouble = f"is wellkept {daemon.get('version')}, and this is {__version__}. End it: kill {daemon.get('pid')}"
    harnesses = tuple(_installed(harness, homes[harness], settings) for harness in HOOKS)
    if daemon is None and not trouble and (said := _last_said(settings.daemon_log)):
        trouble = f"cannot start: {said}"
    return Status(
        harnesses,
        str(settings.socket),
        daemon,
        trouble,
        len(files(settings.data_dir / "waiting")),
        tuple(_last(settings.socket.with_name("heartbeat.jsonl"), lines)),
        settings.hooks,
        failing(harnesses, _last(settings.socket.with_name("heartbeat.jsonl"), TAIL_LINES)) if settings.hooks else (),
    )


def failing(harnesses: Sequence[Installed], beats: Sequence[Mapping[str, Any]]) -> tuple[Failing, ...]:
    """The installed hooks whose last event failed; of what may pass by itself, those that failed three times."""
    found = []
    for name in (f"{one.harness}/{event}" for one in harnesses for event in one.events):
        mine = [beat for beat in beats if beat.get("event") == name]
        failed = list(takewhile(lambda beat: beat.get("outcome") == "failed", reversed(mine)))
        reason = str(failed[0].get("reason", "")) if failed else ""
        if failed and (reason not in PASSING or len(failed) >= PASSING_TIMES):
            step = next((step for begins, step in NEXT_STEPS if reason.startswith(begins)), OTHER_STEP)
            step = step.format(harness=name.partition("/")[0])
            found.append(Failing(name, str(failed[0].get("ts", "")), reason, step))
    return tuple(found)


def _last_said(log: Path) -> str:
    try:
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1].removeprefix("wellkept: ") if lines else ""


def _installed(harness: str, home: Path, settings: Settings) -> Installed:
    file = str(home / TARGETS[harness].file)
    try:
        commands = installed(harness, home)
        obstacle = TARGETS[harness].obstacle(home) if commands else ""
    except InstallRefused as error:
        return Installed(harness, file, (), str(error))
    events = tuple(argv[5] for argv in commands)
    return Installed(harness, file, events, obstacle or _trouble(harness, commands, settings))


def _trouble(harness: str, commands: tuple[list[str], ...], settings: Settings) -> str:
    again = f"Run: wellkept install {harness}"
    for argv in commands:
        if not os.access(argv[0], os.X_OK):
            return f"{argv[0]} is not there any more. {again}"
        if not os.path.isfile(argv[3]):
            return f"{argv[3]} is not there any more. {again}"
        if argv[6] != str(settings.socket):
            return f"it asks another memory, at {argv[6]}. Name that one with --data-dir, or: {again[5:]}"
    return ""


def _last(log: Path, lines: int) -> list[Mapping[str, Any]]:
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - TAIL_BYTES))
            raw = file.read().splitlines()
    except OSError:
        return []
    found: list[Mapping[str, Any]] = []
    for line in raw[-lines:] if lines else ():
        try:
            beat = msgspec.json.decode(line)
        except msgspec.DecodeError:
            continue
        if isinstance(beat, dict):
            found.append(beat)
    return found
