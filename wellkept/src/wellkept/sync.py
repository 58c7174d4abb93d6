"""Folders of notes that their owner bound to a source: what changed in them is kept, what went from them ends.

A binding is made at a terminal and stands in the memory; nothing within a folder says which source it is read into.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from wellkept.errors import Conflict, GitUnavailable, InvalidInput, NotFound, Refused
from wellkept.ingest.conversation import FOLDER
from wellkept.ingest.folder import Found, check_size, markdown_below
from wellkept.ingest.git_folder import Git
from wellkept.ingest.markdown import front_matter_fault
from wellkept.memory import LARGEST_CONTENT, Memory, check_name
from wellkept.model import Item, Page, Source, Trust, Writer
from wellkept.names import slugify
from wellkept.storage import Folder, FolderFile

FILE_IS_GONE = "its file is gone"
_FOLDER = Writer("owner_git")


@dataclass(frozen=True, slots=True)
class Unread:
    """A file that was not kept, why, and what to do. What was kept of it before stays."""

    path: str
    reason: str


@dataclass(slots=True)
class Synced:
    """What one sync of a folder did, or with `dry_run` would do. Of what is named here nothing was changed.

    `forgotten` are pages that their owner ended; `changed` are pages whose file went, which say something else by now.
    """

    folder: str
    source: str
    head: str | None = None
    dry_run: bool = False
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    expired: int = 0
    forgotten: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    unread: list[Unread] = field(default_factory=list)


# -- which folders


def bind(
    memory: Memory, source: str, directory: Path, *, name: str | None = None, signers: str | None = None
) -> Folder:
    """Bind a folder to a source, under a name of its own. Conflict where the name or a folder around it is taken."""
    check_name("source", source)
    root = Path(os.path.realpath(directory))
    if not root.is_dir():
        raise InvalidInput("folder", f"{directory} is no folder")
    if not _is_utf8(str(root)):
        raise InvalidInput("folder", "its path is no UTF-8. Give it another name")
    if signers and root in Path(os.path.realpath(signers)).parents:
        raise InvalidInput("signers", f"{signers} stands in the folder, where whoever writes there could change it")
    called = name or slugify(root.name) or "notes"
    check_name("name", called)
    if signers is not None and Git.at(root) is None:
        raise InvalidInput("folder", f"{directory} is in no Git working tree, so that no commit in it can be signed")
    with memory.store.transaction():
        for other in memory.store.folders.all():
            if other.name == called:
                raise Conflict(f"{called!r} is the name of {other.path}; give this one another: --name")
            if root == Path(other.path) or root in Path(other.path).parents or Path(other.path) in root.parents:
                raise Conflict(f"{other.path} is bound to source {other.source!r} already, as {other.name!r}")
        memory.store.add_source(Source(source))
        folder = Folder(called, source, str(root), datetime.now(UTC), signers)
        memory.store.folders.bind(folder)
    return folder


def bound(memory: Memory, name: str | None = None) -> tuple[Folder, ...]:
    """The bound folders, or the one of that name. NotFound when there is none."""
    found = memory.store.folders.all()
    chosen = tuple(folder for folder in found if name in (None, folder.name))
    if not chosen:
        known = ", ".join(folder.name for folder in found)
        said = f"no folder {name!r} is bound; bound are: {known}" if known else "no folder is bound"
        raise NotFound(f"{said}. Bind one: wellkept sync add DIR")
    return chosen


def unbind(memory: Memory, name: str) -> Folder:
    """Let a folder be bound no longer; its pages stay. NotFound when no such folder is."""
    (folder,) = bound(memory, name)
    with memory.store.transaction():
        memory.store.folders.unbind(name)
    return folder


# -- reading one


@dataclass(frozen=True, slots=True)
class _Note:
    """A file that can be kept: its path below the folder, the page that it is, what it says, and if its owner does."""

    path: str
    slug: str
    text: str
    vouched: bool = True

    @property
    def digest(self) -> bytes:
        return _digest(self.text)


def sync(
    memory: Memory,
    folder: Folder,
    *,
    dry_run: bool = False,
    emptied: bool = False,
    progress: Callable[[int, int], object] = lambda done, all_: None,
    now: datetime | None = None,
) -> Synced:
    """Keep what changed in the folder since it was last read, and end the pages whose file is gone.

    Each file is kept by itself, so that one that cannot be read hinders no other and a sync that was stopped goes on
    where it was. Only pages that came from this folder end. Refused where all files went at once, unless `emptied`.
    """
    root = Path(folder.path)
    if not root.is_dir() or os.path.realpath(root) != folder.path:
        raise NotFound(
            f"{folder.path} is not there; nothing was changed. Bring it back, or: wellkept sync remove {folder.name}"
        )
    if memory.store.sealing.of_table("folders", folder.source) == "failed":
        raise Refused("something else changed which folders are bound; nothing was kept. See: wellkept doctor --verify")
    done = Synced(folder.name, folder.source, dry_run=dry_run)
    git = _git(folder, done)
    done.head = None if git is None else git.head()
    found = markdown_below(root)
    known = {file.path: file for file in memory.store.folders.files(folder.name)}
    kept = [file for file in known.values() if file.standing == "kept"]
    files = _not_ignored(root, found.files, git)
    if not files and len(kept) > 1 and not emptied:
        raise Refused(
            f"{folder.path} holds no notes any more, of {len(kept)}; nothing was changed. If that is meant: "
            f"wellkept sync {folder.name} --emptied"
        )
    for count, note in enumerate(_notes(root, files, found, done)):
        progress(count, len(files))
        if git is not None and folder.signers is not None:
            note = replace(note, vouched=git.signed(note.path, note.text, folder.signers))
        _keep(memory, folder, note, known, done, now)
    present = {path.relative_to(root).as_posix() for path in files} | {one.path for one in done.unread}
    closed = tuple(f"{path.relative_to(root).as_posix()}/" for path in found.closed)
    for file in kept:
        if file.path not in present and not file.path.startswith(closed):
            _end(memory, folder, file, done, now)
    if not dry_run:
        with memory.store.transaction():
            memory.store.folders.reached(folder.name, done.head)
    return done


def _git(folder: Folder, done: Synced) -> Git | None:
    try:
        return Git.at(Path(folder.path))
    except GitUnavailable as error:
        if folder.signers is not None:
            raise
        done.unread.append(Unread(".git", f"{error.reason}; the files are read as they are"))
        return None


def _not_ignored(root: Path, files: tuple[Path, ...], git: Git | None) -> list[Path]:
    """The files without those that the repository leaves out."""
    ignored = git.ignored() if git is not None else frozenset()
    names = [(path, path.relative_to(root).as_posix()) for path in files]
    return [
        path for path, name in names if name not in ignored and not any(f"{one}/" in ignored for one in _above(name))
    ]


def _above(name: str) -> Iterator[str]:
    parts = name.split("/")
    return ("/".join(parts[:count]) for count in range(1, len(parts)))


def _notes(root: Path, files: list[Path], found: Found, done: Synced) -> Iterator[_Note]:
    """What the files say; those that cannot be kept are named instead."""
    for path in found.outside:
        done.unread.append(_unread(root, path, "is a link that leads out of the folder; put the file itself there"))
    for path in found.closed:
        done.unread.append(_unread(root, path, "cannot be looked into; allow reading it"))
    taken: dict[str, str] = {}
    for path in files:
        name = path.relative_to(root).as_posix()
        slug = path.relative_to(root).with_suffix("").as_posix()
        try:
            if not _is_utf8(name):
                raise InvalidInput("name", "is no UTF-8. Give the file another one")
            text = _text(root, path)
            fault = front_matter_fault(text)
            if fault is not None:
                raise InvalidInput("front matter", f"{fault}. Mend what stands between the lines ---")
            if slug.startswith(FOLDER):
                raise InvalidInput("path", f"{FOLDER} is where conversations are kept; put the file elsewhere")
            if slug in taken:
                raise InvalidInput("path", f"is the same page as {taken[slug]}; give one of them another name")
        except InvalidInput as error:
            done.unread.append(Unread(name.encode("utf-8", "backslashreplace").decode(), str(error)))
            continue
        taken[slug] = name
        yield _Note(name, slug, text)


def _is_utf8(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _unread(root: Path, path: Path, reason: str) -> Unread:
    return Unread(path.relative_to(root).as_posix(), reason)


def _text(root: Path, path: Path) -> str:
    """What the file says. InvalidInput with what to do where it cannot be read; no link is followed out of the root."""
    check_size(path, LARGEST_CONTENT)
    real = os.path.realpath(path)
    if os.path.commonpath((real, os.path.realpath(root))) != os.path.realpath(root):
        raise InvalidInput("file", "is a link that leads out of the folder; put the file itself there")
    try:
        with open(os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            return file.read(LARGEST_CONTENT + 1).decode("utf-8-sig")
    except OSError as error:
        raise InvalidInput("file", f"{error.strerror or error}. Allow reading it") from None
    except UnicodeDecodeError as error:
        raise InvalidInput("file", f"is no UTF-8 text (byte {error.start}). Save it as UTF-8") from None


# -- keeping and ending


def _keep(
    memory: Memory, folder: Folder, note: _Note, known: Mapping[str, FolderFile], done: Synced, now: datetime | None
) -> None:
    before = known.get(note.path)
    store, source = memory.store, folder.source
    page = None
    if before is not None and before.standing == "kept" and before.digest == note.digest:
        # One that nobody had signed may be signed by now.
        page = store.get_page(source, note.slug) if folder.signers is not None and note.vouched else None
        if page is None or page.trust >= Trust.USER_WRITTEN:
            done.unchanged += 1
            return
    page = page or store.get_page(source, note.slug)
    if before is not None and before.standing == "going":
        done.unread.append(Unread(note.path, "its page was forgotten for good; remove the file"))
        return
    if page is not None and page.status in ("expired", "deleted") and (before is None or before.standing != "gone"):
        done.forgotten.append(note.slug)
        return
    holder = store.folders.holder(source, note.slug)
    if holder is not None and holder != (folder.name, note.path):
        done.unread.append(Unread(note.path, f"its page is kept from {'/'.join(holder)}; give it another name"))
        return
    if done.dry_run:
        _count(done, "created" if page is None else "unchanged" if page.content == note.text else "updated")
        return
    try:
        with store.transaction():
            lineage = () if note.vouched else (Trust.AGENT_WRITTEN,)
            receipt = memory.put_page(
                source, note.slug, note.text, again=before is not None, lineage=lineage, writer=_FOLDER, now=now
            )
            if "guarded" in receipt.degraded:
                raise Refused("no commit of yours signs it, and its page is yours and stays. Sign the commit")
            digest = _digest(memory.get_page(source, note.slug).content)
            store.folders.keep(folder.name, FolderFile(note.path, note.slug, digest))
    except (InvalidInput, Refused) as error:
        done.unread.append(Unread(note.path, str(error)))
    else:
        _count(done, receipt.status)


def _count(done: Synced, status: str) -> None:
    setattr(done, status, getattr(done, status) + 1)


def _end(memory: Memory, folder: Folder, file: FolderFile, done: Synced, now: datetime | None) -> None:
    """End the page of a file that is gone, where it still says what came from the file."""
    page: Page | None = memory.store.get_page(folder.source, file.slug)
    active = page is not None and page.status == "active"
    if page is not None and active and file.digest not in (None, _digest(page.content)):
        done.changed.append(file.slug)
        return
    done.expired += active
    if done.dry_run:
        return
    with memory.store.transaction():
        if active:
            memory.forget(folder.source, [str(Item("page", file.slug))], reason=FILE_IS_GONE, writer=_FOLDER, now=now)
        memory.store.folders.keep(folder.name, FolderFile(file.path, file.slug, None, "gone"))


def _digest(text: str) -> bytes:
    return sha256(text.encode()).digest()
