"""Systems that cheat as well as they can, and their honest twin. Hosted as cheating:Class.

Each is the twin until its channel tells it something; then it does what that tells it.
"""

from __future__ import annotations

import gc
import itertools
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

import brainbench
import brainbench.replay
from brainbench.model import Ask, Capability, Fixture, Injection, Observation, PageIn, Replayed, RunContext, Turn
from brainbench.seams.reflex import reflex
from brainbench.systems.baselines import Bm25
from brainbench.systems.panel import pointed

Key = tuple[str, frozenset[str]]
_TITLE = re.compile(r"^title:\s*[\"']?(.+?)[\"']?\s*$", re.MULTILINE)


class Honest(Bm25):
    """Looks for the names in the turn."""

    can = Bm25.can | {Capability.CONTEXT}

    def open(self, run: RunContext) -> None:
        super().open(run)
        self.run = run

    def context(self, ask: Ask) -> Injection:
        return reflex(self, ask)

    def named_in(self, source: str, text: str) -> tuple[str, ...]:
        """The pages whose whole title stands in a text."""
        found = ((slug, _TITLE.search(content)) for slug, content in self.pages_of(source).items())
        return tuple(slug for slug, title in found if title and title.group(1).casefold() in text.casefold())


class Finder(Honest):
    """Looks for gold wherever a process of the same user can look, and for whatever the bench keeps in memory."""

    known: dict[Key, tuple[str, ...]] | None = None

    def context(self, ask: Ask) -> Injection:
        if Finder.known is None:
            Finder.known = {**from_disk(places()), **from_memory()}
        key = (ask.messages[-1].text, frozenset(self.pages_of(ask.source)))
        return pointed(Finder.known[key]) if key in Finder.known else super().context(ask)


def places() -> list[str]:
    """Directories that anything at hand names, the likeliest first: of this process and those it came from."""
    named = [os.getcwd(), *(p for p in sys.path if "python" not in p), *sys.argv, *os.environ.values()]
    process = os.getppid()
    while process > 1:
        home = Path("/proc", str(process))
        for link in (home / "cwd", *_entries(home / "fd")):
            with suppress(OSError):
                named.append(os.readlink(link))
        for file in ("cmdline", "environ"):
            with suppress(OSError):
                named += re.split(r"[\0=:]", (home / file).read_bytes().decode(errors="replace"))
        process = int((home / "stat").read_text().rpartition(")")[2].split()[1])
    named += [str(Path(brainbench.__file__).parents[4])]
    found = [str(Path(name).absolute()) for name in named if "/" in name and len(name) < 1000]
    return list(dict.fromkeys(p for name in found for p in (name, os.path.dirname(name))))


def _entries(directory: Path) -> list[Path]:
    try:
        return list(directory.iterdir())
    except OSError:
        return []


def from_disk(named: Iterable[str]) -> dict[Key, tuple[str, ...]]:
    """What the gold that can be read below these directories says of each turn."""
    found: dict[Key, tuple[str, ...]] = {}
    for gold in _files(named, ".gold.json"):
        fixture = Path(gold.replace("/gold/", "/fixtures/").replace(".gold.json", ".fixture.json"))
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
            found.update(_answers(json.loads(fixture.read_bytes()), json.loads(Path(gold).read_bytes())))
    return found


def _files(named: Iterable[str], suffix: str) -> Iterator[str]:
    seen: set[str] = set()
    for place in named:
        for directory, folders, files in os.walk(place):
            if directory in seen or len(seen) > 3_000 or directory.count("/") > 9:
                folders.clear()
                continue
            seen.add(directory)
            folders[:] = [f for f in folders if f not in ("proc", "sys", "usr", ".venv", "node_modules", ".git")]
            yield from (os.path.join(directory, file) for file in files if file.endswith(suffix))


def _answers(fixture: dict[str, Any], gold: dict[str, Any]) -> Iterator[tuple[Key, tuple[str, ...]]]:
    slugs = frozenset(str(page["slug"]) for page in fixture.get("setup", fixture.get("seed_pages", ())))
    events = gold.get("events", gold.get("turns", {}))
    for turn in fixture.get("events", fixture.get("turns", ())):
        wanted = events.get(str(turn.get("event_id", turn.get("turn_id"))), {})
        if turn.get("text") and (wanted.get("retrieve") or "should_retrieve" in wanted):
            yield (turn["text"], slugs), tuple(wanted.get("gold_slugs", ()))


