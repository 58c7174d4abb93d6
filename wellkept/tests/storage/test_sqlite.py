"""What only the SQLite file promises: many processes, sudden death, damage, migrations."""

import json
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

from wellkept.errors import StoreUnavailable
from wellkept.model import Chunk, Fact, Name, Page, Provenance, Told
from wellkept.storage import schema
from wellkept.storage.schema import Migration, migrations
from wellkept.storage.sqlite import SqliteStore

NOW = datetime(2026, 3, 1, tzinfo=UTC)
COMMON = """
import sys
from datetime import UTC, datetime
from wellkept.model import Chunk, Fact, Name, Page, Provenance
from wellkept.storage.sqlite import SqliteStore
def put(store, slug, text="word"):
    store.put_page(Page("default", slug, slug, text), [Chunk(0, text)], [Name("alias", "k")])
store = SqliteStore(sys.argv[1])
"""


def put(store: SqliteStore, slug: str, text: str = "word") -> None:
    store.put_page(Page("default", slug, slug, text), [Chunk(0, text)], [Name("alias", "k")])


def start(script: str, path: Path) -> subprocess.Popen[str]:
    argv = [sys.executable, "-c", COMMON + script, str(path)]
    return subprocess.Popen(argv, stdout=subprocess.PIPE, stdin=subprocess.PIPE, text=True)


def slugs(store: SqliteStore) -> list[str]:
    return [page.slug for page in store.pages("default", 10_000)]


@contextmanager
def opened(path: Path | str) -> Iterator[SqliteStore]:
    store = SqliteStore(path)
    try:
        yield store
    finally:
        store.close()


def refusal(path: Path | str) -> str:
    with pytest.raises(StoreUnavailable) as caught:
        SqliteStore(path)
    assert str(path) in str(caught.value)
    return caught.value.reason


# -- several processes


@pytest.mark.field("CON-02")
def test_two_processes_write_one_file_and_nothing_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    script = "\nfor number in range(30): put(store, f'{sys.argv[1][-1]}{id(store)}/{number}')"
    workers = [start(script, path) for _ in range(3)]
    assert [worker.wait(60) for worker in workers] == [0, 0, 0]
    for worker in workers:
        worker.communicate()
    with opened(path) as store:
        assert len(store.find_names("default", "alias", ["k"])) == len(slugs(store)) >= 30
        assert len(store.find_words("default", ["word"], 999)) == len(slugs(store))


