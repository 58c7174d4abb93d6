"""Several processes, sudden death, torn files and requests sent twice cost nothing that was acknowledged."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any
from uuid import uuid4

import apsw
import httpx2
import pytest

from wellkept.errors import StoreUnavailable
from wellkept.memory import Memory
from wellkept.model import Message
from wellkept.serve.daemon import only_one
from wellkept.storage import open_store


def sound(path: Path) -> None:
    """The file is whole, and its index holds the words of its rows."""
    connection = apsw.Connection(str(path))
    assert list(connection.execute("PRAGMA integrity_check")) == [("ok",)]
    list(connection.execute("INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('integrity-check', 1)"))
    connection.close()


@pytest.mark.field("CON-02", "CON-05", "CON-06")
def test_writers_at_every_door_lose_nothing_of_each_other(doors: dict[str, Any], scope: str) -> None:
    failed: list[BaseException] = []

    def write(name: str) -> None:
        try:
            for number in range(15):
                doors[name]("remember", scope, text=f"{name} says {number}")
                doors[name]("put_page", scope, slug=f"{name}/{number}", content=f"heliotrope {name} {number}")
        except BaseException as error:
            failed.append(error)

    writers = [threading.Thread(target=write, args=(name,)) for name in ("python", "http", "mcp")]
    for writer in writers:
        writer.start()
    write("cli")
    for writer in writers:
        writer.join(60)
    assert failed == []
    for door in doors.values():
        changes = door("delta", scope, limit=1000)["changes"]
        assert (len(changes), len({one["seq"] for one in changes})) == (120, 120)
        assert len(door("search", scope, query="heliotrope", limit=50)["results"]) == 50
    sound(doors["python"].place.folder / "memory.db")


ROUNDS = """
import os, random, signal, sys, time
from wellkept.memory import Memory
from wellkept.storage import open_store
import wellkept.recall.search
chance = random.Random(7)
for round_ in range(20):
    here, there = os.pipe()
    child = os.fork()
    if child == 0:
        memory = Memory(open_store("sqlite", sys.argv[1]))
        for number in range(10_000):
            memory.put_page("default", f"r{round_:02}-{number:05}", f"heliotrope {number}")
            memory.remember("default", f"round {round_} says {number}")
            os.write(there, b"%05d\\n" % number)
        os._exit(1)
    os.close(there)
    os.read(here, 1)
    time.sleep(chance.uniform(0, 0.03))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    told = b""
    while piece := os.read(here, 65536):
        told += piece
    print(told.count(b"\\n"), flush=True)
