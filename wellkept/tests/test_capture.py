"""Captured questions: what a row holds, how rows are kept, and that nobody notices when it goes wrong."""

from __future__ import annotations

import fcntl
import json
import os
import stat
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wellkept import capture
from wellkept.capture import Capture, Captured
from wellkept.errors import StoreUnavailable
from wellkept.memory import Memory
from wellkept.model import Budget, Message
from wellkept.settings import load_settings, open_memory
from wellkept.storage import open_store

FIELDS = [
    "schema_version",
    "id",
    "tool_name",
    "query",
    "retrieved_slugs",
    "retrieved_chunk_ids",
    "source_ids",
    "detail",
    "vector_enabled",
    "expansion_applied",
    "latency_ms",
    "remote",
    "created_at",
]


def asked(query: str = "tea", **changes: Any) -> Captured:
    return Captured(
        **{"tool": "search", "source": "default", "query": query, "slugs": ["a"], "detail": "limit 10"}
        | {"latency_ms": 1.23456}
        | changes
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "queries.ndjson"


@pytest.fixture
def memory(file: Path) -> Memory:
    kept = Memory(open_store("sqlite", ":memory:"), Capture(file))
    kept.put_page("default", "people/ada", "---\ntitle: Ada Lovelace\n---\nShe wrote the first program.\n")
    kept.remember("default", "Ada likes tea.", entity="people/ada")
    return kept


def rows(file: Path) -> list[dict[str, Any]]:
    return list(capture.read(file).rows)


@pytest.mark.req("C-901")
def test_a_row_has_exactly_the_fields_of_the_format(file: Path) -> None:
    Capture(file, remote=True).keep(asked("who likes tea", slugs=["b", "a", "b"]))
    (row,) = rows(file)
    assert list(row) == FIELDS
    assert (row["schema_version"], row["tool_name"], row["query"]) == (1, "search", "who likes tea")
    assert (row["retrieved_slugs"], row["retrieved_chunk_ids"], row["source_ids"]) == (["b", "a"], [], ["default"])
    assert (row["detail"], row["latency_ms"], row["remote"]) == ("limit 10", 1.235, True)
    assert (row["vector_enabled"], row["expansion_applied"]) == (False, False)
    assert abs(datetime.fromisoformat(row["created_at"]) - datetime.now(UTC)) < timedelta(minutes=1)
    assert row["created_at"].endswith("Z")


@pytest.mark.req("C-901")
def test_capture_is_off_unless_the_settings_switch_it_on(tmp_path: Path) -> None:
    env = {"HOME": str(tmp_path), "WELLKEPT_DATA_DIR": str(tmp_path / "d")}
    quiet = open_memory(load_settings(env))
    quiet.search("default", "tea")
    quiet.close()
    assert not load_settings(env).queries.exists()
    for switched_on in (env | {"WELLKEPT_CAPTURE_QUERIES": "1"}, env):
        loud = open_memory(load_settings(switched_on))
        loud.search("default", "tea")
        loud.close()
        (tmp_path / "d" / "settings.toml").write_text("capture_queries = true\n")
    assert [row["query"] for row in rows(load_settings(env).queries)] == ["tea", "tea"]


@pytest.mark.req("C-901")
def test_every_way_to_ask_is_captured_with_the_pages_that_answered(memory: Memory, file: Path) -> None:
    memory.search("default", "first program", 3)
    memory.recall_facts("default", "tea", limit=2)
    memory.recall_facts("default", "tea", entity="people/ada")
    memory.context("default", (Message("user", "What did Ada Lovelace write?"),))
    memory.context("default", (Message("user", "Hello"), Message("user", "And Ada Lovelace?")))
    memory.context("default", (Message("user", "And Ada Lovelace?"),), budget=Budget(pages=1))
    memory.pointers("default", "Ada Lovelace", pages=1)
    memory.pointers("default", "Ada Lovelace", prior="`people/ada`")
    found = [(row["tool_name"], row["query"], row["retrieved_slugs"], row["detail"]) for row in reversed(rows(file))]
    ada = ["people/ada"]
    assert found == [
        ("search", "first program", ada, "limit 3"),
        ("recall_facts", "tea", ada, "limit 2"),
        ("recall_facts", "tea", ada, "of one entity"),
        ("context", "What did Ada Lovelace write?", ada, "one turn"),
        ("context", "And Ada Lovelace?", ada, "in a conversation"),
        ("context", "And Ada Lovelace?", ada, "in a conversation"),
        ("pointers", "Ada Lovelace", ada, "limit 1"),
        ("pointers", "Ada Lovelace", [], "in a conversation"),
    ]


def test_what_is_no_question_is_not_captured(memory: Memory, file: Path) -> None:
    memory.search("default", "  ")
    memory.recall_facts("default")
    memory.context("default", ())
    memory.pages("default")
    memory.get_page("default", "people/ada")
    assert not file.exists()


@pytest.mark.req("C-901")
def test_a_secret_reaches_no_byte_of_the_directory(file: Path) -> None:
    secrets = ["ada@example.test", "+49 30 901820", "sk-abcdefghij0123456789"]
    Capture(file).keep(asked(" ".join(secrets), slugs=secrets, source=secrets[0]))
    written = b"".join(path.read_bytes() for path in file.parent.iterdir())
    assert b"[scrubbed mail] [scrubbed phone] [scrubbed key]" in written
    assert [secret for secret in secrets if secret.encode() in written] == []


@pytest.mark.req("C-901")
@pytest.mark.parametrize("letter", ["a", "ä", "😀", "a b@c.test "])
def test_a_long_question_is_cut_and_says_so(file: Path, letter: str) -> None:
    Capture(file).keep(asked(letter * 60_000))
    (row,) = rows(file)
    assert 40_000 < len(row["query"].encode()) <= 50 * 1024
    assert row["detail"] == "cut"


def test_no_half_of_a_key_is_left_where_a_question_is_cut(file: Path) -> None:
    beginning = "word " * (50 * 1024 // 5 - 2)
    Capture(file).keep(asked(beginning + "sk-abcdefghij0123456789" * 10))
    assert "sk-" not in rows(file)[0]["query"]


@given(st.text())
def test_any_text_can_be_captured(text: str) -> None:
    row = json.loads(capture._line(capture._row(asked(text), False)))
    assert isinstance(row["query"], str)


@pytest.mark.req("C-901")
def test_the_file_is_its_owners_only(file: Path) -> None:
    before = os.umask(0)
    try:
        Capture(file).keep(asked())
    finally:
        os.umask(before)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.req("C-901")
def test_the_newest_come_first_and_can_be_chosen(file: Path) -> None:
    for number in range(5):
        Capture(file).keep(asked(f"q{number}", tool="search" if number % 2 else "context"))
    assert [row["query"] for row in rows(file)] == ["q4", "q3", "q2", "q1", "q0"]
    assert [row["query"] for row in capture.read(file, limit=2).rows] == ["q4", "q3"]
    assert [row["query"] for row in capture.read(file, tool="search").rows] == ["q3", "q1"]
    since = datetime.fromisoformat(rows(file)[1]["created_at"])
    assert [row["query"] for row in capture.read(file, since=since).rows] == ["q4", "q3"]


@pytest.mark.req("C-901")
def test_keys_that_this_version_does_not_know_are_kept(file: Path) -> None:
    Capture(file).keep(asked())
    row = json.loads(file.read_text())
    file.write_text(json.dumps(row | {"mood": {"of": ["the", "day"]}}) + "\n")
    assert rows(file)[0]["mood"] == {"of": ["the", "day"]}


@pytest.mark.req("C-901")
def test_writers_of_many_processes_lose_no_line_and_tear_none(file: Path) -> None:
    code = (
        "import sys, pathlib\nfrom wellkept.capture import Capture, Captured\n"
        "c = Capture(pathlib.Path(sys.argv[1]))\n"
        "for n in range(50):\n"
        "    c.keep(Captured('search', 'default', f'{sys.argv[2]}-{n} ' + 'x' * 3000, ['a'], '', 1.0))\n"
        "print(c.failed)\n"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", code, str(file), str(w)], stdout=subprocess.PIPE, text=True)
        for w in range(4)
    ]
    failed = sum(int(writer.communicate(timeout=60)[0]) for writer in writers)
    kept = capture.read(file)
    assert len(kept.rows) + failed == 200
    assert (kept.lost, kept.torn) == (failed, 0)
    assert len(kept.rows) > 100


@pytest.mark.req("C-901")
def test_a_capture_that_fails_is_counted_and_the_answer_comes(memory: Memory, file: Path) -> None:
    file.mkdir()
    assert [hit.slug for hit in memory.search("default", "first program")] == ["people/ada"]
    assert memory.capture is not None
    assert memory.capture.failed == 1
    assert file.with_suffix(".lost").read_text() == "IsADirectoryError\n"
    file.rmdir()
    assert capture.read(file).lost == 1


def test_a_directory_that_cannot_be_written_changes_no_answer(memory: Memory) -> None:
    assert memory.capture is not None
    memory.capture.path = Path("/nonexistent/queries.ndjson")
    assert memory.search("default", "first program")
    assert memory.capture.failed == 1


@pytest.mark.req("C-901")
def test_an_answer_does_not_wait_long_for_a_writer_that_hangs(file: Path) -> None:
    Capture(file).keep(asked())
    with file.open("rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        kept = Capture(file)
        began = time.monotonic()
        kept.keep(asked())
        assert time.monotonic() - began < 5
        with pytest.raises(StoreUnavailable, match="another process is writing it"):
            capture.read(file)
    assert kept.failed == 1
    assert capture.read(file).lost == 1


def test_a_link_is_not_followed(file: Path, tmp_path: Path) -> None:
    target = tmp_path / "elsewhere"
    target.write_text("")
    file.symlink_to(target)
    kept = Capture(file)
    kept.keep(asked())
    assert kept.failed == 1
    assert target.read_text() == ""


def test_a_line_that_a_killed_writer_left_spoils_no_other(file: Path) -> None:
    Capture(file).keep(asked("one"))
    with file.open("a") as torn:
        torn.write('{"tool_name": "sea')
    Capture(file).keep(asked("two"))
    kept = capture.read(file)
    assert [row["query"] for row in kept.rows] == ["two", "one"]
    assert kept.torn == 1


def aged(file: Path, *days: int) -> None:
    with file.open("a") as out:
        for old in days:
            at = (datetime.now(UTC) - timedelta(days=old)).isoformat()
            out.write(json.dumps({"tool_name": "search", "query": f"{old} days", "created_at": at}) + "\n")


def test_rows_are_gone_after_ninety_days(file: Path) -> None:
    aged(file, 120, 91, 89, 1)
    Capture(file).keep(asked("now"))
    assert b"91 days" not in file.read_bytes()
    assert [row["query"] for row in rows(file)] == ["now", "1 days", "89 days"]


def test_an_export_deletes_what_is_too_old_even_when_nobody_asks_any_more(file: Path) -> None:
    aged(file, 91)
    assert rows(file) == []
    assert file.read_bytes() == b""


def test_a_file_that_grew_too_large_keeps_its_newer_half(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture, "KEPT_BYTES", 10_000)
    kept = Capture(file)
    for number in range(60):
        kept.keep(asked(f"q{number} " + "x" * 200))
    assert file.stat().st_size < 11_000
    found = [row["query"].split()[0] for row in rows(file)]
    assert found[0] == "q59"
    assert found == [f"q{number}" for number in range(59, 59 - len(found), -1)]
    assert kept.failed == 0


def test_clearing_leaves_no_row_and_no_count(file: Path) -> None:
    kept = Capture(file)
    kept.keep(asked())
    kept.keep(asked())
    file.with_suffix(".lost").write_text("OSError\n")
    assert capture.clear(file) == 2
    assert (capture.read(file).rows, capture.read(file).lost) == ((), 0)
    kept.keep(asked("again"))
    assert [row["query"] for row in rows(file)] == ["again"]
    assert capture.clear(file.with_name("none.ndjson")) == 0


@pytest.mark.req("C-901")
def test_a_search_that_was_filtered_is_captured_with_its_filters(tmp_path: Path) -> None:
    memory = Memory(open_store("sqlite", ":memory:"), Capture(tmp_path / "queries.ndjson"))
    memory.put_page("default", "a", "---\ntype: note\n---\ntea")
    memory.search("default", "tea")
    since = datetime(2026, 1, 31, tzinfo=UTC)
    memory.search("default", "tea", types=["note"], occurred_after=since, offset=1, include_memory=False)
    filtered, plain = capture.read(tmp_path / "queries.ndjson").rows
    assert (plain["detail"], "filters" in plain) == ("limit 10", False)
    assert filtered["detail"] == "filtered"
    assert filtered["filters"] == {
        "types": ["note"],
        "occurred_after": "2026-01-31T00:00:00+00:00",
        "offset": 1,
        "include_memory": False,
    }