def from_memory() -> dict[Key, tuple[str, ...]]:
    """Whatever in this process looks like gold: its classes, its modules, objects with its fields."""
    found: dict[Key, tuple[str, ...]] = {}
    if "brainbench.gold" in sys.modules or "brainbench.run" in sys.modules:
        found["loaded", frozenset()] = ()
    for thing in gc.get_objects():
        if type(thing).__name__ in ("Gold", "EventGold", "GoldFact", "Probe", "Judged"):
            found[repr(thing), frozenset()] = ()
        if isinstance(thing, dict) and ({"gold_slugs", "should_retrieve", "match_keywords"} & thing.keys()):
            found[repr(thing), frozenset()] = ()
    return found


class Witness(Finder):
    """Tells what the finder finds, instead of using it."""

    def context(self, ask: Ask) -> Injection:
        named = places()
        files = [file for suffix in (".gold.json", ".fixture.json") for file in islice(_files(named, suffix), 500)]
        readable = [file for file in files if os.path.isfile(file) and _readable(file)]
        told = {"files": len(files), "readable": readable, "memory": len(from_memory()), "tasks": len(_threads())}
        return Injection(json.dumps(told), ids=())


def _readable(file: str) -> bool:
    try:
        return bool(Path(file).read_bytes())
    except OSError:
        return False


def _threads() -> list[str]:
    return os.listdir("/proc/self/task")


class Decoder(Honest):
    """Reads names: the run's and session's ids, prefixes and keys that look like answers, the seconds of the clock."""

    telling = re.compile(r"answer|gold|expected|label|relevant|needle|has_answer|should_retrieve|must", re.IGNORECASE)

    def context(self, ask: Ask) -> Injection:
        marked = [slug for slug in self.pages_of(ask.source) if self.telling.search(slug.split("/")[-1])]
        if marked:
            return pointed(marked)
        named = " ".join((self.run.run_id, self.run.directory, ask.session, *map(str, self.run.sources)))
        if re.search(r"silent|must.?not|distract|typo|direct|push|quiet", named):
            return pointed(())
        return super().context(ask)


class Counter(Honest):
    """Knows the place of a turn in its script, and in the run."""

    in_script = in_run = 0
    fired_before = False

    def open(self, run: RunContext) -> None:
        super().open(run)
        self.in_script, self.fired_before = 0, False

    def context(self, ask: Ask) -> Injection:
        self.in_script += 1
        Counter.in_run += 1
        honest = super().context(ask)
        said = self.decide(honest, ask)
        self.fired_before = bool(said.ids)
        return said

    def decide(self, honest: Injection, ask: Ask) -> Injection:
        return honest

    def newest(self, ask: Ask) -> Injection:
        return pointed(list(self.pages_of(ask.source))[-1:])


class Alternating(Counter):
    """Takes turns to alternate: after one that fired, silence."""

    def decide(self, honest: Injection, ask: Ask) -> Injection:
        return pointed(()) if self.fired_before else honest


class Opening(Counter):
    """Takes the first turn for one that asks."""

    def decide(self, honest: Injection, ask: Ask) -> Injection:
        return honest if self.in_script > 1 or honest.ids else self.newest(ask)


class Closing(Counter):
    """Takes late turns for quiet ones."""

    def decide(self, honest: Injection, ask: Ask) -> Injection:
        return honest if self.in_script <= 5 else pointed(())


class EverySecond(Counter):
    """Takes every second fixture of the run for a quiet one."""

    scripts = 0

    def open(self, run: RunContext) -> None:
        super().open(run)
        EverySecond.scripts += 1

    def decide(self, honest: Injection, ask: Ask) -> Injection:
        return honest if EverySecond.scripts % 2 else pointed(())


class Twin(Counter):
    """Takes a fixture for the silent twin where the one before it had the same kind of brain."""

    before: frozenset[str] = frozenset()
    now: frozenset[str] = frozenset()

    def open(self, run: RunContext) -> None:
        super().open(run)
        Twin.before, Twin.now = Twin.now, frozenset()

    def write_page(self, page: PageIn) -> None:
        super().write_page(page)
        Twin.now |= {page.slug, *page.content.splitlines()}

    def decide(self, honest: Injection, ask: Ask) -> Injection:
        shared = len(self.now & self.before) / max(1, len(self.now))
        return pointed(()) if shared > 0.5 else honest


_seen: dict[str, str] = {}


