"""Built-in systems: what every memory has to beat.

`null` claims everything and says nothing. `bm25` ranks whole pages by words. `files+grep` is a folder of Markdown
files and a search for the words in them, as an agent with a shell would do it.
"""

from __future__ import annotations

import math
import re
import shutil
import tempfile
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
    ForgetIn,
    Injection,
    ItemIn,
    ItemRow,
    PageIn,
    Receipt,
    Reply,
    ResyncIn,
    RowQuery,
    RunContext,
    SearchHit,
    VouchIn,
    WriteIn,
)
from brainbench.systems import System
from brainbench.systems.paged import PagedItems

_WORD = re.compile(r"\w+")
_TITLE = re.compile(r"^title:\s*(.+?)\s*$", re.MULTILINE)
_ALIASES = re.compile(r"^aliases:\s*\[?(.*?)\]?\s*$", re.MULTILINE)
K1, B = 1.2, 0.75


class Null(System):
    """Accepts every write and says nothing. Pages are kept only to be read back by whoever wrote them."""

    name = "null"
    version = __version__
    can = frozenset(Capability) - {Capability.HOOK_PROCESS}

    def __init__(self) -> None:
        self._kept: dict[str, dict[tuple[str, str], str]] = {}

    def open(self, run: RunContext) -> None:
        self._written: dict[tuple[str, str], str] = {}

    def keep(self, name: str) -> None:
        self._kept[name] = dict(self._written)

    def restore(self, name: str) -> bool:
        self._written = dict(self._kept.get(name, {}))
        return name in self._kept

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

    def reopen(self, run: RunContext) -> None:
        self.open(run)

    def add_item(self, item: ItemIn) -> str:
        return item.name

    def find_items(self, source: str, query: str, limit: int, as_of: str | None = None) -> Sequence[ItemRow]:
        return ()

    def get_item(self, source: str, item_id: str) -> ItemRow | None:
        return None

    def update_item(self, source: str, item_id: str, text: str) -> str | None:
        return item_id

    def delete_item(self, source: str, item_id: str) -> bool:
        return True

    def delete_items(self, source: str) -> None:
        """Done: there is nothing."""

    def list_items(self, source: str) -> Sequence[ItemRow]:
        return ()

    def write_by(self, given: WriteIn) -> Reply:
        return Reply(given.slug or given.name)

    def rows(self, query: RowQuery) -> Sequence[ItemRow]:
        return ()

    def forget(self, asked: ForgetIn) -> Reply:
        return Reply(outcome="done", receipt=Receipt("nothing", "complete"))

    def vouch(self, given: VouchIn) -> Reply:
        return Reply(outcome="refused")

    def resync(self, given: ResyncIn) -> Reply:
        return Reply()


