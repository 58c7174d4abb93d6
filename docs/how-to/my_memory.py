"""A memory in thirty lines: pages in a dictionary, found by the words of their title."""

from collections.abc import Sequence

from brainbench.model import Capability, PageIn, RunContext, SearchHit
from brainbench.systems import System


class Notebook(System):
    can = frozenset({Capability.PAGE_WRITE, Capability.SEARCH, Capability.SOURCES})

    def open(self, run: RunContext) -> None:
        self.pages: dict[tuple[str, str], str] = {}

    def write_page(self, page: PageIn) -> None:
        self.pages[page.source, page.slug] = page.content

    def read_page(self, source: str, slug: str) -> str | None:
        return self.pages.get((source, slug))

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        words = set(query.lower().split())
        found = [
            SearchHit(slug, title=title, score=len(words & set(title.lower().split())))
            for (where, slug), content in self.pages.items()
            if where == source and (title := content.partition("title: ")[2].partition("\n")[0])
        ]
        found.sort(key=lambda hit: (-hit.score, hit.id))
        return [hit for hit in found if hit.score > 0][:limit]
