"""Any system with one protection taken away: `NAME:SYSTEM` is the system with the break of that name around it.

A break changes what goes in or what comes out, never the inside, so that it can be put around every memory. Breaks
of what is said make the system speak through its Python door instead of its own hook process, which they could not
reach.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from brainbench.model import (
    Ask,
    Capability,
    Conversation,
    FactIn,
    FactRow,
    Injection,
    PageIn,
    RunContext,
    SearchHit,
    pointer_ids,
)
from brainbench.systems import System

LOST_OF_TEN = 3
"""How many facts of ten a degraded system loses."""
_ALIASES = re.compile(r"^aliases:[^\n]*\n(?:[ \t]+[^\n]*\n|-[ \t][^\n]*\n)*", re.MULTILINE)
_TITLE = re.compile(r"^title:\s*(.+?)\s*$", re.MULTILINE)
_STRAY = "people/nobody-at-all"
_NEWEST = ""
"""The slug of no page, under which the last one written to a source is remembered."""


class Broken(System):
    """A system as it is. Subclasses take one thing away; whatever they leave alone is the system's own."""

    speaks = False
    """Whether the break changes what is said on a turn."""

    def __init__(self, whole: System) -> None:
        self.whole = whole
        self.version, self.alone, self.inside = whole.version, whole.alone, whole.inside
        self.tells_turns, self.hands_over = whole.tells_turns, whole.hands_over
        self.can = whole.can - {Capability.HOOK_PROCESS} if self.speaks else whole.can

    def write_page(self, page: PageIn) -> None:
        for given in self.taken(page):
            self.whole.write_page(given)

    def write_pages(self, pages: Sequence[PageIn]) -> None:
        self.whole.write_pages([given for page in pages for given in self.taken(page)])

    def taken(self, page: PageIn) -> Sequence[PageIn]:
        """What the system is given to write where the bench gives it this page."""
        return (page,)

    @property
    def losses(self) -> int:  # type: ignore[override]
        return self.whole.losses


def _left_alone(method: str) -> Callable[..., Any]:
    def passed_on(self: Broken, *given: Any, **named: Any) -> Any:
        return getattr(self.whole, method)(*given, **named)

    return passed_on


for _method in [name for name, value in vars(System).items() if callable(value) and not name.startswith("_")]:
    if _method not in vars(Broken):
        setattr(Broken, _method, _left_alone(_method))
Broken.read_pages = System.read_pages  # type: ignore[method-assign]


class Remembering(Broken):
    """Keeps what a break needs of what was written, by source and slug, and in each snapshot what it was by then."""

    def __init__(self, whole: System) -> None:
        super().__init__(whole)
        self.hands_over = False
        self._written: dict[tuple[str, str], str] = {}
        self._kept: dict[str, dict[tuple[str, str], str]] = {}

    def open(self, run: RunContext) -> None:
        self._written = {}
        self.whole.open(run)

    def keep(self, name: str) -> None:
        self._kept[name] = dict(self._written)
        self.whole.keep(name)

    def restore(self, name: str) -> bool:
        restored = self.whole.restore(name)
        if restored is True:
            self._written = dict(self._kept.get(name, {}))
        return restored


class Degraded(Remembering):
    """Knows no aliases, and has lost three facts of ten."""

    def taken(self, page: PageIn) -> Sequence[PageIn]:
        return (self._nameless(page),)

    def edit_page(self, page: PageIn) -> None:
        self.whole.edit_page(self._nameless(page))

    def read_page(self, source: str, slug: str) -> str | None:
        kept = self.whole.read_page(source, slug)
        return kept if kept is None else self._written.get((source, slug), kept)

    def write_fact(self, fact: FactIn) -> None:
        if not _lost(fact.text):
            self.whole.write_fact(fact)

    def write_conversation(self, conversation: Conversation) -> str | None:
        kept = tuple(said for said in conversation.scripted if not _lost(said.fact))
        return self.whole.write_conversation(replace(conversation, scripted=kept))

    def recall_facts(self, source: str, query: str | None = None, limit: int | None = None) -> Sequence[FactRow]:
        rows = self.whole.recall_facts(source, query, limit)
        return rows if Capability.EXTRACTOR_SEAM in self.can else [row for row in rows if not _lost(row.text)]

    def _nameless(self, page: PageIn) -> PageIn:
        self._written[page.source, page.slug] = page.content
        return replace(page, content=without_aliases(page.content))


def without_aliases(content: str) -> str:
    """A page whose front matter lists no aliases.

    >>> without_aliases("---\\ntitle: A\\naliases:\\n  - b\\ntype: person\\n---\\naliases: kept\\n")
    '---\\ntitle: A\\ntype: person\\n---\\naliases: kept\\n'
    """
    if not content.startswith("---\n"):
        return content
    head, fence, body = content[4:].partition("\n---")
    return "---\n" + _ALIASES.sub("", head + "\n")[:-1] + fence + body if fence else content


def _lost(fact: str) -> bool:
    return hashlib.sha256(fact.encode("utf-8", "surrogatepass")).digest()[0] % 10 < LOST_OF_TEN


