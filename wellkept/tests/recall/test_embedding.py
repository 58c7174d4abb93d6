"""Vectors that come later than the words, and are never lost."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from wellkept.errors import EmbedderMismatch, ModelUnavailable, NotFound
from wellkept.memory import Memory
from wellkept.model import Message
from wellkept.providers import EmbedderId
from wellkept.recall.embedding import AT_ONCE, STATEMENTS, embed_waiting, read_apart
from wellkept.storage import Store, open_store


class Counting:
    """Gives every text the same vector, and fails on demand."""

    def __init__(self, name: str = "counting", fail_after: int = 10**9) -> None:
        self.id = EmbedderId(name, 8)
        self.ready = True
        self.texts: list[str] = []
        self._fail_after = fail_after

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if len(self.texts) >= self._fail_after:
            raise ModelUnavailable("here", "it broke")
        self.texts += texts
        return np.ones((len(texts), 8), np.float32)


@pytest.fixture
def kept(tmp_path: Path) -> Store:
    store = open_store("sqlite", tmp_path / "m.db")
    memory = Memory(store)
    with store.transaction():
        for number in range(AT_ONCE * 2 + 5):
            memory.put_page("default", f"n/{number}", f"Page {number}")
    return store


def test_what_waits_is_embedded_once_in_every_source(kept: Store) -> None:
    Memory(kept).put_page("other", "n/x", "Elsewhere")
    embedder, heard = Counting(), []
    assert embed_waiting(kept, embedder, heard.append) == AT_ONCE * 2 + 6
    assert heard == [AT_ONCE, AT_ONCE * 2, AT_ONCE * 2 + 6]
    assert embed_waiting(kept, embedder) == 0
    assert len(set(embedder.texts)) == len(embedder.texts) == AT_ONCE * 2 + 6


def test_what_was_done_before_a_failure_is_kept_and_the_rest_still_waits(kept: Store) -> None:
    with pytest.raises(ModelUnavailable):
        embed_waiting(kept, Counting(fail_after=AT_ONCE))
    assert kept.index.vector_counts() == (AT_ONCE, AT_ONCE + 5)
    again = Counting()
    assert embed_waiting(kept, again) == AT_ONCE + 5
    assert len(again.texts) == AT_ONCE + 5


def test_a_process_that_is_killed_loses_at_most_what_was_in_hand(tmp_path: Path, kept: Store) -> None:
    script = (
        "import sys, time, numpy\n"
        "from wellkept.providers import EmbedderId\n"
        "from wellkept.recall.embedding import embed_waiting\n"
        "from wellkept.storage import open_store\n"
        "class Slow:\n"
        "    id = EmbedderId('counting', 8)\n"
        "    def embed(self, texts):\n"
        "        time.sleep(0.05)\n"
        "        return numpy.ones((len(texts), 8), numpy.float32)\n"
        "embed_waiting(open_store('sqlite', sys.argv[1]), Slow(), lambda n: (print(n, flush=True), time.sleep(60)))\n"
    )
    argv = [sys.executable, "-c", script, str(tmp_path / "m.db")]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"{AT_ONCE}\n".encode()
        process.kill()
    assert kept.index.vector_counts() == (AT_ONCE, AT_ONCE + 5)
    assert embed_waiting(kept, Counting()) == AT_ONCE + 5


def test_another_models_vectors_are_not_mixed_in(kept: Store) -> None:
    embed_waiting(kept, Counting())
    Memory(kept).put_page("default", "n/new", "New")
    with pytest.raises(EmbedderMismatch, match="embed --again"):
        embed_waiting(kept, Counting("another"))
    assert kept.index.vector_counts() == (AT_ONCE * 2 + 5, 1)


def test_the_background_embeds_what_is_written_after_it_began_by_others_too(tmp_path: Path, kept: Store) -> None:
    memory = Memory(kept, embedder=Counting)
    memory.embed_in_background()
    other = Memory(open_store("sqlite", tmp_path / "m.db"))
    other.put_page("default", "n/later", "Later")
    deadline = time.monotonic() + 30
    while other.store.index.vector_counts()[1] and time.monotonic() < deadline:
        time.sleep(0.05)
    assert other.store.index.vector_counts()[1] == 0
    memory.close()
    other.close()
    assert not [thread for thread in threading.enumerate() if thread.name == "embedding"]


def test_a_memory_without_an_embedder_says_so(kept: Store) -> None:
    for memory in (Memory(kept), Memory(kept, embedder=lambda: None)):
        memory.embed_in_background()
        with pytest.raises(NotFound, match="no embedder"):
            memory.embed_waiting()


def test_what_states_several_things_is_found_by_each_of_them_and_a_document_by_its_beginning() -> None:
    said = "I look for new recipes for my toaster oven. By the way, the old toaster is gone."
    assert read_apart(said) == [
        said,
        "I look for new recipes for my toaster oven.",
        "By the way, the old toaster is gone.",
    ]
    assert read_apart("Hi! Thanks. Ok?") == ["Hi! Thanks. Ok?"]
    assert read_apart(said * 20) == [said * 20]
    assert len(read_apart("One more statement of mine. " * 20)) == 1 + STATEMENTS


def test_each_statement_has_a_vector_of_its_own_and_a_long_answer_has_none() -> None:
    memory = Memory(open_store("sqlite", ":memory:"))
    asked = "I look for new recipes for my toaster oven. By the way, the old toaster is gone."
    memory.bank(
        "default",
        "monday",
        [Message("user", asked), Message("assistant", "Gratin."), Message("assistant", "Try. " * 400)],
    )
    index, embedder = memory.store.index, Counting()
    assert embed_waiting(memory.store, embedder) == 2
    assert index.vector_counts() == (2, 0)
    chunks = [row for row, _ in memory.store.index._store.select("SELECT id, embedded FROM chunks")]  # type: ignore[attr-defined]
    assert len(chunks) > 3
    assert index.vectors(chunks)[0].tolist() == [*[chunks[0]] * 3, chunks[1]]
    assert index.waiting(0, 9) == ()
    memory.close()