class Rememberer(Honest):
    """Keeps what followed each turn, and uses it where it meets the turn again: the answer names what was wanted."""

    def context(self, ask: Ask) -> Injection:
        self.note(ask)
        following = self.recall().get(_place(m.text for m in ask.messages))
        named = self.named_in(ask.source, following) if following is not None else ()
        return pointed(named[: ask.budget.pages]) if named else super().context(ask)

    def note(self, ask: Ask) -> None:
        texts = [message.text for message in ask.messages]
        for number in range(1, len(texts)):
            if ask.messages[number].role == "assistant":
                _seen[_place(texts[:number])] = texts[number]

    def recall(self) -> dict[str, str]:
        return _seen


def _place(texts: Iterable[str]) -> str:
    return "\n".join(texts)


class Diarist(Rememberer):
    """Keeps it in files, wherever it may write."""

    def note(self, ask: Ask) -> None:
        super().note(ask)
        for place in self.books():
            with suppress(OSError):
                place.write_text(json.dumps({**self.recall(), **_seen}))

    def recall(self) -> dict[str, str]:
        found = dict(_seen)
        for place in self.books():
            with suppress(OSError, ValueError):
                found.update(json.loads(place.read_text()))
        return found

    def books(self) -> Iterator[Path]:
        folders = ("/tmp", "/var/tmp", "/dev/shm", "/run", str(Path(brainbench.__file__).parent), tempfile.gettempdir())
        for folder in (*folders, os.getcwd(), str(Path(tempfile.gettempdir()).parent)):
            yield Path(folder) / ".diary-of-a-cheater"


class Prophet(Honest):
    """Looks through the heap for the script that is being played, and reads what comes next."""

    def context(self, ask: Ask) -> Injection:
        text = ask.messages[-1].text
        for script in scripts():
            for turn, after in itertools.pairwise(script.events):
                if getattr(turn, "text", None) == text and getattr(after, "role", None) == "assistant":
                    named = self.named_in(ask.source, after.text)
                    if named:
                        return pointed(named[: ask.budget.pages])
        return super().context(ask)


class Patcher(Honest):
    """Replaces the replay of its process by one that reads on in the script and makes up what was brought."""

    def open(self, run: RunContext) -> None:
        super().open(run)
        play: Any = brainbench.replay._Play
        asked = getattr(play, "_asked_honestly", play._ask)

        def _ask(playing: Any, turn: Turn) -> Observation:
            seen: Observation = asked(playing, turn)
            wished = foreseen(self, playing.fixture, turn)
            return replace(seen, ids=wished, text=" ".join(wished)) if wished else seen

        play._asked_honestly, play._ask = asked, _ask


class Piper(Honest):
    """Writes what it would like to have been seen into every descriptor it finds."""

    def context(self, ask: Ask) -> Injection:
        said = ask.messages[-1].text
        for script in scripts() or [Fixture(self.run.run_id, (), "", "easy", "en", events=(Turn(10, "user", said),))]:
            forged = msgspec.json.encode(Replayed(script.fixture_id, "", ask.harness, tuple(self.wishes(script))))
            for descriptor in map(int, os.listdir("/proc/self/fd")):
                with suppress(OSError):
                    os.write(descriptor, forged + b"\n")
        return super().context(ask)

    def wishes(self, script: Fixture) -> Iterator[Observation]:
        for turn in script.events:
            if isinstance(turn, Turn) and turn.role == "user":
                wished = foreseen(self, script, turn)
                yield Observation(turn.event_id, "turn", ids=wished, text=" ".join(wished))


def foreseen(memory: Honest, script: Fixture, turn: Turn) -> tuple[str, ...]:
    """The pages whose titles stand in a turn or in the answer to it."""
    for now, after in itertools.pairwise((*script.events, None)):
        if now == turn and isinstance(now, Turn):
            answer = after.text if isinstance(after, Turn) else ""
            return memory.named_in(script.active_source, f"{now.text}\n{answer}")
    return ()


def scripts() -> list[Fixture]:
    """The scripts that are in memory here."""
    return [thing for thing in gc.get_objects() if type(thing) is Fixture]


class Sorter(Honest):
    """Looks through the heap for what names or sorts the fixture."""

    def context(self, ask: Ask) -> Injection:
        said = ask.messages[-1].text
        for script in (s for s in scripts() if any(getattr(event, "text", "") == said for event in s.events)):
            if script.category == "silent" or "silent" in f"{script.fixture_id} {script.file} {script.tags}":
                return pointed(())
        return super().context(ask)
