"""How other memories are driven: by their own public calls, with the vectors that are given to all."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wellkept.bench.beside import Vectors
from wellkept.model import Message


class Chroma:
    """A chromadb collection in a folder."""

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        import chromadb  # type: ignore[import-not-found, unused-ignore]

        self._vectors, self._count = vectors, 0
        self._client: Any = chromadb.PersistentClient(str(folder))
        self._kept: Any = self._client.create_collection("bench", embedding_function=None)

    def write(self, messages: Sequence[Message]) -> None:
        """One call a conversation."""
        ids = [str(self._count + at) for at in range(len(messages))]
        self._count += len(messages)
        embeddings = [self._vectors.of_piece() for _ in messages]
        self._kept.add(ids=ids, documents=[message.text for message in messages], embeddings=embeddings)

    def search(self, question: str, limit: int) -> int:
        """By vector, with the documents."""
        found = self._kept.query(query_embeddings=[self._vectors.of_question(question)], n_results=limit)
        return len(found["documents"][0])

    def close(self) -> None:
        """It has nothing to close."""


class Mem0:
    """A mem0 memory that keeps what it is told as it is."""

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        from mem0 import Memory  # type: ignore[import-not-found, unused-ignore]

        store = {"path": str(folder / "qdrant"), "embedding_model_dims": vectors.dimension, "on_disk": True}
        unused = {"api_key": "none is asked"}
        self._memory: Any = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "llm": {"provider": "openai", "config": unused},
                "embedder": {"provider": "openai", "config": unused},
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._vectors = vectors
        self._memory.embedding_model = self

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        """What mem0 asks of an embedder."""
        return self._vectors.of_question(text) if memory_action == "search" else self._vectors.of_piece()

    def write(self, messages: Sequence[Message]) -> None:
        """One call a conversation."""
        told = [{"role": message.role, "content": message.text} for message in messages]
        self._memory.add(told, user_id="bench", infer=False)

    def search(self, question: str, limit: int) -> int:
        """Its own mixture, with nothing left out for being unlike."""
        found = self._memory.search(question, top_k=limit, filters={"user_id": "bench"}, threshold=0.0)
        return len(found["results"])

    def close(self) -> None:
        """Release the file of its history and its vectors."""
        self._memory.close()


class Langgraph:
    """The store of langgraph that needs no server."""

    def __init__(self, folder: Path, vectors: Vectors) -> None:
        from langgraph.store.memory import InMemoryStore  # type: ignore[import-not-found, unused-ignore]

        self._vectors, self._count, self._asking = vectors, 0, False
        index = {"dims": vectors.dimension, "embed": self._embed, "fields": ["text"]}
        self._store: Any = InMemoryStore(index=index)

    def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._vectors.of_question(text) if self._asking else self._vectors.of_piece() for text in texts]

    def write(self, messages: Sequence[Message]) -> None:
        """One put a piece."""
        for message in messages:
            self._store.put(("bench",), str(self._count), {"text": message.text})
            self._count += 1

    def search(self, question: str, limit: int) -> int:
        """By vector."""
        self._asking = True
        found = self._store.search(("bench",), query=question, limit=limit)
        self._asking = False
        return len(found)

    def close(self) -> None:
        """It has nothing to close."""
