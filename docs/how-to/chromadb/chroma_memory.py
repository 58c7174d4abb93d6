"""chromadb as a memory: pages as documents, found by an embedding of their words and letter trigrams (no model)."""

import re
import zlib

import chromadb

from brainbench.model import Capability, SearchHit
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
    can = frozenset({Capability.PAGE_WRITE, Capability.EDIT, Capability.SEARCH, Capability.SOURCES})

    def open(self, run):
        settings = chromadb.Settings(anonymized_telemetry=False)
        client = chromadb.PersistentClient(run.directory, settings=settings)
        self.pages = client.create_collection("pages", embedding_function=None, metadata={"hnsw:space": "cosine"})

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
