"""The owner's passphrase: what a program that holds the terminal cannot type.

Kept as a salted scrypt hash in a file of its owner's only. After MOST_FAILURES wrong ones it is refused for LOCKED_S.
"""

from __future__ import annotations

import fcntl
import hmac
import json
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import scrypt
from pathlib import Path

from wellkept.errors import Refused, StoreUnavailable

LEAST_CHARS = 8
MOST_FAILURES = 5
LOCKED_S = 15 * 60
_COST = {"n": 2**15, "r": 8, "p": 1, "maxmem": 64 * 1024 * 1024}


@dataclass(frozen=True, slots=True)
class _Kept:
    salt: bytes
    hash: bytes
    failures: int = 0
    failed_at: float = 0.0


class Passphrase:
    """The passphrase whose hash stands in the file `path`. StoreUnavailable when that cannot be used."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def is_set(self) -> bool:
        """Whether one was chosen."""
        return self.path.exists()

    def choose(self, text: str) -> None:
        """Set it for the first time. Refused when it is too short or one was chosen before."""
        if len(text) < LEAST_CHARS:
            raise Refused(f"a passphrase has {LEAST_CHARS} characters or more; nothing was changed")
        if self.is_set():
            raise Refused("a passphrase was chosen before; nothing was changed")
        salt = secrets.token_bytes(16)
        self._write(_Kept(salt, _hash(text, salt)))

    def check(self, text: str) -> None:
        """Refused when it is another one, or was wrong too often a short time ago. One at a time."""
        with self._alone():
            self._check(text)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        try:
            with open(os.open(self.path, os.O_RDONLY | os.O_CLOEXEC), "rb") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                yield
        except OSError as error:
            raise StoreUnavailable.for_file(self.path, error) from None

    def _check(self, text: str) -> None:
        kept = self._read()
        wait = LOCKED_S - (time.time() - kept.failed_at)
        if kept.failures >= MOST_FAILURES and wait > 0:
            raise Refused(f"wrong {kept.failures} times; try again in {int(wait // 60) + 1} min. Nothing was changed")
        if not hmac.compare_digest(_hash(text, kept.salt), kept.hash):
            failures = 1 if kept.failures >= MOST_FAILURES else kept.failures + 1
            self._write(_Kept(kept.salt, kept.hash, failures, time.time()))
            raise Refused("that was not the passphrase; nothing was changed")
        if kept.failures:
            self._write(_Kept(kept.salt, kept.hash))

    def _read(self) -> _Kept:
        try:
            told = json.loads(self.path.read_text(encoding="utf-8"))
            salt, digest = bytes.fromhex(told["salt"]), bytes.fromhex(told["hash"])
            return _Kept(salt, digest, int(told["failures"]), float(told["failed_at"]))
        except (ValueError, TypeError, KeyError):
            raise StoreUnavailable(
                self.path, "it holds no passphrase. Restore it, or remove it to choose anew"
            ) from None
        except OSError as error:
            raise StoreUnavailable.for_file(self.path, error) from None

    def _write(self, kept: _Kept) -> None:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            told = {"salt": kept.salt.hex(), "hash": kept.hash.hex()}
            text = json.dumps(told | {"failures": kept.failures, "failed_at": kept.failed_at})
            # In place, as whoever waits for the lock waits for this file and no other; longer numbers come last.
            with open(os.open(self.path, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as file:
                file.write(text)
                file.truncate()
        except OSError as error:
            raise StoreUnavailable.for_file(self.path, error) from None


def _hash(text: str, salt: bytes) -> bytes:
    return scrypt(text.encode("utf-8", "surrogatepass"), salt=salt, dklen=32, **_COST)
