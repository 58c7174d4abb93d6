"""The `git` program on a folder of notes, told to run nothing and to ask nobody, whatever the repository says.

A repository's own settings can name programs: hooks, filters, pagers, viewers, signature checkers. Only commands that
need none are used here, and whatever could name one is set otherwise by variables, which go before those settings.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wellkept.errors import GitUnavailable

_SECONDS = 120.0
_SETTINGS: Mapping[str, str] = {
    "core.hooksPath": "/dev/null",
    "core.fsmonitor": "false",
    "core.attributesFile": "/dev/null",
    "core.pager": "cat",
    "core.quotePath": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "gpg.program": "gpg",
    "gpg.openpgp.program": "gpg",
    "gpg.ssh.program": "ssh-keygen",
    "gpg.x509.program": "gpgsm",
    "gpg.ssh.allowedSignersFile": "/dev/null",
    "gpg.ssh.revocationFile": "/dev/null",
    "log.showSignature": "false",
    "protocol.allow": "never",
}
_ENVIRONMENT: Mapping[str, str] = {
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
    "TZ": "UTC",
}
AUTHOR: Mapping[str, str] = {
    f"GIT_{who}_{what}": said
    for who in ("AUTHOR", "COMMITTER")
    for what, said in (("NAME", "wellkept"), ("EMAIL", "wellkept@localhost"))
}
_UNDER_WAY: Mapping[str, str] = {
    "MERGE_HEAD": "a merge",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "BISECT_LOG": "a bisection",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "index.lock": "another git command",
}
_PASSED_ON = ("PATH", "HOME", "GNUPGHOME", "TMPDIR")


@dataclass(frozen=True, slots=True)
class Git:
    """One folder within a working tree; `prefix` is where it stands in that, "" at its top, else with a "/" at its end.

    `filters` are the settings with which the repository would have programs change what is read and written.
    GitUnavailable says why git could not do what it was asked.
    """

    folder: Path
    prefix: str = ""
    filters: tuple[str, ...] = ()

    @staticmethod
    def at(folder: Path) -> Git | None:
        """The folder as part of a working tree; None where it is in none. GitUnavailable where git cannot say."""
        if not any((one / ".git").exists() for one in (folder, *folder.parents)):
            return None
        named = Git(folder)._done("config", "--includes", "--name-only", "-z", "--get-regexp", r"^filter\.").stdout
        filters = tuple(name for name in os.fsdecode(named).split("\0") if name)
        found = os.fsdecode(Git(folder).run("rev-parse", "--show-toplevel", "--show-prefix"))
        top, _, prefix = found.removesuffix("\n").partition("\n")
        if Path(os.path.realpath(top)) / prefix != Path(os.path.realpath(folder)):
            raise GitUnavailable(folder, "the repository says that its files are elsewhere (core.worktree)")
        return Git(folder, prefix, filters)

    def whole(self) -> Git:
        """The working tree from its top."""
        depth = self.prefix.count("/")
        return Git(Path(*self.folder.parts[: len(self.folder.parts) - depth]), filters=self.filters)

    def head(self) -> str | None:
        """The commit that is checked out; None before the first."""
        done = self._done("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        return done.stdout.decode().strip() or None

    def ignored(self) -> frozenset[str]:
        """The files below the folder, and the folders with a "/" at their end, that the repository leaves out."""
        found = self.run("ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory", "--", ".")
        return frozenset(found.decode("utf-8", "surrogateescape").split("\0")) - {""}

    def directory(self) -> Path:
        """Where the repository keeps what all of its working trees share."""
        found = self.run("rev-parse", "--git-common-dir").decode("utf-8", "surrogateescape").removesuffix("\n")
        return (self.folder / found).resolve()

    def under_way(self) -> str | None:
        """What was begun and not ended, as a merge; None where nothing was."""
        places = self.run("rev-parse", *(part for name in _UNDER_WAY for part in ("--git-path", name)))
        found = zip(_UNDER_WAY.items(), places.decode("utf-8", "surrogateescape").split("\n"), strict=False)
        return next((what for (_, what), place in found if (self.folder / place).exists()), None)

    def committed(self, path: str) -> bytes | None:
        """The file as the commit has it that is checked out; None where that has no such file."""
        done = self._done("cat-file", "blob", f"HEAD:{self.prefix}{path}")
        return None if done.returncode else done.stdout

    def staged(self, path: str) -> bytes | None:
        """The file as the next commit would have it; None where that has no such file."""
        done = self._done("cat-file", "blob", f":0:{self.prefix}{path}")
        return None if done.returncode else done.stdout

    def signed(self, path: str, text: str, signers: str) -> bool:
        """Whether the file says what the last commit that changed it left, and somebody signed that.

        One of the file `signers`, or of the owner's keyring.
        """
        committed = self.committed(path)
        if committed is None or _same(committed) != _same(text.encode("utf-8", "surrogatepass")):
            return False
        number = len(self.settings())
        whose = {
            "GIT_CONFIG_COUNT": str(number + 1),
            f"GIT_CONFIG_KEY_{number}": "gpg.ssh.allowedSignersFile",
            f"GIT_CONFIG_VALUE_{number}": signers or "/dev/null",
        }
        commit, _, verdict = self.run("log", "-1", "--format=%H %G?", "--", path, more=whose).decode().partition(" ")
        return verdict.strip() == "G" and self.run("cat-file", "blob", f"{commit}:{self.prefix}{path}") == committed

    def commit(self, files: Mapping[str, bytes | None], message: str) -> str:
        """Commit these files, as what is checked out and no more; None removes one. The new commit.

        What else is changed or staged stays so. No hook runs, and nothing is signed or pushed.
        """
        head = self.head()
        lines = b"".join(self._line(path, content) for path, content in files.items())
        index = self.folder / os.fsdecode(self.run("rev-parse", "--git-path", "wellkept.index")).removesuffix("\n")
        alone = {"GIT_INDEX_FILE": str(index.absolute())}
        try:
            self.run("read-tree", str(head), more=alone)
            self.run("update-index", "-z", "--index-info", stdin=lines, more=alone)
            tree = self.run("write-tree", more=alone).decode().strip()
        finally:
            index.unlink(missing_ok=True)
        made = self.run("commit-tree", tree, "-p", str(head), stdin=message.encode(), more=AUTHOR).decode().strip()
        self.run("update-ref", "-m", "wellkept", "HEAD", made, str(head), more=AUTHOR)
        self.run("update-index", "-z", "--index-info", stdin=lines)
        return made

    def _line(self, path: str, content: bytes | None) -> bytes:
        """How `update-index` is told what a file says."""
        name = os.fsencode(self.prefix + path)
        if content is None:
            return b"0 " + b"0" * len(self.head() or "") + b"\t" + name + b"\0"
        blob = self.run("hash-object", "-w", "--no-filters", "--stdin", stdin=content).strip()
        mode = self.run("ls-tree", "HEAD", "--", path).split(b" ")[0]
        return (mode or b"100644") + b" " + blob + b"\t" + name + b"\0"

    def tells(self, *arguments: str) -> bool:
        """Whether a git command ends well: its answer is yes."""
        return not self._done(*arguments).returncode

    def run(self, *arguments: str, stdin: bytes = b"", more: Mapping[str, str] | None = None) -> bytes:
        """What a git command prints. `more` are variables for it."""
        done = self._done(*arguments, stdin=stdin, more=more)
        if done.returncode:
            said = " ".join(done.stderr.decode("utf-8", "replace").split())[:300]
            raise GitUnavailable(self.folder, f"git {arguments[0]}: {said or f'exit code {done.returncode}'}")
        return done.stdout

    def _done(
        self, *arguments: str, stdin: bytes = b"", more: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[bytes]:
        try:
            return subprocess.run(
                self.command(arguments),
                input=stdin,
                capture_output=True,
                check=False,
                timeout=_SECONDS,
                env=self.environment() | dict(more or {}),
            )
        except FileNotFoundError:
            raise GitUnavailable(self.folder, "there is no `git` program. Install it") from None
        except (OSError, subprocess.TimeoutExpired) as error:
            raise GitUnavailable(self.folder, f"git {arguments[0]}: {error}") from None

    def command(self, arguments: Sequence[str]) -> list[str]:
        """The command line of a git command."""
        return ["git", "-C", str(self.folder), "--no-pager", "--literal-pathspecs", *arguments]

    def environment(self) -> dict[str, str]:
        """All that a git command sees of the variables here, and those that keep it quiet."""
        settings = self.settings()
        numbered = {"GIT_CONFIG_COUNT": str(len(settings))}
        for number, (key, value) in enumerate(settings.items()):
            numbered |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        return passed | dict(_ENVIRONMENT) | numbered

    def settings(self) -> dict[str, str]:
        """What goes before the settings of the repository."""
        return {**_SETTINGS, **dict.fromkeys(self.filters, "")}


def _same(content: bytes) -> bytes:
    return content.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
