"""A memory as a Python class in a process of its own, which holds nothing but what it is told.

A foreign class never shares a process with the script that is played: `brainbench.systems.host` makes it, and is asked
the methods of the protocol by JSON lines.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Mapping, Sequence

from brainbench.errors import SystemFailure
from brainbench.model import Message
from brainbench.systems.access import Access
from brainbench.systems.answers import MOST_BYTES
from brainbench.systems.command import Command
from brainbench.systems.host import ERRORS
from brainbench.systems.wire import METHODS, HarnessName, Hello, HookCall, Line, Nothing, Transcript, result_of

_START = "import sys; sys.path[:] = sys.argv[2:]; from brainbench.systems.host import main; main(sys.argv[1])"


class Hosted(Command):
    """A memory as a Python class. A call may take as long as the fixture; the bench ends who takes longer."""

    most_bytes = 2 * MOST_BYTES
    """JSON may need more bytes than what is measured."""
    reached = frozenset(METHODS)

    def __init__(self, name: str, access: Access) -> None:
        super().__init__(name, access)
        self.call_seconds = math.inf
        self.inside = access.inside

    def argv(self, access: Access) -> list[str]:
        return [sys.executable, "-c", _START, self.name, *map(os.path.abspath, sys.path)]

    def greet(self) -> Hello:
        hello = super().greet()
        self.production = frozenset(hello.production)
        return hello

    def told(self, answer: Line) -> bytes:
        if isinstance(answer.error, dict) and answer.error.get("kind") in ERRORS:
            raise ERRORS[answer.error["kind"]](str(answer.error.get("message", "no message")))
        return result_of(answer)

    def failure(self, method: str, error: SystemFailure) -> SystemFailure:
        return error

    def parse_transcript(self, harness: str, data: bytes) -> Sequence[Message] | None:
        if "parse_transcript" not in self.also:
            return None
        messages: Sequence[Message] | None = self._call("parse_transcript", Transcript(harness, data))
        return messages

    def hook_command(self, harness: str) -> Sequence[str]:
        words: Sequence[str] = self._call("hook_command", HarnessName(harness))
        return words

    def hook_environment(self) -> Mapping[str, str]:
        variables: Mapping[str, str] = self._call("hook_environment", Nothing())
        return variables

    def hook_inproc(self, harness: str, stdin: bytes) -> bytes:
        stdout: bytes = self._call("hook_inproc", HookCall(harness, stdin))
        return stdout

    def hook_problem(self, harness: str) -> str | None:
        problem: str | None = self._call("hook_problem", HarnessName(harness))
        return problem

    def transcript_root(self, harness: str) -> str:
        root: str = self._call("transcript_root", HarnessName(harness))
        return root
