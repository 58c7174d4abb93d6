"""What is forgotten for good goes from the files of followed folders too, and what Git still holds of it is told."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from wellkept.ingest import striking
from wellkept.memory import Memory
from wellkept.storage import Folder
from wellkept.sync import Synced, bind, sync

CLAIM = "Ada keeps zanzibarine frogs in Wolverhampton."
Write = Callable[..., Path]
Git = Callable[..., str]


def unchanged(done: Synced) -> bool:
    return not (done.created or done.updated or done.expired or done.unread)


@pytest.fixture
def filled(memory: Memory, folder: Folder, write: Write) -> Folder:
    write("people/ada.md", f"---\ntitle: Ada\n---\n# Ada\r\n- {CLAIM}\nShe writes.\n")
    write("other.md", "# Other\nNothing of note.\n")
    sync(memory, folder)
    memory.remember("default", CLAIM)
    return folder


@pytest.mark.req("T-702")
@pytest.mark.req("T-706")
def test_a_purge_rewrites_the_files_and_the_next_sync_finds_nothing_new(
    memory: Memory, filled: Folder, notes: Path
) -> None:
    planned = memory.purge_plan("default", ["fact:1"])
    assert planned.files == (("notes", "people/ada.md"),)
    os.chmod(notes / "people/ada.md", 0o640)
    receipt = memory.purge("default", ["fact:1"])
    assert receipt.status == "complete"
    assert [(one.path, one.what, one.why) for one in receipt.files] == [("people/ada.md", "rewritten", "")]
    assert {one.name: (one.found, one.left) for one in receipt.stores}["files"] == (1, 0)
    assert (notes / "people/ada.md").read_bytes() == b"---\ntitle: Ada\n---\n# Ada\r\n- [forgotten].\nShe writes.\n"
    assert (notes / "people/ada.md").stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in notes.rglob("*") if path.is_file()) == ["ada.md", "other.md"]
    done = sync(memory, filled)
    assert unchanged(done)
    assert done.unchanged == 2


@pytest.mark.req("T-706")
def test_where_git_has_the_file_it_is_committed_and_nothing_else_is(
    memory: Memory, filled: Folder, write: Write, notes: Path, git: Git, commit: Git
) -> None:
    git("init", "-q")
    before = commit()
    write("other.md", "# Other\nStaged.\n")
    git("add", "other.md")
    write("other.md", "# Other\nStaged, then changed.\n")
    receipt = memory.purge("default", ["fact:1"])
    assert receipt.status == "complete"
    head = git("rev-parse", "HEAD").strip()
    assert receipt.files[0].commit == head != before
    assert git("log", "-1", "--format=%an %s %P").strip() == f"wellkept Take out what was forgotten for good {before}"
    assert git("show", "--name-only", "--format=", "HEAD").split() == ["people/ada.md"]
    assert "zanzib" not in git("show", "HEAD:people/ada.md")
    assert git("status", "--porcelain").splitlines() == ["MM other.md"]
    assert unchanged(sync(memory, filled)) is False
    assert unchanged(sync(memory, filled))


def test_below_the_top_of_a_working_tree_the_right_file_is_committed(
    memory: Memory, notes: Path, write: Write, git: Git, commit: Git
) -> None:
    git("init", "-q")
    write("ada.md", "# Another\n")
    write("people/ada.md", f"# Ada\n{CLAIM}\n")
    commit()
    sync(memory, bind(memory, "default", notes / "people", name="people"))
    memory.remember("default", CLAIM)
    receipt = memory.purge("default", ["fact:1"])
    assert [one.path for one in receipt.files] == ["ada.md"]
    assert git("show", "HEAD:people/ada.md") == "# Ada\n[forgotten].\n"
    assert git("show", "HEAD:ada.md") == "# Another\n"
    assert git("status", "--porcelain") == ""
    assert (receipt.git_history[0].commits, receipt.status) == (1, "complete")


def test_a_file_that_was_changed_and_not_committed_is_rewritten_and_not_committed(
    memory: Memory, filled: Folder, write: Write, notes: Path, git: Git, commit: Git
) -> None:
    git("init", "-q")
    before = commit()
    write("people/ada.md", f"# Ada\n{CLAIM}\nMine, not yet to be seen.\n")
    receipt = memory.purge("default", ["fact:1"])
    assert "not committed" in receipt.files[0].why
    assert git("rev-parse", "HEAD").strip() == before
    assert (notes / "people/ada.md").read_text() == "# Ada\n[forgotten].\nMine, not yet to be seen.\n"


def test_no_hook_or_filter_of_the_repository_runs(
    memory: Memory, filled: Folder, write: Write, notes: Path, git: Git, commit: Git, tmp_path: Path
) -> None:
    git("init", "-q")
    commit()
    ran = tmp_path / "ran"
    program = f"#!/bin/sh\ntouch {ran}\ncat\n"
    for name in ("pre-commit", "post-commit", "commit-msg", "reference-transaction", "post-index-change"):
        (notes / ".git" / "hooks" / name).write_text(program)
        (notes / ".git" / "hooks" / name).chmod(0o755)
    (tmp_path / "program").write_text(program)
    (tmp_path / "program").chmod(0o755)
    for name in ("core.fsmonitor", "filter.x.clean", "filter.x.smudge", "gpg.program"):
        git("config", name, str(tmp_path / "program"))
    git("config", "commit.gpgSign", "true")
    (notes / ".git" / "info" / "attributes").write_text("*.md filter=x\n")
    ran.unlink(missing_ok=True)
    receipt = memory.purge("default", ["fact:1"])
    assert receipt.files[0].commit
    memory.rewrite_git_histories("default", receipt.id)
    assert not ran.exists()


@pytest.mark.req("T-710")
def test_the_file_of_a_forgotten_page_goes(memory: Memory, filled: Folder, notes: Path, git: Git, commit: Git) -> None:
    git("init", "-q")
    commit()
    receipt = memory.purge("default", ["people/ada"])
    assert receipt.status == "complete"
    assert [(one.path, one.what) for one in receipt.files] == [("people/ada.md", "removed")]
    assert not (notes / "people/ada.md").exists()
    assert git("status", "--porcelain") == ""
    assert unchanged(sync(memory, filled))


@pytest.mark.req("T-706")
def test_a_file_that_cannot_be_written_is_left_and_named(
    memory: Memory, filled: Folder, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replaced = os.replace

    def refuse(old: Path, new: Path) -> None:
        if str(new).endswith("ada.md"):
            raise PermissionError(1, "Operation not permitted")
        replaced(old, new)

    monkeypatch.setattr(striking.os, "replace", refuse)
    receipt = memory.purge("default", ["fact:1"])
    assert receipt.status == "residual"
    assert [(one.path, one.what, one.why) for one in receipt.files] == [
        ("people/ada.md", "left", "Operation not permitted")
    ]
    assert {one.name: one.left for one in receipt.stores}["files"] == 1
    assert "zanzib" not in memory.get_page("default", "people/ada").content
    monkeypatch.undo()
    assert unchanged(sync(memory, filled)), "what is left in the file is not read in again"


def test_the_one_who_looks_afterwards_finds_a_file_that_was_passed_over(
    memory: Memory, filled: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wellkept.forgetting.strike", lambda folder, spans, going: ())
    receipt = memory.purge("default", ["fact:1"])
    assert receipt.status == "residual"
    assert {one.name: one.left for one in receipt.stores}["files"] == 1
    assert [(one.path, one.what) for one in receipt.files] == [("people/ada.md", "left")]


@pytest.mark.req("TC-51")
def test_files_of_another_source_stay_unless_it_is_forgotten_everywhere(
    memory: Memory, filled: Folder, tmp_path: Path
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "ada.md").write_text(f"# Ada\n{CLAIM}\n")
    sync(memory, bind(memory, "work", tmp_path / "work"))
    memory.purge("default", ["fact:1"])
    assert CLAIM in (tmp_path / "work" / "ada.md").read_text()
    memory.remember("work", CLAIM)
    memory.purge("work", ["fact:2"], everywhere=True)
    assert CLAIM not in (tmp_path / "work" / "ada.md").read_text()


def test_a_folder_that_is_not_there_is_left(memory: Memory, filled: Folder, notes: Path) -> None:
    notes.rename(notes.with_name("away"))
    receipt = memory.purge("default", ["fact:1"])
    assert receipt.status == "residual"
    assert receipt.files[0].why == "the folder is not there"


KILLED = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
import conftest
from wellkept.ingest import git_folder, striking
place, kind = {place!r}, {kind!r}
def kill(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
if kind == "before":
    striking._write_beside = kill
elif kind == "written":
    striking._committed = kill
elif kind == "committed":
    striking.os.replace = kill
elif kind == "replaced":
    import wellkept.forgetting
    wellkept.forgetting._settled = kill
memory = conftest.opened(Path(place))
memory.purge("default", {ids!r})
"""


