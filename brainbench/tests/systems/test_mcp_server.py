from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from multiprocessing import resource_tracker
from pathlib import Path

import pytest

from brainbench.errors import SystemFailure, SystemLost, UsageError
from brainbench.model import Capability, PageIn, RunContext
from brainbench.replay.processes import Bounds, children
from brainbench.replay.sweep import refusal, sweep
from brainbench.replay.worker import Task
from brainbench.seams import SEAMS
from brainbench.systems import System, load_system
from brainbench.systems.access import Access

from ..conftest import script

pytestmark = pytest.mark.slow
UNCIVIL = Path(__file__).parents[1] / "uncivil_mcp.py"
MAPPING = """
[server]
{server}
[memory]
can = ["page_write", "search"]
fresh = "{fresh}"
[clear]
tool = "forget"
[write_page]
tool = "remember"
arguments = {{ name = "{{slug}}", text = "{{content}}" }}
[read_page]
tool = "read"
arguments = {{ name = "{{slug}}" }}
result = "result.text"
[search]
tool = "find"
arguments = {{ words = "{{query}}", most = "{{limit}}" }}
each = "hits"
id = "name"
"""
CAN = frozenset({Capability.PAGE_WRITE, Capability.SEARCH})


def mapping(place: Path, manner: str = "polite", fresh: str = "clear", server: str = "", text: str = MAPPING) -> Access:
    server = server or f'command = ["{sys.executable}", "{UNCIVIL}", "{manner}"]'
    (place / "mapping.toml").write_text(text.format(server=server, fresh=fresh))
    return Access(directory=str(place), call_seconds=8 if manner in ("hang", "shut-in") else 25)


def opened(access: Access, run: RunContext) -> System:
    system = load_system("mcp:mapping.toml", access)
    system.open(run)
    system.write_page(PageIn("default", "people/ada", "---\ntitle: Ada\n---\n\nText ö 😀\n"))
    return system


@pytest.fixture
def port() -> Iterator[int]:
    """The polite server over streamable HTTP."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = int(probe.getsockname()[1])
    process = subprocess.Popen([sys.executable, str(UNCIVIL), "polite", str(free)])
    for _ in range(200):
        time.sleep(0.1)
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", free)) == 0:
                break
    yield free
    process.kill()
    process.wait()


@pytest.mark.req("C-404")
@pytest.mark.parametrize("fresh", ["clear", "restart"])
def test_the_tools_of_a_server_are_a_memory(fresh: str, tmp_path: Path, run: RunContext) -> None:
    system = opened(mapping(tmp_path, fresh=fresh), run)
    assert (system.version, system.can, system.alone) == ("1", CAN, False)
    assert system.read_page("default", "people/ada") == "---\ntitle: Ada\n---\n\nText ö 😀\n"
    assert system.read_page("default", "people/bob") is None
    assert [hit.id for hit in system.search("default", "Ada", 5)] == ["people/ada"]
    system.open(run)
    assert system.read_page("default", "people/ada") is None
    system.close()


def test_a_server_behind_a_url_is_a_memory_that_one_worker_plays(port: int, tmp_path: Path, run: RunContext) -> None:
    system = opened(mapping(tmp_path, server=f'url = "http://127.0.0.1:{port}/mcp"'), run)
    assert system.alone
    assert [hit.id for hit in system.search("default", "Ada", 5)] == ["people/ada"]
    system.close()


@pytest.mark.parametrize(
    ("manner", "said", "kind"),
    [
        ("hang", "search: no answer in 8 s; the server was ended", SystemLost),
        ("crash", "search: Connection closed; on standard error: the disk is full of eels", SystemLost),
        ("flood", "search: ", SystemFailure),
        ("deep", "search: ", SystemFailure),
        ("shut-out", "search: ", SystemLost),
        ("wrong", "search: search.each: no 'hits' in the answer; at 'hits': it has other", SystemFailure),
        ("error", "search: tool 'find': Error executing tool find", SystemFailure),
    ],
)
def test_a_misbehaving_server_costs_one_call_and_is_there_again_after_open(
    manner: str, said: str, kind: type[Exception], tmp_path: Path, run: RunContext
) -> None:
    system = opened(mapping(tmp_path, manner), run)
    with pytest.raises(kind, match=said):
        system.search("default", "Ada", 5)
    system.open(run)
    assert system.read_page("default", "people/ada") is None
    system.close()


@pytest.mark.parametrize("manner", ["hang", "crash", "garbage", "shut-in", "fork-bomb", "hog", "daemons", "litter"])
def test_a_misbehaving_server_leaves_nothing_and_harms_no_other(
    manner: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    resource_tracker.ensure_running()
    access, mine = mapping(tmp_path, manner), children()
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    seam = SEAMS["openclaw"]
    work = [
        Task(name, seam, script("Is Ada Lovelace in?", fixture_id=f"f-{n}"), f"run-{n}", 42, CAN)
        for n, name in enumerate(("mcp:mapping.toml", "bm25"))
    ]
    bad, good = sweep(work, 1, access=access, bounds=Bounds(processes=20, memory_mb=900)).replays
    failed = [bool(o.error) for o in bad.observations]
    assert failed == [manner in ("hang", "crash", "fork-bomb", "hog")] or manner == "shut-in"
    assert [(o.error, o.ids) for o in good.observations] == [(None, ("people/ada-lovelace",))]
    assert children() - mine == frozenset()
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_misspelt_path_of_a_page_is_told_and_is_no_missing_page(tmp_path: Path, run: RunContext) -> None:
    misspelt = MAPPING.replace('result = "result.text"', 'result = "result.txet"', 1)
    system = opened(mapping(tmp_path, text=misspelt), run)
    with pytest.raises(SystemFailure, match=r"read_page\.result: no 'result\.txet' in the answer"):
        system.read_page("default", "people/ada")
    system.close()


def test_a_server_that_keeps_its_claims_is_admitted_and_another_is_not(tmp_path: Path) -> None:
    assert refusal("mcp:mapping.toml", access=mapping(tmp_path)) is None
    why = refusal("mcp:mapping.toml", access=mapping(tmp_path, "wrong"))
    assert why == "not admitted: search: search.each: no 'hits' in the answer; at 'hits': it has other"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            'tool = "find"',
            'tool = "seek"',
            "search.tool: the server has no tool 'seek'; it has find, forget, read, rem",
        ),
        ("words =", "worts =", "search.arguments: tool 'find' takes no 'worts'; it takes most, words"),
        ('name = "{{slug}}", ', "", "write_page.arguments: tool 'remember' needs name"),
    ],
)
def test_a_tool_or_argument_that_the_server_lacks_is_refused_by_name(
    old: str, new: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=f"mapping.toml: {said}"):
        load_system("mcp:mapping.toml", mapping(tmp_path, text=MAPPING.replace(old, new)))


def test_a_server_on_another_machine_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"192.0.2.1 is not this machine; --allow-remote"):
        load_system("mcp:mapping.toml", mapping(tmp_path, server='url = "http://192.0.2.1/mcp"'))


def test_a_program_that_is_no_server_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot be loaded: .*(closed|no answer)"):
        load_system("mcp:mapping.toml", mapping(tmp_path, server='command = ["true"]'))
