"""Systems that hang, crash, babble and flood. Hosted as misbehaving:Class."""

from __future__ import annotations

import importlib
import itertools
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from brainbench.model import (
    Ask,
    Capability,
    Conversation,
    FactRow,
    Fixture,
    Injection,
    Observation,
    PageIn,
    Replayed,
    RunContext,
    SeamConfig,
    SearchHit,
)
from brainbench.replay import worker
from brainbench.replay.admission import PLANTED
from brainbench.systems import System
from brainbench.systems.baselines import Bm25
from brainbench.systems.fence import RUNS


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


class Threaded(Polite):
    """Keeps pages in what only the thread may use that opened it."""

    def open(self, run: RunContext) -> None:
        self.kept = sqlite3.connect(":memory:")
        self.kept.execute("CREATE TABLE page (slug TEXT PRIMARY KEY, content TEXT)")

    def write_page(self, page: PageIn) -> None:
        self.kept.execute("INSERT OR REPLACE INTO page VALUES (?, ?)", (page.slug, page.content))

    def read_page(self, source: str, slug: str) -> str | None:
        found = self.kept.execute("SELECT content FROM page WHERE slug = ?", (slug,)).fetchone()
        return found[0] if found else None


class Tardy(Polite):
    """Takes the better part of a short fixture's time for a page, and again for a turn."""

    def write_page(self, page: PageIn) -> None:
        time.sleep(2)
        super().write_page(page)

    def context(self, ask: Ask) -> Injection:
        time.sleep(2)
        return super().context(ask)


class Crashing(Polite):
    def context(self, ask: Ask) -> Injection:
        os._exit(7)


class Raising(Polite):
    """Does well until it is played."""

    def context(self, ask: Ask) -> Injection:
        if ask.session.startswith("admission"):
            return super().context(ask)
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
    """Takes pages and cannot give them back, once it is played."""

    def read_page(self, source: str, slug: str) -> str | None:
        planted = {planted for planted, _, _ in PLANTED}
        return super().read_page(source, slug) if slug in planted else None


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


class Quitting(Polite):
    def context(self, ask: Ask) -> Injection:
        sys.exit(0)


class Interrupting(Polite):
    def context(self, ask: Ask) -> Injection:
        raise KeyboardInterrupt


class Unspeakable(Polite):
    """Raises what cannot be told."""

    def context(self, ask: Ask) -> Injection:
        class Mute(Exception):
            def __str__(self) -> str:
                raise RuntimeError

        raise Mute


class Painting(Polite):
    def context(self, ask: Ask) -> Injection:
        raise ValueError("\x1b[2J\x1b]0;title\x07 \u202egone")


class Numbering(Polite):
    def context(self, ask: Ask) -> Injection:
        return Injection("x", ids=(1, None, b"x"))  # type: ignore[arg-type]


class HalfPaired(Polite):
    def context(self, ask: Ask) -> Injection:
        return Injection("x\ud800", ids=("a\ud800",))


class Subclassing(Polite):
    """Answers in texts of a class of its own, whose equals are many."""

    def context(self, ask: Ask) -> Injection:
        return Injection(Matching("x"), ids=(Matching("a"),))


class Matching(str):
    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1


class Touching:
    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (os.environ["HOME"] + "-touched",)


class Smuggling(Polite):
    """Gives back something that acts where it is unpickled."""

    def context(self, ask: Ask) -> Injection:
        return Injection("x", ids=(), degraded=(Touching(),))  # type: ignore[arg-type]


class Snooping(Polite):
    """Tells what stands in the frames above it and on the command line."""

    def context(self, ask: Ask) -> Injection:
        seen: list[object] = [sys.argv]
        frame = sys._getframe()
        while frame.f_back is not None:
            frame = frame.f_back
            seen += [value for value in frame.f_locals.values() if isinstance(value, Fixture | Ask | str)]
        return Injection(repr(seen), ids=())


class Greedy(Polite):
    """Widens its page budget wherever it finds one."""

    def context(self, ask: Ask) -> Injection:
        object.__setattr__(ask.budget, "pages", 1000)
        return Injection("a hundred pages", ids=tuple(f"page-{n}" for n in range(100)))


