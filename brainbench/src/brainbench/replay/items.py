"""Play a script of verbs on single things that a memory keeps, and tell what it answered to each.

A script holds what a client would send, and nothing of what should come back. It can end the memory's process, start
it again on the same directory, and let several processes have it open at once, where the door can.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from brainbench.errors import SystemFailure, Unsupported
from brainbench.model import (
    Ask,
    Budget,
    Capability,
    Conversation,
    ItemIn,
    ItemRow,
    Message,
    PageIn,
    RunContext,
    SourceDecl,
)
from brainbench.replay.processes import (
    Spent,
    adopt_orphans,
    children,
    end_children,
    remove,
    spent,
    spent_below,
)
from brainbench.replay.worker import worker_access
from brainbench.systems import SYSTEMS, System, load_system
from brainbench.systems.access import Access
from brainbench.systems.answers import plain, what_happened
from brainbench.systems.hosted import Hosted
from brainbench.systems.paged import with_items

Verb = Literal[
    "add",
    "find",
    "get",
    "update",
    "delete",
    "delete_all",
    "list",
    "put",
    "read",
    "search",
    "converse",
    "context",
    "reopen",
    "kill",
    "together",
    "adds_until_killed",
    "tear",
]
FIRST_NOW = datetime(2026, 9, 7, 9, 0)
"""The bench's clock at the first step; a minute passes with each."""
TORN_BYTES = 10
MOST_TORN = 8
"""How many of the files that one write changed are torn, the biggest first."""
_WITHOUT_IT = ("reopen", "kill")
"""What is done to a memory that may not run."""
_ROWS = tuple[ItemRow, ...]
_ROW_OR_NONE: Any = ItemRow | None
_TEXT_OR_NONE: Any = str | None


@dataclass(frozen=True, slots=True)
class Step:
    """One call. What a verb does not need stays as it is.

    `of` is the label of a step that gave an id; where that one gave rows, it is the id of the row with this `text`.
    `by` is the process that is asked. A step that is `optional` is left out where the memory does not claim its verb;
    one that `may_fail` may answer with an error.
    """

    label: str
    verb: Verb
    scope: str = ""
    text: str = ""
    of: str = ""
    id: str = ""
    limit: int = 5
    title: str = ""
    ts: str | None = None
    now: str | None = None
    meta: tuple[tuple[str, str | int], ...] = ()
    as_of: str | None = None
    name: str = ""
    by: int = 0
    zone: str = ""
    after: int = 0
    delay_ms: float = 0.0
    messages: tuple[str, ...] = ()
    parts: tuple[tuple[Step, ...], ...] = ()
    optional: bool = False
    may_fail: bool = False


@dataclass(frozen=True, slots=True)
class Script:
    """What is played on an empty memory with these scopes; it `needs` what a memory must claim to be asked it."""

    scopes: tuple[str, ...]
    steps: tuple[Step, ...]
    needs: frozenset[Capability] = frozenset()


@dataclass(frozen=True, slots=True)
class Seen:
    """What a memory answered to the step of a label: rows, a text or an id, a yes or no, or an error.

    `skipped` says that it was not asked.
    """

    label: str
    rows: tuple[ItemRow, ...] = ()
    text: str | None = None
    yes: bool | None = None
    error: str | None = None
    ms: float = 0.0
    skipped: bool = False
    cpu_s: float | None = None
    written: int | None = None
    """Of steps together what the memory's processes spent on them: processor seconds, and bytes given to writes."""


@dataclass(frozen=True, slots=True)
class RowTask:
    """A script for a system, under an id that tells nothing."""

    system: str
    script: Script
    run_id: str
    seed: int


@dataclass(frozen=True, slots=True)
class Shown:
    """What was seen of a script, or why it cannot be asked of this memory."""

    seen: tuple[Seen, ...] = ()
    missing: str | None = None


