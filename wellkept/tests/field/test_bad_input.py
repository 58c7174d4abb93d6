"""What cannot be used, from a caller, the disk, the clock or a harness: told in one way at every door, nothing lost."""

from __future__ import annotations

import json
import os
import resource
import shutil
import socket
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from wellkept.errors import StoreUnavailable
from wellkept.memory import Memory
from wellkept.serve.daemon import only_one
from wellkept.serve.http import application
from wellkept.serve.ipc import install_secret
from wellkept.serve.mcp import mounted
from wellkept.serve.routes import Desk
from wellkept.serve.tokens import Tokens
from wellkept.storage import open_store, sqlite

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)

# -- arguments

UNUSABLE: Mapping[str, tuple[str, dict[str, Any], str]] = {
    "an empty statement": ("remember", {"text": ""}, "invalid_params"),
    "a blank statement": ("remember", {"text": " \n"}, "invalid_params"),
    "a statement of a megabyte": ("remember", {"text": "x" * 1_000_000}, "invalid_params"),
    "a slug of a megabyte": ("remember", {"text": "x", "entity": "x" * 1_000_000}, "invalid_params"),
    "an empty slug": ("put_page", {"slug": "", "content": "x"}, "invalid_params"),
    "a slug with a line end": ("remember", {"text": "x", "entity": "a\nb"}, "invalid_params"),
    "a page of five megabytes": ("put_page", {"slug": "a", "content": "x" * 5_000_000}, "invalid_params"),
    "metadata that is too much": (
        "put_page",
        {"slug": "a", "content": "x", "metadata": {"a": "x" * 20_000}},
        "invalid_params",
    ),
    "an empty goal": ("context_pack", {"goal": " "}, "invalid_params"),
    "an empty name": ("entity", {"name": ""}, "invalid_params"),
    "a name of a megabyte": ("timeline", {"entity": "x" * 1_000_000}, "invalid_params"),
    "an unknown name": ("entity", {"name": "nobody"}, "not_found"),
    "an unknown page": ("get_page", {"slug": "nothing"}, "not_found"),
    "an unknown fact": ("history", {"id": "fact:999999999999999999"}, "not_found"),
    "an empty id": ("forget", {"ids": [""]}, "invalid_params"),
    "too many ids": ("forget", {"ids": [f"p{n}" for n in range(101)]}, "invalid_params"),
    "purging": ("forget", {"ids": ["kept"], "mode": "purge"}, "scope_denied"),
    "a page in the place of a fact": ("remember", {"text": "x", "replaces": "kept"}, "invalid_params"),
    "a fact that replaces none": ("remember", {"text": "x", "replaces": "fact:99999999"}, "not_found"),
    "a correction without its text": ("correct", {"id": "kept", "action": "revise"}, "invalid_params"),
    "a page that succeeds itself": (
        "correct",
        {"id": "kept", "action": "supersede", "replacement": "kept"},
        "invalid_params",
    ),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_what_cannot_be_used_has_one_code_at_every_door_and_leaves_no_trace(
    door: Any, scope: str, name: str, refused: Callable[..., Any]
) -> None:
    verb, asked, code = UNUSABLE[name]
    door("put_page", scope, slug="kept", content="what is kept")
    before = door("delta", scope)
    said = refused(door, verb, scope, **asked)
    assert said.code == code, said
    assert 10 < len(said.detail) < 300 or len(said.detail) < 700 < len(str(asked))
    assert "Traceback" not in said.detail
    assert door("delta", scope) == before


LONG = {"python": "x" * 1_000_000, "cli": "会" * 330_000, "http": "ก" * 330_000, "mcp": "👩\u200d👧" * 90_000}


def test_a_word_of_a_megabyte_is_kept_and_hides_nothing(door: Any, scope: str) -> None:
    began = time.process_time()
    door("put_page", scope, slug="long", content=f"{LONG[door.name]} heliotrope")
    door("put_page", scope, slug="short", content="heliotrope")
    assert door.ids("search", scope, "heliotrope") == ["short", "long"]
    assert door("get_page", scope, slug="long")["content"] == f"{LONG[door.name]} heliotrope"
    assert door.ids("recall", scope, LONG[door.name][:15_000]) in ([], ["long"])
    assert time.process_time() - began < 8


def test_a_question_of_a_megabyte_is_answered_or_refused_at_once(
    door: Any, scope: str, refused: Callable[..., Any]
) -> None:
    door("put_page", scope, slug="kept", content="heliotrope")
    began = time.process_time()
    if door.name == "python":
        assert door.ids("search", scope, "x" * 1_000_000 + " heliotrope") in ([], ["kept"])
        door("context", scope, text="x" * 1_000_000)
    else:
        assert refused(door, "search", scope, query="x" * 1_000_000).code == "invalid_params"
        assert refused(door, "context", scope, text="x" * 1_000_000).code == "invalid_params"
    assert time.process_time() - began < 5


@pytest.mark.parametrize("source", ["", " ", "notes ", "a\0b", "a\nb", "\ud83d", "x" * 513])
def test_a_scope_that_cannot_be_is_refused_by_name_at_every_door_where_one_can_be_named(
    place: Any, typed: Callable[..., Any], source: str, doors: dict[str, Any], refused: Callable[..., Any]
) -> None:
    assert refused(doors["python"], "recall", source, query="x").code == "invalid_params"
    if source:
        for argv in (("recall", "x"), ("token", "add", "agent:x"), ("mcp",), ("serve", "--port", "0")):
            said = typed(*argv, "--source", source, "--data-dir", str(place.folder), "--json")
            assert (said.exit_code, json.loads(said.stderr)["code"]) == (1, "invalid_params")
            assert json.loads(said.stderr)["errors"][0]["pointer"] == "/source"


# -- the disk


class Behind:
    """A memory of its own with an HTTP and an MCP door in this process, so that its disk can be filled."""

    def __init__(self, folder: Path, key: Callable[[bool], bytes | None]) -> None:
        self.folder = folder
        self.memory = Memory(open_store("sqlite", folder / "memory.db"), key=key)
        desk = Desk(self.memory, Tokens(folder / "tokens.json"), lambda: NOW)
        token = desk.tokens.add("user:ann", "default", ("read", "write", "admin"), timedelta(days=1), NOW)[0]
        self.client = TestClient(application(desk, mcp=partial(mounted, desk)), base_url="http://127.0.0.1:8377")
        self.headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}

    def http(self, path: str, body: object) -> Any:
        return self.client.post(f"/api{path}", json=body, headers=self.headers)

    def mcp(self, verb: str, asked: object) -> Any:
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": verb, "arguments": asked}}
        return self.client.post("/mcp", json=call, headers=self.headers).json()["result"]["structuredContent"]


