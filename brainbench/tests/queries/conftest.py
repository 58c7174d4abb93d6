"""Captured rows, and a memory in use whose answers a test can set."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from brainbench.model import Ask, Capability, FactRow, Injection, SearchHit
from brainbench.queries.files import Row
from brainbench.systems import System


def captured(query: str = "tea", slugs: Sequence[str] = ("a", "b"), **changes: Any) -> dict[str, Any]:
    return {
        "schema_version": 1,
        "id": f"id of {query}",
        "tool_name": "search",
        "query": query,
        "retrieved_slugs": list(slugs),
        "retrieved_chunk_ids": [],
        "source_ids": ["default"],
        "detail": "limit 10",
        "vector_enabled": False,
        "expansion_applied": False,
        "latency_ms": 2.0,
        "remote": False,
        "created_at": "2026-11-30T12:00:00Z",
    } | changes


def row(query: str = "tea", slugs: Sequence[str] = ("a", "b"), **changes: Any) -> Row:
    written = captured(query, slugs, **changes)
    return Row(
        2,
        written["tool_name"],
        query,
        tuple(slugs),
        tuple(written["source_ids"]),
        written["detail"],
        written["latency_ms"],
        written,
    )


class Living(System):
    """Answers each query with the pages set for it, in whatever way it is asked."""

    name = "living"
    can = frozenset({Capability.SEARCH, Capability.RECALL_FACTS, Capability.CONTEXT})

    def __init__(self, answers: Mapping[str, Sequence[str]] | None = None) -> None:
        self.answers = dict(answers or {})
        self.asked: list[tuple[object, ...]] = []

    def attach(self, place: str | None) -> None:
        self.place = place

    def _pages(self, query: str) -> Sequence[str]:
        if query not in self.answers:
            raise LookupError(f"nothing is set for {query}")
        return self.answers[query]

    def search(self, source: str, query: str, limit: int) -> Sequence[SearchHit]:
        self.asked.append(("search", source, query, limit))
        return [SearchHit(page) for page in self._pages(query)[:limit]]

    def recall_facts(self, source: str, query: str | None = None, limit: int | None = None) -> Sequence[FactRow]:
        self.asked.append(("recall_facts", source, query, limit))
        return [FactRow("x", page or None, "s", None, "told-in") for page in self._pages(query or "")[:limit]]

    def context(self, ask: Ask) -> Injection:
        self.asked.append(("context", ask.source, ask.messages[-1].text, ask.harness, ask.budget.pages))
        return Injection("\n".join(f"- **X** → `{page}`" for page in self._pages(ask.messages[-1].text)))


Export = Callable[..., Path]


@pytest.fixture
def export(tmp_path: Path) -> Export:
    """Writes rows as an export and gives its path."""

    def write(*rows: object, name: str = "asked.ndjson") -> Path:
        path = tmp_path / name
        path.write_text("".join(r if isinstance(r, str) else json.dumps(r) + "\n" for r in rows))
        return path

    return write
