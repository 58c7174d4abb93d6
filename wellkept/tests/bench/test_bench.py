"""The bench: it measures what it says, and notices what it looks for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import apsw
import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

from wellkept.bench import Sizes, Speed, Timing, Written, apart, beside, growth, safety, speed
from wellkept.bench.apart import Broke, run_apart
from wellkept.bench.safety import kill_writers, mixed_load
from wellkept.bench.texts import Speech
from wellkept.cli import main
from wellkept.memory import Memory
from wellkept.model import Fact, Message
from wellkept.providers import EmbedderId
from wellkept.storage import open_store

SMALL = Sizes(chunks=(200,), questions=4, kills=2, processes=2, seconds=0.5)


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


def test_a_memory_of_the_size_is_made_and_asked_once_more_without_writing(tmp_path: Path) -> None:
    path, said = tmp_path / "speed.db", list[str]()
    assert speed.fill(path, 100, Drawn.id).pieces == 100
    written = speed.fill(path, 200, Drawn.id, said.append)
    assert (written.pieces, said[-1]) == (100, "110 vectors")
    assert speed.fill(path, 200, Drawn.id) == Written(0, None, None)
    memory = Memory(open_store("sqlite", path))
    assert memory.store.index.vector_counts() == (220, 0)
    memory.close()
    found = speed.ask(path, 200, 4, Drawn())
    assert (found["lanes"], found["facts"]) == (("lexical", "context", "vector", "exact"), 10)
    for name in ("search", "lexical", "context", "recall", "plain"):
        assert found[name]["p95"] >= found[name]["p50"] > 0
    assert min(found["rss_mb"], found["file_mb"], found["first_search_ms"]) > 0


def test_each_question_finds_something_among_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "speed.db"
    speed.fill(path, 1_000, None)
    memory = Memory(open_store("sqlite", path))
    asked = list(speed.questions_of(Speech(1), 20))
    assert sum(bool(memory.search("bench", one)) for one in asked) >= 18
    assert any(isinstance(found.item, Fact) for one in asked for found in memory.recall("bench", one))
    memory.close()


def a_speed(chunks: int, cpu: float) -> Speed:
    took = Timing(cpu, cpu, cpu, cpu)
    return Speed(chunks, 0, Written(chunks, 5.0, 100 / cpu), (), 0, took, took, took, took, took, cpu, cpu)


def test_growth_is_told_as_multiples() -> None:
    found = growth(a_speed(10, 2.0), a_speed(100, 6.0))
    assert (found.chunks, found.size, found.search, found.recall, found.rss) == ((10, 100), 10, 3, 3, 3)
    assert found.write == pytest.approx(3)
    small = replace(a_speed(10, 2.0), written=Written(0, None, None))
    assert growth(small, a_speed(100, 6.0)).write is None


class Listed:
    """Another memory, that keeps a list."""

    def __init__(self, folder: Path, vectors: object) -> None:
        self.folder, self.kept, self.asked = folder, list[str](), list[str]()

    def write(self, messages: Sequence[Message]) -> None:
        self.kept += [message.text for message in messages]

    def search(self, question: str, limit: int) -> int:
        self.asked.append(question)
        return min(limit, len(self.kept))

    def close(self) -> None:
        (self.folder / "closed").write_bytes(bytes(2_000_000))


def test_another_memory_gets_the_same_pieces_and_questions(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = Listed(tmp_path, None)
    found = beside.fill_and_ask(other, tmp_path, 50, 4)
    assert (found["hits"], found["file_mb"], found["written"]["pieces"]) == (10, 2.0, 50)
    assert set(other.asked) == set(speed.questions_of(Speech(1), 4))
    path = tmp_path / "ours.db"
    speed.fill(path, 50, None)
    memory = Memory(open_store("sqlite", path))
    ours = [memory.get_page("bench", f"conversations/session-{number}").content for number in range(3)]
    memory.close()
    assert len(other.kept) == 50
    assert all(any(text in page for page in ours) for text in other.kept)
    assert "pieces written" in capsys.readouterr().out


def test_another_memory_that_is_missing_or_fails_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ours = a_speed(100, 1.0)
    missing = beside.Other("no-such-package-here", "none:None", "")
    monkeypatch.setitem(beside.OTHERS, "chromadb", missing)  # type: ignore[misc, unused-ignore]
    found = beside.measure_beside(tmp_path, "chromadb", ours, 4)
    assert (found.problem, found.version) == ("not installed: pip install no-such-package-here", "")
    broken = beside.Other("click", "no.such:Module", "")
    monkeypatch.setitem(beside.OTHERS, "chromadb", broken)  # type: ignore[misc, unused-ignore]
    monkeypatch.setattr(apart, "_RUN", "raise SystemExit('it is broken')  # {module} {name}")
    found = beside.measure_beside(tmp_path, "chromadb", ours, 4)
    assert (found.problem, found.search) == ("it is broken", None)


def test_a_process_that_tells_nothing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "_RUN", "pass  # {module} {name}")
    with pytest.raises(Broke, match="it ended with code 0"):
        run_apart("a", "b")
    told: list[str] = []
    script = "from wellkept.bench.apart import says, tells; says('half'); tells({{'x': 1}})  # {module} {name}"
    monkeypatch.setattr(apart, "_RUN", script)
    assert (run_apart("a", "b", progress=told.append), told) == ({"x": 1}, ["half"])


def test_each_piece_has_a_vector_of_its_own_and_each_question_the_models() -> None:
    vectors = beside.Vectors(Drawn())
    assert vectors.of_piece() != vectors.of_piece()
    assert vectors.of_question("x") == [1 / 8] * 64


@pytest.mark.field("CON-07")
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
    list(connection.execute("DROP TRIGGER guard_chunks_update"))
    list(connection.execute("UPDATE chunks SET text = 'soup'"))
    connection.close()
    problems = safety._looked_for(path, ["a"])[1]
    assert (len(problems), all("index differs" in problem for problem in problems)) == (2, True)


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
    assert (done.exit_code, set(found), found["speed"][0]["chunks"]) == (0, {"machine", "speed"}, 200)
    assert len(found["machine"]["load"]) == 2
    done = CliRunner().invoke(main, ["bench", "--quick", "--only", "kills", "--folder", str(tmp_path)])
    assert "10 writers killed" in done.stdout
    assert "0 lost" in done.stdout
    assert not list(tmp_path.iterdir())


def test_memories_that_are_kept_are_not_made_again(tmp_path: Path) -> None:
    argv = [
        "bench",
        "--quick",
        "--only",
        "speed",
        "--chunks",
        "100",
        "--chunks",
        "200",
        "--folder",
        str(tmp_path),
        "--keep",
    ]
    first, second = (CliRunner().invoke(main, argv) for _ in range(2))
    assert "from 100 to 200 pieces, 2 times as many: search " in first.stdout
    assert "written: 200, " in first.stdout
    assert second.stdout.count("written: before this run") == 2
    assert sorted(file.name for file in tmp_path.glob("*.db")) == ["speed-100.db", "speed-200.db"]


def test_a_folder_that_is_not_there_is_made(tmp_path: Path) -> None:
    wanted = tmp_path / "new" / "bench"
    done = CliRunner().invoke(main, ["bench", "--quick", "--only", "kills", "--folder", str(wanted)])
    assert (done.exit_code, "0 lost" in done.stdout) == (0, True)
    assert wanted.is_dir()
    assert not list(wanted.iterdir())


@pytest.mark.parametrize(("folder", "told"), [("taken", "is a file"), ("taken/bench", "Name a folder that can be")])
@pytest.mark.parametrize("options", [[], ["--keep"]])
def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path, folder: str, told: str, options: list[str]) -> None:
    (tmp_path / "taken").write_text("a file", encoding="utf-8")
    done = CliRunner().invoke(main, ["bench", "--quick", *options, "--folder", str(tmp_path / folder)])
    assert (done.exit_code, told in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--keep"], "--keep needs --folder"),
        (["--beside", "chromadb,other"], "'other' is not known; use chromadb, mem0, langgraph or all"),
        (["--beside", "all", "--only", "kills"], "--only kills leaves that out"),
    ],
)
def test_options_that_do_not_fit_are_refused_before_anything_is_done(options: list[str], told: str) -> None:
    done = CliRunner().invoke(main, ["bench", *options])
    assert (done.exit_code, told in done.stderr) == (2, True)


def test_a_process_that_breaks_ends_the_run_with_its_last_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "_RUN", "raise SystemExit('it is broken')  # {module} {name}")
    done = CliRunner().invoke(main, ["bench", "--only", "speed", "--chunks", "100"])
    assert (done.exit_code, "a process of the bench failed: it is broken" in done.stderr) == (1, True)
