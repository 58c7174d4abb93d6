"""Single items, through every door."""

from __future__ import annotations

import json
import runpy
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from brainbench.errors import SystemFailure, SystemLost, Unsupported, UsageError
from brainbench.model import Capability, ItemIn, ItemRow, PageIn, RunContext, SourceDecl
from brainbench.systems import System, load_system
from brainbench.systems.access import Access
from brainbench.systems.baselines import Bm25, FilesGrep, Null
from brainbench.systems.paged import Paged, with_items

KEEPER = """
import json, os, sys

ITEMS, PLACE = {}, None

def opened(params):
    global PLACE
    PLACE = os.path.join(params["directory"], "items.json")
    ITEMS.clear()
    if os.path.exists(PLACE):
        with open(PLACE) as file:
            ITEMS.update(json.load(file))

def saved():
    with open(PLACE, "w") as file:
        json.dump(ITEMS, file)

def key(params):
    return params["source"] + "|" + params["item_id"]

def rows(source):
    return [{"id": k.split("|")[1], "text": t} for k, t in ITEMS.items() if k.split("|")[0] == source]

def add(item):
    ITEMS[item["source"] + "|" + item["name"]] = item["text"]
    saved()
    return item["name"]

def update(params):
    if key(params) not in ITEMS:
        return None
    ITEMS[key(params)] = params["text"]
    saved()
    return params["item_id"]

def delete(params):
    there = ITEMS.pop(key(params), None) is not None
    saved()
    return there

def wipe(params):
    for row in rows(params["source"]):
        ITEMS.pop(params["source"] + "|" + row["id"])
    saved()

def get(params):
    text = ITEMS.get(key(params))
    return None if text is None else {"id": params["item_id"], "text": text}

METHODS = {
    "hello": lambda params: {"name": "keeper", "version": "1", "can": CAN},
    "open": opened, "reopen": opened, "close": lambda params: None, "add_item": add, "update_item": update,
    "delete_item": delete, "delete_items": wipe, "get_item": get, "list_items": lambda p: rows(p["source"]),
    "find_items": lambda p: [r for r in rows(p["source"]) if p["query"] in r["text"]][: p["limit"]],
}
CAN = ["add", "get", "update", "delete", "delete_all", "list", "reopen", "sources"]
"""
LINES = """
for line in sys.stdin:
    request = json.loads(line)
    print(json.dumps({"id": request["id"], "result": METHODS[request["method"]](request["params"])}), flush=True)
"""
TOOLS = '''
from mcp.server import MCPServer
server = MCPServer("keeper", version="1")
opened({"directory": os.environ["PLACE"]})

@server.tool()
def do(method: str, params: dict) -> dict:
    """Whatever is asked."""
    return {"told": METHODS[method](params)}

server.run()
'''
_TOOL = """
[{name}]
tool = "do"
arguments = {{ method = "{name}", params = {{ {params} }} }}
{paths}
"""
_ROW = 'each = "told"\nid = "id"\ntext = "text"'
_ITEM = ("source", "item_id")
SECTIONS = {
    "add_item": (("source", "name", "text"), 'result = "told"'),
    "find_items": (("source", "query", "limit"), _ROW),
    "get_item": (_ITEM, 'result = "told.text"'),
    "update_item": ((*_ITEM, "text"), ""),
    "delete_item": (_ITEM, 'result = "told"'),
    "delete_items": (("source",), ""),
    "list_items": (("source",), _ROW),
}
Door = Callable[[Path], Any]


@contextmanager
def hosted(place: Path) -> Iterator[System]:
    yield load_system("toys:Sound", Access(str(place)))


@contextmanager
def command(place: Path) -> Iterator[System]:
    (place / "keeper.py").write_text(KEEPER + LINES)
    yield load_system("cmd:python3 keeper.py", Access(str(place)))


