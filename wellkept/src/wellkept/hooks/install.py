"""wellkept's entries in a harness's own settings: what they are, and putting them in and taking them out.

Only the settings of the harness's user are touched, never those of a project. An installation keeps what it replaced
in the data directory, so that it can be taken back byte for byte.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import shlex
import stat
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from wellkept.errors import InstallRefused
from wellkept.hooks import CAPTURES, SESSION_START, USER_PROMPT, command
from wellkept.hooks.json_text import NotJson, drop, parse, prune, put, take

SCHEMA_VERSION = 1
PLUGIN = "wellkept"
PLUGIN_DIR = Path(__file__).resolve().with_name("openclaw_plugin")
_NEVER_FAILS = " || true"
_CLIENT_ENDS = ("wellkept", "hooks", "client.py")

EVENT_NAMES: Mapping[str, str] = {
    SESSION_START: "SessionStart",
    USER_PROMPT: "UserPromptSubmit",
    "stop": "Stop",
    "pre-compact": "PreCompact",
    "session-end": "SessionEnd",
}
"""Our events as Claude Code and Codex call them."""

TIMEOUT_S = 3
"""When a harness stops waiting for a hook: well past our own deadline. Codex gives a session's end no more."""


@dataclass(frozen=True, slots=True)
class Bound:
    """What the installed commands are bound to."""

    socket: Path
    data_dir: Path
    source: str
    capture: bool = True
    """Off: conversations are not kept, so the events that keep them are not hooked."""

    def argv(self, harness: str, event: str) -> list[str]:
        return command(harness, self.socket, event=event, start=(self.data_dir, self.source))

    def events(self) -> tuple[str, ...]:
        return (SESSION_START, USER_PROMPT, *(CAPTURES if self.capture else ()))


@dataclass(frozen=True, slots=True)
class Target:
    """A harness's settings file and how our entries stand in it."""

    title: str
    file: str
    relaxed: bool
    enter: Callable[[str, str, Bound], str]
    """The text with our entries for the harness, in place of any that were there."""
    leave: Callable[[str, str], str]
    """The text without our entries for the harness."""
    commands: Callable[[str, str], list[list[str]]]
    """The commands of ours that the text holds."""
    obstacle: Callable[[Path], str]
    """What in the harness's own settings, in the directory given, keeps hooks from running; "" for nothing."""
    next_step: str


@dataclass(frozen=True, slots=True)
class Change:
    """A settings file before and after; None where it is not there. `real` is the file behind any links."""

    harness: str
    path: Path
    real: Path
    before: bytes | None
    after: bytes | None

    @property
    def is_none(self) -> bool:
        """Whether nothing changes."""
        return self.before == self.after

    def diff(self) -> str:
        """The change as a unified diff; "" when there is none."""
        old, new = (_lines(side) for side in (self.before, self.after))
        names = [str(self.path) if side is not None else "/dev/null" for side in (self.before, self.after)]
        return "".join(
            line if line.endswith("\n") else line + "\n\\ no line end at the end of the file\n"
            for line in difflib.unified_diff(old, new, names[0], names[1])
        )


@dataclass(frozen=True, slots=True)
class Record:
    """An installation: the file that it wrote, by its hash, and whether there was one before."""

    real: str
    written: str
    existed: bool
    schema_version: int = SCHEMA_VERSION


Removal = Literal["restored", "removed", "absent"]


def plan_install(harness: str, home: Path, bound: Bound) -> Change:
    """What installing would change. InstallRefused, with the remedy, when the settings cannot be used."""
    target = TARGETS[harness]
    if not home.is_dir():
        raise InstallRefused(home, f"is not there. Start {target.title} once, or make the directory, then try again")
    path, real = _place(home / target.file)
    before = _read(real)
    with _readable(path):
        after = target.enter((before or b"").decode(), harness, bound)
        parse(after, relaxed=target.relaxed)
    return Change(harness, path, real, before, after.encode())


