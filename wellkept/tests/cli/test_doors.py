"""The server, its tokens and its relay as a person starts them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wellkept.cli import main

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.delenv("WELLKEPT_SOURCE", raising=False)
    monkeypatch.setenv("WELLKEPT_DATA_DIR", str(tmp_path / "memory"))

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(main, arguments, catch_exceptions=False)

    return invoke


def test_a_token_is_shown_once_listed_without_its_secret_and_revoked(run: Run, tmp_path: Path) -> None:
    made = run("token", "add", "agent:codex", "--scopes", "read, cite", "--days", "2", "--source", "team")
    secret = made.stdout.strip()
    assert secret.startswith("wk_")
    assert "agent:codex may read, cite in team until " in made.stderr
    number = secret.split("_")[1]
    listed = run("token", "list").stdout
    assert listed.startswith(f"{number}  agent:codex may read, cite in team until ")
    assert secret not in listed
    assert json.loads(run("token", "list", "--source", "other", "--json").stdout) == []
    assert run("token", "revoke", number).stdout == f"revoked {number} of agent:codex\n"
    again = run("token", "revoke", number)
    assert (again.exit_code, again.stdout) == (1, "")
    assert run("token", "list").stdout == "no tokens\n"
    assert (tmp_path / "memory" / "tokens.json").stat().st_mode & 0o777 == 0o600


@pytest.mark.req("E-426")
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("token", "add", "owner"), 1, "agent:NAME or user:NAME"),
        (("token", "add", "agent:x", "--scopes", "admin"), 1, "never has admin"),
        (("token", "add", "user:x", "--scopes", "everything"), 1, "use some of read, write, cite, admin"),
        (("token", "add", "user:x", "--days", "0"), 2, "--days"),
        (("serve", "--host", "192.0.2.1"), 1, "wellkept token add"),
        (("serve", "--port", "70000"), 2, "--port"),
        (("mcp", "--principal", "owner"), 1, "agent:NAME"),
    ],
)
def test_what_may_not_be_is_refused_in_one_line(run: Run, arguments: tuple[str, ...], code: int, words: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert words in result.stderr


def test_a_server_answers_refuses_a_second_one_and_ends_when_told(run: Run, tmp_path: Path) -> None:
    run("remember", "Ada likes tea")
    token = run("token", "add", "user:ann").stdout.strip()
    argv = [sys.executable, "-m", "wellkept", "serve", "--port", "0", "--data-dir", str(tmp_path / "memory")]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    url = process.stdout.readline().strip().removeprefix("listening on ")
    body = json.dumps({"query": "tea"}).encode()
    asked = urllib.request.Request(f"{url}/api/memory/recall", body, {"Authorization": f"Bearer {token}"})  # noqa: S310
    with urllib.request.urlopen(asked, timeout=30) as answer:  # noqa: S310
        assert json.load(answer)["memories"][0]["text"] == "Ada likes tea"
    second = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert second.returncode == 1
    assert f"a server (process {process.pid}) already serves" in second.stderr
    taken = subprocess.run(
        [*argv[:4], "--port", url.rpartition(":")[2], "--data-dir", str(tmp_path / "b")],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert (taken.returncode, "Name another --port" in taken.stderr) == (1, True)
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 0
    process.stdout.close()


def test_a_server_that_nobody_asks_ends_by_itself(tmp_path: Path) -> None:
    argv = [
        sys.executable,
        "-m",
        "wellkept",
        "serve",
        "--port",
        "0",
        "--idle-s",
        "1",
        "--data-dir",
        str(tmp_path / "m"),
    ]
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0
    assert done.stderr == "wellkept: nobody has a token yet; make one: wellkept token add agent:NAME\n"
    assert done.stdout.startswith("listening on ")
    assert not (tmp_path / "m" / "serve.json").exists()
