"""Memories that are asked about haystacks. Hosted as asked_memories:Class."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from brainbench.model import Capability, Conversation, RunContext, SearchHit
from brainbench.systems import System


class Words(System):
    """Keeps conversations and finds those with most words of the query; the honest twin of the others."""

    version = "1"
    can = frozenset({Capability.CONVERSATION_WRITE, Capability.SEARCH})

    def open(self, run: RunContext) -> None:
        self.kept: dict[str, Conversation] = {}

    def write_conversation(self, conversation: Conversation) -> str | None:
        page = f"page-{len(self.kept)}"
        self.kept[page] = conversation
        return page

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        return [SearchHit(page) for page in self.ranked(query)[:limit]]

    def ranked(self, query: str) -> list[str]:
        words = set(query.strip("?").split())
        shared = {p: sum(len(words & set(m.text.split())) for m in c.messages) for p, c in self.kept.items()}
        return sorted(self.kept, key=lambda page: -shared[page])


class Silent(Words):
    """Finds nothing."""

    def ranked(self, query: str) -> list[str]:
        return []


class Snoop(Silent):
    """Looks for ids that betray gold, for marks on what is said, and into the file, whose place THE_SET gives away."""

    def ranked(self, query: str) -> list[str]:
        told = self.betrayed() | self.stolen(query)
        return [page for page, kept in self.kept.items() if page in told or kept.messages[0].text in told]

    def betrayed(self) -> set[str]:
        """Pages whose conversation shows by an id or a field that it is gold."""
        return {
            page
            for page, kept in self.kept.items()
            if "answer" in kept.session or any(hasattr(message, "has_answer") for message in kept.messages)
        }

    def stolen(self, query: str) -> set[str]:
        """What is said in gold sessions, from the file itself."""
        found: set[str] = set()
        with suppress(OSError):
            for entry in json.loads(Path(os.environ["THE_SET"]).read_bytes()):
                for name, said in zip(entry["haystack_session_ids"], entry["haystack_sessions"], strict=True):
                    if name in entry["answer_session_ids"] and entry["question"] == query:
                        found.add(said[0]["content"])
        return found


class Dying(Words):
    """Ends its process where the ferry is asked about."""

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        if "ferry" in query:
            os._exit(3)
        return super().search(source, query, limit)


class Sleeping(Words):
    """Never answers."""

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        if "kiln" in query:
            time.sleep(60)
        return super().search(source, query, limit)


class Failing(Words):
    """Fails where the choir is asked about, and nowhere else."""

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        if "choir" in query:
            raise RuntimeError("no choir here")
        return super().search(source, query, limit)


class Stubborn(Words):
    """Cannot be written to."""

    def write_conversation(self, conversation: Conversation) -> str | None:
        raise RuntimeError("the disk is full")


class Scattered(Words):
    """Answers with strangers, repeats and the bench's own ids among the pages it was given."""

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        best, *rest = self.ranked(query)
        second = self.kept[rest[0]].session
        ids = ("made-up", best, best, "made-up-too", second, rest[0], rest[1])
        return [SearchHit(name) for name in ids][:limit]


class Turns(Words):
    """Says which message it found, and once one that is not there."""

    tells_turns = True

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        best, second, *_ = self.ranked(query)
        return [SearchHit(best, turns=(1, 0, 7)), SearchHit(second), SearchHit(second, turns=(0,))]


class Berthless(Words):
    """Fails where a berth is asked about."""

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        if "berth" in query:
            raise RuntimeError("no berth here")
        return super().search(source, query, limit)


class Lumping(Words):
    """Keeps all it is told in one page."""

    def write_conversation(self, conversation: Conversation) -> str | None:
        super().write_conversation(conversation)
        return "page-0"

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        return [SearchHit("page-0")] * limit