class Usurping(Polite):
    """Replaces the replay of its worker by one that speaks for another system."""

    def context(self, ask: Ask) -> Injection:
        def lie(system: System, seam: SeamConfig, fixture: Fixture, run: RunContext) -> Replayed:
            return Replayed("f-0", "misbehaving:Polite", seam.name, (Observation(10, "turn", ids=("lie",)),))

        worker.replay = lie
        return Injection("")


class Escaping(Polite):
    """Leaves nothing undone to be no longer asked: the replay of its worker says that it lacks a capability."""

    def context(self, ask: Ask) -> Injection:
        worker.replay = lambda system, seam, *_: Replayed("", "", seam.name, missing=("trust_labels",))
        return Injection("")


class Forking(Polite):
    """Leaves processes behind, one in a session of its own, and a directory that nobody may enter."""

    def context(self, ask: Ask) -> Injection:
        left = [subprocess.Popen(["sleep", "600"], start_new_session=new).pid for new in (False, True)]
        Path(self.directory, "locked").mkdir(mode=0)
        return Injection(" ".join(map(str, left)), ids=())

    def open(self, run: RunContext) -> None:
        super().open(run)
        self.directory = run.directory


class Endless(Polite):
    """Knows more facts than there are."""

    can = Polite.can | {Capability.CONVERSATION_WRITE, Capability.RECALL_FACTS}

    def write_conversation(self, conversation: Conversation) -> str | None:
        return "conversations/x"

    def recall_facts(self, source: str, query: str | None = None, limit: int | None = None) -> Iterator[FactRow]:  # type: ignore[override]
        return (FactRow(str(n), None, source, None, None) for n in itertools.count())


class Unborn(Polite):
    def __init__(self) -> None:
        print("garbage")
        sys.exit(0)


class Boasting(Polite):
    can = Polite.can | {"mind_reading"}  # type: ignore[assignment]


class Severing(Polite):
    """Closes the pipes to the bench."""

    def context(self, ask: Ask) -> Injection:
        os.closerange(3, 64)
        return Injection("")


class Bombing(Polite):
    """Forks without end, or 512 times should nobody end it, where a 0 is mentioned."""

    def context(self, ask: Ask) -> Injection:
        if "0" not in ask.messages[-1].text:
            return super().context(ask)
        for _ in range(9):
            os.fork()
        time.sleep(600)
        return Injection("")


class Hogging(Polite):
    """Takes 2 GB, or less should somebody end it."""

    def context(self, ask: Ask) -> Injection:
        held = []
        for _ in range(40):
            held.append(bytearray(b"x" * (50 << 20)))
            time.sleep(0.02)
        time.sleep(600)
        return Injection("")


class Stout(Polite):
    """Holds 200 MB."""

    def context(self, ask: Ask) -> Injection:
        self.held = bytearray(b"x" * (200 << 20))
        return super().context(ask)


class Sprawling(Polite):
    """Writes a file that is too big."""

    def context(self, ask: Ask) -> Injection:
        with open("big", "wb") as file:
            file.truncate(1 << 31)
        return Injection("")


class Prowling(Polite):
    """Looks for gold wherever a program with the rights of the bench can look, and tells where it found any."""

    def context(self, ask: Ask) -> Injection:
        return Injection(" ".join(name for name, way in self.ways().items() if self.leads_somewhere(way)), ids=())

    def leads_somewhere(self, way: Callable[[], object]) -> bool:
        try:
            return bool(way())
        except (OSError, ImportError, subprocess.CalledProcessError):
            return False

    def ways(self) -> dict[str, Callable[[], object]]:
        from brainbench import corpus

        gold = corpus.CHECKOUT / "corpus" / "core" / "gold"
        parent = f"/proc/{os.getppid()}"
        return {
            "read": (gold / "core-direct-000.gold.json").read_bytes,
            "child": lambda: subprocess.check_output(["cat", gold / "core-direct-000.gold.json"]),
            "around": lambda: Path(f"/proc/self/root{gold}/core-direct-000.gold.json").read_bytes(),
            "linked": lambda: self.linked(gold / "core-direct-000.gold.json"),
            "moved": lambda: os.rename(gold / "core-direct-000.gold.json", "mine") or Path("mine").read_bytes(),
            "generator": lambda: importlib.import_module("brainbench.datasets.core_gen"),
            "history": (corpus.CHECKOUT / ".git" / "HEAD").read_bytes,
            "parent's memory": lambda: open(f"{parent}/mem", "rb").close() or True,
            "parent's directory": lambda: os.readlink(f"{parent}/cwd"),
            "a signal": lambda: os.kill(os.getppid(), 0) is None,
        }

    def linked(self, gold: Path) -> bytes:
        os.link(gold, "mine")
        return Path("mine").read_bytes()


