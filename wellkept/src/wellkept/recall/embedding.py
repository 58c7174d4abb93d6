"""Vectors for what is written: later than the words, and never lost.

What waits is what has no vector in the store, so that the queue survives whatever ends a process.
"""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import get_args

from wellkept.errors import EmbedderMismatch, WellkeptError
from wellkept.providers import Embedder
from wellkept.storage import Embedded, Store

AT_ONCE = 32
"""Facts or chunks whose vectors are kept together: so much work is lost when the process ends."""
STATED_CHARS = 600
"""Up to this length the statements of a text get vectors of their own: of several things said, each is found by itself.
What is longer is a document, and told by its beginning."""
STATEMENTS, STATEMENT_CHARS = 8, 24
POLL_S = 1.0
"""How soon the background looks for what other processes wrote."""
START_S = 2.0
"""How long it lets its process begin, before it loads a model."""
_LEAST_PRESSING = 15
_SENTENCE_END = re.compile(r"(?<=[.!?。！？…])\s+|\n")


def embed_waiting(
    store: Store, embedder: Embedder, progress: Callable[[int], object] = bool, stop: Callable[[], bool] = bool
) -> int:
    """Give every fact and chunk that waits its vector; how many were given one. `progress` hears how many so far.

    EmbedderMismatch when the store holds another model's vectors, ModelUnavailable when the model fails; what was
    done until then is kept.
    """
    have = store.index.embedder()
    if have is not None and have != embedder.id:
        raise EmbedderMismatch(have.model, have.dimension, embedder.id.model, embedder.id.dimension)
    done = 0
    for what in get_args(Embedded):
        after = 0
        while not stop() and (waiting := store.index.waiting(after, AT_ONCE, what)):
            read = [(one.id, text) for one in waiting for text in read_apart(one.text)]
            vectors = embedder.embed([text for _, text in read])
            said = {one.id: one.text for one in waiting}
            done += store.index.put_vectors(embedder.id, [id_ for id_, _ in read], vectors, what, said)
            after = waiting[-1].id
            progress(done)
    return done


def read_apart(text: str) -> list[str]:
    """The text, and where it is short and states several things, each of them: at most STATEMENTS.

    >>> read_apart("I look for new recipes for my toaster oven. By the way, the old toaster is gone. Ok?")[1:]
    ['I look for new recipes for my toaster oven.', 'By the way, the old toaster is gone. Ok?']
    """
    stated: list[str] = []
    for part in _SENTENCE_END.split(text) if len(text) <= STATED_CHARS else ():
        sentence = part.strip()
        if stated and min(len(stated[-1]), len(sentence)) < STATEMENT_CHARS:
            stated[-1] = f"{stated[-1]} {sentence}".strip()
        else:
            stated.append(sentence)
    return [text, *stated[:STATEMENTS]] if len(stated) > 1 else [text]


class Background:
    """A thread that embeds what waits, also what other processes wrote. It gives up on a model that fails."""

    def __init__(self, store: Store, embedder: Embedder, start_s: float = START_S) -> None:
        self._store, self._embedder, self._start_s = store, embedder, start_s
        self._stopping, self._wanted = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._work, name="embedding", daemon=True)
        self.problem: WellkeptError | None = None
        """Why it gave up, if it did."""

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def load(self) -> None:
        """See to it that the model is loaded soon, also if nothing waits."""
        self._wanted.set()

    def stop(self, wait_s: float = 5.0) -> bool:
        """End after the chunks in hand; False if they take longer than `wait_s` seconds."""
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join(wait_s)
        return not self._thread.is_alive()

    def _work(self) -> None:
        _step_back()
        self._stopping.wait(self._start_s)
        try:
            while not self._stopping.is_set():
                if self._wanted.is_set() and not self._embedder.ready:
                    self._embedder.embed(["loaded"])
                embed_waiting(self._store, self._embedder, stop=self._stopping.is_set)
                self._stopping.wait(POLL_S)
        except WellkeptError as error:
            self.problem = error


def _step_back() -> None:
    """Let whoever asks go before this thread; where a thread has no priority of its own, nothing."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _LEAST_PRESSING)
