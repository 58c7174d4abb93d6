"""Whether what was acknowledged is there: after kills in the middle of writing, and with several processes at work."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import IO

import apsw

from wellkept.bench import Durability, Load, Sizes
from wellkept.bench.texts import Speech
from wellkept.errors import WellkeptError
from wellkept.memory import Memory
from wellkept.model import Message
from wellkept.storage import open_store

_SOURCE = "bench"
_RUN = "import sys; from wellkept.bench.safety import {0}; {0}(*sys.argv[1:])"


def kill_writers(folder: Path, sizes: Sizes, progress: Callable[[str], object] = bool) -> Durability:
    """Start a writer, kill it with SIGKILL while it writes, again and again on one memory; then look for everything."""
    path = folder / "kills.db"
    chance = random.Random(1)  # noqa: S311
    acknowledged: list[str] = []
    problems: list[str] = []
    for number in range(sizes.kills):
        with _started("write_until_killed", str(path), str(number)) as writer:
            said = _output(writer)
            first = said.readline()
            time.sleep(chance.random() * 0.05)
            writer.kill()
            lines = (first + said.read()).decode().splitlines(keepends=True)
            if not first:
                problems.append(f"writer {number} wrote nothing: {_errors(writer)}")
        # A line that was cut was not heard to its end.
        acknowledged += [line.strip() for line in lines if line.endswith("\n")]
        progress(f"{number + 1} of {sizes.kills} writers killed")
    lost, found = _looked_for(path, acknowledged)
    return Durability(sizes.kills, len(acknowledged), lost, tuple(problems + found))


def write_until_killed(path: str, name: str) -> None:
    """Write pages, conversations and facts, and say of each that it is kept, until somebody ends the process."""
    speech = Speech(int(name))
    memory = Memory(open_store("sqlite", path))
    for number in range(1_000_000):
        slug = f"w{name}/{number}"
        if number % 3:
            memory.put_page(_SOURCE, slug, speech.turn())
        else:
            messages = [Message("user", speech.turn()) for _ in range(5)]
            slug = memory.bank(_SOURCE, f"w{name}-{number}", messages).slug or slug
        print(slug, flush=True)


def mixed_load(folder: Path, sizes: Sizes, progress: Callable[[str], object] = bool) -> Load:
    """Several processes that write, search and ask for context on one memory at the same time."""
    path = folder / "load.db"
    open_store("sqlite", path).close()
    progress(f"{sizes.processes} processes for {sizes.seconds:.0f} s")
    workers = [
        _started("work", str(path), str(number), str(sizes.seconds), str(time.time() + 1.0))
        for number in range(sizes.processes)
    ]
    done: Counter[str] = Counter()
    errors: list[str] = []
    for number, worker in enumerate(workers):
        said, told = worker.communicate(timeout=sizes.seconds + 120)
        if worker.returncode != 0:
            errors.append(f"process {number}: {told.decode(errors='replace').strip()[-300:]}")
            continue
        answer = json.loads(said)
        done.update(answer["done"])
        errors += answer["errors"]
    return Load(
        sizes.processes, sizes.seconds, done["write"], done["search"], done["context"], (*errors, *_sound(path))
    )


def work(path: str, name: str, seconds: str, begin: str) -> None:
    """One of the processes: what it did and what failed, as JSON."""
    speech, done, errors = Speech(int(name)), Counter[str](), list[str]()
    with closing(Memory(open_store("sqlite", path))) as memory:
        memory.find(_SOURCE, "anything")
        time.sleep(max(0.0, float(begin) - time.time()))
        end = time.monotonic() + float(seconds)
        number = 0
        while time.monotonic() < end:
            number += 1
            kind = ("write", "search", "context")[number % 3]
            try:
                _do(memory, kind, f"p{name}/{number % 200}", speech)
                done[kind] += 1
            except WellkeptError as error:
                errors.append(f"{kind}: {error}")
    print(json.dumps({"done": done, "errors": errors}))


def _do(memory: Memory, kind: str, slug: str, speech: Speech) -> None:
    if kind == "write":
        memory.put_page(_SOURCE, slug, speech.turn())
    elif kind == "search":
        memory.find(_SOURCE, speech.question())
    else:
        memory.context(_SOURCE, (Message("user", speech.turn()),))


def _looked_for(path: Path, slugs: list[str]) -> tuple[int, list[str]]:
    """How many of the pages are not there, and what is wrong with the file."""
    with closing(open_store("sqlite", path)) as store:
        lost = sum(store.get_page(_SOURCE, slug) is None for slug in slugs)
    return lost, list(_sound(path))


def _sound(path: Path) -> tuple[str, ...]:
    """What is wrong with the file: its structure, and words in the index that differ from the rows."""
    found = []
    with closing(apsw.Connection(str(path))) as connection:
        checked = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
        if checked != ["ok"]:
            found.append("the file: " + "; ".join(checked[:3]))
        for index in ("chunks_fts", "written_fts"):
            try:
                # With 1 the index is compared with the rows that it indexes.
                list(connection.execute(f"INSERT INTO {index} ({index}, rank) VALUES ('integrity-check', 1)"))  # noqa: S608
            except apsw.Error as error:
                found.append(f"the index differs from the rows: {error}")
    return tuple(found)


def _started(name: str, *arguments: str) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-c", _RUN.format(name), *arguments]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def _output(process: subprocess.Popen[bytes]) -> IO[bytes]:
    assert process.stdout is not None  # noqa: S101
    return process.stdout


def _errors(process: subprocess.Popen[bytes]) -> str:
    assert process.stderr is not None  # noqa: S101
    return process.stderr.read().decode(errors="replace").strip()[-300:]
