"""mem0 as a memory, with infer=False: no model is asked. Its embedder is this file's: words and their trigrams, hashed.

mem0 wants an LLM and an embedder to be named; the first is never called, the second is replaced.
"""

import os
import re
import zlib

os.environ["MEM0_TELEMETRY"] = "False"

from importlib.metadata import version

from mem0 import Memory

from brainbench.model import Capability, ItemRow
from brainbench.systems import System

DIMENSIONS = 512


class Words:
    """Words and their letter trigrams, hashed into a vector of length 1."""

    def embed(self, text, memory_action=None):
        vector = [0.0] * DIMENSIONS
        for word in re.findall(r"\w+", text.casefold()):
            for part in (word, *(word[n : n + 3] for n in range(len(word) - 2))):
                vector[zlib.crc32(part.encode()) % DIMENSIONS] += 1.0
        length = sum(value * value for value in vector) ** 0.5 or 1.0
        return [value / length for value in vector]

    def embed_batch(self, texts, memory_action=None):
        return [self.embed(text) for text in texts]


class Mem0(System):
    version = version("mem0ai")
    memory = None
    can = frozenset(
        {
            *(Capability.ADD, Capability.GET, Capability.UPDATE, Capability.DELETE, Capability.DELETE_ALL),
            *(Capability.LIST, Capability.META, Capability.REOPEN, Capability.SOURCES),
        }
    )

    def open(self, run):
        self.close()
        vectors = {"path": f"{run.directory}/vectors", "on_disk": True, "embedding_model_dims": DIMENSIONS}
        nobody = {"provider": "openai", "config": {"api_key": "none"}}
        self.memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": vectors},
                "llm": nobody,
                "embedder": nobody,
                "history_db_path": f"{run.directory}/history.db",
            }
        )
        self.memory.embedding_model = Words()

    def reopen(self, run):
        self.open(run)

    def close(self):
        if self.memory is not None:
            self.memory.vector_store.client.close()
            self.memory = None

    def add_item(self, item):
        told = self.memory.add(item.text, user_id=item.source, metadata=dict(item.meta) or None, infer=False)
        return told["results"][0]["id"]

    def find_items(self, source, query, limit, as_of=None):
        return rows(self.memory.search(query, filters={"user_id": source}, top_k=limit)["results"])

    def list_items(self, source):
        return rows(self.memory.get_all(filters={"user_id": source}, top_k=100_000)["results"])

    # By id mem0 knows no user: whether an item is of the source is looked up first.

    def get_item(self, source, item_id):
        found = self.memory.get(item_id)
        return rows([found])[0] if found and found.get("user_id") == source else None

    def update_item(self, source, item_id, text):
        if self.get_item(source, item_id) is None:
            return None
        self.memory.update(item_id, text)
        return item_id

    def delete_item(self, source, item_id):
        if self.get_item(source, item_id) is None:
            return False
        self.memory.delete(item_id)
        return True

    def delete_items(self, source):
        self.memory.delete_all(user_id=source)


def rows(found):
    return [
        ItemRow(one["id"], one["memory"], made=one.get("created_at") or "", meta=one.get("metadata") or {})
        for one in found
    ]