CLAIMED: Mapping[str, Capability] = {
    "add": Capability.ADD,
    "find": Capability.ADD,
    "get": Capability.GET,
    "update": Capability.UPDATE,
    "delete": Capability.DELETE,
    "delete_all": Capability.DELETE_ALL,
    "list": Capability.LIST,
    "put": Capability.PAGE_WRITE,
    "read": Capability.PAGE_WRITE,
    "search": Capability.SEARCH,
    "converse": Capability.CONVERSATION_WRITE,
    "context": Capability.CONTEXT,
    "reopen": Capability.REOPEN,
    "kill": Capability.REOPEN,
    "adds_until_killed": Capability.REOPEN,
    "tear": Capability.REOPEN,
}
"""What a memory must claim to be asked a verb."""
Make = Callable[[str], System]
"""A memory that nobody has opened yet, in a process with this time zone; "" for that of the bench."""


def missing(script: Script, can: frozenset[Capability]) -> str | None:
    """What a memory would have to claim to be asked a script, or None."""
    lacking = sorted(needed(script) - can)
    return f"it does not claim {', '.join(f'`{name}`' for name in lacking)}" if lacking else None


def needed(script: Script) -> frozenset[Capability]:
    """What a memory must claim to be asked a script."""
    several = {Capability.SOURCES} if len(script.scopes) > 1 else frozenset()
    steps = [step for step in every_step(script.steps) if not step.optional]
    others = {Capability.REOPEN for step in steps if step.by}
    return script.needs | several | others | {CLAIMED[step.verb] for step in steps if step.verb in CLAIMED}


def every_step(steps: tuple[Step, ...]) -> Iterator[Step]:
    """The steps, and those within them."""
    for step in steps:
        yield step
        for part in step.parts:
            yield from every_step(part)


class _OutOfReach(Exception):
    """What runs the memory cannot be ended from here."""


