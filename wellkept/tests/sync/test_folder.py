"""What changed in a bound folder is kept, what went from it ends, and nothing else is touched."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from wellkept.errors import Conflict, InvalidInput, NotFound, Refused
from wellkept.memory import Memory
from wellkept.model import Trust
from wellkept.storage import Folder
from wellkept.sync import Synced, bind, bound, sync, unbind

CLAIM = "Ada keeps zanzibarine frogs in Wolverhampton."
Write = Callable[..., Path]
Git = Callable[..., str]


def counts(done: Synced) -> tuple[int, int, int, int]:
    return done.created, done.updated, done.unchanged, done.expired


def test_each_file_is_the_page_of_its_path_and_counts_as_its_owners(
    memory: Memory, folder: Folder, write: Write
) -> None:
    write("people/ada.md", "# Ada\nAda likes tea.\n")
    write("plan.md", "# Plan\nFirst things first.\n")
    assert counts(sync(memory, folder)) == (2, 0, 0, 0)
    page = memory.get_page("default", "people/ada")
    assert (page.title, page.trust) == ("Ada", Trust.USER_WRITTEN)
    assert counts(sync(memory, folder)) == (0, 0, 2, 0)


def test_what_changed_is_kept_anew_and_what_went_ends_with_its_history(
    memory: Memory, folder: Folder, write: Write
) -> None:
    ada = write("people/ada.md", "# Ada\nAda likes tea.\n")
    plan = write("plan.md", "# Plan\nFirst things first.\n")
    sync(memory, folder)
    write("plan.md", "# Plan\nSecond thoughts.\n")
    ada.unlink()
    assert counts(sync(memory, folder)) == (0, 1, 0, 1)
    assert memory.get_page("default", "plan").body.endswith("Second thoughts.\n")
    ended = memory.get_page("default", "people/ada")
    assert ended.status == "expired"
    assert ended.ended is not None
    assert ended.ended.reason == "its file is gone"
    assert counts(sync(memory, folder)) == (0, 0, 1, 0)
    plan.unlink()
    ada.write_text("# Ada\nAda is back.\n")
    assert counts(sync(memory, folder)) == (0, 1, 0, 1)
    assert memory.get_page("default", "people/ada").status == "active"


def test_a_dry_run_says_the_same_and_changes_nothing(memory: Memory, folder: Folder, write: Write) -> None:
    write("a.md", "# A\n")
    gone = write("b.md", "# B\n")
    sync(memory, folder)
    write("a.md", "# A\nMore.\n")
    write("c.md", "# C\n")
    gone.unlink()
    before = list(memory.export("default"))
    planned = sync(memory, folder, dry_run=True)
    assert counts(planned) == (1, 1, 0, 1)
    assert list(memory.export("default")) == before
    assert counts(sync(memory, folder)) == counts(planned)


def test_a_sync_that_was_stopped_goes_on_where_it_was(memory: Memory, folder: Folder, write: Write) -> None:
    for number in range(6):
        write(f"{number}.md", f"# Number {number}\n")

    def stop(done: int, _: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sync(memory, folder, progress=stop)
    assert counts(sync(memory, folder)) == (3, 0, 3, 0)


UNREADABLE = {
    "latin.md": (b"Caf\xe9", "UTF-8"),
    "large.md": (b"x" * 10_000_000, "Split it"),
    "front.md": (b"---\ntitle: [a, b\n---\nText\n", "front matter: line 3"),
    "endless.md": (b"---\ntitle: A\n\nText\n", "none ends it"),
    "zero.md": (b"A\0B", "NUL"),
    "conversations/s1.md": (b"# S\n", "where conversations are kept"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_cannot_be_read_is_named_with_what_to_do_and_the_others_are_kept(
    memory: Memory, folder: Folder, write: Write, name: str
) -> None:
    content, told = UNREADABLE[name]
    write("good.md", "# Good\n")
    write(name, "# Before\n")
    sync(memory, folder)
    write(name, content)
    write("better.md", "# Better\n")
    done = sync(memory, folder)
    assert [(one.path, told in one.reason) for one in done.unread] == [(name, True)], done.unread
    assert (done.created, done.expired) == (1, 0)
    if not name.startswith("conversations"):
        assert memory.get_page("default", name[:-3]).title == "Before"


def test_a_name_that_is_no_text_is_named_as_it_can_be(
    memory: Memory, folder: Folder, notes: Path, write: Write
) -> None:
    (notes / os.fsdecode(b"caf\xe9.md")).write_text("# Caf\u00e9\n")
    write("a.md", "# A\n")
    done = sync(memory, folder)
    assert (done.created, [one.path for one in done.unread]) == (1, ["caf\\udce9.md"])


def test_a_file_too_large_for_memory_is_not_read(memory: Memory, folder: Folder, notes: Path) -> None:
    with open(notes / "sparse.md", "wb") as file:
        file.truncate(1 << 36)
    done = sync(memory, folder)
    assert "Split it" in done.unread[0].reason
    memory.remember("default", CLAIM)
    receipt = memory.purge("default", ["fact:1"])
    assert [(one.path, one.what) for one in receipt.files] == [("sparse.md", "left")]


@pytest.mark.req("T-605")
def test_a_link_that_leads_out_of_the_folder_is_not_followed(
    memory: Memory, folder: Folder, notes: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.md").write_text("# Secret\nThe vault code is plum.\n")
    (notes / "link.md").symlink_to(tmp_path / "secret.md")
    (notes / "up.md").symlink_to("../secret.md")
    (notes / "all").symlink_to(tmp_path)
    done = sync(memory, folder)
    assert [one.path for one in done.unread] == ["link.md", "up.md"]
    assert list(memory.export("default")) == []


def test_a_folder_that_cannot_be_looked_into_ends_nothing(
    memory: Memory, folder: Folder, write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write("people/ada.md", "# Ada\n")
    write("plan.md", "# Plan\n")
    sync(memory, folder)
    look = os.scandir

    def refuse(place: str) -> object:
        if str(place) == str(path.parent):
            raise PermissionError(13, "Permission denied", str(place))
        return look(place)

    monkeypatch.setattr(os, "scandir", refuse)
    done = sync(memory, folder)
    assert done.expired == 0
    assert [one.path for one in done.unread] == ["people"]


def test_a_folder_that_is_not_there_ends_nothing(memory: Memory, folder: Folder, write: Write, notes: Path) -> None:
    write("a.md", "# A\n")
    sync(memory, folder)
    notes.rename(notes.with_name("elsewhere"))
    with pytest.raises(NotFound, match="nothing was changed"):
        sync(memory, folder)
    notes.symlink_to(notes.with_name("elsewhere"))
    with pytest.raises(NotFound, match="nothing was changed"):
        sync(memory, folder)


def test_that_all_went_at_once_has_to_be_meant(memory: Memory, folder: Folder, write: Write) -> None:
    paths = [write("a.md", "# A\n"), write("b.md", "# B\n")]
    sync(memory, folder)
    for path in paths:
        path.unlink()
    with pytest.raises(Refused, match="--emptied"):
        sync(memory, folder)
    assert sync(memory, folder, emptied=True).expired == 2


def test_what_its_owner_forgot_stays_forgotten(memory: Memory, folder: Folder, write: Write) -> None:
    write("a.md", "# A\n")
    sync(memory, folder)
    memory.forget("default", ["a"])
    write("a.md", "# A\nMore.\n")
    done = sync(memory, folder)
    assert done.forgotten == ["a"]
    assert memory.get_page("default", "a").status == "expired"


def test_a_page_that_says_something_else_by_now_does_not_end_with_its_file(
    memory: Memory, folder: Folder, write: Write
) -> None:
    path = write("a.md", "# A\n")
    sync(memory, folder)
    memory.put_page("default", "a", "# A\nSaid at a terminal.\n")
    path.unlink()
    done = sync(memory, folder)
    assert done.changed == ["a"]
    assert memory.get_page("default", "a").status == "active"


@pytest.mark.req("TC-51")
def test_pages_of_another_source_or_from_elsewhere_are_not_touched(
    memory: Memory, folder: Folder, write: Write, tmp_path: Path
) -> None:
    shared = write("shared.md", "# Shared\nThe same text.\n")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "shared.md").write_text("# Shared\nThe same text.\n")
    work = bind(memory, "work", tmp_path / "work")
    memory.put_page("default", "mine", "# Mine\n")
    sync(memory, folder)
    assert counts(sync(memory, work)) == (1, 0, 0, 0), "what another source says is nothing known here"
    shared.unlink()
    assert sync(memory, folder).expired == 1
    assert memory.get_page("work", "shared").status == "active"
    assert memory.get_page("default", "mine").status == "active"
    assert counts(sync(memory, work)) == (0, 0, 1, 0)


def test_two_folders_of_a_source_do_not_take_each_others_pages(
    memory: Memory, folder: Folder, write: Write, tmp_path: Path
) -> None:
    write("plan.md", "# Plan\nOurs.\n")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "plan.md").write_text("# Plan\nTheirs.\n")
    more = bind(memory, "default", tmp_path / "more")
    sync(memory, folder)
    done = sync(memory, more)
    assert [one.path for one in done.unread] == ["plan.md"]
    assert "notes/plan.md" in done.unread[0].reason
    assert "Ours" in memory.get_page("default", "plan").content


@pytest.mark.req("TC-02")
@pytest.mark.req("T-709")
def test_a_stale_checkout_brings_back_nothing_that_was_forgotten_for_good(
    memory: Memory, folder: Folder, write: Write
) -> None:
    write("people/ada.md", f"# Ada\n{CLAIM}\nShe writes.\n")
    sync(memory, folder)
    memory.remember("default", CLAIM)
    memory.purge("default", ["fact:1"])
    write("people/ada.md", f"# Ada\n{CLAIM}\nShe writes. Much.\n")
    write("old.md", f"# Old\n- {CLAIM.upper()}\n")
    sync(memory, folder)
    assert memory.get_page("default", "people/ada").content == "# Ada\n[forgotten].\nShe writes. Much.\n"
    assert memory.get_page("default", "old").body == "# Old\n- [forgotten].\n"
    assert not memory.search("default", "zanzibarine frogs")
    assert memory.recall_facts("default") == ()
    assert counts(sync(memory, folder)) == (0, 0, 2, 0)


@pytest.mark.req("TC-57")
@pytest.mark.req("T-407")
def test_nothing_in_a_folder_chooses_where_it_is_read_into_or_what_is_run(
    memory: Memory, notes: Path, write: Write, git: Git, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    program.chmod(0o755)
    git("init", "-q")
    names = ("core.fsmonitor", "filter.x.clean", "filter.x.smudge", "filter.x.process", "core.pager", "diff.x.textconv",
             "gpg.program", "gpg.ssh.program", "core.sshCommand", "core.editor")  # fmt: skip
    for name in names:
        git("config", name, str(program))
    for name, value in {"log.showSignature": "true", "commit.gpgSign": "true"}.items():
        git("config", name, value)
    hooks = notes / ".git" / "hooks"
    for name in ("pre-commit", "post-index-change", "reference-transaction", "post-checkout", "fsmonitor-watchman"):
        (hooks / name).write_text(program.read_text())
        (hooks / name).chmod(0o755)
    write(".gitattributes", "*.md filter=x diff=x\n")
    write("settings.toml", 'source = "work"\n')
    write(".wellkept", "source=work\n")
    write("a.md", "---\nsource: work\ntrust: user_confirmed\n---\n# A\n")
    folder = bind(memory, "default", notes)
    assert counts(sync(memory, folder)) == (1, 0, 0, 0)
    assert [one.id for one in memory.store.sources()] == ["default"]
    assert memory.get_page("default", "a").trust is Trust.USER_WRITTEN
    assert not ran.exists()
    git("status")
    assert ran.exists(), "the test sees nothing of a program that git was told to run"


def test_of_a_working_tree_what_it_leaves_out_is_left_out(
    memory: Memory, notes: Path, write: Write, git: Git, commit: Git
) -> None:
    git("init", "-q")
    write(".gitignore", "node_modules/\ndraft.md\n")
    write("node_modules/deep/readme.md", "# No\n")
    write("draft.md", "# No\n")
    write("a.md", "# A\n")
    folder = bind(memory, "default", notes)
    done = sync(memory, folder)
    assert (counts(done), done.head) == ((1, 0, 0, 0), None)
    commit()
    assert len(sync(memory, folder).head or "") == 40


def test_a_folder_below_the_top_of_a_working_tree_is_read_alone(
    memory: Memory, notes: Path, write: Write, git: Git
) -> None:
    git("init", "-q")
    write("people/ada.md", "# Ada\n")
    write("above.md", "# Above\n")
    folder = bind(memory, "default", notes / "people")
    assert counts(sync(memory, folder)) == (1, 0, 0, 0)
    assert memory.get_page("default", "ada").title == "Ada"


def test_a_folder_is_bound_once_and_to_one_source(memory: Memory, folder: Folder, notes: Path) -> None:
    for where in (notes, notes / "people", notes.parent):
        with pytest.raises(Conflict):
            bind(memory, "work", where, name="another")
    with pytest.raises(Conflict, match="--name"):
        bind(memory, "work", notes.parent / "memory", name="notes")
    with pytest.raises(InvalidInput):
        bind(memory, "work", notes / "nowhere")


def test_a_folder_that_is_let_go_leaves_its_pages(memory: Memory, folder: Folder, write: Write) -> None:
    write("a.md", "# A\n")
    sync(memory, folder)
    unbind(memory, "notes")
    assert memory.get_page("default", "a").status == "active"
    with pytest.raises(NotFound, match="sync add"):
        bound(memory)
