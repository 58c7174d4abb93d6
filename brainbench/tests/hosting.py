"""Classes that a host serves. Hosted as hosting:Class."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence

from brainbench.errors import Unsupported, UsageError
from brainbench.model import Ask, Capability, Fixture, Injection, Message, PageIn, RunContext
from brainbench.systems import System


class Hooked(System):
    """Has everything that a harness asks for."""

    version = "7"
    can = frozenset({Capability.PAGE_WRITE, Capability.CONTEXT, Capability.HOOK_PROCESS})
    production = frozenset({"claude-code"})
    alone = True

    def open(self, run: RunContext) -> None:
        self.pages: dict[str, str] = {}
        self.kept: set[str] = set()

    def tell_time(self, now: str) -> None:
        self.now = now

    def write_page(self, page: PageIn) -> None:
        self.pages[page.slug] = page.content

    def read_page(self, source: str, slug: str) -> str | None:
        return self.pages.get(slug)

    def keep(self, name: str) -> None:
        self.kept.add(name)

    def restore(self, name: str) -> bool:
        return name in self.kept

    def context(self, ask: Ask) -> Injection:
        return Injection("")

    def preamble(self, harness: str, source: str) -> str:
        return f"{harness} of {source}"

    def parse_transcript(self, harness: str, data: bytes) -> Sequence[Message] | None:
        return [Message("user", data.decode())]

    def hook_command(self, harness: str) -> Sequence[str]:
        return ["notes", self.now]

    def hook_environment(self) -> Mapping[str, str]:
        return {"NOTES": "1"}

    def hook_inproc(self, harness: str, stdin: bytes) -> bytes:
        return stdin[::-1]

    def hook_problem(self, harness: str) -> str | None:
        return "no notes"

    def transcript_root(self, harness: str) -> str:
        return f"/{harness}"


class Raising(System):
    can = frozenset({Capability.PAGE_WRITE})

    def open(self, run: RunContext) -> None:
        raise UsageError("no store here; make one")

    def write_page(self, page: PageIn) -> None:
        raise Unsupported("not today")

    def read_page(self, source: str, slug: str) -> str | None:
        raise KeyError(slug)

    def context(self, ask: Ask) -> Injection:
        return "not an injection"  # type: ignore[return-value]


class Placed(System):
    """Tells where it is, and what is around it."""

    can = frozenset({Capability.PAGE_WRITE})

    def open(self, run: RunContext) -> None:
        pass

    def write_page(self, page: PageIn) -> None:
        pass

    def read_page(self, source: str, slug: str) -> str | None:
        scripts = [thing for thing in gc.get_objects() if type(thing) is Fixture]
        return {"pid": str(os.getpid()), "directory": os.getcwd(), "scripts": str(len(scripts))}[slug]


class Lingering(Placed):
    """Starts what goes on without it, and never answers."""

    can = Placed.can | {Capability.CONTEXT}

    def read_page(self, source: str, slug: str) -> str | None:
        return "text"

    def context(self, ask: Ask) -> Injection:
        subprocess.Popen(["sleep", os.environ["LANG"]], start_new_session=True)
        time.sleep(600)
        return Injection("")


class Spying(Hooked):
    """Ships a prompt hook that looks into the process that starts it."""

    def hook_command(self, harness: str) -> Sequence[str]:
        return [sys.executable, "-c", SPY]

    def hook_environment(self) -> Mapping[str, str]:
        return {}

    def hook_problem(self, harness: str) -> str | None:
        return None

    def transcript_root(self, harness: str) -> str:
        return os.getcwd()


SPY = """
import json, os
try:
    open(f"/proc/{os.getppid()}/mem", "rb").close()
    seen = "seen"
except OSError as error:
    seen = type(error).__name__
print(json.dumps({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": seen}}))
"""
