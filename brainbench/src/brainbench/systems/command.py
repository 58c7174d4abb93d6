"""A memory as a program: `--system 'cmd:node my_memory.js'`. One JSON object a line in, one out.

The program runs in a session of its own with a scrubbed environment in an empty directory. What it prints on standard
error is kept for messages. A call that takes too long, an answer that is too big or for another request ends it.
"""

from __future__ import annotations

import os
import selectors
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from brainbench.errors import SystemFailure, SystemLost, UsageError
from brainbench.systems.access import Access, scrubbed
from brainbench.systems.fence import walled_off
from brainbench.systems.wire import (
    MOST_ANSWER_BYTES,
    OPENING,
    Hello,
    Line,
    Remote,
    Request,
    encoded,
    result_of,
    too_big,
)

CLOSE_SECONDS = 2.0
"""How long a program may take to end after its standard input is closed."""
_LAST_WORDS = 4096
_LINES_TOLD = 3
_SLICE = 0.1
"""Seconds between looks at whether the program still runs: children of it may hold its pipes open."""


def argv_of(name: str, access: Access) -> list[str]:
    """The words after `cmd:`, with those that name files or folders from where the caller stands made absolute.

    UsageError where there is no such program.
    """
    try:
        words = shlex.split(name.removeprefix("cmd:"))
    except ValueError as error:
        raise UsageError(f"--system: {name}: {error}") from None
    if not words:
        raise UsageError("--system: cmd: names no program; write it as 'cmd:python3 my_memory.py'")
    return argv_at(name, words, Path(access.where))


def argv_at(name: str, words: Sequence[str], where: Path) -> list[str]:
    """The words with those that name files or folders in `where` made absolute. UsageError without such a program."""
    program, *rest = words
    if os.sep in program:
        found = shutil.which(str(where / program))
        looked = f"at {program} that can be run"
    else:
        found = shutil.which(program)
        looked = f"{program!r} on PATH" + (
            f"; write ./{program} for the one here" if (where / program).exists() else ""
        )
    if found is None:
        raise UsageError(f"--system: {name}: no program {looked}; install it, or write where it is")
    return [found, *(str((where / word).resolve()) if _names_file(where, word) else word for word in rest)]


def _names_file(where: Path, word: str) -> bool:
    with suppress(OSError, ValueError):
        return not word.startswith("-") and (where / word).exists()
    return False


class Program:
    """A running program that is asked by lines. All that it started ends with it."""

    def __init__(self, argv: list[str], access: Access) -> None:
        self.directory = tempfile.mkdtemp(prefix="system-")
        try:
            self.process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                cwd=self.directory,
                env=scrubbed(access.variables, self.directory, self.directory),
                start_new_session=True,
                preexec_fn=partial(walled_off, access.inside) if access.inside else None,
            )
        except (OSError, subprocess.SubprocessError):
            os.rmdir(self.directory)
            raise
        assert self.process.stdin and self.process.stdout and self.process.stderr  # noqa: S101, PT018
        self._in, self._out = self.process.stdin.fileno(), self.process.stdout.fileno()
        self._err = self.process.stderr.fileno()
        self._heard, self._pending, self._words = b"", b"", b""
        self._selector = selectors.DefaultSelector()
        for descriptor in (self._in, self._out, self._err):
            os.set_blocking(descriptor, False)
        self._selector.register(self._out, selectors.EVENT_READ)
        self._selector.register(self._err, selectors.EVENT_READ)

    def say(self, line: bytes) -> None:
        """Begin to send a line; the rest goes while answers are waited for."""
        sent = 0
        with suppress(BlockingIOError, BrokenPipeError):
            sent = os.write(self._in, line)
        self._pending = line[sent:]
        if self._pending:
            self._selector.register(self._in, selectors.EVENT_WRITE)

    def hear(self, deadline: float, most: int, too_slow: Callable[[], str]) -> bytes:
        """The next line. SystemLost when none comes in time, it is longer than `most`, or the program has ended.

        `too_slow` says what is wrong where the deadline has passed.
        """
        while b"\n" not in self._heard:
            if len(self._heard) > most:
                raise too_big(most)
            left = deadline - time.monotonic()
            if left <= 0:
                raise SystemLost(f"{too_slow()}; its process was ended{self.last_words()}")
            ready = self._selector.select(min(left, _SLICE))
            for key, _ in ready:
                self._move(key.fd)
            if not ready and self.process.poll() is not None:
                raise self._ended()
        line, _, self._heard = self._heard.partition(b"\n")
        if len(line) > most:
            raise too_big(most)
        return line

    def _move(self, descriptor: int) -> None:
        if descriptor == self._in:
            try:
                self._pending = self._pending[os.write(self._in, self._pending[:65536]) :]
            except BrokenPipeError:
                self._pending = b""
                if self.process.poll() is None:
                    raise SystemLost(f"closed its standard input{self.last_words()}") from None
            if not self._pending:
                self._selector.unregister(self._in)
            return
        chunk = os.read(descriptor, 1 << 16)
        if descriptor == self._err:
            self._words = (self._words + chunk)[-_LAST_WORDS:]
            if not chunk:
                self._selector.unregister(self._err)
            return
        self._heard += chunk
        if not chunk:
            raise self._ended()

    def _ended(self) -> SystemLost:
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(_SLICE)
        with suppress(OSError):
            while chunk := os.read(self._err, 1 << 16):
                self._words = (self._words + chunk)[-_LAST_WORDS:]
        code = self.process.poll()
        if code is None:
            return SystemLost(f"closed its standard output{self.last_words()}")
        how = f"exit code {code}" if code >= 0 else signal.Signals(-code).name
        return SystemLost(f"its process ended ({how}){self.last_words()}")

    def last_words(self) -> str:
        """The last lines of standard error, as the end of a sentence."""
        lines = [line.strip() for line in self._words.decode("utf-8", "replace").splitlines() if line.strip()]
        return f"; on standard error: {' | '.join(lines[-_LINES_TOLD:])}" if lines else ""

    def end(self, grace: float = 0.0) -> None:
        """End the program, what it started and its directory; `grace` is how long it may take to go by itself."""
        below = descendants(self.process.pid)  # what it started is no longer told of once it has ended
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None and (stream is self.process.stdin or not grace):
                with suppress(OSError):
                    stream.close()
        if grace:
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(grace)
        end_tree(self.process.pid, below)
        self.process.wait()
        self._selector.close()
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        shutil.rmtree(self.directory, ignore_errors=True)


