"""chromadb as a memory: pages as documents, found by an embedding of their words and letter trigrams (no model)."""

import re
import zlib

import chromadb

from brainbench.model import Capability, ItemRow, SearchHit
from brainbench.systems import System

DIMENSIONS = 512


def embed(text):
    """Words and their letter trigrams, hashed into a vector of length 1."""
    vector = [0.0] * DIMENSIONS
    for word in re.findall(r"\w+", text.casefold()):
        for part in (word, *(word[n : n + 3] for n in range(len(word) - 2))):
            vector[zlib.crc32(part.encode()) % DIMENSIONS] += 1.0
    length = sum(value * value for value in vector) ** 0.5 or 1.0
    return [value / length for value in vector]


def title_of(page):
    return page.content.partition("title: ")[2].partition("\n")[0]


class Chroma(System):
    version = chromadb.__version__
    can = frozenset(
        {
            *(Capability.PAGE_WRITE, Capability.EDIT, Capability.SEARCH, Capability.SOURCES),
            *(Capability.ADD, Capability.GET, Capability.UPDATE, Capability.DELETE, Capability.DELETE_ALL),
            *(Capability.LIST, Capability.META, Capability.REOPEN),
        }
    )

    def open(self, run):
        settings = chromadb.Settings(anonymized_telemetry=False)
        client = chromadb.PersistentClient(run.directory, settings=settings)
        space = {"embedding_function": None, "metadata": {"hnsw:space": "cosine"}}
        self.pages = client.get_or_create_collection("pages", **space)
        self.items = client.get_or_create_collection("items", **space)

    def reopen(self, run):
        self.open(run)

    def write_pages(self, pages):
        self.pages.upsert(
            ids=[f"{page.source}\n{page.slug}" for page in pages],
            embeddings=[embed(page.content) for page in pages],
            documents=[page.content for page in pages],
            metadatas=[{"source": page.source, "slug": page.slug, "title": title_of(page)} for page in pages],
        )

    def write_page(self, page):
        self.write_pages([page])

    edit_page = write_page

    def read_page(self, source, slug):
        return next(iter(self.pages.get(ids=[f"{source}\n{slug}"])["documents"]), None)

    def search(self, source, query, limit):
        found = self.pages.query(query_embeddings=[embed(query)], n_results=limit, where={"source": source})
        rows = zip(found["metadatas"][0], found["documents"][0], found["distances"][0], strict=True)
        return [SearchHit(m["slug"], m["title"], text, 1.0 - distance) for m, text, distance in rows]

    # Items: an id is the caller's to give, a source is metadata to filter by. update() takes no filter, so whether an
    # item is of the source is looked up first.

    def add_item(self, item):
        vector, metadata = embed(item.text), {**item.meta, "source": item.source}
        self.items.add(ids=[item.name], embeddings=[vector], documents=[item.text], metadatas=[metadata])
        return item.name

    def find_items(self, source, query, limit, as_of=None):
        found = self.items.query(query_embeddings=[embed(query)], n_results=limit, where={"source": source})
        return rows(found["ids"][0], found["documents"][0], found["metadatas"][0])

    def get_item(self, source, item_id):
        found = self.items.get(ids=[item_id], where={"source": source})
        return next(iter(rows(found["ids"], found["documents"], found["metadatas"])), None)

    def update_item(self, source, item_id, text):
        if self.get_item(source, item_id) is None:
            return None
        self.items.update(ids=[item_id], embeddings=[embed(text)], documents=[text])
        return item_id

    def delete_item(self, source, item_id):
        return self.items.delete(ids=[item_id], where={"source": source})["deleted"] > 0

    def delete_items(self, source):
        self.items.delete(where={"source": source})

    def list_items(self, source):
        found = self.items.get(where={"source": source})
        return rows(found["ids"], found["documents"], found["metadatas"])


def rows(ids, documents, metadatas):
    told = zip(ids, documents, metadatas, strict=True)
    return [ItemRow(name, text, meta={k: v for k, v in meta.items() if k != "source"}) for name, text, meta in told]