class Rummaging(Polite):
    """Tells what notes it can read in the directories beside that of its own run."""

    def context(self, ask: Ask) -> Injection:
        run = next(place for place in Path(tempfile.gettempdir()).parents if place.name.startswith(RUNS))
        found = []
        for note in run.parent.glob("*/note"):
            with suppress(OSError):
                found.append(note.read_text())
        return Injection(" ".join(sorted(found)), ids=())


class Working(Polite):
    """Does with files and processes what an honest memory does."""

    def context(self, ask: Ask) -> Injection:
        for place in (Path.cwd(), Path(tempfile.gettempdir())):
            (place / "in").mkdir(exist_ok=True)
            (place / "in" / "note").write_text("kept")
            os.replace(place / "in" / "note", place / "note")
            (place / "note").read_text()
        child = subprocess.Popen([sys.executable, "-c", "import json, sqlite3, time; time.sleep(600)"])
        child.terminate()
        return Injection(f"ended {child.wait()}", ids=())


class Searching(Polite):
    can = frozenset({Capability.PAGE_WRITE, Capability.SEARCH})

    def search(self, source: str, query: str, limit: int) -> list[SearchHit]:
        return [SearchHit(slug) for slug in self.pages][:limit]


class Amnesiac(Searching):
    """Finds pages until it is played."""

    def search(self, source: str, query: str, limit: int) -> list[SearchHit]:
        if query in {title for _, title, _ in PLANTED}:
            return super().search(source, query, limit)
        raise ValueError("I forgot")


class SearchCrashing(Searching):
    """Finds pages until it is played."""

    def search(self, source: str, query: str, limit: int) -> list[SearchHit]:
        if query in {title for _, title, _ in PLANTED}:
            return super().search(source, query, limit)
        os._exit(7)


class Spying(Searching):
    """Looks for a key in its environment and in what the system shows of the processes it comes from."""

    def search(self, source: str, query: str, limit: int) -> list[SearchHit]:
        places, pid = [b"\0".join(os.environb.values())], "self"
        while pid not in ("0", "1"):
            folder = Path("/proc") / pid
            if not folder.exists():
                break
            places += [(folder / name).read_bytes() for name in ("environ", "cmdline")]
            status = (folder / "status").read_text()
            pid = status.partition("PPid:")[2].split()[0]
            if b"pytest" in places[-1]:
                break
        found = any(b"sk-very-secret" in place for place in places)
        seen = SearchHit("none", text=f"looked at {len(places)} places, {'found the key' if found else 'no key'}")
        return [seen, *super().search(source, query, limit)][:limit]


class Dawdling(Polite):
    """Takes its time over many pages."""

    def write_pages(self, pages: Sequence[PageIn]) -> None:
        if len(pages) > 50:
            time.sleep(0.2)
        super().write_pages(pages)


class Passing(Bm25):
    """Claims that its snapshots are files, and answers with whatever page a twin noted in one."""

    hands_over = True
    noted = ""

    def hand_over(self, name: str) -> Path:
        file = Path(tempfile.mkdtemp()) / name
        file.write_text("people/p-9")
        return file

    def take_over(self, name: str, file: Path) -> bool:
        self.noted = file.read_text()
        return False

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        return [SearchHit(self.noted, query, "")] if self.noted else super().search(source, query, limit)
