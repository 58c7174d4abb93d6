"""Memories that break one rule each; loaded by the contract tests as forgetful:Class."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, ClassVar

from brainbench.model import (
    Ask,
    Capability,
    Conversation,
    FactIn,
    FactRow,
    Injection,
    ItemIn,
    ItemRow,
    PageIn,
    RunContext,
    SearchHit,
)
from brainbench.systems import System


class Sound(System):
    can = frozenset(Capability) - {
        Capability.HOOK_PROCESS,
        Capability.PRINCIPALS,
        Capability.TRUST_LABELS,
        Capability.FORGET,
        Capability.PURGE,
        Capability.RECEIPTS,
        Capability.CONFIRM,
        Capability.RESYNC,
    }
    places: ClassVar[dict[str, dict[tuple[str, str], str]]] = {}

    def open(self, run: RunContext) -> None:
        self.pages: dict[tuple[str, str], str] = {}
        self.facts: list[FactIn] = []
        self.items: dict[tuple[str, str], str] = {}

    def write_page(self, page: PageIn) -> None:
        self.pages[page.source, page.slug] = page.content

    def read_page(self, source: str, slug: str) -> str | None:
        return self.pages.get((source, slug))

    def edit_page(self, page: PageIn) -> None:
        self.write_page(page)

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        found = [SearchHit(s) for (w, s), text in sorted(self.pages.items()) if w == source and query in text and query]
        return found[:limit]

    def context(self, ask: Ask) -> Injection:
        return Injection(" ".join(f"→ `{slug}`" for where, slug in self.pages if where == ask.source))

    def write_fact(self, fact: FactIn) -> None:
        self.facts.append(fact)

    def recall_facts(self, source: str, query: str | None = None, limit: int | None = None) -> Sequence[FactRow]:
        return [FactRow(f.text, f.entity, f.source, f.session, None) for f in self.facts if f.source == source]

    def write_conversation(self, conversation: Conversation) -> str | None:
        return None

    def reopen(self, run: RunContext) -> None:
        self.open(run)
        self.items = self.places.setdefault(run.directory, {})

    def add_item(self, item: ItemIn) -> str:
        self.items[item.source, item.name] = item.text
        return item.name

    def find_items(self, source: str, query: str, limit: int, as_of: str | None = None) -> Sequence[ItemRow]:
        return [row for row in self.list_items(source) if query in row.text][:limit]

    def get_item(self, source: str, item_id: str) -> ItemRow | None:
        text = self.items.get((source, item_id))
        return None if text is None else ItemRow(item_id, text)

    def update_item(self, source: str, item_id: str, text: str) -> str | None:
        if (source, item_id) not in self.items:
            return None
        self.items[source, item_id] = text
        return item_id

    def delete_item(self, source: str, item_id: str) -> bool:
        return self.items.pop((source, item_id), None) is not None

    def delete_items(self, source: str) -> None:
        for row in self.list_items(source):
            self.delete_item(source, row.id)

    def list_items(self, source: str) -> Sequence[ItemRow]:
        return [ItemRow(name, text) for (where, name), text in self.items.items() if where == source]


class Hoarding(Sound):
    """test_it_is_empty_after_open"""

    def open(self, run: RunContext) -> None:
        if not hasattr(self, "pages"):
            super().open(run)


class Dreaming(Sound):
    """test_a_page_that_was_never_written_reads_as_none"""

    def read_page(self, source: str, slug: str) -> str | None:
        return super().read_page(source, slug) or ("" if "nobody" in slug else None)


class Losing(Sound):
    """test_a_page_reads_back_with_its_text"""

    def read_page(self, source: str, slug: str) -> str | None:
        text = super().read_page(source, slug)
        return text and text.replace("bees", "bugs")


class Plain(Sound):
    """test_a_text_in_any_script_survives"""

    def write_page(self, page: PageIn) -> None:
        self.pages[page.source, page.slug] = page.content.encode("ascii", "ignore").decode()


class Short(Sound):
    """test_a_page_of_ten_thousand_characters_survives"""

    def write_page(self, page: PageIn) -> None:
        self.pages[page.source, page.slug] = page.content[:8000]


class Appending(Sound):
    """test_a_page_that_is_written_again_is_replaced"""

    def write_page(self, page: PageIn) -> None:
        before = self.pages.get((page.source, page.slug), "")
        self.pages[page.source, page.slug] = before + page.content

    def edit_page(self, page: PageIn) -> None:
        super().write_page(page)


class Stubborn(Sound):
    """test_an_edited_page_reads_back_as_edited"""

    def edit_page(self, page: PageIn) -> None:
        """Not today."""


class Leaky(Sound):
    """test_sources_are_kept_apart"""

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        return [SearchHit(slug) for (_, slug), text in sorted(self.pages.items()) if query and query in text][:limit]


class Blind(Sound):
    """test_a_page_is_found_by_its_title"""

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        return ()


class Generous(Sound):
    """test_a_search_gives_no_more_than_was_asked_for"""

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        return super().search(source, query, 1000)


class Touchy(Sound):
    """test_odd_queries_are_answered"""

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        if "AND (" in query:
            raise ValueError("syntax error")
        return super().search(source, query, limit)


class Moody(Sound):
    """test_the_same_pages_give_the_same_answers"""

    moods = itertools.cycle("ab")

    def context(self, ask: Ask) -> Injection:
        told = super().context(ask)
        return Injection(f"{next(self.moods)} {told.text}")


class Inventing(Sound):
    """test_context_is_a_text_with_ids_of_pages"""

    def context(self, ask: Ask) -> Injection:
        return Injection(super().context(ask).text + " → `people/nobody`")


class Gossiping(Sound):
    """test_a_fact_is_told_again_in_its_source_only"""

    def recall_facts(self, source: str, query: str | None = None, limit: int | None = None) -> Sequence[FactRow]:
        return [FactRow(f.text, f.entity, f.source, f.session, None) for f in self.facts]


class Numbering(Sound):
    """test_a_conversation_is_taken"""

    def write_conversation(self, conversation: Conversation) -> Any:
        return 7


class Overreaching(Sound):
    """test_what_it_does_not_claim_is_refused"""

    can = Sound.can - {Capability.EDIT}


class Absent(Sound):
    """test_it_is_admitted"""

    def context(self, ask: Ask) -> Injection:
        return Injection("")


class Misreading(Sound):
    """test_an_item_is_had_again_by_its_id"""

    def get_item(self, source: str, item_id: str) -> ItemRow | None:
        told = super().get_item(source, item_id)
        return told and ItemRow(item_id, told.text.replace("bees", "bugs"))


class Unranked(Sound):
    """test_an_item_is_found_by_its_words"""

    def find_items(self, source: str, query: str, limit: int, as_of: str | None = None) -> Sequence[ItemRow]:
        return self.list_items(source)[:limit]


class Unmoved(Sound):
    """test_an_updated_item_reads_as_updated"""

    def update_item(self, source: str, item_id: str, text: str) -> str | None:
        return item_id


class Lingering(Sound):
    """test_a_deleted_item_is_gone"""

    def delete_item(self, source: str, item_id: str) -> bool:
        return True


class Secretive(Sound):
    """test_items_are_listed"""

    def list_items(self, source: str) -> Sequence[ItemRow]:
        return super().list_items(source)[:1]


class Sharing(Sound):
    """test_items_of_sources_are_kept_apart"""

    def find_items(self, source: str, query: str, limit: int, as_of: str | None = None) -> Sequence[ItemRow]:
        return [ItemRow(name, text) for (_, name), text in self.items.items() if query in text][:limit]


class Sweeping(Sound):
    """test_a_source_is_emptied_alone"""

    def delete_items(self, source: str) -> None:
        self.items.clear()


class Volatile(Sound):
    """test_items_are_there_when_it_is_opened_again"""

    def reopen(self, run: RunContext) -> None:
        self.open(run)


BROKEN: dict[str, str] = {
    kind.__name__: kind.__doc__ or "" for kind in Sound.__subclasses__() if kind.__module__ == __name__
}
"""Each memory that breaks a rule, and the contract test that must notice."""
