"""Keeps what was forgotten for good from being written again."""

from __future__ import annotations

import hmac
import logging
import os
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from hashlib import sha256
from pathlib import Path

from wellkept.errors import Refused, StoreUnavailable
from wellkept.model import Message, Told
from wellkept.storage import Sign, Store
from wellkept.trust.forgotten import ANY, KEY_BYTES, MARK, SHORT, Forgotten, Tombstone, struck_page, without
from wellkept.trust.normal import words
from wellkept.trust.seal import seal

LOG = logging.getLogger(__name__)
_ALLOWED = "To allow it: wellkept purge --lift RECEIPT"


class Key:
    """The key of the digests, read when it is first needed. A memory without one cannot forget for good.

    StoreUnavailable when the key that a memory's digests were made with is not to be had: then nothing is written,
    since what was forgotten could not be recognised.
    """

    def __init__(self, read: Callable[[bool], bytes | None] | None) -> None:
        self._read = read

    def made(self, store: Store) -> bytes:
        """The key, made if there is none yet."""
        if self._read is None:
            raise Refused("this memory was opened without a key to recognise what is forgotten; nothing was removed")
        return self._found(store, self._read(store.forgetting.proof() is None))

    def known(self, store: Store) -> bytes:
        """The key that the digests of this store were made with."""
        return self._found(store, None if self._read is None else self._read(False))

    @staticmethod
    def _found(store: Store, key: bytes | None) -> bytes:
        if key is None:
            why = "it is not there, so that nothing can be sealed, and what was forgotten cannot be recognised"
            raise StoreUnavailable("the trust key", f"{why}; put it back, or open the memory as before")
        proof = store.forgetting.proof()
        if proof is not None and not hmac.compare_digest(proof, proof_of(key)):
            raise StoreUnavailable("the trust key", "it is not the one that this memory was used with; put that back")
        return key


def key_file(path: Path) -> Callable[[bool], bytes | None]:
    """Reads the key from a file of its owner's only, and makes it when told so.

    StoreUnavailable when it cannot be used: then nothing is written, since nothing could be recognised.
    """

    def read(make: bool) -> bytes | None:
        try:
            if make and not path.exists():
                _make(path)
            mode = path.stat().st_mode & 0o777
            if mode & 0o077:
                raise StoreUnavailable(path, f"others may read this key (mode {mode:o}). Run: chmod 600 {path}")
            key = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreUnavailable.for_file(path, error) from None
        if len(key) != KEY_BYTES:
            raise StoreUnavailable(path, f"the key has {len(key)} bytes instead of {KEY_BYTES}. Put the right one back")
        return key

    return read


def _make(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(secrets.token_bytes(KEY_BYTES))
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(fresh, path)  # of two that make it at once one wins, and both read that
    except FileExistsError:
        pass
    finally:
        fresh.unlink()


def proof_of(key: bytes) -> bytes:
    """What a store keeps to know its key again."""
    return hmac.digest(key, b"proof", "sha256")


class Count:
    """How many sealing writes of a database were seen, kept in a file beside the key: an old copy of the database that
    is put in its place is behind it. One that was never seen, as after a copy to another machine, begins at 0.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def beside(cls, key: Path, database: Path) -> Count:
        """That of a database, by where it is."""
        name = sha256(os.fsencode(os.path.realpath(database))).hexdigest()[:32]
        return cls(key.with_name("counts") / name)

    def seen(self) -> int:
        """How many; 0 where nobody knows."""
        try:
            return int(self.path.read_bytes())
        except (OSError, ValueError):
            return 0

    def saw(self, count: int) -> None:
        """So many. It may lag behind the database, as after a crash, and is never ahead of what is on the disk."""
        if count <= self.seen():
            return
        try:
            if not self.path.parent.exists():
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                os.pwrite(file, b"%020d" % count, 0)
            finally:
                os.close(file)
        except OSError:
            LOG.warning("%s: how often the memory was written could not be kept", self.path, exc_info=True)


class Keeper:
    """Seals the rows of a store with its key. `count` None: nobody counts, as for a memory that has no file."""

    def __init__(self, store: Store, key: Key, count: Count | None = None) -> None:
        self._store, self._key, self._count = store, key, count

    def sign(self, *, make: bool) -> Sign:
        """What makes seals; with `make` the key is made if there is none yet, and the store is tied to it."""
        if not make:
            return partial(seal, self._key.known(self._store))
        secret = self._key.made(self._store)
        self._store.forgetting.keep_proof(proof_of(secret))
        return partial(seal, secret)

    def seen(self) -> int:
        """How many sealing writes were seen."""
        return 0 if self._count is None else self._count.seen()

    def saw(self, count: int) -> None:
        """So many are on the disk."""
        if self._count is not None:
            self._count.saw(count)


class Gate:
    """Keeps what was forgotten from being written again. Used within the transaction that writes."""

    def __init__(self, store: Store, key: Key) -> None:
        self._store, self._key = store, key

    def forgotten(self, source: str) -> Forgotten:
        """What recognises the claims that a source forgot."""
        rows = (*self._store.forgetting.stones(ANY), *self._store.forgetting.stones(source))
        stones = [Tombstone(row.words, row.claim, row.first) for row in rows]
        return Forgotten(lambda: self._key.known(self._store), stones)

    def admit(self, source: str, text: str) -> str:
        """The text with MARK in place of what was forgotten. Refused when nothing else would be left of it."""
        kept = self.forgotten(source).struck(text)
        if kept != text and not words(kept.replace(MARK, " ")):
            raise Refused(f"this was forgotten for good, and is not kept again. {_ALLOWED}")
        return kept

    def check_names(self, source: str, *names: str) -> None:
        """Refused when one of the names says what was forgotten; a short one may be anything's."""
        for name in names:
            if len(words(name)) >= SHORT and self.forgotten(source).spans(name):
                raise Refused(f"a name would say what was forgotten for good. {_ALLOWED}")

    def told(self, source: str, told: Told) -> Told:
        """What a writer says of a text's origin, without the parts that hold what was forgotten."""
        known = self.forgotten(source)
        return without(told, known.spans) if known else told

    def page(self, source: str, content: str) -> str:
        """A page's Markdown with MARK in place of what was forgotten."""
        return struck_page(content, self.forgotten(source).spans)

    def messages(self, source: str, messages: Sequence[Message]) -> tuple[Message, ...]:
        """The turns of a conversation, each with MARK in place of what was forgotten."""
        known = self.forgotten(source)
        return tuple(replace(one, text=known.struck(one.text)) for one in messages) if known else tuple(messages)
