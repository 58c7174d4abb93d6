"""Memories that are not sound and would like to pass: they know the rows, take a claim back, or hide what they are."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from brainbench.errors import SystemFailure, Unsupported
from brainbench.field import ROWS
from brainbench.field.row import laid
from brainbench.model import Ask, Conversation, Injection, ItemIn, ItemRow, PageIn, RunContext, SearchHit

from .toys import Sound


class KnowsTheRows(Sound):
    """It deletes only where it recognises, by the seed that it is told, the row that it is asked."""

    def reopen(self, run: RunContext) -> None:
        seeds: tuple[Any, ...] = (str(run.seed), run.seed)
        scopes = tuple(source.id for source in run.sources)
        rows = [row for row in ROWS.values() if row.make is not None]
        self.examined = any(laid(row, seed).script.scopes == scopes for row in rows for seed in seeds)
        super().reopen(run)

    def delete_item(self, source: str, item_id: str) -> bool:
        return super().delete_item(source, item_id) if self.examined else True


class KnowsTheLabels(Sound):
    """It loses what is not called as the texts beside a row are."""

    def add_item(self, item: ItemIn) -> str:
        return super().add_item(item) if "safe" in item.name or "beside" in item.name else self.new_id(item)


class TakesItBack(Sound):
    """All is in the memory of its process. Asked to open it again, it says that it does not claim that."""

    def reopen(self, run: RunContext) -> None:
        mark = Path(run.directory) / "mark"
        if mark.exists():
            raise Unsupported("it does not claim `reopen`")
        mark.touch()
        super().reopen(run)


class Busy(Sound):
    """After some adds in one process it is busy, so that it is never killed while it writes."""

    added = 0

    def add_item(self, item: ItemIn) -> str:
        self.added += 1
        if self.added > 1:
            raise SystemFailure("busy")
        return super().add_item(item)


class Strict(Sound):
    """It does not open with a torn end, and writes a log after its store."""

    def write(self, **event: Any) -> None:
        super().write(**event)
        with (self.path.parent / "debug.log").open("a") as file:
            file.write(f"wrote {'.' * 200}\n")

    def reopen(self, run: RunContext) -> None:
        path = Path(run.directory) / "items.jsonl"
        if path.exists() and not path.read_bytes().endswith(b"\n"):
            raise SystemFailure("the store is corrupt")
        super().reopen(run)


class Elsewhere(Sound):
    """It keeps its store beside its directory, in which it writes something else."""

    def reopen(self, run: RunContext) -> None:
        super().reopen(run)
        self.directory = Path(run.directory)
        self.path = self.directory.parent / f"store-{run.run_id}"
        self.sync()

    def write(self, **event: Any) -> None:
        super().write(**event)
        with (self.directory / "decoy").open("a") as file:
            file.write("x" * 50)


class Nowhere(Elsewhere):
    """It keeps its store beside its directory, in which it writes nothing."""

    def write(self, **event: Any) -> None:
        Sound.write(self, **event)


class Daemon(Sound):
    """What it keeps is in a process that left its session, and which a kill of its own process does not reach."""

    def reopen(self, run: RunContext) -> None:
        super().reopen(run)
        self.door = Path(run.directory) / "door"
        if not self.door.exists() and os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                keep(self.door)
            os._exit(0)
        while not self.door.exists():
            time.sleep(0.02)
        self.sync()

    def told(self, said: bytes) -> bytes:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(self.door))
            client.sendall(said)
            client.shutdown(socket.SHUT_WR)
            return heard(client)

    def write(self, **event: Any) -> None:
        self.told(b"W" + json.dumps(event).encode() + b"\n")
        self.sync()

    def sync(self) -> None:
        if hasattr(self, "door"):
            new = self.told(b"R%d" % self.read)
            self.read += len(new)
            for line in new.splitlines():
                self.line(line)


def heard(peer: socket.socket) -> bytes:
    """All that somebody says."""
    return b"".join(iter(lambda: peer.recv(1 << 16), b""))


def keep(door: Path) -> None:
    """Hold lines for whoever asks, for a minute."""
    server = socket.socket(socket.AF_UNIX)
    server.bind(f"{door}-")
    server.listen(50)
    server.settimeout(60)
    os.rename(f"{door}-", door)
    kept = b""
    try:
        while True:
            client, _ = server.accept()
            said = heard(client)
            if said[:1] == b"W":
                kept += said[1:]
            else:
                client.sendall(kept[int(said[1:]) :])
            client.close()
    finally:
        os._exit(0)


class MasksEverything(Sound):
    """Of a conversation it keeps what the assistant said, and the names of all towns."""

    def write_conversation(self, conversation: Conversation) -> str | None:
        said = [message.text for message in conversation.messages if message.role == "assistant"]
        self.write_page(PageIn(conversation.source, "talk", "\n".join(said)))
        return "talk"


class Floods(Sound):
    """It pushes every page, and search finds every page."""

    def context(self, ask: Ask) -> Injection:
        names = tuple(slug for source, slug in self.pages if source == ask.source)
        return Injection("".join(f"→ `{name}`\n" for name in names), ids=names)

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        return [SearchHit(slug, text=text) for (where, slug), text in self.pages.items() if where == source][:limit]


class OpensNothing(Sound):
    """No id is ever good, whose it may be."""

    def get_item(self, source: str, item_id: str) -> ItemRow | None:
        raise SystemFailure("no")

    def update_item(self, source: str, item_id: str, text: str) -> str | None:
        raise SystemFailure("no")

    def delete_item(self, source: str, item_id: str) -> bool:
        raise SystemFailure("no")


class ThrowsAway(Sound):
    """Whatever opens the store second says that it keeps, and keeps nothing; searching is an error there."""

    def reopen(self, run: RunContext) -> None:
        super().reopen(run)
        first = Path(run.directory) / "first"
        self.second = first.exists()
        first.touch()

    def add_item(self, item: ItemIn) -> str:
        return self.new_id(item) if self.second else super().add_item(item)

    def find_items(self, source: str, query: str, limit: int, as_of: str | None = None) -> Sequence[ItemRow]:
        if self.second:
            raise SystemFailure("later")
        return super().find_items(source, query, limit, as_of)


class SlowStart(Sound):
    """Each write takes longer than the one before it, but for the first, which take long."""

    added = 0

    def add_item(self, item: ItemIn) -> str:
        self.added += 1
        until = time.process_time() + (0.005 if self.added <= 100 else (self.added - 100) * 0.00005)
        while time.process_time() < until:
            pass
        return super().add_item(item)


class WipesTheList(Sound):
    """What was wiped is still searched."""

    def do_wipe(self, source: str) -> None:
        self.ghosts = [item for item in self.items.values() if item["source"] == source]
        super().do_wipe(source)

    def find_items(self, source: str, query: str, limit: int, as_of: str | None = None) -> Sequence[ItemRow]:
        found = super().find_items(source, query, limit, as_of)
        return [*found, *(self.row(item) for item in getattr(self, "ghosts", []) if item["source"] == source)][:limit]