@contextmanager
def web(place: Path) -> Iterator[System]:
    (place / "keeper.py").write_text(KEEPER)
    told = runpy.run_path(str(place / "keeper.py"))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            params = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = json.dumps({"result": told["METHODS"][self.path.removeprefix("/v1/")](params)}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *words: object) -> None:
            """Nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield load_system(f"http://127.0.0.1:{server.server_port}")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def mapping(place: Path, can: str = "", fresh: str = 'fresh = "restart"') -> Access:
    (place / "keeper.py").write_text(KEEPER + TOOLS)
    claimed = can or json.dumps(["add", "get", "update", "delete", "delete_all", "list", "reopen", "sources"])
    head = f'[server]\ncommand = ["{sys.executable}", "keeper.py"]\nenv = {{ PLACE = "{{directory}}" }}\n'
    sections = [
        _TOOL.format(name=name, params=", ".join(f'{word} = "{{{word}}}"' for word in words), paths=paths)
        for name, (words, paths) in SECTIONS.items()
    ]
    (place / "keeper.toml").write_text(head + f"[memory]\ncan = {claimed}\n{fresh}\n" + "".join(sections))
    return Access(str(place), call_seconds=25)


@contextmanager
def tools(place: Path) -> Iterator[System]:
    yield load_system("mcp:keeper.toml", mapping(place))


DOORS = (hosted, command, web, tools)


@pytest.fixture(autouse=True)
def _importable_by_hosts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[1] / "field"))


@pytest.fixture(params=DOORS, ids=lambda door: door.__name__)
def memory(request: pytest.FixtureRequest, tmp_path: Path, run: RunContext) -> Iterator[System]:
    with request.param(tmp_path) as system:
        system.reopen(run)
        yield system
        system.close()


@pytest.fixture
def run(tmp_path: Path) -> RunContext:
    (tmp_path / "kept").mkdir()
    return RunContext("r0", (SourceDecl("default"), SourceDecl("other")), "default", str(tmp_path / "kept"))


@pytest.mark.slow
def test_items_are_kept_through_every_door(memory: System) -> None:
    first = memory.add_item(ItemIn("default", "Ada keeps bees ö 😀", "n1"))
    second = memory.add_item(ItemIn("other", "Bob keeps bees", "n2"))
    assert [(row.id, row.text) for row in memory.find_items("default", "bees", 5)] == [(first, "Ada keeps bees ö 😀")]
    assert memory.get_item("default", second) is None
    now = memory.update_item("default", first, "Ada sold them")
    assert now is not None
    told = memory.get_item("default", now)
    assert told is not None
    assert told.text == "Ada sold them"
    assert memory.delete_item("default", now) is True
    assert memory.delete_item("default", now) is False
    assert memory.list_items("default") == [] or memory.list_items("default") == ()
    memory.delete_items("other")
    assert list(memory.list_items("other")) == []


@pytest.mark.slow
@pytest.mark.parametrize("door", [hosted, command, tools], ids=lambda door: door.__name__)
def test_what_was_kept_survives_the_end_of_the_process(door: Door, tmp_path: Path, run: RunContext) -> None:
    with door(tmp_path) as memory:
        memory.reopen(run)
        memory.add_item(ItemIn("default", "Ada keeps bees", "n1"))
        memory.kill()
        with pytest.raises(SystemLost):
            memory.list_items("default")
        with pytest.raises(SystemFailure, match="not asked"):
            memory.list_items("default")
        memory.reopen(run)
        assert [row.text for row in memory.list_items("default")] == ["Ada keeps bees"]
        memory.close()


@pytest.mark.slow
def test_a_memory_behind_a_url_cannot_be_killed(tmp_path: Path) -> None:
    with web(tmp_path) as memory, pytest.raises(Unsupported, match="not within reach"):
        memory.kill()


@pytest.mark.slow
@pytest.mark.parametrize("door", [hosted, command, web], ids=lambda door: door.__name__)
def test_half_a_character_reaches_a_memory_as_its_escape(door: Door, tmp_path: Path, run: RunContext) -> None:
    with door(tmp_path) as memory:
        memory.reopen(run)
        added = memory.add_item(ItemIn("default", "bees \ud83d", "n1"))
        assert added
        if door is hosted:
            assert [row.text for row in memory.list_items("default")] == ["bees \ufffd"]
        memory.close()


@pytest.mark.slow
def test_half_a_character_is_refused_where_the_client_cannot_send_it(tmp_path: Path, run: RunContext) -> None:
    with tools(tmp_path) as memory:
        memory.reopen(run)
        with pytest.raises(SystemFailure, match="half a character"):
            memory.add_item(ItemIn("default", "bees \ud83d", "n1"))
        assert list(memory.list_items("default")) == []
        memory.close()


@pytest.mark.parametrize(
    ("can", "fresh", "said"),
    [
        ('["add", "reopen"]', 'fresh = "clear"', '`reopen` needs fresh = "restart"'),
        ('["page_write", "add"]', 'fresh = "restart"', "`can` holds page_write, so it needs a [write_page] section"),
        ('["add", "fly"]', 'fresh = "restart"', "holds fly; known here: add, as_of,"),
    ],
)
def test_a_mapping_that_cannot_be_meant_is_refused_by_field(tmp_path: Path, can: str, fresh: str, said: str) -> None:
    with pytest.raises(UsageError) as raised:
        load_system("mcp:keeper.toml", mapping(tmp_path, can, fresh))
    assert said in str(raised.value)


@pytest.mark.parametrize("kind", [Bm25, FilesGrep])
def test_the_built_in_memories_keep_items_as_pages_of_their_own(kind: type[System], run: RunContext) -> None:
    memory = kind()
    memory.open(run)
    first = memory.add_item(ItemIn("default", "Ada keeps bees", "n1", title="Ada"))
    assert memory.get_item("default", first) == ItemRow(first, "Ada keeps bees")
    assert memory.update_item("default", "items/n2", "x") is None
    memory.update_item("default", first, "Ada sold them")
    assert [row.text for row in memory.find_items("default", "sold", 3)] == ["Ada sold them"]
    assert memory.find_items("default", "bees", 3) == []
    assert memory.delete_item("default", first)
    assert not memory.delete_item("default", first)
    assert memory.find_items("default", "sold", 3) == []


def test_a_page_that_was_deleted_comes_back_with_the_snapshot(run: RunContext) -> None:
    for memory in (Bm25(), FilesGrep()):
        memory.open(run)
        kept = memory.add_item(ItemIn("default", "Ada keeps bees", "n1"))
        memory.keep("one")
        memory.delete_item("default", kept)
        memory.restore("one")
        assert [row.text for row in memory.find_items("default", "bees", 3)] == ["Ada keeps bees"]
        assert [row.text for row in memory.list_items("default")] == ["Ada keeps bees"]
        memory.close()


def test_files_are_there_when_they_are_opened_again(run: RunContext) -> None:
    memory = FilesGrep()
    memory.reopen(run)
    memory.add_item(ItemIn("default", "Ada keeps bees", "n1"))
    again = FilesGrep()
    again.reopen(replace(run))
    assert [row.text for row in again.find_items("default", "bees", 3)] == ["Ada keeps bees"]


def test_a_memory_of_pages_is_asked_for_items_as_far_as_pages_go(run: RunContext) -> None:
    class Pages(Bm25):
        can = frozenset({Capability.PAGE_WRITE, Capability.SEARCH, Capability.EDIT})

    memory = with_items(Pages())
    assert isinstance(memory, Paged)
    assert memory.can - Pages.can == {Capability.ADD, Capability.GET, Capability.UPDATE}
    memory.open(run)
    memory.write_page(PageIn("default", "people/ada", "Ada keeps bees"))
    assert memory.get_item("default", "people/ada") == ItemRow("people/ada", "Ada keeps bees")
    with pytest.raises(Unsupported, match="neither `add`, nor `page_write` and `search`"):
        with_items(Null.__bases__[0]())
