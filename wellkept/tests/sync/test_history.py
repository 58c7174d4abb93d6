"""What a repository still holds of what was forgotten is counted and dated, and taken out when its owner asks."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from wellkept.errors import GitUnavailable, NotFound, ScopeDenied
from wellkept.forgetting import PurgeReceipt
from wellkept.memory import Memory
from wellkept.model import AGENT
from wellkept.storage import Folder
from wellkept.sync import sync

CLAIM = "Ada keeps zanzibarine frogs in Wolverhampton."
Write = Callable[..., Path]
Git = Callable[..., str]


@pytest.fixture
def purged(memory: Memory, folder: Folder, write: Write, git: Git, commit: Git) -> PurgeReceipt:
    """Four commits of which two hold the claim, a stash, and a commit that only the reflog knows."""
    git("init", "-q", "-b", "main")
    write("other.md", "# Other\nOne.\n")
    commit("first")
    write("people/ada.md", f"# Ada\n{CLAIM}\n")
    commit(f"Say that {CLAIM}")
    write("people/ada.md", f"# Ada\nAmended. {CLAIM}\n")
    commit("to be dropped")
    git("reset", "-q", "--hard", "HEAD~1")
    git("tag", "-a", "v1", "-m", f"As {CLAIM}")
    write("people/ada.md", f"# Ada\nStashed. {CLAIM}\n")
    git("stash", "push", "-q")
    write("other.md", "# Other\nTwo.\n")
    commit("last")
    sync(memory, folder)
    memory.remember("default", CLAIM)
    return memory.purge("default", ["fact:1"])


def all_objects(git: Git) -> str:
    return git("cat-file", "--batch-all-objects", "--batch", "--buffer")


@pytest.mark.req("T-706")
@pytest.mark.req("TC-16")
def test_commits_stashes_and_lines_of_the_reflog_are_counted_and_dated(purged: PurgeReceipt, git: Git) -> None:
    (told,) = purged.git_history
    assert (told.folder, told.commits, told.stashes, told.reflog, told.unread) == ("notes", 2, 1, 2, "")
    # The dropped commit stands in two logs, that of the branch and that of HEAD.
    assert told.oldest is not None
    assert told.oldest <= (told.newest or told.oldest)
    assert purged.status == "complete"
    assert "zanzib" not in git("show", "HEAD:people/ada.md")


@pytest.mark.req("T-706")
@pytest.mark.req("TC-16")
def test_the_history_is_written_anew_without_it_and_the_rest_stays(
    memory: Memory, purged: PurgeReceipt, folder: Folder, notes: Path, git: Git
) -> None:
    before = git("log", "--format=%an %ae %at %cn %ct", "main").splitlines()
    assert "zanzib" in all_objects(git)
    (done,) = memory.rewrite_git_histories("default", purged.id)
    assert (done.left, done.remotes) == ((), ())
    assert "zanzib" not in all_objects(git)
    for path in (notes / ".git").rglob("*"):
        assert not path.is_file() or b"zanzib" not in path.read_bytes(), path
    assert git("log", "--format=%an %ae %at %cn %ct", "main").splitlines() == before
    assert git("log", "--format=%s", "main").splitlines()[-2] == "Say that [forgotten]."
    assert git("cat-file", "tag", "v1").endswith("As [forgotten].\n")
    assert git("show", "HEAD~2:people/ada.md") == "# Ada\n[forgotten].\n"
    assert git("status", "--porcelain") == ""
    assert git("fsck", "--full", "--strict") == ""
    git("stash", "pop", "-q")
    assert (notes / "people/ada.md").read_text() == "# Ada\nStashed. [forgotten].\n"
    assert memory.git_histories("default", purged.id) == ()


def test_what_holds_nothing_forgotten_keeps_its_name(memory: Memory, purged: PurgeReceipt, git: Git) -> None:
    first = git("rev-list", "--max-parents=0", "main")
    memory.rewrite_git_histories("default", purged.id)
    assert git("rev-list", "--max-parents=0", "main") == first


def test_twice_is_once(memory: Memory, purged: PurgeReceipt, git: Git) -> None:
    memory.rewrite_git_histories("default", purged.id)
    head = git("rev-parse", "main")
    assert memory.rewrite_git_histories("default", purged.id) == ()
    assert git("rev-parse", "main") == head


def test_remotes_are_named_since_they_still_hold_it(
    memory: Memory, purged: PurgeReceipt, git: Git, tmp_path: Path
) -> None:
    subprocess.run(["git", "init", "-q", "--bare", tmp_path / "far.git"], check=True)
    git("remote", "add", "origin", str(tmp_path / "far.git"))
    git("push", "-q", "origin", "main")
    assert memory.git_histories("default", purged.id)[0].remotes == ("origin",)
    (done,) = memory.rewrite_git_histories("default", purged.id)
    assert done.remotes == ("origin",)
    assert "zanzib" not in all_objects(git)
    assert "zanzib" in git("cat-file", "--batch-all-objects", "--batch", at=tmp_path / "far.git")


def test_what_is_staged_loses_it_and_stays_staged(
    memory: Memory, purged: PurgeReceipt, write: Write, notes: Path, git: Git
) -> None:
    write("more.md", f"# More\n{CLAIM}\n")
    git("add", "more.md")
    memory.rewrite_git_histories("default", purged.id)
    assert git("show", ":more.md") == "# More\n[forgotten].\n"
    assert "zanzib" not in all_objects(git)


def test_packed_objects_go_too(memory: Memory, purged: PurgeReceipt, git: Git) -> None:
    git("gc", "-q")
    (done,) = memory.rewrite_git_histories("default", purged.id)
    assert done.left == ()
    assert "zanzib" not in all_objects(git)


@pytest.mark.parametrize("begun", ["a merge", "other working trees", "only a part"])
def test_a_repository_in_which_something_is_under_way_is_not_touched(
    memory: Memory, purged: PurgeReceipt, notes: Path, tmp_path: Path, git: Git, begun: str
) -> None:
    if begun == "a merge":
        (notes / ".git" / "MERGE_HEAD").write_text(git("rev-parse", "HEAD"))
    elif begun == "other working trees":
        git("worktree", "add", "-q", str(tmp_path / "second"))
    else:
        (notes / ".git" / "shallow").write_text(git("rev-list", "--max-parents=0", "main"))
    head = git("rev-parse", "main")
    with pytest.raises(GitUnavailable, match=begun):
        memory.rewrite_git_histories("default", purged.id)
    assert git("rev-parse", "main") == head


def test_only_the_owner_and_only_by_a_receipt(memory: Memory, purged: PurgeReceipt) -> None:
    with pytest.raises(ScopeDenied):
        memory.rewrite_git_histories("default", purged.id, writer=AGENT)
    with pytest.raises(NotFound):
        memory.git_histories("default", "none")


def test_a_repository_that_cannot_be_read_is_told_of(
    memory: Memory, folder: Folder, write: Write, notes: Path, git: Git, commit: Git
) -> None:
    git("init", "-q")
    write("a.md", f"# A\n{CLAIM}\n")
    commit()
    sync(memory, folder)
    memory.remember("default", CLAIM)
    for path in (notes / ".git" / "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o644)
            path.write_bytes(b"broken")
    receipt = memory.purge("default", ["fact:1"])
    assert receipt.git_history[0].unread
    assert "[forgotten]" in (notes / "a.md").read_text()
