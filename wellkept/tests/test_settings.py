"""Settings: one loader, and words that name the file and the key when something cannot be used."""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import fields
from pathlib import Path

import pytest

from wellkept.errors import SettingsError
from wellkept.model import Message
from wellkept.settings import Settings, load_settings, make_private, open_memory


def env(tmp_path: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(tmp_path), "WELLKEPT_DATA_DIR": str(tmp_path / "d")} | more


def written(tmp_path: Path, text: str) -> dict[str, str]:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "settings.toml").write_text(text)
    return env(tmp_path)


def test_the_defaults_need_nothing_but_a_home(tmp_path: Path) -> None:
    found = load_settings({"HOME": "/h"})
    assert found.data_dir == Path("/h/.local/share/wellkept")
    assert found.socket == Path("/h/.local/share/wellkept/wellkept.sock")
    assert found.database == Path("/h/.local/share/wellkept/memory.db")
    assert (found.source, found.hooks, found.budget_ms) == ("default", True, 400)
    assert found.transcript_roots == (Path("/h/.claude/projects"), Path("/h/.codex/sessions"))
    assert load_settings({"HOME": "/h", "XDG_DATA_HOME": "/x"}).data_dir == Path("/x/wellkept")
    assert load_settings({"HOME": "/h", "XDG_DATA_HOME": "x"}).data_dir == Path("/h/.local/share/wellkept")


def test_the_command_line_wins_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    variables = written(tmp_path, 'source = "file"\nbudget_ms = 7\nhooks = true\n')
    assert load_settings(variables).source == "file"
    variables |= {"WELLKEPT_SOURCE": "env", "WELLKEPT_HOOKS": "0"}
    found = load_settings(variables)
    assert (found.source, found.hooks, found.budget_ms) == ("env", False, 7)
    assert load_settings(variables, {"source": "option", "budget_ms": None}).source == "option"
    assert load_settings(variables, {"data_dir": tmp_path / "e"}).data_dir == tmp_path / "e"


def test_transcript_roots_are_added_to_the_harnesses_own(tmp_path: Path) -> None:
    variables = written(tmp_path, 'transcript_roots = ["/a"]') | {"CLAUDE_CONFIG_DIR": "/c", "CODEX_HOME": "/x"}
    assert load_settings(variables).transcript_roots == (Path("/c/projects"), Path("/x/sessions"), Path("/a"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sauce = 1", "unknown key 'sauce'"),
        ("source = 1", "source"),
        ('source = ""', "source"),
        ('source = "a\\nb"', "source"),
        ('hooks = "no"', "hooks"),
        ("budget_ms = 0", "budget_ms"),
        ("budget_ms = true", "budget_ms"),
        ("budget_ms = 1.5", "budget_ms"),
        ('transcript_roots = "/a"', "transcript_roots"),
        ('transcript_roots = ["a"]', "absolute"),
        ("transcript_roots = [1]", "transcript_roots"),
        ("capture_queries = 1", "capture_queries"),
        ('arms_off = "topic"', "arms_off: expected a list of topic"),
        ('arms_off = ["alias"]', "arms_off: no arm 'alias' can be switched off. Known: topic"),
        ("source", "not TOML"),
        ('data_dir = "/elsewhere"', "unknown key 'data_dir'"),
    ],
)
def test_what_cannot_be_used_is_named_with_its_file(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(SettingsError, match=words) as caught:
        load_settings(written(tmp_path, text))
    assert str(tmp_path / "d" / "settings.toml") in str(caught.value)


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    variables = written(tmp_path, "")
    (tmp_path / "d" / "settings.toml").write_bytes(b"\xff")
    with pytest.raises(SettingsError, match=r"settings\.toml"):
        load_settings(variables)
    (tmp_path / "d" / "settings.toml").unlink()
    (tmp_path / "d" / "settings.toml").mkdir()
    with pytest.raises(SettingsError, match=r"settings\.toml"):
        load_settings(variables)


def test_a_bad_option_is_said_to_come_from_the_command_line(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="the command line: budget_ms"):
        load_settings(env(tmp_path), {"budget_ms": -1})


@pytest.mark.req("C-335")
def test_the_topic_arm_is_switched_off_by_the_file(tmp_path: Path) -> None:
    page = "---\ntitle: Kiln in the yard\n---\n\nThe kiln may be opened below 90 degrees.\n"
    question = "when may we open the kiln again, at how many degrees?"
    found = []
    for place, text in (("on", ""), ("off", 'arms_off = ["topic"]\n')):
        (tmp_path / place).mkdir()
        memory = open_memory(load_settings(written(tmp_path / place, text)))
        memory.put_page("default", "notes/kiln", page)
        context = memory.context("default", [Message("user", question)])
        found.append([pointer.slug for pointer in (*context.pointers, *memory.pointers("default", question)[0])])
        memory.close()
    assert found == [["notes/kiln", "notes/kiln"], []]


def test_capture_is_switched_by_the_file_and_by_a_variable_of_0_or_1(tmp_path: Path) -> None:
    variables = written(tmp_path, "capture_queries = true\n")
    assert load_settings(variables).capture_queries
    assert load_settings(variables).queries == tmp_path / "d" / "queries.ndjson"
    assert not load_settings(variables | {"WELLKEPT_CAPTURE_QUERIES": "0"}).capture_queries
    with pytest.raises(SettingsError, match="the environment: capture_queries: expected true or false"):
        load_settings(variables | {"WELLKEPT_CAPTURE_QUERIES": "yes"})
    assert len(fields(Settings)) <= 25


@pytest.mark.req("C-420")
def test_a_long_data_directory_has_its_socket_in_the_runtime_directory() -> None:
    deep = "/" + "d" * 120
    digest = hashlib.sha256(deep.encode()).hexdigest()[:12]
    found = load_settings({"HOME": "/h", "XDG_RUNTIME_DIR": "/run/user/7"}, {"data_dir": deep})
    assert found.socket == Path(f"/run/user/7/wellkept-{digest}/wellkept.sock")
    for runtime in ({}, {"XDG_RUNTIME_DIR": "relative"}, {"XDG_RUNTIME_DIR": deep}):
        own = load_settings({"HOME": "/h", **runtime}, {"data_dir": deep}).socket
        assert own == Path(f"/tmp/wellkept-{os.getuid()}-{digest}/wellkept.sock")


@pytest.mark.req("C-420")
def test_the_socket_is_beside_the_data_up_to_a_hundred_bytes() -> None:
    room = 100 - len("/wellkept.sock")
    fits, beyond = "/" + "é" * ((room - 1) // 2), "/" + "é" * ((room - 1) // 2 + 1)
    variables = {"HOME": "/h", "XDG_RUNTIME_DIR": "/run"}
    assert load_settings(variables, {"data_dir": fits}).socket.parent == Path(fits)
    assert load_settings(variables, {"data_dir": beyond}).socket.parent.parent == Path("/run")


def test_a_data_directory_is_made_for_its_owner_only(tmp_path: Path) -> None:
    make_private(tmp_path / "a" / "b")
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700
    (tmp_path / "file").touch()
    for impossible in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(SettingsError, match=str(impossible)):
            make_private(impossible)
