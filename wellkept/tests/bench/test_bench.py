"""The bench: it measures what it says, and notices what it looks for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import apsw
import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

from wellkept.bench import Sizes, safety
from wellkept.bench.safety import kill_writers, mixed_load
from wellkept.bench.speed import measure
from wellkept.bench.texts import Speech
from wellkept.cli import main
from wellkept.memory import Memory
from wellkept.providers import EmbedderId
from wellkept.storage import open_store

SMALL = Sizes(chunks=200, questions=4, kills=2, processes=2, seconds=0.5)


class Drawn:
    id = EmbedderId("drawn", 64)
    ready = True

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.full((len(texts), 64), 1 / 8, np.float32)


def test_the_text_is_the_same_for_a_seed_and_some_words_are_much_more_common() -> None:
    assert Speech(3).turn() == Speech(3).turn() != Speech(4).turn()
    words = Speech(1).words(20_000)
    assert words.count(max(set(words), key=words.count)) > 200
    assert len(set(words)) > 4_000


def test_a_memory_of_the_size_is_made_and_asked(tmp_path: Path) -> None:
    said: list[str] = []
    found = measure(tmp_path, SMALL, Drawn(), said.append)
    assert found.lanes == ("lexical", "context", "vector", "exact")
    assert min(found.ingest_per_s, found.search.p50, found.context.p50, found.plain.cpu_p50, found.search_to_plain) > 0
    assert found.search.p95 >= found.search.p50
    assert said
    memory = Memory(open_store("sqlite", tmp_path / "speed.db"))
    assert memory.store.index.vector_counts() == (SMALL.chunks + 10, 0)
    memory.close()


def test_nothing_that_a_killed_writer_was_told_is_kept_is_lost(tmp_path: Path) -> None:
    found = kill_writers(tmp_path, SMALL)
    assert found.acknowledged >= SMALL.kills
    assert (found.kills, found.lost, found.problems) == (2, 0, ())


def test_a_page_that_is_gone_and_an_index_that_differs_are_noticed(tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    memory = Memory(open_store("sqlite", path))
    memory.put_page("bench", "a", "kiln")
    memory.close()
    assert safety._looked_for(path, ["a"]) == (0, [])
    assert safety._looked_for(path, ["a", "b"]) == (1, [])
    connection = apsw.Connection(str(path))
    list(connection.execute("UPDATE chunks SET text = 'soup'"))
    connection.close()
    assert "index differs" in safety._looked_for(path, ["a"])[1][0]


def test_processes_work_side_by_side_without_an_error(tmp_path: Path) -> None:
    found = mixed_load(tmp_path, SMALL)
    assert found.errors == ()
    assert min(found.writes, found.searches, found.contexts) > 0


def test_a_process_that_fails_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safety, "_RUN", "raise SystemExit('it is broken')")
    assert mixed_load(tmp_path, SMALL).errors == ("process 0: it is broken", "process 1: it is broken")
    found = kill_writers(tmp_path, SMALL)
    assert (found.acknowledged, found.problems[0]) == (0, "writer 0 wrote nothing: it is broken")


def test_the_command_prints_the_machine_and_its_load_beside_the_numbers(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["bench", "--quick", "--chunks", "200", "--only", "speed", "--json"])
    found = json.loads(done.stdout)
    assert (done.exit_code, set(found), found["speed"]["chunks"]) == (0, {"machine", "speed"}, 200)
    assert len(found["machine"]["load"]) == 2
    done = CliRunner().invoke(main, ["bench", "--quick", "--only", "kills", "--folder", str(tmp_path)])
    assert "10 writers killed" in done.stdout
    assert "0 lost" in done.stdout
    assert not list(tmp_path.iterdir())