@pytest.mark.req("T-703")
@pytest.mark.req("TC-13")
@pytest.mark.parametrize("ids", [["fact:1"], ["people/ada"]])
@pytest.mark.parametrize("kind", ["before", "written", "committed", "replaced"])
def test_killed_between_the_database_and_the_files_it_goes_on_when_opened_next(
    memory: Memory, filled: Folder, notes: Path, tmp_path: Path, git: Git, commit: Git, kind: str, ids: list[str],
    again: Callable[[], Memory],
) -> None:  # fmt: skip
    git("init", "-q")
    commit()
    memory.close()
    code = KILLED.format(tests=str(Path(__file__).parent), place=str(tmp_path), kind=kind, ids=ids)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    goes_whole = ids == ["people/ada"]
    assert done.returncode == -signal.SIGKILL or (goes_whole and kind == "committed"), done.stderr
    other = again()
    other.finish_purges()
    assert not any(b"zanzib" in path.read_bytes() for path in notes.rglob("*.md*"))
    assert (notes / "people/ada.md").exists() != goes_whole
    assert [path.name for path in notes.rglob(".*wellkept")] == []
    assert "zanzib" not in git("grep", "-h", "-e", ".", "HEAD")
    assert git("status", "--porcelain") == ""
    assert other.finish_purges() == 0
    assert unchanged(sync(other, filled))
    other.close()
