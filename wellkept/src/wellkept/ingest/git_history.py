"""What a Git repository still holds of what was forgotten, and its history written anew without it.

All objects are read, those that nobody refers to as well. New ones are written beside them, the names are moved over in
one transaction of git's, and then the old ones are thrown away; whatever ends it in between, it can be done again.
"""

from __future__ import annotations

import os
import subprocess
import zlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import new as hasher
from pathlib import Path
from typing import IO, cast

from wellkept.errors import GitUnavailable
from wellkept.ingest.git_folder import AUTHOR, Git
from wellkept.ingest.striking import struck_bytes
from wellkept.trust.forgotten import Spans

_BINARY_LOOK = 8000
_STASH = "refs/stash"
_SIGNED = (b"gpgsig ", b"gpgsig-sha256 ", b"mergetag ")


@dataclass(frozen=True, slots=True)
class GitHistory:
    """How much of a repository's history still holds what was forgotten, and from when it is.

    `stashes` and `reflog` count entries; `others` are objects that nothing refers to any more. `unread` says why a
    repository could not be read.
    """

    folder: str
    commits: int = 0
    stashes: int = 0
    reflog: int = 0
    others: int = 0
    oldest: datetime | None = None
    newest: datetime | None = None
    remotes: tuple[str, ...] = ()
    unread: str = ""

    def __bool__(self) -> bool:
        return bool(self.commits or self.stashes or self.reflog or self.others or self.unread)


def history(name: str, folder: Path, spans: Spans) -> GitHistory | None:
    """What the repository around a folder still holds; None where there is no repository."""
    try:
        git = Git.at(folder)
        return None if git is None else _counted(name, git.whole(), _Repository(git.whole(), spans))
    except GitUnavailable as error:
        return GitHistory(name, unread=error.reason)


# -- reading


@dataclass(slots=True)
class _Commit:
    tree: str
    parents: tuple[str, ...]
    at: datetime
    held: bool


