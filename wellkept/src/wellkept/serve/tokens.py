"""Who may ask over HTTP and MCP: tokens in a file that only its owner can read, and of each only a digest.

Needs the standard library alone, because the relay that a harness starts reads it too.
"""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import json
import os
import re
import secrets
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from wellkept.errors import InvalidInput, NotFound, SettingsError, StoreUnavailable, Unauthorized

SCHEMA_VERSION = 1
SCOPES = ("read", "write", "cite", "admin")
LONGEST = timedelta(days=366)
_PRINCIPAL = re.compile(r"(?:agent|user):[\w.@-]{1,100}", re.ASCII)
_TOKEN = re.compile(r"wk_([0-9a-f]{12})_[\w-]{43}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Token:
    """What a token may do, until when. The token itself is nowhere: `digest` is its SHA-256, in hex."""

    id: str
    principal: str
    source: str
    scopes: tuple[str, ...]
    created_at: str
    expires_at: str
    digest: str
    also: tuple[str, ...] = ()
    """Sources that its reads look into too."""

    def expired(self, now: datetime) -> bool:
        """Whether its time is over."""
        return datetime.fromisoformat(self.expires_at) <= now


class Tokens:
    """The tokens of one data directory. Several processes may add, revoke and look up at once."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: tuple[int, int, int] | None = None
        self._known: dict[str, Token] = {}

    def add(
        self,
        principal: str,
        source: str,
        scopes: Collection[str],
        lasts: timedelta,
        now: datetime,
        *,
        also: tuple[str, ...] = (),
    ) -> tuple[str, Token]:
        """A new token, which is told this once, and what is kept of it. InvalidInput for what it may not be."""
        if not _PRINCIPAL.fullmatch(principal):
            raise InvalidInput("principal", f"is {principal[:120]!r}; use agent:NAME or user:NAME")
        unknown = sorted(set(scopes) - set(SCOPES))
        if unknown or not scopes:
            raise InvalidInput("scopes", f"has {unknown[0] if unknown else 'none'!r}; use some of {', '.join(SCOPES)}")
        if "admin" in scopes and principal.startswith("agent:"):
            raise InvalidInput("scopes", "an agent's token never has admin; name a person: user:NAME")
        if not timedelta(0) < lasts <= LONGEST:
            raise InvalidInput("expiry", f"must be later than now and within {LONGEST.days} days")
        number, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        text = f"wk_{number}_{secret}"
        held = tuple(scope for scope in SCOPES if scope in scopes)
        times = (now.isoformat(timespec="seconds"), (now + lasts).isoformat(timespec="seconds"))
        token = Token(number, principal, source, held, *times, hashlib.sha256(text.encode()).hexdigest(), also)
        with self._changing() as known:
            for old in [one.id for one in known.values() if one.expired(now - LONGEST)]:
                del known[old]
            known[number] = token
        return text, token

    def remove(self, number: str) -> Token:
        """Let a token be valid no longer. NotFound where there is none of that id."""
        with self._changing() as known:
            if number not in known:
                raise NotFound(f"there is no token {number!r}. List them: wellkept token list")
            return known.pop(number)

    def all(self) -> tuple[Token, ...]:
        """All tokens, oldest first, those that expired too."""
        return tuple(sorted(self._read().values(), key=lambda token: (token.created_at, token.id)))

    def valid(self, text: str, now: datetime) -> Token:
        """What a caller may do who shows this token. Unauthorized says why it is none."""
        found = _TOKEN.fullmatch(text)
        token = self._read().get(found[1]) if found else None
        shown = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        if token is None or not hmac.compare_digest(shown, token.digest):
            raise Unauthorized("the token is not one of this memory. Make one: wellkept token add agent:NAME")
        if token.expired(now):
            raise Unauthorized(f"the token expired at {token.expires_at}. Make another: wellkept token add agent:NAME")
        return token

    @contextmanager
    def _changing(self) -> Iterator[dict[str, Token]]:
        try:
            lock = os.open(self.path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise StoreUnavailable.for_file(self.path, error) from None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            known = dict(self._read())
            yield known
            self._write(known)
        finally:
            os.close(lock)

    def _read(self) -> dict[str, Token]:
        try:
            with open(self.path, encoding="utf-8") as file:
                status = os.fstat(file.fileno())
                if status.st_uid != os.geteuid() or status.st_mode & 0o077:
                    raise SettingsError(f"{self.path}: open to other users; close it: chmod 600 {self.path}")
                seen = (status.st_ino, status.st_mtime_ns, status.st_size)
                if seen != self._seen:
                    self._known = _tokens(self.path, file.read())
                    self._seen = seen
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"{self.path}: cannot be read ({error})") from None
        return self._known

    def _write(self, known: dict[str, Token]) -> None:
        rows = [asdict(token) for token in sorted(known.values(), key=lambda token: token.id)]
        text = json.dumps({"schema_version": SCHEMA_VERSION, "tokens": rows}, indent=1) + "\n"
        beside = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600), "w") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, self.path)
        except OSError as error:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
            raise StoreUnavailable.for_file(self.path, error) from None


def _tokens(path: Path, text: str) -> dict[str, Token]:
    try:
        read = json.loads(text)
        if read["schema_version"] != SCHEMA_VERSION:
            raise SettingsError(f"{path}: of another version of wellkept. Install that, or remove the file")
        rows = [Token(**row) for row in read["tokens"]]
        tokens = [replace(token, scopes=tuple(token.scopes), also=tuple(token.also)) for token in rows]
        for token in tokens:
            datetime.fromisoformat(token.expires_at).astimezone(UTC)
        return {token.id: token for token in tokens}
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise SettingsError(f"{path}: damaged ({type(error).__name__}). Remove it and make new tokens") from None
