"""A command run at a pseudo-terminal, as a person would run it, or by a pipe, as a program does."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

END_OF_INPUT = "\x04"
"""What is typed to say nothing more."""
_PROMPT = ": "


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended and all that stood on its terminal."""

    code: int
    text: str


def at_a_terminal(
    argv: Sequence[str], env: Mapping[str, str], answer: Callable[[str], str], seconds: float = 60.0
) -> Ran:
    """Run it where its input and output are a terminal. `answer` is what is typed where a line ends as a prompt does.

    It hears what stands on the terminal since it answered last. After so many seconds the command is ended.
    """
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        argv, stdin=theirs, stdout=theirs, stderr=theirs, env=dict(env), start_new_session=True, close_fds=True
    )
    os.close(theirs)
    until = time.monotonic() + seconds
    text, heard = "", 0
    try:
        while time.monotonic() < until:
            if select.select([ours], [], [], 0.05)[0]:
                try:
                    more = os.read(ours, 1 << 16)
                except OSError:
                    break  # the other end is closed
                text += more.decode("utf-8", "replace").replace("\r\n", "\n")
            elif text[heard:].endswith(_PROMPT) and process.poll() is None:
                typed = answer(text[heard:])
                heard = len(text)
                os.write(ours, typed.encode() if typed == END_OF_INPUT else f"{typed}\n".encode())
            elif process.poll() is not None:
                break
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=1)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(ours)
    return Ran(process.returncode, text)


def by_a_pipe(argv: Sequence[str], env: Mapping[str, str], typed: str = "", seconds: float = 60.0) -> Ran:
    """Run it with its input and output in pipes; what stands in both is its text."""
    ran = subprocess.run(
        argv, input=typed, env=dict(env), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=seconds
    )
    return Ran(ran.returncode, ran.stdout)