"""


@pytest.mark.slow
@pytest.mark.field("CON-07", "CON-06", "CON-09")
def test_a_writer_that_is_killed_at_any_moment_keeps_what_it_was_told_and_no_hole(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    open_store("sqlite", path).close()
    argv = [sys.executable, "-c", ROUNDS, str(path)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=100, check=True)
    told = [int(line) for line in done.stdout.split()]
    assert len(told) == 20
    began = time.monotonic()
    memory = Memory(open_store("sqlite", path))
    memory.remember("default", "after")
    assert time.monotonic() - began < 5
    pages = [page.slug for page in memory.pages("default", 100_000)]
    facts = {fact.text for fact in memory.recall_facts("default")}
    for round_, acknowledged in enumerate(told):
        kept = [slug for slug in pages if slug.startswith(f"r{round_:02}-")]
        assert kept == [f"r{round_:02}-{number:05}" for number in range(len(kept))]
        assert len(kept) in (acknowledged, acknowledged + 1)
        assert all(f"round {round_} says {number}" in facts for number in range(acknowledged))
    assert len(memory.search("default", "heliotrope", 1000)) == min(len(pages), 1000)
    memory.close()
    sound(path)


@pytest.mark.slow
@pytest.mark.field("CON-07", "CON-09")
def test_a_server_that_is_killed_has_lost_nothing_and_keeps_nobody_out(
    place: Any, tmp_path: Path, its_key: Callable[[bool], bytes | None]
) -> None:
    folder = tmp_path / "m"
    folder.mkdir(mode=0o700)
    argv = [sys.executable, "-m", "wellkept", "serve", "--port", "0", "--data-dir", str(folder)]
    server = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    url = server.stdout.readline().removeprefix("listening on ").strip()
    headers = {"Authorization": f"Bearer {type(place)(folder, url, None, None).token('default')}"}
    told = [f"statement {number}" for number in range(10)]
    for text in told:
        assert httpx2.post(f"{url}/api/memory/remember", json={"text": text}, headers=headers).status_code == 200
    server.kill()
    server.wait(20)
    server.stdout.close()
    began = time.monotonic()
    with only_one(folder, "serve.lock", "server"):
        memory = Memory(open_store("sqlite", folder / "memory.db"), key=its_key)
        assert [fact.text for fact in memory.recall_facts("default")] == told
        memory.remember("default", "after")
        memory.close()
    assert time.monotonic() - began < 5


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """A memory of which the last write stands in the journal only, as after a power cut."""
    memory = Memory(open_store("sqlite", tmp_path / "live.db"))
    for number in range(5):
        memory.put_page("default", f"p{number}", f"heliotrope {number}")
    for name in ("live.db", "live.db-wal"):
        shutil.copy(tmp_path / name, tmp_path / name.replace("live", "memory"))
    memory.close()
    return tmp_path / "memory.db"


@pytest.mark.field("CON-03")
@pytest.mark.parametrize("torn", ["cut by 10 bytes", "a line at its end", "zeros at its end", "gone"])
def test_a_torn_journal_costs_at_most_the_last_write(written: Path, torn: str) -> None:
    journal = written.with_name("memory.db-wal")
    whole = journal.read_bytes()
    assert whole
    if torn == "gone":
        journal.unlink()
    else:
        endings = {"cut by 10 bytes": whole[:-10], "a line at its end": whole + b'{"text": "by hand"}\n'}
        journal.write_bytes(endings.get(torn, whole + bytes(5000)))
    memory = Memory(open_store("sqlite", written))
    kept = [page.slug for page in memory.pages("default")]
    least = {"cut by 10 bytes": 4, "gone": 0}.get(torn, 5)
    assert kept == [f"p{number}" for number in range(len(kept))]
    assert len(kept) >= least
    memory.put_page("default", "after", "heliotrope after")
    assert len(memory.search("default", "heliotrope")) == len(kept) + 1
    memory.close()
    sound(written)


@pytest.mark.field("CON-03")
@pytest.mark.parametrize("cut", [4096, 20_000])
def test_a_memory_that_lacks_its_end_is_refused_with_what_to_do_and_left_as_it_is(
    written: Path, cut: int, typed: Callable[..., Any]
) -> None:
    Memory(open_store("sqlite", written)).close()
    damaged = written.read_bytes()[:-cut]
    written.write_bytes(damaged)
    data = ("--data-dir", str(written.parent))
    for argv in (("recall", "heliotrope"), ("remember", "x"), ("export",)):
        said = typed(*argv, *data)
        assert said.exit_code == 1
        assert f"cannot use {written}: the database is damaged. Restore a copy, or move the file away" in said.stderr
    assert written.read_bytes()[:cut] == damaged[:cut]
    assert len(written.read_bytes()) == len(damaged)


@pytest.mark.field("CON-06", "CON-03")
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE {index}_data SET block = zeroblob(length(block)) WHERE id > 10",
        "DELETE FROM {index}_data WHERE id > 10",
    ],
)
@pytest.mark.parametrize("first", ["search", "recall", "context", "put_page"])
def test_a_damaged_word_index_is_made_anew_from_the_pages(
    tmp_path: Path, damage: str, first: str, typed: Callable[..., Any]
) -> None:
    path = tmp_path / "memory.db"
    memory = Memory(open_store("sqlite", path))
    for number in range(30):
        memory.put_page("default", f"p{number:02}", f"heliotrope {number} " + "in the yard " * 20)
    memory.close()
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute(damage.format(index="written_fts" if first == "context" else "chunks_fts"))
    memory = Memory(open_store("sqlite", path))
    asks: dict[str, Callable[[], object]] = {
        "search": lambda: memory.search("default", "heliotrope"),
        "recall": lambda: memory.recall("default", "heliotrope"),
        "put_page": lambda: memory.put_page("default", "p05", "changed"),
    }
    if first == "context":
        said = memory.context("default", (Message("user", "which heliotrope stands in the yard, number 3?"),))
        assert said.degraded in ((), ("arm_failed:topic",))
    else:
        with pytest.raises(StoreUnavailable, match=r"word index was damaged, and has been made anew .* Ask again"):
            asks[first]()
        asks[first]()
    assert len(memory.search("default", "heliotrope", 50)) == (29 if first == "put_page" else 30)
    memory.close()
    sound(path)


@pytest.mark.field("CON-08")
def test_a_request_that_is_sent_again_is_one_write(place: Any, door: Any, scope: str) -> None:
    headers = {"Authorization": f"Bearer {place.token(scope)}", "Idempotency-Key": uuid4().hex}
    body = {"name": "Una", "content": "a green boat"}
    said = [place.client.post("/api/entities", json=body, headers=headers) for _ in range(3)]
    assert len({one.text for one in said}) == 1
    assert said[0].status_code == 201
    other = place.client.post("/api/entities", json={**body, "name": "Ann"}, headers=headers)
    assert (other.status_code, other.json()["code"]) == (409, "conflict")
    for _ in range(2):
        door("remember", scope, text="Una is a green boat")
        door("put_page", scope, slug="una", content="Una is a green boat")
    changes = door("delta", scope)["changes"]
    assert [one["change"] for one in changes] == ["created"] * 3