class _Shelf:
    """The pages of one source, with the words that each holds and in how many of its lines; can undo changes."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.lengths: dict[str, int] = {}
        self.holders: dict[str, dict[str, int]] = {}
        """word -> page -> how often it stands there."""
        self._words: dict[str, Counter[str]] = {}
        self._before: dict[str, str | None] | None = None
        self._order: tuple[str, ...] = ()

    def put(self, slug: str, content: str) -> None:
        """Keep a page or replace it."""
        if self._before is not None:
            self._before.setdefault(slug, self.texts.get(slug))
        self._drop(slug)
        bag = Counter(_words(content))
        self.texts[slug], self.lengths[slug], self._words[slug] = content, bag.total(), bag
        for word, count in bag.items():
            self.holders.setdefault(word, {})[slug] = count

    def mark(self) -> None:
        """From here on changes can be undone, to the order of the pages."""
        self._before, self._order = {}, tuple(self.texts)

    def undo(self) -> Mapping[str, str | None]:
        """Be as at the mark. Gives the pages that were changed since, as they are now: None where there is none."""
        before, self._before = self._before or {}, None
        for slug, content in before.items():
            if content is None:
                self._drop(slug)
            else:
                self.put(slug, content)
        if any(content is not None for content in before.values()):
            self.texts = {slug: self.texts[slug] for slug in self._order}
        self.mark()
        return before

    def remove(self, slug: str) -> None:
        """Let go of a page."""
        if self._before is not None:
            self._before.setdefault(slug, self.texts.get(slug))
        self._drop(slug)

    def _drop(self, slug: str) -> None:
        if self.texts.pop(slug, None) is not None:
            del self.lengths[slug]
            for word in self._words.pop(slug):
                del self.holders[word][slug]
                if not self.holders[word]:
                    del self.holders[word]


class _Shelves:
    """The pages of every source, and snapshots of them."""

    def __init__(self) -> None:
        self._kept: dict[str, dict[str, _Shelf]] = {}
        self.by_source: dict[str, _Shelf] = {}

    def clear(self) -> None:
        self.by_source = {}

    def of(self, source: str) -> _Shelf:
        """The pages of a source, to be written."""
        return self.by_source.setdefault(source, _Shelf())

    def get(self, source: str) -> _Shelf:
        """The pages of a source, none where it is unknown."""
        return self.by_source.get(source, _Shelf())

    def keep(self, name: str) -> None:
        self._kept[name] = dict(self.by_source)
        for shelf in self.by_source.values():
            shelf.mark()

    def restore(self, name: str) -> Mapping[str, Mapping[str, str | None]] | None:
        """By source what was undone, as `_Shelf.undo` gives it; None where nothing was kept under this name."""
        if name not in self._kept:
            return None
        self.by_source = dict(self._kept[name])
        return {source: shelf.undo() for source, shelf in self.by_source.items()}


ITEMS = frozenset(
    {
        Capability.ADD,
        Capability.GET,
        Capability.UPDATE,
        Capability.DELETE,
        Capability.DELETE_ALL,
        Capability.LIST,
    }
)
"""What there is to ask about single things that are kept."""


class Keeper(System):
    """Keeps pages by source, in the order in which they were last written."""

    version = __version__
    can = frozenset({Capability.PAGE_WRITE, Capability.EDIT, Capability.SOURCES})

    def __init__(self) -> None:
        self._shelves = _Shelves()

    def open(self, run: RunContext) -> None:
        self._shelves.clear()

    def keep(self, name: str) -> None:
        self._shelves.keep(name)

    def restore(self, name: str) -> bool:
        return self._shelves.restore(name) is not None

    def write_page(self, page: PageIn) -> None:
        self._shelves.of(page.source).put(page.slug, page.content)

    def read_page(self, source: str, slug: str) -> str | None:
        return self._shelves.get(source).texts.get(slug)

    def edit_page(self, page: PageIn) -> None:
        if self.read_page(page.source, page.slug) is None:
            raise SystemFailure(f"no page {page.slug!r} to edit")
        self.write_page(page)

    def pages_of(self, source: str) -> dict[str, str]:
        """The pages of one source, newest last."""
        return self._shelves.get(source).texts


class Bm25(PagedItems, Keeper):
    """Okapi BM25 (k1 1.2, b 0.75) over whole pages of one source; Robertson and Zaragoza, 2009."""

    name = "bm25"
    can = Keeper.can | ITEMS | {Capability.SEARCH}

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        shelf = self._shelves.get(source)
        ranked = sorted(_bm25(shelf, _words(query)).items(), key=lambda item: (-item[1], item[0]))
        return [_hit(slug, shelf.texts[slug], score) for slug, score in ranked[:limit] if score > 0]

    def delete_item(self, source: str, item_id: str) -> bool:
        there = item_id in self.pages_of(source)
        self._shelves.of(source).remove(item_id)
        return there

    def delete_items(self, source: str) -> None:
        for slug in tuple(self.pages_of(source)):
            self._shelves.of(source).remove(slug)

    def list_items(self, source: str) -> Sequence[ItemRow]:
        return [row for slug in self.pages_of(source) if (row := self.get_item(source, slug))]


class FilesGrep(PagedItems):
    """Pages as files in a folder; a search counts the lines that hold any of the words, most lines first.

    Which files hold a word is remembered, for nobody else writes into the folder; their lines are read each time.
    """

    name = "files+grep"
    version = __version__
    can = ITEMS | {
        Capability.PAGE_WRITE,
        Capability.EDIT,
        Capability.SEARCH,
        Capability.SOURCES,
        Capability.REOPEN,
    }

    def __init__(self) -> None:
        self._shelves = _Shelves()
        self._kept: dict[str, Path] = {}

    def open(self, run: RunContext) -> None:
        self._root = Path(run.directory) / "files"
        self._shelves.clear()

    def reopen(self, run: RunContext) -> None:
        self.open(run)
        for path in sorted(self._root.glob("*/*.md")):
            text = path.read_bytes().decode("utf-8", "replace")
            self._shelves.of(unquote(path.parent.name)).put(unquote(path.stem), text)

    def close(self) -> None:
        for folder in self._kept.values():
            shutil.rmtree(folder, ignore_errors=True)

    def keep(self, name: str) -> None:
        folder = Path(tempfile.mkdtemp(prefix="kept-"))
        if self._root.is_dir():
            self._root.rename(folder / "files")
        self._root, self._kept[name] = folder / "files", folder
        self._shelves.keep(name)

    def restore(self, name: str) -> bool:
        undone = self._shelves.restore(name)
        if undone is None:
            return False
        self._root = self._kept[name] / "files"
        for source, pages in undone.items():
            for slug, content in pages.items():
                if content is None:
                    self._path(source, slug).unlink()
                else:
                    self._write(source, slug, content)
        return True

    def write_page(self, page: PageIn) -> None:
        self._write(page.source, page.slug, page.content)
        self._shelves.of(page.source).put(page.slug, page.content)

    def _write(self, source: str, slug: str, content: str) -> None:
        path = self._path(source, slug)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8", newline="")

    def read_page(self, source: str, slug: str) -> str | None:
        path = self._path(source, slug)
        return path.read_bytes().decode("utf-8") if path.is_file() else None

    def edit_page(self, page: PageIn) -> None:
        if not self._path(page.source, page.slug).is_file():
            raise SystemFailure(f"no page {page.slug!r} to edit")
        self.write_page(page)

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        words, shelf = set(_words(query)), self._shelves.get(source)
        found: list[tuple[int, str, str]] = []
        for slug in {slug for word in words for slug in shelf.holders.get(word, ())}:
            text = self.read_page(source, slug) or ""
            lines = sum(bool(words & set(_words(line))) for line in text.splitlines())
            found.append((-lines, slug, text))
        return [_hit(slug, text, float(-rank)) for rank, slug, text in sorted(found)[:limit]]

    def delete_item(self, source: str, item_id: str) -> bool:
        there = self._path(source, item_id).is_file()
        self._path(source, item_id).unlink(missing_ok=True)
        self._shelves.of(source).remove(item_id)
        return there

    def delete_items(self, source: str) -> None:
        for row in self.list_items(source):
            self.delete_item(source, row.id)

    def list_items(self, source: str) -> Sequence[ItemRow]:
        files = sorted((self._root / quote(source, safe="")).glob("*.md"))
        return [row for file in files if (row := self.get_item(source, unquote(file.stem)))]

    def _path(self, source: str, slug: str) -> Path:
        return self._root / quote(source, safe="") / f"{quote(slug, safe='')}.md"


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def _hit(slug: str, content: str, score: float) -> SearchHit:
    title = _TITLE.search(content)
    aliases = _ALIASES.search(content)
    names = tuple(a.strip().strip("\"'") for a in aliases.group(1).split(",") if a.strip()) if aliases else ()
    return SearchHit(slug, title.group(1).strip("\"'") if title else "", content, score, names)


def _bm25(shelf: _Shelf, query: Iterable[str]) -> dict[str, float]:
    average = sum(shelf.lengths.values()) / max(1, len(shelf.lengths)) or 1.0
    scores: dict[str, float] = {}
    for word in dict.fromkeys(query):
        holders = shelf.holders.get(word, {})
        idf = math.log(1 + (len(shelf.lengths) - len(holders) + 0.5) / (len(holders) + 0.5))
        for slug, tf in holders.items():
            long = 1 - B + B * shelf.lengths[slug] / average
            scores[slug] = scores.get(slug, 0.0) + idf * tf * (K1 + 1) / (tf + K1 * long)
    return scores