class Play:
    """One script being played: the memory's processes, its directory, and what was seen so far."""

    def __init__(
        self, system: System, make: Make, script: Script, run: RunContext, spared: frozenset[int] | None = None
    ) -> None:
        """With `spared`, a kill ends every process below this one but those."""
        self._make, self._script, self._run, self._spared = make, script, run, spared
        self.systems: dict[int, System] = {0: system}
        self._can = system.can
        self._rows: dict[str, tuple[ItemRow, ...]] = {}
        self._ids: dict[str, str] = {}
        self._seen: list[Seen] = []
        self._steps = 0

    def play(self) -> Shown:
        """What was seen. A memory that cannot be opened is seen to fail at the first step.

        What it claims says whether it is asked; what it says `Unsupported` to afterwards is an error.
        """
        try:
            if lacking := missing(self._script, self._can):
                return Shown(missing=lacking)
            self._open(self.systems[0])
            for step in self._script.steps:
                self._play(step)
        except _OutOfReach as error:
            return Shown(missing=str(error))
        except Exception as error:
            self._seen.append(Seen("open", error=what_happened(error)))
        finally:
            for number, system in self.systems.items():
                if number:
                    with suppress(Exception):
                        system.close()
        return Shown(tuple(self._seen))

    def _open(self, system: System) -> None:
        (system.reopen if Capability.REOPEN in self._can else system.open)(self._run)
        system.tell_time(_stamp(self._steps))

    def _play(self, step: Step) -> None:
        claimed = CLAIMED.get(step.verb)
        if step.optional and claimed is not None and claimed not in self._can:
            self._seen.append(Seen(step.label, skipped=True))
        elif step.verb == "together":
            self._together(step)
        elif step.verb == "adds_until_killed":
            self._adds_until_killed(step)
        elif step.verb == "tear":
            self._tear(step)
        else:
            self._seen.append(self._asked(step))

    def _asked(self, step: Step) -> Seen:
        """What came of one call."""
        began = time.perf_counter()
        try:
            seen = _DO[step.verb](self, self._of(step), step)
        except _OutOfReach:
            raise
        except Unsupported as error:
            seen = Seen(step.label, error=self._taken_back(step, error))
        except Exception as error:
            seen = Seen(step.label, error=what_happened(error))
        if seen.error is None:
            self._rows[step.label] = seen.rows
            if seen.text is not None:
                self._ids[step.label] = seen.text
        return replace(seen, ms=(time.perf_counter() - began) * 1000)

    def _taken_back(self, step: Step, error: Unsupported) -> str:
        """That a memory refuses what it claims."""
        claim = CLAIMED.get(step.verb)
        return f"it claims `{claim}` and then says of `{step.verb}` that it is not supported: {what_happened(error)}"

    def _of(self, step: Step) -> System:
        """The memory in the process of a step, opened beside the others where it is new."""
        if step.by not in self.systems:
            other = self._make("")
            self.systems[step.by] = other
            other.reopen(self._run)
        system = self.systems[step.by]
        if step.verb not in _WITHOUT_IT:
            self._steps += 1
            system.tell_time(step.now or _stamp(self._steps))
        return system

    def _spent(self) -> Spent | None:
        """What the memory has spent so far: its processes, or this one where it has none."""
        return spent((os.getpid(),)) if self._spared is None else spent_below(self._spared)

    def _together(self, step: Step) -> None:
        """The parts at the same time, each in a thread of its own and by the processes that its steps name."""
        before = self._spent()
        for part in step.parts:
            with suppress(Exception):
                self._of(part[0])
        seen: list[list[Seen]] = [[] for _ in step.parts]

        def one(number: int) -> None:
            seen[number] += [self._asked(inner) for inner in step.parts[number]]

        threads = [threading.Thread(target=one, args=(number,), daemon=True) for number in range(len(step.parts))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self._seen += [each for part in seen for each in part]
        after = self._spent()
        if before is not None and after is not None:
            cost = Seen(step.label, cpu_s=after.cpu_s - before.cpu_s, written=after.written - before.written)
            self._seen.append(cost)

    def _adds_until_killed(self, step: Step) -> None:
        """Adds of one process, which is killed a moment after so many were acknowledged."""
        acknowledged = threading.Semaphore(0)
        seen: list[Seen] = []

        def add() -> None:
            for inner in step.parts[0]:
                seen.append(self._asked(inner))
                acknowledged.release()
                if seen[-1].error is not None:
                    break
            for _ in range(step.after):
                acknowledged.release()

        thread = threading.Thread(target=add, daemon=True)
        system = self.systems[step.by]
        thread.start()
        for _ in range(step.after):
            acknowledged.acquire()
        time.sleep(step.delay_ms / 1000)
        early = next((each.error for each in tuple(seen) if each.error is not None), None)
        if early is not None:
            self._seen.append(Seen(step.label, error=f"an add before the kill: {early}"))
        try:
            self._end(system)
        finally:
            thread.join()
        told = {each.label: each for each in seen}
        self._seen += [told.get(inner.label, Seen(inner.label, skipped=True)) for inner in step.parts[0]]

    def _tear(self, step: Step) -> None:
        """Add and kill; then open it with the end cut off each file that the add changed, and in an empty directory.

        With an end cut off it is added to, too, by the second part of the step.

        What is seen then is listed as `torn FILE` and as `empty`. At the end every file is as it was after the kill.
        """
        place = Path(self._run.directory)
        before = _digests(place)
        self._seen += [self._asked(inner) for inner in step.parts[0]]
        self._end(self.systems[step.by])
        changed = [name for name, digest in _digests(place).items() if before.get(name) != digest]
        if not changed:
            self._seen.append(Seen(step.label, error="it acknowledged an item and wrote nothing into its directory"))
            return
        with tempfile.TemporaryDirectory() as kept:
            shutil.copytree(place, kept, symlinks=True, ignore=_no_files, dirs_exist_ok=True)
            for name in sorted(changed, key=lambda name: -(place / name).stat().st_size)[:MOST_TORN]:
                _lay(place, kept)
                os.truncate(place / name, max(0, (place / name).stat().st_size - TORN_BYTES))
                self._list_opened(step, f"torn {name}", step.parts[1])
            _lay(place, None)
            self._list_opened(step, "empty", ())
            _lay(place, kept)

    def _list_opened(self, step: Step, label: str, adds: tuple[Step, ...]) -> None:
        """What is listed, after some adds, by a process that finds the directory so, and which is killed then."""
        steps = [Step(label, "reopen"), *(replace(each, label=label) for each in adds), Step(label, "list", step.scope)]
        for each in steps:
            seen = self._asked(each)
            if seen.error is not None:
                break
        self._seen.append(seen)
        self._end(self.systems[step.by])

    def id_of(self, step: Step) -> str:
        """The id that a step means."""
        if not step.of:
            return step.id
        if step.of in self._ids:
            whole = self._ids[step.of]
            if step.name != "prefix":
                return whole
            if len(whole) <= step.limit:
                raise SystemFailure(f"the id {whole!r} has no shorter beginning to try")
            return whole[: step.limit]
        found = [row.id for row in self._rows.get(step.of, ()) if row.text.strip() == step.text]
        if not found:
            raise SystemFailure(f"there is no id to use: {step.of} did not give the item")
        return found[0]

    # What each verb does.

    def _add(self, system: System, step: Step) -> Seen:
        replaces = self.id_of(step) if step.of else None
        item = ItemIn(step.scope, step.text, step.name or step.label, step.title, step.ts, dict(step.meta), replaces)
        return Seen(step.label, text=plain(system.add_item(item), str))

    def _find(self, system: System, step: Step) -> Seen:
        found = system.find_items(step.scope, step.text, step.limit, step.as_of)
        return Seen(step.label, rows=plain(list(found), _ROWS)[: step.limit])

    def _get(self, system: System, step: Step) -> Seen:
        row: ItemRow | None = plain(system.get_item(step.scope, self.id_of(step)), _ROW_OR_NONE)
        return Seen(step.label, rows=() if row is None else (row,), yes=row is not None)

    def _update(self, system: System, step: Step) -> Seen:
        told: str | None = plain(system.update_item(step.scope, self.id_of(step), step.text), _TEXT_OR_NONE)
        return Seen(step.label, text=told, yes=told is not None)

    def _delete(self, system: System, step: Step) -> Seen:
        return Seen(step.label, yes=system.delete_item(step.scope, self.id_of(step)) is True)

    def _delete_all(self, system: System, step: Step) -> Seen:
        system.delete_items(step.scope)
        return Seen(step.label)

    def _list(self, system: System, step: Step) -> Seen:
        return Seen(step.label, rows=plain(list(system.list_items(step.scope)), _ROWS))

    def _put(self, system: System, step: Step) -> Seen:
        system.write_page(PageIn(step.scope, step.name, step.text, ts=step.ts))
        return Seen(step.label, text=step.name)

    def _read(self, system: System, step: Step) -> Seen:
        slug = step.name or self._ids.get(step.of, "")
        content: str | None = plain(system.read_page(step.scope, slug), _TEXT_OR_NONE) if slug else None
        return Seen(step.label, rows=() if content is None else (ItemRow(slug, content),), yes=content is not None)

    def _search(self, system: System, step: Step) -> Seen:
        hits = list(system.search(step.scope, step.text, step.limit))[: step.limit]
        return Seen(step.label, rows=plain([ItemRow(hit.id, hit.text) for hit in hits], _ROWS))

    def _converse(self, system: System, step: Step) -> Seen:
        now = _stamp(self._steps)
        roles: tuple[Literal["user", "assistant"], ...] = ("user", "assistant")
        said = tuple(Message(roles[number % 2], text, now) for number, text in enumerate(step.messages))
        page = system.write_conversation(Conversation(step.scope, step.name or step.label, said, now=now))
        return Seen(step.label, text=plain(page, _TEXT_OR_NONE))

    def _context(self, system: System, step: Step) -> Seen:
        now = _stamp(self._steps)
        said = (Message("user", step.text, now),)
        told = system.context(Ask("direct", step.name or step.label, step.scope, said, (), Budget(step.limit), now))
        return Seen(
            step.label, rows=tuple(ItemRow(name, told.text) for name in told.brought)[: step.limit], text=told.text
        )

    def _reopen(self, system: System, step: Step) -> Seen:
        """Close it, and open it in a new process on the same directory."""
        with suppress(SystemFailure):
            system.close()
        fresh = self.systems[step.by] = self._make(step.zone)
        fresh.reopen(self._run)
        return Seen(step.label)

    def _kill(self, system: System, step: Step) -> Seen:
        self._end(system)
        return Seen(step.label)

    def _end(self, system: System) -> None:
        """End the memory's process and all that came of it."""
        try:
            system.kill()
        except Unsupported as error:
            raise _OutOfReach(str(error)) from None
        if self._spared is not None:
            end_children(self._spared)


_DO: Mapping[str, Callable[[Play, System, Step], Seen]] = {
    "add": Play._add,
    "find": Play._find,
    "get": Play._get,
    "update": Play._update,
    "delete": Play._delete,
    "delete_all": Play._delete_all,
    "list": Play._list,
    "put": Play._put,
    "read": Play._read,
    "search": Play._search,
    "converse": Play._converse,
    "context": Play._context,
    "reopen": Play._reopen,
    "kill": Play._kill,
}


def _digests(place: Path) -> dict[str, bytes]:
    """What each file below a directory holds, in short, by its path from there."""
    files = [path for path in sorted(place.rglob("*")) if path.is_file() and not path.is_symlink()]
    return {str(path.relative_to(place)): hashlib.blake2b(path.read_bytes()).digest() for path in files}


def _no_files(directory: str, names: list[str]) -> list[str]:
    """Sockets and the like."""
    paths = [Path(directory, name) for name in names]
    return [path.name for path in paths if not (path.is_symlink() or path.is_file() or path.is_dir())]


def _lay(place: Path, kept: str | None) -> None:
    """Give a directory what another one holds, and nothing besides."""
    for path in place.iterdir():
        if path.is_dir() and not path.is_symlink():
            remove(str(path))
        else:
            path.unlink()
    if kept is not None:
        shutil.copytree(kept, place, symlinks=True, dirs_exist_ok=True)


def _stamp(step: int) -> str:
    return (FIRST_NOW + timedelta(minutes=step)).isoformat() + "Z"


_kept: dict[str, System] = {}


def play_row(task: RowTask) -> bytes:
    """One script played in this worker; a Shown, encoded."""
    directory = tempfile.mkdtemp()
    spared = _before_any()
    try:
        return msgspec.msgpack.encode(_played(task, directory, spared))
    except BaseException as error:
        return msgspec.msgpack.encode(Shown((Seen("open", error=what_happened(error)),)))
    finally:
        remove(directory)


@cache
def _before_any() -> frozenset[int]:
    """The processes below this worker before a memory was started in it. From now on it adopts orphans."""
    adopt_orphans()
    return children()


def _played(task: RowTask, directory: str, spared: frozenset[int]) -> Shown:
    def make(zone: str) -> System:
        return made(task.system, worker_access(), zone)

    try:
        system = _kept.pop(task.system, None) or make("")
    except Unsupported as error:
        return Shown(missing=str(error))
    sources = tuple(SourceDecl(scope) for scope in task.script.scopes)
    run = RunContext(task.run_id, sources, sources[0].id, directory, task.seed)
    play = Play(system, make, task.script, run, spared)
    shown = play.play()
    _kept[task.system] = play.systems[0]
    return shown


def made(name: str, access: Access, zone: str) -> System:
    """A system of that name whose process can be ended, asked for items. A class always has a process of its own."""
    if zone:
        access = replace(access, variables={**access.variables, "TZ": zone})
    return with_items(Hosted(name, access) if name in SYSTEMS else load_system(name, access))


def lost(error: str) -> Shown:
    """What is seen of a script whose worker was ended."""
    return Shown((Seen("open", error=error),))