def apply_install(change: Change, data_dir: Path) -> Path | None:
    """Write the change, and give the file that keeps what it replaced: None when there was nothing."""
    record, backup = _kept_in(data_dir, change.harness)
    replaced = _replaced(change, record, backup)
    fresh = Record(str(change.real), _hash(change.after), replaced is not None)
    try:
        record.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        _write(backup, replaced or b"", 0o600)
        _write(record, msgspec.json.encode(fresh), 0o600)
    except OSError as error:
        reason = f"cannot keep a copy ({error.strerror}). Nothing was changed; mend that, then try again"
        raise InstallRefused(record.parent, reason) from None
    _write_change(change)
    return backup if replaced is not None else None


def plan_uninstall(harness: str, home: Path, data_dir: Path) -> tuple[Change, Removal]:
    """What uninstalling would change, and how: all as it was before, or only our entries out."""
    target = TARGETS[harness]
    path, real = _place(home / target.file)
    now = _read(real)
    record, backup = _kept_in(data_dir, harness)
    kept = _load(record)
    ours_alone = now is not None and kept is not None and (kept.real, kept.written) == (str(real), _hash(now))
    if ours_alone and kept is not None and (not kept.existed or backup.is_file()):
        return Change(harness, path, real, now, _read(backup) if kept.existed else None), "restored"
    with _readable(path):
        after = None if now is None else target.leave(now.decode(), harness).encode()
    return Change(harness, path, real, now, after), "absent" if after == now else "removed"


def apply_uninstall(change: Change, data_dir: Path) -> None:
    """Write the change, and forget the installation."""
    if not change.is_none:
        _write_change(change)
    for path in _kept_in(data_dir, change.harness):
        path.unlink(missing_ok=True)


def installed(harness: str, home: Path) -> tuple[list[str], ...]:
    """The commands of ours that the harness's settings hold. InstallRefused when they cannot be read."""
    target = TARGETS[harness]
    path, real = _place(home / target.file)
    with _readable(path):
        return tuple(target.commands((_read(real) or b"").decode(), harness))


def _replaced(change: Change, record: Path, backup: Path) -> bytes | None:
    """What to go back to: without our entries, also where those of an earlier installation stand."""
    kept = _load(record)
    if change.before is None:
        return None
    ours_alone = kept is not None and (kept.real, kept.written) == (str(change.real), _hash(change.before))
    if ours_alone and kept is not None and (not kept.existed or backup.is_file()):
        return _read(backup) if kept.existed else None
    return TARGETS[change.harness].leave(change.before.decode(), change.harness).encode()


# Claude Code and Codex: groups of commands by event


@dataclass(frozen=True, slots=True)
class _Entry:
    """A hook of ours: the event, its places in the list of groups and in the group's list, and itself."""

    name: str
    group: int
    place: int
    hook: Any
    argv: list[str]


def _entries(text: str, harness: str) -> Iterator[_Entry]:
    settings = parse(text).plain()
    hooks = settings.get("hooks") if isinstance(settings, dict) else None
    for name, groups in hooks.items() if isinstance(hooks, dict) else ():
        for group, one in enumerate(groups if isinstance(groups, list) else ()):
            for place, hook in enumerate(_list(one, "hooks")):
                argv = _own_argv(hook.get("command"), harness) if isinstance(hook, dict) else []
                if argv:
                    yield _Entry(name, group, place, hook, argv)


def _enter_groups(text: str, harness: str, bound: Bound) -> str:
    wanted = {
        EVENT_NAMES[event]: {"type": "command", "command": _line(bound.argv(harness, event)), "timeout": TIMEOUT_S}
        for event in bound.events()
    }
    standing = [(entry.name, entry.hook) for entry in _entries(text, harness)]
    if sorted(standing, key=str) == sorted(wanted.items(), key=str):
        return text
    text = _leave_groups(text, harness)
    for name, hook in wanted.items():
        text = put(text, ("hooks", name), {"hooks": [hook]}, append=True)
    return text


def _leave_groups(text: str, harness: str) -> str:
    while (entry := next(_entries(text, harness), None)) is not None:
        hooks = parse(text).get("hooks")
        groups = hooks.get(entry.name) if hooks else None
        group = groups.items[entry.group].get("hooks") if groups else None
        if groups is not None and group is not None and len(group.items) > 1:
            text = take(text, group, entry.place)
        elif groups is not None and len(groups.items) > 1:
            text = take(text, groups, entry.group)
        else:
            text = prune(text, ("hooks", entry.name))
    return text


