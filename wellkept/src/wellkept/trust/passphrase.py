"""The owner's passphrase: what a program that holds the terminal cannot type.

Kept as a salted scrypt hash in a file of its owner's only. After MOST_FAILURES wrong ones it is refused for LOCKED_S.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
import time
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
    salt: str
    hash: str
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
        self._write(_Kept(salt.hex(), _hash(text, salt).hex()))

    def check(self, text: str) -> None:
        """Refused when it is another one, or was wrong too often a short time ago."""
        kept = self._read()
        wait = LOCKED_S - (time.time() - kept.failed_at)
        if kept.failures >= MOST_FAILURES and wait > 0:
            raise Refused(f"wrong {kept.failures} times; try again in {int(wait // 60) + 1} min. Nothing was changed")
        if not hmac.compare_digest(_hash(text, bytes.fromhex(kept.salt)), bytes.fromhex(kept.hash)):
            failures = 1 if kept.failures >= MOST_FAILURES else kept.failures + 1
            self._write(_Kept(kept.salt, kept.hash, failures, time.time()))
            raise Refused("that was not the passphrase; nothing was changed")
        if kept.failures:
            self._write(_Kept(kept.salt, kept.hash))

    def _read(self) -> _Kept:
        try:
            return _Kept(**json.loads(self.path.read_text(encoding="utf-8")))
        except (ValueError, TypeError):
            raise StoreUnavailable(
                self.path, "it holds no passphrase. Restore it, or remove it to choose anew"
            ) from None
        except OSError as error:
            raise StoreUnavailable.for_file(self.path, error) from None

    def _write(self, kept: _Kept) -> None:
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            fresh = self.path.with_name(f".{self.path.name}.{os.getpid()}")
            with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
                json.dump({name: getattr(kept, name) for name in kept.__slots__}, file)
            fresh.replace(self.path)
        except OSError as error:
            raise StoreUnavailable.for_file(self.path, error) from None


def _hash(text: str, salt: bytes) -> bytes:
    return scrypt(text.encode("utf-8", "surrogatepass"), salt=salt, dklen=32, **_COST)
