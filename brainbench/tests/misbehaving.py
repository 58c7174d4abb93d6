"""Systems that hang, crash, babble and flood. Loaded by workers as misbehaving:Class."""

from __future__ import annotations

import os
import sys
import time

from brainbench.model import Ask, Capability, Injection, PageIn, RunContext
from brainbench.systems import System


class Polite(System):
    can = frozenset({Capability.PAGE_WRITE, Capability.CONTEXT})

    def open(self, run: RunContext) -> None:
        self.pages: dict[str, str] = {}

    def write_page(self, page: PageIn) -> None:
        self.pages[page.slug] = page.content

    def read_page(self, source: str, slug: str) -> str | None:
        return self.pages.get(slug)

    def context(self, ask: Ask) -> Injection:
        return Injection("".join(f"→ `{slug}`" for slug in self.pages))


class Hanging(Polite):
    def context(self, ask: Ask) -> Injection:
        time.sleep(600)
        return Injection("")


class Crashing(Polite):
    def context(self, ask: Ask) -> Injection:
        os._exit(7)


class Raising(Polite):
    def context(self, ask: Ask) -> Injection:
        raise ValueError("no\nsuch luck")


class Babbling(Polite):
    def context(self, ask: Ask) -> Injection:
        print("garbage " * 100)
        sys.stderr.write("more garbage\n")
        os.write(1, b"\x00\xff raw garbage")
        return super().context(ask)


class Flooding(Polite):
    def context(self, ask: Ask) -> Injection:
        return Injection("x" * 10_000_000)


class Forgetful(Polite):
    """Takes pages and cannot give them back."""

    def read_page(self, source: str, slug: str) -> str | None:
        return None


class Nosy(Polite):
    """Tells what it can see of the bench."""

    def context(self, ask: Ask) -> Injection:
        seen = [f"{name}=" for name in os.environ if name.startswith(("BRAINBENCH", "SECRET"))]
        return Injection(" ".join([*seen, *os.listdir(".")]), ids=())


class Boastful(Polite):
    can = frozenset({Capability.PAGE_WRITE, Capability.SEARCH, Capability.CONTEXT})


class Misspelt(Polite):
    can = frozenset({Capability.PAGE_WRITE, "contxt"})  # type: ignore[arg-type]


class Needy(Polite):
    def __init__(self, address: str) -> None:
        self.address = address