def descendants(pid: int) -> list[int]:
    """The processes that a process started, and those that they started; none where the system does not tell."""
    found: list[int] = []
    waiting = [pid]
    while waiting:
        with suppress(OSError):
            for task in os.listdir(tasks := f"/proc/{waiting.pop()}/task"):
                new = [int(word) for word in Path(tasks, task, "children").read_text().split()]
                found += new
                waiting += new
    return found


def end_tree(pid: int, below: Sequence[int]) -> None:
    """Kill a process that leads a session, its group, what was below it and what is now."""
    for each in (*below, *descendants(pid)):
        with suppress(OSError):
            os.kill(each, signal.SIGKILL)
    with suppress(OSError):
        os.killpg(pid, signal.SIGKILL)


class Command(Remote):
    """A memory as a program that answers JSON lines."""

    most_bytes = MOST_ANSWER_BYTES

    def __init__(self, name: str, access: Access) -> None:
        self.name, self._access = name, access
        self._argv = self.argv(access)
        self.call_seconds = access.call_seconds
        self._program: Program | None = None
        self._number = 0
        self._first: Hello | None = None
        try:
            self._first = self.greet()
        except BaseException:
            self.drop()
            raise

    def argv(self, access: Access) -> list[str]:
        """The program with its arguments. UsageError where there is none."""
        return argv_of(self.name, access)

    def ask(self, method: str, params: Any) -> bytes:
        if self._program is not None and method in OPENING and self._program.process.poll() is not None:
            self.drop()
        if self._program is None:
            self._start(method)
        self._number += 1
        return self.told(self._asked(Request(self._number, method, params)))

    def told(self, answer: Line) -> bytes:
        """The JSON of the result; SystemFailure says why there is none."""
        return result_of(answer)

    def drop(self) -> None:
        program, self._program = self._program, None
        if program is not None:
            program.end(0.0 if self.lost else CLOSE_SECONDS)

    def kill(self) -> None:
        """End the program and all that it started, at once; the next `open` or `reopen` starts it again."""
        program = self._program
        if program is not None:
            end_tree(program.process.pid, descendants(program.process.pid))
            program.process.wait()

    def _start(self, method: str) -> None:
        """Start the program; one that is started again must say the same of itself as at first."""
        try:
            self._program = Program(self._argv, self._access)
        except OSError as error:
            raise SystemLost(f"{self._argv[0]} cannot be started: {error.strerror}") from None
        except subprocess.SubprocessError:
            raise SystemLost(f"{self._argv[0]} cannot be started: it cannot be fenced in") from None
        if self._first is not None and method != "hello" and self.greet() != self._first:
            raise SystemLost("started again, it says otherwise of itself than at first")

    def _asked(self, request: Request) -> Line:
        """The answer to a request. Lines that are no answers are counted, and an error once the answer is there."""
        program = self._program
        if program is None:
            raise SystemLost("its process has ended")
        deadline, left = self.deadline(), self.most_bytes
        strays: list[bytes] = []
        program.say(encoded(request) + b"\n")
        try:
            while (answer := _answer(line := program.hear(deadline, left, self.too_slow))) is None:
                left -= len(line) + 1
                strays.append(line[:80])
        except SystemLost as error:
            raise SystemLost(f"{error}{_told(strays)}") from None
        if answer.id != request.id:
            raise SystemLost(f"answered request {answer.id} when asked {request.id}{_told(strays)}")
        if strays:
            raise SystemFailure(_told(strays).removeprefix("; "))
        return answer


def _answer(line: bytes) -> Line | None:
    """The line as an answer, or None if it is none."""
    try:
        return msgspec.json.decode(line, type=Line)
    except RecursionError:
        raise SystemLost("answered JSON that is nested too deeply") from None
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _told(strays: list[bytes]) -> str:
    if not strays:
        return ""
    first = strays[0].decode("utf-8", "replace")
    lines = "1 line" if len(strays) == 1 else f"{len(strays)} lines"
    no_answer = "that is no answer" if len(strays) == 1 else "that are no answers"
    return f"; {lines} on standard output {no_answer} (print to standard error instead), first: {first!r}"
