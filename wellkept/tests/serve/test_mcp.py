"""The MCP door, asked by the official client: over HTTP, and through the relay that harnesses start."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client, StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from wellkept.errors import PROBLEMS
from wellkept.memory import Memory
from wellkept.serve.mcp import INSTRUCTIONS, tools
from wellkept.serve.tokens import Tokens
from wellkept.storage import open_store
from wellkept.verbs import VERBS, schema

PROMPT_TOKENS = 2800
"""What all descriptions together may cost a prompt: ceil(characters / 4)."""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Path]:
    """A data directory; whatever server was started for it is ended."""
    directory = tmp_path / "memory"
    directory.mkdir(mode=0o700)
    yield directory
    with suppress(FileNotFoundError, ProcessLookupError):
        os.kill(json.loads((directory / "serve.json").read_text())["pid"], signal.SIGTERM)


@pytest.fixture
def url(place: Path) -> Iterator[str]:
    argv = [sys.executable, "-m", "wellkept", "serve", "--port", "0", "--json", "--data-dir", str(place)]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    said = ""
    while not said.rstrip().endswith("}"):
        line = process.stdout.readline()
        assert line, "the server ended"
        said += line
    yield json.loads(said)["url"]
    process.terminate()
    assert process.wait(20) == 0
    process.stdout.close()
    assert not (place / "serve.json").exists()


def token(place: Path, *scopes: str) -> str:
    tokens = Tokens(place / "tokens.json")
    return tokens.add(
        "agent:codex", "default", scopes or ("read", "write", "cite"), timedelta(hours=1), datetime.now(UTC)
    )[0]


def over_http(url: str, text: str, work: Callable[[Client], Awaitable[Any]]) -> Any:
    async def run() -> Any:
        headers = {"Authorization": f"Bearer {text}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=30) as http,
            Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
        ):
            return await work(client)

    return anyio.run(run)


def over_stdio(place: Path, work: Callable[[Client], Awaitable[Any]], *more: str) -> Any:
    async def run() -> Any:
        argv = ["-m", "wellkept", "mcp", "--data-dir", str(place), *more]
        environment = {"PATH": os.environ["PATH"], "HOME": str(place)}
        asked = StdioServerParameters(command=sys.executable, args=argv, env=environment)
        async with Client(stdio_client(asked)) as client:
            return await work(client)

    return anyio.run(run)


async def use(client: Client) -> list[Any]:
    """What a session does: look at the tools, remember, recall, err."""
    listed = await client.list_tools()
    made = await client.call_tool("remember", {"text": "Ada likes tea 🍵 会议室"})
    found = await client.call_tool("recall", {"query": "what does Ada like?"})
    wrong = await client.call_tool("recall", {"query": "x", "limit": 99})
    denied = await client.call_tool("confirm", {"id": "fact:1"})
    none = await client.call_tool("history", {"id": "fact:77"})
    return [listed, made, found, wrong, denied, none]


def check(said: list[Any]) -> None:
    listed, made, found, wrong, denied, none = said
    assert [tool.name for tool in listed.tools] == [tool.name for tool in tools()]
    assert made.structured_content["facts"] == [1]
    (memory,) = found.structured_content["memories"]
    assert (memory["text"], memory["trust"], memory["confirmed"]) == ("Ada likes tea 🍵 会议室", "agent_written", False)
    assert json.loads(found.content[0].text) == found.structured_content
    assert not found.is_error
    for answer, code in ((wrong, "invalid_params"), (denied, "scope_denied"), (none, "not_found")):
        assert answer.is_error
        assert (answer.structured_content["code"], answer.structured_content["status"]) == (code, PROBLEMS[code][0])


def test_the_tools_are_the_verbs_and_their_descriptions_fit_into_a_prompt() -> None:
    told = tools()
    assert [tool.name for tool in told] == [name for name in VERBS if name not in ("export", "confirm")]
    for tool in told:
        assert tool.input_schema == schema(VERBS[tool.name], brief=True)
        assert tool.description is not None
        assert len(tool.description) <= 120
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint == (VERBS[tool.name].effect == "read")
    whole = json.dumps([tool.model_dump(exclude_none=True, by_alias=True) for tool in told], separators=(",", ":"))
    tokens = -(-len(whole) // 4)
    print(f"{len(told)} tools cost a prompt {tokens} tokens of {PROMPT_TOKENS}")
    assert tokens <= PROMPT_TOKENS
    assert len(INSTRUCTIONS) <= 300


def test_the_official_client_is_served_over_http(place: Path, url: str) -> None:
    check(over_http(url, token(place), use))
    memory = Memory(open_store("sqlite", place / "memory.db"))
    assert [fact.trust.name for fact in memory.recall_facts("default")] == ["AGENT_WRITTEN"]
    memory.close()


def test_the_path_may_end_with_a_slash(place: Path, url: str) -> None:
    headers = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {token(place)}"}
    for path in ("/mcp", "/mcp/"):
        answer = httpx2.post(f"{url}{path}", json={"jsonrpc": "2.0", "id": 1, "method": "ping"}, headers=headers)
        assert (answer.status_code, answer.json()["id"]) == (200, 1)


def test_nobody_is_served_without_a_token_or_beyond_its_scopes(place: Path, url: str) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    for more in ({}, {"Authorization": "Bearer wk_" + "0" * 12 + "_" + "a" * 43}):
        answer = httpx2.post(f"{url}/mcp", json=body, headers={**headers, **more})
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthorized")
    held = {**headers, "Authorization": f"Bearer {token(place)}"}
    assert httpx2.post(f"{url}/mcp", json=body, headers={**held, "Host": "evil.example"}).status_code == 403
    assert httpx2.post(f"{url}/mcp", json=body, headers={**held, "Origin": "http://evil.example"}).status_code == 403

    async def write(client: Client) -> Any:
        return await client.call_tool("remember", {"text": "x"})

    answer = over_http(url, token(place, "read"), write)
    assert answer.is_error
    assert answer.structured_content["code"] == "scope_denied"


UNUSABLE: tuple[tuple[str, bytes, str], ...] = (
    ("remember", b'{"text": "\\ud800"}', "invalid_params"),
    ("remember", b'{"text": "a\\u0000b"}', "invalid_params"),
    ("remember", b'{"text": ""}', "invalid_params"),
    ("remember", b'{"text": "x", "trust": "user_confirmed"}', "invalid_params"),
    ("recall", b'{"query": "' + b"x" * 1_000_000 + b'"}', "invalid_params"),
    ("export", b"{}", "not_found"),
    ("nothing", b"{}", "not_found"),
)


def test_what_a_tool_cannot_use_is_an_error_result_of_the_same_code(place: Path, url: str) -> None:
    headers = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
    headers["Authorization"] = f"Bearer {token(place)}"
    call = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s","arguments":%s}}'
    for name, arguments, code in UNUSABLE:
        answer = httpx2.post(f"{url}/mcp", content=call % (name.encode(), arguments), headers=headers, timeout=30)
        said = answer.json()
        if b"ud800" in arguments:  # the SDK refuses to read half a surrogate pair
            assert (answer.status_code, said["error"]["code"]) == (400, -32700)
            continue
        assert said["result"]["isError"]
        assert said["result"]["structuredContent"]["code"] == code
    memory = Memory(open_store("sqlite", place / "memory.db"))
    assert memory.store.sources() == ()
    memory.close()


# -- the relay


def test_a_harness_that_starts_the_relay_is_served_and_a_server_is_started_for_it(place: Path) -> None:
    check(over_stdio(place, use))
    assert json.loads((place / "serve.json").read_text())["url"].startswith("http://127.0.0.1:")
    assert (place / "serve.json").stat().st_mode & 0o777 == 0o600
    assert Tokens(place / "tokens.json").all() == ()


def test_a_relay_writes_into_the_source_it_was_started_for(place: Path, url: str) -> None:
    async def write(client: Client) -> Any:
        return await client.call_tool("remember", {"text": "of the team"})

    over_stdio(place, write, "--source", "team")
    memory = Memory(open_store("sqlite", place / "memory.db"))
    assert [len(memory.recall_facts(source)) for source in ("team", "default")] == [1, 0]
    memory.close()


@pytest.mark.field("CON-09")
def test_a_relay_outlives_its_server(place: Path) -> None:
    async def twice(client: Client) -> list[Any]:
        first = await client.call_tool("remember", {"text": "before"})
        pid = json.loads((place / "serve.json").read_text())["pid"]
        os.kill(pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            while time.monotonic() > 0:
                os.kill(pid, 0)
                if Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] == "Z":
                    break
                await anyio.sleep(0.02)
        second = await client.call_tool("recall", {"query": "before"})
        return [first, second]

    first, second = over_stdio(place, twice)
    assert first.structured_content["status"] == "created"
    assert [one["text"] for one in second.structured_content["memories"]] == ["before"]


@pytest.mark.field("CON-05")
def test_relays_that_start_at_once_share_one_server(place: Path) -> None:
    argv = [sys.executable, "-m", "wellkept", "mcp", "--data-dir", str(place)]
    relays = [subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=place) for _ in range(4)]
    call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"remember","arguments":{"text":"n %d"}}}\n'
    for number, relay in enumerate(relays):
        assert relay.stdin is not None
        relay.stdin.write((call % number).encode())
        relay.stdin.flush()
    said = [relay.communicate(timeout=90)[0] for relay in relays]
    assert [json.loads(one)["result"]["structuredContent"]["status"] for one in said] == ["created"] * 4
    memory = Memory(open_store("sqlite", place / "memory.db"))
    assert len(memory.recall_facts("default")) == 4
    memory.close()


def test_a_line_that_is_no_message_is_answered_and_the_next_is_served(place: Path, url: str) -> None:
    argv = [sys.executable, "-m", "wellkept", "mcp", "--data-dir", str(place)]
    asked = b'{"jsonrpc":"2.0","id":"a","method":"nothing"}\n{"jsonrpc":"2.0","id":2,"method":"ping"}\n'
    lines = b'{"half\n\n\xff\xfe\n7\n' + asked
    done = subprocess.run(argv, input=lines, capture_output=True, check=True, timeout=60)
    said = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["error"]["code"] for one in said[:2]] == [-32700, -32700]
    assert [one.get("id") for one in said[-2:]] == ["a", 2]
    assert "error" in said[-2]
    assert "result" in said[-1]
    assert done.stderr == b""


def test_the_relay_loads_no_more_than_it_needs() -> None:
    probe = (
        "import sys\nimport wellkept.serve.relay\n"
        "print([name for name in ('apsw', 'msgspec', 'mcp', 'fastapi', 'pydantic', 'regex', 'yaml', 'anyio') "
        "if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_server_that_cannot_start_is_told_at_once_with_the_remedy(place: Path) -> None:
    place.chmod(0o755)
    argv = [sys.executable, "-m", "wellkept", "mcp", "--data-dir", str(place)]
    asked = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n{"jsonrpc":"2.0","id":2,"method":"ping"}\n'
    began = time.monotonic()
    done = subprocess.run(argv, input=asked, capture_output=True, check=True, timeout=60, cwd=place.parent)
    took = time.monotonic() - began
    for line in done.stdout.splitlines():
        assert f"{place}: open to other users; close it: chmod 700 {place}" in json.loads(line)["error"]["message"]
    assert len(done.stdout.splitlines()) == 2
    assert took < 18, "each call waited"


def test_a_list_of_messages_is_refused_in_the_form_of_the_protocol(place: Path, url: str) -> None:
    headers = {"Accept": "application/json, text/event-stream", "Authorization": f"Bearer {token(place)}"}
    ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    answer = httpx2.post(f"{url}/mcp", json=[ping, ping], headers=headers)
    assert answer.status_code == 400
    assert answer.json()["error"] == {
        "code": -32600,
        "message": "a list of messages is not served; send each by itself",
    }
    assert httpx2.post(f"{url}/mcp", json=ping, headers=headers).json()["id"] == 1


def test_a_source_in_which_nothing_was_ever_kept_is_told_apart_from_an_empty_answer(place: Path, url: str) -> None:
    async def twice(client: Client) -> list[Any]:
        before = await client.call_tool("recall", {"query": "tea"})
        await client.call_tool("remember", {"text": "Ada likes cake"})
        return [before, await client.call_tool("recall", {"query": "tea"})]

    before, after = over_http(url, token(place), twice)
    assert before.structured_content["note"] == "nothing was ever kept in source 'default'"
    assert "note" not in after.structured_content


def test_what_ends_a_server_at_its_start_is_told_in_its_own_words(place: Path) -> None:
    (place / "memory.db").write_text("my notes, and no database at all")
    argv = [sys.executable, "-m", "wellkept", "mcp", "--data-dir", str(place)]
    asked = b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n'
    done = subprocess.run(argv, input=asked, capture_output=True, check=True, timeout=60, cwd=place.parent)
    said = json.loads(done.stdout)["error"]["message"]
    assert "cannot start: cannot use" in said
    assert "it is not a wellkept database. Choose another path" in said