@pytest.fixture
def behind(tmp_path: Path, its_key: Callable[[bool], bytes | None]) -> Iterator[Behind]:
    folder = tmp_path / "m"
    folder.mkdir(mode=0o700)
    found = Behind(folder, its_key)
    with found.client:
        yield found
    found.memory.close()


def test_a_full_disk_is_said_at_every_door_loses_nothing_and_passes(
    behind: Behind, typed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = ("--data-dir", str(behind.folder), "--json")
    behind.memory.put_page("default", "kept", "heliotrope")
    pages = os.path.getsize(behind.folder / "memory.db") // 4096
    room = 4096 * 3 + os.path.getsize(behind.folder / "memory.db-wal")
    full = (*sqlite._PRAGMAS, ("max_page_count", pages + room // 4096))
    big = " ".join(f"word{number}" for number in range(60_000))
    behind.memory.store._writer.execute(f"PRAGMA max_page_count = {full[-1][1]}").fetchall()  # type: ignore[attr-defined]
    with pytest.raises(StoreUnavailable, match=r"the disk is full\. Free some space and try again"):
        behind.memory.put_page("default", "big", big)
    over_http = behind.http("/entities", {"name": "big", "content": big[:49_000]})
    for _ in range(8):
        if over_http.status_code == 503:
            break
        over_http = behind.http("/memory/raw", {"title": "big", "raw_content": big})
    assert (over_http.status_code, over_http.json()["code"]) == (503, "store_unavailable")
    assert over_http.headers["retry-after"] == "1"
    assert behind.mcp("put_page", {"slug": "big", "content": big})["code"] == "store_unavailable"
    with monkeypatch.context() as patch:
        patch.setattr(sqlite, "_PRAGMAS", full)
        said = typed("put-page", "big", "-", *data, stdin=big)
        assert (said.exit_code, json.loads(said.stderr)["code"]) == (1, "store_unavailable")
        assert [one["id"] for one in json.loads(typed("search", "heliotrope", *data).stdout)["results"]] == ["kept"]
    assert [page.slug for page in behind.memory.pages("default")] == ["kept"]
    assert behind.mcp("search", {"query": "heliotrope"})["total"] == 1
    behind.memory.store._writer.execute("PRAGMA max_page_count = 1000000").fetchall()  # type: ignore[attr-defined]
    assert behind.memory.put_page("default", "big", big).status == "created"
    assert behind.http("/search", {"query": "word59999"}).json()["results"][0]["id"] == "big"


COMMANDS = """
import json, sys
from click.testing import CliRunner
from wellkept.cli import main
for argv in json.loads(sys.argv[1]):
    done = CliRunner().invoke(main, argv, input="x")
    crashed = None if done.exception is None or isinstance(done.exception, SystemExit) else repr(done.exception)
    print(json.dumps([done.exit_code, done.stderr, crashed]))
"""


@pytest.fixture
def commands(wellkept: Callable[..., Any]) -> Callable[..., list[tuple[int, str]]]:
    """Exit code and standard error of command lines, run one after the other in one process of limited rights."""

    def run(lines: list[list[str]]) -> list[tuple[int, str]]:
        done = wellkept(argv=[sys.executable, "-c", COMMANDS, json.dumps(lines)])
        assert done.returncode == 0, done.stderr
        read = [json.loads(line) for line in done.stdout.splitlines()]
        assert [crashed for _, _, crashed in read if crashed] == []
        return [(code, said) for code, said, _ in read]

    return run


EVERY = (
    ["remember", "x"],
    ["recall", "x"],
    ["put-page", "a", "-"],
    ["export"],
    ["embed"],
    ["token", "add", "agent:x"],
    ["token", "revoke", "abc"],
    ["serve", "--port", "0"],
    ["daemon"],
    ["mcp"],
)


def snapshot(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@pytest.mark.slow
def test_a_read_only_disk_is_said_by_every_command_in_the_same_way(
    tmp_path: Path, commands: Callable[..., Any]
) -> None:
    empty, full = tmp_path / "empty", tmp_path / "full"
    for folder in (empty, full):
        folder.mkdir(mode=0o700)
    memory = Memory(open_store("sqlite", full / "memory.db"))
    memory.remember("default", "one thing")
    memory.put_page("default", "kept", "one more thing")
    memory.close()
    Tokens(full / "tokens.json").add("agent:y", "default", ("read",), timedelta(days=1), datetime.now(UTC))
    before = snapshot(full)
    for path in full.iterdir():
        path.chmod(0o400)
    asked = [[*argv, "--data-dir", str(folder), "--json"] for folder in (empty, full) for argv in EVERY]
    for folder in (empty, full):
        folder.chmod(0o500)
    try:
        said = commands(asked)
    finally:
        for folder in (empty, full):
            folder.chmod(0o700)
    assert (snapshot(full), snapshot(empty)) == (before, {})
    for argv, (code, words) in zip(asked, said, strict=True):
        if argv[0] in ("recall", "export") and str(full) in argv:
            assert (argv, code) == (argv, 0)
            continue
        problem = json.loads(words.splitlines()[-1])
        assert (argv, code, problem["code"]) == (argv, 1, "store_unavailable")
        assert any(step in problem["detail"] for step in ("Allow writing", "allow writing")), problem
        assert argv[-2] in problem["detail"]


@contextmanager
def no_file_grows_beyond(size: int) -> Iterator[None]:
    """What a full disk does to a small file; the database is not opened inside."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_where_no_file_can_grow_nothing_is_left_half_made(tmp_path: Path) -> None:
    tokens = Tokens(tmp_path / "tokens.json")
    kept = tokens.add("agent:y", "default", ("read",), timedelta(days=1), NOW)[1]
    before = snapshot(tmp_path)
    for attempt in (
        lambda: tokens.add("agent:x", "default", ("read",), timedelta(days=1), NOW),
        lambda: tokens.remove(kept.id),
        lambda: install_secret(tmp_path),
    ):
        with no_file_grows_beyond(10), pytest.raises(StoreUnavailable, match=str(tmp_path)):
            attempt()
        assert snapshot(tmp_path) == before
    assert Tokens(tmp_path / "tokens.json").all() == (kept,)
    assert len(install_secret(tmp_path)) == 64


def test_a_server_that_cannot_say_where_it_is_ends_with_what_to_do(tmp_path: Path, typed: Callable[..., Any]) -> None:
    (tmp_path / "m" / f".serve.json.{os.getpid()}").mkdir(parents=True)
    (tmp_path / "m").chmod(0o700)
    said = typed("serve", "--port", "0", "--idle-s", "5", "--data-dir", str(tmp_path / "m"), "--json")
    assert (said.exit_code, said.stdout) == (1, "")
    problem = json.loads(said.stderr)
    assert (problem["code"], "serve.json" in problem["detail"]) == ("store_unavailable", True)
    assert not (tmp_path / "m" / "serve.json").exists()


# -- damage


@pytest.mark.parametrize("content", [b"# My notes\n" * 500, bytes(8192), b"SQLite format 3\0" + b"\xff" * 8000])
def test_a_store_that_is_none_is_refused_everywhere_and_left_as_it_is(
    tmp_path: Path, typed: Callable[..., Any], content: bytes
) -> None:
    (tmp_path / "m").mkdir(mode=0o700)
    path = tmp_path / "m" / "memory.db"
    path.write_bytes(content)
    lines = [argv for argv in EVERY if argv[0] not in ("token", "mcp")]
    for argv in lines:
        said = typed(*argv, "--data-dir", str(path.parent), "--json", stdin="x")
        problem = json.loads(said.stderr.splitlines()[-1])
        assert (argv, said.exit_code, problem["code"]) == (argv, 1, "store_unavailable")
        assert str(path) in problem["detail"]
        assert any(step in problem["detail"] for step in ("move the file away", "Choose another path"))
    assert path.read_bytes() == content


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b"\xff\xfe", b'{"schema_version": 1, "tokens": [{}]}'])
def test_a_damaged_token_file_opens_nothing_says_so_and_tells_no_secret(
    behind: Behind, typed: Callable[..., Any], damage: bytes
) -> None:
    tokens = behind.folder / "tokens.json"
    secret = json.loads(tokens.read_text())["tokens"][0]["digest"]
    tokens.write_bytes(damage)
    answer = behind.http("/memory/recall", {"query": "x"})
    listed = typed("token", "list", "--data-dir", str(behind.folder), "--json")
    for said in (answer.json(), json.loads(listed.stderr)):
        assert said["code"] == "settings"
        assert "tokens.json" in said["detail"]
        assert secret not in str(said)
    assert answer.status_code == 500
    assert tokens.read_bytes() == damage


# -- who is there already


def test_a_socket_that_somebody_left_is_told_from_a_daemon_that_answers(
    tmp_path: Path, typed: Callable[..., Any]
) -> None:
    folder = Path(os.path.realpath("/tmp")) / f"wk{os.getpid()}"
    folder.mkdir(mode=0o700)
    try:
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(str(folder / "wellkept.sock"))
        ping = typed("ping", "--data-dir", str(folder), "--json")
        assert (ping.exit_code, json.loads(ping.stderr)["code"]) == (1, "daemon_unavailable")
        assert "Start one: wellkept daemon" in json.loads(ping.stderr)["detail"]
        assert "does not run" in typed("status", "--data-dir", str(folder)).stdout
    finally:
        shutil.rmtree(folder)


@pytest.mark.parametrize(
    ("command", "lock", "what"), [("daemon", "daemon.lock", "daemon"), ("serve", "serve.lock", "server")]
)
def test_a_second_one_is_refused_with_the_number_of_the_first(
    tmp_path: Path, typed: Callable[..., Any], command: str, lock: str, what: str
) -> None:
    folder = tmp_path / "m"
    folder.mkdir(mode=0o700)
    with only_one(folder, lock, what):
        said = typed(command, "--data-dir", str(folder), "--json")
    problem = json.loads(said.stderr)
    assert (said.exit_code, problem["code"]) == (1, "daemon_unavailable")
    assert f"a {what} (process {os.getpid()}) already serves {folder}. Stop it first" in problem["detail"]
    with only_one(folder, lock, what):
        assert (folder / lock).read_text() == f"{os.getpid()}\n"


# -- tokens and the clock


def test_an_expired_token_opens_no_door_and_says_how_to_get_another(
    place: Any, typed: Callable[..., Any], scope: str
) -> None:
    tokens = Tokens(place.folder / "tokens.json")
    text, kept = tokens.add("agent:x", scope, ("read", "write"), timedelta(seconds=1), NOW - timedelta(days=1))
    headers = {"Authorization": f"Bearer {text}", "Accept": "application/json, text/event-stream"}
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "recall", "arguments": {"query": "x"}},
    }
    for path, body in (("/api/memory/recall", {"query": "x"}), ("/api/memory/remember", {"text": "x"}), ("/mcp", call)):
        answer = place.client.post(path, json=body, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
        assert f"expired at {kept.expires_at}. Make another: wellkept token add" in answer.json()["detail"]
        assert text not in answer.text
    assert (
        f"expired {kept.expires_at}"
        in typed("token", "list", "--source", scope, "--data-dir", str(place.folder)).stdout
    )


def test_a_clock_that_goes_back_closes_no_door_and_loses_no_reply(tmp_path: Path) -> None:
    now = [NOW]
    memory = Memory(open_store("sqlite", tmp_path / "memory.db"))
    desk = Desk(memory, Tokens(tmp_path / "tokens.json"), lambda: now[0])
    token = desk.tokens.add("user:ann", "default", ("read", "write"), timedelta(days=1), NOW)[0]
    client = TestClient(application(desk), base_url="http://127.0.0.1:8377")
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": "once"}
    said = []
    for jump in (0, -400, -1, 0):
        now[0] = NOW + timedelta(days=jump)
        said.append(client.post("/api/entities", json={"name": "Una"}, headers=headers).json())
        made = client.post(
            "/api/memory/remember", json={"text": f"day {jump}"}, headers={"Authorization": headers["Authorization"]}
        )
        assert made.status_code == 200
    assert said == [said[0]] * 4
    assert len(memory.recall_facts("default")) == 3
    assert [one.seq for one in memory.delta("default").changes] == [1, 2, 3, 4]
    memory.close()


# -- the settings of a harness


SETTINGS = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json", "openclaw": ".openclaw/openclaw.json"}
BROKEN = (
    b'{"hooks": ',
    b"[1, 2]",
    b'{"hooks": {}} x',
    b"\xff\xfe{",
    b'"text"',
    b'{"hooks": 7, "plugins": 7}',
    b"{'hooks': {}}\n]",
)


@pytest.mark.parametrize("harness", SETTINGS)
def test_settings_of_a_harness_that_cannot_be_read_are_named_and_left_byte_for_byte(
    harness: str, tmp_path: Path, typed: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "OPENCLAW_STATE_DIR"):
        monkeypatch.delenv(name, raising=False)
    file = tmp_path / SETTINGS[harness]
    file.parent.mkdir()
    for content in BROKEN:
        file.write_bytes(content)
        for argv in (("install", harness), ("install", harness, "--dry-run"), ("uninstall", harness)):
            said = typed(*argv, "--data-dir", str(tmp_path / "m"))
            if argv[0] == "uninstall" and said.exit_code == 0:
                assert said.output == f"nothing of ours is in {file}\n"
                continue
            assert said.exit_code == 1, (content, argv, said.output)
            assert str(file) in said.stderr
            assert "Nothing was changed" in said.stderr
        assert file.read_bytes() == content
        assert [path.name for path in file.parent.iterdir()] == [file.name]
        assert typed("status", "--data-dir", str(tmp_path / "m")).exit_code in (0, 1)