def test_a_process_sees_what_another_wrote_and_its_reset(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with opened(path) as store:
        put(store, "mine")
        other = start("\nput(store, 'theirs'); print('put', flush=True); input(); store.reset(); print('reset')", path)
        assert other.stdout is not None
        assert other.stdout.readline() == "put\n"
        assert slugs(store) == ["mine", "theirs"]
        other.communicate("\n", timeout=60)
        assert other.returncode == 0
        assert slugs(store) == []
        assert store.find_words("default", ["word"], 9) == ()
        put(store, "again")
        assert slugs(store) == ["again"]


def test_a_read_does_not_wait_for_the_transaction_of_another_process(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with opened(path) as store:
        put(store, "mine")
        script = "\nwith store.transaction():\n    put(store, 'theirs'); print('put', flush=True); input()"
        other = start(script, path)
        assert other.stdout is not None
        assert other.stdout.readline() == "put\n"
        assert slugs(store) == ["mine"]
        other.communicate("\n", timeout=60)
        assert slugs(store) == ["mine", "theirs"]


@pytest.mark.slow
def test_a_writer_kept_waiting_too_long_is_told_why(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with opened(path) as store, opened(path) as other, store.transaction():
        put(store, "a")
        with pytest.raises(StoreUnavailable, match=r"locked.*Try again"):
            put(other, "b")


@pytest.mark.field("CON-07")
def test_an_acknowledged_write_survives_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    script = "\nfor number in range(100_000):\n    put(store, f'p{number:06}')\n    print(number, flush=True)"
    writer = start(script, path)
    assert writer.stdout is not None
    for line in writer.stdout:
        if int(line) == 25:
            writer.send_signal(signal.SIGKILL)
            break
    acknowledged = max([25, *(int(line) for line in writer.stdout if line.endswith("\n"))])
    writer.wait(60)
    writer.communicate()
    with opened(path) as store:
        kept = slugs(store)
        assert kept[: acknowledged + 1] == [f"p{number:06}" for number in range(acknowledged + 1)]
        assert len(store.find_words("default", ["word"], 100_000)) == len(kept)
        assert len(store.find_names("default", "alias", ["k"])) == len(kept)
        put(store, "after")


# -- files that cannot be used


def test_every_kind_of_unusable_path_is_explained(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "folder" in refusal(tmp_path)
    assert "does not exist" in refusal(tmp_path / "no" / "such" / "memory.db")
    assert "regular file" in refusal(tmp_path / "pipe")
    assert "Choose another path" in refusal(tmp_path / ("x" * 300))
    assert "Choose another path" in refusal("/proc/memory.db")
    with pytest.raises(StoreUnavailable, match="does not name a file"):
        SqliteStore("")


def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    path.write_bytes(b"# My notes\n" * 500)
    assert "not a wellkept database" in refusal(path)
    assert path.read_bytes() == b"# My notes\n" * 500


def test_another_programs_database_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE pages (id INTEGER)")
    connection.close()
    assert "another program's" in refusal(path)
    connection = apsw.Connection(str(path))
    assert list(connection.execute("SELECT name FROM sqlite_schema")) == [("pages",)]
    connection.close()


def test_a_damaged_file_raises_no_other_error(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with opened(path) as store:
        for number in range(60):
            put(store, f"p{number}", f"word {number} " * 50)
    whole = path.read_bytes()
    chance = random.Random(7)  # noqa: S311
    outcomes = set()
    for attempt in range(40):
        damaged = bytearray(whole)
        if attempt % 4 == 0:
            damaged = damaged[: chance.randrange(100, len(whole))]
        for _ in range(chance.choice((1, 20, 400))):
            damaged[chance.randrange(16, len(damaged))] = chance.randrange(256)
        path.write_bytes(damaged)
        outcomes.add(use(path))
    assert "unavailable" in outcomes
    assert outcomes <= {"unavailable", "fine"}


def use(path: Path) -> str:
    try:
        with opened(path) as store:
            slugs(store)
            store.get_page("default", "p3")
            store.find_words("default", ["word", "7"], 9)
            store.find_names("default", "alias", ["k"])
            put(store, "p3", "other")
            store.put_facts("default", "s", [Fact(None, "default", "x", None, "fact", Provenance("x"))], NOW)
            store.facts("default")
            store.reset()
    except StoreUnavailable as error:
        return "unavailable" if str(path) in str(error) else "unavailable, and the message does not say what"
    return "fine"


@pytest.mark.parametrize("mode", [0o555, 0o777])
def test_a_file_that_may_only_be_read_is_read_and_refuses_to_be_written(mode: int) -> None:
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        path = folder / "memory 100%?.db"
        with opened(path) as store:
            put(store, "p1", "Ada drinks tea")
        path.chmod(0o444)
        folder.chmod(mode)
        said = as_nobody(path, "print(store.find_words('default', ['tea'], 9)[0].slug, store.read_only)\n    " + WRITES)
        assert said.splitlines()[0] == "p1 True"
        refused = f"cannot use {path}: it may not be written. Allow writing to the file and its folder, "
        assert said.splitlines()[1:] == 3 * [f"{refused}or choose another path"]
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_a_file_of_before_a_step_that_may_only_be_read_says_what_it_needs(
    take_back: Callable[[Path, int], None],
) -> None:
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        path = folder / "memory.db"
        SqliteStore(path).close()
        take_back(path, 10)
        path.chmod(0o444)
        folder.chmod(0o555)
        assert "was written by an older wellkept, and may not be written" in as_nobody(path)
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


def test_a_file_that_may_not_be_read_is_refused() -> None:
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        path = folder / "memory.db"
        SqliteStore(path).close()
        path.chmod(0o444)
        folder.chmod(0o555)
        missing = folder / "other.db"
        assert as_nobody(missing).startswith(f"cannot use {missing}: Permission denied.")
        path.chmod(0o000)
        assert as_nobody(path).startswith(f"cannot use {path}: ")
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


WRITES = """
    from wellkept.model import Source
    for write in (
        lambda: store.add_source(Source("new")),
        lambda: store.put_page(store.get_page("default", "p1"), (), ()),
        lambda: store.reset(),
    ):
        try:
            write()
        except StoreUnavailable as error:
            print(error)
"""


def as_nobody(path: Path, more: str = "pass") -> str:
    """The message that a user without rights gets; root may write everywhere, so the child gives root up."""
    script = """
import os, sys
from wellkept.storage.sqlite import SqliteStore
from wellkept.errors import StoreUnavailable
SqliteStore(":memory:").close()  # loads what may lie where only root can read
if os.getuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    store = SqliteStore(sys.argv[1])
    MORE
except StoreUnavailable as error:
    print(error)
""".replace("MORE", more)
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as store:
        put(store, "a")
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert set(modes.values()) == {0o600}
    assert "memory.db" in modes


# -- the schema


def test_processes_that_open_a_new_file_at_once_agree(tmp_path: Path) -> None:
    workers = [start("\nput(store, sys.executable[:1] + str(id(store)))", tmp_path / "memory.db") for _ in range(6)]
    for worker in workers:
        worker.communicate(timeout=60)
    assert [worker.returncode for worker in workers] == [0] * 6


def test_a_newer_schema_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path).close()
    change(path, "INSERT INTO schema_version VALUES (99, '0099_later.sql', 'x')")
    assert refusal(path) == f"schema 99 is newer than {len(migrations())}. Install a newer wellkept"


def test_a_schema_step_that_differs_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    SqliteStore(path).close()
    change(path, "UPDATE schema_version SET checksum = 'x' WHERE version = 1")
    assert "0001_first.sql" in refusal(path)


def change(path: Path, sql: str) -> None:
    connection = apsw.Connection(str(path))
    connection.execute(sql)
    connection.close()


def test_a_later_step_is_applied_to_an_old_file_wholly_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.db"
    with opened(path) as store:
        put(store, "a")
    known = migrations()
    number = len(known) + 1
    broken = Migration(number, "later.sql", "CREATE TABLE extra (x); CREATE TABLE pages (x);")
    monkeypatch.setattr(schema, "migrations", lambda: (*known, broken))
    assert "pages" in refusal(path)
    monkeypatch.setattr(
        schema, "migrations", lambda: (*known, Migration(number, "later.sql", "CREATE TABLE extra (x)"))
    )
    with opened(path) as store:
        assert slugs(store) == ["a"]
    monkeypatch.setattr(schema, "migrations", lambda: known)
    assert f"schema {number} is newer" in refusal(path)


def test_a_file_from_before_the_journal_opens_with_all_that_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.db"
    first = migrations()[:1]
    connection = apsw.Connection(str(path))
    with monkeypatch.context() as patch:
        patch.setattr(schema, "migrations", lambda: first)
        schema.migrate(connection)
    for statement in _BEFORE_THE_JOURNAL:
        list(connection.execute(statement))
    connection.close()
    with opened(path) as store:
        page, (fact,) = store.get_page("default", "a"), store.facts("default")
        assert page is not None
        assert (page.content, page.created_at, page.told) == ("# Old", page.updated_at, Told())
        assert (fact.text, fact.content_origin) == ("kept", None)
        assert store.find_beginnings("default", ["kep"], 5).holding == {"kep": {"a"}}
        assert [(str(line.item), line.change) for line in store.journal("default")] == [
            ("a", "created"),
            ("fact:7", "created"),
        ]
        put(store, "a", "new words")
        assert store.journal("default")[-1].before == "# Old"


_BEFORE_THE_JOURNAL = (
    "INSERT INTO sources VALUES ('default', 'user')",
    "INSERT INTO pages VALUES (1, 'default', 'a', 'Old', 'note', 'active', 2, NULL, 1767225600000000, 0, 0, '[]', '')",
    "INSERT INTO page_texts VALUES (1, '# Old', '# Old', '# Old')",
    "INSERT INTO facts VALUES (7, 'default', NULL, x'00', 'a', NULL, 'fact', 1.0, 1, 'active', NULL, NULL, "
    "1767225600000000, NULL, NULL, 'wellkept:remember', NULL, NULL, NULL, NULL, NULL, 'kept')",
)


# -- how it works inside


def test_the_settings_that_durability_and_forgetting_need_are_on(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as store:
        for connection in (store._writer, store._reader):
            for pragma, value in (
                ("journal_mode", "wal"),
                ("synchronous", 2),
                ("secure_delete", 1),
                ("foreign_keys", 1),
            ):
                assert list(connection.execute(f"PRAGMA {pragma}")) == [(value,)]
        put(store, "a")
        store.reset()
        found = dict(store._reader.execute("SELECT k, v FROM chunks_fts_config"))
        assert found["secure-delete"] == 1


def test_a_join_is_not_planned_anew_for_every_value(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as store:
        for connection in (store._writer, store._reader):
            assert connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, -1) == 1


def test_names_are_looked_up_with_few_queries_that_do_not_scan() -> None:
    store = SqliteStore(":memory:")
    for number in range(50):
        put(store, f"p{number}")
    seen: list[str] = []
    store._reader.exec_trace = lambda _, sql, __: seen.append(sql) or True  # type: ignore[func-returns-value]
    store.find_names("default", "alias", ["k", "l", "m"])
    store._reader.exec_trace = None
    queries = [sql for sql in seen if sql != "PRAGMA data_version"]
    assert len(queries) == 2
    for sql, values in zip(queries, [("default", 4), ("[]", "default", "alias")], strict=True):
        plan = [str(row[3]) for row in store._reader.execute("EXPLAIN QUERY PLAN " + sql, values)]
        assert [step for step in plan if step.startswith("SCAN") and "wanted" not in step] == []
    store.close()


def asked_of_the_file(store: SqliteStore, *keys: str) -> tuple[list[str], int]:
    """The slugs found, and how many keys the file was asked for."""
    asked: list[int] = []

    def trace(_: object, sql: str, values: object) -> bool:
        if "json_each" in sql and isinstance(values, tuple):
            asked.append(len(json.loads(str(values[0]))))
        return True

    store._reader.exec_trace = trace
    try:
        return [match.page.slug for match in store.find_names("default", "alias", keys)], sum(asked)
    finally:
        store._reader.exec_trace = None


@pytest.mark.parametrize("place", [":memory:", "file"])
def test_names_that_no_page_has_are_not_looked_up_once_all_are_known(place: str, tmp_path: Path) -> None:
    with opened(place if place == ":memory:" else tmp_path / "memory.db") as store:
        put(store, "a")
        absent = [f"absent {number}" for number in range(50)]
        assert asked_of_the_file(store, *absent) == ([], 0)
        assert asked_of_the_file(store, *absent, "k") == (["a"], 1)
        put(store, "b")
        assert asked_of_the_file(store, *absent, "k") == (["a", "b"], 1)
        store.reset()
        assert asked_of_the_file(store, *absent, "k")[0] == []


def test_names_that_another_process_writes_are_found_at_once(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as store, opened(tmp_path / "memory.db") as other:
        absent = [f"absent {number}" for number in range(50)]
        assert asked_of_the_file(store, *absent, "k") == ([], 0)
        put(other, "a")
        assert asked_of_the_file(store, *absent, "k") == (["a"], 1)


def test_a_writer_finds_the_names_it_has_not_committed(tmp_path: Path) -> None:
    with opened(tmp_path / "memory.db") as store:
        absent = [f"absent {number}" for number in range(50)]
        assert asked_of_the_file(store, *absent, "k") == ([], 0)
        with store.transaction():
            put(store, "a")
            assert [match.page.slug for match in store.find_names("default", "alias", ["k"])] == ["a"]
        assert asked_of_the_file(store, *absent, "k")[0] == ["a"]


def test_a_few_names_do_not_pass_for_all_because_others_ask_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path / "memory.db") as store:
        for slug in "abcde":
            store.put_page(Page("default", slug, slug, "word"), [Chunk(0, "word")], [Name("alias", slug)])
        select = store._select

        def interrupted(sql: str, values: tuple[object, ...] = ()) -> list[tuple[object, ...]]:
            rows = select(sql, values)  # type: ignore[arg-type]
            if sql.startswith("SELECT kind, key"):
                store._known["default"].asked += 100
            return rows

        monkeypatch.setattr(store, "_select", interrupted)
        found = [match.page.slug for slug in "abcde" for match in store.find_names("default", "alias", [slug])]
        assert found == list("abcde")


def test_very_many_names_are_asked_of_the_file_and_not_held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wellkept.storage.sqlite._KNOWN_NAMES", 10)
    with opened(tmp_path / "memory.db") as store:
        put(store, "a")
        assert asked_of_the_file(store, "k", *map(str, range(20))) == (["a"], 21)


def test_reset_takes_as_many_statements_for_a_full_store_as_for_an_empty_one() -> None:
    store = SqliteStore(":memory:")
    counts = []
    for pages in (0, 40):
        for number in range(pages):
            put(store, f"p{number}")
        seen: list[str] = []
        store._writer.exec_trace = lambda _, sql, __, seen=seen: seen.append(sql) or True  # type: ignore[misc]
        store.reset()
        store._writer.exec_trace = None
        counts.append(len(seen))
    assert counts[0] == counts[1] <= 18
    store.close()


def test_the_index_agrees_with_the_chunks_after_many_changes() -> None:
    store = SqliteStore(":memory:")
    chance = random.Random(3)  # noqa: S311
    words = ["ash", "Ёлка", "北京", "straße", "bees", "OR", "e\u0301"]
    for step in range(200):
        text = " ".join(chance.choices(words, k=12))
        pieces = [Chunk(ordinal, text) for ordinal in range(chance.randrange(4))]
        store.put_page(Page("default", f"p{chance.randrange(9)}", "T", text), pieces, [])
        if step % 70 == 69:
            store.reset()
    list(store._writer.execute("INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('integrity-check', 1)"))
    assert list(store._writer.execute("PRAGMA foreign_key_check")) == []
    store.close()


def test_no_replaced_or_reset_text_is_left_in_the_files(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with opened(path) as store:
        put(store, "a", "heliotrope lantern")
        put(store, "a", "plain words")
        put(store, "b", "chartreuse kettle")
        assert b"chartreuse" in everything(tmp_path)
        assert [line.before for line in store.journal("default") if line.before] == ["heliotrope lantern"]
    assert everything(tmp_path).count(b"heliotrope") == 1
    with opened(path) as store:
        store.reset()
    left = everything(tmp_path)
    assert [word for word in (b"chartreus", b"heliotrop", b"kettl", b"lantern", b"plain") if word in left] == []


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


def test_a_file_of_before_folders_were_followed_is_opened_with_all_that_it_says(
    tmp_path: Path, take_back: Callable[[Path, int], None]
) -> None:
    path = tmp_path / "memory.db"
    older = SqliteStore(path)
    older.put_page(Page("default", "a", "A", "# A"), [Chunk(0, "A")], ())
    older.close()
    take_back(path, 14)
    newer = SqliteStore(path)
    assert (newer.folders.all(), newer.folders.cursor("default", "x")) == ((), None)
    assert newer.get_page("default", "a") is not None
    newer.close()
