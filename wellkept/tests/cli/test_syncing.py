"""A folder is bound by a person at a terminal; what is in it is then kept by whoever runs the command."""

import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from click.testing import Result

Type = Callable[[Sequence[str], Sequence[str]], tuple[int, str]]
Piped = Callable[..., Result]


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "ada.md").write_text("# Ada\nAda likes tea.\n")
    return tmp_path / "notes"


@pytest.fixture
def bound(notes: Path, typed: Type) -> Path:
    code, seen = typed(["sync", "add", str(notes)], ["correct horse", "correct horse"])
    assert code == 0, seen
    return notes


@pytest.mark.req("T-407")
def test_a_pipe_binds_no_folder_and_lets_none_go(piped: Piped, notes: Path, bound: Path) -> None:
    for arguments in (("add", str(notes)), ("remove", "notes")):
        refused = piped("sync", *arguments)
        assert refused.exit_code == 2
        assert "terminal" in refused.stderr
    assert json.loads(piped("sync", "list", "--json").stdout)[0]["path"] == str(notes)


def test_the_passphrase_is_asked_and_a_wrong_one_binds_nothing(piped: Piped, typed: Type, bound: Path) -> None:
    (bound.parent / "more").mkdir()
    code, seen = typed(["sync", "add", str(bound.parent / "more")], ["wrong horse"])
    assert code == 1
    assert "not the passphrase" in seen
    assert len(json.loads(piped("sync", "list", "--json").stdout)) == 1


def test_what_is_in_it_is_kept_and_what_cannot_be_read_is_named(piped: Piped, bound: Path) -> None:
    first = piped("sync")
    assert (first.exit_code, first.stdout) == (0, "notes (source default): 1 created, 0 unchanged\n")
    (bound / "bad.md").write_bytes(b"\xff")
    second = piped("sync", "notes")
    assert second.exit_code == 1
    assert second.stdout == "notes (source default): 1 unchanged\n"
    assert second.stderr == "wellkept: not kept: bad.md: file: is no UTF-8 text (byte 0). Save it as UTF-8\n"
    told = json.loads(piped("sync", "--json").stdout)
    assert told[0]["unread"][0]["path"] == "bad.md"
    assert "tea" in piped("search", "tea").stdout


def test_a_dry_run_only_says(piped: Piped, bound: Path) -> None:
    assert piped("sync", "--dry-run").stdout == "notes (source default): 1 would be created, 0 unchanged\n"
    assert "no page" in piped("get-page", "ada").stderr


def test_a_folder_that_fails_hinders_no_other(piped: Piped, typed: Type, bound: Path) -> None:
    (bound.parent / "more").mkdir()
    typed(["sync", "add", str(bound.parent / "more")], ["correct horse"])
    (bound.parent / "more").rmdir()
    done = piped("sync")
    assert done.exit_code == 1
    assert "1 created" in done.stdout
    assert "is not there; nothing was changed" in done.stderr


def test_a_folder_is_followed_until_it_is_removed(piped: Piped, typed: Type, bound: Path) -> None:
    piped("sync")
    code, seen = typed(["sync", "remove", "notes"], ["correct horse"])
    assert code == 0, seen
    assert piped("sync").exit_code == 1
    assert "tea" in piped("search", "tea").stdout


@pytest.mark.req("T-706")
def test_a_purge_tells_of_files_and_history_and_a_person_can_have_that_rewritten(
    piped: Piped, typed: Type, bound: Path
) -> None:
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "x"]):
        who = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
        subprocess.run(["git", "-C", str(bound), *who, *command], check=True)
    piped("sync")
    piped("remember", "Ada likes tea.")
    planned = piped("purge", "fact:1", "--dry-run")
    assert "  file  ada.md, in folder notes" in planned.stdout
    code, seen = typed(["purge", "fact:1"], ["correct horse"])
    assert code == 0, seen
    assert "  files: 1 rewritten, and committed where Git had them" in seen
    assert "  notes/ada.md: rewritten, in commit " in seen
    assert "git history of notes: 1 commits still hold it, of " in seen
    receipt = seen.partition("receipt ")[2].split()[0]
    assert f"wellkept purge --rewrite-history {receipt}" in seen
    refused = piped("purge", "--rewrite-history", receipt)
    assert refused.exit_code == 2
    assert "1 commits" in piped("purge", "--rewrite-history", receipt, "--dry-run").stdout
    code, seen = typed(["purge", "--rewrite-history", receipt], ["correct horse"])
    assert code == 0, seen
    assert "notes: 2 commits are new, the old ones are gone" in seen
    said = piped("purge", "--rewrite-history", receipt, "--dry-run").stdout
    assert said == "no history that can be read holds anything of it\n"
