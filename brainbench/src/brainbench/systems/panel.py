"""Systems whose score is known before they are played. Where one scores otherwise, the bench measures something else.

They are measured through the same seams as every memory. `full-context` alone is given room for every page.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from random import Random

from brainbench.model import Ask, Capability, Conversation, FactIn, FactRow, Injection, PageIn, RunContext
from brainbench.systems.baselines import Keeper

FEW = 3
"""How many pages the panel's systems bring that bring some."""
_ROOM = 400_000
"""Characters of page text that full-context brings; of pages beyond them only the pointers."""


class Hoarder(Keeper):
    """Keeps facts and conversations too; which page a fact is about it does not know."""

    can = Keeper.can | {
        Capability.CONTEXT,
        Capability.FACT_WRITE,
        Capability.CONVERSATION_WRITE,
        Capability.RECALL_FACTS,
        Capability.EXTRACTOR_SEAM,
    }

    def open(self, run: RunContext) -> None:
        super().open(run)
        self._facts: list[tuple[str, FactRow]] = []

    def write_fact(self, fact: FactIn) -> None:
        self._facts.append((fact.source, FactRow(fact.text, fact.entity, "panel", fact.session, None)))

    def write_conversation(self, conversation: Conversation) -> str | None:
        slug, source = f"conversations/{conversation.session}", conversation.source
        text = "\n\n".join(f"{said.role}: {said.text}" for said in conversation.messages)
        self.write_page(PageIn(source, slug, text))
        rows = (FactRow(said.fact, None, "panel", f"{source}:{slug}", slug) for said in conversation.scripted)
        self._facts += [(source, row) for row in rows]
        return slug

    def recall_facts(self, source: str, query: str | None = None, limit: int | None = None) -> Sequence[FactRow]:
        return [row for where, row in self._facts if where == source][:limit]


class AlwaysSilent(Hoarder):
    """Keeps pages, facts and conversations, and never says anything on a turn."""

    name = "always-silent"

    def recall_facts(self, source: str, query: str | None = None, limit: int | None = None) -> Sequence[FactRow]:
        return super().recall_facts(source) if query is None else ()

    def context(self, ask: Ask) -> Injection:
        return Injection("", ids=())


class AlwaysInject(Keeper):
    """Brings the three newest pages to every turn."""

    name = "always-inject"
    can = Keeper.can | {Capability.CONTEXT}

    def context(self, ask: Ask) -> Injection:
        newest = list(self.pages_of(ask.source))[-FEW:][::-1]
        return pointed(newest)


class Echo(Keeper):
    """Repeats the turn, as context and as a fact, and keeps nothing of what was said."""

    name = "echo"
    can = Hoarder.can - {Capability.FACT_WRITE}

    def write_conversation(self, conversation: Conversation) -> str | None:
        return None

    def recall_facts(self, source: str, query: str | None = None, limit: int | None = None) -> Sequence[FactRow]:
        return () if query is None else (FactRow(query, None, "panel", None, None),)

    def context(self, ask: Ask) -> Injection:
        return Injection(ask.messages[-1].text)


class Chance(Keeper):
    """Brings three pages drawn by lot, the same ones wherever the same seed meets the same turn."""

    name = "random"
    can = Keeper.can | {Capability.CONTEXT}

    def open(self, run: RunContext) -> None:
        super().open(run)
        self._seed = run.seed

    def context(self, ask: Ask) -> Injection:
        slugs = sorted(self.pages_of(ask.source))
        said = "\n".join((str(self._seed), ask.source, *(message.text for message in ask.messages)))
        lot = Random(hashlib.sha256(said.encode("utf-8", "surrogatepass")).digest())  # noqa: S311
        return pointed(lot.sample(slugs, min(FEW, len(slugs))))


class FullContext(Hoarder):
    """Brings every page and every earlier conversation to every turn, with the page budget lifted."""

    name = "full-context"

    def context(self, ask: Ask) -> Injection:
        pages, left, parts = self.pages_of(ask.source), _ROOM, []
        for slug, content in pages.items():
            left -= len(content)
            parts.append(f"→ `{slug}`\n\n{content}" if left >= 0 else f"→ `{slug}`")
        return Injection("\n\n".join(parts), ids=tuple(pages))


def pointed(slugs: Sequence[str]) -> Injection:
    """Pointers to these pages, and nothing else."""
    return Injection(pointers(slugs), ids=tuple(slugs))


def pointers(slugs: Iterable[str]) -> str:
    """A line for each that points at its page."""
    return "\n".join(f"- → `{slug}`" for slug in slugs)
