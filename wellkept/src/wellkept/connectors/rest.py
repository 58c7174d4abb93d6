"""Lists that a service gives page by page, as JSON over HTTP.

Nothing that the service answers is believed further than it was asked: no other host is turned to, nothing larger than
a bound is read, and a list that never ends is left.
"""

from __future__ import annotations

import http.client
import json
import re
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urljoin, urlsplit

from wellkept import __version__
from wellkept.errors import InvalidInput, Unreachable

LARGEST = 32 * 1024 * 1024
"""In bytes of one answer."""
MOST_PAGES = 2000
_SECONDS, _WHOLE_SECONDS = 30.0, 120.0
_MOST_MOVES = 5
_ATTEMPTS = 4
_MOVED = frozenset({301, 302, 307, 308})
_NEXT = re.compile(r"<([^<>]*)>\s*;[^,]*\brel=\"?next\"?")


@dataclass(frozen=True, slots=True)
class Service:
    """Where to ask, as https://host/path, with a token if one is needed, and how long it may have us wait."""

    url: str
    token: str | None = field(default=None, repr=False)
    wait_s: float = 60.0
    sleep: Callable[[float], None] = time.sleep


@dataclass(frozen=True, slots=True)
class Batch:
    """One page of a list, and the mark under which the service would say that nothing changed."""

    items: tuple[Any, ...]
    etag: str | None


@dataclass(frozen=True, slots=True)
class _Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes


def checked_service(url: str, token: str | None) -> Service:
    """The service of an address. InvalidInput for one that would send the token in the clear, or cannot be used."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise InvalidInput("api", f"is no address: {error}") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise InvalidInput("api", "is no address such as https://host/path, without a user in it")
    if parts.scheme == "http" and parts.hostname not in ("localhost", "127.0.0.1", "::1"):
        raise InvalidInput("api", f"http to {parts.hostname} would send the token unencrypted; use https")
    if token is not None and (not token.isascii() or not token.isprintable() or " " in token):
        raise InvalidInput("token", "holds a space, a line end or a letter that no token has; set the variable anew")
    return Service(url.rstrip("/"), token)


def batches(service: Service, path: str, etag: str | None = None) -> Iterator[Batch]:
    """The pages of a list, each read whole before it is given; none where nothing changed since `etag`.

    Unreachable says what is wrong: with the service, with what it answered, or that it wants to be asked later.
    """
    url = f"{service.url}{path}"
    asked: set[str] = set()
    while url:
        if len(asked) == MOST_PAGES:
            raise Unreachable(
                url, f"that is more than {MOST_PAGES} pages. What came before is kept; run it again to go on"
            )
        asked.add(url)
        answer = _asked(service, url, etag if len(asked) == 1 else None)
        if answer.status == 304:
            return
        items = _list(url, answer)
        following = _next(service, url, answer)
        if following in asked or (following and not items):
            raise Unreachable(url, "its pages lead in a circle. What came before is kept; tell whoever runs it")
        yield Batch(items, answer.headers.get("etag") if len(asked) == 1 else None)
        url = following


def _list(url: str, answer: _Answer) -> tuple[Any, ...]:
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind and kind != "application/json" and not kind.endswith("+json"):
        raise Unreachable(url, f"it answered with {kind[:80]!a} and not with JSON. Is the address right? See --api")
    try:
        found = json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        raise Unreachable(
            url, f"its answer is no JSON: {type(error).__name__}. Is the address right? See --api"
        ) from None
    if not isinstance(found, list):
        raise Unreachable(url, f"it answered with {type(found).__name__} where a list was asked for. See --api")
    return tuple(found)


def _next(service: Service, url: str, answer: _Answer) -> str:
    found = _NEXT.search(answer.headers.get("link", ""))
    return "" if found is None else _here(service, urljoin(url, found[1]))


def _here(service: Service, url: str) -> str:
    """The address, if it is of the service itself: the token goes nowhere else."""
    try:
        ours, theirs = urlsplit(service.url), urlsplit(url)
        same = (ours.scheme, ours.hostname, ours.port) == (theirs.scheme, theirs.hostname, theirs.port)
    except ValueError:
        same = False
    if not same or not url.isascii() or not url.isprintable() or " " in url:
        raise Unreachable(service.url, f"it leads elsewhere, to {url[:200]!a}, which is not followed")
    return url


def _asked(service: Service, url: str, etag: str | None) -> _Answer:
    """The answer, after what has to be waited for."""
    waited, attempt = 0.0, 1
    while (answer := _followed(service, url, etag)).status not in (200, 304):
        pause = _pause(answer)
        if pause is None and answer.status >= 500:
            pause = 2.0 ** (attempt - 1)
        if pause is None or attempt == _ATTEMPTS or waited + pause > service.wait_s:
            raise Unreachable(url, _refusal(answer, pause))
        service.sleep(pause)
        waited, attempt = waited + pause, attempt + 1
    return answer


def _pause(answer: _Answer) -> float | None:
    """How many seconds the service asks to be left alone; None when it does not."""
    if answer.status not in (403, 429, 503):
        return None
    told = answer.headers.get("retry-after", "")
    if told.isascii() and told.isdigit():
        return min(float(told), 1e9)
    reset = answer.headers.get("x-ratelimit-reset", "")
    if answer.headers.get("x-ratelimit-remaining") == "0" and reset.isascii() and reset.isdigit():
        return max(0.0, min(float(reset), 1e12) - time.time()) + 1
    return 60.0 if answer.status == 429 else None


_REFUSALS: Mapping[int, str] = {
    401: "the token was not accepted. Set the variable that holds it anew",
    403: "it may not be read with this token, or without one",
    404: "it is not there, or not to be seen with this token",
    410: "it is switched off there",
}


def _refusal(answer: _Answer, pause: float | None) -> str:
    if pause is not None and answer.status < 500:
        return f"HTTP {answer.status}: it wants to be asked again {_when(pause)}. What came before is kept"
    if answer.status in _REFUSALS:
        return f"HTTP {answer.status}: {_REFUSALS[answer.status]}"
    return f"HTTP {answer.status}. What came before is kept; try again later"


def _when(seconds: float) -> str:
    try:
        return f"after {(datetime.now(UTC) + timedelta(seconds=seconds)).isoformat(timespec='minutes')}"
    except OverflowError:
        return "much later"


def _followed(service: Service, url: str, etag: str | None) -> _Answer:
    for _ in range(_MOST_MOVES + 1):
        answer = _once(service, url, etag)
        if answer.status not in _MOVED:
            return answer
        url = _here(service, urljoin(url, answer.headers.get("location", "")))
    raise Unreachable(url, f"it was moved more than {_MOST_MOVES} times")


def _once(service: Service, url: str, etag: str | None) -> _Answer:
    parts = urlsplit(url)
    headers = {
        "accept": "application/vnd.github+json",
        "user-agent": f"wellkept/{__version__}",
        "x-github-api-version": "2022-11-28",
    }
    if service.token:
        headers["authorization"] = f"Bearer {service.token}"
    if etag:
        headers["if-none-match"] = etag
    connection = _connection(parts.scheme, parts.hostname or "", parts.port)
    try:
        connection.request("GET", parts.path + (f"?{parts.query}" if parts.query else ""), headers=headers)
        response = connection.getresponse()
        told = {key.lower(): value for key, value in response.getheaders()}
        return _Answer(response.status, told, _body(url, response))
    except (OSError, http.client.HTTPException) as error:
        raise Unreachable(url, f"{type(error).__name__}: {error}") from None
    finally:
        connection.close()


def _connection(scheme: str, host: str, port: int | None) -> http.client.HTTPConnection:
    if scheme == "https":
        return http.client.HTTPSConnection(host, port, timeout=_SECONDS, context=ssl.create_default_context())
    return http.client.HTTPConnection(host, port, timeout=_SECONDS)


def _body(url: str, response: http.client.HTTPResponse) -> bytes:
    """What was answered, of a bounded size, within a bounded time."""
    until = time.monotonic() + _WHOLE_SECONDS
    if response.getheader("content-encoding", "identity").lower() != "identity":
        raise Unreachable(url, "it packed its answer, which was not asked for")
    parts: list[bytes] = []
    size = 0
    while part := response.read1(1 << 16):
        parts.append(part)
        size += len(part)
        if size > LARGEST:
            raise Unreachable(url, f"its answer has more than {LARGEST} bytes. Nothing of it was kept")
        if time.monotonic() > until:
            raise Unreachable(url, f"its answer took more than {_WHOLE_SECONDS:.0f} s. Nothing of it was kept")
    expected = response.getheader("content-length")
    if expected is not None and expected.isdigit() and size < int(expected):
        raise Unreachable(url, "its answer broke off. Nothing of it was kept")
    return b"".join(parts)