class TitlesOnly(Remembering):
    """Finds a page only where its whole title stands in the turn."""

    speaks = True

    def taken(self, page: PageIn) -> Sequence[PageIn]:
        title = _TITLE.search(page.content)
        self._written[page.source, page.slug] = title.group(1).strip("\"'").casefold() if title else page.slug
        return (page,)

    def context(self, ask: Ask) -> Injection:
        said = self.whole.context(ask)
        known = self._named(ask.source, ask.messages[-1].text)
        return only(said, lambda slug: slug in known)

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        known = self._named(source, query)
        return [hit for hit in self.whole.search(source, query, limit) if hit.id in known]

    def _named(self, source: str, text: str) -> frozenset[str]:
        said = text.casefold()
        return frozenset(slug for (where, slug), title in self._written.items() if where == source and title in said)


class NeverSilent(Remembering):
    """Brings the page that was written last wherever it would have been silent."""

    speaks = True

    def taken(self, page: PageIn) -> Sequence[PageIn]:
        self._written[page.source, _NEWEST] = page.slug
        return (page,)

    def context(self, ask: Ask) -> Injection:
        said, slug = self.whole.context(ask), self._written.get((ask.source, _NEWEST))
        return said if slug is None or said.brought else Injection(f"- → `{slug}`", ids=(slug,))

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        slug = self._written.get((source, _NEWEST))
        hits = list(self.whole.search(source, query, limit))
        return hits if slug is None else [*hits[: max(0, limit - 1)], SearchHit(slug, title=query)]


class StrayPage(Broken):
    """Brings one page that nobody wanted beside those that were."""

    speaks = True

    def context(self, ask: Ask) -> Injection:
        said = self.whole.context(ask)
        ids = said.brought
        return replace(said, text=f"{said.text}\n- → `{_STRAY}`", ids=(*ids, _STRAY)) if ids else said

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        hits = list(self.whole.search(source, query, limit))
        return [SearchHit(_STRAY, title=query), *hits][:limit] if hits else hits


class OnePage(Broken):
    """Brings one page where three fit."""

    speaks = True

    def tell_time(self, now: str) -> None:
        self._brought = False
        self.whole.tell_time(now)

    def context(self, ask: Ask) -> Injection:
        said = self.whole.context(ask)
        first = said.brought[:1]
        return only(said, lambda slug: slug in first)

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        hits = () if self._brought else self.whole.search(source, query, limit)
        self._brought = self._brought or bool(hits)
        return hits


class FifthFactLost(Broken):
    """Loses every fifth fact of what was said."""

    def write_conversation(self, conversation: Conversation) -> str | None:
        kept = tuple(said for said in conversation.scripted if not _fifth(said.fact))
        return self.whole.write_conversation(replace(conversation, scripted=kept))

    def recall_facts(self, source: str, query: str | None = None, limit: int | None = None) -> Sequence[FactRow]:
        rows = self.whole.recall_facts(source, query, limit)
        return rows if Capability.EXTRACTOR_SEAM in self.can else [row for row in rows if not _fifth(row.text)]


def _fifth(fact: str) -> bool:
    return hashlib.sha256(fact.encode("utf-8", "surrogatepass")).digest()[1] % 5 == 0


class Altered(Broken):
    """Tells its facts changed."""

    def recall_facts(self, source: str, query: str | None = None, limit: int | None = None) -> Sequence[FactRow]:
        return self.changed(list(self.whole.recall_facts(source, query, limit)))

    def changed(self, rows: list[FactRow]) -> list[FactRow]:
        """The rows as they are told."""
        return rows


class LastEntity(Altered):
    """Gives each fact to the entity of the fact before it."""

    def changed(self, rows: list[FactRow]) -> list[FactRow]:
        before = [None, *(row.entity for row in rows)]
        return [replace(row, entity=entity) for row, entity in zip(rows, before, strict=False)]


class OtherPages(Altered):
    """Names another session's page as the place that a fact comes from."""

    def changed(self, rows: list[FactRow]) -> list[FactRow]:
        return [replace(row, source_page="conversations/another") for row in rows]


class NothingPersisted(Broken):
    """Forgets a session when it ends."""

    def write_conversation(self, conversation: Conversation) -> str | None:
        return None


class PointersOnly(Altered):
    """Tells a later session which pages there are, and nothing of what they say."""

    speaks = True

    def context(self, ask: Ask) -> Injection:
        ids = self.whole.context(ask).brought
        return Injection("\n".join(f"- → `{slug}`" for slug in ids), ids=ids)

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        return [replace(hit, text=f"→ `{hit.id}`") for hit in self.whole.search(source, query, limit)]

    def changed(self, rows: list[FactRow]) -> list[FactRow]:
        return []


class OneSource(Broken):
    """Keeps the pages of every source in the one that is asked as well."""

    def open(self, run: RunContext) -> None:
        self._asked = run.active_source
        self.whole.open(run)

    def taken(self, page: PageIn) -> Sequence[PageIn]:
        return (page, replace(page, source=self._asked))


def only(said: Injection, wanted: Callable[[str], bool]) -> Injection:
    """An injection without the pages that are not wanted: without their ids, and the lines that point at them."""
    kept = tuple(slug for slug in said.brought if wanted(slug))
    lines = (line for line in said.text.splitlines() if all(map(wanted, pointer_ids(line))))
    return replace(said, text="\n".join(lines) if kept else "", ids=kept)