@dataclass(slots=True)
class _Repository:
    """All objects of a repository: what trees hold, where commits lead, and which texts hold what was forgotten."""

    git: Git
    spans: Spans
    blobs: set[str] = field(default_factory=set)
    trees: dict[str, tuple[tuple[bytes, bytes, str], ...]] = field(default_factory=dict)
    commits: dict[str, _Commit] = field(default_factory=dict)
    tags: dict[str, tuple[str, bool]] = field(default_factory=dict)
    holding: dict[str, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, kind, content in _objects(self.git):
            if kind == "tree":
                self.trees[name] = tuple(_entries(content, len(name) // 2))
            elif kind == "blob":
                if self.holds(content):
                    self.blobs.add(name)
            elif kind == "commit":
                self.commits[name] = _commit(content, self.holds(_message(content)))
            else:
                self.tags[name] = (_field(content, b"object"), self.holds(_message(content)))

    def holds(self, content: bytes) -> bool:
        """Whether a text holds what was forgotten; what is no text does not."""
        return b"\0" not in content[:_BINARY_LOOK] and bool(self.spans(content.decode("utf-8", "surrogateescape")))

    def tree_holds(self, tree: str) -> bool:
        """Whether a file in or below the tree does."""
        waiting = [tree]
        while waiting:
            one = waiting[-1]
            inner = [name for _, _, name in self.trees.get(one, ()) if name in self.trees and name not in self.holding]
            if one in self.holding or not inner:
                waiting.pop()
                entries = self.trees.get(one, ())
                self.holding[one] = any(name in self.blobs or self.holding.get(name, False) for _, _, name in entries)
            else:
                waiting += inner
        return self.holding[tree]

    def commit_holds(self, name: str) -> bool:
        """Whether the message of the commit or a file of it does."""
        found = self.commits.get(name)
        return found is not None and (found.held or self.tree_holds(found.tree))

    def reached(self, names: Iterable[str]) -> set[str]:
        """The commits that these lead to."""
        found: set[str] = set()
        waiting = [self._commit_of(name) for name in names]
        while waiting:
            one = waiting.pop()
            if one in self.commits and one not in found:
                found.add(one)
                waiting += self.commits[one].parents
        return found

    def _commit_of(self, name: str) -> str:
        while name in self.tags:
            name = self.tags[name][0]
        return name

    def below(self, commits: Iterable[str]) -> set[str]:
        """The texts that are forgotten, in the files of these commits."""
        found: set[str] = set()
        seen: set[str] = set()
        waiting = [self.commits[one].tree for one in commits]
        while waiting:
            one = waiting.pop()
            if one in self.trees and one not in seen and self.tree_holds(one):
                seen.add(one)
                inner = [name for _, _, name in self.trees[one]]
                found |= self.blobs.intersection(inner)
                waiting += inner
        return found


def _objects(git: Git) -> Iterator[tuple[str, str, bytes]]:
    """Every object there is: its name, its kind and what it says."""
    command = git.command(("cat-file", "--batch-all-objects", "--unordered", "--batch", "--buffer"))
    lost = False
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=git.environment()
    ) as process:
        said = cast(IO[bytes], process.stdout)
        while head := said.readline():
            name, *kinds = head.decode().split()
            if len(kinds) != 2:
                lost = True
                continue
            content = said.read(int(kinds[1]))
            said.read(1)
            yield name, kinds[0], content
    if process.returncode or lost:
        raise GitUnavailable(git.folder, "its objects cannot all be read. Run: git fsck")


def _entries(tree: bytes, width: int) -> Iterator[tuple[bytes, bytes, str]]:
    place = 0
    while place < len(tree):
        space, end = tree.index(b" ", place), tree.index(b"\0", place)
        yield tree[place:space], tree[space + 1 : end], tree[end + 1 : end + 1 + width].hex()
        place = end + 1 + width


def _commit(content: bytes, held: bool) -> _Commit:
    head = content.partition(b"\n\n")[0].split(b"\n")
    parents = tuple(line[7:].decode() for line in head if line.startswith(b"parent "))
    committer = next((line for line in head if line.startswith(b"committer ")), b"committer ? <?> 0 +0000")
    try:
        at = datetime.fromtimestamp(int(committer.rsplit(b" ", 2)[1]), UTC)
    except (ValueError, IndexError, OverflowError, OSError):
        at = datetime.fromtimestamp(0, UTC)
    return _Commit(_field(content, b"tree"), parents, at, held)


def _field(content: bytes, name: bytes) -> str:
    head = content.partition(b"\n\n")[0].split(b"\n")
    return next((line[len(name) + 1 :].decode() for line in head if line.startswith(name + b" ")), "")


def _message(content: bytes) -> bytes:
    return content.partition(b"\n\n")[2]


def _refs(git: Git) -> dict[str, str]:
    """Every name that stands for an object itself, and a HEAD that stands for no branch."""
    lines = git.run("for-each-ref", "--format=%(objectname) %(refname) %(symref)").decode().splitlines()
    found = {line.split(" ")[1]: line.split(" ")[0] for line in lines if not line.split(" ")[2]}
    head = git.head()
    if head is not None and not git.tells("symbolic-ref", "--quiet", "HEAD"):
        found["HEAD"] = head
    return found


def _logged(git: Git) -> tuple[tuple[str, str], ...]:
    """The lines of the reflogs: the name, and the commit that it stood for."""
    if git.head() is None:
        return ()
    lines = git.run("log", "--walk-reflogs", "--all", "--format=%H %gD").decode("utf-8", "replace").splitlines()
    pairs = (line.split(" ", 1) for line in lines)
    return tuple((name.rpartition("@{")[0], commit) for commit, name in pairs)


def _staged(git: Git) -> dict[bytes, tuple[bytes, str]]:
    """What the next commit would hold, by path: mode and object."""
    found = {}
    for line in git.run("ls-files", "--stage", "-z").split(b"\0"):
        if line:
            what, _, path = line.partition(b"\t")
            mode, name, _ = what.split(b" ")
            found[path] = (mode, name.decode())
    return found


def _counted(name: str, git: Git, all_: _Repository) -> GitHistory:
    refs = _refs(git)
    known = all_.reached(target for ref, target in refs.items() if ref != _STASH)
    held = {one for one in known if all_.commit_holds(one)}
    logged = _logged(git)
    stashed = [one for ref, one in logged if ref == _STASH] or [refs[_STASH]] if _STASH in refs else []
    stashes = [one for one in stashed if any(all_.commit_holds(part) for part in _parts(all_, one, known))]
    reflog = [one for ref, one in logged if ref != _STASH and one not in known and all_.commit_holds(one)]
    everywhere = all_.reached([*refs.values(), *(one for _, one in logged)])
    unknown = [one for one in all_.commits if one not in everywhere and all_.commit_holds(one)]
    loose = all_.blobs - all_.below([*everywhere, *unknown])
    dates = sorted(all_.commits[one].at for one in {*held, *stashes, *reflog, *unknown})
    remotes = tuple(git.run("remote").decode().split())
    first, last = (dates[0], dates[-1]) if dates else (None, None)
    return GitHistory(name, len(held), len(stashes), len(reflog), len(unknown) + len(loose), first, last, remotes)


def _parts(all_: _Repository, stash: str, known: Collection[str]) -> Iterator[str]:
    """The commits that a stash is made of, without those of a branch."""
    yield stash
    yield from (one for one in all_.commits[stash].parents if one not in known)


# -- writing anew


@dataclass(frozen=True, slots=True)
class Rewritten:
    """What became of a history: how many commits are new, and the files of the repository where something is left."""

    folder: str
    commits: int
    left: tuple[str, ...] = ()
    remotes: tuple[str, ...] = ()


def rewrite(name: str, folder: Path, spans: Spans) -> Rewritten:
    """Write the history around a folder anew without what is forgotten, and throw the old one away.

    GitUnavailable where that cannot be done as a whole: then nothing was changed.
    """
    git = Git.at(folder)
    if git is None:
        raise GitUnavailable(folder, "is in no Git working tree")
    git = git.whole()
    _check_alone(git)
    place = git.directory()
    all_ = _Repository(git, spans)
    made = _Anew(git, all_)
    refs = _refs(git)
    stashes = _stashes(git)
    staged = {path: (mode, made.of(one)) for path, (mode, one) in _staged(git).items() if made.of(one) != one}
    fresh = {ref: made.of(target) for ref, target in refs.items()}
    for one, _ in stashes:
        made.of(one)
    made.written()
    moves = "".join(f"update {ref} {fresh[ref]} {one}\n" for ref, one in refs.items() if one != fresh[ref])
    git.run("update-ref", "--no-deref", "--stdin", stdin=moves.encode())
    if staged:
        lines = b"".join(mode + b" " + one.encode() + b"\t" + path + b"\0" for path, (mode, one) in staged.items())
        git.run("update-index", "-z", "--index-info", stdin=lines)
    _forget_logs(git, made, stashes, spans)
    for old in (*place.glob("*_HEAD"), *place.glob("objects/info/commit-graph*")):
        _remove(old)
    git.run("repack", "-a", "-d", "-q", "-n")
    git.run("prune", "--expire=now")
    return Rewritten(name, made.commits, _left(git, place, spans), tuple(git.run("remote").decode().split()))


def _check_alone(git: Git) -> None:
    begun = git.under_way()
    if begun:
        raise GitUnavailable(git.folder, f"{begun} is under way. End it first")
    if git.run("rev-parse", "--is-shallow-repository").strip() == b"true":
        raise GitUnavailable(git.folder, "it has only a part of its history. Fetch all of it first")
    if git.run("worktree", "list", "--porcelain").count(b"worktree ") > 1:
        raise GitUnavailable(git.folder, "it has other working trees. Remove them first: git worktree list")
    if (git.directory() / "objects" / "info" / "alternates").exists():
        raise GitUnavailable(git.folder, "it shares objects with another repository (alternates). Part them first")


class _Anew:
    """The objects as they are to be. What holds nothing forgotten keeps its name."""

    def __init__(self, git: Git, all_: _Repository) -> None:
        self._git, self._all = git, all_
        self._format = git.run("rev-parse", "--show-object-format").decode().strip()
        self._place = git.directory() / "objects"
        self._new: dict[str, str] = {}
        self.commits = 0

    def of(self, name: str) -> str:
        """What stands in the place of an object."""
        waiting = [name]
        while waiting:
            one = waiting[-1]
            needs = [other for other in self._needs(one) if other not in self._new]
            if one in self._new or not needs:
                waiting.pop()
                self._new.setdefault(one, self._made(one) if one not in self._new else "")
            else:
                waiting += needs
        return self._new[name]

    def _needs(self, name: str) -> tuple[str, ...]:
        if name in self._all.commits:
            found = self._all.commits[name]
            return (found.tree, *found.parents)
        if name in self._all.tags:
            return (self._all.tags[name][0],)
        inner = (one for _, _, one in self._all.trees.get(name, ()))
        return tuple(one for one in inner if one in self._all.trees or one in self._all.blobs)

    def _made(self, name: str) -> str:
        if name in self._all.blobs:
            return self._write("blob", struck_bytes(self._read("blob", name), self._all.spans))
        if all(self._new[one] == one for one in self._needs(name)) and not self._says(name):
            return name
        if name in self._all.trees:
            entries = ((mode, path, self._new.get(one, one)) for mode, path, one in self._all.trees[name])
            return self._write("tree", b"".join(m + b" " + p + b"\0" + bytes.fromhex(one) for m, p, one in entries))
        kind = "commit" if name in self._all.commits else "tag"
        self.commits += kind == "commit"
        return self._write(kind, self._said_anew(self._read(kind, name)))

    def _says(self, name: str) -> bool:
        found = self._all.commits.get(name)
        return found.held if found is not None else name in self._all.tags and self._all.tags[name][1]

    def _said_anew(self, content: bytes) -> bytes:
        """A commit or tag that leads to the new objects, without a signature, which would be another's word."""
        head, _, message = content.partition(b"\n\n")
        lines: list[bytes] = []
        dropping = False
        for line in head.split(b"\n"):
            dropping = line.startswith(_SIGNED) or (dropping and line.startswith(b" "))
            if dropping:
                continue
            word, _, rest = line.partition(b" ")
            if word in (b"tree", b"parent", b"object"):
                line = word + b" " + self._new[rest.decode()].encode()
            lines.append(line)
        if head.startswith(b"object "):
            message = message.partition(b"-----BEGIN ")[0]
        return b"\n".join(lines) + b"\n\n" + struck_bytes(message, self._all.spans)

    def _read(self, kind: str, name: str) -> bytes:
        return self._git.run("cat-file", kind, name)

    def _write(self, kind: str, content: bytes) -> str:
        whole = f"{kind} {len(content)}\0".encode() + content
        name = hasher(self._format, whole).hexdigest()
        path = self._place / name[:2] / name[2:]
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            beside = path.with_name(f"tmp_obj_{os.getpid()}")
            with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o444), "wb") as file:
                file.write(zlib.compress(whole))
            os.replace(beside, path)
        return name

    def written(self) -> None:
        """Have all of it on the disk before anything leads there."""
        os.sync()


