"""Whether memory is at work: where it is installed, whether a daemon answers, and what the last hooks came to."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Installed:
    """A harness: the events whose hooks are ours, and what is wrong with them ("" for nothing)."""

    harness: str
    file: str
    events: tuple[str, ...]
    trouble: str = ""


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

    @property
    def is_well(self) -> bool:
        """Nothing that is installed is broken, and no daemon refuses. One that sleeps is well."""
        return not self.trouble and not any(one.trouble for one in self.harnesses)


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
    return Status(
        tuple(_installed(harness, homes[harness], settings) for harness in HOOKS),
        str(settings.socket),
        daemon,
        trouble,
        len(files(settings.data_dir / "waiting")),
        tuple(_last(settings.socket.with_name("heartbeat.jsonl"), lines)),
        settings.hooks,
    )


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
