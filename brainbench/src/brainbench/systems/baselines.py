"""Built-in systems: what every memory has to beat.

`null` claims everything and says nothing. `bm25` ranks whole pages by words. `files+grep` is a folder of Markdown
files and a search for the words in them, as an agent with a shell would do it.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import quote, unquote

from brainbench import __version__
from brainbench.errors import SystemFailure
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
)
from brainbench.systems import System

_WORD = re.compile(r"\w+")
_TITLE = re.compile(r"^title:\s*(.+?)\s*$", re.MULTILINE)
_ALIASES = re.compile(r"^aliases:\s*\[?(.*?)\]?\s*$", re.MULTILINE)
K1, B = 1.2, 0.75


class Null(System):
    """Accepts every write and says nothing. Pages are kept only to be read back by whoever wrote them."""

    name = "null"
    version = __version__
    can = frozenset(Capability) - {Capability.HOOK_PROCESS}

    def open(self, run: RunContext) -> None:
        self._written: dict[tuple[str, str], str] = {}

    def write_page(self, page: PageIn) -> None:
        self._written[page.source, page.slug] = page.content

    def read_page(self, source: str, slug: str) -> str | None:
        return self._written.get((source, slug))

    def edit_page(self, page: PageIn) -> None:
        self.write_page(page)

    def write_fact(self, fact: FactIn) -> None:
        """Dropped."""

    def write_conversation(self, conversation: Conversation) -> str | None:
        return None

    def recall_facts(self, source: str, query: str | None = None, limit: int | None = None) -> Sequence[FactRow]:
        return ()

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        return ()

    def context(self, ask: Ask) -> Injection:
        return Injection("", ids=())


class Keeper(System):
    """Keeps pages by source, in the order in which they were last written."""

    version = __version__
    can = frozenset({Capability.PAGE_WRITE, Capability.EDIT, Capability.SOURCES})

    def open(self, run: RunContext) -> None:
        self._pages: dict[tuple[str, str], str] = {}

    def write_page(self, page: PageIn) -> None:
        self._pages.pop((page.source, page.slug), None)
        self._pages[page.source, page.slug] = page.content

    def read_page(self, source: str, slug: str) -> str | None:
        return self._pages.get((source, slug))

    def edit_page(self, page: PageIn) -> None:
        if (page.source, page.slug) not in self._pages:
            raise SystemFailure(f"no page {page.slug!r} to edit")
        self.write_page(page)

    def pages_of(self, source: str) -> dict[str, str]:
        """The pages of one source, newest last."""
        return {slug: content for (where, slug), content in self._pages.items() if where == source}


class Bm25(Keeper):
    """Okapi BM25 (k1 1.2, b 0.75) over whole pages of one source; Robertson and Zaragoza, 2009."""

    name = "bm25"
    can = Keeper.can | {Capability.SEARCH}

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        texts = self.pages_of(source)
        ranked = sorted(_bm25(texts, _words(query)).items(), key=lambda item: (-item[1], item[0]))
        return [_hit(slug, texts[slug], score) for slug, score in ranked[:limit] if score > 0]


class FilesGrep(System):
    """Pages as files in a folder; a search counts the lines that hold any of the words, most lines first."""

    name = "files+grep"
    version = __version__
    can = frozenset({Capability.PAGE_WRITE, Capability.EDIT, Capability.SEARCH, Capability.SOURCES})

    def open(self, run: RunContext) -> None:
        self._root = Path(run.directory) / "files"

    def write_page(self, page: PageIn) -> None:
        path = self._path(page.source, page.slug)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(page.content, encoding="utf-8", newline="")

    def read_page(self, source: str, slug: str) -> str | None:
        path = self._path(source, slug)
        return path.read_bytes().decode("utf-8") if path.is_file() else None

    def edit_page(self, page: PageIn) -> None:
        if not self._path(page.source, page.slug).is_file():
            raise SystemFailure(f"no page {page.slug!r} to edit")
        self.write_page(page)

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        words = set(_words(query))
        found: list[tuple[int, str, str]] = []
        for path in sorted((self._root / quote(source, safe="")).glob("*.md")):
            text = path.read_text(encoding="utf-8")
            lines = sum(bool(words & set(_words(line))) for line in text.splitlines())
            if lines:
                found.append((-lines, unquote(path.stem), text))
        return [_hit(slug, text, float(-rank)) for rank, slug, text in sorted(found)[:limit]]

    def _path(self, source: str, slug: str) -> Path:
        return self._root / quote(source, safe="") / f"{quote(slug, safe='')}.md"


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def _hit(slug: str, content: str, score: float) -> SearchHit:
    title = _TITLE.search(content)
    aliases = _ALIASES.search(content)
    names = tuple(a.strip().strip("\"'") for a in aliases.group(1).split(",") if a.strip()) if aliases else ()
    return SearchHit(slug, title.group(1).strip("\"'") if title else "", content, score, names)


def _bm25(texts: dict[str, str], query: Iterable[str]) -> dict[str, float]:
    bags = {slug: Counter(_words(text)) for slug, text in texts.items()}
    lengths = {slug: bag.total() for slug, bag in bags.items()}
    average = sum(lengths.values()) / max(1, len(lengths)) or 1.0
    scores = dict.fromkeys(bags, 0.0)
    for word in dict.fromkeys(query):
        holders = [slug for slug, bag in bags.items() if word in bag]
        idf = math.log(1 + (len(bags) - len(holders) + 0.5) / (len(holders) + 0.5))
        for slug in holders:
            tf = bags[slug][word]
            scores[slug] += idf * tf * (K1 + 1) / (tf + K1 * (1 - B + B * lengths[slug] / average))
    return scores