def _commands_of_groups(text: str, harness: str) -> list[list[str]]:
    return [entry.argv for entry in _entries(text, harness)]


def _line(argv: list[str]) -> str:
    """The command for a shell. Were wellkept gone, Python would exit with 2, and that stops a prompt."""
    return f"{shlex.join(argv)}{_NEVER_FAILS}"


def _own_argv(line: object, harness: str) -> list[str]:
    """The words of a command line if it is one of ours for the harness, else []."""
    try:
        argv = shlex.split(line.removesuffix(_NEVER_FAILS)) if isinstance(line, str) else []
    except ValueError:
        return []
    is_ours = len(argv) >= 7 and argv[1:3] == ["-I", "-S"] and Path(argv[3]).parts[-3:] == _CLIENT_ENDS
    return argv if is_ours and argv[4] == harness else []


def _list(value: object, key: str) -> list[Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


# OpenClaw: a plugin, and the commands that it runs


def _enter_plugin(text: str, harness: str, bound: Bound) -> str:
    commands = {event: bound.argv(harness, event) for event in bound.events()}
    entry = {"enabled": True, "hooks": {"allowConversationAccess": True}, "config": {"commands": commands}}
    plugins = _plugins(text)
    if _list(plugins.get("load"), "paths").count(str(PLUGIN_DIR)) == 1 and _entry_of(plugins) == entry:
        return text
    text = _leave_plugin(text, harness)
    text = put(text, ("plugins", "load", "paths"), str(PLUGIN_DIR), append=True, relaxed=True)
    text = put(text, ("plugins", "entries", PLUGIN), entry, relaxed=True)
    if _list(_plugins(text), "allow"):
        text = put(text, ("plugins", "allow"), PLUGIN, append=True, relaxed=True)
    return text


def _leave_plugin(text: str, harness: str) -> str:
    text = drop(text, ("plugins", "load", "paths"), _is_our_plugin, relaxed=True)
    text = drop(text, ("plugins", "allow"), lambda name: name == PLUGIN, relaxed=True)
    load = parse(text, relaxed=True)
    for key in ("plugins", "load"):
        inner = load.get(key)
        load = inner if inner is not None else load
    if load.kind == "object" and not load.items:
        text = prune(text, ("plugins", "load"), relaxed=True)
    return prune(text, ("plugins", "entries", PLUGIN), relaxed=True)


def _commands_of_plugin(text: str, harness: str) -> list[list[str]]:
    plugins = _plugins(text)
    entry = _entry_of(plugins)
    if (
        entry is None
        or entry.get("enabled") is False
        or not any(map(_is_our_plugin, _list(plugins.get("load"), "paths")))
    ):
        return []
    config = entry.get("config")
    commands = config.get("commands") if isinstance(config, dict) else None
    return list(commands.values()) if isinstance(commands, dict) else []


def _plugins(text: str) -> dict[str, Any]:
    settings = parse(text, relaxed=True).plain()
    found = settings.get("plugins") if isinstance(settings, dict) else None
    return found if isinstance(found, dict) else {}


def _entry_of(plugins: dict[str, Any]) -> dict[str, Any] | None:
    entries = plugins.get("entries")
    found = entries.get(PLUGIN) if isinstance(entries, dict) else None
    return found if isinstance(found, dict) else None


def _is_our_plugin(path: object) -> bool:
    return isinstance(path, str) and Path(path).parts[-3:] == PLUGIN_DIR.parts[-3:]


# What switches hooks off


def _claude_code_obstacle(home: Path) -> str:
    off = _settings(home / "settings.json", relaxed=False).get("disableAllHooks") is True
    return "all hooks are switched off: disableAllHooks is true in settings.json" if off else ""


def _codex_obstacle(home: Path) -> str:
    try:
        config = tomllib.loads((home / "config.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return ""  # Codex itself says what is wrong with it
    features = config.get("features")
    for key in ("hooks", "codex_hooks"):
        if isinstance(features, dict) and features.get(key) is False:
            return f"all hooks are switched off: {key} is false under [features] in config.toml"
    return ""


def _openclaw_obstacle(home: Path) -> str:
    plugins = _settings(home / "openclaw.json", relaxed=True).get("plugins")
    if not isinstance(plugins, dict):
        return ""
    if plugins.get("enabled") is False:
        return "all plugins are switched off: plugins.enabled is false in openclaw.json"
    denied = PLUGIN in _list(plugins, "deny")
    return "the plugin is switched off: plugins.deny names wellkept in openclaw.json" if denied else ""


def _settings(path: Path, *, relaxed: bool) -> dict[str, Any]:
    with _readable(path):
        found = parse((_read(path) or b"").decode(), relaxed=relaxed).plain()
    return found if isinstance(found, dict) else {}


TARGETS: Mapping[str, Target] = {
    "claude-code": Target(
        "Claude Code",
        "settings.json",
        False,
        _enter_groups,
        _leave_groups,
        _commands_of_groups,
        _claude_code_obstacle,
        "It holds from the next session of Claude Code.",
    ),
    "codex": Target(
        "Codex",
        "hooks.json",
        False,
        _enter_groups,
        _leave_groups,
        _commands_of_groups,
        _codex_obstacle,
        "Codex runs new hooks only once you trust them: type /hooks in Codex.",
    ),
    "openclaw": Target(
        "OpenClaw",
        "openclaw.json",
        True,
        _enter_plugin,
        _leave_plugin,
        _commands_of_plugin,
        _openclaw_obstacle,
        "It holds once the gateway is started again: openclaw gateway restart.",
    ),
}


# Files


def _place(path: Path) -> tuple[Path, Path]:
    """The path, and the file behind any links. InstallRefused unless there is a file that we may write, or none."""
    real = Path(os.path.realpath(path))
    try:
        status = real.lstat()
    except FileNotFoundError:
        if path.is_symlink():
            raise InstallRefused(
                path, f"is a link to {real}, which is not there. Make that file, or remove the link"
            ) from None
        return path, real
    except OSError as error:
        raise InstallRefused(path, f"cannot be looked at ({error.strerror}). Mend that, then try again") from None
    if not stat.S_ISREG(status.st_mode):
        raise InstallRefused(path, "is no file. Move it out of the way, then try again")
    return path, real


def _read(real: Path) -> bytes | None:
    try:
        return real.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InstallRefused(real, f"cannot be read ({error.strerror}). Mend that, then try again") from None


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Say of the file what is wrong with its text."""
    try:
        yield
    except NotJson as error:
        raise InstallRefused(path, f"{error}. Nothing was changed; mend the file, then try again") from None
    except UnicodeDecodeError as error:
        reason = f"byte {error.start} is not UTF-8. Nothing was changed; mend the file, then try again"
        raise InstallRefused(path, reason) from None


def _write_change(change: Change) -> None:
    """Put the file in place of the one that was read, with its permissions, whole or not at all."""
    if _read(change.real) != change.before:
        raise InstallRefused(change.path, "has changed meanwhile. Nothing was changed; try again")
    status = change.real.stat() if change.before is not None else None
    if status is not None and (not status.st_mode & 0o200 or status.st_uid != os.geteuid()):
        raise InstallRefused(change.path, f"is not yours to write. Allow it, then try again: chmod u+w {change.path}")
    try:
        if change.after is None:
            change.real.unlink(missing_ok=True)
        else:
            _write(change.real, change.after, stat.S_IMODE(status.st_mode) if status is not None else 0o600)
    except OSError as error:
        raise InstallRefused(change.path, f"cannot be written ({error.strerror}). Mend that, then try again") from None


def _write(path: Path, content: bytes, mode: int) -> None:
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def _kept_in(data_dir: Path, harness: str) -> tuple[Path, Path]:
    """The record of an installation, and the copy of what it replaced."""
    folder = data_dir / "installed"
    return folder / f"{harness}.json", folder / f"{harness}.before"


def _load(record: Path) -> Record | None:
    try:
        return msgspec.json.decode(record.read_bytes(), type=Record)
    except (OSError, msgspec.DecodeError):
        # Without it, taking out our entries is all that can be done, and enough.
        return None


def _hash(content: bytes | None) -> str:
    return hashlib.sha256(content or b"").hexdigest()


def _lines(content: bytes | None) -> list[str]:
    return (content or b"").decode("utf-8", "replace").splitlines(keepends=True)
