"""Items of a memory that keeps pages: each is a page of its own, under the id that the bench proposes."""

from __future__ import annotations

from collections.abc import Sequence

from brainbench.errors import Unsupported
from brainbench.model import Capability, ItemIn, ItemRow, PageIn
from brainbench.systems import System
from brainbench.systems.broken import Broken


class PagedItems(System):
    """Adds, finds, gets and updates items by the methods of pages."""

    def add_item(self, item: ItemIn) -> str:
        slug = f"items/{item.name}"
        head = f"---\ntitle: {item.title}\n---\n\n" if item.title else ""
        self.write_page(PageIn(item.source, slug, head + item.text, ts=item.ts))
        return slug

    def find_items(self, source: str, query: str, limit: int, as_of: str | None = None) -> Sequence[ItemRow]:
        return [ItemRow(hit.id, _body(hit.text)) for hit in self.search(source, query, limit)]

    def get_item(self, source: str, item_id: str) -> ItemRow | None:
        content = self.read_page(source, item_id)
        return None if content is None else ItemRow(item_id, _body(content))

    def update_item(self, source: str, item_id: str, text: str) -> str | None:
        if self.read_page(source, item_id) is None:
            return None
        self.edit_page(PageIn(source, item_id, text))
        return item_id


class Paged(PagedItems, Broken):
    """A system that keeps pages and claims no items, asked for items all the same."""

    def __init__(self, whole: System) -> None:
        super().__init__(whole)
        self.name = whole.name
        self.can = whole.can | {Capability.ADD, Capability.GET}
        if Capability.EDIT in whole.can:
            self.can |= {Capability.UPDATE}


def with_items(system: System) -> System:
    """The system itself if it keeps items, or its pages as items. Unsupported where it has neither."""
    if Capability.ADD in system.can:
        return system
    if not {Capability.PAGE_WRITE, Capability.SEARCH} <= system.can:
        raise Unsupported("it claims neither `add`, nor `page_write` and `search`")
    return Paged(system)


def _body(content: str) -> str:
    """The text below the front matter."""
    head, mark, body = content.partition("\n---\n\n")
    return body if mark and head.startswith("---\n") else content