def _stashes(git: Git) -> list[tuple[str, str]]:
    """What is stashed, oldest first: the commit and what is said of it."""
    if not git.tells("rev-parse", "--verify", "--quiet", _STASH):
        return []
    lines = git.run("log", "--walk-reflogs", "--format=%H %gs", _STASH, "--").decode("utf-8", "surrogateescape")
    pairs = [line.split(" ", 1) for line in lines.splitlines()]
    return [(one, said) for one, said in reversed(pairs)]


def _forget_logs(git: Git, made: _Anew, stashes: list[tuple[str, str]], spans: Spans) -> None:
    """Let no log say where names stood before; what is stashed stays, as it is now."""
    git.run("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
    if not stashes:
        return
    git.run("update-ref", "-d", _STASH)
    for one, said in stashes:
        text = struck_bytes(said.encode("utf-8", "surrogateescape"), spans).decode("utf-8", "surrogateescape")
        git.run("update-ref", "--create-reflog", "-m", text or "stash", _STASH, made.of(one), more=AUTHOR)


def _remove(path: Path) -> None:
    if path.is_dir():
        for inner in path.iterdir():
            _remove(inner)
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


def _left(git: Git, place: Path, spans: Spans) -> tuple[str, ...]:
    """Where something forgotten still stands in the repository's own files or objects."""
    again = _Repository(git, spans)
    objects = [*again.blobs, *(one for one, found in again.commits.items() if found.held)]
    files = [path for path in place.rglob("*") if path.is_file() and "objects" not in path.relative_to(place).parts]
    own = [path for path in files if again.holds(path.read_bytes())]
    return tuple(f"object {one}" for one in objects) + tuple(str(path.relative_to(place.parent)) for path in own)
